//! The accuracy of every `float32` function of the loop IR, over all inputs or every so many of them, as a table.
//!
//! `cargo xtask ulp` runs it. Native code is compared with `float64` functions of the C library's kind, whose own error
//! is a billionth of what is measured. Subnormals count as zero, as programs see them.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "../../loops/tests/truth/mod.rs"]
mod truth;

use std::sync::atomic::{AtomicU64, Ordering};

use pullback_base::DType;
use pullback_codegen::{Executable, Options, compile};
use pullback_loops::*;
use truth::{digamma, distance, erf_inv, logistic};

/// Inputs of one run of a program.
const CHUNK: usize = 1 << 16;

struct Row {
    op: Unary,
    /// Units of the last place that are promised.
    bound: f64,
    truth: fn(f64) -> f64,
    /// Where it misses its bound, and why.
    note: &'static str,
}

fn row(op: Unary, bound: f64, truth: fn(f64) -> f64) -> Row {
    Row { op, bound, truth, note: "" }
}

fn rows() -> Vec<Row> {
    use Unary::*;
    vec![
        row(Exp, 2.0, f64::exp),
        row(Exp2, 4.0, f64::exp2),
        row(Expm1, 4.0, libm::expm1),
        row(Log, 2.0, f64::ln),
        row(Log2, 4.0, f64::log2),
        row(Log1p, 4.0, libm::log1p),
        row(Sin, 2.0, libm::sin),
        row(Cos, 2.0, libm::cos),
        row(Tan, 4.0, libm::tan),
        row(Asin, 4.0, f64::asin),
        row(Acos, 4.0, f64::acos),
        row(Atan, 4.0, f64::atan),
        row(Sinh, 4.0, f64::sinh),
        row(Cosh, 4.0, f64::cosh),
        row(Asinh, 4.0, libm::asinh),
        // The library's own is finite for some numbers below -1.
        row(Acosh, 4.0, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        row(Atanh, 4.0, libm::atanh),
        row(Tanh, 2.0, f64::tanh),
        Row { note: "below -16 the errors of the exponential and of the quotient add", ..row(Logistic, 2.0, logistic) },
        row(Erf, 2.0, libm::erf),
        row(Erfc, 4.0, libm::erfc),
        Row {
            note: "digits of the reference, which rounds the square of the argument: next to ±1 that costs places",
            ..row(ErfInv, 4.0, erf_inv)
        },
        row(Rsqrt, 4.0, |x| 1.0 / x.sqrt()),
        row(Cbrt, 4.0, f64::cbrt),
        row(Sqrt, 0.5, f64::sqrt),
        Row {
            note: "next to its roots at -2.457…, -2.747… and so on the logarithm cancels",
            ..row(Lgamma, 4.0, libm::lgamma)
        },
        Row { note: "next to its negative roots the reflection cancels", ..row(Digamma, 4.0, digamma) },
    ]
}

fn at(id: LoopId) -> Addr {
    Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
}

fn program(n_ins: u32, op: impl Fn(&mut Builder, &[ValueId]) -> ValueId) -> Executable {
    let mut b = Builder::new("ulp");
    let len = Extent::Const(CHUNK as i64);
    let ins: Vec<BufferId> = (0..n_ins).map(|number| b.buffer(DType::F32, len, Role::Input(number))).collect();
    let out = b.buffer(DType::F32, len, Role::Output(0));
    b.for_loop(len, LoopKind::Lanes, &[], |b, id, _| {
        let values: Vec<ValueId> = ins.iter().map(|&buffer| b.load(buffer, at(id))).collect();
        let result = op(b, &values);
        b.store(out, at(id), result);
        vec![]
    });
    compile(&b.finish(), &Options::default()).expect("it compiles")
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The worst of what was measured, and how many were beyond the bound.
#[derive(Clone, Copy, Default)]
struct Found {
    ulp: f64,
    at: [f32; 2],
    beyond: u64,
    counted: u64,
}

impl Found {
    fn take(&mut self, ulp: f64, at: [f32; 2], bound: f64) {
        self.counted += 1;
        self.beyond += u64::from(ulp > bound);
        if ulp > self.ulp {
            (self.ulp, self.at) = (ulp, at);
        }
    }

    fn join(mut self, other: Found) -> Found {
        (self.counted, self.beyond) = (self.counted + other.counted, self.beyond + other.beyond);
        if other.ulp > self.ulp {
            (self.ulp, self.at) = (other.ulp, other.at);
        }
        self
    }
}

/// Subnormal arguments count as zero.
fn seen(x: f32) -> f64 {
    if x.is_subnormal() { 0f64.copysign(x.into()) } else { x.into() }
}

/// Chunks that hold one input of `stride`; the last may begin anew.
fn n_chunks(stride: u64) -> u64 {
    (1u64 << 32).div_ceil(stride * CHUNK as u64)
}

/// Runs `chunk` on the numbers of all chunks, on all cores.
fn over_chunks(n_chunks: u64, chunk: impl Fn(u64) -> Found + Sync) -> Found {
    let next = AtomicU64::new(0);
    let work = || {
        let mut found = Found::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n_chunks {
                return found;
            }
            found = found.join(chunk(number));
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).fold(Found::default(), Found::join)
    })
}

fn unary(row: &Row, stride: u64) -> Found {
    let code = program(1, |b, x| b.unary(row.op, x[0]));
    over_chunks(n_chunks(stride), |number| {
        let first = number * CHUNK as u64;
        let xs: Vec<f32> = (first..first + CHUNK as u64).map(|i| f32::from_bits((i * stride) as u32)).collect();
        let mut out = vec![0; 4 * CHUNK];
        code.run_on(&[], &[&bytes(&xs)], &mut [&mut out]).expect("it runs");
        let mut found = Found::default();
        for (&x, got) in xs.iter().zip(out.chunks_exact(4)) {
            let got = f32::from_le_bytes(got.try_into().expect("four bytes"));
            found.take(distance(DType::F32, got.into(), (row.truth)(seen(x))), [x, 0.0], row.bound);
        }
        found
    })
}

/// A generator of bits (Steele, Lea and Flood's SplitMix64).
fn random_bits(state: u64) -> u64 {
    let z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn binary(op: Binary, bound: f64, truth: fn(f64, f64) -> f64, stride: u64) -> Found {
    let code = program(2, |b, x| b.binary(op, x[0], x[1]));
    over_chunks(n_chunks(stride), |number| {
        let pair = |i: u64| {
            let bits = random_bits(number * CHUNK as u64 + i + 1);
            let (x, y) = (f32::from_bits(bits as u32), (bits >> 32) as u32);
            // Half of the second operands are of moderate size, so that results are too.
            let moderate = (f64::from(y) / f64::from(u32::MAX) * 80.0 - 40.0) as f32;
            (x, if i.is_multiple_of(2) { moderate } else { f32::from_bits(y) })
        };
        let (xs, ys): (Vec<f32>, Vec<f32>) = (0..CHUNK as u64).map(pair).unzip();
        let mut out = vec![0; 4 * CHUNK];
        code.run_on(&[], &[&bytes(&xs), &bytes(&ys)], &mut [&mut out]).expect("it runs");
        let mut found = Found::default();
        for ((&x, &y), got) in xs.iter().zip(&ys).zip(out.chunks_exact(4)) {
            let got = f32::from_le_bytes(got.try_into().expect("four bytes"));
            found.take(distance(DType::F32, got.into(), truth(seen(x), seen(y))), [x, y], bound);
        }
        found
    })
}

fn print(name: &str, bound: f64, at: &str, found: Found, note: &str) {
    let Found { ulp, beyond, counted, .. } = found;
    let met = if beyond == 0 { "yes" } else { "no" };
    println!(
        "| `{name}` | {ulp:.3} | {at} | {bound} | {met} | {beyond} of {counted} | {} |",
        if beyond == 0 { "" } else { note }
    );
}

fn main() {
    let stride = std::env::args().nth(1).map_or(1, |text| text.parse().expect("the stride is a number"));
    println!("| function | greatest error, ulp | at | bound | met | inputs beyond it | why |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for row in rows() {
        let found = unary(&row, stride);
        print(&format!("{:?}", row.op).to_lowercase(), row.bound, &format!("{:e}", found.at[0]), found, row.note);
    }
    for (op, bound, truth) in [(Binary::Pow, 2.0, libm::pow as fn(f64, f64) -> f64), (Binary::Atan2, 4.0, libm::atan2)]
    {
        let found = binary(op, bound, truth, stride);
        let at = format!("{:e}, {:e}", found.at[0], found.at[1]);
        print(&format!("{op:?}").to_lowercase(), bound, &at, found, "");
    }
}
