//! The Hurwitz zeta function.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::alike;
use crate::axes::Axes;
use crate::convert::weak_int;
use crate::custom::CustomJvp;
use crate::formula::{Formula, of};
use crate::lax;
use crate::lax::linalg::column;
use crate::numpy::{self, Reduction};

static ZETA: CustomJvp = CustomJvp::new("zeta", zeta_value, "jvp", zeta_tangent);

/// The Hurwitz zeta function: the sum of `(k + q)**-x` over `k` from 0; DLMF 25.11.
///
/// Args:
///   x: exponents greater than 1.
///   q: positive numbers; they broadcast with `x`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   NotImplementedError: without `q`: the Riemann zeta function; `q=1` gives it for `x` above 1.
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, with respect to both, in both modes: by `q` it is `-x zeta(x + 1, q)`, by `x` for positive `q` the
///   derivative of the Euler-Maclaurin formula.
/// Example:
///   >>> round(float(jax.scipy.special.zeta(2.0, 1.0)), 4)
///   1.6449
#[public("scipy.special.zeta(x, q=None)")]
pub fn zeta(x: &Val, q: Option<&Val>) -> Result<Val> {
    let Some(q) = q else {
        bail!(
            NotImplemented,
            "Riemann zeta function not implemented; pass q != None to compute the Hurwitz Zeta function."
        );
    };
    ZETA.call(&[x.clone(), q.clone()])
}

fn zeta_value(args: &[Val]) -> Result<Val> {
    let ins = alike(&[&args[0], &args[1]])?;
    lax::zeta(&ins[0], &ins[1])
}

fn zeta_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let (x, q) = (&args[0], &args[1]);
    let by_x = tangents[0].as_ref().map(|dot| derivative_by_x(x, q, dot));
    let by_q = tangents[1].as_ref().map(|dot| {
        let value = zeta(&(of(x) + 1).done()?, Some(q));
        (-of(x) * value * dot).done()
    });
    let dots: Vec<Val> = by_x.into_iter().chain(by_q).collect::<Result<_>>()?;
    dots.into_iter().map(Formula::from).reduce(|x, y| x + y).map(Formula::done).transpose()
}

fn derivative_by_x(x: &Val, q: &Val, dot: &Val) -> Result<Val> {
    let ins = alike(&[x, q, dot])?;
    let q = &ins[1];
    let mut by_terms = |args: &[Val]| Ok(vec![by_terms(&args[0], q)?]);
    let dots = pullback_trace::jvp(&mut by_terms, &ins[..1], &[Some(ins[2].clone())])?.1;
    match dots.into_iter().next().flatten() {
        Some(dot) => Ok(dot),
        None => numpy::zeros_like(&ins[0], None, None),
    }
}

/// Ten terms and the Euler-Maclaurin formula, DLMF 25.11.43: less exact than the primitive, but differentiable.
fn by_terms(x: &Val, q: &Val) -> Result<Val> {
    // B_2k / (2k)! for k from 1.
    const EULER_MACLAURIN: [f64; 10] = [
        0.08333333333333333,
        -0.001388888888888889,
        3.306878306878307e-05,
        -8.267195767195768e-07,
        2.08767569878681e-08,
        -5.284190138687493e-10,
        1.3382536530684679e-11,
        -3.3896802963225827e-13,
        8.586062056277845e-15,
        -2.174868698558062e-16,
    ];
    let places = (Formula::from(column(q)) + lax::iota(q.aval().dtype, 10)).then(numpy::log);
    let powers = (-Formula::from(column(x)) * places).then(numpy::exp);
    let total = powers.then(|powers| numpy::sum(powers, &Reduction::over(Axes::One(-1), false)));
    let a = of(q) + 10;
    // Of great powers nothing is left here but what overflows.
    let is_small = numpy::less(x, &weak_int(60))?;
    let x = of(&numpy::where_(&is_small, x, &weak_int(2))?);
    let log = a.then(numpy::log);
    let first = ((1 - &x) * &log).then(numpy::exp) / (&x - 1);
    let mut tail = first + 0.5 * (-&x * &log).then(numpy::exp);
    let (mut rising, mut power) = (x.clone(), (-(&x + 1) * &log).then(numpy::exp));
    for (k, &factor) in (1i64..).zip(&EULER_MACLAURIN) {
        tail = tail + factor * &rising * &power;
        rising = rising * (&x + (2 * k - 1)) * (&x + 2 * k);
        power = power / (&a * &a);
    }
    let tail = numpy::where_(&is_small, &tail.done()?, &weak_int(0))?;
    (total + tail).done()
}
