//! Primitives of random numbers: keys, and bits that follow from them.
//!
//! A key is two 32-bit words of the threefry generator. Bits are a function of key and position alone, so an array of
//! them can be made in any order or in part. What distributions make of bits is not here.

mod random_bits;
mod random_clone;
mod random_fold_in;
mod random_seed;
mod random_split;
mod random_unwrap;
mod random_wrap;
pub mod threefry;

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{ElementCx, Index};
use pullback_ir::{ParamField, ParamValue};
use pullback_loops::{Binary, ValueId};

pub use random_bits::{RANDOM_BITS, RandomBits};
pub use random_clone::RANDOM_CLONE;
pub use random_fold_in::RANDOM_FOLD_IN;
pub use random_seed::{RANDOM_SEED, RandomSeed};
pub use random_split::{RANDOM_SPLIT, RandomSplit};
pub use random_unwrap::RANDOM_UNWRAP;
pub use random_wrap::{RANDOM_WRAP, RandomWrap};

/// Which generator a key is for; prints as its tag.
// One byte, though there is one: erased params take structs without any bytes for none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum KeyKind {
    /// `fry`: threefry with two words.
    Threefry,
}

impl ParamField for KeyKind {
    fn to_value(&self) -> ParamValue {
        match self {
            KeyKind::Threefry => ParamValue::Name("fry".into()),
        }
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        (*value == ParamValue::Name("fry".into())).then_some(KeyKind::Threefry)
    }
}

fn check_key(name: &str, keys: Aval) -> Result<()> {
    if keys.dtype == DType::KeyFry {
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
