//! Bits moved down, copies of the sign coming in.
//!
//! shift_right_arithmetic : x[...] amount[...] -> [...]        integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct ShiftRightArithmetic;

impl BinaryOp for ShiftRightArithmetic {
    const NAME: &'static str = "shift_right_arithmetic";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.shift_right_arithmetic");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (0.0, 9.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::ShiftRightArithmetic, x, y)
    }
}
