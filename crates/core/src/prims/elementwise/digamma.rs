//! The derivative of `lgamma`.
//!
//! digamma : x[...] -> x[...]        x floating
//! d digamma(x) = polygamma(1, x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Digamma;

impl UnaryOp for Digamma {
    const NAME: &'static str = "digamma";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.digamma");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.full(1.0).bind(POLYGAMMA, &Params::NONE, &[x]));
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Digamma, x)
    }
}
