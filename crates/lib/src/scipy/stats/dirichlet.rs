//! The Dirichlet distribution.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::Axes;
use crate::formula::{abs, at_least, exp, gammaln, of, where_, xlogy};
use crate::numpy::{self, Order, Reduction};
use crate::promotion::promote_inexact;
use pullback_base::aval::tuple_text;

/// The logarithm of the density at `x` of the Dirichlet distribution: of `prod x**(alpha - 1) gamma(sum alpha) / prod
/// gamma(alpha)`.
///
/// Args:
///   x: points `[k, ...]` with positive coordinates that sum to 1, else the density is 0; or `[k - 1, ...]`, without
///     the last.
///   alpha: positive concentrations `[k]`.
/// Returns: `[...]`, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
///   ValueError: `alpha` is no vector, or `x` has another number of coordinates.
/// Differentiable: yes, with respect to `x` and `alpha`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.dirichlet.logpdf(jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0]))), 4)
///   0.5232
#[public("scipy.stats.dirichlet.logpdf(x, alpha)")]
pub fn logpdf(x: &Val, alpha: &Val) -> Result<Val> {
    let found = promote_inexact(&[x.clone(), alpha.clone()])?;
    let (mut x, alpha) = (of(&found[0]), of(&found[1]));
    let (shape, sizes) = (found[0].aval().shape.clone(), found[1].aval().shape.clone());
    if sizes.len() != 1 {
        bail!(Value, "`alpha` must be one-dimensional; got alpha.shape={}", tuple_text(&sizes));
    }
    let (Some(&given), n) = (shape.first(), sizes[0]) else {
        bail!(Index, "tuple index out of range");
    };
    if given != n && given + 1 != n {
        bail!(
            Value,
            "`x` must have either the same number of entries as `alpha` or one entry fewer; got x.shape={}, \
             alpha.shape={}",
            tuple_text(&shape),
            tuple_text(&sizes)
        );
    }
    if given != n {
        let rest = x.then(|x| numpy::sum(x, &Reduction::over(Axes::One(0), true)));
        let rest = at_least(1 - rest, 0).done()?;
        x = numpy::concatenate(&[x.done()?, rest], Some(0), None).into();
    }
    let column: Vec<i64> = std::iter::once(-1).chain(shape[1..].iter().map(|_| 1)).collect();
    let alpha = alpha.then(|alpha| numpy::reshape(alpha, &column, Order::RowMajor));
    let constant = gammaln(&alpha).total() - gammaln(alpha.total());
    let value = xlogy(&alpha - 1, &x).sum(0) - constant;
    let is_positive = x.gt(0).then(|x| numpy::all(x, &Reduction::over(Axes::One(0), false)));
    let is_inside = is_positive & abs(x.sum(0) - 1).lt(1e-6);
    where_(is_inside, value, -f64::INFINITY).done()
}

/// The density at `x` of the Dirichlet distribution: `prod x**(alpha - 1) gamma(sum alpha) / prod gamma(alpha)`.
///
/// Args:
///   x: points `[k, ...]` with positive coordinates that sum to 1, else the density is 0; or `[k - 1, ...]`, without
///     the last.
///   alpha: positive concentrations `[k]`.
/// Returns: `[...]`, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
///   ValueError: `alpha` is no vector, or `x` has another number of coordinates.
/// Differentiable: yes, with respect to `x` and `alpha`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.dirichlet.pdf(jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0]))), 4)
///   1.6875
#[public("scipy.stats.dirichlet.pdf(x, alpha)")]
pub fn pdf(x: &Val, alpha: &Val) -> Result<Val> {
    exp(logpdf(x, alpha)).done()
}
