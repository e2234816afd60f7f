//! e to the power of each element.
//!
//! exp : x[...] -> x[...]        x floating or complex
//! d exp(x) = exp(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Exp;

impl UnaryOp for Exp {
    const NAME: &'static str = "exp";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.exponential");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * y);
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Exp, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.exp()))
    }
}
