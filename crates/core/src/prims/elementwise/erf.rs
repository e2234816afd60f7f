//! The error function, 2/sqrt(pi) times the integral of e^-t^2 from 0.
//!
//! erf : x[...] -> x[...]        x floating
//! d erf(x) = 2/sqrt(pi) e^-x^2 dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Erf;

impl UnaryOp for Erf {
    const NAME: &'static str = "erf";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.erf");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| {
        x.strong_number(std::f64::consts::FRAC_2_SQRT_PI) * (x_dot * (-x.square()).exp())
    });
    const DOMAIN: (f64, f64) = (-3.0, 3.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Erf, x)
    }
}
