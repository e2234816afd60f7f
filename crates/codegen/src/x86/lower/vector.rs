//! Operations on groups of lanes. What the machine cannot do on lanes is done lane by lane.

use super::super::ops::{self, VecOp};
use super::float::Shape;
use super::*;
use crate::x86::inst::{Operand, VectorInst};

/// Registers that a group of a type takes.
pub(super) fn n_parts(dtype: DType) -> usize {
    if is_wide(dtype) { 2 } else { 1 }
}

impl<'a> Lower<'_, 'a> {
    /// A vector instruction with operands in registers.
    pub(super) fn vec_inst(
        &mut self,
        op: &'static VecOp,
        len: Len,
        class: Class,
        regs: [Option<Reg>; 3],
        imm: u8,
    ) -> Reg {
        let dst = self.reg(class);
        let [middle, rm, fourth] = regs;
        let rm = Operand::Reg(rm.expect("the last operand"));
        self.push(Inst::Vector(VectorInst { op, len, dst, middle, rm, fourth, mask: None, imm }));
        dst
    }

    pub(super) fn vec1(&mut self, op: &'static VecOp, x: Reg) -> Reg {
        self.vec1_at(self.whole(), op, x)
    }

    pub(super) fn vec1_at(&mut self, len: Len, op: &'static VecOp, x: Reg) -> Reg {
        self.vec_inst(op, len, Class::Vector, [None, Some(x), None], 0)
    }

    pub(super) fn vec2(&mut self, op: &'static VecOp, x: Reg, y: Reg) -> Reg {
        self.vec2_at(self.whole(), op, x, y)
    }

    pub(super) fn vec2_at(&mut self, len: Len, op: &'static VecOp, x: Reg, y: Reg) -> Reg {
        self.vec_inst(op, len, Class::Vector, [Some(x), Some(y), None], 0)
    }

    /// With an immediate, on one register.
    pub(super) fn vec_imm(&mut self, op: &'static VecOp, x: Reg, imm: u8) -> Reg {
        self.vec_inst(op, self.whole(), Class::Vector, [None, Some(x), None], imm)
    }

    pub(super) fn mask1(&mut self, op: &'static VecOp, x: Reg) -> Reg {
        self.vec_inst(op, Len::L128, Class::Mask, [None, Some(x), None], 0)
    }

    pub(super) fn mask_imm(&mut self, op: &'static VecOp, x: Reg, imm: u8) -> Reg {
        self.vec_inst(op, Len::L128, Class::Mask, [None, Some(x), None], imm)
    }

    pub(super) fn mask2(&mut self, op: &'static VecOp, x: Reg, y: Reg) -> Reg {
        self.vec_inst(op, Len::L256, Class::Mask, [Some(x), Some(y), None], 0)
    }

    /// The upper half of a register.
    pub(super) fn high_half(&mut self, x: Reg) -> Reg {
        let (op, len) = if self.has_avx512 { (&ops::EXTRACT256, Len::L512) } else { (&ops::EXTRACT128, Len::L256) };
        self.vec_inst(op, len, Class::Vector, [None, Some(x), None], 1)
    }

    /// A register of two halves.
    pub(super) fn joined(&mut self, low: Reg, high: Reg) -> Reg {
        let op = if self.has_avx512 { &ops::INSERT256 } else { &ops::INSERT128 };
        self.vec_inst(op, self.whole(), Class::Vector, [Some(low), Some(high), None], 1)
    }

    /// Two registers of 64-bit lanes from one of 32-bit lanes.
    pub(super) fn widened(&mut self, op: &'static VecOp, x: Reg) -> Parts {
        let high = self.high_half(x);
        smallvec![self.vec1(op, x), self.vec1(op, high)]
    }

    /// One register of 32-bit lanes from two of 64-bit lanes.
    pub(super) fn narrowed(&mut self, op: &'static VecOp, parts: &[Reg]) -> Reg {
        let (low, high) = (self.vec1(op, parts[0]), self.vec1(op, parts[1]));
        self.joined(low, high)
    }

    /// The low 32 bits of 64-bit lanes.
    pub(super) fn low_words(&mut self, low: Reg, high: Reg) -> Reg {
        if self.has_avx512 {
            return self.narrowed(&ops::PMOVQD, &[low, high]);
        }
        let mixed = self.vec_inst(&ops::SHUFPS, Len::L256, Class::Vector, [Some(low), Some(high), None], 0x88);
        self.vec_imm(&ops::PERMPD, mixed, 0xd8)
    }

    pub(super) fn lanes_literal(&mut self, bits: u64, wide: bool) -> Reg {
        self.literal(Literal::Lanes { bits, element: if wide { 8 } else { 4 } }, Class::Vector)
    }

    /// Bytes of a whole register.
    pub(super) fn pattern(&mut self, bytes: Vec<u8>) -> Reg {
        let known = self.f.patterns.iter().position(|pattern| *pattern == bytes);
        let number = known.unwrap_or_else(|| {
            self.f.patterns.push(bytes);
            self.f.patterns.len() - 1
        });
        self.literal(Literal::Pattern(number as u32), Class::Vector)
    }

    /// A value, not boolean, as lanes.
    pub(super) fn vector(&mut self, value: ValueId) -> Parts {
        let dtype = self.dtype(value);
        let splat = match self.slots[value.index()].clone() {
            Slot::Vector(parts) => return parts,
            Slot::Const(scalar) => {
                let bits = scalar.to_bits() as u64;
                let bits = if dtype.is_float() { bits } else { integer_value(dtype, bits) as u64 };
                let bits = if is_wide(dtype) { bits } else { bits & 0xffff_ffff };
                self.lanes_literal(bits, is_wide(dtype))
            }
            _ => {
                let scalar = self.scalar(value);
                if dtype.is_float() {
                    self.splat_float(scalar, is_wide(dtype))
                } else {
                    self.splat_int(scalar, is_wide(dtype))
                }
            }
        };
        smallvec![splat; n_parts(dtype)]
    }

    fn splat_float(&mut self, x: Reg, wide: bool) -> Reg {
        let key = Key::Splat(x, wide);
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let op = if wide { &ops::BROADCASTSD } else { &ops::BROADCASTSS };
        let reg = self.vec1(op, x);
        self.remember(key, reg);
        reg
    }

    pub(super) fn splat_int(&mut self, x: Reg, wide: bool) -> Reg {
        let key = Key::Splat(x, wide);
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let reg = if self.has_avx512 {
            self.vec1(&ops::PBROADCAST_R[usize::from(wide)], x)
        } else {
            let low = self.vec1_at(Len::L128, &ops::MOVD[usize::from(wide)], x);
            self.vec1(if wide { &ops::BROADCASTSD } else { &ops::BROADCASTSS }, low)
        };
        self.remember(key, reg);
        reg
    }

    /// A boolean as the mask of all lanes.
    pub(super) fn mask(&mut self, value: ValueId) -> Reg {
        if let Slot::Mask(mask) = self.slots[value.index()] {
            return mask;
        }
        let scalar = self.scalar(value);
        let key = Key::SplatMask(scalar);
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let all = self.reg(Class::Int);
        self.push(Inst::Neg { wide: false, dst: all, x: scalar });
        let mask = if self.has_avx512 { self.mask1(&ops::KMOV_FROM_R, all) } else { self.splat_int(all, false) };
        self.remember(key, mask);
        mask
    }

    /// A mask as those of the two registers of 64-bit lanes.
    pub(super) fn split_mask(&mut self, mask: Reg) -> [Reg; 2] {
        if self.has_avx512 {
            return [mask, self.mask_imm(&ops::KSHIFTR, mask, 8)];
        }
        let parts = self.widened(&ops::PMOVSX[2], mask);
        [parts[0], parts[1]]
    }

    /// The mask of a group from those of its registers.
    pub(super) fn join_masks(&mut self, masks: &[Reg]) -> Reg {
        match *masks {
            [mask] => mask,
            [low, high] if self.has_avx512 => self.mask2(&ops::KUNPCK, high, low),
            [low, high] => self.low_words(low, high),
            _ => unreachable!("one register or two"),
        }
    }

    /// The masks for the registers of a type.
    fn masks_for(&mut self, dtype: DType, mask: Reg) -> Parts {
        if is_wide(dtype) { self.split_mask(mask).into_iter().collect() } else { smallvec![mask] }
    }

    /// Where 32-bit lanes are not zero.
    pub(super) fn is_nonzero(&mut self, x: Reg) -> Reg {
        let zero = self.lanes_literal(0, false);
        if self.has_avx512 {
            return self.vec_inst(&ops::PCMP[0], Len::L512, Class::Mask, [Some(x), Some(zero), None], 4);
        }
        let is_zero = self.vec2(&ops::PCMPEQ[0], x, zero);
        self.not_mask(is_zero)
    }

    pub(super) fn not_mask(&mut self, mask: Reg) -> Reg {
        if self.has_avx512 {
            return self.mask1(&ops::KNOT, mask);
        }
        let ones = self.lanes_literal(0xffff_ffff, false);
        self.vec2(&ops::PXOR[0], mask, ones)
    }

    /// Lanes of all or no bits from a mask.
    pub(super) fn words_of_mask(&mut self, mask: Reg) -> Reg {
        if self.has_avx512 { self.vec1(&ops::PMOVM2D, mask) } else { mask }
    }

    /// `x` where the mask is set, else zero.
    pub(super) fn keep_where(&mut self, mask: Reg, x: Reg, wide: bool) -> Reg {
        if !self.has_avx512 {
            return self.vec2(&ops::PAND[0], mask, x);
        }
        let dst = self.reg(Class::Vector);
        let op = if wide { &ops::MOVAPD } else { &ops::MOVAPS };
        let (len, rm) = (self.whole(), Operand::Reg(x));
        self.push(Inst::Vector(VectorInst { op, len, dst, middle: None, rm, fourth: None, mask: Some(mask), imm: 0 }));
        dst
    }

    /// A pure operation whose value differs from lane to lane.
    pub(super) fn varying_value(&mut self, inst: &pullback_loops::Inst) -> Slot {
        match self.vector_op(&inst.op) {
            Some(slot) => slot,
            None => self.with_frame(|me| me.lane_by_lane(inst)),
        }
    }

    fn lane_by_lane(&mut self, inst: &pullback_loops::Inst) -> Slot {
        let mut operands: SmallVec<[(ValueId, Option<i32>); 3]> = smallvec![];
        inst.op.for_each_operand(|operand| operands.push((operand, None)));
        for (operand, cells) in &mut operands {
            if self.is_varying(*operand) {
                *cells = Some(self.spilled(*operand));
            }
        }
        let dtype = self.dtype(inst.dst);
        let result = self.cells(dtype);
        self.each_lane(|me, lane| {
            let args: SmallVec<[Reg; 3]> = operands
                .iter()
                .map(|&(operand, cells)| match cells {
                    Some(cells) => me.load_cell(me.dtype(operand), cells, lane),
                    None => me.scalar(operand),
                })
                .collect();
            let value = me.scalar_op(&inst.op, &args);
            me.store_cell(dtype, result, lane, value);
        });
        self.reloaded(dtype, result)
    }

    /// The operation on whole registers, if the machine has it.
    fn vector_op(&mut self, op: &Op) -> Option<Slot> {
        match *op {
            Op::Index(id) => Some(self.lane_counter(id)),
            Op::Unary(op, x) => self.vector_unary(op, x),
            Op::Binary(op, x, y) => self.vector_binary(op, x, y),
            Op::Fma(x, y, z) => {
                let shape = Shape::lanes(self.dtype(x));
                let [x, y, z] = [x, y, z].map(|value| self.vector(value));
                Some(Slot::Vector((0..x.len()).map(|part| self.fma(shape, x[part], y[part], z[part])).collect()))
            }
            Op::Compare(op, x, y) => self.vector_compare(op, x, y),
            Op::Select(condition, x, y) => Some(self.vector_select(condition, x, y)),
            Op::Convert(to, x) => self.vector_convert(to, x),
            Op::Bitcast(to, x) => self.vector_bitcast(to, x),
            Op::Round(to, x) => {
                let x = self.vector(x)[0];
                Some(Slot::Vector(smallvec![self.rounded(self.whole(), to, x)]))
            }
            Op::Lookup(ref table, x) => {
                let x = self.vector(x)[0];
                Some(Slot::Vector(smallvec![self.lookup(table, x)]))
            }
            _ => None,
        }
    }

    /// The entries of a table that the low four bits of 32-bit lanes name.
    pub(super) fn lookup(&mut self, table: &Table, index: Reg) -> Reg {
        let bytes = |entries: &[u32]| entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        if self.has_avx512 {
            let table = self.pattern(bytes(&table[..]));
            return self.vec2(&ops::PERMPS, index, table);
        }
        let halves = [&table[..8], &table[8..]].map(|half| {
            let half = self.pattern(bytes(half));
            self.vec2(&ops::PERMPS, index, half)
        });
        // The bit that chooses a half, as the sign.
        let choice = self.vec_imm(&ops::PSLLI[0], index, 28);
        self.vec_inst(&ops::BLENDV[0], self.whole(), Class::Vector, [Some(halves[0]), Some(halves[1]), Some(choice)], 0)
    }

    /// The counter of the vectorized loop: consecutive numbers.
    fn lane_counter(&mut self, id: LoopId) -> Slot {
        let first = self.counter(id);
        let first = self.splat_int(first, true);
        let per_part = self.group() as i64 / 2;
        let part = |me: &mut Self, start: i64| {
            let steps = me.pattern((start..start + per_part).flat_map(i64::to_le_bytes).collect());
            me.vec2(&ops::PADD[1], first, steps)
        };
        Slot::Vector(smallvec![part(self, 0), part(self, per_part)])
    }

    fn vector_bitcast(&mut self, to: DType, x: ValueId) -> Option<Slot> {
        if to == DType::Bool || self.dtype(x) == DType::Bool {
            return None;
        }
        let parts = self.vector(x);
        Some(Slot::Vector(if to.is_float() {
            parts
        } else {
            parts.into_iter().map(|part| self.normalized_lanes(to, part)).collect()
        }))
    }

    fn vector_unary(&mut self, op: Unary, x: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let mask = self.mask(x);
            return Some(Slot::Mask(self.not_mask(mask)));
        }
        let parts = self.vector(x);
        if op == Unary::IsFinite {
            let masks: Parts = parts.into_iter().map(|part| self.is_finite(Shape::lanes(dtype), part)).collect();
            return Some(Slot::Mask(self.join_masks(&masks)));
        }
        if dtype.is_float() {
            let shape = Shape::lanes(dtype);
            return Some(Slot::Vector(parts.into_iter().map(|part| self.float_unary(op, shape, part)).collect()));
        }
        parts.into_iter().map(|part| self.integer_lanes_unary(op, dtype, part)).collect::<Option<_>>().map(Slot::Vector)
    }

    fn vector_binary(&mut self, op: Binary, x: ValueId, y: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let (x, y) = (self.mask(x), self.mask(y));
            return Some(Slot::Mask(self.mask_binary(op, x, y)));
        }
        if let Slot::Const(amount) = self.slots[y.index()]
            && matches!(op, Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic)
        {
            let parts = self.vector(x);
            let shift = |part| self.shift_lanes_by(op, dtype, part, amount.to_bits() as u64);
            return parts.into_iter().map(shift).collect::<Option<_>>().map(Slot::Vector);
        }
        if !self.has_lanes_binary(op, dtype) {
            return None;
        }
        if let Some(number) = self.watched.iter().position(|&(phi, _)| phi == x || phi == y) {
            let other = if self.watched[number].0 == x { y } else { x };
            return Some(self.watched_extreme(op == Binary::Min, number, other));
        }
        let (x, y) = (self.vector(x), self.vector(y));
        let whole = self.whole();
        let parts = x.into_iter().zip(y).map(|(x, y)| self.lanes_binary(op, dtype, whole, x, y));
        Some(Slot::Vector(parts.collect()))
    }

    /// Whether the machine has the operation on lanes of the type.
    pub(super) fn has_lanes_binary(&self, op: Binary, dtype: DType) -> bool {
        match op {
            Binary::Scale => dtype.is_float(),
            Binary::Rem | Binary::Pow | Binary::Atan2 => false,
            Binary::Div => dtype.is_float(),
            Binary::ShiftRightArithmetic => self.has_avx512 || !is_wide(dtype),
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Min
            | Binary::Max
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRightLogical => true,
        }
    }

    /// An operation on registers of lanes, for what [`Lower::has_lanes_binary`] names.
    pub(super) fn lanes_binary(&mut self, op: Binary, dtype: DType, len: Len, x: Reg, y: Reg) -> Reg {
        if dtype.is_float() {
            self.float_binary(op, Shape { len, ..Shape::lanes(dtype) }.for_machine(self.has_avx512), x, y)
        } else {
            self.integer_lanes(op, dtype, len, x, y)
        }
    }

    /// An operation on masks.
    pub(super) fn mask_binary(&mut self, op: Binary, x: Reg, y: Reg) -> Reg {
        let (for_masks, for_lanes) = match op {
            Binary::And | Binary::Min | Binary::Mul => (&ops::KAND, &ops::PAND[0]),
            Binary::Or | Binary::Max => (&ops::KOR, &ops::POR[0]),
            Binary::Xor => (&ops::KXOR, &ops::PXOR[0]),
            other => unreachable!("{other:?} of booleans is refused before"),
        };
        if self.has_avx512 { self.mask2(for_masks, x, y) } else { self.vec2(for_lanes, x, y) }
    }

    /// `y` without `x`.
    fn mask_without(&mut self, x: Reg, y: Reg) -> Reg {
        if self.has_avx512 { self.mask2(&ops::KANDN, x, y) } else { self.vec2(&ops::PANDN[0], x, y) }
    }

    fn vector_compare(&mut self, op: Comparison, x: ValueId, y: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let (x, y) = (self.mask(x), self.mask(y));
            return Some(Slot::Mask(match op {
                Comparison::Ne => self.mask_binary(Binary::Xor, x, y),
                Comparison::Eq => {
                    let differ = self.mask_binary(Binary::Xor, x, y);
                    self.not_mask(differ)
                }
                Comparison::Lt => self.mask_without(x, y),
                Comparison::Gt => self.mask_without(y, x),
                Comparison::Le => {
                    let greater = self.mask_without(y, x);
                    self.not_mask(greater)
                }
                Comparison::Ge => {
                    let less = self.mask_without(x, y);
                    self.not_mask(less)
                }
            }));
        }
        let (x, y) = (self.vector(x), self.vector(y));
        let parts = x.into_iter().zip(y);
        let masks: Parts = if dtype.is_float() {
            let shape = Shape::lanes(dtype).for_machine(self.has_avx512);
            parts.map(|(x, y)| self.float_compare(op, shape, x, y)).collect()
        } else {
            parts.map(|(x, y)| self.integer_lanes_compare(op, dtype, x, y)).collect()
        };
        Some(Slot::Mask(self.join_masks(&masks)))
    }

    fn vector_select(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Slot {
        let dtype = self.dtype(x);
        let mask = self.mask(condition);
        if dtype == DType::Bool {
            let (x, y) = (self.mask(x), self.mask(y));
            return Slot::Mask(self.choose_mask(mask, x, y));
        }
        let masks = self.masks_for(dtype, mask);
        let (x, y) = (self.vector(x), self.vector(y));
        Slot::Vector(self.choose_parts(dtype, &masks, &x, &y))
    }

    /// Booleans of `x` where the mask is set, else of `y`.
    pub(super) fn choose_mask(&mut self, mask: Reg, x: Reg, y: Reg) -> Reg {
        let x = self.mask_binary(Binary::And, mask, x);
        let y = self.mask_without(mask, y);
        self.mask_binary(Binary::Or, x, y)
    }

    pub(super) fn choose_parts(&mut self, dtype: DType, masks: &[Reg], x: &[Reg], y: &[Reg]) -> Parts {
        let shape = if is_wide(dtype) { Shape::lanes(DType::F64) } else { Shape::lanes(DType::F32) };
        let shape = shape.for_machine(self.has_avx512);
        (0..x.len()).map(|part| self.choose(shape, masks[part], x[part], y[part])).collect()
    }
}
