//! The upper factor of `Rᵀ R + w wᵀ` from R and w.
//!
//! cholesky_update : r[n, n] w[n] -> r[n, n]
//! JAX has no derivative for it.

use super::*;
use crate::prims::V;
use pullback_ir::Vals;
use smallvec::smallvec;

/// The member.
pub(super) struct CholeskyUpdateOp;

impl MatrixOp for CholeskyUpdateOp {
    type Params = ();
    const NAME: &'static str = "cholesky_update";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let [r, w] = ins else { bail!(Type, "cholesky_update takes 2 operands, got {}", ins.len()) };
        let shape = square_shape("cholesky_update", r)?;
        if w.shape[..] != shape.with(&[shape.rows])[..] || w.dtype != r.dtype {
            bail!(
                Value,
                "Rank-1 update to Cholesky decomposition takes a square matrix and a vector of the same size as arguments, got {r} and {w}"
            );
        }
        Ok(smallvec![*r])
    }

    fn cpu(_: &(), _ins: &[Aval]) -> CpuForm {
        CpuForm::Decompose(Box::new(|e, ins| -> Result<Vals> {
            let (r, w) = (V::new(e, &ins[0]).triu(0), V::new(e, &ins[1]));
            let sum = r.transposed().times(&r) + w.as_column().times(&w.as_row());
            Ok(smallvec![sum.bind(CHOLESKY, &Params::NONE, &[]).transposed().done()?])
        }))
    }

    fn hlo() -> Hlo<()> {
        Hlo::AsCpu
    }

    fn derivative() -> Derivative<()> {
        Derivative::Missing("JAX has none either")
    }

    // Its operand is a factor: the tests in Python cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}
