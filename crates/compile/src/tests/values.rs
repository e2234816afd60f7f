//! What programs compute, against numbers worked out by hand; fused and unfused programs agree to the bit.

use super::*;
use pullback_base::{Array, DType};

#[test]
fn elementwise() {
    check("{ lambda ; a:f32[4]. let b:f32[4] = neg a; c:f32[4] = mul b a in (c,) }", &[&[-9.0, -4.0, -1.0, -0.0]]);
    check("{ lambda ; a:f32[]. let b:f32[] = neg a; c:f32[] = mul b 2.0:f32[] in (c, b) }", &[&[6.0], &[3.0]]);
    check("{ lambda ; a:f32[2,2] b:f32[]. let c:f32[2,2] = add a b in (c,) }", &[&[-6.0, -5.0, -4.0, -3.0]]);
    check("{ lambda ; a:i32[3]. let b:i32[3] = add a 5:i32[] in (b,) }", &[&[2.0, 3.0, 4.0]]);
    check("{ lambda ; a:bf16[3]. let b:bf16[3] = mul a a; c:bf16[3] = add b a in (c,) }", &[&[6.0, 2.0, 0.0]]);
}

#[test]
fn results_without_work() {
    check("{ lambda ; a:f32[2]. let in (a, 1.0:f32[], a) }", &[&[-3.0, -2.0], &[1.0], &[-3.0, -2.0]]);
    check(
        "{ lambda ; a:f32[2,2]. let b:f32[4] = reshape[dimensions=None new_sizes=(4,) sharding=None] a in (b,) }",
        &[&[-3.0, -2.0, -1.0, 0.0]],
    );
    check("{ lambda ; a:f32[2]. let b:f32[2] = neg a in (b, b) }", &[&[3.0, 2.0], &[3.0, 2.0]]);
}

#[test]
fn movement() {
    check(
        "{ lambda ; a:f32[2,3]. let b:f32[3,2] = transpose[permutation=(1, 0)] a in (b,) }",
        &[&[-3.0, 0.0, -2.0, 1.0, -1.0, 2.0]],
    );
    check(
        "{ lambda ; a:f32[2,2]. let b:f32[2,2] = transpose[permutation=(1, 0)] a; c:f32[2,2] = add a b;
           d:f32[4] = reshape[dimensions=None new_sizes=(4,) sharding=None] c; e:f32[4] = neg d in (e,) }",
        &[&[6.0, 3.0, 3.0, -0.0]],
    );
    check(
        "{ lambda ; a:f32[3]. let b:f32[2,3] = broadcast_in_dim[shape=(2, 3) broadcast_dimensions=(1,) sharding=None] a; c:f32[2,3] = mul b b in (c,) }",
        &[&[9.0, 4.0, 1.0, 9.0, 4.0, 1.0]],
    );
    check(
        "{ lambda ; a:f32[4]. let b:f32[4] = rev[dimensions=(0,)] a; c:f32[4] = sub a b in (c,) }",
        &[&[-3.0, -1.0, 1.0, 3.0]],
    );
    check(
        "{ lambda ; a:f32[2] b:f32[1]. let c:f32[3] = concatenate[dimension=0] a b; d:f32[3] = neg c in (d,) }",
        &[&[3.0, 2.0, 3.0]],
    );
}

#[test]
fn reductions() {
    let sum = |shape: &str, out: &str, axes: &str| {
        format!(
            "{{ lambda ; a:f32[{shape}]. let b:f32[{shape}] = add a 3.0:f32[]; c:f32[{out}] = reduce_sum[axes={axes} out_sharding=None] b in (c,) }}"
        )
    };
    check(&sum("2,3", "2", "(1,)"), &[&[3.0, 12.0]]);
    check(&sum("2,3", "3", "(0,)"), &[&[3.0, 5.0, 7.0]]);
    check(&sum("2,3", "", "(0, 1)"), &[&[15.0]]);
    check(&sum("7", "", "(0,)"), &[&[21.0]]);
    check(&sum("0", "", "(0,)"), &[&[0.0]]);
    check(&sum("0,2", "2", "(0,)"), &[&[0.0, 0.0]]);
    check(&sum("7000", "", "(0,)"), &[&[21000.0]]);
    check(&sum("70000", "", "(0,)"), &[&[210000.0]]);
    check(&sum("2,7000", "2", "(1,)"), &[&[21000.0, 21000.0]]);
    check(&sum("2,2,2", "2", "(0, 2)"), &[&[0.0 + 1.0 + 4.0 + 5.0, 2.0 + 3.0 + 6.0]]);
}

#[test]
fn a_reduction_meets_its_producers_again() {
    check(
        "{ lambda ; a:f32[2,2]. let b:f32[2] = reduce_sum[axes=(1,) out_sharding=None] a;
           c:f32[2,2] = broadcast_in_dim[shape=(2, 2) broadcast_dimensions=(0,) sharding=None] b; d:f32[2,2] = sub a c;
           e:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] d; f:f32[2,2] = mul d e in (f, e) }",
        &[&[12.0, 18.0, 0.0, 6.0], &[6.0]],
    );
}

#[test]
fn complex_numbers() {
    let jaxpr = parse(
        "{ lambda ; a:c64[2]. let b:c64[2] = mul a a; c:c64[] = reduce_sum[axes=(0,) out_sharding=None] b in (b, c) }",
    );
    let number = |re, im| Scalar::new(DType::C64, pullback_base::scalar::Number::Complex(re, im));
    let input = Array::from_scalars(&[2], DType::C64, [number(1.0, 2.0), number(0.0, -1.0)]);
    let outs = evaluate(&jaxpr, &[input]);
    assert_eq!(outs[0].elements().unwrap(), [number(-3.0, 4.0), number(-1.0, -0.0)]);
    assert_eq!(outs[1].elements().unwrap(), [number(-4.0, 4.0)]);
}

#[test]
fn contractions() {
    let dot = |x: &str, y: &str, out: &str, contract: &str, batch: &str, dtype: &str| {
        format!(
            "{{ lambda ; a:{dtype}[{x}] b:{dtype}[{y}]. let c:{dtype}[{out}] = dot_general[dimension_numbers=({contract}, {batch}) \
             precision=None preferred_element_type=None out_sharding=None] a b in (c,) }}"
        )
    };
    for dtype in ["f32", "i32", "f64", "bf16"] {
        check(&dot("2,2", "2,2", "2,2", "((1,), (0,))", "((), ())", dtype), &[&[11.0, 6.0, 3.0, 2.0]]);
        check(&dot("2,2", "2,2", "2,2", "((0,), (0,))", "((), ())", dtype), &[&[10.0, 6.0, 6.0, 4.0]]);
        check(&dot("3", "3", "", "((0,), (0,))", "((), ())", dtype), &[&[14.0]]);
        check(&dot("2", "2", "2,2", "((), ())", "((), ())", dtype), &[&[9.0, 6.0, 6.0, 4.0]]);
        check(&dot("2,2", "2,2", "2", "((1,), (1,))", "((0,), (0,))", dtype), &[&[13.0, 1.0]]);
        check(&dot("2,0", "0,2", "2,2", "((1,), (0,))", "((), ())", dtype), &[&[0.0; 4]]);
    }
}

/// Large enough for the gemm kernel: against a plain triple loop.
#[test]
fn contractions_by_kernel() {
    let (m, k, n) = (9, 11, 10);
    let value = |i: usize| (i % 7) as f64 - 3.0;
    for (x, y, contract) in [("9,11", "11,10", [1, 0]), ("11,9", "11,10", [0, 0]), ("9,11", "10,11", [1, 1])] {
        for dtype in ["f32", "f64", "bf16"] {
            let text = format!(
                "{{ lambda ; a:{dtype}[{x}] b:{dtype}[{y}]. let c:{dtype}[9,10] = dot_general[dimension_numbers=((({},), ({},)), ((), ())) \
                 precision=None preferred_element_type=None out_sharding=None] a b in (c,) }}",
                contract[0], contract[1]
            );
            let x_at = |i: usize, l: usize| if contract[0] == 1 { value(i * k + l) } else { value(l * m + i) };
            let y_at = |l: usize, j: usize| if contract[1] == 0 { value(l * n + j) } else { value(j * k + l) };
            let expected: Vec<f64> =
                (0..m * n).map(|ij| (0..k).map(|l| x_at(ij / n, l) * y_at(l, ij % n)).sum()).collect();
            check(&text, &[&expected]);
        }
    }
}

#[test]
fn laws() {
    let simple = |text: &str| simplified(&parse(text), &Options::default()).expect("simplifies").to_string();
    let cases = [
        (
            "{ lambda ; a:f32[2]. let b:f32[2] = neg a; c:f32[2] = neg b in (c,) }",
            "{ lambda ; a:f32[2]. let  in (a,) }",
        ),
        ("{ lambda ; a:f32[2]. let b:f32[2] = mul a 1.0:f32[] in (b,) }", "{ lambda ; a:f32[2]. let  in (a,) }"),
        (
            "{ lambda ; a:f32[2]. let b:f32[2] = exp a; c:f32[2] = log b in (c,) }",
            "{ lambda ; a:f32[2]. let  in (a,) }",
        ),
        (
            "{ lambda ; a:f32[1,2]. let b:f32[2] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }",
            "{ lambda ; a:f32[1,2]. let\n    b:f32[2] = reshape[dimensions=None new_sizes=(2,) sharding=None] a\n    c:f32[2] = add b 0.0:f32[]\n  in (c,) }",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(simple(text), expected, "{text}");
    }
    // -0.0 + 0.0 is 0.0, so this sum stays.
    assert!(simple("{ lambda ; a:f32[2]. let b:f32[2] = add a 0.0:f32[] in (b,) }").contains("add"));
    let exact = Options { rewrite_values: false, ..Options::default() };
    let kept = simplified(&parse(cases[2].0), &exact).expect("simplifies").to_string();
    assert!(kept.contains("log") && kept.contains("exp"), "{kept}");
}

#[test]
fn constants_of_any_rank() {
    let builder = Builder::new();
    let x = builder.input(pullback_base::Aval::new(&[2], DType::F32));
    let consts = [Val::Array(Array::f32s(&[10.0, 20.0])), Val::Array(Array::scalar(Scalar::f32(100.0)))];
    let add = |a: &Val, b: &Val| {
        builder.bind(pullback_core::prims::ADD, &pullback_ir::Params::NONE, &[a.clone(), b.clone()]).unwrap()[0].clone()
    };
    let sum = add(&add(&x, &consts[0]), &consts[1]);
    let (jaxpr, _) = builder.finish(&[sum, consts[0].clone()], None);
    let outs = evaluate(&JaxprRef::new(jaxpr), &[Array::f32s(&[1.0, 2.0])]);
    assert_eq!(numbers(&outs), [[111.0, 122.0], [10.0, 20.0]]);
}

#[test]
fn keys_and_their_words() {
    let wrap = "random_wrap[impl=fry]";
    check(
        &format!(
            "{{ lambda ; a:u32[2,2]. let b:u32[2,2] = add a 1:u32[]; k:key<fry>[2] = {wrap} b; r:key<fry>[2] = rev[dimensions=(0,)] k;
               w:u32[2,2] = random_unwrap r in (w,) }}"
        ),
        &[&[3.0, 4.0, 1.0, 2.0]],
    );
}

#[test]
fn laws_about_structure() {
    let cases = [
        // A product without depth, with and without batch axes; -0 becomes 0 as in a sum that starts from 0.
        (
            "{ lambda ; a:f32[2] b:f32[3]. let c:f32[2,3] = dot_general[dimension_numbers=(([], []), ([], [])) precision=None preferred_element_type=float32 out_sharding=None] a b in (c,) }",
            "mul",
        ),
        (
            "{ lambda ; a:f32[4,2] b:f32[3,4]. let c:f32[4,2,3] = dot_general[dimension_numbers=(([], []), ([0], [1])) precision=None preferred_element_type=float32 out_sharding=None] a b in (c,) }",
            "mul",
        ),
        (
            "{ lambda ; a:f32[2,1] b:f32[1,3]. let c:f32[2,3] = dot_general[dimension_numbers=(([1], [0]), ([], [])) precision=None preferred_element_type=float32 out_sharding=None] a b in (c,) }",
            "mul",
        ),
        // A product that only its transpose wants.
        (
            "{ lambda ; a:f32[2,5] b:f32[5,3]. let c:f32[2,3] = dot_general[dimension_numbers=(([1], [0]), ([], [])) precision=None preferred_element_type=float32 out_sharding=None] a b;
               d:f32[3,2] = transpose[permutation=(1, 0)] c in (d,) }",
            "dot_general[dimension_numbers=(([0], [1]), ([], [])) preferred_element_type=float32] b a",
        ),
        // Elements replaced at a known place.
        (
            "{ lambda ; a:f32[4,4] u:f32[2,2]. let i:i32[1] = broadcast_in_dim[shape=(1,) broadcast_dimensions=() sharding=None] 1:i32[];
               j:i32[1] = broadcast_in_dim[shape=(1,) broadcast_dimensions=() sharding=None] 2:i32[];
               k:i32[2] = concatenate[dimension=0] i j;
               c:f32[4,4] = scatter[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(0, 1), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=True unique_indices=True mode=GatherScatterMode.FILL_OR_DROP update_jaxpr=None update_consts=()] a k u in (c,) }",
            "dynamic_update_slice a b 1:i32[] 2:i32[]",
        ),
    ];
    for (text, wanted) in cases {
        let jaxpr = parse(text);
        let found = simplified(&jaxpr, &Options::default()).expect("simplifies").to_string();
        let flat = found.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.replace("[ ", "[").replace(" ]", "]").contains(wanted), "{text}\n{flat}");
        evaluate(&jaxpr, &ramps(&jaxpr));
    }
}
