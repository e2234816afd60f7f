//! Elementwise functions with options, and comparison of whole arrays.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::irregular::array_like;
use super::support::tolerance;
use crate::api::arguments::{no_out, one, optional, tuple};
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(divmod, m)?)?;
    m.add_function(wrap_pyfunction!(modf, m)?)?;
    m.add_function(wrap_pyfunction!(round, m)?)?;
    m.add_function(wrap_pyfunction!(around, m)?)?;
    m.add_function(wrap_pyfunction!(angle, m)?)?;
    m.add_function(wrap_pyfunction!(nan_to_num, m)?)?;
    m.add_function(wrap_pyfunction!(clip, m)?)?;
    m.add_function(wrap_pyfunction!(isclose, m)?)?;
    m.add_function(wrap_pyfunction!(allclose, m)?)?;
    m.add_function(wrap_pyfunction!(array_equal, m)?)?;
    m.add_function(wrap_pyfunction!(array_equiv, m)?)?;
    m.add_function(wrap_pyfunction!(isin, m)?)?;
    Ok(())
}

/// The quotient rounded down and its remainder: `(floor_divide(x1, x2), remainder(x1, x2))`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: a pair of arrays of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: as `floor_divide` and `remainder` are.
/// Example:
///   >>> quotient, rest = jnp.divmod(jnp.array([7, -7]), 3)
///   >>> print(quotient, rest)
///   [ 2 -3] [1 2]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn divmod(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "divmod", 0)?;
    let x2 = x2.val(py, "divmod", 1)?;
    tuple(py, || {
        let (q, r) = numpy::divmod(&x1, &x2)?;
        Ok([q, r])
    })
}

/// The fractional and the integral part of each element, both with its sign: `x = fraction + integral`.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
///   out: for compatibility; must be None.
/// Returns: a pair of arrays of the shape of `x` and its floating dtype.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
///   NotImplementedError: `out` is given.
/// Differentiable: the fraction with derivative 1, the integral part with derivative 0.
/// Example:
///   >>> fraction, integral = jnp.modf(jnp.array([-1.5, 2.25]))
///   >>> print(fraction, integral)
///   [-0.5   0.25] [-1.  2.]
#[pyfunction]
#[pyo3(signature = (x, /, out=None), text_signature = "(x, /, out=None)")]
fn modf(py: Python<'_>, x: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "modf", 0)?;
    no_out("modf", out.as_ref())?;
    tuple(py, || {
        let (f, i) = numpy::modf(&x)?;
        Ok([f, i])
    })
}

/// Each element rounded to a number of decimals; halves go to the even digit.
///
/// Args:
///   a: an array or number; of complex numbers both parts are rounded.
///   decimals: a static integer: digits behind the point, 0 by default; negative ones round to powers of ten.
///   out: for compatibility; must be None.
/// Returns: an array of the shape and dtype of `a`; integers come back unchanged.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   NotImplementedError: integers with negative `decimals`, or `out` is given.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.round(jnp.array([0.5, 1.5, 2.6])))
///   [0. 2. 3.]
///   >>> print(jnp.round(jnp.array([1234.0]), -2))
///   [1200.]
#[pyfunction]
#[pyo3(signature = (a, decimals=0, out=None), text_signature = "(a, decimals=0, out=None)")]
fn round(py: Python<'_>, a: ArrayLike, decimals: i64, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "round", 0)?;
    no_out("round", out.as_ref())?;
    one(py, || numpy::round(&a, decimals))
}

/// Each element rounded to a number of decimals; halves go to the even digit.
///
/// Args:
///   a: an array or number; of complex numbers both parts are rounded.
///   decimals: a static integer: digits behind the point, 0 by default; negative ones round to powers of ten.
///   out: for compatibility; must be None.
/// Returns: an array of the shape and dtype of `a`; integers come back unchanged.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   NotImplementedError: integers with negative `decimals`, or `out` is given.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.around(jnp.array([0.5, 1.5, 2.6])))
///   [0. 2. 3.]
///   >>> print(jnp.around(jnp.array([1234.0]), -2))
///   [1200.]
#[pyfunction]
#[pyo3(signature = (a, decimals=0, out=None), text_signature = "(a, decimals=0, out=None)")]
fn around(py: Python<'_>, a: ArrayLike, decimals: i64, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "around", 0)?;
    no_out("around", out.as_ref())?;
    one(py, || numpy::round(&a, decimals))
}

/// The angle of each complex number to the positive real axis: `arctan2(imag, real)`.
///
/// Args:
///   z: an array or number; integers and booleans become floating.
///   deg: whether to give degrees instead of radians.
/// Returns: an array of the shape of `z` and a floating dtype, from -pi to pi; 0 or pi of real numbers.
/// Raises:
///   TypeError: `z` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, away from 0.
/// Example:
///   >>> print(jnp.angle(jnp.array([1 + 0j, -2j]), deg=True))
///   [  0. -90.]
#[pyfunction]
#[pyo3(signature = (z, deg=false), text_signature = "(z, deg=False)")]
fn angle(py: Python<'_>, z: ArrayLike, deg: bool) -> PyResult<Py<PyAny>> {
    let z = z.val(py, "angle", 0)?;
    one(py, || numpy::angle(&z, deg))
}

/// NaN and infinities replaced by finite numbers, in both parts of complex numbers.
///
/// Args:
///   x: an array or number; integers and booleans come back unchanged.
///   copy: for compatibility; without influence, `x` is never changed.
///   nan: what replaces NaN: a number or an array that broadcasts to `x`; 0 by default.
///   posinf: what replaces infinity; the greatest number of the dtype by default.
///   neginf: what replaces negative infinity; the least number of the dtype by default.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the gradient at replaced elements is 0.
/// Example:
///   >>> print(jnp.nan_to_num(jnp.array([1.5, jnp.nan, jnp.inf]), posinf=9.0))
///   [1.5 0.  9. ]
#[pyfunction]
#[pyo3(signature = (x, copy=true, nan=None, posinf=None, neginf=None), text_signature = "(x, copy=True, nan=0.0, posinf=None, neginf=None)")]
fn nan_to_num(
    py: Python<'_>,
    x: ArrayLike,
    copy: bool,
    nan: Option<ArrayLike>,
    posinf: Option<ArrayLike>,
    neginf: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "nan_to_num", 0)?;
    let nan = optional(py, nan, "nan_to_num", 2)?;
    let posinf = optional(py, posinf, "nan_to_num", 3)?;
    let neginf = optional(py, neginf, "nan_to_num", 4)?;
    one(py, || {
        let _ = copy;
        numpy::nan_to_num(&x, nan.as_ref(), posinf.as_ref(), neginf.as_ref())
    })
}

/// Each element kept between two bounds: `minimum(maximum(arr, min), max)`, so that `max` wins where the bounds
/// cross.
///
/// Args:
///   arr: a real array or number.
///   min: the lower bound: an array or number that broadcasts with `arr`; None for none.
///   max: the upper bound: likewise.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   ValueError: an argument is complex, or `arr` is missing.
/// Differentiable: yes, in both modes: 1 inside, 0 outside, half at a bound.
/// Example:
///   >>> print(jnp.clip(jnp.arange(5), 1, 3))
///   [1 1 2 3 3]
#[pyfunction]
#[pyo3(signature = (arr=None, /, min=None, max=None), text_signature = "(arr=None, /, min=None, max=None)")]
fn clip(py: Python<'_>, arr: Option<ArrayLike>, min: Option<ArrayLike>, max: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let arr =
        arr.ok_or_else(|| crate::errors::value_error("No input was provided to the clip function.".to_owned()))?;
    let arr = arr.val(py, "clip", 0)?;
    let min = optional(py, min, "clip", 1)?;
    let max = optional(py, max, "clip", 2)?;
    one(py, || numpy::clip(&arr, min.as_ref(), max.as_ref()))
}

/// For each pair of elements whether `|a - b| <= atol + rtol * |b|`, which treats `b` as the reference.
/// Equal infinities are close.
///
/// Args:
///   a, b: arrays or numbers whose shapes broadcast.
///   rtol: the relative tolerance, 1e-5 by default: a number or an array that broadcasts.
///   atol: the absolute tolerance, 1e-8 by default: likewise.
///   equal_nan: whether two NaNs are close.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isclose(jnp.array([1.0, 1e6, jnp.nan]), jnp.array([1.1, 1e6 + 1, jnp.nan]), equal_nan=True))
///   [False  True  True]
#[pyfunction]
#[pyo3(signature = (a, b, rtol=None, atol=None, equal_nan=false), text_signature = "(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")]
fn isclose(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    rtol: Option<ArrayLike>,
    atol: Option<ArrayLike>,
    equal_nan: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "isclose", 0)?;
    let b = b.val(py, "isclose", 1)?;
    let rtol = optional(py, rtol, "isclose", 2)?;
    let atol = optional(py, atol, "isclose", 3)?;
    one(py, || numpy::isclose(&a, &b, &tolerance(rtol, 1e-5), &tolerance(atol, 1e-8), equal_nan))
}

/// Whether all pairs of elements are close in the sense of `isclose`.
///
/// Args:
///   a, b: arrays or numbers whose shapes broadcast.
///   rtol: the relative tolerance, 1e-5 by default.
///   atol: the absolute tolerance, 1e-8 by default.
///   equal_nan: whether two NaNs are close.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.allclose(jnp.array([1e6, 2.0]), jnp.array([1e6 + 1, 2.0])))
///   True
#[pyfunction]
#[pyo3(signature = (a, b, rtol=None, atol=None, equal_nan=false), text_signature = "(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")]
fn allclose(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    rtol: Option<ArrayLike>,
    atol: Option<ArrayLike>,
    equal_nan: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "allclose", 0)?;
    let b = b.val(py, "allclose", 1)?;
    let rtol = optional(py, rtol, "allclose", 2)?;
    let atol = optional(py, atol, "allclose", 3)?;
    one(py, || numpy::allclose(&a, &b, &tolerance(rtol, 1e-5), &tolerance(atol, 1e-8), equal_nan))
}

/// Whether two arrays have the same shape and equal elements; shapes that differ are no error.
///
/// Args:
///   a1, a2: arrays or numbers.
///   equal_nan: whether NaNs at the same place count as equal.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.array_equal(jnp.arange(2), jnp.arange(2)), jnp.array_equal(jnp.arange(2), jnp.arange(3)))
///   True False
#[pyfunction]
#[pyo3(signature = (a1, a2, equal_nan=false), text_signature = "(a1, a2, equal_nan=False)")]
fn array_equal(py: Python<'_>, a1: &Bound<'_, PyAny>, a2: &Bound<'_, PyAny>, equal_nan: bool) -> PyResult<Py<PyAny>> {
    let (a1, a2) = (array_like(a1)?, array_like(a2)?);
    one(py, || numpy::array_equal(&a1, &a2, equal_nan))
}

/// Whether two arrays are equal once they are broadcast; shapes that do not broadcast give false.
///
/// Args:
///   a1, a2: arrays or numbers.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.array_equiv(jnp.ones((2, 2)), 1), jnp.array_equiv(jnp.ones(2), jnp.ones(3)))
///   True False
#[pyfunction]
#[pyo3(signature = (a1, a2), text_signature = "(a1, a2)")]
fn array_equiv(py: Python<'_>, a1: &Bound<'_, PyAny>, a2: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (a1, a2) = (array_like(a1)?, array_like(a2)?);
    one(py, || numpy::array_equiv(&a1, &a2))
}

/// For each element whether it is among others; NaN is among none.
///
/// Args:
///   element: an array or number.
///   test_elements: the others: an array or number of any shape.
///   assume_unique: for compatibility; without influence.
///   invert: whether to give the opposite.
///   method: 'auto', 'compare_all', 'binary_search' or 'sort'; all give the same here.
/// Returns: booleans of the shape of `element`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: another `method`.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isin(jnp.arange(4), jnp.array([1, 3, 9])))
///   [False  True False  True]
#[pyfunction]
#[pyo3(signature = (element, test_elements, assume_unique=false, invert=false, *, method="auto"), text_signature = "(element, test_elements, assume_unique=False, invert=False, *, method='auto')")]
fn isin(
    py: Python<'_>,
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool,
    invert: bool,
    method: &str,
) -> PyResult<Py<PyAny>> {
    if !["compare_all", "binary_search", "sort", "auto"].contains(&method) {
        return Err(crate::errors::value_error(format!(
            "method='{method}' is not implemented; options are 'compare_all', 'binary_search', 'sort', and 'auto'"
        )));
    }
    let element = element.val(py, "isin", 0)?;
    let test_elements = test_elements.val(py, "isin", 1)?;
    one(py, || {
        let _ = assume_unique;
        numpy::isin(&element, &test_elements, invert)
    })
}
