//! Bits, uniform numbers, coin flips and integers.

use pullback_base::aval::tuple_text;
use pullback_base::dtype::Typed;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::key::{checked_key, two_keys};
use super::unpartitioned;
use crate::broadcast::{broadcast_shapes, to_rank};
use crate::convert::{int_literal, literal, number, to_dtype};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{clip, less, maximum, minimum, multiply, subtract};
use crate::primitive::Bind;
use crate::promotion::{promoted_type, typed};

/// The bits that hold a floating number of `dtype`'s mantissa.
pub(super) fn mantissa_bits(dtype: DType) -> Result<u32> {
    Ok(match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F8E3M4 => 4,
        DType::F8E4M3 | DType::F8E4M3FN | DType::F8E4M3B11FNUZ | DType::F8E4M3FNUZ => 3,
        DType::F8E5M2 | DType::F8E5M2FNUZ => 2,
        other => bail!(Type, "uniform only accepts 8-, 16-, 32-, or 64-bit floating dtypes, got {other}."),
    })
}

/// Distance from 1 to the next number.
pub(super) fn epsilon(dtype: DType) -> Result<f64> {
    Ok(2f64.powi(-(mantissa_bits(dtype)? as i32)))
}

/// The number next to -1 towards 0.
pub(super) fn above_minus_one(dtype: DType) -> Result<f64> {
    Ok(epsilon(dtype)? / 2.0 - 1.0)
}

fn unsigned(bits: u32) -> DType {
    match bits {
        8 => DType::U8,
        16 => DType::U16,
        64 => DType::U64,
        _ => DType::U32,
    }
}

/// Statics of a jitted sampler.
pub(super) fn statics(shape: &[usize], dtype: DType) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).chain([-1, dtype as i64]).collect()
}

/// Checks that parameters go into the dtype of the samples without loss of range: complex ones not into real ones, nor wide into
/// narrow floats.
pub(super) fn check_parameters(name: &str, dtype: DType, parameters: &[&Val]) -> Result<()> {
    for parameter in parameters {
        let own = typed(parameter);
        if promoted_type(&[own, Typed { dtype, weak_type: false }])?.dtype != dtype {
            bail!(
                TypePromotion,
                "In arguments to {name}, cannot safely cast argument of type {} to {dtype}",
                own.dtype
            );
        }
    }
    Ok(())
}

/// Checks that a sampler of floating numbers was asked for such.
pub(super) fn check_float(name: &str, dtype: DType) -> Result<()> {
    if dtype.is_float() {
        return Ok(());
    }
    bail!(Value, "dtype argument to `{name}` must be a float dtype, got {dtype}")
}

/// Checks that shapes of parameters broadcast to the shape that is asked for.
pub(super) fn check_shape(name: &str, shape: &[usize], parameters: &[&Val]) -> Result<()> {
    let avals: Vec<_> = parameters.iter().map(|x| x.aval()).collect();
    let shapes: Vec<&[usize]> = std::iter::once(shape).chain(avals.iter().map(|aval| &aval.data().shape[..])).collect();
    let result = broadcast_shapes(&shapes)?;
    if result[..] == *shape {
        return Ok(());
    }
    bail!(
        Value,
        "{name} parameter shapes must be broadcast-compatible with shape argument, and the result of broadcasting the \
         shapes must equal the shape argument, but got result {} for shape argument {}.",
        tuple_text(&result),
        tuple_text(shape)
    )
}

pub(super) fn random_bits(key: &Val, bit_width: u32, shape: &[usize]) -> Result<Val> {
    if unpartitioned::is_asked(key) && matches!(bit_width, 8 | 16 | 32 | 64) {
        return unpartitioned::bits(key, bit_width, shape);
    }
    let params = prims::RandomBits { bit_width, shape: shape.to_vec() };
    prims::RANDOM_BITS.bind_with(params, std::slice::from_ref(key))
}

/// Random bits as unsigned integers, each number equally likely.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: an unsigned dtype; uint32 by default, uint64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not unsigned.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> jax.random.bits(jax.random.key(0), (2,))
///   Array([4070199207, 4202968722], dtype=uint32)
#[public("random.bits(key: Key, shape=(), dtype: UintByDefault=None, *, out_sharding: Sharded=None)")]
pub fn bits(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("bits", key)?;
    if dtype.kind() != pullback_base::dtype::Kind::Unsigned {
        bail!(Value, "dtype argument to `bits` must be an unsigned int dtype, got {dtype}");
    }
    random_bits(&key, dtype.bits(), shape)
}

/// Uniform numbers from `minval` up to but not including `maxval`.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   minval: lower bounds, broadcast to `shape`.
///   maxval: upper bounds, broadcast to `shape`; where they are not above the lower ones, the result is `minval`.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, a size is negative, or bounds do not broadcast.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `minval` and `maxval`.
/// Example:
///   >>> x = jax.random.uniform(jax.random.key(0), (100,), minval=2.0, maxval=3.0)
///   >>> bool(((x >= 2) & (x < 3)).all())
///   True
#[public(
    "random.uniform(key: Key, shape=(), dtype: FloatByDefault=None, minval=0.0, maxval=1.0, *, out_sharding: Sharded=None)"
)]
pub fn uniform(key: &Val, shape: &[usize], dtype: DType, minval: &Val, maxval: &Val) -> Result<Val> {
    let key = checked_key("uniform", key)?;
    check_float("uniform", dtype)?;
    let ins = [key, minval.clone(), maxval.clone()];
    named_jit_one("_uniform", &statics(shape, dtype), &ins, |ins| {
        uniform_between(&ins[0], shape, dtype, &ins[1], &ins[2])
    })
}

/// As [`uniform`], for a typed key, with the bounds given by name: they are operands in the order of their names.
pub(super) fn uniform_by_name(key: &Val, shape: &[usize], dtype: DType, minval: &Val, maxval: &Val) -> Result<Val> {
    let ins = [key.clone(), maxval.clone(), minval.clone()];
    let statics = [statics(shape, dtype), vec![1]].concat();
    named_jit_one("_uniform", &statics, &ins, |ins| uniform_between(&ins[0], shape, dtype, &ins[2], &ins[1]))
}

/// Uniform numbers from 0 to 1.
pub(super) fn uniform_unit(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    uniform(key, shape, dtype, &crate::convert::weak_float(0.0), &crate::convert::weak_float(1.0))
}

fn uniform_between(key: &Val, shape: &[usize], dtype: DType, low: &Val, high: &Val) -> Result<Val> {
    let (low, high) = (to_dtype(low, dtype)?, to_dtype(high, dtype)?);
    let (low, high) = (to_rank(&low, shape.len())?, to_rank(&high, shape.len())?);
    let unit = from_one_to_two(key, shape, dtype)?;
    let unit = lax::sub(&unit, &number(&unit, 1.0))?;
    let width = lax::sub(&high, &low)?;
    let scaled = lax::add(&lax::mul(&unit, &width)?, &low)?;
    let scaled =
        if shape.is_empty() { lax::reshape_always(&scaled, shape) } else { lax::reshape(&scaled, shape, None) }?;
    lax::max(&low, &scaled)
}

/// Random mantissas under the exponent of 1.
fn from_one_to_two(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let (width, mantissa) = (dtype.bits(), mantissa_bits(dtype)?);
    // Short mantissas take no more random bits than they need.
    let drawn = if mantissa < 8 { 8 } else { width };
    let words = to_dtype(&random_bits(key, drawn, shape)?, unsigned(width))?;
    let word = |value: u128| int_literal(unsigned(width), value as i128);
    let mantissas = lax::shift_right_logical(&words, &word((drawn - mantissa).into()))?;
    let floats = lax::bitwise_or(&mantissas, &word(Scalar::one(dtype).to_bits()))?;
    lax::bitcast_convert_type(&floats, dtype)
}

/// How many random bits go into a sample whose small values matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// One word.
    #[default]
    Low,
    /// Two words.
    High,
    /// Two words as one number, both of whose tails are fine.
    Highest,
}

impl Argument for Mode {
    const TYPE: Type = Type { python: "Literal['low', 'high', 'highest']", rust: "Mode" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Mode> {
        Mode::parse(&args.word(at)?)
    }
    fn absent(_default: Constant) -> Mode {
        Mode::Low
    }
}

impl Mode {
    /// From the name that users write.
    ///
    /// # Errors
    /// A `Value` error for another name.
    pub fn parse(name: &str) -> Result<Mode> {
        match name {
            "low" => Ok(Mode::Low),
            "high" => Ok(Mode::High),
            "highest" => Ok(Mode::Highest),
            _ => bail!(Value, "got mode='{name}', expected 'high' or 'low'"),
        }
    }
}

/// Booleans that hold with probability `p`: whether a uniform number is below it.
///
/// Args:
///   key: a key, typed or of two words.
///   p: floating probabilities; from 1 on all hold, up to 0 none.
///   shape: the shape of the result, to which `p` broadcasts; its shape by default.
///   mode: 'low' takes one word for each; 'high' takes two, which matters for tiny probabilities.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: booleans of `shape`.
/// Raises:
///   TypeError: `key` is no key, or `p` is not floating.
///   ValueError: several keys are given, shapes do not go together, or the mode is unknown.
/// Differentiable: no, the result is boolean.
/// Example:
///   >>> jax.random.bernoulli(jax.random.key(0), 1.0, (2,))
///   Array([ True,  True], dtype=bool)
#[public("random.bernoulli(key: Key, p=0.5, shape=None, mode='low', *, out_sharding: Sharded=None)")]
pub fn bernoulli(key: &Val, p: &Val, shape: Option<&[usize]>, mode: Mode) -> Result<Val> {
    let key = checked_key("bernoulli", key)?;
    let dtype = p.aval().dtype;
    if !dtype.is_float() {
        bail!(Type, "bernoulli probability `p` must have a floating dtype, got {dtype}.");
    }
    let p = to_dtype(p, dtype)?;
    if let Some(shape) = shape {
        check_shape("bernoulli", shape, &[&p])?;
    }
    let aval = p.aval();
    let shape = shape.unwrap_or(&aval.data().shape);
    if mode == Mode::Highest {
        bail!(Value, "got mode='highest', expected 'high' or 'low'");
    }
    let statics = [statics(shape, dtype), vec![(mode == Mode::High).into()]].concat();
    named_jit_one("_bernoulli", &statics, &[key, p.clone()], |ins| match mode {
        Mode::Low => less(&uniform_unit(&ins[0], shape, dtype)?, &ins[1]),
        Mode::High | Mode::Highest => bernoulli_high(&ins[0], &ins[1], shape, dtype),
    })
}

fn bernoulli_high(key: &Val, p: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let (coarse, fine) = two_uniforms(&uniform_unit(key, &doubled(shape), dtype)?)?;
    let fine = multiply(&fine, &literal(dtype, epsilon(dtype)?))?;
    less(&fine, &subtract(p, &coarse)?)
}

pub(super) fn doubled(shape: &[usize]) -> Vec<usize> {
    [&[2], shape].concat()
}

pub(super) fn two_uniforms(both: &Val) -> Result<(Val, Val)> {
    let mut parts = lax::unstack(both, 0)?;
    let second = parts.pop().expect("two samples");
    Ok((parts.pop().expect("two samples"), second))
}

/// Uniform integers from `minval` up to but not including `maxval`.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result.
///   minval: lower bounds, broadcast to `shape`.
///   maxval: upper bounds, broadcast to `shape`; where they are not above the lower ones, the result is `minval`.
///   dtype: an integer dtype; int32 by default, int64 with x64. Bounds beyond it are moved into its range.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or the dtype is not of integers.
///   ValueError: several keys are given, or bounds do not broadcast.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> jax.random.randint(jax.random.key(0), (4,), 0, 10)
///   Array([9, 0, 2, 3], dtype=int32)
#[public("random.randint(key: Key, shape, minval, maxval, dtype: IntByDefault=None, *, out_sharding: Sharded=None)")]
pub fn randint(key: &Val, shape: &[usize], minval: &Val, maxval: &Val, dtype: DType) -> Result<Val> {
    let key = checked_key("randint", key)?;
    if !dtype.is_integer() {
        bail!(Type, "randint only accepts integer dtypes, got {dtype}");
    }
    check_shape("randint", shape, &[minval, maxval])?;
    if dtype.bits() >= 32 {
        return randint_words(&key, shape, minval, maxval, dtype);
    }
    let greatest = range(dtype).1;
    let minval = clip_by_name(&to_dtype(minval, DType::I32)?, dtype, greatest)?;
    let maxval = clip_by_name(&to_dtype(maxval, DType::I32)?, dtype, greatest + 1)?;
    to_dtype(&randint_words(&key, shape, &minval, &maxval, DType::I32)?, dtype)
}

/// Least and greatest integer of a dtype.
fn range(dtype: DType) -> (i128, i128) {
    let of = |scalar: Scalar| scalar.number().as_i128();
    (of(Scalar::least(dtype)), of(Scalar::greatest(dtype)))
}

/// Kept from the least value of `dtype` to `greatest`; the bounds are operands in the order of their names.
fn clip_by_name(x: &Val, dtype: DType, greatest: i128) -> Result<Val> {
    let weak = |value: i128| Val::Literal(Scalar::int(DType::I32, value).weak(true));
    named_jit_one("clip", &[-3], &[x.clone(), weak(greatest), weak(range(dtype).0)], |ins| {
        minimum(&ins[1], &maximum(&ins[2], &ins[0])?)
    })
}

fn randint_words(key: &Val, shape: &[usize], minval: &Val, maxval: &Val, dtype: DType) -> Result<Val> {
    let ranked = |bound: &Val| match bound.aval().rank() {
        0 => Ok(bound.clone()),
        _ => crate::broadcast::to_rank(bound, shape.len()),
    };
    let ins = [key.clone(), ranked(minval)?, ranked(maxval)?];
    named_jit_one("_randint", &statics(shape, dtype), &ins, |ins| {
        integers_between(&ins[0], shape, &ins[1], &ins[2], dtype)
    })
}

/// The integer in `dtype`, or the nearest that it has.
fn saturated(x: &Val, dtype: DType) -> Result<Val> {
    let from = x.aval();
    let ((low, high), (to_low, to_high)) = (range(from.dtype), range(dtype));
    let bound = |value: i128| Val::Literal(Scalar::int(from.dtype, value).weak(from.weak_type));
    to_dtype(&clip(x, Some(&bound(low.max(to_low))), Some(&bound(high.min(to_high))))?, dtype)
}

fn as_integer(x: &Val, dtype: DType) -> Result<Val> {
    if x.aval().dtype.is_integer() { Ok(x.clone()) } else { to_dtype(x, dtype) }
}

fn integers_between(key: &Val, shape: &[usize], low: &Val, high: &Val, dtype: DType) -> Result<Val> {
    let (low, high) = (as_integer(low, dtype)?, as_integer(high, dtype)?);
    let greatest = saturated(&int_literal(dtype, range(dtype).1), high.aval().dtype)?;
    let is_beyond = lax::gt(&high, &greatest)?;
    let (low, high) = (saturated(&low, dtype)?, saturated(&high, dtype)?);
    let (low, high) = (to_rank(&low, shape.len())?, to_rank(&high, shape.len())?);
    let (first, second) = two_keys(key)?;
    let first = random_bits(&first, dtype.bits(), shape)?;
    let second = random_bits(&second, dtype.bits(), shape)?;
    let span = span_of(&low, &high, &is_beyond, unsigned(dtype.bits()))?;
    let offset = remainder_of_two_words(&first, &second, &span)?;
    lax::add(&low, &to_dtype(&offset, dtype)?)
}

/// Number of integers from `low` to `high`, at least 1; 0 stands for all.
fn span_of(low: &Val, high: &Val, is_beyond: &Val, dtype: DType) -> Result<Val> {
    let span = to_dtype(&lax::sub(high, low)?, dtype)?;
    let is_empty = lax::le(high, low)?;
    let span = lax::select(&is_empty, &lax::full_like(&span, 1.0)?, &span)?;
    let takes_greatest = lax::bitwise_and(is_beyond, &lax::gt(high, low)?)?;
    let one_more = lax::add(&span, &number(&span, 1.0))?;
    lax::select(&takes_greatest, &one_more, &span)
}

/// `(first * 2**n + second) % span` for words of `n` bits, computed without wider words.
fn remainder_of_two_words(first: &Val, second: &Val, span: &Val) -> Result<Val> {
    let dtype = span.aval().dtype;
    let half = int_literal(dtype, 1i128 << (dtype.bits() / 2));
    let half = lax::rem(&half, span)?;
    let whole = lax::rem(&lax::mul(&half, &half)?, span)?;
    let high = lax::mul(&lax::rem(first, span)?, &whole)?;
    lax::rem(&lax::add(&high, &lax::rem(second, span)?)?, span)
}
