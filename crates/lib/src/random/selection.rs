//! Random order and random choice.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, Scalar, bail};
use pullback_derive::{Keywords, public};
use pullback_ir::Val;

use super::continuous::gumbel;
use super::key::{checked_key, two_keys};
use super::uniform::{Mode, randint, random_bits, uniform_unit};
use crate::axes::canonical_axis;
use crate::convert::{default_int, number, weak_int};
use crate::declare::{Argument, Arguments, Constant, NestedInts, Reader, Type};
use crate::jit::named_jit_one;
use crate::lax::{self, GatherDimensions, GatherMode, IndexOptions};
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

impl Argument for Population {
    const TYPE: Type = Type { python: "int | ArrayLike", rust: "impl Into<Population>" };
    /// Integers count, arrays have parts; a known scalar array is its integer. `choice` cuts fractions off.
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Population> {
        let x = args.array(at)?;
        let aval = x.aval();
        if aval.rank() > 0 || !(aval.dtype.is_integer() || aval.dtype.is_float()) {
            return Ok(Population::Array(x));
        }
        if aval.dtype.is_float() && args.function() == "choice" {
            return args.float(at).map(|number| Population::Below(number as i64));
        }
        if aval.dtype.is_float() {
            return Ok(Population::Array(x));
        }
        args.int(at).map(Population::Below)
    }
    fn absent(default: Constant) -> Population {
        Population::Below(Argument::absent(default))
    }
}

impl Population {
    fn values(&self) -> Result<Val> {
        match self {
            Population::Below(n) => lax::iota(default_int(), (*n).max(0) as usize),
            Population::Array(x) => Ok(x.clone()),
        }
    }
}

/// The integers below `x`, or the parts of the array `x` along an axis, in random order.
///
/// Args:
///   key: a key, typed or of two words.
///   x: an integer, or an array of at least one axis.
///   axis: the axis that is put in order, negative counted from the end.
///   independent: whether each line along the axis gets an order of its own.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array like `x`, or of integers below it.
/// Raises:
///   TypeError: `key` is no key, or `x` is a scalar but no integer.
///   ValueError: several keys are given, or the axis is out of bounds.
/// Differentiable: in an array `x`, linear.
/// Example:
///   >>> jax.random.permutation(jax.random.key(0), 4)
///   Array([0, 1, 3, 2], dtype=int32)
#[public("random.permutation(key: Key, x, axis=0, independent=False, *, out_sharding: Sharded=None)")]
pub fn permutation(key: &Val, x: &Population, axis: i64, independent: bool) -> Result<Val> {
    let key = checked_key("permutation", key)?;
    let x = x.values()?;
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
        let options = IndexOptions { mode: GatherMode::FillOrDrop, sorted: false, unique };
        lax::gather(x, &indices, &dims, &sizes, options, None)
    })
}

/// What users say of [`choice`] beside the population.
#[derive(Clone, Debug, Keywords)]
pub struct Choice {
    /// Shape of the draws.
    #[keyword(ManySizes)]
    pub shape: Vec<usize>,
    /// Whether a part may be drawn again.
    pub replace: bool,
    /// Probabilities; equal ones when not given.
    pub p: Option<Val>,
    /// Along which axis of the array.
    pub axis: i64,
    /// Precision of the draws with probabilities and without replacement.
    pub mode: Option<Mode>,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { shape: vec![], replace: true, p: None, axis: 0, mode: None }
    }
}

/// Sizes, one of which alone is no shape.
pub struct ManySizes;

impl Reader<Vec<usize>> for ManySizes {
    const TYPE: Type = Type { python: "Sequence[int]", rust: "&[usize]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<usize>> {
        if let Ok(NestedInts::One(size)) = args.nested_ints(at) {
            bail!(Type, "shape argument of jax.random.choice must be a sequence, got {size}");
        }
        Argument::read(args, at)
    }
    fn absent(default: Constant) -> Vec<usize> {
        Argument::absent(default)
    }
}

/// Random integers below `a`, or random parts of the array `a` along an axis.
///
/// Args:
///   key: a key, typed or of two words.
///   a: a positive integer, or an array of at least one axis.
///   shape: the shape of the sample; one by default.
///   replace: whether one thing may be drawn more than once.
///   p: probabilities of the things, a vector; equal by default.
///   axis: the axis of the things, negative counted from the end.
///   mode: with `p`, 'low' or 'high', as `gumbel` takes it for draws without replacement.
/// Returns: int32 of `shape`, or an array like `a` with `shape` in place of the axis.
/// Raises:
///   TypeError: `key` is no key, or `a` is a scalar but no integer.
///   ValueError: several keys are given, there is nothing to draw from, more is drawn without replacement than there
///     is, or `p` has another shape.
/// Differentiable: in an array `a`, linear; not in `p`.
/// Example:
///   >>> jax.random.choice(jax.random.key(0), 5, (3,), replace=False)
///   Array([0, 1, 4], dtype=int32)
#[public("random.choice(key: Key, a, shape=(), replace=True, p=None, axis=0, mode=None)")]
pub fn choice(key: &Val, a: &Population, options: &Choice) -> Result<Val> {
    let key = checked_key("choice", key)?;
    let (axis, n_parts) = match a {
        Population::Below(n) => (0, *n),
        Population::Array(x) => {
            let aval = x.aval();
            if aval.rank() == 0 {
                bail!(Type, "a must be an integer or at least 1-dimensional");
            }
            let axis = canonical_axis(options.axis, aval.rank())?;
            (axis, aval.shape[axis] as i64)
        }
    };
    let n_draws: usize = pullback_base::extent(&options.shape);
    if n_draws == 0 {
        return no_draws(a, &options.shape);
    }
    check_population(n_parts, n_draws, options)?;
    let drawn = match &options.p {
        None if options.replace => {
            let (low, high) = (weak_int(0), weak_int(n_parts));
            let positions = randint(&key, &options.shape, &low, &high, default_int())?;
            at_positions(a, &positions, axis)?
        }
        None => {
            let order = permutation(&key, a, axis as i64, false)?;
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
            at_positions(a, &positions, axis)?
        }
    };
    in_shape(&drawn, a, &options.shape, axis)
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
fn weighted_once(key: &Val, p: &Val, n_draws: usize, mode: Option<Mode>) -> Result<Val> {
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
    if full.is_empty() { lax::reshape_always(drawn, &full) } else { lax::reshape(drawn, &full, None) }
}
