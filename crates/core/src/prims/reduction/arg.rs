//! The family of indices of extreme elements.

use std::marker::PhantomData;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Extreme};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Transpose};
use smallvec::smallvec;

use super::batch_reduction;
use crate::prims::DTypes;
use crate::prims::movement::without;

/// Params of `argmax` and `argmin`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ArgReduce {
    /// The one axis that goes.
    pub axes: Vec<usize>,
    /// Dtype of the result.
    pub index_dtype: DType,
}

/// A member of the family.
pub trait ArgOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Which extreme.
    const EXTREME: Extreme;
}

/// The family.
pub struct Arg<T>(pub PhantomData<T>);

impl<T: ArgOp> Prim for Arg<T> {
    type Params = ArgReduce;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &ArgReduce, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        DTypes::ORDERED.check_only(T::NAME, x.dtype)?;
        let [axis] = p.axes[..] else { bail!(Value, "{} takes one axis, got {}", T::NAME, tuple_text(&p.axes)) };
        if axis >= x.rank() {
            bail!(Value, "Invalid axis {axis} for operand shape {}", tuple_text(&x.shape));
        }
        if !p.index_dtype.is_integer() {
            bail!(Type, "index_dtype must be an integer type, but got {}", p.index_dtype);
        }
        if x.shape[axis] == 0 {
            bail!(
                Value,
                "argmin and argmax require non-empty reduced dimension. operand.shape={} axis={axis}",
                tuple_text(&x.shape)
            );
        }
        Ok(smallvec![Aval::new(&without(&x.shape, &[axis]), p.index_dtype)])
    }

    fn derivative(&self) -> Derivative<ArgReduce> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<ArgReduce> {
        Transpose::NotLinear
    }

    fn batching(&self) -> Batching<ArgReduce> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let params = |axes| Params::new(ArgReduce { axes, index_dtype: p.index_dtype });
            batch_reduction(PrimRef(&Arg::<T>(PhantomData)), params, &p.axes, e, ins, dims)
        })
    }

    fn cpu(&self, p: &ArgReduce, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::ArgReduce { extreme: T::EXTREME, axis: p.axes[0] }
    }

    fn hlo(&self) -> Hlo<ArgReduce> {
        Hlo::Missing("a reduction of pairs with a region of its own")
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize], axis, index_dtype| {
            Sample::new(Params::new(ArgReduce { axes: vec![axis], index_dtype }), dtype, (-5.0, 5.0), &[shape])
        };
        vec![
            sample(DType::F32, &[3, 4], 1, DType::I32),
            sample(DType::F32, &[3, 4], 0, DType::I32),
            sample(DType::F32, &[40], 0, DType::I32),
            sample(DType::I32, &[3, 4], 1, DType::U8),
            sample(DType::Bool, &[3, 4], 1, DType::I32),
        ]
    }
}
