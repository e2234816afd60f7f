//! Float arithmetic, on scalars and on registers of lanes alike.

use super::super::ops::{self, VecOp};
use super::*;
use crate::x86::inst::{Operand, VectorInst};

/// The type and the number of floats in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) double: bool,
    pub(super) scalar: bool,
    pub(super) len: Len,
}

impl Shape {
    pub(super) fn scalar(dtype: DType) -> Shape {
        Shape { double: is_wide(dtype), scalar: true, len: Len::L128 }
    }

    /// Lanes of the longest registers there are; [`Shape::for_machine`] cuts them.
    pub(super) fn lanes(dtype: DType) -> Shape {
        Shape { double: is_wide(dtype), scalar: false, len: Len::L512 }
    }

    pub(super) fn for_machine(self, has_avx512: bool) -> Shape {
        let longest = if has_avx512 { Len::L512 } else { Len::L256 };
        Shape { len: self.len.min(longest), ..self }
    }

    fn format(self) -> usize {
        usize::from(self.double) + 2 * usize::from(self.scalar)
    }
}

/// Comparison predicates: ordered and quiet, but for not equal, which holds for NaN.
fn predicate(op: Comparison) -> u8 {
    match op {
        Comparison::Eq => 0,
        Comparison::Lt => 0x11,
        Comparison::Le => 0x12,
        Comparison::Ne => 4,
        Comparison::Ge => 0x1d,
        Comparison::Gt => 0x1e,
    }
}
const UNORDERED: u8 = 3;
const ORDERED: u8 = 7;

const NEAREST: u8 = 8;
const DOWN: u8 = 9;
const UP: u8 = 10;
const TO_ZERO: u8 = 11;

impl Lower<'_, '_> {
    fn shaped(&self, shape: Shape) -> Shape {
        shape.for_machine(self.has_avx512)
    }

    /// A float constant of a shape.
    pub(super) fn float_literal(&mut self, shape: Shape, value: f64) -> Reg {
        let bits = if shape.double { value.to_bits() } else { (value as f32).to_bits().into() };
        self.bits_literal(shape, bits)
    }

    pub(super) fn bits_literal(&mut self, shape: Shape, bits: u64) -> Reg {
        let element = if shape.double { 8 } else { 4 };
        let literal = if shape.scalar { Literal::Scalar { bits, element } } else { Literal::Lanes { bits, element } };
        self.literal(literal, Class::Vector)
    }

    fn float2(&mut self, ops: &'static ops::Formats, shape: Shape, x: Reg, y: Reg) -> Reg {
        self.vec2_at(shape.len, &ops[shape.format()], x, y)
    }

    /// An operation on the bits of floats.
    fn bits2(&mut self, ops: &'static [VecOp; 3], shape: Shape, x: Reg, y: Reg) -> Reg {
        let number = if self.has_avx512 { 1 + usize::from(shape.double) } else { 0 };
        self.vec2_at(shape.len, &ops[number], x, y)
    }

    fn sign_bit(&mut self, shape: Shape) -> Reg {
        self.bits_literal(shape, if shape.double { 1 << 63 } else { 1 << 31 })
    }

    pub(super) fn fma(&mut self, shape: Shape, x: Reg, y: Reg, z: Reg) -> Reg {
        let shape = self.shaped(shape);
        let dst = self.reg(Class::Vector);
        self.push(Inst::Fma { format: shape.format(), len: shape.len, dst, x, y, z });
        dst
    }

    /// Where a comparison of the given predicate holds.
    fn compare_by(&mut self, predicate: u8, shape: Shape, x: Reg, y: Reg) -> Reg {
        let (ops, class) =
            if self.has_avx512 { (&ops::COMPARE_MASK, Class::Mask) } else { (&ops::COMPARE_LANES, Class::Vector) };
        self.vec_inst(&ops[shape.format()], shape.len, class, [Some(x), Some(y), None], predicate)
    }

    pub(super) fn float_compare(&mut self, op: Comparison, shape: Shape, x: Reg, y: Reg) -> Reg {
        self.compare_by(predicate(op), shape, x, y)
    }

    pub(super) fn is_number(&mut self, shape: Shape, x: Reg) -> Reg {
        self.compare_by(ORDERED, shape, x, x)
    }

    pub(super) fn is_nan(&mut self, shape: Shape, x: Reg) -> Reg {
        self.compare_by(UNORDERED, shape, x, x)
    }

    /// `x` where the mask is set, else `y`.
    pub(super) fn choose(&mut self, shape: Shape, mask: Reg, x: Reg, y: Reg) -> Reg {
        let number = usize::from(shape.double);
        if !self.has_avx512 {
            return self.vec_inst(&ops::BLENDV[number], shape.len, Class::Vector, [Some(y), Some(x), Some(mask)], 0);
        }
        let dst = self.reg(Class::Vector);
        let (op, rm) = (&ops::BLENDM[number], Operand::Reg(x));
        let (middle, mask) = (Some(y), Some(mask));
        self.push(Inst::Vector(VectorInst { op, len: shape.len, dst, middle, rm, fourth: None, mask, imm: 0 }));
        dst
    }

    pub(super) fn is_finite(&mut self, shape: Shape, x: Reg) -> Reg {
        let shape = self.shaped(shape);
        let magnitude = self.magnitude(shape, x);
        let infinity = self.float_literal(shape, f64::INFINITY);
        self.float_compare(Comparison::Lt, shape, magnitude, infinity)
    }

    fn magnitude(&mut self, shape: Shape, x: Reg) -> Reg {
        let rest = self.bits_literal(shape, if shape.double { !(1 << 63) } else { 0x7fff_ffff });
        self.bits2(&ops::PAND, shape, x, rest)
    }

    pub(super) fn float_unary(&mut self, op: Unary, shape: Shape, x: Reg) -> Reg {
        let shape = self.shaped(shape);
        match op {
            Unary::Neg => {
                let sign = self.sign_bit(shape);
                self.bits2(&ops::PXOR, shape, x, sign)
            }
            Unary::Abs => self.magnitude(shape, x),
            Unary::Sqrt => self.float1(&ops::SQRT, shape, x, 0),
            Unary::Floor => self.round_by(shape, x, DOWN),
            Unary::Ceil => self.round_by(shape, x, UP),
            Unary::Trunc => self.round_by(shape, x, TO_ZERO),
            Unary::RoundEven => self.round_by(shape, x, NEAREST),
            Unary::RoundAway => self.round_away(shape, x),
            Unary::Sign => self.float_sign(shape, x),
            other => unreachable!("{other:?} of a float is expanded or refused before"),
        }
    }

    /// An operation of one operand; on scalars it has a first one whose upper lanes are kept.
    fn float1(&mut self, ops: &'static ops::Formats, shape: Shape, x: Reg, imm: u8) -> Reg {
        let middle = shape.scalar.then_some(x);
        self.vec_inst(&ops[shape.format()], shape.len, Class::Vector, [middle, Some(x), None], imm)
    }

    fn round_by(&mut self, shape: Shape, x: Reg, mode: u8) -> Reg {
        let ops = if self.has_avx512 { &ops::ROUND_EVEX } else { &ops::ROUND_VEX };
        self.float1(ops, shape, x, mode)
    }

    /// Truncates, then adds one away from zero where at least a half was cut.
    fn round_away(&mut self, shape: Shape, x: Reg) -> Reg {
        let whole = self.round_by(shape, x, TO_ZERO);
        let cut = self.float2(&ops::SUB, shape, x, whole);
        let cut = self.magnitude(shape, cut);
        let (half, one) = (self.float_literal(shape, 0.5), self.float_literal(shape, 1.0));
        let is_more = self.float_compare(Comparison::Ge, shape, cut, half);
        let step = self.copy_sign(shape, one, x);
        let next = self.float2(&ops::ADD, shape, whole, step);
        self.choose(shape, is_more, next, whole)
    }

    /// A magnitude with the sign of `x`.
    fn copy_sign(&mut self, shape: Shape, magnitude: Reg, x: Reg) -> Reg {
        let sign = self.sign_bit(shape);
        let sign = self.bits2(&ops::PAND, shape, x, sign);
        self.bits2(&ops::POR, shape, sign, magnitude)
    }

    fn float_sign(&mut self, shape: Shape, x: Reg) -> Reg {
        let (zero, one, minus_one) =
            (self.float_literal(shape, 0.0), self.float_literal(shape, 1.0), self.float_literal(shape, -1.0));
        let signed_zero = self.copy_sign(shape, zero, x);
        let is_zero = self.float_compare(Comparison::Eq, shape, x, zero);
        let result = self.choose(shape, is_zero, signed_zero, x);
        let is_negative = self.float_compare(Comparison::Lt, shape, x, zero);
        let result = self.choose(shape, is_negative, minus_one, result);
        let is_positive = self.float_compare(Comparison::Gt, shape, x, zero);
        self.choose(shape, is_positive, one, result)
    }

    pub(super) fn float_binary(&mut self, op: Binary, shape: Shape, x: Reg, y: Reg) -> Reg {
        let shape = self.shaped(shape);
        match op {
            Binary::Add => self.float2(&ops::ADD, shape, x, y),
            Binary::Sub => self.float2(&ops::SUB, shape, x, y),
            Binary::Mul => self.float2(&ops::MUL, shape, x, y),
            Binary::Div => self.float2(&ops::DIV, shape, x, y),
            Binary::Min | Binary::Max => self.extreme(op == Binary::Min, shape, x, y),
            Binary::Scale if self.has_avx512 => self.float2(&ops::SCALE, shape, x, y),
            Binary::Scale => self.scale(shape, x, y),
            other => unreachable!("{other:?} of floats is expanded or refused before"),
        }
    }

    /// `x · 2^n` in two steps, of which the first is exact.
    fn scale(&mut self, shape: Shape, x: Reg, n: Reg) -> Reg {
        let (rounder, fraction_bits) =
            if shape.double { (6_755_399_441_055_744.0 + 1023.0, 52) } else { (12_582_912.0 + 127.0, 23) };
        let (half, rounder) = (self.float_literal(shape, 0.5), self.float_literal(shape, rounder));
        let first = self.fma(shape, n, half, rounder);
        let floor = self.float2(&ops::SUB, shape, first, rounder);
        let rest = self.float2(&ops::SUB, shape, n, floor);
        let second = self.float2(&ops::ADD, shape, rest, rounder);
        [first, second].into_iter().fold(x, |x, power| {
            let shift = &ops::PSLLI[usize::from(shape.double)];
            let power = self.vec_inst(shift, shape.len, Class::Vector, [None, Some(power), None], fraction_bits);
            self.float2(&ops::MUL, shape, x, power)
        })
    }

    /// The least or greatest, NaN if either is, the least of zeros the negative one. The machine's own gives its second
    /// operand where either is NaN or both are equal.
    fn extreme(&mut self, is_min: bool, shape: Shape, x: Reg, y: Reg) -> Reg {
        let literal = |me: &Self, reg: Reg| me.regs[reg.index()].literal;
        for (limit, other) in [(y, x), (x, y)] {
            if let Some(bits) = literal(self, limit)
                && let Some(result) = self.limited(is_min, shape, limit, other, bits)
            {
                return result;
            }
        }
        if self.has_avx512 {
            let result = self.range(is_min, shape, x, y);
            let unordered = self.compare_by(UNORDERED, shape, x, y);
            let nan = self.float2(&ops::ADD, shape, x, y);
            return self.choose(shape, unordered, nan, result);
        }
        let ops = if is_min { &ops::MIN } else { &ops::MAX };
        let (first, second) = (self.float2(ops, shape, x, y), self.float2(ops, shape, y, x));
        if is_min {
            // The sign of zero and the bits of NaN come from either.
            return self.bits2(&ops::POR, shape, first, second);
        }
        let both = self.bits2(&ops::PAND, shape, first, second);
        let unordered = self.compare_by(UNORDERED, shape, x, y);
        self.bits2(&ops::POR, shape, both, unordered)
    }

    /// The extreme of a watched accumulator and something; where that is NaN the accumulator stays, and its mask is set.
    pub(super) fn watched_extreme(&mut self, is_min: bool, number: usize, other: ValueId) -> Slot {
        let shape = self.shaped(Shape::lanes(self.dtype(other)));
        let (phi, mut mask) = self.watched[number];
        let pairs = self.vector(phi).into_iter().zip(self.vector(other));
        let mut parts: Parts = smallvec![];
        for (phi, other) in pairs {
            let nan = self.is_nan(shape, other);
            mask = self.mask_binary(Binary::Or, mask, nan);
            parts.push(self.range(is_min, shape, phi, other));
        }
        self.watched[number].1 = mask;
        Slot::Vector(parts)
    }

    /// The least or greatest with ordered zeros; of a number and NaN the number.
    fn range(&mut self, is_min: bool, shape: Shape, x: Reg, y: Reg) -> Reg {
        let imm = if is_min { 4 } else { 5 };
        self.vec_inst(&ops::RANGE[shape.format()], shape.len, Class::Vector, [Some(x), Some(y), None], imm)
    }

    /// The least or greatest of a known number and something, where one or two instructions can say it.
    fn limited(&mut self, is_min: bool, shape: Shape, limit: Reg, x: Reg, bits: u64) -> Option<Reg> {
        let value = if shape.double { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() };
        let least = if shape.double { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
        if value.is_nan() || value != 0.0 && value.abs() < least {
            return None;
        }
        let ops = if is_min { &ops::MIN } else { &ops::MAX };
        if value == 0.0 && value.is_sign_negative() == is_min {
            if is_min {
                return None;
            }
            // Adding zero makes the negative zero positive.
            let result = self.float2(ops, shape, limit, x);
            return Some(self.float2(&ops::ADD, shape, result, limit));
        }
        Some(self.float2(ops, shape, limit, x))
    }
}
