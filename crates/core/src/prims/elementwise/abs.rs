//! The distance of each element from zero; the least integer stays itself.
//!
//! abs : x[...] -> [...]        x a signed number; real for complex x
//! d abs(x) = dx where x >= 0, else -dx

use super::*;
use pullback_base::dtype::Kind;
use pullback_loops::Unary as Op;

pub(super) struct Abs;

impl UnaryOp for Abs {
    const NAME: &'static str = "abs";
    const ACCEPTS: DTypes = DTypes::SIGNED;
    const HLO: Hlo<()> = Hlo::Rule(|(), cx, ins, outs| match ins[0].aval.dtype.kind() {
        Kind::Unsigned => Ok(ins.into()),
        _ => Ok(cx.op("stablehlo.abs", "", ins, outs)),
    });
    const RULE: UnaryRule = UnaryRule::Tangent(|x, y, x_dot| {
        if x.aval().dtype.is_complex() {
            // d|x| = Re(conj(x)/|x| dx), and zero at zero.
            let y = y.convert(x.aval().dtype);
            let y = y.eq(&y.number(0.0)).select(&y, &y.full(1.0));
            return (x_dot * (x.conj() / y)).real();
        }
        x.ge(&x.number(0.0)).select(&-x_dot, x_dot)
    });
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn result(dtype: DType) -> DType {
        dtype.real()
    }

    fn real(loops: &mut Builder, x: ValueId) -> ValueId {
        if matches!(loops.dtype(x).kind(), Kind::Unsigned) { x } else { loops.unary(Op::Abs, x) }
    }

    fn complex(loops: &mut Builder, re: ValueId, im: ValueId) -> Option<Elem> {
        let formula = Formula::new(loops);
        let size = Complex::new(formula.term(re), formula.term(im)).abs();
        Some(Elem::One(size.id()))
    }
}
