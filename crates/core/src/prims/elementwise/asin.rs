//! The angle in [-pi/2, pi/2] with the given sine.
//!
//! asin : x[...] -> x[...]        x floating or complex
//! d asin(x) = dx / sqrt(1 - x^2)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Asin;

impl UnaryOp for Asin {
    const NAME: &'static str = "asin";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.asin");
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * x.one_minus_square().rsqrt());
    const DOMAIN: (f64, f64) = (-0.9, 0.9);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Asin, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.asin()))
    }
}
