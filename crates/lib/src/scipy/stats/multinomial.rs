//! The multinomial distribution.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, gammaln, of, promoted, where_, xlogy};
use crate::promotion::promote_dtypes;

/// The logarithm of the probability of `x` in the multinomial distribution: of `n! / prod x! prod p**x`.
///
/// Args:
///   x: counts `[..., k]`, integers.
///   n: numbers of trials `[...]`; where the counts do not sum to them the probability is 0.
///   p: probabilities `[..., k]`.
/// Returns: `[...]`, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
///   ValueError: the counts or `n` are no integers.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.multinomial.logpmf(jnp.array([1, 2]), 3, jnp.array([0.25, 0.75]))), 4)
///   -0.863
#[public("scipy.stats.multinomial.logpmf(x, n, p)")]
pub fn logpmf(x: &Val, n: &Val, p: &Val) -> Result<Val> {
    let [p] = promoted("multinomial.logpmf", [p])?;
    let counts = promote_dtypes(&[x.clone(), n.clone()])?;
    let dtype = counts[0].aval().dtype;
    if !dtype.is_integer() {
        bail!(Value, "x and n must be of integer type; got x.dtype={dtype}, n.dtype={dtype}");
    }
    let (x, n) = (of(&counts[0]).typed_as(&p), of(&counts[1]).typed_as(&p));
    let value = gammaln(&n + 1) + (xlogy(&x, &p) - gammaln(&x + 1)).sum(-1);
    where_(x.sum(-1).is(&n), value, -f64::INFINITY).done()
}

/// The probability of `x` in the multinomial distribution: `n! / prod x! prod p**x`.
///
/// Args:
///   x: counts `[..., k]`, integers.
///   n: numbers of trials `[...]`; where the counts do not sum to them the probability is 0.
///   p: probabilities `[..., k]`.
/// Returns: `[...]`, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
///   ValueError: the counts or `n` are no integers.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.multinomial.pmf(jnp.array([1, 2]), 3, jnp.array([0.25, 0.75]))), 4)
///   0.4219
#[public("scipy.stats.multinomial.pmf(x, n, p)")]
pub fn pmf(x: &Val, n: &Val, p: &Val) -> Result<Val> {
    exp(logpmf(x, n, p)).done()
}
