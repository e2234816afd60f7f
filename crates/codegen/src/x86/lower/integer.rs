//! Integers in lanes. Narrow ones stand in 32 bits, extended by their sign, and are brought back to that form after
//! operations that leave it.

use super::super::ops;
use super::*;

/// Predicates of the integer comparisons with masks.
fn predicate(op: Comparison) -> u8 {
    match op {
        Comparison::Eq => 0,
        Comparison::Lt => 1,
        Comparison::Le => 2,
        Comparison::Ne => 4,
        Comparison::Ge => 5,
        Comparison::Gt => 6,
    }
}

/// Whether the order of registers is that of unsigned numbers: narrow ones are small and not negative.
fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U32 | DType::U64)
}

impl Lower<'_, '_> {
    /// Lanes in the form of a narrow type; wider types stay.
    pub(super) fn normalized_lanes(&mut self, dtype: DType, x: Reg) -> Reg {
        self.normalized_at(self.whole(), dtype, x)
    }

    fn normalized_at(&mut self, len: Len, dtype: DType, x: Reg) -> Reg {
        match dtype {
            DType::U8 => self.low_bits(len, x, 0xff),
            DType::U16 => self.low_bits(len, x, 0xffff),
            DType::I8 | DType::I16 => {
                let spare = if dtype == DType::I8 { 24 } else { 16 };
                let high = self.vec_inst(&ops::PSLLI[0], len, Class::Vector, [None, Some(x), None], spare);
                self.vec_inst(&ops::PSRAI[0], len, Class::Vector, [None, Some(high), None], spare)
            }
            _ => x,
        }
    }

    fn low_bits(&mut self, len: Len, x: Reg, bits: u64) -> Reg {
        let bits = self.lanes_literal(bits, false);
        self.vec2_at(len, self.bits_op(&ops::PAND, false), x, bits)
    }

    /// The form of a bitwise instruction for this machine.
    fn bits_op(&self, ops: &'static [ops::VecOp; 3], wide: bool) -> &'static ops::VecOp {
        &ops[if self.has_avx512 { 1 + usize::from(wide) } else { 0 }]
    }

    pub(super) fn integer_lanes_unary(&mut self, op: Unary, dtype: DType, x: Reg) -> Option<Reg> {
        let wide = is_wide(dtype);
        let number = usize::from(wide);
        let result = match op {
            Unary::Neg => {
                let zero = self.lanes_literal(0, wide);
                self.vec2(&ops::PSUB[number], zero, x)
            }
            Unary::Not => {
                let ones = self.lanes_literal(if wide { u64::MAX } else { 0xffff_ffff }, wide);
                self.vec2(self.bits_op(&ops::PXOR, wide), x, ones)
            }
            Unary::Abs if !is_signed(dtype) => x,
            Unary::Abs if self.has_avx512 || !wide => self.vec1(&ops::PABS[number], x),
            Unary::Sign if self.has_avx512 || !wide => {
                let one = self.lanes_literal(1, wide);
                if is_signed(dtype) {
                    let minus_one = self.lanes_literal(if wide { u64::MAX } else { 0xffff_ffff }, wide);
                    let low = self.vec2(&ops::PMAXS[number], x, minus_one);
                    self.vec2(&ops::PMINS[number], low, one)
                } else {
                    self.vec2(&ops::PMINU[number], x, one)
                }
            }
            Unary::LeadingZeros if self.has_avx512 => return Some(self.leading_zeros(dtype, x)),
            _ => return None,
        };
        Some(self.normalized_lanes(dtype, result))
    }

    fn leading_zeros(&mut self, dtype: DType, x: Reg) -> Reg {
        let wide = is_wide(dtype);
        let bits = self.unsigned_bits(dtype, x);
        let zeros = self.vec1(&ops::PLZCNT[usize::from(wide)], bits);
        let spare = 32u64.saturating_sub(8 * dtype.size_bytes() as u64);
        if spare == 0 {
            return zeros;
        }
        let spare = self.lanes_literal(spare, false);
        self.vec2(&ops::PSUB[0], zeros, spare)
    }

    /// The bits of a narrow type without its sign's extension.
    fn unsigned_bits(&mut self, dtype: DType, x: Reg) -> Reg {
        match dtype {
            DType::I8 => self.low_bits(self.whole(), x, 0xff),
            DType::I16 => self.low_bits(self.whole(), x, 0xffff),
            _ => x,
        }
    }

    /// The bits of a type read as signed.
    fn signed_bits(&mut self, dtype: DType, x: Reg) -> Reg {
        match dtype {
            DType::U8 => self.normalized_lanes(DType::I8, x),
            DType::U16 => self.normalized_lanes(DType::I16, x),
            _ => x,
        }
    }

    /// An operation on registers of lanes, for what [`Lower::has_lanes_binary`] names.
    pub(super) fn integer_lanes(&mut self, op: Binary, dtype: DType, len: Len, x: Reg, y: Reg) -> Reg {
        let wide = is_wide(dtype);
        let number = usize::from(wide);
        let result = match op {
            Binary::Add => self.vec2_at(len, &ops::PADD[number], x, y),
            Binary::Sub => self.vec2_at(len, &ops::PSUB[number], x, y),
            Binary::Mul if wide && !self.has_avx512 => self.wide_product(len, x, y),
            Binary::Mul => self.vec2_at(len, &ops::PMULL[number], x, y),
            Binary::And => self.vec2_at(len, self.bits_op(&ops::PAND, wide), x, y),
            Binary::Or => self.vec2_at(len, self.bits_op(&ops::POR, wide), x, y),
            Binary::Xor => self.vec2_at(len, self.bits_op(&ops::PXOR, wide), x, y),
            Binary::Min | Binary::Max => return self.integer_extreme(op == Binary::Min, dtype, len, x, y),
            // Amounts at or above 32 (or 64) give what the loop IR asks for; between a narrow width and 32 the form of
            // the type does.
            Binary::ShiftLeft => self.vec2_at(len, &ops::PSLLV[number], x, y),
            Binary::ShiftRightLogical => {
                let x = self.unsigned_bits(dtype, x);
                self.vec2_at(len, &ops::PSRLV[number], x, y)
            }
            Binary::ShiftRightArithmetic => {
                let x = self.signed_bits(dtype, x);
                self.vec2_at(len, &ops::PSRAV[number], x, y)
            }
            other => unreachable!("{other:?} of integers is done lane by lane"),
        };
        self.normalized_at(len, dtype, result)
    }

    /// The low 64 bits of products, from those of halves.
    fn wide_product(&mut self, len: Len, x: Reg, y: Reg) -> Reg {
        let shifted =
            |me: &mut Self, op: &'static ops::VecOp, x| me.vec_inst(op, len, Class::Vector, [None, Some(x), None], 32);
        let (high_x, high_y) = (shifted(self, &ops::PSRLI[1], x), shifted(self, &ops::PSRLI[1], y));
        let low = self.vec2_at(len, &ops::PMULUDQ, x, y);
        let first = self.vec2_at(len, &ops::PMULUDQ, high_x, y);
        let second = self.vec2_at(len, &ops::PMULUDQ, x, high_y);
        let cross = self.vec2_at(len, &ops::PADD[1], first, second);
        let cross = shifted(self, &ops::PSLLI[1], cross);
        self.vec2_at(len, &ops::PADD[1], low, cross)
    }

    fn integer_extreme(&mut self, is_min: bool, dtype: DType, len: Len, x: Reg, y: Reg) -> Reg {
        let wide = is_wide(dtype);
        if wide && !self.has_avx512 {
            let greater = self.greater(dtype, len, x, y);
            let (on_true, on_false) = if is_min { (y, x) } else { (x, y) };
            let regs = [Some(on_false), Some(on_true), Some(greater)];
            return self.vec_inst(&ops::BLENDV[1], len, Class::Vector, regs, 0);
        }
        let op = match (is_min, is_unsigned(dtype)) {
            (true, false) => &ops::PMINS,
            (true, true) => &ops::PMINU,
            (false, false) => &ops::PMAXS,
            (false, true) => &ops::PMAXU,
        };
        self.vec2_at(len, &op[usize::from(wide)], x, y)
    }

    /// With AVX2: lanes of all bits where `x > y`.
    fn greater(&mut self, dtype: DType, len: Len, x: Reg, y: Reg) -> Reg {
        let wide = is_wide(dtype);
        let (mut x, mut y) = (x, y);
        if is_unsigned(dtype) {
            let sign = self.lanes_literal(if wide { 1 << 63 } else { 1 << 31 }, wide);
            x = self.vec2_at(len, &ops::PXOR[0], x, sign);
            y = self.vec2_at(len, &ops::PXOR[0], y, sign);
        }
        self.vec2_at(len, &ops::PCMPGT[usize::from(wide)], x, y)
    }

    pub(super) fn integer_lanes_compare(&mut self, op: Comparison, dtype: DType, x: Reg, y: Reg) -> Reg {
        let number = usize::from(is_wide(dtype));
        let whole = self.whole();
        if self.has_avx512 {
            let ops = if is_unsigned(dtype) { &ops::PCMPU } else { &ops::PCMP };
            return self.vec_inst(&ops[number], whole, Class::Mask, [Some(x), Some(y), None], predicate(op));
        }
        let (holds, inverted) = match op {
            Comparison::Eq => (self.vec2(&ops::PCMPEQ[number], x, y), false),
            Comparison::Ne => (self.vec2(&ops::PCMPEQ[number], x, y), true),
            Comparison::Gt => (self.greater(dtype, whole, x, y), false),
            Comparison::Le => (self.greater(dtype, whole, x, y), true),
            Comparison::Lt => (self.greater(dtype, whole, y, x), false),
            Comparison::Ge => (self.greater(dtype, whole, y, x), true),
        };
        if inverted { self.not_mask(holds) } else { holds }
    }

    /// A shift by a known amount.
    pub(super) fn shift_lanes_by(&mut self, op: Binary, dtype: DType, x: Reg, amount: u64) -> Option<Reg> {
        let width = 8 * dtype.size_bytes() as u64;
        let wide = is_wide(dtype);
        let number = usize::from(wide);
        let is_outside = amount >= width;
        let result = match op {
            Binary::ShiftLeft | Binary::ShiftRightLogical if is_outside => return Some(self.lanes_literal(0, wide)),
            Binary::ShiftLeft => self.vec_imm(&ops::PSLLI[number], x, amount as u8),
            Binary::ShiftRightLogical => {
                let x = self.unsigned_bits(dtype, x);
                self.vec_imm(&ops::PSRLI[number], x, amount as u8)
            }
            _ if wide && !self.has_avx512 => return None,
            _ => {
                let x = self.signed_bits(dtype, x);
                self.vec_imm(&ops::PSRAI[number], x, amount.min(width - 1) as u8)
            }
        };
        Some(self.normalized_lanes(dtype, result))
    }
}
