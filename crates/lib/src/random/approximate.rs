//! Samplers without loops, close to their distributions but not equal to them: `method="approximate"`.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::continuous::{exponential, normal};
use super::key::two_keys;
use super::uniform::statics;
use crate::broadcast::broadcast_to;
use crate::convert::{inexact, to_dtype};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::formula::{Formula, abs, ceil, exp, log, maximum, ndtr, of, select, sqrt, square, where_};
use crate::jit::named_jit_one;
use crate::lax;

/// How samples are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleMethod {
    /// By rejection, with exactly their distribution.
    #[default]
    Exact,
    /// Without loops, with nearly their distribution.
    Approximate,
}

impl Argument for SampleMethod {
    const TYPE: Type = Type { python: "str", rust: "String" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<SampleMethod> {
        match &*args.shown(at)? {
            "exact" => Ok(SampleMethod::Exact),
            "approximate" => Ok(SampleMethod::Approximate),
            other => {
                let name = args.function();
                bail!(Value, "method argument to `{name}` must be one of {{'exact', 'approximate'}}, got '{other}'")
            }
        }
    }
    fn absent(_default: Constant) -> SampleMethod {
        SampleMethod::Exact
    }
}

/// The dtype in which numbers of a dtype are found: half precision is too coarse for it.
fn working(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// How much `a` is raised before a normal number is transformed; as many factors `U**(1 / (a + i))` lower it again.
const RAISED: usize = 4;

/// Rows: the coefficients of powers of a normal number over `sqrt(nu)`; in each a polynomial of `1 / nu`, by rising powers. They map
/// it to the cube root of a number of the gamma distribution over its mean (as Wilson and Hilferty's, with terms of higher order).
const CUBE_ROOT: [&[f64]; 7] = [
    &[1.0, -0.2237368, -0.01513904],
    &[0.4713941, 0.02607083, -0.008986007],
    &[0.0001348028, 0.01128186, 0.02277679],
    &[-0.008553069, -0.01153761, -0.01323293],
    &[0.00312558, 0.005169654, -0.006950356],
    &[-0.0008426812, 0.00253001, 0.001060438],
    &[9.780499e-05, -0.001450117, 0.001565326],
];

fn polynomial(x: &Formula, coefficients: impl DoubleEndedIterator<Item = Formula>) -> Formula {
    let highest_first = coefficients.rev();
    highest_first.reduce(|value, coefficient| value * x + coefficient).unwrap_or_else(|| x * 0.0)
}

/// Numbers of the gamma distribution, or their logarithms, whose gradient in `a` is that of this map.
pub(super) fn gamma_approximately(key: &Val, a: &Val, shape: &[usize], dtype: DType, log_space: bool) -> Result<Val> {
    let all = [statics(shape, dtype), vec![log_space.into()]].concat();
    named_jit_one("_gamma_approx", &all, &[key.clone(), a.clone()], |ins| {
        let wide = working(dtype);
        let a = broadcast_to(&to_dtype(&ins[1], wide)?, shape)?;
        let (for_normal, for_factors) = two_keys(&ins[0])?;
        let raised = log_raised(&(of(&a) + RAISED as f64), &normal(&for_normal, shape, wide)?, wide);
        let log_sample = raised + log_factors(&for_factors, &a, shape, wide)?;
        let sample = if log_space { log_sample } else { exp(log_sample) };
        to_dtype(&sample.done()?, dtype)
    })
}

/// The logarithm of a number of the gamma distribution of `a`, which is not small, from a normal one.
fn log_raised(a: &Formula, normal: &Val, dtype: DType) -> Formula {
    let nu = 2.0 * a;
    let inverse = 1.0 / &nu;
    let small = of(normal) * nu.then(lax::rsqrt);
    let row = |row: &&[f64]| polynomial(&inverse, row.iter().map(|&number| number.into()));
    let root = polynomial(&small, CUBE_ROOT.iter().map(row));
    let tiny = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    log(a) + 3.0 * log(maximum(root, tiny))
}

/// The sum of `log(U_i) / (a + i)`, which takes the raise of `a` back.
fn log_factors(key: &Val, a: &Val, shape: &[usize], dtype: DType) -> Result<Formula> {
    let full = [&[RAISED], shape].concat();
    let step = lax::broadcasted_iota(dtype, &full, 0)?;
    let drawn = exponential(key, &full, dtype)?;
    Ok((-of(&drawn) / (of(a) + &step)).sum(0))
}

/// From this rate on the distribution's function is inverted by series, below it by a table of its first values.
const FEW: f64 = 7.0;
/// The largest count of the table: more has a probability below 1e-4 for rates below [`FEW`].
const TABLE: usize = 18;

/// Counts of the Poisson distribution: the inverse of its distribution function at a uniform number.
pub(super) fn poisson_approximately(key: &Val, lam: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    named_jit_one("_poisson_approx", &statics(shape, dtype), &[key.clone(), lam.clone()], |ins| {
        let wide = working(inexact(ins[1].aval().dtype));
        let lam = of(&broadcast_to(&to_dtype(&ins[1], wide)?, shape)?);
        let normal = of(&normal(&ins[0], shape, wide)?);
        let counts = where_(lam.lt(FEW), few_counts(&lam, &ndtr(&normal)), many_counts(&lam, &normal));
        to_dtype(&counts.done()?, dtype)
    })
}

/// How many values of the distribution function are below `u`.
fn few_counts(lam: &Formula, u: &Formula) -> Formula {
    let mut term = exp(-lam);
    let mut total = term.clone();
    let mut counts = total.lt(u).typed_as(u);
    for k in 1..=TABLE {
        term = term * (lam / k as f64);
        total = total + &term;
        counts = counts + total.lt(u).typed_as(u);
    }
    counts
}

/// The count by the expansion of Cornish and Fisher, lowered by up to 2 where the distribution function says so.
fn many_counts(lam: &Formula, normal: &Formula) -> Formula {
    let root = sqrt(lam);
    let (square, twelfth) = (square(normal), 72.0 * &root);
    let expanded = lam + &root * normal - 2.0 / 3.0 + &square / 6.0 + normal * (1.0 - &square) / twelfth;
    let count = ceil(expanded + 0.6);
    let is_beyond = |count: &Formula| normal_score(count, lam).ge(normal).typed_as(normal);
    maximum(&count + 1.0 - is_beyond(&count) - is_beyond(&(&count - 1.0)), 0.0)
}

/// The normal number whose distribution function is that of the Poisson distribution at a count, nearly: D. Peizer and J. Pratt,
/// "A normal approximation for binomial, F, beta, and other common, related tail probabilities", 1968.
fn normal_score(count: &Formula, lam: &Formula) -> Formula {
    let known = maximum(count, 0.0);
    let ratio = (&known + 0.5) / lam;
    let distance = &known - lam + 2.0 / 3.0 + 0.02 / (&known + 1.0);
    let score = distance * sqrt((1.0 + deviance(&ratio)) / lam);
    where_(count.lt(0.0), f64::NEG_INFINITY, score)
}

/// `(1 - t**2 + 2 t log(t)) / (1 - t)**2`, by its series around 1.
fn deviance(ratio: &Formula) -> Formula {
    let beside = ratio - 1.0;
    let is_near = abs(&beside).lt(0.25);
    let term = |k: i32| (if k % 2 == 1 { -2.0 } else { 2.0 }) / f64::from((k + 1) * (k + 2));
    let series = polynomial(&beside, (0..10).map(|k| if k == 0 { 0.0.into() } else { term(k).into() }));
    let (t, apart) = (where_(&is_near, 2.0, ratio), where_(&is_near, 1.0, &beside));
    let exact = (1.0 - square(&t) + 2.0 * &t * log(&t)) / square(apart);
    select(is_near, series, exact)
}
