//! Functions over axes: softmax and its relatives, standardization, one-hot codes.

use pullback_base::{DType, Result, bail};
use pullback_derive::{Keywords, public};
use pullback_ir::Val;

use crate::axes::{Axes, canonical_axis};
use crate::convert::{convert, literal, number, to_dtype, weak_float, weak_int};
use crate::declare::{Argument, Arguments, Constant, OneOrTuple, Type};
use crate::jit::{named_jit, named_jit_one};
use crate::lax;
use crate::numpy::{self, Reduction, add, clip, exp, log, mean, multiply, square, subtract, true_divide, where_};
use crate::promotion::promote_args_inexact;

fn over(axis: &Axes, keepdims: bool, mask: Option<&Val>) -> Reduction {
    Reduction { where_: mask.cloned(), ..Reduction::over(axis.clone(), keepdims) }
}

/// Statics that tell axes apart in caches of traces.
fn axis_statics(axis: &Axes) -> Vec<i64> {
    axis.statics()
}

fn greatest(x: &Val, axis: &Axes, keepdims: bool, mask: Option<&Val>) -> Result<Val> {
    numpy::max(x, &Reduction { initial: Some(weak_float(f64::NEG_INFINITY)), ..over(axis, keepdims, mask) })
}

fn masked(x: &Val, mask: Option<&Val>, fill: &Val) -> Result<Val> {
    mask.map_or_else(|| Ok(x.clone()), |mask| where_(mask, x, fill))
}

/// `x` minus its greatest along axes, and the exponential of that.
fn shifted_exp(x: &Val, axis: &Axes, mask: Option<&Val>) -> Result<(Val, Val)> {
    let peak = greatest(x, axis, true, mask)?;
    let safe = masked(x, mask, &weak_float(f64::NEG_INFINITY))?;
    let shifted = subtract(&safe, &lax::stop_gradient(&peak)?)?;
    let exponential = exp(&shifted)?;
    Ok((shifted, exponential))
}

/// `exp(x) / sum(exp(x))` over axes, without overflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others count as minus infinity and give 0.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.softmax(jnp.array([1.0, 1.0, -jnp.inf]))
///   Array([0.5, 0.5, 0. ], dtype=float32)
#[public("nn.softmax(x, axis=-1, where: Mask=None)")]
pub fn softmax(x: &Val, axis: &Axes, where_: Option<&Val>) -> Result<Val> {
    let (_, exponential) = shifted_exp(x, axis, where_)?;
    let total = numpy::sum(&exponential, &over(axis, true, where_))?;
    masked(&true_divide(&exponential, &total)?, where_, &weak_int(0))
}

/// The logarithm of `softmax`: `x - log(sum(exp(x)))` over axes, without overflow or underflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others give minus infinity.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.log_softmax(jnp.array([1000.0, -jnp.inf]))
///   Array([  0., -inf], dtype=float32)
#[public("nn.log_softmax(x, axis=-1, where: Mask=None)")]
pub fn log_softmax(x: &Val, axis: &Axes, where_: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(where_).cloned().collect();
    named_jit_one("log_softmax", &axis_statics(axis), &args, |args| {
        let where_ = args.get(1);
        let (shifted, exponential) = shifted_exp(&args[0], axis, where_)?;
        let total = log(&numpy::sum(&exponential, &over(axis, true, where_))?)?;
        masked(&subtract(&shifted, &total)?, where_, &weak_float(f64::NEG_INFINITY))
    })
}

/// What users say of [`logsumexp`] beside its operand.
#[derive(Clone, Debug, Keywords)]
pub struct LogSumExp {
    /// Which axes.
    pub axis: Axes,
    /// Factors of the exponentials.
    pub b: Option<Val>,
    /// Whether reduced axes stay with size 1.
    pub keepdims: bool,
    /// Which elements take part.
    #[keyword(Mask)]
    pub where_: Option<Val>,
}

impl Default for LogSumExp {
    fn default() -> LogSumExp {
        LogSumExp { axis: Axes::All, b: None, keepdims: false, where_: None }
    }
}

/// `log(sum(b * exp(a)))` over axes, without overflow; minus infinity of no elements.
///
/// Args:
///   a: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   b: factors that broadcast with `a`; 1 by default.
///   keepdims: whether the axes stay, with size 1.
///   return_sign: also give the sign of the sum, and the logarithm of its absolute value.
///   where: booleans that broadcast with `a`; the others are left out.
/// Returns: an array without the axes, or a pair of it and of the signs; integers give floats. NaN of a negative sum
///   without `return_sign`.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `a` and `b`.
/// Example:
///   >>> jax.nn.logsumexp(jnp.array([1000.0, -jnp.inf]))
///   Array(1000., dtype=float32)
///   >>> jax.nn.logsumexp(jnp.array([0.0, 0.0]), b=jnp.array([1.0, -2.0]), return_sign=True)
///   (Array(0., dtype=float32), Array(-1., dtype=float32))
#[public("nn.logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None)")]
pub fn logsumexp_or_both(a: &Val, options: &LogSumExp, return_sign: bool) -> Result<OneOrTuple> {
    if !return_sign {
        return logsumexp(a, options).map(OneOrTuple::One);
    }
    let (out, sign) = logsumexp_with_sign(a, options)?;
    Ok(OneOrTuple::Tuple(vec![out, sign]))
}

/// `log(sum(b * exp(x)))` without overflow; NaN where the sum is negative.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn logsumexp(x: &Val, options: &LogSumExp) -> Result<Val> {
    let (out, sign) = log_and_sign(x, options, false)?;
    if options.b.is_none() {
        return Ok(out);
    }
    if sign.aval().dtype.is_complex() {
        return Ok(out);
    }
    let is_negative = lax::lt(&sign, &number(&sign, 0.0))?;
    where_(&is_negative, &literal(out.aval().dtype, f64::NAN), &out)
}

/// `log(abs(sum(b * exp(x))))` without overflow, and the sign of the sum.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn logsumexp_with_sign(x: &Val, options: &LogSumExp) -> Result<(Val, Val)> {
    log_and_sign(x, options, true)
}

fn log_and_sign(x: &Val, options: &LogSumExp, always_abs: bool) -> Result<(Val, Val)> {
    let ins: Vec<Val> = std::iter::once(x).chain(&options.b).cloned().collect();
    let ins = promote_args_inexact("logsumexp", &ins)?;
    let mask = options.where_.as_ref();
    let mut x = masked(&ins[0], mask, &weak_int(0))?;
    let factor = ins.get(1);
    if let Some(b) = factor {
        x = where_(&lax::ne(b, &number(b, 0.0))?, &x, &weak_float(f64::NEG_INFINITY))?;
    }
    let peak = finite_peak(&x, options)?;
    let exponential = exp(&subtract(&x, &peak_like(&x, &peak, options)?)?)?;
    let scaled = factor.map_or_else(|| Ok(exponential.clone()), |b| multiply(&exponential, b))?;
    let mut total = numpy::sum(&scaled, &over(&options.axis, options.keepdims, mask))?;
    let sign = lax::sign(&total)?;
    if always_abs || !total.aval().dtype.is_complex() {
        total = lax::abs(&total)?;
    }
    Ok((add(&lax::log(&total)?, &peak)?, sign))
}

/// The greatest (of the real parts), or 0 where it is not finite: constant to differentiation.
fn finite_peak(x: &Val, options: &LogSumExp) -> Result<Val> {
    let real = if x.aval().dtype.is_complex() { lax::real(x)? } else { x.clone() };
    let peak = greatest(&real, &options.axis, options.keepdims, options.where_.as_ref())?;
    let finite = lax::is_finite(&peak)?;
    lax::stop_gradient(&lax::select(&finite, &peak, &lax::full_like(&peak, 0.0)?)?)
}

fn peak_like(x: &Val, peak: &Val, options: &LogSumExp) -> Result<Val> {
    let axes = options.axis.resolve(x.aval().rank())?;
    let peak = if options.keepdims { peak.clone() } else { lax::expand_axes(peak, &axes)? };
    if x.aval().dtype.is_complex() { to_dtype(&peak, x.aval().dtype) } else { Ok(peak) }
}

/// `log(mean(exp(x)))` over axes, without overflow.
///
/// Args:
///   x: integer, floating or complex array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   where: booleans that broadcast with `x`; the others are left out and do not count.
///   keepdims: whether the axes stay, with size 1.
/// Returns: an array without the axes; integers give floats.
/// Raises:
///   ValueError: an axis is out of bounds.
/// Differentiable: yes in `x`.
/// Example:
///   >>> jax.nn.logmeanexp(jnp.array([1000.0, 1000.0]))
///   Array(1000., dtype=float32)
#[public("nn.logmeanexp(x, axis=None, where: Mask=None, keepdims=False)")]
pub fn logmeanexp(x: &Val, axis: &Axes, where_: Option<&Val>, keepdims: bool) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(where_).cloned().collect();
    let statics = [axis_statics(axis), vec![keepdims.into()]].concat();
    named_jit_one("logmeanexp", &statics, &args, |args| {
        // A condition counts as often as it is broadcast.
        let shape = args[0].aval().shape.to_vec();
        let where_ = args.get(1).map(|where_| crate::broadcast::broadcast_to(where_, &shape)).transpose()?;
        let options = LogSumExp { axis: axis.clone(), b: None, keepdims, where_: where_.clone() };
        let total = logsumexp(&args[0], &options)?;
        let dtype = total.aval().dtype;
        let n = match &where_ {
            None => literal(dtype, axis_size(&args[0], axis)? as f64),
            Some(where_) => {
                let ones = to_dtype(where_, crate::convert::default_int())?;
                numpy::sum(&ones, &Reduction { dtype: Some(dtype), ..over(axis, keepdims, None) })?
            }
        };
        subtract(&total, &lax::log(&n)?)
    })
}

fn axis_size(x: &Val, axis: &Axes) -> Result<usize> {
    let aval = x.aval();
    Ok(pullback_base::extent(axis.resolve(aval.rank())?.iter().map(|&axis| &aval.shape[axis])))
}

/// How [`standardize`] computes the variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variance {
    /// Mean of squares minus square of the mean.
    Fast,
    /// Mean of squared distances from the mean.
    Stable,
}

impl Argument for Variance {
    const TYPE: Type = Type { python: "Literal['fast', 'stable']", rust: "Variance" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Variance> {
        Variance::parse(&args.word(at)?)
    }
    fn absent(_default: Constant) -> Variance {
        Variance::Fast
    }
}

impl Variance {
    /// From the name that users write.
    ///
    /// # Errors
    /// A `Value` error for another name.
    pub fn parse(name: &str) -> Result<Variance> {
        match name {
            "fast" => Ok(Variance::Fast),
            "stable" => Ok(Variance::Stable),
            _ => bail!(Value, "Unknown algorithm '{name}'. Expected 'fast' or 'stable'."),
        }
    }
}

/// What users say of [`standardize`] beside its operand; what is `None` is computed or the default.
#[derive(Clone, Debug, Keywords)]
pub struct Standardize {
    /// Which axes.
    pub axis: Axes,
    /// The mean.
    pub mean: Option<Val>,
    /// The variance.
    pub variance: Option<Val>,
    /// Added to the variance; 1e-5 by default.
    #[keyword(OwnDefault)]
    pub epsilon: Option<Val>,
    /// Which elements count for mean and variance.
    #[keyword(Mask)]
    pub where_: Option<Val>,
    /// How the variance is computed.
    pub algorithm: Variance,
}

impl Default for Standardize {
    fn default() -> Standardize {
        Standardize {
            axis: Axes::One(-1),
            mean: None,
            variance: None,
            epsilon: None,
            where_: None,
            algorithm: Variance::Fast,
        }
    }
}

/// `(x - mean) / sqrt(variance + epsilon)` over axes.
///
/// Args:
///   x: integer or floating array.
///   axis: an axis or several, negative ones counted from the end; None for all.
///   mean: the mean, broadcast to `x`; by default that over the axes.
///   variance: the variance, likewise.
///   epsilon: what is added to the variance.
///   where: booleans that broadcast with `x`: which elements count for mean and variance.
///   algorithm: how the variance is found: 'fast', the mean of squares less the square of the mean, or 'stable', the
///     mean of squared distances.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: the algorithm is unknown, an axis is out of bounds, or `x` is complex and the algorithm 'fast'.
/// Differentiable: yes, in mean and variance too.
/// Example:
///   >>> jax.nn.standardize(jnp.array([-1.0, 1.0]), epsilon=0.0)
///   Array([-1.,  1.], dtype=float32)
#[public("nn.standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast')")]
pub fn standardize(x: &Val, options: &Standardize) -> Result<Val> {
    let given = [&options.mean, &options.variance, &options.epsilon, &options.where_];
    let mut statics = axis_statics(&options.axis);
    statics.push((options.algorithm == Variance::Stable).into());
    statics.extend(given.map(|x| i64::from(x.is_some())));
    let args: Vec<Val> = std::iter::once(x).chain(given.into_iter().flatten()).cloned().collect();
    named_jit_one("standardize", &statics, &args, |args| {
        let mut rest = args[1..].iter();
        let mut next = |given: &Option<Val>| given.as_ref().and_then(|_| rest.next().cloned());
        let (mean, variance) = (next(&options.mean), next(&options.variance));
        let (epsilon, where_) = (next(&options.epsilon), next(&options.where_));
        let inner = Standardize { mean, variance, epsilon, where_, ..options.clone() };
        standardized(&args[0], &inner)
    })
}

fn standardized(x: &Val, options: &Standardize) -> Result<Val> {
    let reduction = over(&options.axis, true, options.where_.as_ref());
    let centre = options.mean.clone().map_or_else(|| mean(x, &reduction), Ok)?;
    let variance = match (&options.variance, options.algorithm) {
        (Some(variance), _) => variance.clone(),
        (None, Variance::Fast) => {
            let difference = subtract(&mean(&square(x)?, &reduction)?, &square(&centre)?)?;
            // Rounding may make the difference negative.
            clip(&difference, Some(&weak_int(0)), None)?
        }
        (None, Variance::Stable) => mean(&square(&subtract(x, &centre)?)?, &reduction)?,
    };
    let centred = subtract(x, &centre)?;
    let epsilon = options.epsilon.clone().unwrap_or_else(|| weak_float(1e-5));
    multiply(&centred, &lax::rsqrt(&add(&variance, &epsilon)?)?)
}

/// For each element a vector with 1 at its place and 0 elsewhere; zeros only for what is not from 0 to `num_classes -
/// 1`.
///
/// Args:
///   x: integer or floating array of places.
///   num_classes: the size of the vectors.
///   dtype: the dtype of the result; float32 by default, float64 with x64.
///   axis: where the vectors' axis is in the result, negative counted from its end.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of the shape of `x` with one axis more.
/// Raises:
///   TypeError: `num_classes` is negative, or `x` is boolean.
///   ValueError: the axis is out of bounds.
/// Warns:
///   DeprecationWarning: `x` is not of integers.
/// Differentiable: no; the derivative is 0.
/// Example:
///   >>> jax.nn.one_hot(jnp.array([0, 2, 3]), 3)
///   Array([[1., 0., 0.],
///          [0., 0., 1.],
///          [0., 0., 0.]], dtype=float32)
#[public("nn.one_hot(x: Convertible, num_classes, *, dtype: FloatByDefault=None, axis=-1, out_sharding: Sharded=None)")]
pub fn one_hot(x: &Val, num_classes: i64, dtype: DType, axis: i64) -> Result<Val> {
    let rank = x.aval().rank() + 1;
    let at = canonical_axis(axis, rank)?;
    if !x.aval().dtype.is_integer() {
        let text = format!("jax.nn.one_hot input should be integer-typed; got dtype={}", x.aval().dtype);
        pullback_trace::warn_as(pullback_trace::Warning::Deprecation, &text)?;
    }
    let mut shape = vec![1i64; rank];
    shape[at] = num_classes;
    let shape = iota_shape(&shape)?;
    let statics = [num_classes, dtype as i64, axis];
    let mut outs = named_jit("_one_hot", &statics, std::slice::from_ref(x), |args| {
        let x = lax::expand_axes(&args[0], &[at])?;
        let classes = lax::broadcasted_iota(x.aval().dtype, &shape, at)?;
        let is_class = lax::eq(&convert(&x, x.aval().dtype, false)?, &classes)?;
        Ok(vec![to_dtype(&is_class, dtype)?])
    })?;
    Ok(outs.swap_remove(0))
}

fn iota_shape(sizes: &[i64]) -> Result<Vec<usize>> {
    if sizes.iter().any(|&size| size < 0) {
        let text = crate::axes::signed_tuple_text(sizes);
        bail!(Type, "iota shape must have every element be nonnegative, got {text}.");
    }
    Ok(sizes.iter().map(|&size| size as usize).collect())
}
