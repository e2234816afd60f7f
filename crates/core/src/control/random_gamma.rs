//! Samples of the gamma distribution, each from a key of its own.
//!
//! random_gamma : keys[k...] a[k..., rest...] -> x[k..., rest...]        a floating, positive; each key is split over `rest`
//! d x = random_gamma_grad(a, x) da; in log space divided by `x`
//!
//! The method is that of Marsaglia and Tsang (A simple method for generating gamma variables, 2000): the cube of a normal
//! number about a centre, accepted by comparison with a uniform one; for `a < 1` a sample of `a + 1` is scaled by a power
//! of a uniform number. Which key gives which number is the reference's, so that samples have its digits.

use pullback_base::{Aval, DType, Error, Result, Scalar, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Builder, Derivative, Emit, Hlo, JaxprRef, Params, Prim, PrimRef, Sample, SampleIn, Splits,
    Tangents, Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::while_loop::{WHILE, While};
use crate::prims::random::rbg;
use crate::prims::{RANDOM_GAMMA_GRAD, RANDOM_SPLIT, RandomSplit, V, batch_to_front, unstack};

/// Params of `random_gamma`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RandomGamma {
    /// Whether results are logarithms, exact where samples underflow.
    pub log_space: bool,
}

struct RandomGammaPrim;

/// The primitive `random_gamma`.
pub static RANDOM_GAMMA: PrimRef = PrimRef(&RandomGammaPrim);

impl Prim for RandomGammaPrim {
    type Params = RandomGamma;
    const NAME: &'static str = "random_gamma";

    fn abstract_eval(&self, _: &RandomGamma, ins: &[Aval]) -> Result<Avals> {
        let [keys, a] = ins else { bail!(Type, "random_gamma takes 2 operands, got {}", ins.len()) };
        if !keys.dtype.is_key() {
            bail!(Type, "random_gamma requires PRNG key array, got {keys}");
        }
        if !a.dtype.is_float() {
            bail!(Type, "random_gamma requires floating shape parameters, got {a}");
        }
        if !a.shape.starts_with(&keys.shape) {
            bail!(Type, "random_gamma requires parameters whose first axes are those of the keys, got {a} and {keys}");
        }
        Ok(smallvec![Aval::new(&a.shape, a.dtype)])
    }

    fn derivative(&self) -> Derivative<RandomGamma> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<RandomGamma> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RandomGamma> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<RandomGamma> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let keys = batch_to_front(e, &ins[0], dims[0], batch.size)?;
            let a = batch_to_front(e, &ins[1], dims[1], batch.size)?;
            Ok((e.bind(RANDOM_GAMMA, &Params::new(p.clone()), &[keys, a])?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &RandomGamma, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let log_space = p.log_space;
        CpuForm::Decompose(Box::new(move |e, ins| Ok(smallvec![samples(e, &ins[0], &ins[1], log_space)?])))
    }

    fn hlo(&self) -> Hlo<RandomGamma> {
        Hlo::Missing("XLA takes minutes to compile its rejection loops around random bits written out")
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |log_space, keys: &[usize], shape: &[usize]| {
            let keys = SampleIn { aval: Aval::new(keys, DType::KeyFry), domain: (0.0, 1e6) };
            let a = SampleIn { aval: Aval::new(shape, DType::F32), domain: (0.1, 5.0) };
            Sample { params: Params::new(RandomGamma { log_space }), ins: vec![keys, a] }
        };
        vec![
            sample(false, &[], &[]),
            sample(false, &[], &[7]),
            sample(true, &[], &[2, 3]),
            sample(false, &[2], &[2, 3]),
            sample(true, &[2], &[2]),
            sample(false, &[], &[0]),
        ]
    }
}

fn jvp(p: &RandomGamma, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(RANDOM_GAMMA, &Params::new(p.clone()), xs)?;
    let Some(dot) = &ts[1] else { return Ok((outs, smallvec![None])) };
    let (a, out) = (V::new(e, &xs[1]), V::new(e, &outs[0]));
    let slope = if p.log_space {
        let sample = at_least_tiny(&out.exp());
        a.bind(RANDOM_GAMMA_GRAD, &Params::NONE, &[&sample]) / sample
    } else {
        a.bind(RANDOM_GAMMA_GRAD, &Params::NONE, &[&out])
    };
    Ok((outs, smallvec![Some((V::new(e, dot) * slope).done()?)]))
}

/// Samples that underflowed are the least normal number: there is a quotient by them.
fn at_least_tiny<'e>(sample: &V<'e>) -> V<'e> {
    let tiny = match sample.aval().dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F16 => 2f64.powi(-14),
        _ => f32::MIN_POSITIVE.into(),
    };
    sample.eq(&sample.number(0.0)).select(sample, &sample.full(tiny))
}

/// `n` new keys of each key.
fn split(e: &dyn Emit, keys: &Val, n: usize) -> Result<Vals> {
    let all = rbg::own_split(&V::new(e, keys), n)?;
    unstack(e, &all, keys.aval().rank())
}

/// The bits after the leading one in a floating number.
fn mantissa_bits(dtype: DType) -> Result<u32> {
    Ok(match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        DType::BF16 => 7,
        other => return Err(Error::not_implemented(format!("samples of the gamma distribution in {other}"))),
    })
}

/// A number from 0 up to but not including 1 from each key: random mantissas under the exponent of 1, less 1.
fn uniform<'e>(e: &'e dyn Emit, keys: &Val, dtype: DType) -> Result<V<'e>> {
    let mantissa = mantissa_bits(dtype)?;
    let word = match dtype.bits() {
        64 => DType::U64,
        16 => DType::U16,
        _ => DType::U32,
    };
    // A mantissa of fewer than 8 bits takes no more random bits than that.
    let drawn = if mantissa < 8 { 8 } else { dtype.bits() };
    let bits = rbg::own_bits(&V::new(e, keys), drawn)?.convert(word);
    let constant = |value: i128| V::new(e, &Val::Literal(Scalar::int(word, value)));
    let mantissas = bits.shift_right_logical(&constant((drawn - mantissa).into()));
    let one = Scalar::one(dtype).to_bits();
    Ok(mantissas.or(&constant(one as i128)).bitcast(dtype) - 1.0)
}

/// A normal number from each key, by the inverse of the error function of a number between -1 and 1.
fn normal<'e>(e: &'e dyn Emit, keys: &Val, dtype: DType) -> Result<V<'e>> {
    let least = 2f64.powi(-1 - mantissa_bits(dtype)? as i32) - 1.0;
    let unit = uniform(e, keys, dtype)?;
    // The width of the interval rounds to 2.
    let between = unit.number(least).max(&(unit * 2.0 + least));
    Ok(between.erf_inv() * std::f64::consts::SQRT_2)
}

/// The jaxpr of a function of values of given types.
fn jaxpr_of(ins: &[Aval], f: impl FnOnce(&Builder, &[Val]) -> Result<Vec<Val>>) -> Result<JaxprRef> {
    let b = Builder::new();
    let args: Vec<Val> = ins.iter().map(|&aval| b.input(aval)).collect();
    let outs = f(&b, &args)?;
    Ok(JaxprRef::new(b.finish(&outs, None).0))
}

/// A loop over the carry, with the same consts for condition and body; elements whose condition fails stay as they are.
fn while_loop(e: &dyn Emit, cond: JaxprRef, body: JaxprRef, consts: &[Val], carry: &[Val]) -> Result<Vals> {
    let n = consts.len();
    let params = While { cond_jaxpr: cond, cond_nconsts: n, body_jaxpr: body, body_nconsts: n };
    e.bind(WHILE, &Params::new(params), &[consts, consts, carry].concat())
}

fn samples(e: &dyn Emit, keys: &Val, a: &Val, log_space: bool) -> Result<Val> {
    let (key_rank, aval) = (keys.aval().rank(), a.aval());
    let per_key = RandomSplit { shape: aval.shape[key_rank..].to_vec() };
    let keys = V::new(e, keys).bind(RANDOM_SPLIT, &Params::new(per_key), &[]).done()?;
    let own = split(e, &keys, 2)?;
    let a = V::new(e, a);
    let is_large = a.ge(&a.number(1.0));
    let raised = is_large.select(&(&a + 1.0), &a);
    let (centre, cube) = accepted_cube(e, &own[0], &raised)?;
    let unit = uniform(e, &own[1], aval.dtype)?;
    if log_space {
        scaled_log(&a, &is_large, &centre, &cube, &unit)
    } else {
        scaled(&a, &is_large, &centre, &cube, &unit)
    }
    .done()
}

fn scaled<'e>(a: &V<'e>, is_large: &V<'e>, centre: &V<'e>, cube: &V<'e>, unit: &V<'e>) -> V<'e> {
    let unit = 1.0 - unit;
    let small = is_large.select(&unit.pow(&(1.0 / a)), &unit.full(1.0));
    centre * cube * small
}

fn scaled_log<'e>(a: &V<'e>, is_large: &V<'e>, centre: &V<'e>, cube: &V<'e>, unit: &V<'e>) -> V<'e> {
    let log = (-unit).log1p();
    let keeps = is_large.or(&log.eq(&log.number(0.0)));
    let small = keeps.select(&(&log * (1.0 / a)), &log.full(0.0));
    centre.log() + cube.log() + small
}

/// The centre `a - 1/3` and the accepted cube of a normal number about 1, for each `a >= 1`.
fn accepted_cube<'e>(e: &'e dyn Emit, keys: &Val, a: &V<'e>) -> Result<(V<'e>, V<'e>)> {
    let centre = a - 1.0 / 3.0;
    let width = (1.0 / 3.0) / centre.sqrt();
    let (centre, width) = (centre.done()?, width.done()?);
    let consts = [centre.clone(), width];
    // The first step is always taken: 2 is more than a uniform number and the logarithm of 1 less than a positive one.
    let full = |number: f64| a.full(number).done();
    let carry = [keys.clone(), full(0.0)?, full(1.0)?, full(2.0)?];
    let avals: Vec<Aval> = consts.iter().chain(&carry).map(Val::aval).collect();
    let is_rejected = jaxpr_of(&avals, |b, ins| Ok(vec![rejected(b, ins)?]))?;
    let outs = while_loop(e, is_rejected, jaxpr_of(&avals, proposal)?, &consts, &carry)?;
    Ok((V::new(e, &centre), V::new(e, &outs[2])))
}

/// Whether a cube is not accepted, from centre, width, key, squared normal number, cube, uniform number.
fn rejected(e: &dyn Emit, ins: &[Val]) -> Result<Val> {
    let [centre, _, _, square, cube, unit] = ins else { bail!(Internal, "six operands") };
    let [centre, square, cube, unit] = [centre, square, cube, unit].map(|x| V::new(e, x));
    let bound = 1.0 - 0.0331 * (&square * &square);
    let log_bound = square * 0.5 + centre * ((1.0 - &cube) + cube.log());
    unit.ge(&bound).and(&unit.log().ge(&log_bound)).done()
}

/// The next key, squared normal number, cube and uniform number.
fn proposal(e: &Builder, ins: &[Val]) -> Result<Vec<Val>> {
    let [_, width, key, square, ..] = ins else { bail!(Internal, "six operands") };
    let keys = split(e, key, 3)?;
    let (x, v) = positive(e, &keys[1], width, square)?;
    let (x, v) = (V::new(e, &x), V::new(e, &v));
    let unit = uniform(e, &keys[2], square.aval().dtype)?;
    Ok(vec![keys[0].clone(), (&x * &x).done()?, (&v * &v * &v).done()?, unit.done()?])
}

/// A normal number `x` with `1 + width x` positive, and that.
fn positive(e: &dyn Emit, key: &Val, width: &Val, like: &Val) -> Result<(Val, Val)> {
    let full = |number: f64| V::new(e, like).full(number).done();
    let carry = [key.clone(), full(0.0)?, full(-1.0)?];
    let avals: Vec<Aval> = std::iter::once(width).chain(&carry).map(Val::aval).collect();
    let cond = jaxpr_of(&avals, |b, ins| {
        let v = V::new(b, &ins[3]);
        Ok(vec![v.le(&v.number(0.0)).done()?])
    })?;
    let body = jaxpr_of(&avals, |b, ins| {
        let keys = split(b, &ins[1], 2)?;
        let x = normal(b, &keys[1], ins[0].aval().dtype)?;
        let v = 1.0 + &x * V::new(b, &ins[0]);
        Ok(vec![keys[0].clone(), x.done()?, v.done()?])
    })?;
    let outs = while_loop(e, cond, body, std::slice::from_ref(width), &carry)?;
    Ok((outs[1].clone(), outs[2].clone()))
}
