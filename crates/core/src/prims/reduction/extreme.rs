//! The family of greatest and least elements over axes.
//!
//! The tangent of the result is the mean of the tangents where the extreme is reached.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{batch_reduction, reduce, reduced_shape};
use crate::prims::{DTypes, V};

/// Params of `reduce_max` and `reduce_min`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceExtreme {
    /// Axes that go.
    pub axes: Vec<usize>,
    /// Always `None` until arrays have shardings.
    pub out_sharding: Option<bool>,
}

/// A member of the family.
pub trait ExtremeOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// `Max` or `Min`; on booleans `Or` or `And`.
    const COMBINE: Combine;
}

/// The family.
pub struct Extreme<T>(pub PhantomData<T>);

pub(super) fn params(axes: Vec<usize>) -> Params {
    Params::new(ReduceExtreme { axes, out_sharding: None })
}

impl<T: ExtremeOp> Prim for Extreme<T> {
    type Params = ReduceExtreme;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &ReduceExtreme, ins: &[Aval]) -> Result<Avals> {
        DTypes::ANY.check_only(T::NAME, ins[0].dtype)?;
        Ok(smallvec![ins[0].with_shape(&reduced_shape(T::NAME, ins[0], &p.axes)?)])
    }

    fn derivative(&self) -> Derivative<ReduceExtreme> {
        Derivative::Jvp(jvp::<T>)
    }

    fn transpose(&self) -> Transpose<ReduceExtreme> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ReduceExtreme> {
        Splits::Rule(|p, x| Ok(x.without(&p.axes)))
    }

    fn batching(&self) -> Batching<ReduceExtreme> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            batch_reduction(PrimRef(&Extreme::<T>(PhantomData)), params, &p.axes, e, ins, dims)
        })
    }

    fn cpu(&self, p: &ReduceExtreme, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let combine = match (T::COMBINE, ins[0].dtype) {
            (Combine::Max, DType::Bool) => Combine::Or,
            (Combine::Min, DType::Bool) => Combine::And,
            (combine, _) => combine,
        };
        CpuForm::Reduce { combine, axes: p.axes.clone() }
    }

    fn hlo(&self) -> Hlo<ReduceExtreme> {
        Hlo::Rule(|p, cx, ins, _| match ins[0].aval.dtype.is_complex() {
            true => bail!(NotImplemented, "StableHLO of {} of complex numbers is not implemented", T::NAME),
            false => reduce(cx, ins[0], T::COMBINE, &p.axes),
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |dtype, shape: &[usize], axes: &[usize]| Sample::new(params(axes.to_vec()), dtype, (-5.0, 5.0), &[shape]);
        // Complex numbers have no StableHLO form yet; the tests of dtypes in Python cover them on the CPU.
        vec![
            sample(DType::F32, &[3, 4], &[1]),
            sample(DType::F32, &[3, 40], &[1]),
            sample(DType::F32, &[3, 4, 5], &[0, 2]),
            sample(DType::F32, &[7], &[0]),
            sample(DType::I32, &[3, 4], &[0, 1]),
            sample(DType::Bool, &[3, 4], &[1]),
        ]
    }
}

fn jvp<T: ExtremeOp>(p: &ReduceExtreme, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let x = V::new(e, &xs[0]);
    let out = x.bind(PrimRef(&Extreme::<T>(PhantomData)), &params(p.axes.clone()), &[]);
    let Some(t) = &ts[0] else { return Ok((smallvec![out.done()?], smallvec![None])) };
    let mut kept = x.aval().shape.to_vec();
    p.axes.iter().for_each(|&axis| kept[axis] = 1);
    let is_reached = x.eq(&out.reshape(&kept)).convert(x.aval().dtype);
    let count = is_reached.reduce_sum(&p.axes);
    let tangent = (V::new(e, t) * is_reached).reduce_sum(&p.axes) / count;
    Ok((smallvec![out.done()?], smallvec![Some(tangent.done()?)]))
}
