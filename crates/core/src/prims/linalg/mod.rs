//! Factorizations and solutions of matrices, which are the last two axes; those before are batches.
//!
//! A member states its name, its results, the kernel's task and its derivative; batching and the rest come from the
//! family ([`MatrixPrim`]). What has no factors gives NaN, as JAX does. The formulas of derivatives are those of M. Giles,
//! "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), and of the papers
//! that members name.

mod algebra;
mod cholesky;
mod cholesky_update;
mod eig;
mod eigh;
mod householder;
mod lu;
mod lu_loop;
mod pivots;
mod qr;
mod reduced;
mod schur;
mod svd;
mod symmetric_product;
mod triangular_solve;
mod tridiagonal_solve;

use std::marker::PhantomData;

use crate::prims::splits::of_matrices;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, ParamSet, Params, Prim, PrimRef, Sample, Splits, Transpose, Val};
use pullback_loops::{Body, Matrix, MatrixTask};
use smallvec::SmallVec;

use super::batch_to_front;

pub use eig::Eig;
pub use eigh::Eigh;
pub use householder::Ormqr;
pub use pivots::PivotsToPermutation;
pub use qr::Qr;
pub use reduced::Tridiagonal;
pub use schur::Schur;
pub use svd::Svd;
pub use symmetric_product::SymmetricProduct;
pub use triangular_solve::TriangularSolve;
pub use tridiagonal_solve::TridiagonalSolve;

/// A member of the family.
pub trait MatrixOp: Send + Sync + 'static {
    /// Its params.
    type Params: ParamSet;
    /// JAX's name.
    const NAME: &'static str;
    /// Whether an equation has a list of results.
    const MULTIPLE_RESULTS: bool;

    /// Shapes and dtypes of the results.
    fn avals(p: &Self::Params, ins: &[Aval]) -> Result<Avals>;
    /// What the CPU does.
    fn cpu(p: &Self::Params, ins: &[Aval]) -> CpuForm;
    /// Forward derivative.
    fn derivative() -> Derivative<Self::Params>;
    /// Transpose.
    fn transpose() -> Transpose<Self::Params> {
        Transpose::NotLinear
    }
    /// What StableHLO says.
    fn hlo() -> Hlo<Self::Params> {
        Hlo::Missing("XLA has no operation for it, and the libraries that do are not in its plugins")
    }
    /// Applications for the test battery.
    fn samples() -> Vec<Sample>;
}

/// A call of what XLA itself expands on every platform. Matrices without elements have results of zeros.
fn library_call(cx: &mut dyn HloCx, name: &str, config: &str, ins: &[HloValue], outs: &[Aval]) -> Result<HloValues> {
    if ins[0].aval.size() == 0 {
        return Ok(outs.iter().map(|out| cx.full(Scalar::zero(out.dtype), &out.shape)).collect());
    }
    let config = if config.is_empty() { String::new() } else { format!(", backend_config = {config:?}") };
    cx.generic("stablehlo.custom_call", &format!("call_target_name = {name:?}{config}"), ins, &mut [], outs)
}

/// The family.
pub struct MatrixPrim<T>(pub PhantomData<T>);

macro_rules! members {
    ($($name:ident $member:path;)*) => {$(
        #[doc = concat!("The primitive of `", stringify!($member), "`.")]
        pub static $name: PrimRef = PrimRef(&MatrixPrim::<$member>(PhantomData));
    )*};
}
members! {
    CHOLESKY cholesky::CholeskyOp;
    CHOLESKY_UPDATE cholesky_update::CholeskyUpdateOp;
    EIG eig::EigOp;
    EIGH eigh::EighOp;
    GEQP3 householder::Geqp3Op;
    GEQRF householder::GeqrfOp;
    HESSENBERG reduced::HessenbergOp;
    HOUSEHOLDER_PRODUCT householder::HouseholderProductOp;
    LU lu::LuOp;
    LU_PIVOTS_TO_PERMUTATION pivots::PivotsToPermutationOp;
    ORMQR householder::OrmqrOp;
    QR qr::QrOp;
    SCHUR schur::SchurOp;
    SVD svd::SvdOp;
    SYMMETRIC_PRODUCT symmetric_product::SymmetricProductOp;
    TRIANGULAR_SOLVE triangular_solve::TriangularSolveOp;
    TRIDIAGONAL reduced::TridiagonalOp;
    TRIDIAGONAL_SOLVE tridiagonal_solve::TridiagonalSolveOp;
}

impl<T: MatrixOp> Prim for MatrixPrim<T> {
    type Params = T::Params;
    const NAME: &'static str = T::NAME;
    const MULTIPLE_RESULTS: bool = T::MULTIPLE_RESULTS;

    fn abstract_eval(&self, p: &T::Params, ins: &[Aval]) -> Result<Avals> {
        T::avals(p, ins)
    }

    fn derivative(&self) -> Derivative<T::Params> {
        T::derivative()
    }

    fn transpose(&self) -> Transpose<T::Params> {
        T::transpose()
    }

    fn splits(&self) -> Splits<T::Params> {
        Splits::Rule(of_matrices)
    }

    fn batching(&self) -> Batching<T::Params> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let front = |(x, &dim): (&Val, &Option<usize>)| batch_to_front(e, x, dim, batch.size);
            let ins = ins.iter().zip(dims).map(front).collect::<Result<Vec<Val>>>()?;
            let outs = e.bind(PrimRef(&MatrixPrim::<T>(PhantomData)), &Params::new(p.clone()), &ins)?;
            let dims = SmallVec::from_elem(Some(0), outs.len());
            Ok((outs, dims))
        })
    }

    fn cpu(&self, p: &T::Params, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        T::cpu(p, ins)
    }

    fn hlo(&self) -> Hlo<T::Params> {
        T::hlo()
    }

    fn samples(&self) -> Vec<Sample> {
        T::samples()
    }
}

/// The sizes of batches of matrices.
struct MatrixShape<'a> {
    batch: &'a [usize],
    rows: usize,
    columns: usize,
}

/// The sizes of an operand, which must be batches of matrices of a type that has factorizations.
fn matrix_shape<'a>(name: &str, x: &'a Aval) -> Result<MatrixShape<'a>> {
    if !matches!(x.dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        bail!(
            Type,
            "{name} does not accept dtype {}. Accepted dtypes are float32, float64, complex64 and complex128.",
            x.dtype
        );
    }
    any_matrix_shape(name, x)
}

/// The same of any dtype.
fn any_matrix_shape<'a>(name: &str, x: &'a Aval) -> Result<MatrixShape<'a>> {
    let [batch @ .., rows, columns] = &x.shape[..] else {
        bail!(Type, "Input to {name} must have rank at least 2, but got shape={}", tuple_text(&x.shape));
    };
    Ok(MatrixShape { batch, rows: *rows, columns: *columns })
}

/// The same of square matrices.
fn square_shape<'a>(name: &str, x: &'a Aval) -> Result<MatrixShape<'a>> {
    let shape = matrix_shape(name, x)?;
    if shape.rows != shape.columns {
        bail!(Value, "Argument to {name} must have shape [..., n, n], got shape {}", tuple_text(&x.shape));
    }
    Ok(shape)
}

impl MatrixShape<'_> {
    /// An array of each matrix of the batch.
    fn with(&self, sizes: &[usize]) -> Vec<usize> {
        [self.batch, sizes].concat()
    }

    fn least(&self) -> usize {
        self.rows.min(self.columns)
    }
}

/// A task of the kernel on the first operand.
fn kernel(task: MatrixTask, x: Aval) -> CpuForm {
    let [batch @ .., rows, columns] = &x.shape[..] else { return CpuForm::Missing("matrices have two axes".into()) };
    let batch = batch.iter().product();
    CpuForm::Body(Box::new(Body::Matrix(Matrix { task, dtype: x.dtype, batch, rows: *rows, columns: *columns })))
}
