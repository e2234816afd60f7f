//! Reductions over axes of the elements that are not NaN.

use pullback_base::{DType, Result, Scalar};
use pullback_derive::public;
use pullback_ir::Val;

use super::reductions::{axes_statics, dtype_static};
use super::{Reduction, all, isnan, max, mean, min, prod, sum, var, where_};
use crate::convert::{convert, default_int, number, to_dtype};
use crate::jit::named_jit_one;
use crate::lax;

fn ignoring_nan(
    name: &'static str,
    x: &Val,
    options: &Reduction,
    fill: fn(DType) -> Scalar,
    reduce: fn(&Val, &Reduction) -> Result<Val>,
    nan_if_all_nan: bool,
) -> Result<Val> {
    let mut statics = axes_statics(&options.axis, options.keepdims);
    let (initial, mask) = (options.initial.as_ref(), options.where_.as_ref());
    statics.extend([dtype_static(options.dtype), initial.is_some().into(), mask.is_some().into()]);
    let args: Vec<Val> = [Some(x), initial, mask].into_iter().flatten().cloned().collect();
    named_jit_one(name, &statics, &args, |args| {
        let mut rest = args[1..].iter();
        let initial = initial.and_then(|_| rest.next().cloned());
        let options = Reduction { initial, where_: rest.next().cloned(), ..options.clone() };
        let x = &args[0];
        if !x.aval().dtype.is_inexact() {
            return reduce(x, &options);
        }
        let filled = where_(&isnan(x)?, &Val::Literal(fill(x.aval().dtype)), x)?;
        let out = reduce(&filled, &options)?;
        if !nan_if_all_nan || options.initial.is_some() {
            return Ok(out);
        }
        let all_nan = all(&isnan(x)?, &Reduction { initial: None, ..options })?;
        where_(&all_nan, &number(&out, f64::NAN), &out)
    })
}

/// The sum over axes of the elements that are not NaN; 0 where there are none.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to add, and that of the result; by default as for `sum`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the sum starts from; 0 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nansum(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [1. 7.]
#[public("numpy.nansum(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, initial=None, where=None)")]
pub fn nansum(a: &Val, options: &Reduction) -> Result<Val> {
    ignoring_nan("nansum", a, options, Scalar::zero, sum, false)
}

/// The product over axes of the elements that are not NaN; 1 where there are none.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to multiply, and that of the result; by default as for `prod`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the product starts from; 1 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nanprod(jnp.array([[2.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [ 2. 12.]
#[public("numpy.nanprod(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, initial=None, where=None)")]
pub fn nanprod(a: &Val, options: &Reduction) -> Result<Val> {
    ignoring_nan("nanprod", a, options, Scalar::one, prod, false)
}

/// The greatest element over axes that is not NaN; NaN where all are.
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
///   >>> print(jnp.nanmax(jnp.array([[1.0, jnp.nan], [jnp.nan, jnp.nan]]), axis=1))
///   [ 1. nan]
#[public("numpy.nanmax(a, axis=None, out: NoOut=None, keepdims=False, initial=None, where=None)")]
pub fn nanmax(a: &Val, options: &Reduction) -> Result<Val> {
    ignoring_nan("nanmax", a, options, Scalar::least, max, true)
}

/// The least element over axes that is not NaN; NaN where all are.
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
///   >>> print(jnp.nanmin(jnp.array([[1.0, jnp.nan], [jnp.nan, jnp.nan]]), axis=1))
///   [ 1. nan]
#[public("numpy.nanmin(a, axis=None, out: NoOut=None, keepdims=False, initial=None, where=None)")]
pub fn nanmin(a: &Val, options: &Reduction) -> Result<Val> {
    ignoring_nan("nanmin", a, options, Scalar::greatest, min, true)
}

/// The mean over axes of the elements that are not NaN; NaN where there are none.
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
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nanmean(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [1.  3.5]
#[public("numpy.nanmean(a, axis=None, dtype=None, out: NoOut=None, keepdims=False, where=None)")]
pub fn nanmean(a: &Val, options: &Reduction) -> Result<Val> {
    let mut statics = axes_statics(&options.axis, options.keepdims);
    statics.extend([dtype_static(options.dtype), options.where_.is_some().into()]);
    let args: Vec<Val> = [Some(a), options.where_.as_ref()].into_iter().flatten().cloned().collect();
    named_jit_one("nanmean", &statics, &args, |args| {
        let options = Reduction { where_: args.get(1).cloned(), ..options.clone() };
        let a = &args[0];
        if !a.aval().dtype.is_inexact() {
            return mean(a, &options);
        }
        let counted = lax::bitwise_not(&isnan(a)?)?;
        let dtype = options.dtype.unwrap_or(a.aval().dtype);
        let counts = convert(&counted, default_int(), false)?;
        let n = sum(&counts, &Reduction { dtype: Some(dtype), ..options.clone() })?;
        lax::div(&nansum(a, &options)?, &n)
    })
}

/// The variance over axes of the elements that are not NaN; NaN where there are none.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements that are not NaN; 0 by default.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.nanvar(jnp.array([[1.0, jnp.nan, 3.0], [2.0, 2.0, 2.0]]), axis=1))
///   [1. 0.]
#[public("numpy.nanvar(a, axis=None, dtype=None, out: NoOut=None, ddof=0, keepdims=False, where=None, mean=None)")]
pub fn nanvar(a: &Val, options: &Reduction, ddof: f64, mean: Option<&Val>) -> Result<Val> {
    options.axis.split_names().1.resolve(a.aval().rank())?;
    let known = lax::bitwise_not(&isnan(a)?)?;
    let mask = match &options.where_ {
        Some(mask) => super::logical_and(mask, &known)?,
        None => known,
    };
    let filled = where_(&isnan(a)?, &number(a, 0.0), a)?;
    let found = var(&filled, &Reduction { where_: Some(mask), ..options.clone() }, ddof, mean, None)?;
    options.dtype.map_or(Ok(found.clone()), |dtype| to_dtype(&found, dtype))
}

/// The standard deviation over axes of the elements that are not NaN: the square root of `nanvar`.
///
/// Args:
///   a: an array or number; integers and booleans become floating.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype of the computation and the result; by default the floating dtype of `a`.
///   out: for compatibility; must be None.
///   ddof: the sum of squares is divided by `n - ddof` for `n` elements that are not NaN; 0 by default.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   mean: the mean, if it is known: an array that broadcasts to `a`.
/// Returns: a floating array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaN where all elements are equal.
/// Example:
///   >>> print(jnp.nanstd(jnp.array([[1.0, jnp.nan, 3.0], [2.0, 2.0, 8.0]]), axis=1)[0])
///   1.0
#[public("numpy.nanstd(a, axis=None, dtype=None, out: NoOut=None, ddof=0, keepdims=False, where=None, mean=None)")]
pub fn nanstd(a: &Val, options: &Reduction, ddof: f64, mean: Option<&Val>) -> Result<Val> {
    lax::sqrt(&nanvar(a, options, ddof, mean)?)
}
