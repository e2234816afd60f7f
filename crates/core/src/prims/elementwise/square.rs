//! The square of each element; integers wrap.
//!
//! square : x[...] -> x[...]        x a number
//! d x^2 = 2 x dx

use super::*;

pub(super) struct Square;

impl UnaryOp for Square {
    const NAME: &'static str = "square";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Rule(|(), cx, ins, _| Ok(smallvec![cx.binary("stablehlo.multiply", ins[0], ins[0])]));
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * (2.0 * x));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.binary(pullback_loops::Binary::Mul, x, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.square()))
    }
}
