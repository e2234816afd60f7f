//! Elementwise functions of `lax`.

use pullback_base::{DType, Result, Scalar};
use pullback_ir::Val;

use crate::bind::{self, Fields};
use crate::convert::{convert, number};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises, for example for a dtype it does not accept.
        pub fn $name(x: &Val) -> Result<Val> {
            bind::$prim.call(std::slice::from_ref(x))
        }
    )*};
}
unary! {
    /// Absolute value; the modulus of complex numbers.
    abs ABS;
    /// Inverse cosine.
    acos ACOS;
    /// Inverse hyperbolic cosine.
    acosh ACOSH;
    /// Inverse sine.
    asin ASIN;
    /// Inverse hyperbolic sine.
    asinh ASINH;
    /// Inverse tangent.
    atan ATAN;
    /// Inverse hyperbolic tangent.
    atanh ATANH;
    /// Scaled modified Bessel function of order 0.
    bessel_i0e BESSEL_I0E;
    /// Scaled modified Bessel function of order 1.
    bessel_i1e BESSEL_I1E;
    /// Cube root.
    cbrt_plain CBRT;
    /// Least integer not below.
    ceil CEIL;
    /// Number of leading zero bits.
    clz CLZ;
    /// The same elements as a new array.
    copy COPY;
    /// Cosine.
    cos COS;
    /// Hyperbolic cosine.
    cosh COSH;
    /// Derivative of the logarithm of the gamma function.
    digamma DIGAMMA;
    /// Error function.
    erf ERF;
    /// Complement of the error function.
    erfc ERFC;
    /// Inverse of the error function.
    erf_inv ERF_INV;
    /// e to the power of x.
    exp EXP;
    /// 2 to the power of x.
    exp2 EXP2;
    /// `exp(x) - 1`, exact near 0.
    expm1 EXPM1;
    /// Greatest integer not above.
    floor FLOOR;
    /// Imaginary part.
    imag IMAG;
    /// Whether an element is neither infinite nor NaN.
    is_finite IS_FINITE;
    /// Logarithm of the absolute gamma function.
    lgamma LGAMMA;
    /// Natural logarithm.
    log LOG;
    /// `log(1 + x)`, exact near 0.
    log1p LOG1P;
    /// Logarithm to base 2.
    log2 LOG2;
    /// The logistic function.
    logistic LOGISTIC;
    /// Negation.
    neg NEG;
    /// Complement of all bits.
    bitwise_not NOT;
    /// `1 - x*x`.
    one_minus_square ONE_MINUS_SQUARE;
    /// Number of bits set.
    population_count POPULATION_COUNT;
    /// Real part.
    real REAL;
    /// Reciprocal square root.
    rsqrt RSQRT;
    /// Sign: -1, 0 or 1.
    sign SIGN;
    /// Sine.
    sin SIN;
    /// Hyperbolic sine.
    sinh SINH;
    /// Square root.
    sqrt SQRT;
    /// The square.
    square SQUARE;
    /// The same value, constant to differentiation.
    stop_gradient_plain STOP_GRADIENT;
    /// Tangent.
    tan TAN;
    /// Hyperbolic tangent.
    tanh TANH;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// A `Type` error when dtypes differ or shapes do not go together.
        pub fn $name(x: &Val, y: &Val) -> Result<Val> {
            bind::$prim.call(&[x.clone(), y.clone()])
        }
    )*};
}
binary! {
    /// Sum.
    add ADD;
    /// Bitwise and; conjunction of booleans.
    bitwise_and AND;
    /// Angle of the point `(y, x)`.
    atan2 ATAN2;
    /// Complex numbers of real and imaginary parts.
    complex COMPLEX;
    /// Quotient; truncated for integers.
    div DIV;
    /// Whether equal.
    eq EQ;
    /// Whether greater or equal.
    ge GE;
    /// Whether greater.
    gt GT;
    /// Regularized lower incomplete gamma function.
    igamma IGAMMA;
    /// Derivative of the regularized lower incomplete gamma function in `a`.
    igamma_grad_a IGAMMA_GRAD_A;
    /// Regularized upper incomplete gamma function.
    igammac IGAMMAC;
    /// Whether less or equal.
    le LE;
    /// Whether less.
    lt LT;
    /// The greater; NaN when either is.
    max MAX;
    /// The smaller; NaN when either is.
    min MIN;
    /// Upper half of the product of integers.
    mulhi MULHI;
    /// Whether different.
    ne NE;
    /// The next number from `x` towards `y`.
    nextafter NEXTAFTER;
    /// Bitwise or; disjunction of booleans.
    bitwise_or OR;
    /// Derivative of order `x` of the digamma function.
    polygamma POLYGAMMA;
    /// Power.
    pow_plain POW;
    /// Derivative of a sample of the gamma distribution in its shape.
    random_gamma_grad RANDOM_GAMMA_GRAD;
    /// Remainder with the sign of `x`.
    rem REM;
    /// Shift of bits to the left.
    shift_left SHIFT_LEFT;
    /// Shift of bits to the right, keeping the sign.
    shift_right_arithmetic SHIFT_RIGHT_ARITHMETIC;
    /// Shift of bits to the right, filling with zeros.
    shift_right_logical SHIFT_RIGHT_LOGICAL;
    /// Difference.
    sub SUB;
    /// Bitwise exclusive or.
    bitwise_xor XOR;
    /// Hurwitz zeta function.
    zeta ZETA;
}

/// Product.
///
/// # Errors
/// A `Type` error when dtypes differ or shapes do not go together.
pub fn mul(x: &Val, y: &Val) -> Result<Val> {
    bind::MUL.call(&[x.clone(), y.clone()])
}

/// Cube root.
///
/// # Errors
/// What the primitive raises.
pub fn cbrt(x: &Val) -> Result<Val> {
    cbrt_plain(x)
}

/// Power, of floating numbers by floating numbers or integers.
///
/// # Errors
/// What the primitive raises.
pub fn pow(x: &Val, y: &Val) -> Result<Val> {
    pow_plain(x, y)
}

/// Power with a fixed integer exponent.
///
/// # Errors
/// A `Type` error for an integer to a negative power.
pub fn integer_pow(x: &Val, y: i64) -> Result<Val> {
    let exponent =
        i32::try_from(y).map_err(|_| pullback_base::Error::overflow(format!("exponent {y} is too large")))?;
    match y {
        0 if x.aval().dtype != DType::Bool => full_like(x, 1.0),
        1 => Ok(x.clone()),
        _ => bind::INTEGER_POW.call_with(Fields::new().with("y", &exponent), std::slice::from_ref(x)),
    }
}

/// `1 / x`.
///
/// # Errors
/// What the primitive raises.
pub fn reciprocal(x: &Val) -> Result<Val> {
    integer_pow(x, -1)
}

/// An array like `x`, as weakly typed, filled with a number.
///
/// # Errors
/// What the primitive raises.
pub fn full_like(x: &Val, value: f64) -> Result<Val> {
    let aval = x.aval();
    let value = Scalar::float(aval.dtype, value).weak(aval.weak_type);
    full(&aval.shape, &Val::Literal(value))
}

/// An array of one repeated scalar.
///
/// # Errors
/// What the primitive raises.
pub fn full(shape: &[usize], value: &Val) -> Result<Val> {
    if shape.is_empty() {
        return Ok(value.clone());
    }
    crate::broadcast::broadcast_in_dim(value, shape, &[])
}

/// How numbers halfway between integers are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero.
    AwayFromZero,
    /// To the even neighbour.
    ToNearestEven,
}

/// The nearest integer.
///
/// # Errors
/// What the primitive raises.
pub fn round(x: &Val, rounding: Rounding) -> Result<Val> {
    let method = match rounding {
        Rounding::AwayFromZero => 0i64,
        Rounding::ToNearestEven => 1,
    };
    bind::ROUND.call_with(Fields::new().with("rounding_method", &method), std::slice::from_ref(x))
}

/// Complex conjugate; of real numbers the complex number.
///
/// # Errors
/// What the primitive raises.
pub fn conj(x: &Val) -> Result<Val> {
    let dtype = x.aval().dtype;
    bind::CONJ.call_with(Fields::new().with("input_dtype", &dtype), std::slice::from_ref(x))
}

/// The same bits as another dtype.
///
/// # Errors
/// What the primitive raises.
pub fn bitcast_convert_type(x: &Val, dtype: DType) -> Result<Val> {
    bind::BITCAST_CONVERT_TYPE.call_with(Fields::new().with("new_dtype", &dtype), std::slice::from_ref(x))
}

/// `x` rounded to a narrower floating format and back.
///
/// # Errors
/// What the primitive raises.
pub fn reduce_precision(x: &Val, exponent_bits: i64, mantissa_bits: i64) -> Result<Val> {
    let params = Fields::new().with("exponent_bits", &exponent_bits).with("mantissa_bits", &mantissa_bits);
    bind::REDUCE_PRECISION.call_with(params, std::slice::from_ref(x))
}

/// The case that `which` selects: false or 0 the first.
///
/// # Errors
/// What the primitive raises.
pub fn select_n(which: &Val, cases: &[Val]) -> Result<Val> {
    let ins: Vec<Val> = std::iter::once(which).chain(cases).cloned().collect();
    bind::SELECT_N.call(&ins)
}

/// `on_true` where `pred` holds, else `on_false`; a scalar `pred` or case is not repeated.
///
/// # Errors
/// What the primitive raises.
pub fn select(pred: &Val, on_true: &Val, on_false: &Val) -> Result<Val> {
    bind::SELECT_N.call(&[pred.clone(), on_false.clone(), on_true.clone()])
}

/// `x` kept between `low` and `high`.
///
/// # Errors
/// What the primitive raises.
pub fn clamp(low: &Val, x: &Val, high: &Val) -> Result<Val> {
    bind::CLAMP.call(&[low.clone(), x.clone(), high.clone()])
}

/// The regularized incomplete beta function.
///
/// # Errors
/// What the primitive raises.
pub fn betainc(a: &Val, b: &Val, x: &Val) -> Result<Val> {
    bind::REGULARIZED_INCOMPLETE_BETA.call(&[a.clone(), b.clone(), x.clone()])
}

/// The same value, constant to differentiation.
///
/// # Errors
/// What the primitive raises.
pub fn stop_gradient(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_key() {
        return Ok(x.clone());
    }
    stop_gradient_plain(x)
}

/// Whether elements differ from zero.
///
/// # Errors
/// What the primitive raises.
pub fn nonzero_mask(x: &Val) -> Result<Val> {
    if x.aval().dtype == DType::Bool {
        return Ok(x.clone());
    }
    ne(x, &number(x, 0.0))
}

/// As a boolean array by conversion.
///
/// # Errors
/// What the primitive raises.
pub fn to_bool(x: &Val) -> Result<Val> {
    convert(x, DType::Bool, false)
}
