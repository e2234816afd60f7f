//! Each element rounded to a float format of fewer bits, kept in its dtype.
//!
//! reduce_precision : x[...] -> x[...]        x floating
//! To the nearest, ties to even; what is too great becomes infinite, what is too small zero. It counts as linear.

use super::*;
use crate::prims::zeros;
use pullback_ir::Splits;
use pullback_ir::lower::unary_form;

/// Params of `reduce_precision`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReducePrecision {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa, without the leading one.
    pub mantissa_bits: u32,
}

struct ReducePrecisionPrim;

/// The primitive `reduce_precision`.
pub static REDUCE_PRECISION: PrimRef = prim(&ReducePrecisionPrim);

impl Prim for ReducePrecisionPrim {
    type Params = ReducePrecision;
    const NAME: &'static str = "reduce_precision";

    fn abstract_eval(&self, p: &ReducePrecision, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("reduce_precision", ins)?;
        DTypes::FLOAT.check_only("reduce_precision", x.dtype)?;
        if p.exponent_bits < 1 {
            bail!(Value, "reduce_precision takes at least 1 bit of exponent, got {}", p.exponent_bits);
        }
        Ok(smallvec![x])
    }

    fn derivative(&self) -> Derivative<ReducePrecision> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<ReducePrecision> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = Params::new(p.clone());
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).bind(REDUCE_PRECISION, &params, &[]).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<ReducePrecision> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<ReducePrecision> {
        Batching::Pointwise
    }

    fn cpu(&self, p: &ReducePrecision, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (exponent, mantissa) = (p.exponent_bits, p.mantissa_bits);
        unary_form(move |loops, x| formula::real_formula(loops, x, |x| reduced(x, exponent, mantissa)))
    }

    fn hlo(&self) -> Hlo<ReducePrecision> {
        Hlo::Attributes("stablehlo.reduce_precision", |p, _| {
            format!("format = e{}m{}", p.exponent_bits, p.mantissa_bits)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |exponent_bits, mantissa_bits| {
            let params = ReducePrecision { exponent_bits, mantissa_bits };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[&[2, 3]])
        };
        vec![sample(5, 10), sample(8, 7), sample(3, 3), sample(8, 23)]
    }
}

fn reduced(x: Term<'_>, exponent: u32, mantissa: u32) -> Term<'_> {
    let is_double = x.dtype() == DType::F64;
    let (int, own_exponent, own_mantissa) = if is_double { (DType::U64, 11, 52) } else { (DType::U32, 8, 23) };
    let bits = x.bits(int);
    let sign = bits & bits.int(1 << (own_exponent + own_mantissa));
    let mut size = bits ^ sign;
    if mantissa < own_mantissa {
        // Half of the last kept unit less one, plus the last kept bit: ties go to even.
        let dropped = own_mantissa - mantissa;
        let last = size.shifted_down(dropped.into()) & size.int(1);
        let rounded = size + last + size.int((1 << (dropped - 1)) - 1);
        size = rounded & rounded.int(!((1i128 << dropped) - 1) & ((1 << (own_exponent + own_mantissa)) - 1));
    }
    if exponent < own_exponent {
        let bias = (1i128 << (own_exponent - 1)) - 1;
        let reach = (1i128 << (exponent - 1)) - 1;
        let infinity = size.int(((1i128 << own_exponent) - 1) << own_mantissa);
        let greatest = size.int((bias + reach + 1) << own_mantissa);
        let least = size.int((bias - reach + 1) << own_mantissa);
        size = size.ge(greatest).choose(infinity, size);
        size = size.lt(least).choose(size.int(0), size);
    }
    let is_nan = x.compare(pullback_loops::Comparison::Ne, x);
    is_nan.choose(x, (sign | size).bits(x.dtype()))
}
