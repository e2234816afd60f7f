//! Functions of `lax`.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{
    axes_of, each, fill_of, gather_dimensions, index_options, scatter_dimensions, scatter_with, sizes, starts,
};
use crate::api::arguments::{Arrays, ShapeArg, canonical, list, one, positional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::{Scalar, bail};
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::convert::{self, to_dtype};
use pullback_lib::lax::{self, Rounding};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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
    m.add_function(wrap_pyfunction!(igammac, m)?)?;
    m.add_function(wrap_pyfunction!(polygamma, m)?)?;
    m.add_function(wrap_pyfunction!(zeta, m)?)?;
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
    m.add_function(wrap_pyfunction!(slice, m)?)?;
    m.add_function(wrap_pyfunction!(slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_slice, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_slice, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(gather, m)?)?;
    m.add_function(wrap_pyfunction!(dot_general, m)?)?;
    m.add_function(wrap_pyfunction!(dot, m)?)?;
    m.add_function(wrap_pyfunction!(batch_matmul, m)?)?;
    m.add_function(wrap_pyfunction!(top_k, m)?)?;
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
        let to_even = rounding_method
            .is_some_and(|m| m.str().is_ok_and(|t| t.to_string().contains("EVEN") || t.to_string() == "1"));
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
    let x = x.val(py, "full_like", 0)?;
    let fill_value = fill_value.val(py, "full_like", 1)?;
    let dtype = canonical(py, dtype, "full_like")?;
    let shape = shape.map(|shape| shape.0);
    let _ = sharding;
    one(py, || pullback_lib::numpy::full_like(&x, &fill_value, dtype, shape.as_deref()))
}

/// A part of each axis.
#[pyfunction]
#[pyo3(signature = (operand, start_indices, limit_indices, strides=None), text_signature = "(operand, start_indices, limit_indices, strides=None)")]
fn slice(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: ShapeArg,
    limit_indices: ShapeArg,
    strides: Option<ShapeArg>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "slice", 0)?;
    let start_indices = start_indices.0;
    let limit_indices = limit_indices.0;
    let strides = strides.map(|shape| shape.0);
    one(py, || {
        let strides = strides.map(|strides| sizes(&strides)).transpose()?;
        lax::slice(&operand, &sizes(&start_indices)?, &sizes(&limit_indices)?, strides.as_deref())
    })
}

/// A part of one axis.
#[pyfunction]
#[pyo3(signature = (operand, start_index=None, limit_index=None, stride=1, axis=0), text_signature = "(operand, start_index, limit_index, stride=1, axis=0)")]
fn slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    start_index: Option<i64>,
    limit_index: Option<i64>,
    stride: i64,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "slice_in_dim", 0)?;
    one(py, || {
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let n = operand.aval().shape[axis] as i64;
        let wrap = |at: i64| (if at < 0 { at + n } else { at }).clamp(0, n) as usize;
        lax::slice_in_dim(
            &operand,
            wrap(start_index.unwrap_or(0)),
            wrap(limit_index.unwrap_or(n)),
            stride.max(1) as usize,
            axis,
        )
    })
}

/// One position of an axis.
#[pyfunction]
#[pyo3(signature = (operand, index, axis=0, keepdims=true), text_signature = "(operand, index, axis=0, keepdims=True)")]
fn index_in_dim(py: Python<'_>, operand: ArrayLike, index: i64, axis: i64, keepdims: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "index_in_dim", 0)?;
    one(py, || {
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let n = operand.aval().shape[axis] as i64;
        let at = if index < 0 { index + n } else { index };
        if !(0..n).contains(&at) {
            bail!(Index, "index {index} is out of bounds for axis {axis} with size {n}");
        }
        let part = lax::slice_in_dim(&operand, at as usize, at as usize + 1, 1, axis)?;
        if keepdims { Ok(part) } else { lax::squeeze_axes(&part, &[axis]) }
    })
}

/// A part of fixed size at a computed position.
#[pyfunction]
#[pyo3(signature = (operand, start_indices, slice_sizes, *, allow_negative_indices=None), text_signature = "(operand, start_indices, slice_sizes, *, allow_negative_indices=True)")]
fn dynamic_slice(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: &Bound<'_, PyAny>,
    slice_sizes: ShapeArg,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_slice", 0)?;
    let slice_sizes = slice_sizes.0;
    {
        let _ = allow_negative_indices;
        let starts = starts(py, start_indices)?;
        one(py, || lax::dynamic_slice(&operand, &starts, &shape_of(&slice_sizes)?))
    }
}

/// The operand with an update at a computed position.
#[pyfunction]
#[pyo3(signature = (operand, update, start_indices, *, allow_negative_indices=None), text_signature = "(operand, update, start_indices, *, allow_negative_indices=True)")]
fn dynamic_update_slice(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: &Bound<'_, PyAny>,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_slice", 0)?;
    let update = update.val(py, "dynamic_update_slice", 1)?;
    {
        let _ = allow_negative_indices;
        let starts = starts(py, start_indices)?;
        one(py, || lax::dynamic_update_slice(&operand, &update, &starts))
    }
}

/// A part of one axis at a computed position.
#[pyfunction]
#[pyo3(signature = (operand, start_index, slice_size, axis=0, *, allow_negative_indices=None), text_signature = "(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True)")]
fn dynamic_slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: usize,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_slice_in_dim", 0)?;
    let start_index = start_index.val(py, "dynamic_slice_in_dim", 1)?;
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = each(&operand, at, &start_index);
        let mut full = operand.aval().shape.to_vec();
        full[at] = slice_size;
        lax::dynamic_slice(&operand, &starts, &full)
    })
}

/// A computed position of one axis.
#[pyfunction]
#[pyo3(signature = (operand, index, axis=0, keepdims=true, *, allow_negative_indices=None), text_signature = "(operand, index, axis=0, keepdims=True, *, allow_negative_indices=True)")]
fn dynamic_index_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    index: ArrayLike,
    axis: i64,
    keepdims: bool,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_index_in_dim", 0)?;
    let index = index.val(py, "dynamic_index_in_dim", 1)?;
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = each(&operand, at, &index);
        let mut full = operand.aval().shape.to_vec();
        full[at] = 1;
        let part = lax::dynamic_slice(&operand, &starts, &full)?;
        if keepdims { Ok(part) } else { lax::squeeze_axes(&part, &[at]) }
    })
}

/// The operand with an update at a computed position of one axis.
#[pyfunction]
#[pyo3(signature = (operand, update, start_index, axis, *, allow_negative_indices=None), text_signature = "(operand, update, start_index, axis, *, allow_negative_indices=True)")]
fn dynamic_update_slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_slice_in_dim", 0)?;
    let update = update.val(py, "dynamic_update_slice_in_dim", 1)?;
    let start_index = start_index.val(py, "dynamic_update_slice_in_dim", 2)?;
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        lax::dynamic_update_slice(&operand, &update, &each(&operand, at, &start_index))
    })
}

/// The operand with one position of an axis replaced.
#[pyfunction]
#[pyo3(signature = (operand, update, index, axis, *, allow_negative_indices=None), text_signature = "(operand, update, index, axis, *, allow_negative_indices=True)")]
fn dynamic_update_index_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_index_in_dim", 0)?;
    let update = update.val(py, "dynamic_update_index_in_dim", 1)?;
    let index = index.val(py, "dynamic_update_index_in_dim", 2)?;
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let update = if update.aval().rank() == operand.aval().rank() {
            update.clone()
        } else {
            lax::expand_axes(&update, &[at])?
        };
        lax::dynamic_update_slice(&operand, &update, &each(&operand, at, &index))
    })
}

/// Slices at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=false, indices_are_sorted=false, mode=None, fill_value=None), text_signature = "(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None, fill_value=None)")]
fn gather(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    slice_sizes: ShapeArg,
    unique_indices: bool,
    indices_are_sorted: bool,
    mode: Option<&Bound<'_, PyAny>>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "gather", 0)?;
    let start_indices = start_indices.val(py, "gather", 1)?;
    let slice_sizes = slice_sizes.0;
    {
        let dims = gather_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        let fill: Option<Scalar> = fill_of(fill_value, operand.aval().dtype)?;
        one(py, || lax::gather(&operand, &start_indices, &dims, &shape_of(&slice_sizes)?, options, fill))
    }
}

/// The sum of products over contracted axes.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None), text_signature = "(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None)")]
fn dot_general(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot_general", 0)?;
    let rhs = rhs.val(py, "dot_general", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "dot_general")?;
    let _ = out_sharding;
    {
        let dims = super::support::dot_dimensions(dimension_numbers)?;
        one(py, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type))
    }
}

/// The dot product of vectors and matrices.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None)")]
fn dot(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Option<&Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot", 0)?;
    let rhs = rhs.val(py, "dot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "dot")?;
    let _ = out_sharding;
    {
        if let Some(dims) = dimension_numbers {
            let dims = super::support::dot_dimensions(dims)?;
            return one(py, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type));
        }
        one(py, || {
            let (a, b) = (lhs.aval(), rhs.aval());
            if !(1..=2).contains(&a.rank()) || !(1..=2).contains(&b.rank()) || a.shape[a.rank() - 1] != b.shape[0] {
                bail!(
                    Type,
                    "Incompatible shapes for dot: got {} and {}.",
                    pullback_base::aval::tuple_text(&a.shape),
                    pullback_base::aval::tuple_text(&b.shape)
                );
            }
            let contract = [vec![a.rank() - 1], vec![0]];
            let dims = pullback_core::prims::DotDimensions { contract, ..Default::default() };
            lax::dot_general(&lhs, &rhs, dims, preferred_element_type)
        })
    }
}

/// Products of matrices in batches.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, precision=None), text_signature = "(lhs, rhs, precision=None)")]
fn batch_matmul(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "batch_matmul", 0)?;
    let rhs = rhs.val(py, "batch_matmul", 1)?;
    let _ = precision;
    one(py, || pullback_lib::numpy::matmul(&lhs, &rhs, None))
}

/// The greatest elements and their positions.
#[pyfunction]
#[pyo3(signature = (operand, k, *, axis=-1, is_stable=true), text_signature = "(operand, k, *, axis=-1, is_stable=True)")]
fn top_k(py: Python<'_>, operand: ArrayLike, k: usize, axis: i64, is_stable: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "top_k", 0)?;
    list(py, || {
        let _ = is_stable;
        let axis = canonical_axis(axis, operand.aval().rank())?;
        lax::top_k(&operand, k, axis)
    })
}
