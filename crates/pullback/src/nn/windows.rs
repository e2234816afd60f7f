//! Layers that look at windows: convolutions and pooling. Arrays are batch, space, features; any number of axes is space.

use pullback_base::{Result, bail};
use pullback_core::prims::{
    CONV_GENERAL_DILATED, ConvDimensions, ConvGeneralDilated, PadPair, REDUCE_WINDOW_MAX, REDUCE_WINDOW_SUM,
    ReduceWindow,
};
use pullback_ir::{Params, PrimRef, Val};
use pullback_lib::precision::in_force;

use super::layers::plus;
use super::lecun_normal;
use crate::Tree;
use crate::array::Array;
use crate::functions::zeros;
use crate::random::Key;

/// What stands around an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// As much as gives one result for each step along an axis.
    Same,
    /// Nothing: windows lie inside.
    Valid,
    /// For each axis of space so many elements before and after.
    Each(Vec<(usize, usize)>),
}

impl Padding {
    /// For each axis of space what stands before and after.
    fn pairs(&self, sizes: &[usize], window: &[usize], strides: &[usize]) -> Result<Vec<PadPair>> {
        let same = |i: usize| {
            let whole = (sizes[i].div_ceil(strides[i]).max(1) - 1) * strides[i] + window[i];
            let all = whole.saturating_sub(sizes[i]);
            PadPair((all / 2) as i64, (all - all / 2) as i64)
        };
        Ok(match self {
            Padding::Same => (0..sizes.len()).map(same).collect(),
            Padding::Valid => vec![PadPair(0, 0); sizes.len()],
            Padding::Each(pairs) if pairs.len() == sizes.len() => {
                pairs.iter().map(|&(low, high)| PadPair(low as i64, high as i64)).collect()
            }
            Padding::Each(pairs) => {
                bail!(Value, "there is padding for {} axes, and {} axes of space", pairs.len(), sizes.len())
            }
        })
    }
}

/// The sizes of the axes of space, for a window with these steps.
fn space(what: &str, x: &Val, window: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
    let shape = x.aval().shape.to_vec();
    if shape.len() != window.len() + 2 || strides.len() != window.len() {
        bail!(
            Value,
            "{what} with a window of {} axes and {} strides takes an array of batch, as many axes of space, and features; got \
             shape {shape:?}",
            window.len(),
            strides.len()
        );
    }
    if strides.contains(&0) || window.contains(&0) {
        bail!(Value, "{what} takes a window and strides of at least 1, not {window:?} and {strides:?}");
    }
    Ok(shape[1..=window.len()].to_vec())
}

/// Convolution: at each place the products of a window with the weights, summed.
///
/// ```
/// use pullback::nn::{Conv, Padding};
/// use pullback::prelude::*;
///
/// let layer = Conv::init(Key::seed(0), &[3, 3], 1, 8);
/// let images = ones(&[2, 28, 28, 1]);                            // batch, height, width, features
/// assert_eq!(layer.apply(&images).shape(), [2, 28, 28, 8]);
/// let smaller = Conv { strides: vec![2, 2], padding: Padding::Valid, ..layer };
/// assert_eq!(smaller.apply(&images).shape(), [2, 13, 13, 8]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Conv {
    /// The sizes of the window, inputs, outputs.
    pub weight: Array,
    /// One number an output, if any.
    pub bias: Option<Array>,
    /// Steps of the window, one an axis of space.
    #[tree(fixed)]
    pub strides: Vec<usize>,
    /// What stands around the array.
    #[tree(fixed)]
    pub padding: Padding,
}

impl Conv {
    /// Weights of Le Cun, a bias of zeros, steps of 1, and padding that keeps the sizes.
    #[track_caller]
    #[must_use]
    pub fn init(key: Key, window: &[usize], inputs: usize, outputs: usize) -> Conv {
        let weight = lecun_normal(key, &[window, &[inputs, outputs]].concat());
        let bias = Some(zeros(&[outputs]));
        Conv { weight, bias, strides: vec![1; window.len()], padding: Padding::Same }
    }

    /// From an array of batch, space and inputs to one of batch, space and outputs.
    ///
    /// # Panics
    /// In eager mode, when the array has another number of axes or of inputs.
    #[track_caller]
    #[must_use]
    pub fn apply(&self, x: &Array) -> Array {
        plus(x.binary(&self.weight, |x, weight| self.products(x, weight)), self.bias.as_ref())
    }

    fn products(&self, x: &Val, weight: &Val) -> Result<Val> {
        let shape = weight.aval().shape.to_vec();
        let n = shape.len().saturating_sub(2);
        let sizes = space("a convolution", x, &shape[..n], &self.strides)?;
        let last: Vec<usize> = [0, n + 1].into_iter().chain(1..=n).collect();
        let of_weight = [n + 1, n].into_iter().chain(0..n).collect();
        let params = ConvGeneralDilated {
            window_strides: self.strides.clone(),
            padding: self.padding.pairs(&sizes, &shape[..n], &self.strides)?,
            lhs_dilation: vec![1; n],
            rhs_dilation: vec![1; n],
            dimension_numbers: ConvDimensions { lhs: last.clone(), rhs: of_weight, out: last },
            feature_group_count: 1,
            batch_group_count: 1,
            precision: in_force(),
            preferred_element_type: None,
            out_sharding: None,
        };
        pullback_trace::bind_one(CONV_GENERAL_DILATED, &Params::new(params), &[x.clone(), weight.clone()])
    }
}

/// The greatest element of each window of space.
///
/// ```
/// use pullback::nn::{Padding, max_pool};
/// use pullback::prelude::*;
///
/// let x = arange(8).astype(DType::F32).reshape(&[1, 8, 1]);
/// assert_eq!(max_pool(&x, &[2], &[2], &Padding::Valid), arr![[[1.0], [3.0], [5.0], [7.0]]]);
/// ```
///
/// # Panics
/// In eager mode, when the array has another number of axes than batch, those of the window, and features.
#[track_caller]
#[must_use]
pub fn max_pool(x: &Array, window: &[usize], strides: &[usize], padding: &Padding) -> Array {
    x.unary(|x| pool("max_pool", REDUCE_WINDOW_MAX, x, window, strides, padding))
}

/// The mean of each window of space; what stands around the array counts as zeros.
///
/// # Panics
/// As [`max_pool`].
#[track_caller]
#[must_use]
pub fn avg_pool(x: &Array, window: &[usize], strides: &[usize], padding: &Padding) -> Array {
    let n = window.iter().product::<usize>() as f64;
    x.unary(|x| pool("avg_pool", REDUCE_WINDOW_SUM, x, window, strides, padding)) / n
}

fn pool(what: &str, prim: PrimRef, x: &Val, window: &[usize], strides: &[usize], padding: &Padding) -> Result<Val> {
    let sizes = space(what, x, window, strides)?;
    let around = |inner: &[usize]| [&[1], inner, &[1]].concat();
    let mut pairs = padding.pairs(&sizes, window, strides)?;
    pairs.insert(0, PadPair(0, 0));
    pairs.push(PadPair(0, 0));
    let params = ReduceWindow::plain(&around(window), &around(strides), &pairs);
    pullback_trace::bind_one(prim, &Params::new(params), std::slice::from_ref(x))
}
