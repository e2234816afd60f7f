//! The same keys, as others for whoever checks that no key is used twice.
//!
//! random_clone : keys[...] -> keys[...]
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::check_key;

struct RandomClone;

/// The primitive `random_clone`.
pub static RANDOM_CLONE: PrimRef = PrimRef(&RandomClone);

impl Prim for RandomClone {
    type Params = ();
    const NAME: &'static str = "random_clone";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        check_key("random_clone", ins[0])?;
        Ok(smallvec![ins[0]])
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

    fn splits(&self) -> Splits<()> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), _, ins, _| Ok(ins.into()))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize]| Sample::new(Params::NONE, dtype, (0.0, 1e6), &[shape]);
        vec![sample(DType::KeyFry, &[]), sample(DType::KeyFry, &[3]), sample(DType::KeyRbg, &[3])]
    }
}
