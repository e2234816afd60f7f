//! Making arrays.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{
    ShapeArg, canonical, check_out_sharding, concrete, on_device, one, optional, positional, prototype_of, tuple,
};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::{Scalar, bail};
use pullback_lib::numpy::{self, Linspace};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(zeros, m)?)?;
    m.add_function(wrap_pyfunction!(ones, m)?)?;
    m.add_function(wrap_pyfunction!(empty, m)?)?;
    m.add_function(wrap_pyfunction!(full, m)?)?;
    m.add_function(wrap_pyfunction!(zeros_like, m)?)?;
    m.add_function(wrap_pyfunction!(ones_like, m)?)?;
    m.add_function(wrap_pyfunction!(empty_like, m)?)?;
    m.add_function(wrap_pyfunction!(full_like, m)?)?;
    m.add_function(wrap_pyfunction!(arange, m)?)?;
    m.add_function(wrap_pyfunction!(linspace, m)?)?;
    m.add_function(wrap_pyfunction!(logspace, m)?)?;
    m.add_function(wrap_pyfunction!(geomspace, m)?)?;
    m.add_function(wrap_pyfunction!(eye, m)?)?;
    m.add_function(wrap_pyfunction!(identity, m)?)?;
    m.add_function(wrap_pyfunction!(tri, m)?)?;
    m.add_function(wrap_pyfunction!(indices, m)?)?;
    m.add_function(wrap_pyfunction!(vander, m)?)?;
    m.add_function(wrap_pyfunction!(copy, m)?)?;
    m.add_function(wrap_pyfunction!(astype, m)?)?;
    m.add_function(wrap_pyfunction!(meshgrid, m)?)?;
    Ok(())
}

/// An array of zeros.
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, *, device=None, out_sharding=None), text_signature = "(shape, dtype=None, *, device=None, out_sharding=None)")]
fn zeros(
    py: Python<'_>,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let dtype = canonical(py, dtype, "zeros")?;
    check_out_sharding("jnp.zeros", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::zeros(&shape, dtype))
}

/// An array of ones.
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, *, device=None, out_sharding=None), text_signature = "(shape, dtype=None, *, device=None, out_sharding=None)")]
fn ones(
    py: Python<'_>,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let dtype = canonical(py, dtype, "ones")?;
    check_out_sharding("jnp.ones", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::ones(&shape, dtype))
}

/// An array of zeros, as there is no array without elements' values.
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, *, device=None, out_sharding=None), text_signature = "(shape, dtype=None, *, device=None, out_sharding=None)")]
fn empty(
    py: Python<'_>,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let dtype = canonical(py, dtype, "empty")?;
    check_out_sharding("jnp.empty", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::zeros(&shape, dtype))
}

/// An array of one value.
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, *, device=None, out_sharding=None), text_signature = "(shape, fill_value, dtype=None, *, device=None, out_sharding=None)")]
fn full(
    py: Python<'_>,
    shape: ShapeArg,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let fill_value = fill_value.val(py, "full", 1)?;
    let dtype = canonical(py, dtype, "full")?;
    check_out_sharding("jnp.full", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::full(&shape, &fill_value, dtype))
}

/// Zeros with shape and dtype of another array.
#[pyfunction]
#[pyo3(signature = (a, dtype=None, shape=None, *, device=None, out_sharding=None), text_signature = "(a, dtype=None, shape=None, *, device=None, out_sharding=None)")]
fn zeros_like(
    py: Python<'_>,
    a: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (a, shape) = prototype_of(py, a, shape, "zeros_like")?;
    let dtype = canonical(py, dtype, "zeros_like")?;
    check_out_sharding("jnp.zeros_like", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::zeros_like(&a, dtype, shape.as_deref()))
}

/// Ones with shape and dtype of another array.
#[pyfunction]
#[pyo3(signature = (a, dtype=None, shape=None, *, device=None, out_sharding=None), text_signature = "(a, dtype=None, shape=None, *, device=None, out_sharding=None)")]
fn ones_like(
    py: Python<'_>,
    a: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (a, shape) = prototype_of(py, a, shape, "ones_like")?;
    let dtype = canonical(py, dtype, "ones_like")?;
    check_out_sharding("jnp.ones_like", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::ones_like(&a, dtype, shape.as_deref()))
}

/// Zeros with shape and dtype of another array.
#[pyfunction]
#[pyo3(signature = (prototype, dtype=None, shape=None, *, device=None, out_sharding=None), text_signature = "(prototype, dtype=None, shape=None, *, device=None)")]
fn empty_like(
    py: Python<'_>,
    prototype: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (prototype, shape) = prototype_of(py, prototype, shape, "empty_like")?;
    let dtype = canonical(py, dtype, "empty_like")?;
    check_out_sharding("jnp.empty_like", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::zeros_like(&prototype, dtype, shape.as_deref()))
}

/// An array of one value with shape and dtype of another.
#[pyfunction]
#[pyo3(signature = (a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None), text_signature = "(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None)")]
fn full_like(
    py: Python<'_>,
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (a, shape) = prototype_of(py, a, shape, "full_like")?;
    let fill_value = fill_value.val(py, "full_like", 1)?;
    let dtype = canonical(py, dtype, "full_like")?;
    check_out_sharding("jnp.full_like", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::full_like(&a, &fill_value, dtype, shape.as_deref()))
}

/// Numbers from start up to but without stop.
#[pyfunction]
#[pyo3(signature = (start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None), text_signature = "(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None)")]
fn arange(
    py: Python<'_>,
    start: &Bound<'_, PyAny>,
    stop: Option<&Bound<'_, PyAny>>,
    step: Option<&Bound<'_, PyAny>>,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "arange")?;
    check_out_sharding("jnp.arange", out_sharding.as_ref())?;
    {
        let number = |obj: &Bound<'_, PyAny>, what: &str| {
            let ndim: usize = obj.getattr_opt("ndim")?.map_or(Ok(0), |ndim| ndim.extract())?;
            if ndim > 0 {
                return Err(crate::errors::value_error(format!(
                    "jax.numpy.arange: arguments must be scalars; got {what}={}",
                    obj.str()?
                )));
            }
            concrete(obj, &format!("It arose in the jnp.arange argument '{what}'"))
        };
        let step = step.filter(|s| !s.is_none()).map(|s| number(s, "step")).transpose()?;
        let (start, stop): (Option<Scalar>, Scalar) = match stop.filter(|s| !s.is_none()) {
            Some(stop) => (Some(number(start, "start")?), number(stop, "stop")?),
            None => (None, number(start, "stop")?),
        };
        let start = if step.is_some() && start.is_none() { Some(Scalar::zero(stop.dtype())) } else { start };
        on_device(py, device.as_ref(), || numpy::arange(start, stop, step, dtype))
    }
}

/// Evenly spaced numbers.
#[pyfunction]
#[pyo3(signature = (start, stop, num=50, endpoint=true, retstep=false, dtype=None, axis=0, *, device=None), text_signature = "(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None)")]
fn linspace(
    py: Python<'_>,
    start: ArrayLike,
    stop: ArrayLike,
    num: i64,
    endpoint: bool,
    retstep: bool,
    dtype: Option<DTypeArg>,
    axis: i64,
    device: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let start = start.val(py, "linspace", 0)?;
    let stop = stop.val(py, "linspace", 1)?;
    let dtype = canonical(py, dtype, "linspace")?;
    {
        let options = Linspace { num, endpoint, dtype, axis };
        if retstep {
            return tuple(py, || {
                let (samples, step) = numpy::linspace_with_step(&start, &stop, options)?;
                Ok([samples, step])
            });
        }
        on_device(py, device.as_ref(), || numpy::linspace(&start, &stop, options))
    }
}

/// Numbers evenly spaced on a logarithmic scale.
#[pyfunction]
#[pyo3(signature = (start, stop, num=50, endpoint=true, base=None, dtype=None, axis=0), text_signature = "(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)")]
fn logspace(
    py: Python<'_>,
    start: ArrayLike,
    stop: ArrayLike,
    num: i64,
    endpoint: bool,
    base: Option<ArrayLike>,
    dtype: Option<DTypeArg>,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let start = start.val(py, "logspace", 0)?;
    let stop = stop.val(py, "logspace", 1)?;
    let base = optional(py, base, "logspace", 4)?;
    let dtype = canonical(py, dtype, "logspace")?;
    one(py, || {
        numpy::logspace(
            &start,
            &stop,
            &base.unwrap_or_else(|| pullback_lib::convert::weak_float(10.0)),
            Linspace { num, endpoint, dtype, axis },
        )
    })
}

/// Numbers evenly spaced on a logarithmic scale, by their ends.
#[pyfunction]
#[pyo3(signature = (start, stop, num=50, endpoint=true, dtype=None, axis=0), text_signature = "(start, stop, num=50, endpoint=True, dtype=None, axis=0)")]
fn geomspace(
    py: Python<'_>,
    start: ArrayLike,
    stop: ArrayLike,
    num: i64,
    endpoint: bool,
    dtype: Option<DTypeArg>,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let start = start.val(py, "geomspace", 0)?;
    let stop = stop.val(py, "geomspace", 1)?;
    let dtype = canonical(py, dtype, "geomspace")?;
    one(py, || numpy::geomspace(&start, &stop, Linspace { num, endpoint, dtype, axis }))
}

/// Ones on a diagonal.
#[pyfunction]
#[pyo3(signature = (N, M=None, k=0, dtype=None, *, device=None), text_signature = "(N, M=None, k=0, dtype=None, *, device=None)")]
fn eye(
    py: Python<'_>,
    N: i64,
    M: Option<i64>,
    k: i64,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "eye")?;
    on_device(py, device.as_ref(), || numpy::eye(N, M, k, dtype))
}

/// Ones on the main diagonal.
#[pyfunction]
#[pyo3(signature = (n, dtype=None), text_signature = "(n, dtype=None)")]
fn identity(py: Python<'_>, n: i64, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "identity")?;
    one(py, || numpy::eye(n, None, 0, dtype))
}

/// Ones on and below a diagonal.
#[pyfunction]
#[pyo3(signature = (N, M=None, k=0, dtype=None), text_signature = "(N, M=None, k=0, dtype=None)")]
fn tri(py: Python<'_>, N: usize, M: Option<usize>, k: i64, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "tri")?;
    one(py, || numpy::tri(N, M, k, dtype))
}

/// Coordinates of every position of a grid.
#[pyfunction]
#[pyo3(signature = (dimensions, dtype=None, sparse=false), text_signature = "(dimensions, dtype=None, sparse=False)")]
fn indices(py: Python<'_>, dimensions: ShapeArg, dtype: Option<DTypeArg>, sparse: bool) -> PyResult<Py<PyAny>> {
    let dimensions = dimensions.0;
    let dtype = canonical(py, dtype, "indices")?;
    one(py, || {
        if sparse {
            bail!(NotImplemented, "jnp.indices with sparse=True is not implemented");
        }
        let sizes = pullback_lib::axes::shape_of(&dimensions)?;
        numpy::stack(&numpy::indices(&sizes, dtype)?, 0, None)
    })
}

/// Powers of the elements of a vector as columns.
#[pyfunction]
#[pyo3(signature = (x, N=None, increasing=false), text_signature = "(x, N=None, increasing=False)")]
fn vander(py: Python<'_>, x: ArrayLike, N: Option<usize>, increasing: bool) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "vander", 0)?;
    one(py, || numpy::vander(&x, N, increasing))
}

/// A copy.
#[pyfunction]
#[pyo3(signature = (a, order=None), text_signature = "(a, order=None)")]
fn copy(py: Python<'_>, a: ArrayLike, order: Option<&str>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "copy", 0)?;
    one(py, || {
        let _ = order;
        numpy::array(&a, None, true, 0)
    })
}

/// The array in another dtype.
#[pyfunction]
#[pyo3(signature = (x, dtype=None, /, *, copy=false, device=None), text_signature = "(x, dtype, /, *, copy=False, device=None)")]
fn astype(
    py: Python<'_>,
    x: ArrayLike,
    dtype: Option<DTypeArg>,
    copy: bool,
    device: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "astype", 0)?;
    let dtype = canonical(py, dtype, "astype")?;
    on_device(py, device.as_ref(), || {
        let _ = copy;
        numpy::astype(&x, dtype.unwrap_or_else(pullback_lib::convert::default_float))
    })
}

/// Coordinate arrays of a grid.
#[pyfunction]
#[pyo3(signature = (*xi, copy=true, sparse=false, indexing="xy"), text_signature = "(*xi, copy=True, sparse=False, indexing='xy')")]
fn meshgrid(py: Python<'_>, xi: &Bound<'_, PyTuple>, copy: bool, sparse: bool, indexing: &str) -> PyResult<Py<PyAny>> {
    let xi = positional(py, xi, "meshgrid")?;
    tuple(py, || {
        let _ = copy;
        match indexing {
            "xy" | "ij" => numpy::meshgrid(&xi, indexing == "ij", sparse),
            _ => bail!(Value, "Valid values for indexing are 'xy' and 'ij', got {indexing}"),
        }
    })
}
