//! Changing shapes and the order of axes and elements.

use pullback_base::aval::tuple_text;
use pullback_base::{Error, ErrorKind, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::{Axes, canonical_axes, canonical_axis, signed_tuple_text};
use crate::broadcast::{broadcast_in_dim, broadcast_shapes, broadcast_to};
use crate::convert::weak_int;
use crate::declare::{Argument, Arguments, Constant, IntsOrArray, OneOrTuple, TupleOf, Type};
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

impl Argument for Order {
    const TYPE: Type = Type { python: "str", rust: "String" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Order> {
        Order::parse(&args.word(at)?)
    }
    fn absent(_default: Constant) -> Order {
        Order::RowMajor
    }
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

/// The elements under another shape, in the same order.
///
/// Args:
///   a: an array or number.
///   shape: the sizes of the axes: an integer or a sequence of static integers; one may be -1, which takes what is
///     left.
///   order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
///   copy: for compatibility; the result behaves as a copy.
///   out_sharding: the sharding of the result.
/// Returns: an array of that shape and the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), another number of elements, or several
///     -1.
///   ValueError: another `order`.
///   NotImplementedError: `order='A'`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.reshape(jnp.arange(6), (2, -1)))
///   [[0 1 2]
///    [3 4 5]]
#[public("numpy.reshape(a, shape: Sizes, order='C', *, copy: Ignored=None, out_sharding: Sharded=None)")]
pub fn reshape(a: &Val, shape: &[i64], order: Order) -> Result<Val> {
    let shape = resolve_sizes(a, shape)?;
    match order {
        Order::RowMajor => lax::reshape(a, &shape, None),
        Order::ColumnMajor => {
            let reversed: Vec<usize> = shape.iter().rev().copied().collect();
            let dims: Vec<usize> = (0..a.aval().rank()).rev().collect();
            let back: Vec<usize> = (0..shape.len()).rev().collect();
            lax::transpose(&lax::reshape(&lax::transpose(a, &dims)?, &reversed, None)?, &back)
        }
    }
}

fn resolve_sizes(x: &Val, sizes: &[i64]) -> Result<Vec<usize>> {
    let aval = x.aval();
    let n_unknown = sizes.iter().filter(|&&size| size == -1).count();
    if n_unknown > 1 {
        bail!(Type, "can only specify one unknown axis size with a `-1` value, got {}", signed_tuple_text(sizes));
    }
    let known = sizes.iter().filter(|&&size| size != -1).fold(1, |known: i64, &size| known.saturating_mul(size));
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

/// The axes in another order, reversed by default.
///
/// Args:
///   a: an array or number.
///   axes: for each axis of the result the one of `a`, negative ones counted from the end; None (the default)
///     reverses them.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `axes` is no permutation.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.transpose(jnp.array([[1, 2, 3], [4, 5, 6]])))
///   [[1 4]
///    [2 5]
///    [3 6]]
#[public("numpy.transpose(a, axes: Sizes=None)")]
pub fn transpose(a: &Val, axes: Option<&[i64]>) -> Result<Val> {
    let rank = a.aval().rank();
    let permutation = match axes {
        None => (0..rank).rev().collect(),
        Some(axes) => axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<Vec<_>>>()?,
    };
    lax::transpose(a, &permutation)
}

/// The last two axes exchanged.
///
/// Args:
///   x: an array `[..., m, n]`.
/// Returns: an array `[..., n, m]` of the dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.matrix_transpose(jnp.array([[1, 2], [3, 4]])))
///   [[1 3]
///    [2 4]]
#[public("numpy.matrix_transpose(x, /)")]
pub fn matrix_transpose(x: &Val) -> Result<Val> {
    let rank = x.aval().rank();
    if rank < 2 {
        bail!(Value, "x must be at least two-dimensional for matrix_transpose; got ndim={rank}");
    }
    swapaxes(x, -1, -2)
}

/// Two axes exchanged.
///
/// Args:
///   a: an array.
///   axis1, axis2: the axes, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
///   (4, 3, 2)
#[public("numpy.swapaxes(a, axis1, axis2)")]
pub fn swapaxes(a: &Val, axis1: i64, axis2: i64) -> Result<Val> {
    let rank = a.aval().rank();
    let mut permutation: Vec<usize> = (0..rank).collect();
    permutation.swap(canonical_axis(axis1, rank)?, canonical_axis(axis2, rank)?);
    lax::transpose(a, &permutation)
}

/// Axes moved to other positions; the others keep their order.
///
/// Args:
///   a: an array.
///   source: the axis or axes to move.
///   destination: where they go in the result, as many.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice, or another number of destinations.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
///   (3, 4, 2)
#[public("numpy.moveaxis(a, source, destination)")]
pub fn moveaxis(a: &Val, source: &[i64], destination: &[i64]) -> Result<Val> {
    let rank = a.aval().rank();
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
    lax::transpose(a, &permutation)
}

pub(super) fn move_axis_to(x: &Val, from: usize, to: usize) -> Result<Val> {
    moveaxis(x, &[from as i64], &[to as i64])
}

/// The array without axes of size 1.
///
/// Args:
///   a: an array or number.
///   axis: the axis or axes to leave out, of size 1; None (the default) for all such.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis of another size, out of bounds, or given twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape, jnp.squeeze(jnp.ones((1, 3, 1)), axis=0).shape
///   ((3,), (3, 1))
#[public("numpy.squeeze(a, axis=None)")]
pub fn squeeze(a: &Val, axis: &Axes) -> Result<Val> {
    match axis {
        Axes::All => {
            let ones = a
                .aval()
                .shape
                .iter()
                .enumerate()
                .filter(|(_, size)| **size == 1)
                .map(|(axis, _)| axis)
                .collect::<Vec<_>>();
            lax::squeeze_axes(a, &ones)
        }
        Axes::One(axis) => lax::squeeze(a, &[*axis]),
        Axes::Many(axis) => lax::squeeze(a, axis),
        Axes::Named(..) => axis.resolve(a.aval().rank()).map(|_| a.clone()),
    }
}

/// The array with new axes of size 1.
///
/// Args:
///   a: an array or number.
///   axis: where the new axes are in the result: one or several, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.expand_dims(jnp.ones(3), 0).shape, jnp.expand_dims(jnp.ones(3), (0, -1)).shape
///   ((1, 3), (1, 3, 1))
#[public("numpy.expand_dims(a, axis)")]
pub fn expand_dims(a: &Val, axis: &[i64]) -> Result<Val> {
    lax::expand_dims(a, axis)
}

/// The elements in reverse order along axes.
///
/// Args:
///   m: an array.
///   axis: the axis or axes; None (the default) for all.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.flip(jnp.array([[1, 2], [3, 4]]), axis=1))
///   [[2 1]
///    [4 3]]
#[public("numpy.flip(m, axis=None)")]
pub fn flip(m: &Val, axis: &Axes) -> Result<Val> {
    let statics: Vec<i64> = axis.resolve(m.aval().rank())?.into_iter().map(|axis| axis as i64).collect();
    named_jit_one("_flip", &statics, std::slice::from_ref(m), |args| {
        lax::rev(&args[0], &axis.resolve(args[0].aval().rank())?)
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

/// The elements in one axis.
///
/// Args:
///   a: an array or number.
///   order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
///   out_sharding: the sharding of the result.
/// Returns: a vector of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: another `order`.
///   NotImplementedError: `order` is 'A' or 'K'.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> a = jnp.array([[1, 2], [3, 4]])
///   >>> print(jnp.ravel(a), jnp.ravel(a, order="F"))
///   [1 2 3 4] [1 3 2 4]
#[public("numpy.ravel(a, order='C', *, out_sharding: Sharded=None)")]
pub fn ravel_by(a: &Val, order: &str) -> Result<Val> {
    if matches!(order, "A" | "K") {
        bail!(NotImplemented, "Ravel not implemented for order={order:?}.");
    }
    ravel(a, Order::parse(order)?)
}

/// The axes in another order: `transpose` under the name of the array API.
///
/// Args:
///   a: an array.
///   axes: for each axis of the result the one of `a`, negative ones counted from the end.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `axes` is no permutation.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.permute_dims(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
///   (4, 2, 3)
#[public("numpy.permute_dims(a, /, axes: Sizes)")]
pub fn permute_dims(a: &Val, axes: &[i64]) -> Result<Val> {
    transpose(a, Some(axes))
}

/// The array repeated to a shape: aligned at the ends, axes of size 1 stretch and missing ones come in front.
///
/// Args:
///   array: an array or number.
///   shape: the sizes of the axes: an integer or a sequence.
///   out_sharding: the sharding of the result.
/// Returns: an array of that shape and the dtype of `array`.
/// Raises:
///   TypeError: `array` is neither an array nor a number (lists are refused).
///   ValueError: `array` does not broadcast to the shape.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.broadcast_to(jnp.array([1, 2]), (3, 2)))
///   [[1 2]
///    [1 2]
///    [1 2]]
#[public("numpy.broadcast_to(array, shape, *, out_sharding: Sharded=None)")]
pub fn broadcast_to_shape(array: &Val, shape: &[usize]) -> Result<Val> {
    broadcast_to(array, shape)
}

/// Arrays repeated to their common shape; each keeps its dtype.
///
/// Args:
///   args: arrays or numbers.
/// Returns: a tuple of arrays.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: the shapes do not broadcast.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> x, y = jnp.broadcast_arrays(jnp.array([1, 2]), 7)
///   >>> print(x, y)
///   [1 2] [7 7]
#[public("numpy.broadcast_arrays(*args)")]
pub fn broadcast_arrays_of(args: &[Val]) -> Result<TupleOf> {
    Ok(TupleOf(crate::broadcast::broadcast_arrays(args)?.into_iter().collect()))
}

/// The columns in reverse order: `flip` along axis 1.
///
/// Args:
///   m: an array of at least two axes.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fliplr(jnp.array([[1, 2], [3, 4]])))
///   [[2 1]
///    [4 3]]
#[public("numpy.fliplr(m)")]
pub fn fliplr(m: &Val) -> Result<Val> {
    flip(m, &Axes::One(1))
}

/// The rows in reverse order: `flip` along axis 0.
///
/// Args:
///   m: an array of at least one axis.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has no axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.flipud(jnp.array([[1, 2], [3, 4]])))
///   [[3 4]
///    [1 2]]
#[public("numpy.flipud(m)")]
pub fn flipud(m: &Val) -> Result<Val> {
    flip(m, &Axes::One(0))
}

/// The array rotated by quarter turns in a plane, from the first axis to the second one.
///
/// Args:
///   m: an array of at least two axes.
///   k: how many quarter turns, 1 by default; negative ones turn the other way.
///   axes: the plane: two different axes, (0, 1) by default.
/// Returns: an array of the dtype of `m`; odd `k` exchange the sizes of the two axes.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds, or both are the same.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.rot90(jnp.array([[1, 2], [3, 4]])))
///   [[2 4]
///    [1 3]]
#[public("numpy.rot90(m, k=1, axes=(0, 1))")]
pub fn rot90_between(m: &Val, k: i64, axes: &[i64]) -> Result<Val> {
    let [from, to] = axes else { bail!(Value, "rot90: axes must be two axes, got {}", signed_tuple_text(axes)) };
    rot90(m, k, [*from, *to])
}

/// The elements moved along axes; those that leave at one end come in at the other.
///
/// Args:
///   a: an array.
///   shift: by how many places, which may be traced: an integer, or a sequence of one for each axis.
///   axis: the axis or axes; None (the default) moves in the flat array.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or a shift that is no integer.
///   ValueError: an axis is out of bounds, or another number of shifts.
/// Differentiable: yes, in both modes, with respect to `a`; it is linear.
/// Example:
///   >>> print(jnp.roll(jnp.arange(5), 2))
///   [3 4 0 1 2]
#[public("numpy.roll(a, shift, axis=None)")]
pub fn roll_by(a: &Val, shift: IntsOrArray, axis: &Axes) -> Result<Val> {
    match shift {
        IntsOrArray::Ints(shifts) => roll(a, &shifts, axis),
        // A shift that is no whole number is cut to one.
        IntsOrArray::Array(shift) if shift.aval().dtype.is_float() => {
            roll_dynamic(a, &crate::convert::to_dtype(&shift, pullback_base::DType::I32)?, axis)
        }
        IntsOrArray::Array(shift) => roll_dynamic(a, &shift, axis),
    }
}

/// One result for one operand, a tuple for several.
fn each_or_one(xs: &[Val], f: impl Fn(&Val) -> Result<Val>) -> Result<OneOrTuple> {
    match xs {
        [only] => f(only).map(OneOrTuple::One),
        several => several.iter().map(f).collect::<Result<_>>().map(OneOrTuple::Tuple),
    }
}

/// Arrays with at least one axis; numbers become vectors of one element.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.atleast_1d(3))
///   [3]
#[public("numpy.atleast_1d(*arys)")]
pub fn atleast_1d(arys: &[Val]) -> Result<OneOrTuple> {
    each_or_one(arys, |x| atleast(x, 1))
}

/// Arrays with at least two axes; missing ones come in front.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.atleast_2d(jnp.array([1, 2])))
///   [[1 2]]
#[public("numpy.atleast_2d(*arys)")]
pub fn atleast_2d(arys: &[Val]) -> Result<OneOrTuple> {
    each_or_one(arys, |x| atleast(x, 2))
}

/// Arrays with at least three axes: `[n]` becomes `[1, n, 1]`, `[m, n]` becomes `[m, n, 1]`.
///
/// Args:
///   arys: arrays or numbers.
/// Returns: an array for one argument, else a tuple.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.atleast_3d(jnp.ones(4)).shape, jnp.atleast_3d(jnp.ones((2, 3))).shape
///   ((1, 4, 1), (2, 3, 1))
#[public("numpy.atleast_3d(*arys)")]
pub fn atleast_3d(arys: &[Val]) -> Result<OneOrTuple> {
    each_or_one(arys, |x| atleast(x, 3))
}

/// The array repeated along each axis.
///
/// Args:
///   A: an array or number.
///   reps: how often along each axis: an integer for the last one, or a sequence; the shorter of it and the shape
///     gets ones in front.
/// Returns: an array of the dtype of `A`, whose sizes are multiplied.
/// Raises:
///   TypeError: `A` is neither an array nor a number (lists are refused), or a negative number.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.tile(jnp.array([1, 2]), (2, 2)))
///   [[1 2 1 2]
///    [1 2 1 2]]
#[public("numpy.tile(A, reps)")]
pub fn tile_by(a: &Val, reps: &[usize]) -> Result<Val> {
    tile(a, reps)
}

/// The size that `repeat` gives for concrete numbers of repetitions.
fn total_of(x: &Val, repeats: &Val, axis: Option<i64>) -> Result<usize> {
    let why = "When the 'repeats' argument is an array, 'total_repeat_length'";
    let elements = crate::convert::known(repeats, "repeat", why)?.elements()?;
    if elements.iter().any(|element| element.as_i64() < 0) {
        bail!(Type, "jnp.repeat: numbers of repetitions must not be negative");
    }
    let total: i64 = elements.iter().map(|element| element.as_i64()).sum();
    if elements.len() != 1 {
        return Ok(total as usize);
    }
    let aval = x.aval();
    let size = match axis {
        None => aval.size(),
        Some(axis) => aval.shape[canonical_axis(axis, aval.rank())?],
    };
    Ok(total as usize * size)
}

/// The elements or slices repeated, each before the next.
///
/// Args:
///   a: an array or number.
///   repeats: how often: an integer, or a vector of one for each slice; concrete unless `total_repeat_length` is
///     given.
///   axis: the axis; None (the default) takes the flat array.
///   total_repeat_length: the size of the result along the axis: more is cut off, what is missing repeats the last
///     slice.
///   out_sharding: for compatibility; without influence on one device.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or a negative number of repetitions.
///   ValueError: another number of repetitions than slices, or the axis is out of bounds.
///   ConcretizationTypeError: traced `repeats` without `total_repeat_length`.
/// Differentiable: yes, in both modes, with respect to `a`; it is linear.
/// Example:
///   >>> print(jnp.repeat(jnp.array([5, 6]), 2), jnp.repeat(jnp.array([5, 6]), jnp.array([1, 3])))
///   [5 5 6 6] [5 6 6 6]
#[public("numpy.repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding: Sharded=None)")]
pub fn repeat_by(a: &Val, repeats: IntsOrArray, axis: Option<i64>, total_repeat_length: Option<usize>) -> Result<Val> {
    let repeats = match repeats {
        IntsOrArray::Ints(each) => match (each.as_slice(), total_repeat_length) {
            (&[only], None) if only >= 0 => return repeat(a, only as usize, axis),
            _ => crate::convert::int_vector(&each),
        },
        IntsOrArray::Array(array) => array,
    };
    let total = match total_repeat_length {
        Some(total) => total,
        None => total_of(a, &repeats, axis)?,
    };
    repeat_each(a, &repeats, axis, total)
}

/// The elements in another shape, repeated as often as needed or cut off.
///
/// Args:
///   a: an array or number.
///   new_shape: the sizes of the axes: an integer or a tuple.
/// Returns: an array of that shape and the dtype of `a`; zeros if `a` is empty.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: a negative size.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.resize(jnp.array([1, 2, 3]), (2, 2)))
///   [[1 2]
///    [3 1]]
#[public("numpy.resize(a, new_shape)")]
pub fn resize(a: &Val, new_shape: &[i64]) -> Result<Val> {
    if new_shape.iter().any(|&size| size < 0) {
        bail!(Value, "all elements of `new_shape` must be non-negative");
    }
    let flat = super::parts::flat(a)?;
    let (size, length) =
        (new_shape.iter().fold(1, |size: usize, &axis| size.saturating_mul(axis as usize)), flat.aval().size());
    if length == 0 || size == 0 {
        return super::zeros(new_shape, Some(flat.aval().dtype));
    }
    let repeated = tile(&flat, &[size.div_ceil(length)])?;
    reshape(
        &super::parts::part(&repeated, 0, None, i64::try_from(size).unwrap_or(i64::MAX))?,
        new_shape,
        Order::RowMajor,
    )
}

/// An axis moved before another one; `moveaxis` is easier to read.
///
/// Args:
///   a: an array.
///   axis: the axis to move.
///   start: the axis before which it goes; 0 by default.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: `a` is nothing that `array` takes.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
///   (4, 2, 3)
#[public("numpy.rollaxis(a, axis, start=0)")]
pub fn rollaxis(a: &Val, axis: i64, start: i64) -> Result<Val> {
    let rank = a.aval().rank();
    let axis = canonical_axis(axis, rank)? as i64;
    let start = if start < rank as i64 { canonical_axis(start, rank)? as i64 } else { start };
    moveaxis(a, &[axis], &[start - i64::from(axis < start)])
}
