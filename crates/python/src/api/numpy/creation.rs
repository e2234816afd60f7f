//! Making arrays.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{
    ShapeArg, canonical, check_out_sharding, concrete, on_device, one, operand_for, optional, positional, prototype_of,
    tuple, wide_integer,
};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::{Error, Result, Scalar, bail};
use pullback_ir::Val;
use pullback_lib::lax;
use pullback_lib::numpy::{self, Linspace, Order};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};

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
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.zeros((2, 3), int))
///   [[0 0 0]
///    [0 0 0]]
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
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.ones((2, 3), int))
///   [[1 1 1]
///    [1 1 1]]
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

/// An array of zeros: memory that was not written to cannot be seen, so that `empty` is `zeros`.
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.empty(2))
///   [0. 0.]
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
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   fill_value: the value: a number, or an array that broadcasts to `shape`.
///   dtype: the dtype; that of `fill_value` by default, weak if it is a Python number.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers; a `fill_value` that
///     is neither an array nor a number.
///   ValueError: `fill_value` does not broadcast to `shape`; a `device` that is neither a device nor a sharding.
/// Differentiable: yes, in both modes, with respect to `fill_value`.
/// Example:
///   >>> print(jnp.full((2, 2), 7))
///   [[7 7]
///    [7 7]]
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, *, device=None, out_sharding=None), text_signature = "(shape, fill_value, dtype=None, *, device=None, out_sharding=None)")]
fn full(
    py: Python<'_>,
    shape: ShapeArg,
    fill_value: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let dtype = canonical(py, dtype, "full")?;
    let fill_value = operand_for(fill_value, dtype, "full", 1)?;
    check_out_sharding("jnp.full", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::full(&shape, &fill_value, dtype))
}

/// Zeros with the shape and the dtype of another array; weak if that is weak.
///
/// Args:
///   a: an array or number.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.zeros_like(jnp.array([1, 2])))
///   [0 0]
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

/// Ones with the shape and the dtype of another array; weak if that is weak.
///
/// Args:
///   a: an array or number.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.ones_like(jnp.array([1, 2])))
///   [1 1]
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

/// Zeros with the shape and the dtype of another array: `empty_like` is `zeros_like`.
///
/// Args:
///   prototype: an array or number.
///   dtype: another dtype; that of `prototype` by default.
///   shape: another shape; that of `prototype` by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array of the shape and dtype of `prototype`, or those that are given.
/// Raises:
///   TypeError: `prototype` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.empty_like(jnp.array([1, 2])))
///   [0 0]
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

/// One value with the shape and the dtype of another array.
///
/// Args:
///   a: an array or number.
///   fill_value: the value, converted to the dtype: a number, or an array that broadcasts to the shape.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: `fill_value` does not broadcast; a `device` that is neither a device nor a sharding.
/// Differentiable: yes, in both modes, with respect to `fill_value`.
/// Example:
///   >>> print(jnp.full_like(jnp.arange(3), 2.7))
///   [2 2 2]
#[pyfunction]
#[pyo3(signature = (a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None), text_signature = "(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None)")]
fn full_like(
    py: Python<'_>,
    a: ArrayLike,
    fill_value: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (a, shape) = prototype_of(py, a, shape, "full_like")?;
    let dtype = canonical(py, dtype, "full_like")?;
    let fill_value = operand_for(fill_value, dtype.or(Some(a.aval().dtype)), "full_like", 1)?;
    check_out_sharding("jnp.full_like", out_sharding.as_ref())?;
    on_device(py, device.as_ref(), || numpy::full_like(&a, &fill_value, dtype, shape.as_deref()))
}

/// Numbers from `start` up to but without `stop`, at distance `step`: `start + i * step`.
/// With one argument they start from 0. There are `ceil((stop - start) / step)`, none if that is negative.
///
/// Args:
///   start: the first number; without `stop` the end of a range that starts from 0. Static.
///   stop: the end, which is left out; static.
///   step: the distance, 1 by default; static.
///   dtype: the dtype; by default that of the arguments together.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: a vector of the dtype.
/// Raises:
///   ConcretizationTypeError: a traced argument: it decides about the size.
///   ValueError: `step` is 0, an argument is complex, or a `device` that is neither a device nor a sharding.
///   TypeError: an argument that is neither a number nor an array without axes.
/// Differentiable: no; arguments are static.
/// Example:
///   >>> print(jnp.arange(3), jnp.arange(1, 2, 0.25))
///   [0 1 2] [1.   1.25 1.5  1.75]
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
            match dtype.map(|dtype| wide_integer(obj, dtype)).transpose()?.flatten() {
                Some(scalar) => Ok(scalar),
                None => concrete(obj, &format!("It arose in the jnp.arange argument '{what}'")),
            }
        };
        let given_step = step.filter(|s| !s.is_none());
        let (given_start, given_stop) = match stop.filter(|s| !s.is_none()) {
            Some(stop) => (Some(start), stop),
            None => (None, start),
        };
        let step = given_step.map(|s| number(s, "step")).transpose()?;
        let start = given_start.map(|s| number(s, "start")).transpose()?;
        let stop = number(given_stop, "stop")?;
        if [start, Some(stop), step].into_iter().flatten().any(|number| number.dtype().is_complex()) {
            return Err(crate::errors::value_error(
                "jax.numpy.arange: start, stop and step must be real numbers".to_owned(),
            ));
        }
        if step.is_some_and(|step| !step.is_nonzero()) {
            return Err(pyo3::exceptions::PyZeroDivisionError::new_err("jax.numpy.arange: step must not be zero"));
        }
        if [start, Some(stop), step].into_iter().flatten().any(|number| number.as_f64().is_nan()) {
            return Err(crate::errors::value_error(
                "jax.numpy.arange: start, stop and step must not be NaN".to_owned(),
            ));
        }
        let start = if step.is_some() && start.is_none() { Some(Scalar::zero(stop.dtype())) } else { start };
        let size = length_in_double([given_start, Some(given_stop), given_step], [start, Some(stop), step])?;
        on_device(py, device.as_ref(), || match size {
            Some(size) => numpy::range_of_size(size, start, stop, step, dtype),
            None => numpy::arange(start, stop, step, dtype),
        })
    }
}

/// The length of a range of Python's integers, which their dtype need not hold. `None` for others.
fn length_of_integers(given: [Option<&Bound<'_, PyAny>>; 3]) -> Option<usize> {
    let integer = |at: usize, default: i128| match given[at] {
        None => Some(default),
        Some(given) if given.is_exact_instance_of::<PyInt>() => given.extract::<i64>().map(i128::from).ok(),
        Some(_) => None,
    };
    let (start, stop, step) = (integer(0, 0)?, integer(1, 0)?, integer(2, 1)?);
    let (span, step) = if step > 0 { (stop - start, step) } else { (start - stop, -step) };
    (step != 0).then(|| ((span + step - 1).max(0) / step) as usize)
}

/// The length of a range of Python's floats, in their precision, which is greater than that of the elements. `None` where
/// that of the scalars decides: for integers, and where a narrower float is among the numbers.
fn length_in_double(given: [Option<&Bound<'_, PyAny>>; 3], scalars: [Option<Scalar>; 3]) -> PyResult<Option<usize>> {
    let is_double = |(given, scalar): (&Option<&Bound<'_, PyAny>>, &Option<Scalar>)| {
        !scalar.is_some_and(|scalar| scalar.dtype().is_float())
            || given.is_some_and(|given| given.is_instance_of::<PyFloat>())
    };
    let is_wide = given
        .iter()
        .flatten()
        .any(|given| given.is_instance_of::<PyFloat>() && !given.is_exact_instance_of::<PyFloat>());
    if let Some(size) = length_of_integers(given) {
        return Ok(Some(size));
    }
    let has_float = scalars.iter().flatten().any(|scalar| scalar.dtype().is_float());
    if !has_float || !is_wide && !given.iter().zip(&scalars).all(is_double) {
        return Ok(None);
    }
    let number = |given: Option<&Bound<'_, PyAny>>| given.map(|given| given.extract::<f64>()).transpose();
    let [start, stop, step] = given;
    let (start, stop, step) =
        (number(start)?.unwrap_or(0.0), number(stop)?.unwrap_or(0.0), number(step)?.unwrap_or(1.0));
    let length = ((stop - start) / step).ceil().max(0.0);
    if length >= i64::MAX as f64 {
        return Err(pyo3::exceptions::PyOverflowError::new_err(format!(
            "jax.numpy.arange: {length} elements from {start} to {stop} are too many"
        )));
    }
    Ok(Some(length as usize))
}

/// Numbers at even distances from `start` to `stop`.
///
/// Args:
///   start, stop: the ends: numbers, or arrays whose shapes broadcast and give several ranges.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether `stop` is the last one; if not, there is one distance more.
///   retstep: whether to give the distance too.
///   dtype: the dtype; floating or complex by default. For integers numbers are rounded down.
///   axis: the axis of the result along which numbers go; the first by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`, or the pair of it and the distance.
/// Raises:
///   TypeError: `start` or `stop` is neither an array nor a number.
///   ValueError: `num` is negative, the shapes do not broadcast, or a `device` that is neither a device nor a
///     sharding.
/// Differentiable: yes, in both modes, with respect to `start` and `stop`.
/// Example:
///   >>> print(jnp.linspace(0, 1, 5))
///   [0.   0.25 0.5  0.75 1.  ]
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

/// Numbers at even ratios: `base` to the powers of `linspace(start, stop)`.
///
/// Args:
///   start, stop: the exponents of the ends: numbers, or arrays whose shapes broadcast.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether the power of `stop` is the last one.
///   base: the base, 10 by default: a number or an array that broadcasts.
///   dtype: the dtype; floating or complex by default.
///   axis: the axis of the result along which numbers go; the first by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`.
/// Raises:
///   TypeError: an end is neither an array nor a number.
///   ValueError: `num` is negative.
/// Differentiable: yes, in both modes, with respect to `start`, `stop` and `base`.
/// Example:
///   >>> print(jnp.logspace(0, 3, 4, base=2))
///   [1. 2. 4. 8.]
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

/// Numbers at even ratios from `start` to `stop`: evenly spaced logarithms.
///
/// Args:
///   start, stop: the ends, of one sign and not 0: numbers, or arrays whose shapes broadcast.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether `stop` is the last one.
///   dtype: the dtype; floating or complex by default.
///   axis: the axis of the result along which numbers go; the first by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`; NaN for ends that are 0 or of different
///   signs.
/// Raises:
///   TypeError: an end is neither an array nor a number.
///   ValueError: `num` is negative.
/// Differentiable: yes, in both modes, with respect to `start` and `stop`.
/// Example:
///   >>> print(jnp.round(jnp.geomspace(1, 8, 4), 3))
///   [1. 2. 4. 8.]
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

/// A matrix with ones on a diagonal and zeros elsewhere.
///
/// Args:
///   N: the number of rows.
///   M: the number of columns; `N` by default.
///   k: which diagonal: 0, the default, is the main one, positive ones are above it, negative ones below.
///   dtype: the dtype; the default float by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array `[N, M]`.
/// Raises:
///   ValueError: a negative size, or a `device` that is neither a device nor a sharding.
///   TypeError: a size that is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.eye(2, 3, k=1, dtype=int))
///   [[0 1 0]
///    [0 0 1]]
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

/// The identity matrix.
///
/// Args:
///   n: the number of rows and columns.
///   dtype: the dtype; the default float by default.
/// Returns: an array `[n, n]`.
/// Raises:
///   ValueError: `n` is negative.
///   TypeError: `n` is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.identity(2))
///   [[1. 0.]
///    [0. 1.]]
#[pyfunction]
#[pyo3(signature = (n, dtype=None), text_signature = "(n, dtype=None)")]
fn identity(py: Python<'_>, n: i64, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "identity")?;
    one(py, || numpy::eye(n, None, 0, dtype))
}

/// A matrix with ones on and below a diagonal and zeros above.
///
/// Args:
///   N: the number of rows.
///   M: the number of columns; `N` by default.
///   k: the highest diagonal with ones: 0, the default, is the main one, positive ones are above it.
///   dtype: the dtype; the default float by default.
/// Returns: an array `[N, M]`.
/// Raises:
///   TypeError: a size that is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.tri(2, 3, dtype=int))
///   [[1 0 0]
///    [1 1 0]]
#[pyfunction]
#[pyo3(signature = (N, M=None, k=0, dtype=None), text_signature = "(N, M=None, k=0, dtype=None)")]
fn tri(py: Python<'_>, N: i64, M: Option<i64>, k: i64, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "tri")?;
    one(py, || {
        let [Ok(rows), Ok(columns)] = [N, M.unwrap_or(N)].map(usize::try_from) else {
            let columns = M.unwrap_or(N);
            bail!(Type, "iota shape must have every element be nonnegative, got ({N}, {columns}).")
        };
        numpy::tri(rows, Some(columns), k, dtype)
    })
}

/// The coordinates of all positions of a grid.
///
/// Args:
///   dimensions: the sizes of the axes of the grid: a sequence of static integers.
///   dtype: the dtype; the default integer by default.
///   sparse: whether to give a tuple of arrays that broadcast to the grid, instead of one array.
/// Returns: an array `[len(dimensions), *dimensions]`, whose part `i` holds the positions along axis `i`; or a
///   tuple of arrays.
/// Raises:
///   TypeError: sizes that are no integers.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.indices((2, 2)))
///   [[[0 0]
///     [1 1]]
///   <BLANKLINE>
///    [[0 1]
///     [0 1]]]
#[pyfunction]
#[pyo3(signature = (dimensions, dtype=None, sparse=false), text_signature = "(dimensions, dtype=None, sparse=False)")]
fn indices(py: Python<'_>, dimensions: ShapeArg, dtype: Option<DTypeArg>, sparse: bool) -> PyResult<Py<PyAny>> {
    let dimensions = dimensions.0;
    let dtype = canonical(py, dtype, "indices")?;
    let sizes = || pullback_lib::axes::shape_of(&dimensions);
    if !sparse {
        return one(py, || numpy::stack(&numpy::indices(&sizes()?, dtype)?, 0, None));
    }
    tuple(py, || {
        let sizes = sizes()?;
        let alone = |axis: usize| {
            let mut shape = vec![1; sizes.len()];
            shape[axis] = sizes[axis] as i64;
            let own = numpy::indices(&sizes[axis..=axis], dtype)?.swap_remove(0);
            numpy::reshape(&own, &shape, Order::RowMajor)
        };
        (0..sizes.len()).map(alone).collect::<Result<Vec<Val>>>()
    })
}

/// The Vandermonde matrix of a vector: its powers as columns.
///
/// Args:
///   x: a vector `[n]`.
///   N: the number of columns; `n` by default.
///   increasing: whether the powers ascend from 0; by default they descend to 0.
/// Returns: an array `[n, N]` of the dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is no vector, or `N` is negative.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.vander(jnp.array([1, 2, 3])))
///   [[1 1 1]
///    [4 2 1]
///    [9 3 1]]
#[pyfunction]
#[pyo3(signature = (x, N=None, increasing=false), text_signature = "(x, N=None, increasing=False)")]
fn vander(py: Python<'_>, x: ArrayLike, N: Option<i64>, increasing: bool) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "vander", 0)?;
    one(py, || {
        let columns = N.map(usize::try_from).transpose();
        numpy::vander(&x, columns.map_err(|_| Error::value_error("N must be nonnegative"))?, increasing)
    })
}

/// A copy of an array, in memory of its own.
///
/// Args:
///   a: an array or number.
///   order: for compatibility; without influence.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is the identity.
/// Example:
///   >>> print(jnp.copy(jnp.arange(3)))
///   [0 1 2]
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
/// Floating numbers lose their fractions as integers, complex ones their imaginary parts as real ones; 64-bit types
/// narrow to 32 bits unless `jax_enable_x64` is set.
///
/// Args:
///   x: an array or number.
///   dtype: the dtype; None for the default float.
///   copy: whether to copy where nothing changes.
///   device: the device or sharding that holds the result; that of `x` by default.
/// Returns: an array of the shape of `x` and the dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, between floating and complex dtypes; integers and booleans stop gradients.
/// Example:
///   >>> print(jnp.astype(jnp.array([1.7, -2.9]), int))
///   [ 1 -2]
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
        let out = numpy::astype(&x, dtype.unwrap_or_else(pullback_lib::convert::default_float))?;
        if copy && x.aval() == out.aval() { lax::copy(&out) } else { Ok(out) }
    })
}

/// The coordinate arrays of a grid, from vectors of coordinates along its axes.
///
/// Args:
///   xi: vectors (or numbers) of sizes n1, n2, n3, ...
///   copy: for compatibility; without influence.
///   sparse: whether results keep size 1 along the axes of the others, so that they broadcast to the grid.
///   indexing: 'xy' (the default) for grids `[n2, n1, n3, ...]`, 'ij' for `[n1, n2, n3, ...]`.
/// Returns: a tuple of arrays, one for each vector.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: an argument has several axes, or another `indexing`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> x, y = jnp.meshgrid(jnp.array([1, 2]), jnp.array([3, 4]))
///   >>> print(x, y)
///   [[1 2]
///    [1 2]] [[3 3]
///    [4 4]]
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
