//! A neural differential equation: a small network is the slope of a curve, which is integrated by the classical Runge-Kutta
//! method inside of one native loop and learned through it, from a spiral.
//!
//! `cargo run --release --example neural_ode`
#![allow(clippy::print_stdout, reason = "an example prints")]

use pullback::optim::{Optimizer, State};
use pullback::prelude::*;

const POINTS: usize = 40;
const SPAN: f64 = 4.0;
const HIDDEN: usize = 32;
const STEPS: usize = 400;

#[derive(Tree)]
struct Slope {
    w1: Array,
    b1: Array,
    w2: Array,
}

impl Slope {
    fn new(key: Key) -> Slope {
        let [a, b] = key.split();
        Slope { w1: a.normal(&[2, HIDDEN]) * 0.5, b1: zeros(&[HIDDEN]), w2: b.normal(&[HIDDEN, 2]) * 0.1 }
    }

    fn at(&self, x: &Array) -> Array {
        (x.matmul(&self.w1) + &self.b1).tanh().matmul(&self.w2)
    }
}

/// Points of a curve at equal distances in time, from its first one and its slope.
fn integrated(slope: impl Fn(&Array) -> Array, first: &Array) -> Result<Array> {
    let dt = SPAN / (POINTS - 1) as f64;
    let step = |x: Array, _: Array| {
        let k1 = slope(&x);
        let k2 = slope(&(&x + &k1 * (dt / 2.0)));
        let k3 = slope(&(&x + &k2 * (dt / 2.0)));
        let k4 = slope(&(&x + &k3 * dt));
        let next = &x + (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (dt / 6.0);
        (next, x)
    };
    Ok(scan(step, first, &arange(POINTS as i32))?.1)
}

fn main() -> Result<()> {
    let first = arr![2.0, 0.0];
    let spiral = arr![[-0.1, -2.0], [2.0, -0.1]];
    let truth = integrated(|x| x.matmul(&spiral), &first)?;
    let loss = |slope: &Slope| Ok((integrated(|x| slope.at(x), &first)? - &truth).square().mean());

    let adam = Optimizer::adam(0.02);
    let step = jit_owned(|(slope, state): (Slope, State<Slope>), (): &()| {
        let (value, gradient) = value_and_grad(loss)(&slope)?;
        let (slope, state) = adam.step(&slope, &gradient, &state)?;
        Ok(((slope, state), value))
    });
    let slope = Slope::new(Key::seed(0));
    let state = adam.init(&slope);
    let mut carry = (slope, state);
    let (mut begin, mut end) = (None, f32::INFINITY);
    for number in 0..STEPS {
        let (next, value) = step(carry, &())?;
        carry = next;
        end = value.item()?;
        begin.get_or_insert(end);
        if number % 100 == 0 || number + 1 == STEPS {
            println!("step {number:3}: loss {end:.5}");
        }
    }
    match end < 0.05 * begin.unwrap_or(0.0) {
        true => Ok(()),
        false => Err(Error::runtime(format!("the loss ended at {end}"))),
    }
}

#[test]
fn it_runs() -> Result<()> {
    main()
}
