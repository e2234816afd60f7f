//! Conversions by value, of scalars and of lanes. Floats to integers saturate, NaN to zero.

use super::super::ops;
use super::float::Shape;
use super::*;

/// The least and the greatest number of an integer type.
fn limits(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size_bytes() as u32;
    if is_signed(dtype) { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

// Scalars.
impl Lower<'_, '_> {
    pub(super) fn scalar_convert(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        match (from.is_float(), to.is_float()) {
            _ if from == to => x,
            (true, true) => {
                let op = if to == DType::F64 { &ops::CVTSS2SD } else { &ops::CVTSD2SS };
                self.vec2_at(Len::L128, op, x, x)
            }
            (true, false) => self.float_to_integer(from, to, x),
            (false, true) => self.integer_to_float(from, to, x),
            (false, false) => self.integer_to_integer(from, to, x),
        }
    }

    fn integer_to_integer(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        if to == DType::Bool {
            let test = Test { wide: is_wide(from), ..holds(x) };
            return self.unary_int(|dst| Inst::Set { dst, test });
        }
        if is_wide(to) {
            let is_signed = is_signed(from);
            return if is_wide(from) {
                x
            } else {
                self.unary_int(|dst| Inst::Extend { size_bytes: 4, is_signed, dst, x })
            };
        }
        self.normalized(to, x)
    }

    fn integer_to_float(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        if from == DType::U64 {
            return self.unsigned_to_float(to, x);
        }
        // Numbers of 32 bits without sign are small ones of 64 bits.
        let (wide, x) = match from {
            DType::U32 => (true, self.integer_to_integer(from, DType::I64, x)),
            _ => (is_wide(from), x),
        };
        self.signed_to_float(wide, to, x)
    }

    fn signed_to_float(&mut self, wide: bool, to: DType, x: Reg) -> Reg {
        let zero = self.float_literal(Shape::scalar(to), 0.0);
        let op = &ops::CVTSI2[usize::from(wide) + 2 * usize::from(is_wide(to))];
        self.vec2_at(Len::L128, op, zero, x)
    }

    /// Numbers with the highest bit go halved, the bit that falls off kept for rounding, and are doubled again.
    fn unsigned_to_float(&mut self, to: DType, x: Reg) -> Reg {
        let half = self.unary_int(|dst| Inst::ShiftImm { number: 5, wide: true, dst, x, by: 1 });
        let last = self.alu(Alu::And, true, x, Source::Imm(1));
        let half = self.alu(Alu::Or, true, half, Source::Reg(last));
        let half = self.signed_to_float(true, to, half);
        let shape = Shape::scalar(to);
        let doubled = self.float_binary(Binary::Add, shape, half, half);
        let small = self.signed_to_float(true, to, x);
        let test = Test { cond: Cond::Less, wide: true, x, y: Source::Imm(0) };
        let is_large = self.unary_int(|dst| Inst::Set { dst, test });
        self.scalar_select(to, is_large, doubled, small)
    }

    fn float_to_integer(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let shape = Shape::scalar(from);
        if to == DType::Bool {
            let zero = self.float_literal(shape, 0.0);
            return self.float_set(Comparison::Ne, from, x, zero);
        }
        let (_, most) = limits(to);
        let beyond = self.float_literal(shape, (most + 1) as f64);
        let is_beyond = self.float_set(Comparison::Ge, from, x, beyond);
        let most = self.int(most as i64);
        let converted = match to {
            DType::U64 => {
                let half = self.float_literal(shape, (1u64 << 63) as f64);
                let rest = self.float_binary(Binary::Sub, shape, x, half);
                let (rest, small) = (self.truncated(true, from, rest), self.truncated(true, from, x));
                let sign = self.int(i64::MIN);
                let large = self.alu(Alu::Xor, true, rest, Source::Reg(sign));
                let is_large = self.float_set(Comparison::Ge, from, x, half);
                self.pick(true, holds(is_large), large, small)
            }
            // All of 32 bits and below fit in 64.
            _ => self.truncated(true, from, x),
        };
        let result = self.pick(true, holds(is_beyond), most, converted);
        self.at_least_low(from, to, x, result)
    }

    /// The limit from below, and zero for NaN.
    fn at_least_low(&mut self, from: DType, to: DType, x: Reg, converted: Reg) -> Reg {
        let shape = Shape::scalar(from);
        let (low, _) = limits(to);
        let least = self.float_literal(shape, low as f64);
        let is_above = self.float_set(Comparison::Gt, from, x, least);
        let low = self.int(low as i64);
        let result = self.pick(true, holds(is_above), converted, low);
        let is_number = self.float_set(Comparison::Eq, from, x, x);
        let zero = self.int(0);
        self.pick(true, holds(is_number), result, zero)
    }

    fn truncated(&mut self, wide: bool, from: DType, x: Reg) -> Reg {
        let op = &ops::CVTT2SI[usize::from(wide) + 2 * usize::from(is_wide(from))];
        self.vec_inst(op, Len::L128, Class::Int, [None, Some(x), None], 0)
    }
}

// Lanes.
impl Lower<'_, '_> {
    /// The conversion on whole registers, if the machine has it.
    pub(super) fn vector_convert(&mut self, to: DType, x: ValueId) -> Option<Slot> {
        let from = self.dtype(x);
        if from == to {
            return Some(if to == DType::Bool { Slot::Mask(self.mask(x)) } else { Slot::Vector(self.vector(x)) });
        }
        if from == DType::Bool {
            return Some(self.mask_to_lanes(to, x));
        }
        let parts = self.vector(x);
        if to == DType::Bool {
            return Some(self.lanes_to_mask(from, &parts));
        }
        let parts = match (from.is_float(), to.is_float()) {
            (true, true) => self.float_lanes(to, &parts),
            (false, false) => self.integer_lanes_convert(from, to, &parts),
            (false, true) => self.integer_lanes_to_float(from, to, &parts)?,
            (true, false) => self.float_lanes_to_integer(from, to, &parts)?,
        };
        Some(Slot::Vector(parts))
    }

    fn mask_to_lanes(&mut self, to: DType, x: ValueId) -> Slot {
        let one = pullback_base::Scalar::one(to).to_bits() as u64;
        let wide = is_wide(to);
        let (mask, one) = (self.mask(x), self.lanes_literal(one, wide));
        let masks: Parts = if wide { self.split_mask(mask).into_iter().collect() } else { smallvec![mask] };
        Slot::Vector(masks.into_iter().map(|mask| self.keep_where(mask, one, wide)).collect())
    }

    fn lanes_to_mask(&mut self, from: DType, parts: &[Reg]) -> Slot {
        let zero = self.lanes_literal(0, is_wide(from));
        let masks: Parts = parts
            .iter()
            .map(|&part| {
                if from.is_float() {
                    let shape = Shape::lanes(from).for_machine(self.has_avx512);
                    self.float_compare(Comparison::Ne, shape, part, zero)
                } else {
                    self.integer_lanes_compare(Comparison::Ne, from, part, zero)
                }
            })
            .collect();
        Slot::Mask(self.join_masks(&masks))
    }

    fn float_lanes(&mut self, to: DType, parts: &[Reg]) -> Parts {
        if to == DType::F64 {
            return self.widened(&ops::CVTPS2PD, parts[0]);
        }
        smallvec![self.narrowed_long(&ops::CVTPD2PS, parts)]
    }

    /// One register of 32-bit lanes from two of 64-bit lanes, by an instruction that is named by its source.
    fn narrowed_long(&mut self, op: &'static ops::VecOp, parts: &[Reg]) -> Reg {
        self.narrowed(op, parts)
    }

    fn integer_lanes_convert(&mut self, from: DType, to: DType, parts: &[Reg]) -> Parts {
        match (is_wide(from), is_wide(to)) {
            (true, true) => parts.into(),
            (true, false) => {
                let words = self.low_words(parts[0], parts[1]);
                smallvec![self.normalized_lanes(to, words)]
            }
            (false, true) => {
                let ops = if is_signed(from) { &ops::PMOVSX[2] } else { &ops::PMOVZX[2] };
                self.widened(ops, parts[0])
            }
            (false, false) => smallvec![self.normalized_lanes(to, parts[0])],
        }
    }

    fn integer_lanes_to_float(&mut self, from: DType, to: DType, parts: &[Reg]) -> Option<Parts> {
        let is_single = to == DType::F32;
        let op = match from {
            DType::U32 | DType::U64 | DType::I64 if !self.has_avx512 => return None,
            DType::U32 if is_single => &ops::CVTUDQ2PS,
            DType::U32 => &ops::CVTUDQ2PD,
            DType::I64 if is_single => &ops::CVTQQ2PS,
            DType::I64 => &ops::CVTQQ2PD,
            DType::U64 if is_single => &ops::CVTUQQ2PS,
            DType::U64 => &ops::CVTUQQ2PD,
            _ if is_single => &ops::CVTDQ2PS,
            _ => &ops::CVTDQ2PD,
        };
        Some(match (is_wide(from), is_single) {
            (false, true) => smallvec![self.vec1(op, parts[0])],
            (false, false) => self.widened(op, parts[0]),
            (true, true) => smallvec![self.narrowed_long(op, parts)],
            (true, false) => parts.iter().map(|&part| self.vec1(op, part)).collect(),
        })
    }

    fn float_lanes_to_integer(&mut self, from: DType, to: DType, parts: &[Reg]) -> Option<Parts> {
        if !self.has_avx512 && matches!(to, DType::U32 | DType::I64 | DType::U64) {
            return None;
        }
        if to.size_bytes() < 4 {
            let words = self.float_lanes_to_integer(from, DType::I32, parts)?[0];
            let (low, high) = limits(to);
            let literal = |value: i128| value as u64 & 0xffff_ffff;
            let (low, high) = (self.lanes_literal(literal(low), false), self.lanes_literal(literal(high), false));
            let words = self.vec2(&ops::PMAXS[0], words, low);
            return Some(smallvec![self.vec2(&ops::PMINS[0], words, high)]);
        }
        let op = match (from, to) {
            (DType::F32, DType::I32) => &ops::CVTTPS2DQ,
            (DType::F32, DType::U32) => &ops::CVTTPS2UDQ,
            (DType::F32, DType::I64) => &ops::CVTTPS2QQ,
            (DType::F32, _) => &ops::CVTTPS2UQQ,
            (_, DType::I32) => &ops::CVTTPD2DQ,
            (_, DType::U32) => &ops::CVTTPD2UDQ,
            (_, DType::I64) => &ops::CVTTPD2QQ,
            (_, _) => &ops::CVTTPD2UQQ,
        };
        let parts: Parts = parts.iter().map(|&part| self.in_limits(from, to, part)).collect();
        let converted: Parts = match (is_wide(from), is_wide(to)) {
            (false, false) => smallvec![self.vec1(op, parts[0])],
            (false, true) => self.widened(op, parts[0]),
            (true, false) => smallvec![self.narrowed_long(op, &parts)],
            (true, true) => parts.iter().map(|&part| self.vec1(op, part)).collect(),
        };
        Some(self.saturated(from, to, &parts, converted))
    }

    /// Floats with zero for NaN, and, where the machine would not see that they are below, the least number. What
    /// `float64` can say exactly is cut to the limits of `int32` too.
    fn in_limits(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let shape = Shape::lanes(from).for_machine(self.has_avx512);
        if !is_signed(to) {
            // The machine's greatest gives its second operand for NaN.
            let zero = self.float_literal(shape, 0.0);
            return self.vec2(&ops::MAX[usize::from(shape.double)], x, zero);
        }
        let is_number = self.is_number(shape, x);
        let x = self.keep_where(is_number, x, shape.double);
        if (from, to) != (DType::F64, DType::I32) {
            return x;
        }
        let (low, high) = limits(to);
        let (low, high) = (self.float_literal(shape, low as f64), self.float_literal(shape, high as f64));
        let x = self.vec2(&ops::MAX[1], x, low);
        self.vec2(&ops::MIN[1], x, high)
    }

    /// Signed results are the least number where they are too great; unsigned ones all bits, which is right.
    fn saturated(&mut self, from: DType, to: DType, floats: &[Reg], converted: Parts) -> Parts {
        if !is_signed(to) || (from, to) == (DType::F64, DType::I32) {
            return converted;
        }
        let shape = Shape::lanes(from).for_machine(self.has_avx512);
        let (_, most) = limits(to);
        let beyond = self.float_literal(shape, (most + 1) as f64);
        let masks: Parts = floats.iter().map(|&part| self.float_compare(Comparison::Ge, shape, part, beyond)).collect();
        let masks: Parts = match (is_wide(from), is_wide(to)) {
            (false, true) => self.split_mask(masks[0]).into_iter().collect(),
            _ => masks,
        };
        let most = self.lanes_literal(most as u64, is_wide(to));
        let most: Parts = smallvec![most; converted.len()];
        self.choose_parts(to, &masks, &most, &converted)
    }
}
