//! Activations: functions of each element, and `glu`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use pullback_base::{Result, bail};
use pullback_derive::public;
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

/// `max(x, 0)`, the rectified linear unit.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape and dtype of `x`.
/// Differentiable: yes; the derivative at 0 is 0.
/// Example:
///   >>> jax.nn.relu(jnp.array([-2.0, 0.0, 3.0]))
///   Array([0., 0., 3.], dtype=float32)
#[public("nn.relu(x)")]
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

/// `min(max(x, 0), 6)`, the rectified linear unit with a ceiling (Krizhevsky, 2010).
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes; the derivative at 0 and at 6 is 0.
/// Example:
///   >>> jax.nn.relu6(jnp.array([-2.0, 3.0, 8.0]))
///   Array([0., 3., 6.], dtype=float32)
#[public("nn.relu6(x)")]
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
/// Args:
///   x: floating or complex array or scalar.
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean or of integers.
/// Differentiable: yes, with derivative `y (1 - y)` of the result `y`.
/// Example:
///   >>> jax.nn.sigmoid(jnp.array([0.0, jnp.inf]))
///   Array([0.5, 1. ], dtype=float32)
#[public("nn.sigmoid(x)")]
pub fn sigmoid(x: &Val) -> Result<Val> {
    lax::logistic(x)
}

/// `relu6(x + 3) / 6`: 0 up to -3, 1 from 3 on, linear between.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes; the derivative at -3 and 3 is 0.
/// Example:
///   >>> jax.nn.hard_sigmoid(jnp.array([-4.0, 0.0, 3.0]))
///   Array([0. , 0.5, 1. ], dtype=float32)
#[public("nn.hard_sigmoid(x)")]
pub fn hard_sigmoid(x: &Val) -> Result<Val> {
    jitted("hard_sigmoid", x, |x| true_divide(&relu6(&add(x, &weak_float(3.0))?)?, &weak_float(6.0)))
}

/// `log(1 + exp(x))`, without overflow.
///
/// Args:
///   x: integer or floating array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   NotImplementedError: `x` is complex.
/// Differentiable: yes, with derivative `sigmoid(x)`.
/// Example:
///   >>> jax.nn.softplus(jnp.array([-jnp.inf, 1000.0]))
///   Array([   0., 1000.], dtype=float32)
#[public("nn.softplus(x)")]
pub fn softplus(x: &Val) -> Result<Val> {
    jitted("softplus", x, |x| {
        let ins = promote_args_inexact("logaddexp", &[x.clone(), weak_int(0)])?;
        custom::logaddexp(&ins[0], &ins[1])
    })
}

/// 0 up to -1, 1 from 1 on, `(x + 1) / 2` between: the derivative of `sparse_plus`.
///
/// Args:
///   x: integer or floating array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   ValueError: `x` is complex.
/// Differentiable: yes; the derivative at -1 and 1 is half of that between.
/// Example:
///   >>> jax.nn.sparse_sigmoid(jnp.array([-2.0, 0.0, 2.0]))
///   Array([0. , 0.5, 1. ], dtype=float32)
#[public("nn.sparse_sigmoid(x)")]
pub fn sparse_sigmoid(x: &Val) -> Result<Val> {
    jitted("sparse_sigmoid", x, |x| {
        let shifted = add(x, &weak_float(1.0))?;
        multiply(&weak_float(0.5), &clip(&shifted, Some(&weak_float(0.0)), Some(&weak_float(2.0)))?)
    })
}

/// 0 up to -1, `x` from 1 on, `(x + 1)**2 / 4` between.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes, with derivative `sparse_sigmoid(x)`.
/// Example:
///   >>> jax.nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
///   Array([0.  , 0.25, 2.  ], dtype=float32)
#[public("nn.sparse_plus(x)")]
pub fn sparse_plus(x: &Val) -> Result<Val> {
    jitted("sparse_plus", x, |x| {
        let is_low = less_equal(x, &weak_float(-1.0))?;
        let is_high = greater_equal(x, &weak_float(1.0))?;
        let between = true_divide(&power(&add(x, &weak_float(1.0))?, &weak_int(2))?, &weak_int(4))?;
        where_(&is_low, &weak_float(0.0), &where_(&is_high, x, &between)?)
    })
}

/// `x / (1 + |x|)`, between -1 and 1.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes, with derivative `1 / (1 + |x|)**2`.
/// Example:
///   >>> jax.nn.soft_sign(jnp.array([-1.0, 0.0, 3.0]))
///   Array([-0.5 ,  0.  ,  0.75], dtype=float32)
#[public("nn.soft_sign(x)")]
pub fn soft_sign(x: &Val) -> Result<Val> {
    jitted("soft_sign", x, |x| true_divide(x, &add(&absolute(x)?, &weak_int(1))?))
}

/// `x * sigmoid(x)`, also called swish (Ramachandran, Zoph, Le, 2017).
///
/// Args:
///   x: floating or complex array or scalar.
/// Returns: shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean or of integers.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.silu(jnp.array([0.0, 100.0]))
///   Array([  0., 100.], dtype=float32)
#[public("nn.silu(x)", "nn.swish")]
pub fn silu(x: &Val) -> Result<Val> {
    jitted("silu", x, |x| multiply(x, &sigmoid(x)?))
}

/// `x * tanh(softplus(x))` (Misra, 2019).
///
/// Args:
///   x: integer or floating array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   NotImplementedError: `x` is complex.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.mish(jnp.array([0.0, 100.0]))
///   Array([  0., 100.], dtype=float32)
#[public("nn.mish(x)")]
pub fn mish(x: &Val) -> Result<Val> {
    jitted("mish", x, |x| multiply(x, &tanh(&softplus(x)?)?))
}

/// `log(sigmoid(x)) = -softplus(-x)`, without underflow.
///
/// Args:
///   x: integer or floating array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   TypeError: `x` is boolean.
///   NotImplementedError: `x` is complex.
/// Differentiable: yes, with derivative `sigmoid(-x)`.
/// Example:
///   >>> jax.nn.log_sigmoid(jnp.array([-1000.0]))
///   Array([-1000.], dtype=float32)
#[public("nn.log_sigmoid(x)")]
pub fn log_sigmoid(x: &Val) -> Result<Val> {
    jitted("log_sigmoid", x, |x| negative(&softplus(&negative(x)?)?))
}

/// `log(1 - exp(-x))`, by two formulas so that it is exact near 0 and far from it (Mächler, 2012): minus infinity at
/// 0, NaN below.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   TypeError: `x` is boolean.
/// Differentiable: yes for positive numbers, with derivative `1 / (exp(x) - 1)`.
/// Example:
///   >>> jax.nn.log1mexp(jnp.array([0.0]))
///   Array([-inf], dtype=float32)
#[public("nn.log1mexp(x)")]
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

/// `x` above 0, `alpha * (exp(x) - 1)` below: the exponential linear unit (Clevert et al., 2015).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   alpha: minus the limit at minus infinity; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is `alpha`.
/// Example:
///   >>> jax.nn.elu(jnp.array([-jnp.inf, 0.0, 2.0]))
///   Array([-1.,  0.,  2.], dtype=float32)
#[public("nn.elu(x, alpha: OwnDefault=1.0)")]
pub fn elu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    jitted_with("elu", x, alpha, weak_float(1.0), |x, alpha| {
        let takes_x = greater(x, &weak_int(0))?;
        // The exponential must not overflow where it is not taken: its derivative would be NaN.
        let safe = where_(&greater(x, &weak_int(0))?, &weak_float(0.0), x)?;
        where_(&takes_x, x, &multiply(alpha, &expm1(&safe)?)?)
    })
}

/// `x` above 0, `alpha * (exp(x / alpha) - 1)` below: the unit whose derivative is continuous for each alpha (Barron,
/// 2017).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   alpha: minus the limit at minus infinity; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is 1.
/// Example:
///   >>> jax.nn.celu(jnp.array([-jnp.inf, 0.0, 2.0]), 2.0)
///   Array([-2.,  0.,  2.], dtype=float32)
#[public("nn.celu(x, alpha: OwnDefault=1.0)")]
pub fn celu(x: &Val, alpha: Option<&Val>) -> Result<Val> {
    jitted_with("celu", x, alpha, weak_float(1.0), |x, alpha| {
        let positive = maximum(x, &weak_float(0.0))?;
        let negative = expm1(&true_divide(&minimum(x, &weak_float(0.0))?, alpha)?)?;
        add(&positive, &multiply(alpha, &negative)?)
    })
}

/// The exponential linear unit with the scale and slope that keep mean 0 and variance 1 from layer to layer
/// (Klambauer et al., 2017): `1.0507 * elu(x, 1.6733)`.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes; the derivative at 0 is that from below.
/// Example:
///   >>> jax.nn.selu(jnp.array([0.0, 1.0]))
///   Array([0.      , 1.050701], dtype=float32)
#[public("nn.selu(x)")]
pub fn selu(x: &Val) -> Result<Val> {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    jitted("selu", x, |x| multiply(&weak_float(SCALE), &elu(x, Some(&weak_float(ALPHA)))?))
}

/// `x` from 0 on, `negative_slope * x` below.
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   negative_slope: the slope below 0; it broadcasts with `x`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes in both; the derivative in `x` at 0 is 1.
/// Example:
///   >>> jax.nn.leaky_relu(jnp.array([-2.0, 0.0, 2.0]), 0.5)
///   Array([-1.,  0.,  2.], dtype=float32)
#[public("nn.leaky_relu(x, negative_slope: OwnDefault=0.01)")]
pub fn leaky_relu(x: &Val, negative_slope: Option<&Val>) -> Result<Val> {
    jitted_with("leaky_relu", x, negative_slope, weak_float(0.01), |x, slope| {
        where_(&greater_equal(x, &weak_int(0))?, x, &multiply(slope, x)?)
    })
}

/// `x Φ(x)` with the distribution function Φ of the normal distribution (Hendrycks, Gimpel, 2016).
///
/// Args:
///   x: integer or floating array or scalar; complex only for the approximation.
///   approximate: whether Φ(x) is `(1 + tanh(sqrt(2/π) (x + 0.044715 x**3))) / 2`; else the error function gives it.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.gelu(jnp.array([0.0, 100.0]), approximate=False)
///   Array([  0., 100.], dtype=float32)
#[public("nn.gelu(x, approximate=True)")]
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

/// The first half of an axis times the sigmoid of the second: the gated linear unit (Dauphin et al., 2017).
///
/// Args:
///   x: floating or complex array.
///   axis: the axis, negative counted from the end; its size is even.
/// Returns: the dtype of `x`, its shape with the axis halved.
/// Raises:
///   ValueError: the size is odd. IndexError: the axis is out of bounds.
///   TypeError: `x` is boolean or of integers.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.glu(jnp.array([2.0, 4.0, 0.0, jnp.inf]))
///   Array([1., 4.], dtype=float32)
#[public("nn.glu(x, axis=-1)")]
pub fn glu(x: &Val, axis: i64) -> Result<Val> {
    let aval = x.aval();
    let Ok(at) = canonical_axis(axis, aval.rank()) else {
        bail!(Index, "tuple index out of range: axis {axis} of an array with {} axes", aval.rank());
    };
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
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape and dtype of `x`.
/// Differentiable: yes, with derivative 1 from -1 to 1, these included, and 0 outside.
/// Example:
///   >>> jax.nn.hard_tanh(jnp.array([-2.0, 0.5, 2.0]))
///   Array([-1. ,  0.5,  1. ], dtype=float32)
#[public("nn.hard_tanh(x)")]
pub fn hard_tanh(x: &Val) -> Result<Val> {
    jitted("hard_tanh", x, |x| {
        let is_high = greater(x, &weak_int(1))?;
        let is_low = less(x, &weak_int(-1))?;
        where_(&is_high, &weak_int(1), &where_(&is_low, &weak_int(-1), x)?)
    })
}

/// `x * hard_sigmoid(x)` (Howard et al., 2019).
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes.
/// Example:
///   >>> jax.nn.hard_silu(jnp.array([0.0, 3.0]))
///   Array([0., 3.], dtype=float32)
#[public("nn.hard_silu(x)", "nn.hard_swish")]
pub fn hard_silu(x: &Val) -> Result<Val> {
    jitted("hard_silu", x, |x| multiply(x, &hard_sigmoid(x)?))
}

/// `(x + sqrt(x**2 + b)) / 2`, a smooth rectified unit without exponentials (Barron, 2021).
///
/// Args:
///   x: integer, floating or complex array or scalar.
///   b: how smooth; it broadcasts with `x`, and 0 gives `relu`.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Raises:
///   TypeError: `x` is boolean.
/// Differentiable: yes in both, for positive `b`.
/// Example:
///   >>> jax.nn.squareplus(jnp.array([0.0, 1.5]))
///   Array([1., 2.], dtype=float32)
#[public("nn.squareplus(x, b: OwnDefault=4)")]
pub fn squareplus(x: &Val, b: Option<&Val>) -> Result<Val> {
    jitted_with("squareplus", x, b, weak_int(4), |x, b| {
        let root = sqrt(&add(&square(x)?, b)?)?;
        true_divide(&add(x, &root)?, &weak_int(2))
    })
}

/// `x` itself, for where a function is asked for.
///
/// Args:
///   x: boolean, integer, floating or complex array or scalar.
/// Returns: the array, or of a Python number its array.
/// Differentiable: yes, linear.
/// Example:
///   >>> jax.nn.identity(jnp.array([1.0, 2.0]))
///   Array([1., 2.], dtype=float32)
#[public("nn.identity(x)")]
pub fn identity(x: &Val) -> Result<Val> {
    jitted("identity", x, |x| Ok(x.clone()))
}

/// The hyperbolic tangent, between -1 and 1.
///
/// Args:
///   x: integer, floating or complex array or scalar.
/// Returns: shape of `x`; its dtype if inexact, else the default floating dtype.
/// Differentiable: yes, with derivative `1 - y**2` of the result `y`.
/// Example:
///   >>> jax.nn.tanh(jnp.array([0.0, jnp.inf]))
///   Array([0., 1.], dtype=float32)
#[public("nn.tanh(x, /)")]
pub fn tanh(x: &Val) -> Result<Val> {
    crate::numpy::tanh(x)
}
