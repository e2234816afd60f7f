//! -1, 0 or 1 by the sign of each element, zeros keeping theirs; x/|x| for complex x.
//!
//! sign : x[...] -> x[...]        x a number
//! d sign(x) = 0 for real x

use super::*;
use pullback_base::Scalar;
use pullback_base::dtype::Kind;
use pullback_loops::Comparison;
use pullback_loops::Unary as Op;

pub(super) struct Sign;

impl UnaryOp for Sign {
    const NAME: &'static str = "sign";
    const ACCEPTS: DTypes = DTypes::NUMBER;
    const HLO: Hlo<()> = Hlo::Rule(|(), cx, ins, outs| {
        let x = ins[0];
        if x.aval.dtype.kind() != Kind::Unsigned {
            return Ok(cx.op("stablehlo.sign", "", ins, outs));
        }
        let [zero, one] = [0, 1].map(|n| cx.full(Scalar::int(x.aval.dtype, n), &x.aval.shape));
        let is_zero = cx.compare("EQ", x, zero);
        Ok(smallvec![cx.select(is_zero, zero, one)])
    });
    const RULE: UnaryRule = UnaryRule::OnlyComplex(|x, y, x_dot| {
        // The part of the tangent across x turns the sign; that along x does nothing.
        let across = (y.conj() * x_dot).imag();
        let size = x.abs();
        let size = size.eq(&size.number(0.0)).select(&size, &size.full(1.0));
        let turn = across / size;
        y * turn.full(0.0).complex(&turn)
    });
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        if matches!(loops.dtype(x).kind(), Kind::Unsigned) {
            let (zero, one) = (Scalar::zero(loops.dtype(x)), Scalar::one(loops.dtype(x)));
            let (zero, one) = (loops.constant(zero), loops.constant(one));
            let is_zero = loops.compare(Comparison::Eq, x, zero);
            return loops.select(is_zero, zero, one);
        }
        loops.unary(Op::Sign, x)
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        Some(complex_formula(loops, re, im, |z| {
            let size = z.abs();
            let zero = size.number(0.0);
            let size = size.eq(zero).choose(size.number(1.0), size);
            Complex::new(z.re / size, z.im / size)
        }))
    }
}
