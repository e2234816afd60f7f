//! Functions of one variable given by points: interpolation, and phases made continuous.

// The default of a signature is written out, as users read it.
#![allow(clippy::approx_constant)]

use pullback_base::dtype::Kind;
use pullback_base::scalar::Number;
use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{part, pick, slice_at};
use super::where_;
use crate::convert::{concrete_scalar, epsilon, number, weak_float, weak_int};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::promote_inexact;

/// What a function is outside of its points.
#[derive(Clone, Debug)]
pub enum Side {
    /// This value.
    Value(Val),
    /// The line through the two nearest points: the word 'extrapolate'.
    Word(String),
}

impl Argument for Side {
    const TYPE: Type = Type { python: "ArrayLike | Literal['extrapolate']", rust: "&Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Side> {
        if !args.is_array(at)
            && let Ok(word) = args.text(at)
        {
            return Ok(Side::Word(word));
        }
        args.array(at).map(Side::Value)
    }
    fn absent(default: Constant) -> Side {
        Side::Value(Val::absent(default))
    }
}

impl Side {
    /// The value; none for the line.
    fn value(&self, name: &str) -> Result<Option<Val>> {
        match self {
            Side::Value(value) => Ok(Some(value.clone())),
            Side::Word(word) if word == "extrapolate" => Ok(None),
            Side::Word(word) => {
                bail!(Value, "the only valid string value of `{name}` is 'extrapolate', but got: '{word}'")
            }
        }
    }
}

/// Values of the piecewise linear function through `(xp, fp)`, constant outside unless told otherwise.
///
/// # Errors
/// A `Value` error for points of other than one axis or different sizes.
pub fn interp(x: &Val, xp: &Val, fp: &Val, left: Option<&Val>, right: Option<&Val>) -> Result<Val> {
    if xp.aval().shape != fp.aval().shape || xp.aval().rank() != 1 {
        bail!(Value, "xp and fp must be one-dimensional arrays of equal size");
    }
    let statics = [left.is_some().into(), right.is_some().into()];
    let args: Vec<Val> = [Some(x), Some(xp), Some(fp), left, right].into_iter().flatten().cloned().collect();
    named_jit_one("_interp", &statics, &args, |args| {
        let points = promote_inexact(&args[..2])?;
        let values = promote_inexact(&args[2..3])?;
        let mut rest = args[3..].iter();
        let left = if statics[0] == 1 { rest.next() } else { None };
        interp_of(&points[0], &points[1], &values[0], left, rest.next())
    })
}

fn interp_of(x: &Val, xp: &Val, fp: &Val, left: Option<&Val>, right: Option<&Val>) -> Result<Val> {
    use crate::indexing::{IndexItem, getitem};
    let at = |from: &Val, i: &Val| getitem(from, &[IndexItem::Array(i.clone())]);
    let fixed = |from: &Val, i: i64| getitem(from, &[IndexItem::Int(i)]);
    let n = xp.aval().shape[0] as i64;
    let i = super::clip(&super::searchsorted(xp, x, true)?, Some(&weak_int(1)), Some(&weak_int(n - 1)))?;
    let before = super::subtract(&i, &weak_int(1))?;
    let rise = lax::sub(&at(fp, &i)?, &at(fp, &before)?)?;
    let run = lax::sub(&at(xp, &i)?, &at(xp, &before)?)?;
    let delta = super::subtract(x, &at(xp, &before)?)?;
    let tiny = number(&run, f64::from(f32::EPSILON).powi(2));
    let is_flat = lax::le(&lax::abs(&run)?, &tiny)?;
    let base = at(fp, &before)?;
    let slope = lax::div(&delta, &where_(&is_flat, &weak_int(1), &run)?)?;
    // Points and values may be of different floating dtypes.
    let between = super::add(&base, &super::multiply(&slope, &rise)?)?;
    let mut out = where_(&is_flat, &base, &between)?;
    let low = left.map_or_else(|| fixed(fp, 0), |left| Ok(left.clone()))?;
    out = where_(&super::less(x, &fixed(xp, 0)?)?, &low, &out)?;
    let high = right.map_or_else(|| fixed(fp, -1), |right| Ok(right.clone()))?;
    where_(&super::greater(x, &fixed(xp, -1)?)?, &high, &out)
}

/// The piecewise linear function through points.
///
/// Args:
///   x: where to evaluate: a real array or number.
///   xp: the abscissas of the points, a vector `[n]`, ascending unless `period` is given.
///   fp: the ordinates `[n]`, real or complex.
///   left, right: the values outside of the points; those of the first and last point by default; 'extrapolate'
///     goes on along the line of the two nearest points.
///   period: the period of the function; abscissas are taken modulo it, and `left` and `right` have no influence.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   ValueError: points that are no vectors of one length, complex `x`, a period of 0 or with axes, or another
///     text.
/// Differentiable: almost everywhere, with respect to `x`, `xp` and `fp`.
/// Example:
///   >>> print(jnp.interp(jnp.array([0.5, 9.0]), jnp.array([0.0, 1.0]), jnp.array([2.0, 4.0])))
///   [3. 4.]
#[public("numpy.interp(x, xp, fp, left=None, right=None, period=None)")]
pub fn interp_by(
    x: &Val,
    xp: &Val,
    fp: &Val,
    left: Option<&Side>,
    right: Option<&Side>,
    period: Option<&Val>,
) -> Result<Val> {
    if x.aval().dtype.is_complex() {
        bail!(Value, "jnp.interp: complex x values not supported.");
    }
    let goes_on = |side: Option<&Side>| matches!(side, Some(Side::Word(_)));
    let ends = Ends {
        goes_left: goes_on(left),
        goes_right: goes_on(right),
        left: left.map(|side| side.value("left")).transpose()?.flatten(),
        right: right.map(|side| side.value("right")).transpose()?.flatten(),
    };
    if !(ends.goes_left || ends.goes_right || period.is_some() || fp.aval().dtype.is_complex()) {
        return interp(x, xp, fp, ends.left.as_ref(), ends.right.as_ref());
    }
    if xp.aval().shape != fp.aval().shape || xp.aval().rank() != 1 {
        bail!(Value, "xp and fp must be one-dimensional arrays of equal size");
    }
    let points = promote_inexact(&[x.clone(), xp.clone()])?;
    let values = promote_inexact(std::slice::from_ref(fp))?.swap_remove(0);
    let Some(period) = period else { return interp_on(&points[0], &points[1], &values, Some(&ends)) };
    check_period(period)?;
    let (x, xp, fp) = around(&points[0], &points[1], &values, period)?;
    interp_on(&x, &xp, &fp, None)
}

/// What [`interp_on`] gives outside of the points.
struct Ends {
    goes_left: bool,
    goes_right: bool,
    left: Option<Val>,
    right: Option<Val>,
}

fn check_period(period: &Val) -> Result<()> {
    if period.aval().rank() != 0 {
        bail!(Value, "period must be a scalar; got {}", period.aval());
    }
    if let Ok(known) = concrete_scalar(period, "the period of jnp.interp")
        && !known.is_nonzero()
    {
        let zero = if matches!(known.number(), Number::Int(_)) { "0" } else { "0.0" };
        bail!(Value, "period must be a non-zero value; got {zero}");
    }
    Ok(())
}

/// Points in order within one period, with one more of the periods before and behind, which close the circle.
fn around(x: &Val, xp: &Val, fp: &Val, period: &Val) -> Result<(Val, Val, Val)> {
    let period = super::absolute(period)?;
    let (x, xp) = (super::remainder(x, &period)?, super::remainder(xp, &period)?);
    let order = super::argsort(&xp, Some(-1), true, false)?;
    let (xp, fp) = (pick(&xp, &order)?, pick(fp, &order)?);
    let last = |of: &Val| part(of, 0, -1, None);
    let first = |of: &Val| part(of, 0, None, 1);
    let before = super::subtract(&last(&xp)?, &period)?;
    let after = super::add(&first(&xp)?, &period)?;
    let ends = (last(&fp)?, first(&fp)?);
    let xp = super::concatenate(&[before, xp, after], Some(0), None)?;
    let fp = super::concatenate(&[ends.0, fp, ends.1], Some(0), None)?;
    Ok((x, xp, fp))
}

fn interp_on(x: &Val, xp: &Val, fp: &Val, ends: Option<&Ends>) -> Result<Val> {
    let n = xp.aval().shape[0] as i64;
    let i = super::clip(&super::searchsorted(xp, x, true)?, Some(&weak_int(1)), Some(&weak_int(n - 1)))?;
    let before = super::subtract(&i, &weak_int(1))?;
    let base = pick(fp, &before)?;
    let df = super::subtract(&pick(fp, &i)?, &base)?;
    let start = pick(xp, &before)?;
    let dx = super::subtract(&pick(xp, &i)?, &start)?;
    let delta = super::subtract(x, &start)?;
    let eps = weak_float(epsilon(xp.aval().dtype));
    let is_flat = super::less_equal(&super::absolute(&dx)?, &eps)?;
    let share = super::true_divide(&delta, &where_(&is_flat, &weak_int(1), &dx)?)?;
    let between = super::add(&base, &super::multiply(&share, &df)?)?;
    let mut f = where_(&is_flat, &base, &between)?;
    let Some(ends) = ends else { return Ok(f) };
    if !ends.goes_left {
        let low = ends.left.clone().map_or_else(|| slice_at(fp, 0, 0), Ok)?;
        f = where_(&super::less(x, &slice_at(xp, 0, 0)?)?, &low, &f)?;
    }
    if !ends.goes_right {
        let high = ends.right.clone().map_or_else(|| slice_at(fp, 0, -1), Ok)?;
        f = where_(&super::greater(x, &slice_at(xp, 0, -1)?)?, &high, &f)?;
    }
    Ok(f)
}

/// Phases with jumps of more than half a period replaced by their complement, by adding multiples of the period.
///
/// Args:
///   p: an array of real numbers of at least one axis.
///   discont: the least jump that is replaced; half a period by default and at least.
///   axis: the axis; the last by default.
///   period: the period, 2 pi by default.
/// Returns: an array of the shape of `p` and a floating dtype; integers stay integers if the period is one.
/// Raises:
///   ValueError: `p` is complex.
///   IndexError: the axis is out of bounds.
/// Differentiable: almost everywhere; with derivative 1.
/// Example:
///   >>> print(jnp.unwrap(jnp.array([0.0, 3.0, 6.0, 1.0]), period=6))
///   [0. 3. 6. 7.]
#[public("numpy.unwrap(p, discont=None, axis=-1, period=6.283185307179586)")]
pub fn unwrap(p: &Val, discont: Option<&Val>, axis: i64, period: &Val) -> Result<Val> {
    let kind = p.aval().dtype.kind();
    if kind == Kind::Complex {
        bail!(Value, "jnp.unwrap does not support complex inputs.");
    }
    let whole = match period {
        Val::Literal(period) => match period.number() {
            Number::Int(period) => i64::try_from(period).ok(),
            _ => None,
        },
        _ => None,
    };
    let whole = whole.filter(|_| matches!(kind, Kind::Signed | Kind::Unsigned));
    let p = &if whole.is_some() { p.clone() } else { promote_inexact(&[p.clone(), period.clone()])?.swap_remove(0) };
    let rank = p.aval().rank();
    let Ok(at) = crate::axes::canonical_axis(axis, rank) else { bail!(Index, "tuple index out of range") };
    if p.aval().shape[at] == 0 {
        return Ok(p.clone());
    }
    let (interval, is_even) = match (whole, period) {
        (Some(period), _) => (weak_int(period.div_euclid(2)), period % 2 == 0),
        (None, Val::Literal(period)) => (weak_float(period.as_f64() / 2.0), true),
        (None, period) => (super::true_divide(period, &weak_int(2))?, true),
    };
    let lowest = match (whole, &interval) {
        (Some(period), _) => weak_int(-period.div_euclid(2)),
        (None, Val::Literal(interval)) => weak_float(-interval.as_f64()),
        (None, interval) => super::negative(interval)?,
    };
    let jump = super::diff(p, 1, axis, None, None)?;
    let shifted = super::remainder(&super::add(&jump, &interval)?, period)?;
    let mut wrapped = super::subtract(&shifted, &interval)?;
    if is_even {
        let is_lowest = super::equal(&wrapped, &lowest)?;
        let rises = super::greater(&jump, &weak_int(0))?;
        wrapped = where_(&super::bitwise_and(&is_lowest, &rises)?, &interval, &wrapped)?;
    }
    let correction = super::subtract(&wrapped, &jump)?;
    let is_small = super::less(&super::absolute(&jump)?, discont.unwrap_or(&interval))?;
    let correction = where_(&is_small, &weak_int(0), &correction)?;
    let moved = super::add(&part(p, at, 1, None)?, &super::cumsum(&correction, Some(axis), None)?)?;
    let tail = super::astype(&moved, p.aval().dtype)?;
    super::concatenate(&[part(p, at, 0, 1)?, tail], Some(at as i64), None)
}
