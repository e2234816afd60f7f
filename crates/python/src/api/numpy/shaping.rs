//! Changing shapes, joining and cutting.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{AxesArg, ShapeArg, check_out_sharding, one, positional, tuple};
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::axes::Axes;
use pullback_lib::numpy::{self, Order};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(reshape, m)?)?;
    m.add_function(wrap_pyfunction!(ravel, m)?)?;
    m.add_function(wrap_pyfunction!(transpose, m)?)?;
    m.add_function(wrap_pyfunction!(permute_dims, m)?)?;
    m.add_function(wrap_pyfunction!(matrix_transpose, m)?)?;
    m.add_function(wrap_pyfunction!(swapaxes, m)?)?;
    m.add_function(wrap_pyfunction!(moveaxis, m)?)?;
    m.add_function(wrap_pyfunction!(squeeze, m)?)?;
    m.add_function(wrap_pyfunction!(expand_dims, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_to, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_arrays, m)?)?;
    m.add_function(wrap_pyfunction!(flip, m)?)?;
    m.add_function(wrap_pyfunction!(fliplr, m)?)?;
    m.add_function(wrap_pyfunction!(flipud, m)?)?;
    m.add_function(wrap_pyfunction!(rot90, m)?)?;
    m.add_function(wrap_pyfunction!(roll, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_1d, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_2d, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_3d, m)?)?;
    Ok(())
}

/// The elements under another shape, in the same order.
///
/// Args:
///   a: an array or number.
///   shape: the sizes of the axes: an integer or a sequence of static integers; one may be -1, which takes what is
///     left.
///   order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
///   copy: for compatibility; the result behaves as a copy.
///   out_sharding: the sharding of the result.
/// Returns: an array of that shape and the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), another number of elements, or several
///     -1.
///   ValueError: another `order`.
///   NotImplementedError: `order='A'`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.reshape(jnp.arange(6), (2, -1)))
///   [[0 1 2]
///    [3 4 5]]
#[pyfunction]
#[pyo3(signature = (a, shape, order="C", *, copy=None, out_sharding=None), text_signature = "(a, shape, order='C', *, copy=None, out_sharding=None)")]
fn reshape(
    py: Python<'_>,
    a: ArrayLike,
    shape: ShapeArg,
    order: &str,
    copy: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "reshape", 0)?;
    let shape = shape.0;
    let _ = copy;
    check_out_sharding("jnp.reshape", out_sharding.as_ref())?;
    one(py, || numpy::reshape(&a, &shape, Order::parse(order)?))
}

/// The elements in one axis.
///
/// Args:
///   a: an array or number.
///   order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
///   out_sharding: the sharding of the result.
/// Returns: a vector of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: another `order`.
///   NotImplementedError: `order` is 'A' or 'K'.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> a = jnp.array([[1, 2], [3, 4]])
///   >>> print(jnp.ravel(a), jnp.ravel(a, order="F"))
///   [1 2 3 4] [1 3 2 4]
#[pyfunction]
#[pyo3(signature = (a, order="C", *, out_sharding=None), text_signature = "(a, order='C', *, out_sharding=None)")]
fn ravel(py: Python<'_>, a: ArrayLike, order: &str, out_sharding: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "ravel", 0)?;
    check_out_sharding("jnp.ravel", out_sharding.as_ref())?;
    one(py, || {
        if matches!(order, "A" | "K") {
            bail!(NotImplemented, "Ravel not implemented for order={order:?}.");
        }
        numpy::ravel(&a, Order::parse(order)?)
    })
}

/// The axes in another order, reversed by default.
///
/// Args:
///   a: an array or number.
///   axes: for each axis of the result the one of `a`, negative ones counted from the end; None (the default)
///     reverses them.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `axes` is no permutation.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.transpose(jnp.array([[1, 2, 3], [4, 5, 6]])))
///   [[1 4]
///    [2 5]
///    [3 6]]
#[pyfunction]
#[pyo3(signature = (a, axes=None), text_signature = "(a, axes=None)")]
fn transpose(py: Python<'_>, a: ArrayLike, axes: Option<ShapeArg>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "transpose", 0)?;
    let axes = axes.map(|shape| shape.0);
    one(py, || numpy::transpose(&a, axes.as_deref()))
}

/// The axes in another order: `transpose` under the name of the array API.
///
/// Args:
///   a: an array.
///   axes: for each axis of the result the one of `a`, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `axes` is no permutation.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.permute_dims(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
///   (4, 2, 3)
#[pyfunction]
#[pyo3(signature = (a, /, axes), text_signature = "(a, /, axes)")]
fn permute_dims(py: Python<'_>, a: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "permute_dims", 0)?;
    let axes = axes.0;
    one(py, || numpy::transpose(&a, Some(&axes)))
}

/// The last two axes exchanged.
///
/// Args:
///   x: an array `[..., m, n]`.
/// Returns: an array `[..., n, m]` of the dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.matrix_transpose(jnp.array([[1, 2], [3, 4]])))
///   [[1 3]
///    [2 4]]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn matrix_transpose(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "matrix_transpose", 0)?;
    one(py, || numpy::matrix_transpose(&x))
}

/// Two axes exchanged.
///
/// Args:
///   a: an array.
///   axis1, axis2: the axes, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
///   (4, 3, 2)
#[pyfunction]
#[pyo3(signature = (a, axis1, axis2), text_signature = "(a, axis1, axis2)")]
fn swapaxes(py: Python<'_>, a: ArrayLike, axis1: i64, axis2: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "swapaxes", 0)?;
    one(py, || numpy::swapaxes(&a, axis1, axis2))
}

/// Axes moved to other positions; the others keep their order.
///
/// Args:
///   a: an array.
///   source: the axis or axes to move.
///   destination: where they go in the result, as many.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice, or another number of destinations.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
///   (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (a, source, destination), text_signature = "(a, source, destination)")]
fn moveaxis(py: Python<'_>, a: ArrayLike, source: ShapeArg, destination: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "moveaxis", 0)?;
    let source = source.0;
    let destination = destination.0;
    one(py, || numpy::moveaxis(&a, &source, &destination))
}

/// The array without axes of size 1.
///
/// Args:
///   a: an array or number.
///   axis: the axis or axes to leave out, of size 1; None (the default) for all such.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis of another size, out of bounds, or given twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape, jnp.squeeze(jnp.ones((1, 3, 1)), axis=0).shape
///   ((3,), (3, 1))
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL), text_signature = "(a, axis=None)")]
fn squeeze(py: Python<'_>, a: ArrayLike, axis: AxesArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "squeeze", 0)?;
    let axis = axis.0;
    one(py, || numpy::squeeze(&a, &axis))
}

/// The array with new axes of size 1.
///
/// Args:
///   a: an array or number.
///   axis: where the new axes are in the result: one or several, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.expand_dims(jnp.ones(3), 0).shape, jnp.expand_dims(jnp.ones(3), (0, -1)).shape
///   ((1, 3), (1, 3, 1))
#[pyfunction]
#[pyo3(signature = (a, axis), text_signature = "(a, axis)")]
fn expand_dims(py: Python<'_>, a: ArrayLike, axis: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "expand_dims", 0)?;
    let axis = axis.0;
    one(py, || numpy::expand_dims(&a, &axis))
}

/// The array repeated to a shape: aligned at the ends, axes of size 1 stretch and missing ones come in front.
///
/// Args:
///   array: an array or number.
///   shape: the sizes of the axes: an integer or a sequence.
///   out_sharding: the sharding of the result.
/// Returns: an array of that shape and the dtype of `array`.
/// Raises:
///   TypeError: `array` is neither an array nor a number (lists are refused).
///   ValueError: `array` does not broadcast to the shape.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.broadcast_to(jnp.array([1, 2]), (3, 2)))
///   [[1 2]
///    [1 2]
///    [1 2]]
#[pyfunction]
#[pyo3(signature = (array, shape, *, out_sharding=None), text_signature = "(array, shape, *, out_sharding=None)")]
fn broadcast_to(
    py: Python<'_>,
    array: ArrayLike,
    shape: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "broadcast_to", 0)?;
    let shape = shape.0;
    check_out_sharding("jnp.broadcast_to", out_sharding.as_ref())?;
    one(py, || pullback_lib::broadcast::broadcast_to(&array, &pullback_lib::axes::shape_of(&shape)?))
}

/// Arrays repeated to their common shape; each keeps its dtype.
///
/// Args:
///   args: arrays or numbers.
/// Returns: a tuple of arrays.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: the shapes do not broadcast.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> x, y = jnp.broadcast_arrays(jnp.array([1, 2]), 7)
///   >>> print(x, y)
///   [1 2] [7 7]
#[pyfunction]
#[pyo3(signature = (*args), text_signature = "(*args)")]
fn broadcast_arrays(py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let args = positional(py, args, "broadcast_arrays")?;
    tuple(py, || pullback_lib::broadcast::broadcast_arrays(&args))
}

/// The elements in reverse order along axes.
///
/// Args:
///   m: an array.
///   axis: the axis or axes; None (the default) for all.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.flip(jnp.array([[1, 2], [3, 4]]), axis=1))
///   [[2 1]
///    [4 3]]
#[pyfunction]
#[pyo3(signature = (m, axis=AxesArg::ALL), text_signature = "(m, axis=None)")]
fn flip(py: Python<'_>, m: ArrayLike, axis: AxesArg) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "flip", 0)?;
    let axis = axis.0;
    one(py, || numpy::flip(&m, &axis))
}

/// The columns in reverse order: `flip` along axis 1.
///
/// Args:
///   m: an array of at least two axes.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fliplr(jnp.array([[1, 2], [3, 4]])))
///   [[2 1]
///    [4 3]]
#[pyfunction]
#[pyo3(signature = (m), text_signature = "(m)")]
fn fliplr(py: Python<'_>, m: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "fliplr", 0)?;
    one(py, || numpy::flip(&m, &Axes::One(1)))
}

/// The rows in reverse order: `flip` along axis 0.
///
/// Args:
///   m: an array of at least one axis.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has no axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.flipud(jnp.array([[1, 2], [3, 4]])))
///   [[3 4]
///    [1 2]]
#[pyfunction]
#[pyo3(signature = (m), text_signature = "(m)")]
fn flipud(py: Python<'_>, m: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "flipud", 0)?;
    one(py, || numpy::flip(&m, &Axes::One(0)))
}

/// The array rotated by quarter turns in a plane, from the first axis to the second one.
///
/// Args:
///   m: an array of at least two axes.
///   k: how many quarter turns, 1 by default; negative ones turn the other way.
///   axes: the plane: two different axes, (0, 1) by default.
/// Returns: an array of the dtype of `m`; odd `k` exchange the sizes of the two axes.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds, or both are the same.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.rot90(jnp.array([[1, 2], [3, 4]])))
///   [[2 4]
///    [1 3]]
#[pyfunction]
#[pyo3(signature = (m, k=1, axes=(0,1)), text_signature = "(m, k=1, axes=(0, 1))")]
fn rot90(py: Python<'_>, m: ArrayLike, k: i64, axes: (i64, i64)) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "rot90", 0)?;
    one(py, || numpy::rot90(&m, k, [axes.0, axes.1]))
}

/// The elements moved along axes; those that leave at one end come in at the other.
///
/// Args:
///   a: an array.
///   shift: by how many places, which may be traced: an integer, or a sequence of one for each axis.
///   axis: the axis or axes; None (the default) moves in the flat array.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or a shift that is no integer.
///   ValueError: an axis is out of bounds, or another number of shifts.
/// Differentiable: yes, in both modes, with respect to `a`; it is linear.
/// Example:
///   >>> print(jnp.roll(jnp.arange(5), 2))
///   [3 4 0 1 2]
#[pyfunction]
#[pyo3(signature = (a, shift, axis=AxesArg::ALL), text_signature = "(a, shift, axis=None)")]
fn roll(py: Python<'_>, a: ArrayLike, shift: &Bound<'_, PyAny>, axis: AxesArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "roll", 0)?;
    let axis = axis.0;
    {
        if let Ok(shifts) = shift.extract::<ShapeArg>()
            && crate::value::as_val(shift).is_none()
        {
            return one(py, || numpy::roll(&a, &shifts.0, &axis));
        }
        let shift = super::irregular::array_like(shift)?;
        one(py, || {
            // A shift that is no whole number is cut to one.
            let is_float = shift.aval().dtype.is_float();
            let shift =
                if is_float { pullback_lib::convert::to_dtype(&shift, pullback_base::DType::I32)? } else { shift };
            numpy::roll_dynamic(&a, &shift, &axis)
        })
    }
}

/// Arrays with at least one axis; numbers become vectors of one element.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.atleast_1d(3))
///   [3]
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_1d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_1d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 1))
}

/// Arrays with at least two axes; missing ones come in front.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.atleast_2d(jnp.array([1, 2])))
///   [[1 2]]
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_2d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_2d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 2))
}

/// Arrays with at least three axes: `[n]` becomes `[1, n, 1]`, `[m, n]` becomes `[m, n, 1]`.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.atleast_3d(jnp.ones(4)).shape, jnp.atleast_3d(jnp.ones((2, 3))).shape
///   ((1, 4, 1), (2, 3, 1))
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_3d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_3d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 3))
}
