//! Learns to read handwritten digits with two convolutions, batch norm and dropout, trained by AdamW.
//!
//! `cargo run --release --example digits_cnn` shows its progress, draws the losses to `out/digits_cnn.svg`, and fails when the
//! accuracy on images that it was not trained with ends below 97 %.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use pullback::nn::{self, BatchNorm, BatchStats, Conv, Linear, Padding};
use pullback::optim::{Optimizer, Rate, State};
use pullback::prelude::*;

#[path = "plot.rs"]
mod plot;

const TRAIN: usize = 1437;
const TEST: usize = 360;
const BATCH: usize = 64;
const N_BATCHES: usize = TRAIN / BATCH;

#[derive(Tree)]
struct Network {
    first: Conv,
    norm: BatchNorm,
    second: Conv,
    out: Linear,
}

impl Network {
    fn init(key: Key) -> (Network, BatchStats) {
        let [first, second, out] = key.split_n();
        let (norm, stats) = BatchNorm::init(16);
        let first = Conv { bias: None, ..Conv::init(first, &[3, 3], 1, 16) };
        let network =
            Network { first, norm, second: Conv::init(second, &[3, 3], 16, 32), out: Linear::init(out, 128, 10) };
        (network, stats)
    }

    /// Scores of the ten classes, from the normalized features of the first convolution.
    fn scores(&self, normalized: &Array, dropped: Option<&Array>) -> Array {
        let pooled = |x: &Array| nn::max_pool(x, &[2, 2], &[2, 2], &Padding::Valid);
        let x = pooled(&normalized.relu());
        let x = pooled(&self.second.apply(&x).relu()).reshape(&[-1, 128]);
        self.out.apply(&dropped.map_or(x.clone(), |dropped| x * dropped))
    }

    /// Softmax cross-entropy, averaged over the images, and the averages of batch norm with this batch.
    fn loss(&self, stats: &BatchStats, dropped: &Array, (images, labels): &(Array, Array)) -> (Array, BatchStats) {
        let (x, stats) = self.norm.train(&self.first.apply(images), stats);
        let scores = self.scores(&x, Some(dropped));
        (nn::softmax_cross_entropy_with_integer_labels(&scores, labels).mean(), stats)
    }
}

/// All that a step changes.
type Carry = (Network, BatchStats, State<Network>);

/// Images of 8 by 8 with one feature, in 0..1, and labels; the format is in `examples/data/README.md`.
fn load_digits() -> (Array, Array) {
    let data = include_bytes!("data/digits.bin");
    assert_eq!(&data[..8], b"DIGITS01");
    let rows: Vec<&[u8]> = data[24..].chunks_exact(65).collect();
    let pixels: Vec<f32> = rows.iter().flat_map(|row| row[..64].iter().map(|&x| f32::from(x) / 16.0)).collect();
    let labels: Vec<i32> = rows.iter().map(|row| i32::from(row[64])).collect();
    (Array::from_shape(&[rows.len(), 8, 8, 1], &pixels), Array::from_slice(&labels))
}

/// Trains, and gives the loss of each step and the accuracy on the images that were left out.
fn train(n_epochs: usize) -> Result<(Vec<f32>, f32)> {
    let (images, labels) = load_digits();
    let [order, network, mut key] = Key::seed(0).split_n();
    let order = order.permutation(TRAIN + TEST);
    let part = |from: usize, to: usize| {
        let rows = order.rows(from as i64, to as i64);
        (images.take(&rows), labels.take(&rows))
    };
    let (training, test) = (part(0, TRAIN), part(TRAIN, TRAIN + TEST));
    let n_steps = (n_epochs * N_BATCHES) as u32;
    let adamw = Optimizer::adamw(Rate::warmup_cosine(0.0, 5e-3, n_steps / 10, n_steps, 1e-4), 1e-3);

    // One pass over the training images in random order, as one native loop.
    let epoch = jit_owned(|(carry, key): (Carry, Key), (images, labels): &(Array, Array)| {
        let [shuffle, drop] = key.split();
        let order = shuffle.permutation(TRAIN).rows(0, (N_BATCHES * BATCH) as i64).reshape(&[N_BATCHES as i64, -1]);
        let step = |(network, stats, state): Carry, (rows, key): (Array, Key)| {
            let batch = (images.take(&rows), labels.take(&rows));
            // What dropout leaves of ones: a key cannot be used by a function that may be called again.
            let dropped = nn::dropout(key, &ones(&[BATCH, 128]), 0.2);
            let loss = |network: &Network| network.loss(&stats, &dropped, &batch);
            let ((value, stats), gradient) = pullback::value_and_grad_aux(loss)(&network)?;
            let (network, state) = adamw.step(&network, &gradient, &state)?;
            Ok(((network, stats, state), value))
        };
        scan(step, &carry, &(order, drop.split_many(N_BATCHES)))
    });
    let accuracy = jit(|(network, stats, (images, labels)): &(Network, BatchStats, (Array, Array))| {
        let normalized = network.norm.apply(&network.first.apply(images), stats);
        network.scores(&normalized, None).argmax(-1).equal(labels).astype(DType::F32).mean()
    });

    let (network, stats) = Network::init(network);
    let state = adamw.init(&network);
    let (mut carry, mut losses) = ((network, stats, state), vec![]);
    let style = ProgressStyle::with_template("{bar:30} epoch {pos}/{len}, loss {msg}").expect("the template is right");
    let progress = ProgressBar::new(n_epochs as u64).with_style(style);
    for _ in 0..n_epochs {
        let [next, now] = key.split();
        key = next;
        let (after, values) = epoch((carry, now), &training)?;
        carry = after;
        losses.extend(values.to_vec::<f32>()?);
        progress.set_message(format!("{:.4}", values.mean().item::<f32>()?));
        progress.inc(1);
    }
    progress.finish();
    let reached = accuracy(&(carry.0, carry.1, test))?.item()?;
    Ok((losses, reached))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (losses, reached) = train(15)?;
    plot::losses(Path::new("out/digits_cnn.svg"), "Digits by convolutions", &losses)?;
    println!("test accuracy {reached:.4}; the losses are drawn in out/digits_cnn.svg");
    if reached < 0.97 {
        return Err(format!("the test accuracy ended at {reached}, below 0.97").into());
    }
    Ok(())
}

#[test]
fn it_learns() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (losses, reached) = train(3)?;
    assert!(reached > 0.9, "{reached}");
    let path = std::env::temp_dir().join(format!("digits-cnn-{}.svg", std::process::id()));
    plot::losses(&path, "losses", &losses)?;
    assert!(std::fs::read_to_string(&path)?.contains("<polyline"));
    Ok(std::fs::remove_file(path)?)
}
