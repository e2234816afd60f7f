//! What Rust users write first: literals, numbers of all types, trees, errors.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pullback::prelude::*;

fn place_of(error: &Error) -> String {
    error.span().resolve().map_or_else(String::new, |place| place.file)
}

/// The text of the panic of `f`.
fn panic_of(f: impl FnOnce()) -> String {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    std::panic::set_hook(hook);
    let payload = result.expect_err("a panic");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()))
        .expect("a text")
}

#[derive(Clone, Tree)]
enum Act {
    Relu,
    Scaled(Array),
}

#[derive(Clone, Tree)]
struct Layer<T> {
    weights: T,
    bias: Option<Array>,
    act: Act,
    #[tree(fixed)]
    power: i32,
    #[tree(skip)]
    note: f64,
}

#[test]
fn the_whole_structure_is_in_the_key_of_jit() -> Result<()> {
    type Pair = (Option<Array>, Option<Array>);
    let f = jit(|(a, b): &Pair| match (a, b) {
        (Some(a), None) => a * 10.0,
        (None, Some(b)) => b * 100.0,
        _ => arr![0.0],
    });
    let x = arr![1.0];
    assert_eq!(f(&(Some(x.clone()), None))?, arr![10.0]);
    assert_eq!(f(&(None, Some(x.clone())))?, arr![100.0]);

    let by_key = jit(|m: &BTreeMap<String, Array>| m.get("a").map_or(arr![-1.0], |a| a * 2.0));
    let one = |key: &str| BTreeMap::from([(key.to_string(), arr![3.0])]);
    assert_eq!(by_key(&one("a"))?, arr![6.0]);
    assert_eq!(by_key(&one("b"))?, arr![-1.0]);

    let hashed = jit(|m: &HashMap<&'static str, Array>| m.get("a").map_or(arr![-1.0], |a| a * 2.0));
    assert_eq!(hashed(&HashMap::from([("a", arr![3.0]), ("z", arr![4.0])]))?, arr![6.0]);
    assert_eq!(hashed(&HashMap::from([("y", arr![3.0]), ("z", arr![4.0])]))?, arr![-1.0]);

    let lengths = jit(|v: &(Vec<Array>, Vec<Array>)| v.0.iter().fold(arr![0.0], |sum, x| sum + x));
    assert_eq!(lengths(&(vec![x.clone(), x.clone()], vec![x.clone()]))?, arr![2.0]);
    assert_eq!(lengths(&(vec![x.clone()], vec![x.clone(), x.clone()]))?, arr![1.0]);
    Ok(())
}

#[test]
fn fixed_fields_and_variants_are_in_the_key_and_in_results() -> Result<()> {
    let layer = |power, act| Layer { weights: arr![2.0], bias: None, act, power, note: 0.5 };
    let run = jit(|layer: &Layer<Array>| {
        let x = (0..layer.power).fold(arr![1.0], |x, _| x * &layer.weights);
        let x = match &layer.act {
            Act::Relu => x,
            Act::Scaled(by) => x * by,
        };
        Layer { weights: x, power: layer.power + 1, ..layer.clone() }
    });
    for power in [2, 3, 2] {
        let made = run(&layer(power, Act::Relu))?;
        assert_eq!(made.weights, Array::from(vec![2.0_f32.powi(power)]));
        assert_eq!((made.power, made.note), (power + 1, 0.5));
    }
    assert_eq!(run(&layer(1, Act::Scaled(arr![10.0])))?.weights, arr![20.0]);
    let gradient = grad(|layer: &Layer<Array>| (&layer.weights * layer.power).sum())(&layer(3, Act::Relu))?;
    assert_eq!(gradient.weights, arr![3.0]);
    Ok(())
}

#[test]
fn results_are_of_the_call_not_of_the_first_one() -> Result<()> {
    let same = jit(|layer: &Layer<Vec<Array>>| layer.clone());
    let layer = |power, n| Layer { weights: vec![arr![1.0]; n], bias: None, act: Act::Relu, power, note: 0.0 };
    for (power, n) in [(1, 1), (2, 1), (1, 2)] {
        let made = same(&layer(power, n))?;
        assert_eq!((made.power, made.weights.len()), (power, n));
    }
    Ok(())
}

#[test]
fn elements_keep_their_type() -> Result<()> {
    let x = Array::from_slice(&[0.1_f64]);
    assert_eq!((x.dtype(), x.to_vec::<f64>()?), (DType::F64, vec![0.1]));
    assert_eq!((&x * 0.1).to_vec::<f64>()?, [0.1 * 0.1]);
    assert_eq!((&x + 1).dtype(), DType::F64);
    assert_eq!(x.sin().to_vec::<f64>()?, [0.1_f64.sin()]);
    assert_eq!(arr![0.5].astype(DType::F64).sin().dtype(), DType::F64);
    assert_eq!(arr![f64; 0.1].to_vec::<f64>()?, [0.1]);
    assert_eq!(arr![0.1].dtype(), DType::F32);
    assert_eq!((arr![0.5] * 0.1).dtype(), DType::F32);
    let big = 1_i64 << 40;
    assert_eq!((Array::from_slice(&[big]) + 1).to_vec::<i64>()?, [big + 1]);
    assert_eq!(Array::from(vec![usize::MAX]).to_vec::<usize>()?, [usize::MAX]);
    assert_eq!(Array::from(&[1_u8, 2][..]).dtype(), DType::U8);
    assert_eq!(Array::from([[true, false]]).shape(), [1, 2]);
    assert_eq!(arr![[[1, 2], [3, 4]]].shape(), [1, 2, 2]);
    let slope = jit(grad(|x: &Array| x.square().sum()))(&x)?;
    assert_eq!(slope.to_vec::<f64>()?, [0.2]);
    Ok(())
}

#[test]
fn conversions_saturate() -> Result<()> {
    let numbers = arr![3e10, -3e10, 300.7, -1.0, f32::NAN, f32::INFINITY];
    assert_eq!(numbers.to_vec::<i32>()?, [i32::MAX, i32::MIN, 300, -1, 0, i32::MAX]);
    assert_eq!(numbers.to_vec::<u8>()?, [255, 0, 255, 0, 0, 255]);
    assert_eq!(Array::from_slice(&[u64::MAX, 7]).to_vec::<i64>()?, [i64::MAX, 7]);
    assert_eq!(Array::from_slice(&[i64::MIN, 7]).to_vec::<u32>()?, [0, 7]);
    assert_eq!(Array::from_slice(&[300_i32, -1]).to_vec::<u8>()?, [255, 0]);
    assert_eq!(Array::from_slice(&[2_i32, 0]).to_vec::<bool>()?, [true, false]);
    Ok(())
}

#[test]
fn the_first_error_wins() {
    let wrong = |x: &Array| {
        let y = x + arr![1.0, 2.0, 3.0, 4.0];
        // What failed has no shape: the function ends here, with the error of the line above.
        let n = y.shape()[0];
        y.reshape(&[n as i64, 1]).sum()
    };
    for error in [grad(wrong)(&arr![1.0, 2.0]), jit(wrong)(&arr![1.0, 2.0]), vmap(wrong)(&arr![[1.0, 2.0]])] {
        let error = error.expect_err("shapes differ");
        assert!(error.message().contains("incompatible shapes"), "{error}");
        assert!(place_of(&error).ends_with("everyday.rs"), "{error}");
    }
    let error = scan(
        |c: Array, x: Array| (&c + &x, (x + arr![1.0, 2.0]).rank().to_string().len() as f64 * c),
        &Array::scalar(0.0_f32),
        &arr![[1.0, 2.0, 3.0]],
    );
    assert!(error.expect_err("shapes differ").message().contains("incompatible shapes"));
    let text = panic_of(|| {
        (arr![1.0, 2.0].checked() + arr![1.0, 2.0, 3.0]).shape();
    });
    assert!(text.contains("incompatible shapes"), "{text}");
    // A panic of the user goes on as it is.
    let text = panic_of(|| drop(jit(|_: &Array| -> Array { panic!("mine") })(&arr![1.0])));
    assert_eq!(text, "mine");
}

#[test]
fn errors_name_the_line_of_the_user() {
    let checks: Vec<(&str, Result<()>)> = vec![
        ("item", arr![1.0, 2.0].item::<f32>().map(drop)),
        ("item inside jit", jit(|x: &Array| -> Result<Array> { Ok(x * x.item::<f64>()?) })(&arr![1.0]).map(drop)),
        ("carry", scan(|c: Array, x: Array| (c.astype(DType::I32), x), &Array::scalar(0.0), &arr![1.0]).map(drop)),
        ("carry", fori_loop(0, 2, |_, c: Array| c.reshape(&[1]), &Array::scalar(0.0)).map(drop)),
        ("carry", while_loop(|x: Array| x.less(1.0), |x| x.astype(DType::I32), &Array::scalar(0.0)).map(drop)),
        ("structure", scan(|c: Vec<Array>, x: Array| (vec![], x + &c[0]), &vec![arr![0.0]], &arr![1.0]).map(drop)),
        ("scalar", grad(|x: &Array| x.clone())(&arr![1.0, 2.0]).map(drop)),
        ("real", grad(|x: &Array| x.sum())(&arr![1, 2]).map(drop)),
        ("axis", vmap(|x: &Array| x.clone())(&Array::scalar(1.0)).map(drop)),
        ("index", jit(|x: &Array| x[7].clone())(&arr![1.0]).map(drop)),
    ];
    for (name, check) in checks {
        let error = check.expect_err(name);
        assert!(place_of(&error).ends_with("everyday.rs"), "{name}: {error}");
        for foreign in ["Tracer", "Python", "jax.", "JAX", "NumPy"] {
            assert!(!error.message().contains(foreign), "{name}: {error}");
        }
    }
}

#[test]
fn fixed_parts_of_a_carry_may_not_change() {
    #[derive(Clone, Tree)]
    struct State {
        x: Array,
        #[tree(fixed)]
        step: i32,
    }
    let step = |s: State, _: Array| (State { x: s.x * 2.0, step: s.step + 1 }, ());
    let error = scan(step, &State { x: arr![1.0], step: 0 }, &arr![1.0, 2.0]).map(drop).expect_err("it changes");
    assert!(error.message().contains("fixed fields differ"), "{error}");
}

#[test]
fn what_people_write_first() -> Result<()> {
    let x = arr![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(x[0], arr![1.0, 2.0]);
    assert_eq!(x[1][0].item::<f32>()?, 3.0);
    assert_eq!(x.into_iter().map(|row| row.sum().item::<f64>()).collect::<Result<Vec<_>>>()?, [3.0, 7.0]);
    assert!(x == x.clone() && arr![1.0] != arr![2.0] && arr![f32::NAN] != arr![f32::NAN]);
    let mut sum = arr![0.0, 0.0];
    for row in &x {
        sum += row;
    }
    sum *= 2;
    sum -= 1.0;
    assert_eq!(sum, arr![7.0, 11.0]);
    assert_eq!(2 * &x - 1, arr![[1.0, 3.0], [5.0, 7.0]]);

    // Closures that give results, and compiled functions, under all transformations.
    let f = |x: &Array| -> Result<Array> { Ok(x.square().sum()) };
    assert_eq!(value_and_grad(f)(&arr![3.0])?, (Array::scalar(9.0_f32), arr![6.0]));
    assert_eq!(grad(jit(f))(&arr![3.0])?, arr![6.0]);
    assert_eq!(jit(vmap(grad(jit(f))))(&arr![[3.0], [4.0]])?, arr![[6.0], [8.0]]);

    // Trees of all kinds.
    let nested =
        ([arr![1.0], arr![2.0]], Box::new(arr![3.0]), Arc::new(vec![arr![4.0]]), HashMap::from([(7, arr![5.0])]));
    let doubled =
        jit(|t: &([Array; 2], Box<Array>, Arc<Vec<Array>>, HashMap<i32, Array>)| map(t, |x| x * 2.0))(&nested)?;
    assert_eq!((&doubled.0[1], &doubled.2[0], &doubled.3[&7]), (&arr![4.0], &arr![8.0], &arr![10.0]));
    let one = || arr![1.0];
    let many = (one(), one(), one(), one(), one(), one(), one(), one(), one(), one(), one(), one());
    assert_eq!(map(&many, |x| x + 1.0).11, arr![2.0]);
    assert_eq!(format!("{:?}", Key::seed(0)), "Key");
    Ok(())
}

#[test]
fn indexing_is_differentiated_and_compiled() -> Result<()> {
    let f = |x: &Array| &x[0] * &x[2] + &x[0];
    assert_eq!(grad(f)(&arr![2.0, 3.0, 5.0])?, arr![6.0, 0.0, 2.0]);
    assert_eq!(jit(grad(f))(&arr![2.0, 3.0, 5.0])?, arr![6.0, 0.0, 2.0]);
    let text = panic_of(|| drop(arr![1.0][3].clone()));
    assert!(text.contains("index 3 is out of bounds for axis 0") && text.contains("everyday.rs"), "{text}");
    Ok(())
}

#[test]
fn long_arrays_print_their_ends() {
    let text = zeros(&[2000, 2000]).to_string();
    assert!(text.len() < 400, "{text}");
    assert_eq!(text.lines().count(), 7);
    assert_eq!(arr![1.0, 2.0].to_string(), "[1.0 2.0]");
    assert_eq!(arr![[[1, 2]], [[3, 4]]].to_string(), "[[[1 2]]\n\n [[3 4]]]");
    assert_eq!(arange(1001).to_string(), "[0 1 2 ... 998 999 1000]");
}

#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let error = jit(|x: &Array| softmax(&(zeros(&[1 << 40]) + x), 0))(&arr![1.0]).expect_err("too large");
    assert!(error.message().contains("RESOURCE_EXHAUSTED"), "{error}");
    let text = panic_of(|| drop(ones(&[1 << 40])));
    assert!(text.contains("RESOURCE_EXHAUSTED") && text.contains("everyday.rs"), "{text}");
}
