//! Comparison of whole arrays and membership.

use pullback_base::{Result, Scalar};
use pullback_ir::Val;

use super::Reduction;
use crate::convert::to_dtype;
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::{promote_args_inexact, promote_dtypes};

/// Whether elements differ by at most `atol + rtol·|y|`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn isclose(x: &Val, y: &Val, rtol: &Val, atol: &Val, equal_nan: bool) -> Result<Val> {
    let args = [x.clone(), y.clone(), rtol.clone(), atol.clone()];
    let fixed = |val: &Val| if let Val::Literal(scalar) = val { Some(*scalar) } else { None };
    let (Some(r), Some(a)) = (fixed(rtol), fixed(atol)) else {
        return named_jit_one("isclose", &[equal_nan.into()], &args, |args| {
            close(&args[0], &args[1], &args[2], &args[3], equal_nan)
        });
    };
    let statics = [equal_nan.into(), r.as_f64().to_bits() as i64, a.as_f64().to_bits() as i64];
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

/// Whether all elements are close.
///
/// # Errors
/// As [`isclose`].
pub fn allclose(x: &Val, y: &Val, rtol: &Val, atol: &Val, equal_nan: bool) -> Result<Val> {
    let fixed: Vec<i64> = [rtol, atol]
        .into_iter()
        .flat_map(|val| match val {
            Val::Literal(scalar) => [1, scalar.as_f64().to_bits() as i64],
            Val::Array(_) | Val::Tracer(_) => [0, 0],
        })
        .collect();
    let statics: Vec<i64> = std::iter::once(i64::from(equal_nan)).chain(fixed).collect();
    let mut args = vec![x.clone(), y.clone()];
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

/// Whether shapes and all elements are equal.
///
/// # Errors
/// When dtypes do not go together.
pub fn array_equal(x: &Val, y: &Val, equal_nan: bool) -> Result<Val> {
    if x.aval().shape != y.aval().shape {
        return Ok(Val::Literal(Scalar::bool(false)));
    }
    let mut is_equal = super::equal(x, y)?;
    if equal_nan {
        is_equal = super::logical_or(&is_equal, &super::logical_and(&super::isnan(x)?, &super::isnan(y)?)?)?;
    }
    super::all(&is_equal, &Reduction::default())
}

/// Whether shapes broadcast and all elements are equal.
///
/// # Errors
/// When dtypes do not go together.
pub fn array_equiv(x: &Val, y: &Val) -> Result<Val> {
    if crate::broadcast::broadcast_shapes(&[&x.aval().shape, &y.aval().shape]).is_err() {
        return Ok(Val::Literal(Scalar::bool(false)));
    }
    super::all(&super::equal(x, y)?, &Reduction::default())
}

/// For each element whether it is among `candidates`.
///
/// # Errors
/// When dtypes do not go together.
pub fn isin(x: &Val, candidates: &Val, invert: bool) -> Result<Val> {
    let ins = promote_dtypes(&[x.clone(), candidates.clone()])?;
    let shape = x.aval().shape.to_vec();
    let found = named_jit_one("_in1d", &[invert.into()], &ins, |args| {
        let flat = |x: &Val| super::ravel(x, super::Order::RowMajor);
        let column = lax::expand_axes(&flat(&args[0])?, &[1])?;
        let row = lax::expand_axes(&flat(&args[1])?, &[0])?;
        if invert {
            lax::reduce_and(&lax::ne(&column, &row)?, &[1])
        } else {
            lax::reduce_or(&lax::eq(&column, &row)?, &[1])
        }
    })?;
    lax::reshape(&found, &shape, None)
}
