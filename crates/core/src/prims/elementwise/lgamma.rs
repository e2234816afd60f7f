//! The logarithm of the absolute value of the gamma function.
//!
//! lgamma : x[...] -> x[...]        x floating
//! d lgamma(x) = digamma(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Lgamma;

impl UnaryOp for Lgamma {
    const NAME: &'static str = "lgamma";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.lgamma");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.digamma());
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Lgamma, x)
    }
}
