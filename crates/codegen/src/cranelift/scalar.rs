//! Operations on scalar registers. Booleans are bytes of 0 or 1.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, Value, types};
use pullback_base::DType;
use pullback_base::dtype::Kind;
use pullback_loops::*;

use super::{Emitter, bits, scalar_type};
use pullback_native as host;

impl Emitter<'_, '_, '_> {
    /// A pure operation on the registers of its operands.
    pub(super) fn scalar_op(&mut self, op: &Op, args: &[Value]) -> Value {
        match *op {
            Op::Const(scalar) => self.scalar_constant(scalar),
            Op::Index(id) => self.counter(id),
            Op::Size(number) => self.extent(Extent::Size(number)),
            Op::Unary(op, x) => self.scalar_unary(op, self.dtype(x), args[0]),
            Op::Binary(op, x, _) => self.scalar_binary(op, self.dtype(x), args[0], args[1]),
            Op::Fma(..) => self.fb.ins().fma(args[0], args[1], args[2]),
            Op::Compare(op, x, _) => self.compare(op, self.dtype(x), args[0], args[1]),
            Op::Select(..) => self.fb.ins().select(args[0], args[1], args[2]),
            Op::Convert(to, x) => self.scalar_convert(self.dtype(x), to, args[0]),
            Op::Bitcast(to, _) => self.bitcast(scalar_type(to), args[0]),
            Op::Round(to, _) => {
                let narrow = self.narrow(to, args[0]);
                self.widen(to, narrow)
            }
            Op::Lookup(ref table, _) => self.lookup(table, args[0]),
            Op::Load(..) | Op::Store(..) | Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => {
                unreachable!("not a pure operation")
            }
        }
    }

    /// The entry of a table, read from the program's own memory, which lives as long as its code.
    fn lookup(&mut self, table: &Table, index: Value) -> Value {
        let place = self.fb.ins().band_imm_s(index, TABLE_LEN as i64 - 1);
        let place = self.fb.ins().uextend(types::I64, place);
        let place = self.fb.ins().ishl_imm_u(place, 2);
        let start = self.int(table.as_ptr() as i64);
        let place = self.fb.ins().iadd(start, place);
        self.fb.ins().load(types::F32, super::constants(), place, 0)
    }

    /// `x · 2^n` in two steps, of which the first is exact.
    fn scale(&mut self, x: Value, n: Value) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        let (rounder, fraction_bits) = if ty.lane_type() == types::F32 {
            (12_582_912.0 + 127.0, 23)
        } else {
            (6_755_399_441_055_744.0 + 1023.0, 52)
        };
        let (half, rounder) = (self.float_like(x, 0.5), self.float_like(x, rounder));
        let first = self.fb.ins().fma(n, half, rounder);
        let floor = self.fb.ins().fsub(first, rounder);
        let rest = self.fb.ins().fsub(n, floor);
        let second = self.fb.ins().fadd(rest, rounder);
        [first, second].into_iter().fold(x, |x, power| {
            let power = self.bitcast(ty.as_int(), power);
            let amount = self.fb.ins().iconst(types::I32, fraction_bits);
            let power = self.fb.ins().ishl(power, amount);
            let power = self.bitcast(ty, power);
            self.fb.ins().fmul(x, power)
        })
    }

    pub(super) fn bitcast(&mut self, ty: ir::Type, x: Value) -> Value {
        if self.fb.func.dfg.value_type(x) == ty { x } else { self.fb.ins().bitcast(ty, bits(), x) }
    }

    fn scalar_unary(&mut self, op: Unary, dtype: DType, x: Value) -> Value {
        if dtype.is_float() { self.float_unary(op, x) } else { self.integer_unary(op, dtype, x) }
    }

    /// Operations on floats, scalars or lanes alike. `IsFinite` gives a boolean or a mask.
    pub(super) fn float_unary(&mut self, op: Unary, x: Value) -> Value {
        match op {
            Unary::Neg => self.fb.ins().fneg(x),
            Unary::Abs => self.fb.ins().fabs(x),
            Unary::Sqrt => self.fb.ins().sqrt(x),
            Unary::Floor => {
                let x = self.flushed(x);
                self.fb.ins().floor(x)
            }
            Unary::Ceil => {
                let x = self.flushed(x);
                self.fb.ins().ceil(x)
            }
            Unary::Trunc => self.fb.ins().trunc(x),
            Unary::RoundEven => self.fb.ins().nearest(x),
            Unary::RoundAway => self.round_away(x),
            Unary::Sign => self.float_sign(x),
            Unary::IsFinite => {
                let magnitude = self.fb.ins().fabs(x);
                let infinity = self.float_like(x, f64::INFINITY);
                self.fb.ins().fcmp(FloatCC::LessThan, magnitude, infinity)
            }
            other => unreachable!("{other:?} of a float is expanded or refused before"),
        }
    }

    /// A float constant of the type of `like`.
    pub(super) fn float_like(&mut self, like: Value, value: f64) -> Value {
        let ty = self.fb.func.dfg.value_type(like);
        if ty.lane_type() == types::F32 {
            self.bits_constant(ty, u64::from((value as f32).to_bits()))
        } else {
            self.bits_constant(ty, value.to_bits())
        }
    }

    /// A constant by its bits, the same in all lanes.
    pub(super) fn bits_constant(&mut self, ty: ir::Type, value: u64) -> Value {
        if ty.is_vector() {
            let lane = &value.to_le_bytes()[..ty.lane_type().bytes() as usize];
            let bytes: Vec<u8> = lane.repeat(ty.lane_count() as usize);
            return self.vector_constant(ty, &bytes);
        }
        match ty {
            types::F32 => self.fb.ins().f32const(f32::from_bits(value as u32)),
            types::F64 => self.fb.ins().f64const(f64::from_bits(value)),
            _ => {
                let spare = 64 - ty.bits();
                self.fb.ins().iconst(ty, (value << spare) as i64 >> spare)
            }
        }
    }

    /// `x` where the boolean (or, of lanes, the mask) holds, else `y`.
    pub(super) fn choose(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        if !ty.is_vector() {
            return self.fb.ins().select(condition, x, y);
        }
        let mask = self.bitcast(ty, condition);
        self.fb.ins().bitselect(mask, x, y)
    }

    /// Truncates, then adds one away from zero where at least a half was cut.
    fn round_away(&mut self, x: Value) -> Value {
        let whole = self.fb.ins().trunc(x);
        let cut = self.fb.ins().fsub(x, whole);
        let cut = self.fb.ins().fabs(cut);
        let (half, one) = (self.float_like(x, 0.5), self.float_like(x, 1.0));
        let is_more = self.fb.ins().fcmp(FloatCC::GreaterThanOrEqual, cut, half);
        let step = self.copy_sign(one, x);
        let next = self.fb.ins().fadd(whole, step);
        self.choose(is_more, next, whole)
    }

    /// A magnitude with the sign of `x`.
    fn copy_sign(&mut self, magnitude: Value, x: Value) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        let bits = ty.as_int();
        let mask = self.bits_constant(bits, 1 << (ty.lane_bits() - 1));
        let (x, magnitude) = (self.bitcast(bits, x), self.bitcast(bits, magnitude));
        let sign = self.fb.ins().band(x, mask);
        let signed = self.fb.ins().bor(sign, magnitude);
        self.bitcast(ty, signed)
    }

    fn float_sign(&mut self, x: Value) -> Value {
        let (zero, one, minus_one) = (self.float_like(x, 0.0), self.float_like(x, 1.0), self.float_like(x, -1.0));
        let signed_zero = self.copy_sign(zero, x);
        let is_zero = self.fb.ins().fcmp(FloatCC::Equal, x, zero);
        let result = self.choose(is_zero, signed_zero, x);
        let is_negative = self.fb.ins().fcmp(FloatCC::LessThan, x, zero);
        let result = self.choose(is_negative, minus_one, result);
        let is_positive = self.fb.ins().fcmp(FloatCC::GreaterThan, x, zero);
        self.choose(is_positive, one, result)
    }

    fn integer_unary(&mut self, op: Unary, dtype: DType, x: Value) -> Value {
        let ty = scalar_type(dtype);
        let is_signed = dtype.kind() == Kind::Signed;
        match op {
            Unary::Neg => self.fb.ins().ineg(x),
            Unary::Not if dtype == DType::Bool => self.fb.ins().bxor_imm_s(x, 1),
            Unary::Not => self.fb.ins().bnot(x),
            Unary::Abs if is_signed => {
                let minus = self.fb.ins().ineg(x);
                let is_negative = self.fb.ins().icmp_imm_s(IntCC::SignedLessThan, x, 0);
                self.fb.ins().select(is_negative, minus, x)
            }
            Unary::Abs => x,
            Unary::Sign => {
                let is_nonzero = self.fb.ins().icmp_imm_s(IntCC::NotEqual, x, 0);
                let one = self.resized(is_nonzero, ty, false);
                if !is_signed {
                    return one;
                }
                let is_negative = self.fb.ins().icmp_imm_s(IntCC::SignedLessThan, x, 0);
                let minus = self.fb.ins().iconst(ty, -1);
                self.fb.ins().select(is_negative, minus, one)
            }
            Unary::PopCount => {
                let wide = self.resized(x, wide_type(ty), false);
                let count = self.fb.ins().popcnt(wide);
                self.resized(count, ty, false)
            }
            Unary::LeadingZeros => {
                let wide = self.resized(x, wide_type(ty), false);
                let count = self.fb.ins().clz(wide);
                let count = self.fb.ins().iadd_imm_s(count, i64::from(ty.bits()) - i64::from(wide_type(ty).bits()));
                self.resized(count, ty, false)
            }
            other => unreachable!("{other:?} of {dtype} is expanded or refused before"),
        }
    }

    /// An integer register widened or cut to another width.
    pub(super) fn resized(&mut self, x: Value, ty: ir::Type, is_signed: bool) -> Value {
        let from = self.fb.func.dfg.value_type(x);
        match from.bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.fb.ins().ireduce(ty, x),
            std::cmp::Ordering::Less if is_signed => self.fb.ins().sextend(ty, x),
            std::cmp::Ordering::Less => self.fb.ins().uextend(ty, x),
        }
    }

    fn scalar_binary(&mut self, op: Binary, dtype: DType, x: Value, y: Value) -> Value {
        if dtype.is_float() {
            if op == Binary::Rem { self.float_remainder(dtype, x, y) } else { self.float_binary(op, x, y) }
        } else {
            self.integer_binary(op, dtype, x, y)
        }
    }

    /// Operations on floats, scalars or lanes alike.
    pub(super) fn float_binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        match op {
            Binary::Add => self.fb.ins().fadd(x, y),
            Binary::Sub => self.fb.ins().fsub(x, y),
            Binary::Mul => self.fb.ins().fmul(x, y),
            Binary::Div => self.fb.ins().fdiv(x, y),
            Binary::Min | Binary::Max => self.extreme(op, x, y),
            Binary::Scale => self.scale(x, y),
            other => unreachable!("{other:?} of floats is expanded or refused before"),
        }
    }

    /// The least or greatest. Scalar code and Cranelift's folding let subnormals through where both operands count as
    /// equal; the product flushes them.
    fn extreme(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let result = if op == Binary::Min { self.fb.ins().fmin(x, y) } else { self.fb.ins().fmax(x, y) };
        if x == y {
            let one = self.float_like(x, 1.0);
            return self.fb.ins().fmul(x, one);
        }
        self.flushed(result)
    }

    /// A scalar whose subnormals are flushed even where Cranelift folds constants; lanes stay, as they do not fold.
    fn flushed(&mut self, x: Value) -> Value {
        let one = self.float_like(x, 1.0);
        if self.fb.func.dfg.value_type(x).is_vector() { x } else { self.fb.ins().fmul(x, one) }
    }

    fn float_remainder(&mut self, dtype: DType, x: Value, y: Value) -> Value {
        let ty = scalar_type(dtype);
        let mut signature = Signature::new(self.call_conv);
        signature.params = vec![AbiParam::new(ty); 2];
        signature.returns.push(AbiParam::new(ty));
        let signature = self.fb.import_signature(signature);
        let function = if dtype == DType::F32 { host::rem_f32 as *const u8 } else { host::rem_f64 as *const u8 };
        let callee = self.int(function.addr() as i64);
        let call = self.fb.ins().call_indirect(signature, callee, &[x, y]);
        self.fb.inst_results(call)[0]
    }

    pub(super) fn integer_binary(&mut self, op: Binary, dtype: DType, x: Value, y: Value) -> Value {
        let is_signed = dtype.kind() == Kind::Signed;
        match op {
            Binary::Add => self.fb.ins().iadd(x, y),
            Binary::Sub => self.fb.ins().isub(x, y),
            Binary::Mul if dtype == DType::Bool => self.fb.ins().band(x, y),
            Binary::Mul => self.fb.ins().imul(x, y),
            Binary::And => self.fb.ins().band(x, y),
            Binary::Or => self.fb.ins().bor(x, y),
            Binary::Xor => self.fb.ins().bxor(x, y),
            Binary::Min | Binary::Max => {
                let op = if op == Binary::Min { Comparison::Lt } else { Comparison::Gt };
                let first = self.compare(op, dtype, x, y);
                self.fb.ins().select(first, x, y)
            }
            Binary::Div | Binary::Rem => self.divide(op, dtype, is_signed, x, y),
            Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => self.shift(op, dtype, x, y),
            Binary::Scale => unreachable!("of floats only"),
            Binary::Pow | Binary::Atan2 => unreachable!("{op:?} is expanded before"),
        }
    }

    fn divide(&mut self, op: Binary, dtype: DType, is_signed: bool, x: Value, y: Value) -> Value {
        let narrow = scalar_type(dtype);
        let ty = wide_type(narrow);
        let (x, y) = (self.resized(x, ty, is_signed), self.resized(y, ty, is_signed));
        let is_zero = self.fb.ins().icmp_imm_s(IntCC::Equal, y, 0);
        let is_minus_one = self.fb.ins().icmp_imm_s(IntCC::Equal, y, -1);
        let one = self.fb.ins().iconst(ty, 1);
        let safe = self.fb.ins().select(is_zero, one, y);
        let safe = if is_signed { self.fb.ins().select(is_minus_one, one, safe) } else { safe };
        let is_quotient = op == Binary::Div;
        let result = match (is_quotient, is_signed) {
            (true, true) => self.fb.ins().sdiv(x, safe),
            (true, false) => self.fb.ins().udiv(x, safe),
            (false, true) => self.fb.ins().srem(x, safe),
            (false, false) => self.fb.ins().urem(x, safe),
        };
        let (by_minus_one, by_zero) = if is_quotient {
            (self.fb.ins().ineg(x), self.fb.ins().iconst(ty, -1))
        } else {
            (self.fb.ins().iconst(ty, 0), x)
        };
        let result = if is_signed { self.fb.ins().select(is_minus_one, by_minus_one, result) } else { result };
        let result = self.fb.ins().select(is_zero, by_zero, result);
        self.resized(result, narrow, false)
    }

    fn shift(&mut self, op: Binary, dtype: DType, x: Value, amount: Value) -> Value {
        let ty = scalar_type(dtype);
        let width = i64::from(ty.bits());
        let is_inside = self.fb.ins().icmp_imm_s(IntCC::UnsignedLessThan, amount, width);
        if op == Binary::ShiftRightArithmetic {
            let most = self.fb.ins().iconst(ty, width - 1);
            let amount = self.fb.ins().select(is_inside, amount, most);
            return self.fb.ins().sshr(x, amount);
        }
        let shifted =
            if op == Binary::ShiftLeft { self.fb.ins().ishl(x, amount) } else { self.fb.ins().ushr(x, amount) };
        let zero = self.fb.ins().iconst(ty, 0);
        self.fb.ins().select(is_inside, shifted, zero)
    }

    /// A comparison of scalars, or of lanes of floats or of integers that the machine can compare.
    pub(super) fn compare(&mut self, op: Comparison, dtype: DType, x: Value, y: Value) -> Value {
        if dtype.is_float() {
            return self.fb.ins().fcmp(float_condition(op), x, y);
        }
        self.fb.ins().icmp(integer_condition(op, dtype.kind() == Kind::Signed), x, y)
    }

    pub(super) fn scalar_convert(&mut self, from: DType, to: DType, x: Value) -> Value {
        match (from.is_float(), to.is_float()) {
            (true, true) => match (from, to) {
                (DType::F32, DType::F64) => self.fb.ins().fpromote(types::F64, x),
                (DType::F64, DType::F32) => self.fb.ins().fdemote(types::F32, x),
                _ => x,
            },
            (true, false) => self.float_to_integer(to, x),
            (false, true) => {
                let ty = scalar_type(from);
                let is_signed = from.kind() == Kind::Signed;
                let wide = self.resized(x, wide_type(ty), is_signed);
                let float = scalar_type(to);
                // Narrow unsigned integers are small signed ones.
                if is_signed || ty.bits() < 32 {
                    self.fb.ins().fcvt_from_sint(float, wide)
                } else {
                    self.fb.ins().fcvt_from_uint(float, wide)
                }
            }
            (false, false) if to == DType::Bool => self.fb.ins().icmp_imm_s(IntCC::NotEqual, x, 0),
            (false, false) => self.resized(x, scalar_type(to), from.kind() == Kind::Signed),
        }
    }

    fn float_to_integer(&mut self, to: DType, x: Value) -> Value {
        let ty = scalar_type(to);
        let is_signed = to.kind() == Kind::Signed;
        if to == DType::Bool {
            let zero = self.float_like(x, 0.0);
            return self.fb.ins().fcmp(FloatCC::NotEqual, x, zero);
        }
        if ty.bits() >= 32 {
            return if is_signed {
                self.fb.ins().fcvt_to_sint_sat(ty, x)
            } else {
                self.fb.ins().fcvt_to_uint_sat(ty, x)
            };
        }
        let wide = self.fb.ins().fcvt_to_sint_sat(types::I32, x);
        let bits = ty.bits();
        let (low, high) =
            if is_signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
        let (low, high) = (self.fb.ins().iconst(types::I32, low), self.fb.ins().iconst(types::I32, high));
        let is_below = self.fb.ins().icmp(IntCC::SignedLessThan, wide, low);
        let wide = self.fb.ins().select(is_below, low, wide);
        let is_above = self.fb.ins().icmp(IntCC::SignedGreaterThan, wide, high);
        let wide = self.fb.ins().select(is_above, high, wide);
        self.fb.ins().ireduce(ty, wide)
    }
}

/// The type in which narrow integers are divided, counted and converted.
fn wide_type(ty: ir::Type) -> ir::Type {
    if ty.bits() < 32 { types::I32 } else { ty }
}

pub(super) fn float_condition(op: Comparison) -> FloatCC {
    match op {
        Comparison::Eq => FloatCC::Equal,
        Comparison::Ne => FloatCC::NotEqual,
        Comparison::Lt => FloatCC::LessThan,
        Comparison::Le => FloatCC::LessThanOrEqual,
        Comparison::Gt => FloatCC::GreaterThan,
        Comparison::Ge => FloatCC::GreaterThanOrEqual,
    }
}

pub(super) fn integer_condition(op: Comparison, is_signed: bool) -> IntCC {
    match (op, is_signed) {
        (Comparison::Eq, _) => IntCC::Equal,
        (Comparison::Ne, _) => IntCC::NotEqual,
        (Comparison::Lt, true) => IntCC::SignedLessThan,
        (Comparison::Le, true) => IntCC::SignedLessThanOrEqual,
        (Comparison::Gt, true) => IntCC::SignedGreaterThan,
        (Comparison::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (Comparison::Lt, false) => IntCC::UnsignedLessThan,
        (Comparison::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (Comparison::Gt, false) => IntCC::UnsignedGreaterThan,
        (Comparison::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}
