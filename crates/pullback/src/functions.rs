//! Methods and functions on arrays; shapes and promotion as in `jax.numpy`.

use std::panic::Location;

use pullback_base::{DType, Result, Scalar, Span};
use pullback_ir::Val;
use pullback_lib::axes::Axes;
use pullback_lib::numpy::{self, Order, Reduction};
use pullback_lib::{indexing, nn};

use crate::array::Array;
use crate::call::Operands;

macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// # Panics
            /// In eager mode, when the dtype does not fit.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Array { self.unary($function) }
        )*}
    };
}
unary_methods! {
    /// Each element, or 0 if that is greater; its derivative at 0 is 0.
    relu nn::relu;
    /// `1 / (1 + exp(-x))` of each element.
    sigmoid nn::sigmoid;
}

fn one_axis(axis: i64) -> Reduction {
    Reduction::over(Axes::One(axis), false)
}

impl Array {
    /// Each element without its sign; the modulus of a complex one.
    ///
    /// # Panics
    /// In eager mode, when the dtype does not fit.
    #[track_caller]
    #[must_use]
    pub fn abs(&self) -> Array {
        self.absolute()
    }

    /// The sum along an axis, counted from the end when negative.
    #[track_caller]
    #[must_use]
    pub fn sum_axis(&self, axis: i64) -> Array {
        self.unary(|x| numpy::sum(x, &one_axis(axis)))
    }

    /// The mean along an axis, counted from the end when negative.
    #[track_caller]
    #[must_use]
    pub fn mean_axis(&self, axis: i64) -> Array {
        self.unary(|x| numpy::mean(x, &one_axis(axis)))
    }

    /// The position of the greatest element along an axis, as `int32`.
    #[track_caller]
    #[must_use]
    pub fn argmax(&self, axis: i64) -> Array {
        self.unary(|x| numpy::argmax(x, Some(axis), false))
    }

    /// Matrix product; vectors and batches as in `jax.numpy.matmul`.
    #[track_caller]
    #[must_use]
    pub fn matmul(&self, other: &Array) -> Array {
        self.binary(other, |x, y| numpy::matmul(x, y, None))
    }

    /// The axes in reverse order.
    #[track_caller]
    #[must_use]
    pub fn t(&self) -> Array {
        self.unary(|x| numpy::transpose(x, None))
    }

    /// The elements in the same order under another shape; one size may be -1.
    #[track_caller]
    #[must_use]
    pub fn reshape(&self, shape: &[i64]) -> Array {
        self.unary(|x| numpy::reshape(x, shape, Order::RowMajor))
    }

    /// The elements converted to a dtype.
    #[track_caller]
    #[must_use]
    pub fn astype(&self, dtype: DType) -> Array {
        self.unary(|x| numpy::astype(x, dtype))
    }

    /// The entries along the first axis from `start` to `stop`, exclusive.
    #[track_caller]
    #[must_use]
    pub fn rows(&self, start: i64, stop: i64) -> Array {
        let range = indexing::IndexItem::Slice { start: Some(start), stop: Some(stop), step: None };
        self.unary(|x| indexing::getitem(x, &[range]))
    }

    /// The entries of the first axis at the positions in `indices`, an integer array.
    #[track_caller]
    #[must_use]
    pub fn take(&self, indices: &Array) -> Array {
        self.binary(indices, |x, i| indexing::getitem(x, &[indexing::IndexItem::Array(i.clone())]))
    }
}

/// What a creation gave.
#[track_caller]
fn created(f: impl FnOnce() -> Result<Val>) -> Array {
    let span = Span::of(Location::caller());
    Array::wrap(span.scope(f), false)
}

fn sizes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

/// Zeros of `float32`.
#[track_caller]
pub fn zeros(shape: &[usize]) -> Array {
    created(|| numpy::zeros(&sizes(shape), None))
}

/// Ones of `float32`.
#[track_caller]
pub fn ones(shape: &[usize]) -> Array {
    created(|| numpy::ones(&sizes(shape), None))
}

/// Equal elements of `float32`.
#[track_caller]
pub fn full(shape: &[usize], value: f64) -> Array {
    let value = Val::Literal(Scalar::float(DType::F32, value));
    created(|| numpy::full(&sizes(shape), &value, None))
}

/// `0, 1, …, n - 1` as `int32`.
#[track_caller]
pub fn arange(n: i32) -> Array {
    created(|| numpy::arange(None, Scalar::i32(n), None, None))
}

/// The identity matrix, `float32`.
#[track_caller]
pub fn eye(n: usize) -> Array {
    created(|| numpy::eye(n as i64, None, 0, None))
}

fn all_vals(arrays: &[Array]) -> Result<Vec<Val>> {
    arrays.iter().map(Array::val).collect()
}

/// The arrays one after the other along an axis.
#[track_caller]
pub fn concatenate(arrays: &[Array], axis: i64) -> Array {
    created(|| numpy::concatenate(&all_vals(arrays)?, Some(axis), None))
}

/// The arrays along a new axis.
#[track_caller]
pub fn stack(arrays: &[Array], axis: i64) -> Array {
    created(|| numpy::stack(&all_vals(arrays)?, axis, None))
}

/// The sum of products that `subscripts` describe: axes of one letter go together, and those that the result lacks are
/// summed over.
///
/// ```
/// use pullback::prelude::*;
///
/// let (a, b) = (ones(&[5, 2, 3]), ones(&[5, 3, 4]));
/// assert_eq!(einsum("bij,bjk->bik", (&a, &b)).shape(), [5, 2, 4]);
/// assert_eq!(einsum("ii", [arr![[1.0, 2.0], [3.0, 4.0]]]).item::<f32>()?, 5.0);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Panics
/// In eager mode, for subscripts that do not fit the operands.
#[track_caller]
#[must_use]
pub fn einsum(subscripts: &str, operands: impl Operands) -> Array {
    created(|| numpy::einsum(subscripts, &all_vals(&operands.into_arrays())?, None))
}

/// `on_true` where the condition holds, else `on_false`.
#[track_caller]
pub fn select(condition: &Array, on_true: &Array, on_false: &Array) -> Array {
    created(|| numpy::where_(&condition.val()?, &on_true.val()?, &on_false.val()?))
}

/// `exp(x) / Σ exp(x)` along an axis.
#[track_caller]
pub fn softmax(x: &Array, axis: i64) -> Array {
    x.unary(|x| nn::softmax(x, &Axes::One(axis), None))
}

/// `log(softmax(x))` along an axis, without overflow.
#[track_caller]
pub fn log_softmax(x: &Array, axis: i64) -> Array {
    x.unary(|x| nn::log_softmax(x, &Axes::One(axis), None))
}

/// For each integer a row with 1 at its position and 0 elsewhere; all zeros when out of range.
#[track_caller]
pub fn one_hot(labels: &Array, n_classes: usize) -> Array {
    labels.unary(|x| nn::one_hot(x, n_classes as i64, DType::F32, -1))
}
