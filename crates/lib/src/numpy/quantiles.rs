//! Quantiles: of sorted elements, of weighted ones, and of those that are not NaN.

use pullback_base::{DType, Error, Result, bail};
use pullback_derive::{Keywords, public};
use pullback_ir::Val;

use super::parts::{moved, over, shaped};
use super::reductions::axes_statics;
use super::{TakeOptions, where_};
use crate::axes::Axes;
use crate::broadcast::broadcast_to;
use crate::convert::{inexact, literal, number, to_dtype, weak_float, weak_int};
use crate::declare::Object;
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax::{self, GatherDimensions, GatherMode, IndexOptions};
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
    sizes.push(pullback_base::extent(axes.iter().map(|&axis| &shape[axis])));
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
    let options = IndexOptions { mode: GatherMode::PromiseInBounds, sorted: false, unique: false };
    lax::gather(x, &positions, &dims, &sizes, options, None)
}

fn spread_weight(weight: &Val, rank: usize, q_rank: usize) -> Result<Val> {
    if q_rank == 0 {
        return Ok(weight.clone());
    }
    lax::expand_axes(weight, &(1..rank).collect::<Vec<_>>())
}

/// What users say of quantiles beside elements and fractions.
#[derive(Clone, Debug, Keywords)]
pub struct Quantile {
    /// Which axes.
    pub axis: Axes,
    /// Where to write; must not be given.
    pub out: Option<Object>,
    /// Whether the operand may be written to; must be false.
    pub overwrite_input: bool,
    /// What lies between two elements.
    pub method: String,
    /// Whether reduced axes stay with size 1.
    pub keepdims: bool,
    /// What each element counts.
    pub weights: Option<Val>,
}

impl Default for Quantile {
    fn default() -> Quantile {
        Quantile {
            axis: Axes::All,
            out: None,
            overwrite_input: false,
            method: "linear".into(),
            keepdims: false,
            weights: None,
        }
    }
}

impl Quantile {
    fn check_output(&self, name: &str) -> Result<()> {
        if self.out.is_some() || self.overwrite_input {
            bail!(Value, "jax.numpy.{name} does not support overwrite_input=True or out != None");
        }
        Ok(())
    }
}

/// The values below which a part `q` of the elements lies.
/// By 'linear' it is the value at position `q (n - 1)` of the sorted elements (type 7 of Hyndman and Fan, "Sample
/// quantiles in statistical packages", 1996). NaN if one is among the elements.
///
/// Args:
///   a: a real array or number; integers become floating.
///   q: the parts, from 0 to 1: a number or a vector; others are clipped.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   method: what lies between two elements: 'linear', 'lower', 'higher', 'midpoint', 'nearest', or 'inverted_cdf',
///     which gives the first element that the part reaches.
///   keepdims: whether reduced axes stay, with size 1.
///   weights: what each element counts, of the shape of `a` or of the reduced axes; only for 'inverted_cdf'.
/// Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
/// Raises:
///   TypeError: `a` or `q` is neither an array nor a number.
///   ValueError: `a` is complex, `q` has several axes, another `method`, weights of another shape, `out` or
///     `overwrite_input` is given, or an axis is out of bounds.
///   NotImplementedError: `weights` with another method than 'inverted_cdf'.
/// Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
/// Example:
///   >>> print(jnp.quantile(jnp.array([1.0, 2.0, 4.0]), jnp.array([0.5, 0.75])))
///   [2. 3.]
#[public(
    "numpy.quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)"
)]
pub fn quantile_by(a: &Val, q: &Val, options: &Quantile) -> Result<Val> {
    options.check_output("quantile")?;
    in_dtype_of(a, quantile_within(a, q, options, false)?)
}

/// The values below which `q` percent of the elements lie: `quantile` with `q / 100`.
///
/// Args:
///   a: a real array or number; integers become floating.
///   q: the percentages, from 0 to 100: a number or a vector; others are clipped.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   method: what lies between two elements, as for `quantile`.
///   keepdims: whether reduced axes stay, with size 1.
///   weights: what each element counts, as for `quantile`.
///   out_sharding: must be None.
/// Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
/// Raises:
///   TypeError: `a` is neither an array nor a number.
///   ValueError: `a` is complex, `q` has several axes, another `method`, weights of another shape, `out` or
///     `overwrite_input` is given, or an axis is out of bounds.
///   NotImplementedError: `weights` with another method than 'inverted_cdf', or `out_sharding` is given.
/// Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
/// Example:
///   >>> print(jnp.percentile(jnp.array([1.0, 2.0, 4.0]), 75))
///   3.0
#[public(
    "numpy.percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None, out_sharding=None)"
)]
pub fn percentile(a: &Val, q: &Val, options: &Quantile, out_sharding: Option<Object>) -> Result<Val> {
    if out_sharding.is_some() {
        bail!(NotImplemented, "out_sharding of jax.numpy.percentile is not implemented");
    }
    options.check_output("percentile")?;
    let (wide, q) = with_fractions(a, q)?;
    in_dtype_of(a, quantile_within(&wide, &super::true_divide(&q, &weak_int(100))?, options, false)?)
}

/// The values below which a part `q` of the elements that are not NaN lies; NaN where there are none.
///
/// Args:
///   a: a real array or number; integers become floating.
///   q: the parts, from 0 to 1: a number or a vector; others are clipped.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   method: what lies between two elements, as for `quantile`.
///   keepdims: whether reduced axes stay, with size 1.
///   weights: what each element counts, as for `quantile`.
/// Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
/// Raises:
///   TypeError: `a` or `q` is neither an array nor a number.
///   ValueError: as for `quantile`.
///   NotImplementedError: `weights` with another method than 'inverted_cdf'.
/// Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
/// Example:
///   >>> print(jnp.nanquantile(jnp.array([1.0, jnp.nan, 3.0]), 0.5))
///   2.0
#[public(
    "numpy.nanquantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)"
)]
pub fn nanquantile(a: &Val, q: &Val, options: &Quantile) -> Result<Val> {
    options.check_output("nanquantile")?;
    in_dtype_of(a, quantile_within(a, q, options, true)?)
}

/// The values below which `q` percent of the elements that are not NaN lie: `nanquantile` with `q / 100`.
///
/// Args:
///   a: a real array or number; integers become floating.
///   q: the percentages, from 0 to 100: a number or a vector; others are clipped.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   method: what lies between two elements, as for `quantile`.
///   keepdims: whether reduced axes stay, with size 1.
///   weights: what each element counts, as for `quantile`.
/// Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
/// Raises:
///   TypeError: `a` is neither an array nor a number.
///   ValueError: as for `quantile`.
///   NotImplementedError: `weights` with another method than 'inverted_cdf'.
/// Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
/// Example:
///   >>> print(jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50))
///   2.0
#[public(
    "numpy.nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)"
)]
pub fn nanpercentile(a: &Val, q: &Val, options: &Quantile) -> Result<Val> {
    options.check_output("nanpercentile")?;
    let (wide, q) = with_fractions(a, q)?;
    in_dtype_of(a, quantile_within(&wide, &super::true_divide(&q, &weak_int(100))?, options, true)?)
}

/// The middle of the elements over axes that are not NaN; the mean of the two middle ones of an even number.
///
/// Args:
///   a: a real array or number; integers become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out, overwrite_input: for compatibility; must be None and False.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: a floating array of the shape of `a` without the reduced axes; NaN where all elements are.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `a` is complex, `out` or `overwrite_input` is given, or an axis is out of bounds.
/// Differentiable: almost everywhere; the gradient goes to the middle elements.
/// Example:
///   >>> print(jnp.nanmedian(jnp.array([1.0, jnp.nan, 3.0, 8.0])))
///   3.0
#[public("numpy.nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)")]
pub fn nanmedian(a: &Val, options: &Quantile) -> Result<Val> {
    options.check_output("nanmedian")?;
    quantile_within(a, &weak_float(0.5), &Quantile { method: "midpoint".into(), ..options.clone() }, true)
}

/// A result in the floating dtype of the elements, which wider fractions do not change.
fn in_dtype_of(a: &Val, found: Val) -> Result<Val> {
    to_dtype(&found, inexact(a.aval().dtype))
}

/// Elements and fractions in one floating dtype: a number for the fractions does not widen what integers become.
fn with_fractions(a: &Val, q: &Val) -> Result<(Val, Val)> {
    let floating = promote_inexact(std::slice::from_ref(a))?.swap_remove(0);
    let mut both = promote_inexact(&[floating, q.clone()])?;
    let q = both.pop().expect("two operands");
    Ok((both.swap_remove(0), q))
}

fn quantile_within(a: &Val, q: &Val, options: &Quantile, skips_nan: bool) -> Result<Val> {
    let (a, q) = with_fractions(a, q)?;
    if a.aval().dtype.is_complex() {
        bail!(Value, "quantile does not support complex input, as the operation is poorly defined.");
    }
    // None for the one method that is no way between two elements.
    let method = match &options.method[..] {
        "inverted_cdf" => None,
        method => Some(QuantileMethod::parse(method).map_err(|_| unknown_method())?),
    };
    if options.weights.is_some() && method.is_some() {
        bail!(
            NotImplemented,
            "{} doesn't support weights. Only method 'inverted_cdf' supports weights.",
            options.method
        );
    }
    if let (None, false, Some(method)) = (&options.weights, skips_nan, method) {
        return quantile(&a, &q, &options.axis, method, options.keepdims);
    }
    if q.aval().rank() > 1 {
        bail!(Value, "q must be have rank <= 1, got shape {}", pullback_base::aval::tuple_text(&q.aval().shape));
    }
    let shape = a.aval().shape.to_vec();
    let axes = given_axes(&options.axis, shape.len())?;
    let rows = behind(&a, &axes)?;
    let found = match &options.weights {
        None => of_sorted(&rows, &q, method, skips_nan)?,
        Some(weights) => {
            let weights = fitting_weights(weights, &shape, &options.axis, &axes)?;
            weighted(&rows, &behind(&weights, &axes)?, &q, skips_nan)?
        }
    };
    if !options.keepdims {
        return Ok(found);
    }
    shaped(&found, &[&q.aval().shape[..], &crate::axes::keepdims_shape(&shape, &axes)].concat())
}

fn unknown_method() -> Error {
    Error::value_error(
        "method can only be 'linear', 'lower', 'higher', 'midpoint', 'nearest' or 'inverted_cdf'".to_string(),
    )
}

/// The axes counted from the front, in the given order.
fn given_axes(axes: &Axes, rank: usize) -> Result<Vec<usize>> {
    match axes {
        Axes::Many(axes) => crate::axes::canonical_axes(axes, rank),
        axes => axes.resolve(rank),
    }
}

/// The reduced axes as one, behind the others.
fn behind(x: &Val, axes: &[usize]) -> Result<Val> {
    let shape = x.aval().shape.to_vec();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let mut sizes: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    sizes.push(pullback_base::extent(axes.iter().map(|&axis| &shape[axis])));
    shaped(&lax::transpose(x, &order)?, &sizes)
}

/// Quantiles along the last axis of `rows`, the axis of `q` first; without a method the first elements that it reaches.
fn of_sorted(rows: &Val, q: &Val, method: Option<QuantileMethod>, skips_nan: bool) -> Result<Val> {
    let mut rows = super::sort(rows, Some(-1), true, false)?;
    let is_nan = super::isnan(&rows)?;
    let (dtype, shape) = (rows.aval().dtype, rows.aval().shape.to_vec());
    let (&size, before) = shape.split_last().expect("an axis of what is reduced");
    let q_shape = q.aval().shape.to_vec();
    if size == 0 {
        return lax::full(&[&q_shape[..], before].concat(), &literal(dtype, f64::NAN));
    }
    let q_dtype = q.aval().dtype;
    let count = if skips_nan {
        super::astype(&super::sum(&super::invert(&is_nan)?, &over(-1, false))?, q_dtype)?
    } else {
        rows = where_(&super::any(&is_nan, &over(-1, true))?, &literal(dtype, f64::NAN), &rows)?;
        lax::full(before, &literal(q_dtype, size as f64))?
    };
    let ones = vec![1; before.len()];
    let part = shaped(q, &[&q_shape[..], &ones].concat())?;
    let last = super::subtract(&count, &weak_int(1))?;
    let greatest = super::maximum(&last, &weak_int(0))?;
    let bounded = |place: &Val| super::clip(place, Some(&weak_int(0)), Some(&greatest));
    let (place, low, high) = if method.is_none() {
        let place = super::subtract(&super::ceil(&super::multiply(&part, &count)?)?, &weak_int(1))?;
        let low = bounded(&place)?;
        (place, low.clone(), low)
    } else {
        let place = bounded(&super::multiply(&part, &last)?)?;
        let (low, high) = (super::floor(&place)?, super::ceil(&place)?);
        (place, low, high)
    };
    let n = q.aval().size();
    let last_axis = |x: &Val| moved(&shaped(x, &[&[n], before].concat())?, 0, -1);
    let at = |place: &Val| {
        let place = super::astype(&last_axis(place)?, DType::I32)?;
        super::take_along_axis(&rows, &place, Some(-1), TakeOptions::default())
    };
    let (low_value, high_value) = (at(&low)?, at(&high)?);
    let share = last_axis(&super::subtract(&place, &low)?)?;
    let mut value = between(&low_value, &high_value, &share, method)?;
    if skips_nan {
        let is_empty = super::equal(&lax::expand_axes(&count, &[before.len()])?, &weak_int(0))?;
        value = where_(&is_empty, &literal(value.aval().dtype, f64::NAN), &value)?;
    }
    shaped(&moved(&value, -1, 0)?, &[&q_shape[..], before].concat())
}

fn between(low: &Val, high: &Val, share: &Val, method: Option<QuantileMethod>) -> Result<Val> {
    match method {
        Some(QuantileMethod::Linear) => {
            let low = super::multiply(low, &super::subtract(&weak_int(1), share)?)?;
            super::add(&low, &super::multiply(high, share)?)
        }
        Some(QuantileMethod::Higher) => Ok(high.clone()),
        Some(QuantileMethod::Midpoint) => super::multiply(&super::add(low, high)?, &weak_float(0.5)),
        Some(QuantileMethod::Nearest) => where_(&super::less_equal(share, &weak_float(0.5))?, low, high),
        Some(QuantileMethod::Lower) | None => Ok(low.clone()),
    }
}

/// Weights of the shape of the elements.
fn fitting_weights(weights: &Val, shape: &[usize], axis: &Axes, axes: &[usize]) -> Result<Val> {
    let weights = promote_inexact(std::slice::from_ref(weights))?.swap_remove(0);
    if weights.aval().shape[..] == *shape {
        return Ok(weights);
    }
    if *axis == Axes::All {
        bail!(Value, "Weights shape must match 'a' shape when axis is None.");
    }
    let reduced: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
    if weights.aval().shape[..] != reduced[..] {
        use pullback_base::aval::tuple_text;
        bail!(
            Value,
            "Weights shape {} must match reduction axes {}",
            tuple_text(&weights.aval().shape),
            tuple_text(&reduced)
        );
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&at| axes[at]);
    let others: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    broadcast_to(&lax::expand_axes(&lax::transpose(&weights, &order)?, &others)?, shape)
}

/// The first elements, in order, up to which the part `q` of the weight lies.
fn weighted(rows: &Val, weights: &Val, q: &Val, skips_nan: bool) -> Result<Val> {
    let is_nan = super::isnan(rows)?;
    let weights = if skips_nan { where_(&is_nan, &weak_int(0), weights)? } else { weights.clone() };
    let order = super::argsort(rows, Some(-1), true, false)?;
    let in_order = |x: &Val| super::take_along_axis(x, &order, Some(-1), TakeOptions::default());
    let (rows, weights) = (in_order(rows)?, in_order(&weights)?);
    let shape = rows.aval().shape.to_vec();
    let last = shape.len() - 1;
    let running = super::cumsum(&weights, Some(-1), None)?;
    let total = getitem(&running, &[IndexItem::Ellipsis, IndexItem::Int(-1)])?;
    let all_parts = shaped(q, &[q.aval().size()])?;
    let parts = lax::expand_axes(&all_parts, &(1..shape.len()).collect::<Vec<_>>())?;
    let wanted = super::multiply(&parts, &total)?;
    let wanted = lax::expand_axes(&wanted, &[wanted.aval().rank()])?;
    let place = super::sum(&super::less(&running, &wanted)?, &over(-1, false))?;
    let place = super::clip(&place, Some(&weak_int(0)), Some(&weak_int(shape[last] as i64 - 1)))?;
    let place_shape = place.aval().shape.to_vec();
    let repeated = broadcast_to(&rows, &[&place_shape[..], &shape[last..]].concat())?;
    let place = lax::expand_axes(&place, &[place_shape.len()])?;
    let value = super::take_along_axis(&repeated, &place, Some(-1), TakeOptions::default())?;
    let value = getitem(&value, &[IndexItem::Ellipsis, IndexItem::Int(0)])?;
    let has_negative = super::any(&super::less(&weights, &weak_int(0))?, &over(-1, false))?;
    let mut is_bad = super::bitwise_or(&has_negative, &super::equal(&total, &weak_int(0))?)?;
    if !skips_nan {
        is_bad = super::bitwise_or(&is_bad, &super::any(&is_nan, &over(-1, false))?)?;
    }
    let value = where_(&is_bad, &literal(value.aval().dtype, f64::NAN), &value)?;
    shaped(&value, &[&q.aval().shape[..], &value.aval().shape[1..]].concat())
}
