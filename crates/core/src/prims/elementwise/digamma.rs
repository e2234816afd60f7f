//! The derivative of `lgamma`.
//!
//! digamma : x[...] -> x[...]        x floating

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Digamma;

impl UnaryOp for Digamma {
    const NAME: &'static str = "digamma";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.digamma");
    const RULE: UnaryRule = UnaryRule::Missing("it needs polygamma, which is not a primitive yet");
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Digamma, x)
    }
}
