//! Common divisors and multiples of integers.

use pullback_base::{Result, bail};
use pullback_core::control::{WHILE, While};
use pullback_derive::public;
use pullback_ir::{Params, Val};

use super::{Reduction, where_};
use crate::broadcast::broadcast_arrays;
use crate::convert::weak_int;
use crate::jit::traced;
use crate::promotion::promote_dtypes;

/// The magnitudes of two integers, of one shape and dtype.
fn magnitudes(name: &str, x1: &Val, x2: &Val) -> Result<[Val; 2]> {
    let both = promote_dtypes(&[x1.clone(), x2.clone()])?;
    if !both[0].aval().dtype.is_integer() {
        bail!(Value, "Arguments to jax.numpy.{name} must be integers.");
    }
    let both = broadcast_arrays(&both)?;
    Ok([super::absolute(&both[0])?, super::absolute(&both[1])?])
}

fn is_left(args: &[Val]) -> Result<Vec<Val>> {
    Ok(vec![super::any(&super::not_equal(&args[1], &weak_int(0))?, &Reduction::default())?])
}

/// A step of Euclid's algorithm where it is not done.
fn step(args: &[Val]) -> Result<Vec<Val>> {
    let (a, b) = (&args[0], &args[1]);
    let is_done = super::equal(b, &weak_int(0))?;
    let rest = super::remainder(a, &where_(&is_done, &weak_int(1), b)?)?;
    Ok(vec![where_(&is_done, a, b)?, where_(&is_done, &weak_int(0), &rest)?])
}

/// The greatest common divisor of two integers (Euclid's algorithm), not negative; `gcd(0, n)` is `|n|`.
///
/// Args:
///   x1, x2: integer arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: an argument is boolean, floating or complex, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.gcd(jnp.array([12, 0, -8]), 18))
///   [ 6 18  2]
#[public("numpy.gcd(x1, x2)")]
pub fn gcd(x1: &Val, x2: &Val) -> Result<Val> {
    greatest(&magnitudes("gcd", x1, x2)?)
}

fn greatest(pair: &[Val; 2]) -> Result<Val> {
    let (_, cond_jaxpr) = traced("gcd_is_left", &[], pair, is_left)?;
    let (_, body_jaxpr) = traced("gcd_step", &[], pair, step)?;
    let params = While { cond_jaxpr, cond_nconsts: 0, body_jaxpr, body_nconsts: 0 };
    Ok(pullback_trace::bind(WHILE, &Params::new(params), pair)?.swap_remove(0))
}

/// The least common multiple of two integers, not negative; 0 if one is 0.
///
/// Args:
///   x1, x2: integer arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: an argument is boolean, floating or complex, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.lcm(jnp.array([4, 0, -3]), 6))
///   [12  0  6]
#[public("numpy.lcm(x1, x2)")]
pub fn lcm(x1: &Val, x2: &Val) -> Result<Val> {
    let pair = magnitudes("lcm", x1, x2)?;
    let divisor = greatest(&pair)?;
    let [a, b] = &pair;
    let is_none = super::equal(&divisor, &weak_int(0))?;
    let share = super::floor_divide(a, &where_(&is_none, &weak_int(1), &divisor)?)?;
    where_(&is_none, &weak_int(0), &super::multiply(&share, b)?)
}
