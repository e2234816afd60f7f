//! The glue of `pullback.nn`: arguments parsed, one call into `lib`, the result wrapped.
#![allow(clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use pullback_base::DType;
use pullback_lib::axes::Axes;
use pullback_lib::convert::default_float;
use pullback_lib::nn::initializers::{self, Distribution, Fan, VarianceScaling, WeightAxes};
use pullback_lib::nn::{self, LogSumExp, Standardize, Variance};
use pyo3::prelude::*;

use super::arguments::{AxesArg, ShapeArg, mask, one, optional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;

const LAST: AxesArg = AxesArg(Axes::One(-1));

macro_rules! activations {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        fn $name(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
            let x = x.val(py, stringify!($name), 0)?;
            one(py, || nn::$name(&x))
        }
    )*};
}

activations! {
    /// `max(x, 0)`, the rectified linear unit.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Differentiable: yes; the derivative at 0 is 0.
    /// Example:
    ///   >>> jax.nn.relu(jnp.array([-2.0, 0.0, 3.0]))
    ///   Array([0., 0., 3.], dtype=float32)
    relu;

    /// `min(max(x, 0), 6)`, the rectified linear unit with a ceiling (Krizhevsky, 2010).
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes; the derivative at 0 and at 6 is 0.
    /// Example:
    ///   >>> jax.nn.relu6(jnp.array([-2.0, 3.0, 8.0]))
    ///   Array([0., 3., 6.], dtype=float32)
    relu6;

    /// `1 / (1 + exp(-x))`.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean or of integers.
    /// Differentiable: yes, with derivative `y (1 - y)` of the result `y`.
    /// Example:
    ///   >>> jax.nn.sigmoid(jnp.array([0.0, jnp.inf]))
    ///   Array([0.5, 1. ], dtype=float32)
    sigmoid;

    /// `relu6(x + 3) / 6`: 0 up to -3, 1 from 3 on, linear between.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes; the derivative at -3 and 3 is 0.
    /// Example:
    ///   >>> jax.nn.hard_sigmoid(jnp.array([-4.0, 0.0, 3.0]))
    ///   Array([0. , 0.5, 1. ], dtype=float32)
    hard_sigmoid;

    /// `log(1 + exp(x))`, without overflow.
    ///
    /// Args:
    ///   x: integer or floating array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Raises:
    ///   NotImplementedError: `x` is complex.
    /// Differentiable: yes, with derivative `sigmoid(x)`.
    /// Example:
    ///   >>> jax.nn.softplus(jnp.array([-jnp.inf, 1000.0]))
    ///   Array([   0., 1000.], dtype=float32)
    softplus;

    /// 0 up to -1, 1 from 1 on, `(x + 1) / 2` between: the derivative of `sparse_plus`.
    ///
    /// Args:
    ///   x: integer or floating array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Raises:
    ///   ValueError: `x` is complex.
    /// Differentiable: yes; the derivative at -1 and 1 is half of that between.
    /// Example:
    ///   >>> jax.nn.sparse_sigmoid(jnp.array([-2.0, 0.0, 2.0]))
    ///   Array([0. , 0.5, 1. ], dtype=float32)
    sparse_sigmoid;

    /// 0 up to -1, `x` from 1 on, `(x + 1)**2 / 4` between.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes, with derivative `sparse_sigmoid(x)`.
    /// Example:
    ///   >>> jax.nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
    ///   Array([0.  , 0.25, 2.  ], dtype=float32)
    sparse_plus;

    /// `x / (1 + |x|)`, between -1 and 1.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes, with derivative `1 / (1 + |x|)**2`.
    /// Example:
    ///   >>> jax.nn.soft_sign(jnp.array([-1.0, 0.0, 3.0]))
    ///   Array([-0.5 ,  0.  ,  0.75], dtype=float32)
    soft_sign;

    /// `x * sigmoid(x)`, also called swish (Ramachandran, Zoph, Le, 2017).
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean or of integers.
    /// Differentiable: yes.
    /// Example:
    ///   >>> jax.nn.silu(jnp.array([0.0, 100.0]))
    ///   Array([  0., 100.], dtype=float32)
    silu;

    /// `x * tanh(softplus(x))` (Misra, 2019).
    ///
    /// Args:
    ///   x: integer or floating array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Raises:
    ///   NotImplementedError: `x` is complex.
    /// Differentiable: yes.
    /// Example:
    ///   >>> jax.nn.mish(jnp.array([0.0, 100.0]))
    ///   Array([  0., 100.], dtype=float32)
    mish;

    /// `log(sigmoid(x)) = -softplus(-x)`, without underflow.
    ///
    /// Args:
    ///   x: integer or floating array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Raises:
    ///   TypeError: `x` is boolean.
    ///   NotImplementedError: `x` is complex.
    /// Differentiable: yes, with derivative `sigmoid(-x)`.
    /// Example:
    ///   >>> jax.nn.log_sigmoid(jnp.array([-1000.0]))
    ///   Array([-1000.], dtype=float32)
    log_sigmoid;

    /// `log(1 - exp(-x))`, by two formulas so that it is exact near 0 and far from it (Mächler, 2012): minus infinity at
    /// 0, NaN below.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Raises:
    ///   TypeError: `x` is boolean.
    /// Differentiable: yes for positive numbers, with derivative `1 / (exp(x) - 1)`.
    /// Example:
    ///   >>> jax.nn.log1mexp(jnp.array([0.0]))
    ///   Array([-inf], dtype=float32)
    log1mexp;

    /// The exponential linear unit with the scale and slope that keep mean 0 and variance 1 from layer to layer
    /// (Klambauer et al., 2017): `1.0507 * elu(x, 1.6733)`.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes; the derivative at 0 is that from below.
    /// Example:
    ///   >>> jax.nn.selu(jnp.array([0.0, 1.0]))
    ///   Array([0.      , 1.050701], dtype=float32)
    selu;

    /// `x` kept between -1 and 1.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Differentiable: yes, with derivative 1 from -1 to 1, these included, and 0 outside.
    /// Example:
    ///   >>> jax.nn.hard_tanh(jnp.array([-2.0, 0.5, 2.0]))
    ///   Array([-1. ,  0.5,  1. ], dtype=float32)
    hard_tanh;

    /// `x * hard_sigmoid(x)` (Howard et al., 2019).
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
    /// Differentiable: yes.
    /// Example:
    ///   >>> jax.nn.hard_silu(jnp.array([0.0, 3.0]))
    ///   Array([0., 3.], dtype=float32)
    hard_silu;

    /// `x` itself, for where a function is asked for.
    ///
    /// Args:
    ///   x: boolean, integer, floating or complex array or scalar.
    /// Returns: the array, or of a Python number its array.
    /// Differentiable: yes, linear.
    /// Example:
    ///   >>> jax.nn.identity(jnp.array([1.0, 2.0]))
    ///   Array([1., 2.], dtype=float32)
    identity;
}

/// The hyperbolic tangent, between -1 and 1.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes, with derivative `1 - y**2` of the result `y`.
/// Example:
///   >>> jax.nn.tanh(jnp.array([0.0, jnp.inf]))
///   Array([0., 1.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, /))]
fn tanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tanh", 0)?;
    one(py, || nn::tanh(&x))
}

/// `x` above 0, `alpha * (exp(x) - 1)` below: the exponential linear unit (Clevert et al., 2015).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   alpha: minus the limit at minus infinity; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is `alpha`.
/// Example:
///   >>> jax.nn.elu(jnp.array([-jnp.inf, 0.0, 2.0]))
///   Array([-1.,  0.,  2.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, alpha=None), text_signature = "(x, alpha=1.0)")]
fn elu(py: Python<'_>, x: ArrayLike, alpha: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, alpha) = (x.val(py, "elu", 0)?, optional(py, alpha, "elu", 1)?);
    one(py, || nn::elu(&x, alpha.as_ref()))
}

/// `x` above 0, `alpha * (exp(x / alpha) - 1)` below: the unit whose derivative is continuous for each alpha (Barron,
/// 2017).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   alpha: minus the limit at minus infinity; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is 1.
/// Example:
///   >>> jax.nn.celu(jnp.array([-jnp.inf, 0.0, 2.0]), 2.0)
///   Array([-2.,  0.,  2.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, alpha=None), text_signature = "(x, alpha=1.0)")]
fn celu(py: Python<'_>, x: ArrayLike, alpha: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, alpha) = (x.val(py, "celu", 0)?, optional(py, alpha, "celu", 1)?);
    one(py, || nn::celu(&x, alpha.as_ref()))
}

/// `x` from 0 on, `negative_slope * x` below.
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   negative_slope: the slope below 0; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is 1.
/// Example:
///   >>> jax.nn.leaky_relu(jnp.array([-2.0, 0.0, 2.0]), 0.5)
///   Array([-1.,  0.,  2.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, negative_slope=None), text_signature = "(x, negative_slope=0.01)")]
fn leaky_relu(py: Python<'_>, x: ArrayLike, negative_slope: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, negative_slope) = (x.val(py, "leaky_relu", 0)?, optional(py, negative_slope, "leaky_relu", 1)?);
    one(py, || nn::leaky_relu(&x, negative_slope.as_ref()))
}

/// `(x + sqrt(x**2 + b)) / 2`, a smooth rectified unit without exponentials (Barron, 2021).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   b: how smooth; it broadcasts with `x`, and 0 gives `relu`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   TypeError: `x` is boolean.
/// Differentiable: yes in both, for positive `b`.
/// Example:
///   >>> jax.nn.squareplus(jnp.array([0.0, 1.5]))
///   Array([1., 2.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, b=None), text_signature = "(x, b=4)")]
fn squareplus(py: Python<'_>, x: ArrayLike, b: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, b) = (x.val(py, "squareplus", 0)?, optional(py, b, "squareplus", 1)?);
    one(py, || nn::squareplus(&x, b.as_ref()))
}

/// `exp(x) / sum(exp(x))` over axes, without overflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others count as minus infinity and give 0.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.softmax(jnp.array([1.0, 1.0, -jnp.inf]))
///   Array([0.5, 0.5, 0. ], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, axis=LAST, r#where=None), text_signature = "(x, axis=-1, where=None)")]
fn softmax(py: Python<'_>, x: ArrayLike, axis: AxesArg, r#where: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, mask) = (x.val(py, "softmax", 0)?, mask(py, r#where, "softmax", 2)?);
    one(py, || nn::softmax(&x, &axis.0, mask.as_ref()))
}

/// The logarithm of `softmax`: `x - log(sum(exp(x)))` over axes, without overflow or underflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others give minus infinity.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.log_softmax(jnp.array([1000.0, -jnp.inf]))
///   Array([  0., -inf], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, axis=LAST, r#where=None), text_signature = "(x, axis=-1, where=None)")]
fn log_softmax(py: Python<'_>, x: ArrayLike, axis: AxesArg, r#where: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, mask) = (x.val(py, "log_softmax", 0)?, mask(py, r#where, "log_softmax", 2)?);
    one(py, || nn::log_softmax(&x, &axis.0, mask.as_ref()))
}

/// `x Φ(x)` with the distribution function Φ of the normal distribution (Hendrycks, Gimpel, 2016).
///
/// Args:
///   x: integer or floating array or scalar; complex only for the approximation.
///   approximate: whether Φ(x) is `(1 + tanh(sqrt(2/π) (x + 0.044715 x**3))) / 2`; else the error function gives it.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.gelu(jnp.array([0.0, 100.0]), approximate=False)
///   Array([  0., 100.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, approximate=true), text_signature = "(x, approximate=True)")]
fn gelu(py: Python<'_>, x: ArrayLike, approximate: bool) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "gelu", 0)?;
    one(py, || nn::gelu(&x, approximate))
}

/// The first half of an axis times the sigmoid of the second: the gated linear unit (Dauphin et al., 2017).
///
/// Args:
///   x: floating or complex array.
///   axis: the axis, negative counted from the end; its size is even.
/// Returns: the dtype of `x`, its shape with the axis halved.
/// Raises:
///   ValueError: the size is odd, or the axis is out of bounds.
///   TypeError: `x` is boolean or of integers.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.glu(jnp.array([2.0, 4.0, 0.0, jnp.inf]))
///   Array([1., 4.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, axis=-1), text_signature = "(x, axis=-1)")]
fn glu(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "glu", 0)?;
    one(py, || nn::glu(&x, axis))
}

/// `log(sum(b * exp(a)))` over axes, without overflow; minus infinity of no elements.
///
/// Args:
///   a: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   b: factors that broadcast with `a`; 1 by default.
///   keepdims: whether the axes stay, with size 1.
///   return_sign: also give the sign of the sum, and the logarithm of its absolute value.
///   where: booleans that broadcast with `a`; the others are left out.
/// Returns: an array without the axes, or a pair of it and of the signs; integers give floats. NaN of a negative sum
///   without `return_sign`.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `a` and `b`.
/// Example:
///   >>> jax.nn.logsumexp(jnp.array([1000.0, -jnp.inf]))
///   Array(1000., dtype=float32)
///   >>> jax.nn.logsumexp(jnp.array([0.0, 0.0]), b=jnp.array([1.0, -2.0]), return_sign=True)
///   (Array(0., dtype=float32), Array(-1., dtype=float32))
#[pyfunction]
#[pyo3(
    signature = (a, axis=AxesArg::ALL, b=None, keepdims=false, return_sign=false, r#where=None),
    text_signature = "(a, axis=None, b=None, keepdims=False, return_sign=False, where=None)"
)]
fn logsumexp(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    b: Option<ArrayLike>,
    keepdims: bool,
    return_sign: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let (a, b) = (a.val(py, "logsumexp", 0)?, optional(py, b, "logsumexp", 1)?);
    let options = LogSumExp { axis: axis.0, b, keepdims, where_: mask(py, r#where, "logsumexp", 2)? };
    if return_sign {
        tuple(py, || nn::logsumexp_with_sign(&a, &options).map(|(out, sign)| [out, sign]))
    } else {
        one(py, || nn::logsumexp(&a, &options))
    }
}

/// `log(mean(exp(x)))` over axes, without overflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others are left out and do not count.
///   keepdims: whether the axes stay, with size 1.
/// Returns: an array without the axes; integers give floats.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.logmeanexp(jnp.array([1000.0, 1000.0]))
///   Array(1000., dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (x, axis=AxesArg::ALL, r#where=None, keepdims=false),
    text_signature = "(x, axis=None, where=None, keepdims=False)"
)]
fn logmeanexp(
    py: Python<'_>,
    x: ArrayLike,
    axis: AxesArg,
    r#where: Option<ArrayLike>,
    keepdims: bool,
) -> PyResult<Py<PyAny>> {
    let (x, mask) = (x.val(py, "logmeanexp", 0)?, mask(py, r#where, "logmeanexp", 2)?);
    one(py, || nn::logmeanexp(&x, &axis.0, mask.as_ref(), keepdims))
}

/// `(x - mean) / sqrt(variance + epsilon)` over axes.
///
/// Args:
///   x: integer or floating array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   mean: the mean, broadcast to `x`; by default that over the axes.
///   variance: the variance, likewise.
///   epsilon: what is added to the variance.
///   where: booleans that broadcast with `x`: which elements count for mean and variance.
///   algorithm: how the variance is found: 'fast', the mean of squares less the square of the mean, or 'stable', the
///     mean of squared distances.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: the algorithm is unknown, an axis is out of bounds, or `x` is complex and the algorithm 'fast'.
/// Differentiable: yes, in mean and variance too.
/// Example:
///   >>> jax.nn.standardize(jnp.array([-1.0, 1.0]), epsilon=0.0)
///   Array([-1.,  1.], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (x, axis=LAST, mean=None, variance=None, epsilon=None, r#where=None, *, algorithm="fast"),
    text_signature = "(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast')"
)]
fn standardize(
    py: Python<'_>,
    x: ArrayLike,
    axis: AxesArg,
    mean: Option<ArrayLike>,
    variance: Option<ArrayLike>,
    epsilon: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
    algorithm: &str,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "standardize", 0)?;
    let (mean, variance) = (optional(py, mean, "standardize", 2)?, optional(py, variance, "standardize", 3)?);
    let (epsilon, where_) = (optional(py, epsilon, "standardize", 4)?, mask(py, r#where, "standardize", 5)?);
    one(py, || {
        let algorithm = Variance::parse(algorithm)?;
        nn::standardize(&x, &Standardize { axis: axis.0, mean, variance, epsilon, where_, algorithm })
    })
}

/// For each element a vector with 1 at its place and 0 elsewhere; zeros only for what is not from 0 to `num_classes -
/// 1`.
///
/// Args:
///   x: integer or floating array of places.
///   num_classes: the size of the vectors.
///   dtype: the dtype of the result; float32 by default, float64 with x64.
///   axis: where the vectors' axis is in the result, negative counted from its end.
///   out_sharding: not served; None.
/// Returns: an array of the shape of `x` with one axis more.
/// Raises:
///   TypeError: `num_classes` is negative, or `x` is boolean.
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: no; the derivative is 0.
/// Example:
///   >>> jax.nn.one_hot(jnp.array([0, 2, 3]), 3)
///   Array([[1., 0., 0.],
///          [0., 0., 1.],
///          [0., 0., 0.]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (x, num_classes, *, dtype=None, axis=-1, out_sharding=None),
    text_signature = "(x, num_classes, *, dtype=None, axis=-1, out_sharding=None)"
)]
fn one_hot(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    num_classes: i64,
    dtype: Option<DTypeArg>,
    axis: i64,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = super::numpy::irregular::array_like(x)?;
    let dtype = dtype_or_default(py, dtype, "one_hot")?;
    one(py, || match out_sharding {
        None => nn::one_hot(&x, num_classes, dtype, axis),
        Some(_) => pullback_base::bail!(NotImplemented, "out_sharding of jax.nn.one_hot is not implemented"),
    })
}

fn dtype_or_default(py: Python<'_>, asked: Option<DTypeArg>, function: &str) -> PyResult<DType> {
    asked.map_or(Ok(default_float()), |asked| asked.canonical(py, function))
}

/// Initial weights: a constant.
#[pyfunction]
fn init_constant(py: Python<'_>, value: ArrayLike, shape: ShapeArg, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let value = value.val(py, "constant", 0)?;
    let dtype = dtype_or_default(py, dtype, "constant")?;
    one(py, || initializers::constant(&value, &shape.sizes()?, dtype))
}

/// Initial weights: uniform from 0 to `scale`.
#[pyfunction]
fn init_uniform(
    py: Python<'_>,
    key: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    scale: ArrayLike,
) -> PyResult<Py<PyAny>> {
    let (key, scale) = (key.val(py, "uniform", 0)?, scale.val(py, "uniform", 0)?);
    let dtype = dtype_or_default(py, dtype, "uniform")?;
    one(py, || initializers::uniform(&key, &scale, &shape.sizes()?, dtype))
}

/// Initial weights: normal.
#[pyfunction]
fn init_normal(
    py: Python<'_>,
    key: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    stddev: ArrayLike,
) -> PyResult<Py<PyAny>> {
    let (key, stddev) = (key.val(py, "normal", 0)?, stddev.val(py, "normal", 0)?);
    let dtype = dtype_or_default(py, dtype, "normal")?;
    one(py, || initializers::normal(&key, &stddev, &shape.sizes()?, dtype))
}

/// Initial weights: normal between two bounds.
#[pyfunction]
fn init_truncated_normal(
    py: Python<'_>,
    key: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    stddev: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
) -> PyResult<Py<PyAny>> {
    let (key, stddev) = (key.val(py, "truncated_normal", 0)?, stddev.val(py, "truncated_normal", 0)?);
    let (lower, upper) = (lower.val(py, "truncated_normal", 1)?, upper.val(py, "truncated_normal", 2)?);
    let dtype = dtype_or_default(py, dtype, "truncated_normal")?;
    one(py, || initializers::truncated_normal(&key, &stddev, [&lower, &upper], &shape.sizes()?, dtype))
}

/// Initial weights whose variance falls with the number of connections. Axes of inputs are `None` for the default.
#[pyfunction]
fn init_variance_scaling(
    py: Python<'_>,
    key: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    scale: f64,
    mode: &str,
    distribution: &str,
    in_axis: Option<Vec<i64>>,
    out_axis: Vec<i64>,
    batch_axis: Vec<i64>,
) -> PyResult<Py<PyAny>> {
    let key = key.val(py, "variance_scaling", 0)?;
    let dtype = dtype_or_default(py, dtype, "variance_scaling")?;
    one(py, || {
        let axes = WeightAxes { inputs: in_axis, outputs: out_axis, batch: batch_axis };
        let (fan, distribution) = (Fan::parse(mode)?, Distribution::parse(distribution)?);
        VarianceScaling { scale, fan, distribution, axes }.sample(&key, &shape.sizes()?, dtype)
    })
}

/// Initial weights with orthogonal columns or rows.
#[pyfunction]
fn init_orthogonal(py: Python<'_>, key: ArrayLike, shape: ShapeArg) -> PyResult<Py<PyAny>> {
    let key = key.val(py, "orthogonal", 0)?;
    one(py, || initializers::orthogonal(&key, &shape.sizes()?))
}

macro_rules! add_all {
    ($m:expr; $($name:ident)*) => { $($m.add_function(wrap_pyfunction!($name, $m)?)?;)* };
}

/// Adds `_core.nn`, whose functions say that they live in `pullback.nn`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.nn")?;
    add_all!(&m;
        relu relu6 sigmoid hard_sigmoid softplus sparse_sigmoid sparse_plus soft_sign silu mish log_sigmoid log1mexp
        selu hard_tanh hard_silu identity tanh elu celu leaky_relu squareplus softmax log_softmax gelu glu logsumexp
        logmeanexp standardize one_hot init_constant init_uniform init_normal init_truncated_normal
        init_variance_scaling init_orthogonal
    );
    core.add("nn", m)
}
