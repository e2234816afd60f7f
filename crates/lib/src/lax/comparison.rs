//! Comparisons of single elements, and choices by them.

use pullback_base::{Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::same_rank;
use crate::convert::constant;
use crate::primitive::Bind;

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
    #[public("lax.is_finite(x)")]
    fn is_finite IS_FINITE;
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
    #[public("lax.eq(x, y)")]
    fn eq EQ;

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
    #[public("lax.ge(x, y)")]
    fn ge GE;

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
    #[public("lax.gt(x, y)")]
    fn gt GT;

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
    #[public("lax.le(x, y)")]
    fn le LE;

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
    #[public("lax.lt(x, y)")]
    fn lt LT;

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
    #[public("lax.ne(x, y)")]
    fn ne NE;
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
#[public("lax.select(pred, on_true, on_false)")]
pub fn select(pred: &Val, on_true: &Val, on_false: &Val) -> Result<Val> {
    prims::SELECT_N.bind(&[pred.clone(), on_false.clone(), on_true.clone()])
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
#[public("lax.select_n(which, *cases)")]
pub fn select_n(which: &Val, cases: &[Val]) -> Result<Val> {
    let Some(first) = cases.first() else { bail!(Value, "select_n() must have at least one case") };
    // One case is also the second, so that a boolean `which` has its two.
    let second = if cases.len() == 1 { Some(first) } else { None };
    let ins: Vec<Val> = std::iter::once(which).chain(cases).chain(second).cloned().collect();
    prims::SELECT_N.bind(&ins)
}

/// Whether elements differ from zero.
///
/// # Errors
/// What the primitive raises.
pub fn nonzero_mask(x: &Val) -> Result<Val> {
    if x.aval().dtype == pullback_base::DType::Bool {
        return Ok(x.clone());
    }
    ne(x, &constant(x, 0.0))
}
