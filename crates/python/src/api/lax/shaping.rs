//! Arrays under other shapes: axes moved, added, removed, joined, cut, repeated and padded.

use pullback_base::{Result, bail};
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::{self, joined_axis, one_dtype, padding, reversed_axes, sizes};
use crate::api::arguments::{Arrays, ShapeArg, check_out_sharding, list, one, tuple};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; broadcast broadcast_in_dim broadcast_to_rank collapse concatenate expand_dims pad reshape rev split squeeze stack tile transpose unstack);
    Ok(())
}

/// The array repeated along new axes in front.
///
/// Args:
///   operand: array or scalar of any dtype.
///   sizes: sizes of the new axes.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: an array of shape `(*sizes, *operand.shape)`.
/// Raises:
///   TypeError: a size is negative.
/// Differentiable: yes, linear; the transpose sums.
/// Example:
///   >>> lax.broadcast(jnp.array([1, 2]), (3,))
///   Array([[1, 2],
///          [1, 2],
///          [1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, sizes, *, out_sharding=None), text_signature = "(operand, sizes, *, out_sharding=None)")]
fn broadcast(
    py: Python<'_>,
    operand: ArrayLike,
    sizes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "broadcast", 0)?;
    let sizes = sizes.0;
    check_out_sharding("broadcast_in_dim", out_sharding.as_ref())?;
    one(py, || {
        let mut shape = shape_of(&sizes)?;
        let n = shape.len();
        shape.extend(operand.aval().shape.iter());
        lax::broadcast_in_dim(&operand, &shape, &(n..shape.len()).collect::<Vec<_>>())
    })
}

/// The array repeated to a shape, with a place given to each of its axes.
///
/// Args:
///   operand: array or scalar of any dtype.
///   shape: the shape of the result.
///   broadcast_dimensions: for each axis of `operand` its axis of the result, rising.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: an array of `shape`; an axis of size 1 and those not named repeat the elements.
/// Raises:
///   TypeError: a size is negative, an axis neither has size 1 nor that of its place, or the axes do not rise or do
///     not fit.
/// Differentiable: yes, linear; the transpose sums.
/// Example:
///   >>> lax.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
///   Array([[1, 1, 1],
///          [2, 2, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, shape, broadcast_dimensions, *, out_sharding=None), text_signature = "(operand, shape, broadcast_dimensions, *, out_sharding=None)")]
fn broadcast_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    shape: ShapeArg,
    broadcast_dimensions: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "broadcast_in_dim", 0)?;
    let shape = shape.0;
    let broadcast_dimensions = broadcast_dimensions.0;
    check_out_sharding("broadcast_in_dim", out_sharding.as_ref())?;
    one(py, || lax::broadcast_in_dim(&operand, &shape_of(&shape)?, &sizes(&broadcast_dimensions)?))
}

/// The array with as many axes of size 1 in front as make up a rank; as it is if it has that many.
///
/// Args:
///   x: array or scalar of any dtype.
///   rank: the number of axes wanted.
/// Returns: an array of at least `rank` axes.
/// Raises:
///   OverflowError: `rank` is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.broadcast_to_rank(jnp.array([1, 2]), 3).shape
///   (1, 1, 2)
#[pyfunction]
#[pyo3(signature = (x, rank), text_signature = "(x, rank)")]
fn broadcast_to_rank(py: Python<'_>, x: ArrayLike, rank: usize) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "broadcast_to_rank", 0)?;
    one(py, || pullback_lib::broadcast::to_rank(&x, rank))
}

/// The array with consecutive axes merged in one.
///
/// Args:
///   operand: array of any dtype.
///   start_dimension: the first axis, negative counted from the end.
///   stop_dimension: the axis after the last, likewise; all that follow by default.
/// Returns: an array of the same elements; bounds beyond the axes are moved to them, and no axes merge to one of size 1.
/// Raises:
///   ValueError: the first axis comes after the last.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.collapse(jnp.zeros((2, 3, 4)), 1).shape
///   (2, 12)
#[pyfunction]
#[pyo3(signature = (operand, start_dimension, stop_dimension=None), text_signature = "(operand, start_dimension, stop_dimension=None)")]
fn collapse(
    py: Python<'_>,
    operand: ArrayLike,
    start_dimension: i64,
    stop_dimension: Option<i64>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "collapse", 0)?;
    one(py, || {
        let aval = operand.aval();
        let rank = aval.rank() as i64;
        let wrap = |at: i64| (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize;
        let (from, to) = (wrap(start_dimension), stop_dimension.map_or(rank as usize, wrap));
        if from > to {
            bail!(Value, "collapse: start_dimension {start_dimension} comes after stop_dimension");
        }
        let shape = [&aval.shape[..from], &[aval.shape[from..to].iter().product()], &aval.shape[to..]].concat();
        lax::reshape(&operand, &shape, None)
    })
}

/// Arrays one after the other along an axis they have.
///
/// Args:
///   operands: at least one array, all of one dtype and of one shape but for `dimension`.
///   dimension: the axis, negative counted from the end.
/// Returns: an array with the sum of the sizes along the axis.
/// Raises:
///   ValueError: there are no arrays, or the axis is out of bounds.
///   TypeError: dtypes, ranks or other sizes differ.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.concatenate([jnp.array([1, 2]), jnp.array([3])], 0)
///   Array([1, 2, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operands, dimension), text_signature = "(operands, dimension)")]
fn concatenate(py: Python<'_>, operands: Arrays, dimension: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "concatenate")?;
    one(py, || {
        if operands.is_empty() {
            bail!(Value, "concatenate requires a non-empty sequences of arrays");
        }
        if let [single] = &operands[..] {
            return Ok(single.clone());
        }
        lax::concatenate(&operands, joined_axis(&operands, dimension)?)
    })
}

/// The array with new axes of size 1.
///
/// Args:
///   array: array of any dtype.
///   dimensions: where the new axes are in the result, negative positions counted from its end.
/// Returns: an array of higher rank with the same elements.
/// Raises:
///   ValueError: a position is out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.expand_dims(jnp.array([1, 2]), (0, 2)).shape
///   (1, 2, 1)
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn expand_dims(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "expand_dims", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::expand_dims(&array, &dimensions))
}

/// The array with a value before, after and between its elements.
///
/// Args:
///   operand: array of any dtype.
///   padding_value: a scalar of the dtype of `operand`.
///   padding_config: `(low, high, interior)` for each axis: how many values come before, after and between each two
///     elements. Negative `low` and `high` crop.
/// Returns: an array with sizes `low + high + size + interior * (size - 1)`.
/// Raises:
///   TypeError: the dtypes differ.
///   ValueError: the value is no scalar, there is not one triple for each axis, `interior` or a resulting size is
///     negative.
/// Differentiable: yes, linear in `operand` and in the value.
/// Example:
///   >>> lax.pad(jnp.array([1, 2, 3]), 0, [(1, 2, 0)])
///   Array([0, 1, 2, 3, 0, 0], dtype=int32)
///   >>> lax.pad(jnp.array([1, 2, 3]), 0, [(0, -1, 1)])
///   Array([1, 0, 2, 0], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, padding_value, padding_config), text_signature = "(operand, padding_value, padding_config)")]
fn pad(
    py: Python<'_>,
    operand: ArrayLike,
    padding_value: ArrayLike,
    padding_config: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "pad", 0)?;
    let padding_value = padding_value.val(py, "pad", 1)?;
    let config = padding(padding_config)?;
    one(py, || {
        let (dtype, fill) = (operand.aval().dtype, padding_value.aval().dtype);
        if dtype != fill {
            bail!(Type, "pad operand and padding_value must be same dtype: got {dtype} and {fill}.");
        }
        lax::pad(&operand, &padding_value, &config)
    })
}

/// The elements, in row-major order, under another shape.
///
/// Args:
///   operand: array of any dtype.
///   new_sizes: the shape, of which every size is given.
///   dimensions: an order of axes in which the elements are read; their own by default.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: an array of the new shape.
/// Raises:
///   TypeError: a size is negative, or `dimensions` is no order of the axes.
///   ValueError: the sizes do not hold the elements.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.reshape(jnp.arange(6), (3, 2))
///   Array([[0, 1],
///          [2, 3],
///          [4, 5]], dtype=int32)
///   >>> lax.reshape(jnp.arange(6).reshape(2, 3), (6,), (1, 0))
///   Array([0, 3, 1, 4, 2, 5], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, new_sizes, dimensions=None, *, out_sharding=None), text_signature = "(operand, new_sizes, dimensions=None, *, out_sharding=None)")]
fn reshape(
    py: Python<'_>,
    operand: ArrayLike,
    new_sizes: ShapeArg,
    dimensions: Option<ShapeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reshape", 0)?;
    let wanted = new_sizes.0;
    let dimensions = dimensions.map(|shape| shape.0);
    check_out_sharding("reshape", out_sharding.as_ref())?;
    one(py, || {
        let shape = support::new_sizes(&operand, &wanted)?;
        match dimensions.map(|dims| sizes(&dims)).transpose()? {
            Some(dims) => lax::reshape(&lax::transpose(&operand, &dims)?, &shape, None),
            None => lax::reshape(&operand, &shape, None),
        }
    })
}

/// The elements in reverse order along axes.
///
/// Args:
///   operand: array of any dtype.
///   dimensions: an axis or several, negative ones counted from the end.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.rev(jnp.array([[1, 2], [3, 4]]), (1,))
///   Array([[2, 1],
///          [4, 3]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, dimensions), text_signature = "(operand, dimensions)")]
fn rev(py: Python<'_>, operand: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "rev", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::rev(&operand, &reversed_axes(&operand, &dimensions)?))
}

/// Sizes of parts, none of which may be negative.
fn parts(given: &[i64]) -> Result<Vec<usize>> {
    if given.iter().any(|&size| size < 0) {
        bail!(Value, "Sizes passed to split must be nonnegative, got {given:?}");
    }
    sizes(given)
}

/// Consecutive parts of an axis.
///
/// Args:
///   operand: array of any dtype.
///   sizes: the sizes of the parts, which add up to that of the axis.
///   axis: the axis, negative counted from the end.
/// Returns: a list of arrays, one for each size.
/// Raises:
///   ValueError: the sizes do not add up, or the axis is out of bounds.
///   TypeError: a size is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.split(jnp.arange(4), (1, 3))
///   [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32)]
#[pyfunction]
#[pyo3(signature = (operand, sizes, axis=0), text_signature = "(operand, sizes, axis=0)")]
fn split(py: Python<'_>, operand: ArrayLike, sizes: ShapeArg, axis: i64) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "split", 0)?;
    let sizes = sizes.0;
    list(py, || lax::split(&operand, &parts(&sizes)?, canonical_axis(axis, operand.aval().rank())?))
}

/// The array without some axes of size 1.
///
/// Args:
///   array: array of any dtype.
///   dimensions: an axis or several of size 1, negative ones counted from the end.
/// Returns: an array of lower rank with the same elements.
/// Raises:
///   ValueError: an axis is not of size 1, out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.squeeze(jnp.array([[1, 2]]), (0,))
///   Array([1, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn squeeze(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "squeeze", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::squeeze(&array, &dimensions))
}

/// Arrays side by side along a new axis.
///
/// Args:
///   operands: at least one array, all of one shape and dtype.
///   axis: where the new axis is in the result, negative counted from its end.
/// Returns: an array of one axis more.
/// Raises:
///   ValueError: there are no arrays, shapes differ, or the axis is out of bounds.
///   TypeError: dtypes differ.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.stack([jnp.array([1, 2]), jnp.array([3, 4])])
///   Array([[1, 2],
///          [3, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operands, axis=0), text_signature = "(operands, axis=0)")]
fn stack(py: Python<'_>, operands: Arrays, axis: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "stack")?;
    one(py, || {
        one_dtype("lax.stack", &operands)?;
        pullback_lib::numpy::stack(&operands, axis, None)
    })
}

/// The array repeated as a whole along each axis.
///
/// Args:
///   operand: array of any dtype.
///   reps: how often, for each axis.
/// Returns: an array whose sizes are multiplied by `reps`.
/// Raises:
///   TypeError: there is not one number for each axis, or one is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.tile(jnp.array([[1, 2]]), (2, 2))
///   Array([[1, 2, 1, 2],
///          [1, 2, 1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, reps), text_signature = "(operand, reps)")]
fn tile(py: Python<'_>, operand: ArrayLike, reps: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "tile", 0)?;
    let reps = reps.0;
    one(py, || lax::tile(&operand, &shape_of(&reps)?))
}

/// The axes in another order.
///
/// Args:
///   operand: array of any dtype.
///   permutation: for each axis of the result the one of `operand`, each once and none negative.
/// Returns: an array whose size `i` is that of axis `permutation[i]`.
/// Raises:
///   TypeError: `permutation` is no order of the axes.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.transpose(jnp.array([[1, 2, 3], [4, 5, 6]]), (1, 0))
///   Array([[1, 4],
///          [2, 5],
///          [3, 6]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, permutation), text_signature = "(operand, permutation)")]
fn transpose(py: Python<'_>, operand: ArrayLike, permutation: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "transpose", 0)?;
    let permutation = permutation.0;
    one(py, || lax::transpose(&operand, &sizes(&permutation)?))
}

/// The slices along an axis, which goes.
///
/// Args:
///   x: array of at least one axis.
///   axis: the axis, negative counted from the end.
/// Returns: a tuple of as many arrays as the axis is long.
/// Raises:
///   ValueError: `x` is a scalar, or the axis is out of bounds.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.unstack(jnp.array([[1, 2], [3, 4]]))
///   (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
#[pyfunction]
#[pyo3(signature = (x, axis=0), text_signature = "(x, axis=0)")]
fn unstack(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "unstack", 0)?;
    tuple(py, || pullback_lib::numpy::unstack(&x, axis))
}
