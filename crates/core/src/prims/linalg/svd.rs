//! Singular values, descending, and vectors: `A = U diag(s) Vᴴ`.
//!
//! svd : a[..., m, n] -> s[..., k] (u[..., m, k] vh[..., k, n])        k = min(m, n); U and V square if `full_matrices`
//! `ds = re diag(Uᴴ dA V)`; of the vectors as J. Townsend, "Differentiating the singular value decomposition" (2016).

use super::*;
use crate::prims::V;
use pullback_ir::{Emit, Tangents, Vals};
use smallvec::smallvec;

/// Params of `svd`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Svd {
    /// Whether U and V are square.
    pub full_matrices: bool,
    /// Whether U and V are results.
    pub compute_uv: bool,
    /// Always `None`: all of them.
    pub subset_by_index: Option<bool>,
    /// Always `None`: there is one.
    pub algorithm: Option<bool>,
}

/// The member.
pub(super) struct SvdOp;

impl MatrixOp for SvdOp {
    type Params = Svd;
    const NAME: &'static str = "svd";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(p: &Svd, ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("svd", &ins[0])?;
        let (m, n, k) = (shape.rows, shape.columns, shape.least());
        let mut outs: Avals = smallvec![Aval::new(&shape.with(&[k]), ins[0].dtype.real())];
        if p.compute_uv {
            outs.push(ins[0].with_shape(&shape.with(&[m, if p.full_matrices { m } else { k }])));
            outs.push(ins[0].with_shape(&shape.with(&[if p.full_matrices { n } else { k }, n])));
        }
        Ok(outs)
    }

    fn cpu(p: &Svd, ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Svd { vectors: p.compute_uv, full: p.full_matrices }, ins[0])
    }

    fn derivative() -> Derivative<Svd> {
        Derivative::Jvp(jvp)
    }

    fn samples() -> Vec<Sample> {
        let sample = |compute_uv, shape: &[usize]| {
            let p = Svd { full_matrices: false, compute_uv, subset_by_index: None, algorithm: None };
            Sample::new(Params::new(p), DType::F32, (-2.0, 2.0), &[shape])
        };
        vec![sample(true, &[3, 3]), sample(true, &[2, 4, 3]), sample(true, &[2, 3]), sample(false, &[3, 4])]
    }
}

fn jvp(p: &Svd, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let bind = |p: &Svd| e.bind(SVD, &Params::new(p.clone()), &xs[..1]);
    let Some(t) = &ts[0] else {
        let outs = bind(p)?;
        let zeros = smallvec![None; outs.len()];
        return Ok((outs, zeros));
    };
    let [.., m, n] = xs[0].aval().shape[..] else { bail!(Internal, "svd has matrices") };
    // U and V of a square matrix are square either way.
    if p.compute_uv && p.full_matrices && m != n {
        bail!(NotImplemented, "Singular value decomposition JVP not implemented for full matrices");
    }
    let outs = bind(&Svd { compute_uv: true, full_matrices: false, ..p.clone() })?;
    let [s, u, vh] = [0, 1, 2].map(|i| V::new(e, &outs[i]));
    let da = V::new(e, t);
    let (uh, v) = (u.adjoint(), vh.adjoint());
    let inner = uh.times(&da).times(&v);
    let ds = inner.diagonal();
    let ds = if ds.aval().dtype.is_complex() { ds.real() } else { ds };
    if !p.compute_uv {
        return Ok((smallvec![outs[0].clone()], smallvec![Some(ds.done()?)]));
    }
    let vectors = Vectors { s, u, uh, v, vh, da, inner };
    let (du, dv) = vectors.tangents();
    Ok((outs, smallvec![Some(ds.done()?), Some(du.done()?), Some(dv.adjoint().done()?)]))
}

/// What the tangents of singular vectors are made of.
struct Vectors<'e> {
    s: V<'e>,
    u: V<'e>,
    uh: V<'e>,
    v: V<'e>,
    vh: V<'e>,
    da: V<'e>,
    /// `Uᴴ dA V`.
    inner: V<'e>,
}

impl<'e> Vectors<'e> {
    fn tangents(&self) -> (V<'e>, V<'e>) {
        let Vectors { s, u, uh, v, vh, da, inner } = self;
        let (row, column) = (s.as_row(), s.as_column());
        let shape = inner.aval().shape.to_vec();
        let (rows, columns) = (row.broadcast_to(&shape), column.broadcast_to(&shape));
        let gaps = (&rows + &columns) * (&rows - &columns);
        let eye = gaps.eye();
        let f = 1.0 / (&gaps + &eye) - eye;
        let (by_rows, by_columns) = (inner.scaled(&row), inner.scaled(&column));
        let zero = s.eq(&s.full(0.0));
        let safe = zero.select(s, &s.full(1.0));
        let inverse = zero.select(&(1.0 / safe), &s.full(0.0));
        let phases = (inner - inner.adjoint()).scaled(&inverse.as_row()).only_diagonal() * 0.5;
        let mut du = u.times(&((&by_rows + by_rows.adjoint()).scaled(&f) + phases));
        let mut dv = v.times(&(&by_columns + by_columns.adjoint()).scaled(&f));
        let size = |x: &V<'e>, from_end: usize| x.aval().shape[x.aval().rank() - from_end];
        let (m, n) = (size(da, 2), size(da, 1));
        if m > n {
            let outside = da.times(v);
            let rest = &outside - u.times(&uh.times(&outside));
            du = du + divided(&rest, &row);
        }
        if n > m {
            let outside = da.adjoint().times(u);
            let rest = &outside - v.times(&vh.times(&outside));
            dv = dv + divided(&rest, &row);
        }
        (du, dv)
    }
}

fn divided<'e>(x: &V<'e>, by: &V<'e>) -> V<'e> {
    x / by.broadcast_to(&x.aval().shape).convert(x.aval().dtype)
}
