//! One less the square of each element, exact near one.
//!
//! one_minus_square : x[...] -> x[...]        x a number
//! d (1 - x^2) = -2 x dx

use super::*;
use pullback_base::Scalar;
use pullback_loops::Binary;

pub(super) struct OneMinusSquare;

impl UnaryOp for OneMinusSquare {
    const NAME: &'static str = "one_minus_square";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: UnaryRule = UnaryRule::Tangent(|x, _y, x_dot| x_dot * (-2.0 * x));
    const DOMAIN: (f64, f64) = (-2.0, 2.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        let one = Scalar::one(loops.dtype(x));
        let one = loops.constant(one);
        let (less, more) = (loops.binary(Binary::Sub, one, x), loops.binary(Binary::Add, one, x));
        loops.binary(Binary::Mul, less, more)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| Complex::new(1.0 - z.re, -z.im) * Complex::new(1.0 + z.re, z.im)))
    }
}
