//! Every primitive that holds no jaxpr, one file each, by family.
//!
//! A primitive is added by its file, its `mod` line and its entry in [`ALL`]. What families supply is in their `mod.rs`.

pub mod contraction;
pub mod elementwise;
pub mod indexing;
pub mod movement;
pub mod random;
pub mod reduction;
mod value;

use pullback_ir::PrimRef;

pub use contraction::*;
pub use elementwise::*;
pub use indexing::*;
pub use movement::*;
pub use random::*;
pub use reduction::*;
pub use value::{V, add_any, instantiate, zeros};

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
    DOT_GENERAL,
];
