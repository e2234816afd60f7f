//! Padding with constants, with the array's own elements, and with what they come to.

use pullback_base::{Error, ErrorKind, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::nested::Nest;
use super::parts::{joined, part, taken};
use super::{Linspace, flip, linspace};
use crate::axes::Axes;
use crate::convert::{concrete_scalar, convert, to_dtype, weak_int};
use crate::declare::{Argument, Arguments, Constant, NestedInts, Type};
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax;

/// What stands in the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// A constant for each side of each axis.
    Constant,
    /// The element at the edge.
    Edge,
    /// The mirrored array, without the edge.
    Reflect,
    /// The mirrored array, with the edge.
    Symmetric,
    /// The array from its other end.
    Wrap,
    /// The greatest along the axis.
    Maximum,
    /// The least along the axis.
    Minimum,
    /// The mean along the axis.
    Mean,
    /// Values that fall evenly to an end value of zero.
    LinearRamp,
}

impl PadMode {
    /// The mode of NumPy's name.
    ///
    /// # Errors
    /// `NotImplemented` for one that is unknown.
    pub fn parse(name: &str) -> Result<PadMode> {
        Ok(match name {
            "constant" => PadMode::Constant,
            "edge" => PadMode::Edge,
            "reflect" => PadMode::Reflect,
            "symmetric" => PadMode::Symmetric,
            "wrap" => PadMode::Wrap,
            "maximum" => PadMode::Maximum,
            "minimum" => PadMode::Minimum,
            "mean" => PadMode::Mean,
            "linear_ramp" => PadMode::LinearRamp,
            other => bail!(NotImplemented, "Unimplemented padding mode '{other}' for np.pad."),
        })
    }
}

/// The array with `(before, after)` elements more on each axis. `fill` is a scalar, or `[axes, 2]` for mode `Constant`.
///
/// # Errors
/// A `Value` error for negative widths.
pub fn pad(x: &Val, widths: &[(i64, i64)], mode: PadMode, fill: &Val) -> Result<Val> {
    if widths.len() != x.aval().rank() {
        bail!(Value, "pad_width must have one pair for each axis, got {} for {} axes", widths.len(), x.aval().rank());
    }
    if widths.iter().any(|&(low, high)| low < 0 || high < 0) {
        bail!(Value, "index can't contain negative values");
    }
    let mut statics = vec![mode as i64];
    statics.extend(widths.iter().flat_map(|&(low, high)| [low, high]));
    named_jit_one("_pad", &statics, &[x.clone(), fill.clone()], |args| {
        let padded = padded(&args[0], widths, mode, &args[1])?;
        convert(&padded, padded.aval().dtype, x.aval().weak_type)
    })
}

fn padded(x: &Val, widths: &[(i64, i64)], mode: PadMode, fill: &Val) -> Result<Val> {
    match mode {
        PadMode::Constant => constant(x, widths, fill),
        PadMode::Edge => per_axis(x, widths, edge),
        PadMode::Reflect => per_axis(x, widths, |x, axis, low, high| mirrored(x, axis, low, high, 1)),
        PadMode::Symmetric => per_axis(x, widths, |x, axis, low, high| mirrored(x, axis, low, high, 0)),
        PadMode::Wrap => per_axis(x, widths, wrapped),
        PadMode::Maximum => per_axis(x, widths, |x, axis, l, h| statistic(x, axis, l, h, super::max)),
        PadMode::Minimum => per_axis(x, widths, |x, axis, l, h| statistic(x, axis, l, h, super::min)),
        PadMode::Mean => per_axis(x, widths, |x, axis, l, h| statistic(x, axis, l, h, super::mean)),
        PadMode::LinearRamp => per_axis(x, widths, ramp),
    }
}

fn constant(x: &Val, widths: &[(i64, i64)], fill: &Val) -> Result<Val> {
    let fill = to_dtype(fill, x.aval().dtype)?;
    if fill.aval().rank() == 0 {
        let config: Vec<(i64, i64, i64)> = widths.iter().map(|&(low, high)| (low, high, 0)).collect();
        return lax::pad(x, &fill, &config);
    }
    let rank = x.aval().rank();
    let fill = crate::broadcast::broadcast_to(&fill, &[rank, 2])?;
    let mut out = x.clone();
    for (axis, &(low, high)) in widths.iter().enumerate() {
        for (side, config) in [(0, (low, 0, 0)), (1, (0, high, 0))] {
            let value = lax::slice_always(&fill, &[axis, side], &[axis + 1, side + 1], None)?;
            let mut all = vec![(0, 0, 0); rank];
            all[axis] = config;
            out = lax::pad(&out, &lax::squeeze_axes(&value, &[0, 1])?, &all)?;
        }
    }
    Ok(out)
}

type PadAxis = fn(&Val, usize, usize, usize) -> Result<Val>;

fn per_axis(x: &Val, widths: &[(i64, i64)], pad_axis: PadAxis) -> Result<Val> {
    let mut x = x.clone();
    for (axis, &(low, high)) in widths.iter().enumerate() {
        if x.aval().shape[axis] == 0 {
            if (low, high) == (0, 0) {
                continue;
            }
            bail!(Value, "Cannot apply padding to empty axis");
        }
        x = pad_axis(&x, axis, low as usize, high as usize)?;
    }
    Ok(x)
}

fn repeated(part: &Val, axis: usize, n: usize) -> Result<Val> {
    super::repeat(part, n, Some(axis as i64))
}

fn edge(x: &Val, axis: usize, low: usize, high: usize) -> Result<Val> {
    let size = x.aval().shape[axis];
    let first = repeated(&lax::slice_in_dim(x, 0, 1, 1, axis)?, axis, low)?;
    let last = repeated(&lax::slice_in_dim(x, size - 1, size, 1, axis)?, axis, high)?;
    lax::concatenate(&[first, x.clone(), last], axis)
}

fn wrapped(x: &Val, axis: usize, low: usize, high: usize) -> Result<Val> {
    let size = x.aval().shape[axis];
    let mut parts = vec![];
    if !low.is_multiple_of(size) {
        parts.push(lax::slice_in_dim(x, size - low % size, size, 1, axis)?);
    }
    parts.extend(std::iter::repeat_n(x.clone(), low / size + 1 + high / size));
    if !high.is_multiple_of(size) {
        parts.push(lax::slice_in_dim(x, 0, high % size, 1, axis)?);
    }
    lax::concatenate(&parts, axis)
}

/// Grows by mirrored pieces until the padding is full; `offset` 1 leaves the edge out.
fn mirrored(x: &Val, axis: usize, low: usize, high: usize, offset: usize) -> Result<Val> {
    let size = x.aval().shape[axis];
    if size == 1 {
        return edge(x, axis, low, high);
    }
    let mut out = x.clone();
    for (mut missing, in_front) in [(low, true), (high, false)] {
        while missing > 0 {
            let now = out.aval().shape[axis];
            let n = missing.min(now - offset);
            let (from, to) = if in_front { (offset, offset + n) } else { (now - offset - n, now - offset) };
            let piece = flip(&lax::slice_in_dim(&out, from, to, 1, axis)?, &Axes::One(axis as i64))?;
            let parts = if in_front { [piece, out] } else { [out, piece] };
            out = lax::concatenate(&parts, axis)?;
            missing -= n;
        }
    }
    Ok(out)
}

fn statistic(
    x: &Val,
    axis: usize,
    low: usize,
    high: usize,
    of: fn(&Val, &super::Reduction) -> Result<Val>,
) -> Result<Val> {
    let value = of(x, &super::Reduction::over(Axes::One(axis as i64), true))?;
    let value = to_dtype(&value, x.aval().dtype)?;
    let parts = [repeated(&value, axis, low)?, x.clone(), repeated(&value, axis, high)?];
    lax::concatenate(&parts, axis)
}

/// Even steps from an end value of zero, which is outermost, to the edges.
fn ramp(x: &Val, axis: usize, low: usize, high: usize) -> Result<Val> {
    let size = x.aval().shape[axis];
    let zero = Val::Literal(Scalar::zero(x.aval().dtype));
    let rise = |edge: usize, n: usize| -> Result<Val> {
        let options = Linspace { num: n as i64, endpoint: false, dtype: Some(x.aval().dtype), axis: axis as i64 };
        let edge = lax::squeeze_axes(&lax::slice_in_dim(x, edge, edge + 1, 1, axis)?, &[axis])?;
        linspace(&zero, &edge, options)
    };
    let front = rise(0, low)?;
    let back = flip(&rise(size - 1, high)?, &Axes::One(axis as i64))?;
    lax::concatenate(&[front, x.clone(), back], axis)
}

/// How many elements a statistic is of, where that is said.
#[derive(Clone, Debug)]
pub struct StatLength(Option<Nest>);

impl Argument for StatLength {
    const TYPE: Type = Type { python: "int | Sequence[Any]", rust: "StatLength" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<StatLength> {
        Nest::read(args, at).map(|nest| StatLength(Some(nest)))
    }
    fn absent(_default: Constant) -> StatLength {
        StatLength(None)
    }
}

/// The array with elements added before and behind each axis.
///
/// Args:
///   array: an array or number.
///   pad_width: how many: a number, a pair (before, behind), or a pair for each axis; static.
///   mode: what is added: 'constant', 'edge', 'empty' (zeros), 'wrap', 'linear_ramp', 'maximum', 'mean', 'median',
///     'minimum', 'reflect', 'symmetric', or a function of a vector, the widths, the axis and the options that
///     gives the vector.
///   kwargs: options of the mode: `constant_values` (0 by default), `end_values`, `stat_length`, `reflect_type`.
/// Returns: an array of the dtype of `array`, longer along each axis.
/// Raises:
///   TypeError: widths that are no integers.
///   ValueError: options that the mode does not know, or widths that are negative or do not fit.
///   NotImplementedError: another mode.
/// Differentiable: yes, in both modes, with respect to `array`, `constant_values` and `end_values`.
/// Example:
///   >>> print(jnp.pad(jnp.array([1, 2]), (1, 2)), jnp.pad(jnp.array([1, 2]), 1, mode="reflect"))
///   [0 1 2 0 0] [2 1 2 1]
#[public(
    "numpy.pad(array, pad_width, mode='constant', *, constant_values: Convertible=None, end_values: Convertible=None, stat_length=None, reflect_type=None)"
)]
pub fn pad_by(
    array: &Val,
    pad_width: &NestedInts,
    mode: &str,
    constant_values: Option<&Val>,
    end_values: Option<&Val>,
    stat_length: &StatLength,
    reflect_type: Option<&str>,
) -> Result<Val> {
    let given = [
        ("constant_values", constant_values.is_some()),
        ("end_values", end_values.is_some()),
        ("stat_length", stat_length.0.is_some()),
        ("reflect_type", reflect_type.is_some()),
    ];
    let known = option_of(mode)?;
    let unknown: Vec<String> =
        given.iter().filter(|(name, given)| *given && *name != known).map(|(name, _)| format!("'{name}'")).collect();
    if !unknown.is_empty() {
        bail!(Value, "unsupported keyword arguments for mode '{mode}': {{{}}}", unknown.join(", "));
    }
    let zero = weak_int(0);
    let widths = widths(pad_width, array.aval().rank())?;
    if widths.iter().any(|&(low, high)| low < 0 || high < 0) {
        bail!(Value, "index can't contain negative values");
    }
    match (end_values, &stat_length.0) {
        _ if mode == "median" => with_statistic(array, &widths, mode, stat_length.0.as_ref()),
        (_, Some(lengths)) => with_statistic(array, &widths, mode, Some(lengths)),
        (Some(ends), None) => with_ramp(array, &widths, ends),
        _ if mode == "empty" => pad(array, &widths, PadMode::Constant, &zero),
        _ if reflect_type == Some("odd") => with_odd(array, &widths, mode),
        _ => pad(array, &widths, PadMode::parse(mode)?, constant_values.unwrap_or(&zero)),
    }
}

/// The option that a mode has.
fn option_of(mode: &str) -> Result<&'static str> {
    Ok(match mode {
        "constant" => "constant_values",
        "edge" | "empty" | "wrap" => "",
        "linear_ramp" => "end_values",
        "maximum" | "mean" | "median" | "minimum" => "stat_length",
        "reflect" | "symmetric" => "reflect_type",
        other => bail!(NotImplemented, "Unimplemented padding mode '{other}' for np.pad."),
    })
}

type Length = Option<i64>;

/// A pair of lengths for each axis; none for the whole axis.
fn lengths(given: Option<&Nest>, rank: usize) -> Result<Vec<(Length, Length)>> {
    let bad = || Error::value_error(format!("jnp.pad: stat_length could not be broadcast to ({rank}, 2)"));
    let one = |nest: &Nest| match nest {
        Nest::None => Ok(None),
        Nest::Leaf(val) => Ok(Some(concrete_scalar(val, "the stat_length of jnp.pad")?.as_i64())),
        Nest::List(_) | Nest::Tuple(_) => Err(bad()),
    };
    let pair = |items: &[Nest]| match items {
        [both] => one(both).map(|both| (both, both)),
        [low, high] => Ok((one(low)?, one(high)?)),
        _ => Err(bad()),
    };
    let Some(items) = given.and_then(Nest::items) else {
        let both = given.map_or(Ok(None), one)?;
        return Ok(vec![(both, both); rank]);
    };
    if items.iter().all(|item| item.items().is_none()) {
        return Ok(vec![pair(items)?; rank]);
    }
    let rows = items.iter().map(|row| pair(row.items().ok_or_else(bad)?)).collect::<Result<Vec<_>>>()?;
    match rows.len() {
        1 => Ok(vec![rows[0]; rank]),
        n if n == rank => Ok(rows),
        _ => Err(bad()),
    }
}

fn with_statistic(x: &Val, widths: &[(i64, i64)], mode: &str, given: Option<&Nest>) -> Result<Val> {
    let lengths = lengths(given, widths.len())?;
    if lengths.iter().any(|&(low, high)| [low, high].iter().flatten().any(|&length| length <= 0)) {
        bail!(Value, "stat_length of 0 yields no value for padding");
    }
    let mut x = x.clone();
    for (axis, &(before, after)) in widths.iter().enumerate() {
        let size = x.aval().shape[axis] as i64;
        let (low, high) = lengths[axis];
        let (low, high) = (low.unwrap_or(size).min(size), high.unwrap_or(size).min(size));
        let front = statistic_of(&part(&x, axis, 0, low)?, axis, mode, before)?;
        let back = statistic_of(&part(&x, axis, size - high, size)?, axis, mode, after)?;
        x = joined(&[front, x, back], axis)?;
    }
    Ok(x)
}

fn statistic_of(x: &Val, axis: usize, mode: &str, times: i64) -> Result<Val> {
    let options = super::Reduction::over(Axes::One(axis as i64), true);
    let value = match mode {
        "maximum" => super::max(x, &options)?,
        "minimum" => super::min(x, &options)?,
        "mean" => super::mean(x, &options)?,
        _ => super::median(x, &options.axis, true, None, false)?,
    };
    let dtype = x.aval().dtype;
    let value = if dtype.is_integer() { super::round(&value, 0)? } else { value };
    repeated(&super::astype(&value, dtype)?, axis, times as usize)
}

/// Even steps from the end values, which are outermost, to the edges.
fn with_ramp(x: &Val, widths: &[(i64, i64)], ends: &Val) -> Result<Val> {
    let ends = crate::broadcast::broadcast_to(ends, &[widths.len(), 2])?;
    let mut x = x.clone();
    for (axis, &(before, after)) in widths.iter().enumerate() {
        let dtype = x.aval().dtype;
        let rise = |side: i64, edge: i64, n: i64| {
            let end = getitem(&ends, &[IndexItem::Int(axis as i64), IndexItem::Int(side)])?;
            let edge = taken(&x, &weak_int(edge), axis)?;
            linspace(&end, &edge, Linspace { num: n, endpoint: false, dtype: Some(dtype), axis: axis as i64 })
        };
        let (low, high) = (rise(0, 0, before)?, rise(1, -1, after)?);
        x = joined(&[low, x.clone(), flip(&high, &Axes::One(axis as i64))?], axis)?;
    }
    Ok(x)
}

/// Reflections that continue the slope: twice the edge less what even reflection gives, again and again.
fn with_odd(x: &Val, widths: &[(i64, i64)], mode: &str) -> Result<Val> {
    let mut x = x.clone();
    for (axis, &(before, after)) in widths.iter().enumerate() {
        let size = x.aval().shape[axis];
        if size == 0 && before + after > 0 {
            bail!(Value, "Cannot apply '{mode}' padding to empty axis");
        }
        let along = Axes::One(axis as i64);
        x = grown_odd(&x, axis, before as usize, mode, size)?;
        x = flip(&grown_odd(&flip(&x, &along)?, axis, after as usize, mode, size)?, &along)?;
    }
    Ok(x)
}

/// Reflections are made one after the other.
const MOST_PIECES: usize = 10_000;

/// `missing` elements in front, in pieces that the array before padding allows.
fn grown_odd(x: &Val, axis: usize, mut missing: usize, mode: &str, size: usize) -> Result<Val> {
    let skip = usize::from(mode == "reflect");
    let step = size - skip.min(size);
    if step > 0 && missing / step > MOST_PIECES {
        bail!(
            NotImplemented,
            "jnp.pad with reflect_type='odd' by {missing} elements, which are {} reflections of {step}; at most {MOST_PIECES} \
             are made",
            missing / step
        );
    }
    let mut x = x.clone();
    while missing > 0 {
        let edge = part(&x, axis, 0, 1)?;
        if step == 0 {
            return joined(&[repeated(&edge, axis, missing)?, x], axis);
        }
        let n = missing.min(step);
        let even = flip(&part(&x, axis, skip as i64, (skip + n) as i64)?, &Axes::One(axis as i64))?;
        let piece = super::subtract(&super::multiply(&weak_int(2), &edge)?, &even)?;
        x = joined(&[piece, x], axis)?;
        missing -= n;
    }
    Ok(x)
}

/// Widths of padding as NumPy takes them: one number, one pair, or a pair for each axis.
fn widths(given: &NestedInts, rank: usize) -> Result<Vec<(i64, i64)>> {
    let bad = || Error::new(ErrorKind::Value, format!("jnp.pad: pad_width does not fit an array of {rank} axes"));
    let pair = |ends: &[i64]| match *ends {
        [both] => Ok((both, both)),
        [low, high] => Ok((low, high)),
        _ => Err(bad()),
    };
    if let Some(ends) = given.flat() {
        return Ok(vec![pair(&ends)?; rank]);
    }
    let rows = given.items().iter().map(|row| pair(&row.flat().ok_or_else(bad)?));
    let pairs: Vec<(i64, i64)> = rows.collect::<Result<_>>()?;
    match pairs.len() {
        1 => Ok(vec![pairs[0]; rank]),
        n if n == rank => Ok(pairs),
        _ => Err(bad()),
    }
}
