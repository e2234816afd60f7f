//! The difference of two arrays, element by element; integers wrap.
//!
//! sub : x[...] y[...] -> [...]        numbers of one dtype
//! Linear in both together.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Sub;

impl BinaryOp for Sub {
    const NAME: &'static str = "sub";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.subtract");
    const RULE: BinaryRule = BinaryRule::Additive { negates_y: true };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Sub, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Some(Elem::Two(loops.binary(Op::Sub, x[0], y[0]), loops.binary(Op::Sub, x[1], y[1])))
    }
}
