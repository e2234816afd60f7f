//! Reductions over axes.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{freedom, greatest_plus_one, is_true, options, without};
use crate::api::arguments::{AxesArg, canonical, check_out_sharding, no_out, one, optional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::numpy::{self, QuantileMethod, Reduction};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sum, m)?)?;
    m.add_function(wrap_pyfunction!(prod, m)?)?;
    m.add_function(wrap_pyfunction!(max, m)?)?;
    m.add_function(wrap_pyfunction!(min, m)?)?;
    m.add_function(wrap_pyfunction!(amax, m)?)?;
    m.add_function(wrap_pyfunction!(amin, m)?)?;
    m.add_function(wrap_pyfunction!(mean, m)?)?;
    m.add_function(wrap_pyfunction!(any, m)?)?;
    m.add_function(wrap_pyfunction!(all, m)?)?;
    m.add_function(wrap_pyfunction!(argmax, m)?)?;
    m.add_function(wrap_pyfunction!(argmin, m)?)?;
    m.add_function(wrap_pyfunction!(var, m)?)?;
    m.add_function(wrap_pyfunction!(standard_deviation, m)?)?;
    m.add_function(wrap_pyfunction!(ptp, m)?)?;
    m.add_function(wrap_pyfunction!(count_nonzero, m)?)?;
    m.add_function(wrap_pyfunction!(average, m)?)?;
    m.add_function(wrap_pyfunction!(nansum, m)?)?;
    m.add_function(wrap_pyfunction!(nanprod, m)?)?;
    m.add_function(wrap_pyfunction!(nanmax, m)?)?;
    m.add_function(wrap_pyfunction!(nanmin, m)?)?;
    m.add_function(wrap_pyfunction!(nanmean, m)?)?;
    m.add_function(wrap_pyfunction!(nanvar, m)?)?;
    m.add_function(wrap_pyfunction!(nanstd, m)?)?;
    m.add_function(wrap_pyfunction!(cumsum, m)?)?;
    m.add_function(wrap_pyfunction!(cumprod, m)?)?;
    m.add_function(wrap_pyfunction!(nancumsum, m)?)?;
    m.add_function(wrap_pyfunction!(nancumprod, m)?)?;
    m.add_function(wrap_pyfunction!(cumulative_sum, m)?)?;
    m.add_function(wrap_pyfunction!(cumulative_prod, m)?)?;
    m.add_function(wrap_pyfunction!(diff, m)?)?;
    m.add_function(wrap_pyfunction!(trapezoid, m)?)?;
    m.add_function(wrap_pyfunction!(median, m)?)?;
    m.add_function(wrap_pyfunction!(quantile, m)?)?;
    m.add_function(wrap_pyfunction!(percentile, m)?)?;
    m.add_function(wrap_pyfunction!(cov, m)?)?;
    m.add_function(wrap_pyfunction!(corrcoef, m)?)?;
    m.add_function(wrap_pyfunction!(unwrap, m)?)?;
    m.add_function(wrap_pyfunction!(interp, m)?)?;
    m.add_function(wrap_pyfunction!(polyval, m)?)?;
    m.add_function(wrap_pyfunction!(bincount, m)?)?;
    Ok(())
}

/// The sum over axes; small integers and booleans widen.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None, promote_integers=true), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True)")]
fn sum(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
    promote_integers: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "sum", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "sum")?;
    no_out("sum", out.as_ref())?;
    let initial = optional(py, initial, "sum", 5)?;
    let r#where = optional(py, r#where, "sum", 6)?;
    one(py, || numpy::sum(&a, &Reduction { axis, dtype, keepdims, initial, where_: r#where, promote_integers }))
}

/// The product over axes; small integers and booleans widen.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None, promote_integers=true), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True)")]
fn prod(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
    promote_integers: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "prod", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "prod")?;
    no_out("prod", out.as_ref())?;
    let initial = optional(py, initial, "prod", 5)?;
    let r#where = optional(py, r#where, "prod", 6)?;
    one(py, || numpy::prod(&a, &Reduction { axis, dtype, keepdims, initial, where_: r#where, promote_integers }))
}

/// The greatest over axes; NaN when one is among them.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn max(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "max", 0)?;
    let axis = axis.0;
    no_out("max", out.as_ref())?;
    let initial = optional(py, initial, "max", 4)?;
    let r#where = optional(py, r#where, "max", 5)?;
    one(py, || numpy::max(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least over axes; NaN when one is among them.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn min(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "min", 0)?;
    let axis = axis.0;
    no_out("min", out.as_ref())?;
    let initial = optional(py, initial, "min", 4)?;
    let r#where = optional(py, r#where, "min", 5)?;
    one(py, || numpy::min(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The greatest over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn amax(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "amax", 0)?;
    let axis = axis.0;
    no_out("amax", out.as_ref())?;
    let initial = optional(py, initial, "amax", 4)?;
    let r#where = optional(py, r#where, "amax", 5)?;
    one(py, || numpy::max(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn amin(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "amin", 0)?;
    let axis = axis.0;
    no_out("amin", out.as_ref())?;
    let initial = optional(py, initial, "amin", 4)?;
    let r#where = optional(py, r#where, "amin", 5)?;
    one(py, || numpy::min(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The mean over axes; of integers a floating number.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, *, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None)")]
fn mean(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "mean", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "mean")?;
    no_out("mean", out.as_ref())?;
    let r#where = optional(py, r#where, "mean", 5)?;
    one(py, || numpy::mean(&a, &options(axis, dtype, keepdims, None, r#where)))
}

/// Whether any element over axes differs from zero.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, *, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, *, where=None)")]
fn any(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "any", 0)?;
    let axis = axis.0;
    no_out("any", out.as_ref())?;
    let r#where = optional(py, r#where, "any", 4)?;
    one(py, || numpy::any(&a, &options(axis, None, keepdims, None, r#where)))
}

/// Whether all elements over axes differ from zero.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, *, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, *, where=None)")]
fn all(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "all", 0)?;
    let axis = axis.0;
    no_out("all", out.as_ref())?;
    let r#where = optional(py, r#where, "all", 4)?;
    one(py, || numpy::all(&a, &options(axis, None, keepdims, None, r#where)))
}

/// Position of the first greatest element.
#[pyfunction]
#[pyo3(signature = (a, axis=None, out=None, keepdims=None), text_signature = "(a, axis=None, out=None, keepdims=None)")]
fn argmax(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argmax", 0)?;
    no_out("argmax", out.as_ref())?;
    one(py, || numpy::argmax(&a, axis, is_true(keepdims)))
}

/// Position of the first least element.
#[pyfunction]
#[pyo3(signature = (a, axis=None, out=None, keepdims=None), text_signature = "(a, axis=None, out=None, keepdims=None)")]
fn argmin(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argmin", 0)?;
    no_out("argmin", out.as_ref())?;
    one(py, || numpy::argmin(&a, axis, is_true(keepdims)))
}

/// Mean of squared distances from the mean over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, ddof=0.0, keepdims=false, *, r#where=None, mean=None, correction=None), text_signature = "(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None)")]
fn var(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    ddof: f64,
    keepdims: bool,
    r#where: Option<ArrayLike>,
    mean: Option<ArrayLike>,
    correction: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "var", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "var")?;
    no_out("var", out.as_ref())?;
    let r#where = optional(py, r#where, "var", 6)?;
    let mean = optional(py, mean, "var", 7)?;
    one(py, || {
        let ddof = freedom(ddof, correction)?;
        numpy::var(&a, &options(axis, dtype, keepdims, None, r#where), ddof, mean.as_ref())
    })
}

/// Square root of the variance.
#[pyfunction]
#[pyo3(name = "std", signature = (a, axis=AxesArg::ALL, dtype=None, out=None, ddof=0.0, keepdims=false, *, r#where=None, mean=None, correction=None), text_signature = "(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None)")]
fn standard_deviation(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    ddof: f64,
    keepdims: bool,
    r#where: Option<ArrayLike>,
    mean: Option<ArrayLike>,
    correction: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "std", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "std")?;
    no_out("std", out.as_ref())?;
    let r#where = optional(py, r#where, "std", 6)?;
    let mean = optional(py, mean, "std", 7)?;
    one(py, || {
        let ddof = freedom(ddof, correction)?;
        numpy::std(&a, &options(axis, dtype, keepdims, None, r#where), ddof, mean.as_ref())
    })
}

/// Greatest minus least over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false), text_signature = "(a, axis=None, out=None, keepdims=False)")]
fn ptp(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "ptp", 0)?;
    let axis = axis.0;
    no_out("ptp", out.as_ref())?;
    one(py, || numpy::ptp(&a, &options(axis, None, keepdims, None, None)))
}

/// Number of elements over axes that differ from zero.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, keepdims=false), text_signature = "(a, axis=None, keepdims=False)")]
fn count_nonzero(py: Python<'_>, a: ArrayLike, axis: AxesArg, keepdims: bool) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "count_nonzero", 0)?;
    let axis = axis.0;
    one(py, || numpy::count_nonzero(&a, &axis, keepdims))
}

/// The weighted mean over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, weights=None, returned=false, keepdims=false), text_signature = "(a, axis=None, weights=None, returned=False, keepdims=False)")]
fn average(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    weights: Option<ArrayLike>,
    returned: bool,
    keepdims: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "average", 0)?;
    let axis = axis.0;
    let weights = optional(py, weights, "average", 2)?;
    {
        let (mean, total) = crate::gate::gate(py, || numpy::average(&a, &axis, weights.as_ref(), keepdims))?;
        if returned { tuple(py, || Ok([mean, total])) } else { one(py, || Ok(mean)) }
    }
}

/// The sum over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None)")]
fn nansum(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nansum", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nansum")?;
    no_out("nansum", out.as_ref())?;
    let initial = optional(py, initial, "nansum", 5)?;
    let r#where = optional(py, r#where, "nansum", 6)?;
    one(py, || numpy::nansum(&a, &options(axis, dtype, keepdims, initial, r#where)))
}

/// The product over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanprod", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nanprod")?;
    no_out("nanprod", out.as_ref())?;
    let initial = optional(py, initial, "nanprod", 5)?;
    let r#where = optional(py, r#where, "nanprod", 6)?;
    one(py, || numpy::nanprod(&a, &options(axis, dtype, keepdims, initial, r#where)))
}

/// The greatest over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanmax(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanmax", 0)?;
    let axis = axis.0;
    no_out("nanmax", out.as_ref())?;
    let initial = optional(py, initial, "nanmax", 4)?;
    let r#where = optional(py, r#where, "nanmax", 5)?;
    one(py, || numpy::nanmax(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanmin(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanmin", 0)?;
    let axis = axis.0;
    no_out("nanmin", out.as_ref())?;
    let initial = optional(py, initial, "nanmin", 4)?;
    let r#where = optional(py, r#where, "nanmin", 5)?;
    one(py, || numpy::nanmin(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The mean over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, where=None)")]
fn nanmean(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanmean", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nanmean")?;
    no_out("nanmean", out.as_ref())?;
    let r#where = optional(py, r#where, "nanmean", 5)?;
    one(py, || numpy::nanmean(&a, &options(axis, dtype, keepdims, None, r#where)))
}

/// The variance over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, ddof=0.0, keepdims=false, r#where=None, mean=None), text_signature = "(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None)")]
fn nanvar(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    ddof: f64,
    keepdims: bool,
    r#where: Option<ArrayLike>,
    mean: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanvar", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nanvar")?;
    no_out("nanvar", out.as_ref())?;
    let r#where = optional(py, r#where, "nanvar", 6)?;
    let mean = optional(py, mean, "nanvar", 7)?;
    one(py, || {
        without("nanvar", mean.as_ref())?;
        numpy::nanvar(&a, &options(axis, dtype, keepdims, None, r#where), ddof)
    })
}

/// The standard deviation over axes without NaNs.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, ddof=0.0, keepdims=false, r#where=None, mean=None), text_signature = "(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None)")]
fn nanstd(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    ddof: f64,
    keepdims: bool,
    r#where: Option<ArrayLike>,
    mean: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanstd", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nanstd")?;
    no_out("nanstd", out.as_ref())?;
    let r#where = optional(py, r#where, "nanstd", 6)?;
    let mean = optional(py, mean, "nanstd", 7)?;
    one(py, || {
        without("nanstd", mean.as_ref())?;
        numpy::nanstd(&a, &options(axis, dtype, keepdims, None, r#where), ddof)
    })
}

/// Sums of all elements so far.
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn cumsum(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cumsum", 0)?;
    let dtype = canonical(py, dtype, "cumsum")?;
    no_out("cumsum", out.as_ref())?;
    one(py, || numpy::cumsum(&a, axis, dtype))
}

/// Products of all elements so far.
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn cumprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cumprod", 0)?;
    let dtype = canonical(py, dtype, "cumprod")?;
    no_out("cumprod", out.as_ref())?;
    one(py, || numpy::cumprod(&a, axis, dtype))
}

/// Sums of all elements so far, NaN as 0.
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn nancumsum(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nancumsum", 0)?;
    let dtype = canonical(py, dtype, "nancumsum")?;
    no_out("nancumsum", out.as_ref())?;
    one(py, || numpy::nancumsum(&a, axis, dtype))
}

/// Products of all elements so far, NaN as 1.
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn nancumprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nancumprod", 0)?;
    let dtype = canonical(py, dtype, "nancumprod")?;
    no_out("nancumprod", out.as_ref())?;
    one(py, || numpy::nancumprod(&a, axis, dtype))
}

/// Sums of all elements so far.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, include_initial=false), text_signature = "(x, /, *, axis=None, dtype=None, include_initial=False)")]
fn cumulative_sum(
    py: Python<'_>,
    x: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cumulative_sum", 0)?;
    let dtype = canonical(py, dtype, "cumulative_sum")?;
    one(py, || numpy::cumulative_sum(&x, axis, dtype, include_initial))
}

/// Products of all elements so far.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, include_initial=false), text_signature = "(x, /, *, axis=None, dtype=None, include_initial=False)")]
fn cumulative_prod(
    py: Python<'_>,
    x: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cumulative_prod", 0)?;
    let dtype = canonical(py, dtype, "cumulative_prod")?;
    one(py, || numpy::cumulative_prod(&x, axis, dtype, include_initial))
}

/// Differences of neighbours along an axis.
#[pyfunction]
#[pyo3(signature = (a, n=1, axis=-1, prepend=None, append=None), text_signature = "(a, n=1, axis=-1, prepend=None, append=None)")]
fn diff(
    py: Python<'_>,
    a: ArrayLike,
    n: i64,
    axis: i64,
    prepend: Option<ArrayLike>,
    append: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "diff", 0)?;
    let prepend = optional(py, prepend, "diff", 3)?;
    let append = optional(py, append, "diff", 4)?;
    one(py, || numpy::diff(&a, n, axis, prepend.as_ref(), append.as_ref()))
}

/// The integral by trapezoids.
#[pyfunction]
#[pyo3(signature = (y, x=None, dx=1.0, axis=-1), text_signature = "(y, x=None, dx=1.0, axis=-1)")]
fn trapezoid(py: Python<'_>, y: ArrayLike, x: Option<ArrayLike>, dx: f64, axis: i64) -> PyResult<Py<PyAny>> {
    let y = y.val(py, "trapezoid", 0)?;
    let x = optional(py, x, "trapezoid", 1)?;
    one(py, || match &x {
        None => numpy::trapezoid(&y, dx, axis),
        Some(x) => numpy::trapezoid_over(&y, x, axis),
    })
}

/// The middle element over axes.
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, overwrite_input=false, keepdims=false), text_signature = "(a, axis=None, out=None, overwrite_input=False, keepdims=False)")]
fn median(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    overwrite_input: bool,
    keepdims: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "median", 0)?;
    let axis = axis.0;
    no_out("median", out.as_ref())?;
    one(py, || {
        let _ = overwrite_input;
        numpy::median(&a, &axis, keepdims)
    })
}

/// The values below which fractions of the elements lie.
#[pyfunction]
#[pyo3(signature = (a, q, axis=AxesArg::ALL, out=None, overwrite_input=false, method="linear", keepdims=false, *, weights=None), text_signature = "(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)")]
fn quantile(
    py: Python<'_>,
    a: ArrayLike,
    q: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    overwrite_input: bool,
    method: &str,
    keepdims: bool,
    weights: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "quantile", 0)?;
    let q = q.val(py, "quantile", 1)?;
    let axis = axis.0;
    no_out("quantile", out.as_ref())?;
    let weights = optional(py, weights, "quantile", 7)?;
    one(py, || {
        let _ = overwrite_input;
        without("quantile", weights.as_ref())?;
        numpy::quantile(&a, &q, &axis, QuantileMethod::parse(method)?, keepdims)
    })
}

/// The values below which percentages of the elements lie.
#[pyfunction]
#[pyo3(signature = (a, q, axis=AxesArg::ALL, out=None, overwrite_input=false, method="linear", keepdims=false, *, weights=None, out_sharding=None), text_signature = "(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None, out_sharding=None)")]
fn percentile(
    py: Python<'_>,
    a: ArrayLike,
    q: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    overwrite_input: bool,
    method: &str,
    keepdims: bool,
    weights: Option<ArrayLike>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "percentile", 0)?;
    let q = q.val(py, "percentile", 1)?;
    let axis = axis.0;
    no_out("percentile", out.as_ref())?;
    let weights = optional(py, weights, "percentile", 7)?;
    check_out_sharding("jnp.percentile", out_sharding.as_ref())?;
    one(py, || {
        let _ = overwrite_input;
        without("percentile", weights.as_ref())?;
        numpy::percentile(&a, &q, &axis, QuantileMethod::parse(method)?, keepdims)
    })
}

/// The covariance matrix.
#[pyfunction]
#[pyo3(signature = (m, y=None, rowvar=true, bias=false, ddof=None, fweights=None, aweights=None, dtype=None), text_signature = "(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None)")]
fn cov(
    py: Python<'_>,
    m: ArrayLike,
    y: Option<ArrayLike>,
    rowvar: bool,
    bias: bool,
    ddof: Option<i64>,
    fweights: Option<ArrayLike>,
    aweights: Option<ArrayLike>,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "cov", 0)?;
    let y = optional(py, y, "cov", 1)?;
    let fweights = optional(py, fweights, "cov", 5)?;
    let aweights = optional(py, aweights, "cov", 6)?;
    let dtype = canonical(py, dtype, "cov")?;
    one(py, || {
        without("cov", y.as_ref().or(fweights.as_ref()).or(aweights.as_ref()))?;
        let _ = dtype;
        numpy::cov(&m, rowvar, bias, ddof)
    })
}

/// The matrix of correlation coefficients.
#[pyfunction]
#[pyo3(signature = (x, y=None, rowvar=true, dtype=None), text_signature = "(x, y=None, rowvar=True, dtype=None)")]
fn corrcoef(
    py: Python<'_>,
    x: ArrayLike,
    y: Option<ArrayLike>,
    rowvar: bool,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "corrcoef", 0)?;
    let y = optional(py, y, "corrcoef", 1)?;
    let dtype = canonical(py, dtype, "corrcoef")?;
    one(py, || {
        without("corrcoef", y.as_ref())?;
        let _ = dtype;
        numpy::corrcoef(&x, rowvar)
    })
}

/// Angles without jumps.
#[pyfunction]
#[pyo3(signature = (p, discont=None, axis=-1, period=std::f64::consts::TAU), text_signature = "(p, discont=None, axis=-1, period=6.283185307179586)")]
fn unwrap(py: Python<'_>, p: ArrayLike, discont: Option<ArrayLike>, axis: i64, period: f64) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "unwrap", 0)?;
    let discont = optional(py, discont, "unwrap", 1)?;
    one(py, || {
        without("unwrap", discont.as_ref())?;
        numpy::unwrap(&p, axis, period)
    })
}

/// Values of a piecewise linear function.
#[pyfunction]
#[pyo3(signature = (x, xp, fp, left=None, right=None, period=None), text_signature = "(x, xp, fp, left=None, right=None, period=None)")]
fn interp(
    py: Python<'_>,
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: Option<ArrayLike>,
    right: Option<ArrayLike>,
    period: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "interp", 0)?;
    let xp = xp.val(py, "interp", 1)?;
    let fp = fp.val(py, "interp", 2)?;
    let left = optional(py, left, "interp", 3)?;
    let right = optional(py, right, "interp", 4)?;
    let period = optional(py, period, "interp", 5)?;
    one(py, || {
        without("interp", period.as_ref())?;
        numpy::interp(&x, &xp, &fp, left.as_ref(), right.as_ref())
    })
}

/// The value of a polynomial.
#[pyfunction]
#[pyo3(signature = (p, x, *, unroll=None), text_signature = "(p, x, *, unroll=None)")]
fn polyval(py: Python<'_>, p: ArrayLike, x: ArrayLike, unroll: Option<i64>) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "polyval", 0)?;
    let x = x.val(py, "polyval", 1)?;
    one(py, || {
        let _ = unroll;
        numpy::polyval(&p, &x)
    })
}

/// How many elements have each value.
#[pyfunction]
#[pyo3(signature = (x, weights=None, minlength=0, *, length=None, out_sharding=None), text_signature = "(x, weights=None, minlength=0, *, length=None, out_sharding=None)")]
fn bincount(
    py: Python<'_>,
    x: ArrayLike,
    weights: Option<ArrayLike>,
    minlength: usize,
    length: Option<usize>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bincount", 0)?;
    let weights = optional(py, weights, "bincount", 1)?;
    check_out_sharding("jnp.bincount", out_sharding.as_ref())?;
    one(py, || {
        let length = match length {
            Some(length) => length,
            None => minlength.max(greatest_plus_one(&x)?),
        };
        numpy::bincount(&x, weights.as_ref(), length)
    })
}
