//! `float32`: all inputs of a function of one argument, or every so many; random pairs for two arguments.
//!
//! True values come from `float64` in lanes beside the function itself, and the C library's kind of functions confirms one
//! of [`CONFIRMED`]; that page's other table says how far those `float64` functions are from the truth: a billionth of
//! what is measured here.

use pullback_base::DType;
use pullback_codegen::Executable;

use crate::functions::{Function, Op, Reference};
use crate::inputs::{moderate, random_bits};
use crate::measure::{CHUNK, Found, over_chunks, program};
use crate::truth::distance;

/// One input of so many is compared with the library too.
pub(crate) const CONFIRMED: usize = 64;
/// How far, in units of `float32`, the two references may be apart.
const AGREEMENT: f64 = 1e-5;
/// Pairs of arguments, for a stride of one.
const PAIRS: u64 = 1 << 30;

/// Subnormal arguments count as zero.
fn seen(x: f32) -> f64 {
    if x.is_subnormal() { 0f64.copysign(x.into()) } else { x.into() }
}

/// The distance in units of the last place of the true value, for ordinary numbers; else anything, or NaN. Without
/// branches, so that it runs in lanes.
fn ordinary_distance(got: f32, want: f64) -> f64 {
    let exponent = (want.to_bits() >> 52 & 0x7ff).max(1023 - 126);
    let per_unit = f64::from_bits((2 * 1023 + 23 - exponent) << 52);
    (f64::from(got) - want).abs() * per_unit
}

/// The distance for all numbers, the sign of zero being part of the value.
fn any_distance(got: f32, want: f64) -> f64 {
    let vanishes = want.abs() < f32::MIN_POSITIVE.into() && got == 0.0;
    if vanishes && got.is_sign_negative() != want.is_sign_negative() {
        return f64::INFINITY;
    }
    distance(DType::F32, got.into(), want)
}

/// The arguments of one chunk and what the machine makes of them.
struct Chunk {
    ins: Vec<Vec<f32>>,
    got: Vec<f32>,
    want: Vec<f64>,
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn arguments(function: &Function, number: u64, stride: u64) -> Vec<Vec<f32>> {
    let first = number * CHUNK as u64;
    let indices = first..first + CHUNK as u64;
    match function.op {
        Op::One(_) => vec![indices.map(|i| f32::from_bits((i * stride) as u32)).collect()],
        Op::Two(_) => {
            let (xs, ys) = indices.map(pair).unzip();
            vec![xs, ys]
        }
    }
}

fn pair(i: u64) -> (f32, f32) {
    let bits = random_bits(i + 1);
    let (x, y) = (bits as u32, (bits >> 32) as u32);
    // Half of the second operands are of moderate size, so that results are too.
    let y = if i.is_multiple_of(2) { moderate(y) } else { f32::from_bits(y) };
    // And a quarter of the first are next to one, where powers with large exponents are finite.
    let x = if i % 4 == 1 { 1.0 + (x as i32 as f32) * 2f32.powi(-40) } else { f32::from_bits(x) };
    (x, y)
}

fn run(function: &Function, code: &Executable, ins: Vec<Vec<f32>>) -> Chunk {
    let in_bytes: Vec<Vec<u8>> = ins.iter().map(|numbers| bytes(numbers)).collect();
    let in_views: Vec<&[u8]> = in_bytes.iter().map(Vec::as_slice).collect();
    let (mut out, mut wide) = (vec![0; 4 * CHUNK], vec![0; 8 * CHUNK]);
    let truth = |i: usize| (function.truth.near)([seen(ins[0][i]), seen(ins[ins.len() - 1][i])]);
    let want = match function.reference {
        Reference::Lanes => {
            code.run_on(&[], &in_views, &mut [&mut out, &mut wide]).expect("it runs");
            wide.chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().expect("eight bytes"))).collect()
        }
        Reference::Library => {
            code.run_on(&[], &in_views, &mut [&mut out]).expect("it runs");
            (0..CHUNK).map(truth).collect()
        }
    };
    let got = out.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().expect("four bytes"))).collect();
    Chunk { ins, got, want }
}

/// Holds the reference in lanes against the library.
fn confirm(function: &Function, chunk: &Chunk, number: u64) {
    for i in (number as usize % CONFIRMED..CHUNK).step_by(CONFIRMED) {
        let at = [seen(chunk.ins[0][i]), seen(chunk.ins[chunk.ins.len() - 1][i])];
        let (want, library) = (chunk.want[i], (function.truth.near)(at));
        // Both as `float32` sees them: what is below its normal numbers is zero.
        let apart = distance(DType::F32, want, library);
        assert!(apart < AGREEMENT, "{} of {at:?}: {want:e} in lanes, {library:e} by the library", function.name());
    }
}

fn judge(chunk: &Chunk, bound: f64, found: &mut Found) {
    let ulps: Vec<f64> = chunk.got.iter().zip(&chunk.want).map(|(&got, &want)| ordinary_distance(got, want)).collect();
    let worth_a_look = found.ulp.min(bound);
    for (i, &ulp) in ulps.iter().enumerate() {
        let (got, want) = (chunk.got[i], chunk.want[i]);
        // Written so that NaN is looked at.
        if ulp <= worth_a_look && got.is_sign_negative() == want.is_sign_negative() {
            continue;
        }
        let at = [seen(chunk.ins[0][i]), seen(chunk.ins[chunk.ins.len() - 1][i])];
        found.take(any_distance(got, want), at, bound);
    }
    found.counted += chunk.got.len() as u64;
}

pub(crate) fn measure(function: &Function, stride: u64) -> Found {
    let is_in_lanes = function.reference == Reference::Lanes;
    let code = program(function, DType::F32, is_in_lanes.then_some(DType::F64));
    let inputs = match function.op {
        Op::One(_) => 1 << 32,
        Op::Two(_) => PAIRS,
    };
    let n_chunks = u64::div_ceil(inputs, stride * CHUNK as u64);
    let states = over_chunks(n_chunks, |number, found: &mut Found| {
        let chunk = run(function, &code, arguments(function, number, stride));
        if is_in_lanes {
            confirm(function, &chunk, number);
        }
        judge(&chunk, function.bounds[0], found);
    });
    states.into_iter().fold(Found::default(), Found::join)
}
