//! Elementwise functions with options, and comparison of whole arrays.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

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

/// Quotient rounded down, and remainder.
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

/// Fractional and integral part.
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

/// Rounded to a number of decimals, halves to even.
#[pyfunction]
#[pyo3(signature = (a, decimals=0, out=None), text_signature = "(a, decimals=0, out=None)")]
fn round(py: Python<'_>, a: ArrayLike, decimals: i64, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "round", 0)?;
    no_out("round", out.as_ref())?;
    one(py, || numpy::round(&a, decimals))
}

/// Rounded to a number of decimals, halves to even.
#[pyfunction]
#[pyo3(signature = (a, decimals=0, out=None), text_signature = "(a, decimals=0, out=None)")]
fn around(py: Python<'_>, a: ArrayLike, decimals: i64, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "around", 0)?;
    no_out("around", out.as_ref())?;
    one(py, || numpy::round(&a, decimals))
}

/// Angle of complex numbers.
#[pyfunction]
#[pyo3(signature = (z, deg=false), text_signature = "(z, deg=False)")]
fn angle(py: Python<'_>, z: ArrayLike, deg: bool) -> PyResult<Py<PyAny>> {
    let z = z.val(py, "angle", 0)?;
    one(py, || numpy::angle(&z, deg))
}

/// NaN and infinities replaced.
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

/// Kept between bounds.
#[pyfunction]
#[pyo3(signature = (arr, /, min=None, max=None), text_signature = "(arr=None, /, min=None, max=None)")]
fn clip(py: Python<'_>, arr: ArrayLike, min: Option<ArrayLike>, max: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "clip", 0)?;
    let min = optional(py, min, "clip", 1)?;
    let max = optional(py, max, "clip", 2)?;
    one(py, || numpy::clip(&arr, min.as_ref(), max.as_ref()))
}

/// Whether elements differ by at most atol + rtol*abs(b).
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

/// Whether all elements are close.
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

/// Whether shapes and all elements are equal.
#[pyfunction]
#[pyo3(signature = (a1, a2, equal_nan=false), text_signature = "(a1, a2, equal_nan=False)")]
fn array_equal(py: Python<'_>, a1: ArrayLike, a2: ArrayLike, equal_nan: bool) -> PyResult<Py<PyAny>> {
    let a1 = a1.val(py, "array_equal", 0)?;
    let a2 = a2.val(py, "array_equal", 1)?;
    one(py, || numpy::array_equal(&a1, &a2, equal_nan))
}

/// Whether shapes broadcast and all elements are equal.
#[pyfunction]
#[pyo3(signature = (a1, a2), text_signature = "(a1, a2)")]
fn array_equiv(py: Python<'_>, a1: ArrayLike, a2: ArrayLike) -> PyResult<Py<PyAny>> {
    let a1 = a1.val(py, "array_equiv", 0)?;
    let a2 = a2.val(py, "array_equiv", 1)?;
    one(py, || numpy::array_equiv(&a1, &a2))
}

/// For each element whether it is among others.
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
