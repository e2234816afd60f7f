//! The number with the given error function.
//!
//! erf_inv : x[...] -> x[...]        x floating
//! d erf_inv(x) = sqrt(pi)/2 e^y^2 dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct ErfInv;

impl UnaryOp for ErfInv {
    const NAME: &'static str = "erf_inv";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.erf_inv");
    const RULE: UnaryRule =
        UnaryRule::Tangent(|_x, y, x_dot| (1.0 / std::f64::consts::FRAC_2_SQRT_PI) * (x_dot * y.square().exp()));
    const DOMAIN: (f64, f64) = (-0.9, 0.9);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::ErfInv, x)
    }
}
