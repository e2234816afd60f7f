//! Elements as another dtype, as other bits, or with fewer of them; values that are constant to differentiation.

use pullback_base::{DType, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use crate::convert::{convert, to_dtype, warn_of_lost_part, without_imaginary_part};
use crate::declare::{Tree, WideNumber};
use crate::primitive::Bind;

/// The same bits read as another dtype.
///
/// Args:
///   operand: array or scalar.
///   new_dtype: a dtype; 64-bit ones are halved without x64.
/// Returns: shape of `operand` if the widths are equal. A narrower dtype adds a last axis, lowest bits first; a wider
///   one takes the last axis, which must make up the width.
/// Raises:
///   TypeError: there is no such dtype.
///   ValueError: the last axis does not make up the width.
/// Differentiable: no; the derivative is 0 where the dtype changes.
/// Example:
///   >>> lax.bitcast_convert_type(jnp.array([1.0]), jnp.uint8)
///   Array([[  0,   0, 128,  63]], dtype=uint8)
#[public("lax.bitcast_convert_type(operand, new_dtype: Narrowed)")]
pub fn bitcast_convert_type(operand: &Val, new_dtype: DType) -> Result<Val> {
    prims::BITCAST_CONVERT_TYPE.bind_with(prims::BitcastConvertType { new_dtype }, std::slice::from_ref(operand))
}

/// The elements in another dtype. Floats are cut towards zero for integers: NaN gives 0, and what is out of range the
/// nearest bound. Of complex numbers the real part is kept; everything but 0 is True.
///
/// Args:
///   operand: array or scalar.
///   new_dtype: a dtype, its name or type; 64-bit ones are halved without x64.
/// Returns: shape of `operand`, the new dtype, not weak.
/// Raises:
///   TypeError: there is no such dtype.
/// Differentiable: yes between floating and complex dtypes, linear; integers have no derivative.
/// Example:
///   >>> lax.convert_element_type(jnp.array([1.7, -1.7, jnp.nan]), jnp.int32)
///   Array([ 1, -1,  0], dtype=int32)
#[public("lax.convert_element_type(operand, new_dtype: Narrowed)")]
pub fn converted(operand: &WideNumber, new_dtype: Option<DType>) -> Result<Val> {
    let Some(dtype) = new_dtype else { bail!(Value, "dtype must be specified.") };
    match operand {
        WideNumber::Val(val) => {
            warn_of_lost_part(val, dtype)?;
            to_dtype(&without_imaginary_part(val, dtype)?, dtype)
        }
        WideNumber::Int(_) => operand.to(Some(dtype)),
    }
}

/// The elements rounded, to even at halves, to fewer bits, in the dtype that they had.
///
/// Args:
///   operand: floating array or scalar.
///   exponent_bits: bits of the exponent, at least 1; what it cannot hold becomes infinite or 0.
///   mantissa_bits: bits of the fraction, at least 0.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is not floating.
///   ValueError: `exponent_bits` is less than 1, or `mantissa_bits` is negative.
/// Differentiable: yes, as the identity; the tangent is rounded likewise.
/// Example:
///   >>> lax.reduce_precision(jnp.array([1.001, 3.1415927]), 8, 7)
///   Array([1.      , 3.140625], dtype=float32)
#[public("lax.reduce_precision(operand, exponent_bits, mantissa_bits)")]
pub fn reduce_precision(operand: &Val, exponent_bits: i64, mantissa_bits: i64) -> Result<Val> {
    let Ok(mantissa_bits) = u32::try_from(mantissa_bits) else {
        bail!(Value, "reduce_precision: mantissa_bits must be non-negative; got {mantissa_bits}");
    };
    let Ok(exponent_bits) = u32::try_from(exponent_bits) else {
        bail!(Value, "reduce_precision: exponent_bits must be positive; got {exponent_bits}");
    };
    let params = prims::ReducePrecision { exponent_bits, mantissa_bits };
    prims::REDUCE_PRECISION.bind_with(params, std::slice::from_ref(operand))
}

/// As a boolean array by conversion.
///
/// # Errors
/// What the primitive raises.
pub fn to_bool(x: &Val) -> Result<Val> {
    convert(x, DType::Bool, false)
}

unary! {
    /// The same elements as a new array.
    fn copy COPY;
}

/// The same value, constant to differentiation.
///
/// # Errors
/// What the primitive raises.
pub fn stop_gradient(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_key() {
        return Ok(x.clone());
    }
    prims::STOP_GRADIENT.bind(std::slice::from_ref(x))
}

/// The same tree of values, constant to differentiation.
///
/// Args:
///   x: a tree of arrays and numbers.
/// Returns: a tree of arrays with the same values.
/// Raises:
///   TypeError: a leaf is no array or number.
/// Differentiable: yes, with derivative 0.
/// Example:
///   >>> float(jax.grad(lambda t: jax.lax.stop_gradient(t) * t)(2.0))
///   2.0
#[public("lax.stop_gradient(x)")]
pub fn stop_gradients(x: &Tree) -> Result<Tree> {
    x.map(stop_gradient)
}

/// The same tree of values, of which no optimization may know that they are.
///
/// Args:
///   operand: a tree of arrays and numbers.
/// Returns: a tree of arrays with the same values.
/// Raises:
///   TypeError: a leaf is no array or number.
/// Differentiable: yes, linear; tangents and cotangents pass a barrier of their own.
/// Example:
///   >>> jax.lax.optimization_barrier((jnp.array(1), jnp.array([2])))
///   (Array(1, dtype=int32, weak_type=True), Array([2], dtype=int32))
#[public("lax.optimization_barrier(operand, /)")]
pub fn optimization_barrier(operand: &Tree) -> Result<Tree> {
    Ok(operand.of(prims::OPTIMIZATION_BARRIER.bind_many((), &operand.leaves)?.into_vec()))
}
