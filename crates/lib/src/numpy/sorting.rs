//! Sorting and searching.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::where_;
use crate::axes::canonical_axis;
use crate::convert::{convert, default_int, int_literal, number};
use crate::indexing::{IndexItem, Update, UpdateOptions, update};
use crate::jit::{named_jit, named_jit_one};
use crate::lax;
use crate::promotion::promote_dtypes;

fn flat_or_axis(x: &Val, axis: Option<i64>) -> Result<(Val, usize)> {
    match axis {
        None => Ok((super::ravel(x, super::Order::RowMajor)?, 0)),
        Some(axis) => Ok((x.clone(), canonical_axis(axis, x.aval().rank())?)),
    }
}

/// The elements in order along an axis, or all in one; NaN last.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn sort(x: &Val, axis: Option<i64>, stable: bool, descending: bool) -> Result<Val> {
    let statics = [axis.is_some().into(), axis.unwrap_or(0), stable.into(), descending.into()];
    named_jit_one("sort", &statics, std::slice::from_ref(x), |args| {
        let (x, axis) = flat_or_axis(&args[0], axis)?;
        let sorted = lax::sort(std::slice::from_ref(&x), axis, 1, stable)?.swap_remove(0);
        if descending { lax::rev(&sorted, &[axis]) } else { Ok(sorted) }
    })
}

/// The positions that would sort along an axis, or all in one.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn argsort(x: &Val, axis: Option<i64>, stable: bool, descending: bool) -> Result<Val> {
    let statics = [axis.is_some().into(), axis.unwrap_or(0), stable.into(), descending.into()];
    named_jit_one("argsort", &statics, std::slice::from_ref(x), |args| {
        let (x, axis) = flat_or_axis(&args[0], axis)?;
        let positions = lax::broadcasted_iota(default_int(), &x.aval().shape, axis)?;
        if !descending {
            return Ok(lax::sort(&[x, positions], axis, 1, stable)?.swap_remove(1));
        }
        let reversed = [lax::rev(&x, &[axis])?, lax::rev(&positions, &[axis])?];
        lax::rev(&lax::sort(&reversed, axis, 1, stable)?[1], &[axis])
    })
}

/// The positions that would sort by several keys, the last the most important.
///
/// # Errors
/// A `Type` error for no keys, a `Value` error for shapes that differ.
pub fn lexsort(keys: &[Val], axis: i64) -> Result<Val> {
    let Some(first) = keys.first() else { bail!(Type, "need sequence of keys with len > 0 in lexsort") };
    if keys.iter().any(|key| key.aval().shape != first.aval().shape) {
        bail!(Value, "all keys need to be the same shape");
    }
    named_jit_one("lexsort", &[axis], keys, |keys| {
        let shape = keys[0].aval().shape.to_vec();
        if shape.is_empty() {
            return Ok(int_literal(default_int(), 0));
        }
        let axis = canonical_axis(axis, shape.len())?;
        let positions = lax::broadcasted_iota(default_int(), &shape, axis)?;
        let operands: Vec<Val> = keys.iter().rev().cloned().chain([positions]).collect();
        Ok(lax::sort(&operands, axis, keys.len(), true)?.pop().expect("one result for each operand"))
    })
}

/// Positions at which queries would be inserted in a sorted vector.
///
/// # Errors
/// A `Value` error for a sorted array of other than one axis.
pub fn searchsorted(sorted: &Val, query: &Val, right: bool) -> Result<Val> {
    if sorted.aval().rank() != 1 {
        bail!(Value, "a should be 1-dimensional");
    }
    named_jit_one("searchsorted", &[right.into()], &[sorted.clone(), query.clone()], |args| {
        let ins = promote_dtypes(args)?;
        lax::search_sorted(&ins[0], &ins[1], right)
    })
}

/// The bin of each element, of rising or falling edges.
///
/// # Errors
/// A `Value` error for edges of other than one axis.
pub fn digitize(x: &Val, bins: &Val, right: bool) -> Result<Val> {
    if bins.aval().rank() != 1 {
        bail!(Value, "digitize: bins must be a 1-dimensional array; got bins={}", bins.aval());
    }
    named_jit_one("digitize", &[right.into()], &[x.clone(), bins.clone()], |args| {
        use crate::indexing::getitem;
        let (x, bins) = (&args[0], &args[1]);
        let size = bins.aval().shape[0];
        if size == 0 {
            return lax::full(&x.aval().shape, &int_literal(DType::I32, 0));
        }
        let end = |i: i64| getitem(bins, &[IndexItem::Int(i)]);
        let is_rising = super::greater_equal(&end(-1)?, &end(0)?)?;
        let rising = searchsorted(bins, x, !right)?;
        let falling = searchsorted(&lax::rev(bins, &[0])?, x, !right)?;
        let falling = lax::sub(&number(&falling, size as f64), &falling)?;
        where_(&is_rising, &rising, &falling)
    })
}

/// The `kth` smallest in its place, smaller before and greater after it.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn partition(x: &Val, kth: i64, axis: i64) -> Result<Val> {
    named_jit_one("partition", &[kth, axis], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let axis = canonical_axis(axis, x.aval().rank())?;
        let size = x.aval().shape[axis];
        let kth = canonical_axis(kth, size)?;
        let smallest = lax::top_k(&backward(x)?, kth + 1, axis)?;
        let low = backward(&smallest[0])?;
        let high = lax::top_k(x, size - kth - 1, axis)?.swap_remove(0);
        lax::concatenate(&[low, high], axis)
    })
}

/// Elements in the opposite order, its own inverse: of integers the complement, which unlike the negative has no exception.
fn backward(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_inexact() { lax::neg(x) } else { lax::bitwise_not(x) }
}

/// Positions for [`partition`]: those of the smallest in order, then the others as they come.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn argpartition(x: &Val, kth: i64, axis: i64) -> Result<Val> {
    named_jit_one("argpartition", &[kth, axis], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let axis = canonical_axis(axis, x.aval().rank())?;
        let size = x.aval().shape[axis];
        let kth = canonical_axis(kth, size)?;
        let low = lax::top_k(&backward(x)?, kth + 1, axis)?.swap_remove(1);
        let is_left = is_missing(&low, size, axis)?;
        let high = lax::top_k(&is_left, size - kth - 1, axis)?.swap_remove(1);
        lax::concatenate(&[low, high], axis)
    })
}

/// Of the positions along an axis of `size` those that are not among the given ones: 1 where they are missing, else 0.
fn is_missing(positions: &Val, size: usize, axis: usize) -> Result<Val> {
    let moved = super::move_axis_to(positions, axis, 0)?;
    let n = moved.aval().shape[0];
    let shape: Vec<usize> = std::iter::once(size).chain(moved.aval().shape[1..].iter().copied()).collect();
    let flat = |x: &Val, rows: usize| lax::reshape(x, &[rows, shape[1..].iter().product()], None);
    let moved = flat(&moved, n)?;
    let columns = lax::broadcasted_iota(DType::I32, &moved.aval().shape, 1)?;
    let ones = lax::full(&[size, moved.aval().shape[1]], &int_literal(DType::F32, 1))?;
    let index = [IndexItem::Array(moved), IndexItem::Array(columns)];
    let zero = int_literal(DType::F32, 0);
    let options = UpdateOptions { unique: true, ..UpdateOptions::default() };
    let left = update(&Update::Set, &ones, &index, &zero, &options)?;
    super::move_axis_to(&lax::reshape(&left, &shape, None)?, 0, axis)
}

/// The `k` greatest along an axis and their positions.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn top_k(x: &Val, k: usize, axis: i64) -> Result<(Val, Val)> {
    let axis = canonical_axis(axis, x.aval().rank())?;
    let mut outs = lax::top_k(x, k, axis)?;
    let positions = outs.pop().expect("two results");
    Ok((outs.pop().expect("two results"), positions))
}

/// How many elements have each value; values beyond `length` are dropped.
///
/// # Errors
/// A `Type` error for elements that are no integers, a `Value` error for weights of another shape.
pub fn bincount(x: &Val, weights: Option<&Val>, length: usize) -> Result<Val> {
    if x.aval().rank() != 1 {
        bail!(Value, "only 1-dimensional input supported.");
    }
    if !x.aval().dtype.is_integer() && x.aval().dtype != DType::Bool {
        bail!(Type, "x argument to bincount must have an integer type; got {}", x.aval().dtype);
    }
    let one = crate::convert::weak_int(1);
    let weights = weights.unwrap_or(&one);
    let dtype = weights.aval().dtype;
    let zeros = lax::full(&[length], &crate::convert::literal(dtype, 0.0))?;
    let bounded = super::clip(&convert(x, DType::I32, false)?, Some(&crate::convert::weak_int(0)), None)?;
    update(&Update::Add, &zeros, &[IndexItem::Array(bounded)], weights, &UpdateOptions::default())
}

/// Sorted by the first operand, with the others following.
///
/// # Errors
/// What the primitive raises.
pub fn sort_together(xs: &[Val], axis: i64) -> Result<Vec<Val>> {
    let axis = canonical_axis(axis, xs[0].aval().rank())?;
    Ok(named_jit("sort", &[axis as i64, xs.len() as i64], xs, |xs| Ok(lax::sort(xs, axis, 1, true)?.into_vec()))?
        .into_vec())
}

/// The first `size` positions of nonzero elements, one vector for each axis; missing ones are `fill`.
///
/// # Errors
/// What the primitives raise.
pub fn nonzero_sized(x: &Val, size: usize, fill: &[i64]) -> Result<Vec<Val>> {
    let dtype = default_int();
    let shape = x.aval().shape.to_vec();
    let mask = super::ravel(&lax::nonzero_mask(x)?, super::Order::RowMajor)?;
    let total = mask.aval().size();
    if total == 0 || size == 0 {
        return fill.iter().map(|&fill| lax::full(&[size], &int_literal(dtype, fill.into()))).collect();
    }
    // Each nonzero element goes to the place that the number of those before it names; the others go out of bounds.
    let ranks = lax::cumsum(&convert(&mask, dtype, false)?, 0, false)?;
    let places = lax::sub(&ranks, &number(&ranks, 1.0))?;
    let places = lax::select(&mask, &places, &lax::full_like(&places, size as f64)?)?;
    let flat = lax::iota(dtype, total)?;
    let missing = lax::full(&[size], &int_literal(dtype, -1))?;
    let index = [IndexItem::Array(places)];
    let found = update(&Update::Set, &missing, &index, &flat, &UpdateOptions::default())?;
    let is_missing = lax::lt(&found, &number(&found, 0.0))?;
    let mut stride = total;
    let along = |(&of, &fill): (&usize, &i64)| {
        stride /= of.max(1);
        let place = lax::rem(&lax::div(&found, &number(&found, stride as f64))?, &number(&found, of as f64))?;
        lax::select(&is_missing, &lax::full_like(&place, fill as f64)?, &place)
    };
    shape.iter().zip(fill).map(along).collect()
}
