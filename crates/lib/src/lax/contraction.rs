//! Sums of products: dot products, matrix products, and contractions of any axes.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims::{DOT_GENERAL, DotDimensions, DotGeneral, DotPrecision};
use pullback_derive::public;
use pullback_ir::{Params, Val};

use crate::declare::{Argument, Arguments, Constant, NestedInts, Type};
use crate::precision::{in_force, within};

/// The sum of products over contracted axes, of the precision in force.
///
/// # Errors
/// What the primitive raises.
pub fn dot_general(x: &Val, y: &Val, dims: DotDimensions, dtype: Option<DType>) -> Result<Val> {
    let params = DotGeneral {
        dimension_numbers: dims,
        precision: in_force(),
        preferred_element_type: dtype,
        out_sharding: None,
    };
    pullback_trace::bind_one(DOT_GENERAL, &Params::new(params), &[x.clone(), y.clone()])
}

/// Two pairs of lists of axes, one list for each operand: contracted axes, and those that go along.
impl Argument for DotDimensions {
    const TYPE: Type = Type { python: "Any", rust: "DotDimensions" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<DotDimensions> {
        let given = args.nested_ints(at)?;
        let axis = |number: i64| match usize::try_from(number) {
            Ok(axis) => Ok(axis),
            Err(_) => bail!(
                Type,
                "dot_general requires dimension numbers to be nonnegative and less than the number of axes, got {number}; \
                 count axes from the first"
            ),
        };
        let misshapen = || {
            pullback_base::Error::type_error(
                "dimension_numbers are two pairs of lists of axes: ((contract, contract), (batch, batch))".to_string(),
            )
        };
        let axes = |list: &NestedInts| -> Result<Vec<usize>> {
            list.flat().ok_or_else(misshapen)?.into_iter().map(axis).collect()
        };
        let pair = |pair: &NestedInts| match pair.items() {
            [x, y] => Ok([axes(x)?, axes(y)?]),
            _ => Err(misshapen()),
        };
        match given.items() {
            [contract, batch] => Ok(DotDimensions { contract: pair(contract)?, batch: pair(batch)? }),
            _ => Err(misshapen()),
        }
    }
    fn absent(_default: Constant) -> DotDimensions {
        DotDimensions::default()
    }
}

/// Sums of products over contracted axes, for each position of the batch axes.
///
/// Args:
///   lhs, rhs: arrays of one dtype; booleans give whether a pair holds.
///   dimension_numbers: `((lhs contracted, rhs contracted), (lhs batch, rhs batch))`, pairs of axes of equal sizes.
///   precision: None, a word such as 'highest', a `Precision`, a pair of them, a `DotAlgorithm`, or a `DotAlgorithmPreset`.
///   preferred_element_type: the dtype of sums and of the result; that of the operands by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of the batch axes, the other axes of `lhs`, then those of `rhs`.
/// Raises:
///   TypeError: dtypes differ, or paired axes differ in number or size or are out of bounds.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.dot_general(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]), (((1,), (0,)), ((), ())))
///   Array([17, 39], dtype=int32)
#[public(
    "lax.dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding: Sharded=None)"
)]
pub fn dot_general_with(
    lhs: &Val,
    rhs: &Val,
    dimension_numbers: &DotDimensions,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || dot_general(lhs, rhs, dimension_numbers.clone(), preferred_element_type))
}

/// The product of vectors and matrices, over the last axis of `lhs` and the first of `rhs`.
///
/// Args:
///   lhs, rhs: arrays of one dtype and of one or two axes; with `dimension_numbers` of any rank.
///   dimension_numbers: as `dot_general` takes them, if the axes are others.
///   precision: None, a word such as 'highest', a `Precision`, a pair of them, a `DotAlgorithm`, or a `DotAlgorithmPreset`.
///   preferred_element_type: the dtype of sums and of the result; that of the operands by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: a scalar of two vectors, else a vector or matrix.
/// Raises:
///   TypeError: dtypes differ, or shapes do not go together.
/// Differentiable: yes, bilinear.
/// Example:
///   >>> lax.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
///   Array([17, 39], dtype=int32)
#[public(
    "lax.dot(lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding: Sharded=None)"
)]
pub fn dot(
    lhs: &Val,
    rhs: &Val,
    dimension_numbers: Option<&DotDimensions>,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    let dims = match dimension_numbers {
        Some(given) => given.clone(),
        None => simple_dimensions(lhs, rhs)?,
    };
    within(precision, || dot_general(lhs, rhs, dims, preferred_element_type))
}

/// The last axis of one operand with the first of the other.
fn simple_dimensions(lhs: &Val, rhs: &Val) -> Result<DotDimensions> {
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
    Ok(DotDimensions { contract: [vec![a.rank() - 1], vec![0]], ..DotDimensions::default() })
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
#[public("lax.batch_matmul(lhs, rhs, precision=None)")]
pub fn batch_matmul(lhs: &Val, rhs: &Val, precision: Option<DotPrecision>) -> Result<Val> {
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
    within(precision, || crate::numpy::matmul(lhs, rhs, None))
}
