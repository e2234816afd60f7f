//! Ten programs: what a Rust user wants to write, each whole.

use std::sync::Arc;

use pullback::files::{load, load_into, save};
use pullback::prelude::*;
use pullback::{ByName, EachLeaf, checkpoint, custom_jvp, custom_vjp, hvp, jacfwd, jacrev, linearize, vjp};

fn near(got: &Array, want: &[f64]) {
    let got: Vec<f64> = got.to_vec().expect("known elements");
    assert_eq!(got.len(), want.len());
    for (a, b) in got.iter().zip(want) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{got:?} is not {want:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Act {
    Tanh,
    Linear,
}

#[derive(Tree)]
struct Dense {
    w: Array,
    b: Array,
    #[tree(fixed)]
    act: Act,
}

#[derive(Tree)]
struct Mlp {
    layers: Vec<Dense>,
}

impl Mlp {
    fn new(key: Key, sizes: &[usize]) -> Mlp {
        let mut layers = vec![];
        let mut key = key;
        for pair in sizes.windows(2) {
            let [next, now] = key.split();
            key = next;
            let act = if layers.len() + 2 == sizes.len() { Act::Linear } else { Act::Tanh };
            layers.push(Dense { w: now.normal(pair) / (pair[0] as f64).sqrt(), b: zeros(&pair[1..]), act });
        }
        Mlp { layers }
    }

    fn apply(&self, x: &Array) -> Array {
        self.layers.iter().fold(x.clone(), |x, layer| {
            let y = x.matmul(&layer.w) + &layer.b;
            if layer.act == Act::Tanh { y.tanh() } else { y }
        })
    }
}

#[test]
fn program_1_arrays_and_operators() -> Result<()> {
    let a = arr![[1.0, 2.0], [3.0, 4.0]];
    let y = (&a * 2.0 + a.t()).sum_with(|sum| sum.axis(0)).exp();
    near(&y, &[11_f64.exp(), 19_f64.exp()]);
    let (p, q) = (arr![[[1.0, 2.0]], [[3.0, 4.0]]], arr![[[1.0], [1.0]], [[2.0], [0.0]]]);
    assert_eq!(einsum("bij,bjk->bik", (&p, &q)), arr![[[3.0]], [[6.0]]]);
    let mut total = zeros(&[2]);
    for row in &a {
        total += row;
    }
    assert_eq!(total, arr![4.0, 6.0]);
    let x = arange(24).reshape(&[2, 3, 4]);
    assert_eq!(x.slice(s![1, .., 2]), arr![14, 18, 22]);
    assert_eq!(x.slice(s![.., 1.., ..;2]).shape(), [2, 2, 2]);
    assert_eq!(x.slice(s![pullback::Ellipsis, -1]).shape(), [2, 3]);
    assert_eq!(x.slice(s![0, pullback::NewAxis, 0..=1]).shape(), [1, 2, 4]);
    assert_eq!(x.slice(s![0, 0, ..;-2]), arr![3, 1]);
    let even = x.equal((&x / 2).floor() * 2.0);
    assert_eq!(x.slice(s![&even]).shape(), [12]);
    assert_eq!(a.at(s![.., &arr![0, 0]]).add(1.0), arr![[3.0, 2.0], [5.0, 4.0]]);
    assert_eq!(a.at(s![0, 0]).set(-1.0).at(s![1]).multiply(10.0), arr![[-1.0, 2.0], [30.0, 40.0]]);
    let slope = grad(|a: &Array| a.at(s![0]).set(0.0).square().sum())(&a)?;
    assert_eq!(slope, arr![[0.0, 0.0], [6.0, 8.0]]);
    let error = jit(|a: &Array| a.slice(s![0, 5]))(&a).expect_err("out of bounds");
    assert!(error.message().contains("index 5 is out of bounds for axis 1 with size 2"), "{error}");
    Ok(())
}

#[test]
fn programs_2_and_3_trees_and_a_training_loop() -> Result<()> {
    let mut model = Mlp::new(Key::seed(0), &[2, 16, 1]);
    let x = Key::seed(1).uniform(&[64, 2], -1.0, 1.0);
    let y = x.slice(s![.., 0..1]) * x.slice(s![.., 1..2]);
    let loss = |model: &Mlp| (model.apply(&x) - &y).square().mean();
    let step = jit(value_and_grad(loss));
    let (first, _) = step(&model)?;
    let mut last = first.clone();
    for _ in 0..300 {
        let (value, gradient) = step(&model)?;
        model = zip_map(&model, &gradient, |p, g| p - 0.3 * g);
        last = value;
    }
    assert!(last.item::<f32>()? < 0.2 * first.item::<f32>()?, "{first} became {last}");
    assert_eq!(model.layers[0].act, Act::Tanh);
    Ok(())
}

#[test]
fn program_4_higher_derivatives() -> Result<()> {
    let f = |x: &Array| (x * x * x).sum();
    near(&grad(grad(grad(f)))(&Array::scalar(2.0))?, &[6.0]);
    let (x, v) = (arr![1.0, 2.0], arr![1.0, -1.0]);
    let by_hand = |x: &Array, v: &Array| jvp(grad(f), x, v).map(|(_, t)| t);
    near(&by_hand(&x, &v)?, &[6.0, -12.0]);
    near(&hvp(f, &x, &v)?, &[6.0, -12.0]);
    let g = |x: &Array| Ok(pullback::stack(&[x.sum(), x[0].clone() * &x[1], x[1].sin()], 0));
    let want = [1.0, 1.0, 2.0, 1.0, 0.0, 2_f64.cos()];
    for jacobian in [jacfwd(g)(&x)?, jacrev(g)(&x)?, jit(jacfwd(g))(&x)?] {
        assert_eq!(jacobian.shape(), [3, 2]);
        near(&jacobian, &want);
    }
    near(&pullback::hessian(|x: &Array| x[0].clone() * &x[1] * &x[1])(&x)?, &[0.0, 4.0, 4.0, 2.0]);
    let (y, pull) = vjp(|x: &(Array, Array)| &x.0 * &x.1, &(x.clone(), v.clone()))?;
    assert_eq!((y, pull(&arr![1.0, 10.0])?), (arr![1.0, -2.0], (arr![1.0, -10.0], arr![1.0, 20.0])));
    assert!(pull(&arr![1.0]).expect_err("another shape").message().contains("float32[1]"));
    let (_, push) = linearize(|(x, n): &(Array, Array)| (x.square(), n + 1), &(x.clone(), arr![1, 2]))?;
    let (slope, none) = push(&(v.clone(), arr![0, 0]))?;
    assert_eq!((slope, none.shape()), (arr![2.0, -4.0], &[2][..]));
    // Numbers without a derivative have none in jvp either, and tangents of another type are refused.
    let (_, (slope, _)) = jvp(|(x, n): &(Array, Array)| (x * 2.0, n.clone()), &(x.clone(), arr![1]), &(v, arr![7]))?;
    assert_eq!(slope, arr![2.0, -2.0]);
    assert!(jvp(f, &x, &arr![1.0]).is_err());
    Ok(())
}

#[test]
fn program_5_batches_with_axes() -> Result<()> {
    let predict = |(model, x): &(Mlp, Array)| model.apply(x);
    let (model, xs) = (Mlp::new(Key::seed(0), &[3, 4, 2]), Key::seed(1).normal(&[3, 5]));
    let want = model.apply(&xs.t());
    let batched = vmap_with(predict, |v| v.in_axes((None, -1)).out_axes(1));
    let both = (model, xs);
    let got = batched(&both)?;
    assert_eq!(got.shape(), [2, 5]);
    near(&got.t(), &want.to_vec::<f64>()?);
    let by_leaf = vmap_with(predict, |v| v.in_axes(EachLeaf(vec![None, None, None, None, Some(1)])));
    near(&by_leaf(&both)?, &want.to_vec::<f64>()?);
    let by_name = vmap_with(predict, |v| v.in_axes(ByName(|name: &str| (name == "1").then_some(1))));
    near(&by_name(&both)?, &want.to_vec::<f64>()?);
    let two = vmap_with(|x: &Array| (x.clone(), x.sum()), |v| v.out_axes((1, 0)));
    assert_eq!(two(&arr![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?.0.shape(), [3, 2]);
    let same = vmap_with(|x: &Array| x * 2.0, |v| v.in_axes(None).size(3));
    assert_eq!(same(&arr![1.0])?, arr![[2.0], [2.0], [2.0]]);
    let list = vmap_with(|xs: &Vec<Array>| &xs[0] * &xs[1], |v| v.in_axes(vec![Some(0), None]));
    assert_eq!(list(&vec![arr![1.0, 2.0], Array::scalar(3.0_f32)])?, arr![3.0, 6.0]);
    for (axes, text) in [(7, "along axis 7"), (-3, "along axis -3")] {
        let error = vmap_with(|x: &Array| x.sum(), |v| v.in_axes(axes))(&ones(&[2, 2])).expect_err("no such axis");
        assert!(error.message().contains(text), "{error}");
    }
    Ok(())
}

#[test]
fn program_6_compiled_steps_own_their_state() -> Result<()> {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Config {
        n_steps: usize,
    }
    let step = jit_owned(|state: Array, (x, Static(config)): &(Array, Static<Config>)| {
        (0..config.n_steps).fold(state, |state, _| state * 0.5 + x)
    });
    let rest = |n_steps| (arr![1.0], Static(Config { n_steps }));
    let state = step(arr![4.0], &rest(1))?;
    let state = step(state, &rest(2))?;
    assert_eq!(state, arr![2.25]);
    // A clone that somebody kept stays what it was, and the memory of what nobody kept is used again.
    let kept = state.clone();
    let next = step(state, &rest(1))?;
    assert_eq!((kept, next), (arr![2.25], arr![2.125]));
    let twice = jit_owned(|(a, b): (Array, Array), (): &()| (a + 1.0, b * 2.0));
    let one = arr![1.0, 2.0];
    assert_eq!(twice((one.clone(), one.clone()), &())?, (arr![2.0, 3.0], arr![2.0, 4.0]));
    assert_eq!(one, arr![1.0, 2.0]);
    let slope = grad(|x: &Array| twice((x.clone(), x.clone()), &()).map(|(a, b)| (a * b).sum()))(&one)?;
    assert_eq!(slope, arr![6.0, 10.0]);
    Ok(())
}

#[test]
fn program_7_derivatives_of_the_users() -> Result<()> {
    let safe_sqrt = custom_vjp(
        |x: &Array| x.sqrt(),
        |x: &Array| {
            let y = x.sqrt();
            (y.clone(), move |ct: Array| ct / (2.0 * &y).maximum(1e-3))
        },
    );
    let f = |x: &Array| Ok(safe_sqrt(x)?.sum());
    let x = arr![0.0, 4.0, 16.0];
    let want = [1000.0, 0.25, 0.125];
    assert_eq!(safe_sqrt(&x)?, arr![0.0, 2.0, 4.0]);
    near(&grad(f)(&x)?, &want);
    near(&jit(grad(f))(&x)?, &want);
    near(&grad(jit(f))(&x)?, &want);
    near(&vmap(grad(|x: &Array| safe_sqrt(x)))(&x)?, &want);
    near(&grad(|x: &Array| Ok(vmap(|x: &Array| safe_sqrt(x))(x)?.sum()))(&x)?, &want);
    // Second derivatives are those of the rule: of ct / (2 √x) where that is the greater.
    let second = grad(|x: &Array| Ok(grad(f)(x)?.sum()));
    near(&second(&arr![4.0, 16.0])?, &[-1.0 / 32.0, -1.0 / 256.0]);
    assert!(jvp(f, &x, &x).is_err(), "there is no forward rule");

    let cube = custom_jvp(|x: &Array| x * x * x, |x: &Array, t: &Array| (x * x * x, t * x * x * 3.0));
    near(&grad(|x: &Array| cube(x))(&Array::scalar(2.0))?, &[12.0]);
    near(&grad(grad(|x: &Array| cube(x)))(&Array::scalar(2.0))?, &[12.0]);
    near(&jvp(|x: &Array| cube(x), &arr![2.0], &arr![0.5])?.1, &[6.0]);
    let in_loop = |x: &Array| Ok(fori_loop(0, 2, |_, y: Array| cube(&y), x)?.sum());
    near(&grad(in_loop)(&Array::scalar(1.5))?, &[9.0 * 1.5_f64.powi(8)]);
    near(&jit(vmap(grad(|x: &Array| cube(x))))(&arr![1.0, 2.0])?, &[3.0, 12.0]);
    let again = checkpoint(|x: &Array| cube(&x.sin()));
    near(&grad(|x: &Array| again(x))(&Array::scalar(1.0))?, &[3.0 * 1_f64.sin().powi(2) * 1_f64.cos()]);

    // Trees, and several results.
    let scaled = custom_vjp(
        |(x, n): &(Array, Array)| (x * n, n + 1),
        |(x, n): &(Array, Array)| {
            let (n, zero) = (n.clone(), n.zeros_like());
            ((x * &n, &n + 1), move |(ct, _): (Array, Array)| (ct * &n * 10.0, zero.clone()))
        },
    );
    let slope = grad(|x: &Array| Ok(scaled(&(x.clone(), arr![2.0, 3.0]))?.0.sum()))(&arr![1.0, 1.0])?;
    assert_eq!(slope, arr![20.0, 30.0]);
    Ok(())
}

#[test]
fn rules_that_would_lose_a_derivative_are_errors() -> Result<()> {
    let x = arr![1.0, 2.0];
    let captures = |w: &Array| {
        let w = w.clone();
        let inner = w.clone();
        let f = custom_jvp(move |x: &Array| x * &w, move |x: &Array, t: &Array| (x * &inner, t * &inner));
        Ok(f(&arr![1.0, 2.0])?.sum())
    };
    assert!(grad(captures)(&x).is_err(), "the derivative in w would be lost");
    let captures = |w: &Array| {
        let w = w.clone();
        let f = custom_vjp(
            |x: &Array| x * 2.0,
            move |x: &Array| {
                let w = w.clone();
                (x * 2.0, move |ct: Array| ct * &w)
            },
        );
        grad(|x: &Array| Ok(f(x)?.sum()))(&arr![1.0, 1.0]).map(|slope| slope.sum())
    };
    match grad(captures)(&x) {
        Ok(slope) => assert_eq!(slope, arr![1.0, 1.0]),
        Err(error) => assert!(!error.message().is_empty()),
    }
    let wrong = custom_vjp(|x: &Array| x.sum(), |x: &Array| (x.sum(), |ct: Array| ct));
    let error = grad(|x: &Array| wrong(x))(&x).expect_err("a cotangent of another shape");
    assert!(error.message().contains("float32[2]"), "{error}");
    let wrong = custom_jvp(|x: &Array| x.sum(), |x: &Array, t: &Array| (x * 1.0, t.clone()));
    assert!(grad(|x: &Array| wrong(x))(&x).is_err(), "the rule gives another type");
    Ok(())
}

#[test]
fn program_8_control_flow() -> Result<()> {
    let w = arr![[0.5, 0.1], [0.0, 0.5]];
    let cell = checkpoint(|(w, h, x): &(Array, Array, Array)| (w.matmul(h) + x).tanh());
    let run = |w: &Array| {
        let step = |h: Array, x: Array| -> Result<(Array, Array)> {
            let h = cell(&(w.clone(), h, x))?;
            Ok((h.clone(), h))
        };
        let (h, ys) = scan(step, &zeros(&[2]), &ones(&[5, 2]))?;
        Ok(h.sum() + ys.mean())
    };
    let plain = |w: &Array| {
        let mut h = zeros(&[2]);
        let mut ys = vec![];
        for _ in 0..5 {
            h = (w.matmul(&h) + 1.0).tanh();
            ys.push(h.clone());
        }
        h.sum() + stack(&ys, 0).mean()
    };
    near(&run(&w)?, &plain(&w).to_vec::<f64>()?);
    near(&grad(run)(&w)?, &grad(plain)(&w)?.to_vec::<f64>()?);
    let choose = |x: &Array| cond(&x.less(0.0), |x: Array| x.sin(), |x: Array| x.cos(), x);
    near(&choose(&Array::scalar(-1.0))?, &[-1_f64.sin()]);
    let branches: [fn(Array) -> Array; 3] = [|x| x.sin(), |x| x * 2.0, |x| x.square()];
    for (index, want) in [(0, 3_f64.sin()), (1, 6.0), (2, 9.0), (7, 9.0), (-4, 3_f64.sin())] {
        near(&switch(&Array::scalar(index), &branches, &Array::scalar(3.0))?, &[want]);
        near(&switch(&Array::scalar(index as i8), &branches, &Array::scalar(3.0))?, &[want]);
    }
    near(&switch(&Array::scalar(1_u64 << 40), &branches, &Array::scalar(3.0))?, &[9.0]);
    near(&pullback::map_slices(|x: Array| x.max(), &arr![[1.0, 5.0], [7.0, 2.0]])?, &[5.0, 7.0]);
    Ok(())
}

#[test]
fn program_9_keys_are_used_once() -> Result<()> {
    let [k1, k2] = Key::seed(0).split();
    assert_ne!(k1.normal(&[3]), k2.normal(&[3]));
    let one_by_one: Vec<Array> = Key::seed(3).split_n::<4>().into_iter().map(|key| key.normal(&[2])).collect();
    let at_once = vmap_owned(|key: Key| key.normal(&[2]))(Key::seed(3).split_many(4))?;
    assert_eq!(stack(&one_by_one, 0), at_once);
    let looped = scan(|(): (), key: Key| ((), key.normal(&[2])), &(), &Key::seed(3).split_many(4))?.1;
    assert_eq!(looped, at_once);
    let compiled = jit_owned(|key: Key, n: &Array| (key.fold_in(n).normal(&[2]), n + 1));
    assert_eq!(compiled(Key::seed(3), &Array::scalar(1))?.0, Key::seed(3).fold_in(1).normal(&[2]));
    Ok(())
}

#[test]
fn program_10_models_in_files() -> Result<()> {
    let path = std::env::temp_dir().join(format!("pullback-ten-programs-{}.safetensors", std::process::id()));
    let model = Mlp::new(Key::seed(0), &[3, 4, 2]);
    save(&path, &model)?;
    let names: Vec<String> = load(&path)?.into_keys().collect();
    assert_eq!(names, ["layers.0.b", "layers.0.w", "layers.1.b", "layers.1.w"]);
    let again = load_into(&path, &Mlp::new(Key::seed(7), &[3, 4, 2]))?;
    let x = ones(&[1, 3]);
    assert_eq!(again.apply(&x), model.apply(&x));
    let error = load_into(&path, &Mlp::new(Key::seed(7), &[3, 5, 2])).err().expect("another shape");
    assert!(error.message().contains("layers.0.w"), "{error}");
    assert!(load_into(&path, &arr![1.0]).is_err(), "another tree");
    let whole = std::fs::read(&path).expect("the file is there");
    for damaged in [&whole[..whole.len() - 3], &whole[..5], b"nonsense that is no such file at all"] {
        std::fs::write(&path, damaged).expect("it can be written");
        assert!(load(&path).is_err());
    }
    let all = vec![arr![true, false], Array::from_slice(&[1_u8]), arr![f64; 0.1], arr![1.5].astype(DType::BF16)];
    save(&path, &all)?;
    let back = load_into(&path, &all)?;
    assert!(all.iter().zip(&back).all(|(a, b)| a == b));
    assert!(save(&path, &arr![f64; 1.0].astype(DType::C128)).is_err(), "the format has no such type");
    std::fs::remove_file(&path).expect("it was there");
    assert!(load(&path).is_err());
    Ok(())
}

#[test]
fn compiled_functions_are_shared_by_threads() -> Result<()> {
    fn is_shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let f = Arc::new(is_shared(jit(value_and_grad(|x: &Array| x.sin().sum()))));
    let _ = is_shared(custom_jvp(|x: &Array| x.clone(), |x: &Array, t: &Array| (x.clone(), t.clone())));
    let _ = is_shared(vmap_with(|x: &Array| x.clone(), |v| v.in_axes(1)));
    is_shared((arr![1.0], Key::seed(0)));
    std::thread::scope(|scope| {
        for i in 0..4 {
            let f = f.clone();
            scope.spawn(move || {
                let x = Array::scalar(f64::from(i)).astype(DType::F32);
                let (_, slope) = f(&x).expect("it runs");
                near(&slope, &[f64::from(i).cos()]);
            });
        }
    });
    Ok(())
}
