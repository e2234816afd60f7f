//! What is measured: each function with its bounds, its true values and where its arguments are interesting.

use pullback_loops::{Binary, Builder, Unary, ValueId};

use crate::exact::{self, Exact};
use crate::truth;

#[derive(Clone, Copy)]
pub(crate) enum Op {
    One(Unary),
    Two(Binary),
}

/// True values of a function: to the digits of `float64`, and to many more.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    pub(crate) near: fn([f64; 2]) -> f64,
    pub(crate) exact: fn(&Exact, [f64; 2]) -> exact::Number,
}

/// Where the true values for `float32` come from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reference {
    /// The same function of `float64`, in lanes; the library's for one input of [`crate::single::CONFIRMED`]. It must be
    /// another formula than that of `float32`.
    Lanes,
    /// The library's.
    Library,
}

pub(crate) struct Function {
    pub(crate) op: Op,
    /// Units of the last place that are promised for `float32` and `float64`.
    pub(crate) bounds: [f64; 2],
    pub(crate) truth: Truth,
    pub(crate) reference: Reference,
    /// Where arguments of `float64` are interesting.
    pub(crate) range: (f64, f64),
    /// Where it misses a bound, and why.
    pub(crate) notes: [&'static str; 2],
}

impl Function {
    pub(crate) fn name(&self) -> String {
        match self.op {
            Op::One(op) => format!("{op:?}").to_lowercase(),
            Op::Two(op) => format!("{op:?}").to_lowercase(),
        }
    }

    pub(crate) fn n_ins(&self) -> usize {
        match self.op {
            Op::One(_) => 1,
            Op::Two(_) => 2,
        }
    }

    /// Appends the operation to a program.
    pub(crate) fn apply(&self, b: &mut Builder, ins: &[ValueId]) -> ValueId {
        match self.op {
            Op::One(op) => b.unary(op, ins[0]),
            Op::Two(op) => b.binary(op, ins[0], ins[1]),
        }
    }
}

macro_rules! one {
    ($op:ident, $bound:expr, $range:expr, $near:expr, $exact:expr) => {
        Function {
            op: Op::One(Unary::$op),
            bounds: [$bound, 4.0],
            truth: Truth {
                near: |[x, _]| {
                    let near: fn(f64) -> f64 = $near;
                    near(x)
                },
                exact: |e, [x, _]| {
                    let exact: fn(&Exact, exact::Number) -> exact::Number = $exact;
                    exact(e, e.number(x))
                },
            },
            reference: Reference::Lanes,
            range: $range,
            notes: ["", ""],
        }
    };
}

const ALL: (f64, f64) = (-1e308, 1e308);

/// Every function, in the order of the table.
pub(crate) fn all() -> Vec<Function> {
    [exponential(), circular(), hyperbolic(), special(), powers()].into_iter().flatten().collect()
}

fn exponential() -> Vec<Function> {
    vec![
        one!(Exp, 2.0, (-710.0, 710.0), f64::exp, |_, x| x.exp()),
        one!(Exp2, 4.0, (-1030.0, 1030.0), f64::exp2, |e, x| (x * e.ln_2()).exp()),
        one!(Expm1, 4.0, (-50.0, 710.0), libm::expm1, |_, x| x.exp_m1()),
        one!(Log, 2.0, ALL, f64::ln, |_, x| x.ln()),
        one!(Log2, 4.0, ALL, f64::log2, |_, x| x.log2()),
        one!(Log1p, 4.0, ALL, libm::log1p, |_, x| x.ln_1p()),
        one!(Logistic, 2.0, (-710.0, 50.0), truth::logistic, |e, x| e.one() / (e.one() + (-x).exp())),
    ]
}

fn circular() -> Vec<Function> {
    vec![
        one!(Sin, 2.0, ALL, libm::sin, |_, x| x.sin()),
        one!(Cos, 2.0, ALL, libm::cos, |_, x| x.cos()),
        one!(Tan, 4.0, ALL, libm::tan, |_, x| x.tan()),
        one!(Asin, 4.0, (-1.0, 1.0), f64::asin, |_, x| x.asin()),
        one!(Acos, 4.0, (-1.0, 1.0), f64::acos, |_, x| x.acos()),
        one!(Atan, 4.0, (-1e20, 1e20), f64::atan, |_, x| x.atan()),
    ]
}

fn hyperbolic() -> Vec<Function> {
    vec![
        one!(Sinh, 4.0, (-711.0, 711.0), f64::sinh, |_, x| x.sinh()),
        one!(Cosh, 4.0, (-711.0, 711.0), f64::cosh, |_, x| x.cosh()),
        one!(Tanh, 2.0, (-20.0, 20.0), f64::tanh, |_, x| x.tanh()),
        one!(Asinh, 4.0, ALL, libm::asinh, |_, x| x.asinh()),
        // The library's own is finite for some numbers below -1.
        one!(Acosh, 4.0, (1.0, 1e308), |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, |_, x| x.acosh()),
        one!(Atanh, 4.0, (-1.0, 1.0), libm::atanh, |_, x| x.atanh()),
    ]
}

fn special() -> Vec<Function> {
    vec![
        one!(Erf, 2.0, (-6.0, 6.0), libm::erf, Exact::erf),
        one!(Erfc, 4.0, (-6.0, 27.0), libm::erfc, Exact::erfc),
        Function {
            notes: [
                "digits of the reference, which rounds the square of the argument: next to ±1 that costs places \
                 ([0008](decisions/0008-digits-of-samples.md))",
                "",
            ],
            ..one!(ErfInv, 4.0, (-1.0, 1.0), truth::erf_inv, Exact::erf_inv)
        },
        Function {
            notes: [
                "next to its roots at -2.457…, -2.747… and so on the logarithm cancels",
                "next to its roots the sums cancel, which leaves errors of about 2e-15 there; from 3 on within 16",
            ],
            reference: Reference::Library,
            ..one!(Lgamma, 4.0, (-200.0, 200.0), libm::lgamma, Exact::lgamma)
        },
        Function {
            notes: ["next to its negative roots the reflection cancels", "next to its roots the sum cancels"],
            reference: Reference::Library,
            ..one!(Digamma, 4.0, (-200.0, 200.0), truth::digamma, Exact::digamma)
        },
    ]
}

fn powers() -> Vec<Function> {
    vec![
        one!(Sqrt, 0.5, (0.0, 1e308), f64::sqrt, |_, x| x.sqrt()),
        one!(Rsqrt, 4.0, (0.0, 1e308), |x| 1.0 / x.sqrt(), |e, x| e.one() / x.sqrt()),
        one!(Cbrt, 4.0, ALL, f64::cbrt, Exact::cbrt),
        Function {
            op: Op::Two(Binary::Pow),
            reference: Reference::Library,
            truth: Truth { near: |[x, y]| libm::pow(x, y), exact: |e, [x, y]| e.pow(x, y) },
            ..one!(Exp, 2.0, ALL, f64::exp, |_, x| x)
        },
        Function {
            op: Op::Two(Binary::Atan2),
            truth: Truth { near: |[y, x]| libm::atan2(y, x), exact: |e, [y, x]| e.number(y).atan2(&e.number(x)) },
            ..one!(Exp, 4.0, ALL, f64::exp, |_, x| x)
        },
    ]
}
