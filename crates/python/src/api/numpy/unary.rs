//! Functions of one operand.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{no_out, one};
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(abs, m)?)?;
    m.add_function(wrap_pyfunction!(absolute, m)?)?;
    m.add_function(wrap_pyfunction!(acos, m)?)?;
    m.add_function(wrap_pyfunction!(acosh, m)?)?;
    m.add_function(wrap_pyfunction!(arccos, m)?)?;
    m.add_function(wrap_pyfunction!(arccosh, m)?)?;
    m.add_function(wrap_pyfunction!(arcsin, m)?)?;
    m.add_function(wrap_pyfunction!(arcsinh, m)?)?;
    m.add_function(wrap_pyfunction!(arctan, m)?)?;
    m.add_function(wrap_pyfunction!(arctanh, m)?)?;
    m.add_function(wrap_pyfunction!(asin, m)?)?;
    m.add_function(wrap_pyfunction!(asinh, m)?)?;
    m.add_function(wrap_pyfunction!(atan, m)?)?;
    m.add_function(wrap_pyfunction!(atanh, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_count, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_invert, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_not, m)?)?;
    m.add_function(wrap_pyfunction!(cbrt, m)?)?;
    m.add_function(wrap_pyfunction!(ceil, m)?)?;
    m.add_function(wrap_pyfunction!(conj, m)?)?;
    m.add_function(wrap_pyfunction!(conjugate, m)?)?;
    m.add_function(wrap_pyfunction!(cos, m)?)?;
    m.add_function(wrap_pyfunction!(cosh, m)?)?;
    m.add_function(wrap_pyfunction!(deg2rad, m)?)?;
    m.add_function(wrap_pyfunction!(degrees, m)?)?;
    m.add_function(wrap_pyfunction!(exp, m)?)?;
    m.add_function(wrap_pyfunction!(exp2, m)?)?;
    m.add_function(wrap_pyfunction!(expm1, m)?)?;
    m.add_function(wrap_pyfunction!(fabs, m)?)?;
    m.add_function(wrap_pyfunction!(floor, m)?)?;
    m.add_function(wrap_pyfunction!(invert, m)?)?;
    m.add_function(wrap_pyfunction!(isfinite, m)?)?;
    m.add_function(wrap_pyfunction!(isinf, m)?)?;
    m.add_function(wrap_pyfunction!(isnan, m)?)?;
    m.add_function(wrap_pyfunction!(log, m)?)?;
    m.add_function(wrap_pyfunction!(log10, m)?)?;
    m.add_function(wrap_pyfunction!(log1p, m)?)?;
    m.add_function(wrap_pyfunction!(log2, m)?)?;
    m.add_function(wrap_pyfunction!(logical_not, m)?)?;
    m.add_function(wrap_pyfunction!(negative, m)?)?;
    m.add_function(wrap_pyfunction!(positive, m)?)?;
    m.add_function(wrap_pyfunction!(rad2deg, m)?)?;
    m.add_function(wrap_pyfunction!(radians, m)?)?;
    m.add_function(wrap_pyfunction!(reciprocal, m)?)?;
    m.add_function(wrap_pyfunction!(rint, m)?)?;
    m.add_function(wrap_pyfunction!(sign, m)?)?;
    m.add_function(wrap_pyfunction!(signbit, m)?)?;
    m.add_function(wrap_pyfunction!(sin, m)?)?;
    m.add_function(wrap_pyfunction!(sinc, m)?)?;
    m.add_function(wrap_pyfunction!(sinh, m)?)?;
    m.add_function(wrap_pyfunction!(sqrt, m)?)?;
    m.add_function(wrap_pyfunction!(square, m)?)?;
    m.add_function(wrap_pyfunction!(tan, m)?)?;
    m.add_function(wrap_pyfunction!(tanh, m)?)?;
    m.add_function(wrap_pyfunction!(trunc, m)?)?;
    m.add_function(wrap_pyfunction!(iscomplex, m)?)?;
    m.add_function(wrap_pyfunction!(isreal, m)?)?;
    m.add_function(wrap_pyfunction!(real, m)?)?;
    m.add_function(wrap_pyfunction!(imag, m)?)?;
    m.add_function(wrap_pyfunction!(isposinf, m)?)?;
    m.add_function(wrap_pyfunction!(isneginf, m)?)?;
    Ok(())
}

/// Absolute value; the modulus of complex numbers.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn abs(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "abs", 0)?;
    one(py, || numpy::absolute(&x))
}

/// Absolute value; the modulus of complex numbers.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn absolute(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "absolute", 0)?;
    one(py, || numpy::absolute(&x))
}

/// Inverse cosine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn acos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acos", 0)?;
    one(py, || numpy::arccos(&x))
}

/// Inverse hyperbolic cosine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn acosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acosh", 0)?;
    one(py, || numpy::arccosh(&x))
}

/// Inverse cosine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arccos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arccos", 0)?;
    one(py, || numpy::arccos(&x))
}

/// Inverse hyperbolic cosine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arccosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arccosh", 0)?;
    one(py, || numpy::arccosh(&x))
}

/// Inverse sine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arcsin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arcsin", 0)?;
    one(py, || numpy::arcsin(&x))
}

/// Inverse hyperbolic sine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arcsinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arcsinh", 0)?;
    one(py, || numpy::arcsinh(&x))
}

/// Inverse tangent.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arctan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arctan", 0)?;
    one(py, || numpy::arctan(&x))
}

/// Inverse hyperbolic tangent.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arctanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arctanh", 0)?;
    one(py, || numpy::arctanh(&x))
}

/// Inverse sine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn asin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asin", 0)?;
    one(py, || numpy::arcsin(&x))
}

/// Inverse hyperbolic sine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn asinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asinh", 0)?;
    one(py, || numpy::arcsinh(&x))
}

/// Inverse tangent.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn atan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atan", 0)?;
    one(py, || numpy::arctan(&x))
}

/// Inverse hyperbolic tangent.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn atanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atanh", 0)?;
    one(py, || numpy::arctanh(&x))
}

/// Number of bits set in the absolute value.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_count(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_count", 0)?;
    one(py, || numpy::bitwise_count(&x))
}

/// Complement of all bits.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_invert(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_invert", 0)?;
    one(py, || numpy::invert(&x))
}

/// Complement of all bits.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_not(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_not", 0)?;
    one(py, || numpy::invert(&x))
}

/// Cube root.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cbrt(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cbrt", 0)?;
    one(py, || numpy::cbrt(&x))
}

/// Least integer not below.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn ceil(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "ceil", 0)?;
    one(py, || numpy::ceil(&x))
}

/// Complex conjugate.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn conj(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "conj", 0)?;
    one(py, || numpy::conjugate(&x))
}

/// Complex conjugate.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn conjugate(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "conjugate", 0)?;
    one(py, || numpy::conjugate(&x))
}

/// Cosine, of radians.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cos", 0)?;
    one(py, || numpy::cos(&x))
}

/// Hyperbolic cosine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cosh", 0)?;
    one(py, || numpy::cosh(&x))
}

/// Radians of degrees.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn deg2rad(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "deg2rad", 0)?;
    one(py, || numpy::deg2rad(&x))
}

/// Degrees of radians.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn degrees(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "degrees", 0)?;
    one(py, || numpy::rad2deg(&x))
}

/// e to the power of x.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn exp(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp", 0)?;
    one(py, || numpy::exp(&x))
}

/// 2 to the power of x.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn exp2(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp2", 0)?;
    one(py, || numpy::exp2(&x))
}

/// exp(x) - 1, exact near 0.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn expm1(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "expm1", 0)?;
    one(py, || numpy::expm1(&x))
}

/// Absolute value as a floating number.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn fabs(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "fabs", 0)?;
    one(py, || numpy::fabs(&x))
}

/// Greatest integer not above.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn floor(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "floor", 0)?;
    one(py, || numpy::floor(&x))
}

/// Complement of all bits.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn invert(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "invert", 0)?;
    one(py, || numpy::invert(&x))
}

/// Whether neither infinite nor NaN.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isfinite(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isfinite", 0)?;
    one(py, || numpy::isfinite(&x))
}

/// Whether infinite.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isinf(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isinf", 0)?;
    one(py, || numpy::isinf(&x))
}

/// Whether NaN.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isnan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isnan", 0)?;
    one(py, || numpy::isnan(&x))
}

/// Natural logarithm.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log", 0)?;
    one(py, || numpy::log(&x))
}

/// Logarithm to base 10.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log10(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log10", 0)?;
    one(py, || numpy::log10(&x))
}

/// log(1 + x), exact near 0.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log1p(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log1p", 0)?;
    one(py, || numpy::log1p(&x))
}

/// Logarithm to base 2.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log2(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log2", 0)?;
    one(py, || numpy::log2(&x))
}

/// Whether zero.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn logical_not(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "logical_not", 0)?;
    one(py, || numpy::logical_not(&x))
}

/// The negative.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(*args, out=None, where=None)")]
fn negative(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "negative", 0)?;
    one(py, || numpy::negative(&x))
}

/// The number itself.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn positive(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "positive", 0)?;
    one(py, || numpy::positive(&x))
}

/// Degrees of radians.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn rad2deg(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rad2deg", 0)?;
    one(py, || numpy::rad2deg(&x))
}

/// Radians of degrees.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn radians(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "radians", 0)?;
    one(py, || numpy::deg2rad(&x))
}

/// 1 / x.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn reciprocal(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "reciprocal", 0)?;
    one(py, || numpy::reciprocal(&x))
}

/// The nearest integer, halves to even.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn rint(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rint", 0)?;
    one(py, || numpy::rint(&x))
}

/// Sign: -1, 0 or 1.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sign(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sign", 0)?;
    one(py, || numpy::sign(&x))
}

/// Whether the sign bit is set.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn signbit(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "signbit", 0)?;
    one(py, || numpy::signbit(&x))
}

/// Sine, of radians.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sin", 0)?;
    one(py, || numpy::sin(&x))
}

/// sin(pi x) / (pi x).
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sinc(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sinc", 0)?;
    one(py, || numpy::sinc(&x))
}

/// Hyperbolic sine.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sinh", 0)?;
    one(py, || numpy::sinh(&x))
}

/// Square root.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sqrt(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sqrt", 0)?;
    one(py, || numpy::sqrt(&x))
}

/// The square.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn square(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "square", 0)?;
    one(py, || numpy::square(&x))
}

/// Tangent, of radians.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn tan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tan", 0)?;
    one(py, || numpy::tan(&x))
}

/// Hyperbolic tangent.
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn tanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tanh", 0)?;
    one(py, || numpy::tanh(&x))
}

/// The integer part, towards zero.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn trunc(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "trunc", 0)?;
    one(py, || numpy::trunc(&x))
}

/// Whether the imaginary part differs from zero.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn iscomplex(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "iscomplex", 0)?;
    one(py, || numpy::iscomplex(&x))
}

/// Whether the imaginary part is zero.
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn isreal(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isreal", 0)?;
    one(py, || numpy::isreal(&x))
}

/// Real part.
#[pyfunction]
#[pyo3(signature = (val, /), text_signature = "(val, /)")]
fn real(py: Python<'_>, val: ArrayLike) -> PyResult<Py<PyAny>> {
    let val = val.val(py, "real", 0)?;
    one(py, || numpy::real(&val))
}

/// Imaginary part.
#[pyfunction]
#[pyo3(signature = (val, /), text_signature = "(val, /)")]
fn imag(py: Python<'_>, val: ArrayLike) -> PyResult<Py<PyAny>> {
    let val = val.val(py, "imag", 0)?;
    one(py, || numpy::imag(&val))
}

/// Whether positive infinity.
#[pyfunction]
#[pyo3(signature = (x, /, out=None), text_signature = "(x, /, out=None)")]
fn isposinf(py: Python<'_>, x: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isposinf", 0)?;
    no_out("isposinf", out.as_ref())?;
    one(py, || numpy::isposinf(&x))
}

/// Whether negative infinity.
#[pyfunction]
#[pyo3(signature = (x, /, out=None), text_signature = "(x, /, out=None)")]
fn isneginf(py: Python<'_>, x: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isneginf", 0)?;
    no_out("isneginf", out.as_ref())?;
    one(py, || numpy::isneginf(&x))
}
