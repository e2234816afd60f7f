//! Comparison of whole arrays and membership.

use pullback_base::{DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::Reduction;
use crate::convert::to_dtype;
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::{promote_args_inexact, promote_dtypes};

/// For each pair of elements whether `|a - b| <= atol + rtol * |b|`, which treats `b` as the reference.
/// Equal infinities are close.
///
/// Args:
///   a, b: arrays or numbers whose shapes broadcast.
///   rtol: the relative tolerance, 1e-5 by default: a number or an array that broadcasts.
///   atol: the absolute tolerance, 1e-8 by default: likewise.
///   equal_nan: whether two NaNs are close.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isclose(jnp.array([1.0, 1e6, jnp.nan]), jnp.array([1.1, 1e6 + 1, jnp.nan]), equal_nan=True))
///   [False  True  True]
#[public("numpy.isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")]
pub fn isclose(a: &Val, b: &Val, rtol: &Val, atol: &Val, equal_nan: bool) -> Result<Val> {
    if a.aval().dtype.is_key() && a.aval().dtype == b.aval().dtype {
        return super::equal(a, b);
    }
    let args = [a.clone(), b.clone(), rtol.clone(), atol.clone()];
    let fixed = |val: &Val| if let Val::Literal(scalar) = val { Some(*scalar) } else { None };
    let (Some(r), Some(s)) = (fixed(rtol), fixed(atol)) else {
        return named_jit_one("isclose", &[equal_nan.into()], &args, |args| {
            close(&args[0], &args[1], &args[2], &args[3], equal_nan)
        });
    };
    let statics = [equal_nan.into(), r.as_f64().to_bits() as i64, s.as_f64().to_bits() as i64];
    named_jit_one("isclose", &statics, &args[..2], |args| close(&args[0], &args[1], rtol, atol, equal_nan))
}

fn close(x: &Val, y: &Val, rtol: &Val, atol: &Val, equal_nan: bool) -> Result<Val> {
    let ins = promote_args_inexact("isclose", &[x.clone(), y.clone()])?;
    let (x, y) = (&ins[0], &ins[1]);
    let real = x.aval().dtype.real();
    let (rtol, atol) = (to_dtype(rtol, real)?, to_dtype(atol, real)?);
    let both_nan = lax::bitwise_and(&super::isnan(x)?, &super::isnan(y)?)?;
    let is_finite = super::isfinite(y)?;
    let distance = lax::abs(&lax::sub(x, y)?)?;
    let bound = lax::add(&atol, &lax::mul(&rtol, &lax::abs(y)?)?)?;
    let within = lax::le(&distance, &bound)?;
    let is_equal = lax::eq(x, y)?;
    let out = lax::bitwise_or(&is_equal, &lax::bitwise_and(&is_finite, &within)?)?;
    if equal_nan { lax::bitwise_or(&out, &both_nan) } else { Ok(out) }
}

/// Whether all pairs of elements are close in the sense of `isclose`.
///
/// Args:
///   a, b: arrays or numbers whose shapes broadcast.
///   rtol: the relative tolerance, 1e-5 by default.
///   atol: the absolute tolerance, 1e-8 by default.
///   equal_nan: whether two NaNs are close.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.allclose(jnp.array([1e6, 2.0]), jnp.array([1e6 + 1, 2.0])))
///   True
#[public("numpy.allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")]
pub fn allclose(a: &Val, b: &Val, rtol: &Val, atol: &Val, equal_nan: bool) -> Result<Val> {
    let fixed: Vec<i64> = [rtol, atol]
        .into_iter()
        .flat_map(|val| match val {
            Val::Literal(scalar) => [1, scalar.as_f64().to_bits() as i64],
            Val::Array(_) | Val::Tracer(_) => [0, 0],
        })
        .collect();
    let statics: Vec<i64> = std::iter::once(i64::from(equal_nan)).chain(fixed).collect();
    let mut args = vec![a.clone(), b.clone()];
    args.extend([rtol, atol].into_iter().filter(|val| !matches!(val, Val::Literal(_))).cloned());
    named_jit_one("allclose", &statics, &args, |args| {
        let mut rest = args[2..].iter();
        let mut pick = |val: &Val| match val {
            Val::Literal(_) => val.clone(),
            Val::Array(_) | Val::Tracer(_) => rest.next().expect("an operand for each").clone(),
        };
        let (rtol, atol) = (pick(rtol), pick(atol));
        super::all(&isclose(&args[0], &args[1], &rtol, &atol, equal_nan)?, &Reduction::default())
    })
}

/// Whether two arrays have the same shape and equal elements; shapes that differ are no error.
///
/// Args:
///   a1, a2: arrays or numbers.
///   equal_nan: whether NaNs at the same place count as equal.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.array_equal(jnp.arange(2), jnp.arange(2)), jnp.array_equal(jnp.arange(2), jnp.arange(3)))
///   True False
#[public("numpy.array_equal(a1: Convertible, a2: Convertible, equal_nan=False)")]
pub fn array_equal(a1: &Val, a2: &Val, equal_nan: bool) -> Result<Val> {
    if a1.aval().shape != a2.aval().shape {
        return Ok(Val::Literal(Scalar::bool(false)));
    }
    let mut is_equal = super::equal(a1, a2)?;
    if equal_nan {
        is_equal = super::logical_or(&is_equal, &super::logical_and(&super::isnan(a1)?, &super::isnan(a2)?)?)?;
    }
    super::all(&is_equal, &Reduction::default())
}

/// Whether two arrays are equal once they are broadcast; shapes that do not broadcast give false.
///
/// Args:
///   a1, a2: arrays or numbers.
/// Returns: a boolean array without axes.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.array_equiv(jnp.ones((2, 2)), 1), jnp.array_equiv(jnp.ones(2), jnp.ones(3)))
///   True False
#[public("numpy.array_equiv(a1: Convertible, a2: Convertible)")]
pub fn array_equiv(a1: &Val, a2: &Val) -> Result<Val> {
    if crate::broadcast::broadcast_shapes(&[&a1.aval().shape, &a2.aval().shape]).is_err() {
        return Ok(Val::Literal(Scalar::bool(false)));
    }
    super::all(&super::equal(a1, a2)?, &Reduction::default())
}

/// For each element whether it is among others; NaN is among none.
///
/// Args:
///   element: an array or number.
///   test_elements: the others: an array or number of any shape.
///   assume_unique: for compatibility; without influence.
///   invert: whether to give the opposite.
///   method: 'auto', 'compare_all', 'binary_search' or 'sort'; all give the same here.
/// Returns: booleans of the shape of `element`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: another `method`.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isin(jnp.arange(4), jnp.array([1, 3, 9])))
///   [False  True False  True]
#[public("numpy.isin(element, test_elements, assume_unique: Ignored=False, invert=False, *, method='auto')")]
pub fn isin(element: &Val, test_elements: &Val, invert: bool, method: &str) -> Result<Val> {
    if !["compare_all", "binary_search", "sort", "auto"].contains(&method) {
        bail!(
            Value,
            "method='{method}' is not implemented; options are 'compare_all', 'binary_search', 'sort', and 'auto'"
        );
    }
    let ins = promote_dtypes(&[element.clone(), test_elements.clone()])?;
    let shape = element.aval().shape.to_vec();
    let found = named_jit_one("_in1d", &[invert.into()], &ins, |args| {
        let flat = |element: &Val| super::ravel(element, super::Order::RowMajor);
        let column = lax::expand_axes(&flat(&args[0])?, &[1])?;
        let row = lax::expand_axes(&flat(&args[1])?, &[0])?;
        if invert {
            lax::reduce_and(&lax::ne(&column, &row)?, &[1])
        } else {
            lax::reduce_or(&lax::eq(&column, &row)?, &[1])
        }
    })?;
    lax::reshape(&to_dtype(&found, DType::Bool)?, &shape, None)
}
