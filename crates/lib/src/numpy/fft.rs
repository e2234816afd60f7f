//! `jax.numpy.fft`: Fourier transforms.
//!
//! Forward transforms are not scaled, inverse ones by the number of elements; `norm` moves that factor. All are
//! differentiable.

use pullback_base::dtype::{Kind, Typed};
use pullback_base::{DType, Error, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::Val;

use super::linalg::real_dtype;
use crate::axes::{Axes, canonical_axis, signed_tuple_text};
use crate::convert::{default_float, default_int, inexact, literal, weak_int};
use crate::declare::Ignored;
use crate::declare::{Argument, Arguments, Constant, NestedInts, Type};
use crate::formula::of;
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::numpy::{self, PadMode};
use crate::primitive::Bind;
use crate::promotion::{result_type, typed};

/// Which transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kernel {
    /// Of complex numbers.
    Forward,
    /// Its inverse.
    Inverse,
    /// Of real numbers.
    Real,
    /// Its inverse.
    RealInverse,
}

/// Sizes or axes: a sequence of integers.
#[derive(Clone, Debug)]
pub struct Integers(pub Vec<i64>);

impl Argument for Integers {
    const TYPE: Type = Type { python: "Sequence[int]", rust: "&[i64]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Integers> {
        match args.nested_ints(at)? {
            NestedInts::One(_) => bail!(Type, "{} takes a sequence of integers there, got an int", args.function()),
            many @ NestedInts::Many(_) => {
                let refused = || Error::type_error(format!("{} takes integers there", args.function()));
                many.flat().map(Integers).ok_or_else(refused)
            }
        }
    }
    fn absent(default: Constant) -> Integers {
        Integers(Vec::absent(default))
    }
}

/// What a transform of these sizes is to be multiplied by.
fn factor(lengths: &[usize], kernel: Kernel, norm: Option<&str>) -> Result<f64> {
    let size = pullback_base::extent(lengths) as f64;
    let is_inverse = matches!(kernel, Kernel::Inverse | Kernel::RealInverse);
    Ok(match (norm, is_inverse) {
        (None | Some("backward"), _) => 1.0,
        (Some("ortho"), true) => size.sqrt(),
        (Some("ortho"), false) => 1.0 / size.sqrt(),
        (Some("forward"), true) => size,
        (Some("forward"), false) => 1.0 / size,
        (Some(other), _) => {
            bail!(Value, "Invalid norm value {other}; should be \"backward\",\"ortho\" or \"forward\".")
        }
    })
}

/// The transform along the last axes, which have the sizes that it asks for.
pub(crate) fn transformed(x: &Val, kernel: Kernel, lengths: &[usize]) -> Result<Val> {
    let dtype = x.aval().dtype;
    let x = if kernel == Kernel::Real {
        if dtype.is_complex() {
            bail!(Value, "only real valued inputs supported for rfft");
        }
        let x = if matches!(dtype.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned) {
            numpy::astype(x, inexact(dtype))?
        } else {
            x.clone()
        };
        let dtype = x.aval().dtype;
        if !matches!(dtype, DType::F32 | DType::F64) {
            bail!(Value, "RFFT input must be float32 or float64, got {dtype}");
        }
        x
    } else if dtype.is_complex() {
        x.clone()
    } else {
        // Integers are as wide as their floating numbers, not as the default complex ones.
        let x = numpy::astype(x, inexact(dtype))?;
        let weak = Typed { dtype: default_float().complex(), weak_type: true };
        numpy::astype(&x, result_type(&[typed(&x), weak])?.dtype)?
    };
    let params = prims::Fft { fft_type: kernel as usize, fft_lengths: lengths.to_vec() };
    prims::FFT.bind_with(params, &[x])
}

/// The axes to transform: all, or as many last ones as there are sizes.
fn chosen_axes(name: &str, rank: usize, s: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Vec<i64>> {
    if let Some(s) = s {
        if s.iter().any(|&size| size <= 0) {
            bail!(Value, "Shape should be positive.");
        }
        if axes.is_some_and(|axes| axes.len() != s.len()) {
            bail!(Value, "Shape and axes have different lengths.");
        }
    }
    let rank = rank as i64;
    let Some(axes) = axes else {
        return Ok((rank - s.map_or(rank, |s| s.len() as i64)..rank).collect());
    };
    if axes.iter().enumerate().any(|(i, axis)| axes[..i].contains(axis)) {
        let axes = signed_tuple_text(axes);
        bail!(Value, "jax.numpy.fft.{name} does not support repeated axes. Got axes {axes}.");
    }
    Ok(axes.to_vec())
}

/// The last axes cut or filled up with zeros.
fn resized(x: &Val, sizes: &[usize]) -> Result<Val> {
    let front = x.aval().rank() - sizes.len();
    let cut = sizes.iter().map(|&size| IndexItem::Slice { start: None, stop: Some(size as i64), step: None });
    let x = getitem(x, &std::iter::once(IndexItem::Ellipsis).chain(cut).collect::<Vec<_>>())?;
    let have = x.aval().shape.clone();
    if have[front..] == *sizes {
        return Ok(x);
    }
    let missing = sizes.iter().zip(&have[front..]).map(|(&size, &have)| (0, (size - have) as i64));
    let widths: Vec<(i64, i64)> = std::iter::repeat_n((0, 0), front).chain(missing).collect();
    numpy::pad(&x, &widths, PadMode::Constant, &weak_int(0))
}

fn several(
    name: &str,
    kernel: Kernel,
    a: &Val,
    s: Option<&[i64]>,
    axes: Option<&[i64]>,
    norm: Option<&str>,
) -> Result<Val> {
    let rank = a.aval().rank();
    let axes = chosen_axes(name, rank, s, axes)?;
    let axes = axes.iter().map(|&axis| Ok(canonical_axis(axis, rank)? as i64)).collect::<Result<Vec<_>>>()?;
    if axes.is_empty() {
        // Nothing is transformed, but numbers become those of a transform.
        let dtype = inexact(a.aval().dtype);
        return numpy::astype(a, if kernel == Kernel::Real { dtype } else { dtype.complex() });
    }
    let last: Vec<i64> = (rank as i64 - axes.len() as i64..rank as i64).collect();
    let a = numpy::moveaxis(a, &axes, &last)?;
    let mut lengths: Vec<usize> = match s {
        Some(s) => s.iter().map(|&size| size as usize).collect(),
        None => a.aval().shape[rank - axes.len()..].to_vec(),
    };
    let end = lengths.len() - 1;
    if s.is_none() && kernel == Kernel::RealInverse {
        lengths[end] = 2 * lengths[end].saturating_sub(1);
    }
    let mut sizes = lengths.clone();
    if kernel == Kernel::RealInverse {
        sizes[end] = sizes[end] / 2 + 1;
    }
    let mut out = transformed(&resized(&a, &sizes)?, kernel, &lengths)?;
    let factor = factor(&lengths, kernel, norm)?;
    if factor != 1.0 {
        out = numpy::multiply(&out, &literal(real_dtype(out.aval().dtype), factor))?;
    }
    numpy::moveaxis(&out, &last, &axes)
}

fn one(name: &str, kernel: Kernel, a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    let axis = match axis {
        // None is all axes, as in the functions of several.
        Axes::All if n.is_none() => return several(name, kernel, a, None, None, norm),
        Axes::All => -1,
        Axes::One(axis) => *axis,
        Axes::Many(axes) | Axes::Named(_, axes) => bail!(
            Value,
            "jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. Got axis = {}.",
            signed_tuple_text(axes)
        ),
    };
    several(name, kernel, a, n.as_ref().map(std::slice::from_ref), Some(&[axis]), norm)
}

fn two(name: &str, kernel: Kernel, a: &Val, s: Option<&Integers>, axes: &Integers, norm: Option<&str>) -> Result<Val> {
    if axes.0.len() != 2 {
        let axes = signed_tuple_text(&axes.0);
        bail!(Value, "jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes}.");
    }
    several(name, kernel, a, s.map(|s| &s.0[..]), Some(&axes.0), norm)
}

fn any_number(
    name: &str,
    kernel: Kernel,
    a: &Val,
    s: Option<&Integers>,
    axes: Option<&Integers>,
    norm: Option<&str>,
) -> Result<Val> {
    several(name, kernel, a, s.map(|s| &s.0[..]), axes.map(|axes| &axes.0[..]), norm)
}

/// The discrete Fourier transform along an axis: `sum(a[j] * exp(-2 pi i j k / n))` for k from 0 up to n.
///
/// Args:
///   a: an array; real numbers become complex.
///   n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
///     its root to both.
/// Returns: a complex array with size `n` along the axis.
/// Raises:
///   ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.fft(jnp.array([1.0, 0.0, 0.0, 0.0])))
///   [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
#[public("numpy.fft.fft(a, n=None, axis=-1, norm=None)")]
pub fn fft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    one("fft", Kernel::Forward, a, n, axis, norm)
}

/// The inverse of `fft`: `sum(a[k] * exp(2 pi i j k / n)) / n` for j from 0 up to n.
///
/// Args:
///   a: an array; real numbers become complex.
///   n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
///     'ortho' its root to both.
/// Returns: a complex array with size `n` along the axis.
/// Raises:
///   ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.ifft(jnp.array([4.0, 0.0, 0.0, 0.0])))
///   [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
#[public("numpy.fft.ifft(a, n=None, axis=-1, norm=None)")]
pub fn ifft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    one("ifft", Kernel::Inverse, a, n, axis, norm)
}

/// The transform of real numbers along an axis: the first `n // 2 + 1` elements of `fft`, whose conjugates the
/// others are.
///
/// Args:
///   a: a real array.
///   n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
///     its root to both.
/// Returns: a complex array with size `n // 2 + 1` along the axis.
/// Raises:
///   ValueError: `a` is complex, `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.abs(jnp.fft.rfft(jnp.array([1.0, 0.0, 0.0, 0.0]))))
///   [1. 1. 1.]
#[public("numpy.fft.rfft(a, n=None, axis=-1, norm=None)")]
pub fn rfft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    one("rfft", Kernel::Real, a, n, axis, norm)
}

/// The inverse of `rfft`: real numbers from half of their transform.
///
/// Args:
///   a: an array; real numbers become complex. The imaginary part of its first element has no influence.
///   n: the size of the result; twice that of the axis less 2 by default, so that odd sizes must be given.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
///     'ortho' its root to both.
/// Returns: a real floating array with size `n` along the axis.
/// Raises:
///   ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.irfft(jnp.array([4.0, 0.0, 0.0])))
///   [1. 1. 1. 1.]
#[public("numpy.fft.irfft(a, n=None, axis=-1, norm=None)")]
pub fn irfft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    one("irfft", Kernel::RealInverse, a, n, axis, norm)
}

/// The transform of a Hermitian signal, half of which is given; it is real: `n` times `irfft` of the conjugate.
///
/// Args:
///   a: an array: the first half of the signal.
///   n: the size of the result; twice that of the axis less 2 by default.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
///     its root to both.
/// Returns: a real floating array with size `n` along the axis.
/// Raises:
///   ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.hfft(jnp.array([1.0, 0.0, 0.0])))
///   [1. 1. 1. 1.]
#[public("numpy.fft.hfft(a, n=None, axis=-1, norm=None)")]
pub fn hfft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    one("hfft", Kernel::RealInverse, &numpy::conjugate(a)?, n, axis, turned(norm))
}

/// The inverse of `hfft`: half of the Hermitian signal whose transform is real.
///
/// Args:
///   a: a real array.
///   n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
///   axis: the axis; the last by default.
///   norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
///     'ortho' its root to both.
/// Returns: a complex array with size `n // 2 + 1` along the axis.
/// Raises:
///   ValueError: `a` is complex, `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
/// Differentiable: yes, in both modes; it is linear over the real numbers.
/// Example:
///   >>> print(jnp.abs(jnp.fft.ihfft(jnp.array([4.0, 0.0, 0.0, 0.0]))))
///   [1. 1. 1.]
#[public("numpy.fft.ihfft(a: Convertible, n=None, axis=-1, norm=None)")]
pub fn ihfft(a: &Val, n: Option<i64>, axis: &Axes, norm: Option<&str>) -> Result<Val> {
    numpy::conjugate(&one("ihfft", Kernel::Real, a, n, axis, turned(norm))?)
}

/// The norm of a transform whose inverse stands for it.
fn turned(norm: Option<&str>) -> Option<&str> {
    match norm {
        None | Some("backward") => Some("forward"),
        Some("forward") => Some("backward"),
        other => other,
    }
}

/// The discrete Fourier transform along two axes.
///
/// Args:
///   a: an array of at least two axes; real numbers become complex.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the two axes; the last ones by default.
///   norm: where the factor goes, as for `fft`.
/// Returns: a complex array with sizes `s` along the axes.
/// Raises:
///   ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
///     `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.fft2(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.fft2(a, s=None, axes=(-2, -1), norm=None)")]
pub fn fft2(a: &Val, s: Option<&Integers>, axes: &Integers, norm: Option<&str>) -> Result<Val> {
    two("fft2", Kernel::Forward, a, s, axes, norm)
}

/// The inverse of `fft2`.
///
/// Args:
///   a: an array of at least two axes; real numbers become complex.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the two axes; the last ones by default.
///   norm: where the factor goes, as for `ifft`.
/// Returns: a complex array with sizes `s` along the axes.
/// Raises:
///   ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
///     `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.ifft2(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.ifft2(a, s=None, axes=(-2, -1), norm=None)")]
pub fn ifft2(a: &Val, s: Option<&Integers>, axes: &Integers, norm: Option<&str>) -> Result<Val> {
    two("ifft2", Kernel::Inverse, a, s, axes, norm)
}

/// The transform of real numbers along two axes; the last of them is halved as by `rfft`.
///
/// Args:
///   a: a real array of at least two axes.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the two axes; the last ones by default.
///   norm: where the factor goes, as for `fft`.
/// Returns: a complex array with sizes `s[0]` and `s[1] // 2 + 1` along the axes.
/// Raises:
///   ValueError: `a` is complex, not two axes, an axis is out of bounds or occurs twice, a size that is not
///     positive, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.rfft2(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.rfft2(a, s=None, axes=(-2, -1), norm=None)")]
pub fn rfft2(a: &Val, s: Option<&Integers>, axes: &Integers, norm: Option<&str>) -> Result<Val> {
    two("rfft2", Kernel::Real, a, s, axes, norm)
}

/// The inverse of `rfft2`.
///
/// Args:
///   a: an array of at least two axes; real numbers become complex.
///   s: the sizes of the result along the axes; by default those of `a`, the last doubled less 2.
///   axes: the two axes; the last ones by default.
///   norm: where the factor goes, as for `ifft`.
/// Returns: a real floating array with sizes `s` along the axes.
/// Raises:
///   ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
///     `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.irfft2(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
///   [[1. 1.]
///    [1. 1.]]
#[public("numpy.fft.irfft2(a, s=None, axes=(-2, -1), norm=None)")]
pub fn irfft2(a: &Val, s: Option<&Integers>, axes: &Integers, norm: Option<&str>) -> Result<Val> {
    two("irfft2", Kernel::RealInverse, a, s, axes, norm)
}

/// The discrete Fourier transform along several axes.
///
/// Args:
///   a: an array; real numbers become complex.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the axes; all by default, or as many last ones as `s` has sizes.
///   norm: where the factor goes, as for `fft`.
/// Returns: a complex array with sizes `s` along the axes.
/// Raises:
///   ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
///     lengths, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.fftn(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.fftn(a, s=None, axes=None, norm=None)")]
pub fn fftn(a: &Val, s: Option<&Integers>, axes: Option<&Integers>, norm: Option<&str>) -> Result<Val> {
    any_number("fftn", Kernel::Forward, a, s, axes, norm)
}

/// The inverse of `fftn`.
///
/// Args:
///   a: an array; real numbers become complex.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the axes; all by default, or as many last ones as `s` has sizes.
///   norm: where the factor goes, as for `ifft`.
/// Returns: a complex array with sizes `s` along the axes.
/// Raises:
///   ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
///     lengths, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.ifftn(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.ifftn(a, s=None, axes=None, norm=None)")]
pub fn ifftn(a: &Val, s: Option<&Integers>, axes: Option<&Integers>, norm: Option<&str>) -> Result<Val> {
    any_number("ifftn", Kernel::Inverse, a, s, axes, norm)
}

/// The transform of real numbers along several axes; the last of them is halved as by `rfft`.
///
/// Args:
///   a: a real array.
///   s: how many elements to transform along each axis; their sizes by default.
///   axes: the axes; all by default, or as many last ones as `s` has sizes.
///   norm: where the factor goes, as for `fft`.
/// Returns: a complex array with sizes `s` along the axes, but `s[-1] // 2 + 1` along the last.
/// Raises:
///   ValueError: `a` is complex, an axis is out of bounds or occurs twice, a size that is not positive, `s` and
///     `axes` of different lengths, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.rfftn(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
///   [[1.+0.j 1.+0.j]
///    [1.+0.j 1.+0.j]]
#[public("numpy.fft.rfftn(a, s=None, axes=None, norm=None)")]
pub fn rfftn(a: &Val, s: Option<&Integers>, axes: Option<&Integers>, norm: Option<&str>) -> Result<Val> {
    any_number("rfftn", Kernel::Real, a, s, axes, norm)
}

/// The inverse of `rfftn`.
///
/// Args:
///   a: an array; real numbers become complex.
///   s: the sizes of the result along the axes; by default those of `a`, the last doubled less 2.
///   axes: the axes; all by default, or as many last ones as `s` has sizes.
///   norm: where the factor goes, as for `ifft`.
/// Returns: a real floating array with sizes `s` along the axes.
/// Raises:
///   ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
///     lengths, or another `norm`.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.irfftn(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
///   [[1. 1.]
///    [1. 1.]]
#[public("numpy.fft.irfftn(a, s=None, axes=None, norm=None)")]
pub fn irfftn(a: &Val, s: Option<&Integers>, axes: Option<&Integers>, norm: Option<&str>) -> Result<Val> {
    any_number("irfftn", Kernel::RealInverse, a, s, axes, norm)
}

/// How many samples.
#[derive(Clone, Copy, Debug)]
pub struct SampleCount(i64);

impl Argument for SampleCount {
    const TYPE: Type = Type { python: "int", rust: "i64" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<SampleCount> {
        match args.nested_ints(at) {
            Ok(NestedInts::Many(many)) => {
                let given = NestedInts::Many(many).flat().unwrap_or_default();
                let name = args.function();
                bail!(Value, "The n argument of jax.numpy.fft.{name} only takes an int. Got n = {given:?}.")
            }
            _ => args.int(at).map(SampleCount),
        }
    }
    fn absent(default: Constant) -> SampleCount {
        SampleCount(i64::absent(default))
    }
}

/// How far samples lie apart.
#[derive(Clone, Debug)]
pub struct Distance(Val);

impl Argument for Distance {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Distance> {
        let refused = match args.array(at) {
            Ok(found) => return Ok(Distance(found)),
            Err(refused) => refused,
        };
        let Ok(given) = args.arrays(at) else { return Err(refused) };
        let text = |x: &Val| if let Val::Literal(scalar) = x { scalar.to_string() } else { x.aval().to_string() };
        let given: Vec<String> = given.iter().map(text).collect();
        bail!(
            Value,
            "The d argument of jax.numpy.fft.{} only takes a single value. Got d = [{}].",
            args.function(),
            given.join(", ")
        )
    }
    fn absent(default: Constant) -> Distance {
        Distance(Val::absent(default))
    }
}

fn frequencies(places: &Val, n: i64, d: &Distance, dtype: Option<DType>) -> Result<Val> {
    let dtype = dtype.unwrap_or_else(default_float);
    let step = numpy::astype(&(of(&d.0) * n).done()?, dtype)?;
    numpy::astype(&(of(&numpy::astype(places, dtype)?) / of(&step)).done()?, dtype)
}

fn places(n: i64) -> Result<Val> {
    lax::iota(default_int(), n.max(0) as usize)
}

/// The frequencies of the elements of `fft`: `[0, 1, ..., -2, -1] / (n d)`, the negative ones in the second half.
///
/// Args:
///   n: the number of samples, a static integer.
///   d: the distance of the samples, 1 by default; frequencies are in cycles per its unit.
///   dtype: the dtype; the default float by default.
///   device: for compatibility; without influence.
/// Returns: a vector `[n]`.
/// Raises:
///   ValueError: `n` or `d` is a list or tuple.
///   TypeError: `n` is no integer.
/// Differentiable: with respect to `d`.
/// Example:
///   >>> print(jnp.fft.fftfreq(4))
///   [ 0.    0.25 -0.5  -0.25]
#[public("numpy.fft.fftfreq(n, d=1.0, *, dtype=None, device=None)")]
pub fn fftfreq(n: SampleCount, d: &Distance, dtype: Option<DType>, _device: Ignored) -> Result<Val> {
    let (places, n) = (places(n.0)?, n.0);
    let is_positive = numpy::less(&places, &weak_int((n + 1).div_euclid(2)))?;
    let below = numpy::subtract(&places, &weak_int(n))?;
    frequencies(&numpy::where_(&is_positive, &places, &below)?, n, d, dtype)
}

/// The frequencies of the elements of `rfft`: `[0, 1, ..., n // 2] / (n d)`.
///
/// Args:
///   n: the number of real samples, a static integer.
///   d: the distance of the samples, 1 by default; frequencies are in cycles per its unit.
///   dtype: the dtype; the default float by default.
///   device: for compatibility; without influence.
/// Returns: a vector `[n // 2 + 1]`.
/// Raises:
///   ValueError: `n` or `d` is a list or tuple.
///   TypeError: `n` is no integer.
/// Differentiable: with respect to `d`.
/// Example:
///   >>> print(jnp.fft.rfftfreq(4))
///   [0.   0.25 0.5 ]
#[public("numpy.fft.rfftfreq(n, d=1.0, *, dtype=None, device=None)")]
pub fn rfftfreq(n: SampleCount, d: &Distance, dtype: Option<DType>, _device: Ignored) -> Result<Val> {
    frequencies(&places(n.0.div_euclid(2) + 1)?, n.0, d, dtype.map(inexact))
}

fn shifted(x: &Val, axes: &Axes, sign: i64) -> Result<Val> {
    let shape = x.aval().shape.clone();
    let rank = shape.len() as i64;
    let axes: Vec<i64> = match axes {
        Axes::All => (0..rank).collect(),
        Axes::One(axis) => vec![*axis],
        Axes::Many(axes) | Axes::Named(_, axes) => axes.clone(),
    };
    if axes.iter().any(|&axis| axis < -rank || axis >= rank) {
        bail!(Index, "tuple index out of range");
    }
    let shifts: Vec<i64> = axes.iter().map(|axis| sign * (shape[axis.rem_euclid(rank) as usize] as i64 / 2)).collect();
    numpy::roll(x, &shifts, &Axes::Many(axes))
}

/// The element of frequency zero moved to the middle: each axis rolled by half of its size.
///
/// Args:
///   x: an array.
///   axes: the axis or axes; all by default.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   IndexError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.fftshift(jnp.fft.fftfreq(4)))
///   [-0.5  -0.25  0.    0.25]
#[public("numpy.fft.fftshift(x, axes=None)")]
pub fn fftshift(x: &Val, axes: &Axes) -> Result<Val> {
    shifted(x, axes, 1)
}

/// The inverse of `fftshift`: the element in the middle moved to the front.
///
/// Args:
///   x: an array.
///   axes: the axis or axes; all by default.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   IndexError: an axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1])))
///   [ 0  1 -2 -1]
#[public("numpy.fft.ifftshift(x, axes=None)")]
pub fn ifftshift(x: &Val, axes: &Axes) -> Result<Val> {
    shifted(x, axes, -1)
}
