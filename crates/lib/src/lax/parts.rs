//! Parts of arrays at positions as users give them: negative ones count from the end, unless that is not allowed.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::shaping::nonnegative;
use super::{dynamic_slice, dynamic_update_slice, expand_axes, slice, slice_in_dim, squeeze_axes};
use crate::axes::canonical_axis;
use crate::convert::int_literal;
use crate::declare::{Argument, Arguments, Constant, NestedInts, Reader, Type};

/// On which axes negative positions count from the end.
#[derive(Clone, Debug)]
pub enum NegativesAllowed {
    /// On all or none.
    Everywhere(bool),
    /// One answer for each axis.
    ByAxis(Vec<bool>),
}

impl Argument for NegativesAllowed {
    const TYPE: Type = Type { python: "bool | Sequence[bool]", rust: "NegativesAllowed" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<NegativesAllowed> {
        match args.nested_ints(at) {
            Ok(NestedInts::Many(each)) => {
                Ok(NegativesAllowed::ByAxis(each.iter().map(|one| *one != NestedInts::One(0)).collect()))
            }
            _ => args.flag(at).map(NegativesAllowed::Everywhere),
        }
    }
    fn absent(default: Constant) -> NegativesAllowed {
        NegativesAllowed::Everywhere(default != Constant::Bool(false))
    }
}

impl NegativesAllowed {
    fn by_axis(&self, rank: usize) -> Result<Vec<bool>> {
        match self {
            NegativesAllowed::Everywhere(allowed) => Ok(vec![*allowed; rank]),
            NegativesAllowed::ByAxis(each) if each.len() == rank => Ok(each.clone()),
            NegativesAllowed::ByAxis(each) => {
                let n = each.len();
                bail!(Value, "allow_negative_indices needs one value for each of {rank} axes, got {n}")
            }
        }
    }
}

/// The positions of a slice: a sequence of scalars, or a vector.
pub struct Starts;

impl Reader<Vec<Val>> for Starts {
    const TYPE: Type = Type { python: "Sequence[ArrayLike] | ArrayLike", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<Val>> {
        if !args.is_sequence(at)
            && let Some(vector) = args.array(at).ok().filter(|vector| vector.aval().rank() == 1)
        {
            return Ok(super::unstack(&vector, 0)?.into_vec());
        }
        args.arrays(at)
    }
    fn absent(default: Constant) -> Vec<Val> {
        Argument::absent(default)
    }
}

/// Positions where negative ones count from the end only on axes that allow it.
fn from_the_front(x: &Val, starts: Vec<Val>, allowed: &[bool]) -> Result<Vec<Val>> {
    let aval = x.aval();
    if starts.len() != aval.rank() {
        // The function itself says so.
        return Ok(starts);
    }
    let place = |((start, &size), &allowed): ((Val, &usize), &bool)| match &start {
        _ if allowed => Ok(start),
        Val::Literal(number) if number.as_i64() < 0 => {
            let number = number.as_i64();
            bail!(Value, "Index {number} is out of bounds for dimension {size} if allow_negative_indices=False")
        }
        _ => at_least_zero(&start),
    };
    starts.into_iter().zip(&aval.shape).zip(allowed).map(place).collect()
}

fn at_least_zero(start: &Val) -> Result<Val> {
    super::max(start, &int_literal(start.aval().dtype, 0))
}

/// A position on each axis: `start` on one, 0 on the others.
fn each(x: &Val, axis: usize, start: &Val) -> Vec<Val> {
    let dtype = start.aval().dtype;
    (0..x.aval().rank()).map(|i| if i == axis { start.clone() } else { int_literal(dtype, 0) }).collect()
}

/// A part of fixed size at a computed position, which is moved so that the part lies inside.
///
/// Args:
///   operand: array of any dtype.
///   start_indices: a vector of integers, or integer scalars of one dtype: one for each axis. Negative ones count
///     from the end.
///   slice_sizes: the sizes of the part, at most those of `operand`.
///   allow_negative_indices: whether negative positions count from the end, for all axes or for each; otherwise computed
///     ones are moved to 0.
/// Returns: an array of shape `slice_sizes`.
/// Raises:
///   ValueError: a known position is negative and may not be.
///   TypeError: there is not one number for each axis, a size is too great, or positions are no integers.
/// Differentiable: in `operand`, linear; the transpose adds to zeros at the position.
/// Example:
///   >>> lax.dynamic_slice(jnp.arange(5), (1,), (2,))
///   Array([1, 2], dtype=int32)
///   >>> lax.dynamic_slice(jnp.arange(5), (9,), (2,))
///   Array([3, 4], dtype=int32)
#[public("lax.dynamic_slice(operand, start_indices: Starts, slice_sizes, *, allow_negative_indices=True)")]
pub fn checked_dynamic_slice(
    operand: &Val,
    start_indices: &[Val],
    slice_sizes: &[usize],
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    dynamic_slice(operand, &from_the_front(operand, start_indices.to_vec(), &allowed)?, slice_sizes)
}

/// A part of fixed size of one axis at a computed position, which is moved so that the part lies inside.
///
/// Args:
///   operand: array of any dtype.
///   start_index: an integer scalar; negative ones count from the end.
///   slice_size: the size of the part, known.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise a computed one is moved to 0.
/// Returns: an array of the same rank.
/// Raises:
///   TypeError: the position is no integer, or the size is greater than that of the axis.
///   ValueError: the axis is out of bounds, or a known position is negative and may not be.
/// Differentiable: in `operand`, linear.
/// Example:
///   >>> lax.dynamic_slice_in_dim(jnp.arange(5), 3, 4)
///   Array([1, 2, 3, 4], dtype=int32)
#[public("lax.dynamic_slice_in_dim(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True)")]
pub fn dynamic_slice_in_dim(
    operand: &Val,
    start_index: &Val,
    slice_size: usize,
    axis: i64,
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    let at = canonical_axis(axis, operand.aval().rank())?;
    let starts = from_the_front(operand, each(operand, at, start_index), &allowed)?;
    let mut full = operand.aval().shape.to_vec();
    full[at] = slice_size;
    dynamic_slice(operand, &starts, &full)
}

/// A computed position of one axis, moved into bounds.
///
/// Args:
///   operand: array of any dtype.
///   index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   keepdims: whether the axis stays, with size 1.
///   allow_negative_indices: whether negative ones count from the end; otherwise they are moved to 0.
/// Returns: an array of the same rank, or one less.
/// Raises:
///   TypeError: the position is no integer.
///   ValueError: the axis is out of bounds.
/// Differentiable: in `operand`, linear.
/// Example:
///   >>> lax.dynamic_index_in_dim(jnp.arange(5), 2, keepdims=False)
///   Array(2, dtype=int32)
#[public("lax.dynamic_index_in_dim(operand, index, axis=0, keepdims=True, *, allow_negative_indices=True)")]
pub fn dynamic_index_in_dim(
    operand: &Val,
    index: &Val,
    axis: i64,
    keepdims: bool,
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    let at = canonical_axis(axis, operand.aval().rank())?;
    let index = if allowed[at] { index.clone() } else { at_least_zero(index)? };
    let starts = each(operand, at, &index);
    let mut full = operand.aval().shape.to_vec();
    full[at] = 1;
    let part = dynamic_slice(operand, &starts, &full)?;
    if keepdims { Ok(part) } else { squeeze_axes(&part, &[at]) }
}

/// The operand with another array at a computed position, which is moved so that the update lies inside.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype and rank, in no axis greater.
///   start_indices: a vector of integers, or integer scalars of one dtype: one for each axis. Negative ones count
///     from the end.
///   allow_negative_indices: whether negative positions count from the end, for all axes or for each; otherwise computed
///     ones are moved to 0.
/// Returns: an array like `operand`, which stays as it is.
/// Raises:
///   ValueError: a known position is negative and may not be.
///   TypeError: dtypes or ranks differ, the update is too great, or positions are no integers, one for each axis.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_slice(jnp.arange(5), jnp.array([7, 8]), (1,))
///   Array([0, 7, 8, 3, 4], dtype=int32)
#[public("lax.dynamic_update_slice(operand, update, start_indices: Starts, *, allow_negative_indices=True)")]
pub fn checked_dynamic_update_slice(
    operand: &Val,
    update: &Val,
    start_indices: &[Val],
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    dynamic_update_slice(operand, update, &from_the_front(operand, start_indices.to_vec(), &allowed)?)
}

/// The operand with another array at a computed position of one axis, which is moved so that the update lies inside.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype and rank, in no axis greater.
///   start_index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise a computed one is moved to 0.
/// Returns: an array like `operand`.
/// Raises:
///   TypeError: dtypes or ranks differ, the update is too great, or the position is no integer.
///   ValueError: the axis is out of bounds, or a known position is negative and may not be.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_slice_in_dim(jnp.arange(5), jnp.array([7, 8]), 1, 0)
///   Array([0, 7, 8, 3, 4], dtype=int32)
#[public("lax.dynamic_update_slice_in_dim(operand, update, start_index, axis, *, allow_negative_indices=True)")]
pub fn dynamic_update_slice_in_dim(
    operand: &Val,
    update: &Val,
    start_index: &Val,
    axis: i64,
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    let at = canonical_axis(axis, operand.aval().rank())?;
    let starts = from_the_front(operand, each(operand, at, start_index), &allowed)?;
    dynamic_update_slice(operand, update, &starts)
}

/// The operand with a computed position of one axis replaced; the position is moved into bounds.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype, with or without the axis, of size 1.
///   index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise they are moved to 0.
/// Returns: an array like `operand`.
/// Raises:
///   TypeError: dtypes or ranks differ, or the position is no integer.
///   ValueError: the axis is out of bounds.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_index_in_dim(jnp.zeros((2, 2)), jnp.ones(2), 1, 0)
///   Array([[0., 0.],
///          [1., 1.]], dtype=float32)
#[public("lax.dynamic_update_index_in_dim(operand, update, index, axis, *, allow_negative_indices=True)")]
pub fn dynamic_update_index_in_dim(
    operand: &Val,
    update: &Val,
    index: &Val,
    axis: i64,
    allow_negative_indices: &NegativesAllowed,
) -> Result<Val> {
    let allowed = allow_negative_indices.by_axis(operand.aval().rank())?;
    let at = canonical_axis(axis, operand.aval().rank())?;
    let index = if allowed[at] { index.clone() } else { at_least_zero(index)? };
    let has_axis = update.aval().rank() == operand.aval().rank();
    let update = if has_axis { update.clone() } else { expand_axes(update, &[at])? };
    dynamic_update_slice(operand, &update, &each(operand, at, &index))
}

/// One position of an axis, known.
///
/// Args:
///   operand: array of any dtype.
///   index: the position, negative counted from the end.
///   axis: the axis, negative counted from the end.
///   keepdims: whether the axis stays, with size 1.
/// Returns: an array of the same rank, or one less.
/// Raises:
///   IndexError: the position is out of bounds.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.index_in_dim(jnp.array([[1, 2], [3, 4]]), -1)
///   Array([[3, 4]], dtype=int32)
#[public("lax.index_in_dim(operand, index, axis=0, keepdims=True)")]
pub fn index_in_dim(operand: &Val, index: i64, axis: i64, keepdims: bool) -> Result<Val> {
    let axis = canonical_axis(axis, operand.aval().rank())?;
    let n = operand.aval().shape[axis] as i64;
    let at = if index < 0 { index + n } else { index };
    if !(0..n).contains(&at) {
        bail!(Index, "index {index} is out of bounds for axis {axis} with size {n}");
    }
    let part = slice_in_dim(operand, at as usize, at as usize + 1, 1, axis)?;
    if keepdims { Ok(part) } else { squeeze_axes(&part, &[axis]) }
}

/// A part of each axis, at positions that are known.
///
/// Args:
///   operand: array of any dtype.
///   start_indices: the first position of each axis.
///   limit_indices: for each axis the position after the last, at most its size.
///   strides: for each axis how far positions are apart; 1 by default.
/// Returns: an array with sizes `ceil((limit - start) / stride)`.
/// Raises:
///   TypeError: there is not one number for each axis, one is negative, a limit is before the start or beyond the
///     axis, or a stride is 0.
/// Differentiable: yes, linear; the transpose pads with zeros.
/// Example:
///   >>> lax.slice(jnp.arange(5), (1,), (5,), (2,))
///   Array([1, 3], dtype=int32)
#[public("lax.slice(operand, start_indices: Sizes, limit_indices: Sizes, strides: Sizes=None)")]
pub fn checked_slice(
    operand: &Val,
    start_indices: &[i64],
    limit_indices: &[i64],
    strides: Option<&[i64]>,
) -> Result<Val> {
    let strides = strides.map(nonnegative).transpose()?;
    let aval = operand.aval();
    if let Some(strides) = strides.as_ref().filter(|strides| strides.len() != aval.rank()) {
        bail!(
            Type,
            "slice strides must have length equal to the number of dimensions of the operand, got strides {} for \
             operand shape {}.",
            tuple_text(strides),
            tuple_text(&aval.shape)
        );
    }
    slice(operand, &nonnegative(start_indices)?, &nonnegative(limit_indices)?, strides.as_deref())
}

/// A part of one axis, at positions that are known.
///
/// Args:
///   operand: array of any dtype.
///   start_index: the first position, 0 for None. Negative positions count from the end.
///   limit_index: the position after the last, likewise; None is the end.
///   stride: how far positions are apart.
///   axis: the axis, negative counted from the end.
/// Returns: an array of the same rank.
/// Raises:
///   TypeError: the limit is before the start, a position is beyond an end, or the stride is not positive.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, linear; the transpose pads with zeros.
/// Example:
///   >>> lax.slice_in_dim(jnp.arange(5), -3, None)
///   Array([2, 3, 4], dtype=int32)
#[public("lax.slice_in_dim(operand, start_index, limit_index, stride=1, axis=0)")]
pub fn checked_slice_in_dim(
    operand: &Val,
    start_index: Option<i64>,
    limit_index: Option<i64>,
    stride: i64,
    axis: i64,
) -> Result<Val> {
    let stride = positive_stride(stride)?;
    let axis = canonical_axis(axis, operand.aval().rank())?;
    let n = operand.aval().shape[axis] as i64;
    let wrap = |at: i64| if at < 0 { at + n } else { at };
    let (start, limit) = (wrap(start_index.unwrap_or(0)), wrap(limit_index.unwrap_or(n)));
    if !(0..=n).contains(&start) || !(0..=n).contains(&limit) {
        let shape = tuple_text(&operand.aval().shape);
        bail!(
            Type,
            "slice limit_indices must be less than or equal to operand shape, got positions {start} to {limit} of \
             axis {axis} for operand shape {shape}."
        );
    }
    slice_in_dim(operand, start as usize, limit as usize, stride, axis)
}

/// A stride as the primitive wants it.
fn positive_stride(stride: i64) -> Result<usize> {
    match usize::try_from(stride) {
        Ok(stride) if stride > 0 => Ok(stride),
        _ => bail!(Type, "slice strides must be positive, got ({stride},)"),
    }
}
