//! The threefry-2x32 function, on numbers and as a formula of the loop IR.
//!
//! Twenty rounds of add, rotate and exclusive or; the key is added before the first and after every fourth.

use pullback_base::DType;
use pullback_loops::{Builder, ValueId};

use crate::prims::elementwise::formula::{Formula, Term};

/// Rotations of a group of four rounds; odd groups take the second four.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
/// The third word of the key is the exclusive or of this and the two others.
const PARITY: u32 = 0x1BD1_1BDA;

/// Two words of bits from the two words of a key and of a counter.
pub fn threefry2x32(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    let words = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let [mut a, mut b] = [counter[0].wrapping_add(words[0]), counter[1].wrapping_add(words[1])];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(rotation) ^ a;
        }
        a = a.wrapping_add(words[(group + 1) % 3]);
        b = b.wrapping_add(words[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [a, b]
}

/// The same as a formula.
pub(super) fn threefry_formula(loops: &mut Builder, key: [ValueId; 2], counter: [ValueId; 2]) -> [ValueId; 2] {
    let formula = Formula::new(loops);
    let [k0, k1] = key.map(|word| formula.term(word));
    let words = [k0, k1, k0 ^ k1 ^ formula.int(DType::U32, PARITY.into())];
    let [mut a, mut b] = [formula.term(counter[0]) + k0, formula.term(counter[1]) + k1];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            a = a + b;
            b = rotated(b, rotation) ^ a;
        }
        a = a + words[(group + 1) % 3];
        b = b + words[(group + 2) % 3] + b.int(group as i128 + 1);
    }
    [a.id(), b.id()]
}

fn rotated(word: Term<'_>, by: u32) -> Term<'_> {
    word.shifted_up(by.into()) | word.shifted_down((32 - by).into())
}

#[cfg(test)]
mod tests {
    use super::threefry2x32;

    /// Known answers of the generator, and of keys made from key 0.
    #[test]
    fn known_answers() {
        let check = |key, counter, expect: [u32; 2]| assert_eq!(threefry2x32(key, counter), expect);
        check([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]);
        check([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]);
        check([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]);
        check([0, 0], [0, 0], [1_797_259_609, 2_579_123_966]);
        check([0, 0], [0, 1], [928_981_903, 3_453_687_069]);
        check([0, 0], [0, 2], [4_146_024_105, 2_718_843_009]);
    }

    #[test]
    fn bits_are_the_exclusive_or_of_both_words() {
        let bits = |counter| threefry2x32([0, 0], [0, counter]).into_iter().fold(0, |a, b| a ^ b);
        assert_eq!([bits(0), bits(1)], [4_070_199_207, 4_202_968_722]);
    }
}
