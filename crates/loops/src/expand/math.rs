//! Formulas over the builder: arithmetic of one float type, its bits, and the constants that depend on the type.

use pullback_base::{DType, Scalar};

use super::coefficients::Polynomial;
use crate::builder::Builder;
use crate::program::{Binary, BufferId, Comparison, TABLE_LEN, Table, Unary, ValueId};

/// Arithmetic of one float type. Every method appends to the open block and gives its value.
pub(super) struct Math<'b> {
    pub(super) b: &'b mut Builder,
    pub(super) dtype: DType,
    /// The table for reducing large `float64` angles, once the program has it.
    pub(super) quadrants: &'b mut Option<BufferId>,
}

/// Where a number is among pieces of equal width.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The number of the piece, as a float.
    pub(super) number: ValueId,
    /// The same in the low four bits.
    index: ValueId,
    /// How far the number is from the middle of the piece.
    pub(super) rest: ValueId,
}

type V = ValueId;

impl Math<'_> {
    /// The same formulas in `float64`.
    pub(super) fn double(&mut self) -> Math<'_> {
        Math { b: self.b, dtype: DType::F64, quadrants: self.quadrants }
    }

    pub(super) fn is_single(&self) -> bool {
        self.dtype == DType::F32
    }

    /// The constant for this type.
    pub(super) fn choose<T>(&self, single: T, double: T) -> T {
        if self.is_single() { single } else { double }
    }

    pub(super) fn c(&mut self, value: f64) -> V {
        self.b.constant(Scalar::float(self.dtype, value))
    }

    pub(super) fn add(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::Add, x, y)
    }

    pub(super) fn sub(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::Sub, x, y)
    }

    pub(super) fn mul(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::Mul, x, y)
    }

    pub(super) fn div(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::Div, x, y)
    }

    /// `x·y + z`, rounded once.
    pub(super) fn fma(&mut self, x: V, y: V, z: V) -> V {
        self.b.fma(x, y, z)
    }

    /// `z - x·y`, rounded once.
    pub(super) fn fnma(&mut self, x: V, y: V, z: V) -> V {
        let x = self.neg(x);
        self.b.fma(x, y, z)
    }

    pub(super) fn addc(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.add(x, c)
    }

    pub(super) fn mulc(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.mul(x, c)
    }

    /// `c - x`.
    pub(super) fn csub(&mut self, c: f64, x: V) -> V {
        let c = self.c(c);
        self.sub(c, x)
    }

    /// `c / x`.
    pub(super) fn cdiv(&mut self, c: f64, x: V) -> V {
        let c = self.c(c);
        self.div(c, x)
    }

    /// `x·c + z`, rounded once.
    pub(super) fn fmac(&mut self, x: V, c: f64, z: V) -> V {
        let c = self.c(c);
        self.fma(x, c, z)
    }

    pub(super) fn neg(&mut self, x: V) -> V {
        self.b.unary(Unary::Neg, x)
    }

    pub(super) fn abs(&mut self, x: V) -> V {
        self.b.unary(Unary::Abs, x)
    }

    pub(super) fn sqrt(&mut self, x: V) -> V {
        self.b.unary(Unary::Sqrt, x)
    }

    pub(super) fn floor(&mut self, x: V) -> V {
        self.b.unary(Unary::Floor, x)
    }

    pub(super) fn round(&mut self, x: V) -> V {
        self.b.unary(Unary::RoundEven, x)
    }

    pub(super) fn maxc(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.b.binary(Binary::Max, x, c)
    }

    pub(super) fn minc(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.b.binary(Binary::Min, x, c)
    }

    pub(super) fn compare(&mut self, op: Comparison, x: V, y: V) -> V {
        self.b.compare(op, x, y)
    }

    pub(super) fn lt(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.b.compare(Comparison::Lt, x, c)
    }

    pub(super) fn gt(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.b.compare(Comparison::Gt, x, c)
    }

    pub(super) fn eq(&mut self, x: V, c: f64) -> V {
        let c = self.c(c);
        self.b.compare(Comparison::Eq, x, c)
    }

    pub(super) fn and(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::And, x, y)
    }

    pub(super) fn or(&mut self, x: V, y: V) -> V {
        self.b.binary(Binary::Or, x, y)
    }

    pub(super) fn not(&mut self, x: V) -> V {
        self.b.unary(Unary::Not, x)
    }

    pub(super) fn select(&mut self, condition: V, x: V, y: V) -> V {
        self.b.select(condition, x, y)
    }

    /// The constant where the condition holds, else the value.
    pub(super) fn whenc(&mut self, condition: V, c: f64, otherwise: V) -> V {
        let c = self.c(c);
        self.select(condition, c, otherwise)
    }

    /// A polynomial by Horner's rule, in fused steps.
    pub(super) fn poly(&mut self, x: V, polynomial: &Polynomial) -> V {
        let (f32s, f64s) = (polynomial.f32, polynomial.f64);
        if self.is_single() {
            self.horner(x, &f32s.iter().map(|&c| f64::from(c)).collect::<Vec<_>>())
        } else {
            self.horner(x, f64s)
        }
    }

    /// A polynomial with the given coefficients, lowest power first.
    pub(super) fn horner(&mut self, x: V, coefficients: &[f64]) -> V {
        let (&last, rest) = coefficients.split_last().expect("a polynomial has coefficients");
        let start = self.c(last);
        rest.iter().rev().fold(start, |sum, &c| {
            let c = self.c(c);
            self.fma(sum, x, c)
        })
    }

    /// The signed integer type of the same width.
    pub(super) fn integer(&self) -> DType {
        self.choose(DType::I32, DType::I64)
    }

    /// Bits of the fraction of the type.
    pub(super) fn fraction_bits(&self) -> i128 {
        self.choose(23, 52)
    }

    pub(super) fn int(&mut self, value: i128) -> V {
        self.b.constant(Scalar::int(self.integer(), value))
    }

    pub(super) fn bits(&mut self, x: V) -> V {
        self.b.bitcast(self.integer(), x)
    }

    pub(super) fn float(&mut self, bits: V) -> V {
        self.b.bitcast(self.dtype, bits)
    }

    pub(super) fn integer_op(&mut self, op: Binary, x: V, c: i128) -> V {
        let c = self.int(c);
        self.b.binary(op, x, c)
    }

    fn sign_mask(&self) -> i128 {
        self.choose(i32::MIN.into(), i64::MIN.into())
    }

    /// The sign bit of `x` alone, as bits.
    pub(super) fn sign_bits(&mut self, x: V) -> V {
        let bits = self.bits(x);
        self.integer_op(Binary::And, bits, self.sign_mask())
    }

    /// Whether the sign bit of `x` is set.
    pub(super) fn is_negative(&mut self, x: V) -> V {
        let bits = self.bits(x);
        let zero = self.int(0);
        self.compare(Comparison::Lt, bits, zero)
    }

    /// `magnitude`, which has no sign, with the sign of `x`; NaN stays NaN.
    pub(super) fn with_sign(&mut self, magnitude: V, x: V) -> V {
        let (sign, bits) = (self.sign_bits(x), self.bits(magnitude));
        let bits = self.or(sign, bits);
        self.float(bits)
    }

    /// `x` with its sign flipped where `sign` has its sign bit set.
    pub(super) fn flip_sign(&mut self, x: V, sign_bits: V) -> V {
        let bits = self.bits(x);
        let bits = self.b.binary(Binary::Xor, sign_bits, bits);
        self.float(bits)
    }

    /// Adding it to a whole number below `2^51` (`2^22`) leaves the number in the low bits.
    fn rounder(&self) -> (f64, i128) {
        self.choose((12_582_912.0, 0x4b40_0000), (6_755_399_441_055_744.0, 0x4338_0000_0000_0000))
    }

    /// A small integer as a float, in lanes too.
    pub(super) fn small_float(&mut self, n: V) -> V {
        if self.is_single() {
            return self.b.convert(self.dtype, n);
        }
        let (rounder, bits) = self.rounder();
        let shifted = self.integer_op(Binary::Add, n, bits);
        let shifted = self.float(shifted);
        self.addc(shifted, -rounder)
    }

    /// `x · 2^n` for a whole float `n` in twice the range of exponents, so results may overflow or vanish.
    pub(super) fn scale(&mut self, x: V, n: V) -> V {
        self.b.binary(Binary::Scale, x, n)
    }

    /// The piece that a number is in, of those around the multiples of a width from 0 to 15.
    pub(super) fn piece(&mut self, x: V, width: f64) -> Piece {
        let (rounder, _) = self.rounder();
        let rounder = self.c(rounder);
        let shifted = self.fmac(x, 1.0 / width, rounder);
        let number = self.sub(shifted, rounder);
        Piece { number, index: self.bits(shifted), rest: self.fmac(number, -width, x) }
    }

    /// An entry of a table for each piece.
    pub(super) fn of_piece(&mut self, piece: Piece, entries: &[f32; TABLE_LEN]) -> V {
        self.b.lookup(&Table::new(entries.map(f32::to_bits)), piece.index)
    }

    /// By Horner's rule the polynomial of a piece, from its coefficients in each piece, lowest power first.
    pub(super) fn poly_of_piece(&mut self, piece: Piece, coefficients: &[[f32; TABLE_LEN]]) -> V {
        let (last, lower) = coefficients.split_last().expect("a polynomial has coefficients");
        let start = self.of_piece(piece, last);
        lower.iter().rev().fold(start, |sum, entries| {
            let c = self.of_piece(piece, entries);
            self.fma(sum, piece.rest, c)
        })
    }

    /// The rounding error of `sum = x + y`, exactly (Knuth).
    pub(super) fn sum_error(&mut self, x: V, y: V, sum: V) -> V {
        let y_part = self.sub(sum, x);
        let x_part = self.sub(sum, y_part);
        let (x_error, y_error) = (self.sub(x, x_part), self.sub(y, y_part));
        self.add(x_error, y_error)
    }

    /// The rounding error of `product = x · y`, exactly.
    pub(super) fn product_error(&mut self, x: V, y: V, product: V) -> V {
        let minus = self.neg(product);
        self.fma(x, y, minus)
    }

    /// A number of this type as `float64`.
    pub(super) fn doubled(&mut self, x: V) -> V {
        self.b.convert(DType::F64, x)
    }

    /// A `float64` rounded to this type.
    pub(super) fn rounded(&mut self, x: V) -> V {
        self.b.convert(self.dtype, x)
    }
}
