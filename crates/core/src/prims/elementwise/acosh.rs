//! The non-negative number with the given hyperbolic cosine.
//!
//! acosh : x[...] -> x[...]        x floating or complex
//! d acosh(x) = dx / sqrt((x - 1)(x + 1))

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Acosh;

impl UnaryOp for Acosh {
    const NAME: &'static str = "acosh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.acosh");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * ((x - 1.0).rsqrt() * (x + 1.0).rsqrt()));
    const DOMAIN: (f64, f64) = (1.1, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Acosh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.acosh()))
    }
}
