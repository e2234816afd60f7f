//! The multivariate normal distribution.

use std::f64::consts::PI;

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::declare::Object;
use crate::formula::{Formula, exp, log, promoted, square};
use crate::indexing::IndexItem;
use crate::lax::linalg::{Triangle, column, triangular_solve};
use crate::numpy;

/// The logarithm of the density at `x` of the multivariate normal distribution.
///
/// Args:
///   x: points `[..., n]`, or numbers.
///   mean: means `[..., n]`, or a number.
///   cov: positive definite covariances `[..., n, n]`, or the variance of every coordinate as a number. With a number
///     as the
///     mean, the variance of each number of `x`.
///   allow_singular: must be None.
/// Returns: `[...]`, of a floating dtype; NaN where `cov` is not positive definite.
/// Raises:
///   NotImplementedError: `allow_singular` is given.
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not go together.
/// Differentiable: yes, with respect to all three, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
///   -1.8379
#[public("scipy.stats.multivariate_normal.logpdf(x, mean, cov, allow_singular=None)")]
pub fn logpdf(x: &Val, mean: &Val, cov: &Val, allow_singular: Option<Object>) -> Result<Val> {
    if allow_singular.is_some() {
        bail!(NotImplemented, "allow_singular argument of multivariate_normal.logpdf");
    }
    let [x, mean, cov] = promoted("multivariate_normal.logpdf", [x, mean, cov])?;
    let [points, means, sizes] = [&x, &mean, &cov].map(|one| one.clone().done().map(|one| one.aval().shape.clone()));
    let (points, means, sizes) = (points?, means?, sizes?);
    let log_tau = (2.0 * PI).ln();
    let Some(&n) = means.last() else {
        return (-0.5 * square(&x - &mean) / &cov - 0.5 * (log_tau + log(&cov))).done();
    };
    if sizes.is_empty() {
        let y = (&x - &mean).done()?;
        let squares = Formula::from(numpy::einsum("...i,...i->...", &[y.clone(), y], None));
        return (-0.5 * (squares / &cov + n as i64 * (log_tau + log(&cov)))).done();
    }
    let (batch, core) = sizes.split_at(sizes.len().saturating_sub(2));
    if core != [n, n] {
        bail!(Value, "multivariate_normal.logpdf got incompatible shapes");
    }
    let root = numpy::linalg::cholesky(&cov.done()?, false, true)?;
    let outer = |shape: &[usize]| shape[..shape.len().saturating_sub(1)].to_vec();
    let batch = broadcast_shapes(&[&outer(&points), &outer(&means), batch])?;
    let y = broadcast_to(&(&x - &mean).done()?, &[&batch[..], &[n]].concat())?;
    let roots = broadcast_to(&root, &[&batch[..], &[n, n]].concat())?;
    let lower = Triangle { lower: true, ..Triangle::UPPER };
    let scaled = Formula::from(triangular_solve(&roots, &column(&y)?, lower));
    let scaled = scaled.at(&[IndexItem::Ellipsis, IndexItem::Int(0)]);
    let log_det = Formula::from(numpy::diagonal(&root, 0, [-2, -1])).then(numpy::log).sum(-1);
    (-0.5 * (&scaled * &scaled).sum(-1) - n as f64 / 2.0 * log_tau - log_det).done()
}

/// The density at `x` of the multivariate normal distribution: `exp(-y.T inv(cov) y / 2) / sqrt(det(2 pi cov))`, `y =
/// x - mean`.
///
/// Args:
///   x: points `[..., n]`, or numbers.
///   mean: means `[..., n]`, or a number.
///   cov: positive definite covariances `[..., n, n]`, or the variance of every coordinate as a number. With a number
///     as the
///     mean, the variance of each number of `x`.
/// Returns: `[...]`, of a floating dtype; NaN where `cov` is not positive definite.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not go together.
/// Differentiable: yes, with respect to all three, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.multivariate_normal.pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
///   0.1592
#[public("scipy.stats.multivariate_normal.pdf(x, mean, cov)")]
pub fn pdf(x: &Val, mean: &Val, cov: &Val) -> Result<Val> {
    exp(logpdf(x, mean, cov, None)).done()
}
