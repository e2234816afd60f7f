//! The regularized incomplete beta function by its continued fraction (Abramowitz and Stegun, 26.5.8), evaluated by
//! Lentz's method; to the right of the mean by the symmetry `I_x(a, b) = 1 - I_{1-x}(b, a)`.

use pullback_loops::Unary as Op;

use super::{EPSILON, LIMIT, Term};

const TINY: f64 = 1e-300;

/// `ln B(a, b)`.
fn log_beta<'f>(a: Term<'f>, b: Term<'f>) -> Term<'f> {
    a.unary(Op::Lgamma) + b.unary(Op::Lgamma) - (a + b).unary(Op::Lgamma)
}

/// The function in `float64`.
pub(super) fn incomplete_beta<'f>(a: Term<'f>, b: Term<'f>, x: Term<'f>) -> Term<'f> {
    let (zero, one) = (x.number(0.0), x.number(1.0));
    let is_size = |v: Term<'f>| v.gt(zero) & v.is_infinite().opposite();
    let is_inner = x.gt(zero) & x.lt(one) & is_size(a) & is_size(b);
    let is_right = x.gt((a + 1.0) / (a + b + 2.0));
    let (p, q) = (is_right.choose(b, a), is_right.choose(a, b));
    let (y, log_y) = (is_right.choose(1.0 - x, x), is_right.choose((-x).unary(Op::Log1p), x.log()));
    let log_rest = is_right.choose(x.log(), (-x).unary(Op::Log1p));
    let front = (p * log_y + q * log_rest - log_beta(a, b)).exp() / p;
    let part = front * fraction(p, q, y, is_inner);
    let value = is_right.choose(1.0 - part, part);
    // All of the weight at one end.
    let (is_low, is_high) = (a.eq(zero) | b.is_infinite(), b.eq(zero) | a.is_infinite());
    let value = value.when(is_low, 1.0).when(is_high, 0.0);
    let value = value.when(x.eq(zero), 0.0).when(x.eq(one), 1.0);
    let is_out = x.lt(zero) | x.gt(one) | a.lt(zero) | b.lt(zero) | (is_low & is_high);
    let is_nan = a.is_nan() | b.is_nan() | x.is_nan();
    value.when(is_out | is_nan, f64::NAN)
}

fn away_from_zero(x: Term<'_>) -> Term<'_> {
    x.abs().lt(x.number(TINY)).choose(x.number(TINY), x)
}

fn fraction<'f>(a: Term<'f>, b: Term<'f>, x: Term<'f>, is_inner: Term<'f>) -> Term<'f> {
    let (zero, one) = (x.number(0.0), x.number(1.0));
    let d = one / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let ends = Term::iterate(
        &[one, d, d, one, zero],
        |v| is_inner & v[3].abs().gt(v[3].number(EPSILON)) & v[4].lt(v[4].number(LIMIT)),
        |v| {
            let m = v[4] + 1.0;
            let twice = m * 2.0;
            let step = |numerator: Term<'f>, c: Term<'f>, d: Term<'f>| {
                (away_from_zero(1.0 + numerator / c), one / away_from_zero(1.0 + numerator * d))
            };
            let even = m * (b - m) * x / ((a + twice - 1.0) * (a + twice));
            let (c, d) = step(even, v[0], v[1]);
            let value = v[2] * (c * d);
            let odd = -((a + m) * (a + b + m) * x) / ((a + twice) * (a + twice + 1.0));
            let (c, d) = step(odd, c, d);
            vec![c, d, value * (c * d), c * d - 1.0, m]
        },
    );
    ends[2]
}
