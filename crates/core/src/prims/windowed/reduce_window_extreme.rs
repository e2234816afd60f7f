//! The greatest and the least elements of windows.
//!
//! reduce_window_max, reduce_window_min : x[...] -> [places...]        x with an order; NaN counts as extreme
//! The derivative takes the tangent of the first extreme element of each window.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals,
};
use pullback_loops::{Body, Combine, Window};
use smallvec::smallvec;

use super::reduce_window_sum::samples;
use super::{ReduceWindow, SELECT_AND_GATHER_ADD, SelectAndGatherAdd, in_single, one_operand, reduce_window_hlo};
use crate::prims::{DTypes, V};

/// One of the two.
trait ExtremeOp: Send + Sync + 'static {
    const NAME: &'static str;
    const COMBINE: Combine;
    /// The comparison that holds as long as the element found first stays.
    const SELECT: &'static str;
}

struct Max;
struct Min;

impl ExtremeOp for Max {
    const NAME: &'static str = "reduce_window_max";
    const COMBINE: Combine = Combine::Max;
    const SELECT: &'static str = "ge";
}

impl ExtremeOp for Min {
    const NAME: &'static str = "reduce_window_min";
    const COMBINE: Combine = Combine::Min;
    const SELECT: &'static str = "le";
}

struct Extreme<T>(PhantomData<T>);

/// The primitive `reduce_window_max`.
pub static REDUCE_WINDOW_MAX: PrimRef = PrimRef(&Extreme::<Max>(PhantomData));
/// The primitive `reduce_window_min`.
pub static REDUCE_WINDOW_MIN: PrimRef = PrimRef(&Extreme::<Min>(PhantomData));

impl<T: ExtremeOp> Extreme<T> {
    const PRIM: PrimRef = PrimRef(&Extreme::<T>(PhantomData));
}

impl<T: ExtremeOp> Prim for Extreme<T> {
    type Params = ReduceWindow;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &ReduceWindow, ins: &[Aval]) -> Result<Avals> {
        let x = one_operand(T::NAME, ins)?;
        DTypes::ORDERED.check(T::NAME, 0, x.dtype)?;
        Ok(smallvec![x.with_shape(&p.result_shape(T::NAME, &x.shape)?)])
    }

    fn derivative(&self) -> Derivative<ReduceWindow> {
        Derivative::Jvp(jvp::<T>)
    }

    fn transpose(&self) -> Transpose<ReduceWindow> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ReduceWindow> {
        Splits::Rule(|_, x| x.divisible("reduce_window"))
    }

    fn batching(&self) -> Batching<ReduceWindow> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            Ok((e.bind(Self::PRIM, &Params::new(p.with_batch_axis(dim)), ins)?, smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &ReduceWindow, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dtype, shape) = (ins[0].dtype, ins[0].shape.to_vec());
        in_single(Self::PRIM, &Params::new(p.clone()), dtype).unwrap_or_else(|| {
            CpuForm::Body(Box::new(Body::Window(Window { dtype, combine: T::COMBINE, shape, axes: p.axes() })))
        })
    }

    fn hlo(&self) -> Hlo<ReduceWindow> {
        Hlo::Rule(|p, cx, ins, outs| {
            let dtype = ins[0].aval.dtype;
            let combine = match T::SELECT {
                "ge" => (Scalar::least(dtype), "stablehlo.maximum"),
                _ => (Scalar::greatest(dtype), "stablehlo.minimum"),
            };
            reduce_window_hlo(p, cx, ins[0], combine, outs)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        // The transpose of the tangents of dilated windows does not exist, here as in JAX.
        let is_plain = |sample: &Sample| sample.params.get::<ReduceWindow>().is_some_and(|p| !p.is_dilated());
        samples(&[DType::F32, DType::I32]).into_iter().filter(is_plain).collect()
    }
}

fn jvp<T: ExtremeOp>(p: &ReduceWindow, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let x = V::new(e, &xs[0]);
    let out = x.bind(Extreme::<T>::PRIM, &Params::new(p.clone()), &[]).done()?;
    let params = Params::new(SelectAndGatherAdd::new(T::SELECT, p));
    let tangent = ts[0].as_ref().map(|t| V::new(e, t).bind(SELECT_AND_GATHER_ADD, &params, &[&x]).done());
    Ok((smallvec![out], smallvec![tangent.transpose()?]))
}
