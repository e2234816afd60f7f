//! Learns to read handwritten digits: a two-layer network, trained by gradient descent, without Python.
//!
//! `cargo run --release --example digits` prints the test accuracy after every epoch and fails when it ends below 95 %.
//! The same model, data and splits as `digits.py`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use pullback::prelude::*;

const TRAIN: usize = 1437;
const TEST: usize = 360;
const PIXELS: usize = 64;
const HIDDEN: usize = 64;
const CLASSES: usize = 10;
const BATCH: usize = 32;
const EPOCHS: usize = 20;
const RATE: f64 = 0.2;
const REQUIRED_ACCURACY: f32 = 0.95;

/// Weights and bias of a layer.
type Layer = (Array, Array);
/// The hidden layer and the output layer.
type Params = (Layer, Layer);
/// Images and labels.
type Examples = (Array, Array);

/// Images as `float32` in 0..1 and labels; the format is in `examples/data/README.md`.
fn load_digits() -> Examples {
    let data = include_bytes!("data/digits.bin");
    assert_eq!(&data[..8], b"DIGITS01");
    let rows: Vec<&[u8]> = data[24..].chunks_exact(PIXELS + 1).collect();
    let pixels: Vec<f32> = rows.iter().flat_map(|row| row[..PIXELS].iter().map(|&x| f32::from(x) / 16.0)).collect();
    let labels: Vec<i32> = rows.iter().map(|row| i32::from(row[PIXELS])).collect();
    (Array::from_shape(&[rows.len(), PIXELS], &pixels), Array::from_slice(&labels))
}

/// The same random training and test examples each time.
fn split(key: Key, (images, labels): &Examples) -> (Examples, Examples) {
    let order = key.permutation(TRAIN + TEST);
    let part = |from: usize, to: usize| {
        let rows = order.rows(from as i64, to as i64);
        (images.take(&rows), labels.take(&rows))
    };
    (part(0, TRAIN), part(TRAIN, TRAIN + TEST))
}

fn init_layer(key: Key, inputs: usize, outputs: usize) -> Layer {
    (key.normal(&[inputs, outputs]) / (inputs as f64).sqrt(), zeros(&[outputs]))
}

/// Scores of the ten classes for each image.
fn predict(((w1, b1), (w2, b2)): &Params, images: &Array) -> Array {
    let hidden = (images.matmul(w1) + b1).tanh();
    hidden.matmul(w2) + b2
}

/// Softmax cross-entropy, averaged over the examples.
fn loss(params: &Params, images: &Array, labels: &Array) -> Array {
    let log_probabilities = log_softmax(&predict(params, images), -1);
    -(one_hot(labels, CLASSES) * log_probabilities).sum_axis(1).mean()
}

/// One pass over the training examples in random order, as one native loop.
fn epoch((params, key): (Params, Key), (images, labels): &Examples) -> Result<(Params, Array)> {
    let n_batches = images.shape()[0] / BATCH;
    let n = (n_batches * BATCH) as i64;
    let order = key.permutation(images.shape()[0]).rows(0, n);
    let batched = |x: &Array, tail: &[i64]| x.take(&order).reshape(&[&[n_batches as i64, BATCH as i64], tail].concat());
    let batches = (batched(images, &[PIXELS as i64]), batched(labels, &[]));
    let step = |params: Params, (images, labels): Examples| {
        let with_gradient = value_and_grad(|params: &Params| loss(params, &images, &labels));
        let (value, gradient) = with_gradient(&params)?;
        Ok((zip_map(&params, &gradient, |p, g| p - RATE * g), value))
    };
    scan(step, &params, &batches)
}

fn accuracy((params, (images, labels)): &(Params, Examples)) -> Array {
    predict(params, images).argmax(1).equal(labels).astype(DType::F32).mean()
}

fn main() -> Result<()> {
    let [split_key, hidden_key, output_key, mut key] = Key::seed(0).split_n();
    let (training, test) = split(split_key, &load_digits());
    let mut params = (init_layer(hidden_key, PIXELS, HIDDEN), init_layer(output_key, HIDDEN, CLASSES));
    let (epoch, accuracy) = (jit_owned(epoch), jit(accuracy));
    let mut reached = 0.0;
    for number in 1..=EPOCHS {
        let [next, shuffle] = key.split();
        key = next;
        let start = Instant::now();
        let (new_params, losses) = epoch((params, shuffle), &training)?;
        params = new_params;
        let mean_loss: f32 = losses.mean().item()?;
        reached = accuracy(&(params.clone(), test.clone()))?.item()?;
        let time_ms = start.elapsed().as_secs_f64() * 1e3;
        println!("epoch {number:2}: loss {mean_loss:.4}, test accuracy {reached:.4}, {time_ms:.1} ms");
    }
    if reached < REQUIRED_ACCURACY {
        return Err(Error::runtime(format!("the test accuracy ended at {reached}, below {REQUIRED_ACCURACY}")));
    }
    Ok(())
}
