//! Functions of two operands.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(add, m)?)?;
    m.add_function(wrap_pyfunction!(arctan2, m)?)?;
    m.add_function(wrap_pyfunction!(atan2, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_and, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_left_shift, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_or, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_right_shift, m)?)?;
    m.add_function(wrap_pyfunction!(bitwise_xor, m)?)?;
    m.add_function(wrap_pyfunction!(copysign, m)?)?;
    m.add_function(wrap_pyfunction!(divide, m)?)?;
    m.add_function(wrap_pyfunction!(equal, m)?)?;
    m.add_function(wrap_pyfunction!(float_power, m)?)?;
    m.add_function(wrap_pyfunction!(floor_divide, m)?)?;
    m.add_function(wrap_pyfunction!(fmax, m)?)?;
    m.add_function(wrap_pyfunction!(fmin, m)?)?;
    m.add_function(wrap_pyfunction!(fmod, m)?)?;
    m.add_function(wrap_pyfunction!(greater, m)?)?;
    m.add_function(wrap_pyfunction!(greater_equal, m)?)?;
    m.add_function(wrap_pyfunction!(heaviside, m)?)?;
    m.add_function(wrap_pyfunction!(hypot, m)?)?;
    m.add_function(wrap_pyfunction!(ldexp, m)?)?;
    m.add_function(wrap_pyfunction!(left_shift, m)?)?;
    m.add_function(wrap_pyfunction!(less, m)?)?;
    m.add_function(wrap_pyfunction!(less_equal, m)?)?;
    m.add_function(wrap_pyfunction!(logaddexp, m)?)?;
    m.add_function(wrap_pyfunction!(logaddexp2, m)?)?;
    m.add_function(wrap_pyfunction!(logical_and, m)?)?;
    m.add_function(wrap_pyfunction!(logical_or, m)?)?;
    m.add_function(wrap_pyfunction!(logical_xor, m)?)?;
    m.add_function(wrap_pyfunction!(maximum, m)?)?;
    m.add_function(wrap_pyfunction!(minimum, m)?)?;
    m.add_function(wrap_pyfunction!(modulo, m)?)?;
    m.add_function(wrap_pyfunction!(multiply, m)?)?;
    m.add_function(wrap_pyfunction!(nextafter, m)?)?;
    m.add_function(wrap_pyfunction!(not_equal, m)?)?;
    m.add_function(wrap_pyfunction!(pow, m)?)?;
    m.add_function(wrap_pyfunction!(power, m)?)?;
    m.add_function(wrap_pyfunction!(remainder, m)?)?;
    m.add_function(wrap_pyfunction!(right_shift, m)?)?;
    m.add_function(wrap_pyfunction!(subtract, m)?)?;
    m.add_function(wrap_pyfunction!(true_divide, m)?)?;
    Ok(())
}

/// Sum; disjunction of booleans.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn add(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "add", 0)?;
    let x2 = x2.val(py, "add", 1)?;
    one(py, || numpy::add(&x1, &x2))
}

/// Angle of the point (x2, x1).
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn arctan2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "arctan2", 0)?;
    let x2 = x2.val(py, "arctan2", 1)?;
    one(py, || numpy::arctan2(&x1, &x2))
}

/// Angle of the point (x2, x1).
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn atan2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "atan2", 0)?;
    let x2 = x2.val(py, "atan2", 1)?;
    one(py, || numpy::arctan2(&x1, &x2))
}

/// Bits set in both.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_and(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_and", 0)?;
    let x2 = x2.val(py, "bitwise_and", 1)?;
    one(py, || numpy::bitwise_and(&x1, &x2))
}

/// Bits shifted to the left.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn bitwise_left_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_left_shift", 0)?;
    let x2 = x2.val(py, "bitwise_left_shift", 1)?;
    one(py, || numpy::left_shift(&x1, &x2))
}

/// Bits set in either.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_or(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_or", 0)?;
    let x2 = x2.val(py, "bitwise_or", 1)?;
    one(py, || numpy::bitwise_or(&x1, &x2))
}

/// Bits shifted to the right.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn bitwise_right_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_right_shift", 0)?;
    let x2 = x2.val(py, "bitwise_right_shift", 1)?;
    one(py, || numpy::right_shift(&x1, &x2))
}

/// Bits set in one of both.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_xor(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_xor", 0)?;
    let x2 = x2.val(py, "bitwise_xor", 1)?;
    one(py, || numpy::bitwise_xor(&x1, &x2))
}

/// x1 with the sign of x2.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn copysign(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "copysign", 0)?;
    let x2 = x2.val(py, "copysign", 1)?;
    one(py, || numpy::copysign(&x1, &x2))
}

/// Quotient; integers become floating.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "divide", 0)?;
    let x2 = x2.val(py, "divide", 1)?;
    one(py, || numpy::true_divide(&x1, &x2))
}

/// Whether equal.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "equal", 0)?;
    let x2 = x2.val(py, "equal", 1)?;
    one(py, || numpy::equal(&x1, &x2))
}

/// Power in floating numbers.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn float_power(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "float_power", 0)?;
    let x2 = x2.val(py, "float_power", 1)?;
    one(py, || numpy::float_power(&x1, &x2))
}

/// Quotient rounded down.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn floor_divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "floor_divide", 0)?;
    let x2 = x2.val(py, "floor_divide", 1)?;
    one(py, || numpy::floor_divide(&x1, &x2))
}

/// The greater of both; a NaN loses.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2)")]
fn fmax(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmax", 0)?;
    let x2 = x2.val(py, "fmax", 1)?;
    one(py, || numpy::fmax(&x1, &x2))
}

/// The smaller of both; a NaN loses.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2)")]
fn fmin(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmin", 0)?;
    let x2 = x2.val(py, "fmin", 1)?;
    one(py, || numpy::fmin(&x1, &x2))
}

/// Remainder with the sign of x1.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn fmod(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmod", 0)?;
    let x2 = x2.val(py, "fmod", 1)?;
    one(py, || numpy::fmod(&x1, &x2))
}

/// Whether greater.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn greater(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "greater", 0)?;
    let x2 = x2.val(py, "greater", 1)?;
    one(py, || numpy::greater(&x1, &x2))
}

/// Whether greater or equal.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn greater_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "greater_equal", 0)?;
    let x2 = x2.val(py, "greater_equal", 1)?;
    one(py, || numpy::greater_equal(&x1, &x2))
}

/// 0, x2 or 1 for negative, zero and positive x1.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn heaviside(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "heaviside", 0)?;
    let x2 = x2.val(py, "heaviside", 1)?;
    one(py, || numpy::heaviside(&x1, &x2))
}

/// Length of the hypotenuse.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn hypot(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "hypot", 0)?;
    let x2 = x2.val(py, "hypot", 1)?;
    one(py, || numpy::hypot(&x1, &x2))
}

/// x1 times two to the power of x2.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn ldexp(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "ldexp", 0)?;
    let x2 = x2.val(py, "ldexp", 1)?;
    one(py, || numpy::ldexp(&x1, &x2))
}

/// Bits shifted to the left.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn left_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "left_shift", 0)?;
    let x2 = x2.val(py, "left_shift", 1)?;
    one(py, || numpy::left_shift(&x1, &x2))
}

/// Whether less.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn less(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "less", 0)?;
    let x2 = x2.val(py, "less", 1)?;
    one(py, || numpy::less(&x1, &x2))
}

/// Whether less or equal.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn less_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "less_equal", 0)?;
    let x2 = x2.val(py, "less_equal", 1)?;
    one(py, || numpy::less_equal(&x1, &x2))
}

/// log(exp(x1) + exp(x2)), without overflow.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logaddexp(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logaddexp", 0)?;
    let x2 = x2.val(py, "logaddexp", 1)?;
    one(py, || numpy::logaddexp(&x1, &x2))
}

/// log2(2**x1 + 2**x2), without overflow.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logaddexp2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logaddexp2", 0)?;
    let x2 = x2.val(py, "logaddexp2", 1)?;
    one(py, || numpy::logaddexp2(&x1, &x2))
}

/// Whether both are nonzero.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_and(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_and", 0)?;
    let x2 = x2.val(py, "logical_and", 1)?;
    one(py, || numpy::logical_and(&x1, &x2))
}

/// Whether either is nonzero.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_or(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_or", 0)?;
    let x2 = x2.val(py, "logical_or", 1)?;
    one(py, || numpy::logical_or(&x1, &x2))
}

/// Whether one of both is nonzero.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_xor(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_xor", 0)?;
    let x2 = x2.val(py, "logical_xor", 1)?;
    one(py, || numpy::logical_xor(&x1, &x2))
}

/// The greater of both; NaN when either is.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn maximum(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "maximum", 0)?;
    let x2 = x2.val(py, "maximum", 1)?;
    one(py, || numpy::maximum(&x1, &x2))
}

/// The smaller of both; NaN when either is.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn minimum(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "minimum", 0)?;
    let x2 = x2.val(py, "minimum", 1)?;
    one(py, || numpy::minimum(&x1, &x2))
}

/// Remainder with the sign of x2.
#[pyfunction]
#[pyo3(name = "mod", signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn modulo(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "mod", 0)?;
    let x2 = x2.val(py, "mod", 1)?;
    one(py, || numpy::remainder(&x1, &x2))
}

/// Product; conjunction of booleans.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn multiply(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "multiply", 0)?;
    let x2 = x2.val(py, "multiply", 1)?;
    one(py, || numpy::multiply(&x1, &x2))
}

/// The next floating number from x1 towards x2.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn nextafter(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "nextafter", 0)?;
    let x2 = x2.val(py, "nextafter", 1)?;
    one(py, || numpy::nextafter(&x1, &x2))
}

/// Whether different.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn not_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "not_equal", 0)?;
    let x2 = x2.val(py, "not_equal", 1)?;
    one(py, || numpy::not_equal(&x1, &x2))
}

/// Power.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn pow(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "pow", 0)?;
    let x2 = x2.val(py, "pow", 1)?;
    one(py, || numpy::power(&x1, &x2))
}

/// Power.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn power(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "power", 0)?;
    let x2 = x2.val(py, "power", 1)?;
    one(py, || numpy::power(&x1, &x2))
}

/// Remainder with the sign of x2.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn remainder(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "remainder", 0)?;
    let x2 = x2.val(py, "remainder", 1)?;
    one(py, || numpy::remainder(&x1, &x2))
}

/// Bits shifted to the right.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn right_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "right_shift", 0)?;
    let x2 = x2.val(py, "right_shift", 1)?;
    one(py, || numpy::right_shift(&x1, &x2))
}

/// Difference.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn subtract(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "subtract", 0)?;
    let x2 = x2.val(py, "subtract", 1)?;
    one(py, || numpy::subtract(&x1, &x2))
}

/// Quotient; integers become floating.
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn true_divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "true_divide", 0)?;
    let x2 = x2.val(py, "true_divide", 1)?;
    one(py, || numpy::true_divide(&x1, &x2))
}
