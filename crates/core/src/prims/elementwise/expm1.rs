//! e to the power of each element, less one, exact near zero.
//!
//! expm1 : x[...] -> x[...]        x floating or complex
//! d expm1(x) = exp(x) dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Expm1;

impl UnaryOp for Expm1 {
    const NAME: &'static str = "expm1";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.exponential_minus_one");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.exp());
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Expm1, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.expm1()))
    }
}
