//! Hyperbolic cosine of each element.
//!
//! cosh : x[...] -> x[...]        x floating or complex
//! d cosh(x) = sinh(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Cosh;

impl UnaryOp for Cosh {
    const NAME: &'static str = "cosh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.cosh");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.sinh());
    const DOMAIN: (f64, f64) = (-4.0, 4.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Cosh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.cosh()))
    }
}
