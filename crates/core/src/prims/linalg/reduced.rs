//! Forms near the diagonal that reflections lead to: Hessenberg of a general matrix, tridiagonal of a Hermitian one.
//!
//! hessenberg : a[..., n, n] -> packed[..., n, n] taus[..., n - 1]
//! tridiagonal : a[..., n, n] -> packed[..., n, n] diagonal[..., n] off_diagonal[..., n - 1] taus[..., n - 1]
//! JAX has no derivatives for them.

use super::*;
use smallvec::smallvec;

/// Params of `tridiagonal`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Tridiagonal {
    /// Which triangle is read.
    pub lower: bool,
}

/// The member `hessenberg`.
pub(super) struct HessenbergOp;
/// The member `tridiagonal`.
pub(super) struct TridiagonalOp;

impl MatrixOp for HessenbergOp {
    type Params = ();
    const NAME: &'static str = "hessenberg";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &(), ins: &[Aval]) -> Result<Avals> {
        let shape = square_shape("hessenberg", &ins[0])?;
        Ok(smallvec![ins[0], ins[0].with_shape(&shape.with(&[shape.rows.saturating_sub(1)]))])
    }

    fn cpu(_: &(), ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Hessenberg, ins[0])
    }

    fn derivative() -> Derivative<()> {
        Derivative::Missing("JAX has none either")
    }

    fn samples() -> Vec<Sample> {
        vec![Sample::new(Params::NONE, DType::F32, (-2.0, 2.0), &[&[2, 4, 4]])]
    }
}

impl MatrixOp for TridiagonalOp {
    type Params = Tridiagonal;
    const NAME: &'static str = "tridiagonal";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(_: &Tridiagonal, ins: &[Aval]) -> Result<Avals> {
        let shape = square_shape("tridiagonal", &ins[0])?;
        let (n, real) = (shape.rows, ins[0].dtype.real());
        let less = n.saturating_sub(1);
        Ok(smallvec![
            ins[0],
            Aval::new(&shape.with(&[n]), real),
            Aval::new(&shape.with(&[less]), real),
            ins[0].with_shape(&shape.with(&[less])),
        ])
    }

    fn cpu(p: &Tridiagonal, ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Tridiagonal { lower: p.lower }, ins[0])
    }

    fn derivative() -> Derivative<Tridiagonal> {
        Derivative::Missing("JAX has none either")
    }

    fn samples() -> Vec<Sample> {
        vec![Sample::new(Params::new(Tridiagonal { lower: true }), DType::F32, (-2.0, 2.0), &[&[2, 4, 4]])]
    }
}
