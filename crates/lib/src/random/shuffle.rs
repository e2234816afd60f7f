//! Permutations and random choice.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::keys::{bits_typed, single_key, split_pair};
use super::{gumbel, randint, uniform};
use crate::axes::canonical_axis;
use crate::convert::{default_int, number, weak_float, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{self, TakeOptions};

/// Sorted by random keys, as many times as make a repeated key unlikely to leave a trace.
fn shuffled(key: &Val, x: &Val, axis: usize) -> Result<Val> {
    named_jit_one("_shuffle", &[axis as i64], &[key.clone(), x.clone()], |args| {
        const EXPONENT: f64 = 3.0;
        let size = x.aval().size().max(1) as f64;
        let n_rounds = (EXPONENT * size.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
        let (mut key, mut x) = (args[0].clone(), args[1].clone());
        for _ in 0..n_rounds {
            let (next, sub) = split_pair(&key)?;
            key = next;
            let order = bits_typed(&sub, &x.aval().shape, 32)?;
            x = lax::sort(&[order, x], axis, 1, true)?.swap_remove(1);
        }
        Ok(x)
    })
}

/// 0 to `n - 1` in random order.
///
/// # Errors
/// A `Type` error for something that is no key.
pub fn permutation_of(key: &Val, n: usize) -> Result<Val> {
    let (key, _) = single_key("permutation", key)?;
    shuffled(&key, &lax::iota(default_int(), n)?, 0)
}

/// The slices along an axis in random order; with `independent`, the elements of each line by themselves.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn permutation(key: &Val, x: &Val, axis: i64, independent: bool) -> Result<Val> {
    let (key, _) = single_key("permutation", key)?;
    let at = canonical_axis(axis, x.aval().rank())?;
    if independent || x.aval().rank() == 1 {
        return shuffled(&key, x, at);
    }
    let order = shuffled(&key, &lax::iota(default_int(), x.aval().shape[at])?, 0)?;
    let options = TakeOptions { unique: true, ..TakeOptions::default() };
    numpy::take(x, &order, Some(axis), options)
}

/// From what [`choice`] chooses.
#[derive(Clone, Debug)]
pub enum Pool {
    /// 0 to `n - 1`.
    Count(usize),
    /// The slices of an array.
    Array(Val),
}

/// Random members of a pool, with or without replacement, with probabilities `p` or even ones.
///
/// # Errors
/// A `Value` error for an empty pool, more draws than members without replacement, or `p` of another size.
pub fn choice(key: &Val, pool: &Pool, shape: &[usize], replace: bool, p: Option<&Val>, axis: i64) -> Result<Val> {
    let (key, _) = single_key("choice", key)?;
    let (n, at) = match pool {
        Pool::Count(n) => (*n, 0),
        Pool::Array(x) => {
            let at = canonical_axis(axis, x.aval().rank())?;
            (x.aval().shape[at], at)
        }
    };
    let n_draws: usize = shape.iter().product();
    if n_draws == 0 {
        let dtype = if let Pool::Array(x) = pool { x.aval().dtype } else { default_int() };
        return lax::full(shape, &crate::convert::literal(dtype, 0.0));
    }
    if n == 0 {
        bail!(Value, "a must be greater than 0 unless no samples are taken");
    }
    if !replace && n_draws > n {
        bail!(Value, "Cannot take a larger sample (size {n_draws}) than population (size {n}) when 'replace=False'");
    }
    let drawn = match p {
        None if !replace => {
            let mixed = match pool {
                Pool::Count(n) => permutation_of(&key, *n)?,
                Pool::Array(x) => permutation(&key, x, axis, false)?,
            };
            let (starts, mut limits) = (vec![0; mixed.aval().rank()], mixed.aval().shape.to_vec());
            limits[at] = n_draws;
            lax::slice(&mixed, &starts, &limits, None)?
        }
        None => {
            let places = randint(&key, shape, &weak_int(0), &weak_int(n as i64), default_int())?;
            from_pool(pool, &places, axis)?
        }
        Some(p) => {
            let p = crate::promotion::promote_inexact(std::slice::from_ref(p))?.swap_remove(0);
            if p.aval().shape[..] != [n] {
                bail!(
                    Value,
                    "p must be None or a 1D vector with the same size as a.shape[axis]. p has shape {} and a.shape[axis] is {n}.",
                    tuple_text(&p.aval().shape)
                );
            }
            let places = if replace { weighted(&key, &p, shape)? } else { weighted_distinct(&key, &p, n, n_draws)? };
            from_pool(pool, &places, axis)?
        }
    };
    let full = match pool {
        Pool::Count(_) => shape.to_vec(),
        Pool::Array(x) => {
            let of = x.aval().shape.to_vec();
            [&of[..at], shape, &of[at + 1..]].concat()
        }
    };
    lax::reshape(&drawn, &full, None)
}

fn from_pool(pool: &Pool, places: &Val, axis: i64) -> Result<Val> {
    match pool {
        Pool::Count(_) => Ok(places.clone()),
        Pool::Array(x) => numpy::take(x, places, Some(axis), TakeOptions::default()),
    }
}

/// The cumulative weights are searched for even samples of their total.
fn weighted(key: &Val, p: &Val, shape: &[usize]) -> Result<Val> {
    let cumulative = numpy::cumsum(p, None, None)?;
    let total = crate::indexing::getitem(&cumulative, &[crate::indexing::IndexItem::Int(-1)])?;
    let samples = uniform(key, shape, p.aval().dtype, &weak_float(0.0), &weak_float(1.0))?;
    let rest = lax::sub(&number(&samples, 1.0), &samples)?;
    numpy::searchsorted(&cumulative, &lax::mul(&total, &rest)?, false)
}

/// The greatest of perturbed log weights are a weighted sample without replacement.
fn weighted_distinct(key: &Val, p: &Val, n: usize, n_draws: usize) -> Result<Val> {
    let noise = gumbel(key, &[n], p.aval().dtype)?;
    let perturbed = lax::add(&noise, &lax::log(p)?)?;
    Ok(lax::top_k(&perturbed, n_draws, 0)?.swap_remove(1))
}

/// Categories drawn with unnormalized log probabilities along an axis.
///
/// # Errors
/// A `Value` error for a shape that does not fit, or more draws than categories without replacement.
pub fn categorical(key: &Val, logits: &Val, axis: i64, shape: Option<&[usize]>, replace: bool) -> Result<Val> {
    let (key, _) = single_key("categorical", key)?;
    let rank = logits.aval().rank();
    let at = canonical_axis(axis, rank)?;
    let full = logits.aval().shape.to_vec();
    let batch: Vec<usize> = (0..rank).filter(|&i| i != at).map(|i| full[i]).collect();
    let shape = shape.unwrap_or(&batch);
    let n_prefix = shape.len().checked_sub(batch.len()).filter(|&n| {
        crate::broadcast::broadcast_shapes(&[&shape[n..], &batch]).is_ok_and(|joined| joined[..] == shape[n..])
    });
    let Some(n_prefix) = n_prefix else {
        bail!(
            Value,
            "categorical shape must be broadcast-compatible with batch shape {}, got {}",
            tuple_text(&batch),
            tuple_text(shape)
        );
    };
    let prefix = &shape[..n_prefix];
    if !replace {
        return distinct_categories(&key, logits, at, prefix);
    }
    let mut sample_shape = shape.to_vec();
    sample_shape.insert(n_prefix + at, full[at]);
    let noise = gumbel(&key, &sample_shape, logits.aval().dtype)?;
    let lifted = lax::expand_axes(logits, &(0..n_prefix).collect::<Vec<_>>())?;
    lax::argmax(&lax::add(&noise, &lifted)?, n_prefix + at, DType::I32)
}

fn distinct_categories(key: &Val, logits: &Val, at: usize, prefix: &[usize]) -> Result<Val> {
    let k: usize = prefix.iter().product();
    let n = logits.aval().shape[at];
    if k > n {
        bail!(Value, "Number of samples without replacement ({k}) cannot exceed number of categories ({n}).");
    }
    let noise = gumbel(key, &logits.aval().shape, logits.aval().dtype)?;
    let places = lax::top_k(&lax::add(&noise, logits)?, k, at)?.swap_remove(1);
    let places = numpy::moveaxis(&places, &[at as i64], &[0])?;
    let rest = places.aval().shape[1..].to_vec();
    lax::reshape(&places, &[prefix, &rest].concat(), None)
}
