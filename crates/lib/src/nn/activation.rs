//! Activations: functions of each element, and `glu`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use pullback_base::{Result, bail};
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{literal, number, weak_float, weak_int};
use crate::custom::{self, CustomJvp};
use crate::jit::{named_jit, named_jit_one};
use crate::lax;
use crate::numpy::{
    absolute, add, clip, exp, expm1, greater, greater_equal, less, less_equal, log, log1p, maximum, minimum, multiply,
    negative, power, sqrt, square, true_divide, where_,
};
use crate::promotion::promote_args_inexact;

fn jitted(name: &'static str, x: &Val, f: fn(&Val) -> Result<Val>) -> Result<Val> {
    named_jit_one(name, &[], std::slice::from_ref(x), |args| f(&args[0]))
}

/// Jits a function of `x` and a parameter, which is an operand when the user gave it and a constant otherwise.
fn jitted_with(
    name: &'static str,
    x: &Val,
    parameter: Option<&Val>,
    default: Val,
    f: fn(&Val, &Val) -> Result<Val>,
) -> Result<Val> {
    match parameter {
        None => named_jit_one(name, &[], std::slice::from_ref(x), |args| f(&args[0], &default)),
        Some(given) => named_jit_one(name, &[], &[x.clone(), given.clone()], |args| f(&args[0], &args[1])),
    }
}

/// `max(x, 0)`; its derivative at 0 is 0.
///
/// # Errors
/// What the primitives raise.
pub fn relu(x: &Val) -> Result<Val> {
    static RELU: CustomJvp = CustomJvp::new("relu", relu_value, "jvp", relu_tangent);
    RELU.call(std::slice::from_ref(x))
}

fn relu_value(args: &[Val]) -> Result<Val> {
    jitted("relu", &args[0], |x| maximum(x, &weak_int(0)))
}

fn relu_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let Some(dot) = &tangents[0] else { return Ok(None) };
    let is_positive = lax::gt(&args[0], &number(&args[0], 0.0))?;
    lax::select(&is_positive, dot, &lax::full_like(dot, 0.0)?).map(Some)
}

/// `min(max(x, 0), 6)`; its derivative at 0 and 6 is 0.
///
/// # Errors
/// What the primitives raise.
pub fn relu6(x: &Val) -> Result<Val> {
    static RELU6: CustomJvp = CustomJvp::new("relu6", relu6_value, "jvp", relu6_tangent);
    RELU6.call(std::slice::from_ref(x))
}

fn relu6_value(args: &[Val]) -> Result<Val> {
    jitted("relu6", &args[0], |x| minimum(&maximum(x, &weak_int(0))?, &weak_float(6.0)))
}

fn relu6_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let Some(dot) = &tangents[0] else { return Ok(None) };
    let x = &args[0];
    let above = lax::gt(x, &number(x, 0.0))?;
    let below = lax::lt(x, &number(x, 6.0))?;
    lax::select(&lax::bitwise_and(&above, &below)?, dot, &lax::full_like(dot, 0.0)?).map(Some)
}

/// `1 / (1 + exp(-x))`.
///
/// # Errors
/// A `Type` error for integers.
pub fn sigmoid(x: &Val) -> Result<Val> {
    lax::logistic(x)
}

/// `relu6(x + 3) / 6`.
///
/// # Errors
/// What the primitives raise.
pub fn hard_sigmoid(x: &Val) -> Result<Val> {
    jitted("hard_sigmoid", x, |x| true_divide(&relu6(&add(x, &weak_float(3.0))?)?, &weak_float(6.0)))
}

/// `log(1 + exp(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn softplus(x: &Val) -> Result<Val> {
    jitted("softplus", x, |x| {
        let ins = promote_args_inexact("logaddexp", &[x.clone(), weak_int(0)])?;
        custom::logaddexp(&ins[0], &ins[1])
    })
}

/// 0 below -1, 1 above 1, linear between.
///
/// # Errors
/// What the primitives raise.
pub fn sparse_sigmoid(x: &Val) -> Result<Val> {
    jitted("sparse_sigmoid", x, |x| {
        let shifted = add(x, &weak_float(1.0))?;
        multiply(&weak_float(0.5), &clip(&shifted, Some(&weak_float(0.0)), Some(&weak_float(2.0)))?)
    })
}

/// 0 below -1, x above 1, `(x + 1)**2 / 4` between.
///
/// # Errors
/// What the primitives raise.
pub fn sparse_plus(x: &Val) -> Result<Val> {
    jitted("sparse_plus", x, |x| {
        let is_low = less_equal(x, &weak_float(-1.0))?;
        let is_high = greater_equal(x, &weak_float(1.0))?;
        let between = true_divide(&power(&add(x, &weak_float(1.0))?, &weak_int(2))?, &weak_int(4))?;
        where_(&is_low, &weak_float(0.0), &where_(&is_high, x, &between)?)
    })
}

/// `x / (1 + |x|)`.
///
/// # Errors
/// What the primitives raise.
pub fn soft_sign(x: &Val) -> Result<Val> {
    jitted("soft_sign", x, |x| true_divide(x, &add(&absolute(x)?, &weak_int(1))?))
}

/// `x * sigmoid(x)`, also known as swish.
///
/// # Errors
/// A `Type` error for integers.
pub fn silu(x: &Val) -> Result<Val> {
    jitted("silu", x, |x| multiply(x, &sigmoid(x)?))
}

/// `x * tanh(softplus(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn mish(x: &Val) -> Result<Val> {
    jitted("mish", x, |x| multiply(x, &tanh(&softplus(x)?)?))
}

/// `log(sigmoid(x))`.
///
/// # Errors
/// What the primitives raise.
pub fn log_sigmoid(x: &Val) -> Result<Val> {
    jitted("log_sigmoid", x, |x| negative(&softplus(&negative(x)?)?))
}

/// `log(1 - exp(-x))` for positive `x`, exact near 0 and far from it.
///
/// # Errors
/// What the primitives raise.
pub fn log1mexp(x: &Val) -> Result<Val> {
    static LOG1MEXP: CustomJvp = CustomJvp::new("log1mexp", log1mexp_value, "jvp", log1mexp_tangent);
    LOG1MEXP.call(std::slice::from_ref(x))
}

fn log1mexp_value(args: &[Val]) -> Result<Val> {
    jitted("log1mexp", &args[0], |x| {
        let is_near = less(x, &lax::log(&weak_float(2.0))?)?;
        let near = log(&negative(&expm1(&negative(x)?)?)?)?;
        let far = log1p(&negative(&exp(&negative(x)?)?)?)?;
        where_(&is_near, &near, &far)
    })
}

fn log1mexp_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let Some(dot) = &tangents[0] else { return Ok(None) };
    lax::div(dot, &expm1(&args[0])?).map(Some)
}

/// `x` above 0, `alpha * (exp(x) - 1)` below; `alpha` is 1 when not given.
///
/// # Errors
/// What the primitives raise.
pub fn elu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    jitted_with("elu", x, alpha, weak_float(1.0), |x, alpha| {
        let takes_x = greater(x, &weak_int(0))?;
        // The exponential must not overflow where it is not taken: its derivative would be NaN.
        let safe = where_(&greater(x, &weak_int(0))?, &weak_float(0.0), x)?;
        where_(&takes_x, x, &multiply(alpha, &expm1(&safe)?)?)
    })
}

/// `max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))`; `alpha` is 1 when not given.
///
/// # Errors
/// What the primitives raise.
pub fn celu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    jitted_with("celu", x, alpha, weak_float(1.0), |x, alpha| {
        let positive = maximum(x, &weak_float(0.0))?;
        let negative = expm1(&true_divide(&minimum(x, &weak_float(0.0))?, alpha)?)?;
        add(&positive, &multiply(alpha, &negative)?)
    })
}

/// The exponential linear unit that keeps mean 0 and variance 1.
///
/// # Errors
/// What the primitives raise.
pub fn selu(x: &Val) -> Result<Val> {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    jitted("selu", x, |x| multiply(&weak_float(SCALE), &elu(x, Some(&weak_float(ALPHA)))?))
}

/// `x` from 0 on, `negative_slope * x` below; the slope is 0.01 when not given.
///
/// # Errors
/// What the primitives raise.
pub fn leaky_relu(x: &Val, negative_slope: Option<&Val>) -> Result<Val> {
    jitted_with("leaky_relu", x, negative_slope, weak_float(0.01), |x, slope| {
        where_(&greater_equal(x, &weak_int(0))?, x, &multiply(slope, x)?)
    })
}

/// `x * Φ(x)`, with the normal distribution function Φ or its approximation by a hyperbolic tangent.
///
/// # Errors
/// What the primitives raise.
pub fn gelu(x: &Val, approximate: bool) -> Result<Val> {
    let inexact = promote_args_inexact("gelu", std::slice::from_ref(x))?.swap_remove(0);
    if approximate { gelu_tanh(&inexact) } else { gelu_erf(&inexact) }
}

fn gelu_tanh(x: &Val) -> Result<Val> {
    let cubic = add(x, &multiply(&weak_float(0.044715), &lax::integer_pow(x, 3)?)?)?;
    let inner = multiply(&literal(x.aval().dtype, (2.0 / PI).sqrt()), &cubic)?;
    let cdf = multiply(&weak_float(0.5), &add(&weak_float(1.0), &tanh(&inner)?)?)?;
    multiply(x, &cdf)
}

fn gelu_erf(x: &Val) -> Result<Val> {
    let half = multiply(&weak_float(0.5), x)?;
    let scaled = multiply(&negative(x)?, &literal(x.aval().dtype, FRAC_1_SQRT_2))?;
    lax::copy(&multiply(&half, &lax::erfc(&scaled)?)?)
}

/// The first half of `x` along an axis times the sigmoid of the second.
///
/// # Errors
/// A `Value` error for an axis of odd size.
pub fn glu(x: &Val, axis: i64) -> Result<Val> {
    let aval = x.aval();
    let at = canonical_axis(axis, aval.rank())?;
    let size = aval.shape[at];
    if !size.is_multiple_of(2) {
        bail!(Value, "axis size must be divisible by 2");
    }
    let mut outs = named_jit("glu", &[axis], std::slice::from_ref(x), |args| {
        let halves = lax::split(&args[0], &[size / 2, size / 2], at)?;
        Ok(vec![multiply(&halves[0], &sigmoid(&halves[1])?)?])
    })?;
    Ok(outs.swap_remove(0))
}

/// `x` kept between -1 and 1.
///
/// # Errors
/// What the primitives raise.
pub fn hard_tanh(x: &Val) -> Result<Val> {
    jitted("hard_tanh", x, |x| {
        let is_high = greater(x, &weak_int(1))?;
        let is_low = less(x, &weak_int(-1))?;
        where_(&is_high, &weak_int(1), &where_(&is_low, &weak_int(-1), x)?)
    })
}

/// `x * hard_sigmoid(x)`, also known as hard swish.
///
/// # Errors
/// What the primitives raise.
pub fn hard_silu(x: &Val) -> Result<Val> {
    jitted("hard_silu", x, |x| multiply(x, &hard_sigmoid(x)?))
}

/// `(x + sqrt(x**2 + b)) / 2`; `b` is 4 when not given.
///
/// # Errors
/// What the primitives raise.
pub fn squareplus(x: &Val, b: Option<&Val>) -> Result<Val> {
    jitted_with("squareplus", x, b, weak_int(4), |x, b| {
        let root = sqrt(&add(&square(x)?, b)?)?;
        true_divide(&add(x, &root)?, &weak_int(2))
    })
}

/// `x` itself.
///
/// # Errors
/// None of its own.
pub fn identity(x: &Val) -> Result<Val> {
    jitted("identity", x, |x| Ok(x.clone()))
}

/// The hyperbolic tangent.
///
/// # Errors
/// What the primitives raise.
pub fn tanh(x: &Val) -> Result<Val> {
    crate::numpy::tanh(x)
}
