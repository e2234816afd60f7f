//! Eigenvalues, and left and right eigenvectors, of a general matrix. Not in any order; vectors have length one.
//!
//! eig : a[..., n, n] -> w[..., n] left[..., n, n] right[..., n, n]        complex, each pair only if asked for
//! `dw = diag(V⁻¹ dA V)`; vectors have derivatives if asked for, since these hold only where no two elements of a vector are
//! equally great.

use super::*;
use crate::prims::{V, iota};
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
    let (left, right) = (p.compute_left_eigenvectors, p.compute_right_eigenvectors);
    let Some(t) = ts[0].as_ref().filter(|t| !t.aval().shape.contains(&0)) else {
        let outs = e.bind(EIG, &Params::new(p.clone()), &xs[..1])?;
        let zeros = smallvec![None; outs.len()];
        return Ok((outs, zeros));
    };
    if (left || right) && !p.enable_eigvec_derivs {
        bail!(
            NotImplemented,
            "Derivatives of non-symmetric eigenvectors are only valid where eigenvalues differ and the greatest element of \
             each vector is the only one of its size, which nothing checks. Pass enable_eigvec_derivs=True to \
             jax.lax.linalg.eig to opt in."
        );
    }
    // The derivative of eigenvalues needs vectors too: the right ones, if none are known.
    let bound = Eig { compute_right_eigenvectors: right || !left, ..p.clone() };
    let mut outs = e.bind(EIG, &Params::new(bound), &xs[..1])?;
    let values = V::new(e, &outs[0]);
    let da = V::new(e, t).convert(values.aval().dtype);
    let mut tangents: Tangents = smallvec![];
    if left {
        // Left vectors are the right ones of the adjoint matrix, whose eigenvalues are the conjugates.
        let turned = Turned::of(&V::new(e, &outs[1]), &da.adjoint());
        if !right {
            tangents.push(Some(turned.values().conj().done()?));
        }
        tangents.push(Some(turned.vectors(&values.conj()).done()?));
    }
    if right || !left {
        let turned = Turned::of(&V::new(e, &outs[1 + usize::from(left)]), &da);
        tangents.insert(0, Some(turned.values().done()?));
        if right {
            tangents.push(Some(turned.vectors(&values).done()?));
        } else {
            outs.truncate(1);
        }
    }
    Ok((outs, tangents))
}

/// A change of a matrix, in the basis of its eigenvectors.
struct Turned<'e> {
    v: V<'e>,
    /// `V⁻¹ dA V`.
    inner: V<'e>,
}

impl<'e> Turned<'e> {
    fn of(v: &V<'e>, da: &V<'e>) -> Turned<'e> {
        Turned { v: v.clone(), inner: da.times(v).solved_by_lu(v) }
    }

    /// Tangents of the eigenvalues.
    fn values(&self) -> V<'e> {
        self.inner.diagonal()
    }

    /// Tangents of vectors that keep their length and a real greatest element: `V (F ∘ V⁻¹ dA V) + V diag(c)` with
    /// `F[i, j] = 1 / (w[j] - w[i])` off the diagonal, and the `c` that these two conditions ask for.
    fn vectors(&self, values: &V<'e>) -> V<'e> {
        let (v, shape) = (&self.v, self.inner.aval().shape.to_vec());
        let gaps = values.as_row().broadcast_to(&shape) - values.as_column().broadcast_to(&shape);
        let eye = gaps.eye();
        let moved = v.times(&(&self.inner * (1.0 / (&gaps + &eye) - eye)));
        let rows = shape.len() - 2;
        let greatest = v.abs().argmax(rows, DType::I32).as_row().broadcast_to(&shape);
        let is_greatest = match iota(v.emit(), DType::I32, &shape, rows) {
            Ok(places) => places.eq(&greatest),
            Err(error) => return v.poisoned(error),
        };
        let at_greatest = |x: &V<'e>| is_greatest.select(&x.full(0.0), x).reduce_sum(&[rows]);
        let stretch = -(v.conj() * &moved).reduce_sum(&[rows]).real();
        let turn = -at_greatest(&moved.imag()) / at_greatest(&v.real());
        let factor = stretch.complex(&turn).as_row().broadcast_to(&shape);
        moved + v * factor
    }
}
