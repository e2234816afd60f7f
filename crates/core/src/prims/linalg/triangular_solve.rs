//! The solution x of `op(a) x = b` or `x op(a) = b` with triangular `a`, of which only that triangle is read.
//!
//! triangular_solve : a[..., n, n] b[..., m, k] -> [..., m, k]
//! Linear in b. `dx = -op(a)⁻¹ op(da) x`, of the triangle of da.

use super::*;
use crate::prims::{V, add_any};
use pullback_ir::hlo::{HloCx, HloValue};
use pullback_ir::{Emit, Operand, Tangents, Vals};
use smallvec::smallvec;

/// Params of `triangular_solve`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Params)]
pub struct TriangularSolve {
    /// Whether `a` stands on the left of the unknown.
    pub left_side: bool,
    /// Which triangle is read.
    pub lower: bool,
    /// Whether `a` is transposed.
    pub transpose_a: bool,
    /// Whether `a` is conjugated.
    pub conjugate_a: bool,
    /// Whether the diagonal is taken as ones.
    pub unit_diagonal: bool,
}

/// The member.
pub(super) struct TriangularSolveOp;

impl MatrixOp for TriangularSolveOp {
    type Params = TriangularSolve;
    const NAME: &'static str = "triangular_solve";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(p: &TriangularSolve, ins: &[Aval]) -> Result<Avals> {
        let [a, b] = ins else { bail!(Type, "triangular_solve takes 2 operands, got {}", ins.len()) };
        let (shape, other) = (any_matrix_shape("triangular_solve", a)?, any_matrix_shape("triangular_solve", b)?);
        if shape.rows != shape.columns {
            bail!(
                Type,
                "triangular_solve requires the last two dimensions of a to be equal in size, got a.shape of {}.",
                tuple_text(&a.shape)
            );
        }
        if a.rank() != b.rank() {
            bail!(
                Type,
                "triangular_solve requires both arguments to have the same number of dimensions, got {} and {}.",
                tuple_text(&a.shape),
                tuple_text(&b.shape)
            );
        }
        if shape.batch != other.batch {
            bail!(
                Value,
                "triangular_solve requires both arguments to have equal batch dimensions, got {} and {}.",
                tuple_text(&a.shape),
                tuple_text(&b.shape)
            );
        }
        if shape.rows != if p.left_side { other.rows } else { other.columns } {
            bail!(
                Value,
                "Incompatible shapes for arguments to triangular_solve: {} and {}.",
                tuple_text(&a.shape),
                tuple_text(&b.shape)
            );
        }
        if a.dtype != b.dtype {
            bail!(Type, "triangular_solve requires arguments to have the same dtypes, got {}, {}.", a.dtype, b.dtype);
        }
        matrix_shape("triangular_solve", a)?;
        Ok(smallvec![*b])
    }

    fn cpu(p: &TriangularSolve, ins: &[Aval]) -> CpuForm {
        let rank = ins[1].rank();
        let task = MatrixTask::TriangularSolve {
            other: [ins[1].shape[rank - 2], ins[1].shape[rank - 1]],
            left: p.left_side,
            lower: p.lower,
            transpose: p.transpose_a,
            conjugate: p.conjugate_a,
            unit: p.unit_diagonal,
        };
        kernel(task, ins[0])
    }

    fn derivative() -> Derivative<TriangularSolve> {
        Derivative::Jvp(jvp)
    }

    fn transpose() -> Transpose<TriangularSolve> {
        Transpose::Rule(transpose)
    }

    fn hlo() -> Hlo<TriangularSolve> {
        Hlo::Rule(|p, cx, ins, outs| {
            // Conjugated alone is no form of the operation.
            let a = if p.conjugate_a && !p.transpose_a { conjugated(cx, ins[0]) } else { ins[0] };
            let transpose = match (p.transpose_a, p.conjugate_a) {
                (false, _) => "NO_TRANSPOSE",
                (true, false) => "TRANSPOSE",
                (true, true) => "ADJOINT",
            };
            let properties = format!(
                "left_side = {}, lower = {}, transpose_a = #stablehlo<transpose {transpose}>, unit_diagonal = {}",
                p.left_side, p.lower, p.unit_diagonal
            );
            cx.generic("stablehlo.triangular_solve", &properties, &[a, ins[1]], &mut [], outs)
        })
    }

    fn samples() -> Vec<Sample> {
        let sample = |bits: usize, b: &[usize], dtype| {
            let p = TriangularSolve {
                left_side: bits & 1 != 0,
                lower: bits & 2 != 0,
                transpose_a: bits & 4 != 0,
                conjugate_a: false,
                unit_diagonal: bits & 8 != 0,
            };
            Sample::new(Params::new(p), dtype, (1.0, 2.0), &[&[3, 3], b])
        };
        let mut samples: Vec<Sample> =
            (0..16).map(|bits| sample(bits, if bits & 1 != 0 { &[3, 2] } else { &[2, 3] }, DType::F32)).collect();
        samples.push(sample(3, &[3, 2], DType::C64));
        samples
    }
}

fn solve<'e>(p: &TriangularSolve, a: &V<'e>, b: &V<'e>) -> V<'e> {
    b.solved_by(a, p.clone())
}

fn jvp(p: &TriangularSolve, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (a, b) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let x = V::new(e, &solve(p, &a, &b).done()?);
    let by_b = ts[1].as_ref().map(|t| solve(p, &a, &V::new(e, t)).done()).transpose()?;
    let by_a = ts[0].as_ref().map(|t| {
        let k = i64::from(p.unit_diagonal);
        let mut da = if p.lower { V::new(e, t).tril(-k) } else { V::new(e, t).triu(k) };
        if p.transpose_a {
            da = da.transposed();
        }
        if p.conjugate_a && da.aval().dtype.is_complex() {
            da = da.conj();
        }
        let inner = if p.left_side { (-da).times(&x) } else { (-x.clone()).times(&da) };
        solve(p, &a, &inner).done()
    });
    let tangent = add_any(e, by_a.transpose()?, by_b)?;
    Ok((smallvec![x.done()?], smallvec![tangent]))
}

fn transpose(p: &TriangularSolve, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let (Some(ct), Some(a)) = (&cts[0], ins[0].known()) else { return Ok(smallvec![None, None]) };
    let turned = TriangularSolve { transpose_a: !p.transpose_a, ..p.clone() };
    Ok(smallvec![None, Some(solve(&turned, &V::new(e, a), &V::new(e, ct)).done()?)])
}

fn conjugated(cx: &mut dyn HloCx, x: HloValue) -> HloValue {
    if !x.aval.dtype.is_complex() {
        return x;
    }
    let part = x.aval.with_dtype(x.aval.dtype.real());
    let [re, im] = ["stablehlo.real", "stablehlo.imag"].map(|name| cx.one(name, "", &[x], part));
    let im = cx.unary("stablehlo.negate", im);
    cx.one("stablehlo.complex", "", &[re, im], x.aval)
}
