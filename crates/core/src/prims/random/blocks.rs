//! Keys of generators that make a block of words of a key and a counter, for all of their use.
//!
//! Counter words of keys that are made lie behind those of bits, so that the two never meet; with two words in a block there
//! is no room for that.

use pullback_base::{DType, Result};
use pullback_ir::{Emit, Params, Val};

use super::words::{constant, philox, philox_pair, threefry_four};
use super::{KeyKind, RANDOM_UNWRAP, RANDOM_WRAP, RandomWrap};
use crate::prims::{V, iota};

/// What a block is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Keys,
    Bits,
}

/// Whether all that these keys do is said here.
pub(super) fn is_of_blocks(kind: KeyKind) -> bool {
    matches!(kind, KeyKind::Philox2 | KeyKind::Philox4 | KeyKind::Threefry4)
}

/// The words of a block: of a key's words and the high and low word of a counter, all of one shape.
fn block<'e>(kind: KeyKind, key: &[V<'e>], [high, low]: [V<'e>; 2], made_for: Use) -> Vec<V<'e>> {
    let zero = || low.xor(&low);
    let counter = || match made_for {
        Use::Keys => [zero(), zero(), high.clone(), low.clone()],
        Use::Bits => [high.clone(), low.clone(), zero(), zero()],
    };
    match kind {
        KeyKind::Philox2 => philox_pair(key[0].clone(), [high, low]).to_vec(),
        KeyKind::Philox4 => philox([key[0].clone(), key[1].clone()], counter()).to_vec(),
        KeyKind::Threefry4 => threefry_four(&std::array::from_fn(|word| key[word].clone()), counter()).to_vec(),
        KeyKind::Threefry | KeyKind::Rbg | KeyKind::UnsafeRbg => unreachable!("these have rules of their own"),
    }
}

/// The words along the last axis, as arrays of `shape`, whose first axes are those of the keys.
fn words_of<'e>(e: &'e dyn Emit, keys: &Val, shape: &[usize]) -> Vec<V<'e>> {
    let words = V::new(e, keys).bind(RANDOM_UNWRAP, &Params::NONE, &[]);
    let n_words = *words.aval().shape.last().expect("an axis of words");
    let lead = keys.aval().shape.to_vec();
    let ones = [&lead[..], &vec![1; shape.len() - lead.len()]].concat();
    (0..n_words).map(|at| words.index_in_dim(at, lead.len()).reshape(&ones).broadcast_to(shape)).collect()
}

/// Keys of their first words.
fn keys_of(kind: KeyKind, words: &[V<'_>]) -> Result<Val> {
    let last = words[0].aval().rank();
    let words: Vec<V<'_>> = words[..kind.n_words()].iter().map(|word| word.expand_dims(&[last])).collect();
    let others: Vec<&V<'_>> = words[1..].iter().collect();
    let all = if others.is_empty() { words[0].clone() } else { words[0].concatenate(&others, last) };
    all.bind(RANDOM_WRAP, &Params::new(RandomWrap { kind }), &[]).done()
}

/// High and low word of numbers; numbers of few bits have no high word.
fn halves<'e>(numbers: &V<'e>) -> [V<'e>; 2] {
    let (dtype, low) = (numbers.aval().dtype, numbers.convert(DType::U32));
    if dtype.bits() <= 32 {
        return [low.xor(&low), low];
    }
    [numbers.shift_right_logical(&constant(numbers, dtype, 32)).convert(DType::U32), low]
}

/// The row-major numbers of the axes of `shape`, for each of the leading axes.
fn counters<'e>(e: &'e dyn Emit, lead: &[usize], shape: &[usize]) -> Result<[V<'e>; 2]> {
    let numbers = iota(e, DType::U64, &[shape.iter().product()], 0)?;
    let whole = [lead, shape].concat();
    let ones = [&vec![1; lead.len()], shape].concat();
    Ok(halves(&numbers).map(|half| half.reshape(&ones).broadcast_to(&whole)))
}

/// The key of a seed: a block of its two words, under the key 0 where the seed is the counter.
pub(super) fn seed(kind: KeyKind, e: &dyn Emit, seeds: &Val) -> Result<Val> {
    let [high, low] = halves(&V::new(e, seeds));
    let zero = || low.xor(&low);
    let words = if kind == KeyKind::Threefry4 {
        block(kind, &[high, low.clone(), zero(), zero()], [zero(), zero()], Use::Keys)
    } else {
        block(kind, &[zero(), zero()], [high, low.clone()], Use::Bits)
    };
    keys_of(kind, &words)
}

/// For each key an array of `shape` of new ones.
pub(super) fn split(e: &dyn Emit, keys: &Val, shape: &[usize]) -> Result<Val> {
    let kind = KeyKind::of(keys.aval())?;
    let lead = keys.aval().shape.to_vec();
    let counters = counters(e, &lead, shape)?;
    keys_of(kind, &block(kind, &words_of(e, keys, &[&lead[..], shape].concat()), counters, Use::Keys))
}

/// A new key of each key and number.
pub(super) fn fold_in(e: &dyn Emit, keys: &Val, numbers: &Val) -> Result<Val> {
    let kind = KeyKind::of(keys.aval())?;
    let shape = crate::prims::broadcast_shapes("random_fold_in", &[keys.aval(), numbers.aval()])?;
    let rank = keys.aval().rank();
    let counters = halves(&V::new(e, numbers)).map(|half| half.broadcast_to(&shape));
    let words: Vec<V<'_>> = if rank == shape.len() || rank == 0 {
        words_of(e, keys, &keys.aval().shape).iter().map(|word| word.broadcast_to(&shape)).collect()
    } else {
        words_of(e, keys, &shape)
    };
    keys_of(kind, &block(kind, &words, counters, Use::Keys))
}

/// For each key an array of `shape` of bits: the exclusive or of a block, or 64 of its first two words.
pub(super) fn bits(e: &dyn Emit, keys: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let kind = KeyKind::of(keys.aval())?;
    let lead = keys.aval().shape.to_vec();
    let counters = counters(e, &lead, shape)?;
    let words = block(kind, &words_of(e, keys, &[&lead[..], shape].concat()), counters, Use::Bits);
    if dtype != DType::U64 {
        return words[1..].iter().fold(words[0].clone(), |all, word| all.xor(word)).convert(dtype).done();
    }
    let [high, low] = if kind == KeyKind::Threefry4 {
        [words[0].xor(&words[2]), words[1].xor(&words[3])]
    } else {
        [words[0].clone(), words[1].clone()]
    };
    let high = high.convert(DType::U64).shift_left(&constant(&high, DType::U64, 32));
    low.convert(DType::U64).or(&high).done()
}
