//! Uniform bits from keys: for each key an array of `shape`.
//!
//! random_bits : keys[...] -> uint[..., shape]        of 8, 16, 32 or 64 bits
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use pullback_loops::{Binary, Builder, ValueId};
use smallvec::smallvec;

use super::threefry::threefry_formula;
use super::{check_key, counter, joined_words, rbg, threefry_hlo};

/// Params of `random_bits`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RandomBits {
    /// Bits of an element.
    pub bit_width: u32,
    /// Shape of what each key gives.
    pub shape: Vec<usize>,
}

impl RandomBits {
    pub(super) fn dtype(&self) -> Result<DType> {
        Ok(match self.bit_width {
            8 => DType::U8,
            16 => DType::U16,
            32 => DType::U32,
            64 => DType::U64,
            other => bail!(Type, "requires 8-, 16-, 32- or 64-bit field width, got {other}"),
        })
    }
}

struct RandomBitsPrim;

/// The primitive `random_bits`.
pub static RANDOM_BITS: PrimRef = PrimRef(&RandomBitsPrim);

impl Prim for RandomBitsPrim {
    type Params = RandomBits;
    const NAME: &'static str = "random_bits";

    fn abstract_eval(&self, p: &RandomBits, ins: &[Aval]) -> Result<Avals> {
        check_key("random_bits", ins[0])?;
        Ok(smallvec![Aval::new(&[&ins[0].shape[..], &p.shape].concat(), p.dtype()?)])
    }

    fn cpu(&self, p: &RandomBits, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let (shape, rank, dtype) = (p.shape.clone(), ins[0].rank(), outs[0].dtype);
        if ins[0].dtype != DType::KeyFry {
            return CpuForm::Decompose(Box::new(move |e, ins| Ok(smallvec![rbg::bits(e, &ins[0], &shape, dtype)?])));
        }
        CpuForm::Element(Box::new(move |cx, index| {
            let (key_index, position) = index.split_at(rank);
            let Elem::Two(k0, k1) = cx.operand(0, key_index)? else { panic!("a key has two words") };
            let counter = counter(cx, position, &shape);
            let words = threefry_formula(cx.loops(), [k0, k1], counter);
            Ok(Elem::One(joined(cx.loops(), words, dtype)))
        }))
    }

    fn derivative(&self) -> Derivative<RandomBits> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RandomBits> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RandomBits> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<RandomBits> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            // Axes of the keys come first in the result, the batch axis among them.
            Ok((e.bind(RANDOM_BITS, &Params::new(p.clone()), ins)?, smallvec![dims[0]]))
        })
    }

    fn hlo(&self) -> Hlo<RandomBits> {
        Hlo::Rule(|p, cx, ins, outs| {
            if ins[0].aval.dtype != DType::KeyFry {
                let dtype = outs[0].dtype;
                return cx.compose(&|e, ins| Ok(smallvec![rbg::bits(e, &ins[0], &p.shape, dtype)?]), ins);
            }
            let words = threefry_hlo(cx, ins[0], &p.shape)?;
            let (out, dtype) = (outs[0], outs[0].dtype);
            let join = move |loops: &mut Builder, words: &[Elem]| {
                let Elem::Two(high, low) = words[0] else { panic!("a key has two words") };
                Elem::One(joined(loops, [high, low], dtype))
            };
            Ok(smallvec![cx.elementwise(&join, &[words], out)?])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |bit_width, shape: &[usize], keys: &[usize]| {
            let params = RandomBits { bit_width, shape: shape.to_vec() };
            Sample::new(Params::new(params), DType::KeyFry, (0.0, 1e6), &[keys])
        };
        vec![
            sample(32, &[3, 4], &[]),
            sample(32, &[], &[2]),
            sample(64, &[5], &[2]),
            sample(8, &[7], &[]),
            sample(16, &[0], &[]),
            Sample::new(Params::new(RandomBits { bit_width: 32, shape: vec![5] }), DType::KeyRbg, (0.0, 1e6), &[&[]]),
        ]
    }
}

/// 64 bits are both words, fewer the low end of their exclusive or.
fn joined(loops: &mut Builder, [high, low]: [ValueId; 2], dtype: DType) -> ValueId {
    if dtype != DType::U64 {
        let word = loops.binary(Binary::Xor, high, low);
        return loops.convert(dtype, word);
    }
    joined_words(loops, low, high)
}
