//! Samples of `random` against those of the reference for one key: bits, integers, uniform numbers and orders exactly, and
//! distributions that rest on logarithms and the inverse error function; the others within a few units in the last place,
//! since their functions may round differently, or the reference rounds a product and a sum together.

use pullback_base::{Array, DType, Result};
use pullback_ir::Val;
use pullback_lib::convert::{weak_float, weak_int};
use pullback_lib::random::{self, Choice, Generator, Mode, Population};

const SAMPLES: &str = include_str!("golden/samples.txt");
const F32: DType = DType::F32;
const I32: DType = DType::I32;
const EPSILON: f32 = f32::EPSILON;

fn key() -> Val {
    random::key(&random::seed_of_int(42).expect("fits"), &Generator::default()).expect("a seed")
}

fn want(name: &str) -> Vec<u64> {
    let line = SAMPLES.lines().find(|line| line.split(' ').next() == Some(name)).expect("the sample is recorded");
    line.split_whitespace().skip(1).map(|word| u64::from_str_radix(word, 16).expect("a hexadecimal word")).collect()
}

fn array(sample: Result<Val>) -> Array {
    sample.expect("a sample").to_array().expect("nothing is traced")
}

/// The elements as unsigned words of their size; those of keys as two words.
fn words(array: &Array) -> Vec<u64> {
    let size = if array.dtype() == DType::KeyFry { 4 } else { array.dtype().size_bytes() };
    let bytes = array.to_bytes().expect("ready");
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(size).map(word).collect()
}

fn check(name: &str, sample: Result<Val>) {
    assert_eq!(words(&array(sample)), want(name), "{name}");
}

/// Number of float32 numbers from one to the other.
fn steps(a: u64, b: u64) -> u64 {
    let ordered = |bits: u64| if bits >> 31 == 1 { -((bits & 0x7fff_ffff) as i64) } else { bits as i64 };
    ordered(a).abs_diff(ordered(b))
}

fn check_near(name: &str, sample: Result<Val>, most: u64) {
    let (got, want) = (words(&array(sample)), want(name));
    assert_eq!(got.len(), want.len(), "{name}");
    let farthest = got.iter().zip(&want).map(|(&a, &b)| steps(a, b)).max().unwrap_or(0);
    assert!(farthest <= most, "{name} is off by {farthest} units in the last place: {got:x?}, want {want:x?}");
}

/// For samples whose uniform numbers were scaled to a width that is no power of two: see [`uniform_samples`].
fn check_close(name: &str, sample: Result<Val>, most: f32) {
    let numbers = |words: Vec<u64>| words.into_iter().map(|word| f32::from_bits(word as u32)).collect::<Vec<f32>>();
    let (got, want) = (numbers(words(&array(sample))), numbers(want(name)));
    let farthest = got.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(farthest <= most, "{name} is off by {farthest}: {got:?}, want {want:?}");
}

#[test]
fn keys_and_bits() {
    check("split", random::split(&key(), &[3]));
    check("fold_in", random::fold_in(&key(), &weak_int(7)));
    check("bits", random::bits(&key(), &[5], DType::U32));
    check("bits_u8", random::bits(&key(), &[5], DType::U8));
    check("bits_u16", random::bits(&key(), &[5], DType::U16));
    check("bits_matrix", random::bits(&key(), &[2, 3], DType::U32));
}

#[test]
fn uniform_samples() {
    let uniform = |low, high, dtype| random::uniform(&key(), &[5], dtype, &weak_float(low), &weak_float(high));
    check("uniform", uniform(0.0, 1.0, F32));
    check("uniform_wide", uniform(-1.0, 3.0, F32));
    // The reference fuses the product by the width and the sum; they round apart here, which differs when the width is
    // no power of two.
    check_near("uniform_bounds", uniform(-2.0, 3.0, F32), 4);
    check("uniform_bf16", uniform(0.0, 1.0, DType::BF16));
    check("uniform_f16", uniform(0.0, 1.0, DType::F16));
    let randint = |low, high, dtype| random::randint(&key(), &[5], &weak_int(low), &weak_int(high), dtype);
    check("randint", randint(0, 10, I32));
    check("randint_i8", randint(-100, 100, DType::I8));
    check("randint_wide", randint(i32::MIN.into(), i32::MAX.into(), I32));
    check("randint_u32", randint(0, i32::MAX.into(), DType::U32));
    check("bernoulli", random::bernoulli(&key(), &weak_float(0.3), Some(&[9]), Mode::Low));
    check("rademacher", random::rademacher(&key(), &[9], I32));
}

#[test]
fn random_order() {
    let below = Population::Below;
    check("permutation", random::permutation(&key(), &below(10), 0, false));
    let long = array(random::permutation(&key(), &below(2000), 0, false));
    assert_eq!(words(&long)[..7], want("permutation_long"));
    let rows = Val::Array(Array::f32s(&(0..12).map(|x| x as f32).collect::<Vec<_>>()));
    let rows = pullback_lib::lax::reshape(&rows, &[4, 3], None).expect("as many elements");
    check("permutation_rows", random::permutation(&key(), &Population::Array(rows), 0, false));
    let choice = |replace| {
        let options = Choice { shape: vec![5], replace, p: None, axis: 0, mode: None };
        random::choice(&key(), &below(10), &options)
    };
    check("choice", choice(true));
    check("choice_once", choice(false));
}

#[test]
fn distributions() {
    let nine = &[9][..];
    let logits = Val::Array(Array::f32s(&[0.1f32, 0.2, 0.3, 0.4].map(f32::ln)));
    check("categorical", random::categorical(&key(), &logits, -1, Some(nine), true, None));
    check("geometric", random::geometric(&key(), &weak_float(0.3), Some(nine), I32));
    check("normal", random::normal(&key(), nine, F32));
    check("gumbel", random::gumbel(&key(), nine, F32, None));
    check("exponential", random::exponential(&key(), nine, F32));
    check("laplace", random::laplace(&key(), nine, F32));
    check_near("logistic", random::logistic(&key(), nine, F32), 4);
    check_near("cauchy", random::cauchy(&key(), nine, F32), 4);
    let (low, high) = (weak_float(-2.0), weak_float(2.0));
    check_close("truncated_normal", random::truncated_normal(&key(), &low, &high, Some(nine), F32), 4.0 * EPSILON);
    check_near("pareto", random::pareto(&key(), &weak_float(2.0), Some(nine), F32), 4);
}
