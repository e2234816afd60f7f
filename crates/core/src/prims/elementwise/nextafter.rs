//! The next number of the type after x on the way to y.
//!
//! nextafter : x[...] y[...] -> [...]        floating, of one dtype
//! d nextafter(x, y) = dx

use super::*;
use pullback_loops::Comparison;

pub(super) struct Nextafter;

impl BinaryOp for Nextafter {
    const NAME: &'static str = "nextafter";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::Op("chlo.next_after");
    const RULE: BinaryRule = BinaryRule::Partial { x: Some(|x_dot, _x, _y, _z| x_dot.clone()), y: None };
    const DOMAIN: (f64, f64) = (-5.0, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        let int = if loops.dtype(x) == DType::F64 { DType::I64 } else { DType::I32 };
        real_formula2(loops, x, y, |x, y| next(x, y, int))
    }
}

/// Steps the bits, which are ordered by size within a sign; from zero to the least number of the other's sign.
fn next<'f>(x: Term<'f>, y: Term<'f>, int: DType) -> Term<'f> {
    let (zero, bits) = (x.number(0.0), x.bits(int));
    let is_away = x.lt(y).eq(x.lt(zero));
    let stepped = is_away.choose(bits - bits.int(1), bits + bits.int(1));
    let sign = y.bits(int) & bits.int(i128::from(if int == DType::I64 { i64::MIN } else { i32::MIN.into() }));
    let from_zero = sign | bits.int(1);
    let moved = x.eq(zero).choose(from_zero, stepped).bits(x.dtype());
    // x + y is NaN when either is.
    let is_nan = x.compare(Comparison::Ne, x) | y.compare(Comparison::Ne, y);
    is_nan.choose(x + y, x.eq(y).choose(y, moved))
}
