//! Padding with constants and with the array's own elements.

use pullback_base::{Error, ErrorKind, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{Linspace, flip, linspace};
use crate::axes::Axes;
use crate::convert::{convert, to_dtype};
use crate::declare::NestedInts;
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

/// As `pad`, of the modes without options.
#[public("numpy.pad(array, pad_width, mode='constant', constant_values: Convertible=0)")]
pub fn plain_pad(array: &Val, pad_width: &NestedInts, mode: &str, constant_values: &Val) -> Result<Val> {
    pad(array, &widths(pad_width, array.aval().rank())?, PadMode::parse(mode)?, constant_values)
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
