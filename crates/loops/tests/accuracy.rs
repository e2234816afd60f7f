//! How far expanded mathematics is from the true value, in units of the last place.

mod truth;

use pullback_base::{DType, Result};
use pullback_loops::*;
use truth::{digamma, distance, erf_inv, logistic};

struct NoKernels;

impl Kernels for NoKernels {
    fn call(&self, _: &Kernel, _: &[&[u8]], _: &mut [&mut [u8]]) -> Result<()> {
        unreachable!("mathematics calls no kernel")
    }
}

fn at(id: LoopId) -> Addr {
    Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
}

/// The program that applies an operation to vectors.
fn program(dtype: DType, n: usize, n_ins: u32, op: impl Fn(&mut Builder, &[ValueId]) -> ValueId) -> Program {
    let mut b = Builder::new("map");
    let len = Extent::Const(n as i64);
    let ins: Vec<_> = (0..n_ins).map(|i| b.buffer(dtype, len, Role::Input(i))).collect();
    let out = b.buffer(dtype, len, Role::Output(0));
    b.for_loop(len, LoopKind::Lanes, &[], |b, i, _| {
        let values: Vec<_> = ins.iter().map(|&buffer| b.load(buffer, at(i))).collect();
        let result = op(b, &values);
        b.store(out, at(i), result);
        vec![]
    });
    let program = expand(&b.finish());
    assert_eq!(verify_expanded(&program), Ok(()));
    program
}

fn run(dtype: DType, ins: &[Vec<f64>], op: impl Fn(&mut Builder, &[ValueId]) -> ValueId) -> Vec<f64> {
    let n = ins[0].len();
    let encode =
        |x: &f64| if dtype == DType::F32 { (*x as f32).to_le_bytes().to_vec() } else { x.to_le_bytes().to_vec() };
    let bytes: Vec<Vec<u8>> = ins.iter().map(|xs| xs.iter().flat_map(encode).collect()).collect();
    let views: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let mut out = vec![0; n * dtype.size_bytes()];
    let program = program(dtype, n, ins.len() as u32, op);
    interpret(&program, &[], &views, &mut [&mut out], &NoKernels).expect("it runs");
    let decode = |bytes: &[u8]| match dtype {
        DType::F32 => f32::from_le_bytes(bytes.try_into().expect("four")).into(),
        _ => f64::from_le_bytes(bytes.try_into().expect("eight")),
    };
    out.chunks_exact(dtype.size_bytes()).map(decode).collect()
}

/// A generator of bits (Steele, Lea and Flood's SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

const SPECIALS: [f64; 19] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    10.0,
    -10.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e30,
    -1e30,
    1e-30,
    -1e-30,
];

/// Arguments within a range: even ones, ones even in the logarithm, and special ones.
fn samples(dtype: DType, low: f64, high: f64, n: usize) -> Vec<f64> {
    let mut random = Random(7);
    let mut xs: Vec<f64> = (0..n).map(|_| random.between(low, high)).collect();
    let deepest = if dtype == DType::F32 { -37.0 } else { -300.0 };
    for sign in [-1.0, 1.0] {
        let end: f64 = if sign < 0.0 { -low } else { high };
        if end > 0.0 {
            xs.extend((0..n).map(|_| sign * 10f64.powf(random.between(deepest, end.log10()))));
            xs.extend((0..n).map(|_| sign * 10f64.powf(random.between(-4.0, end.log10().max(0.0)))));
        }
    }
    xs.retain(|x| (low..=high).contains(x));
    xs.extend(SPECIALS);
    if dtype == DType::F32 { xs.into_iter().map(|x| f64::from(x as f32)).collect() } else { xs }
}

fn check(op: Unary, dtype: DType, (low, high): (f64, f64), bound: f64, truth: impl Fn(f64) -> f64) {
    let xs = samples(dtype, low, high, 4000);
    let got = run(dtype, std::slice::from_ref(&xs), |b, v| b.unary(op, v[0]));
    let worst = xs.iter().zip(&got).map(|(&x, &y)| (distance(dtype, y, truth(x)), x, y));
    let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0)).expect("samples");

    assert!(
        worst.0 <= bound,
        "{op:?} of {dtype} {:e} is {:e}, not {:e}: {} ulp",
        worst.1,
        worst.2,
        truth(worst.1),
        worst.0
    );
    for (&x, &y) in xs.iter().zip(&got).filter(|&(&x, _)| x == 0.0 && truth(x) == 0.0) {
        assert_eq!(y.is_sign_negative(), truth(x).is_sign_negative(), "{op:?} of {dtype} {x}: sign of zero");
    }
}

#[test]
fn single_precision() {
    let all = (-3e38, 3e38);
    let check = |op, range, bound, truth: fn(f64) -> f64| check(op, DType::F32, range, bound, truth);
    check(Unary::Exp, (-100.0, 100.0), 2.0, f64::exp);
    check(Unary::Exp2, (-140.0, 140.0), 2.0, f64::exp2);
    check(Unary::Expm1, (-100.0, 100.0), 2.0, libm::expm1);
    check(Unary::Log, all, 2.0, f64::ln);
    check(Unary::Log, (0.5, 2.0), 2.0, f64::ln);
    check(Unary::Log2, all, 2.0, f64::log2);
    check(Unary::Log2, (0.5, 2.0), 2.0, f64::log2);
    // Digits of the reference, see `expand/single.rs`.
    check(Unary::Log1p, all, 4.0, libm::log1p);
    check(Unary::Log1p, (-1.0, 2.0), 4.0, libm::log1p);
    check(Unary::Sin, (-100.0, 100.0), 2.0, libm::sin);
    check(Unary::Sin, all, 2.0, libm::sin);
    check(Unary::Cos, (-100.0, 100.0), 2.0, libm::cos);
    check(Unary::Cos, all, 2.0, libm::cos);
    check(Unary::Tan, all, 4.0, libm::tan);
    check(Unary::Asin, (-1.0, 1.0), 2.0, f64::asin);
    check(Unary::Acos, (-1.0, 1.0), 2.0, f64::acos);
    check(Unary::Atan, all, 2.0, f64::atan);
    check(Unary::Sinh, (-100.0, 100.0), 2.0, f64::sinh);
    check(Unary::Cosh, (-100.0, 100.0), 2.0, f64::cosh);
    check(Unary::Tanh, (-20.0, 20.0), 2.0, f64::tanh);
    check(Unary::Asinh, all, 4.0, libm::asinh);
    check(Unary::Acosh, (1.0, 3e38), 4.0, libm::acosh);
    check(Unary::Acosh, (1.0, 2.0), 4.0, libm::acosh);
    check(Unary::Atanh, (-1.0, 1.0), 4.0, libm::atanh);
    check(Unary::Logistic, (-86.0, 100.0), 2.0, logistic);
    check(Unary::Erf, (-6.0, 6.0), 2.0, libm::erf);
    check(Unary::Erfc, (-6.0, 9.0), 4.0, libm::erfc);
    // Digits of the reference, which rounds the square of the argument: next to ±1 that costs more and more places.
    check(Unary::ErfInv, (-0.9, 0.9), 4.0, erf_inv);
    check(Unary::ErfInv, (-0.99, 0.99), 8.0, erf_inv);
    check(Unary::Rsqrt, (0.0, 3e38), 2.0, |x| 1.0 / x.sqrt());
    check(Unary::Cbrt, all, 2.0, f64::cbrt);
    check(Unary::Lgamma, (0.0, 1e30), 4.0, libm::lgamma);
    check(Unary::Lgamma, (0.5, 3.0), 4.0, libm::lgamma);
    check(Unary::Digamma, (0.0, 1e30), 4.0, digamma);
    check(Unary::Digamma, (-2.9, 3.0), 4.0, digamma);
}

#[test]
fn double_precision() {
    let all = (-1e308, 1e308);
    let check = |op, range, bound, truth: fn(f64) -> f64| check(op, DType::F64, range, bound, truth);
    check(Unary::Exp, (-700.0, 710.0), 2.0, f64::exp);
    check(Unary::Exp2, (-1020.0, 1030.0), 2.0, f64::exp2);
    check(Unary::Expm1, (-100.0, 710.0), 4.0, libm::expm1);
    check(Unary::Log, all, 2.0, f64::ln);
    check(Unary::Log, (0.5, 2.0), 2.0, f64::ln);
    check(Unary::Log2, (0.5, 2.0), 2.0, libm::log2);
    check(Unary::Log1p, (-1.0, 2.0), 2.0, libm::log1p);
    check(Unary::Sin, (-100.0, 100.0), 2.0, libm::sin);
    check(Unary::Sin, all, 2.0, libm::sin);
    check(Unary::Cos, all, 2.0, libm::cos);
    check(Unary::Tan, all, 4.0, libm::tan);
    check(Unary::Asin, (-1.0, 1.0), 2.0, libm::asin);
    check(Unary::Acos, (-1.0, 1.0), 4.0, libm::acos);
    check(Unary::Atan, all, 2.0, libm::atan);
    check(Unary::Sinh, (-100.0, 710.0), 4.0, libm::sinh);
    check(Unary::Cosh, (-100.0, 710.0), 4.0, libm::cosh);
    check(Unary::Tanh, (-20.0, 20.0), 4.0, libm::tanh);
    check(Unary::Asinh, all, 4.0, libm::asinh);
    check(Unary::Acosh, (1.0, 1e308), 4.0, libm::acosh);
    check(Unary::Atanh, (-1.0, 1.0), 4.0, libm::atanh);
    check(Unary::Logistic, (-700.0, 100.0), 4.0, logistic);
    check(Unary::Erf, (-6.0, 6.0), 4.0, libm::erf);
    check(Unary::Erfc, (-6.0, 26.0), 4.0, libm::erfc);
    check(Unary::ErfInv, (-0.999, 0.999), 4.0, erf_inv);
    check(Unary::Rsqrt, (0.0, 1e308), 2.0, |x| 1.0 / x.sqrt());
    check(Unary::Cbrt, all, 2.0, libm::cbrt);
    check(Unary::Lgamma, (3.0, 1e300), 16.0, libm::lgamma);
    // The special value -½ is next to the root -0.504, where the reflection cancels.
    check(Unary::Digamma, (3.0, 1e300), 64.0, digamma);
}

/// Numbers that come as near to multiples of π/2 as numbers of their exponent do: there reduction takes the most digits.
#[test]
fn angles_next_to_quadrants() {
    let hardest = [
        6_381_956_970_095_103.0 * 2f64.powi(797),
        1.063_874_529_665_308_3e256,
        3.924_293_714_572_882e298,
        1.522_751_455_414_879_3e307,
        9_007_199_254_740_991.0 * 2f64.powi(971),
    ];
    let xs: Vec<f64> = hardest.iter().flat_map(|&x| [x, -x]).collect();
    for (op, truth) in [(Unary::Sin, libm::sin as fn(f64) -> f64), (Unary::Cos, libm::cos), (Unary::Tan, libm::tan)] {
        let got = run(DType::F64, std::slice::from_ref(&xs), |b, v| b.unary(op, v[0]));
        for (&x, y) in xs.iter().zip(got) {
            let far = distance(DType::F64, y, truth(x));
            assert!(far <= 4.0, "{op:?} of {x:e} is {y:e}, not {:e}: {far} ulp", truth(x));
        }
    }
}

#[test]
fn poles_of_lgamma_are_infinite() {
    let xs = vec![0.0, -0.0, -1.0, -2.0, -171.0, -1e15, -1.4524555360175581e307, f64::NEG_INFINITY, f64::INFINITY];
    let got = run(DType::F64, std::slice::from_ref(&xs), |b, v| b.unary(Unary::Lgamma, v[0]));
    assert_eq!(got, vec![f64::INFINITY; xs.len()]);
}

fn check_two(op: Binary, dtype: DType, range: (f64, f64), y_range: (f64, f64), bound: f64, truth: fn(f64, f64) -> f64) {
    let (mut xs, mut ys) = (samples(dtype, range.0, range.1, 2000), samples(dtype, y_range.0, y_range.1, 2000));
    let n = xs.len().min(ys.len()) - SPECIALS.len();
    (xs, ys) = (xs[..n].to_vec(), ys[..n].iter().rev().copied().collect());
    for x in SPECIALS {
        xs.extend([x; SPECIALS.len()]);
        ys.extend(SPECIALS);
    }
    if dtype == DType::F32 {
        xs.iter_mut().chain(&mut ys).for_each(|x| *x = f64::from(*x as f32));
    }
    let got = run(dtype, &[xs.clone(), ys.clone()], |b, v| b.binary(op, v[0], v[1]));
    for ((&x, &y), &z) in xs.iter().zip(&ys).zip(&got) {
        let (want, far) = (truth(x, y), distance(dtype, z, truth(x, y)));
        assert!(far <= bound, "{op:?} of {dtype} {x:e} {y:e} is {z:e}, not {want:e}: {far} ulp");
        assert!(want != 0.0 || z.is_sign_negative() == want.is_sign_negative(), "{op:?} {x:e} {y:e}: sign of zero");
    }
}

#[test]
fn functions_of_two() {
    check_two(Binary::Pow, DType::F32, (0.0, 3e38), (-40.0, 40.0), 2.0, libm::pow);
    check_two(Binary::Pow, DType::F32, (0.5, 2.0), (-100.0, 100.0), 2.0, libm::pow);
    check_two(Binary::Pow, DType::F32, (-3e38, 3e38), (-3e38, 3e38), 2.0, libm::pow);
    check_two(Binary::Pow, DType::F64, (0.0, 1e300), (-40.0, 40.0), 4.0, libm::pow);
    check_two(Binary::Pow, DType::F64, (0.5, 2.0), (-1000.0, 1000.0), 4.0, libm::pow);
    check_two(Binary::Pow, DType::F64, (-1e300, 1e300), (-1e300, 1e300), 4.0, libm::pow);
    check_two(Binary::Atan2, DType::F32, (-1e10, 1e10), (-1e10, 1e10), 4.0, libm::atan2);
    check_two(Binary::Atan2, DType::F64, (-1e10, 1e10), (-1e10, 1e10), 4.0, libm::atan2);
}
