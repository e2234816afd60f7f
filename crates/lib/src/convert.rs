//! Conversion of dtypes and the making of numbers.

use pullback_base::scalar::Number;
use pullback_base::{DType, Result, Scalar};
use pullback_ir::Val;

use crate::bind::{self, Fields};
use crate::config;

/// The value with another dtype and weak type; literals convert in place, equal types do nothing.
///
/// # Errors
/// What the primitive raises.
pub fn convert(x: &Val, dtype: DType, weak_type: bool) -> Result<Val> {
    if let Val::Literal(scalar) = x {
        return Ok(Val::Literal(scalar.convert(dtype).weak(weak_type)));
    }
    let aval = x.aval();
    if aval.dtype == dtype && aval.weak_type == weak_type {
        return Ok(x.clone());
    }
    let params = Fields::new().with("new_dtype", &dtype).with("weak_type", &weak_type).none("sharding");
    bind::CONVERT_ELEMENT_TYPE.call_with(params, std::slice::from_ref(x))
}

/// The value with a strong dtype.
///
/// # Errors
/// As [`convert`].
pub fn to_dtype(x: &Val, dtype: DType) -> Result<Val> {
    convert(x, dtype, false)
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

/// An integer of the given dtype.
pub fn int_literal(dtype: DType, value: i128) -> Val {
    Val::Literal(Scalar::int(dtype, value))
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
