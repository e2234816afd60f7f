//! Optimisers: from parameters and their gradient to better parameters, for trees of any type.
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::optim::{Optimizer, State};
//!
//! let adam = Optimizer::adam(0.1);
//! let loss = |x: &Array| (x - 3.0).square().sum();
//! let step = jit_owned(|(x, state): (Array, State<Array>), (): &()| {
//!     let gradient = grad(loss)(&x)?;
//!     adam.step(&x, &gradient, &state)
//! });
//! let (mut x, mut state) = (arr![0.0], adam.init(&arr![0.0]));
//! for _ in 0..200 {
//!     (x, state) = step((x, state), &())?;
//! }
//! assert!((x.item::<f32>()? - 3.0).abs() < 0.05);
//! # Ok::<(), pullback::Error>(())
//! ```

use std::sync::Arc;

use pullback_base::{Result, bail};

use crate::array::Array;
use crate::functions::{full, select};
use crate::tree::{Tree, leaves_of, map, structure_of, zip_map};

/// The rate of learning: a number, or a function of how many steps were made.
#[derive(Clone)]
pub struct Rate(Arc<dyn Fn(&Array) -> Array + Send + Sync>);

impl From<f64> for Rate {
    fn from(rate: f64) -> Rate {
        Rate::new(move |_| Array::from(rate))
    }
}

impl Rate {
    /// Of a function of the number of steps that were made, a scalar.
    pub fn new(rate: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Rate {
        Rate(Arc::new(rate))
    }

    /// The rate after a number of steps.
    #[must_use]
    pub fn at(&self, step: &Array) -> Array {
        (self.0)(&step.astype(pullback_base::DType::F32))
    }

    /// `start * factor ^ (step / n_steps)`.
    #[must_use]
    pub fn exponential(start: f64, n_steps: u32, factor: f64) -> Rate {
        Rate::new(move |step| start * (step * (factor.ln() / f64::from(n_steps.max(1)))).exp())
    }

    /// From `start` in a line to `end` in `n_steps` steps; `end` from then on.
    #[must_use]
    pub fn linear(start: f64, end: f64, n_steps: u32) -> Rate {
        Rate::new(move |step| start + (step / f64::from(n_steps.max(1))).minimum(1.0) * (end - start))
    }

    /// `start`, multiplied at each of the given steps with the factor that stands there.
    ///
    /// ```
    /// use pullback::optim::Rate;
    /// use pullback::prelude::*;
    ///
    /// let rate = Rate::steps(0.1, vec![(10, 0.5), (20, 0.5)]);
    /// assert_eq!(rate.at(&Array::scalar(20)).item::<f32>()?, 0.025);
    /// # Ok::<(), pullback::Error>(())
    /// ```
    #[must_use]
    pub fn steps(start: f64, factors: Vec<(u32, f64)>) -> Rate {
        Rate::new(move |step| {
            let factor = |&(at, factor): &(u32, f64)| {
                let is_reached = step.greater_equal(f64::from(at));
                select(&is_reached, &full(&[], factor), &full(&[], 1.0))
            };
            factors.iter().map(factor).fold(full(&[], start), |rate, factor| rate * factor)
        })
    }

    /// From `start` down to `end` along half a wave of the cosine, in `n_steps` steps; `end` from then on.
    #[must_use]
    pub fn cosine(start: f64, n_steps: u32, end: f64) -> Rate {
        Rate::new(move |step| {
            let done = (step / f64::from(n_steps.max(1))).minimum(1.0);
            end + (start - end) * 0.5 * (1.0 + (done * std::f64::consts::PI).cos())
        })
    }

    /// From `start` in a line up to `peak` in `n_warmup` steps, then as [`Rate::cosine`] down to `end` until step `n_steps`.
    #[must_use]
    pub fn warmup_cosine(start: f64, peak: f64, n_warmup: u32, n_steps: u32, end: f64) -> Rate {
        let down = Rate::cosine(peak, n_steps.saturating_sub(n_warmup), end);
        let n_warmup = f64::from(n_warmup);
        Rate::new(move |step| {
            let up = start + (step * ((peak - start) / n_warmup.max(1.0)));
            select(&step.less(n_warmup), &up, &down.at(&(step - n_warmup)))
        })
    }
}

/// What an optimiser remembers from step to step.
#[derive(Clone)]
pub struct State<T> {
    /// How many steps were made, an `int32` scalar.
    pub n_steps: Array,
    /// Averages of the gradient and of its square, or what else the rule keeps.
    pub averages: Vec<T>,
}

impl<T: Tree> Tree for State<T> {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        into.push(&self.n_steps);
        self.averages.leaves(into);
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> State<T> {
        let n_steps = self.n_steps.with_leaves(leaves);
        State { n_steps, averages: self.averages.with_leaves(leaves) }
    }
    fn structure(&self, into: &mut crate::Structure) {
        self.averages.structure(into);
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        into.push(crate::tree::below(path, "n_steps"));
        self.averages.names(&crate::tree::below(path, "averages"), into);
    }
}

/// How a direction is found from the gradient.
#[derive(Clone, Copy)]
enum Rule {
    Plain,
    Momentum { decay: f64, is_nesterov: bool },
    Adam { decays: [f64; 2], epsilon: f64 },
    Lion { decays: [f64; 2] },
    Rms { decay: f64, epsilon: f64 },
}

impl Rule {
    fn n_averages(self) -> usize {
        match self {
            Rule::Plain => 0,
            Rule::Momentum { .. } | Rule::Lion { .. } | Rule::Rms { .. } => 1,
            Rule::Adam { .. } => 2,
        }
    }
}

/// A rule by which parameters are improved. [`Optimizer::init`] makes what it remembers, [`Optimizer::step`] a step.
#[derive(Clone)]
pub struct Optimizer {
    rule: Rule,
    rate: Rate,
    weight_decay: f64,
    is_layerwise: bool,
    max_norm: Option<f64>,
}

impl Optimizer {
    fn new(rule: Rule, rate: Rate) -> Optimizer {
        Optimizer { rule, rate, weight_decay: 0.0, is_layerwise: false, max_norm: None }
    }

    /// Against the gradient.
    #[must_use]
    pub fn sgd(rate: impl Into<Rate>) -> Optimizer {
        Optimizer::new(Rule::Plain, rate.into())
    }

    /// Against a sum of the gradients, of which older ones count less by `decay` a step.
    #[must_use]
    pub fn momentum(rate: impl Into<Rate>, decay: f64) -> Optimizer {
        Optimizer::new(Rule::Momentum { decay, is_nesterov: false }, rate.into())
    }

    /// As [`Optimizer::momentum`], looking one step ahead.
    #[must_use]
    pub fn nesterov(rate: impl Into<Rate>, decay: f64) -> Optimizer {
        Optimizer::new(Rule::Momentum { decay, is_nesterov: true }, rate.into())
    }

    /// Adam: averages of the gradient over the root of averages of its square, with decays 0.9 and 0.999.
    #[must_use]
    pub fn adam(rate: impl Into<Rate>) -> Optimizer {
        Optimizer::new(Rule::Adam { decays: [0.9, 0.999], epsilon: 1e-8 }, rate.into())
    }

    /// Adam with weights that decay, apart from the gradient.
    #[must_use]
    pub fn adamw(rate: impl Into<Rate>, weight_decay: f64) -> Optimizer {
        Optimizer { weight_decay, ..Optimizer::adam(rate) }
    }

    /// Lion: the sign of averages of the gradient, with decays 0.9 and 0.99.
    #[must_use]
    pub fn lion(rate: impl Into<Rate>, weight_decay: f64) -> Optimizer {
        Optimizer { weight_decay, ..Optimizer::new(Rule::Lion { decays: [0.9, 0.99] }, rate.into()) }
    }

    /// RMSprop: the gradient over the root of averages of its square, with decay 0.9.
    #[must_use]
    pub fn rmsprop(rate: impl Into<Rate>) -> Optimizer {
        Optimizer::new(Rule::Rms { decay: 0.9, epsilon: 1e-8 }, rate.into())
    }

    /// LAMB: Adam whose steps have in each leaf the length of that leaf.
    #[must_use]
    pub fn lamb(rate: impl Into<Rate>, weight_decay: f64) -> Optimizer {
        let rule = Rule::Adam { decays: [0.9, 0.999], epsilon: 1e-6 };
        Optimizer { weight_decay, is_layerwise: true, ..Optimizer::new(rule, rate.into()) }
    }

    /// The same with gradients that are shortened to a length, over all leaves together.
    #[must_use]
    pub fn clipped(self, max_norm: f64) -> Optimizer {
        Optimizer { max_norm: Some(max_norm), ..self }
    }

    /// What is remembered before the first step.
    #[must_use]
    pub fn init<T: Tree>(&self, params: &T) -> State<T> {
        let zeros = || map(params, |x| x.zeros_like());
        State { n_steps: Array::scalar(0), averages: (0..self.rule.n_averages()).map(|_| zeros()).collect() }
    }

    /// A step: better parameters, and what is remembered then.
    ///
    /// # Errors
    /// A `Type` error for a gradient of another structure than the parameters, or a state of another optimiser.
    pub fn step<T: Tree>(&self, params: &T, gradient: &T, state: &State<T>) -> Result<(T, State<T>)> {
        if structure_of(params) != structure_of(gradient) || state.averages.len() != self.rule.n_averages() {
            bail!(
                Type,
                "a step takes a gradient of the structure of the parameters, and the state of the same optimiser"
            );
        }
        let gradient = match self.max_norm {
            Some(max_norm) => clip_by_global_norm(gradient, max_norm),
            None => map(gradient, Array::clone),
        };
        let n_steps = &state.n_steps + 1;
        let (direction, averages) = self.direction(&gradient, &state.averages, &n_steps);
        let direction = zip_map(&direction, params, |u, p| self.regular(u, p));
        let rate = self.rate.at(&state.n_steps);
        let params = zip_map(params, &direction, |p, u| p - (&rate * u).astype(p.dtype()));
        Ok((params, State { n_steps, averages }))
    }

    /// With the decay of weights, and the length of the leaf if it is to have that.
    fn regular(&self, direction: &Array, params: &Array) -> Array {
        let direction =
            if self.weight_decay == 0.0 { direction.clone() } else { direction + self.weight_decay * params };
        if !self.is_layerwise {
            return direction;
        }
        let (whole, part) = (norm(&[params]), norm(&[&direction]));
        let is_zero = whole.equal(0.0).logical_or(part.equal(0.0));
        let ratio = select(&is_zero, &whole.ones_like(), &(whole / &part));
        direction * ratio
    }

    fn direction<T: Tree>(&self, gradient: &T, averages: &[T], n_steps: &Array) -> (T, Vec<T>) {
        let mixed = |average: &T, decay: f64, of: &dyn Fn(&Array) -> Array| {
            zip_map(average, gradient, |a, g| a * decay + of(g) * (1.0 - decay))
        };
        match self.rule {
            Rule::Plain => (map(gradient, Array::clone), vec![]),
            Rule::Momentum { decay, is_nesterov } => {
                let ahead = |sum: &T| zip_map(sum, gradient, |s, g| s * decay + g);
                let sum = ahead(&averages[0]);
                let direction = if is_nesterov { ahead(&sum) } else { map(&sum, Array::clone) };
                (direction, vec![sum])
            }
            Rule::Adam { decays: [slow, square], epsilon } => {
                let mean = mixed(&averages[0], slow, &Array::clone);
                let spread = mixed(&averages[1], square, &|g| g * g);
                // Averages that began at zero are too small by what they would be of ones.
                let whole = |decay: f64| -(n_steps.astype(pullback_base::DType::F32) * decay.ln()).expm1();
                let (mean_whole, spread_whole) = (whole(slow), whole(square));
                let direction = zip_map(&mean, &spread, |m, v| {
                    let (m, v) = (m / mean_whole.astype(m.dtype()), v / spread_whole.astype(v.dtype()));
                    m / (v.sqrt() + epsilon)
                });
                (direction, vec![mean, spread])
            }
            Rule::Rms { decay, epsilon } => {
                let spread = mixed(&averages[0], decay, &|g| g * g);
                (zip_map(gradient, &spread, |g, v| g / (v + epsilon).sqrt()), vec![spread])
            }
            Rule::Lion { decays: [now, kept] } => {
                let direction = map(&mixed(&averages[0], now, &Array::clone), |x| x.sign());
                (direction, vec![mixed(&averages[0], kept, &Array::clone)])
            }
        }
    }
}

/// The length of all elements together.
fn norm(leaves: &[&Array]) -> Array {
    let squares = leaves.iter().map(|x| x.square().sum()).reduce(|a, b| a + b);
    squares.map_or_else(|| Array::scalar(0.0_f32), |sum| sum.sqrt())
}

/// The tree, shortened to a length if it is longer, over all leaves together.
#[must_use]
pub fn clip_by_global_norm<T: Tree>(tree: &T, max_norm: f64) -> T {
    let length = norm(&leaves_of(tree));
    let is_short = length.less(max_norm);
    map(tree, |x| {
        let shortened = x / length.astype(x.dtype()) * max_norm;
        select(&is_short, x, &shortened)
    })
}
