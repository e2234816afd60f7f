//! Bits of the device's own generator, and its state after them.
//!
//! rng_bit_generator : state uint32[4] -> state uint32[4] bits uint[shape]     the state may be uint64[2], low words first
//!
//! On the CPU the default is philox (Salmon et al., 2011): block number `i` of four words comes of the counter
//! `state[2] | state[3] << 32 | state[0] << 64 | state[1] << 96` plus `i` under the key `state[0], state[1]`. Threefry
//! numbers from the last two words of the state too. No derivative. A batch draws its bits at once, of its first state.

use crate::prims::splits::whole;
use pullback_base::{Aval, DType, Error, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, ParamField, ParamValue, Params, Prim, PrimRef, Sample,
    Splits, Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::words::{self, constant};
use crate::prims::{V, batch_to_front, iota, zeros};

/// Which generator; prints as the reference's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum RngAlgorithm {
    /// The one that suits the device: philox on the CPU.
    Default,
    /// Threefry with two words of 32 bits.
    Threefry,
    /// Philox with four words of 32 bits.
    Philox,
}

const NAMES: [(RngAlgorithm, &str, &str); 3] = [
    (RngAlgorithm::Default, "RNG_DEFAULT", "DEFAULT"),
    (RngAlgorithm::Threefry, "RNG_THREE_FRY", "THREE_FRY"),
    (RngAlgorithm::Philox, "RNG_PHILOX", "PHILOX"),
];

impl RngAlgorithm {
    fn hlo_name(self) -> &'static str {
        NAMES[self as usize].2
    }
}

impl ParamField for RngAlgorithm {
    fn to_value(&self) -> ParamValue {
        ParamValue::Name(NAMES[*self as usize].1.into())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        NAMES.iter().find(|(_, name, _)| *value == ParamValue::Name((*name).into())).map(|(algorithm, ..)| *algorithm)
    }
}

/// Params of `rng_bit_generator`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RngBitGenerator {
    /// Which generator.
    pub algorithm: RngAlgorithm,
    /// Unsigned type of the bits.
    pub dtype: DType,
    /// Always `None` until arrays have shardings.
    pub out_sharding: Option<bool>,
    /// Shape of the bits.
    pub shape: Vec<usize>,
}

struct RngBitGeneratorPrim;

/// The primitive `rng_bit_generator`.
pub static RNG_BIT_GENERATOR: PrimRef = PrimRef(&RngBitGeneratorPrim);

fn is_state(aval: Aval) -> bool {
    (aval.dtype == DType::U32 && aval.shape[..] == [4]) || (aval.dtype == DType::U64 && aval.shape[..] == [2])
}

impl Prim for RngBitGeneratorPrim {
    type Params = RngBitGenerator;
    const NAME: &'static str = "rng_bit_generator";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &RngBitGenerator, ins: &[Aval]) -> Result<Avals> {
        let [state] = ins else { bail!(Type, "rng_bit_generator takes 1 operand, got {}", ins.len()) };
        if !matches!(p.dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64) {
            bail!(Type, "rng_bit_generator: unsupported dtype {}", p.dtype);
        }
        if !is_state(*state) {
            bail!(Type, "rng_bit_generator: the key must be uint32[4] or uint64[2], got {state}");
        }
        Ok(smallvec![*state, Aval::new(&p.shape, p.dtype)])
    }

    fn cpu(&self, p: &RngBitGenerator, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| {
            let state = words_of(&V::new(e, &ins[0]));
            let (n_steps, bits) = match p.algorithm {
                RngAlgorithm::Default | RngAlgorithm::Philox => philox_bits(&state, &p.shape, p.dtype)?,
                RngAlgorithm::Threefry => threefry_bits(&state, &p.shape, p.dtype)?,
            };
            let next = next_state(&state, n_steps);
            Ok(smallvec![in_form_of(&next, ins[0].aval()).done()?, bits.done()?])
        }))
    }

    fn derivative(&self) -> Derivative<RngBitGenerator> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RngBitGenerator> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RngBitGenerator> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<RngBitGenerator> {
        Batching::Rule(batched)
    }

    fn hlo(&self) -> Hlo<RngBitGenerator> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (state, is_wide) = (ins[0], ins[0].aval.dtype == DType::U64);
            let pairs = |x, cx: &mut dyn pullback_ir::hlo::HloCx| {
                let pairs = cx.reshape(x, &[2, 2]);
                cx.bitcast(pairs, &[2], DType::U64)
            };
            let state = if is_wide { state } else { pairs(state, cx) };
            let attributes = format!("algorithm = {}", p.algorithm.hlo_name());
            let made = cx.op("stablehlo.rng_bit_generator", &attributes, &[state], &[state.aval, outs[1]]);
            if is_wide {
                return Ok(made);
            }
            let words = cx.bitcast(made[0], &[2, 2], DType::U32);
            Ok(smallvec![cx.reshape(words, &[4]), made[1]])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |algorithm, dtype, shape: &[usize]| {
            let params = RngBitGenerator { algorithm, dtype, out_sharding: None, shape: shape.to_vec() };
            Sample::new(Params::new(params), DType::U32, (0.0, 4e9), &[&[4]])
        };
        vec![
            sample(RngAlgorithm::Default, DType::U32, &[7]),
            sample(RngAlgorithm::Philox, DType::U64, &[3]),
            sample(RngAlgorithm::Default, DType::U8, &[2, 3]),
            sample(RngAlgorithm::Threefry, DType::U32, &[3, 5]),
            sample(RngAlgorithm::Threefry, DType::U64, &[2]),
            sample(RngAlgorithm::Threefry, DType::U16, &[0]),
            sample(RngAlgorithm::Default, DType::U32, &[]),
        ]
    }
}

/// The bits of a batch are drawn at once with the first state, which alone moves on.
fn batched(
    p: &RngBitGenerator,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let states = V::new(e, &batch_to_front(e, &ins[0], dims[0], batch.size)?);
    let params = RngBitGenerator { shape: [&[batch.size], &p.shape[..]].concat(), ..p.clone() };
    if batch.size == 0 {
        let bits = zeros(e, Aval::new(&params.shape, p.dtype))?;
        return Ok((smallvec![states.done()?, bits], smallvec![Some(0), Some(0)]));
    }
    let first = states.index_in_dim(0, 0).done()?;
    let made = e.bind(RNG_BIT_GENERATOR, &Params::new(params), &[first])?;
    let moved_on = V::new(e, &made[0]).expand_dims(&[0]);
    let next = moved_on.concatenate(&[&states.slice_axis(0, 1, batch.size, 1)], 0).done()?;
    Ok((smallvec![next, made[1].clone()], smallvec![Some(0), Some(0)]))
}

/// The four words of a state, low ones first, along the last axis.
fn words_of<'e>(state: &V<'e>) -> V<'e> {
    if state.aval().dtype == DType::U32 {
        return state.clone();
    }
    let high = state.shift_right_logical(&constant(state, DType::U64, 32)).convert(DType::U32);
    let (low, high) = (state.convert(DType::U32).expand_dims(&[1]), high.expand_dims(&[1]));
    low.concatenate(&[&high], 1).reshape(&[4])
}

fn in_form_of<'e>(words: &V<'e>, aval: Aval) -> V<'e> {
    if aval.dtype == DType::U32 {
        return words.clone();
    }
    let [w0, w1, w2, w3] = unpacked(words);
    joined(&w0, &w1).concatenate(&[&joined(&w2, &w3)], 0)
}

/// The words of states along the last axis, each with an axis of size 1 there.
fn unpacked<'e>(states: &V<'e>) -> [V<'e>; 4] {
    let last = states.aval().rank() - 1;
    [0, 1, 2, 3].map(|word| states.slice_axis(last, word, word + 1, 1))
}

/// 64 bits of a low and a high word.
fn joined<'e>(low: &V<'e>, high: &V<'e>) -> V<'e> {
    let high = high.convert(DType::U64).shift_left(&constant(high, DType::U64, 32));
    low.convert(DType::U64).or(&high)
}

fn halves<'e>(x: &V<'e>) -> [V<'e>; 2] {
    let high = x.shift_right_logical(&constant(x, DType::U64, 32));
    [x.convert(DType::U32), high.convert(DType::U32)]
}

/// The state after `n_steps` counters: the last two words are the number of the next.
fn next_state<'e>(state: &V<'e>, n_steps: usize) -> V<'e> {
    let [w0, w1, w2, w3] = unpacked(state);
    let [low, high] = halves(&(joined(&w2, &w3) + constant(state, DType::U64, n_steps as u64)));
    w0.concatenate(&[&w1, &low, &high], 0)
}

/// For each of the states along the last axis, `shape` of philox bits; and how many counters they took.
pub(super) fn philox_bits<'e>(states: &V<'e>, shape: &[usize], dtype: DType) -> Result<(usize, V<'e>)> {
    let lead = states.aval().shape[..states.aval().rank() - 1].to_vec();
    let size: usize = shape.iter().product();
    let n_words = if dtype == DType::U64 { 2 * size } else { size };
    let n_blocks = n_words.div_ceil(4);
    let flat = [&lead[..], &[4 * n_blocks]].concat();
    let words = philox_blocks(states, n_blocks)?.reshape(&flat).slice_axis(lead.len(), 0, n_words, 1);
    let bits = if dtype == DType::U64 {
        let pairs = words.reshape(&[&lead[..], &[size, 2]].concat());
        let [low, high] = [0, 1].map(|half| pairs.index_in_dim(half, lead.len() + 1));
        joined(&low, &high)
    } else {
        words.convert(dtype)
    };
    Ok((n_blocks, bits.reshape(&[&lead[..], shape].concat())))
}

/// `[states..., n_blocks, 4]`: the counter has 128 bits, the key in its upper half.
fn philox_blocks<'e>(states: &V<'e>, n_blocks: usize) -> Result<V<'e>> {
    let rank = states.aval().rank();
    let mut shape = states.aval().shape.to_vec();
    shape[rank - 1] = n_blocks;
    let [k0, k1, w2, w3] = unpacked(states);
    let number = iota(states.emit(), DType::U64, &shape, rank - 1)?;
    let low = joined(&w2, &w3).broadcast_to(&shape) + &number;
    let carry = low.lt(&number).convert(DType::U64);
    let high = joined(&k0, &k1).broadcast_to(&shape) + carry;
    let [c0, c1] = halves(&low);
    let [c2, c3] = halves(&high);
    let key = [k0, k1].map(|word| word.broadcast_to(&shape));
    let [a, b, c, d] = words::philox(key, [c0, c1, c2, c3]).map(|word| word.expand_dims(&[rank]));
    Ok(a.concatenate(&[&b, &c, &d], rank))
}

/// `shape` of threefry bits of one state, and how many counters they took. The two words of a counter are neighbours
/// along the first axis of even size, or else along the longest.
fn threefry_bits<'e>(state: &V<'e>, shape: &[usize], dtype: DType) -> Result<(usize, V<'e>)> {
    let [k0, k1, w2, w3] = unpacked(state);
    let first = joined(&w2, &w3);
    let of_counters = |shape: &[usize]| -> Result<(usize, [V<'e>; 2])> {
        let n_counters: usize = shape.iter().product();
        let number = &first + iota(state.emit(), DType::U64, &[n_counters], 0)?;
        let [low, high] = halves(&number);
        let key = [&k0, &k1].map(|word| word.broadcast_to(&[n_counters]));
        Ok((n_counters, words::threefry(key, [low, high]).map(|word| word.reshape(shape))))
    };
    if dtype == DType::U64 {
        let (n_counters, [low, high]) = of_counters(shape)?;
        return Ok((n_counters, joined(&low, &high)));
    }
    let whole: Vec<usize> = if shape.is_empty() { vec![1] } else { shape.to_vec() };
    let axis = paired_axis(&whole).ok_or_else(|| Error::internal("an array of bits has axes"))?;
    let mut half = whole.clone();
    half[axis] = whole[axis].div_ceil(2);
    let (n_counters, words) = of_counters(&half)?;
    let [even, odd] = words.map(|word| word.expand_dims(&[axis + 1]));
    let mut doubled = half;
    doubled[axis] *= 2;
    let bits = even.concatenate(&[&odd], axis + 1).reshape(&doubled).slice_axis(axis, 0, whole[axis], 1);
    Ok((n_counters, bits.convert(dtype).reshape(shape)))
}

fn paired_axis(shape: &[usize]) -> Option<usize> {
    let is_even = |&axis: &usize| shape[axis].is_multiple_of(2);
    // `max_by_key` gives the last of equals.
    (0..shape.len()).find(is_even).or_else(|| (0..shape.len()).rev().max_by_key(|&axis| shape[axis]))
}
