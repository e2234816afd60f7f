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
        Some(complex_formula(loops, re, im, |z| {
            // e^x cos y - 1 = expm1(x) cos y - 2 sin(y/2)^2, which does not cancel.
            let half = (z.im * 0.5).unary(Op::Sin);
            let re = z.re.unary(Op::Expm1) * z.im.unary(Op::Cos) - (half * half) * 2.0;
            Complex::new(re, z.exp().im)
        }))
    }
}
