//! The error function, its complement and its inverse.
//!
//! `erfc(x) = e^{-x²} · erfcx(x)`, the second factor a polynomial in `(x-2)/(x+2)` over `1 + 2x` (the substitution of
//! Schonfelder, Math. Comp. 32, 1978). The inverse is a function of `ln(1-x²)` in pieces, after M. Giles,
//! "Approximating the erfinv function", GPU Computing Gems, 2012, with coefficients of our own.

use super::coefficients::{ERF, ERF_INV, ERF_INV_FAR, ERF_INV_TAIL, ERF_PIECE, ERF_PIECES, ERFCX};
use super::math::Math;
use crate::program::ValueId;

type V = ValueId;

const TWO_OVER_ROOT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

impl Math<'_> {
    fn erf_near_zero(&mut self, a: V) -> V {
        let z = self.mul(a, a);
        let p = self.poly(z, &ERF);
        let slope = self.choose(f64::from(TWO_OVER_ROOT_PI as f32), TWO_OVER_ROOT_PI);
        let (lead, low) = (self.c(slope), TWO_OVER_ROOT_PI - slope);
        let product = self.mul(a, lead);
        let error = self.product_error(a, lead, product);
        let error = self.fmac(a, low, error);
        let cube = self.mul(a, z);
        let rest = self.fma(cube, p, error);
        self.add(product, rest)
    }

    pub(super) fn erf(&mut self, x: V) -> V {
        if self.is_single() {
            return self.erf_in_pieces(x);
        }
        let a = self.abs(x);
        let small = self.erf_near_zero(a);
        let complement = self.erfc_of_positive(a);
        let large = self.csub(1.0, complement);
        let is_small = self.lt(a, 0.95);
        let result = self.select(is_small, small, large);
        self.with_sign(result, x)
    }

    /// A polynomial in each of 16 pieces, from the last of which on it is 1. In the first one it is `x + x·p(x)`, so that
    /// small numbers keep their digits.
    fn erf_in_pieces(&mut self, x: V) -> V {
        let a = self.abs(x);
        let kept = self.minc(a, 4.0);
        let piece = self.piece(kept, ERF_PIECE);
        let [start, higher @ ..] = &ERF_PIECES;
        let p = self.poly_of_piece(piece, higher);
        let start = self.of_piece(piece, start);
        let is_first = self.eq(piece.number, 0.0);
        let start = self.select(is_first, piece.rest, start);
        let result = self.fma(p, piece.rest, start);
        self.with_sign(result, x)
    }

    /// The complement for numbers that are not negative.
    fn erfc_of_positive(&mut self, a: V) -> V {
        let a = self.minc(a, self.choose(10.5, 27.5));
        let above = self.addc(a, 2.0);
        let below = self.addc(a, -2.0);
        let t = self.div(below, above);
        let g = self.poly(t, &ERFCX);
        let square = self.mul(a, a);
        let square_error = self.product_error(a, a, square);
        let (minus_square, minus_error) = (self.neg(square), self.neg(square_error));
        let e = self.exp_scaled(minus_square, Some(minus_error), 0.0);
        let denominator = {
            let one = self.c(1.0);
            self.fmac(a, 2.0, one)
        };
        let product = self.mul(e, g);
        self.div(product, denominator)
    }

    pub(super) fn erfc(&mut self, x: V) -> V {
        let a = self.abs(x);
        let right = self.erfc_of_positive(a);
        let left = self.csub(2.0, right);
        let is_left = self.lt(x, 0.0);
        let far = self.select(is_left, left, right);
        let near = self.erf_near_zero(x);
        let near = self.csub(1.0, near);
        let is_near = self.lt(a, 0.5);
        self.select(is_near, near, far)
    }

    /// For numbers between -1 and 1.
    fn erf_inv_double(&mut self, x: V) -> V {
        let one = self.c(1.0);
        let rest = self.fnma(x, x, one);
        let log = self.log(rest);
        let w = self.neg(log);
        let root = self.sqrt(w);
        let center = self.poly(w, &ERF_INV);
        let tail_at = self.addc(root, -3.25);
        let tail = self.poly(tail_at, &ERF_INV_TAIL);
        let far_at = self.addc(root, -5.0);
        let far = self.poly(far_at, &ERF_INV_FAR);
        let is_far = self.gt(root, 4.0);
        // The factor is the root but for a twentieth, so that errors of the polynomials count little.
        let beyond = self.select(is_far, far, tail);
        let outer = self.add(root, beyond);
        let is_center = self.lt(w, 5.5);
        let factor = self.select(is_center, center, outer);
        self.mul(factor, x)
    }

    pub(super) fn erf_inv(&mut self, x: V) -> V {
        let result = if self.is_single() { self.erf_inv_single(x) } else { self.erf_inv_double(x) };
        let a = self.abs(x);
        let is_end = self.eq(a, 1.0);
        let infinite = self.mulc(x, f64::INFINITY);
        let result = self.select(is_end, infinite, result);
        let is_outside = self.gt(a, 1.0);
        self.whenc(is_outside, f64::NAN, result)
    }
}
