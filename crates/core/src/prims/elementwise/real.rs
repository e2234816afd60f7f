//! The real part of each element.
//!
//! real : x[...] -> [...]        x complex
//! Linear.

use super::*;

pub(super) struct Real;

impl UnaryOp for Real {
    const NAME: &'static str = "real";
    const ACCEPTS: DTypes = DTypes::COMPLEX;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.real");
    const RULE: UnaryRule = UnaryRule::Linear(|ct, _x| ct.complex(&ct.strong_number(0.0)));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn result(dtype: DType) -> DType {
        dtype.real()
    }

    fn real(_loops: &mut Builder, x: ValueId) -> ValueId {
        x
    }

    fn complex(_loops: &mut Builder, re: ValueId, _im: ValueId) -> Option<Elem> {
        Some(Elem::One(re))
    }
}
