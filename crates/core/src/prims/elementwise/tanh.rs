//! Hyperbolic tangent of each element.
//!
//! tanh : x[...] -> x[...]        x floating or complex
//! d tanh(x) = (1 - tanh(x)^2) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Tanh;

impl UnaryOp for Tanh {
    const NAME: &'static str = "tanh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.tanh");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * y.one_minus_square());
    const DOMAIN: (f64, f64) = (-4.0, 4.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Tanh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.tanh()))
    }
}
