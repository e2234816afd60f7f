//! Circular functions: `sin`, `cos`, `tan`.
//!
//! The argument goes to `[-π/4, π/4]` and a quadrant. `float32` reduces in `float64`, where `x - n·π/2` is exact in
//! its leading part up to `2^45`. Beyond, `x = a · 2^k` with an integer `a` below `2^45` is congruent to
//! `a · (2^k mod 2π)`, which is of that size. `float64` beyond takes the bits of `2/π` that matter from a table by the
//! exponent (Payne and Hanek).

use pullback_base::{Array, DType, Scalar};

use super::coefficients::{COS, SIN};
use super::math::Math;
use crate::program::{Addr, Binary, BufferId, Comparison, Extent, Role, ValueId};

type V = ValueId;

/// π/2 in two parts.
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
/// Adding it rounds to an integer, which then stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Below, `x - n·π/2` is exact in its leading part.
const LARGE: f64 = 35_184_372_088_832.0;
/// Steps of `float32` reduction: exponent `k`, and `2^k mod 2π` in two parts; each for `|x|` from `2^(k+23)` on.
const STEPS: [(i32, f64, f64); 4] = [
    (22, 1.347_304_110_124_847_3, 8.799_091_310_765_27e-17),
    (43, -2.941_184_965_835_546, 1.376_998_111_988_284_5e-16),
    (64, 3.117_991_952_841_885_4, 4.661_047_956_453_333e-17),
    (85, -1.606_110_222_823_117, 3.701_656_205_033_981_6e-17),
];

/// The bits of `2/π` after the point.
#[rustfmt::skip]
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0, 0x0649_2eea_09d1_921c, 0xfe1d_eb1c_b129_a73e, 0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41, 0x3991_d639_8353_39f4, 0x9c84_5f8b_bdf9_283b, 0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f, 0x6d36_7ecf_27cb_09b7, 0x4f46_3f66_9e5f_ea2d, 0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea, 0x6bfb_5fb1_1f8d_5d08, 0x5603_3046_fc7b_6bab, 0xf0cf_bc20_9af4_361d,
];
/// The least exponent in the table.
const TABLE_START: i32 = 45;

/// Bits `[start, start + 53)` of `2/π` as an integer; bits before the point are zero.
fn window(start: i32) -> u64 {
    let bit = |at: i32| match usize::try_from(at) {
        Ok(at) => TWO_OVER_PI[at / 64] >> (63 - at % 64) & 1,
        Err(_) => 0,
    };
    (start..start + 53).fold(0, |bits, at| bits << 1 | bit(at))
}

/// Parts of an entry of the table. An argument may be as near to a multiple of π/2 as `2^-61`, so that with three parts
/// less than 50 bits would be left of it.
const N_PARTS: i32 = 4;

/// For each exponent `e`: `2^(e-52) · 2/π mod 4` in parts of 53 bits.
fn quadrant_table() -> Array {
    let parts = (TABLE_START..1024).flat_map(|e| {
        (0..N_PARTS).map(move |part| {
            let bits = window(e - 54 + 53 * part) as f64;
            Scalar::float(DType::F64, bits * 2f64.powi(2 - 53 * (part + 1)))
        })
    });
    let n = ((1024 - TABLE_START) * N_PARTS) as usize;
    Array::from_scalars(&[n], DType::F64, parts)
}

/// An argument less multiples of π/2.
struct Reduced {
    /// In about `[-π/4, π/4]`.
    r: V,
    /// What rounding took from `r`; none in `float32`.
    low: Option<V>,
    /// The multiple, as an integer; only its low two bits count.
    quadrant: V,
}

impl Math<'_> {
    pub(super) fn sin(&mut self, x: V) -> V {
        let (sin, cos, quadrant) = self.sin_cos(x);
        let result = self.by_quadrant(sin, cos, quadrant);
        let sign = self.sign_bits(x);
        self.flip_sign(result, sign)
    }

    pub(super) fn cos(&mut self, x: V) -> V {
        let (sin, cos, quadrant) = self.sin_cos(x);
        // cos x = sin(x + π/2).
        let quadrant = self.integer_op(Binary::Add, quadrant, 1);
        self.by_quadrant(sin, cos, quadrant)
    }

    pub(super) fn tan(&mut self, x: V) -> V {
        let (sin, cos, quadrant) = self.sin_cos(x);
        let is_odd = self.is_bit_set(quadrant, 0);
        let minus_cos = self.neg(cos);
        let (numerator, denominator) = (self.select(is_odd, minus_cos, sin), self.select(is_odd, sin, cos));
        let result = self.div(numerator, denominator);
        let sign = self.sign_bits(x);
        self.flip_sign(result, sign)
    }

    fn is_bit_set(&mut self, x: V, bit: u32) -> V {
        let masked = self.integer_op(Binary::And, x, 1 << bit);
        let zero = self.int(0);
        self.compare(Comparison::Ne, masked, zero)
    }

    /// `sin(r + quadrant · π/2)` of the sine and cosine of `r`.
    fn by_quadrant(&mut self, sin: V, cos: V, quadrant: V) -> V {
        let is_odd = self.is_bit_set(quadrant, 0);
        let result = self.select(is_odd, cos, sin);
        let second = self.integer_op(Binary::And, quadrant, 2);
        let to_sign = i128::from(self.choose(30, 62));
        let sign = self.integer_op(Binary::ShiftLeft, second, to_sign);
        self.flip_sign(result, sign)
    }

    /// Sine and cosine of the rest of `|x|`, and the quadrant.
    fn sin_cos(&mut self, x: V) -> (V, V, V) {
        let x = self.abs(x);
        let Reduced { r, low, quadrant } = if self.is_single() { self.reduce_single(x) } else { self.reduce_double(x) };
        let z = self.mul(r, r);
        let (p, q) = (self.poly(z, &SIN), self.poly(z, &COS));
        let cube = self.mul(z, r);
        let half = self.mulc(z, -0.5);
        let fourth = self.mul(z, z);
        let Some(low) = low else {
            let one = self.addc(half, 1.0);
            return (self.fma(cube, p, r), self.fma(fourth, q, one), quadrant);
        };
        let rest = self.fma(cube, p, low);
        let sin = self.add(r, rest);
        let one = self.addc(half, 1.0);
        let lost = {
            let kept = self.addc(one, -1.0);
            self.sub(half, kept)
        };
        let rest = self.fma(fourth, q, lost);
        let rest = self.fnma(r, low, rest);
        (sin, self.add(one, rest), quadrant)
    }

    fn reduce_single(&mut self, x: V) -> Reduced {
        let x = self.doubled(x);
        let mut m = self.double();
        let (high, low) = m.bring_down(x);
        let rounder = m.c(ROUNDER);
        let shifted = m.fmac(high, std::f64::consts::FRAC_2_PI, rounder);
        let n = m.sub(shifted, rounder);
        let r = m.fmac(n, -HALF_PI.0, high);
        let r = m.fmac(n, -HALF_PI.1, r);
        let r = m.add(r, low);
        let quadrant = m.bits(shifted);
        Reduced { r: self.rounded(r), low: None, quadrant: self.b.convert(DType::I32, quadrant) }
    }

    /// A number below 2^48 congruent to the `float32` number `x` modulo 2π, in two parts.
    fn bring_down(&mut self, x: V) -> (V, V) {
        let [mut unit, mut high, mut low] = [1.0, 1.0, 0.0].map(|c| self.c(c));
        for (k, c_high, c_low) in STEPS {
            let is_beyond = {
                let bound = self.c(2f64.powi(k + 23));
                self.compare(Comparison::Ge, x, bound)
            };
            unit = self.whenc(is_beyond, 2f64.powi(-k), unit);
            high = self.whenc(is_beyond, c_high, high);
            low = self.whenc(is_beyond, c_low, low);
        }
        let a = self.mul(x, unit);
        let product = self.mul(a, high);
        let error = self.product_error(a, high, product);
        (product, self.fma(a, low, error))
    }

    fn reduce_double(&mut self, x: V) -> Reduced {
        let quotient = self.mulc(x, std::f64::consts::FRAC_2_PI);
        let n = self.round(quotient);
        let high = self.fmac(n, -HALF_PI.0, x);
        let half_pi_low = self.c(HALF_PI.1);
        let product = self.mul(n, half_pi_low);
        let product_error = self.product_error(n, half_pi_low, product);
        let r = self.sub(high, product);
        let minus_product = self.neg(product);
        let error = self.sum_error(high, minus_product, r);
        let low = self.sub(error, product_error);
        // The third part of π/2.
        let low = self.fmac(n, 1.497_384_904_859_169_8e-33, low);
        let (far_n, far_r, far_low) = self.reduce_far(x);
        let bound = self.c(LARGE);
        let is_near = self.compare(Comparison::Lt, x, bound);
        let n = self.select(is_near, n, far_n);
        let quadrant = self.addc(n, ROUNDER);
        Reduced {
            r: self.select(is_near, r, far_r),
            low: Some(self.select(is_near, low, far_low)),
            quadrant: self.bits(quadrant),
        }
    }

    /// `x = a · 2^(e-52)` with an integer `a`; `a` times the table's entry is `x` in quadrants, but for multiples of 4.
    fn reduce_far(&mut self, x: V) -> (V, V, V) {
        let bits = self.bits(x);
        let biased = self.integer_op(Binary::ShiftRightLogical, bits, 52);
        let row = self.integer_op(Binary::Sub, biased, i128::from(1023 + TABLE_START));
        let row = self.integer_op(Binary::Max, row, 0);
        let row = self.integer_op(Binary::Min, row, i128::from(1023 - TABLE_START));
        let start = self.integer_op(Binary::Mul, row, N_PARTS.into());
        let table = self.quadrants();
        let load = |base| self.b.load(table, Addr { base, offset: Some(start), ..Addr::default() });
        let t = [0, 1, 2, 3].map(load);
        let fraction = self.integer_op(Binary::And, bits, (1 << 52) - 1);
        let a_bits = self.integer_op(Binary::Or, fraction, (1023 + 52) << 52);
        let a = self.float(a_bits);
        let [(first, first_error), (second, second_error), (third, third_error)] =
            [t[0], t[1], t[2]].map(|part| self.exact_product(a, part));
        let quarter = self.mulc(first, 0.25);
        let fours = self.round(quarter);
        let first = self.fmac(fours, -4.0, first);
        // Up to 8, up to 2^-50, and the rest.
        let (high, error) = self.two_sum(first, first_error);
        let (high, low) = self.two_sum(high, second);
        let (low, error) = self.two_sum(low, error);
        let (low, second_rest) = self.two_sum(low, second_error);
        let (low, third_rest) = self.two_sum(low, third);
        let rests = [second_rest, third_rest, third_error];
        let rest = rests.into_iter().fold(error, |sum, rest| self.add(sum, rest));
        let rest = self.fma(a, t[3], rest);
        let n = self.round(high);
        let fraction = self.sub(high, n);
        let (y, y_low) = self.two_sum(fraction, low);
        let y_low = self.add(y_low, rest);
        let half_pi = self.c(HALF_PI.0);
        let r = self.mul(y, half_pi);
        let r_low = self.product_error(y, half_pi, r);
        let r_low = self.fmac(y, HALF_PI.1, r_low);
        let r_low = self.fma(y_low, half_pi, r_low);
        // Infinity has an exponent beyond the table; it and NaN give NaN.
        let nothing = self.sub(x, x);
        (n, self.add(r, nothing), r_low)
    }

    pub(super) fn two_sum(&mut self, x: V, y: V) -> (V, V) {
        let sum = self.add(x, y);
        (sum, self.sum_error(x, y, sum))
    }

    fn exact_product(&mut self, x: V, y: V) -> (V, V) {
        let product = self.mul(x, y);
        (product, self.product_error(x, y, product))
    }

    /// The table of `2/π`, made once for a program.
    fn quadrants(&mut self) -> BufferId {
        let b = &mut *self.b;
        *self.quadrants.get_or_insert_with(|| {
            let table = quadrant_table();
            let len = Extent::Const(table.shape()[0] as i64);
            b.buffer(DType::F64, len, Role::Const(table))
        })
    }
}
