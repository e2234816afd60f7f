//! Products of matrices and vectors, and parts of matrices, as `linalg` names them.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims::DotPrecision;
use pullback_derive::public;
use pullback_ir::Val;

use super::nested::Nest;
use super::parts::{column, row, shaped};
use crate::axes::canonical_axis;
use crate::declare::NestedInts;
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::precision::within;
use crate::promotion::promote_dtypes;

/// The cross products of vectors of three elements.
///
/// Args:
///   x1, x2: arrays of size 3 along `axis`; other axes broadcast.
///   axis: the axis of the vectors; the last by default.
/// Returns: an array of the broadcast shape, of the promoted dtype.
/// Raises:
///   IndexError: the axis is out of bounds.
///   ValueError: vectors of another size, or shapes that do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0])))
///   [0 0 1]
#[public("numpy.linalg.cross(x1, x2, /, *, axis=-1)")]
pub fn linalg_cross(x1: &Val, x2: &Val, axis: i64) -> Result<Val> {
    let size = |x: &Val| {
        let aval = x.aval();
        match canonical_axis(axis, aval.rank()) {
            Ok(axis) => Ok(aval.shape[axis]),
            Err(_) => bail!(Index, "tuple index out of range"),
        }
    };
    let sizes = (size(x1)?, size(x2)?);
    if sizes != (3, 3) {
        bail!(
            Value,
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they have x1.shape[axis]={} and \
             x2.shape[axis]={} dimensions instead.",
            sizes.0,
            sizes.1
        );
    }
    super::cross(x1, x2, [axis; 3])
}

/// The products of all pairs of elements of two vectors.
///
/// Args:
///   x1: a vector `[m]`.
///   x2: a vector `[n]`.
/// Returns: an array `[m, n]` of the promoted dtype.
/// Raises:
///   ValueError: an operand is no vector.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4])))
///   [[3 4]
///    [6 8]]
#[public("numpy.linalg.outer(x1, x2, /)")]
pub fn linalg_outer(x1: &Val, x2: &Val) -> Result<Val> {
    let ranks = (x1.aval().rank(), x2.aval().rank());
    if ranks != (1, 1) {
        bail!(Value, "Input arrays must be one-dimensional, but they are x1.ndim={} x2.ndim={}", ranks.0, ranks.1);
    }
    super::multiply(&column(x1)?, &row(x2)?)
}

/// The matrix product; the same as `jax.numpy.matmul`.
///
/// Args:
///   x1: an array `[..., m, n]` or `[n]`.
///   x2: an array `[..., n, k]` or `[n]`.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array `[..., m, k]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes `n` differ.
///   ValueError: an argument has no axes, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[public("numpy.linalg.matmul(x1, x2, /, *, precision=None, preferred_element_type=None)")]
pub fn linalg_matmul(
    x1: &Val,
    x2: &Val,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    super::matmul_within(x1, x2, precision, preferred_element_type)
}

/// The last two axes exchanged; complex numbers are not conjugated.
///
/// Args:
///   x: an array `[..., m, n]`.
/// Returns: an array `[..., n, m]` of the dtype of `x`.
/// Raises:
///   ValueError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.linalg.matrix_transpose(jnp.array([[1, 2], [3, 4]])))
///   [[1 3]
///    [2 4]]
#[public("numpy.linalg.matrix_transpose(x, /)")]
pub fn linalg_matrix_transpose(x: &Val) -> Result<Val> {
    let rank = x.aval().rank();
    if rank < 2 {
        bail!(Value, "x must be at least two-dimensional for matrix_transpose; got ndim={rank}");
    }
    super::swapaxes(x, -1, -2)
}

/// The inner products of vectors along an axis, the first conjugated; the same as `jax.numpy.vecdot`.
///
/// Args:
///   x1, x2: arrays of one size along `axis`; other axes broadcast.
///   axis: the axis of the vectors; the last by default.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array of the broadcast shape without the axis, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: the sizes differ, the axis is out of bounds, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[public("numpy.linalg.vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None)")]
pub fn linalg_vecdot(
    x1: &Val,
    x2: &Val,
    axis: i64,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    super::vecdot_within(x1, x2, axis, precision, preferred_element_type)
}

/// The sums of products over several axes of two arrays; the same as `jax.numpy.tensordot`.
///
/// Args:
///   x1, x2: arrays.
///   axes: an integer: the last axes of `x1` go with as many first ones of `x2`, 2 by default; or a pair of
///     (sequences of) axes that go together.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: for compatibility; without influence.
/// Returns: an array with the other axes of `x1`, then those of `x2`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, more axes than there are, lists of different lengths,
///     or sizes that differ.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.tensordot(jnp.ones((2, 3, 4)), jnp.ones((3, 4))))
///   [12. 12.]
#[public(
    "numpy.linalg.tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding: Ignored=None)"
)]
pub fn linalg_tensordot(
    x1: &Val,
    x2: &Val,
    axes: &NestedInts,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    super::tensordot_within(x1, x2, axes, precision, preferred_element_type)
}

/// The diagonals of the matrices in the last two axes.
///
/// Args:
///   x: an array `[..., m, n]`.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array of the dtype of `x`, with the diagonals along the last axis.
/// Raises:
///   ValueError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]])))
///   [1 4]
#[public("numpy.linalg.diagonal(x, /, *, offset=0)")]
pub fn linalg_diagonal(x: &Val, offset: i64) -> Result<Val> {
    super::diagonal_of(x, offset, -2, -1)
}

/// The sums of the diagonals of the matrices in the last two axes.
///
/// Args:
///   x: an array `[..., m, n]`.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
///   dtype: the dtype in which to add, and that of the result; that of `x`, widened as by `sum`, by default.
/// Returns: an array `[...]`.
/// Raises:
///   ValueError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.linalg.trace(jnp.array([[1, 2], [3, 4]])))
///   5
#[public("numpy.linalg.trace(x, /, *, offset=0, dtype=None)")]
pub fn linalg_trace(x: &Val, offset: i64, dtype: Option<DType>) -> Result<Val> {
    super::trace_of(x, offset, -2, -1, dtype)
}

fn shapes_text(arrays: &[Val]) -> String {
    let shapes: Vec<String> = arrays.iter().map(|x| tuple_text(&x.aval().shape)).collect();
    format!("[{}]", shapes.join(", "))
}

/// The product of several matrices in the order with the fewest multiplications.
///
/// Args:
///   arrays: at least two matrices; the first may be a row vector and the last a column vector.
///   precision: as `jax.lax.dot_general` takes it.
/// Returns: the product, of the promoted dtype, without the axes that vectors lack.
/// Raises:
///   ValueError: fewer than two arrays, one that is no matrix, or sizes that do not fit.
/// Differentiable: yes, in both modes, with respect to all.
/// Example:
///   >>> a = jnp.array([[1, 1], [0, 1]])
///   >>> print(jnp.linalg.multi_dot([a, a, a]))
///   [[1 3]
///    [0 1]]
#[public("numpy.linalg.multi_dot(arrays, *, precision=None)")]
pub fn multi_dot(arrays: &Nest, precision: Option<DotPrecision>) -> Result<Val> {
    let arrays = &arrays.arrays("the arrays of multi_dot")?[..];
    let n = arrays.len();
    if n < 2 {
        bail!(Value, "multi_dot requires at least two arrays; got len(arrays)={n}");
    }
    let ranks: Vec<usize> = arrays.iter().map(|x| x.aval().rank()).collect();
    let may_be_vector = |i: usize| i == 0 || i == n - 1;
    if !ranks.iter().enumerate().all(|(i, &rank)| rank == 2 || rank == 1 && may_be_vector(i)) {
        bail!(
            Value,
            "multi_dot: input arrays must all be two-dimensional, except for the first and last array which may be 1 or 2 \
             dimensional. Got array shapes {}",
            shapes_text(arrays)
        );
    }
    if arrays.windows(2).any(|pair| pair[0].aval().shape.last() != pair[1].aval().shape.first()) {
        bail!(
            Value,
            "multi_dot: last dimension of each array must match first dimension of following array. Got array shapes {}",
            shapes_text(arrays)
        );
    }
    let mut matrices = arrays.to_vec();
    if ranks[0] == 1 {
        matrices[0] = getitem(&arrays[0], &[IndexItem::NewAxis])?;
    }
    if ranks[n - 1] == 1 {
        matrices[n - 1] = column(&arrays[n - 1])?;
    }
    let out = within(precision, || product(&matrices, &best_splits(&matrices), 0, n - 1))?;
    let mut shape = out.aval().shape.to_vec();
    if ranks[n - 1] == 1 {
        shape.pop();
    }
    if ranks[0] == 1 {
        shape.remove(0);
    }
    shaped(&out, &shape)
}

/// For each chain of matrices `i..=j` after which one to split it, for the fewest multiplications.
fn best_splits(matrices: &[Val]) -> Vec<Vec<usize>> {
    let n = matrices.len();
    let mut sizes: Vec<u128> = matrices.iter().map(|x| x.aval().shape[0] as u128).collect();
    sizes.push(matrices[n - 1].aval().shape[1] as u128);
    let mut cost = vec![vec![0; n]; n];
    let mut split = vec![vec![0; n]; n];
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let price = |k: usize| (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k);
            let (least, at) = (i..j).map(price).min().expect("a chain of several");
            (cost[i][j], split[i][j]) = (least, at);
        }
    }
    split
}

fn product(matrices: &[Val], splits: &[Vec<usize>], i: usize, j: usize) -> Result<Val> {
    if i == j {
        return Ok(matrices[i].clone());
    }
    let k = splits[i][j];
    super::matmul(&product(matrices, splits, i, k)?, &product(matrices, splits, k + 1, j)?, None)
}

/// Both have their own axes, and the first of those of the second has the size of the last of the first.
fn check_core(name: &str, x: &Val, y: &Val, ranks: [usize; 2]) -> Result<()> {
    let (x, y) = (x.aval(), y.aval());
    let fits = x.rank() >= ranks[0] && y.rank() >= ranks[1] && x.shape.last() == y.shape.get(y.rank() - ranks[1]);
    if !fits {
        let shapes = (tuple_text(&x.shape), tuple_text(&y.shape));
        bail!(Value, "jax.numpy.{name}: shapes {} and {} do not go together", shapes.0, shapes.1);
    }
    Ok(())
}

/// The products of matrices and vectors; axes before are batches, which broadcast.
///
/// Args:
///   x1: matrices `[..., m, n]`.
///   x2: vectors `[..., n]`.
/// Returns: an array `[..., m]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: the sizes `n` differ, an argument has too few axes, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[public("numpy.matvec(x1, x2, /)")]
pub fn matvec(x1: &Val, x2: &Val) -> Result<Val> {
    let both = promote_dtypes(&[x1.clone(), x2.clone()])?;
    let (matrix, vector) = (&both[0], &both[1]);
    check_core("matvec", matrix, vector, [2, 1])?;
    let columns = lax::expand_axes(vector, &[vector.aval().rank()])?;
    getitem(&super::matmul(matrix, &columns, None)?, &[IndexItem::Ellipsis, IndexItem::Int(0)])
}

/// The products of vectors, conjugated, and matrices; axes before are batches, which broadcast.
///
/// Args:
///   x1: vectors `[..., m]`.
///   x2: matrices `[..., m, n]`.
/// Returns: an array `[..., n]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: the sizes `m` differ, an argument has too few axes, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.vecmat(jnp.array([1, 10]), jnp.array([[1, 2], [3, 4]])))
///   [31 42]
#[public("numpy.vecmat(x1, x2, /)")]
pub fn vecmat(x1: &Val, x2: &Val) -> Result<Val> {
    let both = promote_dtypes(&[x1.clone(), x2.clone()])?;
    let (vector, matrix) = (&both[0], &both[1]);
    check_core("vecmat", vector, matrix, [1, 2])?;
    let rows = lax::expand_dims(&super::conjugate(vector)?, &[-2])?;
    let products = super::matmul(&rows, matrix, None)?;
    getitem(&products, &[IndexItem::Ellipsis, IndexItem::Int(0), IndexItem::ALL])
}
