//! Operations on the bits of integers and on booleans.

use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::same_rank;
use crate::api::arguments::one;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; bitwise_and bitwise_not bitwise_or bitwise_xor clz population_count shift_left shift_right_arithmetic shift_right_logical);
    Ok(())
}

unary! {
    /// Each bit turned; of booleans the negation.
    ///
    /// Args:
    ///   x: boolean or integer array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is floating or complex.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.bitwise_not(jnp.array([0, 5]))
    ///   Array([-1, -6], dtype=int32)
    bitwise_not;

    /// The number of zero bits before the first one: the width of the dtype for 0.
    ///
    /// Args:
    ///   x: integer array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not of integers.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.clz(jnp.array([1, -1, 0]))
    ///   Array([31,  0, 32], dtype=int32)
    clz;

    /// The number of one bits; of negative numbers those of their two's complement.
    ///
    /// Args:
    ///   x: integer array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not of integers.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.population_count(jnp.array([7, 8, -1]))
    ///   Array([ 3,  1, 32], dtype=int32)
    population_count;
}

binary! {
    /// The bits that both numbers have; of booleans the conjunction.
    ///
    /// Args:
    ///   x, y: boolean or integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of
    ///     1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, floating and complex numbers are not accepted, or shapes do not go together; nothing
    ///     is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.bitwise_and(jnp.array([6, 5]), 3)
    ///   Array([2, 1], dtype=int32)
    bitwise_and;

    /// The bits that at least one number has; of booleans the disjunction.
    ///
    /// Args:
    ///   x, y: boolean or integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of
    ///     1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, floating and complex numbers are not accepted, or shapes do not go together; nothing
    ///     is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.bitwise_or(jnp.array([6, 5]), 3)
    ///   Array([7, 7], dtype=int32)
    bitwise_or;

    /// The bits that exactly one number has.
    ///
    /// Args:
    ///   x, y: boolean or integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of
    ///     1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, floating and complex numbers are not accepted, or shapes do not go together; nothing
    ///     is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.bitwise_xor(jnp.array([6, 5]), 3)
    ///   Array([5, 6], dtype=int32)
    bitwise_xor;

    /// The bits of `x` moved up by `y` places, zeros behind them; 0 if `y` is negative or not below the width.
    ///
    /// Args:
    ///   x, y: integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of 1, or one
    ///     is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, only integers are accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.shift_left(jnp.array([1, 3]), 2)
    ///   Array([ 4, 12], dtype=int32)
    shift_left;

    /// The bits of `x` moved down by `y` places, copies of the sign before them: the quotient by `2**y`, rounded down.
    /// From the width on, only copies of the sign are left.
    ///
    /// Args:
    ///   x, y: integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of 1, or one
    ///     is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, only integers are accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.shift_right_arithmetic(jnp.array([8, -8]), 1)
    ///   Array([ 4, -4], dtype=int32)
    shift_right_arithmetic;

    /// The bits of `x` moved down by `y` places, zeros before them; 0 from the width on.
    ///
    /// Args:
    ///   x, y: integer arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of 1, or one
    ///     is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, only integers are accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> lax.shift_right_logical(jnp.array([8, -8]), 1)
    ///   Array([         4, 2147483644], dtype=int32)
    shift_right_logical;
}
