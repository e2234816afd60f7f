//! Reductions over axes, with `where`, `initial`, `keepdims` and `dtype`.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_core::prims::Axis;
use pullback_derive::{Keywords, public};
use pullback_ir::{AxisName, Val};

use super::emptiness::warn_of_nothing;
use super::{maximum, minimum, where_};
use crate::axes::{Axes, canonical_axis};
use crate::broadcast::broadcast_to;
use crate::convert::{default_float, default_int, default_uint, inexact, number, to_dtype};
use crate::declare::OneOrTuple;
use crate::jit::named_jit_one;
use crate::lax;

/// What users say of a reduction beside its operand.
#[derive(Clone, Debug, Keywords)]
pub struct Reduction {
    /// Which axes.
    pub axis: Axes,
    /// Dtype of the result; of the computation too.
    pub dtype: Option<DType>,
    /// Whether reduced axes stay with size 1.
    pub keepdims: bool,
    /// A value combined with the result.
    #[keyword(Initial)]
    pub initial: Option<Val>,
    /// Which elements take part.
    #[keyword(Mask)]
    pub where_: Option<Val>,
    /// Whether small integers widen.
    pub promote_integers: bool,
}

impl Default for Reduction {
    fn default() -> Reduction {
        Reduction { axis: Axes::All, dtype: None, keepdims: false, initial: None, where_: None, promote_integers: true }
    }
}

impl Reduction {
    /// Over the given axes.
    pub fn over(axis: Axes, keepdims: bool) -> Reduction {
        Reduction { axis, keepdims, ..Reduction::default() }
    }
}

type Reduce = fn(&Val, &[usize]) -> Result<Val>;
type Combine = fn(&Val, &Val) -> Result<Val>;

struct Kernel {
    name: &'static str,
    reduce: Reduce,
    combine: Combine,
    /// What leaves any value as it is.
    identity: fn(DType) -> Scalar,
    /// Whether the reduction of nothing is the identity.
    has_identity: bool,
    /// Whether half precision computes in single precision, and small integers widen.
    widens: bool,
}

fn widened(dtype: DType) -> DType {
    match dtype.kind() {
        Kind::Bool => default_int(),
        Kind::Signed if dtype.bits() < default_int().bits() => default_int(),
        Kind::Unsigned if dtype.bits() < default_uint().bits() => default_uint(),
        Kind::Signed | Kind::Unsigned | Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => dtype,
    }
}

fn computation_dtype(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

fn keep_axes(x: &Val, axes: &[usize], keepdims: bool) -> Result<Val> {
    if keepdims { lax::expand_axes(x, axes) } else { Ok(x.clone()) }
}

fn apply(kernel: &Kernel, x: &Val, options: &Reduction) -> Result<Val> {
    let aval = x.aval();
    let (names, axes) = options.axis.split_names();
    let axes = axes.resolve(aval.rank())?;
    check_nonempty(kernel, x, &axes, options)?;
    let widens = kernel.widens && (options.promote_integers || aval.dtype == DType::Bool);
    let result = options.dtype.unwrap_or(if widens { widened(aval.dtype) } else { aval.dtype });
    let computed = if kernel.widens && options.dtype.is_none() { computation_dtype(result) } else { result };
    let mut x = to_dtype(x, computed)?;
    if let Some(mask) = &options.where_ {
        x = where_(mask, &x, &Val::Literal((kernel.identity)(computed)))?;
    }
    let mut out = if names.is_empty() { (kernel.reduce)(&x, &axes)? } else { over_names(kernel, &x, names, &axes)? };
    if let Some(initial) = &options.initial {
        out = (kernel.combine)(&to_dtype(initial, computed)?, &out)?;
    }
    to_dtype(&keep_axes(&out, &axes, options.keepdims)?, result)
}

/// Over named axes too: the collective that does both.
fn over_names(kernel: &Kernel, x: &Val, names: &[AxisName], axes: &[usize]) -> Result<Val> {
    let positions = axes.iter().copied().map(Axis::Positional);
    let all: Vec<Axis> = names.iter().cloned().map(Axis::Named).chain(positions).collect();
    match kernel.name {
        "sum" => lax::psum(x, &all, &None),
        "max" => lax::pmax(x, &all, &None),
        "min" => lax::pmin(x, &all, &None),
        other => bail!(NotImplemented, "jnp.{other} over the named axes {names:?}"),
    }
}

fn check_nonempty(kernel: &Kernel, x: &Val, axes: &[usize], options: &Reduction) -> Result<()> {
    if kernel.has_identity || options.initial.is_some() {
        return Ok(());
    }
    if options.where_.is_some() {
        bail!(
            Value,
            "reduction operation {} does not have an identity, so to use a where mask one has to specify 'initial'",
            kernel.name
        );
    }
    if axes.iter().any(|&axis| x.aval().shape[axis] == 0) {
        bail!(Value, "zero-size array to reduction operation {} which has no identity", kernel.name);
    }
    Ok(())
}

/// The sum of the elements over axes; 0 where there are none.
/// Integers narrower than the default integer and booleans widen to it; sums of float16 and bfloat16 are
/// accumulated in float32.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to add, and that of the result; by default that of `a`, widened.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the sum starts from; 0 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   promote_integers: whether narrow integers and booleans widen; if false, they do not.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.sum(jnp.array([[1, 2], [3, 4]]), axis=0))
///   [4 6]
#[public(
    "numpy.sum(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, initial=None, where=None, promote_integers=True)"
)]
pub fn sum(a: &Val, options: &Reduction) -> Result<Val> {
    const SUM: Kernel = Kernel {
        name: "sum",
        reduce: lax::reduce_sum,
        combine: lax::add,
        identity: Scalar::zero,
        has_identity: true,
        widens: true,
    };
    apply(if options.dtype == Some(DType::Bool) { &ANY } else { &SUM }, a, options)
}

/// Sums of booleans: whether any holds.
const ANY: Kernel = Kernel {
    name: "sum",
    reduce: lax::reduce_or,
    combine: lax::bitwise_or,
    identity: Scalar::zero,
    has_identity: true,
    widens: false,
};

/// Products of booleans: whether all hold.
const ALL: Kernel = Kernel {
    name: "prod",
    reduce: lax::reduce_and,
    combine: lax::bitwise_and,
    identity: Scalar::one,
    has_identity: true,
    widens: false,
};

/// The product of the elements over axes; 1 where there are none.
/// Integers narrower than the default integer and booleans widen to it.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `a`, widened.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the product starts from; 1 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   promote_integers: whether narrow integers and booleans widen; if false, they do not.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, where elements are 0 too.
/// Example:
///   >>> print(jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=1))
///   [ 2 12]
#[public(
    "numpy.prod(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, initial=None, where=None, promote_integers=True)"
)]
pub fn prod(a: &Val, options: &Reduction) -> Result<Val> {
    const PROD: Kernel = Kernel {
        name: "prod",
        reduce: lax::reduce_prod,
        combine: lax::mul,
        identity: Scalar::one,
        has_identity: true,
        widens: true,
    };
    apply(if options.dtype == Some(DType::Bool) { &ALL } else { &PROD }, a, options)
}

/// The greatest element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a lower bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.max(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [5 7]
///   >>> print(jax.grad(jnp.max)(jnp.array([1.0, 3.0, 3.0])))
///   [0.  0.5 0.5]
#[public("numpy.max(a, axis=None, out: NoOut=None, keepdims=False, initial=None, where=None)", "numpy.amax")]
pub fn max(a: &Val, options: &Reduction) -> Result<Val> {
    const MAX: Kernel = Kernel {
        name: "max",
        reduce: lax::reduce_max,
        combine: lax::max,
        identity: Scalar::least,
        has_identity: false,
        widens: false,
    };
    warn_of_nothing("max", a, options)?;
    apply(&MAX, a, options)
}

/// The least element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: an upper bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.min(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [1 2]
///   >>> print(jax.grad(jnp.min)(jnp.array([1.0, 3.0, 1.0])))
///   [0.5 0.  0.5]
#[public("numpy.min(a, axis=None, out: NoOut=None, keepdims=False, initial=None, where=None)", "numpy.amin")]
pub fn min(a: &Val, options: &Reduction) -> Result<Val> {
    const MIN: Kernel = Kernel {
        name: "min",
        reduce: lax::reduce_min,
        combine: lax::min,
        identity: Scalar::greatest,
        has_identity: false,
        widens: false,
    };
    warn_of_nothing("min", a, options)?;
    apply(&MIN, a, options)
}

fn truth(x: &Val, options: &Reduction, reduce: Reduce, identity: bool) -> Result<Val> {
    let axes = options.axis.resolve(x.aval().rank())?;
    let mut x = lax::to_bool(x)?;
    if let Some(mask) = &options.where_ {
        x = where_(mask, &x, &Val::Literal(Scalar::bool(identity)))?;
    }
    keep_axes(&reduce(&x, &axes)?, &axes, options.keepdims)
}

/// Whether any element over axes differs from 0; false where there are none. NaN differs from 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: booleans of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.any(jnp.array([[0, 2], [0, 0]]), axis=1))
///   [ True False]
#[public("numpy.any(a, axis=None, out: NoOut=None, keepdims=False, *, where=None)")]
pub fn any(a: &Val, options: &Reduction) -> Result<Val> {
    truth(a, options, lax::reduce_or, false)
}

/// Whether all elements over axes differ from 0; true where there are none. NaN differs from 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: booleans of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.all(jnp.array([[1, 2], [0, 3]]), axis=1))
///   [ True False]
#[public("numpy.all(a, axis=None, out: NoOut=None, keepdims=False, *, where=None)")]
pub fn all(a: &Val, options: &Reduction) -> Result<Val> {
    truth(a, options, lax::reduce_and, true)
}

/// Number of elements that take part, in `dtype`.
fn count(x: &Val, options: &Reduction, dtype: DType) -> Result<Val> {
    let (names, axes) = options.axis.split_names();
    let axes = axes.resolve(x.aval().rank())?;
    let Some(mask) = &options.where_ else {
        let size: usize = pullback_base::extent(axes.iter().map(|&axis| &x.aval().data().shape[axis]))
            .saturating_mul(lax::axes_size(names)?);
        return Ok(crate::convert::literal(dtype, size as f64));
    };
    let mask = to_dtype(&broadcast_to(mask, &x.aval().shape)?, default_int())?;
    let counted = lax::reduce_sum(&to_dtype(&mask, dtype)?, &axes)?;
    let over: Vec<Axis> = names.iter().cloned().map(Axis::Named).collect();
    let counted = if over.is_empty() { counted } else { lax::psum(&counted, &over, &None)? };
    keep_axes(&counted, &axes, options.keepdims)
}

/// The mean of the elements over axes; NaN where there are none.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating or complex dtype of `a`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.mean(jnp.array([[1, 2], [3, 6]]), axis=1))
///   [1.5 4.5]
#[public("numpy.mean(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, *, where=None)")]
pub fn mean(a: &Val, options: &Reduction) -> Result<Val> {
    warn_of_nothing("mean", a, options)?;
    mean_of(a, options)
}

/// As [`mean`], where somebody else warns of nothing.
fn mean_of(a: &Val, options: &Reduction) -> Result<Val> {
    let result = options.dtype.unwrap_or_else(|| inexact(a.aval().dtype));
    let computed = if options.dtype.is_none() { computation_dtype(result) } else { result };
    check_counted(a, &options.axis)?;
    let n = count(a, options, computed)?;
    let total = sum(a, &Reduction { dtype: Some(computed), ..options.clone() })?;
    to_dtype(&lax::div(&total, &n)?, result)
}

/// Axes whose elements are counted are looked up in the shape, so that bad ones are an `Index` error.
fn check_counted(x: &Val, axis: &Axes) -> Result<()> {
    let rank = x.aval().rank() as i64;
    let given: &[i64] = match axis {
        Axes::All => &[],
        Axes::One(axis) => std::slice::from_ref(axis),
        Axes::Many(axes) | Axes::Named(_, axes) => axes,
    };
    match given.iter().find(|axis| !(-rank..rank).contains(axis)) {
        None => Ok(()),
        Some(axis) => bail!(Index, "axis {axis} is out of bounds for array of dimension {rank}"),
    }
}

/// The weighted mean over an axis, and optionally the sum of weights.
///
/// # Errors
/// A `Value` or `Type` error when the shape of the weights does not fit.
pub fn weighted_mean(x: &Val, axis: &Axes, weights: Option<&Val>, keepdims: bool) -> Result<(Val, Val)> {
    let options = Reduction::over(axis.clone(), keepdims);
    let Some(weights) = weights else {
        let mean = mean(x, &options)?;
        let n = count(x, &options, mean.aval().dtype)?;
        let n = broadcast_to(&n, &mean.aval().shape)?;
        return Ok((mean, n));
    };
    let ins = crate::promotion::promote_inexact(&[x.clone(), weights.clone()])?;
    let (x, mut weights) = (&ins[0], ins[1].clone());
    if weights.aval().shape != x.aval().shape {
        weights = weights_along(x, &weights, axis)?;
    }
    let total = sum(&weights, &options)?;
    let weighted = sum(&lax::mul(x, &weights)?, &options)?;
    Ok((lax::div(&weighted, &total)?, total))
}

/// Weights with an axis for each of the given ones, in their order, repeated along the others.
fn weights_along(x: &Val, weights: &Val, axis: &Axes) -> Result<Val> {
    let axes = match axis {
        Axes::One(axis) => vec![*axis],
        Axes::Many(axes) => axes.clone(),
        Axes::All | Axes::Named(..) => bail!(Value, "Axis must be specified when shapes of a and weights differ."),
    };
    let axes = crate::axes::canonical_axes(&axes, x.aval().rank())?;
    let sizes: Vec<usize> = axes.iter().map(|&axis| x.aval().shape[axis]).collect();
    if weights.aval().shape[..] != sizes[..] {
        bail!(Value, "Shape of weights must be consistent with shape of a along specified axis.");
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&at| axes[at]);
    let sorted: Vec<usize> = order.iter().map(|&at| axes[at]).collect();
    crate::broadcast::broadcast_in_dim(&lax::transpose(weights, &order)?, &x.aval().shape, &sorted)
}

fn position(name: &str, x: &Val, axis: Option<i64>, keepdims: bool, is_max: bool) -> Result<Val> {
    let aval = x.aval();
    let (flat, at) = match axis {
        None => (lax::reshape(x, &[aval.size()], None)?, 0),
        Some(axis) => (x.clone(), canonical_axis(axis, aval.rank())?),
    };
    if flat.aval().shape[at] == 0 {
        bail!(Value, "attempt to get {name} of an empty sequence");
    }
    let found = if is_max { lax::argmax } else { lax::argmin }(&flat, at, default_int())?;
    match (keepdims, axis) {
        (false, _) => Ok(found),
        (true, Some(_)) => lax::expand_axes(&found, &[at]),
        (true, None) => lax::expand_axes(&found, &(0..aval.rank()).collect::<Vec<_>>()),
    }
}

/// The position of the first greatest element; the first NaN counts as greatest.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argmax(jnp.array([[1, 5, 5], [7, 2, 0]]), axis=1))
///   [1 0]
#[public("numpy.argmax(a, axis=None, out: NoOut=None, keepdims=None)")]
pub fn argmax(a: &Val, axis: Option<i64>, keepdims: bool) -> Result<Val> {
    check_counted(a, &axis.map_or(Axes::All, Axes::One))?;
    position("argmax", a, axis, keepdims, true)
}

/// The position of the first least element; the first NaN counts as least.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argmin(jnp.array([[1, 5, 1], [7, 2, 0]]), axis=1))
///   [0 2]
#[public("numpy.argmin(a, axis=None, out: NoOut=None, keepdims=None)")]
pub fn argmin(a: &Val, axis: Option<i64>, keepdims: bool) -> Result<Val> {
    check_counted(a, &axis.map_or(Axes::All, Axes::One))?;
    position("argmin", a, axis, keepdims, false)
}

pub(super) fn axes_statics(axis: &Axes, keepdims: bool) -> Vec<i64> {
    std::iter::once(i64::from(keepdims)).chain(axis.statics()).collect()
}

pub(super) fn dtype_static(dtype: Option<DType>) -> i64 {
    dtype.map_or(-1, |dtype| dtype as i64)
}

/// The mean of the squared distances `|a - mean(a)|²` over axes; NaN where there are no elements.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum is divided by `n - ddof` for `n` elements; 0 by default; NaN where that is not positive.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
///   correction: another name of `ddof`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: both `ddof` and `correction` are given; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.var(jnp.array([[1.0, 3.0], [2.0, 6.0]]), axis=1))
///   [1. 4.]
///   >>> print(jnp.var(jnp.array([1.0, 3.0]), ddof=1))
///   2.0
#[public(
    "numpy.var(a, axis=None, dtype=None, out: NoOut=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None)"
)]
pub fn var(a: &Val, options: &Reduction, ddof: f64, mean: Option<&Val>, correction: Option<f64>) -> Result<Val> {
    let ddof = freedom(ddof, correction)?;
    warn_of_nothing("var", a, options)?;
    spread("_var", a, options, ddof, mean, var_of)
}

/// The standard deviation over axes: the square root of `var`.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements; 0 by default; NaN where that is not
///     positive.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
///   correction: another name of `ddof`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: both `ddof` and `correction` are given; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaN where all elements are equal.
/// Example:
///   >>> print(jnp.std(jnp.array([[1.0, 3.0], [2.0, 8.0]]), axis=1))
///   [1. 3.]
#[public(
    "numpy.std(a, axis=None, dtype=None, out: NoOut=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None)"
)]
pub fn std(a: &Val, options: &Reduction, ddof: f64, mean: Option<&Val>, correction: Option<f64>) -> Result<Val> {
    let ddof = freedom(ddof, correction)?;
    if let Some(dtype) = options.dtype.filter(|dtype| !dtype.is_inexact()) {
        bail!(Value, "dtype argument to jnp.std must be inexact; got {dtype}");
    }
    warn_of_nothing("std", a, options)?;
    spread("_std", a, options, ddof, mean, |a, options, ddof, mean| {
        let inner = Reduction { dtype: options.dtype.map(inexact), ..options.clone() };
        lax::sqrt(&spread_with("_var", a, &inner, ddof, mean, var_of)?)
    })
}

/// What is taken off the number of elements: `ddof`, or `correction` in its place.
fn freedom(ddof: f64, correction: Option<f64>) -> Result<f64> {
    match correction {
        None => Ok(ddof),
        Some(_) if ddof != 0.0 => bail!(Value, "ddof and correction can't be provided simultaneously."),
        Some(correction) => Ok(correction),
    }
}

type Spread = fn(&Val, &Reduction, &Val, Option<&Val>) -> Result<Val>;

fn spread(
    name: &'static str,
    x: &Val,
    options: &Reduction,
    ddof: f64,
    mean: Option<&Val>,
    body: Spread,
) -> Result<Val> {
    check_counted(x, &options.axis)?;
    let is_whole = ddof.fract() == 0.0;
    let ddof = if is_whole { crate::convert::weak_int(ddof as i64) } else { crate::convert::weak_float(ddof) };
    spread_with(name, x, options, &ddof, mean, body)
}

fn spread_with(
    name: &'static str,
    x: &Val,
    options: &Reduction,
    ddof: &Val,
    mean: Option<&Val>,
    body: Spread,
) -> Result<Val> {
    let mut statics = axes_statics(&options.axis, options.keepdims);
    statics.extend([dtype_static(options.dtype), options.where_.is_some().into(), mean.is_some().into()]);
    let args: Vec<Val> = [Some(x), Some(ddof), options.where_.as_ref(), mean].into_iter().flatten().cloned().collect();
    named_jit_one(name, &statics, &args, |args| {
        let mut rest = args[2..].iter();
        let mask = options.where_.as_ref().and_then(|_| rest.next().cloned());
        body(&args[0], &Reduction { where_: mask, ..options.clone() }, &args[1], rest.next())
    })
}

fn var_of(x: &Val, options: &Reduction, ddof: &Val, mean_given: Option<&Val>) -> Result<Val> {
    if options.dtype == Some(DType::Bool) {
        bail!(Type, "div does not accept dtype bool at position 0.");
    }
    let result = options.dtype.map_or_else(|| inexact(x.aval().dtype).real(), inexact);
    let computed = computation_dtype(inexact(x.aval().dtype));
    if computed.is_complex() && options.dtype.is_some_and(|dtype| !dtype.is_complex()) {
        bail!(
            Value,
            "jax.numpy.var does not yet support real dtype parameters when computing the variance of an array of complex \
             values: got dtype {result}. Leave it out, or take jnp.var(x.real) + jnp.var(x.imag)"
        );
    }
    let x = to_dtype(x, computed)?;
    let centre = match mean_given {
        Some(mean) => to_dtype(mean, computed)?,
        None => mean_of(&x, &Reduction { dtype: Some(computed), keepdims: true, ..options.clone() })?,
    };
    let centered = super::subtract(&x, &centre)?;
    let squares = if computed.is_complex() {
        lax::real(&lax::mul(&centered, &lax::conj(&centered)?)?)?
    } else {
        lax::square(&centered)?
    };
    let real = computed.real();
    let n = count(&squares, options, real)?;
    let freedom = lax::sub(&n, &to_dtype(ddof, real)?)?;
    let total = sum(&squares, &Reduction { dtype: Some(real), ..options.clone() })?;
    let value = super::true_divide(&total, &freedom)?;
    let is_defined = lax::gt(&freedom, &number(&freedom, 0.0))?;
    to_dtype(&where_(&is_defined, &value, &crate::convert::weak_float(f64::NAN))?, result)
}

/// The greatest element less the least one over axes ("peak to peak"); NaN if one is among them.
///
/// Args:
///   a: an array or number of any dtype but boolean.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: there are no elements; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.ptp(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [4 5]
#[public("numpy.ptp(a, axis=None, out: NoOut=None, keepdims=False)")]
pub fn ptp(a: &Val, options: &Reduction) -> Result<Val> {
    let statics = axes_statics(&options.axis, options.keepdims);
    named_jit_one("_ptp", &statics, std::slice::from_ref(a), |args| {
        lax::sub(&max(&args[0], options)?, &min(&args[0], options)?)
    })
}

/// How many elements over axes differ from 0; NaN does.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: integers of the default dtype, of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.count_nonzero(jnp.array([[0, 5], [7, 2]]), axis=1))
///   [1 2]
#[public("numpy.count_nonzero(a, axis=None, keepdims=False)")]
pub fn count_nonzero(a: &Val, axis: &Axes, keepdims: bool) -> Result<Val> {
    named_jit_one("count_nonzero", &axes_statics(axis, keepdims), std::slice::from_ref(a), |args| {
        let options = Reduction { dtype: Some(default_int()), ..Reduction::over(axis.clone(), keepdims) };
        sum(&lax::nonzero_mask(&args[0])?, &options)
    })
}

/// `x` kept between bounds, either of which may be absent.
///
/// # Errors
/// What the primitives raise.
pub fn clip(x: &Val, low: Option<&Val>, high: Option<&Val>) -> Result<Val> {
    let statics = [low.is_some().into(), high.is_some().into()];
    let args: Vec<Val> = std::iter::once(x).chain(low).chain(high).cloned().collect();
    named_jit_one("clip", &statics, &args, |args| {
        let mut bounds = args[1..].iter();
        let mut x = args[0].clone();
        if x.aval().dtype.is_complex() || args[1..].iter().any(|bound| bound.aval().dtype.is_complex()) {
            bail!(
                Value,
                "Clip received a complex value either through the input or the min/max keywords. Complex values have no ordering and cannot be clipped."
            );
        }
        if statics[0] == 1 {
            x = maximum(bounds.next().expect("counted"), &x)?;
        }
        if statics[1] == 1 {
            x = minimum(bounds.next().expect("counted"), &x)?;
        }
        Ok(x)
    })
}

/// The dtype of a mean of values of `dtype`.
pub fn mean_dtype(dtype: DType) -> DType {
    if dtype.is_inexact() { dtype } else { default_float() }
}

/// The weighted mean over axes: `sum(a * weights) / sum(weights)`; NaN or an infinity where the weights sum to 0.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   weights: an array of the shape of `a`, or of the sizes of `axis`; equal weights by default.
///   returned: whether to give the sums of the weights too.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: an array of the shape of `a` without the reduced axes, or the pair of it and the sums of weights, of
///   the same shape.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `weights` of another shape, or without `axis` of another shape than `a`; an axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to `a` and `weights`.
/// Example:
///   >>> print(jnp.average(jnp.array([1.0, 2.0, 6.0]), weights=jnp.array([1, 1, 2])))
///   3.75
#[public("numpy.average(a, axis=None, weights=None, returned=False, keepdims=False)")]
pub fn average(a: &Val, axis: Axes, weights: Option<&Val>, returned: bool, keepdims: bool) -> Result<OneOrTuple> {
    let (mean, total) = weighted_mean(a, &axis, weights, keepdims)?;
    Ok(if returned { OneOrTuple::Tuple(vec![mean, total]) } else { OneOrTuple::One(mean) })
}

/// Each element kept between two bounds: `minimum(maximum(arr, min), max)`, so that `max` wins where the bounds
/// cross.
///
/// Args:
///   arr: a real array or number.
///   min: the lower bound: an array or number that broadcasts with `arr`; None for none.
///   max: the upper bound: likewise.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   ValueError: an argument is complex, or `arr` is missing.
/// Differentiable: yes, in both modes: 1 inside, 0 outside, half at a bound.
/// Example:
///   >>> print(jnp.clip(jnp.arange(5), 1, 3))
///   [1 1 2 3 3]
#[public("numpy.clip(arr=None, /, min=None, max=None)")]
pub fn clip_given(arr: Option<&Val>, min: Option<&Val>, max: Option<&Val>) -> Result<Val> {
    match arr {
        Some(x) => clip(x, min, max),
        None => bail!(Value, "No input was provided to the clip function."),
    }
}
