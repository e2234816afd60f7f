//! Elementwise primitives, and the families that supply what their members share.
//!
//! Operands of several-operand primitives have one shape, up to axes of size 1 and scalars, which repeat. A member
//! states its name, the dtypes it accepts, its scalar form and its derivative; shapes, dtypes, batching and the sums
//! that undo repetition come from the family ([`unary`], [`binary`], [`compare`]).

// Each line is the file of a member, its primitive, and its place among [`MEMBERS`].
macro_rules! members {
    ($($family:ident $name:ident $file:ident::$member:ident;)*) => {
        $(
            mod $file;
            #[doc = concat!("The primitive of `", stringify!($file), "`.")]
            pub static $name: PrimRef = prim(&$family::<$file::$member>(PhantomData));
        )*

        /// The members of the families.
        pub(super) static MEMBERS: &[PrimRef] = &[$($name),*];
    };
}

pub mod binary;
mod bitcast_convert_type;
mod clamp;
pub mod compare;
mod complex;
mod complex_math;
mod conj;
mod convert_element_type;
mod dtypes;
pub mod formula;
mod integer_pow;
mod name;
mod optimization_barrier;
mod polynomial;
mod pow;
mod reduce_precision;
mod round;
mod select_n;
mod shapes;
mod special;
pub mod unary;

use std::marker::PhantomData;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Tangents, Transpose, Val, Vals,
};
use pullback_loops::{Builder, ValueId};
use smallvec::smallvec;

use super::value::{V, add_any};
use binary::{Binary, BinaryOp, BinaryRule};
use compare::{Compare, CompareOp};
use formula::{Complex, Formula, Term, complex_formula, complex_formula2, real_formula2};
use unary::{Unary, UnaryOp, UnaryRule};

pub use bitcast_convert_type::{BITCAST_CONVERT_TYPE, BitcastConvertType};
pub use clamp::CLAMP;
pub use complex::COMPLEX;
pub use conj::{CONJ, Conj};
pub use convert_element_type::{CONVERT_ELEMENT_TYPE, ConvertElementType};
pub use dtypes::DTypes;
pub use integer_pow::{INTEGER_POW, IntegerPow};
pub use name::{NAME, Name};
pub use optimization_barrier::OPTIMIZATION_BARRIER;
pub use polynomial::POLYNOMIAL;
pub use pow::POW;
pub use reduce_precision::{REDUCE_PRECISION, ReducePrecision};
pub use round::{ROUND, Round, RoundingMethod};
pub use select_n::SELECT_N;
pub use shapes::{broadcast_shapes, check_same_dtypes, unbroadcast};
pub use special::{
    BESSEL_I0E, BESSEL_I1E, IGAMMA, IGAMMA_GRAD_A, IGAMMAC, POLYGAMMA, RANDOM_GAMMA_GRAD, REGULARIZED_INCOMPLETE_BETA,
    ZETA,
};

/// The members of the families, those of special functions too.
pub(super) fn members() -> impl Iterator<Item = &'static PrimRef> {
    MEMBERS.iter().chain(special::MEMBERS)
}

/// A primitive without params.
const fn prim<T: Prim>(member: &'static T) -> PrimRef {
    PrimRef(member)
}

members! {
    Unary ABS abs::Abs;
    Unary ACOS acos::Acos;
    Unary ACOSH acosh::Acosh;
    Unary ASIN asin::Asin;
    Unary ASINH asinh::Asinh;
    Unary ATAN atan::Atan;
    Unary ATANH atanh::Atanh;
    Unary CBRT cbrt::Cbrt;
    Unary CEIL ceil::Ceil;
    Unary CLZ clz::Clz;
    Unary COPY copy::Copy;
    Unary COS cos::Cos;
    Unary COSH cosh::Cosh;
    Unary DIGAMMA digamma::Digamma;
    Unary ERF erf::Erf;
    Unary ERF_INV erf_inv::ErfInv;
    Unary ERFC erfc::Erfc;
    Unary EXP exp::Exp;
    Unary EXP2 exp2::Exp2;
    Unary EXPM1 expm1::Expm1;
    Unary FLOOR floor::Floor;
    Unary IMAG imag::Imag;
    Unary IS_FINITE is_finite::IsFinite;
    Unary LGAMMA lgamma::Lgamma;
    Unary LOG log::Log;
    Unary LOG1P log1p::Log1p;
    Unary LOG2 log2::Log2;
    Unary LOGISTIC logistic::Logistic;
    Unary NEG neg::Neg;
    Unary NOT not::Not;
    Unary ONE_MINUS_SQUARE one_minus_square::OneMinusSquare;
    Unary POPULATION_COUNT population_count::PopulationCount;
    Unary REAL real::Real;
    Unary RSQRT rsqrt::Rsqrt;
    Unary SIGN sign::Sign;
    Unary SIN sin::Sin;
    Unary SINH sinh::Sinh;
    Unary SQRT sqrt::Sqrt;
    Unary SQUARE square::Square;
    Unary STOP_GRADIENT stop_gradient::StopGradient;
    Unary TAN tan::Tan;
    Unary TANH tanh::Tanh;
    Binary ADD add::Add;
    Binary ADD_ANY add_any::AddAny;
    Binary AND and::And;
    Binary ATAN2 atan2::Atan2;
    Binary DIV div::Div;
    Binary MAX max::Max;
    Binary MIN min::Min;
    Binary MUL mul::Mul;
    Binary MULHI mulhi::MulHi;
    Binary NEXTAFTER nextafter::Nextafter;
    Binary OR or::Or;
    Binary REM rem::Rem;
    Binary SHIFT_LEFT shift_left::ShiftLeft;
    Binary SHIFT_RIGHT_ARITHMETIC shift_right_arithmetic::ShiftRightArithmetic;
    Binary SHIFT_RIGHT_LOGICAL shift_right_logical::ShiftRightLogical;
    Binary SUB sub::Sub;
    Binary XOR xor::Xor;
    Compare EQ eq::Eq;
    Compare NE ne::Ne;
    Compare LT lt::Lt;
    Compare LE le::Le;
    Compare GT gt::Gt;
    Compare GE ge::Ge;
    Compare EQ_TO eq_to::EqTo;
    Compare LE_TO le_to::LeTo;
    Compare LT_TO lt_to::LtTo;
}
