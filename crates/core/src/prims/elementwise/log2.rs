//! The logarithm to base 2 of each element.
//!
//! log2 : x[...] -> x[...]        x floating or complex
//! d log2(x) = dx / (x log(2))

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Log2;

impl UnaryOp for Log2 {
    const NAME: &'static str = "log2";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot / (x * x.number(2.0).log()));
    const DOMAIN: (f64, f64) = (0.1, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Log2, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.log().scaled(std::f64::consts::LOG2_E)))
    }
}
