//! Either: of booleans, or bit by bit.
//!
//! or : x[...] y[...] -> [...]        booleans or integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Or;

impl BinaryOp for Or {
    const NAME: &'static str = "or";
    const ACCEPTS: DTypes = DTypes::BITS;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.or");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Or, x, y)
    }
}
