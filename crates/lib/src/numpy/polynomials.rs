//! Polynomials by their coefficients, the highest power first.

use pullback_base::array::check_room;
use pullback_base::aval::tuple_text;
use pullback_base::{Array, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{part, slice_at};
use crate::convert::{literal, number, weak_float, weak_int};
use crate::indexing::{Update, UpdateOptions, update};
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::{promote_dtypes, promote_inexact};

/// The value of a polynomial, by Horner's rule: `((p[0] x + p[1]) x + p[2]) ...`.
///
/// Args:
///   p: a vector of coefficients, the highest power first, or an array whose first axis they are.
///   x: where to evaluate: an array or number of any shape.
///   unroll: for compatibility; without influence.
/// Returns: an array of the shape of `x` (broadcast with the further axes of `p`) and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   IndexError: `p` has no axes.
/// Differentiable: yes, in both modes, with respect to `p` and `x`.
/// Example:
///   >>> print(jnp.polyval(jnp.array([1, 0, 2]), jnp.array([0, 3])))
///   [ 2 11]
#[public("numpy.polyval(p, x, *, unroll: Ignored=None)")]
pub fn polyval(p: &Val, x: &Val) -> Result<Val> {
    if p.aval().rank() == 0 {
        bail!(Index, "polyval: p must have at least one axis, that of the coefficients");
    }
    named_jit_one("polyval", &[], &[p.clone(), x.clone()], |args| {
        let ins = crate::promotion::promote_dtypes(args)?;
        let (p, x) = (&ins[0], &ins[1]);
        if x.aval().dtype == pullback_base::DType::Bool {
            bail!(Type, "polynomial does not accept dtype bool at position 0.");
        }
        let mut coefficients = if p.aval().shape[0] == 0 { vec![] } else { lax::unstack(p, 0)?.into_vec() };
        coefficients.reverse();
        // The highest coefficient stands alone: 0 times infinity would be no number.
        let mut value = match coefficients.pop() {
            Some(first) => {
                let shape = lax::broadcast_shapes(&[&x.aval().shape, &first.aval().shape])?;
                crate::broadcast::broadcast_to(&first, &shape)?
            }
            None => lax::full(&x.aval().shape, &number(x, 0.0))?,
        };
        while let Some(next) = coefficients.pop() {
            value = super::add(&super::multiply(&value, x)?, &next)?;
        }
        crate::convert::to_dtype(&value, x.aval().dtype)
    })
}

/// Two polynomials with as many coefficients, in their common dtype.
fn aligned(name: &str, args: &[Val]) -> Result<[Val; 2]> {
    let both = promote_dtypes(args)?;
    if both[0].aval().dtype == pullback_base::DType::Bool {
        bail!(Type, "jnp.{name} does not accept dtype bool");
    }
    let shapes: Vec<Vec<usize>> = both.iter().map(|x| x.aval().shape.to_vec()).collect();
    let length = |i: usize| match shapes[i].first() {
        Some(&length) => Ok(length),
        None => bail!(Index, "tuple index out of range"),
    };
    let size = length(0)?.max(length(1)?);
    let (longer, other) = if shapes[0][0] < size { (1, 0) } else { (0, 1) };
    if shapes[other].len() > shapes[longer].len() {
        bail!(
            Value,
            "jnp.{name}: coefficients of shape {} do not go into those of shape {}: they have more axes",
            tuple_text(&shapes[other]),
            tuple_text(&shapes[longer])
        );
    }
    let padded = |i: usize| {
        let missing = (size - shapes[i][0]) as i64;
        if missing == 0 {
            return Ok(both[i].clone());
        }
        super::pad(&both[i], &vec![(missing, 0); shapes[i].len()], super::PadMode::Constant, &weak_int(0))
    };
    Ok([padded(0)?, padded(1)?])
}

/// The sum of two polynomials.
///
/// Args:
///   a1, a2: vectors of coefficients, the highest power first.
/// Returns: the coefficients of the sum, as many as the longer has, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 5])))
///   [1 1 7]
#[public("numpy.polyadd(a1, a2)")]
pub fn polyadd(a1: &Val, a2: &Val) -> Result<Val> {
    named_jit_one("polyadd", &[], &[a1.clone(), a2.clone()], |args| {
        let [a1, a2] = aligned("polyadd", args)?;
        super::add(&a1, &a2)
    })
}

/// The difference of two polynomials.
///
/// Args:
///   a1, a2: vectors of coefficients, the highest power first.
/// Returns: the coefficients of the difference, as many as the longer has, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.polysub(jnp.array([1, 2]), jnp.array([1, 0, 5])))
///   [-1  1 -3]
#[public("numpy.polysub(a1, a2)")]
pub fn polysub(a1: &Val, a2: &Val) -> Result<Val> {
    named_jit_one("polysub", &[], &[a1.clone(), a2.clone()], |args| {
        let [a1, a2] = aligned("polysub", args)?;
        super::add(&a1, &super::negative(&a2)?)
    })
}

/// A vector of numbers of a dtype.
fn vector(values: &[f64], dtype: DType) -> Val {
    let numbers = values.iter().map(|&value| Scalar::float(dtype, value));
    Val::Array(Array::from_scalars(&[values.len()], dtype, numbers))
}

/// The `m`-th derivative of a polynomial.
///
/// Args:
///   p: a vector of coefficients, the highest power first; integers become floating.
///   m: how often to differentiate, a static integer; 1 by default.
/// Returns: `m` coefficients less, of a floating or complex dtype.
/// Raises:
///   TypeError: `p` is neither an array nor a number (lists are refused), or `m` is no integer.
///   ValueError: `m` is negative.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.polyder(jnp.array([1.0, 2.0, 3.0])))
///   [2. 2.]
#[public("numpy.polyder(p, m=1)")]
pub fn polyder(p: &Val, m: i64) -> Result<Val> {
    named_jit_one("polyder", &[m], std::slice::from_ref(p), |args| {
        let p = promote_inexact(args)?.swap_remove(0);
        if m < 0 {
            bail!(Value, "Order of derivative must be positive");
        }
        if m == 0 {
            return Ok(p);
        }
        let Some(&n) = p.aval().shape.first() else { bail!(Index, "tuple index out of range") };
        let n = n as i64;
        let factor = |power: i64| (0..m).map(|i| power - i).fold(1i64, i64::wrapping_mul) as f64;
        let factors: Vec<f64> = (m..n).rev().map(factor).collect();
        super::multiply(&part(&p, 0, None, (n - m).max(0))?, &vector(&factors, p.aval().dtype))
    })
}

/// The `m`-th antiderivative of a polynomial.
///
/// Args:
///   p: a vector of coefficients, the highest power first; integers become floating.
///   m: how often to integrate, a static integer; 1 by default.
///   k: the constants of integration, one or `m`, the first one for the first integration; 0 by default.
/// Returns: `m` coefficients more, of a floating or complex dtype.
/// Raises:
///   TypeError: `p` is neither an array nor a number (lists are refused), or `m` is no integer.
///   ValueError: `m` is negative, or `k` has another number of constants.
/// Differentiable: yes, in both modes, with respect to `p` and `k`; it is linear.
/// Example:
///   >>> print(jnp.polyint(jnp.array([2.0, 2.0]), k=7))
///   [1. 2. 7.]
#[public("numpy.polyint(p, m=1, k=None)")]
pub fn polyint(p: &Val, m: i64, k: Option<&Val>) -> Result<Val> {
    let args: Vec<Val> = [Some(p), k].into_iter().flatten().cloned().collect();
    named_jit_one("polyint", &[m, k.is_some().into()], &args, |args| {
        let both = [args[0].clone(), args.get(1).cloned().unwrap_or_else(|| weak_int(0))];
        let both = promote_inexact(&both)?;
        if m < 0 {
            bail!(Value, "Order of integral must be positive (see polyder)");
        }
        let p = &both[0];
        let mut k = super::atleast(&both[1], 1)?;
        if k.aval().shape[..] == [1] {
            k = super::full(&[m], &slice_at(&k, 0, 0)?, None)?;
        }
        if k.aval().shape[..] != [m as usize] {
            bail!(Value, "k must be a scalar or a rank-1 array of length 1 or m.");
        }
        if m == 0 {
            return Ok(p.clone());
        }
        let Some(&n) = p.aval().shape.first() else { bail!(Index, "tuple index out of range") };
        let divisor = |power: i64| (0..m).map(|i| (power - i).max(1) as f64).product::<f64>();
        check_room(n.saturating_add(m as usize), size_of::<f64>())?;
        let divisors: Vec<f64> = (0..n as i64 + m).rev().map(divisor).collect();
        let all = super::concatenate(&[p.clone(), k], Some(0), None)?;
        super::true_divide(&all, &vector(&divisors, p.aval().dtype))
    })
}

fn trimmed(x: &Val) -> Result<Val> {
    super::trim_zeros(x, "f", None)
}

fn degree(x: &Val) -> Result<usize> {
    match x.aval().shape.first() {
        Some(&length) => Ok(length),
        None => bail!(Index, "tuple index out of range"),
    }
}

/// The product of two polynomials, by convolution of their coefficients.
///
/// Args:
///   a1, a2: vectors of coefficients, the highest power first; integers become floating.
///   trim_leading_zeros: whether to drop leading zeros of both first, which needs concrete arrays.
/// Returns: the coefficients `[n + m - 1]` of the product, of a floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays with `trim_leading_zeros`.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.polymul(jnp.array([1.0, 2.0]), jnp.array([1.0, 3.0])))
///   [1. 5. 6.]
#[public("numpy.polymul(a1, a2, *, trim_leading_zeros=False)")]
pub fn polymul(a1: &Val, a2: &Val, trim_leading_zeros: bool) -> Result<Val> {
    let mut both = promote_inexact(&[a1.clone(), a2.clone()])?;
    if trim_leading_zeros && (degree(&both[0])? > 1 || degree(&both[1])? > 1) {
        both = both.iter().map(trimmed).collect::<Result<_>>()?;
    }
    for x in &mut both {
        if degree(x)? == 0 {
            *x = lax::full(&[1], &literal(x.aval().dtype, 0.0))?;
        }
    }
    super::convolve(&both[0], &both[1], "full", None, None)
}

/// The quotient and the remainder of two polynomials: `u = quotient * v + remainder`.
///
/// Args:
///   u: the coefficients `[n]` of the dividend, the highest power first; integers become floating.
///   v: the coefficients `[m]` of the divisor, the first of which is not 0.
///   trim_leading_zeros: whether to drop leading zeros of the remainder, which needs concrete arrays.
/// Returns: the pair of the quotient `[max(n - m + 1, 1)]` and the remainder, `[n]` with leading zeros.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: traced arrays with `trim_leading_zeros`.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> quotient, rest = jnp.polydiv(jnp.array([1.0, -3.0, 2.0]), jnp.array([1.0, -1.0]))
///   >>> print(quotient, rest)
///   [ 1. -2.] [0. 0. 0.]
#[public("numpy.polydiv(u, v, *, trim_leading_zeros=False)")]
pub fn polydiv(u: &Val, v: &Val, trim_leading_zeros: bool) -> Result<(Val, Val)> {
    let both = promote_inexact(&[u.clone(), v.clone()])?;
    let (mut u, v) = (both[0].clone(), &both[1]);
    let (m, n) = (degree(&u)? as i64 - 1, degree(v)? as i64 - 1);
    let scale = super::true_divide(&weak_float(1.0), &slice_at(v, 0, 0)?)?;
    let mut q = lax::full(&[(m - n + 1).max(1) as usize], &literal(u.aval().dtype, 0.0))?;
    let options = UpdateOptions::default();
    for k in 0..=m - n {
        let d = super::multiply(&scale, &slice_at(&u, 0, k)?)?;
        q = update(&Update::Set, &q, &[crate::indexing::IndexItem::Int(k)], &d, &options)?;
        let step = super::multiply(&super::negative(&d)?, v)?;
        u = update(&Update::Add, &u, &[super::parts::range(k, k + n + 1)], &step, &options)?;
    }
    Ok((q, if trim_leading_zeros { trimmed(&u)? } else { u }))
}
