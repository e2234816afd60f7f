//! Changing shapes, joining and cutting.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{
    Arrays, AxesArg, ShapeArg, canonical, check_out_sharding, concrete, no_out, one, operand, optional, positional,
    tuple,
};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::axes::Axes;
use pullback_lib::numpy::{self, Order, PadMode};
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
    m.add_function(wrap_pyfunction!(tile, m)?)?;
    m.add_function(wrap_pyfunction!(repeat, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_1d, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_2d, m)?)?;
    m.add_function(wrap_pyfunction!(atleast_3d, m)?)?;
    m.add_function(wrap_pyfunction!(concatenate, m)?)?;
    m.add_function(wrap_pyfunction!(concat, m)?)?;
    m.add_function(wrap_pyfunction!(stack, m)?)?;
    m.add_function(wrap_pyfunction!(vstack, m)?)?;
    m.add_function(wrap_pyfunction!(hstack, m)?)?;
    m.add_function(wrap_pyfunction!(dstack, m)?)?;
    m.add_function(wrap_pyfunction!(column_stack, m)?)?;
    m.add_function(wrap_pyfunction!(append, m)?)?;
    m.add_function(wrap_pyfunction!(split, m)?)?;
    m.add_function(wrap_pyfunction!(array_split, m)?)?;
    m.add_function(wrap_pyfunction!(vsplit, m)?)?;
    m.add_function(wrap_pyfunction!(hsplit, m)?)?;
    m.add_function(wrap_pyfunction!(dsplit, m)?)?;
    m.add_function(wrap_pyfunction!(unstack, m)?)?;
    m.add_function(wrap_pyfunction!(delete, m)?)?;
    m.add_function(wrap_pyfunction!(kron, m)?)?;
    m.add_function(wrap_pyfunction!(tril, m)?)?;
    m.add_function(wrap_pyfunction!(triu, m)?)?;
    m.add_function(wrap_pyfunction!(diag, m)?)?;
    m.add_function(wrap_pyfunction!(diagflat, m)?)?;
    m.add_function(wrap_pyfunction!(diagonal, m)?)?;
    m.add_function(wrap_pyfunction!(trace, m)?)?;
    m.add_function(wrap_pyfunction!(pad, m)?)?;
    Ok(())
}

/// The elements under another shape.
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
#[pyfunction]
#[pyo3(signature = (a, order="C", *, out_sharding=None), text_signature = "(a, order='C', *, out_sharding=None)")]
fn ravel(py: Python<'_>, a: ArrayLike, order: &str, out_sharding: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "ravel", 0)?;
    check_out_sharding("jnp.ravel", out_sharding.as_ref())?;
    one(py, || numpy::ravel(&a, Order::parse(order)?))
}

/// The axes reversed or in another order.
#[pyfunction]
#[pyo3(signature = (a, axes=None), text_signature = "(a, axes=None)")]
fn transpose(py: Python<'_>, a: ArrayLike, axes: Option<ShapeArg>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "transpose", 0)?;
    let axes = axes.map(|shape| shape.0);
    one(py, || numpy::transpose(&a, axes.as_deref()))
}

/// The axes in another order.
#[pyfunction]
#[pyo3(signature = (a, /, axes), text_signature = "(a, /, axes)")]
fn permute_dims(py: Python<'_>, a: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "permute_dims", 0)?;
    let axes = axes.0;
    one(py, || numpy::transpose(&a, Some(&axes)))
}

/// The last two axes exchanged.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn matrix_transpose(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "matrix_transpose", 0)?;
    one(py, || numpy::matrix_transpose(&x))
}

/// Two axes exchanged.
#[pyfunction]
#[pyo3(signature = (a, axis1, axis2), text_signature = "(a, axis1, axis2)")]
fn swapaxes(py: Python<'_>, a: ArrayLike, axis1: i64, axis2: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "swapaxes", 0)?;
    one(py, || numpy::swapaxes(&a, axis1, axis2))
}

/// Axes moved to other positions.
#[pyfunction]
#[pyo3(signature = (a, source, destination), text_signature = "(a, source, destination)")]
fn moveaxis(py: Python<'_>, a: ArrayLike, source: ShapeArg, destination: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "moveaxis", 0)?;
    let source = source.0;
    let destination = destination.0;
    one(py, || numpy::moveaxis(&a, &source, &destination))
}

/// Without axes of size 1.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL), text_signature = "(a, axis=None)")]
fn squeeze(py: Python<'_>, a: ArrayLike, axis: AxesArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "squeeze", 0)?;
    let axis = axis.0;
    one(py, || numpy::squeeze(&a, &axis))
}

/// With new axes of size 1.
#[pyfunction]
#[pyo3(signature = (a, axis), text_signature = "(a, axis)")]
fn expand_dims(py: Python<'_>, a: ArrayLike, axis: ShapeArg) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "expand_dims", 0)?;
    let axis = axis.0;
    one(py, || numpy::expand_dims(&a, &axis))
}

/// The array repeated to a shape.
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

/// Arrays repeated to their common shape.
#[pyfunction]
#[pyo3(signature = (*args), text_signature = "(*args)")]
fn broadcast_arrays(py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let args = positional(py, args, "broadcast_arrays")?;
    tuple(py, || pullback_lib::broadcast::broadcast_arrays(&args))
}

/// The elements in reverse order along axes.
#[pyfunction]
#[pyo3(signature = (m, axis=AxesArg::ALL), text_signature = "(m, axis=None)")]
fn flip(py: Python<'_>, m: ArrayLike, axis: AxesArg) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "flip", 0)?;
    let axis = axis.0;
    one(py, || numpy::flip(&m, &axis))
}

/// Columns in reverse order.
#[pyfunction]
#[pyo3(signature = (m), text_signature = "(m)")]
fn fliplr(py: Python<'_>, m: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "fliplr", 0)?;
    one(py, || numpy::flip(&m, &Axes::One(1)))
}

/// Rows in reverse order.
#[pyfunction]
#[pyo3(signature = (m), text_signature = "(m)")]
fn flipud(py: Python<'_>, m: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "flipud", 0)?;
    one(py, || numpy::flip(&m, &Axes::One(0)))
}

/// Rotated by quarter turns.
#[pyfunction]
#[pyo3(signature = (m, k=1, axes=(0,1)), text_signature = "(m, k=1, axes=(0, 1))")]
fn rot90(py: Python<'_>, m: ArrayLike, k: i64, axes: (i64, i64)) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "rot90", 0)?;
    one(py, || numpy::rot90(&m, k, [axes.0, axes.1]))
}

/// Elements moved along axes.
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
        let shift = operand(shift, "roll", 1)?;
        one(py, || numpy::roll_dynamic(&a, &shift, &axis))
    }
}

/// The array repeated along each axis.
#[pyfunction]
#[pyo3(signature = (A, reps), text_signature = "(A, reps)")]
fn tile(py: Python<'_>, A: ArrayLike, reps: ShapeArg) -> PyResult<Py<PyAny>> {
    let A = A.val(py, "tile", 0)?;
    let reps = reps.0;
    one(py, || numpy::tile(&A, &pullback_lib::axes::shape_of(&reps)?))
}

/// Elements repeated.
#[pyfunction]
#[pyo3(signature = (a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None), text_signature = "(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None)")]
fn repeat(
    py: Python<'_>,
    a: ArrayLike,
    repeats: &Bound<'_, PyAny>,
    axis: Option<i64>,
    total_repeat_length: Option<usize>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "repeat", 0)?;
    check_out_sharding("jnp.repeat", out_sharding.as_ref())?;
    {
        if crate::value::as_val(repeats).is_none()
            && total_repeat_length.is_none()
            && let Ok(n) = repeats.extract::<usize>()
        {
            return one(py, || numpy::repeat(&a, n, axis));
        }
        let repeats = operand(
            &crate::numpy::numpy(py)?.asarray.bind(py).call1((repeats,)).unwrap_or_else(|_| repeats.clone()),
            "repeat",
            1,
        )?;
        one(py, || {
            let total = match total_repeat_length {
                Some(total) => total,
                None => super::support::total_of(&a, &repeats, axis)?,
            };
            numpy::repeat_each(&a, &repeats, axis, total)
        })
    }
}

/// At least one axis.
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_1d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_1d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 1))
}

/// At least two axes.
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_2d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_2d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 2))
}

/// At least three axes.
#[pyfunction]
#[pyo3(signature = (*arys), text_signature = "(*arys)")]
fn atleast_3d(py: Python<'_>, arys: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let arys = positional(py, arys, "atleast_3d")?;
    super::support::each_or_one(py, &arys, |x| numpy::atleast(x, 3))
}

/// Arrays one after the other along an axis.
#[pyfunction]
#[pyo3(signature = (arrays, axis=Some(0), dtype=None), text_signature = "(arrays, axis=0, dtype=None)")]
fn concatenate(
    py: Python<'_>,
    arrays: &Bound<'_, PyAny>,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let dtype = canonical(py, dtype, "concatenate")?;
    {
        if let Some(x) = crate::value::as_val(arrays) {
            return one(py, || numpy::concatenate_slices(x, axis, dtype));
        }
        let arrays = arrays.extract::<Arrays>()?.vals(py, "concatenate")?;
        one(py, || numpy::concatenate(&arrays, axis, dtype))
    }
}

/// Arrays one after the other along an axis.
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=Some(0)), text_signature = "(arrays, /, *, axis=0)")]
fn concat(py: Python<'_>, arrays: Arrays, axis: Option<i64>) -> PyResult<Py<PyAny>> {
    let arrays = arrays.vals(py, "concat")?;
    one(py, || numpy::concatenate(&arrays, axis, None))
}

/// Arrays along a new axis.
#[pyfunction]
#[pyo3(signature = (arrays, axis=0, out=None, dtype=None), text_signature = "(arrays, axis=0, out=None, dtype=None)")]
fn stack(
    py: Python<'_>,
    arrays: Arrays,
    axis: i64,
    out: Option<Bound<'_, PyAny>>,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let arrays = arrays.vals(py, "stack")?;
    no_out("stack", out.as_ref())?;
    let dtype = canonical(py, dtype, "stack")?;
    one(py, || numpy::stack(&arrays, axis, dtype))
}

/// Arrays one below the other.
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn vstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "vstack")?;
    let dtype = canonical(py, dtype, "vstack")?;
    one(py, || numpy::vstack(&tup, dtype))
}

/// Arrays side by side.
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn hstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "hstack")?;
    let dtype = canonical(py, dtype, "hstack")?;
    one(py, || numpy::hstack(&tup, dtype))
}

/// Arrays along the third axis.
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn dstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "dstack")?;
    let dtype = canonical(py, dtype, "dstack")?;
    one(py, || numpy::dstack(&tup, dtype))
}

/// Vectors as the columns of a matrix.
#[pyfunction]
#[pyo3(signature = (tup), text_signature = "(tup)")]
fn column_stack(py: Python<'_>, tup: Arrays) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "column_stack")?;
    one(py, || numpy::column_stack(&tup))
}

/// Elements after those of an array.
#[pyfunction]
#[pyo3(signature = (arr, values, axis=None), text_signature = "(arr, values, axis=None)")]
fn append(py: Python<'_>, arr: ArrayLike, values: ArrayLike, axis: Option<i64>) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "append", 0)?;
    let values = values.val(py, "append", 1)?;
    one(py, || numpy::append(&arr, &values, axis))
}

/// Parts of an axis.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections, axis=0), text_signature = "(ary, indices_or_sections, axis=0)")]
fn split(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>, axis: i64) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "split", 0)?;
    super::support::split(py, &ary, indices_or_sections, axis, true)
}

/// Parts of an axis whose sizes differ by at most 1.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections, axis=0), text_signature = "(ary, indices_or_sections, axis=0)")]
fn array_split(
    py: Python<'_>,
    ary: ArrayLike,
    indices_or_sections: &Bound<'_, PyAny>,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "array_split", 0)?;
    super::support::split(py, &ary, indices_or_sections, axis, false)
}

/// Parts of the first axis.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn vsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "vsplit", 0)?;
    super::support::split(py, &ary, indices_or_sections, 0, true)
}

/// Parts of the second axis.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn hsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "hsplit", 0)?;
    {
        let axis = if ary.aval().rank() == 1 { 0 } else { 1 };
        super::support::split(py, &ary, indices_or_sections, axis, true)
    }
}

/// Parts of the third axis.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn dsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "dsplit", 0)?;
    super::support::split(py, &ary, indices_or_sections, 2, true)
}

/// The slices along an axis.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=0), text_signature = "(x, /, *, axis=0)")]
fn unstack(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "unstack", 0)?;
    tuple(py, || numpy::unstack(&x, axis))
}

/// Elements without one of an axis.
#[pyfunction]
#[pyo3(signature = (arr, obj, axis=None, *, assume_unique_indices=false), text_signature = "(arr, obj, axis=None, *, assume_unique_indices=False)")]
fn delete(
    py: Python<'_>,
    arr: ArrayLike,
    obj: &Bound<'_, PyAny>,
    axis: Option<i64>,
    assume_unique_indices: bool,
) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "delete", 0)?;
    {
        let _ = assume_unique_indices;
        let at = concrete(obj, "The jnp.delete argument 'obj' must be concrete")?;
        one(py, || numpy::delete(&arr, at.as_i64(), axis))
    }
}

/// The Kronecker product.
#[pyfunction]
#[pyo3(signature = (a, b), text_signature = "(a, b)")]
fn kron(py: Python<'_>, a: ArrayLike, b: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "kron", 0)?;
    let b = b.val(py, "kron", 1)?;
    one(py, || numpy::kron(&a, &b))
}

/// The elements on and below a diagonal.
#[pyfunction]
#[pyo3(signature = (m, k=0), text_signature = "(m, k=0)")]
fn tril(py: Python<'_>, m: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "tril", 0)?;
    one(py, || numpy::tril(&m, k))
}

/// The elements on and above a diagonal.
#[pyfunction]
#[pyo3(signature = (m, k=0), text_signature = "(m, k=0)")]
fn triu(py: Python<'_>, m: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "triu", 0)?;
    one(py, || numpy::triu(&m, k))
}

/// A matrix with a vector on a diagonal, or the diagonal of a matrix.
#[pyfunction]
#[pyo3(signature = (v, k=0), text_signature = "(v, k=0)")]
fn diag(py: Python<'_>, v: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let v = v.val(py, "diag", 0)?;
    one(py, || numpy::diag(&v, k))
}

/// A matrix with all elements on a diagonal.
#[pyfunction]
#[pyo3(signature = (v, k=0), text_signature = "(v, k=0)")]
fn diagflat(py: Python<'_>, v: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let v = v.val(py, "diagflat", 0)?;
    one(py, || numpy::diagflat(&v, k))
}

/// A diagonal of planes.
#[pyfunction]
#[pyo3(signature = (a, offset=0, axis1=0, axis2=1), text_signature = "(a, offset=0, axis1=0, axis2=1)")]
fn diagonal(py: Python<'_>, a: ArrayLike, offset: i64, axis1: i64, axis2: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "diagonal", 0)?;
    one(py, || numpy::diagonal(&a, offset, [axis1, axis2]))
}

/// The sum of a diagonal.
#[pyfunction]
#[pyo3(signature = (a, offset=0, axis1=0, axis2=1, dtype=None, out=None), text_signature = "(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)")]
fn trace(
    py: Python<'_>,
    a: ArrayLike,
    offset: i64,
    axis1: i64,
    axis2: i64,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "trace", 0)?;
    let dtype = canonical(py, dtype, "trace")?;
    no_out("trace", out.as_ref())?;
    one(py, || numpy::trace(&a, offset, [axis1, axis2], dtype))
}

/// The array with elements around it.
#[pyfunction]
#[pyo3(signature = (array, pad_width, mode="constant", constant_values=None), text_signature = "(array, pad_width, mode='constant', **kwargs)")]
fn pad(
    py: Python<'_>,
    array: ArrayLike,
    pad_width: &Bound<'_, PyAny>,
    mode: &str,
    constant_values: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "pad", 0)?;
    let constant_values = optional(py, constant_values, "pad", 3)?;
    {
        let widths = super::support::widths(pad_width, array.aval().rank())?;
        let fill = constant_values.unwrap_or_else(|| pullback_lib::convert::weak_int(0));
        one(py, || numpy::pad(&array, &widths, PadMode::parse(mode)?, &fill))
    }
}
