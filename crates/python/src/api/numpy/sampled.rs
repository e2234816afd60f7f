//! Functions given by samples or coefficients: differences, integrals, phases, interpolation, polynomials.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::without;
use crate::api::arguments::{one, optional};
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(diff, m)?)?;
    m.add_function(wrap_pyfunction!(trapezoid, m)?)?;
    m.add_function(wrap_pyfunction!(unwrap, m)?)?;
    m.add_function(wrap_pyfunction!(interp, m)?)?;
    m.add_function(wrap_pyfunction!(polyval, m)?)?;
    Ok(())
}

/// The differences of neighbours along an axis, `n` times over; of booleans whether they differ.
///
/// Args:
///   a: an array of at least one axis.
///   n: how often differences are taken, a static integer; 1 by default.
///   axis: the axis; the last by default.
///   prepend, append: what goes before and behind `a` first: an array that fits along the axis, or a number;
///     nothing by default.
/// Returns: an array of the dtype of `a`, `n` shorter along the axis, down to no elements.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `n` is negative, `a` has no axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diff(jnp.array([1, 4, 9, 16])))
///   [3 5 7]
///   >>> print(jnp.diff(jnp.array([1, 4, 9, 16]), n=2, prepend=0))
///   [2 2 2]
#[pyfunction]
#[pyo3(signature = (a, n=1, axis=-1, prepend=None, append=None), text_signature = "(a, n=1, axis=-1, prepend=None, append=None)")]
fn diff(
    py: Python<'_>,
    a: ArrayLike,
    n: i64,
    axis: i64,
    prepend: Option<ArrayLike>,
    append: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "diff", 0)?;
    let prepend = optional(py, prepend, "diff", 3)?;
    let append = optional(py, append, "diff", 4)?;
    one(py, || numpy::diff(&a, n, axis, prepend.as_ref(), append.as_ref()))
}

/// The integral along an axis by the trapezoidal rule: the sum of `(y[i] + y[i+1]) / 2 * (x[i+1] - x[i])`.
///
/// Args:
///   y: the values; integers become floating.
///   x: the abscissas: a vector of the size of the axis, or an array of the shape of `y`; None takes `dx`.
///   dx: the distance of the points, without `x`: a number; 1 by default.
///   axis: the axis; the last by default.
/// Returns: an array of the shape of `y` without the axis and a floating or complex dtype.
/// Raises:
///   TypeError: `y` is neither an array nor a number (lists are refused), or the shapes do not broadcast.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to `y`, `x` and `dx`.
/// Example:
///   >>> print(jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), x=jnp.array([0.0, 1.0, 3.0])))
///   6.5
#[pyfunction]
#[pyo3(signature = (y, x=None, dx=1.0, axis=-1), text_signature = "(y, x=None, dx=1.0, axis=-1)")]
fn trapezoid(py: Python<'_>, y: ArrayLike, x: Option<ArrayLike>, dx: f64, axis: i64) -> PyResult<Py<PyAny>> {
    let y = y.val(py, "trapezoid", 0)?;
    let x = optional(py, x, "trapezoid", 1)?;
    one(py, || match &x {
        None => numpy::trapezoid(&y, dx, axis),
        Some(x) => numpy::trapezoid_over(&y, x, axis),
    })
}

/// Angles without jumps.
#[pyfunction]
#[pyo3(signature = (p, discont=None, axis=-1, period=std::f64::consts::TAU), text_signature = "(p, discont=None, axis=-1, period=6.283185307179586)")]
fn unwrap(py: Python<'_>, p: ArrayLike, discont: Option<ArrayLike>, axis: i64, period: f64) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "unwrap", 0)?;
    let discont = optional(py, discont, "unwrap", 1)?;
    one(py, || {
        without("unwrap", discont.as_ref())?;
        numpy::unwrap(&p, axis, period)
    })
}

/// Values of a piecewise linear function.
#[pyfunction]
#[pyo3(signature = (x, xp, fp, left=None, right=None, period=None), text_signature = "(x, xp, fp, left=None, right=None, period=None)")]
fn interp(
    py: Python<'_>,
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: Option<ArrayLike>,
    right: Option<ArrayLike>,
    period: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "interp", 0)?;
    let xp = xp.val(py, "interp", 1)?;
    let fp = fp.val(py, "interp", 2)?;
    let left = optional(py, left, "interp", 3)?;
    let right = optional(py, right, "interp", 4)?;
    let period = optional(py, period, "interp", 5)?;
    one(py, || {
        without("interp", period.as_ref())?;
        numpy::interp(&x, &xp, &fp, left.as_ref(), right.as_ref())
    })
}

/// The value of a polynomial, by Horner's rule: `((p[0] x + p[1]) x + p[2]) ...`.
///
/// Args:
///   p: a vector of coefficients, the highest power first, or an array whose first axis they are.
///   x: where to evaluate: an array or number of any shape.
///   unroll: for compatibility; without influence.
/// Returns: an array of the shape of `x` (broadcast with the further axes of `p`) and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   IndexError: `p` has no axes.
/// Differentiable: yes, in both modes, with respect to `p` and `x`.
/// Example:
///   >>> print(jnp.polyval(jnp.array([1, 0, 2]), jnp.array([0, 3])))
///   [ 2 11]
#[pyfunction]
#[pyo3(signature = (p, x, *, unroll=None), text_signature = "(p, x, *, unroll=None)")]
fn polyval(py: Python<'_>, p: ArrayLike, x: ArrayLike, unroll: Option<i64>) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "polyval", 0)?;
    let x = x.val(py, "polyval", 1)?;
    one(py, || {
        let _ = unroll;
        if p.aval().rank() == 0 {
            bail!(Index, "polyval: p must have at least one axis, that of the coefficients");
        }
        numpy::polyval(&p, &x)
    })
}
