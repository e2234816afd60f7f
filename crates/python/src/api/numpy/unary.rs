//! Functions of one operand: signs, rounding, bits, parts of complex numbers, predicates.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::numeric;
use crate::api::arguments::{no_out, one};
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(abs, m)?)?;
    m.add_function(wrap_pyfunction!(absolute, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_count, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_invert, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_not, m)?)?;
    m.add_function(wrap_pyfunction!(ceil, m)?)?;
    m.add_function(wrap_pyfunction!(conj, m)?)?;
    m.add_function(wrap_pyfunction!(conjugate, m)?)?;
    m.add_function(wrap_pyfunction!(fabs, m)?)?;
    m.add_function(wrap_pyfunction!(floor, m)?)?;
    m.add_function(wrap_pyfunction!(invert, m)?)?;
    m.add_function(wrap_pyfunction!(isfinite, m)?)?;
    m.add_function(wrap_pyfunction!(isinf, m)?)?;
    m.add_function(wrap_pyfunction!(isnan, m)?)?;
    m.add_function(wrap_pyfunction!(logical_not, m)?)?;
    m.add_function(wrap_pyfunction!(negative, m)?)?;
    m.add_function(wrap_pyfunction!(positive, m)?)?;
    m.add_function(wrap_pyfunction!(rint, m)?)?;
    m.add_function(wrap_pyfunction!(sign, m)?)?;
    m.add_function(wrap_pyfunction!(signbit, m)?)?;
    m.add_function(wrap_pyfunction!(trunc, m)?)?;
    m.add_function(wrap_pyfunction!(iscomplex, m)?)?;
    m.add_function(wrap_pyfunction!(isreal, m)?)?;
    m.add_function(wrap_pyfunction!(real, m)?)?;
    m.add_function(wrap_pyfunction!(imag, m)?)?;
    m.add_function(wrap_pyfunction!(isposinf, m)?)?;
    m.add_function(wrap_pyfunction!(isneginf, m)?)?;
    Ok(())
}

/// The absolute value of each element; the modulus `sqrt(re² + im²)` of complex numbers.
/// The least signed integer has no positive counterpart and stays as it is; booleans and unsigned integers come
/// back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape of `x` and its dtype; the real floating dtype of the same precision for complex
///   `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: almost everywhere; at 0 the derivative of a real number is 1, as at positive ones.
/// Example:
///   >>> print(jnp.abs(jnp.array([-3, 0, 2])))
///   [3 0 2]
///   >>> print(jnp.abs(jnp.array([3 - 4j])))
///   [5.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn abs(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "abs", 0)?;
    one(py, || numpy::absolute(&x))
}

/// The absolute value of each element; the modulus `sqrt(re² + im²)` of complex numbers.
/// The least signed integer has no positive counterpart and stays as it is; booleans and unsigned integers come
/// back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape of `x` and its dtype; the real floating dtype of the same precision for complex
///   `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: almost everywhere; at 0 the derivative of a real number is 1, as at positive ones.
/// Example:
///   >>> print(jnp.absolute(jnp.array([-3, 0, 2])))
///   [3 0 2]
///   >>> print(jnp.absolute(jnp.array([3 - 4j])))
///   [5.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn absolute(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "absolute", 0)?;
    one(py, || numpy::absolute(&x))
}

/// The number of bits that are set in the absolute value of each integer.
///
/// Args:
///   x: an integer or boolean array or number.
/// Returns: uint8, of the shape of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.bitwise_count(jnp.array([-7, 0, 255])))
///   [3 0 8]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_count(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_count", 0)?;
    one(py, || numpy::bitwise_count(&numeric(&x)?))
}

/// The complement of all bits of each integer, `-x - 1` of signed ones; the negation of booleans.
///
/// Args:
///   x: an array or number of an integer or boolean dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_invert(jnp.array([0, 5])))
///   [-1 -6]
///   >>> print(jnp.bitwise_invert(jnp.array([True, False])))
///   [False  True]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_invert(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_invert", 0)?;
    one(py, || numpy::invert(&x))
}

/// The complement of all bits of each integer, `-x - 1` of signed ones; the negation of booleans.
///
/// Args:
///   x: an array or number of an integer or boolean dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_not(jnp.array([0, 5])))
///   [-1 -6]
///   >>> print(jnp.bitwise_not(jnp.array([True, False])))
///   [False  True]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn bitwise_not(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "bitwise_not", 0)?;
    one(py, || numpy::invert(&x))
}

/// The least integer not below each element.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.ceil(jnp.array([-1.5, 0.2, 2.0])))
///   [-1.  1.  2.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn ceil(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "ceil", 0)?;
    one(py, || numpy::ceil(&x))
}

/// The complex conjugate; real numbers come back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers, not holomorphic.
/// Example:
///   >>> print(jnp.conj(jnp.array([1 + 2j, 3 - 1j])))
///   [1.-2.j 3.+1.j]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn conj(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "conj", 0)?;
    one(py, || numpy::conjugate(&x))
}

/// The complex conjugate; real numbers come back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers, not holomorphic.
/// Example:
///   >>> print(jnp.conjugate(jnp.array([1 + 2j, 3 - 1j])))
///   [1.-2.j 3.+1.j]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn conjugate(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "conjugate", 0)?;
    one(py, || numpy::conjugate(&x))
}

/// The absolute value as a floating number.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating dtype.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: almost everywhere; at 0 the derivative is 1.
/// Example:
///   >>> print(jnp.fabs(jnp.array([-3, 2])))
///   [3. 2.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn fabs(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "fabs", 0)?;
    one(py, || {
        if x.aval().dtype.is_complex() {
            bail!(Type, "ufunc 'fabs' does not support complex dtypes");
        }
        numpy::fabs(&x)
    })
}

/// The greatest integer not above each element.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.floor(jnp.array([-1.5, 0.2, 2.0])))
///   [-2.  0.  2.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn floor(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "floor", 0)?;
    one(py, || numpy::floor(&x))
}

/// The complement of all bits of each integer, `-x - 1` of signed ones; the negation of booleans.
///
/// Args:
///   x: an array or number of an integer or boolean dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.invert(jnp.array([0, 5])))
///   [-1 -6]
///   >>> print(jnp.invert(jnp.array([True, False])))
///   [False  True]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn invert(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "invert", 0)?;
    one(py, || numpy::invert(&x))
}

/// For each element whether it is neither infinite nor NaN; of complex numbers whether both parts are so.
///
/// Args:
///   x: an array or number of any dtype; integers and booleans are finite.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan])))
///   [ True False False]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isfinite(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isfinite", 0)?;
    one(py, || numpy::isfinite(&x))
}

/// For each element whether it is infinite, of either sign; of complex numbers whether a part is so.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isinf(jnp.array([1.0, -jnp.inf, jnp.nan])))
///   [False  True False]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isinf(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isinf", 0)?;
    one(py, || numpy::isinf(&x))
}

/// For each element whether it is NaN; of complex numbers whether a part is so.
///
/// Args:
///   x: an array or number of any dtype; integers and booleans never are.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isnan(jnp.array([1.0, jnp.inf, jnp.nan])))
///   [False False  True]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn isnan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isnan", 0)?;
    one(py, || numpy::isnan(&x))
}

/// For each element whether it is 0; NaN is not.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.logical_not(jnp.array([0, 2])))
///   [ True False]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn logical_not(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "logical_not", 0)?;
    one(py, || numpy::logical_not(&x))
}

/// Each element with its sign changed; unsigned integers wrap around.
///
/// Args:
///   args: one array or number `x`; not boolean.
///   out, where: for compatibility; must be None.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean, or neither an array nor a number.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.negative(jnp.array([1, -2])))
///   [-1  2]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(*args, out=None, where=None)")]
fn negative(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "negative", 0)?;
    one(py, || numpy::negative(&x))
}

/// The elements unchanged, as an array.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.positive(jnp.array([1, -2])))
///   [ 1 -2]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn positive(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "positive", 0)?;
    one(py, || numpy::positive(&x))
}

/// The nearest integer as a floating number; halves go to the even one.
///
/// Args:
///   x: an array or number; integers and booleans become floating; of complex numbers both parts are rounded.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.rint(jnp.array([0.5, 1.5, -1.2])))
///   [ 0.  2. -1.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn rint(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rint", 0)?;
    one(py, || numpy::rint(&x))
}

/// The sign of each element: -1, 0 or 1; `x / abs(x)` of complex numbers, and NaN of NaN.
///
/// Args:
///   x: an array or number of any dtype but boolean.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean, or neither an array nor a number.
/// Differentiable: real numbers with derivative 0 everywhere; complex ones away from 0.
/// Example:
///   >>> print(jnp.sign(jnp.array([-2.0, 0.0, 5.0])))
///   [-1.  0.  1.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sign(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sign", 0)?;
    one(py, || numpy::sign(&x))
}

/// For each element whether its sign bit is set: true of -0.0, unlike `x < 0`.
///
/// Args:
///   x: a real array or number.
/// Returns: booleans of the shape of `x`; false for booleans and unsigned integers.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.signbit(jnp.array([-1.0, -0.0, 0.0])))
///   [ True  True False]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn signbit(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "signbit", 0)?;
    one(py, || numpy::signbit(&x))
}

/// The integer part of each element: rounded towards zero.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.trunc(jnp.array([-1.5, 0.2, 2.7])))
///   [-1.  0.  2.]
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn trunc(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "trunc", 0)?;
    one(py, || numpy::trunc(&x))
}

/// For each element whether its imaginary part differs from 0; see `iscomplexobj` for the dtype.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.iscomplex(jnp.array([1 + 0j, 1 + 2j])))
///   [False  True]
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn iscomplex(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "iscomplex", 0)?;
    one(py, || numpy::iscomplex(&x))
}

/// For each element whether its imaginary part is 0; see `isrealobj` for the dtype.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isreal(jnp.array([1 + 0j, 1 + 2j])))
///   [ True False]
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn isreal(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isreal", 0)?;
    one(py, || numpy::isreal(&x))
}

/// The real part of each element; real numbers come back unchanged.
///
/// Args:
///   val: an array or number of any dtype.
/// Returns: an array of the shape of `val`; complex dtypes give the floating one of the same precision, others
///   stay.
/// Raises:
///   TypeError: `val` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers.
/// Example:
///   >>> print(jnp.real(jnp.array([1 + 2j, 3 - 1j])))
///   [1. 3.]
#[pyfunction]
#[pyo3(signature = (val, /), text_signature = "(val, /)")]
fn real(py: Python<'_>, val: ArrayLike) -> PyResult<Py<PyAny>> {
    let val = val.val(py, "real", 0)?;
    one(py, || numpy::real(&val))
}

/// The imaginary part of each element; 0 of real numbers.
///
/// Args:
///   val: an array or number of any dtype.
/// Returns: an array of the shape of `val`; complex dtypes give the floating one of the same precision, others
///   stay.
/// Raises:
///   TypeError: `val` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers.
/// Example:
///   >>> print(jnp.imag(jnp.array([1 + 2j, 3 - 1j])))
///   [ 2. -1.]
#[pyfunction]
#[pyo3(signature = (val, /), text_signature = "(val, /)")]
fn imag(py: Python<'_>, val: ArrayLike) -> PyResult<Py<PyAny>> {
    let val = val.val(py, "imag", 0)?;
    one(py, || numpy::imag(&val))
}

/// For each element whether it is positive infinity.
///
/// Args:
///   x: a real array or number.
///   out: for compatibility; must be None.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isposinf(jnp.array([jnp.inf, -jnp.inf, 1.0])))
///   [ True False False]
#[pyfunction]
#[pyo3(signature = (x, /, out=None), text_signature = "(x, /, out=None)")]
fn isposinf(py: Python<'_>, x: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isposinf", 0)?;
    no_out("isposinf", out.as_ref())?;
    one(py, || numpy::isposinf(&x))
}

/// For each element whether it is negative infinity.
///
/// Args:
///   x: a real array or number.
///   out: for compatibility; must be None.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isneginf(jnp.array([jnp.inf, -jnp.inf, 1.0])))
///   [False  True False]
#[pyfunction]
#[pyo3(signature = (x, /, out=None), text_signature = "(x, /, out=None)")]
fn isneginf(py: Python<'_>, x: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "isneginf", 0)?;
    no_out("isneginf", out.as_ref())?;
    one(py, || numpy::isneginf(&x))
}
