//! `jax.numpy.linalg`: the last two axes are matrices, those before are batches.
//!
//! Integers become floats. What has no solution gives NaN or infinities, never an exception.

pub mod determinants;
pub mod factorizations;
pub mod norms;
pub mod solutions;

use pullback_base::DType;
use pullback_base::Result;
use pullback_base::aval::tuple_text;
use pullback_base::bail;
use pullback_ir::Val;

use crate::broadcast::broadcast_to;
use crate::convert::{convert, inexact, literal};
use crate::indexing::{IndexItem, getitem};
use crate::lax::linalg::is_square;
use crate::promotion::{Operands, result_type_of};

pub use determinants::*;
pub use factorizations::*;
pub use norms::*;
pub use solutions::*;

/// The values in one inexact dtype, weakly typed where all of them are: narrow integers become single precision.
pub(crate) fn inexact_of(xs: &[Val]) -> Result<Operands> {
    let found = result_type_of(xs)?;
    let dtype = if found.dtype.is_key() { found.dtype } else { inexact(found.dtype) };
    let to = |x: &Val| if x.aval().dtype == dtype { Ok(x.clone()) } else { convert(x, dtype, found.weak_type) };
    xs.iter().map(to).collect()
}

/// The value in an inexact dtype.
pub(crate) fn inexact_one(x: &Val) -> Result<Val> {
    Ok(inexact_of(std::slice::from_ref(x))?.swap_remove(0))
}

fn check_square(x: &Val, name: &str) -> Result<()> {
    if !is_square(x) {
        bail!(Value, "Argument to {name} must have shape [..., n, n], got {}.", tuple_text(&x.aval().shape));
    }
    Ok(())
}

/// The sizes of the last two axes.
fn sizes(x: &Val) -> (usize, usize) {
    let shape = x.aval().shape.clone();
    (shape[shape.len() - 2], shape[shape.len() - 1])
}

/// Identities of the shape of square matrices.
fn identity_like(x: &Val) -> Result<Val> {
    let aval = x.aval();
    let n = sizes(x).1 as i64;
    broadcast_to(&super::eye(n, None, 0, Some(aval.dtype))?, &aval.shape)
}

/// The distance of 1 to the next number.
pub(crate) fn eps(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::EPSILON,
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        _ => f64::from(f32::EPSILON),
    }
}

/// The real dtype of the parts of a number.
pub(crate) fn real_dtype(dtype: DType) -> DType {
    match dtype {
        DType::C128 => DType::F64,
        DType::C64 => DType::F32,
        other => other,
    }
}

fn zero(dtype: DType) -> Val {
    literal(dtype, 0.0)
}

/// A position in the last axis.
fn last_item(x: &Val, at: i64) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::Int(at)])
}
