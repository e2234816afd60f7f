//! Bits moved up, zeros coming in; zero for amounts from the width on.
//!
//! shift_left : x[...] amount[...] -> [...]        integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct ShiftLeft;

impl BinaryOp for ShiftLeft {
    const NAME: &'static str = "shift_left";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.shift_left");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (0.0, 9.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::ShiftLeft, x, y)
    }
}
