//! The words of keys as keys.
//!
//! random_wrap : uint32[..., 2] -> keys[...]
//! No derivative.

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Transpose};
use smallvec::smallvec;

use super::KeyKind;
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
pub const RANDOM_WRAP: PrimRef = PrimRef(&RandomWrapPrim);

impl Prim for RandomWrapPrim {
    type Params = RandomWrap;
    const NAME: &'static str = "random_wrap";

    fn abstract_eval(&self, p: &RandomWrap, ins: &[Aval]) -> Result<Avals> {
        let KeyKind::Threefry = p.kind;
        let words = ins[0];
        if words.dtype != DType::U32 {
            bail!(Type, "random_wrap requires uint32 array operand, got {words}");
        }
        match words.shape.split_last() {
            Some((2, shape)) => Ok(smallvec![Aval::new(shape, DType::KeyFry)]),
            _ => bail!(
                Type,
                "JAX encountered invalid PRNG key data: expected key_data to have trailing dimensions (2,), got {words}"
            ),
        }
    }

    fn cpu(&self, _: &RandomWrap, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn derivative(&self) -> Derivative<RandomWrap> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RandomWrap> {
        Transpose::NotLinear
    }

    fn batching(&self) -> Batching<RandomWrap> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let words = batch_to_front(e, &ins[0], dims[0], batch.size)?;
            Ok((e.bind(RANDOM_WRAP, &Params::new(p.clone()), &[words])?, smallvec![Some(0)]))
        })
    }

    fn hlo(&self) -> Hlo<RandomWrap> {
        Hlo::Rule(|_, cx, ins, outs| Ok(smallvec![cx.bitcast(ins[0], &outs[0].shape, outs[0].dtype)]))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |shape: &[usize]| {
            Sample::new(Params::new(RandomWrap { kind: KeyKind::Threefry }), DType::U32, (0.0, 1e6), &[shape])
        };
        vec![sample(&[2]), sample(&[3, 2])]
    }
}
