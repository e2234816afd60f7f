//! The family of reductions of booleans and bits.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, is_small_integer};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{batch_reduction, reduce, reduced_shape};
use crate::prims::DTypes;

/// Params of `reduce_and`, `reduce_or` and `reduce_xor`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceLogical {
    /// Axes that go.
    pub axes: Vec<usize>,
}

/// A member of the family.
pub trait LogicalOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// How elements combine.
    const COMBINE: Combine;
}

/// The family.
pub struct Logical<T>(pub PhantomData<T>);

pub(super) fn params(axes: Vec<usize>) -> Params {
    Params::new(ReduceLogical { axes })
}

impl<T: LogicalOp> Prim for Logical<T> {
    type Params = ReduceLogical;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &ReduceLogical, ins: &[Aval]) -> Result<Avals> {
        let dtype = ins[0].dtype;
        if !DTypes::BITS.contains(dtype) || is_small_integer(dtype) {
            bail!(Type, "logical reduction requires operand dtype bool or int, got {dtype}.");
        }
        Ok(smallvec![ins[0].with_shape(&reduced_shape(T::NAME, ins[0], &p.axes)?)])
    }

    fn derivative(&self) -> Derivative<ReduceLogical> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<ReduceLogical> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ReduceLogical> {
        Splits::Rule(|p, x| Ok(x.without(&p.axes)))
    }

    fn batching(&self) -> Batching<ReduceLogical> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            batch_reduction(PrimRef(&Logical::<T>(PhantomData)), params, &p.axes, e, ins, dims)
        })
    }

    fn cpu(&self, p: &ReduceLogical, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Reduce { combine: T::COMBINE, axes: p.axes.clone() }
    }

    fn hlo(&self) -> Hlo<ReduceLogical> {
        Hlo::Rule(|p, cx, ins, _| reduce(cx, ins[0], T::COMBINE, &p.axes))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |dtype, shape: &[usize], axes: &[usize]| Sample::new(params(axes.to_vec()), dtype, (0.0, 6.0), &[shape]);
        vec![
            sample(DType::Bool, &[3, 4], &[1]),
            sample(DType::Bool, &[3, 40], &[0, 1]),
            sample(DType::I32, &[3, 4], &[0]),
            sample(DType::Bool, &[0, 4], &[0]),
        ]
    }
}
