//! Elements as another dtype, as other bits, or with fewer of them.

use pullback_lib::{convert, lax};
use pyo3::prelude::*;

use crate::api::arguments::{one, operand_for};
use crate::errors::value_error;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; bitcast_convert_type convert_element_type reduce_precision);
    Ok(())
}

/// The same bits read as another dtype.
///
/// Args:
///   operand: array or scalar.
///   new_dtype: a dtype; 64-bit ones are halved without x64.
/// Returns: shape of `operand` if the widths are equal. A narrower dtype adds a last axis, lowest bits first; a wider
///   one takes the last axis, which must make up the width.
/// Raises:
///   TypeError: there is no such dtype.
///   ValueError: the last axis does not make up the width.
/// Differentiable: no; the derivative is 0 where the dtype changes.
/// Example:
///   >>> lax.bitcast_convert_type(jnp.array([1.0]), jnp.uint8)
///   Array([[  0,   0, 128,  63]], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (operand, new_dtype), text_signature = "(operand, new_dtype)")]
fn bitcast_convert_type(py: Python<'_>, operand: ArrayLike, new_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "bitcast_convert_type", 0)?;
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(new_dtype)?);
    one(py, || lax::bitcast_convert_type(&operand, dtype))
}

/// The elements in another dtype. Floats are cut towards zero for integers: NaN gives 0, and what is out of range the
/// nearest bound. Of complex numbers the real part is kept; everything but 0 is True.
///
/// Args:
///   operand: array or scalar.
///   new_dtype: a dtype, its name or type; 64-bit ones are halved without x64.
/// Returns: shape of `operand`, the new dtype, not weak.
/// Raises:
///   TypeError: there is no such dtype.
/// Differentiable: yes between floating and complex dtypes, linear; integers have no derivative.
/// Example:
///   >>> lax.convert_element_type(jnp.array([1.7, -1.7, jnp.nan]), jnp.int32)
///   Array([ 1, -1,  0], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, new_dtype), text_signature = "(operand, new_dtype)")]
fn convert_element_type(
    py: Python<'_>,
    operand: &Bound<'_, PyAny>,
    new_dtype: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    if new_dtype.is_none() {
        return Err(value_error("dtype must be specified."));
    }
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(new_dtype)?);
    let operand = operand_for(operand, Some(dtype), "convert_element_type", 0)?;
    one(py, || convert::to_dtype(&operand, dtype))
}

/// The elements rounded, to even at halves, to fewer bits, in the dtype that they had.
///
/// Args:
///   operand: floating array or scalar.
///   exponent_bits: bits of the exponent, at least 1; what it cannot hold becomes infinite or 0.
///   mantissa_bits: bits of the fraction, at least 0.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is not floating.
///   ValueError: `exponent_bits` is less than 1, or `mantissa_bits` is negative.
/// Differentiable: yes, as the identity; the tangent is rounded likewise.
/// Example:
///   >>> lax.reduce_precision(jnp.array([1.001, 3.1415927]), 8, 7)
///   Array([1.      , 3.140625], dtype=float32)
#[pyfunction]
#[pyo3(signature = (operand, exponent_bits, mantissa_bits), text_signature = "(operand, exponent_bits, mantissa_bits)")]
fn reduce_precision(py: Python<'_>, operand: ArrayLike, exponent_bits: i64, mantissa_bits: i64) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_precision", 0)?;
    if mantissa_bits < 0 {
        let text = format!("reduce_precision: mantissa_bits must be non-negative; got {mantissa_bits}");
        return Err(value_error(text));
    }
    one(py, || lax::reduce_precision(&operand, exponent_bits, mantissa_bits))
}
