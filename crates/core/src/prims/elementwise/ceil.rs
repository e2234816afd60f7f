//! The least integer not below each element.
//!
//! ceil : x[...] -> x[...]        x floating
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Ceil;

impl UnaryOp for Ceil {
    const NAME: &'static str = "ceil";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.ceil");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Ceil, x)
    }
}
