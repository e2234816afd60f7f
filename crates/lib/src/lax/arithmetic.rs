//! Arithmetic of single elements: sums, products, powers, roots, rounding, and the parts of complex numbers.

use pullback_base::{DType, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::same_rank;
use crate::convert::to_dtype;
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::primitive::Bind;

pub use pullback_core::prims::RoundingMethod;

unary! {
    /// Absolute value of each element; of complex numbers the modulus.
    ///
    /// Args:
    ///   x: signed integer, floating or complex array or scalar. The least integer stays itself, as its negative overflows.
    /// Returns: shape of `x`; its dtype, of complex ones that of their parts.
    /// Raises:
    ///   TypeError: `x` is boolean or unsigned.
    /// Differentiable: almost everywhere; the derivative at 0 is 1 for real and 0 for complex numbers.
    /// Example:
    ///   >>> lax.abs(jnp.array([-2, 3]))
    ///   Array([2, 3], dtype=int32)
    #[public("lax.abs(x)")]
    fn abs ABS;

    /// The least integer that is at least each element, as a floating number.
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes, with derivative 0 everywhere.
    /// Example:
    ///   >>> lax.ceil(jnp.array([1.5, -1.5]))
    ///   Array([ 2., -1.], dtype=float32)
    #[public("lax.ceil(x)")]
    fn ceil CEIL;

    /// The greatest integer that is at most each element, as a floating number.
    ///
    /// Args:
    ///   x: floating array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes, with derivative 0 everywhere.
    /// Example:
    ///   >>> lax.floor(jnp.array([1.5, -1.5]))
    ///   Array([ 1., -2.], dtype=float32)
    #[public("lax.floor(x)")]
    fn floor FLOOR;

    /// The imaginary part of complex numbers.
    ///
    /// Args:
    ///   x: complex array or scalar.
    /// Returns: shape of `x`; float32 of complex64, float64 of complex128.
    /// Raises:
    ///   TypeError: `x` is not complex; `jnp.imag` takes real numbers too.
    /// Differentiable: yes, linear over the reals.
    /// Example:
    ///   >>> lax.imag(jnp.array([1.0 + 2.0j]))
    ///   Array([2.], dtype=float32)
    #[public("lax.imag(x)")]
    fn imag IMAG;

    /// The negative of each element; integers wrap, so that of an unsigned one is its complement to a power of two.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean.
    /// Differentiable: yes, linear.
    /// Example:
    ///   >>> lax.neg(jnp.array([1.0, -2.0]))
    ///   Array([-1.,  2.], dtype=float32)
    #[public("lax.neg(x)")]
    fn neg NEG;

    /// `1 - x * x`, the factor in derivatives such as that of `tanh`.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean.
    /// Differentiable: yes, with derivative `-2 x`.
    /// Example:
    ///   >>> lax.one_minus_square(jnp.array([0.5, 2.0]))
    ///   Array([ 0.75, -3.  ], dtype=float32)
    #[public("lax.one_minus_square(x)")]
    fn one_minus_square ONE_MINUS_SQUARE;

    /// The real part of complex numbers.
    ///
    /// Args:
    ///   x: complex array or scalar.
    /// Returns: shape of `x`; float32 of complex64, float64 of complex128.
    /// Raises:
    ///   TypeError: `x` is not complex; `jnp.real` takes real numbers too.
    /// Differentiable: yes, linear over the reals.
    /// Example:
    ///   >>> lax.real(jnp.array([1.0 + 2.0j]))
    ///   Array([1.], dtype=float32)
    #[public("lax.real(x)")]
    fn real REAL;

    /// -1, 0 or 1 by the sign of each element; of complex numbers `x / |x|`, with 0 at 0.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar; NaN stays NaN.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean.
    /// Differentiable: yes, with derivative 0 for real numbers.
    /// Example:
    ///   >>> lax.sign(jnp.array([-2.5, 0.0, 3.0]))
    ///   Array([-1.,  0.,  1.], dtype=float32)
    #[public("lax.sign(x)")]
    fn sign SIGN;

    /// `x * x`; integers wrap around.
    ///
    /// Args:
    ///   x: integer, floating or complex array or scalar.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is boolean.
    /// Differentiable: yes, with derivative `2 x`.
    /// Example:
    ///   >>> lax.square(jnp.array([-3, 4]))
    ///   Array([ 9, 16], dtype=int32)
    #[public("lax.square(x)")]
    fn square SQUARE;

    /// The real cube root, negative for negative numbers.
    ///
    /// Args:
    ///   x: floating array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is not floating; integers are not promoted.
    /// Differentiable: yes away from 0, where the derivative is infinite.
    /// Example:
    ///   >>> lax.cbrt(jnp.array([8.0, -27.0])).round()
    ///   Array([ 2., -3.], dtype=float32)
    #[public("lax.cbrt(x, *, accuracy: Ignored=None)")]
    fn cbrt CBRT;

    /// `1 / sqrt(x)`: infinite at 0, NaN for negative real numbers.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes away from 0.
    /// Example:
    ///   >>> lax.rsqrt(jnp.array([4.0, 0.25]))
    ///   Array([0.5, 2. ], dtype=float32)
    #[public("lax.rsqrt(x, *, accuracy: Ignored=None)")]
    fn rsqrt RSQRT;

    /// The square root; NaN for negative real numbers, the root with nonnegative real part for complex ones.
    ///
    /// Args:
    ///   x: floating or complex array or scalar.
    ///   accuracy: taken for compatibility and ignored; the function has one accuracy.
    /// Returns: shape and dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is neither floating nor complex; integers are not promoted.
    /// Differentiable: yes away from 0, where the derivative is infinite.
    /// Example:
    ///   >>> lax.sqrt(jnp.array([4.0, 2.25]))
    ///   Array([2. , 1.5], dtype=float32)
    #[public("lax.sqrt(x, *, accuracy: Ignored=None)")]
    fn sqrt SQRT;
}

/// The complex conjugate. Real numbers become complex.
///
/// Args:
///   x: complex, float32 or float64 array or scalar.
/// Returns: shape of `x`; its dtype if complex, else complex64 or complex128.
/// Raises:
///   TypeError: `x` is an integer, boolean or a half-width float.
/// Differentiable: yes, linear over the reals.
/// Example:
///   >>> lax.conj(jnp.array([1.0 + 2.0j]))
///   Array([1.-2.j], dtype=complex64)
#[public("lax.conj(x)")]
pub fn conj(x: &Val) -> Result<Val> {
    let dtype = x.aval().dtype;
    prims::CONJ.bind_with(prims::Conj { input_dtype: dtype }, std::slice::from_ref(x))
}

/// `1 / x`, infinite at 0.
///
/// Args:
///   x: floating or complex array or scalar.
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither floating nor complex; integers are not promoted.
/// Differentiable: yes away from 0, with derivative `-1 / x**2`.
/// Example:
///   >>> lax.reciprocal(jnp.array([0.5, -4.0]))
///   Array([ 2.  , -0.25], dtype=float32)
#[public("lax.reciprocal(x)")]
pub fn reciprocal(x: &Val) -> Result<Val> {
    integer_pow(x, -1)
}

binary! {
    /// The sum of two arrays of one dtype; integers wrap around.
    ///
    /// Args:
    ///   x, y: integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, booleans are not accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: yes, linear in both.
    /// Example:
    ///   >>> lax.add(jnp.array([1, 2]), 10)
    ///   Array([11, 12], dtype=int32)
    #[public("lax.add(x, y)")]
    fn add ADD;

    /// Complex numbers from real and imaginary parts.
    ///
    /// Args:
    ///   x, y: float32 or float64 arrays of one dtype. Shapes are equal, up to sizes of 1, or one is a scalar.
    /// Returns: the common shape; complex64 from float32, complex128 from float64.
    /// Raises:
    ///   TypeError: dtypes differ, integers and half-width floats are not accepted, or shapes do not go together; nothing
    ///     is promoted.
    /// Differentiable: yes, linear in both.
    /// Example:
    ///   >>> lax.complex(jnp.array([1.0, 2.0]), 3.0)
    ///   Array([1.+3.j, 2.+3.j], dtype=complex64)
    #[public("lax.complex(x, y)")]
    fn complex COMPLEX;

    /// The quotient `x / y` of two arrays of one dtype. That of integers is cut towards zero; division by 0 gives -1 (all
    /// bits set) for integers and infinities or NaN otherwise.
    ///
    /// Args:
    ///   x, y: integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, booleans are not accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: yes in both, where `y` is not 0; integers have no derivative.
    /// Example:
    ///   >>> lax.div(jnp.array([7, -7]), 2)
    ///   Array([ 3, -3], dtype=int32)
    ///   >>> lax.div(jnp.array([7.0, -7.0]), 2.0)
    ///   Array([ 3.5, -3.5], dtype=float32)
    #[public("lax.div(x, y)")]
    fn div DIV;

    /// The greater of each two elements; NaN where one is. Complex numbers compare by real, then by imaginary part.
    ///
    /// Args:
    ///   x, y: boolean, integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are
    ///     equal, up to sizes of 1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ or shapes do not go together; nothing is promoted.
    /// Differentiable: yes; at ties both sides get half.
    /// Example:
    ///   >>> lax.max(jnp.array([1.0, 5.0]), 3.0)
    ///   Array([3., 5.], dtype=float32)
    #[public("lax.max(x, y)")]
    fn max MAX;

    /// The smaller of each two elements; NaN where one is. Complex numbers compare by real, then by imaginary part.
    ///
    /// Args:
    ///   x, y: boolean, integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are
    ///     equal, up to sizes of 1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ or shapes do not go together; nothing is promoted.
    /// Differentiable: yes; at ties both sides get half.
    /// Example:
    ///   >>> lax.min(jnp.array([1.0, 5.0]), 3.0)
    ///   Array([1., 3.], dtype=float32)
    #[public("lax.min(x, y)")]
    fn min MIN;

    /// `x` to the power `y`; `pow(x, 0)` is 1 also at 0, and a negative base with a fractional exponent gives NaN.
    ///
    /// Args:
    ///   x: floating or complex array.
    ///   y: array of the same dtype, or of integers. Shapes are equal, up to sizes of 1, or one is a scalar.
    /// Returns: the common shape, the dtype of `x`.
    /// Raises:
    ///   TypeError: `x` is an integer or boolean, the dtypes do not go together, or the shapes do not.
    /// Differentiable: yes in both where `x > 0`; with an integer `y` in `x` alone. The derivative in `y` at `x = 0` is 0.
    /// Example:
    ///   >>> lax.pow(jnp.array([2.0, 3.0]), 2)
    ///   Array([4., 9.], dtype=float32)
    #[public("lax.pow(x, y)")]
    fn pow POW;

    /// The remainder of the division that is cut towards zero: it has the sign of `x`. By 0 it is `x` for integers, else
    /// NaN.
    ///
    /// Args:
    ///   x, y: integer or floating arrays of one dtype; Python numbers take the other's. Shapes are equal, up to sizes of
    ///     1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, booleans and complex numbers are not accepted, or shapes do not go together; nothing
    ///     is promoted.
    /// Differentiable: yes almost everywhere, with derivatives 1 in `x` and minus the cut quotient in `y`.
    /// Example:
    ///   >>> lax.rem(jnp.array([7, -7]), 4)
    ///   Array([ 3, -3], dtype=int32)
    #[public("lax.rem(x, y)")]
    fn rem REM;

    /// The difference `x - y` of two arrays of one dtype; integers wrap around.
    ///
    /// Args:
    ///   x, y: integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
    ///     sizes of 1, or one is a scalar.
    /// Returns: the common shape and dtype.
    /// Raises:
    ///   TypeError: dtypes differ, booleans are not accepted, or shapes do not go together; nothing is promoted.
    /// Differentiable: yes, linear in both.
    /// Example:
    ///   >>> lax.sub(jnp.array([1, 2]), 10)
    ///   Array([-9, -8], dtype=int32)
    #[public("lax.sub(x, y)")]
    fn sub SUB;
}

/// Product.
///
/// # Errors
/// A `Type` error when dtypes differ or shapes do not go together.
pub fn mul(x: &Val, y: &Val) -> Result<Val> {
    prims::MUL.bind(&[x.clone(), y.clone()])
}

/// The product of two arrays of one dtype; integers wrap around.
///
/// Args:
///   x, y: integer, floating or complex arrays of one dtype; Python numbers take the other's. Shapes are equal, up to
///     sizes of 1, or one is a scalar.
///   out_dtype: a dtype to which both are converted before; that of the operands by default.
/// Returns: the common shape, the dtype of the operands or `out_dtype`.
/// Raises:
///   TypeError: dtypes differ, booleans are not accepted, or shapes do not go together; nothing is promoted.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.mul(jnp.array([1.5, 2.0]), 2.0)
///   Array([3., 4.], dtype=float32)
#[public("lax.mul(x, y, *, out_dtype=None)")]
pub fn mul_in(x: &Val, y: &Val, out_dtype: Option<DType>) -> Result<Val> {
    same_rank("mul", x, y)?;
    match out_dtype.filter(|&dtype| dtype != x.aval().dtype) {
        Some(dtype) => mul(&to_dtype(x, dtype)?, &to_dtype(y, dtype)?),
        None => mul(x, y),
    }
}

/// The upper half of the product of integers, which has twice their bits.
///
/// Args:
///   x, y: integer arrays of one dtype and shape, or scalars.
/// Returns: an array of the dtype of the operands.
/// Raises:
///   TypeError: dtypes differ or are not of integers, or shapes do not go together.
/// Differentiable: no; there are no tangents of integers.
/// Example:
///   >>> lax.mulhi(jnp.int32(1 << 30), jnp.int32(8))
///   Array(2, dtype=int32)
#[public("lax.mulhi(x, y, /)")]
pub fn mulhi(x: &Val, y: &Val) -> Result<Val> {
    prims::MULHI.bind(&[x.clone(), y.clone()])
}

/// The next number that the dtype has from `x1` towards `x2`; `x2` if they are equal.
///
/// Args:
///   x1, x2: floating arrays of one dtype. Shapes are equal, up to sizes of 1, or one is a scalar.
/// Returns: the common shape and dtype.
/// Raises:
///   TypeError: dtypes differ, only floating numbers are accepted, or shapes do not go together; nothing is promoted.
/// Differentiable: yes, with derivative 1 in `x1` and 0 in `x2`.
/// Example:
///   >>> float(lax.nextafter(1.0, 2.0) - 1.0) == float(jnp.finfo(jnp.float32).eps)
///   True
#[public("lax.nextafter(x1, x2)")]
pub fn nextafter(x1: &Val, x2: &Val) -> Result<Val> {
    prims::NEXTAFTER.bind(&[x1.clone(), x2.clone()])
}

/// `x` kept between bounds: `min(max(x, min), max)`; where `min > max` it is `max`.
///
/// Args:
///   min: lower bounds: a scalar or an array of the shape of `x`.
///   x: array or scalar.
///   max: upper bounds: a scalar or an array of the shape of `x`. All three have one dtype.
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: dtypes differ, or a bound has another shape than `x` and is no scalar.
/// Differentiable: yes; the derivative goes to `x` strictly inside and to the bound strictly outside, nowhere at ties.
/// Example:
///   >>> lax.clamp(0.0, jnp.array([-1.0, 0.25, 3.0]), 1.0)
///   Array([0.  , 0.25, 1.  ], dtype=float32)
#[public("lax.clamp(min, x, max)")]
pub fn clamp(min: &Val, x: &Val, max: &Val) -> Result<Val> {
    prims::CLAMP.bind(&[min.clone(), x.clone(), max.clone()])
}

/// `x` to the power of a fixed integer, by repeated squaring.
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   y: a Python integer.
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: `y` is no integer, `x` is boolean, or `y` is negative for integers.
/// Differentiable: yes in `x`, with derivative `y x**(y - 1)`.
/// Example:
///   >>> lax.integer_pow(jnp.array([2, -3]), 3)
///   Array([  8, -27], dtype=int32)
#[public("lax.integer_pow(x, y)")]
pub fn integer_pow(x: &Val, y: i64) -> Result<Val> {
    let exponent =
        i32::try_from(y).map_err(|_| pullback_base::Error::overflow(format!("exponent {y} is too large")))?;
    match y {
        0 if x.aval().dtype != DType::Bool => super::full_like(x, 1.0),
        1 => Ok(x.clone()),
        _ => prims::INTEGER_POW.bind_with(prims::IntegerPow { y: exponent }, std::slice::from_ref(x)),
    }
}

impl Argument for RoundingMethod {
    const TYPE: Type = Type { python: "int", rust: "RoundingMethod" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<RoundingMethod> {
        match args.int(at)? {
            0 => Ok(RoundingMethod::AwayFromZero),
            1 => Ok(RoundingMethod::ToNearestEven),
            other => bail!(Value, "{other} is not a valid RoundingMethod"),
        }
    }
    fn absent(_default: Constant) -> RoundingMethod {
        RoundingMethod::AwayFromZero
    }
}

/// The nearest integer, as a floating number.
///
/// Args:
///   x: floating array or scalar.
///   rounding_method: what becomes of halves: `RoundingMethod.AWAY_FROM_ZERO` (0), the default, or `TO_NEAREST_EVEN`
///     (1).
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is not floating.
///   ValueError: the rounding method is neither 0 nor 1.
/// Differentiable: yes, with derivative 0 everywhere.
/// Example:
///   >>> lax.round(jnp.array([0.5, 1.5, -2.5]))
///   Array([ 1.,  2., -3.], dtype=float32)
///   >>> lax.round(jnp.array([0.5, 1.5, -2.5]), lax.RoundingMethod.TO_NEAREST_EVEN)
///   Array([ 0.,  2., -2.], dtype=float32)
#[public("lax.round(x, rounding_method=0)")]
pub fn round(x: &Val, rounding_method: RoundingMethod) -> Result<Val> {
    prims::ROUND.bind_with(prims::Round { rounding_method }, std::slice::from_ref(x))
}

/// The value of a polynomial with coefficients of rising powers, by Horner's rule.
///
/// Args:
///   x: array or number of any shape.
///   coeffs: a sequence of numbers, or of arrays that broadcast with `x`; 0 of none.
///   unroll: taken for compatibility and ignored.
/// Returns: an array of the promoted dtype.
/// Differentiable: in `x` and in the coefficients.
/// Example:
///   >>> jax.lax.polynomial(jnp.array([0, 2]), [1, 2, 3])
///   Array([ 1, 17], dtype=int32)
#[public("lax.polynomial(x, coeffs, *, unroll: Ignored=None)")]
pub fn polynomial(x: &Val, coeffs: &[Val]) -> Result<Val> {
    let dtype = x.aval().dtype;
    if dtype == DType::Bool {
        bail!(Type, "polynomial does not accept dtype bool at position 0.");
    }
    let is_weak = x.aval().weak_type && x.aval().rank() == 0;
    let zero = crate::numpy::zeros_like(x, None, None)?;
    let found = coeffs.iter().rev().try_fold(zero, |value, coefficient| {
        crate::numpy::add(&crate::numpy::multiply(&value, x)?, &crate::convert::convert(coefficient, dtype, is_weak)?)
    })?;
    crate::convert::convert(&found, dtype, is_weak)
}
