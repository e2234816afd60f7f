//! Samples of counts: of events, of successes, and of how often each of some things happens.

use std::f64::consts::PI;

use pullback_base::{Array, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::approximate::{SampleMethod, poisson_approximately};
use super::continuous::sample_shape;
use super::key::{checked_key, split_typed, two_keys};
use super::uniform::{check_float, statics, uniform};
use crate::broadcast::broadcast_to;
use crate::convert::{convert, default_int, literal, to_dtype, weak_float};
use crate::formula::{
    Formula, abs, any, ceil, floor, full_like, is_infinite, is_nan, lgamma, log, log1p, of, select, sqrt, where_,
};
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax;
use crate::loops;
use crate::numpy;
use crate::promotion::{check_arguments, promote_inexact};

/// A number of steps that no sample takes.
const MOST_STEPS: i64 = i32::MAX as i64;

fn unit(key: &Val, shape: &[usize], dtype: DType) -> Formula {
    Formula::from(uniform(key, shape, dtype, &weak_float(0.0), &weak_float(1.0)))
}

fn three_keys(key: &Val) -> Result<[Val; 3]> {
    let keys = split_typed(key, &[3])?;
    let nth = |i: i64| getitem(&keys, &[IndexItem::Int(i)]);
    Ok([nth(0)?, nth(1)?, nth(2)?])
}

fn count(number: i64) -> Val {
    literal(DType::I32, number as f64)
}

fn next(step: &Val) -> Result<Val> {
    lax::add(step, &count(1))
}

fn is_early(step: &Val) -> Formula {
    of(step).lt(count(MOST_STEPS))
}

/// Numbers of events of a Poisson process, with probability `lam**k exp(-lam) / k!`.
///
/// Rates below 10 multiply uniform numbers until the product is below `exp(-lam)` (Knuth); others take the
/// transformed
/// rejection of Hörmann (The transformed rejection method for generating Poisson random variables, 1993).
///
/// Args:
///   key: a key, typed or of two words.
///   lam: the rates: real numbers; they broadcast to `shape`. 0 gives 0; NaN and negative rates give -1.
///   shape: the shape of the result; that of `lam` by default.
///   dtype: an integer dtype, int32 by default.
///   method: 'exact', or 'approximate': without loops, for keys of any generator; the inverse of a distribution function within 1e-4
///     of the exact one.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the dtype is not of integers, shapes do not go together, or the method is
///     unknown.
///   NotImplementedError: the method is 'exact' and the key is of another generator than threefry2x32.
/// Differentiable: no, counts are integers.
/// Example:
///   >>> jax.random.poisson(jax.random.key(0), jnp.zeros(3))
///   Array([0, 0, 0], dtype=int32)
#[public("random.poisson(key: Key, lam, shape=None, dtype=None, *, method='exact', out_sharding: Sharded=None)")]
pub fn poisson(
    key: &Val,
    lam: &Val,
    shape: Option<&[usize]>,
    dtype: Option<DType>,
    method: SampleMethod,
) -> Result<Val> {
    let key = checked_key("poisson", key)?;
    let kind = key.aval().dtype;
    if method == SampleMethod::Exact && kind.to_string() != "key<fry>" {
        bail!(
            NotImplemented,
            "`poisson` with method='exact' is only implemented for the threefry2x32 RNG, not {}",
            kind.to_string().trim_start_matches("key<").trim_end_matches('>')
        );
    }
    let dtype = dtype.unwrap_or_else(default_int);
    if !dtype.is_integer() {
        bail!(Value, "Invalid integer data type '{}'.", if dtype.is_complex() { 'c' } else { 'f' });
    }
    let shape = shape.map_or_else(|| lam.aval().shape.to_vec(), <[usize]>::to_vec);
    if method == SampleMethod::Approximate {
        return poisson_approximately(&key, lam, &shape, dtype);
    }
    let lam = broadcast_to(&convert(lam, DType::F32, false)?, &shape)?;
    named_jit_one("_poisson", &statics(&shape, dtype), &[key, lam], |ins| {
        let (key, lam) = (&ins[0], of(&ins[1]));
        let is_small = is_nan(&lam) | lam.lt(10);
        let few = select(&is_small, &lam, full_like(&lam, 0.0)).done()?;
        let many = select(&is_small, full_like(&lam, 1e5), &lam).done()?;
        let counts = select(is_small, poisson_knuth(key, &few, dtype), poisson_rejection(key, &many, dtype));
        select(lam.is(0), full_like(&counts, 0.0), &counts).done()
    })
}

/// How many uniform numbers can be multiplied before the product falls below `exp(-lam)`: D. Knuth.
fn poisson_knuth(key: &Val, lam: &Val, dtype: DType) -> Result<Val> {
    let shape = lam.aval().shape.to_vec();
    named_jit_one("_poisson_knuth", &statics(&shape, dtype), &[key.clone(), lam.clone()], |ins| {
        let lam = &ins[1];
        let zeros = |dtype| lax::full(&shape, &literal(dtype, 0.0));
        let start = [count(0), zeros(dtype)?, ins[0].clone(), zeros(DType::F32)?];
        let goes_on = |carry: &[Val]| (any(of(&carry[3]).gt(-of(lam))) & is_early(&carry[0])).done();
        let found = loops::while_loop(&start, goes_on, |carry| {
            let (key, own) = two_keys(&carry[2])?;
            let found = select(of(&carry[3]).gt(-of(lam)), of(&carry[1]) + 1, &carry[1]);
            let log_product = of(&carry[3]) + log(unit(&own, &shape, DType::F32));
            Ok(vec![next(&carry[0])?, found.done()?, key, log_product.done()?])
        })?;
        (of(&found[1]) - 1).astype(dtype).done()
    })
}

/// W. Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
fn poisson_rejection(key: &Val, lam: &Val, dtype: DType) -> Result<Val> {
    let shape = lam.aval().shape.to_vec();
    named_jit_one("_poisson_rejection", &statics(&shape, dtype), &[key.clone(), lam.clone()], |ins| {
        let lam = of(&ins[1]);
        let log_lam = log(&lam);
        let b = 0.931 + 2.53 * sqrt(&lam);
        let a = -0.059 + 0.02483 * &b;
        let inverse_alpha = 1.1239 + 1.1328 / (&b - 3.4);
        let squeeze = 0.9277 - 3.6224 / (&b - 2);
        rejected(&ins[0], &shape, DType::F32, |u, v| {
            let distance = 0.5 - abs(u);
            let found = floor((2 * &a / &distance + &b) * u + &lam + 0.43);
            let log_ratio = log(v * &inverse_alpha / (&a / (&distance * &distance) + &b));
            let bound = -&lam + &found * &log_lam - lgamma(&found + 1);
            let is_inside = distance.ge(0.07) & v.le(&squeeze);
            let is_outside = found.lt(0) | (distance.lt(0.013) & v.gt(&distance));
            (found, is_inside | (!is_outside & log_ratio.le(bound)))
        })
        .and_then(|found| numpy::astype(&found, dtype))
    })
}

/// The numbers that are accepted: `step` gives a number and whether it is, from two uniform ones.
fn rejected(
    key: &Val,
    shape: &[usize],
    dtype: DType,
    step: impl Fn(&Formula, &Formula) -> (Formula, Formula),
) -> Result<Val> {
    let none = lax::full(shape, &literal(dtype, -1.0))?;
    let start = [count(0), none, lax::full(shape, &literal(DType::Bool, 0.0))?, key.clone()];
    let goes_on = |carry: &[Val]| (any(!of(&carry[2])) & is_early(&carry[0])).done();
    let found = loops::while_loop(&start, goes_on, |carry| {
        let [key, of_u, of_v] = three_keys(&carry[3])?;
        let (u, v) = (unit(&of_u, shape, dtype) - 0.5, unit(&of_v, shape, dtype));
        let (found, accepts) = step(&u, &v);
        let found = select(&accepts, found, &carry[1]).done()?;
        Ok(vec![next(&carry[0])?, found, (of(&carry[2]) | accepts).done()?, key])
    })?;
    Ok(found[1].clone())
}

/// Numbers of successes in `n` trials of probability `p`.
///
/// Means of at most 10 (of the rarer outcome) add up waiting times of the geometric distribution; others take the
/// transformed rejection of Hörmann (The generation of binomial random variates, 1993).
///
/// Args:
///   key: a key, typed or of two words.
///   n: numbers of trials; real numbers; negative ones and NaN give NaN.
///   p: probabilities; numbers outside of 0 to 1 give NaN. `n` and `p` broadcast to `shape`.
///   shape: the shape of the result; that of `n` and `p` together by default.
///   dtype: a floating dtype, float32 by default.
/// Returns: counts as floating numbers, of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: no; the derivative of counts is 0.
/// Example:
///   >>> jax.random.binomial(jax.random.key(0), 10, jnp.array([0.0, 1.0]))
///   Array([ 0., 10.], dtype=float32)
#[public("random.binomial(key: Key, n, p, shape=None, dtype: FloatByDefault=None)")]
pub fn binomial(key: &Val, n: &Val, p: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("binomial", key)?;
    check_float("binomial", dtype)?;
    let shape = sample_shape("binomial", shape, &[n, p])?;
    let given = [n.clone(), p.clone()];
    check_arguments("binomial", &given)?;
    let both = promote_inexact(&given)?;
    let drawn = both[0].aval().dtype;
    let drawn = if drawn.bits() >= 16 { drawn } else { DType::F32 };
    let alike = |x: &Val| broadcast_to(&to_dtype(x, drawn)?, &shape);
    numpy::astype(&successes(&key, &alike(&both[0])?, &alike(&both[1])?, drawn)?, dtype)
}

fn successes(key: &Val, n: &Val, p: &Val, dtype: DType) -> Result<Val> {
    let (n, p) = (of(n), of(p));
    let is_rare = p.lt(0.5);
    let q = select(&is_rare, &p, 1.0 - &p);
    let has_no_n = is_nan(&n) | n.lt(0.0);
    let is_endless = is_infinite(&n);
    let has_no_q = is_nan(&q) | q.lt(0.0);
    let q = select(&has_no_q, full_like(&q, 0.01), &q);
    let is_few = &has_no_n | (&n * &q).le(10.0);
    let whole = floor(&n);
    let few = select(&is_few, &whole, full_like(&n, 0.0));
    // Their loops end where the number of trials is one.
    let is_settled = &is_few | &is_endless;
    let many = select(&is_settled, full_like(&n, 1e4), &whole);
    let many_q = select(&is_settled, full_like(&q, 0.5), &q);
    let by_waiting = waited(key, &few, &q.clone().done()?, dtype);
    let by_rejection = binomial_rejection(key, &many, &many_q.done()?, dtype);
    let counts = select(&is_few, by_waiting, by_rejection);
    let is_invalid = &has_no_q | is_nan(&q) | &has_no_n;
    let counts = select(&is_invalid, full_like(&counts, f64::NAN), &counts);
    let counts = select(&is_endless & !&is_invalid, full_like(&counts, f64::INFINITY), &counts);
    select(is_rare | has_no_n | has_no_q | is_endless, &counts, whole - &counts).done()
}

/// How many geometric waits fit into `n` trials: L. Devroye, "Non-uniform random variate generation", 1986.
fn waited(key: &Val, n: &Formula, q: &Val, dtype: DType) -> Result<Val> {
    let shape = q.aval().shape.to_vec();
    let log_miss = log1p(-of(q));
    let zeros = lax::full(&shape, &literal(dtype, 0.0))?;
    let start = [count(0), zeros.clone(), zeros, key.clone()];
    let goes_on = |carry: &[Val]| (any(of(&carry[2]).le(n)) & is_early(&carry[0])).done();
    let found = loops::while_loop(&start, goes_on, |carry| {
        let (own, key) = two_keys(&carry[3])?;
        let found = select(of(&carry[2]).le(n), of(&carry[1]) + 1, &carry[1]);
        let wait = ceil(log(unit(&own, &shape, dtype)) / &log_miss);
        Ok(vec![next(&carry[0])?, found.done()?, (of(&carry[2]) + wait).done()?, key])
    })?;
    (of(&found[1]) - 1).done()
}

/// What Stirling's formula lacks of `log(k!)`: exact for the first ten numbers.
fn stirling_tail(k: &Formula, dtype: DType) -> Formula {
    let mut log_factorial = 0.0;
    let tails = (0..10).map(|k| {
        let next = f64::from(k) + 1.0;
        if k > 0 {
            log_factorial += f64::from(k).ln();
        }
        Scalar::float(dtype, log_factorial - (0.5 * (2.0 * PI).ln() + (next - 0.5) * next.ln() - next))
    });
    let tails = of(&Val::Array(Array::from_scalars(&[10], dtype, tails)));
    let is_few = k.le(9);
    let k = k.then(|k| lax::clamp(&literal(dtype, 0.0), k, &literal(dtype, 9.0)));
    let square = (&k + 1) * (&k + 1);
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / &square) / &square) / (&k + 1);
    let exact = floor(&k).astype(DType::I32).then(|at| tails.at(&[IndexItem::Array(at.clone())]).done());
    select(is_few, exact, series)
}

/// W. Hörmann, "The generation of binomial random variates", 1993.
fn binomial_rejection(key: &Val, n: &Formula, q: &Val, dtype: DType) -> Result<Val> {
    let (shape, q) = (q.aval().shape.to_vec(), of(q));
    let deviation = sqrt(n * &q * (1 - &q));
    let b = 1.15 + 2.53 * &deviation;
    let a = -0.0873 + 0.0248 * &b + 0.01 * &q;
    let centre = n * &q + 0.5;
    let squeeze = 0.92 - 4.2 / &b;
    let odds = &q / (1 - &q);
    let alpha = (2.83 + 5.1 / &b) * &deviation;
    let mode = floor((n + 1) * &q);
    let tail = |k: &Formula| stirling_tail(k, dtype);
    rejected(key, &shape, dtype, |u, v| {
        let distance = 0.5 - abs(u);
        let is_inside = distance.ge(0.07) & v.le(&squeeze);
        let found = floor((2 * &a / &distance + &b) * u + &centre);
        let is_outside = found.lt(0) | found.gt(n);
        let log_ratio = log(v * &alpha / (&a / (&distance * &distance) + &b));
        let bound = (&mode + 0.5) * log((&mode + 1) / (&odds * (n - &mode + 1)))
            + (n + 1) * log((n - &mode + 1) / (n - &found + 1))
            + (&found + 0.5) * log(&odds * (n - &found + 1) / (&found + 1))
            + tail(&mode)
            + tail(&(n - &mode))
            - tail(&found)
            - tail(&(n - &found));
        (found, is_inside | (!is_outside & log_ratio.le(bound)))
    })
}

/// Counts of categories among `n` draws: each in turn is binomial among the draws that are left.
///
/// Args:
///   key: a key, typed or of two words.
///   n: numbers of draws; real numbers of the batch's shape.
///   p: probabilities along the last axis; the rest is the batch.
///   shape: the shape of the batch; that of `p` without its last axis by default.
///   dtype: the dtype of the result; that of a floating computation by default.
///   unroll: how many categories to take together, a hint.
/// Returns: an array of the batch's shape and one more axis, that of the categories.
/// Raises:
///   TypeError: `key` is no key. IndexError: `p` has no axis.
///   ValueError: several keys are given, or shapes do not go together.
/// Differentiable: no; the derivative of counts is 0.
/// Example:
///   >>> int(jax.random.multinomial(jax.random.key(0), 7, jnp.array([0.25, 0.25, 0.5])).sum())
///   7
#[public("random.multinomial(key: Key, n, p, *, shape=None, dtype=None, unroll: Ignored=1)")]
pub fn multinomial(key: &Val, n: &Val, p: &Val, shape: Option<&[usize]>, dtype: Option<DType>) -> Result<Val> {
    let key = checked_key("multinomial", key)?;
    let given = [n.clone(), p.clone()];
    check_arguments("multinomial", &given)?;
    let both = promote_inexact(&given)?;
    let sizes = both[1].aval().shape.clone();
    let Some((&n_categories, batch)) = sizes.split_last() else {
        bail!(Index, "jax.random.multinomial takes probabilities along the last axis of p, got a scalar");
    };
    let batch = shape.unwrap_or(batch);
    let n = broadcast_to(&both[0], batch)?;
    let p = broadcast_to(&both[1], &[batch, &[n_categories]].concat())?;
    let p = numpy::moveaxis(&p, &[-1], &[0])?;
    let rest = of(&lax::cumsum(&p, 0, true)?);
    let ratios = (of(&p) / where_(rest.is(0), 1, &rest)).done()?;
    let drawn = n.aval().dtype;
    let keys = split_typed(&key, &[n_categories])?;
    let found = loops::scan(&[n], &[ratios, keys], n_categories, |left, given| {
        let ratio = crate::formula::between(&given[0], 0, 1).done()?;
        let found = binomial(&given[1], &left[0], &ratio, None, drawn)?;
        Ok(vec![(of(&left[0]) - &found).done()?, found])
    })?;
    let counts = numpy::moveaxis(&found[1], &[0], &[-1])?;
    dtype.map_or(Ok(counts.clone()), |dtype| convert(&counts, dtype, false))
}
