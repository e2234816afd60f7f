//! Cumulative sums and products, differences and integrals.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{constant, convert, default_int, number, to_dtype};
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

/// The sums of all elements up to each one.
/// Unlike `sum`, narrow integers do not widen; booleans become the default integer.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to add; None (the default) takes the flat array.
///   dtype: the dtype in which to add, and that of the result; by default that of `a`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.cumsum(jnp.array([1, 2, 3])))
///   [1 3 6]
#[public("numpy.cumsum(a, axis=None, dtype=None, out: NoOut=None)")]
pub fn cumsum(a: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("cumsum", a, axis, dtype, [lax::cumsum, lax::cummax], None)
}

/// The products of all elements up to each one.
/// Unlike `prod`, narrow integers do not widen; booleans become the default integer.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to multiply; None (the default) takes the flat array.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `a`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, where elements are 0 too.
/// Example:
///   >>> print(jnp.cumprod(jnp.array([1, 2, 3])))
///   [1 2 6]
#[public("numpy.cumprod(a, axis=None, dtype=None, out: NoOut=None)")]
pub fn cumprod(a: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("cumprod", a, axis, dtype, [lax::cumprod, lax::cummin], None)
}

/// The sums of all elements up to each one, NaNs counting as 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to add; None (the default) takes the flat array.
///   dtype: the dtype in which to add, and that of the result; by default as for `cumsum`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nancumsum(jnp.array([1.0, jnp.nan, 3.0])))
///   [1. 1. 4.]
#[public("numpy.nancumsum(a, axis=None, dtype=None, out: NoOut=None)")]
pub fn nancumsum(a: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("nancumsum", a, axis, dtype, [lax::cumsum, lax::cummax], Some(0.0))
}

/// The products of all elements up to each one, NaNs counting as 1.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to multiply; None (the default) takes the flat array.
///   dtype: the dtype in which to multiply, and that of the result; by default as for `cumprod`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0])))
///   [2. 2. 6.]
#[public("numpy.nancumprod(a, axis=None, dtype=None, out: NoOut=None)")]
pub fn nancumprod(a: &Val, axis: Option<i64>, dtype: Option<DType>) -> Result<Val> {
    cumulative("nancumprod", a, axis, dtype, [lax::cumprod, lax::cummin], Some(1.0))
}

/// The differences of neighbours along an axis, `n` times over; of booleans whether they differ.
///
/// Args:
///   a: an array of at least one axis.
///   n: how often differences are taken, a static integer; 1 by default.
///   axis: the axis; the last by default.
///   prepend, append: what goes before and behind `a` first: an array that fits along the axis, or a number;
///     nothing by default.
/// Returns: an array of the dtype of `a`, `n` shorter along the axis, down to no elements.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `n` is negative, `a` has no axes, or the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diff(jnp.array([1, 4, 9, 16])))
///   [3 5 7]
///   >>> print(jnp.diff(jnp.array([1, 4, 9, 16]), n=2, prepend=0))
///   [2 2 2]
#[public("numpy.diff(a, n=1, axis=-1, prepend=None, append=None)")]
pub fn diff(a: &Val, n: i64, axis: i64, prepend: Option<&Val>, append: Option<&Val>) -> Result<Val> {
    let statics = [n, axis, prepend.is_some().into(), append.is_some().into()];
    let args: Vec<Val> = [Some(a), prepend, append].into_iter().flatten().cloned().collect();
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
        let y = to_dtype(&y, y.aval().dtype)?;
        let axis = canonical_axis(axis, y.aval().rank())?;
        let y = super::move_axis_to(&y, axis, y.aval().rank() - 1)?;
        let last = y.aval().rank() - 1;
        let total = lax::reduce_sum(&y, &[last])?;
        let end = |i: i64| {
            crate::indexing::getitem(&y, &[crate::indexing::IndexItem::Ellipsis, crate::indexing::IndexItem::Int(i)])
        };
        let ends = lax::add(&end(0)?, &end(-1)?)?;
        let half = lax::mul(&constant(&ends, 0.5), &ends)?;
        let area = lax::sub(&total, &half)?;
        lax::mul(&constant(&area, dx), &area)
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

/// The sums of all elements up to each one along an axis, as the array API has them: narrow integers widen.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis along which to add; may be left out for vectors only.
///   dtype: the dtype in which to add, and that of the result; by default that of `x`, widened to the default
///     integer.
///   include_initial: whether a 0 comes first, so that the axis gets one longer.
/// Returns: an array of the shape of `x`, one longer along `axis` with `include_initial`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or several and `axis` is None; the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True))
///   [0 1 3 6]
#[public("numpy.cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)")]
pub fn cumulative_sum(x: &Val, axis: Option<i64>, dtype: Option<DType>, include_initial: bool) -> Result<Val> {
    with_initial("cumulative_sum", x, axis, include_initial, 0.0, |x, axis| {
        cumsum(x, Some(axis), dtype.or_else(|| widened(x)))
    })
}

/// The products of all elements up to each one along an axis, as the array API has them: narrow integers widen.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis along which to multiply; may be left out for vectors only.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `x`, widened to the default
///     integer.
///   include_initial: whether a 1 comes first, so that the axis gets one longer.
/// Returns: an array of the shape of `x`, one longer along `axis` with `include_initial`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or several and `axis` is None; the axis is out of bounds.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.cumulative_prod(jnp.array([1, 2, 3]), include_initial=True))
///   [1 1 2 6]
#[public("numpy.cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)")]
pub fn cumulative_prod(x: &Val, axis: Option<i64>, dtype: Option<DType>, include_initial: bool) -> Result<Val> {
    with_initial("cumulative_prod", x, axis, include_initial, 1.0, |x, axis| cumprod(x, Some(axis), dtype))
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

/// The integral along an axis by the trapezoidal rule: the sum of `(y[i] + y[i+1]) / 2 * (x[i+1] - x[i])`.
///
/// Args:
///   y: the values; integers become floating.
///   x: the abscissas: a vector of the size of the axis, or an array of the shape of `y`; None takes `dx`.
///   dx: the distance of the points, without `x`: a number; 1 by default.
///   axis: the axis; the last by default.
/// Returns: an array of the shape of `y` without the axis and a floating or complex dtype.
/// Raises:
///   TypeError: `y` is neither an array nor a number (lists are refused), or the shapes do not broadcast.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to `y`, `x` and `dx`.
/// Example:
///   >>> print(jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), x=jnp.array([0.0, 1.0, 3.0])))
///   6.5
#[public("numpy.trapezoid(y, x=None, dx=1.0, axis=-1)")]
pub fn trapezoid_of(y: &Val, x: Option<&Val>, dx: f64, axis: i64) -> Result<Val> {
    match x {
        None => trapezoid(y, dx, axis),
        Some(x) => trapezoid_over(y, x, axis),
    }
}
