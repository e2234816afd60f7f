//! The exponential family: `exp`, `exp2`, `expm1`, `logistic`.
//!
//! `e^x = 2^n · e^r` with `n` the integer nearest to `x / ln 2` and `r` the rest, taken off in two parts (Cody and
//! Waite); `e^r` is a polynomial.

use super::coefficients::{EXP, EXP2};
use super::math::Math;
use crate::program::ValueId;

type V = ValueId;

/// The leading bits of `ln 2`, few enough that products with small integers are exact, and the rest.
const LN_2_SINGLE: (f64, f64) = (0.693_359_375, -2.121_944_400_546_905_8e-4);
const LN_2_DOUBLE: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

impl Math<'_> {
    pub(super) fn ln_2(&self) -> (f64, f64) {
        self.choose(LN_2_SINGLE, LN_2_DOUBLE)
    }

    /// The integer nearest to `x / ln 2`, as a float, and the rest of `x`.
    fn split_exponent(&mut self, x: V) -> (V, V) {
        let quotient = self.mulc(x, std::f64::consts::LOG2_E);
        let n = self.round(quotient);
        let (high, low) = self.ln_2();
        let r = self.fmac(n, -high, x);
        (n, self.fmac(n, -low, r))
    }

    /// `e^r - 1` for `|r|` up to half of `ln 2`.
    fn expm1_near_zero(&mut self, r: V) -> V {
        let q = self.poly(r, &EXP);
        let square = self.mul(r, r);
        self.fma(square, q, r)
    }

    /// `x` kept where the exponential neither overflows nor vanishes by far; NaN stays.
    fn clamped(&mut self, x: V) -> V {
        let (low, high) = self.choose((-105.0, 90.0), (-750.0, 711.0));
        let x = self.maxc(x, low);
        self.minc(x, high)
    }

    pub(super) fn exp(&mut self, x: V) -> V {
        self.exp_scaled(x, None, 0.0)
    }

    /// `e^(x + low) · 2^shift`, for `low` small against `x`.
    pub(super) fn exp_scaled(&mut self, x: V, low: Option<V>, shift: f64) -> V {
        let x = self.clamped(x);
        let (n, r) = self.split_exponent(x);
        let r = low.map_or(r, |low| self.add(r, low));
        let q = self.poly(r, &EXP);
        let one = self.c(1.0);
        let p = self.fma(q, r, one);
        let p = self.fma(p, r, one);
        let n = if shift == 0.0 { n } else { self.addc(n, shift) };
        self.scale(p, n)
    }

    pub(super) fn exp2(&mut self, x: V) -> V {
        let (low, high) = self.choose((-151.0, 129.0), (-1077.0, 1025.0));
        let x = self.maxc(x, low);
        let x = self.minc(x, high);
        let n = self.round(x);
        let r = self.sub(x, n);
        let q = self.poly(r, &EXP2);
        let linear = self.mulc(r, std::f64::consts::LN_2);
        let square = self.mul(r, r);
        let p = self.fma(square, q, linear);
        let p = self.addc(p, 1.0);
        self.scale(p, n)
    }

    /// `e^x - 1 = 2^n · (e^r - 1) + (2^n - 1)`, halved on the way so that the greatest `n` does not overflow.
    pub(super) fn expm1(&mut self, x: V) -> V {
        let (low, high) = self.choose((-30.0, 89.0), (-50.0, 710.0));
        let clamped = self.maxc(x, low);
        let clamped = self.minc(clamped, high);
        let (n, r) = self.split_exponent(clamped);
        let p = self.expm1_near_zero(r);
        let one = self.c(1.0);
        let n = self.addc(n, -1.0);
        let half_power = self.scale(one, n);
        let offset = self.addc(half_power, -0.5);
        let half = self.fma(p, half_power, offset);
        let large = self.mulc(half, 2.0);
        // Next to zero the halves would only lose the sign of zero.
        let magnitude = self.abs(x);
        let is_small = self.lt(magnitude, 0.34);
        let result = self.select(is_small, p, large);
        let result = self.abs(result);
        self.with_sign(result, x)
    }

    /// `e^x` through `e^r - 1`: two steps more than [`Math::exp`], and nearer for what adds it to something.
    fn exp_by_expm1(&mut self, x: V) -> V {
        let x = self.clamped(x);
        let (n, r) = self.split_exponent(x);
        let p = self.expm1_near_zero(r);
        let p = self.addc(p, 1.0);
        self.scale(p, n)
    }

    /// `1/(1+e^-x)`. Far on the left the sum would lose as much as the exponential did: there it is `t - t²` with `t = e^x`.
    pub(super) fn logistic(&mut self, x: V) -> V {
        let is_far = self.lt(x, self.choose(-10.0, -20.0));
        let minus = self.neg(x);
        let power = self.select(is_far, x, minus);
        let t = self.exp_by_expm1(power);
        let denominator = self.addc(t, 1.0);
        let near = self.cdiv(1.0, denominator);
        let far = self.fnma(t, t, t);
        self.select(is_far, far, near)
    }
}
