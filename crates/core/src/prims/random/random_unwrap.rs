//! The words of keys.
//!
//! random_unwrap : keys[...] -> uint32[..., words]        two words or four
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use pullback_loops::{Binary, Comparison};
use smallvec::smallvec;

use super::{KeyKind, check_key, recast_hlo};

struct RandomUnwrap;

/// The primitive `random_unwrap`.
pub static RANDOM_UNWRAP: PrimRef = PrimRef(&RandomUnwrap);

impl Prim for RandomUnwrap {
    type Params = ();
    const NAME: &'static str = "random_unwrap";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        check_key("random_unwrap", ins[0])?;
        Ok(smallvec![Aval::new(&[&ins[0].shape[..], &[KeyKind::of(ins[0])?.n_words()]].concat(), DType::U32)])
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        match ins[0].dtype {
            DType::KeyFry | DType::KeyPhilox4 => return CpuForm::Alias,
            DType::KeyPhilox2 => {
                return CpuForm::Element(Box::new(|cx, index| {
                    let (_, key) = index.split_last().expect("an axis of words");
                    let Elem::Two(word, _) = cx.operand(0, key)? else { panic!("a key is a pair of words") };
                    Ok(Elem::One(word))
                }));
            }
            _ => {}
        }
        CpuForm::Element(Box::new(|cx, index| {
            let (word, key) = index.split_last().expect("an axis of words");
            let Elem::Two(first, second) = cx.operand(0, key)? else { panic!("a key has two pairs of words") };
            let loops = cx.loops();
            let (word, two, one) = (word.value(loops), loops.int(2), loops.int(1));
            let is_first = loops.compare(Comparison::Lt, word, two);
            let pair = loops.select(is_first, first, second);
            let is_high = loops.binary(Binary::And, word, one);
            let (width, is_high) = (loops.constant(Scalar::int(DType::U64, 32)), loops.convert(DType::U64, is_high));
            let shift = loops.binary(Binary::Mul, is_high, width);
            let low = loops.binary(Binary::ShiftRightLogical, pair, shift);
            Ok(Elem::One(loops.convert(DType::U32, low)))
        }))
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<()> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<()> {
        Batching::Rule(|(), e, _batch, ins, dims| Ok((e.bind(RANDOM_UNWRAP, &Params::NONE, ins)?, smallvec![dims[0]])))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, outs| Ok(smallvec![recast_hlo(cx, ins[0], outs[0])]))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize]| Sample::new(Params::NONE, dtype, (0.0, 1e6), &[shape]);
        vec![sample(DType::KeyFry, &[]), sample(DType::KeyFry, &[3]), sample(DType::KeyRbg, &[3])]
    }
}
