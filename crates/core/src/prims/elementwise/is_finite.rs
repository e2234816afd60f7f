//! Whether each element is neither infinite nor NaN.
//!
//! is_finite : x[...] -> bool[...]        x floating
//! No derivative.

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct IsFinite;

impl UnaryOp for IsFinite {
    const NAME: &'static str = "is_finite";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.is_finite");
    const RULE: UnaryRule = UnaryRule::Zero;
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn result(_dtype: DType) -> DType {
        DType::Bool
    }

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::IsFinite, x)
    }
}
