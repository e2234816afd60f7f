//! The regularized lower incomplete gamma function.
//!
//! igamma : a[...] x[...] -> x[...]        floating, of one dtype; a > 0, x >= 0
//! d igamma(a, x) = igamma_grad_a(a, x) da + x^(a-1) e^-x / Γ(a) dx

use super::incomplete_gamma::Point;
use super::*;

pub(super) struct Igamma;

impl BinaryOp for Igamma {
    const NAME: &'static str = "igamma";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|t, a, x, _z| t * a.bind(IGAMMA_GRAD_A, &Params::NONE, &[x])),
        y: Some(|t, a, x, _z| t * density(a, x)),
    };
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, a: ValueId, x: ValueId) -> ValueId {
        in_double2(loops, a, x, |a, x| Point::new(a, x).lower())
    }
}

/// `x^(a-1) e^-x / Γ(a)`.
pub(super) fn density<'e>(a: &V<'e>, x: &V<'e>) -> V<'e> {
    (-x + (a - a.number(1.0)) * x.log() - a.lgamma()).exp()
}
