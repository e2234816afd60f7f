//! The upper half of the product of two integers, which has twice their bits.
//!
//! mulhi : x[...] y[...] -> [...]        integers of one dtype
//! No derivative.

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct MulHi;

impl BinaryOp for MulHi {
    const NAME: &'static str = "mulhi";
    const ACCEPTS: DTypes = DTypes::INTEGER;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Zero;
    const DOMAIN: (f64, f64) = (-1e9, 2e9);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        let dtype = loops.dtype(x);
        Self::typed(loops, dtype, x, y)
    }

    fn typed(loops: &mut Builder, dtype: DType, x: ValueId, y: ValueId) -> ValueId {
        real_formula2(loops, x, y, |x, y| match dtype {
            DType::U64 => of_halves(x, y),
            DType::I64 => of_signed(x, y),
            _ => widened(dtype, x, y),
        })
    }
}

/// By the product in 64 bits.
fn widened<'f>(dtype: DType, x: Term<'f>, y: Term<'f>) -> Term<'f> {
    let is_signed = dtype.kind() == pullback_base::dtype::Kind::Signed;
    let (wide, shift) =
        if is_signed { (DType::I64, Op::ShiftRightArithmetic) } else { (DType::U64, Op::ShiftRightLogical) };
    let product = x.to(wide).binary(Op::Mul, y.to(wide));
    product.binary(shift, product.int(dtype.bits().into())).to(x.dtype())
}

/// The words of a product by parts (H. Warren, "Hacker's Delight", section 8-2).
fn of_halves<'f>(x: Term<'f>, y: Term<'f>) -> Term<'f> {
    let low = |x: Term<'f>| x & x.int(0xffff_ffff);
    let [(x0, x1), (y0, y1)] = [x, y].map(|x| (low(x), x.shifted_down(32)));
    let middle = x1 * y0 + (x0 * y0).shifted_down(32);
    let other = x0 * y1 + low(middle);
    x1 * y1 + middle.shifted_down(32) + other.shifted_down(32)
}

/// A negative number is the unsigned one less `2**64`.
fn of_signed<'f>(x: Term<'f>, y: Term<'f>) -> Term<'f> {
    let unsigned = of_halves(x.to(DType::U64), y.to(DType::U64)).to(DType::I64);
    let zero = x.int(0);
    unsigned - x.lt(zero).choose(y, zero) - y.lt(zero).choose(x, zero)
}
