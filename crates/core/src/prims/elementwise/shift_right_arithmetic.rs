//! Bits moved down, copies of the sign coming in.
//!
//! shift_right_arithmetic : x[...] amount[...] -> [...]        integers of one dtype
//! No derivative.

use super::*;
use pullback_ir::lower::{bits_of, of_bits};
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

    fn typed(loops: &mut Builder, dtype: DType, x: ValueId, y: ValueId) -> ValueId {
        let signed = match dtype {
            DType::U2 => DType::I2,
            DType::U4 => DType::I4,
            _ => return Self::real(loops, x, y),
        };
        // The sign is the highest of its own bits, and not of the byte.
        let bits = bits_of(loops, dtype, x);
        let x = of_bits(loops, signed, bits);
        let y = loops.bitcast(DType::I8, y);
        let shifted = loops.binary(Op::ShiftRightArithmetic, x, y);
        let bits = bits_of(loops, signed, shifted);
        of_bits(loops, dtype, bits)
    }
}
