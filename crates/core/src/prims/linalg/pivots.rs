//! The permutation that a list of exchanges leads to.
//!
//! lu_pivots_to_permutation : pivots[..., k] -> permutation[..., permutation_size]        int32
//! No derivative.

use super::*;
use smallvec::smallvec;

/// Params of `lu_pivots_to_permutation`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct PivotsToPermutation {
    /// How many are permuted.
    pub permutation_size: usize,
}

/// The member.
pub(super) struct PivotsToPermutationOp;

impl MatrixOp for PivotsToPermutationOp {
    type Params = PivotsToPermutation;
    const NAME: &'static str = "lu_pivots_to_permutation";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(p: &PivotsToPermutation, ins: &[Aval]) -> Result<Avals> {
        let [x] = ins else { bail!(Type, "lu_pivots_to_permutation takes 1 operand, got {}", ins.len()) };
        let Some((&n, batch)) = x.shape.split_last() else {
            bail!(Value, "Argument to lu_pivots_to_permutation must have rank 1 or more, got shape ()")
        };
        if x.dtype != DType::I32 {
            bail!(Type, "Argument to lu_pivots_to_permutation must have dtype int32, got {}", x.dtype);
        }
        if p.permutation_size < n {
            bail!(
                Value,
                "Output permutation size {} has to exceed the trailing dimension of the pivots. Got pivots size {n}",
                p.permutation_size
            );
        }
        Ok(smallvec![x.with_shape(&[batch, &[p.permutation_size]].concat())])
    }

    fn cpu(p: &PivotsToPermutation, ins: &[Aval]) -> CpuForm {
        let Some((&rows, batch)) = ins[0].shape.split_last() else {
            return CpuForm::Missing("pivots are lists".into());
        };
        CpuForm::Body(Box::new(Body::Matrix(Matrix {
            task: MatrixTask::PivotsToPermutation,
            dtype: DType::I32,
            batch: batch.iter().product(),
            rows,
            columns: p.permutation_size,
        })))
    }

    fn derivative() -> Derivative<PivotsToPermutation> {
        Derivative::Zero
    }

    fn samples() -> Vec<Sample> {
        let p = PivotsToPermutation { permutation_size: 4 };
        vec![Sample::new(Params::new(p), DType::I32, (0.0, 3.0), &[&[2, 3]])]
    }
}
