//! Sorted arrays, and their greatest elements.

use pullback_base::bail;
use pullback_ir::Val;
use pullback_lib::axes::canonical_axis;
use pullback_lib::lax;
use pyo3::prelude::*;

use crate::api::arguments::{list, one, operand as operand_of, tuple};
use crate::errors::{type_error, value_error};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; sort sort_key_val top_k);
    Ok(())
}

/// An array sorted along an axis, or several together by the first of them. NaN comes last; complex numbers compare
/// by real, then by imaginary part.
///
/// Args:
///   operand: an array, or a sequence of arrays of one shape.
///   dimension: the axis, negative counted from the end.
///   is_stable: whether equal keys keep their order.
///   num_keys: how many of the arrays are keys, the later ones for equal keys of the earlier.
/// Returns: an array, or a tuple of them, of the same shapes and dtypes.
/// Raises:
///   TypeError: the sequence is empty, or shapes differ.
///   ValueError: the axis is out of bounds, or `num_keys` is not from 1 to the number of arrays.
/// Differentiable: yes; derivatives move as the elements do.
/// Example:
///   >>> lax.sort(jnp.array([3, 1, 2]))
///   Array([1, 2, 3], dtype=int32)
///   >>> lax.sort((jnp.array([3, 1, 2]), jnp.array([10, 20, 30])))
///   (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
#[pyfunction]
#[pyo3(
    signature = (operand, dimension=-1, is_stable=true, num_keys=1),
    text_signature = "(operand, dimension=-1, is_stable=True, num_keys=1)"
)]
fn sort(
    py: Python<'_>,
    operand: &Bound<'_, PyAny>,
    dimension: i64,
    is_stable: bool,
    num_keys: usize,
) -> PyResult<Py<PyAny>> {
    if operand.is_instance_of::<pyo3::types::PyTuple>() || operand.is_instance_of::<pyo3::types::PyList>() {
        let xs: Vec<Val> =
            operand.try_iter()?.enumerate().map(|(i, x)| operand_of(&x?, "sort", i)).collect::<PyResult<_>>()?;
        if xs.is_empty() {
            return Err(type_error("Sort requires at least one operand"));
        }
        if num_keys == 0 || num_keys > xs.len() {
            return Err(value_error(format!("num_keys={num_keys} must be between 1 and len(operand)={}", xs.len())));
        }
        return tuple(py, || lax::sort(&xs, canonical_axis(dimension, xs[0].aval().rank())?, num_keys, is_stable));
    }
    let x = operand_of(operand, "sort", 0)?;
    one(py, || {
        let axis = canonical_axis(dimension, x.aval().rank())?;
        Ok(lax::sort(std::slice::from_ref(&x), axis, 1, is_stable)?.swap_remove(0))
    })
}

/// Keys sorted along an axis, and values that move with them.
///
/// Args:
///   keys: an array; NaN comes last.
///   values: an array of the same shape.
///   dimension: the axis, negative counted from the end.
///   is_stable: whether equal keys keep their order.
/// Returns: a pair of the sorted keys and the values.
/// Raises:
///   TypeError: shapes differ.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes; derivatives move as the elements do.
/// Example:
///   >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([10, 20, 30]))
///   (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
#[pyfunction]
#[pyo3(
    signature = (keys, values, dimension=-1, is_stable=true),
    text_signature = "(keys, values, dimension=-1, is_stable=True)"
)]
fn sort_key_val(
    py: Python<'_>,
    keys: ArrayLike,
    values: ArrayLike,
    dimension: i64,
    is_stable: bool,
) -> PyResult<Py<PyAny>> {
    let (keys, values) = (keys.val(py, "sort_key_val", 0)?, values.val(py, "sort_key_val", 1)?);
    tuple(py, || lax::sort(&[keys.clone(), values], canonical_axis(dimension, keys.aval().rank())?, 1, is_stable))
}

/// The greatest elements along an axis, descending, and their positions. NaN counts as greatest; of equal elements
/// the first comes first.
///
/// Args:
///   operand: boolean, integer or floating array of at least one axis.
///   k: how many, at most the size of the axis.
///   axis: the axis, negative counted from the end.
///   is_stable: taken for compatibility; the order is stable always.
/// Returns: a list of the elements and their int32 positions, of size `k` along the axis.
/// Raises:
///   ValueError: `k` is too great, the axis is out of bounds, or `operand` is complex.
/// Differentiable: the elements, whose derivatives go to their positions.
/// Example:
///   >>> lax.top_k(jnp.array([3, 1, 2]), 2)
///   [Array([3, 2], dtype=int32), Array([0, 2], dtype=int32)]
#[pyfunction]
#[pyo3(signature = (operand, k, *, axis=-1, is_stable=true), text_signature = "(operand, k, *, axis=-1, is_stable=True)")]
fn top_k(py: Python<'_>, operand: ArrayLike, k: i64, axis: i64, is_stable: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "top_k", 0)?;
    list(py, || {
        let _ = is_stable;
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let Ok(k) = usize::try_from(k) else { bail!(Value, "k argument to top_k must be nonnegative, got {k}") };
        lax::top_k(&operand, k, axis)
    })
}
