//! Least and greatest elements together, covariances and correlations.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{column, joined, row, slice_at};
use super::{Reduction, max, min};
use crate::axes::Axes;
use crate::broadcast::broadcast_to;
use crate::convert::weak_int;
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::lax;
use crate::promotion::promote_inexact;

/// What a minimum and a maximum start from: one number for both, or a pair.
#[derive(Clone, Debug)]
pub struct Bounds(pub Val, pub Val);

impl Argument for Bounds {
    const TYPE: Type = Type { python: "ArrayLike | tuple[ArrayLike, ArrayLike]", rust: "(&Array, &Array)" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Bounds> {
        let one = args.array(at);
        let pair = match one {
            Ok(both) => [both.clone(), both],
            Err(error) => args.arrays(at).ok().and_then(|pair| <[Val; 2]>::try_from(pair).ok()).ok_or(error)?,
        };
        for bound in &pair {
            if bound.aval().rank() > 0 {
                let shape = pullback_base::aval::tuple_text(&bound.aval().shape);
                bail!(Value, "initial value must be a scalar. Got array of shape {shape}");
            }
        }
        let [low, high] = pair;
        Ok(Bounds(low, high))
    }
    fn absent(default: Constant) -> Bounds {
        Bounds(Val::absent(default), Val::absent(default))
    }
}

/// The least and the greatest element over axes; NaN if one is among them.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: an upper bound of the minimum and a lower bound of the maximum: one number for both, or a pair.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: the pair of minimum and maximum, of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> least, greatest = jnp.minmax(jnp.array([[3, 1], [2, 8]]), axis=1)
///   >>> print(least, greatest)
///   [1 2] [3 8]
#[public("numpy.minmax(a, axis=None, out: NoOut=None, keepdims=False, initial=None, where: Mask=None)")]
pub fn minmax(
    a: &Val,
    axis: &Axes,
    keepdims: bool,
    initial: Option<Bounds>,
    where_: Option<Val>,
) -> Result<(Val, Val)> {
    let (low, high) = initial.map_or((None, None), |Bounds(low, high)| (Some(low), Some(high)));
    let from = |initial: Option<Val>| {
        let where_ = where_.clone();
        Reduction { initial, where_, ..Reduction::over(axis.clone(), keepdims) }
    };
    Ok((min(a, &from(low))?, max(a, &from(high))?))
}

/// Refuses a dtype in which there are no fractions.
fn check_inexact(function: &str, dtype: Option<DType>) -> Result<()> {
    match dtype.filter(|dtype| !dtype.is_inexact()) {
        Some(dtype) => bail!(Value, "{function}: dtype must be a subclass of float or complex; got dtype={dtype}"),
        None => Ok(()),
    }
}

/// The estimated covariances of variables: means of `(x - mean(x)) conj(y - mean(y))` over observations.
///
/// Args:
///   m: observations of shape `[variables, n]`, or `[n]` of one variable; integers become floating.
///   y: more variables, likewise.
///   rowvar: whether variables are rows; otherwise they are columns.
///   bias: whether to divide by the number of observations, instead of one less.
///   ddof: what is taken off the number of observations, in place of `bias`: an integer.
///   fweights: how often each observation counts: integers `[n]`.
///   aweights: the importance of each observation: numbers `[n]`.
///   dtype: the dtype of the computation and the result.
/// Returns: the matrix of covariances `[variables, variables]`, or the variance of one variable, without axes.
/// Raises:
///   TypeError: `fweights` that are no integers, or observations that are no array.
///   ValueError: observations of more than two axes, or `ddof` that is no integer.
///   RuntimeError: weights of several axes or another length.
/// Differentiable: yes, in both modes, with respect to `m`, `y` and `aweights`.
/// Example:
///   >>> print(jnp.cov(jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])))
///   [[1. 2.]
///    [2. 4.]]
#[public("numpy.cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None)")]
#[allow(clippy::too_many_arguments)]
pub fn cov(
    m: &Val,
    y: Option<&Val>,
    rowvar: bool,
    bias: bool,
    ddof: Option<f64>,
    fweights: Option<&Val>,
    aweights: Option<&Val>,
    dtype: Option<DType>,
) -> Result<Val> {
    check_inexact("cov", dtype)?;
    let rows = observations(m, y, rowvar, dtype)?;
    if ddof.is_some_and(|ddof| ddof.fract() != 0.0) {
        bail!(Value, "ddof must be integer");
    }
    let Some(rows) = rows else {
        return lax::full(&[0, 0], &crate::convert::literal(cov_dtype(m, y, dtype)?, 0.0));
    };
    let weights = cov_weights(&rows, fweights, aweights)?;
    let ddof = ddof.map_or(i64::from(!bias), |ddof| ddof as i64);
    let (mean, total) = super::weighted_mean(&rows, &Axes::One(1), weights.as_ref(), false)?;
    let total = slice_at(&total, 0, 0)?;
    let n = rows.aval().shape[1] as i64;
    let freedom = match (&weights, aweights) {
        // Of no observations nothing is known.
        (None, _) => weak_int(if n == 0 { 0 } else { n - ddof }),
        (Some(_), _) if ddof == 0 => total,
        (Some(_), None) => super::subtract(&total, &weak_int(ddof))?,
        (Some(weights), Some(aweights)) => {
            let squares = super::sum(&super::multiply(weights, aweights)?, &Reduction::default())?;
            let lost = super::true_divide(&super::multiply(&weak_int(ddof), &squares)?, &total)?;
            super::subtract(&total, &lost)?
        }
    };
    let rows = super::subtract(&rows, &column(&mean)?)?;
    let turned = super::transpose(&rows, None)?;
    let scaled = match &weights {
        None => turned,
        Some(weights) => {
            let weights = broadcast_to(&column(weights)?, &turned.aval().shape)?;
            lax::mul(&turned, &super::astype(&weights, rows.aval().dtype)?)?
        }
    };
    let products = super::dot(&rows, &super::conjugate(&scaled)?, None)?;
    super::squeeze(&super::true_divide(&products, &freedom)?, &Axes::All)
}

fn cov_dtype(m: &Val, y: Option<&Val>, dtype: Option<DType>) -> Result<DType> {
    let given: Vec<Val> = [Some(m), y].into_iter().flatten().cloned().collect();
    Ok(dtype.unwrap_or(promote_inexact(&given)?[0].aval().dtype))
}

/// All variables as rows; none where there are no variables.
fn observations(m: &Val, y: Option<&Val>, rowvar: bool, dtype: Option<DType>) -> Result<Option<Val>> {
    let given: Vec<Val> = [Some(m), y].into_iter().flatten().cloned().collect();
    let mut given = promote_inexact(&given)?;
    if given.get(1).is_some_and(|y| y.aval().rank() > 2) {
        bail!(Value, "y has more than 2 dimensions");
    }
    if given[0].aval().rank() > 2 {
        bail!(Value, "m has more than 2 dimensions");
    }
    if let Some(dtype) = dtype {
        given = given.iter().map(|x| super::astype(x, dtype)).collect::<Result<_>>()?;
    }
    let first = super::atleast(&given[0], 2)?;
    let first = if !rowvar && given[0].aval().rank() != 1 { super::transpose(&first, None)? } else { first };
    if first.aval().shape[0] == 0 {
        return Ok(None);
    }
    let Some(y) = given.get(1) else { return Ok(Some(first)) };
    let more = super::atleast(y, 2)?;
    let more = if !rowvar && more.aval().shape[0] != 1 { super::transpose(&more, None)? } else { more };
    joined(&[first, more], 0).map(Some)
}

fn cov_weights(rows: &Val, fweights: Option<&Val>, aweights: Option<&Val>) -> Result<Option<Val>> {
    let mut weights = None;
    if let Some(fweights) = fweights {
        check_weights("fweights", fweights, rows)?;
        if !fweights.aval().dtype.is_integer() {
            bail!(Type, "fweights must be integer.");
        }
        weights = Some(super::absolute(fweights)?);
    }
    if let Some(aweights) = aweights {
        let given = promote_inexact(std::slice::from_ref(aweights))?.swap_remove(0);
        check_weights("aweights", &given, rows)?;
        let given = super::absolute(&given)?;
        weights = Some(match weights {
            None => given,
            Some(weights) => super::multiply(&weights, &given)?,
        });
    }
    Ok(weights)
}

fn check_weights(name: &str, weights: &Val, rows: &Val) -> Result<()> {
    if weights.aval().rank() > 1 {
        bail!(Runtime, "cannot handle multidimensional {name}");
    }
    if weights.aval().shape.first() != Some(&rows.aval().shape[1]) {
        bail!(Runtime, "incompatible numbers of samples and {name}");
    }
    Ok(())
}

/// The correlation coefficients of variables: covariances divided by both deviations, clipped to [-1, 1].
///
/// Args:
///   x: observations of shape `[variables, n]`, or `[n]` of one variable; integers become floating.
///   y: more variables, likewise.
///   rowvar: whether variables are rows; otherwise they are columns.
///   dtype: the dtype of the computation and the result.
/// Returns: the matrix of correlations `[variables, variables]`, or 1 for one variable, without axes; NaN for
///   constant variables.
/// Raises:
///   TypeError: observations that are no array.
///   ValueError: observations of more than two axes.
/// Differentiable: yes, in both modes, where no variable is constant.
/// Example:
///   >>> print(jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])).shape)
///   (2, 2)
#[public("numpy.corrcoef(x, y=None, rowvar=True, dtype=None)")]
pub fn corrcoef(x: &Val, y: Option<&Val>, rowvar: bool, dtype: Option<DType>) -> Result<Val> {
    check_inexact("corrcoef", dtype)?;
    let c = cov(x, y, rowvar, false, None, None, None, dtype)?;
    if c.aval().rank() == 0 {
        return super::true_divide(&c, &c);
    }
    let is_complex = c.aval().dtype.is_complex();
    let variances = super::diag(&c, 0)?;
    let deviation = super::sqrt(&if is_complex { super::real(&variances)? } else { variances })?;
    let c = super::true_divide(&super::true_divide(&c, &column(&deviation)?)?, &row(&deviation)?)?;
    let clipped = |x: &Val| super::clip(x, Some(&weak_int(-1)), Some(&weak_int(1)));
    if is_complex {
        return lax::complex(&clipped(&super::real(&c)?)?, &clipped(&super::imag(&c)?)?);
    }
    clipped(&c)
}
