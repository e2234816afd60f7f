//! 1 / (1 + e^-x) of each element.
//!
//! logistic : x[...] -> x[...]        x floating or complex
//! d logistic(x) = y (1 - y) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Logistic;

impl UnaryOp for Logistic {
    const NAME: &'static str = "logistic";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.logistic");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * (y * (1.0 - y)));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Logistic, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.logistic()))
    }
}
