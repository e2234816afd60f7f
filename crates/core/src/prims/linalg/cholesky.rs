//! The lower factor L of a positive definite matrix `A = L Lᴴ`; NaN when there is none.
//!
//! cholesky : a[..., n, n] -> l[..., n, n]        the lower triangle is read
//! `dL = L Φ(L⁻¹ dA L⁻ᴴ)`, where Φ keeps the lower triangle and halves the diagonal (I. Murray, "Differentiation of the
//! Cholesky decomposition", 2016).

use super::*;
use crate::prims::V;
use pullback_base::Scalar;
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// The member.
pub(super) struct CholeskyOp;

impl MatrixOp for CholeskyOp {
    type Params = ();
    const NAME: &'static str = "cholesky";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        square_shape("cholesky", &ins[0])?;
        Ok(smallvec![ins[0]])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Cholesky, ins[0])
    }

    fn derivative() -> Derivative<()> {
        Derivative::Jvp(jvp)
    }

    fn hlo() -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, outs| {
            let factor = cx.generic("stablehlo.cholesky", "lower = true", ins, &mut [], outs)?[0];
            // What is above the diagonal is not specified.
            let (shape, rank) = (&outs[0].data().shape, outs[0].rank());
            let (row, column) = (cx.iota(shape, DType::I32, rank - 2), cx.iota(shape, DType::I32, rank - 1));
            let is_lower = cx.compare("GE", row, column);
            let zero = cx.full(Scalar::zero(outs[0].dtype), shape);
            Ok(smallvec![cx.select(is_lower, factor, zero)])
        })
    }

    // Random matrices are not positive definite: the tests in Python cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}

fn jvp(_: &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let l = V::new(e, &V::new(e, &xs[0]).bind(CHOLESKY, &Params::NONE, &[]).done()?);
    let Some(t) = &ts[0] else { return Ok((smallvec![l.done()?], smallvec![None])) };
    let right = TriangularSolve { lower: true, transpose_a: true, conjugate_a: true, ..TriangularSolve::default() };
    let left = TriangularSolve { lower: true, left_side: true, ..TriangularSolve::default() };
    let inner = V::new(e, t).solved_by(&l, right).solved_by(&l, left);
    let halved = inner.tril(0) / (inner.full(1.0) + inner.eye());
    let tangent = l.times(&halved).done()?;
    Ok((smallvec![l.done()?], smallvec![Some(tangent)]))
}
