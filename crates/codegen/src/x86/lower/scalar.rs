//! Operations on scalars. Integers below 64 bits stand in 32 bits, narrow ones extended by their sign; what is above
//! the 32 bits counts for nothing. Booleans are 0 or 1.

use super::super::ops;
use super::float::Shape;
use super::*;

impl Lower<'_, '_> {
    /// A pure operation on the registers of its operands.
    pub(super) fn scalar_op(&mut self, op: &Op, args: &[Reg]) -> Reg {
        match *op {
            Op::Const(scalar) => self.scalar_constant(scalar),
            Op::Index(id) => self.counter(id),
            Op::Size(number) => self.size(number),
            Op::Unary(op, x) => self.scalar_unary(op, self.dtype(x), args[0]),
            Op::Binary(op, x, _) => self.scalar_binary(op, self.dtype(x), args[0], args[1]),
            Op::Fma(x, ..) => self.fma(Shape::scalar(self.dtype(x)), args[0], args[1], args[2]),
            Op::Compare(op, x, _) => self.scalar_compare(op, self.dtype(x), args[0], args[1]),
            Op::Select(_, x, _) => self.scalar_select(self.dtype(x), args[0], args[1], args[2]),
            Op::Convert(to, x) => self.scalar_convert(self.dtype(x), to, args[0]),
            Op::Bitcast(to, x) => self.scalar_bitcast(self.dtype(x), to, args[0]),
            Op::Round(to, _) => self.rounded(Len::L128, to, args[0]),
            Op::Lookup(ref table, _) => {
                let index = self.vec1_at(Len::L128, &ops::MOVD[0], args[0]);
                self.lookup(table, index)
            }
            Op::Load(..) | Op::Store(..) | Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => {
                unreachable!("not a pure operation")
            }
        }
    }

    fn scalar_unary(&mut self, op: Unary, dtype: DType, x: Reg) -> Reg {
        let shape = Shape::scalar(dtype);
        match op {
            Unary::IsFinite => {
                let sum = self.float_binary(Binary::Sub, shape, x, x);
                // Infinite numbers and NaN differ from themselves by NaN.
                self.float_set(Comparison::Eq, dtype, sum, sum)
            }
            _ if dtype.is_float() => self.float_unary(op, shape, x),
            _ => self.integer_unary(op, dtype, x),
        }
    }

    pub(super) fn unary_int(&mut self, make: impl FnOnce(Reg) -> Inst) -> Reg {
        let dst = self.reg(Class::Int);
        self.push(make(dst));
        dst
    }

    fn neg(&mut self, wide: bool, x: Reg) -> Reg {
        self.unary_int(|dst| Inst::Neg { wide, dst, x })
    }

    /// `x` where the comparison holds, else `y`.
    pub(super) fn pick(&mut self, wide: bool, test: Test, x: Reg, y: Reg) -> Reg {
        self.unary_int(|dst| Inst::Choose { wide, dst, test, x, y })
    }

    /// A register in the form of a narrow type; wider ones stay.
    pub(super) fn normalized(&mut self, dtype: DType, x: Reg) -> Reg {
        let size_bytes = dtype.size_bytes() as u8;
        if size_bytes > 2 || dtype == DType::Bool {
            return x;
        }
        self.unary_int(|dst| Inst::Extend { size_bytes, is_signed: is_signed(dtype), dst, x })
    }

    fn extended(&mut self, dtype: DType, is_signed: bool, x: Reg) -> Reg {
        let size_bytes = dtype.size_bytes() as u8;
        if size_bytes > 2 { x } else { self.unary_int(|dst| Inst::Extend { size_bytes, is_signed, dst, x }) }
    }

    fn integer_unary(&mut self, op: Unary, dtype: DType, x: Reg) -> Reg {
        let wide = is_wide(dtype);
        let test = |cond| Test { cond, wide, x, y: Source::Imm(0) };
        match op {
            Unary::Not if dtype == DType::Bool => self.alu(Alu::Xor, false, x, Source::Imm(1)),
            Unary::Neg => {
                let minus = self.neg(wide, x);
                self.normalized(dtype, minus)
            }
            Unary::Not => {
                let not = self.unary_int(|dst| Inst::Not { wide, dst, x });
                self.normalized(dtype, not)
            }
            Unary::Abs if is_signed(dtype) => {
                let minus = self.neg(wide, x);
                let result = self.pick(wide, test(Cond::Less), minus, x);
                self.normalized(dtype, result)
            }
            Unary::Abs => x,
            Unary::Sign => {
                let one = self.unary_int(|dst| Inst::Set { dst, test: test(Cond::NotEqual) });
                if !is_signed(dtype) {
                    return one;
                }
                let minus_one = self.int(-1);
                self.pick(wide, test(Cond::Less), minus_one, one)
            }
            Unary::PopCount => {
                let x = self.extended(dtype, false, x);
                self.unary_int(|dst| Inst::PopCount { wide, dst, x })
            }
            Unary::LeadingZeros => {
                let x = self.extended(dtype, false, x);
                let zeros = self.unary_int(|dst| Inst::LeadingZeros { wide, dst, x });
                let spare = 32 - 8 * dtype.size_bytes() as i32;
                if spare > 0 { self.alu(Alu::Sub, false, zeros, Source::Imm(spare)) } else { zeros }
            }
            other => unreachable!("{other:?} of {dtype} is expanded or refused before"),
        }
    }

    pub(super) fn scalar_binary(&mut self, op: Binary, dtype: DType, x: Reg, y: Reg) -> Reg {
        if !dtype.is_float() {
            return self.integer_binary(op, dtype, x, y);
        }
        if op == Binary::Rem {
            let dst = self.reg(Class::Vector);
            self.push(Inst::Remainder { double: is_wide(dtype), dst, x, y });
            return dst;
        }
        self.float_binary(op, Shape::scalar(dtype), x, y)
    }

    fn integer_binary(&mut self, op: Binary, dtype: DType, x: Reg, y: Reg) -> Reg {
        let wide = is_wide(dtype);
        let source = Source::Reg(y);
        let result = match op {
            Binary::Mul if dtype == DType::Bool => self.alu(Alu::And, false, x, source),
            Binary::Add => self.alu(Alu::Add, wide, x, source),
            Binary::Sub => self.alu(Alu::Sub, wide, x, source),
            Binary::Mul => self.unary_int(|dst| Inst::Mul { wide, dst, x, y: source }),
            Binary::And => self.alu(Alu::And, wide, x, source),
            Binary::Or => self.alu(Alu::Or, wide, x, source),
            Binary::Xor => self.alu(Alu::Xor, wide, x, source),
            Binary::Min | Binary::Max => {
                let op = if op == Binary::Min { Comparison::Lt } else { Comparison::Gt };
                return self.pick(wide, Test { cond: condition(op, dtype), wide, x, y: source }, x, y);
            }
            Binary::Div | Binary::Rem => self.divide(op == Binary::Rem, dtype, x, y),
            Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => self.shift(op, dtype, x, y),
            Binary::Scale => unreachable!("of floats only"),
            Binary::Pow | Binary::Atan2 => unreachable!("{op:?} is expanded before"),
        };
        self.normalized(dtype, result)
    }

    /// Division by zero gives -1 and leaves the dividend, by -1 never overflows.
    fn divide(&mut self, remainder: bool, dtype: DType, x: Reg, y: Reg) -> Reg {
        let (wide, is_signed) = (is_wide(dtype), is_signed(dtype));
        let is = |value| Test { cond: Cond::Equal, wide, x: y, y: Source::Imm(value) };
        let (one, minus_one) = (self.int(1), self.int(-1));
        let mut safe = self.pick(wide, is(0), one, y);
        if is_signed {
            safe = self.pick(wide, is(-1), one, safe);
        }
        let mut result = self.unary_int(|dst| Inst::Divide { wide, is_signed, remainder, dst, x, y: safe });
        if is_signed && !remainder {
            let minus = self.neg(wide, x);
            result = self.pick(wide, is(-1), minus, result);
        }
        // The remainder of one is that of minus one.
        self.pick(wide, is(0), if remainder { x } else { minus_one }, result)
    }

    fn shift(&mut self, op: Binary, dtype: DType, x: Reg, amount: Reg) -> Reg {
        let wide = is_wide(dtype);
        let width = 8 * dtype.size_bytes() as i32;
        let is_inside = Test { cond: Cond::Below, wide, x: amount, y: Source::Imm(width) };
        if op == Binary::ShiftRightArithmetic {
            let most = self.int((width - 1).into());
            let by = self.pick(wide, is_inside, amount, most);
            let x = self.extended(dtype, true, x);
            return self.unary_int(|dst| Inst::ShiftBy { number: 7, wide, dst, x, by });
        }
        let (number, x) = if op == Binary::ShiftLeft { (4, x) } else { (5, self.extended(dtype, false, x)) };
        let shifted = self.unary_int(|dst| Inst::ShiftBy { number, wide, dst, x, by: amount });
        let zero = self.int(0);
        self.pick(wide, is_inside, shifted, zero)
    }

    /// 1 where the comparison of floats holds, else 0.
    pub(super) fn float_set(&mut self, op: Comparison, dtype: DType, x: Reg, y: Reg) -> Reg {
        // Less is greater the other way round: only that sees unordered operands as it should.
        let (cond, x, y) = match op {
            Comparison::Eq => (Cond::Equal, x, y),
            Comparison::Ne => (Cond::NotEqual, x, y),
            Comparison::Gt => (Cond::Above, x, y),
            Comparison::Ge => (Cond::AboveEqual, x, y),
            Comparison::Lt => (Cond::Above, y, x),
            Comparison::Le => (Cond::AboveEqual, y, x),
        };
        self.unary_int(|dst| Inst::FloatSet { cond, double: is_wide(dtype), dst, x, y })
    }

    pub(super) fn scalar_compare(&mut self, op: Comparison, dtype: DType, x: Reg, y: Reg) -> Reg {
        if dtype.is_float() {
            return self.float_set(op, dtype, x, y);
        }
        let test = Test { cond: condition(op, dtype), wide: is_wide(dtype), x, y: Source::Reg(y) };
        self.unary_int(|dst| Inst::Set { dst, test })
    }

    pub(super) fn scalar_select(&mut self, dtype: DType, choice: Reg, x: Reg, y: Reg) -> Reg {
        if !dtype.is_float() {
            return self.pick(is_wide(dtype), holds(choice), x, y);
        }
        let mask = if self.has_avx512 {
            self.mask1(&ops::KMOV_FROM_R, choice)
        } else {
            let bit = self.vec1_at(Len::L128, &ops::MOVD[0], choice);
            let (op, spare) = if is_wide(dtype) { (&ops::PSLLI[1], 63) } else { (&ops::PSLLI[0], 31) };
            self.vec_inst(op, Len::L128, Class::Vector, [None, Some(bit), None], spare)
        };
        self.choose(Shape::scalar(dtype), mask, x, y)
    }

    fn scalar_bitcast(&mut self, from: DType, to: DType, x: Reg) -> Reg {
        let number = usize::from(is_wide(to));
        match (class_of(from), class_of(to)) {
            (Class::Int, Class::Vector) => self.vec1_at(Len::L128, &ops::MOVD[number], x),
            (Class::Vector, Class::Int) => {
                self.vec_inst(&ops::MOVD_R[number], Len::L128, Class::Int, [None, Some(x), None], 0)
            }
            (Class::Int, Class::Int) => self.normalized(to, x),
            _ => x,
        }
    }
}

/// The condition of a comparison of integers. Narrow unsigned ones are small, so either kind of order serves them.
fn condition(op: Comparison, dtype: DType) -> Cond {
    match (op, is_signed(dtype)) {
        (Comparison::Eq, _) => Cond::Equal,
        (Comparison::Ne, _) => Cond::NotEqual,
        (Comparison::Lt, true) => Cond::Less,
        (Comparison::Le, true) => Cond::LessEqual,
        (Comparison::Gt, true) => Cond::Greater,
        (Comparison::Ge, true) => Cond::GreaterEqual,
        (Comparison::Lt, false) => Cond::Below,
        (Comparison::Le, false) => Cond::BelowEqual,
        (Comparison::Gt, false) => Cond::Above,
        (Comparison::Ge, false) => Cond::AboveEqual,
    }
}
