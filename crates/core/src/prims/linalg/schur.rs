//! The Schur form `A = Z T Zᴴ`, T upper triangular (for real A up to blocks of two).
//!
//! schur : a[..., n, n] -> t[..., n, n] (z[..., n, n])
//! JAX has no derivative for it.

use super::*;

/// Params of `schur`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Schur {
    /// Whether Z is a result.
    pub compute_schur_vectors: bool,
    /// Always `false`: eigenvalues come in no order.
    pub sort_eig_vals: bool,
    /// Always `None`.
    pub select_callable: Option<bool>,
}

/// The member.
pub(super) struct SchurOp;

impl MatrixOp for SchurOp {
    type Params = Schur;
    const NAME: &'static str = "schur";
    const MULTIPLE_RESULTS: bool = true;

    fn avals(p: &Schur, ins: &[Aval]) -> Result<Avals> {
        square_shape("schur", &ins[0])?;
        Ok(std::iter::repeat_n(ins[0], if p.compute_schur_vectors { 2 } else { 1 }).collect())
    }

    fn cpu(p: &Schur, ins: &[Aval]) -> CpuForm {
        kernel(MatrixTask::Schur { vectors: p.compute_schur_vectors }, ins[0])
    }

    fn derivative() -> Derivative<Schur> {
        Derivative::Missing("JAX has none either")
    }

    // The form is not unique: the tests in Python cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}
