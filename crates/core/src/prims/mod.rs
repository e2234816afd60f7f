//! Every primitive that holds no jaxpr, one file each, by family.
//!
//! A primitive is added by its file and one line: a member of a family in the list of the family's `mod.rs`, another one in
//! [`OTHERS`]. What families supply is in their `mod.rs`.

pub mod contraction;
pub mod elementwise;
pub mod indexing;
pub mod linalg;
pub mod movement;
pub mod parallel;
pub mod random;
pub mod reduction;
pub mod splits;
mod value;
pub mod windowed;

use pullback_ir::PrimRef;

pub use contraction::*;
pub use elementwise::*;
pub use indexing::*;
pub use linalg::*;
pub use movement::*;
pub use parallel::*;
pub use random::*;
pub use reduction::*;
pub use value::{V, add_any, cotangent_type, instantiate, zeros};
pub use windowed::*;

/// All of them.
pub fn all() -> impl Iterator<Item = PrimRef> {
    elementwise::members().chain(reduction::MEMBERS).chain(OTHERS).copied()
}

/// Those that are in no list of members.
static OTHERS: &[PrimRef] = &[
    // elementwise, one operand
    BITCAST_CONVERT_TYPE,
    CONJ,
    CONVERT_ELEMENT_TYPE,
    INTEGER_POW,
    NAME,
    REDUCE_PRECISION,
    ROUND,
    // elementwise, several operands
    CLAMP,
    COMPLEX,
    OPTIMIZATION_BARRIER,
    POLYNOMIAL,
    POW,
    REGULARIZED_INCOMPLETE_BETA,
    SELECT_N,
    // movement
    BROADCAST_IN_DIM,
    CONCATENATE,
    IOTA,
    PAD,
    RESHAPE,
    REV,
    SLICE,
    SPLIT,
    SQUEEZE,
    STACK,
    TILE,
    TRANSPOSE,
    UNSTACK,
    // reduction
    REDUCE_PROD,
    REDUCE_SUM,
    SORT,
    TOP_K,
    // indexing
    DYNAMIC_SLICE,
    DYNAMIC_UPDATE_SLICE,
    GATHER,
    SCATTER,
    SCATTER_ADD,
    SCATTER_MAX,
    SCATTER_MIN,
    SCATTER_MUL,
    SCATTER_SUB,
    // random numbers
    RANDOM_BITS,
    RANDOM_CLONE,
    RANDOM_FOLD_IN,
    RANDOM_SEED,
    RANDOM_SPLIT,
    RANDOM_UNWRAP,
    RANDOM_WRAP,
    RNG_BIT_GENERATOR,
    // contraction
    CONV_GENERAL_DILATED,
    DOT_GENERAL,
    // collectives
    ALL_GATHER,
    ALL_TO_ALL,
    AXIS_INDEX,
    PBROADCAST,
    PMAX,
    PMIN,
    PPERMUTE,
    PSUM,
    PSUM_INVARIANT,
    PVARY,
    REDUCE_SCATTER,
    RESHARD,
    SHARDING_CONSTRAINT,
    FFT,
    // linear algebra
    CHOLESKY,
    CHOLESKY_UPDATE,
    EIG,
    EIGH,
    GEQP3,
    GEQRF,
    HESSENBERG,
    HOUSEHOLDER_PRODUCT,
    LU,
    LU_PIVOTS_TO_PERMUTATION,
    ORMQR,
    QR,
    SCHUR,
    SVD,
    SYMMETRIC_PRODUCT,
    TRIANGULAR_SOLVE,
    TRIDIAGONAL,
    TRIDIAGONAL_SOLVE,
    // windows
    REDUCE_WINDOW_MAX,
    REDUCE_WINDOW_MIN,
    REDUCE_WINDOW_SUM,
    SELECT_AND_GATHER_ADD,
    SELECT_AND_SCATTER_ADD,
];
