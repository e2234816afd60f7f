//! Random order and random choice.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, Scalar, bail};
use pullback_ir::Val;

use super::continuous::gumbel;
use super::key::{checked_key, two_keys};
use super::uniform::{Mode, randint, random_bits, uniform_unit};
use crate::axes::canonical_axis;
use crate::convert::{default_int, number, weak_int};
use crate::jit::named_jit_one;
use crate::lax::{self, GatherDimensions, IndexMode, IndexOptions};
use crate::numpy::{add, less, where_};
use crate::promotion::promote_inexact;

/// What is permuted or chosen from.
#[derive(Clone, Debug)]
pub enum Population {
    /// The integers below a number.
    Below(i64),
    /// The parts of an array along an axis.
    Array(Val),
}

impl Population {
    fn values(&self) -> Result<Val> {
        match self {
            Population::Below(n) => lax::iota(default_int(), (*n).max(0) as usize),
            Population::Array(x) => Ok(x.clone()),
        }
    }
}

/// The population in random order along an axis; `independent` orders every line along the axis by itself.
///
/// # Errors
/// A `Type` error for a scalar array, a `Value` error for a bad axis; errors of keys.
pub fn permutation(key: &Val, population: &Population, axis: i64, independent: bool) -> Result<Val> {
    let key = checked_key("permutation", key)?;
    let x = population.values()?;
    let aval = x.aval();
    if aval.rank() == 0 {
        bail!(Type, "x must be an integer or at least 1-dimensional");
    }
    let axis = canonical_axis(axis, aval.rank())?;
    if aval.rank() == 1 || independent {
        return shuffle(&key, &x, axis);
    }
    let order = shuffle(&key, &lax::iota(default_int(), aval.shape[axis])?, 0)?;
    take(&x, &order, axis, true)
}

/// Sorts by random words, in as many rounds as make equal words of all rounds unlikely.
fn shuffle(key: &Val, x: &Val, axis: usize) -> Result<Val> {
    let size = x.aval().size().max(1) as f64;
    let n_rounds = (3.0 * size.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    named_jit_one("_shuffle", &[axis as i64], &[key.clone(), x.clone()], |ins| {
        let (mut key, mut x) = (ins[0].clone(), ins[1].clone());
        for _ in 0..n_rounds {
            let (next, sub) = two_keys(&key)?;
            key = next;
            let words = random_bits(&sub, 32, &x.aval().shape)?;
            x = lax::sort(&[words, x], axis, 1, true)?.swap_remove(1);
        }
        Ok(x)
    })
}

/// Parts of an array at the given positions along an axis.
fn take(x: &Val, positions: &Val, axis: usize, unique: bool) -> Result<Val> {
    named_jit_one("_take", &[axis as i64, unique.into()], &[x.clone(), positions.clone()], |ins| {
        let (x, positions) = (&ins[0], &ins[1]);
        let aval = x.aval();
        let is_negative = less(positions, &weak_int(0))?;
        let wrapped = add(positions, &weak_int(aval.shape[axis] as i64))?;
        let positions = where_(&is_negative, &wrapped, positions)?;
        let n_axes = positions.aval().rank();
        let indices = lax::expand_axes(&positions, &[n_axes])?;
        let before = 0..axis;
        let after = axis + n_axes..aval.rank() - 1 + n_axes;
        let dims = GatherDimensions {
            offset_dims: before.chain(after).collect(),
            collapsed_slice_dims: vec![axis],
            start_index_map: vec![axis],
            ..GatherDimensions::default()
        };
        let mut sizes = aval.shape.to_vec();
        sizes[axis] = 1;
        let options = IndexOptions { mode: IndexMode::FillOrDrop, sorted: false, unique };
        lax::gather(x, &indices, &dims, &sizes, options, None)
    })
}

/// What users say of [`choice`] beside the population.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Shape of the draws.
    pub shape: Vec<usize>,
    /// Whether a part may be drawn again.
    pub replace: bool,
    /// Probabilities; equal ones when not given.
    pub p: Option<Val>,
    /// Along which axis of the array.
    pub axis: i64,
    /// Precision of the draws with probabilities and without replacement.
    pub mode: Mode,
}

/// Random parts of the population.
///
/// # Errors
/// A `Value` error for an empty population, for more draws without replacement than there are parts, for probabilities
/// of another shape and for a bad axis; errors of keys.
pub fn choice(key: &Val, population: &Population, options: &Choice) -> Result<Val> {
    let key = checked_key("choice", key)?;
    let (axis, n_parts) = match population {
        Population::Below(n) => (0, *n),
        Population::Array(x) => {
            let aval = x.aval();
            let axis = canonical_axis(options.axis, aval.rank())?;
            (axis, aval.shape[axis] as i64)
        }
    };
    let n_draws: usize = options.shape.iter().product();
    if n_draws == 0 {
        return no_draws(population, &options.shape);
    }
    check_population(n_parts, n_draws, options)?;
    let drawn = match &options.p {
        None if options.replace => {
            let (low, high) = (weak_int(0), weak_int(n_parts));
            let positions = randint(&key, &options.shape, &low, &high, default_int())?;
            at_positions(population, &positions, axis)?
        }
        None => {
            let order = permutation(&key, population, axis as i64, false)?;
            let mut limit = order.aval().shape.to_vec();
            limit[axis] = n_draws;
            lax::slice(&order, &vec![0; limit.len()], &limit, None)?
        }
        Some(p) => {
            let p = promote_inexact(std::slice::from_ref(p))?.swap_remove(0);
            check_probabilities(&p, n_parts)?;
            let positions = if options.replace {
                weighted(&key, &p, &options.shape)?
            } else {
                weighted_once(&key, &p, n_draws, options.mode)?
            };
            at_positions(population, &positions, axis)?
        }
    };
    in_shape(&drawn, population, &options.shape, axis)
}

fn no_draws(population: &Population, shape: &[usize]) -> Result<Val> {
    let dtype = match population {
        Population::Below(_) => default_int(),
        Population::Array(x) => x.aval().dtype,
    };
    lax::full(shape, &Val::Literal(Scalar::zero(dtype)))
}

fn check_population(n_parts: i64, n_draws: usize, options: &Choice) -> Result<()> {
    if n_parts <= 0 {
        bail!(Value, "a must be greater than 0 unless no samples are taken");
    }
    if !options.replace && n_draws as i64 > n_parts {
        bail!(
            Value,
            "Cannot take a larger sample (size {n_draws}) than population (size {n_parts}) when 'replace=False'"
        );
    }
    Ok(())
}

fn check_probabilities(p: &Val, n_parts: i64) -> Result<()> {
    let aval = p.aval();
    if aval.data().shape[..] == [n_parts as usize] {
        return Ok(());
    }
    bail!(
        Value,
        "p must be None or a 1D vector with the same size as a.shape[axis]. p has shape {} and a.shape[axis] is \
         {n_parts}.",
        tuple_text(&aval.shape)
    )
}

/// Positions by inverting the distribution function.
fn weighted(key: &Val, p: &Val, shape: &[usize]) -> Result<Val> {
    let sums = named_jit_one("cumsum", &[0], std::slice::from_ref(p), |ins| lax::cumsum(&ins[0], 0, false))?;
    let size = p.aval().shape[0];
    let total = lax::squeeze_axes(&lax::slice_always(&sums, &[size - 1], &[size], None)?, &[0])?;
    let unit = uniform_unit(key, shape, p.aval().dtype)?;
    // From the open end of the interval, so that a part of probability 0 is never drawn.
    let at = lax::mul(&total, &lax::sub(&number(&unit, 1.0), &unit)?)?;
    named_jit_one("searchsorted", &[0], &[sums, at], |ins| lax::search_sorted(&ins[0], &ins[1], false))
}

/// Positions of the greatest logarithms after noise.
fn weighted_once(key: &Val, p: &Val, n_draws: usize, mode: Mode) -> Result<Val> {
    let aval = p.aval();
    let noise = gumbel(key, &aval.shape, aval.dtype, mode)?;
    let noisy = lax::add(&noise, &lax::log(p)?)?;
    Ok(lax::top_k(&noisy, n_draws, 0)?.swap_remove(1))
}

fn at_positions(population: &Population, positions: &Val, axis: usize) -> Result<Val> {
    match population {
        Population::Below(_) => Ok(positions.clone()),
        Population::Array(x) => take(x, positions, axis, false),
    }
}

fn in_shape(drawn: &Val, population: &Population, shape: &[usize], axis: usize) -> Result<Val> {
    let full = match population {
        Population::Below(_) => shape.to_vec(),
        Population::Array(x) => {
            let aval = x.aval();
            [&aval.shape[..axis], shape, &aval.shape[axis + 1..]].concat()
        }
    };
    if full.is_empty() { lax::reshape_always(drawn, &full, None) } else { lax::reshape(drawn, &full, None) }
}
