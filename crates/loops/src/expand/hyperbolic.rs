//! Hyperbolic functions and their inverses.

use super::coefficients::{SINH, TANH};
use super::math::Math;
use crate::program::{Comparison, ValueId};

type V = ValueId;

impl Math<'_> {
    /// `x + x³·p(x²)`, the form of odd functions next to zero.
    pub(super) fn odd(&mut self, x: V, z: V, p: V) -> V {
        let cube = self.mul(x, z);
        self.fma(cube, p, x)
    }

    /// `1 - 2/(e^{2a} + 1)` away from zero.
    pub(super) fn tanh(&mut self, x: V) -> V {
        let a = self.abs(x);
        let z = self.mul(x, x);
        let p = self.poly(z, &TANH);
        let small = self.odd(a, z, p);
        let twice = self.add(a, a);
        let e = self.exp(twice);
        let denominator = self.addc(e, 1.0);
        let part = self.cdiv(2.0, denominator);
        let large = self.csub(1.0, part);
        let is_small = self.lt(a, 0.625);
        let result = self.select(is_small, small, large);
        self.with_sign(result, x)
    }

    /// `e^a / 2` and a quarter of its reciprocal; no overflow before the result's own.
    fn half_exponentials(&mut self, a: V) -> (V, V) {
        let grown = self.exp_scaled(a, None, -1.0);
        (grown, self.cdiv(0.25, grown))
    }

    pub(super) fn sinh(&mut self, x: V) -> V {
        let a = self.abs(x);
        let z = self.mul(x, x);
        let p = self.poly(z, &SINH);
        let small = self.odd(a, z, p);
        let (grown, shrunk) = self.half_exponentials(a);
        let large = self.sub(grown, shrunk);
        let is_small = self.lt(a, 1.0);
        let result = self.select(is_small, small, large);
        self.with_sign(result, x)
    }

    pub(super) fn cosh(&mut self, x: V) -> V {
        let a = self.abs(x);
        let (grown, shrunk) = self.half_exponentials(a);
        self.add(grown, shrunk)
    }

    /// From where on the square of a number swallows one.
    fn large_root(&self) -> f64 {
        self.choose(1e5, 1e9)
    }

    /// `ln(2a)` for large `a`.
    fn log_of_twice(&mut self, a: V) -> V {
        let log = self.log(a);
        self.addc(log, std::f64::consts::LN_2)
    }

    /// `log1p(a + a²/(1 + √(a²+1)))`.
    pub(super) fn asinh(&mut self, x: V) -> V {
        let a = self.abs(x);
        let kept = self.minc(a, self.large_root());
        let square = self.mul(kept, kept);
        let root = {
            let sum = self.addc(square, 1.0);
            self.sqrt(sum)
        };
        let denominator = self.addc(root, 1.0);
        let part = self.div(square, denominator);
        let sum = self.add(kept, part);
        let small = self.log1p(sum);
        let large = self.log_of_twice(a);
        let is_large = self.gt(a, self.large_root());
        let result = self.select(is_large, large, small);
        let result = self.abs(result);
        self.with_sign(result, x)
    }

    /// `log1p(t + √(2t + t²))` with `t = x - 1`.
    pub(super) fn acosh(&mut self, x: V) -> V {
        let kept = self.minc(x, self.large_root());
        let t = self.addc(kept, -1.0);
        let twice = self.add(t, t);
        let inner = self.fma(t, t, twice);
        let root = self.sqrt(inner);
        let sum = self.add(t, root);
        let small = self.log1p(sum);
        let large = self.log_of_twice(x);
        let is_large = self.gt(x, self.large_root());
        let result = self.select(is_large, large, small);
        let is_outside = self.lt(x, 1.0);
        self.whenc(is_outside, f64::NAN, result)
    }

    /// `½ log1p(2a + 2a²/(1-a))`.
    pub(super) fn atanh(&mut self, x: V) -> V {
        let a = self.abs(x);
        let twice = self.add(a, a);
        let rest = self.csub(1.0, a);
        let product = self.mul(twice, a);
        let part = self.div(product, rest);
        let sum = self.add(twice, part);
        let log = self.log1p(sum);
        let half = self.mulc(log, 0.5);
        let one = self.c(1.0);
        let is_one = self.compare(Comparison::Eq, a, one);
        let half = self.whenc(is_one, f64::INFINITY, half);
        let is_outside = self.gt(a, 1.0);
        let result = self.whenc(is_outside, f64::NAN, half);
        self.with_sign(result, x)
    }
}
