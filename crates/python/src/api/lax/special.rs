//! Special functions of single elements: error, gamma, beta, Bessel and zeta functions.

use pullback_lib::lax;
use pyo3::prelude::*;

use crate::api::arguments::one;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; bessel_i0e bessel_i1e betainc digamma erf erf_inv erfc igamma igamma_grad_a igammac lgamma polygamma random_gamma_grad zeta);
    Ok(())
}

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
    bessel_i0e;

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
    bessel_i1e;

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
    digamma;

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
    erf;

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
    erf_inv;

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
    lgamma;
}

unary_with_accuracy! {
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
    erfc;
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
#[pyfunction]
#[pyo3(signature = (a, b, x), text_signature = "(a, b, x)")]
fn betainc(py: Python<'_>, a: ArrayLike, b: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "betainc", 0)?;
    let b = b.val(py, "betainc", 1)?;
    let x = x.val(py, "betainc", 2)?;
    one(py, || lax::betainc(&a, &b, &x))
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
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igamma(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igamma", 0)?;
    let x = x.val(py, "igamma", 1)?;
    one(py, || lax::igamma(&a, &x))
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
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igamma_grad_a(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igamma_grad_a", 0)?;
    let x = x.val(py, "igamma_grad_a", 1)?;
    one(py, || lax::igamma_grad_a(&a, &x))
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
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igammac(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igammac", 0)?;
    let x = x.val(py, "igammac", 1)?;
    one(py, || lax::igammac(&a, &x))
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
#[pyfunction]
#[pyo3(signature = (m, x), text_signature = "(m, x)")]
fn polygamma(py: Python<'_>, m: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "polygamma", 0)?;
    let x = x.val(py, "polygamma", 1)?;
    one(py, || lax::polygamma(&m, &x))
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
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(*args)")]
fn random_gamma_grad(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "random_gamma_grad", 0)?;
    let x = x.val(py, "random_gamma_grad", 1)?;
    one(py, || lax::random_gamma_grad(&a, &x))
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
#[pyfunction]
#[pyo3(signature = (x, q), text_signature = "(x, q)")]
fn zeta(py: Python<'_>, x: ArrayLike, q: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "zeta", 0)?;
    let q = q.val(py, "zeta", 1)?;
    one(py, || lax::zeta(&x, &q))
}
