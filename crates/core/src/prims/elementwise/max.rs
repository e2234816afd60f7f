//! The greater of two elements; NaN if either is.
//!
//! max : x[...] y[...] -> [...]        of one dtype
//! Complex numbers are ordered by their real, then their imaginary parts.
//! The tangent follows the greater operand; equal ones share it.

use super::*;
use pullback_ir::lower::lexicographic;
use pullback_loops::Binary as Op;
use pullback_loops::Comparison;

pub(super) struct Max;

impl BinaryOp for Max {
    const NAME: &'static str = "max";
    const ACCEPTS: DTypes = DTypes::ANY;
    const HLO: Hlo<()> = Hlo::RealOp("stablehlo.maximum");
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|x_dot, x, y, z| x_dot * greater_share(x, y, z)),
        y: Some(|y_dot, x, y, z| y_dot * greater_share(y, x, z)),
    };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        if loops.dtype(x) == DType::Bool {
            return loops.binary(Op::Or, x, y);
        }
        loops.binary(Op::Max, x, y)
    }

    fn complex(loops: &mut Builder, x: [ValueId; 2], y: [ValueId; 2]) -> Option<Elem> {
        Some(lexicographic(loops, Comparison::Gt, x, y))
    }
}

/// Which part of the tangent goes to `own` when the greater is chosen.
fn greater_share<'e>(own: &V<'e>, other: &V<'e>, like: &V<'e>) -> V<'e> {
    if like.aval().dtype.is_complex() {
        return share_of_equal(own, other, like);
    }
    share_by(|| own.gt(other), || own.eq(other), like)
}

/// As [`share_by`], for numbers without an order: the operand that equals the result is chosen.
pub(super) fn share_of_equal<'e>(own: &V<'e>, other: &V<'e>, like: &V<'e>) -> V<'e> {
    let [one, zero, half] = [1.0, 0.0, 0.5].map(|part| like.strong_number(part).broadcast_to(&like.aval().shape));
    own.eq(like).select(&zero, &other.eq(like).select(&one, &half))
}

/// All of the tangent where the operand is chosen, half where both are equal, else none.
pub(super) fn share_by<'e>(is_chosen: impl Fn() -> V<'e>, is_equal: impl Fn() -> V<'e>, like: &V<'e>) -> V<'e> {
    let (is_chosen, is_equal) = (is_chosen(), is_equal());
    let share = |part| like.strong_number(part).broadcast_to(&like.aval().shape);
    let (one, zero, half) = (share(1.0), share(0.0), share(0.5));
    is_chosen.select(&is_equal.select(&zero, &half), &one)
}
