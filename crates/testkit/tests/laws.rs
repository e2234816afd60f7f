//! Every primitive without an inner jaxpr holds to the laws of the battery, on every engine there is.

use std::collections::BTreeSet;

use pullback_backend::{Executable, eval};
use pullback_base::array::Buffer;
use pullback_base::{Array, Result, bail};
use pullback_compile::{Options, Output, compile};
use pullback_core::{control, prims};
use pullback_ir::{JaxprRef, Val, eval_jaxpr};
use pullback_loops::{expand, interpret, verify};
use pullback_native::Compiled;
use pullback_runtime::FlushSubnormals;
use pullback_testkit::battery::{Case, Found, cases};

/// The program that is made of a jaxpr, on the interpreter.
fn interpreted(options: &Options, jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    let lowered = compile(jaxpr, options)?;
    if let Err(errors) = verify(&lowered.program) {
        panic!("{jaxpr}: {}", errors.join("\n"));
    }
    let buffers: Vec<Buffer> = inputs.iter().map(|input| input.buffer().expect("alive")).collect();
    let bytes: Vec<&[u8]> = buffers.iter().map(Buffer::bytes).collect();
    let avals = jaxpr.out_avals();
    let number = |output: &Output| match output {
        Output::Program(number) => Some(*number),
        Output::Input(_) | Output::Const(_) | Output::Literal(_) => None,
    };
    let n_filled = lowered.outputs.iter().filter_map(number).max().map_or(0, |last| last + 1);
    // Poisoned, so that an element that nobody writes shows.
    let mut memory: Vec<Vec<u8>> = vec![vec![]; n_filled];
    for (output, aval) in lowered.outputs.iter().zip(&avals) {
        if let Some(number) = number(output) {
            memory[number] = vec![0xA5; aval.size_bytes()];
        }
    }
    let mut outs: Vec<&mut [u8]> = memory.iter_mut().map(Vec::as_mut_slice).collect();
    let _mode = FlushSubnormals::new();
    interpret(&expand(&lowered.program), &[], &bytes, &mut outs, &pullback_kernels::Table)?;
    let result = |(output, &aval)| match output {
        &Output::Program(number) => Array::from_bytes(aval, &memory[number]),
        &Output::Input(number) => inputs[number].reinterpret(aval),
        Output::Const(array) => Ok(array.clone()),
        &Output::Literal(scalar) => Ok(Array::scalar(scalar)),
    };
    lowered.outputs.iter().zip(&avals).map(result).collect()
}

fn fused(jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    interpreted(&Options::default(), jaxpr, inputs)
}

fn unfused(jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    interpreted(&Options::unfused(), jaxpr, inputs)
}

/// As under `jit`.
fn native(jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    Executable::compile(jaxpr)?.run(inputs, &[])
}

/// In a file and back.
fn saved(jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    Compiled::load(&pullback_backend::native(jaxpr)?.save()?)?.run(inputs)
}

/// Operation by operation.
fn eager(jaxpr: &JaxprRef, inputs: &[Array]) -> Result<Vec<Array>> {
    let args: Vec<Val> = inputs.iter().cloned().map(Val::Array).collect();
    let known = |out: Val| match out.to_array() {
        Some(array) => Ok(array),
        None => bail!(Internal, "eager evaluation gave {out:?}"),
    };
    eval_jaxpr(&*eval(), jaxpr, &args)?.into_iter().map(known).collect()
}

/// Runs a check on all samples. What is not written must be what is listed.
fn check(check: impl Fn(&Case) -> Found, known_holes: &[&str]) {
    let (mut failures, mut holes) = (vec![], BTreeSet::new());
    for case in prims::all().chain([control::RANDOM_GAMMA]).flat_map(cases) {
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&case)));
        match found {
            Ok(found) => {
                failures.extend(found.failures);
                holes.extend(found.holes);
            }
            Err(_) => failures.push(format!("{} sample {} panicked", case.prim.name(), case.number)),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(holes.iter().map(String::as_str).collect::<Vec<_>>(), known_holes);
}

#[test]
fn engines_agree() {
    check(|case| case.engines(&[&fused, &unfused, &native, &eager]), &[]);
}

/// Only the code of the emitter for x86-64 is saved.
#[test]
fn saved_programs_give_the_same_bits() {
    if pullback_native::best_level().is_some() {
        check(|case| case.engines(&[&native, &saved]), &[]);
    }
}

/// The samples again with their floats and integers narrowed; those that do not exist so are left out.
#[test]
fn engines_agree_in_narrow_types() {
    use pullback_base::DType::{BF16, F8E4M3FN, F8E5M2FNUZ, F16, F32, I4, I32, U2};
    for (float, integer) in [(F16, I4), (BF16, U2), (F8E4M3FN, I4), (F8E5M2FNUZ, U2)] {
        let narrowed = |mut case: Case| {
            for input in &mut case.sample.ins {
                let dtype = match input.aval.dtype {
                    F32 => float,
                    I32 => integer,
                    other => other,
                };
                input.aval = pullback_base::Aval::new(&input.aval.shape, dtype);
            }
            case
        };
        let mut failures = vec![];
        for case in prims::all().flat_map(cases).map(narrowed).filter(|case| case.jaxpr().is_ok()) {
            failures.extend(case.engines(&[&fused, &unfused, &native, &eager]).failures);
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    }
}

#[test]
fn tangents_are_differences() {
    check(|case| case.derivative(&native), NO_DERIVATIVE);
}

#[test]
fn transposes_are_adjoint() {
    check(|case| case.transpose(&native), NO_DERIVATIVE);
}

#[test]
fn batching_is_a_loop() {
    check(|case| case.batching(&native), &[]);
}

const NO_DERIVATIVE: &[&str] = &[
    "polygamma gradient with respect to m is not supported",
    "scatter_mul gradients are only implemented if `unique_indices=True`",
    "the derivative of primitive 'geqp3' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'geqrf' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'hessenberg' is not implemented: JAX has none either",
    "the derivative of primitive 'householder_product' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'igamma_grad_a' is not implemented: it has none in the reference either",
    "the derivative of primitive 'ormqr' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'pmax' is not implemented: Differentiation rule for 'pmax' not implemented",
    "the derivative of primitive 'pmin' is not implemented: Differentiation rule for 'pmin' not implemented",
    "the derivative of primitive 'random_gamma_grad' is not implemented: the second derivative of a sample is not written",
    "the derivative of primitive 'tridiagonal' is not implemented: JAX has none either",
    "the derivative of primitive 'zeta' is not implemented: it has none in the reference either",
];
