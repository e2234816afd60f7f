//! The gamma function and its kin: factorials, binomial coefficients, beta and incomplete functions.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{alike, check_real, floating, promoted};
use crate::convert::{literal, to_dtype, weak_float, weak_int};
use crate::custom::CustomJvp;
use crate::formula::{Formula, of};
use crate::lax;
use crate::numpy;

/// The logarithm of the absolute value of the gamma function; DLMF 5.2.
///
/// Args:
///   x: an array of real numbers; integers become floating. `inf` at 0 and negative integers.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `digamma(x)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.gammaln(1.0))
///   0.0
///   >>> float(jax.scipy.special.gammaln(-1.0))
///   inf
#[public("scipy.special.gammaln(x)")]
pub fn gammaln(x: &Val) -> Result<Val> {
    lax::lgamma(&floating(x)?)
}

/// The sign of the gamma function; that of zero at -0 and 0, NaN at negative integers and `-inf`.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x` with elements 1, -1 and NaN.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: almost everywhere, with derivative zero.
/// Example:
///   >>> float(jax.scipy.special.gammasgn(-0.5))
///   -1.0
#[public("scipy.special.gammasgn(x)")]
pub fn gammasgn(x: &Val) -> Result<Val> {
    check_real("gammasgn", &[x])?;
    let x = &floating(x)?;
    let dtype = x.aval().dtype;
    let floor = lax::floor(x)?;
    let halves = numpy::remainder(&floor, &weak_int(2))?;
    let is_odd = lax::ne(&halves, &numpy::zeros_like(x, None, None)?)?;
    let is_negative = numpy::less(x, &weak_int(0))?;
    let below = numpy::bitwise_and(&is_negative, &is_odd)?;
    let sign = numpy::astype(&numpy::where_(&below, &weak_int(-1), &weak_int(1))?, dtype)?;
    let of_zero = numpy::copysign(&numpy::ones_like(x, None, None)?, x)?;
    let sign = numpy::where_(&numpy::equal(x, &weak_int(0))?, &of_zero, &sign)?;
    let is_pole = numpy::bitwise_and(&is_negative, &numpy::equal(x, &floor)?)?;
    let is_pole = numpy::bitwise_or(&is_pole, &numpy::equal(x, &weak_float(f64::NEG_INFINITY))?)?;
    let is_undefined = numpy::bitwise_or(&is_pole, &numpy::isnan(x)?)?;
    numpy::where_(&is_undefined, &numpy::full_like(x, &weak_float(f64::NAN), None, None)?, &sign)
}

/// The gamma function, `(x - 1)!` continued to real numbers; DLMF 5.2.
///
/// Args:
///   x: an array of real or complex numbers; integers become floating. NaN at negative integers.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `gamma(x) digamma(x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.gamma(5.0)), 3)
///   24.0
#[public("scipy.special.gamma(x)")]
pub fn gamma(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() {
        return complex_gamma(x);
    }
    let x = floating(x)?;
    (Formula::from(gammasgn(&x)) * lax::exp(&lax::lgamma(&x)?)).done()
}

/// Coefficients of the series of C. Lanczos, "A precision approximation of the gamma function", 1964, for its parameter 7.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The gamma function of complex numbers: a series right of 1/2, its reflection elsewhere. It is computed in double
/// precision, as the powers amplify errors.
fn complex_gamma(x: &Val) -> Result<Val> {
    let z = to_dtype(x, DType::C128)?;
    let filled = |dtype: DType, value: f64| lax::full(&z.aval().shape, &literal(dtype, value));
    let real = lax::real(&z)?;
    let is_left = lax::lt(&real, &filled(DType::F64, 0.5)?)?;
    let half = filled(DType::C128, 0.5)?;
    // Each branch gets an argument where it is harmless, so that no derivative of the other spoils its own.
    let reflected = lax::select(&is_left, &lax::sub(&filled(DType::C128, 1.0)?, &z)?, &z)?;
    let left = lax::select(&is_left, &z, &half)?;
    // Of one dtype and by name, so that nothing narrows while 64-bit types are off.
    let number = |value: f64| filled(DType::C128, value);
    let before = lax::sub(&reflected, &number(1.0)?)?;
    let mut series = number(LANCZOS[0])?;
    for (i, coefficient) in LANCZOS.iter().enumerate().skip(1) {
        let term = lax::div(&number(*coefficient)?, &lax::add(&before, &number(i as f64)?)?)?;
        series = lax::add(&series, &term)?;
    }
    let base = lax::add(&before, &number(7.5)?)?;
    let power = lax::sub(&lax::mul(&lax::log(&base)?, &lax::add(&before, &number(0.5)?)?)?, &base)?;
    let right = lax::mul(&lax::mul(&lax::exp(&power)?, &series)?, &number((2.0 * std::f64::consts::PI).sqrt())?)?;
    let sine = lax::sin(&lax::mul(&left, &number(std::f64::consts::PI)?)?)?;
    let mirrored = lax::div(&number(std::f64::consts::PI)?, &lax::mul(&sine, &right)?)?;
    let value = lax::select(&is_left, &mirrored, &right)?;
    let zero = filled(DType::F64, 0.0)?;
    let is_pole = numpy::bitwise_and(&lax::le(&real, &zero)?, &lax::eq(&real, &lax::floor(&real)?)?)?;
    let is_pole = numpy::bitwise_and(&is_pole, &lax::eq(&lax::imag(&z)?, &zero)?)?;
    let nan = filled(DType::F64, f64::NAN)?;
    to_dtype(&lax::select(&is_pole, &lax::complex(&nan, &nan)?, &value)?, x.aval().dtype)
}

/// The derivative of `gammaln`; DLMF 5.2.
///
/// Args:
///   x: an array of real numbers; integers become floating. NaN at 0 and negative integers.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `polygamma(1, x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.digamma(1.0)), 4)
///   -0.5772
///   >>> float(jax.scipy.special.digamma(-1.0))
///   nan
#[public("scipy.special.digamma(x)")]
pub fn digamma(x: &Val) -> Result<Val> {
    lax::digamma(&floating(x)?)
}

/// The `n`-th derivative of `digamma`; DLMF 5.15.
///
/// Args:
///   n: integers that are not negative.
///   x: real numbers; they broadcast with `n`.
/// Returns: an array of the broadcast shape and a floating dtype.
/// Raises:
///   ValueError: `n` is floating, or shapes do not broadcast.
///   TypeError: an argument is no array or number.
/// Differentiable: yes, with respect to `x`: `polygamma(n + 1, x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.polygamma(1, 1.0)), 4)
///   1.6449
#[public("scipy.special.polygamma(n, x)")]
pub fn polygamma(n: &Val, x: &Val) -> Result<Val> {
    check_real("polygamma", &[n, x])?;
    let dtype = n.aval().dtype;
    if !dtype.is_integer() {
        bail!(Value, "Argument `n` to polygamma must be of integer type, got dtype {dtype}.");
    }
    let ins = alike(&[n, x])?;
    lax::polygamma(&ins[0], &ins[1])
}

/// `n!` by the gamma function, so `n` need not be whole; 0 for negative numbers.
///
/// Args:
///   n: an array of real numbers; integers become floating.
///   exact: must be False.
/// Returns: an array of the shape of `n`.
/// Raises:
///   NotImplementedError: `exact` is true.
///   TypeError: `n` is no array or number.
/// Differentiable: yes: `factorial(n) digamma(n + 1)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.factorial(4)), 3)
///   24.0
#[public("scipy.special.factorial(n, exact=False)")]
pub fn factorial(n: &Val, exact: bool) -> Result<Val> {
    if exact {
        bail!(NotImplemented, "factorial with exact=True");
    }
    let n = &floating(n)?;
    let value = lax::exp(&(of(n) + 1).then(lax::lgamma).done()?)?;
    numpy::where_(&numpy::less(n, &weak_int(0))?, &numpy::zeros_like(n, None, None)?, &value)
}

/// Binomial coefficients: how many ways to choose `k` things of `N`; 0 where `k` is negative or greater than `N`.
///
/// Args:
///   N, k: arrays of real numbers that broadcast; integers become floating.
///   repetition: a thing may be chosen several times.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.comb(5, 2)), 3)
///   10.0
#[public("scipy.special.comb(N, k, *, repetition=False)")]
pub fn comb(n: &Val, k: &Val, repetition: bool) -> Result<Val> {
    let ins = promoted(&[n, k])?;
    let (n, k) = (&ins[0], &ins[1]);
    let zero = weak_int(0);
    if repetition {
        // Nothing can be chosen of nothing in one way.
        let is_nothing = numpy::bitwise_and(&numpy::equal(n, &zero)?, &numpy::equal(k, &zero)?)?;
        let others = comb(&(of(n) + k - 1).done()?, k, false)?;
        return numpy::where_(&is_nothing, &numpy::ones_like(n, None, None)?, &others);
    }
    let is_valid = numpy::bitwise_and(&numpy::less_equal(k, n)?, &numpy::greater_equal(n, &zero)?)?;
    let is_valid = numpy::bitwise_and(&is_valid, &numpy::greater_equal(k, &zero)?)?;
    let log = |x: Formula| x.then(lax::lgamma);
    let logarithm = log(of(n) + 1) - log(of(k) + 1) - log(of(n) - k + 1);
    let value = logarithm.then(lax::exp).done()?;
    numpy::where_(&is_valid, &value, &numpy::zeros_like(&value, None, None)?)
}

/// The logarithm of the absolute value of the beta function: `gammaln(a) + gammaln(b) - gammaln(a + b)`.
///
/// Where `b` is large, the difference of logarithms comes from Stirling's series, DLMF 5.11.
///
/// Args:
///   a, b: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> float(jax.scipy.special.betaln(1.0, 1.0))
///   0.0
#[public("scipy.special.betaln(a, b)")]
pub fn betaln(a: &Val, b: &Val) -> Result<Val> {
    let ins = promoted(&[a, b])?;
    let (a, b) = (numpy::minimum(&ins[0], &ins[1])?, numpy::maximum(&ins[0], &ins[1])?);
    // For a large `b` the two great logarithms cancel; their difference has a series of its own.
    let (log_a, log_b) = (of(&a).then(lax::lgamma), of(&b).then(lax::lgamma));
    let small_b = &log_a + (log_b - (of(&a) + &b).then(lax::lgamma));
    let large_b = of(&a).then(lax::lgamma) + lgamma_difference(&a, &b);
    numpy::where_(&numpy::less(&b, &weak_int(8))?, &small_b.done()?, &large_b.done()?)
}

/// What is left of the logarithm of the gamma function: Stirling's series.
fn stirling_rest(x: &Formula) -> Formula {
    const COEFFICIENTS: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let square = 1 / (x * x);
    let zero = x.then(|x| numpy::zeros_like(x, None, None));
    COEFFICIENTS.iter().rev().fold(zero, |value, &c| value * &square + c) / x
}

/// `gammaln(b) - gammaln(a + b)` for `b` of at least 8.
fn lgamma_difference(a: &Val, b: &Val) -> Formula {
    let b = of(b).then(|b| numpy::maximum(b, &weak_int(8)));
    let total = of(a) + &b;
    let rests = stirling_rest(&b) - stirling_rest(&total);
    rests - (&total - 0.5) * (of(a) / &b).then(numpy::log1p) - of(a) * (b.then(numpy::log) - 1)
}

/// The beta function `gamma(a) gamma(b) / gamma(a + b)`; DLMF 5.12.
///
/// Args:
///   a, b: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> float(jax.scipy.special.beta(1.0, 1.0))
///   1.0
#[public("scipy.special.beta(a, b)")]
pub fn beta(a: &Val, b: &Val) -> Result<Val> {
    check_real("beta", &[a, b])?;
    let ins = promoted(&[a, b])?;
    let (a, b) = (&ins[0], &ins[1]);
    let sign = Formula::from(gammasgn(a)) * gammasgn(b) * gammasgn(&(of(a) + b).done()?);
    (sign * lax::exp(&betaln(a, b)?)).done()
}

/// The regularized incomplete beta function, the distribution function of the beta distribution; DLMF 8.17.
///
/// Args:
///   a, b: positive numbers.
///   x: numbers from 0 to 1; all broadcast.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast; a derivative with respect to `a` or `b`.
/// Differentiable: yes, with respect to `x`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.betainc(1.0, 1.0, 0.25)), 4)
///   0.25
#[public("scipy.special.betainc(a, b, x)")]
pub fn betainc(a: &Val, b: &Val, x: &Val) -> Result<Val> {
    check_real("betainc", &[a, b, x])?;
    let ins = alike(&[a, b, x])?;
    lax::betainc(&ins[0], &ins[1], &ins[2])
}

/// The regularized lower incomplete gamma function, the distribution function of the gamma distribution; DLMF 8.2.
///
/// Args:
///   a: positive numbers.
///   x: numbers that are not negative; they broadcast with `a`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.gammainc(1.0, 1.0)), 4)
///   0.6321
#[public("scipy.special.gammainc(a, x)")]
pub fn gammainc(a: &Val, x: &Val) -> Result<Val> {
    let ins = alike(&[a, x])?;
    lax::igamma(&ins[0], &ins[1])
}

/// The regularized upper incomplete gamma function `1 - gammainc(a, x)`; DLMF 8.2.
///
/// Args:
///   a: positive numbers.
///   x: numbers that are not negative; they broadcast with `a`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.gammaincc(1.0, 1.0)), 4)
///   0.3679
#[public("scipy.special.gammaincc(a, x)")]
pub fn gammaincc(a: &Val, x: &Val) -> Result<Val> {
    let ins = alike(&[a, x])?;
    lax::igammac(&ins[0], &ins[1])
}

static POCH: CustomJvp = CustomJvp::new("poch", poch_value, "_poch_jvp", poch_tangent);

/// The rising factorial `gamma(z + m) / gamma(z)`, Pochhammer's symbol; DLMF 5.2.
///
/// Args:
///   z, m: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.poch(2.0, 3.0)), 3)
///   24.0
#[public("scipy.special.poch(z, m)")]
pub fn poch(z: &Val, m: &Val) -> Result<Val> {
    check_real("poch", &[z, m])?;
    POCH.call(&[z.clone(), m.clone()])
}

fn poch_value(args: &[Val]) -> Result<Val> {
    let ins = promoted(&[&args[0], &args[1]])?;
    let (z, m) = (&ins[0], &ins[1]);
    let sum = (of(z) + m).done()?;
    let sign = Formula::from(gammasgn(&sum)) * gammasgn(z);
    let quotient = (of(&sum).then(lax::lgamma) - lax::lgamma(z)).then(lax::exp);
    let value = (sign * quotient).done()?;
    numpy::where_(&numpy::equal(m, &weak_int(0))?, &numpy::ones_like(z, None, None)?, &value)
}

fn poch_tangent(out: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let (z, m) = (&args[0], &args[1]);
    let at_sum = || (of(z) + m).then(digamma);
    let by_z = tangents[0].as_ref().map(|dot| (of(dot) * (at_sum() - digamma(z)) * out).done());
    let by_m = tangents[1].as_ref().map(|dot| (of(dot) * (at_sum() * out)).done());
    let dots: Vec<Val> = by_m.into_iter().chain(by_z).collect::<Result<_>>()?;
    let total = dots.into_iter().map(Formula::from).reduce(|x, y| x + y);
    total.map(Formula::done).transpose()
}
