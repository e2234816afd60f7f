//! How many bits of each element above the highest one are zero.
//!
//! clz : x[...] -> x[...]        x an integer
//! No derivative.

use super::formula::real_formula;
use super::*;
use pullback_ir::lower::{bits_of, is_small_integer, of_bits};
use pullback_loops::Unary as Op;

pub(super) struct Clz;

impl UnaryOp for Clz {
    const NAME: &'static str = "clz";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.count_leading_zeros");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 50.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::LeadingZeros, x)
    }

    fn typed(loops: &mut Builder, dtype: DType, x: ValueId) -> ValueId {
        if !is_small_integer(dtype) {
            return Self::real(loops, x);
        }
        // Without those zeros that a byte has above its bits.
        let bits = bits_of(loops, dtype, x);
        let count =
            real_formula(loops, bits, |bits| bits.unary(Op::LeadingZeros) - bits.int(8 - i128::from(dtype.bits())));
        of_bits(loops, dtype, count)
    }
}
