//! The elements along some axes in the opposite order.
//!
//! rev : x[...] -> x[...]
//! Linear; its own transpose.

use crate::prims::splits::each;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::past;
use crate::prims::{V, zeros};

/// Params of `rev`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Rev {
    /// The axes that turn.
    pub dimensions: Vec<usize>,
}

struct RevPrim;

/// The primitive `rev`.
pub static REV: PrimRef = PrimRef(&RevPrim);

impl<'e> V<'e> {
    /// With the given axes in the opposite order; nothing when there are none.
    pub fn rev(&self, dimensions: &[usize]) -> V<'e> {
        if dimensions.is_empty() {
            return self.clone();
        }
        self.bind(REV, &Params::new(Rev { dimensions: dimensions.to_vec() }), &[])
    }
}

impl Prim for RevPrim {
    type Params = Rev;
    const NAME: &'static str = "rev";

    fn abstract_eval(&self, p: &Rev, ins: &[Aval]) -> Result<Avals> {
        let (dims, rank) = (&p.dimensions, ins[0].rank());
        if dims.iter().enumerate().any(|(i, axis)| dims[..i].contains(axis)) {
            bail!(Type, "rev dimensions must be unique, got {}.", tuple_text(dims));
        }
        if dims.iter().any(|&axis| axis >= rank) {
            bail!(
                Type,
                "rev dimensions must all be less than operand ndim, got dimensions {} for operand ndim {rank}.",
                tuple_text(dims)
            );
        }
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<Rev> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Rev> {
        Transpose::Rule(|p, e, cts, _ins| {
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).rev(&p.dimensions).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<Rev> {
        Splits::Rule(each)
    }

    fn batching(&self) -> Batching<Rev> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            Ok((smallvec![V::new(e, &ins[0]).rev(&past(&p.dimensions, dim)).done()?], smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &Rev, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dims, shape) = (p.dimensions.clone(), ins[0].shape.clone());
        CpuForm::Element(Box::new(move |cx, index| {
            let turned = |(axis, index): (usize, &Index)| {
                if !dims.contains(&axis) {
                    return index.clone();
                }
                let loops = cx.loops();
                index.times(-1, loops).plus_const(shape[axis] as i64 - 1, loops)
            };
            let source: Vec<Index> = index.iter().enumerate().map(turned).collect();
            cx.operand(0, &source)
        }))
    }

    fn hlo(&self) -> Hlo<Rev> {
        Hlo::Attributes("stablehlo.reverse", |p, _| format!("dims = {:?}", p.dimensions))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], dimensions: &[usize]| {
            let params = Rev { dimensions: dimensions.to_vec() };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![sample(&[4], &[0]), sample(&[2, 3], &[0, 1]), sample(&[2, 3], &[1]), sample(&[0, 3], &[0])]
    }
}
