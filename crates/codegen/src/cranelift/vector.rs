//! Operations on groups of lanes. What the machine cannot do on lanes is done lane by lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, Value, types};
use pullback_base::DType;
use pullback_base::dtype::Kind;
use pullback_loops::*;
use smallvec::{SmallVec, smallvec};

use super::scalar::integer_condition;
use super::{Emitter, GROUP, Parts, Slot, scalar_type};

/// Registers that a group of a type takes.
pub(super) fn n_parts(dtype: DType) -> usize {
    if dtype.size_bytes() == 8 { 2 } else { 1 }
}

/// The register type of lanes. Types below 32 bits use the low lanes of a register only.
pub(super) fn lane_type(dtype: DType) -> ir::Type {
    match scalar_type(dtype) {
        types::F32 => types::F32X4,
        types::F64 => types::F64X2,
        types::I64 => types::I64X2,
        types::I32 => types::I32X4,
        types::I16 => types::I16X8,
        _ => types::I8X16,
    }
}

impl Emitter<'_, '_, '_> {
    pub(super) fn vector_constant(&mut self, ty: ir::Type, bytes: &[u8]) -> Value {
        let constant = self.fb.func.dfg.constants.insert(ConstantData::from(bytes));
        self.fb.ins().vconst(ty, constant)
    }

    /// A value, not boolean, as lanes.
    pub(super) fn vector(&mut self, value: ValueId) -> Parts {
        let dtype = self.dtype(value);
        let splat = match self.slots[value.index()].clone() {
            Slot::Vector(parts) => return parts,
            Slot::Const(scalar) => self.bits_constant(lane_type(dtype), scalar.to_bits() as u64),
            _ => {
                let register = self.scalar(value);
                self.fb.ins().splat(lane_type(dtype), register)
            }
        };
        smallvec![splat; n_parts(dtype)]
    }

    /// A boolean as a mask of 32-bit lanes, or of 64-bit lanes.
    pub(super) fn mask(&mut self, value: ValueId, wide: bool) -> Parts {
        let parts = match self.slots[value.index()].clone() {
            Slot::Mask(parts) => parts,
            _ => {
                let register = self.scalar(value);
                let word = self.resized(register, types::I32, false);
                let word = self.fb.ins().ineg(word);
                smallvec![self.fb.ins().splat(types::I32X4, word)]
            }
        };
        match (parts.len(), wide) {
            (1, true) => smallvec![self.fb.ins().swiden_low(parts[0]), self.fb.ins().swiden_high(parts[0])],
            (2, false) => smallvec![self.low_halves(parts[0], parts[1])],
            _ => parts,
        }
    }

    /// The low 32 bits of four 64-bit lanes.
    fn low_halves(&mut self, first: Value, second: Value) -> Value {
        self.shuffled(first, second, [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27])
    }

    /// Bytes of two registers by number, as 32-bit lanes.
    fn shuffled(&mut self, first: Value, second: Value, bytes: [u8; 16]) -> Value {
        let (first, second) = (self.bitcast(types::I8X16, first), self.bitcast(types::I8X16, second));
        let order = self.fb.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
        let result = self.fb.ins().shuffle(first, second, order);
        self.bitcast(types::I32X4, result)
    }

    /// One lane of a value as a scalar.
    pub(super) fn lane(&mut self, value: ValueId, lane: usize) -> Value {
        match self.slots[value.index()].clone() {
            Slot::Vector(parts) => self.lane_of(&parts, lane),
            Slot::Mask(parts) => {
                let word = self.lane_of(&parts, lane);
                self.fb.ins().icmp_imm_s(IntCC::NotEqual, word, 0)
            }
            _ => self.scalar(value),
        }
    }

    fn lane_of(&mut self, parts: &[Value], lane: usize) -> Value {
        let per_part = GROUP / parts.len();
        self.fb.ins().extractlane(parts[lane / per_part], (lane % per_part) as u8)
    }

    /// Lanes made of scalars.
    pub(super) fn group_from(&mut self, dtype: DType, lanes: &[Value]) -> Slot {
        if dtype == DType::Bool {
            let words: Vec<Value> = lanes.iter().map(|&lane| self.resized(lane, types::I32, false)).collect();
            let words: Vec<Value> = words.into_iter().map(|word| self.fb.ins().ineg(word)).collect();
            return Slot::Mask(smallvec![self.gathered(types::I32X4, &words)]);
        }
        let per_part = GROUP / n_parts(dtype);
        Slot::Vector(lanes.chunks(per_part).map(|chunk| self.gathered(lane_type(dtype), chunk)).collect())
    }

    fn gathered(&mut self, ty: ir::Type, lanes: &[Value]) -> Value {
        let start = self.fb.ins().splat(ty, lanes[0]);
        lanes
            .iter()
            .enumerate()
            .skip(1)
            .fold(start, |vector, (lane, &value)| self.fb.ins().insertlane(vector, value, lane as u8))
    }

    /// A pure operation whose value differs from lane to lane.
    pub(super) fn varying_value(&mut self, inst: &Inst) -> Slot {
        if let Some(slot) = self.vector_op(&inst.op) {
            return slot;
        }
        let lanes: Vec<Value> = (0..GROUP)
            .map(|lane| {
                let mut args: SmallVec<[Value; 3]> = smallvec![];
                inst.op.for_each_operand(|operand| args.push(self.lane(operand, lane)));
                self.scalar_op(&inst.op, &args)
            })
            .collect();
        self.group_from(self.dtype(inst.dst), &lanes)
    }

    /// The operation on whole registers, if the machine has it.
    fn vector_op(&mut self, op: &Op) -> Option<Slot> {
        match *op {
            Op::Index(id) => Some(self.lane_counter(id)),
            Op::Unary(op, x) => self.vector_unary(op, x),
            Op::Binary(op, x, y) => self.vector_binary(op, x, y),
            Op::Fma(x, y, z) => {
                let [x, y, z] = [x, y, z].map(|value| self.vector(value));
                let parts = (0..x.len()).map(|part| self.fb.ins().fma(x[part], y[part], z[part]));
                Some(Slot::Vector(parts.collect()))
            }
            Op::Compare(op, x, y) => self.vector_compare(op, x, y),
            Op::Select(condition, x, y) => Some(self.vector_select(condition, x, y)),
            Op::Convert(to, x) => self.vector_convert(to, x),
            Op::Bitcast(to, x) => {
                let parts = self.vector(x);
                Some(Slot::Vector(parts.into_iter().map(|part| self.bitcast(lane_type(to), part)).collect()))
            }
            Op::Round(to, x) => {
                let x = self.vector(x)[0];
                let narrow = self.narrow(to, x);
                Some(Slot::Vector(smallvec![self.widen(to, narrow)]))
            }
            _ => None,
        }
    }

    /// The counter of the vectorized loop: consecutive numbers.
    fn lane_counter(&mut self, id: LoopId) -> Slot {
        let first = self.counter(id);
        let first = self.fb.ins().splat(types::I64X2, first);
        let parts = [[0i64, 1], [2, 3]].map(|steps| {
            let bytes: Vec<u8> = steps.iter().flat_map(|step| step.to_le_bytes()).collect();
            let steps = self.vector_constant(types::I64X2, &bytes);
            self.fb.ins().iadd(first, steps)
        });
        Slot::Vector(parts.into_iter().collect())
    }

    fn mapped(&mut self, x: ValueId, mut f: impl FnMut(&mut Self, Value) -> Value) -> Slot {
        let parts = self.vector(x);
        Slot::Vector(parts.into_iter().map(|part| f(self, part)).collect())
    }

    fn vector_unary(&mut self, op: Unary, x: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let mask = self.mask(x, false)[0];
            return Some(Slot::Mask(smallvec![self.fb.ins().bnot(mask)]));
        }
        if dtype.is_float() {
            let slot = self.mapped(x, |me, part| me.float_unary(op, part));
            return Some(match (op, slot) {
                (Unary::IsFinite, Slot::Vector(parts)) => Slot::Mask(parts),
                (_, slot) => slot,
            });
        }
        match op {
            Unary::Neg => Some(self.mapped(x, |me, part| me.fb.ins().ineg(part))),
            Unary::Not => Some(self.mapped(x, |me, part| me.fb.ins().bnot(part))),
            Unary::Abs if dtype.kind() == Kind::Signed && dtype.size_bytes() < 8 => {
                Some(self.mapped(x, |me, part| me.fb.ins().iabs(part)))
            }
            _ => None,
        }
    }

    fn vector_binary(&mut self, op: Binary, x: ValueId, y: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let (x, y) = (self.mask(x, false)[0], self.mask(y, false)[0]);
            let result = match op {
                Binary::And | Binary::Min | Binary::Mul => self.fb.ins().band(x, y),
                Binary::Or | Binary::Max => self.fb.ins().bor(x, y),
                Binary::Xor => self.fb.ins().bxor(x, y),
                _ => return None,
            };
            return Some(Slot::Mask(smallvec![result]));
        }
        if matches!(op, Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic) {
            return self.vector_shift(op, x, y);
        }
        if !has_vector_binary(op, dtype) {
            return None;
        }
        let (x, y) = (self.vector(x), self.vector(y));
        let parts = x.into_iter().zip(y).map(|(x, y)| self.lanes_binary(op, dtype, x, y));
        Some(Slot::Vector(parts.collect()))
    }

    /// An operation on registers of lanes, for what [`has_vector_binary`] names.
    pub(super) fn lanes_binary(&mut self, op: Binary, dtype: DType, x: Value, y: Value) -> Value {
        if dtype.is_float() {
            return self.float_binary(op, x, y);
        }
        let is_signed = dtype.kind() == Kind::Signed;
        match op {
            Binary::Add => self.fb.ins().iadd(x, y),
            Binary::Sub => self.fb.ins().isub(x, y),
            Binary::Mul => self.fb.ins().imul(x, y),
            Binary::And => self.fb.ins().band(x, y),
            Binary::Or => self.fb.ins().bor(x, y),
            Binary::Xor => self.fb.ins().bxor(x, y),
            Binary::Min if is_signed => self.fb.ins().smin(x, y),
            Binary::Min => self.fb.ins().umin(x, y),
            Binary::Max if is_signed => self.fb.ins().smax(x, y),
            Binary::Max => self.fb.ins().umax(x, y),
            other => unreachable!("{other:?} is done lane by lane"),
        }
    }

    /// Shifts of all lanes by one known amount.
    fn vector_shift(&mut self, op: Binary, x: ValueId, amount: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        let width = 8 * dtype.size_bytes() as u64;
        let Slot::Const(amount) = self.slots[amount.index()] else { return None };
        if width < 16 || width == 64 && op == Binary::ShiftRightArithmetic {
            return None;
        }
        let amount = amount.to_bits() as u64;
        let is_outside = amount >= width;
        if is_outside && op != Binary::ShiftRightArithmetic {
            return Some(self.mapped(x, |me, part| me.fb.ins().bxor(part, part)));
        }
        let amount = amount.min(width - 1) as i64;
        Some(self.mapped(x, |me, part| {
            let amount = me.fb.ins().iconst(types::I32, amount);
            match op {
                Binary::ShiftLeft => me.fb.ins().ishl(part, amount),
                Binary::ShiftRightLogical => me.fb.ins().ushr(part, amount),
                _ => me.fb.ins().sshr(part, amount),
            }
        }))
    }

    fn vector_compare(&mut self, op: Comparison, x: ValueId, y: ValueId) -> Option<Slot> {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let (x, y) = (self.mask(x, false)[0], self.mask(y, false)[0]);
            let differ = self.fb.ins().bxor(x, y);
            return match op {
                Comparison::Ne => Some(Slot::Mask(smallvec![differ])),
                Comparison::Eq => Some(Slot::Mask(smallvec![self.fb.ins().bnot(differ)])),
                _ => None,
            };
        }
        let is_order = !matches!(op, Comparison::Eq | Comparison::Ne);
        if dtype == DType::U64 && is_order {
            return None;
        }
        let (x, y) = (self.vector(x), self.vector(y));
        let parts: Parts = x.into_iter().zip(y).map(|(x, y)| self.lanes_compare(op, dtype, x, y)).collect();
        Some(Slot::Mask(parts.into_iter().map(|part| self.words(part)).collect()))
    }

    fn lanes_compare(&mut self, op: Comparison, dtype: DType, x: Value, y: Value) -> Value {
        if dtype.is_float() {
            return self.compare(op, dtype, x, y);
        }
        self.fb.ins().icmp(integer_condition(op, dtype.kind() == Kind::Signed), x, y)
    }

    /// The low four lanes of narrow ones as 32-bit lanes, with their sign; wide lanes stay.
    fn words(&mut self, x: Value) -> Value {
        match self.fb.func.dfg.value_type(x) {
            types::I8X16 => {
                let x = self.fb.ins().swiden_low(x);
                self.fb.ins().swiden_low(x)
            }
            types::I16X8 => self.fb.ins().swiden_low(x),
            _ => x,
        }
    }

    fn vector_select(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Slot {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            let [mask, x, y] = [condition, x, y].map(|value| self.mask(value, false)[0]);
            return Slot::Mask(smallvec![self.fb.ins().bitselect(mask, x, y)]);
        }
        let mask = self.mask(condition, n_parts(dtype) == 2);
        let mask: Parts = mask.into_iter().map(|mask| self.mask_for(dtype, mask)).collect();
        let (x, y) = (self.vector(x), self.vector(y));
        let parts = (0..x.len()).map(|part| self.choose(mask[part], x[part], y[part]));
        Slot::Vector(parts.collect())
    }

    /// A mask of 32-bit lanes in the width of a narrow type.
    fn mask_for(&mut self, dtype: DType, mask: Value) -> Value {
        match dtype.size_bytes() {
            1 => {
                let half = self.fb.ins().snarrow(mask, mask);
                self.fb.ins().snarrow(half, half)
            }
            2 => self.fb.ins().snarrow(mask, mask),
            _ => mask,
        }
    }

    fn vector_convert(&mut self, to: DType, x: ValueId) -> Option<Slot> {
        let from = self.dtype(x);
        if from == DType::Bool {
            return self.vector_from_bool(to, x);
        }
        if to == DType::Bool {
            let parts = self.vector(x);
            let compare = |me: &mut Self, part| {
                let ty = me.fb.func.dfg.value_type(part);
                let zero = me.bits_constant(ty, 0);
                let mask = me.lanes_compare(Comparison::Ne, from, part, zero);
                me.words(mask)
            };
            return Some(Slot::Mask(parts.into_iter().map(|part| compare(self, part)).collect()));
        }
        if from.is_integer() && from.size_bytes() < 4 {
            let narrow = self.vector(x)[0];
            let words = self.widened(from.kind() == Kind::Signed, narrow);
            return self.convert_words(DType::I32, to, words);
        }
        if n_parts(from) == 2 {
            return self.convert_from_wide(from, to, x);
        }
        let part = self.vector(x)[0];
        self.convert_words(from, to, part)
    }

    /// The low four lanes of narrow integers as 32-bit ones.
    pub(super) fn widened(&mut self, is_signed: bool, x: Value) -> Value {
        let mut x = x;
        while self.fb.func.dfg.value_type(x) != types::I32X4 {
            x = if is_signed { self.fb.ins().swiden_low(x) } else { self.fb.ins().uwiden_low(x) };
        }
        x
    }

    /// The low `size_bytes` bytes of 32-bit lanes as lanes of that width.
    pub(super) fn narrowed(&mut self, size_bytes: usize, x: Value) -> Value {
        let kept = self.bits_constant(types::I32X4, if size_bytes == 1 { 0xff } else { 0xffff });
        let x = self.fb.ins().band(x, kept);
        let half = self.fb.ins().unarrow(x, x);
        if size_bytes == 2 { half } else { self.fb.ins().unarrow(half, half) }
    }

    fn vector_from_bool(&mut self, to: DType, x: ValueId) -> Option<Slot> {
        let wide = n_parts(to) == 2;
        let one = pullback_base::Scalar::one(to).to_bits() as u64;
        let ty = lane_type(to);
        let mask = self.mask(x, wide);
        let parts = mask.into_iter().map(|mask| {
            let mask = self.mask_for(to, mask);
            let mask = self.bitcast(ty, mask);
            let one = self.bits_constant(ty, one);
            self.fb.ins().band(mask, one)
        });
        Some(Slot::Vector(parts.collect()))
    }

    /// From one register of 32-bit lanes.
    fn convert_words(&mut self, from: DType, to: DType, x: Value) -> Option<Slot> {
        let one = |value| Some(Slot::Vector(smallvec![value]));
        let is_signed = from.kind() == Kind::Signed;
        match (from, to) {
            (DType::F32, DType::F64) => {
                let high = self.high_half(x);
                let high = self.bitcast(types::F32X4, high);
                let parts = [x, high].map(|half| self.fb.ins().fvpromote_low(half));
                Some(Slot::Vector(parts.into_iter().collect()))
            }
            (DType::F32, DType::I32) => one(self.fb.ins().fcvt_to_sint_sat(types::I32X4, x)),
            (DType::F32, DType::U32) => one(self.fb.ins().fcvt_to_uint_sat(types::I32X4, x)),
            (DType::I32, DType::F32) => one(self.fb.ins().fcvt_from_sint(types::F32X4, x)),
            (DType::U32, DType::F32) => one(self.fb.ins().fcvt_from_uint(types::F32X4, x)),
            (DType::I32, DType::F64) => {
                let high = self.high_half(x);
                let parts = [x, high].map(|half| {
                    let wide = self.fb.ins().swiden_low(half);
                    self.fb.ins().fcvt_from_sint(types::F64X2, wide)
                });
                Some(Slot::Vector(parts.into_iter().collect()))
            }
            (DType::I32 | DType::U32, to) if to.is_integer() => match to.size_bytes() {
                4 => one(x),
                8 => Some(Slot::Vector(if is_signed {
                    smallvec![self.fb.ins().swiden_low(x), self.fb.ins().swiden_high(x)]
                } else {
                    smallvec![self.fb.ins().uwiden_low(x), self.fb.ins().uwiden_high(x)]
                })),
                size_bytes => one(self.narrowed(size_bytes, x)),
            },
            _ => None,
        }
    }

    /// The upper two 32-bit lanes moved down.
    fn high_half(&mut self, x: Value) -> Value {
        self.shuffled(x, x, [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15])
    }

    fn convert_from_wide(&mut self, from: DType, to: DType, x: ValueId) -> Option<Slot> {
        if from.is_integer() && to.is_integer() {
            let parts = self.vector(x);
            if to.size_bytes() == 8 {
                return Some(Slot::Vector(parts));
            }
            let words = self.low_halves(parts[0], parts[1]);
            return self.convert_words(DType::I32, to, words);
        }
        if (from, to) == (DType::F64, DType::F32) {
            let parts = self.vector(x);
            let [low, high] = [parts[0], parts[1]].map(|part| self.fb.ins().fvdemote(part));
            let words = self.shuffled(low, high, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
            return Some(Slot::Vector(smallvec![self.bitcast(types::F32X4, words)]));
        }
        None
    }
}

/// Whether the machine has the operation on lanes of the type.
pub(super) fn has_vector_binary(op: Binary, dtype: DType) -> bool {
    match op {
        Binary::Rem | Binary::Pow | Binary::Atan2 => false,
        Binary::Div | Binary::Scale => dtype.is_float(),
        Binary::Mul => dtype.is_float() || dtype.size_bytes() > 1,
        Binary::Min | Binary::Max => dtype.is_float() || dtype.size_bytes() < 8,
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => false,
        Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor => true,
    }
}
