//! True values of functions in `float64`, and how far another number is from them: for tests and tables of accuracy.

use pullback_base::DType;

/// The distance in units of the last place of the true value; subnormals count as zero, NaN equals NaN.
pub(crate) fn distance(dtype: DType, got: f64, want: f64) -> f64 {
    let (least, digits, greatest) = if dtype == DType::F32 {
        (f32::MIN_POSITIVE.into(), 24, f32::MAX.into())
    } else {
        (f64::MIN_POSITIVE, 53, f64::MAX)
    };
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let is_rounded_up =
        want.abs() > greatest && got.abs() >= greatest || got.is_infinite() && want.abs() >= greatest * (1.0 - 1e-7);
    if got == want || is_rounded_up && got.signum() == want.signum() {
        return 0.0;
    }
    if want.abs() < least * 1.001 && got.abs() < least * 1.001 {
        return 0.0;
    }
    let exponent = libm::frexp(want.abs().max(least)).1;
    // Units of small `float64` numbers are below what a power can say: its reciprocal would be infinite.
    (got - want).abs() / libm::scalbn(1.0, exponent - digits)
}

/// `1 / (1 + e^-x)`.
pub(crate) fn logistic(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

/// The inverse of `erf` by Newton's method on `erfc` (tails) or `erf`.
pub(crate) fn erf_inv(x: f64) -> f64 {
    if x.abs() >= 1.0 || x.is_nan() {
        return if x.abs() == 1.0 { x * f64::INFINITY } else { f64::NAN };
    }
    let a = x.abs();
    let mut y = if a < 0.9 { a } else { (-(1.0 - a).ln()).sqrt() };
    for _ in 0..200 {
        let miss = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-y * y).exp();
        let step = (miss / slope).clamp(-0.3, 0.3);
        y -= step;
        if step.abs() <= 1e-16 * y {
            break;
        }
    }
    y.copysign(x)
}

/// The derivative of `ln Γ`: recurrence up to 30, then Stirling's series.
pub(crate) fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x == f64::NEG_INFINITY || x < 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        let turn = x - x.round();
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * turn).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 30.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z / 240.0)))
}
