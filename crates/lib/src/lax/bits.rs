//! Operations on the bits of integers and on booleans.

use pullback_base::Result;
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::same_rank;
use crate::primitive::Bind;

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
    #[public("lax.bitwise_not(x)")]
    fn bitwise_not NOT;

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
    #[public("lax.clz(x)")]
    fn clz CLZ;

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
    #[public("lax.population_count(x)")]
    fn population_count POPULATION_COUNT;
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
    #[public("lax.bitwise_and(x, y)")]
    fn bitwise_and AND;

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
    #[public("lax.bitwise_or(x, y)")]
    fn bitwise_or OR;

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
    #[public("lax.bitwise_xor(x, y)")]
    fn bitwise_xor XOR;

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
    #[public("lax.shift_left(x, y)")]
    fn shift_left SHIFT_LEFT;

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
    #[public("lax.shift_right_arithmetic(x, y)")]
    fn shift_right_arithmetic SHIFT_RIGHT_ARITHMETIC;

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
    #[public("lax.shift_right_logical(x, y)")]
    fn shift_right_logical SHIFT_RIGHT_LOGICAL;
}
