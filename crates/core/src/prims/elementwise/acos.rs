//! The angle in [0, pi] with the given cosine.
//!
//! acos : x[...] -> x[...]        x floating or complex
//! d acos(x) = -dx / sqrt(1 - x^2)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Acos;

impl UnaryOp for Acos {
    const NAME: &'static str = "acos";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.acos");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * -x.one_minus_square().rsqrt());
    const DOMAIN: (f64, f64) = (-0.9, 0.9);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Acos, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.acos()))
    }
}
