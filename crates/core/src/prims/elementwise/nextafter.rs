//! The next number of the type after x on the way to y.
//!
//! nextafter : x[...] y[...] -> [...]        floating, of one dtype
//! d nextafter(x, y) = dx

use super::*;
use pullback_ir::lower::{bits_of, of_bits};

pub(super) struct Nextafter;

impl BinaryOp for Nextafter {
    const NAME: &'static str = "nextafter";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.next_after");
    const RULE: BinaryRule = BinaryRule::Partial { x: Some(|x_dot, _x, _y, _z| x_dot.clone()), y: None };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        let dtype = loops.dtype(x);
        Self::typed(loops, dtype, x, y)
    }

    fn typed(loops: &mut Builder, dtype: DType, x: ValueId, y: ValueId) -> ValueId {
        let bits = [x, y].map(|x| bits_of(loops, dtype, x));
        let moved = {
            let formula = Formula::new(loops);
            let [x, y, x_bits, y_bits] = [x, y, bits[0], bits[1]].map(|id| formula.term(id));
            next(x, y, x_bits, y_bits, x_bits.int(1i128 << (dtype.bits() - 1))).id()
        };
        let moved = of_bits(loops, dtype, moved);
        real_formula2(loops, x, y, |x, y| {
            let moved = x.same(moved);
            // x + y is NaN when either is.
            let is_nan = x.is_nan() | y.is_nan();
            is_nan.choose(x + y, x.eq(y).choose(y, moved))
        })
    }
}

/// Steps the bits, which are ordered by size within a sign; from zero to the least number of the other's sign.
fn next<'f>(x: Term<'f>, y: Term<'f>, x_bits: Term<'f>, y_bits: Term<'f>, sign: Term<'f>) -> Term<'f> {
    let (zero, one) = (x.number(0.0), x_bits.int(1));
    let is_away = x.lt(y).eq(x.lt(zero));
    let stepped = is_away.choose(x_bits - one, x_bits + one);
    x.eq(zero).choose((y_bits & sign) | one, stepped)
}
