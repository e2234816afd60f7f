//! The modified Bessel function of order 1, scaled by `e^-|x|`.
//!
//! bessel_i1e : x[...] -> x[...]        x floating
//! d i1e(x) = (i0e(x) - i1e(x) (sign(x) + 1/x)) dx, and dx/2 at 0

use super::*;

pub(super) struct BesselI1e;

impl UnaryOp for BesselI1e {
    const NAME: &'static str = "bessel_i1e";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: UnaryRule = UnaryRule::Tangent(|x, y, x_dot| {
        let least = if x.aval().dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
        let is_zero = x.abs().le(&x.number(least));
        let safe = is_zero.select(x, &x.full(least));
        let slope = safe.bind(BESSEL_I0E, &Params::NONE, &[]) - y * (safe.sign() + safe.integer_pow(-1));
        x_dot * is_zero.select(&slope, &x.full(0.5))
    });
    const DOMAIN: (f64, f64) = (-30.0, 30.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        in_double(loops, x, |x| bessel::scaled(x, 1).with_sign_of(x))
    }
}
