//! Elementwise functions of two operands.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::lax::{self};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
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
    Ok(())
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
