//! Conversion of dtypes and the making of numbers.

use std::sync::Arc;

use pullback_base::scalar::Number;
use pullback_base::{Array, DType, Error, ErrorKind, Result, Scalar};
use pullback_core::prims;
use pullback_ir::{Slot, Tracer, Val};

use crate::config;
use crate::primitive::Bind;

/// The value with another dtype and weak type; literals convert in place, equal types do nothing.
///
/// # Errors
/// What the primitive raises.
pub fn convert(x: &Val, dtype: DType, weak_type: bool) -> Result<Val> {
    if let Val::Literal(scalar) = x {
        let fills_key = dtype.is_key() && !scalar.dtype().is_key();
        let scalar = if fills_key { key_of_word(dtype, scalar.number().as_i128()) } else { scalar.convert(dtype) };
        return Ok(Val::Literal(scalar.weak(weak_type)));
    }
    let aval = x.aval();
    if aval.dtype == dtype && aval.weak_type == weak_type {
        return Ok(x.clone());
    }
    let params = prims::ConvertElementType { new_dtype: dtype, weak_type, sharding: None };
    prims::CONVERT_ELEMENT_TYPE.bind_with(params, std::slice::from_ref(x))
}

/// The value with a strong dtype.
///
/// # Errors
/// As [`convert`].
pub fn to_dtype(x: &Val, dtype: DType) -> Result<Val> {
    convert(x, dtype, false)
}

/// The value on its way to a dtype that is not complex: its real part. Only to booleans is that another value than the
/// conversion itself gives, which asks whether the whole number is 0.
///
/// # Errors
/// What the primitive raises.
pub fn without_imaginary_part(x: &Val, dtype: DType) -> Result<Val> {
    if x.aval().dtype.is_complex() && dtype == DType::Bool {
        return prims::REAL.bind(std::slice::from_ref(x));
    }
    Ok(x.clone())
}

/// Refuses a number of the user's that a dtype cannot take, as Python's own conversions do: complex ones as real, and
/// those that are not finite as integers.
///
/// # Errors
/// `Type` for complex numbers, `Value` for NaN and `Overflow` for infinities.
pub fn check_number(x: &Val, dtype: DType) -> Result<()> {
    let Val::Literal(number) = x else { return Ok(()) };
    let (from, is_weak) = (number.dtype(), x.aval().weak_type);
    if !is_weak || dtype == DType::Bool || dtype.is_complex() || dtype.is_key() {
        return Ok(());
    }
    if from.is_complex() {
        let kind = if dtype.is_integer() {
            "int() argument must be a string, a bytes-like object"
        } else {
            "float() argument must be a string"
        };
        return Err(Error::type_error(format!("{kind} or a real number, not 'complex'")));
    }
    let value = if from.is_inexact() && dtype.is_integer() { number.as_f64() } else { 0.0 };
    if value.is_nan() {
        return Err(Error::value_error("cannot convert float NaN to integer"));
    }
    if value.is_infinite() {
        return Err(Error::new(ErrorKind::Overflow, "cannot convert float infinity to integer"));
    }
    Ok(())
}

/// Warns where a conversion that the user asked for drops imaginary parts.
///
/// # Errors
/// When the user makes errors of warnings.
pub fn warn_of_lost_part(x: &Val, dtype: DType) -> Result<()> {
    if !x.aval().dtype.is_complex() || dtype.is_complex() {
        return Ok(());
    }
    let text = "Casting complex values to real discards the imaginary part";
    pullback_trace::warn_as(pullback_trace::Warning::Complex, text)
}

/// A number of the dtype of `like`, of weak type where that is.
pub fn number(like: &Val, value: f64) -> Val {
    let aval = like.aval();
    Val::Literal(Scalar::float(aval.dtype, value).weak(aval.weak_type))
}

/// A number of the dtype of `like`, of weak type where that is a scalar of weak type, as the reference has its constants.
pub fn constant(like: &Val, value: f64) -> Val {
    if like.aval().rank() == 0 { number(like, value) } else { literal(like.aval().dtype, value) }
}

/// A number of the given dtype.
pub fn literal(dtype: DType, value: f64) -> Val {
    Val::Literal(Scalar::float(dtype, value))
}

/// An integer of the given dtype; of a key every word.
pub fn int_literal(dtype: DType, value: i128) -> Val {
    Val::Literal(if dtype.is_key() { key_of_word(dtype, value) } else { Scalar::int(dtype, value) })
}

/// The key whose words are all the low 32 bits of an integer.
pub fn key_of_word(dtype: DType, word: i128) -> Scalar {
    let word = i128::from(word as u32);
    if dtype == DType::KeyPhilox2 {
        return Scalar::int(dtype, word);
    }
    Scalar::int(dtype, word | word << 32 | word << 64 | word << 96)
}

/// A value that is an array of its own, to give back what was given: deleting one must not delete the other.
///
/// # Errors
/// When the array was deleted.
pub fn own(x: &Val) -> Result<Val> {
    Ok(match x {
        Val::Array(array) => Val::Array(array.twin()?),
        Val::Literal(_) | Val::Tracer(_) => x.clone(),
    })
}

/// A Python integer: weakly typed.
pub fn weak_int(value: i64) -> Val {
    Val::Literal(Scalar::int(default_int(), value.into()).weak(true))
}

/// A Python float: weakly typed.
pub fn weak_float(value: f64) -> Val {
    Val::Literal(Scalar::float(default_float(), value).weak(true))
}

/// A Python complex number: weakly typed.
pub fn weak_complex(re: f64, im: f64) -> Val {
    Val::Literal(Scalar::new(default_float().complex(), Number::Complex(re, im)).weak(true))
}

/// The dtype of Python integers.
pub fn default_int() -> DType {
    if config::x64() { DType::I64 } else { DType::I32 }
}

/// The dtype of unsigned integers where none is named.
pub fn default_uint() -> DType {
    if config::x64() { DType::U64 } else { DType::U32 }
}

/// The dtype of Python floats.
pub fn default_float() -> DType {
    if config::x64() { DType::F64 } else { DType::F32 }
}

/// The dtype that a user's choice means: 64-bit types are narrowed unless they are on, or given where they are named.
pub fn canonical(dtype: DType) -> DType {
    if config::named_x64() { dtype } else { dtype.narrowed() }
}

/// The floating or complex dtype for functions that have no integer results: that of 64 bits only for integers of 64.
pub fn inexact(dtype: DType) -> DType {
    match dtype {
        _ if dtype.is_inexact() => dtype,
        DType::I64 | DType::U64 if config::named_x64() => DType::F64,
        _ => DType::F32,
    }
}

/// The distance from 1 to the next number of a floating dtype.
pub fn epsilon(dtype: DType) -> f64 {
    let mut epsilon = 1.0;
    while Scalar::float(dtype, 1.0 + epsilon / 2.0).as_f64() > 1.0 {
        epsilon /= 2.0;
    }
    epsilon
}

/// A vector of integers of the default dtype.
pub fn int_vector(values: &[i64]) -> Val {
    let dtype = default_int();
    Val::Array(Array::from_scalars(
        &[values.len()],
        dtype,
        values.iter().map(|&value| Scalar::int(dtype, value.into())),
    ))
}

/// The array behind a value, if it is known: also that of a value which is being differentiated.
fn primal_array(val: &Val) -> Option<Array> {
    match val {
        Val::Tracer(Tracer { slot: Slot::Dual(dual), .. }) => primal_array(&dual.primal),
        Val::Literal(_) | Val::Array(_) | Val::Tracer(_) => val.to_array(),
    }
}

/// The array behind a value whose elements `function` must know, as `why` says.
///
/// # Errors
/// A `Concretization` error for a traced value.
pub fn known(val: &Val, function: &str, why: &str) -> Result<Array> {
    primal_array(val).ok_or_else(|| {
        let text = format!(
            "Abstract tracer value encountered where concrete value is expected: traced array with shape {}\n{why} of \
             jnp.{function} must be statically specified to use jnp.{function} within JAX transformations.",
            val.aval().weak(false).long()
        );
        Error::about(ErrorKind::Concretization, text, Arc::new(val.clone()))
    })
}

/// The array behind a value, which must be known; `what` says what it is for.
///
/// # Errors
/// A `Concretization` error for a traced value.
pub fn known_for(val: &Val, what: &str) -> Result<Array> {
    primal_array(val).ok_or_else(|| {
        let text = format!(
            "Abstract tracer value encountered where concrete value is expected: traced array with shape {}\n{what}",
            val.aval().weak(false).long()
        );
        Error::about(ErrorKind::Concretization, text, Arc::new(val.clone()))
    })
}

/// The number that a value is, which must be known; `what` says what it is for.
///
/// # Errors
/// A `Concretization` error for a traced value, a `Type` error for an array of several elements.
pub fn concrete_scalar(val: &Val, what: &str) -> Result<Scalar> {
    if let Val::Literal(scalar) = val {
        return Ok(*scalar);
    }
    let array = known_for(val, what)?;
    if array.aval().size() != 1 {
        return Err(Error::type_error(format!("only scalar arrays can be used here, got {}", array.aval())));
    }
    Ok(array.element(0)?.weak(array.aval().weak_type))
}
