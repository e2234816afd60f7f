//! Functions of single elements.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::lax;
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
    m.add_function(wrap_pyfunction!(add, m)?)?;
    m.add_function(wrap_pyfunction!(atan2, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_and, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_or, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_xor, m)?)?;
    m.add_function(wrap_pyfunction!(complex, m)?)?;
    m.add_function(wrap_pyfunction!(div, m)?)?;
    m.add_function(wrap_pyfunction!(eq, m)?)?;
    m.add_function(wrap_pyfunction!(ge, m)?)?;
    m.add_function(wrap_pyfunction!(gt, m)?)?;
    m.add_function(wrap_pyfunction!(le, m)?)?;
    m.add_function(wrap_pyfunction!(lt, m)?)?;
    m.add_function(wrap_pyfunction!(max, m)?)?;
    m.add_function(wrap_pyfunction!(min, m)?)?;
    m.add_function(wrap_pyfunction!(ne, m)?)?;
    m.add_function(wrap_pyfunction!(pow, m)?)?;
    m.add_function(wrap_pyfunction!(rem, m)?)?;
    m.add_function(wrap_pyfunction!(shift_left, m)?)?;
    m.add_function(wrap_pyfunction!(shift_right_arithmetic, m)?)?;
    m.add_function(wrap_pyfunction!(shift_right_logical, m)?)?;
    m.add_function(wrap_pyfunction!(sub, m)?)?;
    m.add_function(wrap_pyfunction!(mul, m)?)?;
    m.add_function(wrap_pyfunction!(mulhi, m)?)?;
    m.add_function(wrap_pyfunction!(nextafter, m)?)?;
    m.add_function(wrap_pyfunction!(igamma, m)?)?;
    m.add_function(wrap_pyfunction!(igamma_grad_a, m)?)?;
    m.add_function(wrap_pyfunction!(igammac, m)?)?;
    m.add_function(wrap_pyfunction!(random_gamma_grad, m)?)?;
    m.add_function(wrap_pyfunction!(polygamma, m)?)?;
    m.add_function(wrap_pyfunction!(zeta, m)?)?;
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

/// The primitive `add` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn add(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "add", 0)?;
    let y = y.val(py, "add", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("add", &x, &y)?;
        lax::add(&x, &y)
    })
}

/// The primitive `atan2` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn atan2(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atan2", 0)?;
    let y = y.val(py, "atan2", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("atan2", &x, &y)?;
        lax::atan2(&x, &y)
    })
}

/// The primitive `bitwise_and` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn bitwise_and(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_and", 0)?;
    let y = y.val(py, "bitwise_and", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("bitwise_and", &x, &y)?;
        lax::bitwise_and(&x, &y)
    })
}

/// The primitive `bitwise_or` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn bitwise_or(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_or", 0)?;
    let y = y.val(py, "bitwise_or", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("bitwise_or", &x, &y)?;
        lax::bitwise_or(&x, &y)
    })
}

/// The primitive `bitwise_xor` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn bitwise_xor(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_xor", 0)?;
    let y = y.val(py, "bitwise_xor", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("bitwise_xor", &x, &y)?;
        lax::bitwise_xor(&x, &y)
    })
}

/// The primitive `complex` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn complex(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "complex", 0)?;
    let y = y.val(py, "complex", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("complex", &x, &y)?;
        lax::complex(&x, &y)
    })
}

/// The primitive `div` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn div(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "div", 0)?;
    let y = y.val(py, "div", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("div", &x, &y)?;
        lax::div(&x, &y)
    })
}

/// The primitive `eq` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn eq(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "eq", 0)?;
    let y = y.val(py, "eq", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("eq", &x, &y)?;
        lax::eq(&x, &y)
    })
}

/// The primitive `ge` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn ge(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "ge", 0)?;
    let y = y.val(py, "ge", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("ge", &x, &y)?;
        lax::ge(&x, &y)
    })
}

/// The primitive `gt` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn gt(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "gt", 0)?;
    let y = y.val(py, "gt", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("gt", &x, &y)?;
        lax::gt(&x, &y)
    })
}

/// The primitive `le` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn le(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "le", 0)?;
    let y = y.val(py, "le", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("le", &x, &y)?;
        lax::le(&x, &y)
    })
}

/// The primitive `lt` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn lt(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "lt", 0)?;
    let y = y.val(py, "lt", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("lt", &x, &y)?;
        lax::lt(&x, &y)
    })
}

/// The primitive `max` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn max(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "max", 0)?;
    let y = y.val(py, "max", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("max", &x, &y)?;
        lax::max(&x, &y)
    })
}

/// The primitive `min` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn min(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "min", 0)?;
    let y = y.val(py, "min", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("min", &x, &y)?;
        lax::min(&x, &y)
    })
}

/// The primitive `ne` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn ne(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "ne", 0)?;
    let y = y.val(py, "ne", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("ne", &x, &y)?;
        lax::ne(&x, &y)
    })
}

/// The primitive `pow` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn pow(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "pow", 0)?;
    let y = y.val(py, "pow", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("pow", &x, &y)?;
        lax::pow(&x, &y)
    })
}

/// The primitive `rem` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn rem(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rem", 0)?;
    let y = y.val(py, "rem", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("rem", &x, &y)?;
        lax::rem(&x, &y)
    })
}

/// The primitive `shift_left` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn shift_left(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "shift_left", 0)?;
    let y = y.val(py, "shift_left", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("shift_left", &x, &y)?;
        lax::shift_left(&x, &y)
    })
}

/// The primitive `shift_right_arithmetic` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn shift_right_arithmetic(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "shift_right_arithmetic", 0)?;
    let y = y.val(py, "shift_right_arithmetic", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("shift_right_arithmetic", &x, &y)?;
        lax::shift_right_arithmetic(&x, &y)
    })
}

/// The primitive `shift_right_logical` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn shift_right_logical(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "shift_right_logical", 0)?;
    let y = y.val(py, "shift_right_logical", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("shift_right_logical", &x, &y)?;
        lax::shift_right_logical(&x, &y)
    })
}

/// The primitive `sub` of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y), text_signature = "(x, y)")]
fn sub(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sub", 0)?;
    let y = y.val(py, "sub", 1)?;
    one(py, || {
        let [x, y] = super::support::same_rank("sub", &x, &y)?;
        lax::sub(&x, &y)
    })
}

/// Product of two operands of one dtype.
#[pyfunction]
#[pyo3(signature = (x, y, *, out_dtype=None), text_signature = "(x, y, *, out_dtype=None)")]
fn mul(py: Python<'_>, x: ArrayLike, y: ArrayLike, out_dtype: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "mul", 0)?;
    let y = y.val(py, "mul", 1)?;
    let _ = out_dtype;
    one(py, || {
        let [x, y] = super::support::same_rank("mul", &x, &y)?;
        lax::mul(&x, &y)
    })
}

/// Upper half of the product of integers.
#[pyfunction]
#[pyo3(signature = (x, y, /), text_signature = "(x, y, /)")]
fn mulhi(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "mulhi", 0)?;
    let y = y.val(py, "mulhi", 1)?;
    one(py, || lax::mulhi(&x, &y))
}

/// The next number from x1 towards x2.
#[pyfunction]
#[pyo3(signature = (x1, x2), text_signature = "(x1, x2)")]
fn nextafter(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "nextafter", 0)?;
    let x2 = x2.val(py, "nextafter", 1)?;
    one(py, || lax::nextafter(&x1, &x2))
}

/// The special function `igamma`.
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igamma(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igamma", 0)?;
    let x = x.val(py, "igamma", 1)?;
    one(py, || lax::igamma(&a, &x))
}

/// The derivative of `igamma` in its first argument.
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igamma_grad_a(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igamma_grad_a", 0)?;
    let x = x.val(py, "igamma_grad_a", 1)?;
    one(py, || lax::igamma_grad_a(&a, &x))
}

/// The derivative of a sample of the gamma distribution in its shape.
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(*args)")]
fn random_gamma_grad(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "random_gamma_grad", 0)?;
    let x = x.val(py, "random_gamma_grad", 1)?;
    one(py, || lax::random_gamma_grad(&a, &x))
}

/// The special function `igammac`.
#[pyfunction]
#[pyo3(signature = (a, x), text_signature = "(a, x)")]
fn igammac(py: Python<'_>, a: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "igammac", 0)?;
    let x = x.val(py, "igammac", 1)?;
    one(py, || lax::igammac(&a, &x))
}

/// The special function `polygamma`.
#[pyfunction]
#[pyo3(signature = (m, x), text_signature = "(m, x)")]
fn polygamma(py: Python<'_>, m: ArrayLike, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "polygamma", 0)?;
    let x = x.val(py, "polygamma", 1)?;
    one(py, || lax::polygamma(&m, &x))
}

/// The special function `zeta`.
#[pyfunction]
#[pyo3(signature = (x, q), text_signature = "(x, q)")]
fn zeta(py: Python<'_>, x: ArrayLike, q: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "zeta", 0)?;
    let q = q.val(py, "zeta", 1)?;
    one(py, || lax::zeta(&x, &q))
}
