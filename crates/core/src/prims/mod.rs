//! Every primitive that holds no jaxpr, one file each, by family.
//!
//! A primitive is added by its file, its `mod` line and its entry in [`ALL`]. What families supply is in their `mod.rs`.

pub mod contraction;
pub mod elementwise;
pub mod indexing;
pub mod linalg;
pub mod movement;
pub mod parallel;
pub mod random;
pub mod reduction;
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
pub use value::{V, add_any, instantiate, zeros};
pub use windowed::*;

/// All of them.
pub const ALL: &[PrimRef] = &[
    // elementwise, one operand
    ABS,
    ACOS,
    ACOSH,
    ASIN,
    ASINH,
    ATAN,
    ATANH,
    BESSEL_I0E,
    BESSEL_I1E,
    BITCAST_CONVERT_TYPE,
    CBRT,
    CEIL,
    CLZ,
    CONJ,
    CONVERT_ELEMENT_TYPE,
    COPY,
    COS,
    COSH,
    DIGAMMA,
    ERF,
    ERF_INV,
    ERFC,
    EXP,
    EXP2,
    EXPM1,
    FLOOR,
    IMAG,
    INTEGER_POW,
    IS_FINITE,
    LGAMMA,
    LOG,
    LOG1P,
    LOG2,
    LOGISTIC,
    NEG,
    NAME,
    NOT,
    ONE_MINUS_SQUARE,
    POPULATION_COUNT,
    REAL,
    REDUCE_PRECISION,
    ROUND,
    RSQRT,
    SIGN,
    SIN,
    SINH,
    SQRT,
    SQUARE,
    STOP_GRADIENT,
    TAN,
    TANH,
    // elementwise, several operands
    ADD,
    ADD_ANY,
    AND,
    ATAN2,
    CLAMP,
    COMPLEX,
    DIV,
    EQ,
    GE,
    GT,
    IGAMMA,
    IGAMMA_GRAD_A,
    IGAMMAC,
    LE,
    LT,
    MAX,
    MIN,
    MUL,
    NE,
    NEXTAFTER,
    OPTIMIZATION_BARRIER,
    OR,
    POLYGAMMA,
    POW,
    RANDOM_GAMMA_GRAD,
    REGULARIZED_INCOMPLETE_BETA,
    REM,
    SELECT_N,
    SHIFT_LEFT,
    SHIFT_RIGHT_ARITHMETIC,
    SHIFT_RIGHT_LOGICAL,
    SUB,
    XOR,
    ZETA,
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
    ARGMAX,
    ARGMIN,
    CUMLOGSUMEXP,
    CUMMAX,
    CUMMIN,
    CUMPROD,
    CUMSUM,
    REDUCE_AND,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_OR,
    REDUCE_PROD,
    REDUCE_SUM,
    REDUCE_XOR,
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
