//! Layers and losses, against the numbers of flax and optax in `layers.txt`: values, and gradients in every argument.

use std::collections::BTreeMap;

use pullback::nn::{
    self, Attention, BatchNorm, BatchStats, Conv, Embedding, LayerNorm, Linear, Lstm, Padding, avg_pool, causal_mask,
    cosine_similarity, dropout, huber_loss, kl_divergence, l2_loss, log_cosh, max_pool, sigmoid_binary_cross_entropy,
    softmax_cross_entropy, softmax_cross_entropy_with_integer_labels, squared_error,
};
use pullback::prelude::*;

/// Numbers that are the same in Python: sines.
fn fill(k: i32, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let numbers: Vec<f32> = (0..n).map(|i| (f64::from(k) + 0.7 * i as f64).sin() as f32).collect();
    Array::from_shape(shape, &numbers)
}

struct Row {
    n: usize,
    first: Vec<f64>,
    sum: f64,
}

fn table() -> BTreeMap<&'static str, Row> {
    let numbers = |text: &str| text.split_whitespace().map(|x| x.parse().expect("a number")).collect::<Vec<f64>>();
    let lines = include_str!("layers.txt").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let [name, n, first, sum] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        (name, Row { n: n.parse().expect("a number"), first: numbers(first), sum: numbers(sum)[0] })
    };
    lines.map(row).collect()
}

/// All elements, each times the cosine of its number.
fn weighted(x: &Array) -> Array {
    let n = x.shape().iter().product::<usize>();
    (x.reshape(&[-1]) * arange(n as i32).astype(DType::F32).cos()).sum()
}

struct Checker {
    table: BTreeMap<&'static str, Row>,
}

impl Checker {
    fn check(&mut self, name: &str, got: &Array) -> Result<()> {
        let row = self.table.remove(name).unwrap_or_else(|| panic!("there is no row {name}"));
        let elements: Vec<f64> = got.to_vec()?;
        assert_eq!(elements.len(), row.n, "{name}");
        let sum = weighted(got).item::<f64>()?;
        // Sums of so many numbers of this size, in float32.
        let size = elements.iter().map(|x| x.abs()).fold(1.0, f64::max);
        let near = |got: f64, want: f64, n: f64| (got - want).abs() <= 2e-5 * size * n.sqrt();
        for (got, want) in elements.iter().zip(&row.first) {
            assert!(near(*got, *want, 1.0), "{name}: {elements:?} is not {:?}…", row.first);
        }
        assert!(near(sum, row.sum, row.n as f64), "{name}: the sum {sum} is not {}", row.sum);
        Ok(())
    }

    /// The value, and the gradient in each argument, compiled.
    fn all(&mut self, name: &str, args: &[Array], f: impl Fn(&[Array]) -> Array) -> Result<()> {
        let args = args.to_vec();
        self.check(name, &f(&args))?;
        let gradients = jit(grad(|args: &Vec<Array>| weighted(&f(args))))(&args)?;
        (gradients.iter().enumerate()).try_for_each(|(i, slope)| self.check(&format!("{name}: gradient {i}"), slope))
    }
}

fn linear(weight: &Array, bias: &Array) -> Linear {
    Linear { weight: weight.clone(), bias: Some(bias.clone()) }
}

fn convolutions(to: &mut Checker) -> Result<()> {
    let cases = [
        ("conv", vec![1, 1], Padding::Same),
        ("conv by 2", vec![2, 2], Padding::Valid),
        ("conv, padded", vec![2, 1], Padding::Each(vec![(1, 2), (0, 1)])),
    ];
    let conv = |args: &[Array], strides: &[usize], padding: &Padding| {
        let (weight, bias) = (args[0].clone(), Some(args[1].clone()));
        Conv { weight, bias, strides: strides.to_vec(), padding: padding.clone() }.apply(&args[2])
    };
    for (name, strides, padding) in cases {
        let args = [fill(1, &[3, 2, 2, 3]), fill(2, &[3]), fill(3, &[2, 6, 5, 2])];
        to.all(name, &args, |args| conv(args, &strides, &padding))?;
    }
    let args = [fill(1, &[4, 2, 2]), fill(2, &[2]), fill(3, &[1, 8, 2])];
    to.all("conv of one axis", &args, |args| conv(args, &[3], &Padding::Same))?;
    let images = [fill(3, &[2, 5, 4, 2])];
    to.all("max_pool", &images, |args| max_pool(&args[0], &[2, 3], &[2, 1], &Padding::Same))?;
    to.all("avg_pool", &images, |args| avg_pool(&args[0], &[2, 3], &[2, 1], &Padding::Same))
}

fn norms(to: &mut Checker) -> Result<()> {
    let args = [fill(1, &[5]), fill(2, &[5]), fill(3, &[2, 3, 5])];
    to.all("layer norm", &args, |args| LayerNorm { scale: args[0].clone(), bias: args[1].clone() }.apply(&args[2]))?;
    let args = [fill(1, &[3]), fill(2, &[3]), fill(3, &[4, 2, 3])];
    let stats = BatchStats { mean: fill(4, &[3]), variance: fill(5, &[3]) + 1.5 };
    let norm = |args: &[Array]| BatchNorm { scale: args[0].clone(), bias: args[1].clone() };
    to.all("batch norm", &args, |args| norm(args).apply(&args[2], &stats))?;
    to.all("batch norm, training", &args, |args| norm(args).train(&args[2], &stats).0)?;
    let after = norm(&args).train(&args[2], &stats).1;
    to.check("batch norm, averages", &pullback::concatenate(&[after.mean, after.variance], 0))
}

fn attentions(to: &mut Checker) -> Result<()> {
    let square = |k: i32| fill(k, &[6, 6]);
    let args = [square(1), square(2), square(3), square(4), fill(5, &[2, 4, 6])];
    let mask = causal_mask(4);
    for (name, mask) in [("attention", None), ("attention, causal", Some(&mask))] {
        to.all(name, &args, |args| {
            let [query, key, value, out] = [0, 1, 2, 3].map(|i| linear(&args[i], &fill(11 + i as i32, &[6])));
            Attention { query, key, value, out, n_heads: 2 }.apply(&args[4], mask)
        })?;
    }
    Ok(())
}

fn losses(to: &mut Checker) -> Result<()> {
    let (logits, labels) = (fill(1, &[4, 3]), softmax(&fill(2, &[4, 3]), -1));
    type Loss = fn(&Array, &Array) -> Array;
    let cases: [(&str, Loss); 8] = [
        ("softmax_cross_entropy", softmax_cross_entropy),
        ("sigmoid_binary_cross_entropy", |x, y| sigmoid_binary_cross_entropy(&(x * 3.0), y)),
        ("squared_error", squared_error),
        ("l2_loss", l2_loss),
        ("huber_loss", |x, y| huber_loss(x, y, 0.5)),
        ("log_cosh", |x, y| log_cosh(&(x * 30.0), y)),
        ("cosine_similarity", |x, y| cosine_similarity(x, y, 1e-3)),
        ("kl_divergence", |x, y| kl_divergence(&log_softmax(x, -1), y)),
    ];
    for (name, loss) in cases {
        to.all(name, &[logits.clone(), labels.clone()], |args| loss(&args[0], &args[1]))?;
    }
    let classes = arr![0, 2, 1, 1];
    to.all("softmax_cross_entropy_with_integer_labels", &[logits], |args| {
        softmax_cross_entropy_with_integer_labels(&args[0], &classes)
    })
}

#[test]
fn layers_are_those_of_flax_and_losses_those_of_optax() -> Result<()> {
    let mut to = Checker { table: table() };
    let args = [fill(1, &[4, 3]), fill(2, &[3]), fill(3, &[2, 4])];
    to.all("linear", &args, |args| linear(&args[0], &args[1]).apply(&args[2]))?;
    convolutions(&mut to)?;
    norms(&mut to)?;
    attentions(&mut to)?;
    let numbers = arr![[0, 4], [2, 2]];
    to.all("embedding", &[fill(1, &[5, 3])], |args| Embedding { table: args[0].clone() }.apply(&numbers))?;
    let args = [fill(1, &[2, 12]), fill(2, &[3, 12]), fill(3, &[12]), fill(4, &[5, 2, 2])];
    to.all("lstm", &args, |args| {
        let lstm = Lstm { input: args[0].clone(), hidden: args[1].clone(), bias: args[2].clone() };
        let (last, all) = lstm.apply(&lstm.start(&[2]), &args[3]).expect("it fits");
        pullback::concatenate(&[all, last.cell.reshape(&[1, 2, 3])], 0)
    })?;
    to.all("dropout", &[fill(1, &[4, 5])], |args| dropout(Key::seed(3), &args[0], 0.3))?;
    losses(&mut to)?;
    to.check("initial linear", &Linear::init(Key::seed(3), 4, 3).weight)?;
    to.check("initial conv", &Conv::init(Key::seed(3), &[3, 2], 2, 3).weight)?;
    to.check("initial embedding", &Embedding::init(Key::seed(3), 5, 3).table)?;
    assert!(to.table.is_empty(), "rows without a case: {:?}", to.table.keys());
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error() -> Result<()> {
    let conv = Conv::init(Key::seed(0), &[3, 3], 1, 2);
    let x = ones(&[1, 5, 5]).checked();
    assert!(conv.apply(&x).eval().expect_err("no features").message().contains("a convolution with a window"));
    let conv = Conv { padding: Padding::Each(vec![(1, 1)]), ..conv };
    assert!(conv.apply(&ones(&[1, 5, 5, 1]).checked()).eval().is_err(), "padding of one axis");
    assert!(max_pool(&x, &[2], &[0], &Padding::Valid).eval().is_err(), "a step of zero");
    assert!(nn::relu(Array::scalar(-1.0)).item::<f32>()? == 0.0, "functions of `jax.nn` are here, too");
    let loss = softmax_cross_entropy_with_integer_labels(&zeros(&[1, 3]), &arr![3]);
    assert!(loss.item::<f32>()?.is_nan(), "a label that is no class");
    assert_eq!(dropout(Key::seed(0), &ones(&[3]), 1.0), zeros(&[3]));
    let one_gate = Lstm::init(Key::seed(0), 2, 3).hidden.slice(s![.., 0..3]);
    let identity = one_gate.matmul(&one_gate.t()) - pullback::eye(3);
    assert!(identity.abs().max().item::<f32>()? < 1e-5, "orthogonal");
    Ok(())
}
