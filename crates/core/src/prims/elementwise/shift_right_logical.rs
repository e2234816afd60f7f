//! Bits moved down, zeros coming in; zero for amounts from the width on.
//!
//! shift_right_logical : x[...] amount[...] -> [...]        integers of one dtype
//! No derivative.

use super::*;
use pullback_ir::lower::{bits_of, is_small_integer, of_bits};
use pullback_loops::Binary as Op;

pub(super) struct ShiftRightLogical;

impl BinaryOp for ShiftRightLogical {
    const NAME: &'static str = "shift_right_logical";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.shift_right_logical");
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (0.0, 9.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::ShiftRightLogical, x, y)
    }

    fn typed(loops: &mut Builder, dtype: DType, x: ValueId, y: ValueId) -> ValueId {
        if !is_small_integer(dtype) {
            return Self::real(loops, x, y);
        }
        let (x, y) = (bits_of(loops, dtype, x), bits_of(loops, dtype, y));
        let bits = loops.binary(Op::ShiftRightLogical, x, y);
        of_bits(loops, dtype, bits)
    }
}
