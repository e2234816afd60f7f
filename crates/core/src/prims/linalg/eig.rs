//! Eigenvalues, and left and right eigenvectors, of a general matrix. Not in any order; vectors have length one.
//!
//! eig : a[..., n, n] -> w[..., n] left[..., n, n] right[..., n, n]        complex, each pair only if asked for
//! `dw = diag(V⁻¹ dA V)`; that of vectors is not defined without a choice of their phase.

use super::*;
use crate::prims::V;
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// Params of `eig`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Eig {
    /// Whether left eigenvectors are a result.
    pub compute_left_eigenvectors: bool,
    /// Whether right eigenvectors are a result.
    pub compute_right_eigenvectors: bool,
    /// Whether derivatives of eigenvectors are asked for.
    pub enable_eigvec_derivs: bool,
    /// Always `None`: there is one.
    pub implementation: Option<bool>,
}

/// The member.
pub(super) struct EigOp;

fn complex_of(dtype: DType) -> DType {
    if matches!(dtype, DType::F64 | DType::C128) { DType::C128 } else { DType::C64 }
}

impl MatrixOp for EigOp {
    type Params = Eig;
    const NAME: &'static str = "eig";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(p: &Eig, ins: &[Aval]) -> Result<Avals> {
        let shape = square_shape("eig", &ins[0])?;
        let aval = |sizes: &[usize]| Aval::new(&shape.with(sizes), complex_of(ins[0].dtype));
        let n = shape.rows;
        let n_vectors = usize::from(p.compute_left_eigenvectors) + usize::from(p.compute_right_eigenvectors);
        Ok(std::iter::once(aval(&[n])).chain(std::iter::repeat_n(aval(&[n, n]), n_vectors)).collect())
    }

    fn cpu(p: &Eig, ins: &[Aval]) -> CpuForm {
        let (left, right) = (p.compute_left_eigenvectors, p.compute_right_eigenvectors);
        kernel(MatrixTask::Eig { left, right }, ins[0])
    }

    fn derivative() -> Derivative<Eig> {
        Derivative::Jvp(jvp)
    }

    // Eigenvalues have no order: the tests in Python cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}

fn jvp(p: &Eig, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let bind = |p: &Eig| e.bind(EIG, &Params::new(p.clone()), &xs[..1]);
    let Some(t) = &ts[0] else {
        let outs = bind(p)?;
        let zeros = smallvec![None; outs.len()];
        return Ok((outs, zeros));
    };
    if p.compute_left_eigenvectors || p.compute_right_eigenvectors {
        bail!(
            NotImplemented,
            "The derivatives of non-symmetric eigenvectors are not supported. Only first-order derivatives of eigenvalues are \
             supported. See https://github.com/jax-ml/jax/issues/2748 for discussion."
        );
    }
    let mut outs = bind(&Eig { compute_right_eigenvectors: true, ..p.clone() })?;
    let v = V::new(e, &outs.pop().expect("vectors were asked for"));
    let turned = V::new(e, t).convert(v.aval().dtype).times(&v);
    let tangent = turned.solved_by_lu(&v).diagonal().done()?;
    Ok((outs, smallvec![Some(tangent)]))
}
