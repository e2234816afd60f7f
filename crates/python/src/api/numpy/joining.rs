//! Arrays joined, repeated and cut into parts.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{Arrays, ShapeArg, canonical, check_out_sharding, concrete, no_out, one, operand, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::numpy::{self, PadMode};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(tile, m)?)?;
    m.add_function(wrap_pyfunction!(repeat, m)?)?;
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
    m.add_function(wrap_pyfunction!(pad, m)?)?;
    Ok(())
}

/// The array repeated along each axis.
///
/// Args:
///   A: an array or number.
///   reps: how often along each axis: an integer for the last one, or a sequence; the shorter of it and the shape
///     gets ones in front.
/// Returns: an array of the dtype of `A`, whose sizes are multiplied.
/// Raises:
///   TypeError: `A` is neither an array nor a number (lists are refused), or a negative number.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.tile(jnp.array([1, 2]), (2, 2)))
///   [[1 2 1 2]
///    [1 2 1 2]]
#[pyfunction]
#[pyo3(signature = (A, reps), text_signature = "(A, reps)")]
fn tile(py: Python<'_>, A: ArrayLike, reps: ShapeArg) -> PyResult<Py<PyAny>> {
    let A = A.val(py, "tile", 0)?;
    let reps = reps.0;
    one(py, || numpy::tile(&A, &pullback_lib::axes::shape_of(&reps)?))
}

/// The elements or slices repeated, each before the next.
///
/// Args:
///   a: an array or number.
///   repeats: how often: an integer, or a vector of one for each slice; concrete unless `total_repeat_length` is
///     given.
///   axis: the axis; None (the default) takes the flat array.
///   total_repeat_length: the size of the result along the axis: more is cut off, what is missing repeats the last
///     slice.
///   out_sharding: for compatibility; without influence on one device.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or a negative number of repetitions.
///   ValueError: another number of repetitions than slices, or the axis is out of bounds.
///   ConcretizationTypeError: traced `repeats` without `total_repeat_length`.
/// Differentiable: yes, in both modes, with respect to `a`; it is linear.
/// Example:
///   >>> print(jnp.repeat(jnp.array([5, 6]), 2), jnp.repeat(jnp.array([5, 6]), jnp.array([1, 3])))
///   [5 5 6 6] [5 6 6 6]
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

/// Arrays one after the other along an axis.
///
/// Args:
///   arrays: a sequence of arrays, or an array whose slices they are; other axes than `axis` have the same sizes.
///   axis: the axis; the first by default; None takes the flat arrays.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array whose size along the axis is the sum of theirs.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays, arrays without axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.concatenate([jnp.array([1, 2]), jnp.array([3])]))
///   [1 2 3]
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

/// Arrays one after the other along an axis: `concatenate` under the name of the array API.
///
/// Args:
///   arrays: a sequence of arrays; other axes than `axis` have the same sizes.
///   axis: the axis; the first by default; None takes the flat arrays.
/// Returns: an array of the promoted dtype, whose size along the axis is the sum of theirs.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays, arrays without axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.concat([jnp.array([1, 2]), jnp.array([3])]))
///   [1 2 3]
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=Some(0)), text_signature = "(arrays, /, *, axis=0)")]
fn concat(py: Python<'_>, arrays: Arrays, axis: Option<i64>) -> PyResult<Py<PyAny>> {
    let arrays = arrays.vals(py, "concat")?;
    one(py, || numpy::concatenate(&arrays, axis, None))
}

/// Arrays of one shape along a new axis.
///
/// Args:
///   arrays: a sequence of arrays or numbers, or an array whose slices they are.
///   axis: where the new axis is in the result; the first by default.
///   out: for compatibility; must be None.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array with one axis more.
/// Raises:
///   TypeError: an element that is neither an array nor a number.
///   ValueError: no arrays, different shapes, or the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1))
///   [[1 3]
///    [2 4]]
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

/// Arrays one below the other, along the first axis; vectors become rows.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least two axes.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[1 2]
///    [3 4]]
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn vstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "vstack")?;
    let dtype = canonical(py, dtype, "vstack")?;
    one(py, || numpy::vstack(&tup, dtype))
}

/// Arrays side by side: along the second axis, vectors along the first.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least one axis.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.hstack([jnp.array([[1], [2]]), jnp.array([[3], [4]])]))
///   [[1 3]
///    [2 4]]
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn hstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "hstack")?;
    let dtype = canonical(py, dtype, "hstack")?;
    one(py, || numpy::hstack(&tup, dtype))
}

/// Arrays along the third axis; `[n]` counts as `[1, n, 1]`, `[m, n]` as `[m, n, 1]`.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least three axes.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[[1 3]
///     [2 4]]]
#[pyfunction]
#[pyo3(signature = (tup, dtype=None), text_signature = "(tup, dtype=None)")]
fn dstack(py: Python<'_>, tup: Arrays, dtype: Option<DTypeArg>) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "dstack")?;
    let dtype = canonical(py, dtype, "dstack")?;
    one(py, || numpy::dstack(&tup, dtype))
}

/// Vectors as the columns of a matrix; matrices are put side by side.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
/// Returns: an array of at least two axes and the promoted dtype.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[1 3]
///    [2 4]]
#[pyfunction]
#[pyo3(signature = (tup), text_signature = "(tup)")]
fn column_stack(py: Python<'_>, tup: Arrays) -> PyResult<Py<PyAny>> {
    let tup = tup.vals(py, "column_stack")?;
    one(py, || numpy::column_stack(&tup))
}

/// The elements of an array followed by others.
///
/// Args:
///   arr: an array or number.
///   values: what follows; with `axis` of the shape of `arr` but for that axis.
///   axis: the axis along which they go; None (the default) takes both as flat.
/// Returns: an array of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused), or shapes that do not go
///     together.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.append(jnp.array([1, 2]), 3))
///   [1 2 3]
#[pyfunction]
#[pyo3(signature = (arr, values, axis=None), text_signature = "(arr, values, axis=None)")]
fn append(py: Python<'_>, arr: ArrayLike, values: ArrayLike, axis: Option<i64>) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "append", 0)?;
    let values = values.val(py, "append", 1)?;
    one(py, || numpy::append(&arr, &values, axis))
}

/// An axis cut into parts of equal size, or at given positions.
///
/// Args:
///   ary: an array.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions, static integers,
///     before which to cut.
///   axis: the axis; the first by default.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: a number that is not positive or does not divide the size, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.split(jnp.arange(4), 2)]
///   [[0, 1], [2, 3]]
///   >>> [part.tolist() for part in jnp.split(jnp.arange(4), [1, 3])]
///   [[0], [1, 2], [3]]
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections, axis=0), text_signature = "(ary, indices_or_sections, axis=0)")]
fn split(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>, axis: i64) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "split", 0)?;
    super::support::split(py, &ary, indices_or_sections, axis, true)
}

/// An axis cut into parts whose sizes differ by at most 1, the larger ones first; or at given positions.
///
/// Args:
///   ary: an array.
///   indices_or_sections: the number of parts; or ascending positions, static integers, before which to cut.
///   axis: the axis; the first by default.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: a number that is not positive, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.array_split(jnp.arange(5), 3)]
///   [[0, 1], [2, 3], [4]]
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

/// The first axis cut into parts: `split` along axis 0.
///
/// Args:
///   ary: an array of at least one axis.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has no axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.vsplit(jnp.array([[1, 2], [3, 4]]), 2)]
///   [[[1, 2]], [[3, 4]]]
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn vsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "vsplit", 0)?;
    super::support::split(py, &ary, indices_or_sections, 0, true)
}

/// The second axis cut into parts, of vectors the first: `split` along axis 1 or 0.
///
/// Args:
///   ary: an array of at least one axis.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has no axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.hsplit(jnp.array([[1, 2], [3, 4]]), 2)]
///   [[[1], [3]], [[2], [4]]]
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn hsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "hsplit", 0)?;
    {
        let axis = if ary.aval().rank() == 1 { 0 } else { 1 };
        super::support::split(py, &ary, indices_or_sections, axis, true)
    }
}

/// The third axis cut into parts: `split` along axis 2.
///
/// Args:
///   ary: an array of at least three axes.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has fewer axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.shape for part in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
///   [(1, 2, 2), (1, 2, 2)]
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections), text_signature = "(ary, indices_or_sections)")]
fn dsplit(py: Python<'_>, ary: ArrayLike, indices_or_sections: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let ary = ary.val(py, "dsplit", 0)?;
    super::support::split(py, &ary, indices_or_sections, 2, true)
}

/// The slices along an axis.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis; the first by default.
/// Returns: a tuple of arrays with one axis less.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> rows = jnp.unstack(jnp.array([[1, 2], [3, 4]]))
///   >>> print(rows[0], rows[1])
///   [1 2] [3 4]
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

/// The array with elements around it.
#[pyfunction]
#[pyo3(signature = (array, pad_width, mode="constant", constant_values=None), text_signature = "(array, pad_width, mode='constant', **kwargs)")]
fn pad(
    py: Python<'_>,
    array: ArrayLike,
    pad_width: &Bound<'_, PyAny>,
    mode: &str,
    constant_values: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "pad", 0)?;
    let constant_values = constant_values.map(super::irregular::array_like).transpose()?;
    {
        let widths = super::support::widths(pad_width, array.aval().rank())?;
        let fill = constant_values.unwrap_or_else(|| pullback_lib::convert::weak_int(0));
        one(py, || numpy::pad(&array, &widths, PadMode::parse(mode)?, &fill))
    }
}
