//! The solution of tridiagonal systems, by elimination with exchanges of rows.
//!
//! tridiagonal_solve : dl[..., n] d[..., n] du[..., n] b[..., n, k] -> [..., n, k]        dl[0] and du[n - 1] do not count
//! Linear in b. `dx = -T⁻¹ dT x`.

use super::*;
use crate::prims::{PadAxis, V, add_any};
use pullback_ir::{Emit, Operand, Tangents, Vals};
use smallvec::smallvec;

/// Params of `tridiagonal_solve`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct TridiagonalSolve {
    /// Whether pivots that are zero become the least number, so that singular systems have a solution.
    pub perturb_singular: bool,
}

/// The member.
pub(super) struct TridiagonalSolveOp;

impl MatrixOp for TridiagonalSolveOp {
    type Params = TridiagonalSolve;
    const NAME: &'static str = "tridiagonal_solve";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(_: &TridiagonalSolve, ins: &[Aval]) -> Result<Avals> {
        let [dl, d, du, b] = ins else { bail!(Type, "tridiagonal_solve takes 4 operands, got {}", ins.len()) };
        let shape = matrix_shape("tridiagonal_solve", b)?;
        let diagonal = shape.with(&[shape.rows]);
        for x in [dl, d, du] {
            if x.rank() != diagonal.len() {
                bail!(
                    Type,
                    "tridiagonal_solve requires diagonals with one axis less than the right-hand sides, got shapes {} and {}.",
                    tuple_text(&x.shape),
                    tuple_text(&b.shape)
                );
            }
            if x.shape[..] != diagonal[..] {
                bail!(
                    Value,
                    "tridiagonal_solve requires that all diagonal arguments have shape {} for right-hand sides of shape {}, got {}.",
                    tuple_text(&diagonal),
                    tuple_text(&b.shape),
                    tuple_text(&x.shape)
                );
            }
            if x.dtype != b.dtype {
                bail!(
                    Type,
                    "tridiagonal_solve requires arguments to have the same dtypes, got {} and {}.",
                    x.dtype,
                    b.dtype
                );
            }
        }
        Ok(smallvec![*b])
    }

    fn cpu(p: &TridiagonalSolve, ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::TridiagonalSolve { perturb: p.perturb_singular }, ins[3])
    }

    fn derivative() -> Derivative<TridiagonalSolve> {
        Derivative::Jvp(jvp)
    }

    fn transpose() -> Transpose<TridiagonalSolve> {
        Transpose::Rule(transpose)
    }

    fn samples() -> Vec<Sample> {
        let sample = |shapes: &[&[usize]]| {
            let p = TridiagonalSolve { perturb_singular: false };
            Sample::new(Params::new(p), DType::F32, (1.0, 2.0), shapes)
        };
        vec![sample(&[&[4], &[4], &[4], &[4, 2]]), sample(&[&[2, 3], &[2, 3], &[2, 3], &[2, 3, 1]])]
    }
}

fn solve<'e>(p: &TridiagonalSolve, t: [&V<'e>; 3], b: &V<'e>) -> V<'e> {
    t[0].bind(TRIDIAGONAL_SOLVE, &Params::new(p.clone()), &[t[1], t[2], b])
}

/// The elements one place further along an axis counted from the end, zero coming in; backward for -1.
fn moved<'e>(x: &V<'e>, from_end: usize, by: i64) -> V<'e> {
    let mut config: Vec<PadAxis> = vec![(0, 0, 0); x.aval().rank()];
    config[x.aval().rank() - from_end] = (by, -by, 0);
    x.pad(&x.number(0.0), &config)
}

fn jvp(p: &TridiagonalSolve, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let [dl, d, du, b] = [0, 1, 2, 3].map(|i| V::new(e, &xs[i]));
    let x = V::new(e, &solve(p, [&dl, &d, &du], &b).done()?);
    // What each diagonal multiplies: the row above, its own, the row below.
    let rows = [moved(&x, 2, 1), x.clone(), moved(&x, 2, -1)];
    let mut right = ts[3].clone();
    for (t, row) in ts[..3].iter().zip(&rows) {
        let term = t.as_ref().map(|t| (-row.scaled(&V::new(e, t).as_column())).done()).transpose()?;
        right = add_any(e, right, term)?;
    }
    let tangent = right.map(|right| solve(p, [&dl, &d, &du], &V::new(e, &right)).done()).transpose()?;
    Ok((smallvec![x.done()?], smallvec![tangent]))
}

fn transpose(p: &TridiagonalSolve, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let none = || -> Tangents { smallvec![None, None, None, None] };
    let (Some(ct), [Some(dl), Some(d), Some(du)]) = (&cts[0], [0, 1, 2].map(|i| ins[i].known())) else {
        return Ok(none());
    };
    let [dl, d, du] = [dl, d, du].map(|x| V::new(e, x));
    let x = solve(p, [&moved(&du, 1, 1), &d, &moved(&dl, 1, -1)], &V::new(e, ct));
    let mut cts = none();
    cts[3] = Some(x.done()?);
    Ok(cts)
}
