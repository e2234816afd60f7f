//! Modified Bessel functions of the first kind, scaled: `e^-|x| I(x)` of orders 0 and 1.
//!
//! Below 20 by the power series, whose terms are all positive (Abramowitz and Stegun, 9.6.10); from there on by the
//! asymptotic expansion (9.7.1), whose least term is below the last place.

use pullback_loops::Unary as Op;

use super::Term;

/// From where on the expansion is as good as the series.
const FAR: f64 = 20.0;
/// Terms of the series that count up to [`FAR`].
const N_SERIES: u32 = 48;
/// Terms of the expansion that count from [`FAR`] on.
const N_EXPANSION: u32 = 30;

/// `e^-|x| I_order(|x|)`.
pub(super) fn scaled<'f>(x: Term<'f>, order: u32) -> Term<'f> {
    let size = x.abs();
    let far = size.number(FAR);
    let result = size.lt(far).choose(series(size.min(far), order), expansion(size.max(far), order));
    size.is_nan().choose(size, result)
}

/// `(x/2)^order Σ (x²/4)^k / (k! (k + order)!)`, innermost term first.
fn series<'f>(x: Term<'f>, order: u32) -> Term<'f> {
    let quarter = x * x * 0.25;
    let term = |sum: Term<'f>, k: u32| 1.0 + (quarter * sum) * (1.0 / f64::from(k * (k + order)));
    let sum = (1..=N_SERIES).rev().fold(x.number(1.0), term);
    let factor = if order == 0 { x.number(1.0) } else { x * 0.5 };
    factor * sum * (-x).unary(Op::Exp)
}

/// `1/sqrt(2πx) (1 - (m-1)/8x + (m-1)(m-9)/2!(8x)² - …)` with `m = 4 order²`, innermost term first.
fn expansion<'f>(x: Term<'f>, order: u32) -> Term<'f> {
    let inverse = 0.125 / x;
    let m = f64::from(4 * order * order);
    let term = |sum: Term<'f>, k: u32| {
        let odd = f64::from(2 * k - 1);
        1.0 - (inverse * sum) * ((m - odd * odd) / f64::from(k))
    };
    let sum = (1..=N_EXPANSION).rev().fold(x.number(1.0), term);
    sum / (x * std::f64::consts::TAU).sqrt()
}
