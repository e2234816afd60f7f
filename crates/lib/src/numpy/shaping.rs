//! Changing shapes and the order of axes and elements.

use pullback_base::aval::tuple_text;
use pullback_base::{Error, ErrorKind, Result, bail};
use pullback_ir::Val;

use crate::axes::{Axes, canonical_axes, canonical_axis, signed_tuple_text};
use crate::broadcast::{broadcast_in_dim, broadcast_shapes, broadcast_to};
use crate::convert::weak_int;
use crate::jit::named_jit_one;
use crate::lax;

/// The order in which elements are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Last axis fastest.
    RowMajor,
    /// First axis fastest.
    ColumnMajor,
}

impl Order {
    /// The order of NumPy's letter.
    ///
    /// # Errors
    /// A `Value` error for an unknown letter, `NotImplemented` for `A`.
    pub fn parse(letter: &str) -> Result<Order> {
        match letter {
            "C" => Ok(Order::RowMajor),
            "F" => Ok(Order::ColumnMajor),
            "A" => Err(Error::new(ErrorKind::NotImplemented, "np.reshape order=A is not implemented.")),
            other => Err(Error::value_error(format!("Unexpected value for 'order' argument: {other}."))),
        }
    }
}

/// The elements under another shape; one size may be -1 and is computed.
///
/// # Errors
/// A `Type` error when the sizes do not fit.
pub fn reshape(x: &Val, sizes: &[i64], order: Order) -> Result<Val> {
    let sizes = resolve_sizes(x, sizes)?;
    match order {
        Order::RowMajor => lax::reshape(x, &sizes, None),
        Order::ColumnMajor => {
            let reversed: Vec<usize> = sizes.iter().rev().copied().collect();
            let dims: Vec<usize> = (0..x.aval().rank()).rev().collect();
            let back: Vec<usize> = (0..sizes.len()).rev().collect();
            lax::transpose(&lax::reshape(&lax::transpose(x, &dims)?, &reversed, None)?, &back)
        }
    }
}

fn resolve_sizes(x: &Val, sizes: &[i64]) -> Result<Vec<usize>> {
    let aval = x.aval();
    let n_unknown = sizes.iter().filter(|&&size| size == -1).count();
    if n_unknown > 1 {
        bail!(Type, "can only specify one unknown axis size with a `-1` value, got {}", signed_tuple_text(sizes));
    }
    let known: i64 = sizes.iter().filter(|&&size| size != -1).product();
    let total = aval.size() as i64;
    if n_unknown == 0 {
        if known != total || sizes.iter().any(|&size| size < 0) {
            bail!(
                Type,
                "cannot reshape array of shape {} (size {total}) into shape {} (size {known})",
                tuple_text(&aval.shape),
                signed_tuple_text(sizes)
            );
        }
    } else if known == 0 && total != 0 || known != 0 && total % known != 0 {
        bail!(
            Type,
            "cannot reshape array of shape {} (size {total}) into shape {} because the product of specified axis sizes \
             ({known}) does not evenly divide {total}",
            tuple_text(&aval.shape),
            signed_tuple_text(sizes)
        );
    }
    let unknown = if known == 0 { 0 } else { total / known };
    Ok(sizes.iter().map(|&size| if size == -1 { unknown } else { size } as usize).collect())
}

/// The elements in one axis.
///
/// # Errors
/// What the primitive raises.
pub fn ravel(x: &Val, order: Order) -> Result<Val> {
    reshape(x, &[-1], order)
}

/// The axes reversed, or in the given order.
///
/// # Errors
/// A `Type` error when the axes are no permutation, a `Value` error for one out of range.
pub fn transpose(x: &Val, axes: Option<&[i64]>) -> Result<Val> {
    let rank = x.aval().rank();
    let permutation = match axes {
        None => (0..rank).rev().collect(),
        Some(axes) => axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<Vec<_>>>()?,
    };
    lax::transpose(x, &permutation)
}

/// The last two axes exchanged.
///
/// # Errors
/// A `Value` error when there are fewer than two.
pub fn matrix_transpose(x: &Val) -> Result<Val> {
    let rank = x.aval().rank();
    if rank < 2 {
        bail!(Value, "x must be at least two-dimensional for matrix_transpose; got ndim={rank}");
    }
    swapaxes(x, -1, -2)
}

/// Two axes exchanged.
///
/// # Errors
/// A `Value` error for an axis out of range.
pub fn swapaxes(x: &Val, a: i64, b: i64) -> Result<Val> {
    let rank = x.aval().rank();
    let mut permutation: Vec<usize> = (0..rank).collect();
    permutation.swap(canonical_axis(a, rank)?, canonical_axis(b, rank)?);
    lax::transpose(x, &permutation)
}

/// Axes moved to other positions; the others keep their order.
///
/// # Errors
/// A `Value` error when the numbers differ or an axis is out of range or occurs twice.
pub fn moveaxis(x: &Val, source: &[i64], destination: &[i64]) -> Result<Val> {
    let rank = x.aval().rank();
    if source.len() != destination.len() {
        bail!(Value, "Inconsistent number of elements: {} vs {}", source.len(), destination.len());
    }
    let (source, destination) = (canonical_axes(source, rank)?, canonical_axes(destination, rank)?);
    let mut permutation: Vec<usize> = (0..rank).filter(|axis| !source.contains(axis)).collect();
    let mut moves: Vec<(usize, usize)> = destination.into_iter().zip(source).collect();
    moves.sort_unstable();
    for (to, from) in moves {
        permutation.insert(to, from);
    }
    lax::transpose(x, &permutation)
}

pub(super) fn move_axis_to(x: &Val, from: usize, to: usize) -> Result<Val> {
    moveaxis(x, &[from as i64], &[to as i64])
}

/// Without axes of size 1: all of them, or the given.
///
/// # Errors
/// A `Value` error for an axis out of range or of another size.
pub fn squeeze(x: &Val, axes: &Axes) -> Result<Val> {
    match axes {
        Axes::All => {
            let ones = x
                .aval()
                .shape
                .iter()
                .enumerate()
                .filter(|(_, size)| **size == 1)
                .map(|(axis, _)| axis)
                .collect::<Vec<_>>();
            lax::squeeze_axes(x, &ones)
        }
        Axes::One(axis) => lax::squeeze(x, &[*axis]),
        Axes::Many(axes) => lax::squeeze(x, axes),
        Axes::Named(..) => axes.resolve(x.aval().rank()).map(|_| x.clone()),
    }
}

/// With new axes of size 1.
///
/// # Errors
/// A `Value` error for a position out of range or given twice.
pub fn expand_dims(x: &Val, axes: &[i64]) -> Result<Val> {
    lax::expand_dims(x, axes)
}

/// The elements in reverse order along axes.
///
/// # Errors
/// A `Value` error for an axis out of range.
pub fn flip(x: &Val, axes: &Axes) -> Result<Val> {
    let statics: Vec<i64> = axes.resolve(x.aval().rank())?.into_iter().map(|axis| axis as i64).collect();
    named_jit_one("_flip", &statics, std::slice::from_ref(x), |args| {
        lax::rev(&args[0], &axes.resolve(args[0].aval().rank())?)
    })
}

/// Rotated by quarter turns in the plane of two axes.
///
/// # Errors
/// A `Value` error for axes that are the same or out of range.
pub fn rot90(x: &Val, turns: i64, axes: [i64; 2]) -> Result<Val> {
    named_jit_one("rot90", &[turns, axes[0], axes[1]], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let rank = x.aval().rank();
        let (a, b) = (canonical_axis(axes[0], rank)?, canonical_axis(axes[1], rank)?);
        if a == b {
            bail!(Value, "Axes must be different");
        }
        let flip_one = |x: &Val, axis: usize| flip(x, &Axes::One(axis as i64));
        let swap = |x: &Val| swapaxes(x, a as i64, b as i64);
        match turns.rem_euclid(4) {
            0 => Ok(x.clone()),
            1 => swap(&flip_one(x, b)?),
            2 => flip_one(&flip_one(x, a)?, b),
            _ => flip_one(&swap(x)?, b),
        }
    })
}

/// Elements moved along axes by fixed numbers of places; those that leave come in at the other end.
///
/// # Errors
/// A `Value` error for a bad axis or numbers that do not go together.
pub fn roll(x: &Val, shifts: &[i64], axes: &Axes) -> Result<Val> {
    let Some(axes) = axes_of(x, axes)? else {
        let flat = super::ravel(x, Order::RowMajor)?;
        let rolled = roll(&flat, shifts, &Axes::One(0))?;
        return lax::reshape(&rolled, &x.aval().shape, None);
    };
    let mut statics: Vec<i64> = shifts.to_vec();
    statics.push(i64::MIN);
    statics.extend(axes.iter().map(|&axis| axis as i64));
    named_jit_one("_roll_static", &statics, std::slice::from_ref(x), |args| {
        let n = broadcast_shapes(&[&[shifts.len()], &[axes.len()]])?[0];
        let mut x = args[0].clone();
        for i in 0..n {
            let shift = shifts[if shifts.len() == 1 { 0 } else { i }];
            x = roll_one(&x, shift, axes[if axes.len() == 1 { 0 } else { i }])?;
        }
        Ok(x)
    })
}

fn axes_of(x: &Val, axes: &Axes) -> Result<Option<Vec<usize>>> {
    let rank = x.aval().rank();
    match axes {
        Axes::All if rank == 1 => Ok(Some(vec![0])),
        Axes::All => Ok(None),
        Axes::One(axis) => Ok(Some(vec![canonical_axis(*axis, rank)?])),
        Axes::Many(axes) => axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>().map(Some),
        Axes::Named(..) => axes.resolve(rank).map(Some),
    }
}

fn roll_one(x: &Val, shift: i64, axis: usize) -> Result<Val> {
    let size = x.aval().shape[axis];
    let by = if size == 0 { 0 } else { shift.rem_euclid(size as i64) as usize };
    if by == 0 {
        return Ok(x.clone());
    }
    let tail = lax::slice_in_dim(x, size - by, size, 1, axis)?;
    let head = lax::slice_in_dim(x, 0, size - by, 1, axis)?;
    lax::concatenate(&[tail, head], axis)
}

/// As [`roll`], by a computed number of places for each axis.
///
/// # Errors
/// As [`roll`].
pub fn roll_dynamic(x: &Val, shift: &Val, axes: &Axes) -> Result<Val> {
    let Some(axes) = axes_of(x, axes)? else {
        let flat = super::ravel(x, Order::RowMajor)?;
        let rolled = roll_dynamic(&flat, shift, &Axes::One(0))?;
        return lax::reshape(&rolled, &x.aval().shape, None);
    };
    if shift.aval().rank() > 1 {
        bail!(Value, "'shift' and 'axis' arguments to roll must be scalars or 1D arrays");
    }
    let statics: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    named_jit_one("_roll_dynamic", &statics, &[x.clone(), shift.clone()], |args| {
        let n = broadcast_shapes(&[&args[1].aval().shape, &[axes.len()]])?[0];
        let mut x = args[0].clone();
        if n == 0 {
            return Ok(x);
        }
        let shifts = lax::unstack(&broadcast_to(&args[1], &[n])?, 0)?;
        for (shift, &axis) in shifts.iter().zip(axes.iter().cycle()) {
            let size = x.aval().shape[axis];
            let by = super::remainder(shift, &weak_int(size.max(1) as i64))?;
            let doubled = lax::concatenate(&[x.clone(), x.clone()], axis)?;
            let start = super::subtract(&weak_int(size as i64), &by)?;
            let mut starts = vec![crate::convert::int_literal(start.aval().dtype, 0); x.aval().rank()];
            starts[axis] = crate::convert::to_dtype(&start, start.aval().dtype)?;
            let sizes = x.aval().shape.to_vec();
            x = lax::dynamic_slice(&doubled, &starts, &sizes)?;
        }
        Ok(x)
    })
}

/// The array repeated along each axis; missing numbers of repetitions are 1.
///
/// # Errors
/// What the primitive raises.
pub fn tile(x: &Val, reps: &[usize]) -> Result<Val> {
    let rank = x.aval().rank().max(reps.len());
    let lifted = crate::broadcast::to_rank(x, rank)?;
    let all: Vec<usize> = std::iter::repeat_n(1, rank - reps.len()).chain(reps.iter().copied()).collect();
    if all.is_empty() {
        return Ok(lifted);
    }
    lax::tile(&lifted, &all)
}

/// Each element repeated the same number of times along an axis, or in the flat array.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn repeat(x: &Val, repeats: usize, axis: Option<i64>) -> Result<Val> {
    let (x, axis) = flat_or_axis(x, axis)?;
    let shape = x.aval().shape.to_vec();
    let mut wide = shape.clone();
    wide.insert(axis + 1, repeats);
    let kept: Vec<usize> = (0..wide.len()).filter(|&i| i != axis + 1).collect();
    let mut joined = shape;
    joined[axis] *= repeats;
    lax::reshape(&broadcast_in_dim(&x, &wide, &kept)?, &joined, None)
}

fn flat_or_axis(x: &Val, axis: Option<i64>) -> Result<(Val, usize)> {
    match axis {
        None => Ok((super::ravel(x, Order::RowMajor)?, 0)),
        Some(axis) => Ok((x.clone(), canonical_axis(axis, x.aval().rank())?)),
    }
}

/// Elements repeated by numbers of their own; `total` is the size of the result, which is cut or filled with the last
/// element.
///
/// # Errors
/// A `Value` error for a bad axis or numbers that do not fit.
pub fn repeat_each(x: &Val, repeats: &Val, axis: Option<i64>, total: usize) -> Result<Val> {
    use crate::indexing::{IndexItem, Update, UpdateOptions, update};
    let (x, axis) = flat_or_axis(x, axis)?;
    let size = x.aval().shape[axis];
    let repeats = broadcast_to(&super::ravel(repeats, Order::RowMajor)?, &[size])?;
    if total == 0 || size == 0 {
        let mut empty = x.aval().shape.to_vec();
        empty[axis] = total;
        return lax::full(&empty, &crate::convert::number(&x, 0.0));
    }
    let shifted = roll(&repeats, &[1], &Axes::One(0))?;
    let default = UpdateOptions::default();
    let first = [IndexItem::Int(0)];
    let shifted = update(&Update::Set, &shifted, &first, &weak_int(0), &default)?;
    let starts = super::cumsum(&shifted, Some(0), None)?;
    let counts = lax::full(&[total], &crate::convert::int_literal(pullback_base::DType::I32, 0))?;
    let counts = update(&Update::Add, &counts, &[IndexItem::Array(starts)], &weak_int(1), &default)?;
    let ends = super::cumsum(&counts, Some(0), None)?;
    let indices = lax::sub(&ends, &crate::convert::number(&ends, 1.0))?;
    super::take(&x, &indices, Some(axis as i64), super::TakeOptions::default())
}

/// At least `ndim` axes, by the rules of `atleast_1d`, `_2d` and `_3d`.
///
/// # Errors
/// What the primitive raises.
pub fn atleast(x: &Val, ndim: usize) -> Result<Val> {
    let name = ["atleast_0d", "atleast_1d", "atleast_2d", "atleast_3d"][ndim];
    named_jit_one(name, &[], std::slice::from_ref(x), |args| {
        let x = &args[0];
        match (x.aval().rank(), ndim) {
            (rank, ndim) if rank >= ndim => Ok(x.clone()),
            (0, ndim) => lax::expand_axes(x, &(0..ndim).collect::<Vec<_>>()),
            (1, 3) => lax::expand_axes(x, &[0, 2]),
            (1, _) => lax::expand_axes(x, &[0]),
            (_, _) => lax::expand_axes(x, &[2]),
        }
    })
}
