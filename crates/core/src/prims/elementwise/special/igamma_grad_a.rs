//! The derivative of the regularized lower incomplete gamma function in its first argument.
//!
//! igamma_grad_a : a[...] x[...] -> x[...]        floating, of one dtype; a > 0, x >= 0

use super::incomplete_gamma::Point;
use super::*;

pub(super) struct IgammaGradA;

impl BinaryOp for IgammaGradA {
    const NAME: &'static str = "igamma_grad_a";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Missing("it has none in the reference either");
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, a: ValueId, x: ValueId) -> ValueId {
        in_double2(loops, a, x, |a, x| Point::new(a, x).slope())
    }
}
