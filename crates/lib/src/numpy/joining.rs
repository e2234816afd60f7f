//! Joining arrays, and cutting them in parts.

use pullback_base::array::{check_room, scratch};
use pullback_base::aval::tuple_text;
use pullback_base::{DType, Error, Result, bail};
use pullback_derive::public;
use pullback_ir::{Val, Vals};

use super::atleast;
use super::nested::Nest;
use crate::axes::canonical_axis;
use crate::broadcast::broadcast_in_dim;
use crate::convert::to_dtype;
use crate::declare::{NestedInts, Parts, TupleOf};
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::promote_dtypes;

/// How many arrays one concatenation joins; longer lists are joined in groups.
const GROUP: usize = 16;

pub(super) fn join_parts(mut parts: Vec<Val>, axis: usize) -> Result<Val> {
    while parts.len() > 1 {
        parts = parts.chunks(GROUP).map(|group| lax::concatenate(group, axis)).collect::<Result<_>>()?;
    }
    Ok(parts.swap_remove(0))
}

fn in_dtype(xs: &[Val], dtype: Option<DType>) -> Result<Vec<Val>> {
    match dtype {
        Some(dtype) => xs.iter().map(|x| to_dtype(x, dtype)).collect(),
        None => Ok(promote_dtypes(xs)?.into_vec()),
    }
}

/// Arrays one after the other along an axis, or all their elements in one.
///
/// # Errors
/// A `Value` error for no arrays, scalars or a bad axis; a `Type` error for shapes that do not go together.
pub fn concatenate(xs: &[Val], axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    let Some(first) = xs.first() else { bail!(Value, "Need at least one array to concatenate.") };
    let Some(axis) = axis else {
        let flat: Result<Vec<Val>> = xs.iter().map(|x| super::ravel(x, super::Order::RowMajor)).collect();
        return concatenate(&flat?, Some(0), dtype);
    };
    if first.aval().rank() == 0 {
        bail!(Value, "Zero-dimensional arrays cannot be concatenated.");
    }
    let axis = canonical_axis(axis, first.aval().rank())?;
    join_parts(in_dtype(xs, dtype)?, axis)
}

/// The slices of an array along its first axis, one after the other along an axis of theirs.
///
/// # Errors
/// As [`concatenate`].
pub fn concatenate_slices(x: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    let rank = x.aval().rank();
    let x = to_dtype(x, dtype.unwrap_or(x.aval().dtype))?;
    let Some(axis) = axis else { return super::ravel(&x, super::Order::RowMajor) };
    if rank < 2 {
        bail!(Value, "Zero-dimensional arrays cannot be concatenated.");
    }
    let at = canonical_axis(axis, rank - 1)?;
    let moved = super::move_axis_to(&x, 0, at)?;
    let mut sizes = moved.aval().shape.to_vec();
    let slices = sizes.remove(at);
    sizes[at] *= slices;
    lax::reshape(&moved, &sizes, None)
}

/// Arrays of one shape along a new axis.
///
/// Args:
///   arrays: a sequence of arrays or numbers, or an array whose slices they are.
///   axis: where the new axis is in the result; the first by default.
///   out: for compatibility; must be None.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array with one axis more.
/// Raises:
///   TypeError: an element that is neither an array nor a number.
///   ValueError: no arrays, different shapes, or the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1))
///   [[1 3]
///    [2 4]]
#[public("numpy.stack(arrays, axis=0, out: NoOut=None, dtype=None)")]
pub fn stack(arrays: &[Val], axis: i64, dtype: Option<DType>) -> Result<Val> {
    let Some(first) = arrays.first() else { bail!(Value, "Need at least one array to stack.") };
    let axis = canonical_axis(axis, first.aval().rank() + 1)?;
    if arrays.iter().any(|x| x.aval().shape != first.aval().shape) {
        let shapes: Vec<String> = arrays.iter().map(|x| tuple_text(&x.aval().shape)).collect();
        bail!(Value, "All input arrays must have the same shape. Got {}.", shapes.join(", "));
    }
    lax::stack(&in_dtype(arrays, dtype)?, axis)
}

fn atleast_all(xs: &[Val], ndim: usize) -> Result<Vec<Val>> {
    xs.iter().map(|x| atleast(x, ndim)).collect()
}

/// Arrays one below the other, along the first axis; vectors become rows.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least two axes.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[1 2]
///    [3 4]]
#[public("numpy.vstack(tup, dtype=None)")]
pub fn vstack(tup: &[Val], dtype: Option<DType>) -> Result<Val> {
    concatenate(&atleast_all(tup, 2)?, Some(0), dtype)
}

/// Arrays side by side: along the second axis, vectors along the first.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least one axis.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.hstack([jnp.array([[1], [2]]), jnp.array([[3], [4]])]))
///   [[1 3]
///    [2 4]]
#[public("numpy.hstack(tup, dtype=None)")]
pub fn hstack(tup: &[Val], dtype: Option<DType>) -> Result<Val> {
    let parts = atleast_all(tup, 1)?;
    let axis = i64::from(parts.first().is_some_and(|first| first.aval().rank() != 1));
    concatenate(&parts, Some(axis), dtype)
}

/// Arrays along the third axis; `[n]` counts as `[1, n, 1]`, `[m, n]` as `[m, n, 1]`.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array of at least three axes.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[[1 3]
///     [2 4]]]
#[public("numpy.dstack(tup, dtype=None)")]
pub fn dstack(tup: &[Val], dtype: Option<DType>) -> Result<Val> {
    concatenate(&atleast_all(tup, 3)?, Some(2), dtype)
}

/// Vectors as the columns of a matrix; matrices are put side by side.
///
/// Args:
///   tup: a sequence of arrays or numbers, or an array whose slices they are.
/// Returns: an array of at least two axes and the promoted dtype.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])]))
///   [[1 3]
///    [2 4]]
#[public("numpy.column_stack(tup)")]
pub fn column_stack(tup: &[Val]) -> Result<Val> {
    let column = |x: &Val| {
        if x.aval().rank() < 2 { super::transpose(&atleast(x, 2)?, None) } else { Ok(x.clone()) }
    };
    let columns: Result<Vec<Val>> = tup.iter().map(column).collect();
    concatenate(&columns?, Some(1), None)
}

/// The elements of an array followed by others.
///
/// Args:
///   arr: an array or number.
///   values: what follows; with `axis` of the shape of `arr` but for that axis.
///   axis: the axis along which they go; None (the default) takes both as flat.
/// Returns: an array of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused), or shapes that do not go
///     together.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.append(jnp.array([1, 2]), 3))
///   [1 2 3]
#[public("numpy.append(arr, values, axis=None)")]
pub fn append(arr: &Val, values: &Val, axis: Option<i64>) -> Result<Val> {
    let statics = [axis.is_some().into(), axis.unwrap_or(0)];
    named_jit_one("append", &statics, &[arr.clone(), values.clone()], |args| concatenate(args, axis, None))
}

/// Parts of an axis between given positions.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn split_at_positions(x: &Val, positions: &[i64], axis: i64) -> Result<Vals> {
    let axis = canonical_axis(axis, x.aval().rank())?;
    let size = x.aval().shape[axis] as i64;
    let clamp = |position: i64| (if position < 0 { position + size } else { position }).clamp(0, size);
    let bounds: Vec<i64> =
        std::iter::once(0).chain(positions.iter().map(|&position| clamp(position))).chain([size]).collect();
    let is_rising = bounds.windows(2).all(|pair| pair[0] <= pair[1]);
    if is_rising {
        let sizes: Vec<usize> = bounds.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect();
        return lax::split(x, &sizes, axis);
    }
    let part = |pair: &[i64]| lax::slice_in_dim(x, pair[0] as usize, pair[1].max(pair[0]) as usize, 1, axis);
    bounds.windows(2).map(part).collect()
}

/// Sizes of equal pieces, when there is memory for as many arrays.
fn pieces(each: usize, n: usize) -> Result<Vec<usize>> {
    check_room(n, lax::shaping::BYTES_PER_PIECE)?;
    scratch(n, each)
}

/// Parts of equal size of an axis.
///
/// # Errors
/// A `Value` error when the size does not divide.
pub fn split(x: &Val, sections: usize, axis: i64) -> Result<Vals> {
    let at = canonical_axis(axis, x.aval().rank())?;
    let size = x.aval().shape[at];
    if sections == 0 {
        bail!(Value, "number sections must be larger than 0.");
    }
    if !size.is_multiple_of(sections) {
        bail!(Value, "array split does not result in an equal division: rest is {}", size % sections);
    }
    lax::split(x, &pieces(size / sections, sections)?, at)
}

/// Parts of an axis whose sizes differ by at most 1.
///
/// # Errors
/// A `Value` error for a bad axis or no sections.
pub fn array_split(x: &Val, sections: usize, axis: i64) -> Result<Vals> {
    let at = canonical_axis(axis, x.aval().rank())?;
    if sections == 0 {
        bail!(Value, "number sections must be larger than 0.");
    }
    let (each, more) = (x.aval().shape[at] / sections, x.aval().shape[at] % sections);
    let mut sizes = pieces(each, sections)?;
    sizes[..more].iter_mut().for_each(|size| *size += 1);
    lax::split(x, &sizes, at)
}

/// The slices along an axis, without it.
///
/// # Errors
/// A `Value` error for scalars or a bad axis.
pub fn unstack(x: &Val, axis: i64) -> Result<Vals> {
    let rank = x.aval().rank();
    if rank == 0 {
        bail!(Value, "Unstack requires arrays with rank > 0, however a scalar array was passed.");
    }
    let axis = canonical_axis(axis, rank)?;
    if x.aval().shape[axis] == 0 {
        return Ok(Vals::new());
    }
    lax::unstack(x, axis)
}

/// Coordinate arrays of the grid of the given vectors.
///
/// # Errors
/// A `Value` error for operands of more than one axis.
pub fn meshgrid(xs: &[Val], is_matrix_order: bool, sparse: bool) -> Result<Vec<Val>> {
    if let Some(bad) = xs.iter().find(|x| x.aval().rank() != 1) {
        bail!(Value, "Arguments to jnp.meshgrid must be 1D, got shapes {}", tuple_text(&bad.aval().shape));
    }
    let swaps = !is_matrix_order && xs.len() >= 2;
    let mut xs: Vec<Val> = xs.to_vec();
    if swaps {
        xs.swap(0, 1);
    }
    let sizes: Vec<usize> = xs.iter().map(Val::aval).map(|aval| aval.size()).collect();
    let along = |(axis, x): (usize, &Val)| {
        let x = lax::reshape(x, &[x.aval().size()], None)?;
        let ones: Vec<usize> = (0..sizes.len()).map(|i| if i == axis { sizes[i] } else { 1 }).collect();
        broadcast_in_dim(&x, if sparse { &ones } else { &sizes }, &[axis])
    };
    let mut grids: Vec<Val> = xs.iter().enumerate().map(along).collect::<Result<_>>()?;
    if swaps {
        grids.swap(0, 1);
    }
    Ok(grids)
}

/// The Kronecker product: each element of `a` times the whole of `b`, as blocks.
///
/// Args:
///   a, b: arrays; the one of fewer axes gets axes of size 1 in front.
/// Returns: an array whose sizes are the products of those of `a` and `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.kron(jnp.array([1, 10]), jnp.array([1, 2, 3])))
///   [ 1  2  3 10 20 30]
#[public("numpy.kron(a, b)")]
pub fn kron(a: &Val, b: &Val) -> Result<Val> {
    named_jit_one("kron", &[], &[a.clone(), b.clone()], |args| {
        let ins = promote_dtypes(args)?;
        if ins[0].aval().dtype == DType::Bool {
            bail!(Type, "mul does not accept dtype bool at position 0.");
        }
        let rank = ins[0].aval().rank().max(ins[1].aval().rank());
        let (a, b) = (crate::broadcast::to_rank(&ins[0], rank)?, crate::broadcast::to_rank(&ins[1], rank)?);
        let wide = lax::expand_axes(&a, &(0..rank).map(|i| 2 * i + 1).collect::<Vec<_>>())?;
        let tall = lax::expand_axes(&b, &(0..rank).map(|i| 2 * i).collect::<Vec<_>>())?;
        let sizes: Vec<usize> = a.aval().shape.iter().zip(&b.aval().shape).map(|(a, b)| a * b).collect();
        lax::reshape(&super::multiply(&wide, &tall)?, &sizes, None)
    })
}

/// Arrays one after the other along an axis.
///
/// Args:
///   arrays: a sequence of arrays, or an array whose slices they are; other axes than `axis` have the same sizes.
///   axis: the axis; the first by default; None takes the flat arrays.
///   dtype: the dtype of the result; the promoted one by default.
/// Returns: an array whose size along the axis is the sum of theirs.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays, arrays without axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.concatenate([jnp.array([1, 2]), jnp.array([3])]))
///   [1 2 3]
#[public("numpy.concatenate(arrays, axis=0, dtype=None)")]
pub fn concatenate_parts(arrays: Parts, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    match arrays {
        Parts::Slices(x) => concatenate_slices(&x, axis, dtype),
        Parts::Each(xs) => concatenate(&xs, axis, dtype),
    }
}

/// Arrays one after the other along an axis: `concatenate` under the name of the array API.
///
/// Args:
///   arrays: a sequence of arrays; other axes than `axis` have the same sizes.
///   axis: the axis; the first by default; None takes the flat arrays.
/// Returns: an array of the promoted dtype, whose size along the axis is the sum of theirs.
/// Raises:
///   TypeError: an element that is neither an array nor a number, or shapes that do not go together.
///   ValueError: no arrays, arrays without axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.concat([jnp.array([1, 2]), jnp.array([3])]))
///   [1 2 3]
#[public("numpy.concat(arrays, /, *, axis=0)")]
pub fn concat(arrays: &[Val], axis: Option<i64>) -> Result<Val> {
    concatenate(arrays, axis, None)
}

/// Parts along an axis: as many as a number says, or between positions.
fn sections(x: &Val, at: &NestedInts, axis: i64, equal: bool) -> Result<Vals> {
    if canonical_axis(axis, x.aval().rank()).is_err() {
        bail!(Index, "tuple index out of range: axis {axis} of an array of {} axes", x.aval().rank());
    }
    match at {
        NestedInts::One(count) => {
            let count = usize::try_from(*count).unwrap_or(0);
            if equal { split(x, count, axis) } else { array_split(x, count, axis) }
        }
        NestedInts::Many(_) => {
            let positions = at.flat().ok_or_else(|| Error::type_error("split takes positions as a flat sequence"))?;
            split_at_positions(x, &positions, axis)
        }
    }
}

/// An axis cut into parts of equal size, or at given positions.
///
/// Args:
///   ary: an array.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions, static integers,
///     before which to cut.
///   axis: the axis; the first by default.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: a number that is not positive or does not divide the size, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.split(jnp.arange(4), 2)]
///   [[0, 1], [2, 3]]
///   >>> [part.tolist() for part in jnp.split(jnp.arange(4), [1, 3])]
///   [[0], [1, 2], [3]]
#[public("numpy.split(ary, indices_or_sections, axis=0)")]
pub fn split_at(ary: &Val, indices_or_sections: &NestedInts, axis: i64) -> Result<Vals> {
    sections(ary, indices_or_sections, axis, true)
}

/// An axis cut into parts whose sizes differ by at most 1, the larger ones first; or at given positions.
///
/// Args:
///   ary: an array.
///   indices_or_sections: the number of parts; or ascending positions, static integers, before which to cut.
///   axis: the axis; the first by default.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: a number that is not positive, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.array_split(jnp.arange(5), 3)]
///   [[0, 1], [2, 3], [4]]
#[public("numpy.array_split(ary, indices_or_sections, axis=0)")]
pub fn array_split_at(ary: &Val, indices_or_sections: &NestedInts, axis: i64) -> Result<Vals> {
    sections(ary, indices_or_sections, axis, false)
}

/// The first axis cut into parts: `split` along axis 0.
///
/// Args:
///   ary: an array of at least one axis.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has no axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.vsplit(jnp.array([[1, 2], [3, 4]]), 2)]
///   [[[1, 2]], [[3, 4]]]
#[public("numpy.vsplit(ary, indices_or_sections)")]
pub fn vsplit(ary: &Val, indices_or_sections: &NestedInts) -> Result<Vals> {
    sections(ary, indices_or_sections, 0, true)
}

/// The third axis cut into parts: `split` along axis 2.
///
/// Args:
///   ary: an array of at least three axes.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has fewer axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.shape for part in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
///   [(1, 2, 2), (1, 2, 2)]
#[public("numpy.dsplit(ary, indices_or_sections)")]
pub fn dsplit(ary: &Val, indices_or_sections: &NestedInts) -> Result<Vals> {
    sections(ary, indices_or_sections, 2, true)
}

/// The second axis cut into parts, of vectors the first: `split` along axis 1 or 0.
///
/// Args:
///   ary: an array of at least one axis.
///   indices_or_sections: the number of parts, which must divide the size; or ascending positions before which to
///     cut.
/// Returns: a list of arrays.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
///   ValueError: `ary` has no axes, or a number that is not positive or does not divide the size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> [part.tolist() for part in jnp.hsplit(jnp.array([[1, 2], [3, 4]]), 2)]
///   [[[1], [3]], [[2], [4]]]
#[public("numpy.hsplit(ary, indices_or_sections)")]
pub fn hsplit(ary: &Val, indices_or_sections: &NestedInts) -> Result<Vals> {
    let axis = if ary.aval().rank() == 1 { 0 } else { 1 };
    sections(ary, indices_or_sections, axis, true)
}

/// The slices along an axis.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis; the first by default.
/// Returns: a tuple of arrays with one axis less.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> rows = jnp.unstack(jnp.array([[1, 2], [3, 4]]))
///   >>> print(rows[0], rows[1])
///   [1 2] [3 4]
#[public("numpy.unstack(x, /, *, axis=0)")]
pub fn unstack_tuple(x: &Val, axis: i64) -> Result<TupleOf> {
    unstack(x, axis).map(TupleOf)
}

/// The coordinate arrays of a grid, from vectors of coordinates along its axes.
///
/// Args:
///   xi: vectors (or numbers) of sizes n1, n2, n3, ...
///   copy: for compatibility; without influence.
///   sparse: whether results keep size 1 along the axes of the others, so that they broadcast to the grid.
///   indexing: 'xy' (the default) for grids `[n2, n1, n3, ...]`, 'ij' for `[n1, n2, n3, ...]`.
/// Returns: a tuple of arrays, one for each vector.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: an argument has several axes, or another `indexing`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> x, y = jnp.meshgrid(jnp.array([1, 2]), jnp.array([3, 4]))
///   >>> print(x, y)
///   [[1 2]
///    [1 2]] [[3 3]
///    [4 4]]
#[public("numpy.meshgrid(*xi, copy: Ignored=True, sparse=False, indexing='xy')")]
pub fn meshgrid_of(xi: &[Val], sparse: bool, indexing: &str) -> Result<TupleOf> {
    match indexing {
        "xy" | "ij" => Ok(TupleOf(meshgrid(xi, indexing == "ij", sparse)?.into_iter().collect())),
        _ => bail!(Value, "Valid values for indexing are 'xy' and 'ij', got {indexing}"),
    }
}

/// Nested lists of arrays joined to one: the innermost along the last axis, the next along the one before.
///
/// Args:
///   arrays: an array or number, or lists of such of one depth.
/// Returns: an array of the promoted dtype.
/// Raises:
///   ValueError: tuples, empty lists, or lists of different depth.
///   TypeError: shapes that do not go together.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> a = jnp.array([[1, 2]])
///   >>> print(jnp.block([[a, a], [a, 0 * a]]))
///   [[1 2 1 2]
///    [1 2 0 0]]
#[public("numpy.block(arrays)")]
pub fn block(arrays: &Nest) -> Result<Val> {
    let levels = depth(arrays)?;
    let rank = levels.max(greatest_rank(arrays));
    block_of(arrays, rank - levels, rank)
}

/// The parts put together along an axis, and theirs along the next.
fn block_of(part: &Nest, axis: usize, rank: usize) -> Result<Val> {
    let Nest::List(items) = part else {
        let x = part.stacked()?;
        let missing = rank - x.aval().rank();
        return super::parts::shaped(&x, &[&vec![1; missing][..], &x.aval().shape[..]].concat());
    };
    let parts: Vec<Val> = items.iter().map(|item| block_of(item, axis + 1, rank)).collect::<Result<_>>()?;
    concatenate(&parts, Some(axis as i64), None)
}

fn depth(part: &Nest) -> Result<usize> {
    let items = match part {
        Nest::Tuple(_) => bail!(Value, "jax.numpy.block does not allow tuples"),
        Nest::List(items) => items,
        Nest::Leaf(_) | Nest::None => return Ok(0),
    };
    let depths: Vec<usize> = items.iter().map(depth).collect::<Result<_>>()?;
    match depths.first() {
        None => bail!(Value, "jax.numpy.block does not allow empty list arguments"),
        Some(first) if depths.iter().all(|depth| depth == first) => Ok(1 + first),
        Some(_) => bail!(Value, "Mismatched list depths in jax.numpy.block"),
    }
}

fn greatest_rank(part: &Nest) -> usize {
    match part {
        Nest::Leaf(val) => val.aval().rank(),
        Nest::None => 0,
        Nest::List(items) | Nest::Tuple(items) => items.iter().map(greatest_rank).max().unwrap_or(0),
    }
}
