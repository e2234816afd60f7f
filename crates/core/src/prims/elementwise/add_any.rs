//! The sum of two tangents or cotangents; `add` that derivative rules make, kept apart so that users can tell.
//!
//! add_any : x[...] y[...] -> [...]
//! Linear in both together.

use super::add::Add;
use super::*;

pub(super) struct AddAny;

impl BinaryOp for AddAny {
    const NAME: &'static str = "add_any";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.add");
    const RULE: BinaryRule = BinaryRule::Additive { negates_y: false };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        Add::real(loops, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Add::complex(loops, x, y)
    }
}
