//! Primitives of random numbers: keys, and bits that follow from them.
//!
//! A key is two 32-bit words of the threefry generator, four of the device's own, or one, two or four of other generators. Bits are a function of key and
//! position alone, so an array of them can be made in any order or in part. What distributions make of bits is not here.

mod blocks;
mod random_bits;
mod random_clone;
mod random_fold_in;
mod random_seed;
mod random_split;
mod random_unwrap;
mod random_wrap;
pub(crate) mod rbg;
mod rng_bit_generator;
pub mod threefry;
mod words;

use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::lower::{Elem, ElementCx, Index};
use pullback_ir::{ParamField, ParamValue, Params};
use pullback_loops::{Binary, Builder, ValueId};
use smallvec::smallvec;

pub use random_bits::{RANDOM_BITS, RandomBits};
pub use random_clone::RANDOM_CLONE;
pub use random_fold_in::RANDOM_FOLD_IN;
pub use random_seed::{RANDOM_SEED, RandomSeed};
pub use random_split::{RANDOM_SPLIT, RandomSplit};
pub use random_unwrap::RANDOM_UNWRAP;
pub use random_wrap::{RANDOM_WRAP, RandomWrap};
pub use rng_bit_generator::{RNG_BIT_GENERATOR, RngAlgorithm, RngBitGenerator};

/// Which generator a key is for; prints as its tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum KeyKind {
    /// `fry`: threefry with two words.
    Threefry,
    /// `rbg`: four words; threefry makes keys, the device's generator bits.
    Rbg,
    /// `urbg`: four words; the device's generator makes keys and bits.
    UnsafeRbg,
    /// `phx2`: philox with one word, and blocks of two.
    Philox2,
    /// `phx4`: philox with two words, and blocks of four.
    Philox4,
    /// `fry4`: threefry with four words, and blocks of four.
    Threefry4,
}

const KINDS: [(KeyKind, &str, DType, usize); 6] = [
    (KeyKind::Threefry, "fry", DType::KeyFry, 2),
    (KeyKind::Rbg, "rbg", DType::KeyRbg, 4),
    (KeyKind::UnsafeRbg, "urbg", DType::KeyUnsafeRbg, 4),
    (KeyKind::Philox2, "phx2", DType::KeyPhilox2, 1),
    (KeyKind::Philox4, "phx4", DType::KeyPhilox4, 2),
    (KeyKind::Threefry4, "fry4", DType::KeyFry4, 4),
];

impl KeyKind {
    /// The element type of such keys.
    pub fn dtype(self) -> DType {
        KINDS[self as usize].2
    }

    /// Words of a key.
    pub fn n_words(self) -> usize {
        KINDS[self as usize].3
    }

    /// The kind of keys of a type.
    ///
    /// # Errors
    /// A `Type` error for what is no key.
    pub fn of(aval: Aval) -> Result<KeyKind> {
        match KINDS.iter().find(|(_, _, dtype, _)| *dtype == aval.dtype) {
            Some((kind, ..)) => Ok(*kind),
            None => bail!(Type, "expected a PRNG key array, got {aval}"),
        }
    }
}

impl ParamField for KeyKind {
    fn to_value(&self) -> ParamValue {
        ParamValue::Name(KINDS[*self as usize].1.into())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        KINDS.iter().find(|(_, tag, ..)| *value == ParamValue::Name((*tag).into())).map(|(kind, ..)| *kind)
    }
}

fn check_key(name: &str, keys: Aval) -> Result<()> {
    if keys.dtype.is_key() {
        return Ok(());
    }
    bail!(Type, "{name} requires PRNG key array, got {keys}")
}

/// The row-major number of the last axes of an index, as two words: high and low.
fn counter(cx: &mut dyn ElementCx, index: &[Index], shape: &[usize]) -> [ValueId; 2] {
    let loops = cx.loops();
    let mut number = Index::constant(0);
    for (index, &size) in index.iter().zip(shape) {
        number = number.times(size as i64, loops).plus(index, loops);
    }
    let number = number.value(loops);
    let width = loops.int(32);
    let high = loops.binary(Binary::ShiftRightLogical, number, width);
    [loops.convert(DType::U32, high), loops.convert(DType::U32, number)]
}

/// 64 bits of a low and a high word.
fn joined_words(loops: &mut Builder, low: ValueId, high: ValueId) -> ValueId {
    let (high, low) = (loops.convert(DType::U64, high), loops.convert(DType::U64, low));
    let width = loops.constant(Scalar::int(DType::U64, 32));
    let high = loops.binary(Binary::ShiftLeft, high, width);
    loops.binary(Binary::Or, high, low)
}

/// Keys as their words, or words as keys. Keys of four words are an array of words with one axis more.
fn recast_hlo(cx: &mut dyn HloCx, x: HloValue, out: Aval) -> HloValue {
    let is = |dtype| [x.aval.dtype, out.dtype].contains(&dtype);
    match () {
        () if is(DType::KeyFry) || is(DType::KeyPhilox4) => cx.bitcast(x, &out.shape, out.dtype),
        () if is(DType::KeyPhilox2) => {
            let wide = cx.convert(x, out.dtype);
            cx.reshape(wide, &out.shape)
        }
        () => HloValue { aval: out, ..x },
    }
}

/// For each key an array of `shape` of what threefry makes of the positions, as keys: first word, second word.
fn threefry_hlo(cx: &mut dyn HloCx, keys: HloValue, shape: &[usize]) -> Result<HloValue> {
    let rank = keys.aval.rank();
    let whole: Vec<usize> = [&keys.aval.shape[..], shape].concat();
    let counters = cx.iota(&[shape.iter().product()], DType::U64, 0);
    let counters = cx.reshape(counters, shape);
    let counters = if rank == 0 {
        counters
    } else {
        cx.broadcast_in_dim(counters, &(rank..whole.len()).collect::<Vec<_>>(), &whole)
    };
    let key_axes: Vec<usize> = (0..rank).collect();
    let out = Aval::new(&whole, DType::KeyFry);
    let mut body = |cx: &mut dyn HloCx, ins: &[HloValue]| -> Result<HloValues> {
        let keys =
            if ins[0].aval.shape[..] == whole[..] { ins[0] } else { cx.broadcast_in_dim(ins[0], &key_axes, &whole) };
        Ok(smallvec![cx.elementwise(&threefry_of_counter, &[keys, ins[1]], out)?])
    };
    Ok(cx.outline("threefry2x32", &Params::NONE, &[keys, counters], &mut body)?[0])
}

/// One key and one 64-bit counter.
fn threefry_of_counter(loops: &mut Builder, ins: &[Elem]) -> Elem {
    let (Elem::Two(k0, k1), Elem::One(counter)) = (ins[0], ins[1]) else { panic!("a key and a number") };
    let width = loops.constant(Scalar::int(DType::U64, 32));
    let high = loops.binary(Binary::ShiftRightLogical, counter, width);
    let words = [loops.convert(DType::U32, high), loops.convert(DType::U32, counter)];
    let [first, second] = threefry::threefry_formula(loops, [k0, k1], words);
    Elem::Two(first, second)
}
