//! Neural networks: layers as plain trees, losses, and the functions of `jax.nn`.
//!
//! A layer is a struct whose arrays are its parameters. `init` draws them from a key, `apply` uses them; there is no other
//! state, so `grad`, `vmap`, [`optim`](crate::optim) and [files](crate::Tree::names) take a network as it is. Initial values
//! and results are those of flax.
//!
//! ```
//! use pullback::nn::{self, Linear};
//! use pullback::optim::Optimizer;
//! use pullback::prelude::*;
//!
//! #[derive(Tree)]
//! struct Network {
//!     hidden: Linear,
//!     out: Linear,
//! }
//!
//! impl Network {
//!     fn init(key: Key) -> Network {
//!         let [hidden, out] = key.split();
//!         Network { hidden: Linear::init(hidden, 2, 16), out: Linear::init(out, 16, 2) }
//!     }
//!
//!     fn apply(&self, x: &Array) -> Array {
//!         self.out.apply(&self.hidden.apply(x).tanh())
//!     }
//! }
//!
//! let (x, labels) = (arr![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], arr![0, 1, 1, 0]);
//! let loss = |network: &Network| {
//!     nn::softmax_cross_entropy_with_integer_labels(&network.apply(&x), &labels).mean()
//! };
//! let adam = Optimizer::adam(0.1);
//! let step = jit_owned(|(network, state), (): &()| {
//!     let gradient = grad(loss)(&network)?;
//!     adam.step(&network, &gradient, &state)
//! });
//! let network = Network::init(Key::seed(0));
//! let mut carry = (adam.init(&network), network);
//! for _ in 0..100 {
//!     let (network, state) = step((carry.1, carry.0), &())?;
//!     carry = (state, network);
//! }
//! assert!(loss(&carry.1).item::<f32>()? < 0.05);
//! # Ok::<(), pullback::Error>(())
//! ```

mod attention;
mod layers;
mod losses;
mod recurrent;
mod windows;

use pullback_base::DType;
use pullback_lib::nn::initializers::{Distribution, Fan, VarianceScaling, WeightAxes};

use crate::array::Array;
pub use crate::library::nn::*;
use crate::random::Key;

pub use attention::{Attention, causal_mask};
pub use layers::{BatchNorm, BatchStats, Embedding, LayerNorm, Linear, dropout};
pub use losses::{
    cosine_similarity, huber_loss, kl_divergence, l2_loss, log_cosh, sigmoid_binary_cross_entropy,
    softmax_cross_entropy, softmax_cross_entropy_with_integer_labels, squared_error,
};
pub use recurrent::{Lstm, LstmState};
pub use windows::{Conv, Padding, avg_pool, max_pool};

/// Weights whose variance is one over the number of inputs of a unit, normal up to two deviations: those of Le Cun. The last
/// two axes are inputs and outputs, those before them a receptive field.
#[track_caller]
fn lecun_normal(key: Key, shape: &[usize]) -> Array {
    scaled(key, shape, Distribution::TruncatedNormal, WeightAxes { inputs: None, outputs: vec![-1], batch: vec![] })
}

#[track_caller]
fn scaled(key: Key, shape: &[usize], distribution: Distribution, axes: WeightAxes) -> Array {
    let scaling = VarianceScaling { scale: 1.0, fan: Fan::In, distribution, axes };
    key.into_array().unary(|key| scaling.sample(key, shape, DType::F32))
}
