//! The glue of `pullback.nn`: arguments parsed, one call into `lib`, the result wrapped.
#![allow(clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use pullback_base::DType;
use pullback_lib::axes::Axes;
use pullback_lib::convert::default_float;
use pullback_lib::nn::initializers::{self, Distribution, Fan, VarianceScaling, WeightAxes};
use pullback_lib::nn::{self, LogSumExp, Standardize, Variance};
use pyo3::prelude::*;

use super::arguments::{AxesArg, ShapeArg, one, optional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;

const LAST: AxesArg = AxesArg(Axes::One(-1));

/// `max(x, 0)`.
#[pyfunction]
fn relu(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "relu", 0)?;
    one(py, || nn::relu(&x))
}

/// `min(max(x, 0), 6)`.
#[pyfunction]
fn relu6(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "relu6", 0)?;
    one(py, || nn::relu6(&x))
}

/// `1 / (1 + exp(-x))`.
#[pyfunction]
fn sigmoid(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sigmoid", 0)?;
    one(py, || nn::sigmoid(&x))
}

/// `relu6(x + 3) / 6`.
#[pyfunction]
fn hard_sigmoid(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "hard_sigmoid", 0)?;
    one(py, || nn::hard_sigmoid(&x))
}

/// `log(1 + exp(x))`.
#[pyfunction]
fn softplus(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "softplus", 0)?;
    one(py, || nn::softplus(&x))
}

/// 0 below -1, 1 above 1, linear between.
#[pyfunction]
fn sparse_sigmoid(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sparse_sigmoid", 0)?;
    one(py, || nn::sparse_sigmoid(&x))
}

/// 0 below -1, x above 1, (x + 1)**2 / 4 between.
#[pyfunction]
fn sparse_plus(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sparse_plus", 0)?;
    one(py, || nn::sparse_plus(&x))
}

/// `x / (1 + |x|)`.
#[pyfunction]
fn soft_sign(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "soft_sign", 0)?;
    one(py, || nn::soft_sign(&x))
}

/// `x * sigmoid(x)`.
#[pyfunction]
fn silu(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "silu", 0)?;
    one(py, || nn::silu(&x))
}

/// `x * tanh(softplus(x))`.
#[pyfunction]
fn mish(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "mish", 0)?;
    one(py, || nn::mish(&x))
}

/// `log(sigmoid(x))`.
#[pyfunction]
fn log_sigmoid(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log_sigmoid", 0)?;
    one(py, || nn::log_sigmoid(&x))
}

/// `log(1 - exp(-x))`.
#[pyfunction]
fn log1mexp(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log1mexp", 0)?;
    one(py, || nn::log1mexp(&x))
}

/// The exponential linear unit that keeps mean 0 and variance 1.
#[pyfunction]
fn selu(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "selu", 0)?;
    one(py, || nn::selu(&x))
}

/// x kept between -1 and 1.
#[pyfunction]
fn hard_tanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "hard_tanh", 0)?;
    one(py, || nn::hard_tanh(&x))
}

/// `x * hard_sigmoid(x)`.
#[pyfunction]
fn hard_silu(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "hard_silu", 0)?;
    one(py, || nn::hard_silu(&x))
}

/// x itself.
#[pyfunction]
fn identity(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "identity", 0)?;
    one(py, || nn::identity(&x))
}

/// The hyperbolic tangent.
#[pyfunction]
#[pyo3(signature = (x, /))]
fn tanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tanh", 0)?;
    one(py, || nn::tanh(&x))
}

/// The exponential linear unit.
#[pyfunction]
#[pyo3(signature = (x, alpha=None), text_signature = "(x, alpha=1.0)")]
fn elu(py: Python<'_>, x: ArrayLike, alpha: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, alpha) = (x.val(py, "elu", 0)?, optional(py, alpha, "elu", 1)?);
    one(py, || nn::elu(&x, alpha.as_ref()))
}

/// The exponential linear unit with a continuous derivative.
#[pyfunction]
#[pyo3(signature = (x, alpha=None), text_signature = "(x, alpha=1.0)")]
fn celu(py: Python<'_>, x: ArrayLike, alpha: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, alpha) = (x.val(py, "celu", 0)?, optional(py, alpha, "celu", 1)?);
    one(py, || nn::celu(&x, alpha.as_ref()))
}

/// `x` from 0 on, `negative_slope * x` below.
#[pyfunction]
#[pyo3(signature = (x, negative_slope=None), text_signature = "(x, negative_slope=0.01)")]
fn leaky_relu(py: Python<'_>, x: ArrayLike, negative_slope: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, negative_slope) = (x.val(py, "leaky_relu", 0)?, optional(py, negative_slope, "leaky_relu", 1)?);
    one(py, || nn::leaky_relu(&x, negative_slope.as_ref()))
}

/// `(x + sqrt(x**2 + b)) / 2`.
#[pyfunction]
#[pyo3(signature = (x, b=None), text_signature = "(x, b=4)")]
fn squareplus(py: Python<'_>, x: ArrayLike, b: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, b) = (x.val(py, "squareplus", 0)?, optional(py, b, "squareplus", 1)?);
    one(py, || nn::squareplus(&x, b.as_ref()))
}

/// `exp(x) / sum(exp(x))` over axes.
#[pyfunction]
#[pyo3(signature = (x, axis=LAST, r#where=None), text_signature = "(x, axis=-1, where=None)")]
fn softmax(py: Python<'_>, x: ArrayLike, axis: AxesArg, r#where: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, mask) = (x.val(py, "softmax", 0)?, optional(py, r#where, "softmax", 2)?);
    one(py, || nn::softmax(&x, &axis.0, mask.as_ref()))
}

/// The logarithm of softmax.
#[pyfunction]
#[pyo3(signature = (x, axis=LAST, r#where=None), text_signature = "(x, axis=-1, where=None)")]
fn log_softmax(py: Python<'_>, x: ArrayLike, axis: AxesArg, r#where: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let (x, mask) = (x.val(py, "log_softmax", 0)?, optional(py, r#where, "log_softmax", 2)?);
    one(py, || nn::log_softmax(&x, &axis.0, mask.as_ref()))
}

/// `x * Φ(x)`, with the normal distribution function or its approximation.
#[pyfunction]
#[pyo3(signature = (x, approximate=true), text_signature = "(x, approximate=True)")]
fn gelu(py: Python<'_>, x: ArrayLike, approximate: bool) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "gelu", 0)?;
    one(py, || nn::gelu(&x, approximate))
}

/// The first half of `x` along an axis times the sigmoid of the second.
#[pyfunction]
#[pyo3(signature = (x, axis=-1), text_signature = "(x, axis=-1)")]
fn glu(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "glu", 0)?;
    one(py, || nn::glu(&x, axis))
}

/// `log(sum(b * exp(a)))` over axes, and optionally the sign of the sum.
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
    let options = LogSumExp { axis: axis.0, b, keepdims, where_: optional(py, r#where, "logsumexp", 2)? };
    if return_sign {
        tuple(py, || nn::logsumexp_with_sign(&a, &options).map(|(out, sign)| [out, sign]))
    } else {
        one(py, || nn::logsumexp(&a, &options))
    }
}

/// `log(mean(exp(x)))` over axes.
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
    let (x, mask) = (x.val(py, "logmeanexp", 0)?, optional(py, r#where, "logmeanexp", 2)?);
    one(py, || nn::logmeanexp(&x, &axis.0, mask.as_ref(), keepdims))
}

/// `(x - mean) / sqrt(variance + epsilon)` over axes.
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
    let (epsilon, where_) = (optional(py, epsilon, "standardize", 4)?, optional(py, r#where, "standardize", 5)?);
    one(py, || {
        let algorithm = Variance::parse(algorithm)?;
        nn::standardize(&x, &Standardize { axis: axis.0, mean, variance, epsilon, where_, algorithm })
    })
}

/// For each element a vector with 1 at its place and 0 elsewhere.
#[pyfunction]
#[pyo3(
    signature = (x, num_classes, *, dtype=None, axis=-1, out_sharding=None),
    text_signature = "(x, num_classes, *, dtype=None, axis=-1, out_sharding=None)"
)]
fn one_hot(
    py: Python<'_>,
    x: ArrayLike,
    num_classes: i64,
    dtype: Option<DTypeArg>,
    axis: i64,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "one_hot", 0)?;
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
    add_all!(&m; relu relu6 sigmoid hard_sigmoid softplus sparse_sigmoid sparse_plus soft_sign silu mish log_sigmoid log1mexp selu hard_tanh hard_silu identity tanh elu celu leaky_relu squareplus softmax log_softmax gelu glu logsumexp logmeanexp standardize one_hot init_constant init_uniform init_normal init_truncated_normal init_variance_scaling init_orthogonal);
    core.add("nn", m)
}
