//! Keys of four words: what they do in terms of pairs of threefry keys and of the device's generator.
//!
//! `rbg` splits and folds its two halves by threefry; `unsafe_rbg` draws new keys from the device's generator. Both draw
//! bits there, for all keys of an array at once with the first of them.

use pullback_base::{Aval, DType, Result};
use pullback_ir::{Emit, Params, PrimRef, Val};

use super::rng_bit_generator::philox_bits;
use super::{
    KeyKind, RANDOM_BITS, RANDOM_FOLD_IN, RANDOM_SEED, RANDOM_SPLIT, RANDOM_UNWRAP, RANDOM_WRAP, RNG_BIT_GENERATOR,
    RandomBits, RandomSeed, RandomSplit, RandomWrap, RngAlgorithm, RngBitGenerator, blocks,
};
use crate::prims::{V, zeros};

/// Of this many draws of `unsafe_rbg` one becomes a key.
const DRAWS_PER_KEY: usize = 10;

fn wrap<'e>(words: &V<'e>, kind: KeyKind) -> V<'e> {
    words.bind(RANDOM_WRAP, &Params::new(RandomWrap { kind }), &[])
}

fn unwrap<'e>(keys: &V<'e>) -> V<'e> {
    keys.bind(RANDOM_UNWRAP, &Params::NONE, &[])
}

/// The key of a seed. Of `rbg` and its kin both halves are the threefry key of the seed.
pub(super) fn seed(kind: KeyKind, e: &dyn Emit, seeds: &Val) -> Result<Val> {
    if blocks::is_of_blocks(kind) {
        return blocks::seed(kind, e, seeds);
    }
    let fry = Params::new(RandomSeed { kind: KeyKind::Threefry });
    let half = unwrap(&V::new(e, seeds).bind(RANDOM_SEED, &fry, &[]));
    wrap(&half.concatenate(&[&half], half.aval().rank() - 1), kind).done()
}

/// What a primitive of threefry keys does to the two halves of each key.
fn by_halves(e: &dyn Emit, keys: &Val, others: &[Val], prim: PrimRef, params: &Params) -> Result<Val> {
    let kind = KeyKind::of(keys.aval())?;
    let words = unwrap(&V::new(e, keys));
    let last = words.aval().rank() - 1;
    let of_half = |half: usize| -> Result<V<'_>> {
        let half = wrap(&words.slice_axis(last, 2 * half, 2 * half + 2, 1), KeyKind::Threefry).done()?;
        let made = e.bind(prim, params, &[std::slice::from_ref(&half), others].concat())?;
        Ok(unwrap(&V::new(e, &made[0])))
    };
    let (low, high) = (of_half(0)?, of_half(1)?);
    wrap(&low.concatenate(&[&high], low.aval().rank() - 1), kind).done()
}

/// An array of `shape` of the device's bits, drawn with the first of the keys.
fn drawn<'e>(e: &'e dyn Emit, words: &V<'e>, shape: &[usize], dtype: DType) -> Result<V<'e>> {
    let n_keys = words.aval().size() / 4;
    if n_keys == 0 {
        return Ok(V::new(e, &zeros(e, Aval::new(shape, dtype))?));
    }
    let first = words.reshape(&[n_keys, 4]).index_in_dim(0, 0).done()?;
    let params = RngBitGenerator { algorithm: RngAlgorithm::Default, dtype, out_sharding: None, shape: shape.to_vec() };
    let made = e.bind(RNG_BIT_GENERATOR, &Params::new(params), &[first])?;
    Ok(V::new(e, &made[1]))
}

/// For each key an array of `shape` of new ones.
pub(super) fn split(e: &dyn Emit, keys: &Val, shape: &[usize]) -> Result<Val> {
    match KeyKind::of(keys.aval())? {
        KeyKind::Threefry | KeyKind::Rbg => {
            by_halves(e, keys, &[], RANDOM_SPLIT, &Params::new(RandomSplit { shape: shape.to_vec() }))
        }
        KeyKind::Philox2 | KeyKind::Philox4 | KeyKind::Threefry4 => blocks::split(e, keys, shape),
        kind @ KeyKind::UnsafeRbg => {
            let lead = keys.aval().shape.to_vec();
            let n_keys: usize = shape.iter().product();
            let draws = [&lead[..], &[DRAWS_PER_KEY * n_keys, 4]].concat();
            let words = drawn(e, &unwrap(&V::new(e, keys)), &draws, DType::U32)?;
            thinned(&words, lead.len(), &[&lead[..], shape].concat(), kind)
        }
    }
}

/// Every tenth of the draws along an axis, as keys of `shape`.
fn thinned(words: &V<'_>, axis: usize, shape: &[usize], kind: KeyKind) -> Result<Val> {
    let kept = words.slice_axis(axis, 0, words.aval().shape[axis], DRAWS_PER_KEY);
    wrap(&kept.reshape(&[shape, &[4]].concat()), kind).done()
}

/// A new key of each key and number.
pub(super) fn fold_in(e: &dyn Emit, keys: &Val, numbers: &Val) -> Result<Val> {
    match KeyKind::of(keys.aval())? {
        KeyKind::Threefry | KeyKind::Rbg => {
            by_halves(e, keys, std::slice::from_ref(numbers), RANDOM_FOLD_IN, &Params::NONE)
        }
        KeyKind::Philox2 | KeyKind::Philox4 | KeyKind::Threefry4 => blocks::fold_in(e, keys, numbers),
        kind @ KeyKind::UnsafeRbg => {
            let seeds = unwrap(&V::new(e, &seed(KeyKind::Rbg, e, numbers)?));
            let lead = numbers.aval().shape.to_vec();
            let draws = drawn(e, &seeds, &[&lead[..], &[DRAWS_PER_KEY, 4]].concat(), DType::U32)?;
            let last = draws.index_in_dim(DRAWS_PER_KEY - 1, lead.len());
            let words = unwrap(&V::new(e, keys));
            let shape = crate::prims::broadcast_shapes("random_fold_in", &[keys.aval(), numbers.aval()])?;
            let shape = [&shape[..], &[4]].concat();
            wrap(&words.broadcast_to(&shape).xor(&last.broadcast_to(&shape)), kind).done()
        }
    }
}

/// For each key an array of `shape` of bits; of all of them the first key draws.
pub(super) fn bits(e: &dyn Emit, keys: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    if blocks::is_of_blocks(KeyKind::of(keys.aval())?) {
        return blocks::bits(e, keys, shape, dtype);
    }
    let whole = [&keys.aval().shape[..], shape].concat();
    drawn(e, &unwrap(&V::new(e, keys)), &whole, dtype)?.done()
}

/// A word of `bit_width` bits of each key, as one key after the other draws them.
///
/// # Errors
/// What the emitter raises.
pub(crate) fn own_bits<'e>(keys: &V<'e>, bit_width: u32) -> Result<V<'e>> {
    let params = RandomBits { bit_width, shape: vec![] };
    match KeyKind::of(keys.aval())? {
        KeyKind::Threefry | KeyKind::Philox2 | KeyKind::Philox4 | KeyKind::Threefry4 => {
            Ok(keys.bind(RANDOM_BITS, &Params::new(params), &[]))
        }
        KeyKind::Rbg | KeyKind::UnsafeRbg => Ok(philox_bits(&unwrap(keys), &[], params.dtype()?)?.1),
    }
}

/// As splits of one key after the other: each draws its own.
///
/// # Errors
/// What the emitter raises.
pub(crate) fn own_split(keys: &V<'_>, n: usize) -> Result<Val> {
    let aval = keys.aval();
    match KeyKind::of(aval)? {
        KeyKind::Threefry | KeyKind::Rbg | KeyKind::Philox2 | KeyKind::Philox4 | KeyKind::Threefry4 => {
            keys.bind(RANDOM_SPLIT, &Params::new(RandomSplit { shape: vec![n] }), &[]).done()
        }
        kind @ KeyKind::UnsafeRbg => {
            let words = philox_bits(&unwrap(keys), &[DRAWS_PER_KEY * n, 4], DType::U32)?.1;
            thinned(&words, aval.rank(), &[&aval.shape[..], &[n]].concat(), kind)
        }
    }
}
