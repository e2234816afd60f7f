//! Differences of neighbours, and derivatives by them.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{flat, joined, moved, part, shaped};
use crate::axes::canonical_axis;
use crate::convert::weak_float;
use crate::declare::{Object, Returned};
use crate::promotion::promote_inexact;

/// The differences of neighbours in the flat array.
///
/// Args:
///   ary: an array.
///   to_end, to_begin: elements to go behind and before the differences, converted to their dtype; none by default.
/// Returns: a vector, one shorter than `ary` without additions.
/// Raises:
///   TypeError: `ary` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.ediff1d(jnp.array([1, 4, 9]), to_begin=jnp.array([0])))
///   [0 3 5]
#[public("numpy.ediff1d(ary, to_end=None, to_begin=None)")]
pub fn ediff1d(ary: &Val, to_end: Option<&Val>, to_begin: Option<&Val>) -> Result<Val> {
    if ary.aval().dtype == DType::Bool {
        bail!(Type, "sub does not accept dtype bool at position 0.");
    }
    let out = super::diff(&flat(ary)?, 1, -1, None, None)?;
    let dtype = out.aval().dtype;
    let parts: Vec<Val> = [to_begin, Some(&out), to_end].into_iter().flatten().map(flat).collect::<Result<_>>()?;
    if parts.len() == 1 { Ok(out) } else { super::astype(&joined(&parts, 0)?, dtype) }
}

/// The derivative along axes by differences: central inside, one-sided at the ends, both exact for straight lines.
/// With uneven coordinates the inside ones are those of the parabola through three points.
///
/// Args:
///   f: the values, an array; integers become floating.
///   varargs: for each axis the distance of the points, or the vector of their coordinates; one for all, 1 by
///     default.
///   axis: the axis or axes; None (the default) for all.
///   edge_order: for compatibility; must be None.
/// Returns: an array of the shape of `f`, or a list with one for each axis.
/// Raises:
///   ValueError: an axis of fewer than two elements, or out of bounds.
///   TypeError: another number of distances than axes.
///   NotImplementedError: `edge_order` is given.
/// Differentiable: yes, in both modes, with respect to `f` and the distances.
/// Example:
///   >>> print(jnp.gradient(jnp.array([1.0, 4.0, 9.0, 16.0])))
///   [3. 4. 6. 7.]
#[public("numpy.gradient(f, *varargs, axis=None, edge_order=None)")]
pub fn gradient(f: &Val, varargs: &[Val], axis: Option<&[i64]>, edge_order: Option<Object>) -> Result<Returned> {
    if edge_order.is_some() {
        bail!(NotImplemented, "The 'edge_order' argument to jnp.gradient is not supported.");
    }
    let f = promote_inexact(std::slice::from_ref(f))?.swap_remove(0);
    let rank = f.aval().rank();
    let axes: Vec<usize> = match axis {
        None => (0..rank).collect(),
        Some(axes) => axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>()?,
    };
    let spacings = match varargs {
        [] => vec![weak_float(1.0); axes.len()],
        [one] => vec![one.clone(); axes.len()],
        all => all.to_vec(),
    };
    if spacings.len() != axes.len() {
        bail!(Type, "Invalid number of spacing arguments for the gradient function");
    }
    let along = |(&axis, spacing): (&usize, &Val)| gradient_along(&f, axis as i64, spacing);
    let mut out: Vec<Val> = axes.iter().zip(&spacings).map(along).collect::<Result<_>>()?;
    Ok(if out.len() == 1 { Returned::One(out.swap_remove(0)) } else { Returned::List(out.into_iter().collect()) })
}

fn gradient_along(f: &Val, axis: i64, spacing: &Val) -> Result<Val> {
    let f = moved(f, axis, 0)?;
    if f.aval().shape[0] < 2 {
        bail!(Value, "Shape of array too small to calculate a numerical gradient, at least 2 elements are required.");
    }
    let (next, previous) = (part(&f, 0, 2, None)?, part(&f, 0, None, -2)?);
    let first = super::subtract(&part(&f, 0, 1, 2)?, &part(&f, 0, None, 1)?)?;
    let last = super::subtract(&part(&f, 0, -1, None)?, &part(&f, 0, -2, -1)?)?;
    let out = if spacing.aval().rank() == 0 {
        let inner = super::multiply(&super::subtract(&next, &previous)?, &weak_float(0.5))?;
        super::true_divide(&joined(&[first, inner, last], 0)?, spacing)?
    } else {
        let steps = super::diff(spacing, 1, -1, None, None)?;
        let mut shape = vec![1; f.aval().rank()];
        shape[0] = steps.aval().size();
        let steps = shaped(&steps, &shape)?;
        let inner = uneven(&previous, &part(&f, 0, 1, -1)?, &next, &steps)?;
        let first = super::true_divide(&first, &part(&steps, 0, None, 1)?)?;
        let last = super::true_divide(&last, &part(&steps, 0, -1, None)?)?;
        joined(&[first, inner, last], 0)?
    };
    moved(&out, 0, axis)
}

/// The derivatives of the parabolas through three points, at the middle ones.
fn uneven(previous: &Val, here: &Val, next: &Val, steps: &Val) -> Result<Val> {
    let (before, after) = (part(steps, 0, None, -1)?, part(steps, 0, 1, None)?);
    let both = super::add(&before, &after)?;
    let term = |over: &Val, under: &Val, value: &Val| super::multiply(&super::true_divide(over, under)?, value);
    let a = term(&super::negative(&after)?, &super::multiply(&before, &both)?, previous)?;
    let b = term(&super::subtract(&after, &before)?, &super::multiply(&before, &after)?, here)?;
    let c = term(&before, &super::multiply(&after, &both)?, next)?;
    super::add(&super::add(&a, &b)?, &c)
}
