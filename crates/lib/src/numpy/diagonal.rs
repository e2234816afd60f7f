//! Diagonals and triangles of matrices.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::creation::{diagonal_mask, lower_mask};
use super::where_;
use crate::broadcast::broadcast_to;
use crate::convert::number;
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax;

fn triangle(name: &'static str, x: &Val, k: i64, lower: bool) -> Result<Val> {
    named_jit_one(name, &[k], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let shape = x.aval().shape.to_vec();
        if shape.len() < 2 {
            bail!(Value, "Argument to jax.numpy.{name} must be at least 2D");
        }
        let mask = lower_mask(&shape[shape.len() - 2..], if lower { k } else { k - 1 })?;
        let mask = broadcast_to(&mask, &shape)?;
        let zeros = lax::full(&shape, &number(x, 0.0))?;
        if lower { lax::select(&mask, x, &zeros) } else { lax::select(&mask, &zeros, x) }
    })
}

/// The elements on and below a diagonal, zeros above.
///
/// # Errors
/// A `Value` error for fewer than two axes.
pub fn tril(x: &Val, k: i64) -> Result<Val> {
    triangle("tril", x, k, true)
}

/// The elements on and above a diagonal, zeros below.
///
/// # Errors
/// A `Value` error for fewer than two axes.
pub fn triu(x: &Val, k: i64) -> Result<Val> {
    triangle("triu", x, k, false)
}

/// The elements of a diagonal of the planes of two axes, as the last axis.
///
/// # Errors
/// A `Value` error for axes that are the same or out of range.
pub fn diagonal(x: &Val, offset: i64, axes: [i64; 2]) -> Result<Val> {
    if x.aval().rank() < 2 {
        bail!(Value, "diagonal requires an array of at least two dimensions.");
    }
    named_jit_one("diagonal", &[offset, axes[0], axes[1]], std::slice::from_ref(x), |args| {
        let x = super::moveaxis(&args[0], &axes, &[-2, -1])?;
        let shape = x.aval().shape.to_vec();
        let (rows, columns) = (shape[shape.len() - 2] as i64, shape[shape.len() - 1] as i64);
        let size = (rows.min(columns)).min((rows + offset).min(columns - offset)).max(0) as usize;
        let from = |start: i64| {
            let counts = lax::iota(DType::I32, size)?;
            if start == 0 { Ok(counts) } else { lax::sub(&counts, &number(&counts, -start as f64)) }
        };
        let (i, j) = (from((-offset).max(0))?, from(offset.max(0))?);
        getitem(&x, &[IndexItem::Ellipsis, IndexItem::Array(i), IndexItem::Array(j)])
    })
}

/// The matrix with a vector on a diagonal, or the diagonal of a matrix.
///
/// # Errors
/// A `Value` error for more than two axes or none.
pub fn diag(x: &Val, k: i64) -> Result<Val> {
    named_jit_one("_diag", &[k], std::slice::from_ref(x), |args| {
        let x = &args[0];
        match x.aval().rank() {
            1 => {
                let size = x.aval().shape[0] + k.unsigned_abs() as usize;
                let padded = lax::pad(x, &number(x, 0.0), &[((-k).max(0), k.max(0), 0)])?;
                let mask = diagonal_mask(&[size, size], k)?;
                let zero = number(x, 0.0);
                where_(&mask, &lax::expand_axes(&padded, &[1])?, &zero)
            }
            2 => diagonal(x, k, [0, 1]),
            _ => bail!(Value, "diag input must be 1d or 2d"),
        }
    })
}

/// The sum of a diagonal of the planes of two axes.
///
/// # Errors
/// A `Value` error for axes that are the same or out of range.
pub fn trace(x: &Val, offset: i64, axes: [i64; 2], dtype: Option<DType>) -> Result<Val> {
    let statics = [offset, axes[0], axes[1], dtype.map_or(-1, |dtype| dtype as i64)];
    named_jit_one("trace", &statics, std::slice::from_ref(x), |args| {
        let x = super::moveaxis(&args[0], &axes, &[-2, -1])?;
        let shape = x.aval().shape.to_vec();
        let rank = shape.len();
        let rows = lax::broadcasted_iota(DType::I32, &shape[rank - 2..], 0)?;
        let columns = lax::broadcasted_iota(DType::I32, &shape[rank - 2..], 1)?;
        let mask = lax::eq(&lax::add(&columns, &number(&columns, -offset as f64))?, &rows)?;
        let kept = where_(&mask, &x, &lax::full_like(&x, 0.0)?)?;
        let options =
            super::Reduction { dtype, ..super::Reduction::over(crate::axes::Axes::Many(vec![-2, -1]), false) };
        super::sum(&kept, &options)
    })
}

/// The vector of all elements on a diagonal.
///
/// # Errors
/// What the primitives raise.
pub fn diagflat(x: &Val, k: i64) -> Result<Val> {
    diag(&super::ravel(x, super::Order::RowMajor)?, k)
}

/// Powers of the elements of a vector as columns.
///
/// # Errors
/// A `Value` error for other than one axis.
pub fn vander(x: &Val, columns: Option<usize>, increasing: bool) -> Result<Val> {
    let n = columns.unwrap_or(x.aval().size());
    named_jit_one("vander", &[n as i64, increasing.into()], std::slice::from_ref(x), |args| {
        let x = &args[0];
        if x.aval().rank() != 1 {
            bail!(Value, "x must be a one-dimensional array");
        }
        let counts = lax::iota(x.aval().dtype, n)?;
        let exponents = if increasing { counts } else { lax::sub(&number(&counts, n as f64 - 1.0), &counts)? };
        super::power(&lax::expand_axes(x, &[1])?, &lax::expand_axes(&exponents, &[0])?)
    })
}
