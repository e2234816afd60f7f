//! A key from each integer seed.
//!
//! random_seed : seeds[...] -> keys[...]        the words are the high and the low 32 bits of the seed, twice for four
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{CpuForm, Elem, LoopBinary};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::{KeyKind, rbg};

/// Params of `random_seed`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RandomSeed {
    /// Which generator.
    #[param(name = "impl")]
    pub kind: KeyKind,
}

struct RandomSeedPrim;

/// The primitive `random_seed`.
pub static RANDOM_SEED: PrimRef = PrimRef(&RandomSeedPrim);

impl Prim for RandomSeedPrim {
    type Params = RandomSeed;
    const NAME: &'static str = "random_seed";

    fn abstract_eval(&self, p: &RandomSeed, ins: &[Aval]) -> Result<Avals> {
        if !ins[0].dtype.is_integer() {
            bail!(Type, "PRNG key seed must be an integer; got {}", ins[0]);
        }
        Ok(smallvec![Aval::new(&ins[0].shape, p.kind.dtype())])
    }

    fn cpu(&self, p: &RandomSeed, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let kind = p.kind;
        if kind != KeyKind::Threefry {
            return CpuForm::Decompose(Box::new(move |e, ins| Ok(smallvec![rbg::seed(kind, e, &ins[0])?])));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let seed = ins[0].one();
            let dtype = loops.dtype(seed);
            let low = loops.convert(DType::U32, seed);
            if dtype.bits() <= 32 {
                return Elem::Two(loops.constant(Scalar::zero(DType::U32)), low);
            }
            let width = loops.constant(Scalar::int(dtype, 32));
            let high = loops.binary(LoopBinary::ShiftRightLogical, seed, width);
            Elem::Two(loops.convert(DType::U32, high), low)
        }))
    }

    fn derivative(&self) -> Derivative<RandomSeed> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RandomSeed> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RandomSeed> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<RandomSeed> {
        Batching::Pointwise
    }

    fn hlo(&self) -> Hlo<RandomSeed> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let of_kind =
            |kind, shape: &[usize], dtype| Sample::new(Params::new(RandomSeed { kind }), dtype, (-5.0, 1e6), &[shape]);
        let sample = |shape: &[usize], dtype| of_kind(KeyKind::Threefry, shape, dtype);
        vec![
            sample(&[], DType::I32),
            sample(&[3], DType::I32),
            sample(&[3], DType::U32),
            of_kind(KeyKind::Rbg, &[2], DType::I32),
            of_kind(KeyKind::UnsafeRbg, &[], DType::U32),
        ]
    }
}
