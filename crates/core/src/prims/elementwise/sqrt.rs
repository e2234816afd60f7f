//! The non-negative square root of each element; the principal one for complex x.
//!
//! sqrt : x[...] -> x[...]        x floating or complex
//! d sqrt(x) = 0.5 / sqrt(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Sqrt;

impl UnaryOp for Sqrt {
    const NAME: &'static str = "sqrt";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.sqrt");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * (0.5 / y));
    const DOMAIN: (f64, f64) = (0.1, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Sqrt, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.sqrt()))
    }
}
