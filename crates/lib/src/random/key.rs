//! Keys: making, splitting, folding, and their raw form.

use std::sync::atomic::{AtomicI64, Ordering};

use pullback_base::aval::tuple_text;
use pullback_base::dtype::Kind;
use pullback_base::{Aval, DType, Error, Result, Scalar, bail};
use pullback_core::prims;
use pullback_derive::{Keywords, public};
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};

use crate::axes::shape_of;
use crate::config;
use crate::convert::to_dtype;
use crate::declare::{Argument, Arguments, Constant, Reader, Type, WideNumber};
use crate::lax;
use crate::primitive::Bind;

pub use crate::config::default_generator;
pub use pullback_core::prims::KeyKind;

/// The generator of a name.
///
/// # Errors
/// A `Value` error for an unknown name.
pub fn generator(name: &str) -> Result<KeyKind> {
    match name {
        "threefry2x32" => Ok(KeyKind::Threefry),
        "rbg" => Ok(KeyKind::Rbg),
        "unsafe_rbg" => Ok(KeyKind::UnsafeRbg),
        "philox2x32" => Ok(KeyKind::Philox2),
        "philox4x32" => Ok(KeyKind::Philox4),
        "threefry4x32" => Ok(KeyKind::Threefry4),
        _ => bail!(
            Value,
            "unrecognized PRNG implementation \"{name}\". Did you mean one of: \"philox2x32\", \
             \"philox4x32\", \"threefry2x32\", \"rbg\", \"unsafe_rbg\", \"threefry4x32\"?"
        ),
    }
}

/// The name of a generator, or the element type of its keys.
impl Argument for KeyKind {
    const TYPE: Type = Type { python: "str | np.dtype[Any]", rust: "KeyKind" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<KeyKind> {
        if let Ok(name) = args.text(at) {
            return generator(&name);
        }
        match args.exact_dtype(at) {
            Ok(dtype) if dtype.is_key() => KeyKind::of(Aval::scalar(dtype, false)),
            _ => bail!(Type, "unrecognized type {} for specifying PRNG implementation.", args.class(at)),
        }
    }
    fn absent(_default: Constant) -> KeyKind {
        config::default_generator()
    }
}

/// The generator of new keys, named in one of two ways; neither is the default one.
#[derive(Clone, Copy, Debug, Default, Keywords)]
pub struct Generator {
    /// By its name.
    pub r#impl: Option<KeyKind>,
    /// By the element type of its keys.
    pub dtype: Option<KeyKind>,
}

impl Generator {
    fn one(&self, function: &str) -> Result<Option<KeyKind>> {
        if self.r#impl.is_some() && self.dtype.is_some() {
            bail!(Value, "Cannot specify both `impl` and `dtype` arguments to jax.random.{function}");
        }
        Ok(self.r#impl.or(self.dtype))
    }
}

/// A seed: of an integer 64 bits, anything else as it is.
pub struct Seed;

impl Reader<Val> for Seed {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Val> {
        match args.number(at)? {
            WideNumber::Int(seed) => seed_of_int(seed),
            WideNumber::Val(seed) => Ok(seed),
        }
    }
    fn absent(default: Constant) -> Val {
        Val::absent(default)
    }
}

/// An integer of 32 bits that a key is changed by.
pub struct Word;

impl Reader<Val> for Word {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Val> {
        match args.number(at)? {
            WideNumber::Int(word) => match u32::try_from(word) {
                Ok(word) => Ok(Val::Literal(Scalar::int(DType::U32, word.into()))),
                Err(_) => bail!(Overflow, "Python integer {word} out of bounds for uint32"),
            },
            WideNumber::Val(word) => Ok(word),
        }
    }
    fn absent(default: Constant) -> Val {
        Val::absent(default)
    }
}

/// The name of a generator.
pub fn generator_name(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Threefry => "threefry2x32",
        KeyKind::Rbg => "rbg",
        KeyKind::UnsafeRbg => "unsafe_rbg",
        KeyKind::Philox2 => "philox2x32",
        KeyKind::Philox4 => "philox4x32",
        KeyKind::Threefry4 => "threefry4x32",
    }
}

/// A random key of an integer seed.
///
/// Args:
///   seed: an integer scalar; without x64 the low 32 bits of Python integers count.
///   impl: the name of the generator: 'threefry2x32', with two words and 20 rounds (Salmon et al., 2011); 'rbg', whose
///     bits are the device's (on the CPU philox with four words and 10 rounds, of the same paper) and whose keys are
///     threefry's; 'unsafe_rbg', whose keys are the device's too; 'threefry4x32', 'philox4x32' or 'philox2x32', the
///     generators of that paper with such blocks; None for the setting `jax_default_prng_impl`.
///   dtype: the element type of keys, as `key_dtype` gives it, instead of `impl`.
/// Returns: a key, an array of shape `()` and dtype `key<fry>`, `key<rbg>` or `key<urbg>`.
/// Raises:
///   TypeError: the seed is no integer, or no scalar.
///   OverflowError: the seed does not fit int64.
///   ValueError: there is no such generator, or both `impl` and `dtype` are given.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.key(42))
///   Array([ 0, 42], dtype=uint32)
#[public("random.key(seed: Seed, *, impl=None, dtype=None)")]
pub fn key(seed: &Val, generator: &Generator) -> Result<Val> {
    seeded("key", seed, generator.one("key")?)
}

/// A random key of an integer seed, as two words; `key` gives keys that cannot be taken for numbers.
///
/// Args:
///   seed: an integer scalar; without x64 the low 32 bits of Python integers count.
///   impl: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
/// Returns: uint32 of shape `(2,)`, or `(4,)` for 'rbg' and 'unsafe_rbg'.
/// Raises:
///   TypeError: the seed is no integer, or no scalar.
///   OverflowError: the seed does not fit int64.
///   ValueError: there is no such generator.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.PRNGKey(42)
///   Array([ 0, 42], dtype=uint32)
#[allow(non_snake_case)]
#[public("random.PRNGKey(seed: Seed, *, impl=None)")]
pub fn PRNGKey(seed: &Val, r#impl: Option<KeyKind>) -> Result<Val> {
    unwrap(&seeded("PRNGKey", seed, r#impl)?)
}

const LEGACY: &str = "Legacy uint32 key array passed as key to jax.random function. Please create keys using \
                      jax.random.key(). If use of a raw key array was intended, set jax_legacy_prng_key=\"allow\".";

/// What is added to every seed.
static SEED_OFFSET: AtomicI64 = AtomicI64::new(0);

/// Sets the number that is added to every seed from now on.
pub fn set_seed_offset(offset: i64) {
    SEED_OFFSET.store(offset, Ordering::Relaxed);
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
    let offset = SEED_OFFSET.load(Ordering::Relaxed);
    let seed = if offset == 0 {
        seed
    } else {
        let offset = Val::Literal(Scalar::int(seed.aval().dtype, offset.into()));
        lax::add(&seed, &offset)?
    };
    let kind = kind.unwrap_or_else(config::default_generator);
    prims::RANDOM_SEED.bind_with(prims::RandomSeed { kind }, &[seed])
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
    prims::RANDOM_UNWRAP.bind(std::slice::from_ref(key))
}

/// Keys of their words.
///
/// Args:
///   key_bits_array: uint32 array whose last axis has the size of a key: 2, or 4 for 'rbg' and 'unsafe_rbg'.
///   impl: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
///   dtype: the element type of keys, as `key_dtype` gives it, instead of `impl`.
/// Returns: an array of keys, without the last axis.
/// Raises:
///   TypeError: the dtype is not uint32, or the last axis has another size.
///   ValueError: there is no such generator.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> key = jax.random.wrap_key_data(jnp.array([0, 42], dtype=jnp.uint32))
///   >>> jax.random.key_data(key)
///   Array([ 0, 42], dtype=uint32)
#[public("random.wrap_key_data(key_bits_array, *, impl=None, dtype=None)")]
pub fn wrap_key_data(key_bits_array: &Val, generator: &Generator) -> Result<Val> {
    wrapped(key_bits_array, generator.one("wrap_key_data")?)
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
    if keys.aval().dtype.is_key() {
        return Ok((keys.clone(), false));
    }
    let typed = wrapped(keys, None)?;
    if is_on(Setting::RefuseLegacyKeys) {
        bail!(Value, "{LEGACY}");
    }
    if is_on(Setting::WarnLegacyKeys) {
        pullback_trace::warn(LEGACY)?;
    }
    Ok((typed, true))
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

/// The words of keys.
///
/// Args:
///   keys: an array of keys, or of their words already.
/// Returns: uint32 of shape `(*keys.shape, 2)`, or with 4 words for 'rbg' and 'unsafe_rbg'.
/// Raises:
///   TypeError: `keys` are no keys.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.key(42))
///   Array([ 0, 42], dtype=uint32)
#[public("random.key_data(keys: Key)")]
pub fn key_data(keys: &Val) -> Result<Val> {
    unwrap(&typed_keys(keys)?.0)
}

/// The name of the generator of keys.
///
/// Args:
///   keys: an array of keys, or of their words.
/// Returns: 'threefry2x32', 'rbg' or 'unsafe_rbg'.
/// Raises:
///   TypeError: `keys` are no keys.
/// Differentiable: no, the result is text.
/// Example:
///   >>> jax.random.key_impl(jax.random.key(0))
///   'threefry2x32'
#[public("random.key_impl(keys: Key)")]
pub fn key_impl(keys: &Val) -> Result<&'static str> {
    let aval = keys.aval();
    if aval.dtype.is_key() {
        return Ok(generator_name(KeyKind::of(aval)?));
    }
    let kind = config::default_generator();
    check_raw(keys, kind)?;
    Ok(generator_name(kind))
}

/// New keys of a key, independent of each other and of it for all that is known.
///
/// Args:
///   key: a key, typed or of two words.
///   num: how many, or the shape of the array of keys.
/// Returns: an array of keys in the form of `key`: of shape `(num,)`, and one axis of two words more for words.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given; use `vmap`.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> first, second = jax.random.split(jax.random.key(0))
///   >>> jax.random.key_data(first)
///   Array([1797259609, 2579123966], dtype=uint32)
#[public("random.split(key: Key, num: Sizes=2)")]
pub fn split(key: &Val, num: &[i64]) -> Result<Val> {
    let (key, was_raw) = typed_key("split", key)?;
    in_form(split_typed(&key, &shape_of(num)?)?, was_raw)
}

pub(super) fn split_typed(key: &Val, shape: &[usize]) -> Result<Val> {
    if super::unpartitioned::is_asked(key) {
        return super::unpartitioned::split(key, shape);
    }
    prims::RANDOM_SPLIT.bind_with(prims::RandomSplit { shape: shape.to_vec() }, std::slice::from_ref(key))
}

/// Two new keys, one by one.
pub(super) fn two_keys(key: &Val) -> Result<(Val, Val)> {
    let mut keys = lax::unstack(&split_typed(key, &[2])?, 0)?;
    let second = keys.pop().expect("two keys");
    Ok((keys.pop().expect("two keys"), second))
}

/// A new key of a key and an integer, such as the number of a step.
///
/// Args:
///   key: a key, typed or of two words.
///   data: an integer scalar of 32 bits; Python integers must fit uint32.
/// Returns: a key in the form of `key`.
/// Raises:
///   TypeError: `key` is no key, or `data` no scalar.
///   ValueError: several keys are given; use `vmap`.
///   OverflowError: a Python integer does not fit.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.fold_in(jax.random.key(0), 1))
///   Array([ 928981903, 3453687069], dtype=uint32)
#[public("random.fold_in(key: Key, data: Word)")]
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
    in_form(prims::RANDOM_FOLD_IN.bind(&[key, to_dtype(data, DType::U32)?])?, was_raw)
}

fn check_word(data: &Val) -> Result<()> {
    match data {
        Val::Literal(scalar) if scalar.weak_type() && u32::try_from(scalar.as_i64()).is_err() => {
            bail!(Overflow, "Python integer {scalar} out of bounds for uint32")
        }
        Val::Literal(_) | Val::Array(_) | Val::Tracer(_) => Ok(()),
    }
}

/// The same key, fit to be used once more where reuse is checked.
///
/// Args:
///   key: an array of typed keys, or any other array, of which no use is checked.
/// Returns: keys with the same words.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.clone(jax.random.key(42)))
///   Array([ 0, 42], dtype=uint32)
#[public("random.clone(key)")]
pub fn clone(key: &Val) -> Result<Val> {
    if !key.aval().dtype.is_key() {
        return Ok(key.clone());
    }
    prims::RANDOM_CLONE.bind(std::slice::from_ref(key))
}

/// Keys of their raw form.
fn wrapped(data: &Val, kind: Option<KeyKind>) -> Result<Val> {
    let kind = kind.unwrap_or_else(config::default_generator);
    check_raw(data, kind)?;
    prims::RANDOM_WRAP.bind_with(prims::RandomWrap { kind }, std::slice::from_ref(data))
}

/// The element type of keys.
///
/// Args:
///   impl_spec: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
/// Returns: the dtype object that arrays of keys have.
/// Raises:
///   ValueError: there is no such generator. NotImplementedError: it is another one of JAX's.
/// Differentiable: no, the result is no array.
/// Example:
///   >>> jax.random.key(0).dtype == jax.random.key_dtype()
///   True
#[public("random.key_dtype(impl_spec=None)")]
pub fn key_dtype(impl_spec: Option<KeyKind>) -> DType {
    impl_spec.unwrap_or_else(config::default_generator).dtype()
}
