//! Functions of samples: the most frequent element, ranks and the error of the mean.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::{Axes, canonical_axis};
use crate::convert::{default_float, literal, to_dtype, weak_float};
use crate::declare::{NamedTuple, Return, Returned, Type};
use crate::formula::{of, sqrt, where_};
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::lax::linalg::{column, row};
use crate::numpy::{self, Order, Reduction, TakeOptions};
use crate::promotion::{promote, promote_args_inexact};

/// The most frequent elements and how often they occur.
#[derive(Debug)]
pub struct Mode {
    /// The elements.
    pub mode: Val,
    /// How often each occurs.
    pub count: Val,
}

impl Return for Mode {
    const TYPE: Type = Type { python: "ModeResult", rust: "(Array, Array)" };
    fn returned(self) -> Returned {
        static CLASS: NamedTuple = NamedTuple { name: "scipy.stats._samples.ModeResult", fields: &["mode", "count"] };
        Returned::Named(&CLASS, [self.mode, self.count].into_iter().collect())
    }
}

fn check_policy(policy: &str) -> Result<()> {
    match policy {
        "propagate" => Ok(()),
        "omit" => bail!(NotImplemented, "Logic for `nan_policy` of {policy} is not implemented"),
        "raise" => bail!(
            NotImplemented,
            "In order to best JIT compile `mode`, we cannot know whether `x` contains nans. Please check if nans exist in \
             `x` outside of the `mode` function."
        ),
        _ => bail!(Value, "Illegal nan_policy value '{policy}'; expected one of {{'propagate', 'omit', 'raise'}}"),
    }
}

/// The most frequent elements along an axis, the least of several; NaN compares like the greatest number.
///
/// Args:
///   a: an array of real numbers.
///   axis: an axis; None takes the flat array.
///   nan_policy: must be "propagate".
///   keepdims: keep the axis with size 1.
/// Returns: a named tuple: `mode`, of the dtype of `a`, and `count`, integers, without the axis; NaN and 0 of no
/// elements.
/// Raises:
///   NotImplementedError: the policies "omit" and "raise".
///   ValueError: another policy, or an axis out of bounds.
///   TypeError: `a` is no array or number.
/// Differentiable: almost everywhere, in both modes: the cotangent goes to one of the elements.
/// Example:
///   >>> int(jax.scipy.stats.mode(jnp.array([2, 1, 2])).mode)
///   2
#[public("scipy.stats.mode(a, axis=0, nan_policy='propagate', keepdims=False)")]
pub fn mode(a: &Val, axis: Option<i64>, nan_policy: &str, keepdims: bool) -> Result<Mode> {
    let x = promote("mode", std::slice::from_ref(a))?.swap_remove(0);
    check_policy(nan_policy)?;
    let shape = x.aval().shape.clone();
    let axis = axis.map(|axis| canonical_axis(axis, shape.len())).transpose()?;
    let of_all = vec![1; shape.len().max(1)];
    let is_empty = axis.map_or(x.aval().size() == 0, |axis| shape[axis] == 0);
    if is_empty {
        let sizes = match axis {
            Some(axis) if keepdims => [&shape[..axis], &[1], &shape[axis + 1..]].concat(),
            Some(axis) => [&shape[..axis], &shape[axis + 1..]].concat(),
            None if keepdims => of_all,
            None => vec![],
        };
        let filled = |value: f64| lax::full(&sizes, &literal(default_float(), value));
        return Ok(Mode { mode: filled(f64::NAN)?, count: filled(0.0)? });
    }
    let lines = match axis {
        None => row(&numpy::ravel(&x, Order::RowMajor)?)?,
        Some(axis) => numpy::moveaxis(&x, &[axis as i64], &[-1])?,
    };
    let (value, count) = most_frequent(&lines)?;
    let placed = |found: &Val| match axis {
        None if keepdims => lax::reshape(found, &of_all, None),
        None => getitem(found, &[IndexItem::Int(0)]),
        Some(axis) if keepdims => numpy::expand_dims(found, &[axis as i64]),
        Some(_) => Ok(found.clone()),
    };
    Ok(Mode { mode: placed(&value)?, count: placed(&count)? })
}

/// The smallest of the most frequent elements of each line, and how often it occurs. NaN are equal here.
fn most_frequent(lines: &Val) -> Result<(Val, Val)> {
    let ordered = numpy::sort(lines, Some(-1), true, false)?;
    let is_nan = numpy::isnan(&ordered)?;
    let is_equal = of(&column(&ordered)?).is(&row(&ordered)?);
    let are_nan = of(&column(&is_nan)?) & &row(&is_nan)?;
    let counts = (is_equal | are_nan).sum(-1).done()?;
    let best = numpy::argmax(&counts, Some(-1), true)?;
    let taken = |x: &Val| {
        let found = numpy::take_along_axis(x, &best, Some(-1), TakeOptions::default())?;
        getitem(&found, &[IndexItem::Ellipsis, IndexItem::Int(0)])
    };
    Ok((taken(&ordered)?, taken(&counts)?))
}

/// The ranks of elements, from 1.
///
/// Args:
///   a: an array of real numbers.
///   method: what equal elements get: the "average" of their places, the "min" or "max" of them, "dense", the number
///     of
///     different elements up to them, or "ordinal", places in the order of `a`.
///   axis: an axis; None takes the flat array and gives a vector.
///   nan_policy: must be "propagate".
/// Returns: floating ranks of the shape of `a`, or flat; NaN for all of a line with NaN.
/// Raises:
///   NotImplementedError: the policies "omit" and "raise".
///   ValueError: another method or policy.
///   TypeError: `a` is no array or number.
/// Differentiable: almost everywhere, with derivative zero.
/// Example:
///   >>> print(jax.scipy.stats.rankdata(jnp.array([5.0, 3.0, 5.0])))
///   [2.5 1.  2.5]
#[public("scipy.stats.rankdata(a, method='average', *, axis=None, nan_policy='propagate')")]
pub fn rankdata(a: &Val, method: &str, axis: Option<i64>, nan_policy: &str) -> Result<Val> {
    let a = promote("rankdata", std::slice::from_ref(a))?.swap_remove(0);
    check_policy(nan_policy)?;
    if !["average", "min", "max", "dense", "ordinal"].contains(&method) {
        bail!(Value, "unknown method '{method}'");
    }
    let (a, axis) = match axis {
        None => (numpy::ravel(&a, Order::RowMajor)?, 0),
        Some(axis) => (a.clone(), canonical_axis(axis, a.aval().rank())? as i64),
    };
    let lines = numpy::moveaxis(&a, &[axis], &[-1])?;
    let found = to_dtype(&ranks(&lines, method)?, default_float())?;
    let found = numpy::moveaxis(&found, &[-1], &[axis])?;
    let unknown = numpy::any(&numpy::isnan(&a)?, &Reduction::over(Axes::One(axis), true))?;
    numpy::where_(&unknown, &weak_float(f64::NAN), &found)
}

/// The ranks of the elements of each line.
fn ranks(lines: &Val, method: &str) -> Result<Val> {
    let take = |x: &Val, at: &Val| numpy::take_along_axis(x, at, Some(-1), TakeOptions::default());
    let order = numpy::argsort(lines, Some(-1), true, false)?;
    let place = numpy::argsort(&order, Some(-1), true, false)?;
    if method == "ordinal" {
        return (of(&place) + 1).done();
    }
    let ordered = take(lines, &order)?;
    let shape = ordered.aval().shape.clone();
    let (n, last) = (shape[shape.len() - 1], shape.len() - 1);
    let range = |x: &Val, start: usize, stop: usize| lax::slice_in_dim(x, start, stop, 1, last);
    let edge = lax::full(&[&shape[..last], &[n.min(1)]].concat(), &literal(DType::Bool, 1.0))?;
    let is_new = of(&range(&ordered, n.min(1), n)?).differs(&range(&ordered, 0, n.saturating_sub(1))?).done()?;
    let is_first = numpy::concatenate(&[edge.clone(), is_new.clone()], Some(-1), None)?;
    if method == "dense" {
        return take(&numpy::cumsum(&is_first, Some(-1), None)?, &place);
    }
    // Where the group of equal elements begins and ends.
    let positions = lax::broadcasted_iota(DType::I32, &shape, last)?;
    let start = where_(&is_first, &positions, 0).then(|x| lax::cummax(x, last, false));
    let is_last = numpy::concatenate(&[is_new, edge], Some(-1), None)?;
    let end = where_(&is_last, of(&positions) + 1, n as i64).then(|x| lax::cummin(x, last, true));
    let (start, end) = (take(&start.done()?, &place)?, take(&end.done()?, &place)?);
    match method {
        "min" => (of(&start) + 1).done(),
        "max" => Ok(end),
        _ => (0.5 * (of(&end) + &start + 1)).done(),
    }
}

/// The standard error of the mean along an axis: the deviation over the root of the number of elements.
///
/// Args:
///   a: an array of real numbers; integers become floating.
///   axis: an axis; None takes the flat array.
///   ddof: what is taken off the number of elements for the deviation; 1 for the estimate without bias of the
///     variance.
///   nan_policy: "propagate", or "omit" for the elements that are not NaN.
///   keepdims: keep the axis with size 1.
/// Returns: an array without the axis, of a floating dtype; NaN where there are no more than `ddof` elements.
/// Raises:
///   NotImplementedError: the policy "raise".
///   ValueError: another policy.
///   TypeError: `a` is no array or number.
/// Differentiable: yes, except where all elements are equal, in both modes.
/// Example:
///   >>> float(jax.scipy.stats.sem(jnp.array([1.0, 3.0])))
///   1.0
#[public("scipy.stats.sem(a, axis=0, ddof=1, nan_policy='propagate', *, keepdims=False)")]
pub fn sem(a: &Val, axis: &Axes, ddof: f64, nan_policy: &str, keepdims: bool) -> Result<Val> {
    let a = promote_args_inexact("sem", std::slice::from_ref(a))?.swap_remove(0);
    let dtype = a.aval().dtype;
    let options = Reduction::over(axis.clone(), keepdims);
    if nan_policy == "omit" {
        let count = (!of(&numpy::isnan(&a)?)).then(|known| numpy::sum(known, &options));
        return (of(&numpy::nanstd(&a, &options, ddof, None)?) / sqrt(count.astype(dtype))).done();
    }
    check_policy(nan_policy)?;
    let size = match axis {
        Axes::All => a.aval().size(),
        Axes::One(axis) => a.aval().shape[canonical_axis(*axis, a.aval().rank())?],
        _ => bail!(Type, "sem takes one axis or None"),
    };
    let spread = numpy::std(&a, &options, ddof, None, None)?;
    (of(&spread) / sqrt(literal(dtype, size as f64))).done()
}
