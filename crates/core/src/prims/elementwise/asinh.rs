//! The number with the given hyperbolic sine.
//!
//! asinh : x[...] -> x[...]        x floating or complex
//! d asinh(x) = dx / sqrt(x^2 + 1)

use super::*;
use pullback_loops::Unary as Op;

pub(super) struct Asinh;

impl UnaryOp for Asinh {
    const NAME: &'static str = "asinh";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("chlo.asinh");
    const RULE: UnaryRule = UnaryRule::Tangent(asinh_tangent);
    const DOMAIN: (f64, f64) = (-4.0, 4.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        loops.unary(Op::Asinh, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| z.asinh()))
    }
}

/// The square in `1/sqrt(x^2 + 1)` would overflow for great x, so x is scaled down first; the scale is constant.
fn asinh_tangent<'e>(x: &V<'e>, _y: &V<'e>, x_dot: &V<'e>) -> V<'e> {
    if x.aval().dtype != DType::F32 && x.aval().dtype != DType::F64 {
        return x_dot * (x.square() + 1.0).rsqrt();
    }
    // The least power of two whose square is not lost beside one, and its inverse.
    let (low, high) = if x.aval().dtype == DType::F32 { (-62, 66) } else { (-510, 514) };
    let size = x.number(1.0).clamp(&(x.abs() * 2f64.powi(low)), &x.number(2f64.powi(high)));
    let scale = size.stop_gradient().integer_pow(-1);
    let norm = ((x * &scale).square() + scale.square()).rsqrt();
    x_dot * (&scale * norm)
}
