//! The logarithm, `log1p` and the inverse error function in `float32` with the digits of the reference on the CPU.
//!
//! Samples of distributions must equal the reference's bit for bit, and most of them come from these three functions.
//! Formulas: Cephes' `logf` and its rational function for `log1p`; M. Giles, "Approximating the erfinv function" (2010).
//! Which products and sums are rounded together is part of the digits.
#![allow(clippy::excessive_precision, reason = "coefficients as published")]

use super::math::Math;
use crate::program::ValueId;

type V = ValueId;

/// `(ln(1+f) - f + f²/2) / f³` in three parts, highest powers first in each: a third of Horner's rule at a time.
const LOG: [[f64; 3]; 3] = [
    [7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1],
    [-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1],
    [2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1],
];
/// `ln 2` in two parts.
const LN_2: (f64, f64) = (0.693359375, -2.12194440e-4);

/// `(ln(1+x) - x + x²/2) / x³` as a quotient, lowest power first, below [`LOG1P_NEAR`].
const LOG1P_NUMERATOR: [f64; 7] = [
    2.003_955_349_920_128_2e1,
    5.711_296_359_058_554e1,
    6.094_966_798_098_779e1,
    2.991_191_932_855_307_3e1,
    6.578_732_594_206_104,
    4.985_410_282_319_337_6e-1,
    4.527_000_086_244_52e-5,
];
const LOG1P_DENOMINATOR: [f64; 7] = [
    6.011_866_049_760_384e1,
    2.164_278_861_449_594_7e2,
    3.090_987_222_531_206e2,
    2.217_623_982_373_285_6e2,
    8.304_756_596_796_721e1,
    1.506_290_908_346_919_2e1,
    1.0,
];
const LOG1P_NEAR: f64 = std::f64::consts::SQRT_2 - 1.0;

/// `erfinv(x) / x`, lowest power first, in `w - 2.5` below 5 and in `√w - 3` above, with `w = -ln(1 - x²)`.
const ERF_INV_NEAR: [f64; 9] = [
    1.50140941,
    0.246640727,
    -0.00417768164,
    -0.00125372503,
    0.00021858087,
    -4.39150654e-6,
    -3.5233877e-6,
    3.43273939e-7,
    2.81022636e-8,
];
const ERF_INV_FAR: [f64; 9] = [
    2.83297682,
    1.00167406,
    0.00943887047,
    -0.0076224613,
    0.00573950773,
    -0.00367342844,
    0.00134934322,
    0.000100950558,
    -0.000200214257,
];

impl Math<'_> {
    /// The logarithm of positive normal numbers.
    pub(super) fn log_single(&mut self, x: V) -> V {
        let (e, f) = self.split_mantissa(x);
        let square = self.mul(f, f);
        let cube = self.mul(square, f);
        let [high, middle, low] = LOG.map(|[a, b, c]| self.horner(f, &[c, b, a]));
        let sum = self.fma(high, cube, middle);
        let sum = self.fma(sum, cube, low);
        let rest = self.mulc(e, LN_2.1);
        let rest = self.fma(sum, cube, rest);
        let linear = self.fmac(square, -0.5, f);
        let sum = self.add(linear, rest);
        self.fmac(e, LN_2.0, sum)
    }

    pub(super) fn log1p_single(&mut self, x: V) -> V {
        let square = self.mul(x, x);
        let numerator = self.horner(x, &LOG1P_NUMERATOR);
        let denominator = self.horner(x, &LOG1P_DENOMINATOR);
        let quotient = self.div(numerator, denominator);
        let cube = self.mul(x, square);
        let rest = self.mul(cube, quotient);
        let rest = self.fmac(square, -0.5, rest);
        let near = self.add(x, rest);
        let sum = self.addc(x, 1.0);
        let far = self.log(sum);
        let magnitude = self.abs(x);
        let is_near = self.lt(magnitude, LOG1P_NEAR);
        self.select(is_near, near, far)
    }

    /// For numbers between -1 and 1.
    pub(super) fn erf_inv_single(&mut self, x: V) -> V {
        let square = self.mul(x, x);
        let negated = self.neg(square);
        let log = self.log1p_single(negated);
        let w = self.neg(log);
        let near_at = self.addc(w, -2.5);
        let near = self.horner(near_at, &ERF_INV_NEAR);
        let root = self.sqrt(w);
        let far_at = self.addc(root, -3.0);
        let far = self.horner(far_at, &ERF_INV_FAR);
        let is_near = self.lt(w, 5.0);
        let factor = self.select(is_near, near, far);
        self.mul(factor, x)
    }
}
