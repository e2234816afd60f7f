//! Quantiles, interpolation and correlation.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::reductions::axes_statics;
use super::where_;
use crate::axes::Axes;
use crate::convert::{literal, number, to_dtype, weak_float, weak_int};
use crate::jit::named_jit_one;
use crate::lax::{self, GatherDimensions, IndexMode, IndexOptions};
use crate::promotion::promote_inexact;

/// What a quantile between two elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantileMethod {
    /// On the line between them.
    Linear,
    /// The lower.
    Lower,
    /// The higher.
    Higher,
    /// The middle.
    Midpoint,
    /// The nearer.
    Nearest,
}

impl QuantileMethod {
    /// The method of NumPy's name.
    ///
    /// # Errors
    /// A `Value` error for one that is unknown.
    pub fn parse(name: &str) -> Result<QuantileMethod> {
        Ok(match name {
            "linear" => QuantileMethod::Linear,
            "lower" => QuantileMethod::Lower,
            "higher" => QuantileMethod::Higher,
            "midpoint" => QuantileMethod::Midpoint,
            "nearest" => QuantileMethod::Nearest,
            _ => bail!(Value, "method can only be 'linear', 'lower', 'higher', 'midpoint', or 'nearest'"),
        })
    }
}

/// The values below which fractions `q` of the elements lie.
///
/// # Errors
/// A `Value` error for a bad axis or `q` of more than one axis.
pub fn quantile(x: &Val, q: &Val, axis: &Axes, method: QuantileMethod, keepdims: bool) -> Result<Val> {
    let mut statics = axes_statics(axis, keepdims);
    statics.push(method as i64);
    named_jit_one("quantile", &statics, &[x.clone(), q.clone()], |args| {
        quantile_of(&args[0], &args[1], axis, method, keepdims)
    })
}

/// The middle element over axes in order; of an even number the mean of the two middle ones. NaN if one is among
/// them.
///
/// Args:
///   a: a real array or number; integers become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `a` is complex, there are no elements, `out` or `overwrite_input` is given, or an axis is out of
///     bounds.
/// Differentiable: almost everywhere; the gradient goes to the middle elements.
/// Example:
///   >>> print(jnp.median(jnp.array([[4, 1, 3], [2, 9, 2]]), axis=1))
///   [3. 2.]
#[public("numpy.median(a, axis=None, out=None, overwrite_input=False, keepdims=False)")]
pub fn median(a: &Val, axis: &Axes, keepdims: bool, out: Option<&Val>, overwrite_input: bool) -> Result<Val> {
    check_median(a, axis, out.is_some() || overwrite_input)?;
    named_jit_one("median", &axes_statics(axis, keepdims), std::slice::from_ref(a), |args| {
        quantile(&args[0], &weak_float(0.5), axis, QuantileMethod::Midpoint, keepdims)
    })
}

fn check_median(a: &Val, axis: &Axes, writes: bool) -> Result<()> {
    let aval = a.aval();
    if writes {
        bail!(Value, "jax.numpy.median does not support overwrite_input=True or out != None");
    }
    if aval.dtype.is_complex() {
        bail!(Value, "median does not support complex input, as the operation is poorly defined.");
    }
    if axis.resolve(aval.rank())?.iter().any(|&axis| aval.shape[axis] == 0) {
        bail!(Value, "jax.numpy.median reduction axis must be non-empty");
    }
    Ok(())
}

fn quantile_of(x: &Val, q: &Val, axis: &Axes, method: QuantileMethod, keepdims: bool) -> Result<Val> {
    if q.aval().rank() > 1 {
        bail!(Value, "q must be have rank <= 1, got shape {}", pullback_base::aval::tuple_text(&q.aval().shape));
    }
    // First the elements alone, so that a number for `q` does not widen what integers become.
    let floating = promote_inexact(std::slice::from_ref(x))?.swap_remove(0);
    let ins = promote_inexact(&[floating, q.clone()])?;
    let (x, q) = (&ins[0], to_dtype(&ins[1], ins[0].aval().dtype)?);
    let kept_shape = x.aval().shape.to_vec();
    let axes = axis.resolve(kept_shape.len())?;
    let (x, at) = merged(x, &axes)?;
    let has_nan = lax::expand_axes(&lax::reduce_or(&super::isnan(&x)?, &[at])?, &[at])?;
    let x = where_(&has_nan, &weak_float(f64::NAN), &x)?;
    let sorted = lax::sort(std::slice::from_ref(&x), at, 1, false)?.swap_remove(0);
    let last = number(&q, x.aval().shape[at] as f64 - 1.0);
    let position = lax::mul(&q, &last)?;
    let (low, high) = (lax::floor(&position)?, lax::ceil(&position)?);
    let high_weight = lax::sub(&position, &low)?;
    let low_weight = lax::sub(&number(&high_weight, 1.0), &high_weight)?;
    let zero = number(&q, 0.0);
    let pick = |place: &Val| {
        let place = lax::clamp(&zero, place, &last)?;
        gather_axis(&sorted, &to_dtype(&place, DType::I32)?, at)
    };
    let (low_value, high_value) = (pick(&low)?, pick(&high)?);
    let weight = |weight: &Val| spread_weight(weight, low_value.aval().rank(), q.aval().rank());
    let out = match method {
        QuantileMethod::Linear => {
            let low = super::multiply(&low_value, &weight(&low_weight)?)?;
            lax::add(&low, &super::multiply(&high_value, &weight(&high_weight)?)?)?
        }
        QuantileMethod::Lower => low_value,
        QuantileMethod::Higher => high_value,
        QuantileMethod::Nearest => {
            let takes_high = lax::gt(&high_weight, &number(&high_weight, 0.5))?;
            where_(&spread_weight(&takes_high, low_value.aval().rank(), q.aval().rank())?, &high_value, &low_value)?
        }
        QuantileMethod::Midpoint => {
            let both = lax::add(&low_value, &high_value)?;
            lax::mul(&both, &literal(both.aval().dtype, 0.5))?
        }
    };
    if !keepdims {
        return Ok(out);
    }
    let mut shape = crate::axes::keepdims_shape(&kept_shape, &axes);
    if q.aval().rank() == 1 {
        shape.insert(0, q.aval().shape[0]);
    }
    lax::reshape(&out, &shape, None)
}

/// The array with the axes merged in one, and where that one is.
fn merged(x: &Val, axes: &[usize]) -> Result<(Val, usize)> {
    let shape = x.aval().shape.to_vec();
    if let [axis] = axes {
        return Ok((x.clone(), *axis));
    }
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let mut sizes: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    sizes.push(axes.iter().map(|&axis| shape[axis]).product());
    let at = sizes.len() - 1;
    Ok((lax::reshape(&lax::transpose(x, &order)?, &sizes, None)?, at))
}

/// Elements at one place, or at a vector of places in front, of an axis.
fn gather_axis(x: &Val, places: &Val, axis: usize) -> Result<Val> {
    let n = places.aval().rank();
    let rank = x.aval().rank();
    let mut sizes = x.aval().shape.to_vec();
    sizes[axis] = 1;
    let dims = GatherDimensions {
        offset_dims: (n..n + rank - 1).collect(),
        collapsed_slice_dims: vec![axis],
        start_index_map: vec![axis],
        ..GatherDimensions::default()
    };
    let positions = lax::expand_axes(places, &[n])?;
    let options = IndexOptions { mode: IndexMode::PromiseInBounds, sorted: false, unique: false };
    lax::gather(x, &positions, &dims, &sizes, options, None)
}

fn spread_weight(weight: &Val, rank: usize, q_rank: usize) -> Result<Val> {
    if q_rank == 0 {
        return Ok(weight.clone());
    }
    lax::expand_axes(weight, &(1..rank).collect::<Vec<_>>())
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
    let between = lax::add(&base, &lax::mul(&slope, &rise)?)?;
    let mut out = where_(&is_flat, &base, &between)?;
    let low = left.map_or_else(|| fixed(fp, 0), |left| Ok(left.clone()))?;
    out = where_(&super::less(x, &fixed(xp, 0)?)?, &low, &out)?;
    let high = right.map_or_else(|| fixed(fp, -1), |right| Ok(right.clone()))?;
    where_(&super::greater(x, &fixed(xp, -1)?)?, &high, &out)
}

/// The value of a polynomial, by Horner's rule: `((p[0] x + p[1]) x + p[2]) ...`.
///
/// Args:
///   p: a vector of coefficients, the highest power first, or an array whose first axis they are.
///   x: where to evaluate: an array or number of any shape.
///   unroll: for compatibility; without influence.
/// Returns: an array of the shape of `x` (broadcast with the further axes of `p`) and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   IndexError: `p` has no axes.
/// Differentiable: yes, in both modes, with respect to `p` and `x`.
/// Example:
///   >>> print(jnp.polyval(jnp.array([1, 0, 2]), jnp.array([0, 3])))
///   [ 2 11]
#[public("numpy.polyval(p, x, *, unroll: Ignored=None)")]
pub fn polyval(p: &Val, x: &Val) -> Result<Val> {
    if p.aval().rank() == 0 {
        bail!(Index, "polyval: p must have at least one axis, that of the coefficients");
    }
    named_jit_one("polyval", &[], &[p.clone(), x.clone()], |args| {
        let ins = crate::promotion::promote_dtypes(args)?;
        let (p, x) = (&ins[0], &ins[1]);
        let mut coefficients = if p.aval().shape[0] == 0 { vec![] } else { lax::unstack(p, 0)?.into_vec() };
        coefficients.reverse();
        let mut value = lax::full(&x.aval().shape, &number(x, 0.0))?;
        while let Some(next) = coefficients.pop() {
            value = super::add(&lax::mul(&value, x)?, &next)?;
        }
        Ok(value)
    })
}

/// As [`quantile`], of elements in a float's order and without weights.
#[public("numpy.quantile(a, q, axis=None, method='linear', keepdims=False)")]
pub fn plain_quantile(a: &Val, q: &Val, axis: &Axes, method: &str, keepdims: bool) -> Result<Val> {
    quantile(a, q, axis, QuantileMethod::parse(method)?, keepdims)
}

/// As [`interp`], of functions without period.
#[public("numpy.interp(x, xp, fp, left=None, right=None)")]
pub fn plain_interp(x: &Val, xp: &Val, fp: &Val, left: Option<&Val>, right: Option<&Val>) -> Result<Val> {
    interp(x, xp, fp, left, right)
}
