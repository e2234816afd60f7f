//! What things cost besides computing: an eager operation, a compilation, an iteration of a loop.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::time::Instant;

use pullback_backend::{Executable, eval_bind};
use pullback_base::{Array, Aval, DType, Scalar};
use pullback_core::prims::{ADD, MUL, NEG};
use pullback_ir::{Builder, Emit, JaxprRef, Params, Val, parse_jaxpr};

/// The least seconds of one call over several rounds.
fn seconds(rounds: usize, calls: usize, mut call: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_secs_f64() / calls as f64
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

fn eager() {
    let x = Val::Array(Array::f32s(&[1.0, 2.0, 3.0]));
    let two = Val::Literal(Scalar::f32(2.0));
    for (what, y) in [("array", x.clone()), ("number", two)] {
        let ins = [x.clone(), y];
        let time = seconds(20, 10_000, || drop(black_box(eval_bind(ADD, &Params::NONE, &ins).expect("it runs"))));
        println!("eager add of 3 floats and an {what}: {:.0} ns", time * 1e9);
    }
}

fn chain(n: usize) -> JaxprRef {
    let builder = Builder::new();
    let x = builder.input(Aval::new(&[1024], DType::F32));
    let mut last = x.clone();
    for i in 0..n {
        let (prim, ins) = if i % 2 == 0 { (NEG, vec![last]) } else { (MUL, vec![last, x.clone()]) };
        last = builder.bind(prim, &Params::NONE, &ins).expect("operands fit").remove(0);
    }
    JaxprRef::new(builder.finish(&[last], None).0)
}

fn compilation() {
    for n in [1, 10, 100, 1000, 10_000] {
        let jaxpr = chain(n);
        let options = pullback_compile::Options::default();
        let program =
            seconds(5, 1, || drop(black_box(pullback_compile::compile(&jaxpr, &options).expect("it compiles"))));
        let all = seconds(3, 1, || drop(black_box(Executable::compile(&jaxpr).expect("it compiles"))));
        let per = |time: f64| time * 1e6 / n as f64;
        println!("compile {n} equations: {:.2} us each to a program, {:.2} us each to code", per(program), per(all));
    }
}

fn loops() {
    let text = "{ lambda ; a:f32[]. let b:f32[] = while[cond_nconsts=0 cond_jaxpr={ lambda ; a:f32[]. let b:bool[] = lt a 1000000.0:f32[] in (b,) }
        body_nconsts=0 body_jaxpr={ lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }] a in (b,) }";
    let jaxpr = JaxprRef::new(parse_jaxpr(text, &pullback_core::find_primitive).expect("it parses"));
    let code = Executable::compile(&jaxpr).expect("it compiles");
    let zero = [Array::scalar(Scalar::f32(0.0))];
    let time = seconds(5, 1, || drop(black_box(code.run(&zero, &[]).expect("it runs"))));
    println!("scalar while: {:.2} ns an iteration", time * 1e3);
}

fn main() {
    eager();
    compilation();
    loops();
}
