//! The sum over axes.
//!
//! reduce_sum : x[...] -> [... without axes]        x a number; the dtype stays
//! Linear; the transpose repeats.

use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{batch_reduction, reduce, reduced_shape};
use crate::prims::{DTypes, V, cotangent_type, zeros};

/// Params of `reduce_sum`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceSum {
    /// Axes that go.
    pub axes: Vec<usize>,
    /// Always `None` until arrays have shardings.
    pub out_sharding: Option<bool>,
}

struct ReduceSumPrim;

/// The primitive `reduce_sum`.
pub static REDUCE_SUM: PrimRef = PrimRef(&ReduceSumPrim);

fn params(axes: Vec<usize>) -> Params {
    Params::new(ReduceSum { axes, out_sharding: None })
}

impl<'e> V<'e> {
    /// The sum over axes; nothing when there are none.
    pub fn reduce_sum(&self, axes: &[usize]) -> V<'e> {
        if axes.is_empty() { self.clone() } else { self.bind(REDUCE_SUM, &params(axes.to_vec()), &[]) }
    }
}

impl Prim for ReduceSumPrim {
    type Params = ReduceSum;
    const NAME: &'static str = "reduce_sum";

    fn abstract_eval(&self, p: &ReduceSum, ins: &[Aval]) -> Result<Avals> {
        DTypes::NUMBER.check("reduce_sum", 0, ins[0].dtype)?;
        Ok(smallvec![ins[0].with_shape(&reduced_shape("reduce_sum", ins[0], &p.axes)?)])
    }

    fn derivative(&self) -> Derivative<ReduceSum> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<ReduceSum> {
        Transpose::Rule(|p, e, cts, ins| {
            let x = ins[0].aval();
            let kept: Vec<usize> = (0..x.rank()).filter(|axis| !p.axes.contains(axis)).collect();
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).broadcast_as(cotangent_type(x), &kept).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<ReduceSum> {
        Splits::Rule(|p, x| Ok(x.without(&p.axes)))
    }

    fn batching(&self) -> Batching<ReduceSum> {
        Batching::Rule(|p, e, _batch, ins, dims| batch_reduction(REDUCE_SUM, params, &p.axes, e, ins, dims))
    }

    fn cpu(&self, p: &ReduceSum, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Reduce { combine: Combine::Add, axes: p.axes.clone() }
    }

    fn hlo(&self) -> Hlo<ReduceSum> {
        Hlo::Rule(|p, cx, ins, _| reduce(cx, ins[0], Combine::Add, &p.axes))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |dtype, shape: &[usize], axes: &[usize]| Sample::new(params(axes.to_vec()), dtype, (-5.0, 5.0), &[shape]);
        vec![
            sample(DType::F32, &[3, 4], &[1]),
            sample(DType::F32, &[3, 40], &[1]),
            sample(DType::F32, &[3, 4], &[0]),
            sample(DType::F32, &[3, 4, 5], &[0, 2]),
            sample(DType::F32, &[0, 4], &[0]),
            sample(DType::F32, &[7], &[0]),
            sample(DType::I32, &[3, 4], &[0, 1]),
            sample(DType::C64, &[3, 4], &[1]),
        ]
    }
}
