//! 1 / (1 + e^-x) of each element.
//!
//! logistic : x[...] -> x[...]        x floating or complex
//! d logistic(x) = y (1 - y) dx

use super::tanh::tanh;
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
        Some(complex_formula(loops, re, im, |z| {
            // 1 / (1 + e^-z) = (1 + tanh(z/2)) / 2
            let half = tanh(z.scaled(0.5));
            Complex::new(half.re * 0.5 + 0.5, half.im * 0.5)
        }))
    }
}
