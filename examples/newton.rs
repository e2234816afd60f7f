//! Logistic regression by Newton's method: the Hessian is that of the loss as it is written.
//!
//! `cargo run --release --example newton`
#![allow(clippy::print_stdout, reason = "an example prints")]

use pullback::numpy::linalg;
use pullback::prelude::*;
use pullback::{hessian, nn};

const N: usize = 500;
const FEATURES: usize = 5;

/// The mean negative log-likelihood of labels 0 and 1, with a little pull to 0.
fn loss(weights: &Array, x: &Array, y: &Array) -> Array {
    let scores = x.matmul(weights);
    (nn::softplus(&scores) - y * &scores).mean() + weights.square().sum() * 1e-3
}

fn main() -> Result<()> {
    let [features, truth, noise] = Key::seed(0).split_n();
    let (x, truth) = (features.normal(&[N, FEATURES]), truth.normal(&[FEATURES]));
    let y = noise.uniform(&[N], 0.0, 1.0).less(nn::sigmoid(x.matmul(&truth))).astype(DType::F32);

    let step = jit(|weights: &Array| {
        let loss = |weights: &Array| loss(weights, &x, &y);
        let (value, slope) = value_and_grad(loss)(weights)?;
        let direction = linalg::solve(&hessian(loss)(weights)?, &slope);
        Ok((value, slope.square().sum().sqrt(), weights - direction))
    });
    let mut weights = zeros(&[FEATURES]);
    let mut steepness = f32::INFINITY;
    for number in 1..=6 {
        let (value, slope, next) = step(&weights)?;
        steepness = slope.item()?;
        println!("step {number}: loss {:.6}, slope {steepness:.2e}", value.item::<f32>()?);
        weights = next;
    }
    println!("weights {weights}\nof     {truth}");
    match steepness < 1e-5 {
        true => Ok(()),
        false => Err(Error::runtime(format!("six steps end at a slope of {steepness}"))),
    }
}

#[test]
fn it_runs() -> Result<()> {
    main()
}
