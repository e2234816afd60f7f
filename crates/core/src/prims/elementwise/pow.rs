//! Powers, element by element; the exponent may be an integer array.
//!
//! pow : x[...] y[...] -> x[...]        x floating or complex; y of the same dtype or an integer
//! d x^y = y x^(y-1) dx + log(x) x^y dy; where x is 0 the logarithm counts as 0.

use super::*;
use pullback_ir::SampleIn;
use pullback_ir::Splits;
use pullback_ir::lower::{LoopBinary as Op, LoopUnary, value_dtype};

pub(super) struct Pow;

/// The primitive `pow`.
pub static POW: PrimRef = prim(&Pow);

impl<'e> V<'e> {
    /// To the power of `other`, element by element.
    pub fn pow(&self, other: &V<'e>) -> V<'e> {
        self.bind(POW, &Params::NONE, &[other])
    }
}

impl Prim for Pow {
    type Params = ();
    const NAME: &'static str = "pow";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [x, y] = ins else { bail!(Type, "pow takes 2 operands, got {}", ins.len()) };
        DTypes::INEXACT.check("pow", 0, x.dtype)?;
        DTypes::NUMBER.check("pow", 1, y.dtype)?;
        if y.dtype != x.dtype && !y.dtype.is_integer() {
            bail!(
                Type,
                "the first argument to pow must have an inexact dtype (float or complex), and the second argument must have \
                 an inexact or integer dtype, and two inexact dtypes must match, but got {} and {} respectively.",
                x.dtype,
                y.dtype
            );
        }
        let weak_type = x.weak_type && y.weak_type;
        Ok(smallvec![Aval::with_weak_type(&broadcast_shapes("pow", ins)?, x.dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let dtype = value_dtype(ins[0].dtype);
        if !ins[0].dtype.is_complex() {
            return CpuForm::Scalar(Box::new(move |loops, ins| {
                let y = loops.convert(dtype, ins[1].one());
                Elem::One(loops.binary(Op::Pow, ins[0].one(), y))
            }));
        }
        CpuForm::Scalar(Box::new(move |loops, ins| {
            let Elem::Two(a, b) = ins[0] else { panic!("a complex element was expected") };
            match ins[1] {
                Elem::Two(c, d) => complex_formula2(loops, [a, b], [c, d], complex_pow),
                Elem::One(y) => {
                    let formula = Formula::new(loops);
                    let result = whole_power(Complex::new(formula.term(a), formula.term(b)), formula.term(y));
                    Elem::Two(result.re.id(), result.im.id())
                }
            }
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, outs| {
            let y = cx.convert(ins[1], ins[0].aval.dtype);
            let (x, y) = (cx.repeated(ins[0], &outs[0].shape), cx.repeated(y, &outs[0].shape));
            Ok(smallvec![cx.binary("stablehlo.power", x, y)])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = [[&[2, 3][..], &[2, 3]], [&[2, 3], &[]], [&[1, 3], &[2, 1]]]
            .iter()
            .map(|shapes| Sample::new(Params::NONE, DType::F32, (0.2, 3.0), shapes))
            .collect();
        samples.push(Sample::new(Params::NONE, DType::C64, (0.2, 2.0), &[&[2, 3], &[2, 3]]));
        let input = |dtype, domain| SampleIn { aval: Aval::new(&[3], dtype), domain };
        let ins = vec![input(DType::F32, (0.2, 3.0)), input(DType::I32, (-3.0, 4.0))];
        samples.push(Sample { params: Params::NONE, ins });
        samples
    }
}

/// By repeated squaring, one over it for a negative exponent.
fn whole_power<'f>(x: Complex<'f>, y: Term<'f>) -> Complex<'f> {
    let y = y.to(DType::I64);
    let zero = y.int(0);
    let (one, none) = (x.number(1.0), zero.eq(zero).opposite());
    let is_inverse = y.lt(zero);
    let count = is_inverse.choose(zero - y, y);
    let inits = [count, x.re, x.im, one.re, one.im, none];
    let ends = Term::iterate(
        &inits,
        |v| v[0].gt(zero),
        |v| {
            let (square, product) = (Complex::new(v[1], v[2]), Complex::new(v[3], v[4]));
            let is_odd = (v[0] & v[0].int(1)).gt(zero);
            // The first factor is taken as it is: one times infinity has a part that is no number.
            let next = Complex::choose(v[5], product * square, square);
            let next = Complex::choose(is_odd, next, product);
            let square = square * square;
            vec![v[0].shifted_down(1), square.re, square.im, next.re, next.im, v[5] | is_odd]
        },
    );
    let power = Complex::new(ends[3], ends[4]);
    Complex::choose(is_inverse, power.reciprocal(), power)
}

/// `e^(y log x)`; of zero it is one for `y = 0` and zero else.
fn complex_pow<'f>(x: Complex<'f>, y: Complex<'f>) -> Complex<'f> {
    let (zero, one) = (x.re.number(0.0), x.re.number(1.0));
    let is_zero = |z: Complex<'f>| z.re.eq(zero) & z.im.eq(zero);
    // A great exponent takes the last digits of the logarithm to the front.
    let plain = (y.to(DType::F64) * x.to(DType::F64).log()).exp().to(x.re.dtype());
    let at_zero = is_zero(y).choose(one, zero);
    let is_number = y.re.unary(LoopUnary::IsFinite) & y.im.unary(LoopUnary::IsFinite);
    let is_special = (is_zero(x) & is_number) | is_zero(y);
    Complex::new(is_special.choose(at_zero, plain.re), is_special.choose(zero, plain.im))
}

fn jvp((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, y) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let z = x.pow(&y);
    let shape = &z.aval().shape;
    let is_integer = y.aval().dtype.is_integer();
    let dx = ts[0].as_ref().map(|t| {
        V::new(e, t)
            * if is_integer {
                integer_slope(&x, &y)
            } else {
                &y * x.pow(&(&y - y.strong_number(1.0).broadcast_to(&y.aval().shape)))
            }
    });
    let dy = ts[1].as_ref().filter(|_| !is_integer).map(|t| {
        let safe = x.eq(&x.number(0.0)).select(&x, &x.full(1.0));
        V::new(e, t) * (safe.log() * &z)
    });
    let full = |t: V<'_>| t.broadcast_to(shape).done();
    let tangent = add_any(e, dx.map(full).transpose()?, dy.map(full).transpose()?)?;
    Ok((smallvec![z.done()?], smallvec![tangent]))
}

/// `y x^(y-1)`, and zero where `y` is, even for `x = 0`.
fn integer_slope<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let y = y.convert(x.aval().dtype);
    let is_zero = y.eq(&y.number(0.0));
    let safe = y.eq(&y.number(0.0)).select(&y, &y.full(1.0));
    let slope = safe * x.pow(&(&y - y.full(1.0)));
    let shape = slope.aval().data().shape.clone();
    is_zero.broadcast_to(&shape).select(&slope, &slope.full(0.0))
}
