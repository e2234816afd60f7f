//! The angle in [-pi/2, pi/2] with the given tangent.
//!
//! atan : x[...] -> x[...]        x floating or complex
//! d atan(x) = dx / (1 + x^2)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Atan;

impl UnaryOp for Atan {
    const NAME: &'static str = "atan";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.atan");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot / (1.0 + x.square()));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Atan, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.atan()))
    }
}
