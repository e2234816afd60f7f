//! How many bits of each element are one.
//!
//! population_count : x[...] -> x[...]        x an integer
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct PopulationCount;

impl UnaryOp for PopulationCount {
    const NAME: &'static str = "population_count";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.popcnt");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 50.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::PopCount, x)
    }
}
