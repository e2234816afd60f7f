//! Losses: one number for each example; take the mean for a batch. Names and values are those of optax.

use crate::array::Array;
use crate::functions::{log_softmax, select};
use crate::library::nn::{log_sigmoid, softplus};

/// `-Σ labels * log(softmax(logits))` over the last axis: labels are probabilities of the classes.
///
/// ```
/// use pullback::nn::softmax_cross_entropy;
/// use pullback::prelude::*;
///
/// let loss = softmax_cross_entropy(&arr![[0.0, 0.0]], &arr![[0.5, 0.5]]);
/// assert!((loss.item::<f32>()? - 2_f32.ln()).abs() < 1e-6);
/// # Ok::<(), pullback::Error>(())
/// ```
#[track_caller]
#[must_use]
pub fn softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    -(labels * log_softmax(logits, -1)).sum_axis(-1)
}

/// As [`softmax_cross_entropy`] for labels that are the numbers of classes. A label that is no class gives NaN.
///
/// ```
/// use pullback::nn::softmax_cross_entropy_with_integer_labels as cross_entropy;
/// use pullback::prelude::*;
///
/// assert_eq!(cross_entropy(&arr![[0.0, 100.0], [0.0, 100.0]], &arr![1, 0]), arr![0.0, 100.0]);
/// ```
#[track_caller]
#[must_use]
pub fn softmax_cross_entropy_with_integer_labels(logits: &Array, labels: &Array) -> Array {
    let chosen = log_softmax(logits, -1).take_along_axis_with(labels.expand_dims(&[-1]), |take| take.axis(-1));
    -chosen.sum_axis(-1)
}

/// `-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`, of each element.
#[track_caller]
#[must_use]
pub fn sigmoid_binary_cross_entropy(logits: &Array, labels: &Array) -> Array {
    -labels * log_sigmoid(logits) - (1.0 - labels) * log_sigmoid(-logits)
}

/// `(predictions - targets)²`.
#[track_caller]
#[must_use]
pub fn squared_error(predictions: &Array, targets: &Array) -> Array {
    (predictions - targets).square()
}

/// Half of [`squared_error`].
#[track_caller]
#[must_use]
pub fn l2_loss(predictions: &Array, targets: &Array) -> Array {
    squared_error(predictions, targets) * 0.5
}

/// [`l2_loss`] up to an error of `delta`, and a line beyond.
#[track_caller]
#[must_use]
pub fn huber_loss(predictions: &Array, targets: &Array, delta: f64) -> Array {
    let error = (predictions - targets).abs();
    select(&error.less_equal(delta), &(error.square() * 0.5), &((&error - 0.5 * delta) * delta))
}

/// `log(cosh(predictions - targets))`, without overflow.
#[track_caller]
#[must_use]
pub fn log_cosh(predictions: &Array, targets: &Array) -> Array {
    let error = predictions - targets;
    softplus(-2.0 * &error) + &error - std::f64::consts::LN_2
}

/// The cosine of the angle between vectors along the last axis; those shorter than `epsilon` count as that long.
#[track_caller]
#[must_use]
pub fn cosine_similarity(predictions: &Array, targets: &Array, epsilon: f64) -> Array {
    let length = |x: &Array| x.square().sum_axis(-1).sqrt().maximum(epsilon);
    (predictions * targets).sum_axis(-1) / (length(predictions) * length(targets))
}

/// `Σ targets * (log(targets) - log_predictions)` over the last axis, of probabilities; nothing where a target is 0.
#[track_caller]
#[must_use]
pub fn kl_divergence(log_predictions: &Array, targets: &Array) -> Array {
    let is_zero = targets.equal(0.0);
    let inside = select(&is_zero, &targets.ones_like(), targets);
    let terms = targets * (inside.log() - log_predictions);
    select(&is_zero, &targets.zeros_like(), &terms).sum_axis(-1)
}
