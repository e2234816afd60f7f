//! Seeded random elements, with the special values of a dtype among them.

use pullback_base::dtype::Kind;
use pullback_base::scalar::Number;
use pullback_base::{Array, Aval, DType, Scalar};
use pullback_ir::SampleIn;

/// A small generator; equal seeds give equal elements on every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits (splitmix64).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number in `low..high`.
    pub fn uniform(&mut self, (low, high): (f64, f64)) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// One element of `dtype` from an interval.
pub fn element(rng: &mut Rng, dtype: DType, domain: (f64, f64)) -> Scalar {
    match dtype.kind() {
        Kind::Bool => Scalar::bool(rng.bits() & 1 == 1),
        Kind::Signed | Kind::Unsigned => Scalar::int(dtype, rng.uniform(domain).floor() as i128),
        Kind::Float => Scalar::float(dtype, rng.uniform(domain)),
        Kind::Complex => Scalar::new(dtype, Number::Complex(rng.uniform(domain), rng.uniform(domain))),
        Kind::Key => Scalar::int(dtype, (u128::from(rng.bits()) << 64 | u128::from(rng.bits())) as i128),
        Kind::Float0 => Scalar::zero(dtype),
    }
}

/// An array of random elements.
pub fn random(rng: &mut Rng, input: &SampleIn) -> Array {
    let SampleIn { aval, domain } = input;
    Array::from_scalars(&aval.shape, aval.dtype, (0..aval.size()).map(|_| element(rng, aval.dtype, *domain)))
}

/// Values where functions are special: zeros of both signs, infinities, NaN, a subnormal number.
pub fn specials(dtype: DType) -> Vec<Scalar> {
    let reals = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40];
    match dtype.kind() {
        Kind::Float => reals.map(|x| Scalar::float(dtype, x)).to_vec(),
        Kind::Complex => {
            let grid = reals.iter().flat_map(|&re| reals.iter().map(move |&im| (re, im)));
            grid.map(|(re, im)| Scalar::new(dtype, Number::Complex(re, im))).collect()
        }
        Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float0 | Kind::Key => vec![],
    }
}

/// An array of random elements, some of which are special.
pub fn random_with_specials(rng: &mut Rng, input: &SampleIn) -> Array {
    let SampleIn { aval, domain } = *input;
    let specials = specials(aval.dtype);
    let mut pick = || {
        if specials.is_empty() || !rng.bits().is_multiple_of(3) {
            return element(rng, aval.dtype, domain);
        }
        specials[(rng.bits() % specials.len() as u64) as usize]
    };
    Array::from_scalars(&aval.shape, aval.dtype, (0..aval.size()).map(|_| pick()))
}

/// The aval with the double-width dtype, for derivatives by differences.
pub fn widened(aval: Aval) -> Aval {
    match aval.dtype {
        DType::F32 => Aval::with_weak_type(&aval.shape, DType::F64, aval.weak_type),
        DType::C64 => Aval::with_weak_type(&aval.shape, DType::C128, aval.weak_type),
        _ => aval,
    }
}
