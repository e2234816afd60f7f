//! Polynomials from their zeros, and those that fit points.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::Order;
use crate::convert::{weak_float, weak_int};
use crate::declare::{Argument, Arguments, Constant, OneOrTuple, TupleOf, Type};
use crate::formula::{Formula, of, sqrt};
use crate::indexing::IndexItem;
use crate::jit::named_jit_one;
use crate::lax::linalg::{column, row};
use crate::promotion::{check_arguments, promote_inexact};

/// The value in a floating or complex dtype.
fn floating(name: &str, x: &Val) -> Result<Val> {
    check_arguments(name, std::slice::from_ref(x))?;
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

/// The polynomial with given zeros, or the characteristic polynomial of a square matrix.
///
/// Args:
///   seq_of_zeros: a vector of zeros, or a square matrix, whose eigenvalues they are.
/// Returns: the coefficients `[n + 1]`, the highest power first and its coefficient 1, of a floating or complex
///   dtype.
/// Raises:
///   TypeError: `seq_of_zeros` is neither an array nor a number (lists are refused).
///   ValueError: neither a vector nor a square matrix.
/// Differentiable: yes, in both modes; of a matrix where its eigenvalues are distinct.
/// Example:
///   >>> print(jnp.poly(jnp.array([1.0, 2.0])))
///   [ 1. -3.  2.]
#[public("numpy.poly(seq_of_zeros)")]
pub fn poly(seq_of_zeros: &Val) -> Result<Val> {
    let zeros = floating("poly", seq_of_zeros)?;
    named_jit_one("poly", &[], &[zeros], |args| {
        let mut zeros = super::atleast(&args[0], 1)?;
        if let &[rows, columns] = &zeros.aval().shape[..]
            && rows == columns
        {
            zeros = if rows == 0 { super::ravel(&zeros, Order::RowMajor)? } else { super::linalg::eigvals(&zeros)? };
        }
        let &[n] = &zeros.aval().shape[..] else {
            bail!(Value, "input must be 1d or non-empty square 2d array.");
        };
        let dtype = zeros.aval().dtype;
        if n == 0 {
            return super::ones(&[], Some(dtype));
        }
        let zero = super::zeros(&[1], Some(dtype))?;
        (0..n as i64).try_fold(super::ones(&[1], Some(dtype))?, |out, i| {
            let raised = of(&super::concatenate(&[out.clone(), zero.clone()], Some(0), None)?);
            let shifted = super::concatenate(&[zero.clone(), out], Some(0), None)?;
            (raised - of(&zeros).at(&[IndexItem::Int(i)]) * &shifted).done()
        })
    })
}

/// What covariance `polyfit` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// None.
    No,
    /// Scaled by the residuals.
    Scaled,
    /// As it comes from the weights.
    Unscaled,
}

impl Argument for Covariance {
    const TYPE: Type = Type { python: "bool | str", rust: "Covariance" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Covariance> {
        Ok(match args.shown(at)?.as_str() {
            "unscaled" => Covariance::Unscaled,
            "False" | "None" | "0" | "" => Covariance::No,
            _ => Covariance::Scaled,
        })
    }
    fn absent(_default: Constant) -> Covariance {
        Covariance::No
    }
}

/// Checks what a fit is given: points, values and a degree.
fn check_fit(x: &Val, y: &Val, deg: i64) -> Result<()> {
    let (of_x, of_y) = (x.aval().shape.clone(), y.aval().shape.clone());
    if deg < 0 {
        bail!(Value, "expected deg >= 0");
    }
    if of_x.len() != 1 {
        bail!(Type, "expected 1D vector for x");
    }
    if of_x[0] == 0 {
        bail!(Type, "expected non-empty vector for x");
    }
    if of_y.is_empty() || of_y.len() > 2 {
        bail!(Type, "expected 1D or 2D array for y");
    }
    if of_x[0] != of_y[0] {
        bail!(Type, "expected x and y to have same length");
    }
    Ok(())
}

/// The polynomial of a degree that fits points by least squares.
///
/// Args:
///   x: the abscissas `[n]`.
///   y: the ordinates `[n]` or `[n, k]`, one fit for each column.
///   deg: the degree, a static integer.
///   rcond: singular values below this part of the greatest count as zero; the dtype's precision times `n` by
///     default.
///   full: whether to give residuals, rank, singular values and `rcond` too.
///   w: weights of the points `[n]`; they multiply the residuals before these are squared.
///   cov: whether to give the covariance of the coefficients too; 'unscaled' for weights that are known deviations.
/// Returns: the coefficients `[deg + 1]` or `[deg + 1, k]`, the highest power first, or a tuple with what else was
///   asked for.
/// Raises:
///   TypeError: arrays of the wrong number of axes or length, or empty.
///   ValueError: the degree is negative, or too few points for `cov`.
/// Differentiable: yes, in both modes, with respect to `x`, `y` and `w`, where the rank is full.
/// Example:
///   >>> jnp.polyfit(jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0, 3.0, 5.0]), 1).round(3).tolist()
///   [2.0, 1.0]
#[public("numpy.polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False)")]
pub fn polyfit(
    x: &Val,
    y: &Val,
    deg: i64,
    rcond: Option<&Val>,
    full: bool,
    w: Option<&Val>,
    cov: Covariance,
) -> Result<OneOrTuple> {
    let given = [x.clone(), y.clone()];
    check_arguments("polyfit", &given)?;
    let both = promote_inexact(&given)?;
    let (x, y) = (&both[0], &both[1]);
    check_fit(x, y, deg)?;
    let (n, order, is_vector) = (x.aval().shape[0], deg + 1, y.aval().rank() == 1);
    let rcond = match rcond {
        Some(rcond) => rcond.clone(),
        // The reference asks the dtype of `x` as it is for its precision.
        None if !given[0].aval().dtype.is_inexact() => {
            bail!(Value, "data type dtype('{}') not compatible with finfo", given[0].aval().dtype)
        }
        None => weak_float(n as f64 * super::linalg::eps(x.aval().dtype)),
    };
    let (mut left, mut right) = (of(&super::vander(x, Some(order as usize), false)?), of(y));
    if let Some(w) = w {
        let w = floating("polyfit", w)?;
        if w.aval().rank() != 1 {
            bail!(Type, "expected a 1-d array for weights");
        }
        if w.aval().shape[0] != n {
            bail!(Type, "expected w and y to have the same length");
        }
        left = left * column(&w);
        right = right * if is_vector { Ok(w) } else { column(&w) };
    }
    let scale = sqrt((&left * &left).sum(0)).done()?;
    let left = (left / row(&scale)).done()?;
    let TupleOf(found) = super::linalg::lstsq(&left, &right.done()?, Some(&rcond), false)?;
    let turned = |x: &Val| super::transpose(x, None);
    let coefficients = turned(&(Formula::from(turned(&found[0])) / &scale).done()?)?;
    if full {
        let rest = found.into_iter().skip(1).chain([super::array(&rcond, None, true, 0)?]);
        return Ok(OneOrTuple::Tuple(std::iter::once(coefficients).chain(rest).collect()));
    }
    if cov == Covariance::No {
        return Ok(OneOrTuple::One(coefficients));
    }
    let base = super::linalg::inv(&super::dot(&turned(&left)?, &left, None)?)?;
    let base = of(&base) / super::outer(&scale, &scale);
    let mut factor = of(&weak_int(1));
    if cov == Covariance::Scaled {
        if n as i64 <= order {
            bail!(Value, "the number of data points must exceed order to scale the covariance matrix");
        }
        factor = of(&found[1]) / (n as i64 - order);
        factor = if is_vector { factor.at(&[IndexItem::Int(0)]) } else { factor };
    }
    let covariance = if is_vector { base * factor } else { base.then(column) * factor };
    Ok(OneOrTuple::Tuple(vec![coefficients, covariance.done()?]))
}
