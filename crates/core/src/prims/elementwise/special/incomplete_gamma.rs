//! The regularized incomplete gamma functions and their derivative in the first argument.
//!
//! To the right of `max(1, a)` by the continued fraction of the upper function (Abramowitz and Stegun, 6.5.31), else by
//! the series of the lower one (6.5.29). The derivative is that of the series or fraction, term by term (R. J. Moore,
//! "Algorithm AS 187: Derivatives of the incomplete gamma integral", 1982).

use pullback_loops::Unary as Op;

use super::{EPSILON, LIMIT, Term};

/// `Σ B_2k / (2k (2k-1) a^(2k-1))`, what Stirling's formula leaves, in powers of `1/a²`.
const STIRLING: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1_260.0, -1.0 / 1_680.0, 1.0 / 1_188.0, -691.0 / 360_360.0, 1.0 / 156.0];
/// What stands for zero in a denominator of the continued fraction.
const TINY: f64 = 1e-300;

/// One pair of arguments, and on which side it lies.
#[derive(Clone, Copy)]
pub(super) struct Point<'f> {
    a: Term<'f>,
    x: Term<'f>,
    is_right: Term<'f>,
}

impl<'f> Point<'f> {
    pub(super) fn new(a: Term<'f>, x: Term<'f>) -> Point<'f> {
        Point { a, x, is_right: x.gt(x.number(1.0)) & x.gt(a) & x.is_infinite().opposite() }
    }

    /// `x^a e^-x / Γ(a)`; for great `a` by Stirling's formula, in which nothing cancels.
    fn prefactor(self) -> Term<'f> {
        let Point { a, x, .. } = self;
        let plain = (a * x.log() - x - a.unary(Op::Lgamma)).exp();
        let distance = (x - a) / a;
        let exponent = a * (distance.unary(Op::Log1p) - distance);
        let inverse = 1.0 / a;
        let rest = inverse * (inverse * inverse).polynomial(&STIRLING);
        let great = (a * (1.0 / std::f64::consts::TAU)).sqrt() * (exponent - rest).exp();
        a.ge(a.number(10.0)).choose(great, plain)
    }

    /// `1 + x/(a+1) + x²/(a+1)(a+2) + …`, with its derivative in `a`.
    fn series(self) -> (Term<'f>, Term<'f>) {
        let Point { a, x, is_right } = self;
        let (zero, one) = (a.number(0.0), a.number(1.0));
        let is_left = is_right.opposite() & x.is_infinite().opposite() & a.is_infinite().opposite();
        let sums = Term::iterate(
            &[a, one, one, zero, zero, zero],
            |v| {
                let goes_on = v[1].gt(v[2] * EPSILON) | v[3].abs().gt(v[4].abs() * EPSILON);
                goes_on & is_left & v[5].lt(v[5].number(LIMIT))
            },
            |v| {
                let r = v[0] + 1.0;
                let ratio = x / r;
                let (term, slope) = (v[1] * ratio, (v[3] - v[1] / r) * ratio);
                vec![r, term, v[2] + term, slope, v[4] + slope, v[5] + 1.0]
            },
        );
        (sums[2], sums[4])
    }

    /// The continued fraction by its numerators and denominators, scaled to keep the denominator 1, with its derivative.
    fn fraction(self) -> (Term<'f>, Term<'f>) {
        let Point { a, x, is_right } = self;
        let (zero, one) = (a.number(0.0), a.number(1.0));
        let first = x + 1.0 - a;
        let slope = one / first;
        // Numerator, denominator and derivatives: the last (whose denominator is 1), then those before.
        let inits = [slope, -slope, zero, slope, zero, zero, zero, zero, x.number(f64::INFINITY)];
        let value = |v: &[Term<'f>]| (v[0], v[2] - v[0] * v[1]);
        let ends = Term::iterate(
            &inits,
            |v| v[7].lt(v[7].number(LIMIT)) & v[8].gt(v[8].number(EPSILON)) & is_right,
            |v| {
                let k = v[7] + 1.0;
                let (b, c) = (first + k * 2.0, -(k * (k - a)));
                let p = b * v[0] + c * v[4];
                let q = b + c * v[3];
                let p_slope = b * v[2] - v[0] + c * v[5] + k * v[4];
                let q_slope = b * v[1] - one + c * v[6] + k * v[3];
                let q = q.eq(zero).choose(q.number(TINY), q);
                let next = [p / q, q_slope / q, p_slope / q];
                let (old, old_slope) = value(v);
                let (new, new_slope) = value(&next);
                let change = ((new - old) / new).abs().max(((new_slope - old_slope) / new_slope).abs());
                let change = change.is_nan().choose(((new - old) / new).abs(), change);
                vec![next[0], next[1], next[2], one / q, v[0] / q, v[2] / q, v[1] / q, k, change]
            },
        );
        value(&ends)
    }

    /// Outside of the domain no number; NaN stays.
    fn guarded(self, result: Term<'f>) -> Term<'f> {
        let Point { a, x, .. } = self;
        let zero = a.number(0.0);
        let is_corner = (a.eq(zero) & x.eq(zero)) | (a.is_infinite() & x.is_infinite());
        let is_out = x.lt(zero) | a.lt(zero) | is_corner | a.is_nan() | x.is_nan();
        result.when(is_out, f64::NAN)
    }

    /// The value at the ends: where `x` is at the left of everything, and where at the right.
    fn at_ends(self, inside: Term<'f>, left: f64, right: f64) -> Term<'f> {
        let Point { a, x, .. } = self;
        let zero = a.number(0.0);
        let value = inside.when(x.eq(zero) | a.is_infinite(), left);
        self.guarded(value.when(x.is_infinite() | a.eq(zero), right))
    }

    /// The lower function `P` by the series and the upper one by the fraction.
    fn sides(self) -> (Term<'f>, Term<'f>) {
        let prefactor = self.prefactor();
        let left = prefactor / self.a * self.series().0;
        let right = prefactor * self.fraction().0;
        (left, right)
    }

    /// `P(a, x)`.
    pub(super) fn lower(self) -> Term<'f> {
        let (left, right) = self.sides();
        let value = self.is_right.choose(1.0 - right, left);
        self.at_ends(value, 0.0, 1.0)
    }

    /// `Q(a, x)`.
    pub(super) fn upper(self) -> Term<'f> {
        let (left, right) = self.sides();
        let value = self.is_right.choose(right, 1.0 - left);
        self.at_ends(value, 1.0, 0.0)
    }

    /// `∂P/∂a` over `x^a e^-x / Γ(a)`.
    fn scaled_slope(self) -> Term<'f> {
        let Point { a, x, .. } = self;
        let log = x.log();
        let (sum, sum_slope) = self.series();
        let left = (sum_slope + sum * (log - (a + 1.0).unary(Op::Digamma))) / a;
        let (fraction, fraction_slope) = self.fraction();
        let right = -(fraction_slope + fraction * (log - a.unary(Op::Digamma)));
        self.is_right.choose(right, left)
    }

    fn slope_at_ends(self, inside: Term<'f>) -> Term<'f> {
        let Point { a, x, .. } = self;
        let value = inside.when(x.eq(x.number(0.0)) | x.is_infinite(), 0.0);
        self.guarded(value).when(a.eq(a.number(0.0)), f64::NAN)
    }

    /// `∂P/∂a`.
    pub(super) fn slope(self) -> Term<'f> {
        self.slope_at_ends(self.prefactor() * self.scaled_slope())
    }

    /// `-∂P/∂a / ∂P/∂x`: how a sample `x` of the distribution moves with `a`.
    pub(super) fn sample_slope(self) -> Term<'f> {
        self.slope_at_ends(-(self.x * self.scaled_slope()))
    }
}
