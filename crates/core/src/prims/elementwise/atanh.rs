//! The number with the given hyperbolic tangent.
//!
//! atanh : x[...] -> x[...]        x floating or complex
//! d atanh(x) = dx / (1 - x^2)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Atanh;

impl UnaryOp for Atanh {
    const NAME: &'static str = "atanh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.atanh");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot / x.one_minus_square());
    const DOMAIN: (f64, f64) = (-0.9, 0.9);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Atanh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.atanh()))
    }
}
