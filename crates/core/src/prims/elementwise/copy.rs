//! The same elements in memory of their own.
//!
//! copy : x[...] -> x[...]
//! Linear.

use super::*;

pub(super) struct Copy;

impl UnaryOp for Copy {
    const NAME: &'static str = "copy";
    const ACCEPTS: DTypes = DTypes::ALL;
    const HLO: Hlo<()> = Hlo::Rule(|(), _, ins, _| Ok(ins.into()));
    const RULE: UnaryRule = UnaryRule::Linear(|ct, _x| ct.clone());
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(_loops: &mut Builder, x: ValueId) -> ValueId {
        x
    }

    fn complex(_loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(Elem::Two(re, im))
    }
}
