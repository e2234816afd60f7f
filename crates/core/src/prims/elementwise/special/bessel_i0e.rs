//! The modified Bessel function of order 0, scaled by `e^-|x|`.
//!
//! bessel_i0e : x[...] -> x[...]        x floating
//! d i0e(x) = (i1e(x) - sign(x) i0e(x)) dx

use super::*;

pub(super) struct BesselI0e;

impl UnaryOp for BesselI0e {
    const NAME: &'static str = "bessel_i0e";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: UnaryRule = UnaryRule::Tangent(|x, y, x_dot| {
        let order_1 = x.bind(BESSEL_I1E, &Params::NONE, &[]);
        x_dot * (order_1 - x.sign() * y)
    });
    const DOMAIN: (f64, f64) = (-30.0, 30.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        in_double(loops, x, |x| bessel::scaled(x, 0))
    }
}
