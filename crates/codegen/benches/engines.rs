//! Compile and run times of the engines that this machine has, on a few programs.
//!
//! `PULLBACK_BENCH_PROGRAM` names a file with the text of one more program, which is only compiled.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::time::Instant;

use pullback_base::{DType, Scalar};
use pullback_codegen::{Engine, Options, compile};
use pullback_loops::*;

/// The least seconds of one call over several rounds.
fn seconds(rounds: usize, mut call: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

fn at(id: LoopId) -> Addr {
    Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
}

/// A function of every element.
fn map(name: &str, dtype: DType, n: i64, f: impl Fn(&mut Builder, ValueId) -> ValueId) -> Program {
    let mut b = Builder::new(name);
    let x = b.buffer(dtype, Extent::Const(n), Role::Input(0));
    let y = b.buffer(dtype, Extent::Const(n), Role::Output(0));
    b.for_loop(Extent::Const(n), LoopKind::Lanes, &[], |b, i, _| {
        let value = b.load(x, at(i));
        let value = f(b, value);
        b.store(y, at(i), value);
        vec![]
    });
    b.finish()
}

/// Prices of options: logarithm, exponential, error function, division, square root.
fn black_scholes(b: &mut Builder, x: ValueId) -> ValueId {
    let c = |b: &mut Builder, value| b.constant(Scalar::f32(value));
    let (half, one, rate) = (c(b, 0.5), c(b, 1.0), c(b, 0.03));
    let magnitude = b.unary(Unary::Abs, x);
    let spot = b.binary(Binary::Add, magnitude, half);
    let log = b.unary(Unary::Log, spot);
    let root = b.unary(Unary::Sqrt, spot);
    let sum = b.binary(Binary::Add, log, rate);
    let d1 = b.binary(Binary::Div, sum, root);
    let d2 = b.binary(Binary::Sub, d1, root);
    let (erf1, erf2) = (b.unary(Unary::Erf, d1), b.unary(Unary::Erf, d2));
    let (cdf1, cdf2) = (b.binary(Binary::Add, erf1, one), b.binary(Binary::Add, erf2, one));
    let minus = b.unary(Unary::Neg, rate);
    let discount = b.binary(Binary::Mul, minus, spot);
    let discount = b.unary(Unary::Exp, discount);
    let first = b.binary(Binary::Mul, spot, cdf1);
    let second = b.binary(Binary::Mul, discount, cdf2);
    b.binary(Binary::Sub, first, second)
}

/// Softmax of rows.
fn softmax(rows: i64, width: i64) -> Program {
    let mut b = Builder::new("softmax 512x2048");
    let x = b.buffer(DType::F32, Extent::Const(rows * width), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(rows * width), Role::Output(0));
    b.for_loop(Extent::Const(rows), LoopKind::Seq, &[], |b, i, _| {
        let at = |j| Addr {
            terms: [(i, Extent::Const(width)), (j, Extent::Const(1))].into_iter().collect(),
            ..Addr::default()
        };
        let least = b.constant(Scalar::f32(f32::NEG_INFINITY));
        let n = Extent::Const(width);
        let most = b.for_loop(n, LoopKind::Lanes, &[(least, Some(Combine::Max))], |b, j, carries| {
            let value = b.load(x, at(j));
            vec![b.binary(Binary::Max, carries[0], value)]
        });
        let zero = b.constant(Scalar::f32(0.0));
        let sum = b.for_loop(n, LoopKind::Lanes, &[(zero, Some(Combine::Add))], |b, j, carries| {
            let value = b.load(x, at(j));
            let value = b.binary(Binary::Sub, value, most[0]);
            let value = b.unary(Unary::Exp, value);
            b.store(y, at(j), value);
            vec![b.binary(Binary::Add, carries[0], value)]
        });
        b.for_loop(n, LoopKind::Lanes, &[], |b, j, _| {
            let value = b.load(y, at(j));
            let value = b.binary(Binary::Div, value, sum[0]);
            b.store(y, at(j), value);
            vec![]
        });
        vec![]
    });
    b.finish()
}

/// Counts to a million in `float32`.
fn counting() -> Program {
    let mut b = Builder::new("scalar while 1e6");
    let x = b.buffer(DType::F32, Extent::Const(1), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(1), Role::Output(0));
    let start = b.load(x, Addr::default());
    let zero = b.constant(Scalar::f32(0.0));
    let start = b.binary(Binary::Mul, start, zero);
    let end = b.while_loop(
        &[start],
        |b, carries| {
            let end = b.constant(Scalar::f32(1e6));
            b.compare(Comparison::Lt, carries[0], end)
        },
        |b, carries| {
            let one = b.constant(Scalar::f32(1.0));
            vec![b.binary(Binary::Add, carries[0], one)]
        },
    );
    b.store(y, Addr::default(), end[0]);
    b.finish()
}

fn programs() -> Vec<(Program, usize)> {
    const MILLION: i64 = 1_000_000;
    let exp_log = |b: &mut Builder, x| {
        let x = b.unary(Unary::Exp, x);
        let x = b.unary(Unary::Log1p, x);
        let x = b.unary(Unary::Exp, x);
        b.unary(Unary::Log, x)
    };
    let gelu = |b: &mut Builder, x| {
        let (scale, half, one) = (std::f32::consts::FRAC_1_SQRT_2, 0.5, 1.0);
        let [scale, half, one] = [scale, half, one].map(|value| b.constant(Scalar::f32(value)));
        let scaled = b.binary(Binary::Mul, x, scale);
        let erf = b.unary(Unary::Erf, scaled);
        let factor = b.binary(Binary::Add, erf, one);
        let x = b.binary(Binary::Mul, x, half);
        b.binary(Binary::Mul, x, factor)
    };
    let tanh = |b: &mut Builder, x| b.unary(Unary::Tanh, x);
    let double = |b: &mut Builder, x| {
        let x = b.unary(Unary::Exp, x);
        b.unary(Unary::Log, x)
    };
    let plus = |b: &mut Builder, x| b.binary(Binary::Add, x, x);
    vec![
        (map("exp log chain 1e6", DType::F32, MILLION, exp_log), 1_000_000),
        (map("black-scholes 1e6", DType::F32, MILLION, black_scholes), 1_000_000),
        (map("gelu 4096", DType::F32, 4096, gelu), 4096),
        (map("tanh 128x64", DType::F32, 8192, tanh), 8192),
        (map("exp log float64 1e5", DType::F64, 100_000, double), 100_000),
        (map("x + x 1e4", DType::F32, 10_000, plus), 10_000),
        (softmax(512, 2048), 512 * 2048),
        (counting(), 1),
    ]
}

fn main() {
    pullback_runtime::set_threads(1);
    let engines = Engine::of_this_machine();
    for (program, n) in programs() {
        for &engine in &engines {
            let options = Options { engine: Some(engine), ..Options::default() };
            let compiling = seconds(20, || drop(black_box(compile(&program, &options).expect("it compiles"))));
            let executable = compile(&program, &options).expect("it compiles");
            let input: Vec<f64> = (0..n).map(|i| f64::from((i % 977) as f32) / 300.0 - 1.5).collect();
            let input: Vec<u64> = if program.buffers[0].dtype == DType::F64 {
                input.into_iter().map(f64::to_bits).collect()
            } else {
                let bits = |pair: &[f64]| {
                    let [low, high] = [0, 1].map(|at| pair.get(at).map_or(0, |&x| (x as f32).to_bits()));
                    u64::from(low) | u64::from(high) << 32
                };
                input.chunks(2).map(bits).collect()
            };
            let mut output = vec![0u64; n];
            let running = seconds(50, || {
                // SAFETY: the buffers have as many elements as the program declares.
                unsafe { executable.run(&[], &[input.as_ptr().cast()], &[output.as_mut_ptr().cast()]) }
                    .expect("it runs");
            });
            let name = format!("{engine:?}");
            println!("{:24} {name:10} compile {:8.1} us, run {:10.2} us", program.name, compiling * 1e6, running * 1e6);
        }
    }
    if let Ok(path) = std::env::var("PULLBACK_BENCH_PROGRAM") {
        let text = std::fs::read_to_string(&path).expect("the file of the program");
        let program = parse(&text).expect("the program's text parses");
        for engine in engines {
            let options = Options { engine: Some(engine), ..Options::default() };
            let time = seconds(20, || drop(black_box(compile(&program, &options).expect("it compiles"))));
            println!("{path}: {engine:?} compiles in {:.2} ms", time * 1e3);
        }
        println!("its expansion takes {:.2} ms", seconds(20, || drop(black_box(expand(&program)))) * 1e3);
    }
}
