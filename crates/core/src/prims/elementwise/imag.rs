//! The imaginary part of each element.
//!
//! imag : x[...] -> [...]        x complex
//! Linear.

use super::*;

pub(super) struct Imag;

impl UnaryOp for Imag {
    const NAME: &'static str = "imag";
    const ACCEPTS: DTypes = DTypes::COMPLEX;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.imag");
    const RULE: UnaryRule = UnaryRule::Linear(|ct, _x| ct.strong_number(0.0).complex(&-ct));
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn result(dtype: DType) -> DType {
        dtype.real()
    }

    fn real(_loops: &mut Builder, x: ValueId) -> ValueId {
        x
    }

    fn complex(_loops: &mut Builder, _re: ValueId, im: ValueId) -> Option<Elem> {
        Some(Elem::One(im))
    }
}
