//! The quotient of two arrays, element by element; that of integers is truncated.
//!
//! div : x[...] y[...] -> [...]        numbers of one dtype
//! d(x/y) = dx/y - x dy / y^2; linear in x.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Div;

impl BinaryOp for Div {
    const NAME: &'static str = "div";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.divide");
    const RULE: BinaryRule = BinaryRule::Bilinear {
        x: |x_dot, _x, y, _z| x_dot / y,
        y: |y_dot, x, y, _z| (-y_dot * x) * y.integer_pow(-2),
        x_ct: |ct, y| ct / y,
        y_ct: None,
    };
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Div, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Some(complex_formula2(loops, x, y, |x, y| x / y))
    }
}
