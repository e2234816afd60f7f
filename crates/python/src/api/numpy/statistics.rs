//! Means, deviations, order statistics, covariances and counts of values.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{freedom, greatest_plus_one, options, without};
use crate::api::arguments::{AxesArg, canonical, check_out_sharding, mask, no_out, one, optional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::numpy::{self, QuantileMethod};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(mean, m)?)?;
    m.add_function(wrap_pyfunction!(var, m)?)?;
    m.add_function(wrap_pyfunction!(standard_deviation, m)?)?;
    m.add_function(wrap_pyfunction!(average, m)?)?;
    m.add_function(wrap_pyfunction!(nanmean, m)?)?;
    m.add_function(wrap_pyfunction!(nanvar, m)?)?;
    m.add_function(wrap_pyfunction!(nanstd, m)?)?;
    m.add_function(wrap_pyfunction!(median, m)?)?;
    m.add_function(wrap_pyfunction!(quantile, m)?)?;
    m.add_function(wrap_pyfunction!(percentile, m)?)?;
    m.add_function(wrap_pyfunction!(cov, m)?)?;
    m.add_function(wrap_pyfunction!(corrcoef, m)?)?;
    m.add_function(wrap_pyfunction!(bincount, m)?)?;
    Ok(())
}

/// The mean of the elements over axes; NaN where there are none.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating or complex dtype of `a`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.mean(jnp.array([[1, 2], [3, 6]]), axis=1))
///   [1.5 4.5]
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
    let r#where = mask(py, r#where, "mean", 5)?;
    one(py, || numpy::mean(&a, &options(axis, dtype, keepdims, None, r#where)))
}

/// The mean of the squared distances `|a - mean(a)|²` over axes; NaN where there are no elements.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum is divided by `n - ddof` for `n` elements; 0 by default; NaN where that is not positive.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
///   correction: another name of `ddof`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: both `ddof` and `correction` are given; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.var(jnp.array([[1.0, 3.0], [2.0, 6.0]]), axis=1))
///   [1. 4.]
///   >>> print(jnp.var(jnp.array([1.0, 3.0]), ddof=1))
///   2.0
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
    let r#where = mask(py, r#where, "var", 6)?;
    let mean = optional(py, mean, "var", 7)?;
    one(py, || {
        let ddof = freedom(ddof, correction)?;
        numpy::var(&a, &options(axis, dtype, keepdims, None, r#where), ddof, mean.as_ref())
    })
}

/// The standard deviation over axes: the square root of `var`.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements; 0 by default; NaN where that is not
///     positive.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
///   correction: another name of `ddof`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: both `ddof` and `correction` are given; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaN where all elements are equal.
/// Example:
///   >>> print(jnp.std(jnp.array([[1.0, 3.0], [2.0, 8.0]]), axis=1))
///   [1. 3.]
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
    let r#where = mask(py, r#where, "std", 6)?;
    let mean = optional(py, mean, "std", 7)?;
    one(py, || {
        let ddof = freedom(ddof, correction)?;
        numpy::std(&a, &options(axis, dtype, keepdims, None, r#where), ddof, mean.as_ref())
    })
}

/// The weighted mean over axes: `sum(a * weights) / sum(weights)`; NaN or an infinity where the weights sum to 0.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   weights: an array of the shape of `a`, or of the sizes of `axis`; equal weights by default.
///   returned: whether to give the sums of the weights too.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: an array of the shape of `a` without the reduced axes, or the pair of it and the sums of weights, of
///   the same shape.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `weights` of another shape, or without `axis` of another shape than `a`; an axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to `a` and `weights`.
/// Example:
///   >>> print(jnp.average(jnp.array([1.0, 2.0, 6.0]), weights=jnp.array([1, 1, 2])))
///   3.75
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

/// The mean over axes of the elements that are not NaN; NaN where there are none.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating or complex dtype of `a`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nanmean(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [1.  3.5]
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
    let r#where = mask(py, r#where, "nanmean", 5)?;
    one(py, || numpy::nanmean(&a, &options(axis, dtype, keepdims, None, r#where)))
}

/// The variance over axes of the elements that are not NaN; NaN where there are none.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements that are not NaN; 0 by default.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.nanvar(jnp.array([[1.0, jnp.nan, 3.0], [2.0, 2.0, 2.0]]), axis=1))
///   [1. 0.]
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
    let r#where = mask(py, r#where, "nanvar", 6)?;
    let mean = optional(py, mean, "nanvar", 7)?;
    one(py, || {
        without("nanvar", mean.as_ref())?;
        numpy::nanvar(&a, &options(axis, dtype, keepdims, None, r#where), ddof)
    })
}

/// The standard deviation over axes of the elements that are not NaN: the square root of `nanvar`.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements that are not NaN; 0 by default.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaN where all elements are equal.
/// Example:
///   >>> print(jnp.nanstd(jnp.array([[1.0, jnp.nan, 3.0], [2.0, 2.0, 8.0]]), axis=1)[0])
///   1.0
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
    let r#where = mask(py, r#where, "nanstd", 6)?;
    let mean = optional(py, mean, "nanstd", 7)?;
    one(py, || {
        without("nanstd", mean.as_ref())?;
        numpy::nanstd(&a, &options(axis, dtype, keepdims, None, r#where), ddof)
    })
}

/// The middle element over axes in order; of an even number the mean of the two middle ones. NaN if one is among
/// them.
///
/// Args:
///   a: a real array or number; integers become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `a` is complex, there are no elements, `out` or `overwrite_input` is given, or an axis is out of
///     bounds.
/// Differentiable: almost everywhere; the gradient goes to the middle elements.
/// Example:
///   >>> print(jnp.median(jnp.array([[4, 1, 3], [2, 9, 2]]), axis=1))
///   [3. 2.]
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
    one(py, || {
        if out.is_some() || overwrite_input {
            bail!(Value, "jax.numpy.median does not support overwrite_input=True or out != None");
        }
        let aval = a.aval();
        if aval.dtype.is_complex() {
            bail!(Value, "median does not support complex input, as the operation is poorly defined.");
        }
        if axis.resolve(aval.rank())?.iter().any(|&axis| aval.shape[axis] == 0) {
            bail!(Value, "jax.numpy.median reduction axis must be non-empty");
        }
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

/// How many elements have each of the values 0, 1, 2, ...; negative elements count as 0.
///
/// Args:
///   x: a vector of integers; concrete unless `length` is given.
///   weights: what each element counts: an array of the shape of `x`; 1 by default.
///   minlength: the least length of the result; 0 by default.
///   length: the length of the result, a static integer; elements that are not below it are dropped.
///   out_sharding: for compatibility; without influence on one device.
/// Returns: a vector of length `max(minlength, 1 + greatest element)`, or `length`: integers, or the dtype of
///   `weights`.
/// Raises:
///   TypeError: `x` is not of an integer dtype, or no array.
///   ValueError: `x` is no vector, or `weights` has another shape.
///   ConcretizationTypeError: a traced `x` without `length`.
/// Differentiable: with respect to `weights`, in both modes; it is linear.
/// Example:
///   >>> print(jnp.bincount(jnp.array([0, 1, 1, 3])))
///   [1 2 0 1]
#[pyfunction]
#[pyo3(signature = (x, weights=None, minlength=0, *, length=None, out_sharding=None), text_signature = "(x, weights=None, minlength=0, *, length=None, out_sharding=None)")]
fn bincount(
    py: Python<'_>,
    x: ArrayLike,
    weights: Option<ArrayLike>,
    minlength: i64,
    length: Option<usize>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bincount", 0)?;
    let weights = optional(py, weights, "bincount", 1)?;
    check_out_sharding("jnp.bincount", out_sharding.as_ref())?;
    one(py, || {
        let length = match length {
            Some(length) => length,
            None => greatest_plus_one(&x)?.max(minlength.max(0) as usize),
        };
        numpy::bincount(&x, weights.as_ref(), length)
    })
}
