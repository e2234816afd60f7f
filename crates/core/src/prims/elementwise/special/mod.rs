//! Special functions of mathematical physics and statistics: their formulas, and the primitives of each.
//!
//! Formulas run in `float64` and round once at the end, so `float32` and narrower types have nearly all digits right.
//! Those that iterate do so element by element until the last term no longer counts.

mod bessel;
mod incomplete_beta;
mod incomplete_gamma;
mod regularized_incomplete_beta;

use std::marker::PhantomData;

use super::formula::{Formula, Term, real_formula, real_formula2};
use super::*;

pub use regularized_incomplete_beta::REGULARIZED_INCOMPLETE_BETA;

members! {
    Unary BESSEL_I0E bessel_i0e::BesselI0e;
    Unary BESSEL_I1E bessel_i1e::BesselI1e;
    Binary IGAMMA igamma::Igamma;
    Binary IGAMMA_GRAD_A igamma_grad_a::IgammaGradA;
    Binary IGAMMAC igammac::Igammac;
    Binary POLYGAMMA polygamma::Polygamma;
    Binary RANDOM_GAMMA_GRAD random_gamma_grad::RandomGammaGrad;
    Binary ZETA zeta::Zeta;
}

/// Iterations after which a formula gives up.
const LIMIT: f64 = 10_000.0;
/// What no longer counts in a sum of `float64`.
const EPSILON: f64 = f64::EPSILON / 2.0;

/// One value, computed in `float64`.
fn in_double(loops: &mut Builder, x: ValueId, formula: impl for<'f> FnOnce(Term<'f>) -> Term<'f>) -> ValueId {
    let dtype = loops.dtype(x);
    real_formula(loops, x, |x| formula(x.to(DType::F64)).to(dtype))
}

/// One value of two, computed in `float64`.
fn in_double2(
    loops: &mut Builder,
    x: ValueId,
    y: ValueId,
    formula: impl for<'f> FnOnce(Term<'f>, Term<'f>) -> Term<'f>,
) -> ValueId {
    let dtype = loops.dtype(x);
    real_formula2(loops, x, y, |x, y| formula(x.to(DType::F64), y.to(DType::F64)).to(dtype))
}
