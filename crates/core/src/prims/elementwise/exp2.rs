//! 2 to the power of each element.
//!
//! exp2 : x[...] -> x[...]        x floating or complex
//! d 2^x = log(2) 2^x dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Exp2;

impl UnaryOp for Exp2 {
    const NAME: &'static str = "exp2";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: UnaryRule = UnaryRule::Tangent(|x, y, x_dot| x.number(2.0).log() * (x_dot * y));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Exp2, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.exp2()))
    }
}
