//! What tracing costs: nanoseconds for one bind into a builder, and for one equation of a derivative.
//!
//! `cargo bench -p pullback-core` prints the minimum over rounds; nothing is asserted, since machines differ.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::Instant;

use pullback_base::{Aval, DType};
use pullback_core::prims::{ADD, COS, V};
use pullback_core::transforms::JvpEmit;
use pullback_ir::{Builder, Emit, Params, Val};

const BINDS: usize = 10_000;
const ROUNDS: usize = 20;

/// The least nanoseconds for each of `BINDS` calls.
fn report(name: &str, mut round: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let n = round();
        best = best.min(start.elapsed().as_nanos() as f64 / n as f64);
    }
    println!("{name}: {best:.0} ns");
}

fn main() {
    let aval = Aval::new(&[32, 64], DType::F32);
    report("builder bind, add of two f32[32,64]", || {
        let builder = Builder::new();
        let x = builder.input(aval);
        let mut y = x.clone();
        for _ in 0..BINDS {
            y = builder.bind(ADD, &Params::NONE, &[y, x.clone()]).expect("adds").swap_remove(0);
        }
        BINDS
    });
    report("builder bind, cos", || {
        let builder = Builder::new();
        let mut y = builder.input(aval);
        for _ in 0..BINDS {
            y = builder.bind(COS, &Params::NONE, &[y]).expect("cosine").swap_remove(0);
        }
        BINDS
    });
    report("jvp over a builder, cos, for each equation made", || {
        let builder = std::sync::Arc::new(Builder::new());
        let emit = JvpEmit::new(builder.clone());
        let mut y = emit.pack(builder.input(aval), Some(builder.input(aval)));
        for _ in 0..BINDS {
            y = emit.bind(COS, &Params::NONE, &[y]).expect("cosine").swap_remove(0);
        }
        builder.n_eqns()
    });
    report("reduce_sum with params", || {
        let builder = Builder::new();
        let x = builder.input(aval);
        for _ in 0..BINDS {
            let _sum: Val = V::new(&builder, &x).reduce_sum(&[1]).done().expect("sums");
        }
        BINDS
    });
}
