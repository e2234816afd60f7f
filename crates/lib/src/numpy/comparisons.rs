//! Comparison of two arrays element by element.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::operators::{Binary, promoted};
use crate::broadcast::promote_ranks;
use crate::lax;

/// For each pair of elements whether they are equal; NaN equals nothing.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1.0, 3.0, jnp.nan])))
///   [ True False False]
#[public("numpy.equal(x, y, /)")]
pub fn equal(x: &Val, y: &Val) -> Result<Val> {
    identity("equal", x, y, lax::eq)
}

/// For each pair of elements whether they differ; NaN differs from everything.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.not_equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1.0, 3.0, jnp.nan])))
///   [False  True  True]
#[public("numpy.not_equal(x, y, /)")]
pub fn not_equal(x: &Val, y: &Val) -> Result<Val> {
    identity("not_equal", x, y, lax::ne)
}

/// For each pair of elements whether the first is less; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.less(jnp.array([1, 2, 3]), 2))
///   [ True False False]
#[public("numpy.less(x, y, /)")]
pub fn less(x: &Val, y: &Val) -> Result<Val> {
    promoted("less", x, y, |x, y| ordered(x, y, lax::lt))
}

/// For each pair of elements whether the first is less or equal; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.less_equal(jnp.array([1, 2, 3]), 2))
///   [ True  True False]
#[public("numpy.less_equal(x, y, /)")]
pub fn less_equal(x: &Val, y: &Val) -> Result<Val> {
    promoted("less_equal", x, y, |x, y| ordered(x, y, lax::le))
}

/// For each pair of elements whether the first is greater; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.greater(jnp.array([1, 2, 3]), 2))
///   [False False  True]
#[public("numpy.greater(x, y, /)")]
pub fn greater(x: &Val, y: &Val) -> Result<Val> {
    promoted("greater", x, y, |x, y| ordered(x, y, lax::gt))
}

/// For each pair of elements whether the first is greater or equal; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.greater_equal(jnp.array([1, 2, 3]), 2))
///   [False  True  True]
#[public("numpy.greater_equal(x, y, /)")]
pub fn greater_equal(x: &Val, y: &Val) -> Result<Val> {
    promoted("greater_equal", x, y, |x, y| ordered(x, y, lax::ge))
}

fn ordered(x: &Val, y: &Val, op: Binary) -> Result<Val> {
    if !x.aval().dtype.is_complex() {
        return op(x, y);
    }
    let same_real = lax::eq(&lax::real(x)?, &lax::real(y)?)?;
    let by_imag = op(&lax::imag(x)?, &lax::imag(y)?)?;
    let by_real = op(&lax::real(x)?, &lax::real(y)?)?;
    lax::select(&same_real, &by_imag, &by_real)
}

/// Keys of one generator have an identity, though they are no numbers.
fn identity(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    let (a, b) = (x.aval().dtype, y.aval().dtype);
    if !a.is_key() && !b.is_key() {
        return promoted(name, x, y, op);
    }
    if a != b {
        bail!(Type, "{name} does not accept dtypes {a}, {b}.");
    }
    let ins = promote_ranks(name, [x.clone(), y.clone()].into_iter().collect())?;
    op(&ins[0], &ins[1])
}
