//! Sorting and searching.

use pullback_base::{Array, DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::where_;
use crate::axes::canonical_axis;
use crate::convert::{convert, default_int, int_literal, number};
use crate::declare::Object;
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

/// The positions that sort by several keys: the last key counts first, the ones before decide ties.
///
/// Args:
///   keys: a sequence of arrays of one shape, or an array whose slices they are.
///   axis: the axis along which to sort; the last by default.
///   batch_size: for compatibility; without influence.
/// Returns: integers of the shape of a key.
/// Raises:
///   TypeError: there are no keys.
///   ValueError: keys of different shapes, or the axis is out of bounds.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.lexsort((jnp.array([2, 1, 0]), jnp.array([1, 0, 1]))))
///   [1 2 0]
#[public("numpy.lexsort(keys, axis=-1, *, batch_size: Ignored=16)")]
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

/// The number of the bin of each element: i where `bins[i-1] <= x < bins[i]`, 0 before the first edge and
/// `len(bins)` from the last one on.
///
/// Args:
///   x: an array or number.
///   bins: the edges, a vector in ascending or descending order.
///   right: whether bins hold their right edge, in place of the left one.
///   method: how to search, as for `searchsorted`.
/// Returns: integers of the default dtype and the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `bins` is no vector.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.digitize(jnp.array([-1.0, 0.5, 1.0]), jnp.array([0.0, 1.0])))
///   [0 1 2]
#[public("numpy.digitize(x, bins, right=False, *, method: Ignored=None)")]
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

/// The elements with the `kth` smallest in its place: none before it is greater, none behind it smaller.
///
/// Args:
///   a: a real array.
///   kth: the place, a static integer; negative ones count from the end.
///   axis: the axis; the last by default.
/// Returns: an array of the shape and dtype of `a`; the order on both sides is not specified.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `kth` or the axis is out of bounds.
///   NotImplementedError: `a` is complex.
/// Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
/// Example:
///   >>> print(jnp.partition(jnp.array([5, 1, 4, 2]), 1)[1])
///   2
#[public("numpy.partition(a, kth, axis=-1)")]
pub fn partition(a: &Val, kth: i64, axis: i64) -> Result<Val> {
    without_complex("partition", a)?;
    named_jit_one("partition", &[kth, axis], std::slice::from_ref(a), |args| {
        let a = &args[0];
        let axis = canonical_axis(axis, a.aval().rank())?;
        let size = a.aval().shape[axis];
        let kth = canonical_axis(kth, size)?;
        let smallest = lax::top_k(&backward(a)?, kth + 1, axis)?;
        let low = backward(&smallest[0])?;
        let high = lax::top_k(a, size - kth - 1, axis)?.swap_remove(0);
        lax::concatenate(&[low, high], axis)
    })
}

/// Elements in the opposite order, its own inverse: of integers the complement, which unlike the negative has no exception.
fn backward(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_inexact() { lax::neg(x) } else { lax::bitwise_not(x) }
}

/// The positions of the elements in an order with the `kth` smallest in its place, as `partition` gives it.
///
/// Args:
///   a: a real array.
///   kth: the place, a static integer; negative ones count from the end.
///   axis: the axis; the last by default.
/// Returns: integers of the shape of `a`; the order on both sides is not specified.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `kth` or the axis is out of bounds.
///   NotImplementedError: `a` is complex.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argpartition(jnp.array([5, 1, 4, 2]), 1)[1])
///   3
#[public("numpy.argpartition(a, kth, axis=-1)")]
pub fn argpartition(a: &Val, kth: i64, axis: i64) -> Result<Val> {
    without_complex("argpartition", a)?;
    named_jit_one("argpartition", &[kth, axis], std::slice::from_ref(a), |args| {
        let a = &args[0];
        let axis = canonical_axis(axis, a.aval().rank())?;
        let size = a.aval().shape[axis];
        let kth = canonical_axis(kth, size)?;
        let low = lax::top_k(&backward(a)?, kth + 1, axis)?.swap_remove(1);
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
    let flat = |x: &Val, rows: usize| lax::reshape(x, &[rows, pullback_base::extent(&shape[1..])], None);
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
    if !x.aval().dtype.is_integer() && x.aval().dtype != DType::Bool {
        bail!(Type, "x argument to bincount must have an integer type; got {}", x.aval().dtype);
    }
    if x.aval().rank() != 1 {
        bail!(Value, "only 1-dimensional input supported.");
    }
    if let Some(weights) = weights.filter(|weights| weights.aval().shape != x.aval().shape) {
        bail!(Value, "weights must have the shape of x, got {} and {}", weights.aval(), x.aval());
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

/// Positions of the nonzero elements of a known array, one vector for each axis.
///
/// # Errors
/// A `Concretization` error for a traced array.
pub fn nonzero(x: &Val) -> Result<Vec<Val>> {
    let array = crate::convert::known(x, "nonzero", "The size argument")?;
    Ok(nonzero_of(&array)?.iter().map(|places| crate::convert::int_vector(places)).collect())
}

/// As [`nonzero`], as numbers.
pub(crate) fn nonzero_of(array: &Array) -> Result<Vec<Vec<i64>>> {
    let shape = array.shape();
    let mut columns: Vec<Vec<i64>> = vec![vec![]; shape.len()];
    for (flat, element) in array.elements()?.into_iter().enumerate() {
        if element.is_nonzero() {
            let mut rest = flat;
            for axis in (0..shape.len()).rev() {
                columns[axis].push((rest % shape[axis]) as i64);
                rest /= shape[axis];
            }
        }
    }
    Ok(columns)
}

/// One more than the greatest of concrete integers; 0 for none.
fn greatest_plus_one(x: &Val) -> Result<usize> {
    let elements = crate::convert::known(x, "bincount", "The 'length' argument")?.elements()?;
    Ok(elements.into_iter().map(|element| element.as_i64() + 1).max().unwrap_or(0).max(0) as usize)
}

/// How many elements have each of the values 0, 1, 2, ...; negative elements count as 0.
///
/// Args:
///   x: a vector of integers; concrete unless `length` is given.
///   weights: what each element counts: an array of the shape of `x`; 1 by default.
///   minlength: the least length of the result; 0 by default.
///   length: the length of the result, a static integer; elements that are not below it are dropped.
///   out_sharding: for compatibility; without influence on one device.
/// Returns: a vector of length `max(minlength, 1 + greatest element)`, or `length`: integers, or the dtype of
///   `weights`.
/// Raises:
///   TypeError: `x` is not of an integer dtype, or no array.
///   ValueError: `x` is no vector, or `weights` has another shape.
///   ConcretizationTypeError: a traced `x` without `length`.
/// Differentiable: with respect to `weights`, in both modes; it is linear.
/// Example:
///   >>> print(jnp.bincount(jnp.array([0, 1, 1, 3])))
///   [1 2 0 1]
#[public("numpy.bincount(x, weights=None, minlength=0, *, length=None, out_sharding: Sharded=None)")]
pub fn bincount_of(x: &Val, weights: Option<&Val>, minlength: i64, length: Option<usize>) -> Result<Val> {
    let length = match length {
        Some(length) => length,
        None => greatest_plus_one(x)?.max(minlength.max(0) as usize),
    };
    bincount(x, weights, length)
}

fn plain_order(name: &str, has_kind: bool, has_order: bool) -> Result<()> {
    if has_kind {
        bail!(
            Type,
            "'kind' argument to {name} is not supported. Use stable=True or stable=False to specify sort stability."
        );
    }
    if has_order {
        bail!(Type, "'order' argument to {name} is not supported.");
    }
    Ok(())
}

fn without_complex(name: &str, a: &Val) -> Result<()> {
    if a.aval().dtype.is_complex() {
        bail!(NotImplemented, "jnp.{name} for complex dtype is not implemented.");
    }
    Ok(())
}

/// The first of the elements in order, and their positions.
fn smallest(a: &Val, k: usize, axis: i64) -> Result<(Val, Val)> {
    let aval = a.aval();
    let along = canonical_axis(axis, aval.rank())?;
    if aval.dtype.is_complex() {
        bail!(Value, "top_k is not compatible with complex inputs.");
    }
    if k > aval.shape[along] {
        let size = aval.shape[along];
        bail!(Value, "k argument to top_k must be no larger than size along axis; got k={k} with size {size}.");
    }
    let order = argsort(a, Some(axis), true, false)?;
    let positions = lax::slice_in_dim(&order, 0, k, 1, along)?;
    Ok((super::take_along_axis(a, &positions, Some(axis), super::TakeOptions::default())?, positions))
}

/// The elements in order along an axis; NaNs come last. Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   a: an array.
///   axis: the axis; the last by default; None takes the flat array.
///   kind, order: for compatibility; must be None.
///   stable: whether equal elements keep their order, which makes a difference for -0.0 and 0.0 only.
///   descending: whether the greatest comes first.
/// Returns: an array of the shape and dtype of `a`, or flat without axis.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `kind` or `order` is given.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
/// Example:
///   >>> print(jnp.sort(jnp.array([[3, 1, 2], [0, 9, 4]]), descending=True))
///   [[3 2 1]
///    [9 4 0]]
#[public("numpy.sort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False)")]
pub fn sort_along(
    a: &Val,
    axis: Option<i64>,
    kind: Option<Object>,
    order: Option<Object>,
    stable: bool,
    descending: bool,
) -> Result<Val> {
    plain_order("sort", kind.is_some(), order.is_some())?;
    sort(a, axis, stable, descending)
}

/// The positions of the elements in order along an axis: `take_along_axis(a, argsort(a), -1)` is sorted.
///
/// Args:
///   a: an array.
///   axis: the axis; the last by default; None takes the flat array.
///   kind, order: for compatibility; must be None.
///   stable: whether equal elements keep their order.
///   descending: whether the greatest comes first.
///   dtype: the dtype of the result; the default integer by default.
/// Returns: integers of the shape of `a`, or flat without axis.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `kind` or `order` is given.
///   ValueError: the axis is out of bounds.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argsort(jnp.array([3, 1, 2])))
///   [1 2 0]
#[public("numpy.argsort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None)")]
pub fn argsort_along(
    a: &Val,
    axis: Option<i64>,
    kind: Option<Object>,
    order: Option<Object>,
    stable: bool,
    descending: bool,
    dtype: Option<DType>,
) -> Result<Val> {
    plain_order("argsort", kind.is_some(), order.is_some())?;
    let positions = argsort(a, axis, stable, descending)?;
    dtype.map_or(Ok(positions.clone()), |dtype| convert(&positions, dtype, false))
}

/// The positions at which elements would be inserted into a sorted vector to keep it sorted.
///
/// Args:
///   a: a vector in ascending order.
///   v: the elements: an array or number; NaN goes behind the numbers.
///   side: 'left' (the default) for the first such position, 'right' for the last.
///   sorter: positions that sort `a`, if it is not in order.
///   method: 'scan', 'scan_unrolled', 'sort' or 'compare_all'; all give the same here.
/// Returns: integers of the default dtype and the shape of `v`, from 0 to the size of `a`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: `a` is no vector, or another `side` or `method`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.searchsorted(jnp.array([1, 3, 5]), jnp.array([0, 3, 9])))
///   [0 1 3]
#[public("numpy.searchsorted(a, v, side='left', sorter=None, *, method='scan')")]
pub fn searchsorted_by(a: &Val, v: &Val, side: &str, sorter: Option<&Val>, method: &str) -> Result<Val> {
    if !["compare_all", "scan", "scan_unrolled", "sort"].contains(&method) {
        bail!(
            Value,
            "invalid argument method='{method}', expected one of ['compare_all', 'scan', 'scan_unrolled', 'sort']"
        );
    }
    let sorted = match sorter {
        Some(order) => super::take(a, order, None, super::TakeOptions::default())?,
        None => a.clone(),
    };
    match side {
        "left" | "right" => searchsorted(&sorted, v, side == "right"),
        _ => bail!(Value, "{side:?} is an invalid value for keyword 'side'. Expected one of ['left', 'right']."),
    }
}

/// The `k` greatest (or smallest) elements along an axis, in order, and their positions.
///
/// Args:
///   a: a real array.
///   k: how many, a static integer.
///   axis: the axis; the last by default.
///   mode: 'largest' (the default; NaN is greatest) or 'smallest'.
///   sorted: for compatibility; results are always in order.
/// Returns: the pair of elements and int32 positions, both of size `k` along the axis; of equal ones the first come
///   first.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `k` is greater than the axis, the axis is out of bounds, `a` is complex, or another `mode`.
/// Differentiable: the elements: the gradient goes back to the places where they came from.
/// Example:
///   >>> values, places = jnp.top_k(jnp.array([3, 9, 5]), 2)
///   >>> print(values, places)
///   [9 5] [1 2]
#[public("numpy.top_k(a, k, /, *, axis=-1, mode='largest', sorted: Ignored=True)")]
pub fn top_k_by(a: &Val, k: usize, axis: i64, mode: &str) -> Result<(Val, Val)> {
    match mode {
        "largest" => top_k(a, k, axis),
        "smallest" => smallest(a, k, axis),
        _ => bail!(Value, "mode must be 'largest' or 'smallest', got '{mode}'"),
    }
}

/// The elements in order along the first axis as complex numbers: by real part, then imaginary part.
///
/// Args:
///   a: an array of at least one axis.
/// Returns: an array of the shape of `a` and a complex dtype.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `a` has no axes.
/// Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
/// Example:
///   >>> print(jnp.sort_complex(jnp.array([2 + 1j, 1 + 5j, 2 - 1j])))
///   [1.+5.j 2.-1.j 2.+1.j]
#[public("numpy.sort_complex(a)")]
pub fn sort_complex(a: &Val) -> Result<Val> {
    let sorted = sort(a, Some(0), true, false)?;
    let floating = crate::promotion::promote_inexact(&[sorted])?.swap_remove(0);
    let narrowest = crate::convert::literal(DType::C64, 0.0);
    let strong = crate::convert::literal(floating.aval().dtype, 0.0);
    super::astype(&floating, crate::promotion::result_type_of(&[strong, narrowest])?.dtype)
}
