//! The derivative of order `m` of digamma.
//!
//! polygamma : m[...] x[...] -> x[...]        floating, of one dtype; m a whole number
//! `(-1)^(m+1) m! zeta(m+1, x)` (Abramowitz and Stegun, 6.4.10)
//! d polygamma(m, x) = polygamma(m+1, x) dx

use super::*;
use pullback_base::{Error, ErrorKind};
use pullback_loops::Unary as Op;

pub(super) struct Polygamma;

impl BinaryOp for Polygamma {
    const NAME: &'static str = "polygamma";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|_t, _m, _x, z| {
            z.poisoned(Error::new(ErrorKind::Value, "polygamma gradient with respect to m is not supported"))
        }),
        y: Some(|t, m, x, _z| t * (m + m.number(1.0)).bind(POLYGAMMA, &Params::NONE, &[x])),
    };
    const DOMAIN: (f64, f64) = (1.0, 5.0);

    fn real(loops: &mut Builder, m: ValueId, x: ValueId) -> ValueId {
        in_double2(loops, m, x, polygamma)
    }
}

fn polygamma<'f>(m: Term<'f>, x: Term<'f>) -> Term<'f> {
    let next = m + 1.0;
    let factorial = next.unary(Op::Lgamma).exp();
    let half = next * 0.5;
    let is_even = half.floor().eq(half);
    let size = factorial * zeta::zeta(next, x);
    let result = is_even.choose(size, -size);
    let zero = m.number(0.0);
    let is_order = m.ge(zero) & m.floor().eq(m);
    let result = result.when(is_order.opposite(), f64::NAN);
    m.eq(zero).choose(x.unary(Op::Digamma), result)
}
