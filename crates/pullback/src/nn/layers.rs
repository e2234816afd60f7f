//! Layers that work on the last axis.

use pullback_lib::nn::initializers::{Distribution, WeightAxes};

use super::{lecun_normal, scaled};
use crate::Tree;
use crate::array::Array;
use crate::functions::{ones, select, zeros};
use crate::random::{Key, bernoulli_with};

/// `x @ weight + bias` on the last axis.
///
/// ```
/// use pullback::nn::Linear;
/// use pullback::prelude::*;
///
/// let layer = Linear::init(Key::seed(0), 3, 2);
/// assert_eq!(layer.apply(&ones(&[5, 3])).shape(), [5, 2]);
/// let without = Linear { bias: None, ..layer };
/// assert_eq!(without.apply(&zeros(&[3])), arr![0.0, 0.0]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Linear {
    /// Inputs by outputs.
    pub weight: Array,
    /// One number an output, if any.
    pub bias: Option<Array>,
}

impl Linear {
    /// Weights of Le Cun, and a bias of zeros.
    #[track_caller]
    #[must_use]
    pub fn init(key: Key, inputs: usize, outputs: usize) -> Linear {
        Linear { weight: lecun_normal(key, &[inputs, outputs]), bias: Some(zeros(&[outputs])) }
    }

    /// From an array whose last axis is the inputs to one whose last axis is the outputs.
    ///
    /// # Panics
    /// In eager mode, when the last axis has another size than the layer has inputs.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, x: &Array) -> Array {
        plus(x.matmul(&self.weight), self.bias.as_ref())
    }
}

/// With a bias, if there is one.
#[track_caller]
pub(super) fn plus(x: Array, bias: Option<&Array>) -> Array {
    match bias {
        Some(bias) => x + bias,
        None => x,
    }
}

/// A row of numbers for each of `n` things, such as the characters of a text.
///
/// ```
/// use pullback::nn::Embedding;
/// use pullback::prelude::*;
///
/// let letters = Embedding::init(Key::seed(0), 26, 8);
/// let word = letters.apply(&arr![2, 0, 19]);
/// assert_eq!(word.shape(), [3, 8]);
/// assert_eq!(letters.scores(&word).shape(), [3, 26]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Embedding {
    /// One row a thing.
    pub table: Array,
}

impl Embedding {
    /// Normal numbers whose variance is one over the number of features.
    #[track_caller]
    #[must_use]
    pub fn init(key: Key, n: usize, features: usize) -> Embedding {
        let axes = WeightAxes { inputs: None, outputs: vec![0], batch: vec![] };
        Embedding { table: scaled(key, &[n, features], Distribution::Normal, axes) }
    }

    /// The rows of the things in an integer array, along a new last axis. Numbers from `n` on take the last row, as indexing does.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, numbers: &Array) -> Array {
        self.table.take(numbers)
    }

    /// How much an array of features is like each thing: its products with all rows.
    #[track_caller]
    #[must_use]
    pub fn scores(&self, x: &Array) -> Array {
        x.matmul(&self.table.t())
    }
}

/// Features with mean 0 and deviation 1 over the last axis, scaled and shifted.
///
/// ```
/// use pullback::nn::LayerNorm;
/// use pullback::prelude::*;
///
/// let norm = LayerNorm::init(4);
/// let y = norm.apply(&arr![[1.0, 2.0, 3.0, 6.0]]);
/// assert!(y.mean().item::<f32>()?.abs() < 1e-6);
/// # Ok::<(), pullback::Error>(())
/// ```
#[derive(Clone, Debug, Tree)]
pub struct LayerNorm {
    /// What each feature is multiplied with.
    pub scale: Array,
    /// What is added to it.
    pub bias: Array,
}

impl LayerNorm {
    /// Added to the variance, so that equal features divide by no zero.
    pub const EPSILON: f64 = 1e-6;

    /// Scales of one and shifts of zero.
    #[track_caller]
    #[must_use]
    pub fn init(features: usize) -> LayerNorm {
        LayerNorm { scale: ones(&[features]), bias: zeros(&[features]) }
    }

    /// The array, with its last axis normalized.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, x: &Array) -> Array {
        let mean = x.mean_with(|mean| mean.axis(-1).keepdims(true));
        let variance = x.var_with(|var| var.axis(-1).keepdims(true));
        normalized(x, [&mean, &variance], Self::EPSILON, [&self.scale, &self.bias])
    }
}

#[track_caller]
fn normalized(x: &Array, [mean, variance]: [&Array; 2], epsilon: f64, [scale, bias]: [&Array; 2]) -> Array {
    (x - mean) / (variance + epsilon).sqrt() * scale + bias
}

/// Features with mean 0 and deviation 1 over all axes but the last, scaled and shifted.
///
/// What it remembers of the batches that it saw is apart from it, so that an optimiser does not touch it.
///
/// ```
/// use pullback::nn::BatchNorm;
/// use pullback::prelude::*;
///
/// let (norm, stats) = BatchNorm::init(2);
/// let x = arr![[0.0, 1.0], [2.0, 5.0]];
/// let (y, stats) = norm.train(&x, &stats);
/// assert!(y.sum_axis(0).abs().max().item::<f32>()? < 1e-5);
/// assert_eq!(norm.apply(&x, &stats).shape(), [2, 2]);
/// # Ok::<(), pullback::Error>(())
/// ```
#[derive(Clone, Debug, Tree)]
pub struct BatchNorm {
    /// What each feature is multiplied with.
    pub scale: Array,
    /// What is added to it.
    pub bias: Array,
}

/// Averages over the batches that a [`BatchNorm`] was trained with.
#[derive(Clone, Debug, Tree)]
pub struct BatchStats {
    /// Of the mean of each feature.
    pub mean: Array,
    /// Of its variance.
    pub variance: Array,
}

impl BatchNorm {
    /// Added to the variance, so that equal features divide by no zero.
    pub const EPSILON: f64 = 1e-5;
    /// How much of the averages a batch leaves.
    pub const MOMENTUM: f64 = 0.99;

    /// Scales of one and shifts of zero; averages of no batch.
    #[track_caller]
    #[must_use]
    pub fn init(features: usize) -> (BatchNorm, BatchStats) {
        let norm = BatchNorm { scale: ones(&[features]), bias: zeros(&[features]) };
        (norm, BatchStats { mean: zeros(&[features]), variance: ones(&[features]) })
    }

    /// Normalized by the batch itself, and the averages with this batch.
    #[track_caller]
    #[must_use]
    pub fn train(&self, x: &Array, stats: &BatchStats) -> (Array, BatchStats) {
        let others: Vec<i64> = (0..x.rank() as i64 - 1).collect();
        let mean = x.mean_with(|mean| mean.axis(&others[..]));
        let variance = x.var_with(|var| var.axis(&others[..]));
        let y = normalized(x, [&mean, &variance], Self::EPSILON, [&self.scale, &self.bias]);
        let mixed = |old: &Array, new: &Array| old * Self::MOMENTUM + new * (1.0 - Self::MOMENTUM);
        (y, BatchStats { mean: mixed(&stats.mean, &mean), variance: mixed(&stats.variance, &variance) })
    }

    /// Normalized by the averages.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, x: &Array, stats: &BatchStats) -> Array {
        normalized(x, [&stats.mean, &stats.variance], Self::EPSILON, [&self.scale, &self.bias])
    }
}

/// Each element with probability `rate` 0, else divided by `1 - rate`. It is for training; without it nothing is dropped.
///
/// ```
/// use pullback::nn::dropout;
/// use pullback::prelude::*;
///
/// let y = dropout(Key::seed(0), &ones(&[1000]), 0.2);
/// assert!((y.mean().item::<f32>()? - 1.0).abs() < 0.1);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Panics
/// When the rate is not in `0.0..=1.0`.
#[track_caller]
#[must_use]
pub fn dropout(key: Key, x: &Array, rate: f64) -> Array {
    assert!((0.0..=1.0).contains(&rate), "a dropout rate is from 0 to 1, not {rate}");
    if rate == 1.0 {
        return x.zeros_like();
    }
    let kept = bernoulli_with(key, |draw| draw.p(1.0 - rate).shape(x.shape()));
    select(&kept, &(x / (1.0 - rate)), &x.zeros_like())
}
