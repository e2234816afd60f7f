//! Comparisons of single elements, and choices by them.

use pullback_base::bail;
use pullback_lib::lax;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::support::same_rank;
use crate::api::arguments::{one, positional};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; eq ge gt is_finite le lt ne select select_n);
    Ok(())
}

unary! {
    /// Whether each element is neither infinite nor NaN.
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: booleans of the shape of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.is_finite(jnp.array([1.0, jnp.inf, jnp.nan]))
    ///   Array([ True, False, False], dtype=bool)
    is_finite;
}

binary! {
    /// Whether each two elements are equal; NaN equals nothing.
    ///
    /// Args:
    ///   x, y: boolean, integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are
    ///     equal, up to sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.eq(jnp.array([1, 2]), 2)
    ///   Array([False,  True], dtype=bool)
    eq;

    /// Whether `x >= y`; False where one is NaN.
    ///
    /// Args:
    ///   x, y: boolean, integer or floating arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ, complex numbers have no order, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.ge(jnp.array([1, 2, 3]), 2)
    ///   Array([False,  True,  True], dtype=bool)
    ge;

    /// Whether `x > y`; False where one is NaN.
    ///
    /// Args:
    ///   x, y: boolean, integer or floating arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ, complex numbers have no order, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.gt(jnp.array([1, 2, 3]), 2)
    ///   Array([False, False,  True], dtype=bool)
    gt;

    /// Whether `x <= y`; False where one is NaN.
    ///
    /// Args:
    ///   x, y: boolean, integer or floating arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ, complex numbers have no order, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.le(jnp.array([1, 2, 3]), 2)
    ///   Array([ True,  True, False], dtype=bool)
    le;

    /// Whether `x < y`; False where one is NaN.
    ///
    /// Args:
    ///   x, y: boolean, integer or floating arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ, complex numbers have no order, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.lt(jnp.array([1, 2, 3]), 2)
    ///   Array([ True, False, False], dtype=bool)
    lt;

    /// Whether each two elements differ; NaN differs from all, itself too.
    ///
    /// Args:
    ///   x, y: boolean, integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are
    ///     equal, up to sizes of 1, or one is a scalar.
    /// Returns: booleans of the common shape.
    /// Raises:
    ///   TypeError: dtypes differ or shapes do not go together; nothing is promoted.
    /// Differentiable: no, the result is boolean.
    /// Example:
    ///   >>> lax.ne(jnp.array([1, 2]), 2)
    ///   Array([ True, False], dtype=bool)
    ne;
}

/// Elements of `on_true` where `pred` holds, else of `on_false`; both are computed.
///
/// Args:
///   pred: booleans, a scalar or of the shape of the cases. int32 counts as an index, clamped to 0 and 1.
///   on_true, on_false: arrays of one shape and dtype.
/// Returns: an array of their shape and dtype.
/// Raises:
///   TypeError: shapes or dtypes of the cases differ, or `pred` fits in neither.
/// Differentiable: in the cases; the other side gets 0, yet its NaN derivatives do not vanish if they are computed
///   before.
/// Example:
///   >>> lax.select(jnp.array([True, False]), jnp.array([1, 2]), jnp.array([-1, -2]))
///   Array([ 1, -2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (pred, on_true, on_false), text_signature = "(pred, on_true, on_false)")]
fn select(py: Python<'_>, pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> PyResult<Py<PyAny>> {
    let pred = pred.val(py, "select", 0)?;
    let on_true = on_true.val(py, "select", 1)?;
    let on_false = on_false.val(py, "select", 2)?;
    one(py, || lax::select(&pred, &on_true, &on_false))
}

/// Elements of the case that `which` names, element by element; all cases are computed.
///
/// Args:
///   which: booleans for at most two cases, False for the first, or int32 positions, which are moved into range. A
///     scalar or of the shape of the cases.
///   cases: arrays of one shape and dtype, at least one.
/// Returns: an array of their shape and dtype.
/// Raises:
///   ValueError: there is no case.
///   TypeError: shapes or dtypes of the cases differ, or `which` has another dtype, another shape or is boolean for
///     more than two.
/// Differentiable: in the cases.
/// Example:
///   >>> lax.select_n(jnp.array([2, 0]), jnp.array([1, 2]), jnp.array([3, 4]), jnp.array([5, 6]))
///   Array([5, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (which, *cases), text_signature = "(which, *cases)")]
fn select_n(py: Python<'_>, which: ArrayLike, cases: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let which = which.val(py, "select_n", 0)?;
    let cases = positional(py, cases, "select_n")?;
    one(py, || {
        if cases.is_empty() {
            bail!(Value, "select_n() must have at least one case");
        }
        // One case is also the second, so that a boolean `which` has its two.
        if let [case] = &cases[..] {
            return lax::select_n(&which, &[case.clone(), case.clone()]);
        }
        lax::select_n(&which, &cases)
    })
}
