//! [`V`]: a value with its emitter, so that rules read as formulas.
//!
//! Operators and methods bind primitives. An error poisons the value and everything computed from it; it surfaces once,
//! at [`V::done`]. Numbers on either side of an operator take the dtype of the value.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pullback_base::{Array, Aval, DType, Error, Result, Scalar};
use pullback_ir::{Emit, Params, PrimRef, Val};

use super::*;

/// A value and the emitter that performs operations on it.
#[derive(Clone)]
pub struct V<'e> {
    emit: &'e dyn Emit,
    val: Result<Val>,
}

impl<'e> V<'e> {
    /// A value on an emitter.
    pub fn new(emit: &'e dyn Emit, val: &Val) -> V<'e> {
        V { emit, val: Ok(val.clone()) }
    }

    /// The value, or the first error on the way to it.
    ///
    /// # Errors
    /// What any operation on the way raised.
    pub fn done(self) -> Result<Val> {
        self.val
    }

    /// The error in place of a value.
    pub fn poisoned(&self, error: Error) -> V<'e> {
        V { emit: self.emit, val: self.val.clone().and(Err(error)) }
    }

    /// The emitter.
    pub fn emit(&self) -> &'e dyn Emit {
        self.emit
    }

    /// The aval; that of a float32 scalar when poisoned.
    pub fn aval(&self) -> Aval {
        self.val.as_ref().map_or_else(|_| Aval::scalar(DType::F32, false), Val::aval)
    }

    /// A number of this value's dtype and weak type.
    pub fn number(&self, number: f64) -> V<'e> {
        let aval = self.aval();
        let scalar = Scalar::float(aval.dtype, number).weak(aval.weak_type);
        V { emit: self.emit, val: self.val.clone().map(|_| Val::Literal(scalar)) }
    }

    /// A number of this value's dtype that is not weak, and so makes strong what is computed with it.
    pub fn strong_number(&self, number: f64) -> V<'e> {
        V { emit: self.emit, val: self.val.clone().map(|val| Val::Literal(Scalar::float(val.aval().dtype, number))) }
    }

    /// A number repeated to this value's shape.
    pub fn full(&self, number: f64) -> V<'e> {
        let (aval, number) = (self.aval(), self.number(number));
        if aval.rank() == 0 { number } else { number.broadcast_as(aval, &[]) }
    }

    /// Of booleans or an index: elements of the first where it is `false`, of the second where it is `true`.
    pub fn select(&self, on_false: &V<'e>, on_true: &V<'e>) -> V<'e> {
        let avals = [self.aval(), on_false.aval(), on_true.aval()];
        let Some(like) = avals.into_iter().find(|aval| aval.sharding.is_some()) else {
            return self.bind(SELECT_N, &Params::NONE, &[on_false, on_true]);
        };
        // Constants of a rule are split like what they stand beside.
        let [which, on_false, on_true] = [self, on_false, on_true].map(|x| {
            let own = x.aval();
            if own.sharding.is_none() && own.shape == like.shape { x.split_like(like) } else { x.clone() }
        });
        which.bind(SELECT_N, &Params::NONE, &[&on_false, &on_true])
    }

    /// Binds a primitive with one result on this value and others.
    pub fn bind(&self, prim: PrimRef, params: &Params, others: &[&V<'e>]) -> V<'e> {
        V { emit: self.emit, val: self.try_bind(prim, params, others) }
    }

    fn try_bind(&self, prim: PrimRef, params: &Params, others: &[&V<'e>]) -> Result<Val> {
        let mut ins = vec![self.val.clone()?];
        for other in others {
            ins.push(other.val.clone()?);
        }
        let mut outs = self.emit.bind(prim, params, &ins)?;
        Ok(outs.swap_remove(0))
    }

    fn unary(&self, prim: PrimRef) -> V<'e> {
        self.bind(prim, &Params::NONE, &[])
    }

    fn binary(&self, prim: PrimRef, other: &V<'e>) -> V<'e> {
        self.bind(prim, &Params::NONE, &[other])
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $kind:ident $name:ident $prim:ident;)*) => {
        impl<'e> V<'e> { $(methods!{@ $(#[$doc])* $kind $name $prim})* }
    };
    (@ $(#[$doc:meta])* unary $name:ident $prim:ident) => { $(#[$doc])* pub fn $name(&self) -> V<'e> { self.unary($prim) } };
    (@ $(#[$doc:meta])* binary $name:ident $prim:ident) => {
        $(#[$doc])* pub fn $name(&self, other: &V<'e>) -> V<'e> { self.binary($prim, other) }
    };
}
methods! {
    /// Distance of each element from zero.
    unary abs ABS;
    /// Sign of each element.
    unary sign SIGN;
    /// Greatest integers not above.
    unary floor FLOOR;
    /// Least integers not below.
    unary ceil CEIL;
    /// Whether elements are finite.
    unary is_finite IS_FINITE;
    /// The opposite, of booleans or bits.
    unary not NOT;
    /// Exponential.
    unary exp EXP;
    /// Powers of two.
    unary exp2 EXP2;
    /// Exponential less one.
    unary expm1 EXPM1;
    /// Natural logarithm.
    unary log LOG;
    /// Logarithm of one more.
    unary log1p LOG1P;
    /// Logarithm to base 2.
    unary log2 LOG2;
    /// Sine, of radians.
    unary sin SIN;
    /// Cosine, of radians.
    unary cos COS;
    /// Tangent, of radians.
    unary tan TAN;
    /// Inverse sine.
    unary asin ASIN;
    /// Inverse cosine.
    unary acos ACOS;
    /// Inverse tangent.
    unary atan ATAN;
    /// Hyperbolic sine.
    unary sinh SINH;
    /// Hyperbolic cosine.
    unary cosh COSH;
    /// Inverse hyperbolic sine.
    unary asinh ASINH;
    /// Inverse hyperbolic cosine.
    unary acosh ACOSH;
    /// Inverse hyperbolic tangent.
    unary atanh ATANH;
    /// Hyperbolic tangent.
    unary tanh TANH;
    /// Logistic function.
    unary logistic LOGISTIC;
    /// Square root.
    unary sqrt SQRT;
    /// One over the square root.
    unary rsqrt RSQRT;
    /// Cube root.
    unary cbrt CBRT;
    /// Error function.
    unary erf ERF;
    /// One less the error function.
    unary erfc ERFC;
    /// Inverse error function.
    unary erf_inv ERF_INV;
    /// Logarithm of the gamma function.
    unary lgamma LGAMMA;
    /// Derivative of `lgamma`.
    unary digamma DIGAMMA;
    /// Square.
    unary square SQUARE;
    /// One less the square.
    unary one_minus_square ONE_MINUS_SQUARE;
    /// Real part.
    unary real REAL;
    /// Imaginary part.
    unary imag IMAG;
    /// A copy.
    unary copy COPY;
    /// Itself, constant to derivatives.
    unary stop_gradient STOP_GRADIENT;
    /// Number of bits that are one.
    unary population_count POPULATION_COUNT;
    /// Number of leading zero bits.
    unary clz CLZ;
    /// Sum of two cotangents or tangents.
    binary add_any ADD_ANY;
    /// Remainder with the sign of the dividend.
    binary rem REM;
    /// The greater.
    binary max MAX;
    /// The smaller.
    binary min MIN;
    /// The angle of the point with this ordinate and the other abscissa.
    binary atan2 ATAN2;
    /// The next number toward the other.
    binary nextafter NEXTAFTER;
    /// Both, of booleans or bits.
    binary and AND;
    /// Either, of booleans or bits.
    binary or OR;
    /// Exactly one, of booleans or bits.
    binary xor XOR;
    /// Bits moved up.
    binary shift_left SHIFT_LEFT;
    /// Bits moved down, zeros coming in.
    binary shift_right_logical SHIFT_RIGHT_LOGICAL;
    /// Bits moved down, the sign coming in.
    binary shift_right_arithmetic SHIFT_RIGHT_ARITHMETIC;
    /// Equality.
    binary eq EQ;
    /// Inequality.
    binary ne NE;
    /// Less than.
    binary lt LT;
    /// At most.
    binary le LE;
    /// Greater than.
    binary gt GT;
    /// At least.
    binary ge GE;
}

macro_rules! operators {
    ($($trait:ident $method:ident $prim:ident;)*) => {$(
        impl<'e> $trait<&V<'e>> for &V<'e> {
            type Output = V<'e>;
            fn $method(self, other: &V<'e>) -> V<'e> { self.binary($prim, other) }
        }
        impl<'e> $trait<V<'e>> for &V<'e> {
            type Output = V<'e>;
            fn $method(self, other: V<'e>) -> V<'e> { self.binary($prim, &other) }
        }
        impl<'e> $trait<&V<'e>> for V<'e> {
            type Output = V<'e>;
            fn $method(self, other: &V<'e>) -> V<'e> { self.binary($prim, other) }
        }
        impl<'e> $trait<V<'e>> for V<'e> {
            type Output = V<'e>;
            fn $method(self, other: V<'e>) -> V<'e> { self.binary($prim, &other) }
        }
        impl<'e> $trait<&V<'e>> for f64 {
            type Output = V<'e>;
            fn $method(self, other: &V<'e>) -> V<'e> { other.number(self).binary($prim, other) }
        }
        impl<'e> $trait<V<'e>> for f64 {
            type Output = V<'e>;
            fn $method(self, other: V<'e>) -> V<'e> { other.number(self).binary($prim, &other) }
        }
        impl<'e> $trait<f64> for &V<'e> {
            type Output = V<'e>;
            fn $method(self, other: f64) -> V<'e> { self.binary($prim, &self.number(other)) }
        }
        impl<'e> $trait<f64> for V<'e> {
            type Output = V<'e>;
            fn $method(self, other: f64) -> V<'e> { self.binary($prim, &self.number(other)) }
        }
    )*};
}
operators! {
    Add add ADD;
    Sub sub SUB;
    Mul mul MUL;
    Div div DIV;
}

impl<'e> Neg for &V<'e> {
    type Output = V<'e>;
    fn neg(self) -> V<'e> {
        self.unary(NEG)
    }
}

impl<'e> Neg for V<'e> {
    type Output = V<'e>;
    fn neg(self) -> V<'e> {
        self.unary(NEG)
    }
}

/// The sum of two tangents or cotangents, either of which may be a symbolic zero.
///
/// # Errors
/// What the emitter raises.
pub fn add_any(e: &dyn Emit, a: Option<Val>, b: Option<Val>) -> Result<Option<Val>> {
    match (a, b) {
        (Some(a), Some(b)) => V::new(e, &a).add_any(&V::new(e, &b)).done().map(Some),
        (a, b) => Ok(a.or(b)),
    }
}

/// The type of cotangents of values of a type.
pub fn cotangent_type(aval: Aval) -> Aval {
    aval.tangent().sharded(aval.sharding.and_then(pullback_base::Sharding::cotangent))
}

/// Zeros of an aval: a literal for scalars, else a broadcast one.
///
/// # Errors
/// What the emitter raises.
pub fn zeros(e: &dyn Emit, aval: Aval) -> Result<Val> {
    if aval.dtype == DType::Float0 {
        // No operation makes such arrays: they have no elements to compute.
        return Ok(Val::Array(Array::full(aval, Scalar::zero(aval.dtype))?));
    }
    let zero = Val::Literal(Scalar::zero(aval.dtype).weak(aval.weak_type));
    if aval.rank() == 0 { Ok(zero) } else { V::new(e, &zero).broadcast_as(aval, &[]).done() }
}

/// The tangent or cotangent, made of zeros when it is a symbolic zero.
///
/// # Errors
/// What the emitter raises.
pub fn instantiate(e: &dyn Emit, aval: Aval, tangent: Option<Val>) -> Result<Val> {
    tangent.map_or_else(|| zeros(e, aval.tangent()), Ok)
}
