//! Where-safe gradients of programs without NaN have the bits of the ordinary ones.
//!
//! The programs are all those whose jaxprs are recorded: the golden ones of the Python front, and those whose derivatives are.
//! A program is left out only where its text holds functions of Python, where it has no gradient, or where that is not finite.

use pullback_base::{Array, Aval, DType, Result, Scalar};
use pullback_core::find_primitive;
use pullback_ir::{Jaxpr, Val, eval_jaxpr, parse_jaxpr};
use pullback_trace::settings::{Setting, set_on_thread};

/// Names and texts, each behind a line that begins with two equals signs.
fn recorded() -> impl Iterator<Item = (String, String)> {
    let texts = include_str!("../data/programs.txt").split("== ").filter_map(|part| part.split_once('\n'));
    texts.map(|(name, text)| (name.to_string(), text.trim_end().to_string()))
}

fn programs() -> Vec<(String, String)> {
    let derived = include_str!("../data/derivatives.txt").trim_end().split("\n\n");
    let derived =
        derived.filter_map(|pair| pair.split_once('\n')).map(|(primal, _)| (primal.to_string(), primal.to_string()));
    recorded().chain(derived).collect()
}

/// Numbers without order between 0.1 and 0.9; whole ones are 0 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.1 + 0.8 * (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn array(&mut self, aval: Aval) -> Val {
        let element = |x: f64| match aval.dtype {
            dtype if dtype.is_inexact() => Scalar::float(DType::F64, x).convert(dtype),
            DType::Bool => Scalar::bool(x > 0.5),
            dtype => Scalar::int(dtype, i128::from(x > 0.5)),
        };
        let elements: Vec<Scalar> = (0..aval.size()).map(|_| element(self.next())).collect();
        Val::Array(Array::from_scalars(&aval.shape, aval.dtype, elements))
    }
}

/// The gradient in all floating inputs, for cotangents of all floating results.
fn gradient(jaxpr: &Jaxpr, inputs: &[Val], cts: &[Option<Val>], is_safe: bool) -> Result<Vec<Val>> {
    let before = set_on_thread(Setting::SafeGrads, Some(is_safe));
    let chosen: Vec<usize> = (0..inputs.len()).filter(|&i| inputs[i].aval().dtype.is_inexact()).collect();
    let points: Vec<Val> = chosen.iter().map(|&i| inputs[i].clone()).collect();
    let mut run = |points: &[Val]| {
        let mut all = inputs.to_vec();
        chosen.iter().zip(points).for_each(|(&i, point)| all[i] = point.clone());
        eval_jaxpr(&*pullback_trace::current(), jaxpr, &all)
    };
    let found =
        pullback_trace::linearize(&mut run, &points).and_then(|(_, linear)| pullback_trace::pull_back(&linear, cts));
    set_on_thread(Setting::SafeGrads, before);
    found
}

fn elements(vals: &[Val]) -> Vec<Scalar> {
    vals.iter().flat_map(|val| val.to_array().expect("known").elements().expect("there")).collect()
}

/// The parts of an element; a zero without its sign.
fn bits(scalar: Scalar) -> u128 {
    if scalar.is_nonzero() { scalar.to_bits() } else { 0 }
}

enum Outcome {
    Same,
    LeftOut(String),
    Differs(String),
}

fn compared(text: &str) -> Outcome {
    let mut jaxpr = match parse_jaxpr(text, &find_primitive) {
        Ok(jaxpr) => jaxpr,
        Err(error) => return Outcome::LeftOut(format!("does not parse: {}", error.message())),
    };
    if jaxpr.consts.is_empty() {
        let consts = std::mem::take(&mut jaxpr.constvars);
        jaxpr.invars.splice(0..0, consts);
    }
    let mut numbers = Numbers(7);
    let inputs: Vec<Val> = jaxpr.in_avals().into_iter().map(|aval| numbers.array(aval)).collect();
    let ct = |aval: Aval| aval.dtype.is_inexact().then(|| numbers.array(aval.tangent()));
    let cts: Vec<Option<Val>> = jaxpr.out_avals().into_iter().map(ct).collect();
    let ordinary = match gradient(&jaxpr, &inputs, &cts, false) {
        Ok(ordinary) => elements(&ordinary),
        Err(error) => return Outcome::LeftOut(format!("has no gradient: {}", error.message())),
    };
    if ordinary.is_empty() {
        return Outcome::LeftOut("has nothing to differentiate".into());
    }
    if ordinary.iter().any(|x| !x.as_f64().is_finite()) {
        return Outcome::LeftOut("is not finite".into());
    }
    match gradient(&jaxpr, &inputs, &cts, true) {
        Err(error) => Outcome::Differs(format!("the safe one fails: {}", error.message())),
        Ok(safe) => {
            let safe = elements(&safe);
            let is_same = safe.len() == ordinary.len() && safe.iter().zip(&ordinary).all(|(&a, &b)| bits(a) == bits(b));
            if is_same { Outcome::Same } else { Outcome::Differs(format!("{ordinary:?}\nsafe {safe:?}")) }
        }
    }
}

#[test]
fn safe_gradients_have_the_bits_of_ordinary_ones() {
    let (mut same, mut left_out, mut different) = (0, vec![], vec![]);
    for (name, text) in programs() {
        match compared(&text) {
            Outcome::Same => same += 1,
            Outcome::LeftOut(why) => left_out.push(format!("{name} {}", why.lines().next().unwrap_or(""))),
            Outcome::Differs(how) => different.push(format!("{name}: {text}\nordinary {how}")),
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n\n"));
    // Left out are functions of Python, arrays that the text does not hold, loops without a gradient, and whole numbers.
    assert!(same >= 145, "{same} of {} are the same; left out:\n{}", same + left_out.len(), left_out.join("\n"));
}
