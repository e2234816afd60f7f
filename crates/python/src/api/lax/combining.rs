//! Reductions, running combinations, scatters, and elementwise functions with parameters.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{axes_of, index_options, scatter_dimensions, scatter_with};
use crate::api::arguments::{ShapeArg, one, positional};
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::axes::canonical_axis;
use pullback_lib::convert::{self};
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
    m.add_function(wrap_pyfunction!(scatter, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_add, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_sub, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_mul, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_min, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_max, m)?)?;
    m.add_function(wrap_pyfunction!(betainc, m)?)?;
    m.add_function(wrap_pyfunction!(clamp, m)?)?;
    m.add_function(wrap_pyfunction!(integer_pow, m)?)?;
    m.add_function(wrap_pyfunction!(round, m)?)?;
    m.add_function(wrap_pyfunction!(select, m)?)?;
    m.add_function(wrap_pyfunction!(select_n, m)?)?;
    m.add_function(wrap_pyfunction!(convert_element_type, m)?)?;
    m.add_function(wrap_pyfunction!(bitcast_convert_type, m)?)?;
    m.add_function(wrap_pyfunction!(reduce_precision, m)?)?;
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

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter", 1)?;
    let updates = updates.val(py, "scatter", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Set, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_add(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_add", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_add", 1)?;
    let updates = updates.val(py, "scatter_add", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Add, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_sub(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_sub", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_sub", 1)?;
    let updates = updates.val(py, "scatter_sub", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Sub, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_mul(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_mul", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_mul", 1)?;
    let updates = updates.val(py, "scatter_mul", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Mul, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_min(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_min", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_min", 1)?;
    let updates = updates.val(py, "scatter_min", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Min, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_max(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_max", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_max", 1)?;
    let updates = updates.val(py, "scatter_max", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Max, &operand, &scatter_indices, &updates, &dims, options))
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
