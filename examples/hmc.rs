//! Hamiltonian Monte Carlo: many chains at once, each one native loop, sample a correlated normal distribution. Keys are
//! carried by the loop, and none can be used twice.
//!
//! `cargo run --release --example hmc`
#![allow(clippy::print_stdout, reason = "an example prints")]

use pullback::prelude::*;
use pullback::select;

const CHAINS: usize = 64;
const SAMPLES: usize = 1000;
const LEAPS: i32 = 12;
const STEP: f64 = 0.25;
const CORRELATION: f64 = 0.8;

/// The logarithm of the density, up to a constant.
fn log_density(x: &Array) -> Array {
    let (a, b) = (x[0].clone(), x[1].clone());
    let quadratic = a.square() - 2.0 * CORRELATION * &a * &b + b.square();
    quadratic * (-0.5 / (1.0 - CORRELATION * CORRELATION))
}

/// Leaps along a trajectory: half a push, whole moves, half a push.
fn trajectory(x: &Array, momentum: &Array) -> Result<(Array, Array)> {
    let push = |x: &Array| grad(log_density)(x).map(|slope| slope * (0.5 * STEP));
    let leap = |_: Array, (x, p): (Array, Array)| {
        let p = p + push(&x)?;
        let x = x + STEP * &p;
        let p = p + push(&x)?;
        Ok((x, p))
    };
    fori_loop(0, LEAPS, leap, &(x.clone(), momentum.clone()))
}

fn energy(x: &Array, momentum: &Array) -> Array {
    momentum.square().sum() * 0.5 - log_density(x)
}

/// One chain: its samples, and how many proposals it took.
fn chain(key: Key) -> Result<(Array, Array)> {
    let [start, key] = key.split();
    let step = |(x, key): (Array, Key), _: Array| {
        let [next, push, coin] = key.split_n();
        let momentum = push.normal(&[2]);
        let (there, turned) = trajectory(&x, &momentum)?;
        let gain = energy(&x, &momentum) - energy(&there, &turned);
        let taken = coin.uniform(&[], 0.0, 1.0).less(gain.exp());
        let x = select(&taken, &there, &x);
        Ok(((x.clone(), next), (x, taken.astype(DType::F32))))
    };
    let (_, (samples, taken)) = scan(step, &(start.normal(&[2]), key), &arange(SAMPLES as i32))?;
    Ok((samples, taken.mean()))
}

fn main() -> Result<()> {
    let run = jit_owned(|keys: Key, (): &()| vmap_owned(chain)(keys));
    let (samples, taken) = run(Key::seed(0).split_many(CHAINS), &())?;
    let samples = samples.slice(s![.., 100..]).reshape(&[-1, 2]);
    let centred = &samples - samples.mean_axis(0);
    let covariance = centred.t().matmul(&centred) / samples.shape()[0] as f64;
    let taken: f32 = taken.mean().item()?;
    println!("{} samples, {:.0} % of the proposals taken", samples.shape()[0], taken * 100.0);
    println!("mean {}\ncovariance\n{covariance}", samples.mean_axis(0));
    let off: f32 = (&covariance - arr![[1.0, CORRELATION], [CORRELATION, 1.0]]).abs().max().item()?;
    match off < 0.05 && taken > 0.6 {
        true => Ok(()),
        false => Err(Error::runtime(format!("the covariance is off by {off}"))),
    }
}

#[test]
fn it_runs() -> Result<()> {
    main()
}
