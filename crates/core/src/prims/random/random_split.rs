//! New keys from keys: for each key an array of `shape`.
//!
//! random_split : keys[...] -> keys[..., shape]
//! No derivative.

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::threefry::threefry_formula;
use super::{check_key, counter, rbg, threefry_hlo};

/// Params of `random_split`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct RandomSplit {
    /// Shape of what each key gives.
    pub shape: Vec<usize>,
}

struct RandomSplitPrim;

/// The primitive `random_split`.
pub static RANDOM_SPLIT: PrimRef = PrimRef(&RandomSplitPrim);

impl Prim for RandomSplitPrim {
    type Params = RandomSplit;
    const NAME: &'static str = "random_split";

    fn abstract_eval(&self, p: &RandomSplit, ins: &[Aval]) -> Result<Avals> {
        check_key("random_split", ins[0])?;
        Ok(smallvec![ins[0].with_shape(&[&ins[0].shape[..], &p.shape].concat())])
    }

    fn cpu(&self, p: &RandomSplit, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (shape, rank) = (p.shape.clone(), ins[0].rank());
        if ins[0].dtype != DType::KeyFry {
            return CpuForm::Decompose(Box::new(move |e, ins| Ok(smallvec![rbg::split(e, &ins[0], &shape)?])));
        }
        CpuForm::Element(Box::new(move |cx, index| {
            let (key_index, position) = index.split_at(rank);
            let Elem::Two(k0, k1) = cx.operand(0, key_index)? else { panic!("a key has two words") };
            let counter = counter(cx, position, &shape);
            let [high, low] = threefry_formula(cx.loops(), [k0, k1], counter);
            Ok(Elem::Two(high, low))
        }))
    }

    fn derivative(&self) -> Derivative<RandomSplit> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<RandomSplit> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<RandomSplit> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<RandomSplit> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            // Axes of the keys come first in the result, the batch axis among them.
            Ok((e.bind(RANDOM_SPLIT, &Params::new(p.clone()), ins)?, smallvec![dims[0]]))
        })
    }

    fn hlo(&self) -> Hlo<RandomSplit> {
        Hlo::Rule(|p, cx, ins, _| {
            if ins[0].aval.dtype != DType::KeyFry {
                return cx.compose(&|e, ins| Ok(smallvec![rbg::split(e, &ins[0], &p.shape)?]), ins);
            }
            Ok(smallvec![threefry_hlo(cx, ins[0], &p.shape)?])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |shape: &[usize], keys: &[usize]| {
            Sample::new(Params::new(RandomSplit { shape: shape.to_vec() }), DType::KeyFry, (0.0, 1e6), &[keys])
        };
        let rbg = Sample::new(Params::new(RandomSplit { shape: vec![3] }), DType::KeyRbg, (0.0, 1e6), &[&[2]]);
        vec![sample(&[2], &[]), sample(&[2, 3], &[2]), sample(&[0], &[]), rbg]
    }
}
