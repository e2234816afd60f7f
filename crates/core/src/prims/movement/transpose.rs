//! The axes of an array in another order.
//!
//! transpose : x[...] -> [...]        axis i of the result is axis permutation[i] of x
//! Linear; the transpose is the inverse permutation.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use crate::prims::{V, zeros};

/// Params of `transpose`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct TransposeParams {
    /// For each axis of the result, the axis of the operand.
    pub permutation: Vec<usize>,
}

struct TransposePrim;

/// The primitive `transpose`.
pub static TRANSPOSE: PrimRef = PrimRef(&TransposePrim);

impl<'e> V<'e> {
    /// With the axes in the given order; nothing when it is theirs.
    pub fn transpose(&self, permutation: &[usize]) -> V<'e> {
        if permutation.iter().enumerate().all(|(i, &axis)| i == axis) {
            return self.clone();
        }
        self.bind(TRANSPOSE, &Params::new(TransposeParams { permutation: permutation.to_vec() }), &[])
    }
}

fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    for (i, &axis) in permutation.iter().enumerate() {
        inverse[axis] = i;
    }
    inverse
}

impl Prim for TransposePrim {
    type Params = TransposeParams;
    const NAME: &'static str = "transpose";

    fn abstract_eval(&self, p: &TransposeParams, ins: &[Aval]) -> Result<Avals> {
        let mut sorted = p.permutation.clone();
        sorted.sort_unstable();
        if sorted.iter().enumerate().any(|(i, &axis)| i != axis) || sorted.len() != ins[0].rank() {
            bail!(
                Type,
                "transpose permutation isn't a permutation of operand dimensions, got permutation {} for operand shape {}.",
                tuple_text(&p.permutation),
                tuple_text(&ins[0].shape)
            );
        }
        let shape: Vec<usize> = p.permutation.iter().map(|&axis| ins[0].shape[axis]).collect();
        Ok(smallvec![ins[0].with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<TransposeParams> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<TransposeParams> {
        Transpose::Rule(|p, e, cts, _ins| {
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).transpose(&inverse(&p.permutation)).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<TransposeParams> {
        Splits::Rule(|p, x| Ok(vec![p.permutation.iter().map(|&axis| x.specs[0][axis].clone()).collect()]))
    }

    fn batching(&self) -> Batching<TransposeParams> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            // The batch axis goes to the front within the same permutation.
            let dim = dims[0].expect("the only operand is batched");
            let rest = p.permutation.iter().map(|&axis| if axis >= dim { axis + 1 } else { axis });
            let permutation: Vec<usize> = std::iter::once(dim).chain(rest).collect();
            Ok((smallvec![V::new(e, &ins[0]).transpose(&permutation).done()?], smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &TransposeParams, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let inverse = inverse(&p.permutation);
        CpuForm::Element(Box::new(move |cx, index| {
            let source: Vec<Index> = inverse.iter().map(|&axis| index[axis].clone()).collect();
            cx.operand(0, &source)
        }))
    }

    fn hlo(&self) -> Hlo<TransposeParams> {
        Hlo::Attributes("stablehlo.transpose", |p, _| format!("dims = {:?}", p.permutation))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], permutation: &[usize]| {
            let params = TransposeParams { permutation: permutation.to_vec() };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![sample(&[2, 3], &[1, 0]), sample(&[2, 3, 4], &[2, 0, 1]), sample(&[0, 3], &[1, 0]), sample(&[], &[])]
    }
}
