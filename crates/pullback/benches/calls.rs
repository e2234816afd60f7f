//! What calls cost: `cargo bench -p pullback --bench calls`. One line for each, in nanoseconds: the median of rounds.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::time::Instant;

use pullback::prelude::*;

const ROUNDS: usize = 31;

/// Nanoseconds of one call: the median of rounds of as many calls as take about 5 ms.
fn time(name: &str, mut call: impl FnMut()) {
    let start = Instant::now();
    let mut n_warm = 0_u32;
    while n_warm < 10 || start.elapsed().as_millis() < 50 {
        call();
        n_warm += 1;
    }
    let calls = (n_warm / 10).max(1);
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:40} {:10.0} ns", rounds[ROUNDS / 2]);
}

fn main() -> Result<()> {
    let (x, y) = (arr![1.0, 2.0, 3.0], arr![4.0, 5.0, 6.0]);
    time("eager add of 3 elements", || drop(black_box(&x + &y)));
    time("eager add of a number to 3 elements", || drop(black_box(&x + 1.0)));
    time("eager tanh of 3 elements", || drop(black_box(x.tanh())));
    time("eager sum of 3 elements", || drop(black_box(x.sum())));

    let slope = grad(|x: &Array| (x * x).sum());
    slope(&x)?;
    time("eager grad of (x * x).sum()", || drop(black_box(slope(&x))));

    let one = jit(|x: &Array| x * 2.0);
    one(&x)?;
    time("jit call, 1 leaf", || drop(black_box(one(&x))));
    let many: Vec<Array> = (0..100).map(|i| &x + i).collect();
    let sum = jit(|xs: &Vec<Array>| xs.iter().fold(zeros(&[3]), |sum, x| sum + x));
    sum(&many)?;
    time("jit call, 100 leaves in, 1 out", || drop(black_box(sum(&many))));
    let all = jit(|xs: &Vec<Array>| map(xs, |x| x * 2.0));
    all(&many)?;
    time("jit call, 100 leaves in, 100 out", || drop(black_box(all(&many))));

    let slice: Vec<f32> = vec![0.5; 1_000_000];
    time("from_slice of 1e6 elements", || drop(black_box(Array::from_slice(&slice))));
    let array = Array::from_slice(&slice);
    time("to_vec of 1e6 elements", || drop(black_box(array.to_vec::<f32>())));
    Ok(())
}
