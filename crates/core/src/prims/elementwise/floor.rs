//! The greatest integer not above each element.
//!
//! floor : x[...] -> x[...]        x floating
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Floor;

impl UnaryOp for Floor {
    const NAME: &'static str = "floor";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.floor");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Floor, x)
    }
}
