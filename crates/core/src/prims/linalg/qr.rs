//! Factors `A = Q R` with orthonormal columns of Q and R upper triangular; with `pivoting`, of A with its columns exchanged.
//!
//! qr : a[..., m, n] -> q[..., m, k] r[..., k, n] (p[..., n])        k = m if `full_matrices`, else min(m, n)
//! With `X = Qᴴ dA R⁻¹` and the antihermitian `Ω` of its strict lower triangle: `dQ = Q (Ω - X) + dA R⁻¹`,
//! `dR = (X - Ω) R` (S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010).

use super::*;
use crate::prims::zeros;
use crate::prims::{PadAxis, V};
use pullback_base::Scalar;
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// Params of `qr`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Qr {
    /// Whether columns are exchanged.
    pub pivoting: bool,
    /// Whether Q is square.
    pub full_matrices: bool,
    /// Always `None`: there is one implementation.
    pub use_magma: Option<bool>,
}

/// The member.
pub(super) struct QrOp;

impl MatrixOp for QrOp {
    type Params = Qr;
    const NAME: &'static str = "qr";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(p: &Qr, ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("qr", &ins[0])?;
        let (m, n) = (shape.rows, shape.columns);
        let k = if p.full_matrices { m } else { shape.least() };
        let aval = |sizes: &[usize]| ins[0].with_shape(&shape.with(sizes));
        let mut outs: Avals = smallvec![aval(&[m, k]), aval(&[k, n])];
        if p.pivoting {
            outs.push(Aval::new(&shape.with(&[n]), DType::I32));
        }
        Ok(outs)
    }

    fn cpu(p: &Qr, _ins: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| factors(&p, e, &ins[0])))
    }

    fn hlo() -> Hlo<Qr> {
        Hlo::AsCpu
    }

    fn derivative() -> Derivative<Qr> {
        Derivative::Jvp(jvp)
    }

    fn samples() -> Vec<Sample> {
        let sample = |full_matrices, shape: &[usize]| {
            let p = Qr { pivoting: false, full_matrices, use_magma: None };
            Sample::new(Params::new(p), DType::F32, (-2.0, 2.0), &[shape])
        };
        vec![sample(false, &[3, 3]), sample(false, &[2, 4, 3])]
    }
}

fn factors(p: &Qr, e: &dyn Emit, a: &Val) -> Result<Vals> {
    let aval = a.aval();
    let [.., m, n] = aval.shape[..] else { bail!(Internal, "qr has matrices") };
    let (rank, k) = (aval.rank(), if p.full_matrices { m } else { m.min(n) });
    let outs = e.bind(if p.pivoting { GEQP3 } else { GEQRF }, &Params::NONE, std::slice::from_ref(a))?;
    let (packed, taus) = (V::new(e, &outs[0]), V::new(e, &outs[outs.len() - 1]));
    let vectors = packed.slice_axis(rank - 1, 0, k.min(n), 1);
    let mut config: Vec<PadAxis> = vec![(0, 0, 0); rank];
    config[rank - 1].1 = (k - k.min(n)) as i64;
    let q = vectors.pad(&vectors.number(0.0), &config).bind(HOUSEHOLDER_PRODUCT, &Params::NONE, &[&taus]);
    let r = packed.slice_axis(rank - 2, 0, k, 1).triu(0);
    let mut results: Vals = smallvec![q.done()?, r.done()?];
    if p.pivoting {
        // The kernel counts columns from 1.
        let one = V::new(e, &Val::Literal(Scalar::int(DType::I32, 1)));
        results.push((V::new(e, &outs[1]) - one).done()?);
    }
    Ok(results)
}

fn jvp(p: &Qr, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(QR, &Params::new(p.clone()), xs)?;
    let Some(t) = &ts[0] else {
        let zeros = smallvec![None; outs.len()];
        return Ok((outs, zeros));
    };
    let aval = xs[0].aval();
    let [.., m, n] = aval.shape[..] else { bail!(Internal, "qr has matrices") };
    let (q, r) = (V::new(e, &outs[0]), V::new(e, &outs[1]));
    let mut da = V::new(e, t);
    if p.pivoting {
        da = da.transposed().rows_at(&V::new(e, &outs[2])).transposed();
    }
    // Of a wide matrix the leading square has factors of its own; the rest of R is Qᴴ times the rest of A.
    let (last, rank) = (m.min(n), aval.rank());
    let square = r.slice_axis(rank - 1, 0, last, 1).slice_axis(rank - 2, 0, last, 1);
    let da_r = da.slice_axis(rank - 1, 0, last, 1).solved_by(&square, TriangularSolve::default());
    let mut x = q.adjoint().times_quickly(&da_r);
    // Columns of a square Q beyond those of A turn with the others, and not among themselves.
    let is_padded = p.full_matrices && m > n;
    if is_padded {
        let mut rest = aval.shape.clone();
        (rest[rank - 2], rest[rank - 1]) = (m, m - n);
        x = x.concatenate(&[&V::new(e, &zeros(e, Aval::new(&rest, aval.dtype))?)], rank - 1);
    }
    let lower = x.tril(-1);
    let mut omega = &lower - lower.adjoint();
    if x.aval().dtype.is_complex() {
        let imaginary = x.only_diagonal().imag();
        omega = omega + imaginary.full(0.0).complex(&imaginary);
    }
    let dq = if is_padded { q.times_quickly(&omega) } else { q.times_quickly(&(&omega - &x)) + da_r };
    let mut dr = (x - omega).slice_axis(rank - 1, 0, last, 1).times_quickly(&square);
    if m < n {
        let rest = q.times_quickly(&r.slice_axis(rank - 1, m, n, 1));
        let rest_ct = dq.adjoint().times_quickly(&rest) + q.adjoint().times_quickly(&da.slice_axis(rank - 1, m, n, 1));
        dr = dr.concatenate(&[&rest_ct], rank - 1);
    }
    let mut tangents: Tangents = smallvec![Some(dq.done()?), Some(dr.done()?)];
    if p.pivoting {
        tangents.push(None);
    }
    Ok((outs, tangents))
}
