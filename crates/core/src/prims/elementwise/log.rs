//! The natural logarithm of each element; the principal branch for complex x.
//!
//! log : x[...] -> x[...]        x floating or complex
//! d log(x) = dx / x

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Log;

impl UnaryOp for Log {
    const NAME: &'static str = "log";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.log");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot / x);
    const DOMAIN: (f64, f64) = (0.1, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Log, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.log()))
    }
}
