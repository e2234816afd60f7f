//! The product of two arrays, element by element; integers wrap.
//!
//! mul : x[...] y[...] -> [...]        numbers of one dtype
//! d(x y) = dx y + x dy; linear in each operand.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Mul;

impl BinaryOp for Mul {
    const NAME: &'static str = "mul";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.multiply");
    const RULE: BinaryRule = BinaryRule::Bilinear {
        x: |x_dot, _x, y, _z| x_dot * y,
        y: |y_dot, x, _y, _z| x * y_dot,
        x_ct: |ct, y| ct * y,
        y_ct: Some(|ct, x| x * ct),
    };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Mul, x, y)
    }

    fn complex(loops: &mut Builder, [a, b]: [ValueId; 2], [c, d]: [ValueId; 2]) -> Option<Elem> {
        let (ac, bd) = (loops.binary(Op::Mul, a, c), loops.binary(Op::Mul, b, d));
        let (ad, bc) = (loops.binary(Op::Mul, a, d), loops.binary(Op::Mul, b, c));
        Some(Elem::Two(loops.binary(Op::Sub, ac, bd), loops.binary(Op::Add, ad, bc)))
    }
}
