//! How many bits of each element above the highest one are zero.
//!
//! clz : x[...] -> x[...]        x an integer
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Clz;

impl UnaryOp for Clz {
    const NAME: &'static str = "clz";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.count_leading_zeros");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 50.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::LeadingZeros, x)
    }
}
