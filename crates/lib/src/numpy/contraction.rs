//! Products of matrices and vectors.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Error, Result, bail};
use pullback_core::prims::{DotDimensions, DotPrecision};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::convert;
use crate::declare::NestedInts;
use crate::lax;
use crate::precision::within;
use crate::promotion::{check_arguments, promote_dtypes, result_type_of};

/// A contraction in the common dtype of the operands, or in the one asked for.
pub(super) fn contract(x: &Val, y: &Val, dims: DotDimensions, dtype: Option<DType>) -> Result<Val> {
    check_arguments("dot", &[x.clone(), y.clone()])?;
    let natural = result_type_of(&[x.clone(), y.clone()])?;
    let out = lax::dot_general(x, y, dims, Some(dtype.unwrap_or(natural.dtype)))?;
    convert(&out, dtype.unwrap_or(natural.dtype), dtype.is_none() && natural.weak_type)
}

fn pairs(x_axes: Vec<usize>, y_axes: Vec<usize>) -> DotDimensions {
    DotDimensions { contract: [x_axes, y_axes], ..DotDimensions::default() }
}

/// The dot product: of the last axis of `x` with the last but one of `y`; scalars multiply.
///
/// # Errors
/// A `Type` error when the sizes differ.
pub fn dot(x: &Val, y: &Val, dtype: Option<DType>) -> Result<Val> {
    let (x_rank, y_rank) = (x.aval().rank(), y.aval().rank());
    let dims = if x_rank == 0 || y_rank == 0 {
        pairs(vec![], vec![])
    } else {
        pairs(vec![x_rank - 1], vec![y_rank.saturating_sub(2)])
    };
    contract(x, y, dims, dtype)
}

/// The matrix product, broadcasting over leading axes.
///
/// # Errors
/// A `Value` error for scalars and batches that do not broadcast, a `Type` error when the sizes differ.
pub fn matmul(x: &Val, y: &Val, dtype: Option<DType>) -> Result<Val> {
    for (position, operand) in [x, y].into_iter().enumerate() {
        if operand.aval().rank() == 0 {
            bail!(Value, "matmul input operand {position} must have ndim at least 1, but it has ndim 0");
        }
    }
    let (x_rank, y_rank) = (x.aval().rank(), y.aval().rank());
    if x_rank <= 2 && y_rank <= 2 {
        return contract(x, y, pairs(vec![x_rank - 1], vec![y_rank.saturating_sub(2)]), dtype);
    }
    batched_matmul(x, y, dtype)
}

/// How the leading axes of a batched product go: together, or free on one side.
struct BatchAxes {
    together: [Vec<usize>; 2],
    squeezed: [Vec<usize>; 2],
    /// Batch axes of the result that have one element on both sides: they take no part in the product.
    single: Vec<usize>,
    /// For each other batch axis of the result, where it comes from: both sides, or one alone.
    origin: Vec<Option<usize>>,
}

fn batch_axes(x: &Val, y: &Val, n: [usize; 2]) -> Result<BatchAxes> {
    let count = n[0].max(n[1]);
    let mut found =
        BatchAxes { together: [vec![], vec![]], squeezed: [vec![], vec![]], single: vec![], origin: vec![] };
    for i in 0..count {
        let axis = |side: usize| (i + n[side]).checked_sub(count);
        let size = |side: usize, val: &Val| axis(side).map(|axis| val.aval().shape[axis]);
        let origin = match (size(0, x), size(1, y)) {
            (Some(1), Some(1)) => {
                (0..2).for_each(|side| found.squeezed[side].push(axis(side).expect("it has a size")));
                found.single.push(i);
                continue;
            }
            (Some(a), Some(b)) if a == b => {
                found.together[0].push(axis(0).expect("it has a size"));
                found.together[1].push(axis(1).expect("it has a size"));
                None
            }
            (Some(_), Some(1)) => {
                found.squeezed[1].push(axis(1).expect("it has a size"));
                Some(0)
            }
            (Some(1), Some(_)) => {
                found.squeezed[0].push(axis(0).expect("it has a size"));
                Some(1)
            }
            (Some(_), None) => Some(0),
            (None, Some(_)) => Some(1),
            _ => bail!(
                Value,
                "Incompatible shapes for matmul arguments: {} and {}",
                tuple_text(&x.aval().shape),
                tuple_text(&y.aval().shape)
            ),
        };
        found.origin.push(origin);
    }
    Ok(found)
}

fn batched_matmul(x: &Val, y: &Val, dtype: Option<DType>) -> Result<Val> {
    let ranks = [x.aval().rank(), y.aval().rank()];
    let n = ranks.map(|rank| rank.saturating_sub(2));
    let axes = batch_axes(x, y, n)?;
    let after = |side: usize, axis: usize| axis - axes.squeezed[side].iter().filter(|&&gone| gone < axis).count();
    let contract_axes = [after(0, ranks[0] - 1), after(1, ranks[1].saturating_sub(2))];
    let batch: [Vec<usize>; 2] = [0, 1].map(|side| axes.together[side].iter().map(|&axis| after(side, axis)).collect());
    let squeezed = [lax::squeeze_axes(x, &axes.squeezed[0])?, lax::squeeze_axes(y, &axes.squeezed[1])?];
    let dims = DotDimensions { contract: contract_axes.map(|axis| vec![axis]), batch };
    let out = contract(&squeezed[0], &squeezed[1], dims, dtype)?;
    let ordered = lax::transpose(&out, &result_order(&axes, ranks))?;
    if axes.single.is_empty() { Ok(ordered) } else { lax::expand_axes(&ordered, &axes.single) }
}

/// The contraction gives batch axes, then free axes of `x`, then of `y`; the product wants batch axes in their order,
/// then the row of `x`, then the column of `y`.
fn result_order(axes: &BatchAxes, ranks: [usize; 2]) -> Vec<usize> {
    let n_together = axes.together[0].len();
    let n_alone = |side: usize| axes.origin.iter().filter(|origin| **origin == Some(side)).count();
    let has_row = usize::from(ranks[0] > 1);
    let x_first = n_together;
    let row = x_first + n_alone(0);
    let y_first = row + has_row;
    let column = y_first + n_alone(1);
    let mut next = [x_first, y_first];
    let mut together = 0..n_together;
    let mut order: Vec<usize> = vec![];
    for origin in &axes.origin {
        order.push(match origin {
            None => together.next().expect("as many as counted"),
            Some(side) => {
                next[*side] += 1;
                next[*side] - 1
            }
        });
    }
    order.extend((has_row == 1).then_some(row));
    order.extend((ranks[1] > 1).then_some(column));
    order
}

/// The dot product of all elements, the first operand conjugated.
///
/// # Errors
/// A `Type` error when the numbers of elements differ.
pub fn vdot(x: &Val, y: &Val, dtype: Option<DType>) -> Result<Val> {
    let conjugate = super::conjugate(x)?;
    let flat = |x: &Val| super::ravel(x, super::Order::RowMajor);
    dot(&flat(&conjugate)?, &flat(y)?, dtype)
}

/// The dot product over one axis, broadcasting over the others, the first operand conjugated.
///
/// # Errors
/// A `Value` error when the sizes differ.
pub fn vecdot(x: &Val, y: &Val, axis: i64, dtype: Option<DType>) -> Result<Val> {
    let (a, b) = (canonical_axis(axis, x.aval().rank())?, canonical_axis(axis, y.aval().rank())?);
    if x.aval().shape[a] != y.aval().shape[b] {
        bail!(
            Value,
            "axes must match; got shapes {} and {} with axis={axis}",
            tuple_text(&x.aval().shape),
            tuple_text(&y.aval().shape)
        );
    }
    let last = |x: &Val, axis: usize| super::move_axis_to(x, axis, x.aval().rank() - 1);
    let (x, y) = (last(&super::conjugate(x)?, a)?, last(y, b)?);
    if x.aval().rank() == 1 && y.aval().rank() == 1 {
        return dot(&x, &y, dtype);
    }
    let row = lax::expand_axes(&x, &[x.aval().rank() - 1])?;
    let column = lax::expand_axes(&y, &[y.aval().rank()])?;
    let out = matmul(&row, &column, dtype)?;
    let rank = out.aval().rank();
    lax::squeeze_axes(&out, &[rank - 2, rank - 1])
}

/// The sum of products over the last axes.
///
/// # Errors
/// A `Type` error when the sizes differ.
pub fn inner(x: &Val, y: &Val, dtype: Option<DType>) -> Result<Val> {
    let (x_rank, y_rank) = (x.aval().rank(), y.aval().rank());
    if x_rank == 0 || y_rank == 0 {
        let ins = promote_dtypes(&[x.clone(), y.clone()])?;
        return super::multiply(&ins[0], &ins[1]);
    }
    contract(x, y, pairs(vec![x_rank - 1], vec![y_rank - 1]), dtype)
}

/// The products of all pairs of elements of two arrays, which are taken as flat.
///
/// Args:
///   a: an array of m elements, or a number.
///   b: an array of n elements, or a number.
///   out: for compatibility; must be None.
/// Returns: an array `[m, n]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.outer(jnp.array([1, 2]), jnp.array([3, 4])))
///   [[3 4]
///    [6 8]]
#[public("numpy.outer(a, b, out: NoOut=None)")]
pub fn outer(a: &Val, b: &Val) -> Result<Val> {
    let ins = promote_dtypes(&[a.clone(), b.clone()])?;
    let flat = |a: &Val| super::ravel(a, super::Order::RowMajor);
    let column = lax::expand_axes(&flat(&ins[0])?, &[1])?;
    let row = lax::expand_axes(&flat(&ins[1])?, &[0])?;
    super::multiply(&column, &row)
}

/// Which axes [`tensordot`] contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensordotAxes {
    /// That many last axes of the first with as many first ones of the second.
    Count(usize),
    /// Named pairs.
    Pairs(Vec<i64>, Vec<i64>),
}

impl TensordotAxes {
    /// The axes as users write them: a number, or two axes or lists of them.
    ///
    /// # Errors
    /// A `Type` error for anything else.
    pub fn of(axes: &NestedInts) -> Result<TensordotAxes> {
        match axes {
            NestedInts::One(count) if *count >= 0 => Ok(TensordotAxes::Count(*count as usize)),
            NestedInts::Many(sides) if sides.len() == 2 => match (sides[0].flat(), sides[1].flat()) {
                (Some(left), Some(right)) => Ok(TensordotAxes::Pairs(left, right)),
                _ => Err(bad_axes()),
            },
            NestedInts::One(_) | NestedInts::Many(_) => Err(bad_axes()),
        }
    }
}

fn bad_axes() -> Error {
    Error::type_error("tensordot axes argument must be an int, a pair of ints, or a pair of lists/tuples of ints.")
}

/// The sum of products over chosen axes.
///
/// # Errors
/// A `Type` error when there are not enough axes or sizes differ.
pub fn tensordot(x: &Val, y: &Val, axes: &TensordotAxes, dtype: Option<DType>) -> Result<Val> {
    let (x_rank, y_rank) = (x.aval().rank(), y.aval().rank());
    let dims = match axes {
        TensordotAxes::Count(n) => {
            if *n > x_rank.min(y_rank) {
                bail!(
                    Type,
                    "Number of tensordot axes (axes {n}) exceeds input ranks ({} and {})",
                    tuple_text(&x.aval().shape),
                    tuple_text(&y.aval().shape)
                );
            }
            pairs((x_rank - n..x_rank).collect(), (0..*n).collect())
        }
        TensordotAxes::Pairs(a, b) => {
            if a.len() != b.len() {
                bail!(Type, "tensordot requires axes lists to have equal length, got {a:?} and {b:?}.");
            }
            let all = |axes: &[i64], rank| axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>();
            pairs(all(a, x_rank)?, all(b, y_rank)?)
        }
    };
    contract(x, y, dims, dtype)
}

/// The cross product of vectors of three components on the last axis.
///
/// # Errors
/// A `Value` error for other sizes.
pub fn cross(x: &Val, y: &Val, axes: [i64; 3]) -> Result<Val> {
    crate::jit::named_jit_one("cross", &axes, &[x.clone(), y.clone()], |args| {
        let ins = promote_dtypes(args)?;
        let last = |x: &Val, axis: i64| super::moveaxis(x, &[axis], &[-1]);
        let (x, y) = (last(&ins[0], axes[0])?, last(&ins[1], axes[1])?);
        let components = |x: &Val| -> Result<Vec<Val>> {
            if x.aval().shape.last() != Some(&3) {
                bail!(Value, "Dimension must be 3 for cross product");
            }
            let pick = |i: i64| {
                crate::indexing::getitem(x, &[crate::indexing::IndexItem::Ellipsis, crate::indexing::IndexItem::Int(i)])
            };
            (0..3).map(pick).collect()
        };
        let (a, b) = (components(&x)?, components(&y)?);
        let product = |p: &Val, q: &Val| super::multiply(p, q);
        let difference = |p: &Val, q: &Val, r: &Val, s: &Val| super::subtract(&product(p, q)?, &product(r, s)?);
        let parts = [
            difference(&a[1], &b[2], &a[2], &b[1])?,
            difference(&a[2], &b[0], &a[0], &b[2])?,
            difference(&a[0], &b[1], &a[1], &b[0])?,
        ];
        let rank = parts[0].aval().rank();
        let axis = canonical_axis(axes[2], rank + 1)?;
        let parts: Result<Vec<Val>> = parts.iter().map(|part| lax::expand_axes(part, &[axis])).collect();
        // The parts meet in a new array, which is of strong type.
        let dtype = x.aval().dtype;
        crate::convert::to_dtype(&lax::concatenate(&parts?, axis)?, dtype)
    })
}

/// The dot product: of vectors their inner product, of matrices the matrix product, with a number the product.
/// In general the sum of products over the last axis of `a` and the last but one (or only) axis of `b`; batches of
/// `matmul` are treated differently.
///
/// Args:
///   a: an array `[..., n]` or number.
///   b: an array `[..., n, k]` or `[n]`, or number.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[public("numpy.dot(a, b, *, precision=None, preferred_element_type=None, out_sharding: Sharded=None)")]
pub fn dot_within(
    a: &Val,
    b: &Val,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || dot(a, b, preferred_element_type))
}

/// The matrix product `a @ b`; axes before the last two are batches, which broadcast.
/// A vector on the left counts as a row, on the right as a column, and its axis is left out of the result.
///
/// Args:
///   a: an array `[..., m, n]` or `[n]`.
///   b: an array `[..., n, k]` or `[n]`.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array `[..., m, k]` of the promoted dtype; of booleans whether any product is true.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes `n` differ.
///   ValueError: an argument has no axes, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 10]])))
///   [[ 1 20]
///    [ 3 40]]
#[public("numpy.matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding: Sharded=None)")]
pub fn matmul_within(
    a: &Val,
    b: &Val,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || matmul(a, b, preferred_element_type))
}

/// The inner product of all elements, of the flat arrays, the first conjugated.
///
/// Args:
///   a, b: arrays of as many elements.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array without axes, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 3])))
///   (7+0j)
#[public("numpy.vdot(a, b, *, precision=None, preferred_element_type=None)")]
pub fn vdot_within(
    a: &Val,
    b: &Val,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || vdot(a, b, preferred_element_type))
}

/// The inner products over the last axes of two arrays, of all pairs of vectors; with a number the product.
///
/// Args:
///   a: an array `[..., n]` or number.
///   b: an array `[..., n]` or number.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [1, 1]])))
///   [[1 3]
///    [3 7]]
#[public("numpy.inner(a, b, *, precision=None, preferred_element_type=None)")]
pub fn inner_within(
    a: &Val,
    b: &Val,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || inner(a, b, preferred_element_type))
}

/// The inner products of vectors along an axis, the first conjugated; other axes broadcast.
///
/// Args:
///   x1, x2: arrays of one size along `axis`.
///   axis: the axis of the vectors; the last by default.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array of the broadcast shape without the axis, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: the sizes differ, the axis is out of bounds, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[public("numpy.vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None)")]
pub fn vecdot_within(
    x1: &Val,
    x2: &Val,
    axis: i64,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    within(precision, || vecdot(x1, x2, axis, preferred_element_type))
}

/// The sums of products over several axes of two arrays.
///
/// Args:
///   a, b: arrays.
///   axes: an integer: the last axes of `a` go with as many first ones of `b`, 2 by default; or a pair of
///     (sequences of) axes of `a` and of `b` that go together.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, more axes than there are, lists of different lengths,
///     or sizes that differ.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.tensordot(jnp.ones((2, 3, 4)), jnp.ones((3, 4)), axes=2))
///   [12. 12.]
#[public("numpy.tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding: Sharded=None)")]
pub fn tensordot_within(
    a: &Val,
    b: &Val,
    axes: &NestedInts,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    let axes = TensordotAxes::of(axes)?;
    within(precision, || tensordot(a, b, &axes, preferred_element_type))
}

/// The cross products of vectors of three elements.
///
/// Args:
///   a, b: arrays of size 3 along the axes of the vectors; other axes broadcast.
///   axisa, axisb: the axes of the vectors in `a` and in `b`; the last by default.
///   axisc: the axis of the vectors in the result; the last by default.
///   axis: all three at once, in place of them.
/// Returns: an array of the broadcast shape, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: vectors of another size, an axis is out of bounds, or shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0])))
///   [0 0 1]
#[public("numpy.cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)")]
pub fn cross_along(a: &Val, b: &Val, axisa: i64, axisb: i64, axisc: i64, axis: Option<i64>) -> Result<Val> {
    cross(a, b, axis.map_or([axisa, axisb, axisc], |axis| [axis; 3]))
}
