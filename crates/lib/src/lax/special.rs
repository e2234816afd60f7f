//! Special functions of single elements: error, gamma, beta, Bessel and zeta functions.

use pullback_base::{Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use crate::primitive::Bind;

unary! {
    /// The modified Bessel function of order 0, scaled: `exp(-|x|) I0(x)` (DLMF 10.25).
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes, with derivative `bessel_i1e(x) - sign(x) bessel_i0e(x)`.
    /// Example:
    ///   >>> lax.bessel_i0e(jnp.array([0.0]))
    ///   Array([1.], dtype=float32)
    #[public("lax.bessel_i0e(x)")]
    fn bessel_i0e BESSEL_I0E;

    /// The modified Bessel function of order 1, scaled: `exp(-|x|) I1(x)` (DLMF 10.25).
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes; the derivative at 0 is 1/2.
    /// Example:
    ///   >>> lax.bessel_i1e(jnp.array([0.0]))
    ///   Array([0.], dtype=float32)
    #[public("lax.bessel_i1e(x)")]
    fn bessel_i1e BESSEL_I1E;

    /// The derivative of the logarithm of the gamma function (DLMF 5.2.2): minus infinity at 0, NaN at negative integers.
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes away from its poles, with derivative `polygamma(1, x)`.
    /// Example:
    ///   >>> round(float(lax.digamma(1.0)), 4)
    ///   -0.5772
    #[public("lax.digamma(x)")]
    fn digamma DIGAMMA;

    /// The error function, `2 / sqrt(π)` times the integral of `exp(-t**2)` from 0 to `x` (DLMF 7.2.1).
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes, with derivative `2 / sqrt(π) exp(-x**2)`.
    /// Example:
    ///   >>> lax.erf(jnp.array([0.0, jnp.inf]))
    ///   Array([0., 1.], dtype=float32)
    #[public("lax.erf(x)")]
    fn erf ERF;

    /// The number whose error function is `x`: infinite at -1 and 1, NaN outside.
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes inside, with derivative `sqrt(π) / 2 exp(y**2)` of the result `y`.
    /// Example:
    ///   >>> lax.erf_inv(jnp.array([0.0, 1.0, 2.0]))
    ///   Array([ 0., inf, nan], dtype=float32)
    #[public("lax.erf_inv(x)")]
    fn erf_inv ERF_INV;

    /// The logarithm of the absolute value of the gamma function: infinite at 0 and at negative integers (DLMF 5.2).
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes away from its poles, with derivative `digamma(x)`.
    /// Example:
    ///   >>> lax.lgamma(jnp.array([1.0, 0.0]))
    ///   Array([ 0., inf], dtype=float32)
    #[public("lax.lgamma(x)")]
    fn lgamma LGAMMA;

    /// The complement `1 - erf(x)`, exact also where it is tiny (DLMF 7.2.2).
    ///
    /// Args:
    ///   x: floating array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes, with derivative `-2 / sqrt(π) exp(-x**2)`.
    /// Example:
    ///   >>> lax.erfc(jnp.array([0.0, -jnp.inf]))
    ///   Array([1., 2.], dtype=float32)
    #[public("lax.erfc(x, *, accuracy: Ignored=None)")]
    fn erfc ERFC;
}

/// The incomplete beta function, regularized to end at 1: I_x(a, b) of DLMF 8.17.2.
///
/// Args:
///   a, b: floating arrays of one dtype; NaN where they are not positive.
///   x: floating array of the same dtype, the upper bound of the integral; NaN outside of 0 to 1.
/// Returns: the common shape, to which scalars broadcast, and the dtype.
/// Raises:
///   TypeError: dtypes differ or are not floating, or shapes do not go together.
///   ValueError: a derivative is taken in `a` or `b`.
/// Differentiable: in `x`.
/// Example:
///   >>> lax.betainc(1.0, 1.0, jnp.array([0.0, 0.25, 1.0]))
///   Array([0.  , 0.25, 1.  ], dtype=float32)
#[public("lax.betainc(a, b, x)")]
pub fn betainc(a: &Val, b: &Val, x: &Val) -> Result<Val> {
    prims::REGULARIZED_INCOMPLETE_BETA.bind(&[a.clone(), b.clone(), x.clone()])
}

/// The lower incomplete gamma function, regularized to end at 1: P(a, x) of DLMF 8.2.4.
///
/// Args:
///   a: floating array; NaN where negative, and the limit 1 at 0.
///   x: floating array of the same dtype, the upper bound of the integral; NaN where negative. Shapes are equal, up
///     to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
/// Differentiable: yes in both; the derivative in `a` is `igamma_grad_a`, which has none of its own.
/// Example:
///   >>> lax.igamma(1.0, jnp.array([0.0, jnp.inf]))
///   Array([0., 1.], dtype=float32)
#[public("lax.igamma(a, x)")]
pub fn igamma(a: &Val, x: &Val) -> Result<Val> {
    prims::IGAMMA.bind(&[a.clone(), x.clone()])
}

/// The derivative of `igamma(a, x)` in `a`.
///
/// Args:
///   a: floating array, positive.
///   x: floating array of the same dtype, not negative. Shapes are equal, up to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
///   NotImplementedError: a derivative is taken.
/// Differentiable: no.
/// Example:
///   >>> bool(lax.igamma_grad_a(2.0, 1.0) < 0)
///   True
#[public("lax.igamma_grad_a(a, x)")]
pub fn igamma_grad_a(a: &Val, x: &Val) -> Result<Val> {
    prims::IGAMMA_GRAD_A.bind(&[a.clone(), x.clone()])
}

/// The upper incomplete gamma function, regularized: Q(a, x) = 1 - P(a, x) of DLMF 8.2.4.
///
/// Args:
///   a: floating array; NaN where negative, and the limit 0 at 0.
///   x: floating array of the same dtype, the lower bound of the integral; NaN where negative. Shapes are equal, up
///     to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
/// Differentiable: yes in both; the derivative in `a` is `-igamma_grad_a`, which has none of its own.
/// Example:
///   >>> lax.igammac(1.0, jnp.array([0.0, jnp.inf]))
///   Array([1., 0.], dtype=float32)
#[public("lax.igammac(a, x)")]
pub fn igammac(a: &Val, x: &Val) -> Result<Val> {
    prims::IGAMMAC.bind(&[a.clone(), x.clone()])
}

/// The derivative of order `m` of `digamma` (DLMF 5.15).
///
/// Args:
///   m: floating array of whole numbers from 0 on, the order.
///   x: floating array of the same dtype. Shapes are equal, up to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
///   ValueError: a derivative is taken in `m`.
/// Differentiable: in `x`, with derivative `polygamma(m + 1, x)`.
/// Example:
///   >>> round(float(lax.polygamma(1.0, 1.0)), 4)
///   1.6449
#[public("lax.polygamma(m, x)")]
pub fn polygamma(m: &Val, x: &Val) -> Result<Val> {
    prims::POLYGAMMA.bind(&[m.clone(), x.clone()])
}

/// The derivative of a sample `x` of the gamma distribution in its shape `a`, at a fixed quantile: minus the derivative
/// of `igamma(a, x)` in `a` over its density at `x` (implicit reparameterization; Figurnov, Mohamed, Mnih, 2018).
///
/// Args:
///   a: floating array, the shape of the distribution, positive.
///   x: floating array of the same dtype, the sample. Shapes are equal, up to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
///   NotImplementedError: a derivative is taken.
/// Differentiable: no.
/// Example:
///   >>> bool(lax.random_gamma_grad(2.0, 1.0) > 0)
///   True
#[public("lax.random_gamma_grad(*args)")]
pub fn random_gamma_grad(args: &[Val]) -> Result<Val> {
    if args.len() != 2 {
        bail!(Type, "random_gamma_grad() takes 2 positional arguments but {} were given", args.len());
    }
    prims::RANDOM_GAMMA_GRAD.bind(args)
}

/// The Hurwitz zeta function, the sum of `(q + k)**-x` for k from 0 on (DLMF 25.11).
///
/// Args:
///   x: floating array, the exponent: infinite at 1, NaN below.
///   q: floating array of the same dtype, the offset. Shapes are equal, up to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
///   NotImplementedError: a derivative is taken.
/// Differentiable: no.
/// Example:
///   >>> round(float(lax.zeta(2.0, 1.0)), 4)
///   1.6449
#[public("lax.zeta(x, q)")]
pub fn zeta(x: &Val, q: &Val) -> Result<Val> {
    prims::ZETA.bind(&[x.clone(), q.clone()])
}
