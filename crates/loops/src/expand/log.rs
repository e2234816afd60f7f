//! The logarithm family: `log`, `log2`, `log1p`.
//!
//! `x = 2^e · m` with `m` between `√½` and `√2`; `ln m` is a polynomial in `f = m - 1` (`float32`) or in
//! `s = f / (2 + f)` (`float64`).

use super::coefficients::{LOG, LOG_ATANH};
use super::math::Math;
use crate::program::{Binary, Comparison, ValueId};

type V = ValueId;

impl Math<'_> {
    /// `x = 2^e · m`: the exponent as a float, and `m - 1`. For positive normal numbers.
    pub(super) fn split_mantissa(&mut self, x: V) -> (V, V) {
        let root_half = self.choose(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd);
        let bits = self.bits(x);
        let moved = self.integer_op(Binary::Sub, bits, root_half);
        let e = self.integer_op(Binary::ShiftRightArithmetic, moved, self.fraction_bits());
        let e_bits = self.integer_op(Binary::ShiftLeft, e, self.fraction_bits());
        let m = self.b.binary(Binary::Sub, bits, e_bits);
        let m = self.float(m);
        (self.small_float(e), self.addc(m, -1.0))
    }

    /// `ln(x + error)` for a positive normal `x`, the error small against it: `e · ln 2` and `ln m`, apart. The
    /// second comes as `f` and what is to be added to it.
    fn log_parts(&mut self, x: V, error: Option<V>) -> (V, V, V) {
        let (e, f) = self.split_mantissa(x);
        let correction = error.map(|error| self.div(error, x));
        let half_square = {
            let square = self.mul(f, f);
            self.mulc(square, 0.5)
        };
        let rest = if self.is_single() {
            let p = self.poly(f, &LOG);
            let square = self.mul(f, f);
            let cube = self.mul(square, f);
            let rest = self.mul(cube, p);
            self.sub(rest, half_square)
        } else {
            // With s = f / (2 + f): ln m = f - f²/2 + s·(f²/2 + s²·P(s²)).
            let denominator = self.addc(f, 2.0);
            let s = self.div(f, denominator);
            let z = self.mul(s, s);
            let p = self.poly(z, &LOG_ATANH);
            let inner = self.fma(z, p, half_square);
            let product = self.mul(s, inner);
            self.sub(product, half_square)
        };
        let rest = match correction {
            Some(correction) => self.add(rest, correction),
            None => rest,
        };
        (e, f, rest)
    }

    /// The logarithm of positive normal numbers.
    pub(super) fn log_normal(&mut self, x: V, error: Option<V>) -> V {
        let (e, f, rest) = self.log_parts(x, error);
        let (high, low) = self.ln_2();
        let rest = self.fmac(e, low, rest);
        let sum = self.add(f, rest);
        self.fmac(e, high, sum)
    }

    /// Puts in what the logarithm of `x` is where `x` is not a positive normal number.
    fn log_specials(&mut self, x: V, result: V) -> V {
        let least = self.choose(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
        let is_zero = self.lt(x, least);
        let result = self.whenc(is_zero, f64::NEG_INFINITY, result);
        let is_negative = self.lt(x, 0.0);
        let result = self.whenc(is_negative, f64::NAN, result);
        let infinity = self.c(f64::INFINITY);
        let below = self.compare(Comparison::Lt, x, infinity);
        // Infinity and NaN give themselves.
        self.select(below, result, x)
    }

    pub(super) fn log(&mut self, x: V) -> V {
        let result = if self.is_single() { self.log_single(x) } else { self.log_normal(x, None) };
        self.log_specials(x, result)
    }

    pub(super) fn log2(&mut self, x: V) -> V {
        let (e, f, rest) = self.log_parts(x, None);
        let log = self.add(f, rest);
        // 1/ln 2 in two parts, and what the sum lost, so that numbers next to powers of two keep their digits.
        let lost = {
            let kept = self.sub(log, f);
            self.sub(rest, kept)
        };
        let (high, low) = self.choose(
            (f64::from(std::f32::consts::LOG2_E), std::f64::consts::LOG2_E - f64::from(std::f32::consts::LOG2_E)),
            (std::f64::consts::LOG2_E, 2.035_527_374_093_103_2e-17),
        );
        let small = self.mulc(log, low);
        let small = self.fmac(lost, high, small);
        let product = self.mulc(log, high);
        let c = self.c(high);
        let product_error = self.product_error(log, c, product);
        let small = self.add(small, product_error);
        let sum = self.add(e, product);
        let sum_error = self.sum_error(e, product, sum);
        let small = self.add(small, sum_error);
        let result = self.add(sum, small);
        self.log_specials(x, result)
    }

    /// `ln(1 + x)`: the rounding error of `1 + x` goes on as a correction.
    pub(super) fn log1p(&mut self, x: V) -> V {
        if self.is_single() {
            return self.log1p_single(x);
        }
        let one = self.c(1.0);
        let sum = self.add(one, x);
        let error = self.sum_error(one, x, sum);
        let result = self.log_normal(sum, Some(error));
        let result = self.log_specials(sum, result);
        // Where `x` is lost in the sum altogether, and for the sign of zero.
        let magnitude = self.abs(x);
        let is_tiny = self.lt(magnitude, self.choose(1e-9, 1e-18));
        self.select(is_tiny, x, result)
    }
}
