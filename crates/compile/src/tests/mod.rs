//! Tests of the way from jaxpr to program: what programs compute, what is fused, and how the work of compiling grows.

mod control;
mod fusion;
mod fuzz;
mod growth;
mod values;

use pullback_base::array::Buffer;
use pullback_base::dtype::Kind;
use pullback_base::{Array, Aval, Result, Scalar};
use pullback_ir::{
    Builder, Emit, Jaxpr, JaxprRef, Params, PrimRef, TraceId, Val, Vals, check_jaxpr, eval_jaxpr, parse_jaxpr,
};
use pullback_loops::{Inst, LoopKind, Op, Program, expand, interpret, verify};

use crate::{Lowered, Options, Output, compile, compile_donating, simplified};

fn parse(text: &str) -> JaxprRef {
    let jaxpr = parse_jaxpr(text, &pullback_core::find_primitive).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(check_jaxpr(&jaxpr), Vec::<String>::new(), "{text}");
    JaxprRef::new(jaxpr)
}

/// Runs a compiled jaxpr on the interpreter.
fn run(jaxpr: &Jaxpr, lowered: &Lowered, inputs: &[Array]) -> Vec<Array> {
    let buffers: Vec<Buffer> = inputs.iter().map(|input| input.buffer().expect("alive")).collect();
    let bytes: Vec<&[u8]> = buffers.iter().map(Buffer::bytes).collect();
    let avals = jaxpr.out_avals();
    let n_filled = lowered.outputs.iter().filter_map(filled).max().map_or(0, |last| last + 1);
    // Poisoned, so that an element that nobody writes shows.
    let mut memory: Vec<Vec<u8>> = vec![vec![]; n_filled];
    for (output, aval) in lowered.outputs.iter().zip(&avals) {
        if let Some(number) = filled(output) {
            memory[number] = match lowered.taken[number] {
                Some(input) => inputs[input].to_bytes().expect("alive"),
                None => vec![0xA5; aval.size_bytes()],
            };
        }
    }
    let mut outs: Vec<&mut [u8]> = memory.iter_mut().map(Vec::as_mut_slice).collect();
    interpret(&expand(&lowered.program), &[], &bytes, &mut outs, &pullback_kernels::Table).expect("the program runs");
    let result = |(output, aval): (&Output, &Aval)| match output {
        Output::Program(number) => Array::from_bytes(*aval, &memory[*number]).unwrap(),
        Output::Input(number) => inputs[*number].reinterpret(*aval).expect("alive"),
        Output::Const(array) => array.clone(),
        Output::Literal(scalar) => Array::scalar(*scalar),
    };
    lowered.outputs.iter().zip(&avals).map(result).collect()
}

fn filled(output: &Output) -> Option<usize> {
    match output {
        Output::Program(number) => Some(*number),
        Output::Input(_) | Output::Const(_) | Output::Literal(_) => None,
    }
}

fn compiled(jaxpr: &JaxprRef, options: &Options) -> Lowered {
    let simple = simplified(jaxpr, options).expect("it simplifies");
    assert_eq!(check_jaxpr(&simple), Vec::<String>::new(), "{simple}");
    let lowered = compile(jaxpr, options).unwrap_or_else(|error| panic!("{jaxpr}: {error}"));
    verified(jaxpr, lowered)
}

/// With all inputs given away.
fn donating(jaxpr: &JaxprRef) -> Lowered {
    let donated = vec![true; jaxpr.invars.len()];
    let lowered = compile_donating(jaxpr, &Options::default(), &donated);
    verified(jaxpr, lowered.unwrap_or_else(|error| panic!("{jaxpr}: {error}")))
}

fn verified(jaxpr: &Jaxpr, lowered: Lowered) -> Lowered {
    if let Err(errors) = verify(&lowered.program) {
        panic!("{jaxpr}: {}\n{}", errors.join("\n"), outline(&lowered.program));
    }
    lowered
}

/// Compiles and runs each equation by itself.
struct PerEquation;

impl Emit for PerEquation {
    fn id(&self) -> TraceId {
        TraceId::EVAL
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let builder = Builder::new();
        let vars: Vec<Val> = ins.iter().map(|val| builder.input(val.aval())).collect();
        let outs = builder.bind(prim, params, &vars)?;
        let jaxpr = JaxprRef::new(builder.finish(&outs, None).0);
        let arrays: Vec<Array> = ins.iter().map(|val| val.to_array().expect("known")).collect();
        let outs = run(&jaxpr, &compile(&jaxpr, &Options::default())?, &arrays);
        Ok(outs.into_iter().map(Val::Array).collect())
    }
}

/// Runs the fused program, the unfused one, the one that overwrites its inputs, and each equation by itself, which must agree
/// to the bit.
fn evaluate(jaxpr: &JaxprRef, inputs: &[Array]) -> Vec<Array> {
    let (fused, unfused) = (compiled(jaxpr, &Options::default()), compiled(jaxpr, &Options::unfused()));
    let outs = run(jaxpr, &fused, inputs);
    let args: Vec<Val> = inputs.iter().cloned().map(Val::Array).collect();
    let single = eval_jaxpr(&PerEquation, jaxpr, &args).expect("each equation runs");
    let single: Vec<Array> = single.iter().map(|val| val.to_array().expect("known")).collect();
    let (unfused, donating) = (run(jaxpr, &unfused, inputs), run(jaxpr, &donating(jaxpr), inputs));
    for (what, expected) in [("unfused", unfused), ("donating", donating), ("by itself", single)] {
        for (out, expected) in outs.iter().zip(&expected) {
            let same = out.to_bytes().expect("alive") == expected.to_bytes().expect("alive");
            assert!(same, "{jaxpr}: fused {out:?}, {what} {expected:?}\n{}", outline(&fused.program));
        }
    }
    outs
}

/// The elements of all results, in order.
fn numbers(outs: &[Array]) -> Vec<Vec<f64>> {
    outs.iter().map(|out| out.elements().expect("alive").into_iter().map(Scalar::as_f64).collect()).collect()
}

/// Small integers, so that sums are exact in any order: 0, 1, 2, … modulo 7; less 3 for signed types.
fn ramp(aval: Aval) -> Array {
    let low = if aval.dtype.kind() == Kind::Unsigned { 0.0 } else { 3.0 };
    let element = |i: usize| Scalar::float(aval.dtype, (i % 7) as f64 - low);
    Array::from_scalars(&aval.shape, aval.dtype, (0..aval.size()).map(element))
}

fn ramps(jaxpr: &Jaxpr) -> Vec<Array> {
    jaxpr.in_avals().into_iter().map(ramp).collect()
}

fn check(text: &str, expected: &[&[f64]]) {
    let jaxpr = parse(text);
    let outs = evaluate(&jaxpr, &ramps(&jaxpr));
    assert_eq!(numbers(&outs), expected, "{text}");
}

/// The loops of a program with the operations in them, in short.
fn outline(program: &Program) -> String {
    let mut text = String::new();
    outline_block(&program.body, 0, &mut text);
    text
}

fn outline_block(block: &[Inst], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let mut words: Vec<String> = vec![];
    for inst in block {
        let header = match &inst.op {
            Op::For(inner) => {
                let kind = match inner.kind {
                    LoopKind::Seq => "seq",
                    LoopKind::Lanes => "lanes",
                    LoopKind::Parallel => "parallel",
                };
                let carries: Vec<String> = inner
                    .carries
                    .iter()
                    .map(|carry| carry.combine.map_or("carry".into(), |c| format!("{c:?}")))
                    .collect();
                format!("{kind} {:?} {}", inner.n, carries.join(" "))
            }
            Op::While(inner) => format!("while with {} carries", inner.carries.len()),
            Op::Switch(_) => "switch".into(),
            Op::Call(_) => {
                words.push("call".into());
                continue;
            }
            Op::Const(_) | Op::Index(_) => continue,
            Op::Load(buffer, _) => {
                words.push(format!("load b{}", buffer.0));
                continue;
            }
            Op::Store(buffer, ..) => {
                words.push(format!("store b{}", buffer.0));
                continue;
            }
            Op::Unary(op, _) => {
                words.push(format!("{op:?}"));
                continue;
            }
            Op::Binary(op, ..) => {
                words.push(format!("{op:?}"));
                continue;
            }
            Op::Swap(..) => {
                words.push("swap".into());
                continue;
            }
            _ => {
                words.push("other".into());
                continue;
            }
        };
        flush(&mut words, &indent, text);
        text.push_str(&format!("{indent}{}\n", header.trim()));
        inst.op.blocks().into_iter().for_each(|inner| outline_block(inner, depth + 1, text));
    }
    flush(&mut words, &indent, text);
}

fn flush(words: &mut Vec<String>, indent: &str, text: &mut String) {
    if !words.is_empty() {
        text.push_str(&format!("{indent}{}\n", words.join(", ")));
        words.clear();
    }
}
