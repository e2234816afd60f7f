//! A new key from each key and a number.
//!
//! random_fold_in : keys[...] numbers[...] -> keys[...]        numbers uint32
//! No derivative.

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, SampleIn, Splits, Transpose};
use smallvec::smallvec;

use super::threefry::threefry_formula;
use super::{check_key, rbg};
use crate::prims::broadcast_shapes;

struct RandomFoldIn;

/// The primitive `random_fold_in`.
pub static RANDOM_FOLD_IN: PrimRef = PrimRef(&RandomFoldIn);

impl Prim for RandomFoldIn {
    type Params = ();
    const NAME: &'static str = "random_fold_in";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [keys, numbers] = ins else { bail!(Type, "random_fold_in takes 2 operands, got {}", ins.len()) };
        check_key("random_fold_in", *keys)?;
        if numbers.dtype != DType::U32 {
            bail!(Type, "random_fold_in requires uint32 numbers, got {numbers}");
        }
        Ok(smallvec![keys.with_shape(&broadcast_shapes("random_fold_in", ins)?)])
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if ins[0].dtype != DType::KeyFry {
            return CpuForm::Decompose(Box::new(|e, ins| Ok(smallvec![rbg::fold_in(e, &ins[0], &ins[1])?])));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let (Elem::Two(k0, k1), Elem::One(number)) = (ins[0], ins[1]) else { panic!("a key and a number") };
            let zero = loops.constant(pullback_base::Scalar::zero(DType::U32));
            let [high, low] = threefry_formula(loops, [k0, k1], [zero, number]);
            Elem::Two(high, low)
        }))
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let of_kind = |dtype, keys: &[usize], numbers: &[usize]| {
            let input = |shape, dtype| SampleIn { aval: Aval::new(shape, dtype), domain: (0.0, 1e6) };
            Sample { params: Params::NONE, ins: vec![input(keys, dtype), input(numbers, DType::U32)] }
        };
        let sample = |keys: &[usize], numbers: &[usize]| of_kind(DType::KeyFry, keys, numbers);
        vec![sample(&[], &[]), sample(&[3], &[3]), sample(&[], &[3]), of_kind(DType::KeyRbg, &[3], &[3])]
    }
}
