//! `alpha A Aᵀ + beta C`.
//!
//! symmetric_product : a[..., n, k] c[..., n, n] -> [..., n, n]
//! JAX has no derivative for it.

use super::*;
use crate::prims::V;
use pullback_base::Scalar;
use pullback_ir::Vals;
use smallvec::smallvec;

/// Params of `symmetric_product`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct SymmetricProduct {
    /// Factor of the product.
    pub alpha: Scalar,
    /// Factor of C.
    pub beta: Scalar,
}

/// The member.
pub(super) struct SymmetricProductOp;

impl MatrixOp for SymmetricProductOp {
    type Params = SymmetricProduct;
    const NAME: &'static str = "symmetric_product";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(_: &SymmetricProduct, ins: &[Aval]) -> Result<Avals> {
        let [a, c] = ins else { bail!(Type, "symmetric_product takes 2 operands, got {}", ins.len()) };
        let (shape, other) = (matrix_shape("symmetric_product", a)?, square_shape("symmetric_product", c)?);
        if shape.rows != other.rows {
            bail!(
                Value,
                "symmetric_update expects a_matrix.shape[0] == c_matrix.shape[0], got {} and {}",
                tuple_text(&a.shape),
                tuple_text(&c.shape)
            );
        }
        Ok(smallvec![*c])
    }

    fn cpu(p: &SymmetricProduct, _ins: &[Aval]) -> CpuForm {
        let (alpha, beta) = (p.alpha.as_f64(), p.beta.as_f64());
        CpuForm::Decompose(Box::new(move |e, ins| -> Result<Vals> {
            let (a, c) = (V::new(e, &ins[0]), V::new(e, &ins[1]));
            Ok(smallvec![(a.times(&a.transposed()) * alpha + c * beta).done()?])
        }))
    }

    fn hlo() -> Hlo<SymmetricProduct> {
        Hlo::AsCpu
    }

    fn derivative() -> Derivative<SymmetricProduct> {
        Derivative::Missing("JAX has none either")
    }

    // Its params are numbers of Python: the tests there cover it.
    fn samples() -> Vec<Sample> {
        vec![]
    }
}
