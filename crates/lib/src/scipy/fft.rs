//! `jax.scipy.fft`: cosine transforms.

use std::f64::consts::PI;

use pullback_base::aval::tuple_text;
use pullback_base::{Array, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::to_dtype;
use crate::formula::{complex, of, real};
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::lax::linalg::of_last;
use crate::numpy;
use crate::numpy::fft::{Kernel, transformed};
use crate::numpy::linalg::real_dtype;
use crate::numpy::padding::PadMode;

/// Real numbers whose last axis is the given one, cut or padded to a length.
fn lines(x: &Val, n: Option<i64>, axis: i64) -> Result<(Val, i64)> {
    let dtype = x.aval().dtype;
    let x = if matches!(dtype, DType::F32 | DType::F64) {
        x.clone()
    } else if dtype.is_inexact() {
        // Smaller floats have no Fourier transforms.
        to_dtype(x, DType::F32)?
    } else {
        to_dtype(x, crate::convert::inexact(dtype))?
    };
    let rank = x.aval().rank() as i64;
    let axis = canonical_axis(axis, x.aval().rank())? as i64;
    let x = numpy::moveaxis(&x, &[axis], &[-1])?;
    let have = x.aval().shape[rank as usize - 1] as i64;
    let n = n.unwrap_or(have);
    if n == have {
        return Ok((x, axis));
    }
    if n < 1 {
        bail!(Value, "Invalid number of data points ({n}) specified");
    }
    let mut widths = vec![(0, 0); rank as usize];
    widths[rank as usize - 1] = (0, (n - have).max(0));
    let x = numpy::pad(&of_last(&x, None, Some(n))?, &widths, PadMode::Constant, &crate::convert::weak_int(0))?;
    Ok((x, axis))
}

/// A transform of real numbers on complex ones: their parts apart.
fn by_parts(x: &Val, transform: impl Fn(&Val) -> Result<Val>) -> Result<Val> {
    lax::complex(&transform(&lax::real(x)?)?, &transform(&lax::imag(x)?)?)
}

fn check(kind: i64, norm: Option<&str>) -> Result<()> {
    if kind != 2 {
        bail!(NotImplemented, "Only DCT type 2 is implemented.");
    }
    match norm {
        None | Some("backward" | "ortho") => Ok(()),
        Some(norm) => bail!(Value, "jax.scipy.fft supports the norms None, 'backward' and 'ortho', got '{norm}'"),
    }
}

fn vector(dtype: DType, n: usize, element: impl Fn(usize) -> f64) -> Result<Val> {
    let elements = (0..n).map(|at| Scalar::float(dtype, element(at)));
    Ok(Val::Array(Array::try_from_scalars(&[n], dtype, elements)?))
}

/// What a transform is multiplied with.
fn scales(n: usize, norm: Option<&str>, dtype: DType) -> Result<Val> {
    let size = n as f64;
    vector(dtype, n, |at| match (norm, at) {
        (Some("ortho"), 0) => (1.0 / (4.0 * size)).sqrt(),
        (Some("ortho"), _) => (1.0 / (2.0 * size)).sqrt(),
        _ => 1.0,
    })
}

/// `exp(sign i π k / 2n)`.
fn turns(n: usize, dtype: DType, sign: f64) -> Result<Val> {
    let angle = |at: usize| PI * at as f64 / (2 * n) as f64;
    lax::complex(&vector(dtype, n, |at| angle(at).cos())?, &vector(dtype, n, |at| sign * angle(at).sin())?)
}

fn every_second(x: &Val, start: i64) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::Slice { start: Some(start), stop: None, step: Some(2) }])
}

fn turned(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::Slice { start: None, stop: None, step: Some(-1) }])
}

/// The cosine transform of type 2 along an axis: `2 Σ x[j] cos(π k (2 j + 1) / 2 n)` for `k` from 0 to `n - 1`.
///
/// J. Makhoul, "A fast cosine transform in one and two dimensions", 1980.
///
/// Args:
///   x: an array; integers become floating. Of complex numbers both parts are transformed.
///   type: must be 2.
///   n: how many elements to take: the first ones, or filled up with zeros; by default all.
///   axis: the axis.
///   norm: "ortho" divides so that the transform is orthonormal; None and "backward" leave it.
/// Returns: an array of the shape of `x` with size `n` along the axis.
/// Raises:
///   NotImplementedError: another type.
///   ValueError: another norm, or `n` below 1.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.fft.dct(jnp.ones(2)))
///   [4. 0.]
#[public("scipy.fft.dct(x, type=2, n=None, axis=-1, norm=None)")]
pub fn dct(x: &Val, type_: i64, n: Option<i64>, axis: i64, norm: Option<&str>) -> Result<Val> {
    check(type_, norm)?;
    if x.aval().dtype.is_complex() {
        return by_parts(x, |part| dct(part, type_, n, axis, norm));
    }
    let (x, axis) = lines(x, n, axis)?;
    let (n, dtype) = (x.aval().shape[x.aval().rank() - 1], x.aval().dtype);
    let ordered = [every_second(&x, 0)?, turned(&every_second(&x, 1)?)?];
    let ordered = numpy::concatenate(&ordered, Some(-1), None)?;
    let spectrum = transformed(&ordered, Kernel::Forward, &[n])?;
    let turns = turns(n, real_dtype(spectrum.aval().dtype), -1.0)?;
    let out = 2 * real(of(&spectrum) * &turns);
    numpy::moveaxis(&(out * &scales(n, norm, dtype)?).done()?, &[-1], &[axis])
}

/// The inverse of `dct`: the cosine transform of type 3, divided by `2 n`.
///
/// Args:
///   x: an array; integers become floating. Of complex numbers both parts are transformed.
///   type: must be 2: that of the transform whose inverse it is.
///   n: how many elements to take: the first ones, or filled up with zeros; by default all.
///   axis: the axis.
///   norm: that of the transform: None, "backward" or "ortho".
/// Returns: an array of the shape of `x` with size `n` along the axis.
/// Raises:
///   NotImplementedError: another type.
///   ValueError: another norm, or `n` below 1.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.fft.idct(jnp.array([4.0, 0.0])))
///   [1. 1.]
#[public("scipy.fft.idct(x, type=2, n=None, axis=-1, norm=None)")]
pub fn idct(x: &Val, type_: i64, n: Option<i64>, axis: i64, norm: Option<&str>) -> Result<Val> {
    check(type_, norm)?;
    if x.aval().dtype.is_complex() {
        return by_parts(x, |part| idct(part, type_, n, axis, norm));
    }
    let (x, axis) = lines(x, n, axis)?;
    let n = x.aval().shape[x.aval().rank() - 1];
    let x = (of(&x) / &scales(n, norm, x.aval().dtype)? / 2).done()?;
    let first = of_last(&x, None, Some(1))?;
    let mirrored = [lax::full_like(&first, 0.0)?, turned(&of_last(&x, Some(1), None)?)?];
    let mirrored = numpy::concatenate(&mirrored, Some(-1), None)?;
    let spectrum = complex(&x, -of(&mirrored)).done()?;
    let turns = turns(n, real_dtype(spectrum.aval().dtype), 1.0)?;
    let ordered = real(transformed(&(of(&spectrum) * &turns).done()?, Kernel::Inverse, &[n])?).done()?;
    // Where each element went: even ones to the front, odd ones from the end.
    let place = |at: usize| if at.is_multiple_of(2) { at / 2 } else { n - 1 - at / 2 };
    let places = crate::convert::int_vector(&(0..n).map(|at| place(at) as i64).collect::<Vec<_>>());
    numpy::moveaxis(&getitem(&ordered, &[IndexItem::Ellipsis, IndexItem::Array(places)])?, &[-1], &[axis])
}

type Transform = fn(&Val, i64, Option<i64>, i64, Option<&str>) -> Result<Val>;

fn each(
    transform: Transform,
    x: &Val,
    kind: i64,
    s: Option<&[i64]>,
    axes: Option<&[i64]>,
    norm: Option<&str>,
) -> Result<Val> {
    let rank = x.aval().rank() as i64;
    if let Some(s) = s.filter(|s| s.len() as i64 > rank) {
        bail!(Value, "s must have at most x.ndim ({rank}) elements, got {}", s.len());
    }
    let axes: Vec<i64> = match (axes, s) {
        (Some(axes), _) => axes.to_vec(),
        (None, Some(s)) => (rank - s.len() as i64..rank).collect(),
        (None, None) => (0..rank).collect(),
    };
    let sizes: Vec<Option<i64>> = match s {
        Some(s) => s.iter().copied().map(Some).collect(),
        None => vec![None; axes.len()],
    };
    let axes = axes.iter().map(|&axis| canonical_axis(axis, x.aval().rank())).collect::<Result<Vec<usize>>>()?;
    if (1..axes.len()).any(|at| axes[..at].contains(&axes[at])) {
        bail!(Value, "repeated axis: {}", tuple_text(&axes));
    }
    // Axes for which there is no size keep theirs.
    let sizes = sizes.into_iter().chain(std::iter::repeat(None));
    axes.iter().zip(sizes).try_fold(x.clone(), |x, (&axis, size)| transform(&x, kind, size, axis as i64, norm))
}

/// The cosine transform of type 2 along several axes, one after the other.
///
/// Args:
///   x: an array; integers become floating. Of complex numbers both parts are transformed.
///   type: must be 2.
///   s: how many elements to take along each axis; by default all.
///   axes: the axes; by default the last ones that `s` names, else all.
///   norm: None, "backward" or "ortho".
/// Returns: an array of the shape of `x` with sizes `s` along the axes.
/// Raises:
///   NotImplementedError: another type.
///   ValueError: another norm, or another number of sizes than axes.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.fft.dctn(jnp.ones((2, 2))))
///   [[16.  0.]
///    [ 0.  0.]]
#[public("scipy.fft.dctn(x, type=2, s=None, axes=None, norm=None)")]
pub fn dctn(x: &Val, type_: i64, s: Option<&[i64]>, axes: Option<&[i64]>, norm: Option<&str>) -> Result<Val> {
    each(dct, x, type_, s, axes, norm)
}

/// The inverse of `dctn`.
///
/// Args:
///   x: an array; integers become floating. Of complex numbers both parts are transformed.
///   type: must be 2: that of the transform whose inverse it is.
///   s: how many elements to take along each axis; by default all.
///   axes: the axes; by default the last ones that `s` names, else all.
///   norm: that of the transform: None, "backward" or "ortho".
/// Returns: an array of the shape of `x` with sizes `s` along the axes.
/// Raises:
///   NotImplementedError: another type.
///   ValueError: another norm, or another number of sizes than axes.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.fft.idctn(jnp.array([[16.0, 0.0], [0.0, 0.0]])))
///   [[1. 1.]
///    [1. 1.]]
#[public("scipy.fft.idctn(x, type=2, s=None, axes=None, norm=None)")]
pub fn idctn(x: &Val, type_: i64, s: Option<&[i64]>, axes: Option<&[i64]>, norm: Option<&str>) -> Result<Val> {
    each(idct, x, type_, s, axes, norm)
}
