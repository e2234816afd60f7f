//! The Hurwitz zeta function, `Σ (q + k)^-x`.
//!
//! zeta : x[...] q[...] -> x[...]        floating, of one dtype
//! Terms up to `q + k > 9`, then the Euler-Maclaurin formula (Abramowitz and Stegun, 23.2.9).

use super::*;
use pullback_loops::Binary as Op;
use pullback_loops::Comparison;

pub(super) struct Zeta;

impl BinaryOp for Zeta {
    const NAME: &'static str = "zeta";
    const ACCEPTS: DTypes = DTypes::FLOAT;
    const HLO: Hlo<()> = Hlo::AsCpu;
    const RULE: BinaryRule = BinaryRule::Missing("it has none in the reference either");
    const DOMAIN: (f64, f64) = (1.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId, q: ValueId) -> ValueId {
        in_double2(loops, x, q, zeta)
    }
}

/// `(2k)! / B_2k` for `k` from 1.
const BERNOULLI: [f64; 12] = [
    12.0,
    -720.0,
    30_240.0,
    -1_209_600.0,
    47_900_160.0,
    -1.307_674_368e12 / 691.0,
    7.471_242_496e10,
    -1.067_062_284_288e16 / 3_617.0,
    5.109_094_217_170_944e18 / 43_867.0,
    -8.028_576_626_982_912e20 / 174_611.0,
    1.551_121_004_333_098_6e23 / 854_513.0,
    -1.693_824_136_731_743_7e27 / 236_364_091.0,
];

/// The function in `float64`.
pub(super) fn zeta<'f>(x: Term<'f>, q: Term<'f>) -> Term<'f> {
    let (zero, one) = (x.number(0.0), x.number(1.0));
    let power = |base: Term<'f>| base.binary(Op::Pow, -x);
    let sums = Term::iterate(
        &[q, zero],
        |v| v[0].lt(q.number(10.0)) & v[0].gt(q.number(-LIMIT)),
        |v| vec![v[0] + 1.0, v[1] + power(v[0])],
    );
    let (a, sum) = (sums[0], sums[1]);
    let last = power(a);
    let mut total = sum + last * a / (x - 1.0) + last * 0.5;
    let mut factor = one;
    let mut term = last;
    for (k, denominator) in BERNOULLI.iter().enumerate() {
        let k = 2.0 * k as f64;
        factor = factor * (x + k);
        term = term / a;
        total = total + factor * term / *denominator;
        factor = factor * (x + (k + 1.0));
        term = term / a;
    }
    // For a great power only the first term is left, of which the products above would make 0 times infinity.
    let total = x.gt(x.number(1e3)).choose(sum + last, total);
    at_poles(x, q, total)
}

/// Infinite at `x = 1`, no number below; for `q ≤ 0` at the integers infinite or none, between them only whole `x`.
fn at_poles<'f>(x: Term<'f>, q: Term<'f>, total: Term<'f>) -> Term<'f> {
    let (zero, one) = (x.number(0.0), x.number(1.0));
    let is_left = q.compare(Comparison::Le, zero);
    let is_pole = is_left & q.floor().eq(q);
    let x_is_whole = x.floor().eq(x);
    let half = x * 0.5;
    let is_even = x_is_whole & half.floor().eq(half);
    // So far to the left are more terms than one can wait for.
    let is_far = q.compare(Comparison::Le, q.number(-LIMIT));
    let total = total.when(is_left & (x_is_whole.opposite() | is_far), f64::NAN);
    let total = total.when(x.lt(one) | x.is_infinite() | x.is_nan() | q.is_nan(), f64::NAN);
    let total = total.when(is_pole, f64::NAN).when(is_pole & is_even & x.is_infinite().opposite(), f64::INFINITY);
    total.when(x.eq(one), f64::INFINITY)
}
