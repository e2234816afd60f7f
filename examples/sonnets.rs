//! A transformer that learns eight sonnets, character by character, and writes lines of its own.
//!
//! `cargo run --release --example sonnets` shows its progress, draws the losses to `out/sonnets.svg`, prints what it writes, and
//! fails when the loss ends above 1.2 nats a character.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use pullback::nn::{self, Attention, Embedding, LayerNorm, Linear, causal_mask};
use pullback::optim::{Optimizer, Rate, State};
use pullback::prelude::*;
use pullback::random::{categorical, randint};

#[path = "plot.rs"]
mod plot;

const CONTEXT: usize = 48;
const FEATURES: usize = 64;
const HEADS: usize = 4;
const BATCH: usize = 16;
/// Steps that run as one native loop.
const AT_ONCE: usize = 10;

#[derive(Tree)]
struct Block {
    before: LayerNorm,
    attention: Attention,
    between: LayerNorm,
    up: Linear,
    down: Linear,
}

impl Block {
    fn init(key: Key) -> Block {
        let [attention, up, down] = key.split_n();
        Block {
            before: LayerNorm::init(FEATURES),
            attention: Attention::init(attention, FEATURES, HEADS),
            between: LayerNorm::init(FEATURES),
            up: Linear::init(up, FEATURES, 4 * FEATURES),
            down: Linear::init(down, 4 * FEATURES, FEATURES),
        }
    }

    fn apply(&self, x: &Array) -> Array {
        let x = x + self.attention.apply(&self.before.apply(x), Some(&causal_mask(CONTEXT)));
        &x + self.down.apply(&nn::gelu(self.up.apply(&self.between.apply(&x))))
    }
}

#[derive(Tree)]
struct Transformer {
    letters: Embedding,
    places: Embedding,
    blocks: Vec<Block>,
    norm: LayerNorm,
    out: Linear,
}

impl Transformer {
    fn init(key: Key, n_letters: usize) -> Transformer {
        let [letters, places, first, second, out] = key.split_n();
        Transformer {
            letters: Embedding::init(letters, n_letters, FEATURES),
            places: Embedding::init(places, CONTEXT, FEATURES),
            blocks: vec![Block::init(first), Block::init(second)],
            norm: LayerNorm::init(FEATURES),
            out: Linear::init(out, FEATURES, n_letters),
        }
    }

    /// For each place of a text, scores of what comes next.
    fn apply(&self, text: &Array) -> Array {
        let x = self.letters.apply(text) + &self.places.table;
        let x = self.blocks.iter().fold(x, |x, block| block.apply(&x));
        self.out.apply(&self.norm.apply(&x))
    }
}

/// A text as numbers of its characters, and the characters.
struct Text {
    numbers: Array,
    letters: Vec<char>,
}

impl Text {
    fn sonnets() -> Text {
        let text = include_str!("data/sonnets.txt");
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        let number = |c: char| letters.binary_search(&c).expect("it is one of them") as i32;
        Text { numbers: Array::from_slice(&text.chars().map(number).collect::<Vec<_>>()), letters }
    }

    fn spelled(&self, numbers: &Array) -> Result<String> {
        Ok(numbers.to_vec::<i32>()?.iter().map(|&i| self.letters[i as usize]).collect())
    }

    /// Pieces from places drawn by the key, each with one character more than the context.
    fn pieces(&self, key: Key) -> Array {
        let n = self.numbers.shape()[0] - CONTEXT;
        let starts = randint(key, &[BATCH], 0, n as i32);
        self.numbers.take(&(starts.reshape(&[-1, 1]) + arange(CONTEXT as i32 + 1)))
    }
}

fn loss(model: &Transformer, pieces: &Array) -> Array {
    let scores = model.apply(&pieces.slice(s![.., ..-1]));
    nn::softmax_cross_entropy_with_integer_labels(&scores, &pieces.slice(s![.., 1..])).mean()
}

/// Trains, and gives the model and the loss of each step.
fn train(text: &Text, n_steps: usize) -> Result<(Transformer, Vec<f32>)> {
    let [init, mut key] = Key::seed(0).split();
    let rate = Rate::warmup_cosine(0.0, 4e-3, n_steps as u32 / 10, n_steps as u32, 1e-4);
    let optimizer = Optimizer::adamw(rate, 1e-2).clipped(1.0);
    type Carry = (Transformer, State<Transformer>);
    let steps = jit_owned(|(carry, keys): (Carry, Key), (): &()| {
        let step = |(model, state): Carry, key: Key| {
            let pieces = text.pieces(key);
            let (value, gradient) = value_and_grad(|model: &Transformer| loss(model, &pieces))(&model)?;
            Ok((optimizer.step(&model, &gradient, &state)?, value))
        };
        scan(step, &carry, &keys)
    });
    let model = Transformer::init(init, text.letters.len());
    let state = optimizer.init(&model);
    let (mut carry, mut losses) = ((model, state), vec![]);
    let style = ProgressStyle::with_template("{bar:30} step {pos}/{len}, loss {msg}").expect("the template is right");
    let progress = ProgressBar::new(n_steps as u64).with_style(style);
    for _ in 0..n_steps / AT_ONCE {
        let [next, now] = key.split();
        key = next;
        let (after, values) = steps((carry, now.split_many(AT_ONCE)), &())?;
        carry = after;
        losses.extend(values.to_vec::<f32>()?);
        progress.set_message(format!("{:.3}", values.mean().item::<f32>()?));
        progress.inc(AT_ONCE as u64);
    }
    progress.finish();
    Ok((carry.0, losses))
}

/// What the model writes after the beginning of the text, as one native loop.
fn written(model: &Transformer, text: &Text, key: Key, n: usize) -> Result<String> {
    let step = |seen: Array, key: Key| {
        let next = categorical(key, model.apply(&seen).row(-1) / 0.8).astype(DType::I32);
        let seen = pullback::concatenate(&[seen.rows(1, CONTEXT as i64), next.reshape(&[1])], 0);
        (seen, next)
    };
    let (_, letters) = scan(step, &text.numbers.rows(0, CONTEXT as i64), &key.split_many(n))?;
    text.spelled(&letters)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let text = Text::sonnets();
    let (model, losses) = train(&text, 600)?;
    plot::losses(Path::new("out/sonnets.svg"), "Sonnets by a transformer", &losses)?;
    let last = losses[losses.len() - AT_ONCE..].iter().sum::<f32>() / AT_ONCE as f32;
    println!(
        "{}\n\nloss {last:.3}; the losses are drawn in out/sonnets.svg",
        written(&model, &text, Key::seed(1), 300)?
    );
    if last > 1.2 {
        return Err(format!("the loss ended at {last}, above 1.2").into());
    }
    Ok(())
}

#[test]
fn it_learns() -> Result<()> {
    let text = Text::sonnets();
    let (model, losses) = train(&text, 40)?;
    assert!((losses[0] - (text.letters.len() as f32).ln()).abs() < 1.0, "{}", losses[0]);
    assert!(losses[39] < 0.75 * losses[0], "{losses:?}");
    assert_eq!(written(&model, &text, Key::seed(1), 20)?.chars().count(), 20);
    Ok(())
}
