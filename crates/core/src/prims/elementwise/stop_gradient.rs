//! The same elements, constant to derivatives.
//!
//! stop_gradient : x[...] -> x[...]
//! No derivative.

use super::*;

pub(super) struct StopGradient;

impl UnaryOp for StopGradient {
    const NAME: &'static str = "stop_gradient";
    const ACCEPTS: DTypes = DTypes::ALL;
    const HLO: Hlo<()> = Hlo::Rule(|(), _, ins, _| Ok(ins.into()));
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(_loops: &mut Builder, x: ValueId) -> ValueId {
        x
    }

    fn complex(_loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(Elem::Two(re, im))
    }
}
