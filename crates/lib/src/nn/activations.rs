//! Activation functions.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{number, weak_float, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{self, logaddexp, where_};
use crate::promotion::promote_inexact;

fn jitted(name: &'static str, x: &Val, f: impl FnOnce(&Val) -> Result<Val>) -> Result<Val> {
    named_jit_one(name, &[], std::slice::from_ref(x), |args| f(&args[0]))
}

fn floating(x: &Val) -> Result<Val> {
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

/// `max(x, 0)`; the derivative at 0 is 0, for which a selection stands.
///
/// # Errors
/// What the primitives raise.
pub fn relu(x: &Val) -> Result<Val> {
    jitted("relu", x, |x| {
        let zero = number(x, 0.0);
        lax::select(&lax::le(x, &zero)?, &lax::full_like(x, 0.0)?, x)
    })
}

/// `min(max(x, 0), 6)`; the derivative at 0 and 6 is 0.
///
/// # Errors
/// What the primitives raise.
pub fn relu6(x: &Val) -> Result<Val> {
    jitted("relu6", x, |x| {
        let low = lax::select(&lax::le(x, &number(x, 0.0))?, &lax::full_like(x, 0.0)?, x)?;
        lax::select(&lax::ge(&low, &number(x, 6.0))?, &lax::full_like(x, 6.0)?, &low)
    })
}

/// `1 / (1 + exp(-x))`.
///
/// # Errors
/// A `Type` error for integers.
pub fn sigmoid(x: &Val) -> Result<Val> {
    lax::logistic(x)
}

/// `log(1 + exp(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn softplus(x: &Val) -> Result<Val> {
    jitted("softplus", x, |x| logaddexp(x, &weak_float(0.0)))
}

/// `log(sigmoid(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn log_sigmoid(x: &Val) -> Result<Val> {
    jitted("log_sigmoid", x, |x| lax::neg(&softplus(&lax::neg(&floating(x)?)?)?))
}

/// `x / (1 + |x|)`.
///
/// # Errors
/// What the primitives raise.
pub fn soft_sign(x: &Val) -> Result<Val> {
    jitted("soft_sign", x, |x| {
        let size = numpy::absolute(x)?;
        numpy::true_divide(x, &numpy::add(&size, &weak_int(1))?)
    })
}

/// `x * sigmoid(x)`.
///
/// # Errors
/// A `Type` error for integers.
pub fn silu(x: &Val) -> Result<Val> {
    jitted("silu", x, |x| lax::mul(x, &sigmoid(x)?))
}

/// The Gaussian error linear unit, by the error function or approximately by tanh.
///
/// # Errors
/// What the primitives raise.
pub fn gelu(x: &Val, approximate: bool) -> Result<Val> {
    let x = floating(x)?;
    let half = number(&x, 0.5);
    if approximate {
        let cubed = lax::mul(&number(&x, 0.044715), &lax::integer_pow(&x, 3)?)?;
        let scale = number(&x, (2.0 / std::f64::consts::PI).sqrt());
        let inner = lax::tanh(&lax::mul(&scale, &lax::add(&x, &cubed)?)?)?;
        let factor = lax::mul(&half, &lax::add(&number(&x, 1.0), &inner)?)?;
        return lax::mul(&x, &factor);
    }
    let scaled = lax::mul(&lax::neg(&x)?, &number(&x, std::f64::consts::FRAC_1_SQRT_2))?;
    lax::mul(&lax::mul(&half, &x)?, &lax::erfc(&scaled)?)
}

/// `x` above 0, `alpha * (exp(x) - 1)` below.
///
/// # Errors
/// What the primitives raise.
pub fn elu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(alpha).cloned().collect();
    named_jit_one("elu", &[], &args, |args| {
        let x = &args[0];
        let zero = || number(x, 0.0);
        let is_positive = lax::gt(x, &zero())?;
        // The exponential of large positive elements, which the selection drops, may not overflow.
        let safe = where_(&lax::gt(x, &zero())?, &weak_float(0.0), x)?;
        let curve = numpy::expm1(&safe)?;
        let alpha = args.get(1).cloned().unwrap_or_else(|| weak_float(1.0));
        where_(&is_positive, x, &numpy::multiply(&alpha, &curve)?)
    })
}

/// `x` above 0, `slope * x` below.
///
/// # Errors
/// What the primitives raise.
pub fn leaky_relu(x: &Val, slope: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(slope).cloned().collect();
    named_jit_one("leaky_relu", &[], &args, |args| {
        let x = &args[0];
        let is_positive = lax::ge(x, &number(x, 0.0))?;
        let slope = args.get(1).cloned().unwrap_or_else(|| weak_float(0.01));
        where_(&is_positive, x, &numpy::multiply(&slope, x)?)
    })
}

/// `scale` times the [`elu`] whose fixed point keeps mean and variance.
///
/// # Errors
/// What the primitives raise.
pub fn selu(x: &Val) -> Result<Val> {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    jitted("selu", x, |x| numpy::multiply(&weak_float(SCALE), &elu(x, Some(&weak_float(ALPHA)))?))
}

/// `max(x, 0) + alpha * expm1(min(x, 0) / alpha)`.
///
/// # Errors
/// What the primitives raise.
pub fn celu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(alpha).cloned().collect();
    named_jit_one("celu", &[], &args, |args| {
        let x = &args[0];
        let alpha = args.get(1).cloned().unwrap_or_else(|| weak_float(1.0));
        let high = numpy::maximum(x, &weak_float(0.0))?;
        let low = numpy::true_divide(&numpy::minimum(x, &weak_float(0.0))?, &alpha)?;
        numpy::add(&high, &numpy::multiply(&alpha, &numpy::expm1(&low)?)?)
    })
}

/// `x` kept between -1 and 1.
///
/// # Errors
/// What the primitives raise.
pub fn hard_tanh(x: &Val) -> Result<Val> {
    jitted("hard_tanh", x, |x| {
        let above = lax::gt(x, &number(x, 1.0))?;
        let below = lax::lt(x, &number(x, -1.0))?;
        where_(&above, &weak_int(1), &where_(&below, &weak_int(-1), x)?)
    })
}

/// `relu6(x + 3) / 6`.
///
/// # Errors
/// What the primitives raise.
pub fn hard_sigmoid(x: &Val) -> Result<Val> {
    jitted("hard_sigmoid", x, |x| numpy::true_divide(&relu6(&numpy::add(x, &weak_float(3.0))?)?, &weak_float(6.0)))
}

/// `x * hard_sigmoid(x)`.
///
/// # Errors
/// What the primitives raise.
pub fn hard_silu(x: &Val) -> Result<Val> {
    jitted("hard_silu", x, |x| numpy::multiply(x, &hard_sigmoid(x)?))
}

/// `x * tanh(softplus(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn mish(x: &Val) -> Result<Val> {
    jitted("mish", x, |x| lax::mul(x, &lax::tanh(&softplus(x)?)?))
}

/// `(x + sqrt(x² + b)) / 2`.
///
/// # Errors
/// What the primitives raise.
pub fn squareplus(x: &Val, b: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = std::iter::once(x).chain(b).cloned().collect();
    named_jit_one("squareplus", &[], &args, |args| {
        let x = &args[0];
        let b = args.get(1).cloned().unwrap_or_else(|| weak_float(4.0));
        let root = numpy::sqrt(&numpy::add(&numpy::square(x)?, &b)?)?;
        numpy::true_divide(&numpy::add(x, &root)?, &weak_int(2))
    })
}

/// 0 below -1, `x` above 1, `(x + 1)² / 4` between.
///
/// # Errors
/// What the primitives raise.
pub fn sparse_plus(x: &Val) -> Result<Val> {
    jitted("sparse_plus", x, |x| {
        let below = lax::le(x, &number(x, -1.0))?;
        let above = lax::ge(x, &number(x, 1.0))?;
        let curve = lax::integer_pow(&lax::add(x, &number(x, 1.0))?, 2)?;
        let curve = lax::div(&curve, &number(x, 4.0))?;
        where_(&below, &weak_float(0.0), &where_(&above, x, &curve)?)
    })
}

/// Derivative of [`sparse_plus`]: a line from 0 at -1 to 1 at 1.
///
/// # Errors
/// What the primitives raise.
pub fn sparse_sigmoid(x: &Val) -> Result<Val> {
    jitted("sparse_sigmoid", x, |x| {
        let shifted = numpy::add(x, &weak_float(1.0))?;
        let clipped = numpy::clip(&shifted, Some(&weak_float(0.0)), Some(&weak_float(2.0)))?;
        numpy::multiply(&weak_float(0.5), &clipped)
    })
}

/// The first half of an axis times the sigmoid of the second.
///
/// # Errors
/// A `Value` error for an axis of odd size.
pub fn glu(x: &Val, axis: i64) -> Result<Val> {
    named_jit_one("glu", &[axis], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let at = canonical_axis(axis, x.aval().rank())?;
        if !x.aval().shape[at].is_multiple_of(2) {
            bail!(Value, "axis size must be divisible by 2");
        }
        let halves = numpy::split(x, 2, axis)?;
        lax::mul(&halves[0], &sigmoid(&halves[1])?)
    })
}

/// The operand itself.
///
/// # Errors
/// None.
pub fn identity(x: &Val) -> Result<Val> {
    jitted("identity", x, |x| Ok(x.clone()))
}

/// Rows with a one at the given position, which a new axis counts.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn one_hot(x: &Val, num_classes: usize, dtype: DType, axis: i64) -> Result<Val> {
    named_jit_one("_one_hot", &[num_classes as i64, dtype as i64, axis], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let rank = x.aval().rank() + 1;
        let at = canonical_axis(axis, rank)?;
        let lifted = lax::expand_axes(x, &[at])?;
        let mut shape = vec![1; rank];
        shape[at] = num_classes;
        let classes = lax::broadcasted_iota(x.aval().dtype, &shape, at)?;
        crate::convert::to_dtype(&lax::eq(&lifted, &classes)?, dtype)
    })
}
