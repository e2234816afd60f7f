//! True values to many digits, by the arithmetic and elementary functions of `dashu-float`.
//!
//! The error function and the gamma family are series of our own over that arithmetic.

use dashu_float::FBig;
use dashu_float::ops::CubicRoot;
use dashu_float::round::mode::HalfEven;

use std::sync::OnceLock;

pub(crate) type Number = FBig<HalfEven, 2>;

/// Bits of ordinary values: twice those of `float64`, and more.
const BITS: usize = 144;
/// Bits where sums cancel next to a root.
const BITS_OF_GAMMA: usize = 288;
/// From where on Stirling's series has [`BITS_OF_GAMMA`] bits with [`N_BERNOULLI`] terms.
const STIRLING: u32 = 64;
const N_BERNOULLI: usize = 48;

/// A number as a sum of two of `float64`.
pub(crate) struct Pair {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Pair {
    pub(crate) fn of(x: &Number) -> Pair {
        let high = x.to_f64().value();
        let low = Number::try_from(high).map_or(0.0, |high| (x - high).to_f64().value());
        Pair { high, low }
    }
}

/// Constants that values need.
pub(crate) struct Exact {
    ln_2: Number,
    pi: Number,
    /// `B_{2k}` from `k = 1` on.
    bernoulli: Vec<Number>,
}

fn of(x: f64, bits: usize) -> Number {
    Number::try_from(x).expect("the number is finite").with_precision(bits).value()
}

fn whole(n: u32, bits: usize) -> Number {
    of(n.into(), bits)
}

/// `2^exponent · 2/π` less its whole part, in units of `2^-126`, for exponents of `float64`.
pub(crate) fn part_of_quadrant(exponent: i32) -> u128 {
    const BITS: usize = 1024 + 192;
    static TWO_OVER_PI: OnceLock<Number> = OnceLock::new();
    let quadrants = TWO_OVER_PI.get_or_init(|| whole(2, BITS) / Number::pi(BITS));
    let part = (quadrants.clone() << exponent as isize).fract();
    u128::try_from((part << 126).trunc()).expect("126 bits")
}

impl Exact {
    pub(crate) fn new() -> Exact {
        let ln_2 = whole(2, BITS + 32).ln();
        Exact { ln_2, pi: Number::pi(BITS_OF_GAMMA), bernoulli: bernoulli() }
    }

    pub(crate) fn number(&self, x: f64) -> Number {
        of(x, BITS)
    }

    pub(crate) fn one(&self) -> Number {
        whole(1, BITS)
    }

    pub(crate) fn ln_2(&self) -> Number {
        self.ln_2.clone()
    }

    pub(crate) fn cbrt(&self, x: Number) -> Number {
        x.cbrt()
    }

    /// `|x|^y` with the sign that a whole odd `y` gives.
    pub(crate) fn pow(&self, x: f64, y: f64) -> Number {
        let power = self.number(x.abs()).powf(&self.number(y));
        if x < 0.0 && y % 2.0 != 0.0 { -power } else { power }
    }

    /// `2/√π · e^{-x²} · Σ 2^n x^{2n+1} / (2n+1)!!`, whose terms all have one sign (Abramowitz and Stegun 7.1.6).
    fn erf_to(&self, x: f64, bits: usize) -> Number {
        let x = of(x, bits);
        let twice_square = &x * &x * whole(2, bits);
        let (mut term, mut sum, mut n) = (x.clone(), x.clone(), 1);
        while !vanishes_against(&term, &sum, bits) {
            n += 2;
            term = term * &twice_square / whole(n, bits);
            sum += &term;
        }
        let factor = whole(2, bits) / Number::pi(bits).sqrt();
        factor * (-(&x * &x)).exp() * sum
    }

    pub(crate) fn erf(&self, x: Number) -> Number {
        let x = x.to_f64().value();
        if x.abs() > 7.0 { self.one() * of(x.signum(), BITS) } else { self.erf_to(x, BITS) }
    }

    /// One less `erf`, with as many bits more as cancel; far on the right by [`Exact::erfc_far`].
    pub(crate) fn erfc(&self, x: Number) -> Number {
        let at = x.to_f64().value();
        if at > 3.0 {
            return self.erfc_far(x);
        }
        let bits = BITS + 32;
        if at < -7.0 { whole(2, BITS) } else { whole(1, bits) - self.erf_to(at, bits) }
    }

    /// `e^{-x²}/√π · 1/(x + ½/(x + 1/(x + 3/2/(x + …))))` (Abramowitz and Stegun 7.1.14); with `n` terms of it about
    /// `e^{-x√(8n)}` is left.
    fn erfc_far(&self, x: Number) -> Number {
        let bits = BITS + 32;
        let x = x.with_precision(bits).value();
        let square = (&x * &x).to_f64().value();
        let n_terms = (2000.0 / square) as u32 + 16;
        let fraction = (1..=n_terms).rev().fold(x.clone(), |below, k| &x + whole(k, bits) / (whole(2, bits) * below));
        (-(&x * &x)).exp() / (Number::pi(bits).sqrt() * fraction)
    }

    /// Newton's method from the value of `float64`; its second step leaves nothing.
    pub(crate) fn erf_inv(&self, x: Number) -> Number {
        let mut y = self.number(crate::truth::erf_inv(x.to_f64().value()));
        let bits = BITS + 64;
        let half_root_pi = Number::pi(bits).sqrt() / whole(2, bits);
        for _ in 0..2 {
            let at = y.to_f64().value();
            // About the nearest number of `float64`, so that the series has an exact argument.
            let miss = self.erf_to(at, bits) - &x;
            let slope = (of(at, bits) * of(at, bits)).exp() * &half_root_pi;
            let step = miss * slope;
            // erf⁻¹ to the third order about `at`: y = at - s + at·s².
            y = of(at, bits) - &step + of(at, bits) * &step * &step;
        }
        y
    }

    /// `x + n` with `n` whole, at least [`STIRLING`], and the numbers on the way.
    fn raised(&self, x: f64) -> (Number, Vec<Number>) {
        let mut at = of(x, BITS_OF_GAMMA);
        let mut passed = vec![];
        while at < whole(STIRLING, BITS_OF_GAMMA) {
            passed.push(at.clone());
            at += whole(1, BITS_OF_GAMMA);
        }
        (at, passed)
    }

    /// Stirling's series after the leading terms, each coefficient divided by what `divisor` says.
    fn series(&self, z: &Number, first: Number, divisor: impl Fn(u32) -> u32) -> Number {
        let square = z * z;
        let mut power = first;
        let mut sum = whole(0, BITS_OF_GAMMA);
        for (k, coefficient) in (1..).zip(&self.bernoulli) {
            sum += coefficient * &power / whole(divisor(k), BITS_OF_GAMMA);
            power /= &square;
        }
        sum
    }

    fn lgamma_of_positive(&self, x: f64) -> Number {
        let bits = BITS_OF_GAMMA;
        let (z, passed) = self.raised(x);
        let half = of(0.5, bits);
        let leading = (&z - &half) * z.ln() - &z + half * (whole(2, bits) * &self.pi).ln();
        let rest = self.series(&z, whole(1, bits) / &z, |k| 2 * k * (2 * k - 1));
        let product = passed.iter().fold(whole(1, bits), |product, factor| product * factor);
        leading + rest - product.ln()
    }

    /// By reflection on the left: `ln π/|sin πx| - ln Γ(1-x)`.
    pub(crate) fn lgamma(&self, x: Number) -> Number {
        let x = x.to_f64().value();
        if x > 0.0 {
            return self.lgamma_of_positive(x);
        }
        let sin = (&self.pi * of(x - x.round(), BITS_OF_GAMMA)).sin();
        let sin = if sin < whole(0, BITS_OF_GAMMA) { -sin } else { sin };
        // Γ(1-x) = -x·Γ(-x), as 1-x need not be a number of `float64`.
        let mirrored = self.lgamma_of_positive(-x) + of(-x, BITS_OF_GAMMA).ln();
        (&self.pi / sin).ln() - mirrored
    }

    fn digamma_of_positive(&self, x: f64) -> Number {
        let bits = BITS_OF_GAMMA;
        let (z, passed) = self.raised(x);
        let one = whole(1, bits);
        let leading = z.ln() - &one / (&z * whole(2, bits));
        let rest = self.series(&z, &one / (&z * &z), |k| 2 * k);
        leading - rest - passed.iter().fold(whole(0, bits), |sum, at| sum + &one / at)
    }

    /// By reflection on the left: `ψ(1-x) - π / tan πx`, with `ψ(1-x) = ψ(-x) - 1/x`.
    pub(crate) fn digamma(&self, x: Number) -> Number {
        let x = x.to_f64().value();
        if x > 0.0 {
            return self.digamma_of_positive(x);
        }
        let tan = (&self.pi * of(x - x.round(), BITS_OF_GAMMA)).tan();
        self.digamma_of_positive(-x) - whole(1, BITS_OF_GAMMA) / of(x, BITS_OF_GAMMA) - &self.pi / tan
    }
}

/// Whether a term of the sign of the sum is below its last bit, or both are zero.
fn vanishes_against(term: &Number, sum: &Number, bits: usize) -> bool {
    let scaled = term.clone() << bits as isize;
    if *sum < whole(0, bits) { scaled >= *sum } else { scaled <= *sum }
}

/// `B_{2k}` from `k = 1` on, by `Σ_{j<=m} C(m+1, j) B_j = 0`.
fn bernoulli() -> Vec<Number> {
    let bits = 2 * BITS_OF_GAMMA;
    let mut all = vec![whole(1, bits)];
    for m in 1..=2 * N_BERNOULLI as u32 {
        let (mut choose, mut sum) = (whole(1, bits), whole(0, bits));
        for (j, number) in (0..).zip(&all) {
            sum += &choose * number;
            choose = choose * whole(m + 1 - j, bits) / whole(j + 1, bits);
        }
        all.push(-sum / whole(m + 1, bits));
    }
    all.into_iter().skip(2).step_by(2).collect()
}
