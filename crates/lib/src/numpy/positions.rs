//! Positions in arrays: from coordinates and back, of diagonals and triangles, of elements that are not zero.

use std::ops::Range;
use std::sync::Arc;

use pullback_base::array::scratch;
use pullback_base::dtype::Kind;
use pullback_base::{DType, Error, ErrorKind, Result, bail};
use pullback_derive::public;
use pullback_ir::{Val, Vals};

use super::nested::Nest;
use super::parts::{counted, part, shaped};
use super::{Reduction, where_};
use crate::axes::{Axes, signed_tuple_text};
use crate::convert::{default_int, int_literal, int_vector, weak_int};
use crate::declare::{NestedInts, TupleOf};
use crate::promotion::result_type_of;

/// The greatest integer of a dtype.
fn greatest_int(dtype: DType) -> i128 {
    let bits = dtype.bits() - u32::from(dtype.kind() == Kind::Signed);
    (1i128 << bits) - 1
}

/// The positions in the flat array of coordinates.
///
/// Args:
///   multi_index: a sequence of integer arrays that broadcast, one for each axis.
///   dims: the sizes of the axes.
///   mode: what coordinates out of bounds do: 'raise' (the default; concrete ones only) raises, 'clip' takes the
///     nearest, 'wrap' the coordinate modulo the size, 'ignore' counts with them as they are.
///   order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
///   dtype: the dtype of the result; that of the coordinates by default.
/// Returns: integers of the broadcast shape.
/// Raises:
///   ValueError: another number of coordinates, coordinates out of bounds in mode 'raise', another mode or order.
///   TracerBoolConversionError: traced coordinates in mode 'raise'.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([2, 1])), (2, 3)))
///   [2 4]
#[public("numpy.ravel_multi_index(multi_index, dims, mode='raise', order='C', *, dtype=None)")]
pub fn ravel_multi_index(
    multi_index: &Nest,
    dims: &[i64],
    mode: &str,
    order: &str,
    dtype: Option<DType>,
) -> Result<Val> {
    let index = multi_index.arrays("the coordinates of jnp.ravel_multi_index")?;
    let dtype = flat_dtype(dtype, &index, dims)?;
    if index.len() != dims.len() {
        bail!(Value, "len(multi_index)={} != len(dims)={}", index.len(), dims.len());
    }
    let within = |(i, &size): (&Val, &i64)| match mode {
        "raise" => check_within(i, size).map(|()| i.clone()),
        "clip" => super::clip(i, Some(&weak_int(0)), Some(&weak_int(size - 1))),
        "wrap" => super::remainder(i, &weak_int(size)),
        "ignore" => Ok(i.clone()),
        _ => bail!(Value, "invalid mode='{mode}'. Expected 'raise', 'wrap', 'clip' or 'ignore'"),
    };
    let index: Vec<Val> = index.iter().zip(dims).map(within).collect::<Result<_>>()?;
    let stride = |i: usize| match order {
        "C" => dims[i + 1..].iter().copied().fold(1, i64::wrapping_mul),
        _ => dims[..i].iter().copied().fold(1, i64::wrapping_mul),
    };
    if !matches!(order, "C" | "F") {
        bail!(Value, "invalid order='{order}'. Expected 'C' or 'F'");
    }
    let mut total = weak_int(0);
    for (at, i) in index.iter().enumerate() {
        let stride = int_literal(dtype, stride(at).into());
        total = super::add(&total, &super::multiply(&super::astype(i, dtype)?, &stride)?)?;
    }
    super::array(&total, Some(dtype), false, 0)
}

/// Raises where a known coordinate is out of bounds.
fn check_within(i: &Val, size: i64) -> Result<()> {
    let is_out = super::bitwise_or(&super::less(i, &weak_int(0))?, &super::greater_equal(i, &weak_int(size))?)?;
    let any = super::any(&is_out, &Reduction::default())?;
    let Some(known) = any.to_array() else {
        let text = format!(
            "Attempted boolean conversion of traced array with shape {}.\nUse jnp.where or lax.cond to choose by a traced \
             value, or mark the argument as static with static_argnums.",
            any.aval().weak(false).long()
        );
        return Err(Error::about(ErrorKind::TracerBool, text, Arc::new(any)));
    };
    if known.element(0)?.is_nonzero() {
        bail!(Value, "invalid entry in coordinates array");
    }
    Ok(())
}

/// The dtype of flat positions, which holds the greatest.
fn flat_dtype(dtype: Option<DType>, index: &[Val], dims: &[i64]) -> Result<DType> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        None if index.is_empty() => default_int(),
        None => result_type_of(index)?.dtype,
    };
    if !dtype.is_integer() {
        bail!(Value, "dtype=dtype('{dtype}') is not an integer type.");
    }
    let total = dims.iter().fold(1i128, |total, &size| total.saturating_mul(size.into()));
    if total - 1 > greatest_int(dtype) {
        bail!(
            Value,
            "jnp.ravel_multi_index: dtype=dtype('{dtype}') not large enough to hold flattened index for dims={}. Use the \
             dtype argument to pass a suitable dtype (e.g. dtype='int32').",
            signed_tuple_text(dims)
        );
    }
    Ok(dtype)
}

/// The coordinates of positions in the flat array; the inverse of `ravel_multi_index`.
/// Negative positions count from the end; others out of bounds are brought to the nearest.
///
/// Args:
///   indices: integers.
///   shape: the sizes of the axes: an integer or a tuple.
/// Returns: a tuple with an integer array of the shape of `indices` for each axis.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.unravel_index(jnp.array([2, 4]), (2, 3))
///   >>> print(rows, columns)
///   [0 1] [2 1]
#[public("numpy.unravel_index(indices, shape)")]
pub fn unravel_index(indices: &Val, shape: &[i64]) -> Result<TupleOf> {
    let indices =
        &if indices.aval().dtype == DType::Bool { super::astype(indices, default_int())? } else { indices.clone() };
    let dtype = indices.aval().dtype;
    let total = shape.iter().copied().fold(1, i64::wrapping_mul);
    let mut flat = indices.clone();
    let is_unsigned = dtype.kind() == Kind::Unsigned;
    if is_unsigned {
        let last = i128::from(total.saturating_sub(1)).min(greatest_int(dtype));
        flat = super::minimum(&flat, &int_literal(dtype, last))?;
    }
    if is_unsigned || dtype.size_bytes() < 4 {
        // Sizes need not fit into narrow or unsigned positions.
        flat = super::astype(&flat, default_int())?;
    }
    flat = super::clip(&flat, Some(&weak_int(total.saturating_neg())), Some(&weak_int(total.saturating_sub(1))))?;
    let is_negative = super::less(&flat, &weak_int(0))?;
    flat = where_(&is_negative, &super::add(&flat, &weak_int(total))?, &flat)?;
    let mut out = vec![];
    for &size in shape.iter().rev() {
        let size = weak_int(size);
        let place = super::remainder(&flat, &size)?;
        flat = super::floor_divide(&flat, &size)?;
        out.push(if place.aval().dtype == dtype { place } else { super::astype(&place, dtype)? });
    }
    out.reverse();
    Ok(TupleOf(Vals::from_vec(out)))
}

/// The positions of the elements that differ from 0, as rows.
///
/// Args:
///   a: an array or number; concrete unless `size` is given.
///   size: how many rows to give: more are cut off, missing ones are filled up.
///   fill_value: the position that fills up: an integer, or a tuple with one for each axis; 0 by default.
/// Returns: integers `[count, number of axes]`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced `a` without `size`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argwhere(jnp.array([[0, 5], [7, 0]])))
///   [[0 1]
///    [1 0]]
#[public("numpy.argwhere(a, *, size=None, fill_value=None)")]
pub fn argwhere(a: &Val, size: Option<usize>, fill_value: Option<&NestedInts>) -> Result<Val> {
    let at_least = super::atleast(a, 1)?;
    let rank = at_least.aval().rank();
    let found = match size {
        None => super::nonzero(&at_least)?,
        Some(size) => super::nonzero_sized(&at_least, size, &fills(fill_value, rank)?)?,
    };
    let rows = super::transpose(&super::vstack(&found, None)?, None)?;
    if a.aval().rank() > 0 {
        return Ok(rows);
    }
    shaped(&part(&rows, 0, None, 0)?, &[rows.aval().shape[0], 0])
}

/// What fills up along each axis: one number for all, or as many as there are axes.
fn fills(given: Option<&NestedInts>, rank: usize) -> Result<Vec<i64>> {
    match given {
        None => Ok(vec![0; rank]),
        Some(NestedInts::One(fill)) => Ok(vec![*fill; rank]),
        Some(many) => match many.flat() {
            Some(fills) if fills.len() == rank => Ok(fills),
            _ => bail!(Value, "fill_value must have one entry for each of the {rank} axes, got {}", many.items().len()),
        },
    }
}

/// The positions of the main diagonal of an array with axes of size `n`.
///
/// Args:
///   n: the size.
///   ndim: the number of axes; 2 by default.
/// Returns: a tuple of `ndim` vectors `[n]`.
/// Raises:
///   ValueError: a negative number.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.diag_indices(3)
///   >>> print(rows, columns)
///   [0 1 2] [0 1 2]
#[public("numpy.diag_indices(n, ndim=2)")]
pub fn diag_indices(n: i64, ndim: i64) -> Result<TupleOf> {
    if n < 0 {
        bail!(Value, "n argument to diag_indices must be nonnegative, got {n}");
    }
    if ndim < 0 {
        bail!(Value, "ndim argument to diag_indices must be nonnegative, got {ndim}");
    }
    let places = counted(n as usize)?;
    Ok(TupleOf((0..ndim).map(|_| places.clone()).collect()))
}

/// The positions of the main diagonal of an array with axes of equal size.
///
/// Args:
///   arr: an array of at least two axes.
/// Returns: a tuple of equal vectors, one for each axis.
/// Raises:
///   ValueError: fewer axes, or unequal ones.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.diag_indices_from(jnp.ones((2, 2)))
///   >>> print(rows, columns)
///   [0 1] [0 1]
#[public("numpy.diag_indices_from(arr)")]
pub fn diag_indices_from(arr: &Val) -> Result<TupleOf> {
    let shape = arr.aval().shape.to_vec();
    if shape.len() < 2 {
        bail!(Value, "input array must be at least 2-d");
    }
    if shape.iter().any(|&size| size != shape[0]) {
        bail!(Value, "All dimensions of input must be of equal length");
    }
    diag_indices(shape[0] as i64, shape.len() as i64)
}

/// The positions of a matrix that are kept: in each row those of a range.
fn triangle(n: i64, m: Option<i64>, kept: impl Fn(i64) -> Range<i64>) -> Result<(Val, Val)> {
    let m = m.unwrap_or(n);
    if n < 0 || m < 0 {
        bail!(Value, "negative dimensions are not allowed");
    }
    if n.saturating_mul(m) > i64::from(i32::MAX) {
        bail!(Value, "positions in a matrix of shape ({n}, {m}): too many to be listed");
    }
    let row = |i: i64| {
        let Range { start, end } = kept(i);
        start.clamp(0, m)..end.clamp(0, m)
    };
    let rows = 0..if m == 0 { 0 } else { n };
    let total = rows.clone().map(|i| (row(i).end - row(i).start).max(0) as usize).sum();
    let (mut first, mut second) = (scratch(total, 0)?, scratch(total, 0)?);
    let pairs = rows.flat_map(|i| row(i).map(move |j| (i, j)));
    for (at, (i, j)) in pairs.enumerate() {
        (first[at], second[at]) = (i, j);
    }
    Ok((int_vector(&first), int_vector(&second)))
}

/// The positions on and below a diagonal of a matrix.
///
/// Args:
///   n: the number of rows.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
///   m: the number of columns; `n` by default.
/// Returns: the pair of row and column positions, vectors of integers.
/// Raises:
///   TypeError: a traced number.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.tril_indices(2)
///   >>> print(rows, columns)
///   [0 1 1] [0 0 1]
#[public("numpy.tril_indices(n, k=0, m=None)")]
pub fn tril_indices(n: i64, k: i64, m: Option<i64>) -> Result<(Val, Val)> {
    triangle(n, m, |i| 0..i.saturating_add(k).saturating_add(1))
}

/// The positions on and above a diagonal of a matrix.
///
/// Args:
///   n: the number of rows.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
///   m: the number of columns; `n` by default.
/// Returns: the pair of row and column positions, vectors of integers.
/// Raises:
///   TypeError: a traced number.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.triu_indices(2)
///   >>> print(rows, columns)
///   [0 0 1] [0 1 1]
#[public("numpy.triu_indices(n, k=0, m=None)")]
pub fn triu_indices(n: i64, k: i64, m: Option<i64>) -> Result<(Val, Val)> {
    triangle(n, m, |i| i.saturating_add(k)..i64::MAX)
}

fn matrix_sizes(arr: &Val) -> Result<(i64, Option<i64>)> {
    match arr.aval().shape[..] {
        [n, m] => Ok((n as i64, Some(m as i64))),
        _ => bail!(Value, "Only 2-D inputs are accepted"),
    }
}

/// The positions on and below a diagonal of a given matrix.
///
/// Args:
///   arr: a matrix, of which only the shape matters.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: the pair of row and column positions, vectors of integers.
/// Raises:
///   ValueError: `arr` is no matrix.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.tril_indices_from(jnp.ones((2, 2)))
///   >>> print(rows, columns)
///   [0 1 1] [0 0 1]
#[public("numpy.tril_indices_from(arr, k=0)")]
pub fn tril_indices_from(arr: &Val, k: i64) -> Result<(Val, Val)> {
    let (n, m) = matrix_sizes(arr)?;
    tril_indices(n, k, m)
}

/// The positions on and above a diagonal of a given matrix.
///
/// Args:
///   arr: a matrix, of which only the shape matters.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: the pair of row and column positions, vectors of integers.
/// Raises:
///   ValueError: `arr` is no matrix.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.triu_indices_from(jnp.ones((2, 2)))
///   >>> print(rows, columns)
///   [0 0 1] [0 1 1]
#[public("numpy.triu_indices_from(arr, k=0)")]
pub fn triu_indices_from(arr: &Val, k: i64) -> Result<(Val, Val)> {
    let (n, m) = matrix_sizes(arr)?;
    triu_indices(n, k, m)
}

/// Index arrays that form an open grid: `a[ix_(rows, columns)]` is the part of `a` in these rows and columns.
///
/// Args:
///   args: vectors of integers.
/// Returns: a tuple of arrays; the i-th one has its elements along axis i and size 1 along the others.
/// Raises:
///   ValueError: an argument is no vector.
///   NotImplementedError: booleans.
/// Differentiable: no; indices are integers.
/// Example:
///   >>> a = jnp.arange(9).reshape(3, 3)
///   >>> print(a[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 2]))])
///   [[1 2]
///    [7 8]]
#[public("numpy.ix_(*args)")]
pub fn ix_(args: &[Val]) -> Result<TupleOf> {
    let n = args.len();
    let one = |(i, arg): (usize, &Val)| {
        let aval = arg.aval();
        let [size] = aval.shape[..] else {
            let shape = pullback_base::aval::tuple_text(&aval.shape);
            bail!(Value, "Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {shape}")
        };
        if aval.dtype == DType::Bool {
            bail!(NotImplemented, "Boolean arguments to jax.numpy.ix_ are not implemented");
        }
        let mut shape = vec![1; n];
        shape[i] = size;
        // No positions are positions, whatever the dtype of nothing.
        let is_of_nothing = size == 0 && !aval.dtype.is_integer();
        shaped(&if is_of_nothing { super::astype(arg, default_int())? } else { arg.clone() }, &shape)
    };
    Ok(TupleOf(args.iter().enumerate().map(one).collect::<Result<_>>()?))
}

/// The position in an array whose NaNs `fill` takes the place of; -1 where all are NaN.
fn nan_position(
    position: fn(&Val, Option<i64>, bool) -> Result<Val>,
    fill: f64,
    a: &Val,
    axis: Option<i64>,
    keepdims: bool,
) -> Result<Val> {
    if !a.aval().dtype.is_inexact() {
        return position(a, axis, keepdims);
    }
    let is_nan = super::isnan(a)?;
    let found = position(&where_(&is_nan, &crate::convert::weak_float(fill), a)?, axis, keepdims)?;
    let axes = axis.map_or(Axes::All, Axes::One);
    where_(&super::all(&is_nan, &Reduction::over(axes, keepdims))?, &weak_int(-1), &found)
}

/// The position of the first greatest element that is not NaN; -1 where all are NaN.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.nanargmax(jnp.array([[1.0, jnp.nan, 5.0], [jnp.nan, jnp.nan, jnp.nan]]), axis=1))
///   [ 2 -1]
#[public("numpy.nanargmax(a, axis=None, out: NoOut=None, keepdims=None)")]
pub fn nanargmax(a: &Val, axis: Option<i64>, keepdims: bool) -> Result<Val> {
    nan_position(super::argmax, f64::NEG_INFINITY, a, axis, keepdims)
}

/// The position of the first least element that is not NaN; -1 where all are NaN.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.nanargmin(jnp.array([[1.0, jnp.nan, 5.0], [jnp.nan, jnp.nan, jnp.nan]]), axis=1))
///   [ 0 -1]
#[public("numpy.nanargmin(a, axis=None, out: NoOut=None, keepdims=None)")]
pub fn nanargmin(a: &Val, axis: Option<i64>, keepdims: bool) -> Result<Val> {
    nan_position(super::argmin, f64::INFINITY, a, axis, keepdims)
}
