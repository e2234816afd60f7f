//! Exponentials, logarithms, circular and hyperbolic functions of single elements.

use pullback_base::Result;
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::same_rank;
use crate::primitive::Bind;

unary! {
    /// The angle in radians from 0 to π whose cosine is `x`; NaN for real numbers outside of -1 to 1.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes inside; the derivative `-1 / sqrt(1 - x**2)` is infinite at -1 and 1.
    /// Example:
    ///   >>> lax.acos(jnp.array([1.0, 2.0]))
    ///   Array([ 0., nan], dtype=float32)
    #[public("lax.acos(x)")]
    fn acos ACOS;

    /// The inverse of the hyperbolic cosine, nonnegative; NaN for real numbers below 1.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes above 1; the derivative `1 / sqrt(x**2 - 1)` is infinite there.
    /// Example:
    ///   >>> lax.acosh(jnp.array([1.0, 0.5]))
    ///   Array([ 0., nan], dtype=float32)
    #[public("lax.acosh(x)")]
    fn acosh ACOSH;

    /// The angle in radians from -π/2 to π/2 whose sine is `x`; NaN for real numbers outside of -1 to 1.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes inside; the derivative `1 / sqrt(1 - x**2)` is infinite at -1 and 1.
    /// Example:
    ///   >>> lax.asin(jnp.array([0.0, 2.0]))
    ///   Array([ 0., nan], dtype=float32)
    #[public("lax.asin(x)")]
    fn asin ASIN;

    /// The inverse of the hyperbolic sine, `log(x + sqrt(x**2 + 1))`.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `1 / sqrt(x**2 + 1)`.
    /// Example:
    ///   >>> lax.asinh(jnp.array([0.0, jnp.inf]))
    ///   Array([ 0., inf], dtype=float32)
    #[public("lax.asinh(x)")]
    fn asinh ASINH;

    /// The angle in radians from -π/2 to π/2 whose tangent is `x`.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `1 / (1 + x**2)`.
    /// Example:
    ///   >>> lax.atan(jnp.array([0.0, 1.0]))
    ///   Array([0.       , 0.7853981], dtype=float32)
    #[public("lax.atan(x)")]
    fn atan ATAN;

    /// The inverse of the hyperbolic tangent: infinite at -1 and 1, NaN for real numbers outside.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes inside, with derivative `1 / (1 - x**2)`.
    /// Example:
    ///   >>> lax.atanh(jnp.array([0.0, 1.0, 2.0]))
    ///   Array([ 0., inf, nan], dtype=float32)
    #[public("lax.atanh(x)")]
    fn atanh ATANH;

    /// The hyperbolic cosine, `(exp(x) + exp(-x)) / 2`.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `sinh(x)`.
    /// Example:
    ///   >>> lax.cosh(jnp.array([0.0, -jnp.inf]))
    ///   Array([ 1., inf], dtype=float32)
    #[public("lax.cosh(x)")]
    fn cosh COSH;

    /// The hyperbolic sine, `(exp(x) - exp(-x)) / 2`.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `cosh(x)`.
    /// Example:
    ///   >>> lax.sinh(jnp.array([0.0, jnp.inf]))
    ///   Array([ 0., inf], dtype=float32)
    #[public("lax.sinh(x)")]
    fn sinh SINH;

    /// The cosine of an angle in radians; NaN at infinity.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `-sin(x)`.
    /// Example:
    ///   >>> lax.cos(jnp.array([0.0, jnp.pi]))
    ///   Array([ 1., -1.], dtype=float32)
    #[public("lax.cos(x, *, accuracy: Ignored=None)")]
    fn cos COS;

    /// The exponential function.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes; it is its own derivative.
    /// Example:
    ///   >>> lax.exp(jnp.array([0.0, -jnp.inf]))
    ///   Array([1., 0.], dtype=float32)
    #[public("lax.exp(x, *, accuracy: Ignored=None)")]
    fn exp EXP;

    /// Two to the power of each element.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `log(2) 2**x`.
    /// Example:
    ///   >>> lax.exp2(jnp.array([3.0, -1.0]))
    ///   Array([8. , 0.5], dtype=float32)
    #[public("lax.exp2(x, *, accuracy: Ignored=None)")]
    fn exp2 EXP2;

    /// `exp(x) - 1`, exact also where `x` is near 0 and the difference would cancel.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `exp(x)`.
    /// Example:
    ///   >>> float(lax.expm1(1e-8)) > 0
    ///   True
    #[public("lax.expm1(x, *, accuracy: Ignored=None)")]
    fn expm1 EXPM1;

    /// The natural logarithm: minus infinity at 0, NaN for negative real numbers; of complex numbers the principal value.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes away from 0, with derivative `1 / x`.
    /// Example:
    ///   >>> lax.log(jnp.array([1.0, 0.0]))
    ///   Array([  0., -inf], dtype=float32)
    #[public("lax.log(x, *, accuracy: Ignored=None)")]
    fn log LOG;

    /// `log(1 + x)`, exact also where `x` is near 0; minus infinity at -1, NaN below.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes away from -1, with derivative `1 / (1 + x)`.
    /// Example:
    ///   >>> lax.log1p(jnp.array([0.0, -1.0]))
    ///   Array([  0., -inf], dtype=float32)
    #[public("lax.log1p(x, *, accuracy: Ignored=None)")]
    fn log1p LOG1P;

    /// The logarithm to base 2: minus infinity at 0, NaN for negative real numbers.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes away from 0, with derivative `1 / (x log(2))`.
    /// Example:
    ///   >>> lax.log2(jnp.array([8.0, 0.5]))
    ///   Array([ 3., -1.], dtype=float32)
    #[public("lax.log2(x, *, accuracy: Ignored=None)")]
    fn log2 LOG2;

    /// `1 / (1 + exp(-x))`, the sigmoid.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `y (1 - y)` of the result `y`.
    /// Example:
    ///   >>> lax.logistic(jnp.array([0.0, jnp.inf]))
    ///   Array([0.5, 1. ], dtype=float32)
    #[public("lax.logistic(x, *, accuracy: Ignored=None)")]
    fn logistic LOGISTIC;

    /// The sine of an angle in radians; NaN at infinity.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `cos(x)`.
    /// Example:
    ///   >>> lax.sin(jnp.array([0.0, jnp.inf]))
    ///   Array([ 0., nan], dtype=float32)
    #[public("lax.sin(x, *, accuracy: Ignored=None)")]
    fn sin SIN;

    /// The tangent of an angle in radians; NaN at infinity.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `1 + tan(x)**2`.
    /// Example:
    ///   >>> lax.tan(jnp.array([0.0]))
    ///   Array([0.], dtype=float32)
    #[public("lax.tan(x, *, accuracy: Ignored=None)")]
    fn tan TAN;

    /// The hyperbolic tangent, between -1 and 1.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes, with derivative `1 - y**2` of the result `y`.
    /// Example:
    ///   >>> lax.tanh(jnp.array([0.0, jnp.inf]))
    ///   Array([0., 1.], dtype=float32)
    #[public("lax.tanh(x, *, accuracy: Ignored=None)")]
    fn tanh TANH;
}

binary! {
    /// The angle in radians, from -π to π, of the point whose ordinate is `x` and whose abscissa is `y`: `x` comes first.
    ///
    /// Args:
    ///   x, y: floating or complex arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of
    ///     1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, integers are not accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: yes away from the origin.
    /// Example:
    ///   >>> lax.atan2(jnp.array([0.0, 1.0]), jnp.array([1.0, 0.0]))
    ///   Array([0.       , 1.5707964], dtype=float32)
    #[public("lax.atan2(x, y)")]
    fn atan2 ATAN2;
}
