//! Exactly one: of booleans, or bit by bit.
//!
//! xor : x[...] y[...] -> [...]        booleans or integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Xor;

impl BinaryOp for Xor {
    const NAME: &'static str = "xor";
    const ACCEPTS: DTypes = DTypes::BITS;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.xor");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Xor, x, y)
    }
}
