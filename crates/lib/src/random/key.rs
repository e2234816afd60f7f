//! Keys: making, splitting, folding, and their raw form.

use pullback_base::aval::tuple_text;
use pullback_base::dtype::Kind;
use pullback_base::{DType, Error, Result, Scalar, bail};
use pullback_ir::Val;

use crate::axes::shape_of;
use crate::bind::{self, Fields};
use crate::config;
use crate::convert::to_dtype;
use crate::lax;

pub use crate::config::default_generator;
pub use pullback_core::prims::KeyKind;

fn tagged(kind: KeyKind) -> Fields {
    Fields::new().with("impl", &kind)
}

/// The generator of a name.
///
/// # Errors
/// A `Value` error for a name that the reference does not know, `NotImplemented` for its other generators.
pub fn generator(name: &str) -> Result<KeyKind> {
    match name {
        "threefry2x32" => Ok(KeyKind::Threefry),
        "rbg" => Ok(KeyKind::Rbg),
        "unsafe_rbg" => Ok(KeyKind::UnsafeRbg),
        "philox2x32" | "philox4x32" | "threefry4x32" => bail!(
            NotImplemented,
            "the PRNG implementation \"{name}\" is not implemented; use \"threefry2x32\", \"rbg\" or \"unsafe_rbg\""
        ),
        _ => bail!(
            Value,
            "unrecognized PRNG implementation \"{name}\". Did you mean one of: \"philox2x32\", \
             \"philox4x32\", \"threefry2x32\", \"rbg\", \"unsafe_rbg\", \"threefry4x32\"?"
        ),
    }
}

/// The name of a generator.
pub fn generator_name(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Threefry => "threefry2x32",
        KeyKind::Rbg => "rbg",
        KeyKind::UnsafeRbg => "unsafe_rbg",
    }
}

/// A key of an integer seed, of the named generator or of the default one.
///
/// # Errors
/// A `Type` error for a seed that is a key, not a scalar or not an integer.
pub fn key(seed: &Val, kind: Option<KeyKind>) -> Result<Val> {
    seeded("key", seed, kind)
}

/// As [`key`], in raw form.
///
/// # Errors
/// As [`key`].
#[allow(non_snake_case)]
pub fn PRNGKey(seed: &Val, kind: Option<KeyKind>) -> Result<Val> {
    unwrap(&seeded("PRNGKey", seed, kind)?)
}

fn seeded(name: &str, seed: &Val, kind: Option<KeyKind>) -> Result<Val> {
    let aval = seed.aval();
    if aval.dtype.is_key() {
        bail!(Type, "{name} accepts a scalar seed, but was given a PRNG key.");
    }
    if aval.rank() > 0 {
        bail!(
            Type,
            "{name} accepts a scalar seed, but was given an array of shape {} != (). Use jax.vmap for batching",
            tuple_text(&aval.shape)
        );
    }
    let seed = match aval.dtype.kind() {
        Kind::Signed | Kind::Unsigned => seed.clone(),
        Kind::Bool => to_dtype(seed, DType::I32)?,
        Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => {
            bail!(Type, "PRNG key seed must be an integer; got {}", aval.long())
        }
    };
    let seed = match seed {
        Val::Literal(scalar) => Val::Literal(scalar.weak(false)),
        Val::Array(_) | Val::Tracer(_) => seed,
    };
    bind::RANDOM_SEED.call_with(tagged(kind.unwrap_or_else(config::default_generator)), &[seed])
}

/// The seed that a Python integer means: 64 bits, of which the low 32 count while 64-bit types are off.
///
/// # Errors
/// An `Overflow` error beyond 64 bits.
pub fn seed_of_int(seed: i128) -> Result<Val> {
    let wide = i64::try_from(seed).map_err(|_| Error::overflow("Python int too large to convert to C long"))?;
    let scalar = if config::x64() { Scalar::int(DType::I64, seed) } else { Scalar::i32(wide as i32) };
    Ok(Val::Literal(scalar))
}

pub(super) fn unwrap(key: &Val) -> Result<Val> {
    bind::RANDOM_UNWRAP.call(std::slice::from_ref(key))
}

/// Keys of their raw form, of the named generator or of the default one.
///
/// # Errors
/// A `Type` error unless `data` are the generator's number of `uint32` words along the last axis.
pub fn wrap_key_data(data: &Val, kind: Option<KeyKind>) -> Result<Val> {
    let kind = kind.unwrap_or_else(config::default_generator);
    check_raw(data, kind)?;
    bind::RANDOM_WRAP.call_with(tagged(kind), std::slice::from_ref(data))
}

fn check_raw(data: &Val, kind: KeyKind) -> Result<()> {
    const INVALID: &str = "JAX encountered invalid PRNG key data";
    if let Val::Literal(scalar) = data {
        bail!(Type, "{INVALID}: expected key_data to have ndim, shape, and dtype attributes. Got {scalar}");
    }
    let aval = data.aval();
    if aval.rank() < 1 {
        bail!(Type, "{INVALID}: expected key_data.ndim >= 1; got ndim=0");
    }
    let n_words = kind.n_words();
    if aval.shape[aval.rank() - 1] != n_words {
        bail!(
            Type,
            "{INVALID}: expected key_data.shape to end with ({n_words},); got shape={} for impl={}",
            tuple_text(&aval.shape),
            generator_name(kind)
        );
    }
    if aval.dtype != DType::U32 {
        bail!(Type, "{INVALID}: expected key_data.dtype = uint32; got dtype={}", aval.dtype);
    }
    Ok(())
}

/// Keys from keys in either form, and whether they were raw.
fn typed_keys(keys: &Val) -> Result<(Val, bool)> {
    if keys.aval().dtype.is_key() { Ok((keys.clone(), false)) } else { Ok((wrap_key_data(keys, None)?, true)) }
}

/// The one key that function `name` takes, and whether it was raw.
pub(super) fn typed_key(name: &str, key: &Val) -> Result<(Val, bool)> {
    let (typed, was_raw) = typed_keys(key)?;
    if typed.aval().rank() > 0 {
        bail!(
            Value,
            "{name} accepts a single key, but was given a key array of shape {} != (). Use jax.vmap for batching.",
            tuple_text(&key.aval().shape)
        );
    }
    Ok((typed, was_raw))
}

/// The key of function `name`, in typed form.
///
/// # Errors
/// A `Type` error for what is no key, a `Value` error for several keys.
pub fn checked_key(name: &str, key: &Val) -> Result<Val> {
    Ok(typed_key(name, key)?.0)
}

fn in_form(key: Val, raw: bool) -> Result<Val> {
    if raw { unwrap(&key) } else { Ok(key) }
}

/// The raw form of keys.
///
/// # Errors
/// A `Type` error for what is no key.
pub fn key_data(keys: &Val) -> Result<Val> {
    unwrap(&typed_keys(keys)?.0)
}

/// The name of the generator of keys.
///
/// # Errors
/// A `Type` error for what is no key.
pub fn key_impl(keys: &Val) -> Result<&'static str> {
    let aval = keys.aval();
    if aval.dtype.is_key() {
        return Ok(generator_name(KeyKind::of(aval)?));
    }
    let kind = config::default_generator();
    check_raw(keys, kind)?;
    Ok(generator_name(kind))
}

/// An array of new keys of the given shape.
///
/// # Errors
/// A `Type` error for what is no key, a `Value` error for several keys.
pub fn split(key: &Val, shape: &[i64]) -> Result<Val> {
    let (key, was_raw) = typed_key("split", key)?;
    in_form(split_typed(&key, &shape_of(shape)?)?, was_raw)
}

pub(super) fn split_typed(key: &Val, shape: &[usize]) -> Result<Val> {
    bind::RANDOM_SPLIT.call_with(Fields::new().with("shape", &shape.to_vec()), std::slice::from_ref(key))
}

/// Two new keys, one by one.
pub(super) fn two_keys(key: &Val) -> Result<(Val, Val)> {
    let mut keys = lax::unstack(&split_typed(key, &[2])?, 0)?;
    let second = keys.pop().expect("two keys");
    Ok((keys.pop().expect("two keys"), second))
}

/// A new key of a key and an integer.
///
/// # Errors
/// A `Type` error for what is no key or no scalar, a `Value` error for several keys, an `Overflow` error for an integer
/// that does not fit `uint32`.
pub fn fold_in(key: &Val, data: &Val) -> Result<Val> {
    let (key, was_raw) = typed_key("fold_in", key)?;
    let aval = data.aval();
    if aval.rank() > 0 {
        bail!(
            Type,
            "fold_in accepts a scalar, but was given an array of shape {} != (). Use jax.vmap for batching.",
            tuple_text(&aval.shape)
        );
    }
    check_word(data)?;
    in_form(bind::RANDOM_FOLD_IN.call(&[key, to_dtype(data, DType::U32)?])?, was_raw)
}

fn check_word(data: &Val) -> Result<()> {
    match data {
        Val::Literal(scalar) if scalar.weak_type() && scalar.as_i64() < 0 => {
            bail!(Overflow, "Python integer {scalar} out of bounds for uint32")
        }
        Val::Literal(_) | Val::Array(_) | Val::Tracer(_) => Ok(()),
    }
}

/// The same key, fit to be used once more.
///
/// # Errors
/// What the primitive raises.
pub fn clone(key: &Val) -> Result<Val> {
    bind::RANDOM_CLONE.call(std::slice::from_ref(key))
}
