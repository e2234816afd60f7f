//! The words of keys as keys.
//!
//! random_wrap : uint32[..., words] -> keys[...]        two words or four
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{CpuForm, Elem, Index};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use pullback_loops::ValueId;
use smallvec::smallvec;

use super::{KeyKind, joined_words, recast_hlo};
use crate::prims::batch_to_front;

/// Params of `random_wrap`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RandomWrap {
    /// Which generator.
    #[param(name = "impl")]
    pub kind: KeyKind,
}

struct RandomWrapPrim;

/// The primitive `random_wrap`.
pub static RANDOM_WRAP: PrimRef = PrimRef(&RandomWrapPrim);

impl Prim for RandomWrapPrim {
    type Params = RandomWrap;
    const NAME: &'static str = "random_wrap";

    fn abstract_eval(&self, p: &RandomWrap, ins: &[Aval]) -> Result<Avals> {
        let words = ins[0];
        if words.dtype != DType::U32 {
            bail!(Type, "random_wrap requires uint32 array operand, got {words}");
        }
        match words.shape.split_last() {
            Some((n, shape)) if *n == p.kind.n_words() => Ok(smallvec![Aval::new(shape, p.kind.dtype())]),
            _ => bail!(
                Type,
                "JAX encountered invalid PRNG key data: expected key_data to have trailing dimensions ({},), got {words}",
                p.kind.n_words()
            ),
        }
    }

    fn cpu(&self, p: &RandomWrap, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        match p.kind {
            KeyKind::Threefry | KeyKind::Philox4 => return CpuForm::Alias,
            KeyKind::Philox2 => {
                return CpuForm::Element(Box::new(|cx, index| {
                    let word = cx.operand(0, &[index, &[Index::constant(0)]].concat())?.one();
                    Ok(Elem::Two(word, cx.loops().constant(Scalar::zero(DType::U32))))
                }));
            }
            KeyKind::Rbg | KeyKind::UnsafeRbg | KeyKind::Threefry4 => {}
        }
        CpuForm::Element(Box::new(|cx, index| {
            let mut pair = |first: i64| -> Result<ValueId> {
                let mut word = |at: i64| Ok(cx.operand(0, &[index, &[Index::constant(at)]].concat())?.one());
                let (low, high) = (word(first)?, word(first + 1)?);
                Ok(joined_words(cx.loops(), low, high))
            };
            Ok(Elem::Two(pair(0)?, pair(2)?))
        }))
    }

    fn derivative(&self) -> Derivative<RandomWrap> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RandomWrap> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RandomWrap> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<RandomWrap> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let words = batch_to_front(e, &ins[0], dims[0], batch.size)?;
            Ok((e.bind(RANDOM_WRAP, &Params::new(p.clone()), &[words])?, smallvec![Some(0)]))
        })
    }

    fn hlo(&self) -> Hlo<RandomWrap> {
        Hlo::Rule(|_, cx, ins, outs| Ok(smallvec![recast_hlo(cx, ins[0], outs[0])]))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |kind, shape: &[usize]| Sample::new(Params::new(RandomWrap { kind }), DType::U32, (0.0, 1e6), &[shape]);
        vec![sample(KeyKind::Threefry, &[2]), sample(KeyKind::Threefry, &[3, 2]), sample(KeyKind::Rbg, &[3, 4])]
    }
}
