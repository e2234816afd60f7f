//! Random arrays from keys: the same key and shape give the same numbers, bit for bit those of `jax.random`.
//!
//! A [`Key`] is neither `Copy` nor `Clone`, and what draws from it takes it: using a key twice does not compile.

use pullback_base::{DType, Scalar};
use pullback_ir::Val;
use pullback_lib::random;

use crate::array::Array;
pub use crate::library::random::*;

/// A source of randomness that can be used once.
pub struct Key(Array);

impl Key {
    /// The key of a number.
    ///
    /// # Panics
    /// If the key cannot be made, which no number causes.
    pub fn seed(seed: i64) -> Key {
        let val = random::seed_of_int(seed.into()).and_then(|seed| random::key(&seed, &random::Generator::default()));
        Key(Array::wrap(val, false))
    }

    /// Two independent keys.
    pub fn split(self) -> [Key; 2] {
        self.split_n()
    }

    /// Independent keys.
    pub fn split_n<const N: usize>(self) -> [Key; N] {
        let keys = self.0.unary(|key| random::split(key, &[N as i64]));
        std::array::from_fn(|i| Key(keys.rows(i as i64, i as i64 + 1).reshape(&[])))
    }

    /// Normal deviates of `float32` with mean 0 and deviation 1.
    #[track_caller]
    #[must_use]
    pub fn normal(self, shape: &[usize]) -> Array {
        self.0.unary(|key| random::normal(key, shape, DType::F32))
    }

    /// Deviates of `float32`, uniform in `[low, high)`.
    #[track_caller]
    #[must_use]
    pub fn uniform(self, shape: &[usize], low: f64, high: f64) -> Array {
        let [low, high] = [low, high].map(|end| Val::Literal(Scalar::float(DType::F32, end)));
        self.0.unary(|key| random::uniform(key, shape, DType::F32, &low, &high))
    }

    /// `0 … n - 1` as `int32` in random order.
    #[track_caller]
    #[must_use]
    pub fn permutation(self, n: usize) -> Array {
        self.0.unary(|key| random::permutation(key, &random::Population::Below(n as i64), 0, false))
    }
}

impl std::fmt::Debug for Key {
    /// That it is a key; its words are nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// A key carried through a loop or traced function, as the array that holds it.
impl From<Key> for Array {
    fn from(key: Key) -> Array {
        key.0
    }
}

impl Array {
    /// The array of a key as a key again, for use inside loops.
    #[must_use]
    pub fn into_key(self) -> Key {
        Key(self)
    }
}
