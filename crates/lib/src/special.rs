//! Special functions that `jax.scipy.special` offers over existing primitives.

use pullback_base::Result;
use pullback_ir::Val;

use crate::convert::number;
use crate::lax;
use crate::promotion::promote_inexact;

fn floating(x: &Val) -> Result<Val> {
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

macro_rules! of_floating {
    ($($(#[$doc:meta])* $name:ident $op:path;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val) -> Result<Val> {
            $op(&floating(x)?)
        }
    )*};
}
of_floating! {
    /// Error function.
    erf lax::erf;
    /// Complement of the error function.
    erfc lax::erfc;
    /// Inverse of the error function.
    erfinv lax::erf_inv;
    /// Logarithm of the absolute gamma function.
    gammaln lax::lgamma;
    /// Derivative of the logarithm of the gamma function.
    digamma lax::digamma;
    /// The logistic function.
    expit lax::logistic;
}

/// Inverse of the logistic function.
///
/// # Errors
/// What the primitives raise.
pub fn logit(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    lax::log(&lax::div(&x, &lax::sub(&number(&x, 1.0), &x)?)?)
}

/// `x log(y)`, 0 where `x` is 0.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn xlogy(x: &Val, y: &Val) -> Result<Val> {
    let ins = crate::promotion::promote_args_inexact("xlogy", &[x.clone(), y.clone()])?;
    let is_zero = lax::eq(&ins[0], &number(&ins[0], 0.0))?;
    let product = lax::mul(&ins[0], &lax::log(&ins[1])?)?;
    crate::numpy::where_(&is_zero, &lax::full_like(&product, 0.0)?, &product)
}

/// `x log(1 + y)`, 0 where `x` is 0.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn xlog1py(x: &Val, y: &Val) -> Result<Val> {
    let ins = crate::promotion::promote_args_inexact("xlog1py", &[x.clone(), y.clone()])?;
    let is_zero = lax::eq(&ins[0], &number(&ins[0], 0.0))?;
    let product = lax::mul(&ins[0], &lax::log1p(&ins[1])?)?;
    crate::numpy::where_(&is_zero, &lax::full_like(&product, 0.0)?, &product)
}

/// `-x log(x)`, 0 at 0 and `-inf` below.
///
/// # Errors
/// What the primitives raise.
pub fn entr(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    let (zero, below) = (number(&x, 0.0), number(&x, f64::NEG_INFINITY));
    let safe = lax::neg(&crate::custom::xlogx(&x)?)?;
    let is_negative = lax::lt(&x, &zero)?;
    crate::numpy::where_(&is_negative, &below, &safe)
}

/// Distribution function of the standard normal distribution.
///
/// # Errors
/// What the primitives raise.
pub fn ndtr(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    let scaled = lax::mul(&x, &number(&x, std::f64::consts::FRAC_1_SQRT_2))?;
    let size = lax::abs(&scaled)?;
    let half = number(&x, 0.5);
    let is_near = lax::lt(&size, &number(&x, std::f64::consts::FRAC_1_SQRT_2))?;
    let near = lax::add(&number(&x, 1.0), &lax::erf(&scaled)?)?;
    let is_positive = lax::gt(&scaled, &number(&x, 0.0))?;
    let tail = lax::erfc(&size)?;
    let far = crate::numpy::where_(&is_positive, &lax::sub(&number(&x, 2.0), &tail)?, &tail)?;
    lax::mul(&half, &crate::numpy::where_(&is_near, &near, &far)?)
}
