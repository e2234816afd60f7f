//! One over the square root of each element.
//!
//! rsqrt : x[...] -> x[...]        x floating or complex
//! d rsqrt(x) = -0.5 y / x dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Rsqrt;

impl UnaryOp for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.rsqrt");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, y, x_dot| x_dot * (-0.5 * (y / x)));
    const DOMAIN: (f64, f64) = (0.1, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Rsqrt, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.rsqrt()))
    }
}
