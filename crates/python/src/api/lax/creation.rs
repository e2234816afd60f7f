//! Arrays of one value, and of counting numbers.

use pullback_base::aval::tuple_text;
use pullback_base::bail;
use pullback_lib::axes::shape_of;
use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::scalar_fill;
use crate::api::arguments::{ShapeArg, canonical, check_out_sharding, one, operand_for, prototype_of};
use crate::dtypes::DTypeArg;
use crate::gate::gate;
use crate::value::{ArrayLike, wrap};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; broadcasted_iota full full_like iota);
    Ok(())
}

/// 0, 1, 2, and so on along an axis, the same along all others.
///
/// Args:
///   dtype: an integer, floating or complex dtype; 64-bit ones are halved without x64.
///   shape: the shape of the result.
///   dimension: the axis that counts, from the front.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: an array of `shape`.
/// Raises:
///   TypeError: the dtype is boolean, or a size is negative.
///   ValueError: the axis is out of bounds.
/// Differentiable: nothing to differentiate, it takes no array.
/// Example:
///   >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
///   Array([[0, 1, 2],
///          [0, 1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (dtype, shape, dimension, *, out_sharding=None), text_signature = "(dtype, shape, dimension, *, out_sharding=None)")]
fn broadcasted_iota(
    py: Python<'_>,
    dtype: &Bound<'_, PyAny>,
    shape: ShapeArg,
    dimension: i64,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    check_out_sharding("broadcasted_iota", out_sharding.as_ref())?;
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
    one(py, || {
        let shape = shape_of(&shape)?;
        if !(0..shape.len() as i64).contains(&dimension) {
            let shape = tuple_text(&shape);
            bail!(
                Value,
                "iota dimension must be between 0 and len(shape), got dimension={dimension} for shape={shape}"
            );
        }
        let axis = dimension as usize;
        lax::broadcasted_iota(dtype, &shape, axis)
    })
}

/// An array of one value.
///
/// Args:
///   shape: the shape of the result.
///   fill_value: a scalar.
///   dtype: the dtype of the result; that of the value by default, weak if it is a Python number.
///   sharding: taken for compatibility and ignored.
/// Returns: an array of `shape`.
/// Raises:
///   TypeError: the value is no scalar, or a size is negative.
/// Differentiable: in `fill_value`, linear.
/// Example:
///   >>> lax.full((2,), 7, jnp.float32)
///   Array([7., 7.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, *, sharding=None), text_signature = "(shape, fill_value, dtype=None, *, sharding=None)")]
fn full(
    py: Python<'_>,
    shape: ShapeArg,
    fill_value: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let dtype = canonical(py, dtype, "full")?;
    let fill_value = operand_for(fill_value, dtype, "full", 1)?;
    let made = gate(py, || {
        scalar_fill(&fill_value)?;
        pullback_lib::numpy::full(&shape, &fill_value, dtype)
    })?;
    let Some(sharding) = sharding.filter(|sharding| !sharding.is_none()) else { return wrap(py, made) };
    let strong = wrap(py, gate(py, || lax::convert_element_type(&made, made.aval().dtype, false))?)?;
    Ok(py.import("pullback")?.getattr("device_put")?.call1((strong, sharding))?.unbind())
}

/// An array of one value with the shape and dtype of another.
///
/// Args:
///   x: array or scalar.
///   fill_value: a scalar, converted to the dtype.
///   dtype: the dtype, if not that of `x`.
///   shape: the shape, if not that of `x`.
///   sharding: taken for compatibility and ignored.
/// Returns: an array of that shape and dtype.
/// Raises:
///   TypeError: the value is no scalar, or a size is negative.
/// Differentiable: in `fill_value`, linear; not in `x`.
/// Example:
///   >>> lax.full_like(jnp.arange(3), 1.5)
///   Array([1, 1, 1], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, fill_value, dtype=None, shape=None, sharding=None), text_signature = "(x, fill_value, dtype=None, shape=None, sharding=None)")]
fn full_like(
    py: Python<'_>,
    x: ArrayLike,
    fill_value: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (x, shape) = prototype_of(py, x, shape, "full_like")?;
    let dtype = canonical(py, dtype, "full_like")?;
    let fill_value = operand_for(fill_value, dtype.or(Some(x.aval().dtype)), "full_like", 1)?;
    let _ = sharding;
    one(py, || {
        scalar_fill(&fill_value)?;
        pullback_lib::numpy::full_like(&x, &fill_value, dtype, shape.as_deref())
    })
}

/// 0, 1, 2, and so on.
///
/// Args:
///   dtype: an integer, floating or complex dtype; 64-bit ones are halved without x64.
///   size: how many, at least 0.
/// Returns: an array of shape `(size,)`.
/// Raises:
///   TypeError: the dtype is boolean, or `size` is no integer.
///   OverflowError: `size` is negative.
/// Differentiable: nothing to differentiate, it takes no array.
/// Example:
///   >>> lax.iota(jnp.int32, 4)
///   Array([0, 1, 2, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (dtype, size), text_signature = "(dtype, size)")]
fn iota(py: Python<'_>, dtype: &Bound<'_, PyAny>, size: i64) -> PyResult<Py<PyAny>> {
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
    one(py, || {
        let Ok(size) = usize::try_from(size) else {
            bail!(Type, "iota shape must have every element be nonnegative, got ({size},).")
        };
        lax::iota(dtype, size)
    })
}
