//! Tangent of each element, in radians.
//!
//! tan : x[...] -> x[...]        x floating or complex
//! d tan(x) = (1 + tan(x)^2) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Tan;

impl UnaryOp for Tan {
    const NAME: &'static str = "tan";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.tan");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * (1.0 + y.square()));
    const DOMAIN: (f64, f64) = (-1.4, 1.4);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Tan, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.tan()))
    }
}
