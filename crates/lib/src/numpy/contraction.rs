//! Products of matrices and vectors.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims::DotDimensions;
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::convert;
use crate::lax;
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
    /// For each batch axis of the result, where it comes from: both sides, or one alone.
    origin: Vec<Option<usize>>,
}

fn batch_axes(x: &Val, y: &Val, n: [usize; 2]) -> Result<BatchAxes> {
    let count = n[0].max(n[1]);
    let mut found = BatchAxes { together: [vec![], vec![]], squeezed: [vec![], vec![]], origin: vec![] };
    for i in 0..count {
        let axis = |side: usize| (i + n[side]).checked_sub(count);
        let size = |side: usize, val: &Val| axis(side).map(|axis| val.aval().shape[axis]);
        let origin = match (size(0, x), size(1, y)) {
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
    lax::transpose(&out, &result_order(&axes, ranks))
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

/// All products of elements of two vectors.
///
/// # Errors
/// When dtypes do not go together.
pub fn outer(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_dtypes(&[x.clone(), y.clone()])?;
    let flat = |x: &Val| super::ravel(x, super::Order::RowMajor);
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
        lax::concatenate(&parts?, axis)
    })
}
