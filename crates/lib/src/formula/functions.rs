//! Functions of formulas, by the names that they have for values.

use pullback_base::Result;
use pullback_ir::Val;

use super::{Formula, binary};
use crate::convert::{convert, weak_float};
use crate::lax;
use crate::numpy::{self, Reduction};
use crate::scipy::special;

macro_rules! unary {
    ($($name:ident $function:path;)*) => {$(
        pub(crate) fn $name(x: impl Into<Formula>) -> Formula {
            x.into().then($function)
        }
    )*};
}
unary! {
    abs numpy::absolute;
    any any_of;
    arctan numpy::arctan;
    ceil numpy::ceil;
    conj numpy::conjugate;
    cos numpy::cos;
    digamma lax::digamma;
    erf lax::erf;
    erfc lax::erfc;
    exp numpy::exp;
    expm1 numpy::expm1;
    floor numpy::floor;
    gammaln special::gammaln;
    imag numpy::imag;
    is_finite numpy::isfinite;
    is_infinite numpy::isinf;
    is_nan numpy::isnan;
    lgamma lax::lgamma;
    expit special::expit;
    log numpy::log;
    log_ndtr default_log_ndtr;
    logit special::logit;
    log1p numpy::log1p;
    ndtr special::ndtr;
    ndtri special::ndtri;
    bessel_i0e lax::bessel_i0e;
    real numpy::real;
    round rounded;
    sign numpy::sign;
    sin numpy::sin;
    sqrt numpy::sqrt;
    square numpy::square;
    tan numpy::tan;
}

fn any_of(x: &Val) -> Result<Val> {
    numpy::any(x, &Reduction::default())
}

fn rounded(x: &Val) -> Result<Val> {
    numpy::round(x, 0)
}

fn default_log_ndtr(x: &Val) -> Result<Val> {
    special::log_ndtr(x, special::Terms(3))
}

macro_rules! of_two {
    ($($name:ident $function:path;)*) => {$(
        pub(crate) fn $name(x: impl Into<Formula>, y: impl Into<Formula>) -> Formula {
            binary(x.into(), y.into(), $function)
        }
    )*};
}
of_two! {
    atan2 numpy::arctan2;
    betaln special::betaln;
    copysign numpy::copysign;
    gammainc special::gammainc;
    gammaincc special::gammaincc;
    logaddexp numpy::logaddexp;
    maximum numpy::maximum;
    minimum numpy::minimum;
    xlog1py special::xlog1py;
    xlogy special::xlogy;
}

/// The regularized incomplete beta function.
pub(crate) fn betainc(a: impl Into<Formula>, b: impl Into<Formula>, x: impl Into<Formula>) -> Formula {
    let (b, x) = (b.into(), x.into());
    a.into().then(|a| special::betainc(a, &b.done()?, &x.done()?))
}

/// `x` where the condition holds, else `y`.
pub(crate) fn where_(condition: impl Into<Formula>, x: impl Into<Formula>, y: impl Into<Formula>) -> Formula {
    let (x, y) = (x.into(), y.into());
    condition.into().then(|condition| numpy::where_(condition, &x.done()?, &y.done()?))
}

/// As [`where_`], of values of one dtype and shape.
pub(crate) fn select(condition: impl Into<Formula>, x: impl Into<Formula>, y: impl Into<Formula>) -> Formula {
    let (x, y) = (x.into(), y.into());
    condition.into().then(|condition| lax::select(condition, &x.done()?, &y.done()?))
}

/// Not below a bound.
pub(crate) fn at_least(x: impl Into<Formula>, low: impl Into<Formula>) -> Formula {
    binary(x.into(), low.into(), |x, low| numpy::clip(x, Some(low), None))
}

/// Between two bounds.
pub(crate) fn between(x: impl Into<Formula>, low: impl Into<Formula>, high: impl Into<Formula>) -> Formula {
    let (low, high) = (low.into(), high.into());
    x.into().then(|x| numpy::clip(x, Some(&low.done()?), Some(&high.done()?)))
}

/// A complex number of its parts.
pub(crate) fn complex(real: impl Into<Formula>, imag: impl Into<Formula>) -> Formula {
    binary(real.into(), imag.into(), lax::complex)
}

/// An array like another, of one number.
pub(crate) fn full_like(x: impl Into<Formula>, value: f64) -> Formula {
    x.into().then(|x| numpy::full_like(x, &weak_float(value), None, None))
}

/// Zeros like another array.
pub(crate) fn zeros_like(x: impl Into<Formula>) -> Formula {
    x.into().then(|x| numpy::zeros_like(x, None, None))
}

/// Ones like another array.
pub(crate) fn ones_like(x: impl Into<Formula>) -> Formula {
    x.into().then(|x| numpy::ones_like(x, None, None))
}

/// In the strong dtype of another formula.
pub(crate) fn converted(x: impl Into<Formula>, like: &Formula) -> Formula {
    binary(x.into(), like.clone(), |x, like| convert(x, like.aval().dtype, false))
}
