//! Sums of products: dot products, matrix products, and contractions of any axes.

use pullback_base::aval::tuple_text;
use pullback_base::bail;
use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::dot_dimensions;
use crate::api::arguments::{canonical, check_out_sharding, one_within, precision as precision_of};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; batch_matmul dot dot_general);
    Ok(())
}

/// Products of matrices, one for each position of the axes in front.
///
/// Args:
///   lhs: array [..., m, k].
///   rhs: array [..., k, n] with the same batch axes; dtypes are promoted together.
///   precision: None, a word such as 'highest', a `Precision`, a pair of them, a `DotAlgorithm`, or a `DotAlgorithmPreset`.
/// Returns: an array [..., m, n].
/// Raises:
///   ValueError: an operand has fewer than two axes, or the ranks differ.
///   TypeError: batch axes or contracted sizes differ.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.batch_matmul(jnp.array([[[1, 2]]]), jnp.array([[[3], [4]]]))
///   Array([[[11]]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (lhs, rhs, precision=None), text_signature = "(lhs, rhs, precision=None)")]
fn batch_matmul(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "batch_matmul", 0)?;
    let rhs = rhs.val(py, "batch_matmul", 1)?;
    let precision = precision_of(precision.as_ref())?;
    one_within(py, precision, || {
        let (a, b) = (lhs.aval(), rhs.aval());
        if a.rank().min(b.rank()) < 2 {
            bail!(Value, "Arguments to batch_matmul must be at least 2D, got {}, {}", a.rank(), b.rank());
        }
        if a.rank() != b.rank() {
            bail!(Value, "Arguments to batch_matmul must have same ndim, got {}, {}", a.rank(), b.rank());
        }
        let n = a.rank() - 2;
        if a.shape[..n] != b.shape[..n] {
            bail!(
                Type,
                "dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got {} and {}.",
                tuple_text(&a.shape[..n]),
                tuple_text(&b.shape[..n])
            );
        }
        pullback_lib::numpy::matmul(&lhs, &rhs, None)
    })
}

/// The product of vectors and matrices, over the last axis of `lhs` and the first of `rhs`.
///
/// Args:
///   lhs, rhs: arrays of one dtype and of one or two axes; with `dimension_numbers` of any rank.
///   dimension_numbers: as `dot_general` takes them, if the axes are others.
///   precision: None, a word such as 'highest', a `Precision`, a pair of them, a `DotAlgorithm`, or a `DotAlgorithmPreset`.
///   preferred_element_type: the dtype of sums and of the result; that of the operands by default.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: a scalar of two vectors, else a vector or matrix.
/// Raises:
///   TypeError: dtypes differ, or shapes do not go together.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
///   Array([17, 39], dtype=int32)
#[pyfunction]
#[pyo3(signature = (lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None)")]
fn dot(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Option<&Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot", 0)?;
    let rhs = rhs.val(py, "dot", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "dot")?;
    check_out_sharding("dot_general", out_sharding.as_ref())?;
    if let Some(dims) = dimension_numbers {
        let dims = dot_dimensions(dims)?;
        return one_within(py, precision, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type));
    }
    one_within(py, precision, || {
        let (a, b) = (lhs.aval(), rhs.aval());
        let is_simple = (1..=2).contains(&a.rank()) && (1..=2).contains(&b.rank());
        if !is_simple || a.shape[a.rank() - 1] != b.shape[0] {
            bail!(
                Value,
                "jax.lax.dot: dimension_numbers must be specified when not performing simple un-batched matrix-matrix, \
                 matrix-vector, or vector-vector products; got lhs_shape={} rhs_shape={}",
                tuple_text(&a.shape),
                tuple_text(&b.shape)
            );
        }
        let contract = [vec![a.rank() - 1], vec![0]];
        let dims = pullback_core::prims::DotDimensions { contract, ..Default::default() };
        lax::dot_general(&lhs, &rhs, dims, preferred_element_type)
    })
}

/// Sums of products over contracted axes, for each position of the batch axes.
///
/// Args:
///   lhs, rhs: arrays of one dtype; booleans give whether a pair holds.
///   dimension_numbers: `((lhs contracted, rhs contracted), (lhs batch, rhs batch))`, pairs of axes of equal sizes.
///   precision: None, a word such as 'highest', a `Precision`, a pair of them, a `DotAlgorithm`, or a `DotAlgorithmPreset`.
///   preferred_element_type: the dtype of sums and of the result; that of the operands by default.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: an array of the batch axes, the other axes of `lhs`, then those of `rhs`.
/// Raises:
///   TypeError: dtypes differ, or paired axes differ in number or size or are out of bounds.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.dot_general(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]), (((1,), (0,)), ((), ())))
///   Array([17, 39], dtype=int32)
#[pyfunction]
#[pyo3(signature = (lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None), text_signature = "(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None)")]
fn dot_general(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot_general", 0)?;
    let rhs = rhs.val(py, "dot_general", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "dot_general")?;
    check_out_sharding("dot_general", out_sharding.as_ref())?;
    let dims = dot_dimensions(dimension_numbers)?;
    one_within(py, precision, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type))
}
