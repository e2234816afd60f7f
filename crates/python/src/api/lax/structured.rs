//! Functions that reduce, move, index and contract.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{axes_of, sizes};
use crate::api::arguments::{Arrays, ShapeArg, canonical, one, positional, prototype_of, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::convert::{self, to_dtype};
use pullback_lib::lax::{self, Rounding};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(reduce_sum, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_max, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_min, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_prod, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_and, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_or, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_xor, m)?)?;
    m.add_function(wrap_pyfunction!(cumsum, m)?)?;
    m.add_function(wrap_pyfunction!(cumprod, m)?)?;
    m.add_function(wrap_pyfunction!(cummax, m)?)?;
    m.add_function(wrap_pyfunction!(cummin, m)?)?;
    m.add_function(wrap_pyfunction!(cumlogsumexp, m)?)?;
    m.add_function(wrap_pyfunction!(argmax, m)?)?;
    m.add_function(wrap_pyfunction!(argmin, m)?)?;
    m.add_function(wrap_pyfunction!(betainc, m)?)?;
    m.add_function(wrap_pyfunction!(clamp, m)?)?;
    m.add_function(wrap_pyfunction!(integer_pow, m)?)?;
    m.add_function(wrap_pyfunction!(round, m)?)?;
    m.add_function(wrap_pyfunction!(select, m)?)?;
    m.add_function(wrap_pyfunction!(select_n, m)?)?;
    m.add_function(wrap_pyfunction!(convert_element_type, m)?)?;
    m.add_function(wrap_pyfunction!(bitcast_convert_type, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_precision, m)?)?;
    m.add_function(wrap_pyfunction!(reshape, m)?)?;
    m.add_function(wrap_pyfunction!(transpose, m)?)?;
    m.add_function(wrap_pyfunction!(squeeze, m)?)?;
    m.add_function(wrap_pyfunction!(expand_dims, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_to_rank, m)?)?;
    m.add_function(wrap_pyfunction!(collapse, m)?)?;
    m.add_function(wrap_pyfunction!(concatenate, m)?)?;
    m.add_function(wrap_pyfunction!(stack, m)?)?;
    m.add_function(wrap_pyfunction!(unstack, m)?)?;
    m.add_function(wrap_pyfunction!(split, m)?)?;
    m.add_function(wrap_pyfunction!(tile, m)?)?;
    m.add_function(wrap_pyfunction!(rev, m)?)?;
    m.add_function(wrap_pyfunction!(pad, m)?)?;
    m.add_function(wrap_pyfunction!(iota, m)?)?;
    m.add_function(wrap_pyfunction!(broadcasted_iota, m)?)?;
    m.add_function(wrap_pyfunction!(full, m)?)?;
    m.add_function(wrap_pyfunction!(full_like, m)?)?;
    Ok(())
}

/// The primitive `reduce_sum`.
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_sum(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_sum", 0)?;
    let axes = axes.0;
    let _ = out_sharding;
    one(py, || lax::reduce_sum(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_max`.
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_max(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_max", 0)?;
    let axes = axes.0;
    let _ = out_sharding;
    one(py, || lax::reduce_max(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_min`.
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_min(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_min", 0)?;
    let axes = axes.0;
    let _ = out_sharding;
    one(py, || lax::reduce_min(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_prod`.
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_prod(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_prod", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_prod(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_and`.
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_and(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_and", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_and(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_or`.
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_or(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_or", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_or(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `reduce_xor`.
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_xor(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_xor", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_xor(&operand, &axes_of(&operand, &axes)?))
}

/// The primitive `cumsum`.
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumsum(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumsum", 0)?;
    one(py, || lax::cumsum(&operand, canonical_axis(axis, operand.aval().rank())?, reverse))
}

/// The primitive `cumprod`.
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumprod(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumprod", 0)?;
    one(py, || lax::cumprod(&operand, canonical_axis(axis, operand.aval().rank())?, reverse))
}

/// The primitive `cummax`.
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cummax(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cummax", 0)?;
    one(py, || lax::cummax(&operand, canonical_axis(axis, operand.aval().rank())?, reverse))
}

/// The primitive `cummin`.
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cummin(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cummin", 0)?;
    one(py, || lax::cummin(&operand, canonical_axis(axis, operand.aval().rank())?, reverse))
}

/// The primitive `cumlogsumexp`.
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumlogsumexp(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumlogsumexp", 0)?;
    one(py, || lax::cumlogsumexp(&operand, canonical_axis(axis, operand.aval().rank())?, reverse))
}

/// The primitive `argmax`.
#[pyfunction]
#[pyo3(signature = (operand, axis, index_dtype), text_signature = "(operand, axis, index_dtype)")]
fn argmax(py: Python<'_>, operand: ArrayLike, axis: i64, index_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "argmax", 0)?;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(index_dtype)?);
        one(py, || lax::argmax(&operand, canonical_axis(axis, operand.aval().rank())?, dtype))
    }
}

/// The primitive `argmin`.
#[pyfunction]
#[pyo3(signature = (operand, axis, index_dtype), text_signature = "(operand, axis, index_dtype)")]
fn argmin(py: Python<'_>, operand: ArrayLike, axis: i64, index_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "argmin", 0)?;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(index_dtype)?);
        one(py, || lax::argmin(&operand, canonical_axis(axis, operand.aval().rank())?, dtype))
    }
}

/// The regularized incomplete beta function.
#[pyfunction]
#[pyo3(signature = (a, b, x), text_signature = "(a, b, x)")]
fn betainc(py: Python<'_>, a: ArrayLike, b: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "betainc", 0)?;
    let b = b.val(py, "betainc", 1)?;
    let x = x.val(py, "betainc", 2)?;
    one(py, || lax::betainc(&a, &b, &x))
}

/// x kept between bounds.
#[pyfunction]
#[pyo3(signature = (min, x, max), text_signature = "(min, x, max)")]
fn clamp(py: Python<'_>, min: ArrayLike, x: ArrayLike, max: ArrayLike) -> PyResult<Py<PyAny>> {
    let min = min.val(py, "clamp", 0)?;
    let x = x.val(py, "clamp", 1)?;
    let max = max.val(py, "clamp", 2)?;
    one(py, || lax::clamp(&min, &x, &max))
}

/// Power with a fixed integer exponent.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn integer_pow(py: Python<'_>, x: ArrayLike, y: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "integer_pow", 0)?;
    one(py, || lax::integer_pow(&x, y))
}

/// The nearest integer; halves away from zero unless told otherwise.
#[pyfunction]
#[pyo3(signature = (x, rounding_method=None), text_signature = "(x, rounding_method=None)")]
fn round(py: Python<'_>, x: ArrayLike, rounding_method: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "round", 0)?;
    {
        let to_even =
            rounding_method.is_some_and(|m| m.str().is_ok_and(|t| t.to_string().contains("EVEN") || t == "1"));
        one(py, || lax::round(&x, if to_even { Rounding::ToNearestEven } else { Rounding::AwayFromZero }))
    }
}

/// on_true where pred holds, else on_false.
#[pyfunction]
#[pyo3(signature = (pred, on_true, on_false), text_signature = "(pred, on_true, on_false)")]
fn select(py: Python<'_>, pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> PyResult<Py<PyAny>> {
    let pred = pred.val(py, "select", 0)?;
    let on_true = on_true.val(py, "select", 1)?;
    let on_false = on_false.val(py, "select", 2)?;
    one(py, || lax::select(&pred, &on_true, &on_false))
}

/// The case that `which` selects.
#[pyfunction]
#[pyo3(signature = (which, *cases), text_signature = "(which, *cases)")]
fn select_n(py: Python<'_>, which: ArrayLike, cases: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let which = which.val(py, "select_n", 0)?;
    let cases = positional(py, cases, "select_n")?;
    one(py, || {
        if cases.is_empty() {
            bail!(Value, "select_n() must have at least one case");
        }
        lax::select_n(&which, &cases)
    })
}

/// The operand in another dtype.
#[pyfunction]
#[pyo3(signature = (operand, new_dtype), text_signature = "(operand, new_dtype)")]
fn convert_element_type(py: Python<'_>, operand: ArrayLike, new_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "convert_element_type", 0)?;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(new_dtype)?);
        one(py, || convert::to_dtype(&operand, dtype))
    }
}

/// The same bits as another dtype.
#[pyfunction]
#[pyo3(signature = (operand, new_dtype), text_signature = "(operand, new_dtype)")]
fn bitcast_convert_type(py: Python<'_>, operand: ArrayLike, new_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "bitcast_convert_type", 0)?;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(new_dtype)?);
        one(py, || lax::bitcast_convert_type(&operand, dtype))
    }
}

/// The operand rounded to a narrower format.
#[pyfunction]
#[pyo3(signature = (operand, exponent_bits, mantissa_bits), text_signature = "(operand, exponent_bits, mantissa_bits)")]
fn reduce_precision(py: Python<'_>, operand: ArrayLike, exponent_bits: i64, mantissa_bits: i64) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_precision", 0)?;
    one(py, || lax::reduce_precision(&operand, exponent_bits, mantissa_bits))
}

/// The elements under another shape.
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
    let new_sizes = new_sizes.0;
    let dimensions = dimensions.map(|shape| shape.0);
    let _ = out_sharding;
    one(py, || {
        let dims = dimensions.map(|dims| sizes(&dims)).transpose()?;
        let new = pullback_lib::numpy::reshape(&operand, &new_sizes, pullback_lib::numpy::Order::RowMajor);
        match dims {
            Some(dims) => {
                let moved = lax::transpose(&operand, &dims)?;
                pullback_lib::numpy::reshape(&moved, &new_sizes, pullback_lib::numpy::Order::RowMajor)
            }
            None => new,
        }
    })
}

/// The axes in another order.
#[pyfunction]
#[pyo3(signature = (operand, permutation), text_signature = "(operand, permutation)")]
fn transpose(py: Python<'_>, operand: ArrayLike, permutation: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "transpose", 0)?;
    let permutation = permutation.0;
    one(py, || lax::transpose(&operand, &sizes(&permutation)?))
}

/// Without axes of size 1.
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn squeeze(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "squeeze", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::squeeze(&array, &dimensions))
}

/// With new axes of size 1.
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn expand_dims(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "expand_dims", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::expand_dims(&array, &dimensions))
}

/// Repeated along new axes in front.
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
    let _ = out_sharding;
    one(py, || {
        let mut shape = shape_of(&sizes)?;
        let n = shape.len();
        shape.extend(operand.aval().shape.iter());
        lax::broadcast_in_dim(&operand, &shape, &(n..shape.len()).collect::<Vec<_>>())
    })
}

/// Repeated to a shape; each axis goes to a named one.
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
    let _ = out_sharding;
    one(py, || lax::broadcast_in_dim(&operand, &shape_of(&shape)?, &sizes(&broadcast_dimensions)?))
}

/// With axes of size 1 in front.
#[pyfunction]
#[pyo3(signature = (x, rank), text_signature = "(x, rank)")]
fn broadcast_to_rank(py: Python<'_>, x: ArrayLike, rank: usize) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "broadcast_to_rank", 0)?;
    one(py, || pullback_lib::broadcast::to_rank(&x, rank))
}

/// Consecutive axes merged in one.
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

/// Arrays one after the other along an axis.
#[pyfunction]
#[pyo3(signature = (operands, dimension), text_signature = "(operands, dimension)")]
fn concatenate(py: Python<'_>, operands: Arrays, dimension: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "concatenate")?;
    one(py, || {
        let Some(first) = operands.first() else {
            bail!(Value, "concatenate requires a non-empty sequences of arrays")
        };
        lax::concatenate(&operands, canonical_axis(dimension, first.aval().rank())?)
    })
}

/// Arrays along a new axis.
#[pyfunction]
#[pyo3(signature = (operands, axis=0), text_signature = "(operands, axis=0)")]
fn stack(py: Python<'_>, operands: Arrays, axis: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "stack")?;
    one(py, || pullback_lib::numpy::stack(&operands, axis, None))
}

/// The slices along an axis.
#[pyfunction]
#[pyo3(signature = (x, axis=0), text_signature = "(x, axis=0)")]
fn unstack(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "unstack", 0)?;
    tuple(py, || pullback_lib::numpy::unstack(&x, axis))
}

/// Consecutive parts of an axis.
#[pyfunction]
#[pyo3(signature = (operand, sizes, axis=0), text_signature = "(operand, sizes, axis=0)")]
fn split(py: Python<'_>, operand: ArrayLike, sizes: ShapeArg, axis: i64) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "split", 0)?;
    let sizes = sizes.0;
    tuple(py, || lax::split(&operand, &shape_of(&sizes)?, canonical_axis(axis, operand.aval().rank())?))
}

/// Repeated along each axis.
#[pyfunction]
#[pyo3(signature = (operand, reps), text_signature = "(operand, reps)")]
fn tile(py: Python<'_>, operand: ArrayLike, reps: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "tile", 0)?;
    let reps = reps.0;
    one(py, || lax::tile(&operand, &shape_of(&reps)?))
}

/// The elements in reverse order along axes.
#[pyfunction]
#[pyo3(signature = (operand, dimensions), text_signature = "(operand, dimensions)")]
fn rev(py: Python<'_>, operand: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "rev", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::rev(&operand, &axes_of(&operand, &dimensions)?))
}

/// The array with elements around and between its own.
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
    {
        let config = super::support::padding(padding_config)?;
        one(py, || {
            let fill = to_dtype(&padding_value, operand.aval().dtype)?;
            lax::pad(&operand, &fill, &config)
        })
    }
}

/// 0, 1, 2, and so on.
#[pyfunction]
#[pyo3(signature = (dtype, size), text_signature = "(dtype, size)")]
fn iota(py: Python<'_>, dtype: &Bound<'_, PyAny>, size: usize) -> PyResult<Py<PyAny>> {
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
        one(py, || lax::iota(dtype, size))
    }
}

/// 0, 1, 2, and so on along an axis.
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
    let _ = out_sharding;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
        one(py, || {
            let shape = shape_of(&shape)?;
            let axis = canonical_axis(dimension, shape.len())?;
            lax::broadcasted_iota(dtype, &shape, axis)
        })
    }
}

/// An array of one value.
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, *, sharding=None), text_signature = "(shape, fill_value, dtype=None, *, sharding=None)")]
fn full(
    py: Python<'_>,
    shape: ShapeArg,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let fill_value = fill_value.val(py, "full", 1)?;
    let dtype = canonical(py, dtype, "full")?;
    let _ = sharding;
    one(py, || pullback_lib::numpy::full(&shape, &fill_value, dtype))
}

/// An array of one value with shape and dtype of another.
#[pyfunction]
#[pyo3(signature = (x, fill_value, dtype=None, shape=None, sharding=None), text_signature = "(x, fill_value, dtype=None, shape=None, sharding=None)")]
fn full_like(
    py: Python<'_>,
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (x, shape) = prototype_of(py, x, shape, "full_like")?;
    let fill_value = fill_value.val(py, "full_like", 1)?;
    let dtype = canonical(py, dtype, "full_like")?;
    let _ = sharding;
    one(py, || pullback_lib::numpy::full_like(&x, &fill_value, dtype, shape.as_deref()))
}
