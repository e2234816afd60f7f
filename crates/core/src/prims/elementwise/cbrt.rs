//! The real cube root of each element.
//!
//! cbrt : x[...] -> x[...]        x floating
//! d cbrt(x) = y^-2 / 3 dx

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Cbrt;

impl UnaryOp for Cbrt {
    const NAME: &'static str = "cbrt";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.cbrt");
    const RULE: UnaryRule = UnaryRule::Tangent(|_x, y, x_dot| x_dot * ((1.0 / 3.0) * y.integer_pow(-2)));
    const DOMAIN: (f64, f64) = (0.2, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Cbrt, x)
    }
}
