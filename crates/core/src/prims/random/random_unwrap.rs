//! The words of keys.
//!
//! random_unwrap : keys[...] -> uint32[..., 2]
//! No derivative.

use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Transpose};
use smallvec::smallvec;

use super::check_key;

struct RandomUnwrap;

/// The primitive `random_unwrap`.
pub const RANDOM_UNWRAP: PrimRef = PrimRef(&RandomUnwrap);

impl Prim for RandomUnwrap {
    type Params = ();
    const NAME: &'static str = "random_unwrap";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        check_key("random_unwrap", ins[0])?;
        Ok(smallvec![Aval::new(&[&ins[0].shape[..], &[2]].concat(), DType::U32)])
    }

    fn cpu(&self, (): &(), _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::NotLinear
    }

    fn batching(&self) -> Batching<()> {
        Batching::Rule(|(), e, _batch, ins, dims| Ok((e.bind(RANDOM_UNWRAP, &Params::NONE, ins)?, smallvec![dims[0]])))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, outs| Ok(smallvec![cx.bitcast(ins[0], &outs[0].shape, outs[0].dtype)]))
    }

    fn samples(&self) -> Vec<Sample> {
        [&[][..], &[3]].map(|shape| Sample::new(Params::NONE, DType::KeyFry, (0.0, 1e6), &[shape])).to_vec()
    }
}
