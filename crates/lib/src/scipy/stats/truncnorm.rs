//! The truncated normal distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use super::norm;
use crate::broadcast::broadcast_arrays;
use crate::convert::weak_int;
use crate::formula::{Formula, exp, log, log_ndtr, log1p, minimum, ndtr, of, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The values in one shape.
fn together<const N: usize>(xs: [Formula; N]) -> [Formula; N] {
    let vals: Result<Vec<Val>> = xs.clone().into_iter().map(Formula::done).collect();
    match vals.and_then(|vals| broadcast_arrays(&vals)) {
        Ok(alike) => std::array::from_fn(|i| of(&alike[i])),
        Err(error) => std::array::from_fn(|_| Formula::from(Err(error.clone()))),
    }
}

/// The logarithm of the probability that a standard normal number lies between `a` and `b`, exact in both tails.
fn log_mass(a: &Formula, b: &Formula) -> Formula {
    let [a, b] = together([a.clone(), b.clone()]);
    let (is_left, is_right) = (b.le(0), a.gt(0));
    let left = log_difference(&log_ndtr(&b), &log_ndtr(&a));
    let right = log_difference(&log_ndtr(-&a), &log_ndtr(-&b));
    let middle = log1p(-ndtr(&a) - ndtr(-&b));
    where_(is_left, left, where_(is_right, right, middle))
}

/// `log(exp(x) - exp(y))` for `x >= y`.
fn log_difference(x: &Formula, y: &Formula) -> Formula {
    x + log1p(-exp(minimum(y - x, 0)))
}

/// The logarithm of the density at `x` of the truncated normal distribution: of `norm.pdf(x) / (norm.cdf(b) -
/// norm.cdf(a)) on a to b`.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.logpdf(0.5, -1.0, 2.0)), 4)
///   -0.8438
#[public("scipy.stats.truncnorm.logpdf(x, a, b, loc=0, scale=1)")]
pub fn logpdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("truncnorm.logpdf", [x, a, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    let density = norm::logpdf(&y.clone().done()?, &weak_int(0), &weak_int(1));
    let value = Formula::from(density) - log_mass(&a, &b) - log(&scale);
    let value = where_(y.lt(&a) | y.gt(&b), -INF, value);
    where_(a.ge(&b), NAN, value).done()
}

/// The density at `x` of the truncated normal distribution: `norm.pdf(x) / (norm.cdf(b) - norm.cdf(a)) on a to b`.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.pdf(0.5, -1.0, 2.0)), 4)
///   0.4301
#[public("scipy.stats.truncnorm.pdf(x, a, b, loc=0, scale=1)")]
pub fn pdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, a, b, loc, scale)).done()
}

/// The logarithm of the probability of more than `x` in the truncated normal distribution.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.logsf(0.5, -1.0, 2.0)), 4)
///   -1.0523
#[public("scipy.stats.truncnorm.logsf(x, a, b, loc=0, scale=1)")]
pub fn logsf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("truncnorm.logsf", [x, a, b, loc, scale])?;
    logcdf(&(-&x).done()?, &(-&b).done()?, &(-&a).done()?, &(-&loc).done()?, &scale.clone().done()?)
}

/// The probability of more than `x` in the truncated normal distribution.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.sf(0.5, -1.0, 2.0)), 4)
///   0.3491
#[public("scipy.stats.truncnorm.sf(x, a, b, loc=0, scale=1)")]
pub fn sf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logsf(x, a, b, loc, scale)).done()
}

/// The logarithm of the probability of at most `x` in the truncated normal distribution.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.logcdf(0.5, -1.0, 2.0)), 4)
///   -0.4294
#[public("scipy.stats.truncnorm.logcdf(x, a, b, loc=0, scale=1)")]
pub fn logcdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("truncnorm.logcdf", [x, a, b, loc, scale])?;
    let [x, a, b] = together([(&x - &loc) / &scale, a, b]);
    let value = log_mass(&a, &x) - log_mass(&a, &b);
    let rest = log_mass(&x, &b) - log_mass(&a, &b);
    // Near the upper end the complement is exact.
    let value = where_(value.gt(-0.1), log1p(-exp(&rest)), &value);
    let value = where_(x.le(&a), -INF, where_(x.ge(&b), 0.0, value)).typed_as(&x);
    where_(a.ge(&b), NAN, value).done()
}

/// The probability of at most `x` in the truncated normal distribution.
///
/// Args:
///   x: real numbers.
///   a: lower bounds, before `loc` and `scale`; `-inf` for none.
///   b: upper bounds, greater than `a` (else NaN); `inf` for none.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.truncnorm.cdf(0.5, -1.0, 2.0)), 4)
///   0.6509
#[public("scipy.stats.truncnorm.cdf(x, a, b, loc=0, scale=1)")]
pub fn cdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logcdf(x, a, b, loc, scale)).done()
}
