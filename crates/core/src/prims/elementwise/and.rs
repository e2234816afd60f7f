//! Both: of booleans, or bit by bit.
//!
//! and : x[...] y[...] -> [...]        booleans or integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct And;

impl BinaryOp for And {
    const NAME: &'static str = "and";
    const ACCEPTS: DTypes = DTypes::BITS;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.and");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::And, x, y)
    }
}
