//! Elementwise functions of one operand.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::lax::{self};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(abs, m)?)?;
    m.add_function(wrap_pyfunction!(acos, m)?)?;
    m.add_function(wrap_pyfunction!(acosh, m)?)?;
    m.add_function(wrap_pyfunction!(asin, m)?)?;
    m.add_function(wrap_pyfunction!(asinh, m)?)?;
    m.add_function(wrap_pyfunction!(atan, m)?)?;
    m.add_function(wrap_pyfunction!(atanh, m)?)?;
    m.add_function(wrap_pyfunction!(bessel_i0e, m)?)?;
    m.add_function(wrap_pyfunction!(bessel_i1e, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_not, m)?)?;
    m.add_function(wrap_pyfunction!(cbrt, m)?)?;
    m.add_function(wrap_pyfunction!(ceil, m)?)?;
    m.add_function(wrap_pyfunction!(clz, m)?)?;
    m.add_function(wrap_pyfunction!(conj, m)?)?;
    m.add_function(wrap_pyfunction!(cos, m)?)?;
    m.add_function(wrap_pyfunction!(cosh, m)?)?;
    m.add_function(wrap_pyfunction!(digamma, m)?)?;
    m.add_function(wrap_pyfunction!(erf, m)?)?;
    m.add_function(wrap_pyfunction!(erf_inv, m)?)?;
    m.add_function(wrap_pyfunction!(erfc, m)?)?;
    m.add_function(wrap_pyfunction!(exp, m)?)?;
    m.add_function(wrap_pyfunction!(exp2, m)?)?;
    m.add_function(wrap_pyfunction!(expm1, m)?)?;
    m.add_function(wrap_pyfunction!(floor, m)?)?;
    m.add_function(wrap_pyfunction!(imag, m)?)?;
    m.add_function(wrap_pyfunction!(is_finite, m)?)?;
    m.add_function(wrap_pyfunction!(lgamma, m)?)?;
    m.add_function(wrap_pyfunction!(log, m)?)?;
    m.add_function(wrap_pyfunction!(log1p, m)?)?;
    m.add_function(wrap_pyfunction!(log2, m)?)?;
    m.add_function(wrap_pyfunction!(logistic, m)?)?;
    m.add_function(wrap_pyfunction!(neg, m)?)?;
    m.add_function(wrap_pyfunction!(one_minus_square, m)?)?;
    m.add_function(wrap_pyfunction!(population_count, m)?)?;
    m.add_function(wrap_pyfunction!(real, m)?)?;
    m.add_function(wrap_pyfunction!(reciprocal, m)?)?;
    m.add_function(wrap_pyfunction!(rsqrt, m)?)?;
    m.add_function(wrap_pyfunction!(sign, m)?)?;
    m.add_function(wrap_pyfunction!(sin, m)?)?;
    m.add_function(wrap_pyfunction!(sinh, m)?)?;
    m.add_function(wrap_pyfunction!(sqrt, m)?)?;
    m.add_function(wrap_pyfunction!(square, m)?)?;
    m.add_function(wrap_pyfunction!(tan, m)?)?;
    m.add_function(wrap_pyfunction!(tanh, m)?)?;
    Ok(())
}

/// The primitive `abs` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn abs(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "abs", 0)?;
    one(py, || lax::abs(&x))
}

/// The primitive `acos` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn acos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acos", 0)?;
    one(py, || lax::acos(&x))
}

/// The primitive `acosh` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn acosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acosh", 0)?;
    one(py, || lax::acosh(&x))
}

/// The primitive `asin` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn asin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asin", 0)?;
    one(py, || lax::asin(&x))
}

/// The primitive `asinh` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn asinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asinh", 0)?;
    one(py, || lax::asinh(&x))
}

/// The primitive `atan` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn atan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atan", 0)?;
    one(py, || lax::atan(&x))
}

/// The primitive `atanh` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn atanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atanh", 0)?;
    one(py, || lax::atanh(&x))
}

/// The primitive `bessel_i0e` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn bessel_i0e(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bessel_i0e", 0)?;
    one(py, || lax::bessel_i0e(&x))
}

/// The primitive `bessel_i1e` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn bessel_i1e(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bessel_i1e", 0)?;
    one(py, || lax::bessel_i1e(&x))
}

/// The primitive `bitwise_not` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn bitwise_not(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_not", 0)?;
    one(py, || lax::bitwise_not(&x))
}

/// The primitive `cbrt` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn cbrt(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cbrt", 0)?;
    let _ = accuracy;
    one(py, || lax::cbrt(&x))
}

/// The primitive `ceil` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn ceil(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "ceil", 0)?;
    one(py, || lax::ceil(&x))
}

/// The primitive `clz` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn clz(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "clz", 0)?;
    one(py, || lax::clz(&x))
}

/// The primitive `conj` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn conj(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "conj", 0)?;
    one(py, || lax::conj(&x))
}

/// The primitive `cos` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn cos(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cos", 0)?;
    let _ = accuracy;
    one(py, || lax::cos(&x))
}

/// The primitive `cosh` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn cosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cosh", 0)?;
    one(py, || lax::cosh(&x))
}

/// The primitive `digamma` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn digamma(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "digamma", 0)?;
    one(py, || lax::digamma(&x))
}

/// The primitive `erf` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn erf(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "erf", 0)?;
    one(py, || lax::erf(&x))
}

/// The primitive `erf_inv` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn erf_inv(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "erf_inv", 0)?;
    one(py, || lax::erf_inv(&x))
}

/// The primitive `erfc` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn erfc(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "erfc", 0)?;
    let _ = accuracy;
    one(py, || lax::erfc(&x))
}

/// The primitive `exp` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn exp(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp", 0)?;
    let _ = accuracy;
    one(py, || lax::exp(&x))
}

/// The primitive `exp2` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn exp2(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp2", 0)?;
    let _ = accuracy;
    one(py, || lax::exp2(&x))
}

/// The primitive `expm1` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn expm1(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "expm1", 0)?;
    let _ = accuracy;
    one(py, || lax::expm1(&x))
}

/// The primitive `floor` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn floor(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "floor", 0)?;
    one(py, || lax::floor(&x))
}

/// The primitive `imag` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn imag(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "imag", 0)?;
    one(py, || lax::imag(&x))
}

/// The primitive `is_finite` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn is_finite(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "is_finite", 0)?;
    one(py, || lax::is_finite(&x))
}

/// The primitive `lgamma` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn lgamma(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "lgamma", 0)?;
    one(py, || lax::lgamma(&x))
}

/// The primitive `log` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn log(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log", 0)?;
    let _ = accuracy;
    one(py, || lax::log(&x))
}

/// The primitive `log1p` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn log1p(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log1p", 0)?;
    let _ = accuracy;
    one(py, || lax::log1p(&x))
}

/// The primitive `log2` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn log2(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log2", 0)?;
    let _ = accuracy;
    one(py, || lax::log2(&x))
}

/// The primitive `logistic` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn logistic(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "logistic", 0)?;
    let _ = accuracy;
    one(py, || lax::logistic(&x))
}

/// The primitive `neg` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn neg(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "neg", 0)?;
    one(py, || lax::neg(&x))
}

/// The primitive `one_minus_square` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn one_minus_square(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "one_minus_square", 0)?;
    one(py, || lax::one_minus_square(&x))
}

/// The primitive `population_count` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn population_count(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "population_count", 0)?;
    one(py, || lax::population_count(&x))
}

/// The primitive `real` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn real(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "real", 0)?;
    one(py, || lax::real(&x))
}

/// The primitive `reciprocal` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn reciprocal(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "reciprocal", 0)?;
    one(py, || lax::reciprocal(&x))
}

/// The primitive `rsqrt` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn rsqrt(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rsqrt", 0)?;
    let _ = accuracy;
    one(py, || lax::rsqrt(&x))
}

/// The primitive `sign` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn sign(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sign", 0)?;
    one(py, || lax::sign(&x))
}

/// The primitive `sin` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn sin(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sin", 0)?;
    let _ = accuracy;
    one(py, || lax::sin(&x))
}

/// The primitive `sinh` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn sinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sinh", 0)?;
    one(py, || lax::sinh(&x))
}

/// The primitive `sqrt` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn sqrt(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sqrt", 0)?;
    let _ = accuracy;
    one(py, || lax::sqrt(&x))
}

/// The primitive `square` of one operand.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn square(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "square", 0)?;
    one(py, || lax::square(&x))
}

/// The primitive `tan` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn tan(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tan", 0)?;
    let _ = accuracy;
    one(py, || lax::tan(&x))
}

/// The primitive `tanh` of one operand.
#[pyfunction]
#[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
fn tanh(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tanh", 0)?;
    let _ = accuracy;
    one(py, || lax::tanh(&x))
}
