//! Attention of several heads.

use super::Linear;
use crate::Tree;
use crate::array::Array;
use crate::functions::{einsum, ones, select, softmax};
use crate::random::Key;

/// Attention by scaled products, of several heads side by side.
///
/// ```
/// use pullback::nn::{Attention, causal_mask};
/// use pullback::prelude::*;
///
/// let attention = Attention::init(Key::seed(0), 8, 2);
/// let x = Key::seed(1).normal(&[3, 5, 8]);                       // batch, places, features
/// let y = attention.apply(&x, Some(&causal_mask(5)));
/// assert_eq!(y.shape(), [3, 5, 8]);
/// // A place sees none that come later.
/// let changed = x.at(s![.., 4]).set(0.0);
/// assert_eq!(attention.apply(&changed, Some(&causal_mask(5))).slice(s![.., ..4]), y.slice(s![.., ..4]));
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Attention {
    /// What a place asks for.
    pub query: Linear,
    /// What it is found by.
    pub key: Linear,
    /// What it gives.
    pub value: Linear,
    /// From the heads' results, one after the other, to features.
    pub out: Linear,
    /// How many heads share the features.
    #[tree(fixed)]
    pub n_heads: usize,
}

impl Attention {
    /// Layers from features to as many features.
    ///
    /// # Panics
    /// When heads cannot share the features equally.
    #[track_caller]
    #[must_use]
    pub fn init(key: Key, features: usize, n_heads: usize) -> Attention {
        assert!(
            n_heads > 0 && features.is_multiple_of(n_heads),
            "{n_heads} heads cannot share {features} features equally"
        );
        let [query, keys, value, out] = key.split_n().map(|key| Linear::init(key, features, features));
        Attention { query, key: keys, value, out, n_heads }
    }

    /// Every place of `x`, along the last axis but one, looks at every other for which the mask holds, if there is one.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, x: &Array, mask: Option<&Array>) -> Array {
        self.apply_to(x, x, mask)
    }

    /// Every place of `x` looks at every place of `context` for which the mask, of places of `x` by places of `context`,
    /// holds.
    #[track_caller]
    #[must_use]
    pub fn apply_to(&self, x: &Array, context: &Array, mask: Option<&Array>) -> Array {
        let (query, key) = (self.heads(&self.query.apply(x)), self.heads(&self.key.apply(context)));
        let n_features = query.shape().last().map_or(1.0, |&n| n as f64);
        let scores = einsum("...qhd,...khd->...hqk", (query / n_features.sqrt(), key));
        let scores = match mask {
            Some(mask) => select(mask, &scores, &(scores.zeros_like() + LEAST)),
            None => scores,
        };
        let found = einsum("...hqk,...khd->...qhd", (softmax(&scores, -1), self.heads(&self.value.apply(context))));
        self.out.apply(&found.reshape(&with_last(&found, 2, &[-1])))
    }

    /// The last axis as heads by features of one.
    #[track_caller]
    fn heads(&self, x: &Array) -> Array {
        x.reshape(&with_last(x, 1, &[self.n_heads as i64, -1]))
    }
}

/// The score of what is masked: the least `float32`, so that a place that sees nothing sees all alike, and there is no NaN.
const LEAST: f64 = f32::MIN as f64;

/// The shape with other sizes in place of the last `n`.
fn with_last(x: &Array, n: usize, sizes: &[i64]) -> Vec<i64> {
    let kept = x.shape().iter().take(x.rank().saturating_sub(n)).map(|&size| size as i64);
    kept.chain(sizes.iter().copied()).collect()
}

/// For each of `n` places which places are not later than it.
#[track_caller]
#[must_use]
pub fn causal_mask(n: usize) -> Array {
    ones(&[n, n]).tril().greater(0.0)
}
