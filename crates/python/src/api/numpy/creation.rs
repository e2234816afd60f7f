//! Making arrays.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{canonical, concrete, on_device, split_as, wide_integer};
use crate::dtypes::DTypeArg;
use pullback_base::Scalar;
use pullback_lib::numpy;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(arange, m)?)?;
    Ok(())
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
    split_as(py, "jnp.arange", out_sharding.as_ref(), || {
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
    })
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
