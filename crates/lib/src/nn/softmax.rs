//! Softmax, its logarithm, and normalization.

use pullback_base::Result;
use pullback_ir::Val;

use crate::axes::{Axes, keepdims_shape};
use crate::convert::{number, weak_float, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{self, Reduction, where_};
use crate::promotion::{promote_args_inexact, promote_inexact};

fn greatest(x: &Val, axis: &Axes, mask: Option<&Val>, keepdims: bool) -> Result<Val> {
    let options = Reduction {
        initial: Some(weak_float(f64::NEG_INFINITY)),
        where_: mask.cloned(),
        ..Reduction::over(axis.clone(), keepdims)
    };
    numpy::max(x, &options)
}

/// `x` less its greatest element over axes, which differentiation takes for a constant.
fn shifted(x: &Val, axis: &Axes, mask: Option<&Val>) -> Result<Val> {
    let most = greatest(x, axis, mask, true)?;
    let x = match mask {
        Some(mask) => where_(mask, x, &weak_float(f64::NEG_INFINITY))?,
        None => x.clone(),
    };
    numpy::subtract(&x, &lax::stop_gradient(&most)?)
}

fn total(x: &Val, axis: &Axes, mask: Option<&Val>) -> Result<Val> {
    numpy::sum(x, &Reduction { where_: mask.cloned(), ..Reduction::over(axis.clone(), true) })
}

/// Exponentials over axes, divided by their sum.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn softmax(x: &Val, axis: &Axes, mask: Option<&Val>) -> Result<Val> {
    let x = promote_inexact(std::slice::from_ref(x))?.swap_remove(0);
    let powers = lax::exp(&shifted(&x, axis, mask)?)?;
    let out = lax::div(&powers, &total(&powers, axis, mask)?)?;
    match mask {
        Some(mask) => where_(mask, &out, &weak_int(0)),
        None => Ok(out),
    }
}

fn axes_statics(axis: &Axes) -> Vec<i64> {
    match axis {
        Axes::All => vec![-1],
        Axes::One(axis) => vec![1, *axis],
        Axes::Many(axes) => std::iter::once(-2).chain(axes.iter().copied()).collect(),
    }
}

/// The logarithm of [`softmax`].
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn log_softmax(x: &Val, axis: &Axes, mask: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(mask).cloned().collect();
    named_jit_one("log_softmax", &axes_statics(axis), &args, |args| {
        let x = promote_inexact(&args[..1])?.swap_remove(0);
        let mask = args.get(1);
        let shifted = shifted(&x, axis, mask)?;
        let log_total = lax::log(&total(&lax::exp(&shifted)?, axis, mask)?)?;
        let out = lax::sub(&shifted, &log_total)?;
        match mask {
            Some(mask) => where_(mask, &out, &weak_float(f64::NEG_INFINITY)),
            None => Ok(out),
        }
    })
}

/// The logarithm of the sum of exponentials over axes, without overflow.
#[derive(Clone, Debug)]
pub struct LogSumExp {
    /// Which axes.
    pub axis: Axes,
    /// Factors of the exponentials.
    pub b: Option<Val>,
    /// Whether reduced axes stay with size 1.
    pub keepdims: bool,
    /// Which elements take part.
    pub where_: Option<Val>,
}

/// The logarithm of the absolute sum of exponentials, and the sign of the sum.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn logsumexp_with_sign(x: &Val, options: &LogSumExp) -> Result<(Val, Val)> {
    let ins: Vec<Val> = std::iter::once(x).chain(options.b.as_ref()).cloned().collect();
    let ins = promote_args_inexact("logsumexp", &ins)?;
    let (mut x, b) = (ins[0].clone(), ins.get(1));
    if let Some(b) = b {
        x = where_(&lax::ne(b, &number(b, 0.0))?, &x, &weak_float(f64::NEG_INFINITY))?;
    }
    let mask = options.where_.as_ref();
    let axes = options.axis.resolve(x.aval().rank())?;
    let real = numpy::real(&x)?;
    let most = greatest(&real, &options.axis, mask, options.keepdims)?;
    let most = lax::select(&lax::is_finite(&most)?, &most, &lax::full_like(&most, 0.0)?)?;
    let most = lax::stop_gradient(&most)?;
    let kept = keepdims_shape(&x.aval().shape, &axes);
    let lifted = if options.keepdims { most.clone() } else { lax::expand_axes(&most, &axes)? };
    let lifted = lax::reshape(&lifted, &kept, None)?;
    let mut powers = lax::exp(&numpy::subtract(&x, &lifted)?)?;
    if let Some(b) = b {
        powers = numpy::multiply(&powers, b)?;
    }
    let sum_options = Reduction { where_: mask.cloned(), ..Reduction::over(options.axis.clone(), options.keepdims) };
    let sum = numpy::sum(&powers, &sum_options)?;
    let sign = lax::sign(&sum)?;
    let log = lax::log(&numpy::absolute(&sum)?)?;
    Ok((lax::add(&log, &most)?, sign))
}

/// As [`logsumexp_with_sign`]; NaN where the sum is negative.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn logsumexp(x: &Val, options: &LogSumExp) -> Result<Val> {
    let (out, sign) = logsumexp_with_sign(x, options)?;
    if options.b.is_none() || out.aval().dtype.is_complex() {
        return Ok(out);
    }
    let is_negative = lax::lt(&sign, &number(&sign, 0.0))?;
    where_(&is_negative, &number(&out, f64::NAN), &out)
}

/// `x` less its mean, over the square root of its variance plus `epsilon`.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn standardize(x: &Val, axis: &Axes, epsilon: f64, mask: Option<&Val>) -> Result<Val> {
    let mut statics = axes_statics(axis);
    statics.push(epsilon.to_bits() as i64);
    let args: Vec<Val> = std::iter::once(x).chain(mask).cloned().collect();
    named_jit_one("standardize", &statics, &args, |args| {
        let x = promote_inexact(&args[..1])?.swap_remove(0);
        let options = Reduction { where_: args.get(1).cloned(), ..Reduction::over(axis.clone(), true) };
        let mean = numpy::mean(&x, &options)?;
        let squares = numpy::mean(&lax::square(&x)?, &options)?;
        let variance = lax::sub(&squares, &lax::square(&mean)?)?;
        let variance = numpy::clip(&variance, Some(&weak_int(0)), None)?;
        let centered = lax::sub(&x, &mean)?;
        let scale = lax::rsqrt(&lax::add(&variance, &number(&variance, epsilon))?)?;
        lax::mul(&centered, &scale)
    })
}
