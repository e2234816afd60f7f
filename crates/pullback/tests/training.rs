//! Optimisers, against the numbers of optax.

use pullback::optim::{Optimizer, Rate};
use pullback::prelude::*;

type Params = (Array, Array);

/// Five steps from one point, along gradients that differ from step to step.
fn five_steps(optimizer: &Optimizer) -> Result<Vec<f64>> {
    let mut params = (arr![0.25, -0.5], arr![[1.0, -2.0], [0.5, 3.0]]);
    let mut state = optimizer.init(&params);
    let step =
        jit_owned(|(params, gradient, state): (Params, Params, _), (): &()| optimizer.step(&params, &gradient, &state));
    for i in 0..5 {
        let gradient = map(&params, |x| x * 0.5 + (x + f64::from(i)).sin());
        (params, state) = step((params, gradient, state), &())?;
    }
    assert_eq!(state.n_steps.item::<i32>()?, 5);
    Ok([params.0.to_vec::<f64>()?, params.1.to_vec()?].concat())
}

#[test]
fn steps_are_those_of_optax() -> Result<()> {
    let scheduled = Rate::warmup_cosine(0.01, 0.1, 2, 6, 0.001);
    let cases: Vec<(&str, Optimizer, [f64; 6])> = vec![
        ("sgd", Optimizer::sgd(0.1), [0.0796188, -0.5159741, 0.7330057, -1.6051662, 0.2911119, 2.4708862]),
        (
            "momentum",
            Optimizer::momentum(0.1, 0.9),
            [-0.4821594, -0.5355632, -0.1712276, -0.6267414, -0.4166776, 1.8095142],
        ),
        (
            "nesterov",
            Optimizer::nesterov(0.1, 0.9),
            [-0.6188686, -0.5990786, -0.3945789, -0.5888569, -0.5838282, 1.6374497],
        ),
        ("adam", Optimizer::adam(0.05), [0.0469401, -0.466159, 0.7963883, -1.7820172, 0.293077, 2.7709916]),
        ("adamw", Optimizer::adamw(0.05, 0.1), [0.0430524, -0.4551142, 0.7739887, -1.7358507, 0.2830051, 2.6998136]),
        ("lion", Optimizer::lion(0.05, 0.1), [0.0962997, -0.5371219, 0.8277363, -1.7029852, 0.3401119, 2.6782336]),
        ("lamb", Optimizer::lamb(0.05, 0.1), [0.1321508, -0.4802372, 0.6208045, -1.5580981, 0.1343414, 2.488235]),
        (
            "clip",
            Optimizer::sgd(0.1).clipped(1.0),
            [0.1802221, -0.5315759, 0.9143378, -1.8293132, 0.4240986, 2.7202463],
        ),
        ("schedule", Optimizer::adam(scheduled), [0.0052271, -0.5225521, 0.7598219, -1.7419596, 0.2510445, 2.73118]),
        ("rmsprop", Optimizer::rmsprop(0.05), [-0.1115872, -0.5162271, 0.7329924, -1.6956986, 0.1814059, 2.5505278]),
        (
            "linear",
            Optimizer::sgd(Rate::linear(0.1, 0.01, 4)),
            [0.0861281, -0.5003597, 0.7291419, -1.6574496, 0.2925639, 2.7078829],
        ),
        (
            "steps",
            Optimizer::sgd(Rate::steps(0.1, vec![(2, 0.5), (3, 0.1)])),
            [0.0660799, -0.4971301, 0.6927176, -1.6226715, 0.2657994, 2.7257953],
        ),
        (
            "exponential",
            Optimizer::sgd(Rate::exponential(0.1, 2, 0.5)),
            [0.1092251, -0.4862191, 0.7526306, -1.6688247, 0.3169649, 2.6851153],
        ),
        (
            "cosine",
            Optimizer::sgd(Rate::cosine(0.1, 4, 0.02)),
            [0.0777612, -0.5015389, 0.7162335, -1.6378814, 0.2824241, 2.6812818],
        ),
    ];
    for (name, optimizer, want) in cases {
        let got = five_steps(&optimizer)?;
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-5, "{name}: {got} is not {want}");
        }
    }
    Ok(())
}

#[test]
fn dtypes_stay_and_other_trees_are_refused() -> Result<()> {
    let adam = Optimizer::adamw(Rate::cosine(0.1, 10, 0.0), 0.01);
    let params = vec![arr![f64; 1.0], arr![1.0], arr![1.0].astype(DType::BF16)];
    let (next, state) = adam.step(&params, &params, &adam.init(&params))?;
    let dtypes = |tree: &Vec<Array>| tree.iter().map(Array::dtype).collect::<Vec<_>>();
    assert_eq!(dtypes(&next), [DType::F64, DType::F32, DType::BF16]);
    assert!(state.averages.iter().all(|average| dtypes(average) == dtypes(&params)));
    assert!(adam.step(&params, &params[..1].to_vec(), &state).is_err());
    assert!(adam.step(&params, &params, &Optimizer::sgd(0.1).init(&params)).is_err());
    Ok(())
}
