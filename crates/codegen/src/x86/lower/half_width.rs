//! Half-width floats as they cross memory. `float16` by the machine's conversions, which see subnormal halves whatever
//! the mode; `bfloat16` by integer arithmetic, as the interpreter does it.

use super::super::ops;
use super::float::Shape;
use super::*;

impl Lower<'_, '_> {
    /// The nearest values of a half-width type.
    pub(super) fn rounded(&mut self, len: Len, to: DType, x: Reg) -> Reg {
        if to == DType::BF16 {
            let bits = self.bf16_bits(len, x);
            return self.vec_inst(&ops::PSLLI[0], len, Class::Vector, [None, Some(bits), None], 16);
        }
        let half = self.vec_inst(&ops::CVTPS2PH, len, Class::Vector, [None, Some(x), None], 0);
        self.vec1_at(len, &ops::CVTPH2PS, half)
    }

    /// The `bfloat16` bits nearest to lanes of `float32`, ties to even, in the low half of each.
    pub(super) fn bf16_bits(&mut self, len: Len, x: Reg) -> Reg {
        let shape = Shape { len, ..Shape::lanes(DType::F32) };
        let shifted = |me: &mut Self, x| me.vec_inst(&ops::PSRLI[0], len, Class::Vector, [None, Some(x), None], 16);
        let number = usize::from(self.has_avx512);
        let cut = shifted(self, x);
        let (one, below_half) = (self.lanes_literal(1, false), self.lanes_literal(0x7fff, false));
        let last = self.vec2_at(len, &ops::PAND[number], cut, one);
        let sum = self.vec2_at(len, &ops::PADD[0], x, below_half);
        let sum = self.vec2_at(len, &ops::PADD[0], sum, last);
        let rounded = shifted(self, sum);
        let quiet = self.lanes_literal(0x40, false);
        let nan = self.vec2_at(len, &ops::POR[number], cut, quiet);
        let is_nan = self.is_nan(shape, x);
        self.choose(shape, is_nan, nan, rounded)
    }

    /// A `float32` from half-width bits in an integer register.
    pub(super) fn widened_scalar(&mut self, dtype: DType, bits: Reg) -> Reg {
        if dtype == DType::BF16 {
            let moved = self.unary_int(|dst| Inst::ShiftImm { number: 4, wide: false, dst, x: bits, by: 16 });
            return self.vec1_at(Len::L128, &ops::MOVD[0], moved);
        }
        let half = self.vec1_at(Len::L128, &ops::MOVD[0], bits);
        self.vec1_at(Len::L128, &ops::CVTPH2PS, half)
    }

    /// Half-width bits in an integer register.
    pub(super) fn narrowed_scalar(&mut self, dtype: DType, x: Reg) -> Reg {
        let half = if dtype == DType::BF16 {
            self.bf16_bits(Len::L128, x)
        } else {
            self.vec_inst(&ops::CVTPS2PH, Len::L128, Class::Vector, [None, Some(x), None], 0)
        };
        self.vec_inst(&ops::MOVD_R[0], Len::L128, Class::Int, [None, Some(half), None], 0)
    }
}
