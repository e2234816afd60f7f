//! Diagonals and triangles of matrices.

use pullback_base::{DType, Error, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::creation::{diagonal_mask, lower_mask};
use super::where_;
use crate::broadcast::{broadcast_as, broadcast_to};
use crate::convert::{number, to_dtype};
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
        let mask = lower_mask(&shape[shape.len() - 2..], &crate::convert::weak_int(if lower { k } else { k - 1 }))?;
        let (mask, zeros) = match x.aval().sharding {
            None => (broadcast_to(&mask, &shape)?, lax::full(&shape, &number(x, 0.0))?),
            Some(_) => (broadcast_as(&mask, x.aval())?, broadcast_as(&number(x, 0.0), x.aval())?),
        };
        if lower { lax::select(&mask, x, &zeros) } else { lax::select(&mask, &zeros, x) }
    })
}

/// The elements on and below a diagonal; others are 0.
///
/// Args:
///   m: an array `[..., n, k]`.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.tril(jnp.array([[1, 2], [3, 4]])))
///   [[1 0]
///    [3 4]]
#[public("numpy.tril(m, k=0)")]
pub fn tril(m: &Val, k: i64) -> Result<Val> {
    triangle("tril", m, k, true)
}

/// The elements on and above a diagonal; others are 0.
///
/// Args:
///   m: an array `[..., n, k]`.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.triu(jnp.array([[1, 2], [3, 4]])))
///   [[1 2]
///    [0 4]]
#[public("numpy.triu(m, k=0)")]
pub fn triu(m: &Val, k: i64) -> Result<Val> {
    triangle("triu", m, k, false)
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
        let size =
            (rows.min(columns)).min(rows.saturating_add(offset).min(columns.saturating_sub(offset))).max(0) as usize;
        let from = |start: i64| {
            let counts = lax::iota(DType::I32, size)?;
            if start == 0 { Ok(counts) } else { lax::sub(&counts, &number(&counts, -start as f64)) }
        };
        let (i, j) = (from(offset.saturating_neg().max(0))?, from(offset.max(0))?);
        getitem(&x, &[IndexItem::Ellipsis, IndexItem::Array(i), IndexItem::Array(j)])
    })
}

/// A matrix with a vector on a diagonal, or the diagonal of a matrix.
///
/// Args:
///   v: a vector `[n]` or a matrix.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: the matrix `[n + |k|, n + |k|]` of a vector, the vector of a matrix.
/// Raises:
///   TypeError: `v` is neither an array nor a number (lists are refused).
///   ValueError: `v` is neither a vector nor a matrix.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diag(jnp.array([1, 2]), k=1))
///   [[0 1 0]
///    [0 0 2]
///    [0 0 0]]
///   >>> print(jnp.diag(jnp.array([[1, 2], [3, 4]])))
///   [1 4]
#[public("numpy.diag(v, k=0)")]
pub fn diag(v: &Val, k: i64) -> Result<Val> {
    named_jit_one("_diag", &[k], std::slice::from_ref(v), |args| {
        let v = &args[0];
        match v.aval().rank() {
            1 => {
                let size = v.aval().shape[0] + k.unsigned_abs() as usize;
                let padded = lax::pad(v, &number(v, 0.0), &[((-k).max(0), k.max(0), 0)])?;
                let mask = diagonal_mask(&[size, size], &crate::convert::weak_int(k))?;
                let zero = number(v, 0.0);
                where_(&mask, &lax::expand_axes(&padded, &[1])?, &zero)
            }
            2 => diagonal(v, k, [0, 1]),
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
        let mask = lax::eq(&lax::add(&columns, &number(&columns, -(offset as f64)))?, &rows)?;
        let kept = where_(&mask, &x, &lax::full_like(&x, 0.0)?)?;
        let options =
            super::Reduction { dtype, ..super::Reduction::over(crate::axes::Axes::Many(vec![-2, -1]), false) };
        super::sum(&kept, &options)
    })
}

/// A matrix with all elements of an array, taken as flat, on a diagonal.
///
/// Args:
///   v: an array or number of n elements.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array `[n + |k|, n + |k|]` of the dtype of `v`.
/// Raises:
///   TypeError: `v` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diagflat(jnp.array([[1, 2]])))
///   [[1 0]
///    [0 2]]
#[public("numpy.diagflat(v, k=0)")]
pub fn diagflat(v: &Val, k: i64) -> Result<Val> {
    diag(&to_dtype(&super::ravel(v, super::Order::RowMajor)?, v.aval().dtype)?, k)
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

/// The diagonals of planes, along a new last axis.
///
/// Args:
///   a: an array of at least two axes.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
///   axis1, axis2: the rows and columns of the planes; the first two axes by default.
/// Returns: an array of the dtype of `a`, without the two axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: fewer than two axes, an axis is out of bounds, or both are the same.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diagonal(jnp.array([[1, 2], [3, 4]])))
///   [1 4]
#[public("numpy.diagonal(a, offset=0, axis1=0, axis2=1)")]
pub fn diagonal_of(a: &Val, offset: i64, axis1: i64, axis2: i64) -> Result<Val> {
    diagonal(a, offset, [axis1, axis2])
}

/// The sums of the diagonals of planes; narrow integers and booleans widen as by `sum`.
///
/// Args:
///   a: an array of at least two axes.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
///   axis1, axis2: the rows and columns of the planes; the first two axes by default.
///   dtype: the dtype in which to add, and that of the result.
///   out: for compatibility; must be None.
/// Returns: an array without the two axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: fewer than two axes, an axis is out of bounds, or both are the same.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.trace(jnp.array([[1, 2], [3, 4]])))
///   5
#[public("numpy.trace(a, offset=0, axis1=0, axis2=1, dtype=None, out: NoOut=None)")]
pub fn trace_of(a: &Val, offset: i64, axis1: i64, axis2: i64, dtype: Option<DType>) -> Result<Val> {
    trace(a, offset, [axis1, axis2], dtype)
}

/// The Vandermonde matrix of a vector: its powers as columns.
///
/// Args:
///   x: a vector `[n]`.
///   N: the number of columns; `n` by default.
///   increasing: whether the powers ascend from 0; by default they descend to 0.
/// Returns: an array `[n, N]` of the dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is no vector, or `N` is negative.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.vander(jnp.array([1, 2, 3])))
///   [[1 1 1]
///    [4 2 1]
///    [9 3 1]]
#[public("numpy.vander(x, N=None, increasing=False)")]
pub fn vander_of(x: &Val, n: Option<i64>, increasing: bool) -> Result<Val> {
    let columns = n.map(usize::try_from).transpose();
    vander(x, columns.map_err(|_| Error::value_error("N must be nonnegative"))?, increasing)
}
