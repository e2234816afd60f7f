//! The regularized upper incomplete gamma function, `1 - igamma`.
//!
//! igammac : a[...] x[...] -> x[...]        floating, of one dtype; a > 0, x >= 0
//! d igammac(a, x) = -igamma_grad_a(a, x) da - x^(a-1) e^-x / Γ(a) dx

use super::incomplete_gamma::Point;
use super::*;

pub(super) struct Igammac;

impl BinaryOp for Igammac {
    const NAME: &'static str = "igammac";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|t, a, x, _z| -(t * a.bind(IGAMMA_GRAD_A, &Params::NONE, &[x]))),
        y: Some(|t, a, x, _z| -(t * super::igamma::density(a, x))),
    };
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, a: ValueId, x: ValueId) -> ValueId {
        in_double2(loops, a, x, |a, x| Point::new(a, x).upper())
    }
}
