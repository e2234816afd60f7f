//! The slices of an array along an axis, without that axis.
//!
//! unstack : x[...] -> [... without axis] ...        one result for each position
//! Linear; the transpose stacks.

use pullback_base::array::place::Spec;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Passing, Prim, PrimRef, Sample, Splits, Tangents,
    Transpose, Val, Vals,
};
use smallvec::{SmallVec, smallvec};

use super::{batch_axis, without};
use crate::prims::{STACK, Stack, V, zeros};

/// Params of `unstack`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Unstack {
    /// Which axis goes.
    pub axis: usize,
}

struct UnstackPrim;

/// The primitive `unstack`.
pub static UNSTACK: PrimRef = PrimRef(&UnstackPrim);

/// The slices along an axis.
///
/// # Errors
/// What the emitter raises.
pub fn unstack(e: &dyn Emit, x: &Val, axis: usize) -> Result<Vals> {
    e.bind(UNSTACK, &Params::new(Unstack { axis }), std::slice::from_ref(x))
}

impl Prim for UnstackPrim {
    type Params = Unstack;
    const NAME: &'static str = "unstack";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Unstack, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        if p.axis >= x.rank() {
            bail!(Value, "axis {} is out of bounds for array of dimension {}", p.axis, x.rank());
        }
        Ok(SmallVec::from_elem(x.with_shape(&without(&x.shape, &[p.axis])), x.shape[p.axis]))
    }

    fn derivative(&self) -> Derivative<Unstack> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Unstack> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Unstack> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Unstack> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let axis = batch_axis(p.axis, dim);
            let parts = unstack(e, &ins[0], axis)?;
            let dims = SmallVec::from_elem(Some(if axis < dim { dim - 1 } else { dim }), parts.len());
            Ok((parts, dims))
        })
    }

    fn cpu(&self, p: &Unstack, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (axis, size) = (p.axis, ins[0].shape[p.axis]);
        CpuForm::Decompose(Box::new(move |e, ins| {
            let x = V::new(e, &ins[0]);
            (0..size).map(|i| x.slice_axis(axis, i, i + 1, 1).squeeze(&[axis]).done()).collect()
        }))
    }

    fn hlo(&self) -> Hlo<Unstack> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |operand: &[usize], axis| Sample::new(Params::new(Unstack { axis }), DType::F32, (-5.0, 5.0), &[operand]);
        vec![sample(&[3], 0), sample(&[2, 3], 1), sample(&[2, 3], 0), sample(&[1, 2], 0)]
    }
}

/// The axis that goes may not be split.
fn pass(p: &Unstack, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if !x.specs[0][p.axis].is_empty() {
        let shown = x.ins[0].short();
        return x.refuse(|| {
            format!("unstack operand cannot be sharded on the unstacking axis {}. Got operand type={shown}", p.axis)
        });
    }
    Ok(x.without(&[p.axis]))
}

fn transpose(p: &Unstack, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    if cts.iter().all(Option::is_none) {
        return Ok(smallvec![None]);
    }
    let x = ins[0].aval().tangent();
    let part = x.with_shape(&without(&x.shape, &[p.axis]));
    let parts = cts.iter().map(|ct| ct.clone().map_or_else(|| zeros(e, part), Ok));
    let parts = parts.collect::<Result<Vec<Val>>>()?;
    Ok(smallvec![e.bind(STACK, &Params::new(Stack { axis: p.axis }), &parts)?.pop()])
}
