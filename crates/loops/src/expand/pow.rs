//! Powers and roots: `pow`, `rsqrt`, `cbrt`.
//!
//! `x^y = e^{y ln x}` wants more digits of the logarithm than the type has: `float32` takes them from `float64`,
//! `float64` from a sum of two.

use super::coefficients::LOG_ATANH;
use super::math::Math;
use crate::program::{Binary, Comparison, ValueId};

type V = ValueId;

/// `ln 2` less the two parts of [`Math::ln_2`].
const LN_2_REST: f64 = 1.161_222_722_936_253_3e-26;

impl Math<'_> {
    pub(super) fn rsqrt(&mut self, x: V) -> V {
        let root = self.sqrt(x);
        self.cdiv(1.0, root)
    }

    /// Newton's method from a third of the exponent.
    pub(super) fn cbrt(&mut self, x: V) -> V {
        let a = self.abs(x);
        let bits = self.bits(a);
        let bits = self.b.convert(self.dtype, bits);
        let third = self.mulc(bits, 1.0 / 3.0);
        let third = self.b.convert(self.integer(), third);
        let guess = self.integer_op(Binary::Add, third, self.choose(709_958_130, 0x2a9f_7893_0000_0000));
        let mut t = self.float(guess);
        for _ in 0..self.choose(3, 4) {
            let square = self.mul(t, t);
            let quotient = self.div(a, square);
            let step = self.sub(quotient, t);
            t = self.fmac(step, 1.0 / 3.0, t);
        }
        let result = self.with_sign(t, x);
        // Zero, infinity and NaN are their own roots.
        let is_zero = self.eq(x, 0.0);
        let infinity = self.c(f64::INFINITY);
        let below = self.compare(Comparison::Lt, a, infinity);
        let not_zero = self.not(is_zero);
        let ordinary = self.and(below, not_zero);
        self.select(ordinary, result, x)
    }

    pub(super) fn pow(&mut self, x: V, y: V) -> V {
        let a = self.abs(x);
        let power = if self.is_single() {
            let (a, y) = (self.doubled(a), self.doubled(y));
            let mut m = self.double();
            let log = m.log(a);
            let product = m.mul(y, log);
            let power = m.exp(product);
            self.rounded(power)
        } else {
            self.pow_of_positive(a, y)
        };
        self.pow_specials(x, a, y, power)
    }

    /// `ln x` of a positive normal number as a sum of two.
    fn log_in_two(&mut self, x: V) -> (V, V) {
        let (e, f) = self.split_mantissa(x);
        // s = f / (2 + f), with what the quotient leaves.
        let two = self.c(2.0);
        let denominator = self.add(two, f);
        let denominator_error = self.sum_error(two, f, denominator);
        let s = self.div(f, denominator);
        let rest = self.fnma(s, denominator, f);
        let rest = self.fnma(s, denominator_error, rest);
        let s_low = self.div(rest, denominator);
        // z = s², z_low with the cross term.
        let z = self.mul(s, s);
        let z_error = self.product_error(s, s, z);
        let twice = self.add(s, s);
        let z_low = self.fma(twice, s_low, z_error);
        // ln m = 2s + s·z·(⅔ + z·q): the leading coefficient in two parts.
        let (third_high, third_low) = (2.0 / 3.0, 3.700_743_415_417_188e-17);
        let tail: Vec<f64> = LOG_ATANH.f64[1..].to_vec();
        let q = self.horner(z, &tail);
        let lead = self.c(third_high);
        let zq = self.mul(z, q);
        let factor = self.add(lead, zq);
        let factor_error = self.sum_error(lead, zq, factor);
        let factor_low = self.addc(factor_error, third_low);
        let (g, g_low) = self.product_in_two((z, z_low), (factor, factor_low));
        let (h, h_low) = self.product_in_two((s, s_low), (g, g_low));
        let (twice, twice_low) = (self.add(s, s), self.add(s_low, s_low));
        let (sum, error) = self.two_sum(twice, h);
        let low = self.add(h_low, twice_low);
        let low = self.add(low, error);
        // e · ln 2, its high part exact.
        let (ln_high, ln_low) = self.ln_2();
        let high = self.mulc(e, ln_high);
        let (total, error) = self.two_sum(high, sum);
        let low = self.add(low, error);
        let e_low = self.mulc(e, ln_low);
        let e_low_error = {
            let c = self.c(ln_low);
            self.product_error(e, c, e_low)
        };
        let (total, error) = self.two_sum(total, e_low);
        let low = self.add(low, error);
        let low = self.add(low, e_low_error);
        // What ln 2 has beyond its two parts.
        let low = self.fmac(e, LN_2_REST, low);
        self.two_sum(total, low)
    }

    fn product_in_two(&mut self, (x, x_low): (V, V), (y, y_low): (V, V)) -> (V, V) {
        let product = self.mul(x, y);
        let error = self.product_error(x, y, product);
        let error = self.fma(x, y_low, error);
        (product, self.fma(x_low, y, error))
    }

    fn pow_of_positive(&mut self, a: V, y: V) -> V {
        let (log, log_low) = self.log_in_two(a);
        let plain = self.log(a);
        let is_ordinary = {
            // Zero and infinity, and whatever overflows, go by the plain logarithm.
            let finite = self.b.unary(crate::program::Unary::IsFinite, plain);
            let magnitude = self.abs(y);
            let small = self.lt(magnitude, 1e300);
            self.and(finite, small)
        };
        let log = self.select(is_ordinary, log, plain);
        let product = self.mul(y, log);
        let error = self.product_error(y, log, product);
        let error = self.fma(y, log_low, error);
        let zero = self.c(0.0);
        let magnitude = self.abs(product);
        let in_range = self.lt(magnitude, 800.0);
        let keeps_error = self.and(is_ordinary, in_range);
        let error = self.select(keeps_error, error, zero);
        self.exp_scaled(product, Some(error), 0.0)
    }

    /// Signs and the cases that C99 lists.
    fn pow_specials(&mut self, x: V, a: V, y: V, power: V) -> V {
        let whole = self.floor(y);
        let is_whole = self.compare(Comparison::Eq, whole, y);
        let half = self.mulc(y, 0.5);
        let half_whole = self.floor(half);
        let is_even = self.compare(Comparison::Eq, half, half_whole);
        let is_odd = {
            let odd = self.not(is_even);
            self.and(odd, is_whole)
        };
        let negated = self.neg(power);
        let is_left = self.is_negative(x);
        let flips = self.and(is_left, is_odd);
        let result = self.select(flips, negated, power);
        // A negative finite base to a fraction is not a number.
        let is_below = self.lt(x, 0.0);
        let is_finite = self.lt(a, f64::INFINITY);
        let is_fraction = self.not(is_whole);
        let no_number = self.and(is_below, is_finite);
        let no_number = self.and(no_number, is_fraction);
        let result = self.whenc(no_number, f64::NAN, result);
        // ±1 to an infinite power.
        let is_unit = self.eq(a, 1.0);
        let magnitude = self.abs(y);
        let is_infinite = self.eq(magnitude, f64::INFINITY);
        let stays = self.and(is_unit, is_infinite);
        let result = self.whenc(stays, 1.0, result);
        // One to any power, anything to the power zero; even NaN.
        let is_one = self.eq(x, 1.0);
        let is_zero_power = self.eq(y, 0.0);
        let stays = self.or(is_one, is_zero_power);
        let result = self.whenc(stays, 1.0, result);
        let nan = self.add(x, y);
        let is_nan = self.compare(Comparison::Ne, nan, nan);
        let both = {
            let x_is_nan = self.compare(Comparison::Ne, x, x);
            let y_is_nan = self.compare(Comparison::Ne, y, y);
            self.or(x_is_nan, y_is_nan)
        };
        let ordinary = self.not(stays);
        let spoils = self.and(both, ordinary);
        let spoils = self.and(spoils, is_nan);
        self.select(spoils, nan, result)
    }
}
