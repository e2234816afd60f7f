//! Cosine of each element, in radians.
//!
//! cos : x[...] -> x[...]        x floating or complex
//! d cos(x) = -sin(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Cos;

impl UnaryOp for Cos {
    const NAME: &'static str = "cos";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.cosine");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| -(x_dot * x.sin()));
    const DOMAIN: (f64, f64) = (-20.0, 20.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Cos, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.cos()))
    }
}
