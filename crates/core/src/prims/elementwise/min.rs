//! The smaller of two elements; NaN if either is.
//!
//! min : x[...] y[...] -> [...]        of one dtype
//! Complex numbers are ordered by their real, then their imaginary parts.
//! The tangent follows the smaller operand; equal ones share it.

use super::max::{share_by, share_of_equal};
use super::*;
use pullback_ir::lower::lexicographic;
use pullback_loops::Binary as Op;
use pullback_loops::Comparison;

pub(super) struct Min;

impl BinaryOp for Min {
    const NAME: &'static str = "min";
    const ACCEPTS: DTypes = DTypes::ANY;
    const HLO: Hlo<()> = Hlo::RealOp("stablehlo.minimum");
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|x_dot, x, y, z| x_dot * lesser_share(x, y, z)),
        y: Some(|y_dot, x, y, z| y_dot * lesser_share(y, x, z)),
    };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        if loops.dtype(x) == DType::Bool {
            return loops.binary(Op::And, x, y);
        }
        loops.binary(Op::Min, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Some(lexicographic(loops, Comparison::Lt, x, y))
    }
}

/// Which part of the tangent goes to `own` when the smaller is chosen.
fn lesser_share<'e>(own: &V<'e>, other: &V<'e>, like: &V<'e>) -> V<'e> {
    if like.aval().dtype.is_complex() {
        return share_of_equal(own, other, like);
    }
    share_by(|| other.gt(own), || other.eq(own), like)
}
