//! The natural logarithm of one more than each element, exact near zero.
//!
//! log1p : x[...] -> x[...]        x floating or complex
//! d log1p(x) = dx / (x + 1)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Log1p;

impl UnaryOp for Log1p {
    const NAME: &'static str = "log1p";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.log_plus_one");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot / (x + 1.0));
    const DOMAIN: (f64, f64) = (-0.9, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Log1p, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.log1p()))
    }
}
