//! The opposite of each boolean, or of each bit.
//!
//! not : x[...] -> x[...]        x boolean or integer
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Not;

impl UnaryOp for Not {
    const NAME: &'static str = "not";
    const ACCEPTS: DTypes = DTypes::BITS;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.not");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Not, x)
    }
}
