//! What a Rust user sees.

use std::cell::RefCell;

use pullback::prelude::*;

fn near(got: &Array, want: &[f32]) {
    let got: Vec<f32> = got.to_vec().expect("known elements");
    assert_eq!(got.len(), want.len());
    for (a, b) in got.iter().zip(want) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{got:?} is not {want:?}");
    }
}

#[test]
fn operators_broadcast_and_promote() -> Result<()> {
    let a = arr![[1.0, 2.0], [3.0, 4.0]];
    near(&(&a * 2.0 + arr![10.0, 20.0]), &[12.0, 24.0, 16.0, 28.0]);
    near(&(1.0 / &a), &[1.0, 0.5, 1.0 / 3.0, 0.25]);
    near(&a.matmul(&a.t()), &[5.0, 11.0, 11.0, 25.0]);
    assert_eq!((arange(3) + arange(3)).dtype(), DType::I32);
    assert_eq!(format!("{a}"), "[[1.0 2.0]\n [3.0 4.0]]");
    Ok(())
}

#[test]
fn grad_of_a_tree() -> Result<()> {
    let loss = |(w, b): &(Array, Array)| (w * 3.0 + b).square().sum();
    let (dw, db) = grad(loss)(&(arr![1.0, 2.0], arr![0.5, 0.5]))?;
    near(&dw, &[21.0, 39.0]);
    near(&db, &[7.0, 13.0]);
    Ok(())
}

#[test]
fn transformations_nest() -> Result<()> {
    let f = |x: &Array| x.sin() * x;
    let point = Array::scalar(0.5);
    let (x, s, c) = (0.5f32, 0.5f32.sin(), 0.5f32.cos());
    near(&grad(f)(&point)?, &[s + x * c]);
    near(&grad(grad(f))(&point)?, &[2.0 * c - x * s]);
    near(&jit(grad(grad(f)))(&point)?, &[2.0 * c - x * s]);
    near(&vmap(grad(f))(&arr![0.5, 0.5])?, &[s + x * c, s + x * c]);
    let (value, tangent) = jvp(jit(f), &point, &Array::scalar(2.0))?;
    near(&value, &[s * x]);
    near(&tangent, &[2.0 * (s + x * c)]);
    Ok(())
}

#[test]
fn control_flow_runs_and_differentiates() -> Result<()> {
    let sums = scan(|c: Array, x: Array| (&c + &x, c * x), &Array::scalar(0.0), &arr![1.0, 2.0, 3.0])?;
    near(&sums.0, &[6.0]);
    near(&sums.1, &[0.0, 2.0, 9.0]);
    let doubled = while_loop(|x: Array| x.less(10.0), |x: Array| x * 2.0, &Array::scalar(1.0))?;
    near(&doubled, &[16.0]);
    let power = fori_loop(0, 4, |_i, x: Array| x * 3.0, &Array::scalar(1.0))?;
    near(&power, &[81.0]);
    let chosen = |x: &Array| cond(&x.less(0.0), |x: Array| -x, |x: Array| x.square(), x);
    near(&chosen(&Array::scalar(-2.0))?, &[2.0]);
    near(&grad(chosen)(&Array::scalar(3.0))?, &[6.0]);
    let last = |w: &Array| Ok(scan(|c: Array, x: Array| (&c * w + x, ()), &Array::scalar(1.0), &arr![1.0, 1.0])?.0);
    near(&grad(last)(&Array::scalar(2.0))?, &[5.0]);
    Ok(())
}

#[test]
fn random_numbers_are_those_of_the_reference() -> Result<()> {
    near(&Key::seed(0).uniform(&[3], 0.0, 1.0), &[0.947_667, 0.978_579_9, 0.332_291_48]);
    near(&Key::seed(0).normal(&[3]), &[1.622_642_2, 2.025_264_7, -0.433_594_44]);
    assert_eq!(Key::seed(0).permutation(5).to_vec::<i32>()?, [0, 1, 4, 3, 2]);
    Ok(())
}

#[test]
fn a_mistake_in_a_traced_function_comes_back_once_with_its_line() {
    let wrong = |x: &Array| (x + arr![1.0, 2.0, 3.0, 4.0]).sum();
    let error = grad(wrong)(&arr![1.0, 2.0, 3.0]).expect_err("shapes differ");
    assert!(error.message().contains("(3,), (4,)"), "{error}");
    let place = error.span().resolve().expect("a known line");
    assert!(place.file.ends_with("front.rs"), "{place}");
}

#[test]
fn a_mistake_in_eager_code_panics_unless_checked() {
    let (a, b) = (arr![1.0, 2.0, 3.0], arr![1.0, 2.0]);
    assert!((a.checked() + &b).sum().eval().is_err());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| &a + &b));
    std::panic::set_hook(hook);
    let text = result.expect_err("a panic").downcast_ref::<String>().cloned().expect("a text");
    assert!(text.contains("add got incompatible shapes"), "{text}");
}

#[test]
fn a_leaked_tracer_is_an_error() {
    let kept = RefCell::new(None);
    let leak = |x: &Array| {
        *kept.borrow_mut() = Some(x.clone());
        x.sum()
    };
    grad(leak)(&arr![1.0]).expect("a gradient");
    let tracer = kept.borrow_mut().take().expect("kept").checked();
    let error = (tracer * 2.0).eval().expect_err("the trace is over");
    assert!(error.message().contains("was used outside of it"), "{error}");
}

#[test]
fn safe_grads_know_what_a_choice_dropped() -> Result<()> {
    let zero = Array::scalar(0.0);
    let f = |x: &Array| pullback::select(&x.greater(&zero), &x.log(), &(x * 0.0)).sum();
    let x = arr![0.0, 2.0];
    let is_nan = |g: &Array| g.to_vec::<f32>().map(|g| g[0].is_nan());
    assert!(is_nan(&grad(f)(&x)?)?);
    near(&pullback::safe_grads(|| grad(f)(&x))?, &[0.0, 0.5]);
    near(&pullback::safe_grads(|| jit(grad(f))(&x))?, &[0.0, 0.5]);
    assert!(is_nan(&grad(f)(&x)?)?);
    // What reaches the result stays.
    let real = pullback::safe_grads(|| grad(|x: &Array| x.log().sum())(&arr![0.0]))?;
    assert_eq!(real.to_vec::<f32>()?, [f32::INFINITY]);
    Ok(())
}
