//! The position of the example or device along a named axis.
//!
//! axis_index : -> int32[]
//! No operands, so no derivative.

use std::sync::Arc;

use crate::prims::splits::whole;
use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val,
};
use smallvec::smallvec;

use super::collective;
use super::exchange::Position;
use crate::prims::{V, iota};

/// Params of `axis_index`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct AxisIndex {
    /// Along which axis.
    pub axis_name: AxisName,
    /// Whether types say along which axes values differ.
    #[param(hidden)]
    pub check_vma: bool,
}

struct AxisIndexPrim;

/// The primitive `axis_index`.
pub static AXIS_INDEX: PrimRef = PrimRef(&AxisIndexPrim);

/// The position along the axis.
///
/// # Errors
/// What the emitter raises.
pub fn axis_index(e: &dyn Emit, p: &AxisIndex) -> Result<Val> {
    Ok(e.bind(AXIS_INDEX, &Params::new(p.clone()), &[])?.swap_remove(0))
}

impl Prim for AxisIndexPrim {
    type Params = AxisIndex;
    const NAME: &'static str = "axis_index";

    fn abstract_eval(&self, p: &AxisIndex, _ins: &[Aval]) -> Result<Avals> {
        let aval = Aval::scalar(DType::I32, false);
        Ok(smallvec![if p.check_vma { aval.varying(std::slice::from_ref(&p.axis_name)) } else { aval }])
    }

    fn derivative(&self) -> Derivative<AxisIndex> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<AxisIndex> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<AxisIndex> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<AxisIndex> {
        Batching::Rule(|p, e, batch, _ins, _dims| {
            if batch.name.as_ref() != Some(&p.axis_name) {
                return Ok((smallvec![axis_index(e, p)?], smallvec![None]));
            }
            let all: V<'_> = iota(e, DType::I32, &[batch.size], 0)?;
            Ok((smallvec![all.done()?], smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &AxisIndex, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(Position { name: p.axis_name.clone() }))
    }

    fn hlo(&self) -> Hlo<AxisIndex> {
        Hlo::Rule(|p, cx, _ins, outs| {
            // The division below needs the mesh; without one this says so.
            collective::groups_of("axis_index", cx, std::slice::from_ref(&p.axis_name), &None)?;
            let mesh = cx.devices().expect("asked above");
            let after = mesh.axes.iter().skip_while(|(name, _)| *name != p.axis_name).skip(1);
            let stride: usize = after.map(|(_, size)| size).product();
            let position = cx.one("stablehlo.partition_id", "", &[], Aval::new(&[], DType::U32));
            let number = |n: usize| Scalar::int(DType::U32, n as i128);
            let (stride, size) = (cx.constant(number(stride)), cx.constant(number(mesh.size_of(&p.axis_name))));
            let row = cx.binary("stablehlo.divide", position, stride);
            let index = cx.binary("stablehlo.remainder", row, size);
            Ok(smallvec![cx.convert(index, outs[0].dtype)])
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &AxisIndex) -> Option<Vec<AxisName>> {
        Some(vec![p.axis_name.clone()])
    }
}
