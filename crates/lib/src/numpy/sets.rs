//! Arrays as sets: distinct elements, unions, intersections and differences.
//!
//! All of them sort once and mark the first of each run of equal elements. Without `size` the number of results depends on
//! the values, so arrays must be known; with it they work under `jit`.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::{Val, Vals};

use super::parts::{changed, flat, joined, moved, part, pick, shaped};
use super::{TakeOptions, where_};
use crate::axes::canonical_axis;
use crate::convert::{default_int, known, weak_complex, weak_int};
use crate::declare::{NamedTuple, OneOrTuple, Returned};
use crate::indexing::{IndexItem, Update, getitem};
use crate::lax;
use crate::promotion::promote_dtypes;

/// What columns are ordered by: complex numbers by real part, then imaginary part. Where NaNs are equal, a complex number of
/// which one part is NaN is as one of which both are.
fn keys(columns: &[Val], equal_nan: bool) -> Result<Vec<Val>> {
    let mut keys = vec![];
    for x in columns {
        if !x.aval().dtype.is_complex() {
            keys.push(x.clone());
            continue;
        }
        let x = &if equal_nan { where_(&super::isnan(x)?, &weak_complex(f64::NAN, f64::NAN), x)? } else { x.clone() };
        keys.extend([super::real(x)?, super::imag(x)?]);
    }
    Ok(keys)
}

/// Where an element differs from the one before.
fn differs(x: &Val, equal_nan: bool) -> Result<Val> {
    let (later, earlier) = (part(x, 0, 1, None)?, part(x, 0, None, -1)?);
    let differs = super::not_equal(&later, &earlier)?;
    let dtype = x.aval().dtype;
    if !equal_nan || !dtype.is_inexact() || dtype.is_complex() {
        return Ok(differs);
    }
    let both = super::bitwise_and(&super::isnan(&later)?, &super::isnan(&earlier)?)?;
    super::bitwise_and(&differs, &super::invert(&both)?)
}

/// The order that sorts columns of `size` elements, and where runs of equal ones begin in it.
fn runs(columns: &[Val], size: usize, equal_nan: bool) -> Result<(Val, Val)> {
    let places = lax::iota(default_int(), size)?;
    if columns.is_empty() || size == 0 {
        let is_first = super::less(&places, &weak_int(1))?;
        return Ok((places, is_first));
    }
    let mut operands = keys(columns, equal_nan)?;
    let n = operands.len();
    operands.push(places);
    let mut sorted = lax::sort(&operands, 0, n, true)?;
    let order = sorted.pop().expect("one result for each operand");
    let mut differs_ = differs(&sorted[0], equal_nan)?;
    for column in &sorted[1..] {
        differs_ = super::bitwise_or(&differs_, &differs(column, equal_nan)?)?;
    }
    let first = super::ones(&[1], Some(DType::Bool))?;
    Ok((order, joined(&[first, differs_], 0)?))
}

/// Positions where a mask holds, filled up with its length.
fn places_of(mask: &Val, size: Option<usize>) -> Result<Val> {
    let found = match size {
        None => super::nonzero(mask)?,
        Some(size) => super::nonzero_sized(mask, size, &[mask.aval().shape[0] as i64])?,
    };
    super::astype(&found[0], default_int())
}

fn rows_at(x: &Val, places: &Val) -> Result<Val> {
    super::take(x, places, Some(0), TakeOptions::default())
}

/// Rows at places; those that are not below `n` are the fill value, the first row by default.
fn filled(values: &Val, places: &Val, n: usize, fill: Option<&Val>) -> Result<Val> {
    let aval = values.aval();
    let count = places.aval().shape[0];
    if n == 0 {
        let shape: Vec<i64> = [count].iter().chain(&aval.shape[1..]).map(|&size| size as i64).collect();
        return super::full(&shape, fill.unwrap_or(&weak_int(0)), Some(aval.dtype));
    }
    let bounded = super::clip(places, Some(&weak_int(0)), Some(&weak_int(n as i64 - 1)))?;
    let taken = rows_at(values, &bounded)?;
    let filler = match fill {
        None => part(&taken, 0, None, 1)?,
        Some(fill) => super::astype(fill, aval.dtype)?,
    };
    let mut shape = vec![1; taken.aval().rank()];
    shape[0] = count;
    let is_found = shaped(&super::less(places, &weak_int(n as i64))?, &shape)?;
    where_(&is_found, &taken, &filler)
}

/// What [`unique`] gives beside the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unique {
    /// The position of the first of each.
    pub index: bool,
    /// The position of each element's value.
    pub inverse: bool,
    /// How often each occurs.
    pub counts: bool,
    /// Whether NaNs are equal.
    pub equal_nan: bool,
    /// The number of results.
    pub size: Option<usize>,
}

/// The distinct elements in order, or the distinct slices along an axis.
///
/// Args:
///   ar: an array or number; concrete unless `size` is given.
///   return_index: whether to give the position of the first of each.
///   return_inverse: whether to give for each element (slice) the position of its value among the results.
///   return_counts: whether to give how often each occurs.
///   axis: an axis whose slices are compared, lexicographically; None (the default) for the elements.
///   equal_nan: whether NaNs are equal.
///   size: the number of results, a static integer: more are cut off, missing ones are filled up.
///   fill_value: what fills up; the least element by default.
///   sorted: for compatibility; results are always in order.
/// Returns: the values, or a tuple of them and what else was asked for, in the order of the arguments.
/// Raises:
///   TypeError: `ar` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds; no `fill_value` for an empty array and a positive `size`.
///   ConcretizationTypeError: a traced array without `size`.
/// Differentiable: the values: the gradient goes to the first of equal elements in order.
/// Example:
///   >>> values, counts = jnp.unique(jnp.array([3, 1, 3]), return_counts=True)
///   >>> print(values, counts)
///   [1 3] [1 2]
///   >>> print(jnp.unique(jnp.array([3, 1, 3]), size=4, fill_value=-1))
///   [ 1  3 -1 -1]
#[public(
    "numpy.unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, size=None, fill_value: Convertible=None, sorted: Ignored=True)"
)]
#[allow(clippy::too_many_arguments)]
pub fn unique(
    ar: &Val,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: Option<i64>,
    equal_nan: bool,
    size: Option<usize>,
    fill_value: Option<&Val>,
) -> Result<OneOrTuple> {
    let wanted = Unique { index: return_index, inverse: return_inverse, counts: return_counts, equal_nan, size };
    let mut out = distinct(ar, axis, wanted, fill_value)?;
    Ok(if out.len() == 1 { OneOrTuple::One(out.swap_remove(0)) } else { OneOrTuple::Tuple(out) })
}

fn distinct(ar: &Val, axis: Option<i64>, wanted: Unique, fill: Option<&Val>) -> Result<Vec<Val>> {
    let size = wanted.size;
    if size.is_none() {
        known(ar, "unique", "The size argument")?;
    }
    let axis = axis.map(|axis| canonical_axis(axis, ar.aval().rank())).transpose()?;
    let rows = match axis {
        None => flat(ar)?,
        Some(axis) => moved(ar, axis as i64, 0)?,
    };
    let n = rows.aval().shape[0];
    if size.is_some_and(|size| size > 0) && n == 0 && fill.is_none() {
        bail!(Value, "jnp.unique: for zero-sized input with nonzero size argument, fill_value must be specified");
    }
    let (order, is_first) = runs(&columns(&rows)?, n, wanted.equal_nan)?;
    // One more place than asked for: where the last run ends. Missing ones are the end of all.
    let ends = places_of(&is_first, size.map(|size| size + 1))?;
    let places = match size {
        None => ends.clone(),
        Some(size) => part(&ends, 0, None, size as i64)?,
    };
    let mut out = vec![values(&rows, &order, &places, n, size, fill)?];
    if wanted.index {
        out.push(if n > 0 { filled(&order, &places, n, None)? } else { order.clone() });
    }
    if wanted.inverse {
        let number = numbered(&is_first)?;
        let none = super::zeros(&[n as i64], Some(default_int()))?;
        let inverse = changed(&Update::Set, &none, &order, &number)?;
        out.push(if axis.is_none() { shaped(&inverse, &ar.aval().shape)? } else { inverse });
    }
    if wanted.counts {
        out.push(counts(&ends, n, size.is_some(), &order)?);
    }
    if let Some(axis) = axis {
        out[0] = moved(&out[0], 0, axis as i64)?;
    }
    Ok(out)
}

/// The number of the run of each element.
fn numbered(is_first: &Val) -> Result<Val> {
    super::subtract(&super::cumsum(is_first, None, Some(default_int()))?, &weak_int(1))
}

fn counts(ends: &Val, n: usize, is_sized: bool, none: &Val) -> Result<Val> {
    if n == 0 {
        return Ok(none.clone());
    }
    let ends = if is_sized {
        ends.clone()
    } else {
        super::append(ends, &super::full(&[1], &weak_int(n as i64), Some(ends.aval().dtype))?, None)?
    };
    super::diff(&ends, 1, -1, None, None)
}

fn columns(rows: &Val) -> Result<Vec<Val>> {
    let aval = rows.aval();
    if aval.rank() == 1 {
        return Ok(vec![rows.clone()]);
    }
    if aval.size() == 0 {
        return Ok(vec![]);
    }
    let width = aval.size() / aval.shape[0];
    let flat = shaped(rows, &[aval.shape[0], width])?;
    (0..width as i64).map(|i| getitem(&flat, &[IndexItem::ALL, IndexItem::Int(i)])).collect()
}

fn values(rows: &Val, order: &Val, places: &Val, n: usize, size: Option<usize>, fill: Option<&Val>) -> Result<Val> {
    match (n, size) {
        (0, None) => Ok(rows.clone()),
        (0, Some(_)) => filled(rows, places, n, fill),
        (_, None) => rows_at(&rows_at(rows, order)?, places),
        (_, Some(_)) => filled(&rows_at(rows, order)?, places, n, fill),
    }
}

/// Distinct elements, of which NaNs are distinct, as a named tuple.
fn named(class: &'static NamedTuple, x: &Val, wanted: Unique, fill: Option<&Val>) -> Result<Returned> {
    Ok(Returned::Named(class, Vals::from_vec(distinct(x, None, wanted, fill)?)))
}

static UNIQUE_ALL: NamedTuple =
    NamedTuple { name: "numpy._sets._UniqueAllResult", fields: &["values", "indices", "inverse_indices", "counts"] };
static UNIQUE_COUNTS: NamedTuple =
    NamedTuple { name: "numpy._sets._UniqueCountsResult", fields: &["values", "counts"] };
static UNIQUE_INVERSE: NamedTuple =
    NamedTuple { name: "numpy._sets._UniqueInverseResult", fields: &["values", "inverse_indices"] };

/// The distinct elements in order, their first positions, the inverse and the counts; NaNs are distinct.
///
/// Args:
///   x: an array or number; concrete unless `size` is given.
///   size, fill_value: how many to give, and what fills up, as for `unique`.
/// Returns: a named tuple of `values`, `indices`, `inverse_indices` (of the shape of `x`) and `counts`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced array without `size`.
/// Differentiable: the values, as those of `unique`.
/// Example:
///   >>> found = jnp.unique_all(jnp.array([3, 1, 3]))
///   >>> print(found.values, found.indices, found.inverse_indices, found.counts)
///   [1 3] [1 0] [1 0 1] [1 2]
#[public("numpy.unique_all(x, /, *, size=None, fill_value: Convertible=None)")]
pub fn unique_all(x: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Returned> {
    let wanted = Unique { index: true, inverse: true, counts: true, equal_nan: false, size };
    named(&UNIQUE_ALL, x, wanted, fill_value)
}

/// The distinct elements in order and how often each occurs; NaNs are distinct.
///
/// Args:
///   x: an array or number; concrete unless `size` is given.
///   size, fill_value: how many to give, and what fills up, as for `unique`.
/// Returns: a named tuple of `values` and `counts`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced array without `size`.
/// Differentiable: the values, as those of `unique`.
/// Example:
///   >>> found = jnp.unique_counts(jnp.array([3, 1, 3]))
///   >>> print(found.values, found.counts)
///   [1 3] [1 2]
#[public("numpy.unique_counts(x, /, *, size=None, fill_value: Convertible=None)")]
pub fn unique_counts(x: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Returned> {
    named(&UNIQUE_COUNTS, x, Unique { counts: true, size, ..Unique::default() }, fill_value)
}

/// The distinct elements in order and for each element the position of its value among them; NaNs are distinct.
///
/// Args:
///   x: an array or number; concrete unless `size` is given.
///   size, fill_value: how many to give, and what fills up, as for `unique`.
/// Returns: a named tuple of `values` and `inverse_indices` (of the shape of `x`).
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced array without `size`.
/// Differentiable: the values, as those of `unique`.
/// Example:
///   >>> found = jnp.unique_inverse(jnp.array([3, 1, 3]))
///   >>> print(found.values, found.inverse_indices)
///   [1 3] [1 0 1]
#[public("numpy.unique_inverse(x, /, *, size=None, fill_value: Convertible=None)")]
pub fn unique_inverse(x: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Returned> {
    named(&UNIQUE_INVERSE, x, Unique { inverse: true, size, ..Unique::default() }, fill_value)
}

/// The distinct elements in order; NaNs are distinct.
///
/// Args:
///   x: an array or number; concrete unless `size` is given.
///   size, fill_value: how many to give, and what fills up, as for `unique`.
/// Returns: a vector of the dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced array without `size`.
/// Differentiable: as the values of `unique`.
/// Example:
///   >>> print(jnp.unique_values(jnp.array([3, 1, 3])))
///   [1 3]
#[public("numpy.unique_values(x, /, *, size=None, fill_value: Convertible=None)")]
pub fn unique_values(x: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Val> {
    Ok(distinct(x, None, Unique { size, ..Unique::default() }, fill_value)?.swap_remove(0))
}

fn both_flat(ar1: &Val, ar2: &Val) -> Result<[Val; 2]> {
    let both = promote_dtypes(&[ar1.clone(), ar2.clone()])?;
    Ok([flat(&both[0])?, flat(&both[1])?])
}

/// The distinct elements of two arrays together, in order.
///
/// Args:
///   ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
///   size, fill_value: how many to give, and what fills up, as for `unique`.
/// Returns: a vector of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays without `size`.
/// Differentiable: as the values of `unique`.
/// Example:
///   >>> print(jnp.union1d(jnp.array([3, 1]), jnp.array([1, 2])))
///   [1 2 3]
#[public("numpy.union1d(ar1, ar2, *, size=None, fill_value: Convertible=None)")]
pub fn union1d(ar1: &Val, ar2: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Val> {
    let all = joined(&both_flat(ar1, ar2)?, 0)?;
    Ok(distinct(&all, None, Unique { size, equal_nan: true, ..Unique::default() }, fill_value)?.swap_remove(0))
}

/// The runs of equal elements in two flat arrays together: where each begins, and which array has it.
struct Groups {
    sizes: [usize; 2],
    order: Val,
    is_first: Val,
    values: Val,
    in_a: Val,
    in_b: Val,
    first_b: Val,
}

impl Groups {
    fn of(ar1: &Val, ar2: &Val) -> Result<Groups> {
        let pair = both_flat(ar1, ar2)?;
        let sizes = [pair[0].aval().shape[0], pair[1].aval().shape[0]];
        let n = sizes[0] + sizes[1];
        let both = joined(&pair, 0)?;
        let (order, is_first) = runs(std::slice::from_ref(&both), n, false)?;
        let values = if n > 0 { rows_at(&both, &order)? } else { both };
        let number = numbered(&is_first)?;
        let size_a = weak_int(sizes[0] as i64);
        let is_a = super::less(&order, &size_a)?;
        let in_a = any_of(&number, &is_a, n)?;
        let in_b = any_of(&number, &super::invert(&is_a)?, n)?;
        let weak_n = weak_int(n as i64);
        let last = super::full(&[n as i64], &weak_n, Some(default_int()))?;
        let place = where_(&is_a, &weak_n, &super::subtract(&order, &size_a)?)?;
        let first_b = changed(&Update::Min, &last, &number, &place)?;
        let first_b = if n > 0 { pick(&first_b, &number)? } else { first_b };
        Ok(Groups { sizes, order, is_first, values, in_a, in_b, first_b })
    }

    fn size(&self) -> usize {
        self.sizes[0] + self.sizes[1]
    }
}

/// For each element whether the mask holds anywhere in its run.
fn any_of(number: &Val, mask: &Val, n: usize) -> Result<Val> {
    if n == 0 {
        return Ok(mask.clone());
    }
    let none = super::zeros(&[n as i64], Some(default_int()))?;
    let greatest = changed(&Update::Max, &none, number, &super::astype(mask, default_int())?)?;
    pick(&super::greater(&greatest, &weak_int(0))?, number)
}

/// The distinct elements that two arrays share, in order.
///
/// Args:
///   ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
///   assume_unique: for compatibility; without influence.
///   return_indices: whether to give the first positions of the elements in both arrays.
///   size: the number of results, a static integer: more are cut off, missing ones are filled up.
///   fill_value: what fills up; the least element by default. Positions are filled up with the sizes of the arrays.
/// Returns: a vector of the promoted dtype, or a tuple of it and both vectors of positions.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays without `size`.
/// Differentiable: as the values of `unique`.
/// Example:
///   >>> print(jnp.intersect1d(jnp.array([3, 1, 2]), jnp.array([2, 3])))
///   [2 3]
#[public(
    "numpy.intersect1d(ar1, ar2, assume_unique: Ignored=False, return_indices=False, *, size=None, fill_value: Convertible=None)"
)]
pub fn intersect1d(
    ar1: &Val,
    ar2: &Val,
    return_indices: bool,
    size: Option<usize>,
    fill_value: Option<&Val>,
) -> Result<OneOrTuple> {
    let groups = Groups::of(ar1, ar2)?;
    let n = groups.size();
    let in_both = super::bitwise_and(&super::bitwise_and(&groups.is_first, &groups.in_a)?, &groups.in_b)?;
    let places = places_of(&in_both, size)?;
    let values = filled(&groups.values, &places, n, fill_value)?;
    if !return_indices {
        return Ok(OneOrTuple::One(values));
    }
    let [size_a, size_b] = groups.sizes.map(|size| weak_int(size as i64));
    let first_a = filled(&groups.order, &places, n, Some(&size_a))?;
    let first_b = filled(&groups.first_b, &places, n, Some(&size_b))?;
    Ok(OneOrTuple::Tuple(vec![values, first_a, first_b]))
}

/// The distinct elements of one array that another lacks, in order.
///
/// Args:
///   ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
///   assume_unique: whether to take the elements of `ar1` as they come, neither sorted nor made distinct.
///   size: the number of results, a static integer: more are cut off, missing ones are filled up.
///   fill_value: what fills up; 0 by default.
/// Returns: a vector of the dtype of `ar1`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays without `size`.
/// Differentiable: as the values of `unique`, with respect to `ar1`.
/// Example:
///   >>> print(jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([2])))
///   [1 3]
#[public("numpy.setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value: Convertible=None)")]
pub fn setdiff1d(
    ar1: &Val,
    ar2: &Val,
    assume_unique: bool,
    size: Option<usize>,
    fill_value: Option<&Val>,
) -> Result<Val> {
    let mut x = flat(ar1)?;
    let n = x.aval().shape[0];
    let mut mask = None;
    if !assume_unique {
        let (order, is_first) = runs(std::slice::from_ref(&x), n, true)?;
        x = rows_at(&x, &order)?;
        mask = Some(is_first);
    }
    let mut is_left = super::isin(&x, ar2, true, "auto")?;
    if let Some(mask) = &mask {
        is_left = super::bitwise_and(&is_left, mask)?;
    }
    let zero = weak_int(0);
    filled(&x, &places_of(&is_left, size)?, n, Some(fill_value.unwrap_or(&zero)))
}

/// The distinct elements that only one of two arrays has, in order.
///
/// Args:
///   ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
///   assume_unique: for compatibility; without influence.
///   size: the number of results, a static integer: more are cut off, missing ones are filled up.
///   fill_value: what fills up; the least element by default.
/// Returns: a vector of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays without `size`.
/// Differentiable: as the values of `unique`.
/// Example:
///   >>> print(jnp.setxor1d(jnp.array([3, 1]), jnp.array([1, 2])))
///   [2 3]
#[public("numpy.setxor1d(ar1, ar2, assume_unique: Ignored=False, *, size=None, fill_value: Convertible=None)")]
pub fn setxor1d(ar1: &Val, ar2: &Val, size: Option<usize>, fill_value: Option<&Val>) -> Result<Val> {
    let groups = Groups::of(ar1, ar2)?;
    let in_one = super::bitwise_xor(&groups.in_a, &groups.in_b)?;
    let places = places_of(&super::bitwise_and(&groups.is_first, &in_one)?, size)?;
    filled(&groups.values, &places, groups.size(), fill_value)
}
