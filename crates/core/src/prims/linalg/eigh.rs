//! Eigenvectors and ascending eigenvalues of a Hermitian matrix, in one triangle.
//!
//! eigh : a[..., n, n] -> v[..., n, n] w[..., n]        w real
//! With `M = Vᴴ dA V`: `dw = diag M`, `dV = V (F ∘ M)`, where `F[i, j] = 1 / (w[j] - w[i])` off the diagonal.

use super::*;
use crate::prims::V;
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// Params of `eigh`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Eigh {
    /// Which triangle is read.
    pub lower: bool,
    /// Whether eigenvalues ascend; they always do.
    pub sort_eigenvalues: bool,
    /// Always `None`: all of them.
    pub subset_by_index: Option<bool>,
    /// Always `None`: there is one.
    pub algorithm: Option<bool>,
}

/// The member.
pub(super) struct EighOp;

impl MatrixOp for EighOp {
    type Params = Eigh;
    const NAME: &'static str = "eigh";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &Eigh, ins: &[Aval]) -> Result<Avals> {
        let shape = square_shape("eigh", &ins[0])?;
        Ok(smallvec![ins[0], Aval::new(&shape.with(&[shape.rows]), ins[0].dtype.real())])
    }

    fn cpu(p: &Eigh, ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Eigh { lower: p.lower }, ins[0])
    }

    fn derivative() -> Derivative<Eigh> {
        Derivative::Jvp(jvp)
    }

    fn hlo() -> Hlo<Eigh> {
        Hlo::Rule(|p, cx, ins, outs| {
            // Which triangle, whether eigenvalues ascend, the most sweeps, and the size of what counts as zero.
            let is_double = matches!(ins[0].aval.dtype, DType::F64 | DType::C128);
            let tolerance = if is_double { "1e-12" } else { "1e-6" };
            let config = format!("{},1,100,{tolerance}", u8::from(p.lower));
            library_call(cx, "Eigh", &config, ins, outs)
        })
    }

    // The derivative is that along Hermitian matrices, and random ones are not: the tests in Python cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}

fn jvp(p: &Eigh, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(EIGH, &Params::new(p.clone()), xs)?;
    let Some(t) = &ts[0] else { return Ok((outs, smallvec![None, None])) };
    let (v, w) = (V::new(e, &outs[0]), V::new(e, &outs[1]));
    let m = v.adjoint().times(&V::new(e, t)).times(&v);
    let shape = m.aval().shape.to_vec();
    let gaps = w.as_row().broadcast_to(&shape) - w.as_column().broadcast_to(&shape);
    let eye = gaps.eye();
    let inverse = 1.0 / (&gaps + &eye) - eye;
    let dv = v.times(&m.scaled(&inverse)).done()?;
    let dw = m.diagonal();
    let dw = if dw.aval().dtype.is_complex() { dw.real() } else { dw };
    Ok((outs, smallvec![Some(dv), Some(dw.done()?)]))
}
