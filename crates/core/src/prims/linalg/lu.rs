//! Factors of a matrix with its rows exchanged: `P A = L U`, L below a unit diagonal, both in one matrix.
//!
//! lu : a[..., m, n] -> lu[..., m, n] pivots[..., min] permutation[..., m]        the last two int32
//! With `X = L⁻¹ P dA U⁻¹`: `dL = L tril(X, -1)`, `dU = triu(X) U`; L and U are completed to squares by identities.

use super::*;
use crate::prims::{PadAxis, V};
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// The member.
pub(super) struct LuOp;

impl MatrixOp for LuOp {
    type Params = ();
    const NAME: &'static str = "lu";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("lu", &ins[0])?;
        let integers = |n| Aval::new(&shape.with(&[n]), DType::I32);
        Ok(smallvec![ins[0], integers(shape.least()), integers(shape.rows)])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Lu, ins[0])
    }

    fn hlo() -> Hlo<()> {
        Hlo::Rule(|_p, cx, ins, outs| lu_loop::factors(cx, ins[0], outs))
    }

    fn derivative() -> Derivative<()> {
        Derivative::Jvp(jvp)
    }

    fn samples() -> Vec<Sample> {
        let sample = |shape: &[usize], dtype| Sample::new(Params::NONE, dtype, (-2.0, 2.0), &[shape]);
        vec![
            sample(&[3, 3], DType::F32),
            sample(&[2, 4, 3], DType::F32),
            sample(&[2, 3], DType::F32),
            sample(&[3, 3], DType::C64),
        ]
    }
}

/// A factor completed to a square of `n` by ones on the rest of the diagonal.
fn completed<'e>(factor: &V<'e>, n: usize) -> V<'e> {
    let aval = factor.aval();
    let [.., rows, columns] = aval.shape[..] else { return factor.clone() };
    let mut config: Vec<PadAxis> = vec![(0, 0, 0); aval.rank()];
    config[aval.rank() - 2].1 = (n - rows) as i64;
    config[aval.rank() - 1].1 = (n - columns) as i64;
    let padded = factor.pad(&factor.number(0.0), &config);
    let least = rows.min(columns);
    let start = vec![0; aval.rank()];
    let mut limit = aval.shape.to_vec();
    (limit[aval.rank() - 2], limit[aval.rank() - 1]) = (least, least);
    // The identity less its leading part.
    let mut inner: Vec<PadAxis> = vec![(0, 0, 0); aval.rank()];
    (inner[aval.rank() - 2].1, inner[aval.rank() - 1].1) = ((n - least) as i64, (n - least) as i64);
    let leading = factor.slice(&start, &limit, None).eye().pad(&factor.number(0.0), &inner);
    &padded + (padded.eye() - leading)
}

fn jvp(_: &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(LU, &Params::NONE, xs)?;
    let Some(t) = &ts[0] else { return Ok((outs, smallvec![None, None, None])) };
    let (lu, permutation) = (V::new(e, &outs[0]), V::new(e, &outs[2]));
    let aval = lu.aval();
    let [.., m, n] = aval.shape[..] else { bail!(Internal, "lu has matrices") };
    if aval.shape.contains(&0) {
        return Ok((outs, smallvec![Some(t.clone()), None, None]));
    }
    let rank = aval.rank();
    let least = m.min(n);
    let l = lu.slice_axis(rank - 1, 0, least, 1).tril(-1);
    let l = completed(&(&l + l.eye()), m);
    let u = completed(&lu.slice_axis(rank - 2, 0, least, 1).triu(0), n);
    let lower = TriangularSolve { left_side: true, lower: true, unit_diagonal: true, ..TriangularSolve::default() };
    let x = V::new(e, t).rows_at(&permutation).solved_by(&l, lower).solved_by(&u, TriangularSolve::default());
    let (dl, du) = (l.times(&x.tril(-1)), x.triu(0).times(&u));
    Ok((outs, smallvec![Some((dl + du).done()?), None, None]))
}
