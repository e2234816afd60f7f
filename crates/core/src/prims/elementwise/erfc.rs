//! One less the error function, exact in the upper tail.
//!
//! erfc : x[...] -> x[...]        x floating
//! d erfc(x) = -2/sqrt(pi) e^-x^2 dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Erfc;

impl UnaryOp for Erfc {
    const NAME: &'static str = "erfc";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.erfc");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| {
        x.strong_number(-std::f64::consts::FRAC_2_SQRT_PI) * (x_dot * (-x.square()).exp())
    });
    const DOMAIN: (f64, f64) = (-3.0, 3.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Erfc, x)
    }
}
