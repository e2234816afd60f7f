//! Hyperbolic sine of each element.
//!
//! sinh : x[...] -> x[...]        x floating or complex
//! d sinh(x) = cosh(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Sinh;

impl UnaryOp for Sinh {
    const NAME: &'static str = "sinh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.sinh");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.cosh());
    const DOMAIN: (f64, f64) = (-4.0, 4.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Sinh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.sinh()))
    }
}
