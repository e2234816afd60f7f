//! Initial weights, for `pullback.nn.initializers`: arguments parsed, one call into `lib`, the result wrapped.
#![allow(clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use pullback_base::DType;
use pullback_lib::convert::default_float;
use pullback_lib::nn::initializers::{self, Distribution, Fan, VarianceScaling, WeightAxes};
use pyo3::prelude::*;

use super::arguments::{ShapeArg, one};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;

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

/// Adds `_core.nn`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.nn")?;
    add_all!(&m;
        init_constant init_uniform init_normal init_truncated_normal init_variance_scaling init_orthogonal
    );
    core.add("nn", m)
}
