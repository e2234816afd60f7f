//! Tests of evaluation and of compiled jaxprs on arrays.

use pullback_base::{Array, Aval, DType, Result, Scalar};
use pullback_core::find_primitive;
use pullback_ir::{JaxprRef, Params, Val, parse_jaxpr};

use crate::{eval_bind, executable, executable_donating, inspect, native};

fn numbers(array: &Array) -> Vec<f64> {
    array.elements().expect("alive").into_iter().map(Scalar::as_f64).collect()
}

fn apply(name: &str, ins: &[Val]) -> Result<Array> {
    let prim = find_primitive(name).unwrap_or_else(|| panic!("there is no {name}"));
    let outs = eval_bind(prim, &Params::NONE, ins)?;
    Ok(outs[0].to_array().expect("known"))
}

fn check(name: &str, ins: &[Val], expected: &[f64]) {
    let out = apply(name, ins).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(numbers(&out), expected, "{name}");
}

fn f32s(elements: &[f32]) -> Val {
    Val::Array(Array::f32s(elements))
}

fn number(x: f32) -> Val {
    Val::Literal(Scalar::f32(x))
}

#[test]
fn elementwise_of_every_layout() {
    check("add", &[f32s(&[1.0, 2.0]), f32s(&[3.0, 4.0])], &[4.0, 6.0]);
    check("add", &[f32s(&[1.0, 2.0]), number(3.0)], &[4.0, 5.0]);
    check("sub", &[number(3.0), f32s(&[1.0, 2.0])], &[2.0, 1.0]);
    check("add", &[number(1.0), number(2.0)], &[3.0]);
    check("neg", &[f32s(&[])], &[]);
    check("neg", &[number(2.0)], &[-2.0]);
    // The same kernel at another size.
    check("add", &[f32s(&[1.0; 5]), f32s(&[3.0; 5])], &[4.0; 5]);
    let case = |x: f32| Val::Array(Array::full(Aval::new(&[2], DType::F32), Scalar::f32(x)).expect("memory"));
    check("select_n", &[Val::Literal(Scalar::bool(true)), case(1.0), case(2.0)], &[2.0, 2.0]);
    let column = Val::Array(Array::f32s(&[1.0, 2.0]).reinterpret(Aval::new(&[2, 1], DType::F32)).expect("alive"));
    let row = Val::Array(Array::f32s(&[10.0, 20.0]).reinterpret(Aval::new(&[1, 2], DType::F32)).expect("alive"));
    check("add", &[column, row], &[11.0, 21.0, 12.0, 22.0]);
}

#[test]
fn large_arrays_go_by_blocks() {
    for n in [65_535, 65_536, 70_001] {
        let elements: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let expected: Vec<f64> = (0..n).map(|i| 2.0 * f64::from(i)).collect();
        check("add", &[f32s(&elements), f32s(&elements)], &expected);
        let pairs =
            Array::from_scalars(&[n as usize], DType::C64, (0..n).map(|i| Scalar::int(DType::C64, i128::from(i))));
        let sum = apply("add", &[Val::Array(pairs.clone()), Val::Array(pairs)]).expect("it runs");
        assert_eq!(sum.element(n as usize - 1).expect("alive"), Scalar::int(DType::C64, 2 * i128::from(n - 1)));
    }
}

#[test]
fn weak_types_come_from_abstract_evaluation() {
    let weak = Val::Literal(Scalar::f32(1.0).weak(true));
    let sum = apply("add", &[weak.clone(), weak.clone()]).expect("it runs");
    assert!(sum.aval().weak_type);
    let sum = apply("add", &[weak, f32s(&[1.0])]).expect("it runs");
    assert!(!sum.aval().weak_type);
}

#[test]
fn errors_name_the_primitive() {
    let int = Val::Literal(Scalar::i32(1));
    let error = apply("sin", &[int]).expect_err("sine of an integer");
    assert!(error.message().contains("sin does not accept dtype int32"), "{error}");
}

#[test]
fn a_reshape_shares_memory() {
    let x = Array::f32s(&[1.0, 2.0]);
    let text =
        "{ lambda ; a:f32[2]. let b:f32[2,1] = reshape[dimensions=None new_sizes=(2, 1) sharding=None] a in (b,) }";
    let jaxpr = parse_jaxpr(text, &find_primitive).expect("it parses");
    let eqn = &jaxpr.eqns[0];
    let out =
        eval_bind(eqn.prim, &eqn.params, &[Val::Array(x.clone())]).expect("it runs")[0].to_array().expect("known");
    assert_eq!(out.shape(), [2, 1]);
    assert_eq!(out.buffer().expect("alive").as_ptr(), x.buffer().expect("alive").as_ptr());
}

#[test]
fn conversions_that_programs_cannot_hold() {
    let prim = find_primitive("convert_element_type").expect("it exists");
    let jaxpr = parse_jaxpr(
        "{ lambda ; a:f32[3]. let b:i4[3] = convert_element_type[new_dtype=int4 weak_type=False sharding=None] a; \
         c:f32[3] = convert_element_type[new_dtype=float32 weak_type=False sharding=None] b in (c,) }",
        &find_primitive,
    )
    .expect("it parses");
    let narrow = eval_bind(prim, &jaxpr.eqns[0].params, &[f32s(&[1.0, -3.0, 2.5])]).expect("it runs");
    assert_eq!(narrow[0].aval(), Aval::new(&[3], DType::I4));
    let wide = eval_bind(prim, &jaxpr.eqns[1].params, &narrow).expect("it runs");
    assert_eq!(numbers(&wide[0].to_array().expect("known")), [1.0, -3.0, 2.0]);
}

fn parse(text: &str) -> JaxprRef {
    JaxprRef::new(parse_jaxpr(text, &find_primitive).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn compiled_jaxprs_run() {
    let jaxpr = parse(
        "{ lambda ; a:f32[2] b:f32[]. let c:f32[2] = mul a b; d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c in (c, d, a, 1.0:f32[]) }",
    );
    let code = executable(&jaxpr).expect("it compiles");
    let outs = code.run(&[Array::f32s(&[1.0, 2.0]), Array::scalar(Scalar::f32(3.0))], &[]).expect("it runs");
    let outs: Vec<Vec<f64>> = outs.iter().map(numbers).collect();
    assert_eq!(outs, [vec![3.0, 6.0], vec![9.0], vec![1.0, 2.0], vec![1.0]]);
    assert!(std::sync::Arc::ptr_eq(&code, &executable(&jaxpr).expect("kept")));
    let error = code.run(&[Array::f32s(&[1.0])], &[]).expect_err("one argument too few");
    assert!(error.message().contains("called with"), "{error}");
}

#[test]
fn donated_arguments_are_deleted() {
    let jaxpr = parse("{ lambda ; a:f32[2] b:f32[2]. let c:f32[2] = add a b in (c, b) }");
    let (a, b) = (Array::f32s(&[1.0, 2.0]), Array::f32s(&[3.0, 4.0]));
    let outs = executable(&jaxpr).expect("compiles").run(&[a.clone(), b.clone()], &[true, true]).expect("runs");
    assert!(a.is_deleted() && b.is_deleted());
    assert_eq!(outs.iter().map(numbers).collect::<Vec<_>>(), [[4.0, 6.0], [3.0, 4.0]]);
}

#[test]
fn results_lie_where_donated_arguments_lay() {
    let jaxpr = parse("{ lambda ; a:f32[2] b:f32[2]. let c:f32[2] = add a b; d:f32[2] = mul c c in (d,) }");
    let code = executable_donating(&jaxpr, &[true, false]).expect("compiles");
    let place = |array: &Array| array.buffer().expect("alive").as_ptr();
    let (a, b) = (Array::f32s(&[1.0, 2.0]), Array::f32s(&[3.0, 4.0]));
    let before = place(&a);
    let outs = code.run(&[a.clone(), b.clone()], &[true, false]).expect("runs");
    assert!(a.is_deleted() && !b.is_deleted());
    assert_eq!((place(&outs[0]), numbers(&outs[0])), (before, vec![16.0, 36.0]));
    // What others see, what is not donated after all, and what is two arguments stays as it is.
    let (shared, kept) = (Array::f32s(&[1.0, 2.0]), Array::f32s(&[1.0, 2.0]));
    let view = shared.buffer().expect("alive");
    for (args, donated) in
        [([&shared, &b], [true, false]), ([&kept, &b], [false, false]), ([&kept, &kept], [false, false])]
    {
        let want: Vec<f64> = numbers(args[0]).iter().zip(numbers(args[1])).map(|(a, b)| (a + b) * (a + b)).collect();
        let outs = code.run(&args.map(Array::clone), &donated).expect("runs");
        assert_eq!((numbers(&outs[0]), args[0].is_deleted()), (want, false));
    }
    assert_eq!(view.bytes()[..4], 1f32.to_le_bytes());
    let gone = Array::f32s(&[1.0, 2.0]);
    gone.delete();
    assert!(code.run(&[kept.clone(), gone], &[true, false]).is_err());
    assert!(!kept.is_deleted());
}

#[test]
fn calls_run_as_a_whole() {
    let jaxpr = parse(
        "{ lambda ; a:f32[2]. let b:f32[2] = jit[name=f jaxpr={ lambda ; a:f32[2]. let b:f32[2] = neg a in (b,) } \
         donated_invars=(False,) inline=False keep_unused=False] a in (b,) }",
    );
    let eqn = &jaxpr.eqns[0];
    let outs = eval_bind(eqn.prim, &eqn.params, &[f32s(&[1.0, 2.0])]).expect("it runs");
    assert_eq!(numbers(&outs[0].to_array().expect("known")), [-1.0, -2.0]);
}

#[test]
fn inspection_shows_every_stage() {
    let jaxpr = parse("{ lambda ; a:f32[2]. let b:f32[2] = neg a; c:f32[2] = mul b a in (c,) }");
    let stages = inspect(&jaxpr).expect("it compiles");
    assert!(stages.jaxpr.contains("neg") && stages.after.contains("neg"), "{stages}");
    // Fusion leaves one loop of two.
    let loops = |text: &str| text.matches("lanes").count();
    assert_eq!((loops(&stages.before), loops(&stages.after)), (2, 1), "{stages}");
}

/// Elements for a sample: spread over its domain, the same in every run.
fn sample_array(input: &pullback_ir::SampleIn) -> Array {
    let (low, high) = input.domain;
    let element = |i: usize| {
        let x = low + (high - low) * ((i * 7 + 3) % 11) as f64 / 11.0;
        match input.aval.dtype {
            dtype if dtype.is_complex() => Scalar::new(dtype, pullback_base::scalar::Number::Complex(x, -0.5 * x)),
            dtype if dtype.is_inexact() => Scalar::float(dtype, x),
            dtype => Scalar::int(dtype, x.floor() as i128),
        }
    };
    let x = Array::from_scalars(&input.aval.shape, input.aval.dtype, (0..input.aval.size()).map(element));
    x.reinterpret(input.aval).expect("alive")
}

/// Runs one sample eagerly and compiled; says what is wrong. A hole is an error that says so, on both ways.
fn check_sample(prim: pullback_ir::PrimRef, sample: &pullback_ir::Sample) -> Result<(), String> {
    let avals: Vec<Aval> = sample.ins.iter().map(|input| input.aval).collect();
    let arrays: Vec<Array> = sample.ins.iter().map(sample_array).collect();
    let ins: Vec<Val> = arrays.iter().cloned().map(Val::Array).collect();
    let builder = pullback_ir::Builder::new();
    let vars: Vec<Val> = avals.iter().map(|&aval| builder.input(aval)).collect();
    let outs = pullback_ir::Emit::bind(&builder, prim, &sample.params, &vars).map_err(|error| error.to_string())?;
    let jaxpr = JaxprRef::new(builder.finish(&outs, None).0);
    let eager = eval_bind(prim, &sample.params, &ins);
    let compiled = executable(&jaxpr).and_then(|code| code.run(&arrays, &[]));
    let bytes = |arrays: &[Array]| arrays.iter().map(|x| x.to_bytes().expect("alive")).collect::<Vec<_>>();
    match (eager, compiled) {
        (Ok(eager), Ok(compiled)) => {
            let eager: Vec<Array> = eager.iter().map(|val| val.to_array().expect("known")).collect();
            let is_equal = bytes(&eager) == bytes(&compiled);
            if is_equal { Ok(()) } else { Err(format!("eager {eager:?}, compiled {compiled:?}")) }
        }
        (Err(error), Err(_)) if error.kind() == pullback_base::ErrorKind::NotImplemented => Ok(()),
        (eager, compiled) => Err(format!("eager {eager:?}, compiled {compiled:?}")),
    }
}

#[test]
fn samples_of_every_primitive() {
    let mut failures = vec![];
    for prim in pullback_core::all_primitives() {
        for sample in prim.samples() {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check_sample(prim, &sample)));
            if let Err(text) = outcome.unwrap_or_else(|_| Err("panicked".into())) {
                failures.push(format!("{} with {:?} of {:?}: {text}", prim.name(), sample.params, sample.ins));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Loops and branches in machine code, with carried registers, arrays that swap, and one that is updated in place.
#[test]
fn control_flow_runs_natively() {
    let jaxpr = parse(
        "{ lambda ; i:i32[] x:f32[4] y:f32[2] z:f32[2]. let r:i32[] s:f32[4] t:f32[2] u:f32[2] = while[cond_nconsts=0
           cond_jaxpr={ lambda ; i:i32[] x:f32[4] y:f32[2] z:f32[2]. let b:bool[] = lt i 3:i32[] in (b,) } body_nconsts=0
           body_jaxpr={ lambda ; i:i32[] x:f32[4] y:f32[2] z:f32[2]. let
             a:f32[1] = dynamic_slice[slice_sizes=(1,)] x i; b:f32[1] = mul a 10.0:f32[]; c:f32[4] = dynamic_update_slice x b i;
             j:i32[] = add i 1:i32[]; d:f32[2] = add y z;
             e:f32[2] = cond[branches=({ lambda ; v:f32[2]. let in (v,) }, { lambda ; v:f32[2]. let w:f32[2] = neg v in (w,) })
               branches_platforms=None] i d in (j, c, z, e) }] i x y z in (r, s, t, u) }",
    );
    let args = [
        Array::scalar(Scalar::i32(0)),
        Array::f32s(&[1.0, 2.0, 3.0, 4.0]),
        Array::f32s(&[1.0, 1.0]),
        Array::f32s(&[1.0, 2.0]),
    ];
    let outs = executable(&jaxpr).expect("it compiles").run(&args, &[]).expect("it runs");
    // (y, z) -> (z, ±(y + z)): (1, 2), then -(3, 5) after (2, 3), then -(-1, -2).
    let expected = [vec![3.0], vec![10.0, 20.0, 30.0, 4.0], vec![-3.0, -5.0], vec![1.0, 2.0]];
    assert_eq!(outs.iter().map(numbers).collect::<Vec<_>>(), expected);
}

#[test]
fn a_run_costs_what_its_loops_do() {
    let check = |text: &str, flops: f64, transcendentals: f64, bytes: f64| {
        let jaxpr = JaxprRef::new(parse_jaxpr(text, &pullback_core::find_primitive).expect("a jaxpr"));
        let want = crate::RunCost { flops, transcendentals, bytes };
        assert_eq!(crate::run_cost(&jaxpr).expect("a program"), want, "{text}");
    };
    // Fused: the sine is neither stored nor loaded.
    check("{ lambda ; a:f32[8]. let b:f32[8] = sin a; c:f32[8] = mul b a in (c,) }", 8.0, 8.0, 64.0);
    check("{ lambda ; a:f32[8]. let b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }", 8.0, 0.0, 36.0);
    // Every element of both matrices is read once, whatever the loops ask a cache for.
    check(
        "{ lambda ; a:f32[8,16] b:f32[16,4]. let c:f32[8,4] = dot_general[dimension_numbers=(([1], [0]), ([], []))
         precision=None preferred_element_type=float32 out_sharding=None] a b in (c,) }",
        1024.0,
        0.0,
        4.0 * (128.0 + 64.0 + 32.0),
    );
}

#[test]
fn temporaries_are_counted_once_where_they_share_memory() {
    let text = "{ lambda ; a:f32[64]. let b:f32[64] = cumsum[axis=0 reverse=False] a; c:f32[64] = cumsum[axis=0 reverse=True] b in (c,) }";
    let jaxpr = JaxprRef::new(parse_jaxpr(text, &pullback_core::find_primitive).expect("a jaxpr"));
    let want = crate::Memory { arguments: 256, results: 256, temporaries: 256, constants: 0, aliases: 0 };
    assert_eq!(crate::memory(&jaxpr, &[]).expect("a program"), want);
}

/// A program with a constant, loops that threads share, a product and a sort.
const VARIED: &str = "{ lambda ; a:f32[2] b:f32[300,300] c:i32[7]. let
    d:f32[300,300] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
      out_sharding=None
      precision=None
      preferred_element_type=float32
    ] b b
    e:f32[300,300] = sin d
    f:f32[2] = exp a
    g:i32[7] = sort[dimension=0 is_stable=True num_keys=1] c
  in (e, f, g, c) }";

#[test]
fn a_saved_program_is_refused_when_it_was_changed() {
    if pullback_native::best_level().is_none() {
        return;
    }
    let jaxpr = parse_jaxpr(VARIED, &find_primitive).expect("a jaxpr").closed_over(&[Array::f32s(&[1.0, 2.0])]);
    let compiled = native(&JaxprRef::new(jaxpr)).expect("it compiles");
    let saved = compiled.save().expect("it is saved");
    let matrix: Vec<f32> = (0..90_000).map(|i| (i % 97) as f32 / 97.0).collect();
    let matrix = Array::f32s(&matrix).reinterpret(Aval::new(&[300, 300], DType::F32)).expect("as many");
    let whole = Array::from_scalars(&[7], DType::I32, (0..7).rev().map(|i| Scalar::from_bits(DType::I32, i)));
    let args = [matrix, whole];
    let run = |compiled: &pullback_native::Compiled| compiled.run(&args).expect("it runs");
    let again = pullback_native::Compiled::load(&saved).expect("it is loaded");
    assert_eq!(again.save().expect("it is saved again"), saved);
    for (got, want) in run(&again).iter().zip(run(&compiled)) {
        assert_eq!(got.to_bytes().expect("alive"), want.to_bytes().expect("alive"));
    }
    assert!(again.run(&args[..1]).is_err());
    for at in (0..saved.len()).step_by(7) {
        let mut changed = saved.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(pullback_native::Compiled::load(&changed).is_err(), "byte {at}");
        assert!(pullback_native::Compiled::load(&saved[..at]).is_err(), "{at} bytes");
    }
}
