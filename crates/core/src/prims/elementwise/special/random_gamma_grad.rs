//! How a sample of the gamma distribution moves with its shape, at a fixed value of the distribution function.
//!
//! random_gamma_grad : a[...] x[...] -> x[...]        floating, of one dtype; a > 0, x >= 0
//! `-igamma_grad_a(a, x) / (x^(a-1) e^-x / Γ(a))` (implicit differentiation; Figurnov, Mohamed and Mnih, 2018), without
//! the quotient of small numbers.

use super::incomplete_gamma::Point;
use super::*;

pub(super) struct RandomGammaGrad;

impl BinaryOp for RandomGammaGrad {
    const NAME: &'static str = "random_gamma_grad";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Missing("the second derivative of a sample is not written");
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, a: ValueId, x: ValueId) -> ValueId {
        in_double2(loops, a, x, |a, x| Point::new(a, x).sample_slope())
    }
}
