//! Random keys.

use pullback_base::aval::tuple_text;
use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_ir::{ParamValue, Val};

use crate::bind::{self, Fields};
use crate::convert::to_dtype;
use crate::lax;

fn with_impl() -> Fields {
    Fields::new().value("impl", ParamValue::Name("fry".into()))
}

fn one(x: &Val) -> &[Val] {
    std::slice::from_ref(x)
}

/// A typed key of an integer seed.
///
/// # Errors
/// A `Type` error for a seed that is no integer scalar.
pub fn key(seed: &Val) -> Result<Val> {
    let aval = seed.aval();
    if !aval.dtype.is_integer() {
        bail!(Type, "PRNG key seed must be an integer; got {}", aval.dtype);
    }
    if aval.rank() != 0 {
        bail!(
            Type,
            "PRNGKey accepts a scalar seed, but was given an array of shape {} != (). Use jax.vmap for batching",
            tuple_text(&aval.shape)
        );
    }
    bind::RANDOM_SEED.call_with(with_impl(), one(seed))
}

/// A raw key of an integer seed.
///
/// # Errors
/// As [`key`].
pub fn prng_key(seed: &Val) -> Result<Val> {
    key_data(&key(seed)?)
}

/// The words of a key.
///
/// # Errors
/// A `Type` error for something that is no key.
pub fn key_data(key: &Val) -> Result<Val> {
    let (key, _) = typed_key(key)?;
    bind::RANDOM_UNWRAP.call(one(&key))
}

/// The typed key of words.
///
/// # Errors
/// A `Type` error when the array is not `uint32[..., 2]`.
pub fn wrap_key_data(words: &Val) -> Result<Val> {
    let aval = words.aval();
    if aval.dtype != DType::U32 || aval.shape.last() != Some(&2) {
        bail!(
            Type,
            "JAX encountered invalid PRNG key data: expected key_data.shape to end with (2,) and dtype uint32. Got shape={} \
             and dtype={}",
            tuple_text(&aval.shape),
            aval.dtype
        );
    }
    bind::RANDOM_WRAP.call_with(with_impl(), one(words))
}

/// Whether the value is a typed key.
pub fn is_typed(key: &Val) -> bool {
    key.aval().dtype == DType::KeyFry
}

/// The key as a typed one, and whether it was raw.
///
/// # Errors
/// A `Type` error for something that is no key.
pub(super) fn typed_key(key: &Val) -> Result<(Val, bool)> {
    if is_typed(key) {
        return Ok((key.clone(), false));
    }
    Ok((wrap_key_data(key)?, true))
}

/// As [`typed_key`], for functions that take a single key.
///
/// # Errors
/// A `Value` error for an array of keys.
pub(super) fn single_key(name: &str, key: &Val) -> Result<(Val, bool)> {
    let (typed, is_raw) = typed_key(key)?;
    if typed.aval().rank() != 0 {
        bail!(
            Value,
            "{name} accepts a single key, but was given a key array of shape {} != (). Use jax.vmap for batching.",
            tuple_text(&key.aval().shape)
        );
    }
    Ok((typed, is_raw))
}

fn as_given(key: Val, is_raw: bool) -> Result<Val> {
    if is_raw { bind::RANDOM_UNWRAP.call(one(&key)) } else { Ok(key) }
}

/// New keys in an array of the given shape.
///
/// # Errors
/// A `Type` error for something that is no key, a `Value` error for an array of keys.
pub fn split(key: &Val, shape: &[usize]) -> Result<Val> {
    let (key, is_raw) = single_key("split", key)?;
    as_given(split_typed(&key, shape)?, is_raw)
}

pub(super) fn split_typed(key: &Val, shape: &[usize]) -> Result<Val> {
    bind::RANDOM_SPLIT.call_with(Fields::new().with("shape", &shape.to_vec()), one(key))
}

/// Two keys of a typed one.
pub(super) fn split_pair(key: &Val) -> Result<(Val, Val)> {
    let mut keys = lax::unstack(&split_typed(key, &[2])?, 0)?;
    let second = keys.pop().expect("two keys");
    Ok((keys.pop().expect("two keys"), second))
}

/// A new key of a key and an integer.
///
/// # Errors
/// A `Type` error for something that is no key or no integer scalar.
pub fn fold_in(key: &Val, data: &Val) -> Result<Val> {
    let (key, is_raw) = single_key("fold_in", key)?;
    if data.aval().rank() != 0 {
        bail!(
            Type,
            "fold_in accepts a scalar, but was given an array of shape {} != (). Use jax.vmap for batching.",
            tuple_text(&data.aval().shape)
        );
    }
    let data = to_dtype(data, DType::U32)?;
    as_given(bind::RANDOM_FOLD_IN.call(&[key, data])?, is_raw)
}

/// The same key, which may be used again.
///
/// # Errors
/// A `Type` error for something that is no key.
pub fn clone_key(key: &Val) -> Result<Val> {
    let (key, is_raw) = typed_key(key)?;
    as_given(bind::RANDOM_CLONE.call(one(&key))?, is_raw)
}

/// Random bits in an array of an unsigned dtype.
///
/// # Errors
/// A `Value` error for a dtype that is not unsigned.
pub fn bits(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    if dtype.kind() != Kind::Unsigned {
        bail!(Type, "dtype argument to `bits` must be an unsigned int dtype, got {dtype}");
    }
    let (key, _) = single_key("bits", key)?;
    bits_typed(&key, shape, dtype.bits())
}

pub(super) fn bits_typed(key: &Val, shape: &[usize], bit_width: u32) -> Result<Val> {
    let params = Fields::new().with("bit_width", &bit_width).with("shape", &shape.to_vec());
    bind::RANDOM_BITS.call_with(params, one(key))
}
