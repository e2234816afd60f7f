//! The negative of each element; integers wrap.
//!
//! neg : x[...] -> x[...]        x a number
//! Linear; its own transpose.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Neg;

impl UnaryOp for Neg {
    const NAME: &'static str = "neg";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.negate");
    const RULE: UnaryRule = UnaryRule::Linear(|ct, _x| -ct);
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Neg, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(Elem::Two(loops.unary(Op::Neg, re), loops.unary(Op::Neg, im)))
    }
}
