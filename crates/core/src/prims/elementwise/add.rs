//! The sum of two arrays, element by element; integers wrap.
//!
//! add : x[...] y[...] -> [...]        numbers of one dtype
//! Linear in both together.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Add;

impl BinaryOp for Add {
    const NAME: &'static str = "add";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.add");
    const RULE: BinaryRule = BinaryRule::Additive { negates_y: false };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Add, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Some(Elem::Two(loops.binary(Op::Add, x[0], y[0]), loops.binary(Op::Add, x[1], y[1])))
    }
}
