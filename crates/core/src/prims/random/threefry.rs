//! The threefry-2x32 function, on numbers and as a formula of the loop IR.

use pullback_loops::{Builder, ValueId};

use super::words::threefry;
use crate::prims::elementwise::formula::Formula;

/// Two words of bits from the two words of a key and of a counter.
pub fn threefry2x32(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    threefry(key, counter)
}

/// The same as a formula.
pub(super) fn threefry_formula(loops: &mut Builder, key: [ValueId; 2], counter: [ValueId; 2]) -> [ValueId; 2] {
    let formula = Formula::new(loops);
    let [key, counter] = [key, counter].map(|words| words.map(|word| formula.term(word)));
    threefry(key, counter).map(|word| word.id())
}
