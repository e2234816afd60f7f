//! Arithmetic and bits of two operands.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::numerics;
use crate::api::arguments::one;
use crate::gate::gate;
use crate::value::ArrayLike;
use pullback_base::bail;
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
    m.add_function(wrap_pyfunction!(float_power, m)?)?;
    m.add_function(wrap_pyfunction!(floor_divide, m)?)?;
    m.add_function(wrap_pyfunction!(fmod, m)?)?;
    m.add_function(wrap_pyfunction!(heaviside, m)?)?;
    m.add_function(wrap_pyfunction!(hypot, m)?)?;
    m.add_function(wrap_pyfunction!(ldexp, m)?)?;
    m.add_function(wrap_pyfunction!(left_shift, m)?)?;
    m.add_function(wrap_pyfunction!(logaddexp, m)?)?;
    m.add_function(wrap_pyfunction!(logaddexp2, m)?)?;
    m.add_function(wrap_pyfunction!(modulo, m)?)?;
    m.add_function(wrap_pyfunction!(multiply, m)?)?;
    m.add_function(wrap_pyfunction!(nextafter, m)?)?;
    m.add_function(wrap_pyfunction!(pow, m)?)?;
    m.add_function(wrap_pyfunction!(power, m)?)?;
    m.add_function(wrap_pyfunction!(remainder, m)?)?;
    m.add_function(wrap_pyfunction!(right_shift, m)?)?;
    m.add_function(wrap_pyfunction!(subtract, m)?)?;
    m.add_function(wrap_pyfunction!(true_divide, m)?)?;
    Ok(())
}

/// The sum of two arrays element by element; of booleans whether either is true.
/// Integers wrap around. A `ufunc`: `jnp.add.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.add(jnp.array([1, 2]), 10))
///   [11 12]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn add(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "add", 0)?;
    let x2 = x2.val(py, "add", 1)?;
    one(py, || numpy::add(&x1, &x2))
}

/// The angle of the point `(x2, x1)` of the plane, in radians from -pi to pi: the inverse tangent of `x1 / x2` in
/// the right quadrant.
/// Signed zeros tell the side of the cut: `arctan2(-0.0, -1.0)` is -pi. Of (0, 0) it is 0.
///
/// Args:
///   x1, x2: the ordinate and the abscissa: real arrays or numbers whose shapes broadcast; integers and booleans
///     become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, away from (0, 0): `x2 / (x1² + x2²)` and `-x1 / (x1² + x2²)`.
/// Example:
///   >>> print(jnp.arctan2(jnp.array([0.0, 0.0]), jnp.array([1.0, -1.0])))
///   [0.        3.1415927]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn arctan2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "arctan2", 0)?;
    let x2 = x2.val(py, "arctan2", 1)?;
    one(py, || numpy::arctan2(&x1, &x2))
}

/// The angle of the point `(x2, x1)` of the plane, in radians from -pi to pi: the inverse tangent of `x1 / x2` in
/// the right quadrant.
/// Signed zeros tell the side of the cut: `arctan2(-0.0, -1.0)` is -pi. Of (0, 0) it is 0.
///
/// Args:
///   x1, x2: the ordinate and the abscissa: real arrays or numbers whose shapes broadcast; integers and booleans
///     become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, away from (0, 0): `x2 / (x1² + x2²)` and `-x1 / (x1² + x2²)`.
/// Example:
///   >>> print(jnp.atan2(jnp.array([0.0, 0.0]), jnp.array([1.0, -1.0])))
///   [0.        3.1415927]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn atan2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "atan2", 0)?;
    let x2 = x2.val(py, "atan2", 1)?;
    one(py, || numpy::arctan2(&x1, &x2))
}

/// The bits that both integers have; of booleans whether both are true.
/// A `ufunc`: `jnp.bitwise_and.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_and(jnp.array([6, 5]), 3))
///   [2 1]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_and(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_and", 0)?;
    let x2 = x2.val(py, "bitwise_and", 1)?;
    one(py, || numpy::bitwise_and(&x1, &x2))
}

/// The bits of `x` moved up by `y` places, zeros coming in; 0 when `y` is not below the width.
///
/// Args:
///   x, y: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.bitwise_left_shift(jnp.array([1, 5]), 2))
///   [ 4 20]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn bitwise_left_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_left_shift", 0)?;
    let x2 = x2.val(py, "bitwise_left_shift", 1)?;
    let (x1, x2) = gate(py, || numerics(x1, x2))?;
    one(py, || numpy::left_shift(&x1, &x2))
}

/// The bits that either integer has; of booleans whether either is true.
/// A `ufunc`: `jnp.bitwise_or.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_or(jnp.array([6, 5]), 3))
///   [7 7]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_or(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_or", 0)?;
    let x2 = x2.val(py, "bitwise_or", 1)?;
    one(py, || numpy::bitwise_or(&x1, &x2))
}

/// The bits of `x1` moved down by `x2` places; signed integers keep their sign, so that it divides by `2**x2`
/// rounding down.
///
/// Args:
///   x1, x2: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.bitwise_right_shift(jnp.array([20, -5]), 1))
///   [10 -3]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn bitwise_right_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_right_shift", 0)?;
    let x2 = x2.val(py, "bitwise_right_shift", 1)?;
    let (x1, x2) = gate(py, || numerics(x1, x2))?;
    one(py, || numpy::right_shift(&x1, &x2))
}

/// The bits that exactly one integer has; of booleans whether exactly one is true.
/// A `ufunc`: `jnp.bitwise_xor.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_xor(jnp.array([6, 5]), 3))
///   [5 6]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn bitwise_xor(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "bitwise_xor", 0)?;
    let x2 = x2.val(py, "bitwise_xor", 1)?;
    one(py, || numpy::bitwise_xor(&x1, &x2))
}

/// The magnitude of `x1` with the sign of `x2`, the sign of zeros included.
///
/// Args:
///   x1, x2: the magnitudes and the signs: real arrays or numbers whose shapes broadcast; integers and booleans
///     become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: an argument is complex, or the shapes do not broadcast.
/// Differentiable: with respect to `x1`, away from 0; the derivative with respect to `x2` is 0.
/// Example:
///   >>> print(jnp.copysign(jnp.array([1.0, -2.0]), jnp.array([-0.0, 3.0])))
///   [-1.  2.]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn copysign(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "copysign", 0)?;
    let x2 = x2.val(py, "copysign", 1)?;
    one(py, || numpy::copysign(&x1, &x2))
}

/// The quotient of two arrays element by element, never of integer dtype.
/// Division by 0 gives an infinity of the right sign, 0 by 0 NaN.
///
/// Args:
///   x1, x2: the dividend and the divisor: arrays or numbers whose shapes broadcast; integers and booleans become
///     floating.
/// Returns: an array of the broadcast shape and the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.divide(jnp.array([1, -1, 0]), jnp.array([2, 0, 0])))
///   [ 0.5 -inf  nan]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "divide", 0)?;
    let x2 = x2.val(py, "divide", 1)?;
    one(py, || numpy::true_divide(&x1, &x2))
}

/// `x` to the power of `y` in floating or complex arithmetic, so that negative powers of integers are defined.
///
/// Args:
///   x, y: the base and the exponent: arrays or numbers whose shapes broadcast; integers and booleans become
///     floating.
/// Returns: an array of the broadcast shape and the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both; NaN with respect to `y` where `x` is negative.
/// Example:
///   >>> print(jnp.float_power(jnp.array([2, 4]), -1))
///   [0.5  0.25]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn float_power(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "float_power", 0)?;
    let x2 = x2.val(py, "float_power", 1)?;
    one(py, || numpy::float_power(&x1, &x2))
}

/// The quotient rounded down, towards minus infinity, element by element.
/// Floating division by 0 gives an infinity or NaN; what integer division by 0 gives is not specified.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype: integers stay integers, booleans become such.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: floating numbers with derivative 0 almost everywhere.
/// Example:
///   >>> print(jnp.floor_divide(jnp.array([7, -7]), 2))
///   [ 3 -4]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn floor_divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "floor_divide", 0)?;
    let x2 = x2.val(py, "floor_divide", 1)?;
    let (x1, x2) = gate(py, || numerics(x1, x2))?;
    one(py, || numpy::floor_divide(&x1, &x2))
}

/// The remainder of the division rounded towards zero, with the sign of `x1`, as C has it.
/// By 0 it is NaN; what integers give by 0 is not specified. See `remainder` for the sign of `x2`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: almost everywhere with respect to both: 1 and `-trunc(x1 / x2)`.
/// Example:
///   >>> print(jnp.fmod(jnp.array([7, -7]), 3))
///   [ 1 -1]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn fmod(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmod", 0)?;
    let x2 = x2.val(py, "fmod", 1)?;
    one(py, || numpy::fmod(&x1, &x2))
}

/// The step function: 0 for negative `x1`, `x2` where `x1` is 0, 1 for positive `x1`, and NaN for NaN.
///
/// Args:
///   x1: where to evaluate: a real array or number; integers and booleans become floating.
///   x2: the value at 0: a real array or number that broadcasts with `x1`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is complex, or neither an array nor a number.
///   ValueError: the shapes do not broadcast.
/// Differentiable: with derivative 0 with respect to `x1`; 1 with respect to `x2` where `x1` is 0.
/// Example:
///   >>> print(jnp.heaviside(jnp.array([-2.0, 0.0, 3.0]), 0.5))
///   [0.  0.5 1. ]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn heaviside(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "heaviside", 0)?;
    let x2 = x2.val(py, "heaviside", 1)?;
    one(py, || numpy::heaviside(&x1, &x2))
}

/// The length `sqrt(x1² + x2²)` of the hypotenuse, without overflow where the result is finite.
///
/// Args:
///   x1, x2: the legs: real arrays or numbers whose shapes broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype, not negative.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, away from (0, 0).
/// Example:
///   >>> print(jnp.hypot(jnp.array([3.0, 5.0]), jnp.array([4.0, 12.0])))
///   [ 5. 13.]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn hypot(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "hypot", 0)?;
    let x2 = x2.val(py, "hypot", 1)?;
    one(py, || numpy::hypot(&x1, &x2))
}

/// `x1 * 2**x2`, the inverse of `frexp`.
///
/// Args:
///   x1: the mantissas: a real array or number; integers and booleans become floating.
///   x2: the exponents: an integer array or number that broadcasts with `x1`.
/// Returns: an array of the broadcast shape and the floating dtype of `x1`.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   ValueError: `x1` is complex, or `x2` is floating or complex.
/// Differentiable: with respect to `x1`.
/// Example:
///   >>> print(jnp.ldexp(jnp.array([1.5, 0.75]), jnp.array([3, -1])))
///   [12.     0.375]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn ldexp(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "ldexp", 0)?;
    let x2 = x2.val(py, "ldexp", 1)?;
    one(py, || {
        let (mantissas, exponents) = (x1.aval().dtype, x2.aval().dtype);
        if mantissas.is_complex() || exponents.is_inexact() {
            bail!(Value, "ldexp takes real mantissas and integer exponents, got {mantissas} and {exponents}");
        }
        numpy::ldexp(&x1, &x2)
    })
}

/// The bits of `x` moved up by `y` places, zeros coming in; 0 when `y` is not below the width.
///
/// Args:
///   x, y: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.left_shift(jnp.array([1, 5]), 2))
///   [ 4 20]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn left_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "left_shift", 0)?;
    let x2 = x2.val(py, "left_shift", 1)?;
    let (x1, x2) = gate(py, || numerics(x1, x2))?;
    one(py, || numpy::left_shift(&x1, &x2))
}

/// `log(exp(x1) + exp(x2))` without overflow: the greater plus `log1p(exp(-|x1 - x2|))`.
/// A `ufunc`: `jnp.logaddexp.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: real arrays or numbers whose shapes broadcast, passed by position; integers become floating.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted floating dtype; -inf where both are -inf.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: an argument is complex, or `out` or `where` is given.
/// Differentiable: yes, in both modes; the two derivatives sum to 1, and are NaN where both arguments are -inf.
/// Example:
///   >>> print(jnp.logaddexp(jnp.array([1000.0, -jnp.inf]), -jnp.inf))
///   [1000.  -inf]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logaddexp(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logaddexp", 0)?;
    let x2 = x2.val(py, "logaddexp", 1)?;
    one(py, || numpy::logaddexp(&x1, &x2))
}

/// `log2(2**x1 + 2**x2)` without overflow.
/// A `ufunc`: `jnp.logaddexp2.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: real arrays or numbers whose shapes broadcast, passed by position; integers become floating.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted floating dtype; -inf where both are -inf.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: an argument is complex, or `out` or `where` is given.
/// Differentiable: yes, in both modes; the two derivatives sum to 1, and are NaN where both arguments are -inf.
/// Example:
///   >>> print(jnp.logaddexp2(jnp.array([1.0, 1000.0]), jnp.array([1.0, 1000.0])))
///   [   2. 1001.]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logaddexp2(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logaddexp2", 0)?;
    let x2 = x2.val(py, "logaddexp2", 1)?;
    one(py, || numpy::logaddexp2(&x1, &x2))
}

/// The remainder of the division rounded down: `x1 - floor(x1 / x2) * x2`, with the sign of `x2`.
/// By 0 it is NaN; what integers give by 0 is not specified. See `fmod` for the sign of `x1`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: almost everywhere with respect to both: 1 and `-floor(x1 / x2)`.
/// Example:
///   >>> print(jnp.mod(jnp.array([7, -7]), 3))
///   [1 2]
///   >>> print(jnp.mod(jnp.array([7.5, -7.5]), -2.0))
///   [-0.5 -1.5]
#[pyfunction]
#[pyo3(name = "mod", signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn modulo(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "mod", 0)?;
    let x2 = x2.val(py, "mod", 1)?;
    one(py, || numpy::remainder(&x1, &x2))
}

/// The product of two arrays element by element; of booleans whether both are true.
/// Integers wrap around. A `ufunc`: `jnp.multiply.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.multiply(jnp.array([1, 2]), 10))
///   [10 20]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn multiply(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "multiply", 0)?;
    let x2 = x2.val(py, "multiply", 1)?;
    one(py, || numpy::multiply(&x1, &x2))
}

/// The floating number next to `x` on the way to `y`; `y` where both are equal.
///
/// Args:
///   x, y: start and direction: real arrays or numbers whose shapes broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype; NaN where an argument is NaN.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: with respect to `x`, with derivative 1 where it differs from `y`.
/// Example:
///   >>> print(jnp.nextafter(jnp.array([1.0, 1.0]), jnp.array([2.0, 0.0])) - 1.0)
///   [ 1.1920929e-07 -5.9604645e-08]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn nextafter(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "nextafter", 0)?;
    let x2 = x2.val(py, "nextafter", 1)?;
    one(py, || numpy::nextafter(&x1, &x2))
}

/// `x1` to the power of `x2` element by element; `0**0` is 1.
/// A static integer exponent is unrolled to products. Integers stay integers and wrap around; negative
/// floating numbers to fractions are NaN.
///
/// Args:
///   x1, x2: the base and the exponent: arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype; booleans become int32.
/// Raises:
///   TypeError: an integer to a static negative integer (see `float_power`); an argument is neither an array nor a
///     number; or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to floating arguments; NaN with respect to `x2` where `x1` is
///   negative.
/// Example:
///   >>> print(jnp.pow(jnp.array([2, 3]), 3))
///   [ 8 27]
///   >>> jnp.pow(jnp.array([2, 3]), -1)
///   Traceback (most recent call last):
///       ...
///   TypeError: Integers cannot be raised to negative powers...
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn pow(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "pow", 0)?;
    let x2 = x2.val(py, "pow", 1)?;
    one(py, || numpy::power(&x1, &x2))
}

/// `x1` to the power of `x2` element by element; `0**0` is 1.
/// A static integer exponent is unrolled to products. Integers stay integers and wrap around; negative
/// floating numbers to fractions are NaN.
///
/// Args:
///   x1, x2: the base and the exponent: arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype; booleans become int32.
/// Raises:
///   TypeError: an integer to a static negative integer (see `float_power`); an argument is neither an array nor a
///     number; or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to floating arguments; NaN with respect to `x2` where `x1` is
///   negative.
/// Example:
///   >>> print(jnp.power(jnp.array([2, 3]), 3))
///   [ 8 27]
///   >>> jnp.power(jnp.array([2, 3]), -1)
///   Traceback (most recent call last):
///       ...
///   TypeError: Integers cannot be raised to negative powers...
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn power(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "power", 0)?;
    let x2 = x2.val(py, "power", 1)?;
    one(py, || numpy::power(&x1, &x2))
}

/// The remainder of the division rounded down: `x1 - floor(x1 / x2) * x2`, with the sign of `x2`.
/// By 0 it is NaN; what integers give by 0 is not specified. See `fmod` for the sign of `x1`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: almost everywhere with respect to both: 1 and `-floor(x1 / x2)`.
/// Example:
///   >>> print(jnp.remainder(jnp.array([7, -7]), 3))
///   [1 2]
///   >>> print(jnp.remainder(jnp.array([7.5, -7.5]), -2.0))
///   [-0.5 -1.5]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn remainder(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "remainder", 0)?;
    let x2 = x2.val(py, "remainder", 1)?;
    one(py, || numpy::remainder(&x1, &x2))
}

/// The bits of `x1` moved down by `x2` places; signed integers keep their sign, so that it divides by `2**x2`
/// rounding down.
///
/// Args:
///   x1, x2: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.right_shift(jnp.array([20, -5]), 1))
///   [10 -3]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn right_shift(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "right_shift", 0)?;
    let x2 = x2.val(py, "right_shift", 1)?;
    let (x1, x2) = gate(py, || numerics(x1, x2))?;
    one(py, || numpy::right_shift(&x1, &x2))
}

/// The difference of two arrays element by element; unsigned integers wrap around.
/// A `ufunc`: `jnp.subtract.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position; not both boolean.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: both are boolean, an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.subtract(jnp.array([1, 2]), 10))
///   [-9 -8]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn subtract(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "subtract", 0)?;
    let x2 = x2.val(py, "subtract", 1)?;
    one(py, || numpy::subtract(&x1, &x2))
}

/// The quotient of two arrays element by element, never of integer dtype.
/// Division by 0 gives an infinity of the right sign, 0 by 0 NaN.
///
/// Args:
///   x1, x2: the dividend and the divisor: arrays or numbers whose shapes broadcast; integers and booleans become
///     floating.
/// Returns: an array of the broadcast shape and the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.true_divide(jnp.array([1, -1, 0]), jnp.array([2, 0, 0])))
///   [ 0.5 -inf  nan]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2, /)")]
fn true_divide(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "true_divide", 0)?;
    let x2 = x2.val(py, "true_divide", 1)?;
    one(py, || numpy::true_divide(&x1, &x2))
}
