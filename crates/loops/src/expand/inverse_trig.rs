//! Inverse circular functions: `asin`, `acos`, `atan`, `atan2`.

use super::coefficients::{ASIN, ATAN};
use super::math::Math;
use crate::program::{Comparison, ValueId};

type V = ValueId;

use std::f64::consts::{FRAC_PI_2, PI};

impl Math<'_> {
    /// π/2 as the nearest number of the type and what that leaves.
    fn half_pi(&self) -> (f64, f64) {
        let single = f64::from(FRAC_PI_2 as f32);
        self.choose((single, FRAC_PI_2 - single), (FRAC_PI_2, 6.123_233_995_736_766e-17))
    }

    /// The arc tangent for `a` from 0 to 1.
    fn atan_of_fraction(&mut self, a: V) -> V {
        let z = self.mul(a, a);
        let p = self.poly(z, &ATAN);
        self.odd(a, z, p)
    }

    /// `multiple · π/2 - angle`.
    fn less_than_half_pi(&mut self, multiple: f64, angle: V) -> V {
        let (high, low) = self.half_pi();
        let high = self.csub(high * multiple, angle);
        self.addc(high, low * multiple)
    }

    pub(super) fn atan(&mut self, x: V) -> V {
        let a = self.abs(x);
        let inverse = self.cdiv(1.0, a);
        let is_large = self.gt(a, 1.0);
        let fraction = self.select(is_large, inverse, a);
        let angle = self.atan_of_fraction(fraction);
        let rest = self.less_than_half_pi(1.0, angle);
        let result = self.select(is_large, rest, angle);
        self.with_sign(result, x)
    }

    /// The angle of the point `(x, y)`; signed zeros and infinities as in C99.
    pub(super) fn atan2(&mut self, y: V, x: V) -> V {
        let (ax, ay) = (self.abs(x), self.abs(y));
        let is_steep = self.compare(Comparison::Gt, ay, ax);
        let (low, high) = (self.select(is_steep, ax, ay), self.select(is_steep, ay, ax));
        let fraction = self.div(low, high);
        // Zero over zero counts as 0, infinity over infinity as 1; NaN stays.
        let is_origin = self.eq(high, 0.0);
        let fraction = self.whenc(is_origin, 0.0, fraction);
        let is_far = self.eq(low, f64::INFINITY);
        let fraction = self.whenc(is_far, 1.0, fraction);
        let angle = self.atan_of_fraction(fraction);
        let steep = self.less_than_half_pi(1.0, angle);
        let angle = self.select(is_steep, steep, angle);
        let left = self.less_than_half_pi(2.0, angle);
        let is_left = self.is_negative(x);
        let result = self.select(is_left, left, angle);
        let unordered = self.add(x, y);
        let is_nan = {
            let x_is_nan = self.compare(Comparison::Ne, x, x);
            let y_is_nan = self.compare(Comparison::Ne, y, y);
            self.or(x_is_nan, y_is_nan)
        };
        let result = self.with_sign(result, y);
        self.select(is_nan, unordered, result)
    }

    /// For `a` from 0 to 1: whether it is above ½, and the arc sine of `a` or of `√((1-a)/2)`.
    fn asin_parts(&mut self, a: V) -> (V, V) {
        let is_large = self.gt(a, 0.5);
        let half = self.mulc(a, 0.5);
        let z_large = self.csub(0.5, half);
        let z_small = self.mul(a, a);
        let z = self.select(is_large, z_large, z_small);
        let root = self.sqrt(z_large);
        let base = self.select(is_large, root, a);
        let p = self.poly(z, &ASIN);
        (is_large, self.odd(base, z, p))
    }

    pub(super) fn asin(&mut self, x: V) -> V {
        let a = self.abs(x);
        let (is_large, angle) = self.asin_parts(a);
        let twice = self.add(angle, angle);
        let large = self.less_than_half_pi(1.0, twice);
        let result = self.select(is_large, large, angle);
        self.with_sign(result, x)
    }

    pub(super) fn acos(&mut self, x: V) -> V {
        let a = self.abs(x);
        let (is_large, angle) = self.asin_parts(a);
        let twice = self.add(angle, angle);
        let left = self.less_than_half_pi(2.0, twice);
        let is_left = self.lt(x, 0.0);
        let large = self.select(is_left, left, twice);
        let signed = self.with_sign(angle, x);
        let small = self.less_than_half_pi(1.0, signed);
        self.select(is_large, large, small)
    }

    /// π of the type.
    pub(super) fn pi(&mut self) -> V {
        self.c(PI)
    }
}
