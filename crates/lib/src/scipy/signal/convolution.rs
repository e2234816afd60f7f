//! Convolution and correlation in any number of dimensions, by sums or by Fourier transforms.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_core::prims::{CONV_GENERAL_DILATED, ConvDimensions, ConvGeneralDilated, DotPrecision, PadPair};
use pullback_derive::public;
use pullback_ir::{Params, Val};

use crate::axes::Axes;
use crate::convert::{concrete_scalar, literal};
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::numpy::{self, fft};
use crate::precision::{in_force, within};
use crate::promotion::{check_arguments, promote_inexact};

fn check_mode(mode: &str) -> Result<()> {
    match mode {
        "full" | "same" | "valid" => Ok(()),
        _ => bail!(Value, "mode must be one of ['full', 'same', 'valid'], got '{mode}'"),
    }
}

fn fits(inner: &[usize], outer: &[usize]) -> bool {
    inner.iter().zip(outer).all(|(small, large)| small <= large)
}

fn check_valid(shape1: &[usize], shape2: &[usize], show: fn(&[usize]) -> String) -> Result<()> {
    if !fits(shape1, shape2) && !fits(shape2, shape1) {
        bail!(
            Value,
            "One input must be smaller than the other in every dimension for mode 'valid', got shapes {} and {}.",
            show(shape1),
            show(shape2)
        );
    }
    Ok(())
}

fn shape(x: &Val) -> Vec<usize> {
    x.aval().shape.to_vec()
}

fn operands(name: &str, in1: &Val, in2: &Val) -> Result<(Val, Val)> {
    let given = [in1.clone(), in2.clone()];
    check_arguments(name, &given)?;
    let both = promote_inexact(&given)?;
    if both[0].aval().rank() != both[1].aval().rank() {
        let (first, second) = (tuple_text(&shape(&both[0])), tuple_text(&shape(&both[1])));
        bail!(Value, "{name}: in1 and in2 must have the same number of dimensions, got shapes {first} and {second}");
    }
    Ok((both[0].clone(), both[1].clone()))
}

fn turned(x: &Val) -> Result<Val> {
    numpy::flip(x, &Axes::All)
}

fn conjugate(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() { numpy::conjugate(x) } else { Ok(x.clone()) }
}

/// The convolution by sums; for mode "same" from the given starts.
fn direct(name: &str, in1: &Val, in2: &Val, mode: &str, starts: &[usize]) -> Result<Val> {
    check_mode(mode)?;
    let (mut in1, mut in2) = (in1, in2);
    if in1.aval().size() == 0 || in2.aval().size() == 0 {
        let (first, second) = (tuple_text(&shape(in1)), tuple_text(&shape(in2)));
        bail!(Value, "{name}: zero-size arrays not supported in convolutions, got shapes {first} and {second}.");
    }
    if mode == "valid" {
        check_valid(&shape(in1), &shape(in2), tuple_text)?;
        if !fits(&shape(in2), &shape(in1)) {
            (in1, in2) = (in2, in1);
        }
    }
    let sizes = shape(in2);
    let padding = |(&size, &start): (&usize, &usize)| {
        let (last, start) = (size as i64 - 1, start as i64);
        match mode {
            "valid" => PadPair(0, 0),
            "full" => PadPair(last, last),
            _ => PadPair(last - start, start),
        }
    };
    let (rank, axes) = (sizes.len(), (0..sizes.len() as i64 + 2).collect::<Vec<_>>());
    let params = ConvGeneralDilated {
        window_strides: vec![1; rank],
        padding: sizes.iter().zip(starts).map(padding).collect(),
        lhs_dilation: vec![1; rank],
        rhs_dilation: vec![1; rank],
        dimension_numbers: ConvDimensions {
            lhs: axes.iter().map(|&axis| axis as _).collect(),
            rhs: axes.iter().map(|&axis| axis as _).collect(),
            out: axes.iter().map(|&axis| axis as _).collect(),
        },
        feature_group_count: 1,
        batch_group_count: 1,
        precision: in_force(),
        preferred_element_type: None,
        out_sharding: None,
    };
    let one = |x: &Val| getitem(x, &[IndexItem::NewAxis, IndexItem::NewAxis]);
    let ins = [one(in1)?, one(&turned(in2)?)?];
    let found = pullback_trace::bind_one(CONV_GENERAL_DILATED, &Params::new(params), &ins)?;
    getitem(&found, &[IndexItem::Int(0), IndexItem::Int(0)])
}

/// The starts of the middle part.
fn centred(x: &Val) -> Vec<usize> {
    shape(x).iter().map(|&size| size.saturating_sub(1) / 2).collect()
}

fn convolved(
    name: &str,
    in1: &Val,
    in2: &Val,
    (mode, method): (&str, &str),
    precision: Option<DotPrecision>,
) -> Result<Val> {
    match method {
        "fft" => fftconvolve(in1, in2, mode, &Axes::All),
        "direct" | "auto" => within(precision, || direct(name, in1, in2, mode, &centred(in2))),
        _ => bail!(Value, "{name}: got method='{method}'; expected 'auto', 'fft', or 'direct'."),
    }
}

/// The convolution of two arrays of one rank: `sum(in1[i] * in2[k - i])` for each place k.
///
/// Args:
///   in1, in2: arrays of the same rank; integers become floating.
///   mode: "full" for all places where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the
///     sizes of
///     `in1`; "valid" for those where the smaller lies wholly within the larger.
///   method: "direct" or "auto" for sums of products, "fft" for `fftconvolve`.
///   precision: as `jax.lax.conv_general_dilated` takes it; without influence on "fft".
/// Returns: an array of the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: ranks differ, an array is empty, no array fits into the other in mode "valid", or there is no such
///     mode,
///     method or precision.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.signal.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0]), mode="same"))
///   [ 1. 12. 23.]
#[public("scipy.signal.convolve(in1, in2, mode='full', method='auto', precision=None)")]
pub fn convolve(in1: &Val, in2: &Val, mode: &str, method: &str, precision: Option<DotPrecision>) -> Result<Val> {
    let (in1, in2) = operands("convolve", in1, in2)?;
    convolved("convolve", &in1, &in2, (mode, method), precision)
}

/// The cross-correlation of two arrays of one rank: `sum(in1[i + k] * conj(in2[i]))` for each lag k.
///
/// Args:
///   in1, in2: arrays of the same rank; integers become floating.
///   mode: "full" for all lags where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the sizes
///     of `in1`;
///     "valid" for those where the smaller lies wholly within the larger.
///   method: "direct" or "auto" for sums of products, "fft" for Fourier transforms.
///   precision: as `jax.lax.conv_general_dilated` takes it; without influence on "fft".
/// Returns: an array of the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: ranks differ, an array is empty, no array fits into the other in mode "valid", or there is no such
///     mode,
///     method or precision.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.signal.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
///   [10. 21. 32.  3.]
#[public("scipy.signal.correlate(in1, in2, mode='full', method='auto', precision=None)")]
pub fn correlate(in1: &Val, in2: &Val, mode: &str, method: &str, precision: Option<DotPrecision>) -> Result<Val> {
    let (in1, in2) = operands("correlate", in1, in2)?;
    convolved("correlate", &in1, &turned(&conjugate(&in2)?)?, (mode, method), precision)
}

fn images(name: &str, in1: &Val, in2: &Val, boundary: &str, fillvalue: &Val) -> Result<(Val, Val)> {
    let fill = concrete_scalar(fillvalue, "the fill value")?.as_f64();
    if boundary != "fill" || fill != 0.0 {
        bail!(
            NotImplemented,
            "{name}() only supports boundary='fill', fillvalue=0; got boundary='{boundary}', fillvalue={fill}. Pad the \
             first array with jax.numpy.pad and use mode='valid'."
        );
    }
    if in1.aval().rank() != 2 || in2.aval().rank() != 2 {
        let (first, second) = (tuple_text(&shape(in1)), tuple_text(&shape(in2)));
        bail!(Value, "{name}() only supports 2-dimensional inputs, got shapes {first} and {second}.");
    }
    operands(name, in1, in2)
}

/// The convolution of two matrices: `sum(in1[i, j] * in2[k - i, l - j])` for each place.
///
/// Args:
///   in1, in2: matrices; integers become floating.
///   mode: "full" for all places where they meet; "same" for the middle of these, of the shape of `in1`; "valid" for
///     those
///     where the smaller lies wholly within the larger.
///   boundary: must be "fill".
///   fillvalue: must be 0.
///   precision: as `jax.lax.conv_general_dilated` takes it.
/// Returns: a matrix of the promoted floating or complex dtype.
/// Raises:
///   NotImplementedError: another boundary or value.
///   TypeError: an argument is no array.
///   ValueError: an argument is no matrix or empty, no matrix fits into the other in mode "valid", or there is no
///     such mode.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.signal.convolve2d(jnp.eye(2), jnp.array([[1.0, 2.0]])))
///   [[1. 2. 0.]
///    [0. 1. 2.]]
#[public("scipy.signal.convolve2d(in1, in2, mode='full', boundary='fill', fillvalue=0, precision=None)")]
pub fn convolve2d(
    in1: &Val,
    in2: &Val,
    mode: &str,
    boundary: &str,
    fillvalue: &Val,
    precision: Option<DotPrecision>,
) -> Result<Val> {
    let (in1, in2) = images("convolve2d", in1, in2, boundary, fillvalue)?;
    within(precision, || direct("convolve2d", &in1, &in2, mode, &centred(&in2)))
}

/// The cross-correlation of two matrices: `sum(in1[i + k, j + l] * conj(in2[i, j]))` for each pair of lags.
///
/// Args:
///   in1, in2: matrices; integers become floating.
///   mode: "full" for all lags where they meet; "same" for the middle of these, of the shape of `in1`, where of two
///     middles it
///     is the later one; "valid" for those where the smaller lies wholly within the larger, and is the one that is
///       conjugated.
///   boundary: must be "fill".
///   fillvalue: must be 0.
///   precision: as `jax.lax.conv_general_dilated` takes it.
/// Returns: a matrix of the promoted floating or complex dtype.
/// Raises:
///   NotImplementedError: another boundary or value.
///   TypeError: an argument is no array.
///   ValueError: an argument is no matrix or empty, no matrix fits into the other in mode "valid", or there is no
///     such mode.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.signal.correlate2d(jnp.eye(2), jnp.array([[1.0, 2.0]])))
///   [[2. 1. 0.]
///    [0. 2. 1.]]
#[public("scipy.signal.correlate2d(in1, in2, mode='full', boundary='fill', fillvalue=0, precision=None)")]
pub fn correlate2d(
    in1: &Val,
    in2: &Val,
    mode: &str,
    boundary: &str,
    fillvalue: &Val,
    precision: Option<DotPrecision>,
) -> Result<Val> {
    let (mut in1, mut in2) = images("correlate2d", in1, in2, boundary, fillvalue)?;
    // The smaller one is the kernel, and its conjugate is taken; the result is turned with it.
    if mode == "valid" && !fits(&shape(&in2), &shape(&in1)) {
        (in1, in2) = (conjugate(&in1)?, conjugate(&in2)?);
    }
    let kernel = turned(&conjugate(&in2)?)?;
    let starts: Vec<usize> = shape(&in2).iter().map(|size| size / 2).collect();
    within(precision, || direct("correlate2d", &in1, &kernel, mode, &starts))
}

/// The least length from `size` on that has no other prime factors than 2, 3 and 5.
fn quick_length(size: usize) -> usize {
    let is_quick = |&size: &usize| {
        let mut rest = size;
        for prime in [2, 3, 5] {
            while rest % prime == 0 {
                rest /= prime;
            }
        }
        rest == 1
    };
    (size.max(1)..).find(is_quick).expect("powers of two have no end")
}

fn full_by_fft(in1: &Val, in2: &Val, axes: &[usize], sizes: &[usize]) -> Result<Val> {
    if axes.is_empty() {
        return numpy::multiply(in1, in2);
    }
    let lengths: Vec<i64> = sizes.iter().map(|&size| quick_length(size) as i64).collect();
    let (lengths, along) = (fft::Integers(lengths), fft::Integers(axes.iter().map(|&axis| axis as i64).collect()));
    let (lengths, along) = (Some(&lengths), Some(&along));
    let dtype = in1.aval().dtype;
    let out = if dtype.is_complex() {
        let product = numpy::multiply(&fft::fftn(in1, lengths, along, None)?, &fft::fftn(in2, lengths, along, None)?)?;
        fft::ifftn(&product, lengths, along, None)?
    } else {
        let product =
            numpy::multiply(&fft::rfftn(in1, lengths, along, None)?, &fft::rfftn(in2, lengths, along, None)?)?;
        fft::irfftn(&product, lengths, along, None)?
    };
    numpy::astype(&cut(&out, axes, &vec![0; axes.len()], sizes)?, dtype)
}

fn cut(x: &Val, axes: &[usize], starts: &[usize], sizes: &[usize]) -> Result<Val> {
    let mut parts = vec![IndexItem::ALL; x.aval().rank()];
    for ((&axis, &start), &size) in axes.iter().zip(starts).zip(sizes) {
        parts[axis] = IndexItem::Slice { start: Some(start as i64), stop: Some((start + size) as i64), step: None };
    }
    getitem(x, &parts)
}

fn distinct_axes(axes: &Axes, rank: usize) -> Result<Vec<usize>> {
    let given: Vec<i64> = match axes {
        Axes::All => (0..rank as i64).collect(),
        Axes::One(axis) => vec![*axis],
        Axes::Many(axes) | Axes::Named(_, axes) => axes.clone(),
    };
    if let Some(axis) = given.iter().find(|&&axis| !(-(rank as i64)..rank as i64).contains(&axis)) {
        bail!(Value, "fftconvolve: axis {axis} is out of bounds for array of dimension {rank}");
    }
    let mut found: Vec<usize> = given.iter().map(|axis| axis.rem_euclid(rank as i64) as usize).collect();
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The convolution of two arrays of one rank as a product of their Fourier transforms (DLMF 1.14.5), padded with
/// zeros.
///
/// It takes `n log n` products, but its error is that of the largest element everywhere.
///
/// Args:
///   in1, in2: arrays of the same rank; integers become floating.
///   mode: "full" for all places where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the
///     sizes of
///     `in1`; "valid" for those where the smaller lies wholly within the larger.
///   axes: an axis or several along which to convolve, all by default; along the others the arrays have equal sizes.
/// Returns: an array of the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: ranks or sizes of other axes differ, an axis is out of bounds, the dtype has 16 bits, no array fits
///     into the
///     other in mode "valid", or there is no such mode.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.signal.fftconvolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])).round(3))
///   [ 1. 12. 23. 30.]
#[public("scipy.signal.fftconvolve(in1, in2, mode='full', axes=None)")]
pub fn fftconvolve(in1: &Val, in2: &Val, mode: &str, axes: &Axes) -> Result<Val> {
    let (in1, in2) = operands("fftconvolve", in1, in2)?;
    check_mode(mode)?;
    let axes = distinct_axes(axes, in1.aval().rank())?;
    let (of1, of2) = (shape(&in1), shape(&in2));
    if (0..of1.len()).any(|axis| !axes.contains(&axis) && of1[axis] != of2[axis]) {
        let (first, second) = (tuple_text(&of1), tuple_text(&of2));
        bail!(
            Value,
            "fftconvolve: mapped axes must have same shape; got in1.shape={first} in2.shape={second} axes={axes:?}"
        );
    }
    let along = |shape: &[usize]| axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>();
    let (sizes1, sizes2) = (along(&of1), along(&of2));
    if mode == "valid" {
        check_valid(&sizes1, &sizes2, |sizes| format!("{sizes:?}"))?;
    }
    let pairs = || sizes1.iter().zip(&sizes2);
    let full: Vec<usize> = pairs().map(|(a, b)| (a + b).saturating_sub(1)).collect();
    let out = if in1.aval().size() == 0 || in2.aval().size() == 0 {
        let mut sizes = of1.clone();
        axes.iter().zip(&full).for_each(|(&axis, &size)| sizes[axis] = size);
        lax::full(&sizes, &literal(in1.aval().dtype, 0.0))?
    } else {
        full_by_fft(&in1, &in2, &axes, &full)?
    };
    let wanted: Vec<usize> = match mode {
        "full" => return Ok(out),
        "same" => sizes1.clone(),
        _ => pairs().map(|(a, b)| a.abs_diff(*b) + 1).collect(),
    };
    let starts: Vec<usize> = full.iter().zip(&wanted).map(|(have, want)| have.saturating_sub(*want) / 2).collect();
    cut(&out, &axes, &starts, &wanted)
}
