//! Arguments of `float64`: all exponents, the interesting range, next to special points, next to multiples of π/2.

use std::f64::consts::{FRAC_PI_2, LN_2};
use std::sync::OnceLock;

use crate::exact::part_of_quadrant;
use crate::functions::{Function, Op};

/// A generator of bits (Steele, Lea and Flood's SplitMix64).
pub(crate) fn random_bits(state: u64) -> u64 {
    let z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number between -40 and 40.
pub(crate) fn moderate(bits: u32) -> f32 {
    (f64::from(bits) / f64::from(u32::MAX) * 80.0 - 40.0) as f32
}

struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        random_bits(self.0)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        let part = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        low * (1.0 - part) + high * part
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 32) as usize * n) >> 32
    }

    fn sign(&mut self) -> f64 {
        if self.bits() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

const SPECIALS: [f64; 20] = [
    0.0,
    f64::MIN_POSITIVE,
    1e-310,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    1.0,
    0.5,
    2.0,
    3.0,
    1.5,
    10.0,
    1e10,
    1e-10,
    1e300,
    1e-300,
    9_007_199_254_740_992.0,
    709.782_712_893_384,
    1024.0,
    0.25,
];

/// Points next to which formulas change, or digits cancel.
fn near_special(random: &mut Random) -> f64 {
    let base = match random.below(6) {
        0 => FRAC_PI_2 * random.between(0.0, 60.0).exp2().round(),
        1 => LN_2 / 2.0 * random.between(0.0, 2050.0).round(),
        2 => random.between(0.0, 64.0).round() / 32.0,
        3 => random.between(-1000.0, 1000.0).round().exp2(),
        4 => random.between(0.0, 200.0).round() / 2.0,
        _ => SPECIALS[random.below(SPECIALS.len())],
    };
    let moved = if random.below(2) == 0 {
        f64::from_bits(base.to_bits().wrapping_add_signed(random.below(9) as i64 - 4))
    } else {
        base * (1.0 + random.sign() * random.between(-52.0, -1.0).exp2())
    };
    random.sign() * moved
}

fn one((low, high): (f64, f64), random: &mut Random) -> f64 {
    match random.below(8) {
        0 | 1 => f64::from_bits(random.bits()),
        2 | 3 => random.between(low, high),
        4 => random.sign() * random.between(-1022.0, 1024.0).exp2(),
        5 => random.sign() * random.between(-40.0, high.abs().max(low.abs()).log2()).exp2(),
        6 => near_special(random),
        _ => {
            let hard = next_to_quadrants();
            random.sign() * hard[random.below(hard.len())]
        }
    }
}

/// Pairs whose power is finite, and any others.
fn two(random: &mut Random) -> [f64; 2] {
    let base = match random.below(3) {
        0 => random.between(-1022.0, 1024.0).exp2(),
        1 => 1.0 + random.sign() * random.between(-52.0, -1.0).exp2(),
        _ => random.between(-8.0, 8.0).exp2(),
    };
    let exponent = random.between(-745.0, 710.0) / base.ln();
    match random.below(8) {
        0..4 => [base, exponent],
        4 => [random.sign() * base, exponent.round()],
        5 => [f64::from_bits(random.bits()), f64::from_bits(random.bits())],
        6 => [near_special(random), near_special(random)],
        _ => {
            let size = random.between(-1000.0, 1000.0).exp2();
            [random.sign() * size, random.sign() * size * random.between(-60.0, 60.0).exp2()]
        }
    }
}

/// The arguments of one chunk; the first holds every special one.
pub(crate) fn arguments(function: &Function, number: u64, n: usize) -> Vec<[f64; 2]> {
    let mut random = Random(number << 32);
    let mut points = if number == 0 { specials(function.op) } else { vec![] };
    while points.len() < n {
        points.push(match function.op {
            Op::One(_) => [one(function.range, &mut random), 0.0],
            Op::Two(_) => two(&mut random),
        });
    }
    points
}

fn specials(op: Op) -> Vec<[f64; 2]> {
    let signed: Vec<f64> = SPECIALS.iter().flat_map(|&x| [x, -x]).collect();
    match op {
        Op::One(_) => signed.iter().map(|&x| [x, 0.0]).collect(),
        Op::Two(_) => signed.iter().flat_map(|&x| signed.iter().map(move |&y| [x, y])).collect(),
    }
}

/// For each exponent the numbers that come nearest to a multiple of π/2: multiples of the denominators of the convergents
/// of their unit's part of a quadrant.
fn next_to_quadrants() -> &'static [f64] {
    static FOUND: OnceLock<Vec<f64>> = OnceLock::new();
    FOUND.get_or_init(|| (-52..972).flat_map(nearest_of_exponent).collect())
}

fn nearest_of_exponent(exponent: i32) -> Vec<f64> {
    let mut found = vec![];
    for denominator in convergents(part_of_quadrant(exponent)) {
        let least = (1u64 << 52).div_ceil(denominator);
        let most = ((1u64 << 53) - 1) / denominator;
        if least <= most {
            found.extend([least, most].map(|times| (times * denominator) as f64 * 2f64.powi(exponent)));
        }
    }
    found
}

/// The denominators below 2^53 of the convergents of `part · 2^-126`.
fn convergents(part: u128) -> Vec<u64> {
    let (mut above, mut below) = (1u128 << 126, part);
    let (mut before, mut last) = (0u128, 1u128);
    let mut found = vec![];
    while below != 0 {
        let next = last * (above / below) + before;
        (above, below) = (below, above % below);
        if next >> 53 != 0 {
            break;
        }
        (before, last) = (last, next);
        found.push(next as u64);
    }
    found
}
