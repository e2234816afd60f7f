//! Cumulative sums and products, differences and integrals.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{convert, default_int, number, to_dtype};
use crate::jit::named_jit_one;
use crate::lax;

type Cumulative = fn(&Val, usize, bool) -> Result<Val>;

fn cumulative(
    name: &'static str,
    x: &Val,
    axis: Option<i64>,
    dtype: Option<DType>,
    [op, in_bool]: [Cumulative; 2],
    nan_as: Option<f64>,
) -> Result<Val> {
    // Of booleans the sum is whether any holds so far, the product whether all do.
    let op = if dtype == Some(DType::Bool) { in_bool } else { op };
    let statics = [axis.is_some().into(), axis.unwrap_or(0), dtype.map_or(-1, |dtype| dtype as i64)];
    named_jit_one(name, &statics, std::slice::from_ref(x), |args| {
        let x = &args[0];
        let (flat, at) = match axis {
            None => (super::ravel(x, super::Order::RowMajor)?, 0),
            Some(axis) => (x.clone(), canonical_axis(axis, x.aval().rank())?),
        };
        let filled = match nan_as {
            Some(value) if flat.aval().dtype.is_inexact() => {
                super::where_(&super::isnan(&flat)?, &number(&flat, value), &flat)?
            }
            _ => flat,
        };
        let natural = filled.aval().dtype;
        let dtype = dtype.unwrap_or(if natural == DType::Bool { default_int() } else { natural });
        let out = op(&to_dtype(&filled, if dtype == DType::Bool { DType::U8 } else { dtype })?, at, false)?;
        to_dtype(&out, dtype)
    })
}

/// Sums of all elements so far.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn cumsum(x: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("cumsum", x, axis, dtype, [lax::cumsum, lax::cummax], None)
}

/// Products of all elements so far.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn cumprod(x: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("cumprod", x, axis, dtype, [lax::cumprod, lax::cummin], None)
}

/// As [`cumsum`], with NaN as 0.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn nancumsum(x: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("nancumsum", x, axis, dtype, [lax::cumsum, lax::cummax], Some(0.0))
}

/// As [`cumprod`], with NaN as 1.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn nancumprod(x: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("nancumprod", x, axis, dtype, [lax::cumprod, lax::cummin], Some(1.0))
}

/// Differences of neighbours along an axis, `n` times.
///
/// # Errors
/// A `Value` error for scalars, a negative `n` or a bad axis.
pub fn diff(x: &Val, n: i64, axis: i64, prepend: Option<&Val>, append: Option<&Val>) -> Result<Val> {
    let statics = [n, axis, prepend.is_some().into(), append.is_some().into()];
    let args: Vec<Val> = [Some(x), prepend, append].into_iter().flatten().cloned().collect();
    named_jit_one("diff", &statics, &args, |args| {
        let mut rest = args[1..].iter();
        let prepend = prepend.and_then(|_| rest.next());
        diff_of(&args[0], n, axis, prepend, rest.next())
    })
}

fn diff_of(x: &Val, n: i64, axis: i64, prepend: Option<&Val>, append: Option<&Val>) -> Result<Val> {
    let rank = x.aval().rank();
    if n == 0 {
        return Ok(x.clone());
    }
    if n < 0 {
        bail!(Value, "order must be non-negative but got {n}");
    }
    if rank == 0 {
        bail!(Value, "diff requires input that is at least one dimensional; got {}", x.aval());
    }
    let axis = canonical_axis(axis, rank)?;
    let edge = |edge: &Val| {
        let mut shape = x.aval().shape.to_vec();
        shape[axis] = 1;
        if edge.aval().rank() == 0 { crate::broadcast::broadcast_to(edge, &shape) } else { Ok(edge.clone()) }
    };
    let parts: Vec<Val> = [prepend.map(edge).transpose()?, Some(x.clone()), append.map(edge).transpose()?]
        .into_iter()
        .flatten()
        .collect();
    let mut x = if parts.len() > 1 { super::concatenate(&parts, Some(axis as i64), None)? } else { x.clone() };
    // Of as many differences as there are elements nothing is left.
    for _ in 0..n.min(x.aval().shape[axis] as i64 + 1) {
        let size = x.aval().shape[axis];
        let part = |from: usize, to: usize| {
            let (mut starts, mut limits) = (vec![0; rank], x.aval().shape.to_vec());
            (starts[axis], limits[axis]) = (from, to);
            lax::slice_always(&x, &starts, &limits, None)
        };
        let (later, earlier) = (part(1.min(size), size)?, part(0, size.saturating_sub(1))?);
        x = if x.aval().dtype == DType::Bool { lax::ne(&later, &earlier)? } else { lax::sub(&later, &earlier)? };
    }
    Ok(x)
}

/// The integral by trapezoids, of samples `dx` apart.
///
/// # Errors
/// A `Value` error for a bad axis.
pub fn trapezoid(y: &Val, dx: f64, axis: i64) -> Result<Val> {
    named_jit_one("trapezoid", &[axis, dx.to_bits() as i64], std::slice::from_ref(y), |args| {
        let y = crate::promotion::promote_inexact(args)?.swap_remove(0);
        let axis = canonical_axis(axis, y.aval().rank())?;
        let y = super::move_axis_to(&y, axis, y.aval().rank() - 1)?;
        let last = y.aval().rank() - 1;
        let total = lax::reduce_sum(&y, &[last])?;
        let end = |i: i64| {
            crate::indexing::getitem(&y, &[crate::indexing::IndexItem::Ellipsis, crate::indexing::IndexItem::Int(i)])
        };
        let ends = lax::add(&end(0)?, &end(-1)?)?;
        let half = lax::mul(&number(&ends, 0.5), &ends)?;
        let area = lax::sub(&total, &half)?;
        lax::mul(&number(&area, dx), &area)
    })
}

/// The integral by trapezoids, of samples at the given places.
///
/// # Errors
/// A `Value` error for a bad axis; when shapes do not go together.
pub fn trapezoid_over(y: &Val, x: &Val, axis: i64) -> Result<Val> {
    named_jit_one("trapezoid", &[axis], &[y.clone(), x.clone()], |args| {
        let ins = crate::promotion::promote_inexact(args)?;
        let at = canonical_axis(axis, ins[0].aval().rank())?;
        let last = |x: &Val, axis: usize| super::move_axis_to(x, axis, x.aval().rank() - 1);
        let y = last(&ins[0], at)?;
        let x = if ins[1].aval().rank() == 1 {
            ins[1].clone()
        } else {
            last(&ins[1], canonical_axis(axis, ins[1].aval().rank())?)?
        };
        let widths = diff_of(&x, 1, -1, None, None)?;
        let size = y.aval().shape[y.aval().rank() - 1];
        let part = |from: usize| lax::slice_in_dim(&y, from, from + size - 1, 1, y.aval().rank() - 1);
        let heights = lax::add(&part(1)?, &part(0)?)?;
        let areas = super::multiply(&widths, &heights)?;
        let total = lax::reduce_sum(&areas, &[areas.aval().rank() - 1])?;
        lax::mul(&number(&total, 0.5), &total)
    })
}

/// Cumulative sum as the array API has it, with an optional leading zero.
///
/// # Errors
/// A `Value` error for a bad axis, or none where there are several.
pub fn cumulative_sum(x: &Val, axis: Option<i64>, dtype: Option<DType>, include_initial: bool) -> Result<Val> {
    with_initial("cumulative_sum", x, axis, include_initial, 0.0, |x, axis| {
        cumsum(x, Some(axis), dtype.or_else(|| widened(x)))
    })
}

/// Cumulative product as the array API has it, with an optional leading one.
///
/// # Errors
/// As [`cumulative_sum`].
pub fn cumulative_prod(x: &Val, axis: Option<i64>, dtype: Option<DType>, include_initial: bool) -> Result<Val> {
    with_initial("cumulative_prod", x, axis, include_initial, 1.0, |x, axis| {
        cumprod(x, Some(axis), dtype.or_else(|| widened(x)))
    })
}

fn widened(x: &Val) -> Option<DType> {
    let dtype = x.aval().dtype;
    let small = dtype.is_integer() && dtype.bits() < default_int().bits();
    let wide = if dtype.kind() == pullback_base::dtype::Kind::Unsigned {
        crate::convert::default_uint()
    } else {
        default_int()
    };
    small.then_some(wide)
}

fn with_initial(
    name: &str,
    x: &Val,
    axis: Option<i64>,
    include_initial: bool,
    initial: f64,
    op: impl Fn(&Val, i64) -> Result<Val>,
) -> Result<Val> {
    let rank = x.aval().rank();
    if rank == 0 {
        bail!(
            Value,
            "The input must be non-scalar to take a cumulative operation, however a scalar value or scalar array was given."
        );
    }
    let axis = match axis {
        Some(axis) => axis,
        None if rank == 1 => 0,
        None => bail!(
            Value,
            "The input array has rank {rank}, however axis was not set to an explicit value. The axis argument is only optional for one-dimensional arrays. ({name})"
        ),
    };
    let out = op(x, axis)?;
    if !include_initial {
        return Ok(out);
    }
    let at = canonical_axis(axis, rank)?;
    let mut shape = out.aval().shape.to_vec();
    shape[at] = 1;
    let first = lax::full(&shape, &number(&out, initial))?;
    lax::concatenate(&[convert(&first, out.aval().dtype, out.aval().weak_type)?, out], at)
}
