//! Counter-based generators over any kind of 32-bit word: numbers, terms of the loop IR, arrays.
//!
//! Threefry-2x32 with twenty rounds and Philox-4x32 with ten, of Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3" (SC 2011). How counters are numbered, and what is made of the words, is not here.

use pullback_base::{DType, Scalar};
use pullback_ir::Val;

use crate::prims::V;
use crate::prims::elementwise::formula::Term;

/// Arithmetic of 32-bit words.
pub(super) trait Word: Clone {
    /// The sum, wrapped.
    fn plus(&self, other: &Self) -> Self;
    /// The sum with a constant, wrapped.
    fn plus_constant(&self, constant: u32) -> Self;
    /// Exclusive or.
    fn xor(&self, other: &Self) -> Self;
    /// Exclusive or with a constant.
    fn xor_constant(&self, constant: u32) -> Self;
    /// Rotated up, by 1 to 31 bits.
    fn rotated(&self, by: u32) -> Self;
}

/// Words that have wide products.
pub(super) trait WideWord: Word {
    /// High and low word of the product with a constant.
    fn times(&self, constant: u32) -> [Self; 2];
}

/// Rotations of a group of four rounds of threefry; odd groups take the second four.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
/// The third word of threefry's key is the exclusive or of this and the two others.
const PARITY: u32 = 0x1BD1_1BDA;

/// Twenty rounds of add, rotate and exclusive or; the key is added before the first and after every fourth.
pub(super) fn threefry<W: Word>([k0, k1]: [W; 2], [c0, c1]: [W; 2]) -> [W; 2] {
    let key = [k0.clone(), k1.clone(), k0.xor(&k1).xor_constant(PARITY)];
    let [mut a, mut b] = [c0.plus(&k0), c1.plus(&k1)];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            a = a.plus(&b);
            b = b.rotated(rotation).xor(&a);
        }
        a = a.plus(&key[(group + 1) % 3]);
        b = b.plus(&key[(group + 2) % 3]).plus_constant(group as u32 + 1);
    }
    [a, b]
}

/// Multipliers of philox's two halves.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What is added to the words of philox's key after each round: the golden ratio and the square root of 3 less 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Ten rounds of wide products and exclusive or, with a key that moves on after each.
pub(super) fn philox<W: WideWord>([mut k0, mut k1]: [W; 2], mut counter: [W; 4]) -> [W; 4] {
    for _ in 0..10 {
        let [c0, c1, c2, c3] = counter;
        let [[high0, low0], [high1, low1]] = [c0.times(MULTIPLIERS[0]), c2.times(MULTIPLIERS[1])];
        counter = [high1.xor(&c1).xor(&k0), low1, high0.xor(&c3).xor(&k1), low0];
        (k0, k1) = (k0.plus_constant(WEYL[0]), k1.plus_constant(WEYL[1]));
    }
    counter
}

/// Ten rounds of philox with two words and one word of key.
pub(super) fn philox_pair<W: WideWord>(mut key: W, [mut c0, mut c1]: [W; 2]) -> [W; 2] {
    for _ in 0..10 {
        let [high, low] = c0.times(0xD256_D193);
        (c0, c1) = (high.xor(&c1).xor(&key), low);
        key = key.plus_constant(WEYL[0]);
    }
    [c0, c1]
}

/// Rotations of the two pairs of words in a round of threefry with four words; they repeat after eight rounds.
const ROTATION_PAIRS: [[u32; 2]; 8] = [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]];

/// Twenty rounds on four words: in each one word of two is added to the other, rotated and mixed. Odd rounds cross the
/// pairs, and the key is added before the first round and after every fourth.
pub(super) fn threefry_four<W: Word>(key: &[W; 4], counter: [W; 4]) -> [W; 4] {
    let parity = key[1..].iter().fold(key[0].clone(), |all, word| all.xor(word)).xor_constant(PARITY);
    let key = |at: usize| if at % 5 == 4 { &parity } else { &key[at % 5] };
    let mut words: [W; 4] = std::array::from_fn(|i| counter[i].plus(key(i)));
    for round in 0..20 {
        let partners = if round % 2 == 0 { [1, 3] } else { [3, 1] };
        for (half, partner) in partners.into_iter().enumerate() {
            words[2 * half] = words[2 * half].plus(&words[partner]);
            words[partner] = words[partner].rotated(ROTATION_PAIRS[round % 8][half]).xor(&words[2 * half]);
        }
        if round % 4 == 3 {
            let group = round / 4 + 1;
            words = std::array::from_fn(|i| words[i].plus(key(group + i)));
            words[3] = words[3].plus_constant(group as u32);
        }
    }
    words
}

impl Word for u32 {
    fn plus(&self, other: &u32) -> u32 {
        self.wrapping_add(*other)
    }

    fn plus_constant(&self, constant: u32) -> u32 {
        self.wrapping_add(constant)
    }

    fn xor(&self, other: &u32) -> u32 {
        self ^ other
    }

    fn xor_constant(&self, constant: u32) -> u32 {
        self ^ constant
    }

    fn rotated(&self, by: u32) -> u32 {
        self.rotate_left(by)
    }
}

impl WideWord for u32 {
    fn times(&self, constant: u32) -> [u32; 2] {
        let product = u64::from(*self) * u64::from(constant);
        [(product >> 32) as u32, product as u32]
    }
}

impl Word for Term<'_> {
    fn plus(&self, other: &Self) -> Self {
        *self + *other
    }

    fn plus_constant(&self, constant: u32) -> Self {
        *self + self.int(constant.into())
    }

    fn xor(&self, other: &Self) -> Self {
        *self ^ *other
    }

    fn xor_constant(&self, constant: u32) -> Self {
        *self ^ self.int(constant.into())
    }

    fn rotated(&self, by: u32) -> Self {
        self.shifted_up(by.into()) | self.shifted_down((32 - by).into())
    }
}

/// An unsigned constant beside an array.
pub(super) fn constant<'e>(x: &V<'e>, dtype: DType, value: u64) -> V<'e> {
    V::new(x.emit(), &Val::Literal(Scalar::int(dtype, value.into())))
}

impl Word for V<'_> {
    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn plus_constant(&self, value: u32) -> Self {
        self + constant(self, DType::U32, value.into())
    }

    fn xor(&self, other: &Self) -> Self {
        V::xor(self, other)
    }

    fn xor_constant(&self, value: u32) -> Self {
        V::xor(self, &constant(self, DType::U32, value.into()))
    }

    fn rotated(&self, by: u32) -> Self {
        let [up, down] = [by, 32 - by].map(|by| constant(self, DType::U32, by.into()));
        self.shift_left(&up).or(&self.shift_right_logical(&down))
    }
}

impl WideWord for V<'_> {
    fn times(&self, value: u32) -> [Self; 2] {
        let product = self.convert(DType::U64) * constant(self, DType::U64, value.into());
        let high = product.shift_right_logical(&constant(self, DType::U64, 32));
        [high.convert(DType::U32), product.convert(DType::U32)]
    }
}

#[cfg(test)]
mod tests {
    use super::{philox, philox_pair, threefry, threefry_four};

    /// Known answers of the generator, and of keys made from key 0.
    #[test]
    fn known_answers_of_threefry() {
        let check = |key, counter, expect: [u32; 2]| assert_eq!(threefry(key, counter), expect);
        check([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]);
        check([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]);
        check([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]);
        check([0, 0], [0, 0], [1_797_259_609, 2_579_123_966]);
        check([0, 0], [0, 1], [928_981_903, 3_453_687_069]);
        check([0, 0], [0, 2], [4_146_024_105, 2_718_843_009]);
    }

    #[test]
    fn bits_are_the_exclusive_or_of_both_words() {
        let bits = |counter| threefry([0, 0], [0, counter]).into_iter().fold(0, |a: u32, b| a ^ b);
        assert_eq!([bits(0), bits(1)], [4_070_199_207, 4_202_968_722]);
    }

    /// Known answers of the generator, and the first block of state `[1, 2, 3, 4]`.
    #[test]
    fn known_answers_of_philox() {
        let check = |key, counter, expect: [u32; 4]| assert_eq!(philox(key, counter), expect);
        check([0, 0], [0; 4], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        check([u32::MAX; 2], [u32::MAX; 4], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        check([1, 2], [3, 4, 1, 2], [512_747_620, 1_298_009_047, 1_267_190_206, 761_827_841]);
    }

    /// Known answers of the generators with other blocks.
    #[test]
    fn known_answers_of_other_blocks() {
        assert_eq!(philox_pair(0, [0, 0]), [0xff1d_ae59, 0x6cd1_0df2]);
        assert_eq!(threefry_four(&[0; 4], [0; 4]), [0x9c6c_a96a, 0xe17e_ae66, 0xfc10_ecd4, 0x5256_a7d8]);
    }
}
