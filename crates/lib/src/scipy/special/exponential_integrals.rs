//! Exponential integrals and the dilogarithm.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{EULER_GAMMA, alike, check_real, floating};
use crate::convert::{convert, to_dtype};
use crate::custom::CustomJvp;
use crate::formula::{
    Formula, digamma, exp, full_like, is_nan, lgamma, log, log1p, maximum, of, ones_like, where_, zeros_like,
};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A slope times the tangent of the first operand that has one.
fn along(dot: Option<&Val>, slope: impl FnOnce() -> Formula) -> Result<Option<Val>> {
    dot.map(|dot| (of(dot) * slope()).done()).transpose()
}

/// `exp(x) expn(n, x)` for `x` above 1, by the continued fraction of DLMF 8.19.17, from its end.
fn fraction(x: &Formula, n: &Formula) -> Formula {
    let steps = 60i64;
    let mut value = x + (n + 2 * steps);
    for k in (1..=steps).rev() {
        value = x + (n + 2 * (k - 1)) - k * (n - 1 + k) / value;
    }
    1 / value
}

/// `Σ x**k / (k k!)` for `k` from 1 to `n`, from the smallest term.
fn series(x: &Formula, n: i64) -> Formula {
    let mut power = ones_like(x);
    let mut terms = vec![];
    for k in 1..=n {
        power = power * x / k;
        terms.push(&power / k);
    }
    terms.into_iter().rev().fold(zeros_like(x), |total, term| total + term)
}

static EXP1: CustomJvp = CustomJvp::new(
    "_exp1",
    |args| exp1_value(&of(&args[0])).done(),
    "_exp1_jvp",
    |_, args, tangents| {
        let x = of(&args[0]);
        along(tangents[0].as_ref(), || where_(x.ge(0), -exp(-&x) / &x, NAN))
    },
);

/// DLMF 6.6.2 up to 1, then the fraction.
fn exp1_value(x: &Formula) -> Formula {
    let small = where_(x.le(1), x, ones_like(x));
    let near = -EULER_GAMMA - log(&small) - series(&-&small, 24);
    let large = where_(x.gt(1), x, ones_like(x));
    let far = exp(-&large) * fraction(&large, &Formula::from(1));
    let out = where_(x.le(1), near, far);
    let out = where_(x.is(0), full_like(x, INF), out);
    where_(x.lt(0), full_like(x, NAN), out)
}

fn exp1_of(x: &Formula) -> Formula {
    x.then(|x| EXP1.call(std::slice::from_ref(x)))
}

/// The exponential integral E1: the integral of `exp(-x t) / t` over `t` from 1; DLMF 6.2.
///
/// Args:
///   x: an array of real numbers; integers become floating. `inf` at 0, NaN below.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `-exp(-x) / x`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.exp1(1.0)), 4)
///   0.2194
#[public("scipy.special.exp1(x)")]
pub fn exp1(x: &Val) -> Result<Val> {
    check_real("exp1", &[x])?;
    let x = of(&floating(x)?);
    where_(x.ge(0), exp1_of(&x), full_like(&x, NAN)).strong().done()
}

/// The exponential integral Ei: the principal value of the integral of `exp(t) / t` up to `x`; DLMF 6.2.
///
/// Args:
///   x: an array of real numbers; integers become floating. `-inf` at 0.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `exp(x) / x`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.expi(1.0)), 4)
///   1.8951
#[public("scipy.special.expi(x)")]
pub fn expi(x: &Val) -> Result<Val> {
    check_real("expi", &[x])?;
    static EXPI: CustomJvp = CustomJvp::new(
        "expi",
        |args| expi_value(&of(&floating(&args[0])?)).done(),
        "_expi_jvp",
        |_, args, tangents| {
            let x = of(&args[0]);
            along(tangents[0].as_ref(), || exp(&x) / &x)
        },
    );
    let found = EXPI.call(std::slice::from_ref(x))?;
    to_dtype(&found, found.aval().dtype)
}

/// The series of DLMF 6.6.1 up to 30, then the asymptotic one of DLMF 6.12.2.
fn expi_value(x: &Formula) -> Formula {
    let below = -exp1_of(&where_(x.lt(0), -x, ones_like(x)));
    let middle = where_(x.gt(0) & x.le(30), x, ones_like(x));
    let near = EULER_GAMMA + log(&middle) + series(&middle, 90);
    let large = where_(x.gt(30), x, full_like(x, 40.0));
    let (mut factor, mut total) = (ones_like(x), ones_like(x));
    for k in 1..25i64 {
        factor = factor * k / &large;
        total = total + &factor;
    }
    let far = exp(&large) / &large * total;
    let out = where_(x.lt(0), below, where_(x.le(30), near, far));
    let out = where_(is_nan(x), x, out);
    where_(x.is(0), full_like(x, -INF), out)
}

static EXPN: CustomJvp = CustomJvp::new(
    "_expn",
    |args| expn_value(&of(&args[0]), &of(&args[1])).done(),
    "_expn_jvp",
    |_, args, tangents| {
        let below = || EXPN.call(&[(of(&args[0]) - 1).done()?, args[1].clone()]);
        let dot = tangents[1].as_ref().map_or_else(|| zeros_like(&args[1]), of);
        (-dot * below()).done().map(Some)
    },
);

/// The exponential integral of order `n`: the integral of `exp(-x t) / t**n` over `t` from 1; DLMF 8.19.
///
/// Args:
///   n: integers that are not negative; NaN for others.
///   x: an array of real numbers, which broadcasts with `n`; NaN below 0.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, with respect to `x`: `-expn(n - 1, x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.expn(2, 1.0)), 4)
///   0.1485
#[public("scipy.special.expn(n, x)")]
pub fn expn(n: &Val, x: &Val) -> Result<Val> {
    check_real("expn", &[n, x])?;
    let ins = alike(&[n, x])?;
    convert(&EXPN.call(&ins)?, ins[1].aval().dtype, false)
}

fn expn_value(n: &Formula, x: &Formula) -> Formula {
    let first = exp(-x) / x;
    let small = where_(x.gt(0) & x.le(1), x, ones_like(x));
    let large = where_(x.gt(1), x, ones_like(x));
    let far = exp(-&large) * fraction(&large, n);
    let out = where_(x.le(1), expn_series(n, &small), far);
    let out = where_(n.is(0), first, out);
    let is_finite = n.gt(1);
    let out = where_(x.is(0), where_(&is_finite, 1 / where_(&is_finite, n - 1, 1), INF), out);
    where_(x.ge(0) & n.ge(0), out, full_like(x, NAN))
}

/// DLMF 8.19.8.
fn expn_series(n: &Formula, x: &Formula) -> Formula {
    let psi = digamma(maximum(n, 1));
    let log_power = (n - 1) * log(x) - lgamma(maximum(n, 1));
    let sign = where_((n % 2).is(1), 1.0, -1.0);
    let mut total = sign * exp(log_power) * (psi - log(x));
    let mut power = ones_like(x);
    for k in 0..24i64 {
        let gap = k - n + 1;
        let is_none = gap.is(0);
        total = total - where_(&is_none, 0.0, &power / where_(&is_none, 1.0, gap));
        power = power * -x / (k + 1);
    }
    total
}

static SPENCE: CustomJvp = CustomJvp::new(
    "_spence",
    |args| spence_value(&of(&args[0])).done(),
    "_spence_jvp",
    |_, args, tangents| {
        let x = of(&args[0]);
        let slope = || {
            let is_one = x.is(1);
            where_(&is_one, -1.0, log(&x) / (1 - where_(&is_one, 0.5, &x)))
        };
        tangents[0].as_ref().map(|dot| (of(dot) * slope().astype(dot.aval().dtype)).done()).transpose()
    },
);

/// By the dilogarithm of `1 - x` where that converges, reflected or inverted elsewhere; DLMF 25.12.
fn spence_value(x: &Formula) -> Formula {
    let sixth = std::f64::consts::PI.powi(2) / 6.0;
    let is_large = x.gt(1.5);
    let inner = where_(&is_large, 1 / where_(&is_large, x, 2.0), x);
    let is_small = inner.lt(0.5);
    let safe = where_(&is_small, 1 - &inner, &inner);
    let value = dilogarithm(&(1 - safe));
    let positive = where_(&is_small & inner.gt(0), &inner, 0.25);
    let reflected = sixth - log(&positive) * log1p(-&positive) - &value;
    let value = where_(is_small, where_(inner.is(0), sixth, reflected), value);
    let log = log(where_(&is_large, x, 1.0));
    let value = where_(is_large, -0.5 * &log * &log - &value, &value);
    where_(x.lt(0), full_like(x, NAN), value).typed_as(x)
}

/// `Σ z**k / k²`, from the smallest term.
fn dilogarithm(z: &Formula) -> Formula {
    let mut power = ones_like(z);
    let mut terms = vec![];
    for k in 1..48i64 {
        power = power * z;
        terms.push(&power / (k * k));
    }
    terms.into_iter().rev().fold(zeros_like(z), |total, term| total + term)
}

/// Spence's function: the integral of `log(t) / (1 - t)` from 1 to `x`, the dilogarithm of `1 - x`; DLMF 25.12.
///
/// Args:
///   x: an array of float32 or float64; NaN below 0.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: elements of another dtype.
/// Differentiable: yes: `log(x) / (1 - x)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.spence(1.0))
///   0.0
#[public("scipy.special.spence(x: Convertible)")]
pub fn spence(x: &Val) -> Result<Val> {
    let dtype = x.aval().dtype;
    if !matches!(dtype, DType::F32 | DType::F64) {
        bail!(Type, "x.dtype={dtype} is not supported, see docstring for supported types.");
    }
    SPENCE.call(std::slice::from_ref(x))
}
