//! Arrays of one value, and of counting numbers.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use crate::convert::to_dtype;
use crate::declare::{Prototype, WideNumber};
use crate::primitive::Bind;

/// An array like `x`, as weakly typed, filled with a number.
///
/// # Errors
/// What the primitive raises.
pub fn full_like(x: &Val, value: f64) -> Result<Val> {
    let aval = x.aval();
    let value = Scalar::float(aval.dtype, value).weak(aval.weak_type);
    full(&aval.shape, &Val::Literal(value))
}

/// An array of one repeated scalar.
///
/// # Errors
/// What the primitive raises.
pub fn full(shape: &[usize], value: &Val) -> Result<Val> {
    if shape.is_empty() {
        return Ok(value.clone());
    }
    crate::broadcast::broadcast_in_dim(value, shape, &[])
}

/// An array of one value.
///
/// Args:
///   shape: the shape of the result.
///   fill_value: a scalar.
///   dtype: the dtype of the result; that of the value by default, weak if it is a Python number.
///   sharding: taken for compatibility and ignored.
/// Returns: an array of `shape`.
/// Raises:
///   TypeError: the value is no scalar, or a size is negative.
/// Differentiable: in `fill_value`, linear.
/// Example:
///   >>> lax.full((2,), 7, jnp.float32)
///   Array([7., 7.], dtype=float32)
#[public("lax.full(shape: Sizes, fill_value, dtype=None, *, sharding: Placed=None)")]
pub fn full_in(shape: &[i64], fill_value: &WideNumber, dtype: Option<DType>, sharding: bool) -> Result<Val> {
    let fill_value = scalar_fill(fill_value, dtype)?;
    let made = crate::numpy::full(shape, &fill_value, dtype)?;
    // What is put somewhere is weak no more.
    if sharding { to_dtype(&made, made.aval().dtype) } else { Ok(made) }
}

/// An array of one value with the shape and dtype of another.
///
/// Args:
///   x: array or scalar.
///   fill_value: a scalar, converted to the dtype.
///   dtype: the dtype, if not that of `x`.
///   shape: the shape, if not that of `x`.
///   sharding: taken for compatibility and ignored.
/// Returns: an array of that shape and dtype.
/// Raises:
///   TypeError: the value is no scalar, or a size is negative.
/// Differentiable: in `fill_value`, linear; not in `x`.
/// Example:
///   >>> lax.full_like(jnp.arange(3), 1.5)
///   Array([1, 1, 1], dtype=int32)
#[public("lax.full_like(x, fill_value, dtype=None, shape: Sizes=None, sharding: Ignored=None)")]
pub fn full_like_of(
    x: &Prototype,
    fill_value: &WideNumber,
    dtype: Option<DType>,
    shape: Option<&[i64]>,
) -> Result<Val> {
    let fill_value = scalar_fill(fill_value, dtype.or(Some(x.val.aval().dtype)))?;
    crate::numpy::full_like(&x.val, &fill_value, dtype, shape.or(x.shape.as_deref()))
}

/// A fill value: a scalar, of which a wide integer is in the dtype where it goes.
fn scalar_fill(fill: &WideNumber, dtype: Option<DType>) -> Result<Val> {
    let fill = match fill {
        WideNumber::Val(fill) => fill.clone(),
        WideNumber::Int(_) => fill.to(dtype)?,
    };
    let aval = fill.aval();
    if aval.rank() > 0 {
        let shape = tuple_text(&aval.shape);
        bail!(Type, "full must be called with scalar fill_value, got fill_value.shape {shape}.");
    }
    Ok(fill)
}

/// 0, 1, 2, … along an axis.
///
/// # Errors
/// What the primitive raises.
pub fn broadcasted_iota(dtype: DType, shape: &[usize], axis: usize) -> Result<Val> {
    let params = prims::Iota { dtype, shape: shape.to_vec(), dimension: axis, sharding: None };
    prims::IOTA.bind_with(params, &[])
}

/// 0, 1, 2, and so on along an axis, the same along all others.
///
/// Args:
///   dtype: an integer, floating or complex dtype; 64-bit ones are halved without x64.
///   shape: the shape of the result.
///   dimension: the axis that counts, from the front.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape`.
/// Raises:
///   TypeError: the dtype is boolean, or a size is negative.
///   ValueError: the axis is out of bounds.
/// Differentiable: nothing to differentiate, it takes no array.
/// Example:
///   >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
///   Array([[0, 1, 2],
///          [0, 1, 2]], dtype=int32)
#[public("lax.broadcasted_iota(dtype: Narrowed, shape, dimension, *, out_sharding: Sharded=None)")]
pub fn checked_broadcasted_iota(dtype: DType, shape: &[usize], dimension: i64) -> Result<Val> {
    if !(0..shape.len() as i64).contains(&dimension) {
        let shape = tuple_text(shape);
        bail!(Value, "iota dimension must be between 0 and len(shape), got dimension={dimension} for shape={shape}");
    }
    broadcasted_iota(dtype, shape, dimension as usize)
}

/// 0, 1, 2, …
///
/// # Errors
/// What the primitive raises.
pub fn iota(dtype: DType, size: usize) -> Result<Val> {
    broadcasted_iota(dtype, &[size], 0)
}

/// 0, 1, 2, and so on.
///
/// Args:
///   dtype: an integer, floating or complex dtype; 64-bit ones are halved without x64.
///   size: how many, at least 0.
/// Returns: an array of shape `(size,)`.
/// Raises:
///   TypeError: the dtype is boolean, or `size` is no integer.
///   OverflowError: `size` is negative.
/// Differentiable: nothing to differentiate, it takes no array.
/// Example:
///   >>> lax.iota(jnp.int32, 4)
///   Array([0, 1, 2, 3], dtype=int32)
#[public("lax.iota(dtype: Narrowed, size)")]
pub fn checked_iota(dtype: DType, size: i64) -> Result<Val> {
    let Ok(size) = usize::try_from(size) else {
        bail!(Type, "iota shape must have every element be nonnegative, got ({size},).")
    };
    iota(dtype, size)
}

/// An array of zeros: there are no arrays without values.
///
/// Args:
///   shape: the shape of the result.
///   dtype: the dtype of the result; 64-bit ones are halved without x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: there is no such dtype, or a size is negative.
/// Differentiable: nothing to differentiate, it takes no array.
/// Example:
///   >>> jax.lax.empty((2,), jnp.int32)
///   Array([0, 0], dtype=int32)
#[public("lax.empty(shape: Sizes, dtype: FloatByDefault, *, out_sharding: Sharded=None)")]
pub fn empty(shape: &[i64], dtype: DType) -> Result<Val> {
    crate::numpy::zeros(shape, Some(dtype))
}
