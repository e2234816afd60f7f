//! Joining arrays, and cutting them in parts.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_ir::{Val, Vals};

use super::atleast;
use crate::axes::canonical_axis;
use crate::broadcast::broadcast_in_dim;
use crate::convert::to_dtype;
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
/// # Errors
/// A `Value` error for no arrays, shapes that differ or a bad axis.
pub fn stack(xs: &[Val], axis: i64, dtype: Option<DType>) -> Result<Val> {
    let Some(first) = xs.first() else { bail!(Value, "Need at least one array to stack.") };
    let axis = canonical_axis(axis, first.aval().rank() + 1)?;
    if xs.iter().any(|x| x.aval().shape != first.aval().shape) {
        let shapes: Vec<String> = xs.iter().map(|x| tuple_text(&x.aval().shape)).collect();
        bail!(Value, "All input arrays must have the same shape. Got {}.", shapes.join(", "));
    }
    lax::stack(&in_dtype(xs, dtype)?, axis)
}

fn atleast_all(xs: &[Val], ndim: usize) -> Result<Vec<Val>> {
    xs.iter().map(|x| atleast(x, ndim)).collect()
}

/// Arrays one below the other.
///
/// # Errors
/// As [`concatenate`].
pub fn vstack(xs: &[Val], dtype: Option<DType>) -> Result<Val> {
    concatenate(&atleast_all(xs, 2)?, Some(0), dtype)
}

/// Arrays side by side; vectors end to end.
///
/// # Errors
/// As [`concatenate`].
pub fn hstack(xs: &[Val], dtype: Option<DType>) -> Result<Val> {
    let parts = atleast_all(xs, 1)?;
    let axis = i64::from(parts.first().is_some_and(|first| first.aval().rank() != 1));
    concatenate(&parts, Some(axis), dtype)
}

/// Arrays along the third axis.
///
/// # Errors
/// As [`concatenate`].
pub fn dstack(xs: &[Val], dtype: Option<DType>) -> Result<Val> {
    concatenate(&atleast_all(xs, 3)?, Some(2), dtype)
}

/// Vectors as the columns of a matrix.
///
/// # Errors
/// As [`concatenate`].
pub fn column_stack(xs: &[Val]) -> Result<Val> {
    let column = |x: &Val| {
        if x.aval().rank() < 2 { super::transpose(&atleast(x, 2)?, None) } else { Ok(x.clone()) }
    };
    let columns: Result<Vec<Val>> = xs.iter().map(column).collect();
    concatenate(&columns?, Some(1), None)
}

/// The elements of `values` after those of `x`, along an axis or flat.
///
/// # Errors
/// As [`concatenate`].
pub fn append(x: &Val, values: &Val, axis: Option<i64>) -> Result<Val> {
    let statics = [axis.is_some().into(), axis.unwrap_or(0)];
    named_jit_one("append", &statics, &[x.clone(), values.clone()], |args| concatenate(args, axis, None))
}

/// Parts of an axis between given positions.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn split_at(x: &Val, positions: &[i64], axis: i64) -> Result<Vals> {
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
    lax::split(x, &vec![size / sections; sections], at)
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
    let sizes: Vec<usize> = (0..sections).map(|i| each + usize::from(i < more)).collect();
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
    if let Some(bad) = xs.iter().find(|x| x.aval().rank() > 1) {
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

/// Elements without one, or a range, of an axis.
///
/// # Errors
/// A `Value` error for a bad axis, an `Index` error for an index out of range.
pub fn delete(x: &Val, index: i64, axis: Option<i64>) -> Result<Val> {
    let (x, axis) = match axis {
        None => (super::ravel(x, super::Order::RowMajor)?, 0),
        Some(axis) => (x.clone(), canonical_axis(axis, x.aval().rank())?),
    };
    let size = x.aval().shape[axis] as i64;
    if index < -size || index >= size {
        bail!(Index, "index {index} is out of bounds for axis {axis} with size {size}");
    }
    let at = index.rem_euclid(size) as usize;
    let rank = x.aval().rank();
    let part = |from: usize, to: usize| {
        let (mut starts, mut limits) = (vec![0; rank], x.aval().shape.to_vec());
        (starts[axis], limits[axis]) = (from, to);
        lax::slice_always(&x, &starts, &limits, None)
    };
    lax::concatenate(&[part(0, at)?, part(at + 1, size as usize)?], axis)
}

/// The Kronecker product.
///
/// # Errors
/// When dtypes do not go together.
pub fn kron(x: &Val, y: &Val) -> Result<Val> {
    named_jit_one("kron", &[], &[x.clone(), y.clone()], |args| {
        let ins = promote_dtypes(args)?;
        let rank = ins[0].aval().rank().max(ins[1].aval().rank());
        let (x, y) = (crate::broadcast::to_rank(&ins[0], rank)?, crate::broadcast::to_rank(&ins[1], rank)?);
        let wide = lax::expand_axes(&x, &(0..rank).map(|i| 2 * i + 1).collect::<Vec<_>>())?;
        let tall = lax::expand_axes(&y, &(0..rank).map(|i| 2 * i).collect::<Vec<_>>())?;
        let sizes: Vec<usize> = x.aval().shape.iter().zip(&y.aval().shape).map(|(a, b)| a * b).collect();
        lax::reshape(&super::multiply(&wide, &tall)?, &sizes, None)
    })
}
