//! Arrays with elements replaced, inserted or left out. All give new arrays: `inplace` must be false where it exists.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{changed, counted, flat, joined, moved, part, pick, shaped, taken};
use super::where_;
use crate::axes::canonical_axis;
use crate::broadcast::broadcast_to;
use crate::convert::{convert, int_vector, known_for, weak_int};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};
use crate::lax::{self, GatherMode};

/// Positions along an axis, as users write them.
#[derive(Clone, Debug)]
pub enum Positions {
    /// A range: start, stop, step.
    Range([Option<i64>; 3]),
    /// An integer, integers or a mask.
    Array(Val),
}

impl Argument for Positions {
    const TYPE: Type = Type { python: "ArrayLike | slice", rust: "&Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Positions> {
        if let Some(range) = args.slice(at)? {
            return Ok(Positions::Range(range));
        }
        let number = if args.is_array(at) { None } else { args.array(at).ok() };
        number.map_or_else(|| args.convertible(at), Ok).map(Positions::Array)
    }
    fn absent(default: Constant) -> Positions {
        Positions::Array(Val::absent(default))
    }
}

/// The positions of a range in an axis, as Python counts them.
fn places_of([start, stop, step]: [Option<i64>; 3], size: i64) -> Result<Vec<i64>> {
    let step = step.unwrap_or(1);
    if step == 0 {
        bail!(Value, "slice step cannot be zero");
    }
    let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bounded = |end: i64| (if end < 0 { end + size } else { end }).clamp(lowest, highest);
    let start = start.map_or(if step > 0 { lowest } else { highest }, bounded);
    let stop = stop.map_or(if step > 0 { highest } else { lowest }, bounded);
    let mut places = vec![];
    let mut place = start;
    while if step > 0 { place < stop } else { place > stop } {
        places.push(place);
        place += step;
    }
    Ok(places)
}

fn check_inplace(name: &str, inplace: bool) -> Result<()> {
    if inplace {
        bail!(
            Value,
            "jax.numpy.{name} cannot modify arrays in-place, because JAX arrays are immutable. Pass inplace=False to instead \
             return an updated array."
        );
    }
    Ok(())
}

/// The array and an axis of it; without one the flat array.
fn axis_or_flat(x: &Val, axis: Option<i64>) -> Result<(Val, usize)> {
    match axis {
        None => Ok((flat(x)?, 0)),
        Some(axis) => Ok((x.clone(), canonical_axis(axis, x.aval().rank())?)),
    }
}

/// Negative positions counted from the end.
fn from_the_front(places: &Val, size: usize) -> Result<Val> {
    let is_negative = super::less(places, &weak_int(0))?;
    where_(&is_negative, &super::add(places, &weak_int(size as i64))?, places)
}

/// The array without some slices along an axis.
///
/// Args:
///   arr: an array.
///   obj: which slices: an integer, which may be traced, a slice, a concrete mask, or integers: concrete, or traced
///     with `assume_unique_indices`.
///   axis: the axis; None (the default) takes the flat array.
///   assume_unique_indices: a promise that no index occurs twice, so that the size of the result is known.
/// Returns: an array of the dtype of `arr`, shorter along the axis.
/// Raises:
///   ValueError: an integer or the axis is out of bounds, or a mask of another length.
///   TypeError: indices that are no integers, or `arr` is no array.
///   ConcretizationTypeError: traced indices without `assume_unique_indices`.
/// Differentiable: yes, in both modes, with respect to `arr`.
/// Example:
///   >>> print(jnp.delete(jnp.array([5, 6, 7]), 1))
///   [5 7]
#[public("numpy.delete(arr, obj, axis=None, *, assume_unique_indices=False)")]
pub fn delete(arr: &Val, obj: &Positions, axis: Option<i64>, assume_unique_indices: bool) -> Result<Val> {
    let (x, axis) = axis_or_flat(arr, axis)?;
    let size = x.aval().shape[axis];
    let places = match obj {
        Positions::Range(range) => return without_places(&x, axis, &places_of(*range, size as i64)?),
        Positions::Array(places) => places,
    };
    let (dtype, rank) = (places.aval().dtype, places.aval().rank());
    if rank == 0 {
        return without_one(&x, places, axis, size);
    }
    if assume_unique_indices && dtype != DType::Bool {
        return without_unique(&x, places, axis, size);
    }
    let known = known_for(places, "the array argument of jnp.delete, which decides about the size of the result")?;
    if dtype != DType::Bool && !dtype.is_integer() && places.aval().size() > 0 {
        bail!(Type, "obj must be a boolean or integer array");
    }
    let elements = known.elements()?;
    if dtype != DType::Bool {
        return without_places(&x, axis, &elements.iter().map(|place| place.as_i64()).collect::<Vec<_>>());
    }
    if places.aval().shape[..] != [size] {
        bail!(
            Value,
            "np.delete(arr, obj): for boolean indices, obj must be one-dimensional with length matching specified axis."
        );
    }
    let chosen = elements.iter().enumerate().filter(|(_, is_gone)| is_gone.is_nonzero()).map(|(place, _)| place as i64);
    without_places(&x, axis, &chosen.collect::<Vec<_>>())
}

/// The array without the slices at known places.
fn without_places(x: &Val, axis: usize, places: &[i64]) -> Result<Val> {
    let size = x.aval().shape[axis] as i64;
    let mut is_kept = vec![true; size as usize];
    for &place in places {
        if place < -size || place >= size {
            bail!(Index, "index {place} is out of bounds for axis 0 with size {size}");
        }
        is_kept[place.rem_euclid(size) as usize] = false;
    }
    let kept: Vec<i64> = (0..size).filter(|&place| is_kept[place as usize]).collect();
    taken(x, &int_vector(&kept), axis)
}

fn without_one(x: &Val, place: &Val, axis: usize, size: usize) -> Result<Val> {
    let dtype = place.aval().dtype;
    if let Some(known) = place.to_array() {
        if dtype != DType::Bool && !dtype.is_integer() {
            bail!(Type, "'{dtype}' object cannot be interpreted as an integer");
        }
        let (at, signed) = (known.element(0)?.as_i64(), size as i64);
        if at < -signed || at >= signed {
            bail!(Value, "axis {at} is out of bounds for array of dimension {size}");
        }
        if matches!(place, Val::Literal(_)) {
            let at = at.rem_euclid(signed);
            return joined(&[part(x, axis, 0, at)?, part(x, axis, at + 1, signed)?], axis);
        }
    }
    let place = from_the_front(place, size)?;
    let kept = counted(size.saturating_sub(1))?;
    let is_behind = super::greater_equal(&kept, &place)?;
    taken(x, &super::add(&kept, &is_behind)?, axis)
}

fn without_unique(x: &Val, places: &Val, axis: usize, size: usize) -> Result<Val> {
    let places = flat(&from_the_front(places, size)?)?;
    let none = super::zeros(&[size as i64], Some(DType::Bool))?;
    let is_gone = changed(&Update::Set, &none, &places, &Val::absent(Constant::Bool(true)))?;
    // The kept ones first, in their order.
    let order = super::argsort(&is_gone, Some(-1), true, false)?;
    taken(x, &part(&order, 0, None, size as i64 - places.aval().shape[0] as i64)?, axis)
}

/// The array with slices inserted before given positions along an axis.
///
/// Args:
///   arr: an array.
///   obj: where: an integer, integers or a slice; positions of `arr`, brought into its bounds.
///   values: what; broadcast and converted to the dtype of `arr`.
///   axis: the axis; None (the default) takes the flat array.
/// Returns: an array of the dtype of `arr`, longer along the axis.
/// Raises:
///   ValueError: the axis is out of bounds, `obj` has several axes, or shapes do not broadcast.
///   TypeError: positions that are no integers.
/// Differentiable: yes, in both modes, with respect to `arr` and `values`.
/// Example:
///   >>> print(jnp.insert(jnp.array([5, 7]), 1, 6))
///   [5 6 7]
#[public("numpy.insert(arr, obj, values, axis=None)")]
pub fn insert(arr: &Val, obj: &Positions, values: &Val, axis: Option<i64>) -> Result<Val> {
    let (x, axis) = axis_or_flat(arr, axis)?;
    let size = x.aval().shape[axis];
    let places = match obj {
        Positions::Range(range) => int_vector(&places_of(*range, size as i64)?),
        Positions::Array(places) => places.clone(),
    };
    let aval = places.aval();
    if aval.rank() > 1 {
        bail!(Value, "jnp.insert(): obj must be a slice, a one-dimensional array, or a scalar; got {aval}");
    }
    if !aval.dtype.is_integer() && aval.size() > 0 {
        bail!(Type, "jnp.insert(): obj must be of integer type, got {}", aval.dtype);
    }
    let places = if aval.dtype.is_integer() { places } else { super::astype(&places, DType::I32)? };
    let missing = x.aval().rank().saturating_sub(values.aval().rank());
    let mut values = shaped(values, &[&vec![1; missing][..], &values.aval().shape[..]].concat())?;
    if aval.rank() == 0 {
        values = moved(&values, 0, axis as i64)?;
    }
    let places = flat(&places)?;
    let count = places.aval().shape[0];
    let n = if aval.rank() == 0 || count == 1 { values.aval().shape[axis] } else { count };
    let places = super::clip(&from_the_front(&places, size)?, Some(&weak_int(0)), Some(&weak_int(size as i64)))?;
    let places = broadcast_to(&places, &[n])?;
    let mut shape = x.aval().shape.to_vec();
    shape[axis] = n;
    let values = convert(&broadcast_to(&values, &shape)?, x.aval().dtype, x.aval().weak_type)?;
    let source = sources(&places, size, n)?;
    taken(&joined(&[x, values], axis)?, &source, axis)
}

/// For each slice of the result where it comes from: `size` old ones, then `n` new ones, which go to `places`.
fn sources(places: &Val, size: usize, n: usize) -> Result<Val> {
    let order = super::argsort(places, Some(-1), true, false)?;
    let steps = lax::iota(places.aval().dtype, n)?;
    let at = super::add(&pick(places, &order)?, &steps)?;
    let none = super::zeros(&[(size + n) as i64], Some(DType::Bool))?;
    let is_new = changed(&Update::Set, &none, &at, &Val::absent(Constant::Bool(true)))?;
    let old = super::subtract(&super::cumsum(&super::invert(&is_new)?, None, None)?, &weak_int(1))?;
    let source = where_(&is_new, &weak_int(0), &old)?;
    changed(&Update::Set, &source, &at, &super::add(&weak_int(size as i64), &order)?)
}

/// The array with the elements where a mask holds replaced by values in turn; a new array.
///
/// Args:
///   arr: an array.
///   mask: booleans, as many as `arr` has elements.
///   vals: values, repeated as often as is needed.
///   inplace: must be given as False: arrays are immutable.
/// Returns: an array of the shape and dtype of `arr`.
/// Raises:
///   ValueError: `inplace` is true, sizes differ, or there are no values.
///   TypeError: lists or tuples.
/// Differentiable: yes, in both modes, with respect to `arr` and `vals`.
/// Example:
///   >>> x = jnp.arange(4)
///   >>> print(jnp.place(x, x % 2 == 0, jnp.array([8, 9]), inplace=False))
///   [8 1 9 3]
#[public("numpy.place(arr, mask, vals, *, inplace=True)")]
pub fn place(arr: &Val, mask: &Val, vals: &Val, inplace: bool) -> Result<Val> {
    check_inplace("place", inplace)?;
    let vals = flat(vals)?;
    let (size, n) = (arr.aval().size(), vals.aval().size());
    if size != mask.aval().size() {
        bail!(Value, "place: arr and mask must be the same size");
    }
    if n == 0 {
        bail!(Value, "Cannot place values from an empty array");
    }
    if size == 0 {
        return Ok(arr.clone());
    }
    let mask = flat(&super::astype(mask, DType::Bool)?)?;
    let turn = super::subtract(&super::cumsum(&mask, None, None)?, &weak_int(1))?;
    let turn = super::remainder(&turn, &weak_int(n as i64))?;
    let vals = convert(&pick(&vals, &turn)?, arr.aval().dtype, arr.aval().weak_type)?;
    shaped(&where_(&mask, &vals, &flat(arr)?)?, &arr.aval().shape)
}

/// The array with the elements at positions of the flat array replaced; a new array.
///
/// Args:
///   a: an array.
///   ind: integers.
///   v: values, repeated as often as is needed.
///   mode: what positions out of bounds do: None (the default) and 'clip' take the nearest, None after counting
///     negative ones from the end; 'wrap' takes them modulo the size.
///   inplace: must be given as False: arrays are immutable.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   ValueError: `inplace` is true, or another `mode`.
///   NotImplementedError: `mode='raise'`.
/// Differentiable: yes, in both modes, with respect to `a` and `v`.
/// Example:
///   >>> print(jnp.put(jnp.zeros(3), jnp.array([0, 2]), jnp.array([1.0, 2.0]), inplace=False))
///   [1. 0. 2.]
#[public("numpy.put(a, ind, v, mode=None, *, inplace=True)")]
pub fn put(a: &Val, ind: &Val, v: &Val, mode: Option<&str>, inplace: bool) -> Result<Val> {
    check_inplace("put", inplace)?;
    let (ind, v) = (flat(ind)?, flat(v)?);
    let (size, count, n) = (a.aval().size(), ind.aval().size(), v.aval().size());
    if size == 0 || count == 0 || n == 0 {
        return Ok(a.clone());
    }
    let v = pick(&v, &super::remainder(&counted(count)?, &weak_int(n as i64))?)?;
    let bounded = |ind: &Val| super::clip(ind, Some(&weak_int(0)), Some(&weak_int(size as i64 - 1)));
    let ind = match mode {
        None => bounded(&from_the_front(&ind, size)?)?,
        Some("clip") => bounded(&ind)?,
        Some("wrap") => super::remainder(&ind, &weak_int(size as i64))?,
        Some("raise") => bail!(NotImplemented, "The 'raise' mode to jnp.put is not supported."),
        Some(mode) => bail!(Value, "mode should be one of 'wrap' or 'clip'; got mode='{mode}'"),
    };
    shaped(&changed(&Update::Set, &flat(a)?, &ind, &v)?, &a.aval().shape)
}

/// The array with values at indices along an axis; a new array. The counterpart of `take_along_axis`.
///
/// Args:
///   arr: an array.
///   indices: integers with as many axes as `arr`.
///   values: what is put there; broadcasts to the indices.
///   axis: the axis; None takes the flat array.
///   inplace: must be given as False: arrays are immutable.
///   mode: what happens to indices out of bounds, as for `jnp.ndarray.at`; they are left out by default.
/// Returns: an array of the shape and dtype of `arr`.
/// Raises:
///   ValueError: `inplace` is true, the axis is out of bounds, or shapes do not go together.
/// Differentiable: yes, in both modes, with respect to `arr` and `values`.
/// Example:
///   >>> print(jnp.put_along_axis(jnp.zeros((2, 2), int), jnp.array([[1], [0]]), 9, axis=1, inplace=False))
///   [[0 9]
///    [9 0]]
#[public("numpy.put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None)")]
pub fn put_along_axis(
    arr: &Val,
    indices: &Val,
    values: &Val,
    axis: Option<i64>,
    inplace: bool,
    mode: Option<&str>,
) -> Result<Val> {
    check_inplace("put_along_axis", inplace)?;
    let mode = match mode {
        None => None,
        Some("drop" | "fill") => Some(GatherMode::FillOrDrop),
        Some("clip") => Some(GatherMode::Clip),
        Some("promise_in_bounds") => Some(GatherMode::PromiseInBounds),
        Some(other) => {
            bail!(Value, "Unrecognized mode {other:?}: use 'clip', 'drop', 'fill' or 'promise_in_bounds'")
        }
    };
    let (x, axis) = axis_or_flat(arr, axis)?;
    if x.aval().rank() != indices.aval().rank() {
        bail!(
            Value,
            "put_along_axis arguments 'arr' and 'indices' must have same ndim. Got arr.ndim={} and indices.ndim={}.",
            x.aval().rank(),
            indices.aval().rank()
        );
    }
    let shape = x.aval().shape.to_vec();
    let place = |(i, &size): (usize, &usize)| {
        if i == axis {
            return Ok(IndexItem::Array(indices.clone()));
        }
        let ones: Vec<usize> = (0..shape.len()).map(|j| if i == j { size } else { 1 }).collect();
        shaped(&counted(size)?, &ones).map(IndexItem::Array)
    };
    let places: Vec<IndexItem> = shape.iter().enumerate().map(place).collect::<Result<_>>()?;
    let options = UpdateOptions { mode, ..UpdateOptions::default() };
    shaped(&update(&Update::Set, &x, &places, values, &options)?, &arr.aval().shape)
}

/// The array with a value, or values in turn, on its main diagonal; a new array.
///
/// Args:
///   a: an array of at least two axes; of more only if they are of equal size.
///   val: a number, or an array whose elements are taken in turn.
///   wrap: for compatibility; must be False.
///   inplace: must be given as False: arrays are immutable.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   ValueError: too few axes, or unequal ones.
///   NotImplementedError: `wrap` or `inplace` is true.
/// Differentiable: yes, in both modes, with respect to `a` and `val`.
/// Example:
///   >>> print(jnp.fill_diagonal(jnp.zeros((2, 2), int), jnp.array([7, 8]), inplace=False))
///   [[7 0]
///    [0 8]]
#[public("numpy.fill_diagonal(a, val, wrap=False, *, inplace=True)")]
pub fn fill_diagonal(a: &Val, val: &Val, wrap: bool, inplace: bool) -> Result<Val> {
    if inplace {
        bail!(NotImplemented, "JAX arrays are immutable, must use inplace=False");
    }
    if wrap {
        bail!(NotImplemented, "wrap=True is not implemented, must use wrap=False");
    }
    let shape = a.aval().shape.to_vec();
    if shape.len() < 2 {
        bail!(Value, "array must be at least 2-d");
    }
    if shape.len() > 2 && shape.iter().any(|&size| size != shape[0]) {
        bail!(Value, "All dimensions of input must be of equal length");
    }
    let size = shape.iter().copied().min().unwrap_or(0);
    let places = vec![IndexItem::Array(counted(size)?); shape.len()];
    let val = match val.aval().rank() {
        0 => val.clone(),
        _ => {
            let n = val.aval().size().max(1) as i64;
            pick(&flat(val)?, &super::remainder(&counted(size)?, &weak_int(n))?)?
        }
    };
    update(&Update::Set, a, &places, &val, &UpdateOptions::default())
}

/// The array without the zeros around its nonzero elements.
///
/// Args:
///   filt: a concrete array.
///   trim: 'f' for the front, 'b' for the back, 'fb' (the default) for both.
///   axis: the axis or axes to cut; None (the default) for all.
/// Returns: an array of the dtype of `filt`.
/// Raises:
///   ConcretizationTypeError: a traced array: the size of the result depends on its values.
///   ValueError: an axis is out of bounds.
/// Differentiable: outside of transformations only; the values must be concrete.
/// Example:
///   >>> print(jnp.trim_zeros(jnp.array([0, 1, 0, 2, 0])))
///   [1 0 2]
#[public("numpy.trim_zeros(filt, trim='fb', axis=None)")]
pub fn trim_zeros(filt: &Val, trim: &str, axis: Option<&[i64]>) -> Result<Val> {
    let shape = filt.aval().shape.to_vec();
    if shape.is_empty() {
        return Ok(filt.clone());
    }
    let axes: Vec<usize> = match axis {
        None => (0..shape.len()).collect(),
        Some(axes) => axes.iter().map(|&axis| canonical_axis(axis, shape.len())).collect::<Result<_>>()?,
    };
    let why = "the array argument of jnp.trim_zeros, which decides about the size of the result";
    let known = super::nonzero_of(&known_for(filt, why)?)?;
    let (cuts_front, cuts_back) = (trim.to_lowercase().contains('f'), trim.to_lowercase().contains('b'));
    let mut cut = vec![IndexItem::ALL; shape.len()];
    for axis in axes {
        let size = shape[axis] as i64;
        let least = known[axis].iter().copied().min();
        let greatest = known[axis].iter().copied().max();
        let start = if cuts_front { least.unwrap_or(size) } else { 0 };
        let stop = if !cuts_back || cuts_front && least.is_none() { size } else { greatest.map_or(0, |last| last + 1) };
        cut[axis] = super::parts::range(start, stop);
    }
    getitem(filt, &cut)
}
