//! Layers that go along time.

use pullback_base::Result;

use super::lecun_normal;
use crate::Tree;
use crate::array::Array;
use crate::control::scan;
use crate::functions::{concatenate, zeros};
use crate::random::{Key, orthogonal_with};

/// Long short-term memory: a cell that is carried along time, and gates that say what it forgets, takes in and shows.
///
/// ```
/// use pullback::nn::Lstm;
/// use pullback::prelude::*;
///
/// let lstm = Lstm::init(Key::seed(0), 3, 4);
/// let xs = Key::seed(1).normal(&[10, 2, 3]);                     // time, batch, features
/// let (last, all) = lstm.apply(&lstm.start(&[2]), &xs)?;
/// assert_eq!(all.shape(), [10, 2, 4]);
/// assert_eq!(all.row(9), last.hidden);
/// # Ok::<(), pullback::Error>(())
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Lstm {
    /// Inputs by four times the hidden features: gates of input and forgetting, the candidate, the gate of output.
    pub input: Array,
    /// Hidden features by four times the hidden features, in the same order.
    pub hidden: Array,
    /// Four times the hidden features.
    pub bias: Array,
}

/// What an [`Lstm`] carries along.
#[derive(Clone, Debug, Tree)]
pub struct LstmState {
    /// The cell.
    pub cell: Array,
    /// What it shows.
    pub hidden: Array,
}

impl Lstm {
    /// Weights of Le Cun for the inputs, orthogonal ones for what is carried, a bias of zeros.
    #[track_caller]
    #[must_use]
    pub fn init(key: Key, inputs: usize, hidden: usize) -> Lstm {
        let [for_input, for_hidden] = key.split();
        let each = for_input.split_n::<4>().map(|key| lecun_normal(key, &[inputs, hidden]));
        let turns = orthogonal_with(for_hidden, hidden as i64, |draw| draw.shape(&[4]));
        let turns: Vec<Array> = (0..4).map(|gate| turns.row(gate)).collect();
        Lstm { input: concatenate(&each, -1), hidden: concatenate(&turns, -1), bias: zeros(&[4 * hidden]) }
    }

    /// The state before the first step: zeros, for a batch of this shape.
    #[track_caller]
    #[must_use]
    pub fn start(&self, batch: &[usize]) -> LstmState {
        let zeros = zeros(&[batch, &self.hidden.shape()[..1]].concat());
        LstmState { cell: zeros.clone(), hidden: zeros }
    }

    /// The state after one more input.
    #[track_caller]
    #[must_use]
    pub fn step(&self, state: &LstmState, x: &Array) -> LstmState {
        let gates = x.matmul(&self.input) + state.hidden.matmul(&self.hidden) + &self.bias;
        let n = self.hidden.shape()[0] as i64;
        let gate = |i: i64| gates.slice(crate::s![crate::Ellipsis, i * n..(i + 1) * n]);
        let cell = gate(1).sigmoid() * &state.cell + gate(0).sigmoid() * gate(2).tanh();
        LstmState { hidden: gate(3).sigmoid() * cell.tanh(), cell }
    }

    /// The state after all inputs along the first axis, and what was shown after each, as one native loop.
    ///
    /// # Errors
    /// When the inputs do not fit.
    pub fn apply(&self, start: &LstmState, xs: &Array) -> Result<(LstmState, Array)> {
        let step = |state: LstmState, x: Array| {
            let state = self.step(&state, &x);
            (state.clone(), state.hidden)
        };
        scan(step, start, xs)
    }
}
