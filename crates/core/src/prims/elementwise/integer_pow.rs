//! Each element to a fixed integer power, by repeated squaring; integers wrap.
//!
//! integer_pow : x[...] -> x[...]        x a number
//! d x^y = y x^(y-1) dx

use super::*;
use pullback_ir::Splits;

/// Params of `integer_pow`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct IntegerPow {
    /// The exponent.
    pub y: i32,
}

struct IntegerPowPrim;

/// The primitive `integer_pow`.
pub static INTEGER_POW: PrimRef = prim(&IntegerPowPrim);

impl<'e> V<'e> {
    /// To a fixed integer power.
    pub fn integer_pow(&self, y: i32) -> V<'e> {
        self.bind(INTEGER_POW, &Params::new(IntegerPow { y }), &[])
    }
}

impl Prim for IntegerPowPrim {
    type Params = IntegerPow;
    const NAME: &'static str = "integer_pow";

    fn abstract_eval(&self, p: &IntegerPow, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("integer_pow", ins)?;
        DTypes::NUMBER.check_only("integer_pow", x.dtype)?;
        if p.y < 0 && x.dtype.is_integer() {
            bail!(Type, "Integers cannot be raised to negative powers, got integer_pow({x}, {})", p.y);
        }
        Ok(smallvec![x])
    }

    fn derivative(&self) -> Derivative<IntegerPow> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<IntegerPow> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<IntegerPow> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<IntegerPow> {
        Batching::Pointwise
    }

    fn cpu(&self, p: &IntegerPow, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (n, is_inverse) = (p.y.unsigned_abs(), p.y < 0);
        CpuForm::Scalar(Box::new(move |loops, ins| match ins[0] {
            Elem::One(x) => Elem::One(formula::real_formula(loops, x, |x| {
                let power = x.power(n);
                if is_inverse { 1.0 / power } else { power }
            })),
            Elem::Two(re, im) => complex_formula(loops, re, im, |z| {
                let power = z.power(n);
                if is_inverse { power.reciprocal() } else { power }
            }),
        }))
    }

    fn hlo(&self) -> Hlo<IntegerPow> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |y, dtype, domain| Sample::new(Params::new(IntegerPow { y }), dtype, domain, &[&[2, 3]]);
        let mut samples: Vec<Sample> = [-3, -2, -1, 0, 1, 2, 3, 10].map(|y| sample(y, DType::F32, (0.3, 2.0))).to_vec();
        samples.extend([0, 1, 3].map(|y| sample(y, DType::I32, (-5.0, 5.0))));
        samples.extend([-2, 3].map(|y| sample(y, DType::C64, (0.3, 2.0))));
        samples
    }
}

fn jvp(p: &IntegerPow, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let x = V::new(e, &xs[0]);
    let out = x.integer_pow(p.y).done()?;
    let Some(t) = &ts[0] else { return Ok((smallvec![out], smallvec![None])) };
    let tangent = match p.y {
        0 => None,
        1 => Some(t.clone()),
        2 => Some((V::new(e, t) * (2.0 * &x)).done()?),
        y => Some((V::new(e, t) * (f64::from(y) * x.integer_pow(y - 1))).done()?),
    };
    Ok((smallvec![out], smallvec![tangent]))
}
