//! QR factors as vectors and scales of reflections `I - tau v vᴴ`, and the products of these.
//!
//! geqrf : a[..., m, n] -> packed[..., m, n] taus[..., min]
//! geqp3 : a[..., m, n] pivots[..., n] -> packed, pivots (from 1), taus        columns exchanged
//! householder_product : packed[..., m, n] taus[..., k] -> q[..., m, n]
//! ormqr : packed taus c -> q c, qᴴ c, c q or c qᴴ
//! JAX has no derivatives for them.

use super::*;
use crate::prims::V;
use smallvec::smallvec;

/// Params of `ormqr`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Ormqr {
    /// Whether Q stands on the left.
    pub left: bool,
    /// Whether it is transposed and conjugated.
    pub transpose: bool,
}

/// The member `geqrf`.
pub(super) struct GeqrfOp;
/// The member `geqp3`.
pub(super) struct Geqp3Op;
/// The member `householder_product`.
pub(super) struct HouseholderProductOp;
/// The member `ormqr`.
pub(super) struct OrmqrOp;

const NO_DERIVATIVE: &str = "JAX has none either; differentiate qr";

fn sample<P: ParamSet>(p: P, shapes: &[&[usize]]) -> Sample {
    Sample::new(Params::new(p), DType::F32, (-2.0, 2.0), shapes)
}

impl MatrixOp for GeqrfOp {
    type Params = ();
    const NAME: &'static str = "geqrf";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("geqrf", &ins[0])?;
        Ok(smallvec![ins[0], ins[0].with_shape(&shape.with(&[shape.least()]))])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Geqrf, ins[0])
    }

    fn derivative() -> Derivative<()> {
        Derivative::Missing(NO_DERIVATIVE)
    }

    fn hlo() -> Hlo<()> {
        Hlo::Rule(|_p, cx, ins, outs| library_call(cx, "Qr", "", ins, outs))
    }

    fn samples() -> Vec<Sample> {
        vec![sample((), &[&[3, 3]]), sample((), &[&[2, 4, 3]]), sample((), &[&[3, 0]])]
    }
}

impl MatrixOp for Geqp3Op {
    type Params = ();
    const NAME: &'static str = "geqp3";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("geqp3", &ins[0])?;
        let pivots = Aval::new(&shape.with(&[shape.columns]), DType::I32);
        Ok(smallvec![ins[0], pivots, ins[0].with_shape(&shape.with(&[shape.least()]))])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Geqp3, ins[0])
    }

    fn derivative() -> Derivative<()> {
        Derivative::Missing(NO_DERIVATIVE)
    }

    fn samples() -> Vec<Sample> {
        vec![sample((), &[&[3, 4]])]
    }
}

fn check_taus(name: &str, shape: &MatrixShape<'_>, taus: &Aval) -> Result<usize> {
    let n = taus.shape.last().copied().unwrap_or(0);
    if taus.shape[..] != shape.with(&[n])[..] || n > shape.least() {
        bail!(
            Value,
            "{name} requires scales of shape [..., k] with k at most the number of rows and columns, got {}",
            tuple_text(&taus.shape)
        );
    }
    Ok(n)
}

impl MatrixOp for HouseholderProductOp {
    type Params = ();
    const NAME: &'static str = "householder_product";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let shape = matrix_shape("householder_product", &ins[0])?;
        if shape.rows < shape.columns {
            bail!(
                Value,
                "The argument to householder_product must have at least as many rows as columns, got shape {}",
                tuple_text(&ins[0].shape)
            );
        }
        check_taus("householder_product", &shape, &ins[1])?;
        Ok(smallvec![ins[0]])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        let reflections = ins[1].shape.last().copied().unwrap_or(0);
        kernel(MatrixTask::HouseholderProduct { reflections }, ins[0])
    }

    fn derivative() -> Derivative<()> {
        Derivative::Missing(NO_DERIVATIVE)
    }

    fn hlo() -> Hlo<()> {
        const NAME: &str = "ProductOfElementaryHouseholderReflectors";
        Hlo::Rule(|_p, cx, ins, outs| library_call(cx, NAME, "", ins, outs))
    }

    fn samples() -> Vec<Sample> {
        vec![sample((), &[&[4, 3], &[3]]), sample((), &[&[2, 3, 3], &[2, 2]])]
    }
}

impl MatrixOp for OrmqrOp {
    type Params = Ormqr;
    const NAME: &'static str = "ormqr";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(p: &Ormqr, ins: &[Aval]) -> Result<Avals> {
        let [a, taus, c] = ins else { bail!(Type, "ormqr takes 3 operands, got {}", ins.len()) };
        let (shape, other) = (matrix_shape("ormqr", a)?, matrix_shape("ormqr", c)?);
        check_taus("ormqr", &shape, taus)?;
        if shape.rows != if p.left { other.rows } else { other.columns } {
            bail!(Value, "ormqr operands do not fit: {a} and {c}");
        }
        Ok(smallvec![*c])
    }

    fn cpu(p: &Ormqr, ins: &[Aval]) -> CpuForm {
        let reflections = ins[1].shape.last().copied().unwrap_or(0);
        let rank = ins[2].rank();
        let other = [ins[2].shape[rank - 2], ins[2].shape[rank - 1]];
        kernel(MatrixTask::Ormqr { reflections, other, left: p.left, transpose: p.transpose }, ins[0])
    }

    fn derivative() -> Derivative<Ormqr> {
        Derivative::Missing(NO_DERIVATIVE)
    }

    fn hlo() -> Hlo<Ormqr> {
        Hlo::Composition(|p, e, ins| {
            let [a, taus, c] = [0, 1, 2].map(|i| V::new(e, &ins[i]));
            let rank = a.aval().rank();
            // All columns of Q, where the reflectors are fewer or more.
            let mut config = vec![(0, 0, 0); rank];
            config[rank - 1].1 = a.aval().shape[rank - 2] as i64 - a.aval().shape[rank - 1] as i64;
            let q = a.pad(&a.number(0.0), &config).bind(HOUSEHOLDER_PRODUCT, &Params::NONE, &[&taus]);
            let q = if p.transpose { q.adjoint() } else { q };
            let product = if p.left { q.times(&c) } else { c.times(&q) };
            Ok(smallvec![product.done()?])
        })
    }

    fn samples() -> Vec<Sample> {
        let p = |left, transpose| Ormqr { left, transpose };
        vec![sample(p(true, false), &[&[4, 3], &[3], &[4, 2]]), sample(p(false, true), &[&[4, 3], &[3], &[2, 4]])]
    }
}
