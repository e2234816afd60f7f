//! Sine of each element, in radians.
//!
//! sin : x[...] -> x[...]        x floating or complex
//! d sin(x) = cos(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Sin;

impl UnaryOp for Sin {
    const NAME: &'static str = "sin";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.sine");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.cos());
    const DOMAIN: (f64, f64) = (-20.0, 20.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Sin, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.sin()))
    }
}
