//! Random arrays from keys: the same key and shape give the same numbers, bit for bit those of `jax.random`.
//!
//! A [`Key`] is neither `Copy` nor `Clone`, and what draws from it takes it: using a key twice does not compile.

use std::panic::Location;

use pullback_base::{DType, Scalar, Span};
use pullback_ir::Val;
use pullback_lib::random;

use crate::array::Array;
use crate::call::{FromReturned, Operand};
pub use crate::library::random::*;
use crate::tree::{Structure, Tree};

/// A source of randomness that can be used once. It is a [`Tree`]: loops carry it, and functions that own their argument
/// ([`vmap_owned`](crate::vmap_owned), [`jit_owned`](crate::jit_owned)) take it.
///
/// ```
/// use pullback::prelude::*;
///
/// // A random walk whose loop carries the key.
/// let step = |(key, x): (Key, Array), _: Array| {
///     let [next, now] = key.split();
///     let x = x + now.normal(&[]);
///     ((next, x.clone()), x)
/// };
/// let (_, walk) = scan(step, &(Key::seed(0), Array::scalar(0.0)), &arange(10))?;
/// assert_eq!(walk.shape(), [10]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// To use a key twice does not compile:
/// ```compile_fail,E0382
/// use pullback::prelude::*;
/// let key = Key::seed(0);
/// let (a, b) = (key.normal(&[2]), key.normal(&[2]));
/// ```
///
/// Nor does it to copy one:
/// ```compile_fail,E0599
/// use pullback::prelude::*;
/// let key = Key::seed(0);
/// let again = key.clone();
/// ```
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

    /// `n` independent keys along a new first axis, for [`vmap_owned`](crate::vmap_owned) and
    /// [`scan`](crate::scan), which give each example or step one of them.
    #[track_caller]
    #[must_use]
    pub fn split_many(self, n: usize) -> Key {
        Key(self.0.unary(|key| random::split(key, &[n as i64])))
    }

    /// The key of this one and a number, for example that of a step.
    #[track_caller]
    #[must_use]
    pub fn fold_in(self, number: impl Operand) -> Key {
        Key(self.0.binary(&number.into_array(), random::fold_in))
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

impl Tree for Key {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        into.push(&self.0);
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Key {
        Key(self.0.with_leaves(leaves))
    }
    fn structure(&self, _into: &mut Structure) {}
    fn names(&self, path: &str, into: &mut Vec<String>) {
        into.push(path.to_string());
    }
}

impl Key {
    pub(crate) fn into_array(self) -> Array {
        self.0
    }
}

impl FromReturned for Key {
    #[track_caller]
    fn from_returned(returned: pullback_base::Result<pullback_lib::declare::Returned>, checked: bool) -> Key {
        let span = Span::of(Location::caller());
        Key(span.scope(|| Array::from_returned(returned, checked)))
    }
}
