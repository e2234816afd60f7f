//! What shares a loop nest: outlines of programs.

use expect_test::{Expect, expect};

use super::*;

fn check_outline(text: &str, expected: &Expect) {
    let jaxpr = parse(text);
    evaluate(&jaxpr, &ramps(&jaxpr));
    expected.assert_eq(&outline(&compiled(&jaxpr, &Options::default()).program));
}

#[test]
fn a_chain_is_one_nest() {
    check_outline(
        "{ lambda ; a:f32[4,8] b:f32[4,8]. let c:f32[4,8] = mul a b; d:f32[4,8] = neg c; e:f32[4,8] = add d a in (e,) }",
        &expect![[r#"
            lanes Const(32)
              load b0, load b1, Mul, Neg, Add, store b2
        "#]],
    );
}

#[test]
fn a_broadcast_is_read_in_place() {
    check_outline(
        "{ lambda ; a:f32[2,4,8] b:f32[8]. let c:f32[2,4,8] = broadcast_in_dim[shape=(2, 4, 8) broadcast_dimensions=(2,) sharding=None] b;
           d:f32[2,4,8] = add a c in (d,) }",
        &expect![[r#"
            seq Const(8)
              lanes Const(8)
                load b0, load b1, Add, store b2
        "#]],
    );
}

#[test]
fn a_reduction_takes_in_its_producers() {
    check_outline(
        "{ lambda ; a:f32[4,8] b:f32[4,8]. let c:f32[4,8] = mul a b; d:f32[4] = reduce_sum[axes=(1,) out_sharding=None] c;
           e:f32[4] = reduce_sum[axes=(1,) out_sharding=None] a in (d, e) }",
        &expect![[r#"
            seq Const(4)
              lanes Const(8) Add Add
                load b0, load b1, Mul, Add, Add
              store b2, store b3
        "#]],
    );
}

#[test]
fn a_reduction_over_leading_axes_runs_in_the_lanes_of_the_others() {
    check_outline(
        "{ lambda ; a:f32[4,8]. let b:f32[4,8] = neg a; c:f32[8] = reduce_sum[axes=(0,) out_sharding=None] b in (c,) }",
        &expect![[r#"
            lanes Const(8)
              load b0, Neg, Add, load b0, Neg, Add, load b0, Neg, Add, load b0, Neg, Add, store b1
        "#]],
    );
}

#[test]
fn softmax_without_its_maximum() {
    check_outline(
        "{ lambda ; a:f32[4,8]. let b:f32[4,8] = mul a a; c:f32[4] = reduce_sum[axes=(1,) out_sharding=None] b;
           d:f32[4,8] = broadcast_in_dim[shape=(4, 8) broadcast_dimensions=(0,) sharding=None] c; e:f32[4,8] = sub b d in (e,) }",
        &expect![[r#"
            seq Const(4)
              lanes Const(8) Add
                load b0, Mul, store b1, Add
              store b2
              lanes Const(8)
                load b1, load b2, Sub, store b1
        "#]],
    );
}

#[test]
fn a_layer_of_a_network() {
    check_outline(
        "{ lambda ; x:f32[16,8] w:f32[8,32] b:f32[32]. let
           y:f32[16,32] = dot_general[dimension_numbers=(((1,), (0,)), ((), ())) precision=None preferred_element_type=None out_sharding=None] x w;
           c:f32[16,32] = broadcast_in_dim[shape=(16, 32) broadcast_dimensions=(1,) sharding=None] b; z:f32[16,32] = add y c;
           t:f32[16,32] = neg z; u:f32[16,32] = mul t z in (u,) }",
        &expect![[r#"
            call
            seq Const(16)
              lanes Const(32)
                load b4, load b2, Add, Neg, Mul, store b3
        "#]],
    );
}

#[test]
fn large_nests_are_parallel_by_blocks() {
    check_outline(
        "{ lambda ; a:f32[100000]. let b:f32[100000] = neg a in (b,) }",
        &expect![[r#"
        parallel Const(12)
          lanes Const(8192)
            load b0, Neg, store b1
        lanes Const(1696)
          load b0, Neg, store b1
    "#]],
    );
    check_outline(
        "{ lambda ; a:f32[100000]. let b:f32[100000] = mul a a; c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b in (c,) }",
        &expect![[r#"
            parallel Const(6)
              lanes Const(4096) Add Add Add Add
                load b0, Mul, Add, load b0, Mul, Add, load b0, Mul, Add, load b0, Mul, Add
              store b2, store b2, store b2, store b2
            lanes Const(24) Add
              load b2, Add
            lanes Const(1696) Add
              load b0, Mul, Add
            store b1
        "#]],
    );
}

#[test]
fn scalars_stay_in_registers() {
    check_outline(
        "{ lambda ; a:f32[] b:f32[4]. let c:f32[] = mul a 2.0:f32[]; d:f32[4] = mul b c; e:f32[] = reduce_sum[axes=(0,) out_sharding=None] d;
           f:f32[] = add e c; g:f32[4] = add d f in (g,) }",
        &expect![[r#"
            load b0, Mul
            lanes Const(4) Add
              load b1, Mul, store b3, Add
            Add
            lanes Const(4)
              load b3, Add, store b2
        "#]],
    );
}

#[test]
fn a_softmax_goes_through_the_rows_once() {
    check_outline(
        "{ lambda ; a:f32[4,8]. let b:f32[4] = reduce_max[axes=(1,) out_sharding=None] a;
           c:f32[4,1] = broadcast_in_dim[shape=(4, 1) broadcast_dimensions=(0,) sharding=None] b;
           d:f32[4,8] = sub a c; e:f32[4,8] = exp d; f:f32[4] = reduce_sum[axes=(1,) out_sharding=None] e;
           g:f32[4,1] = broadcast_in_dim[shape=(4, 1) broadcast_dimensions=(0,) sharding=None] f;
           h:f32[4,8] = div e g in (h,) }",
        &expect![[r#"
            seq Const(4)
              lanes Const(8) Max
                load b0, Max
              store b2
              lanes Const(8) Add
                load b0, load b2, Sub, Exp, store b1, Add
              store b3
              lanes Const(8)
                load b1, load b3, Div, store b1
        "#]],
    );
}

#[test]
fn groups_that_read_other_rows_do_not_share_them() {
    check_outline(
        "{ lambda ; a:f32[4,4]. let b:f32[4] = reduce_sum[axes=(1,) out_sharding=None] a;
           c:f32[4,4] = broadcast_in_dim[shape=(4, 4) broadcast_dimensions=(1,) sharding=None] b;
           d:f32[4,4] = sub a c; e:f32[4] = reduce_sum[axes=(1,) out_sharding=None] d in (e,) }",
        &expect![[r#"
            seq Const(4)
              lanes Const(4) Add
                load b0, Add
              store b2
            seq Const(4)
              lanes Const(4) Add
                load b0, load b2, Sub, Add
              store b1
        "#]],
    );
}

#[test]
fn many_rows_are_summed_one_after_the_other() {
    check_outline(
        "{ lambda ; a:f32[100,600]. let b:f32[600] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }",
        &expect![[r#"
            lanes Const(600)
              store b2
            seq Const(12)
              lanes Const(600)
                load b2, load b0, Add, load b0, Add, load b0, Add, load b0, Add, load b0, Add, load b0, Add, load b0, Add, load b0, Add, store b2
            lanes Const(600)
              load b2, load b0, Add, load b0, Add, load b0, Add, load b0, Add, store b2
            lanes Const(600)
              load b2, store b1
        "#]],
    );
}

/// Scores, their softmax without the exponential, and what they weigh, for two axes of a batch.
const ATTENTION: &str = "{ lambda ; q:f32[2,9,8,8] k:f32[2,9,8,8] v:f32[2,9,8,8]. let
    s:f32[2,8,9,9] = dot_general[dimension_numbers=(((3,), (3,)), ((0, 2), (0, 2))) precision=None preferred_element_type=None out_sharding=None] q k;
    m:f32[2,8,9] = reduce_max[axes=(3,) out_sharding=None] s;
    n:f32[2,8,9,9] = broadcast_in_dim[shape=(2, 8, 9, 9) broadcast_dimensions=(0, 1, 2) sharding=None] m;
    w:f32[2,8,9,9] = sub s n;
    o:f32[2,8,9,8] = dot_general[dimension_numbers=(((3,), (1,)), ((0, 1), (0, 2))) precision=None preferred_element_type=None out_sharding=None] w v;
    r:f32[2,9,8,8] = transpose[permutation=(0, 2, 1, 3)] o in (r,) }";

#[test]
fn attention_goes_through_the_batch_once() {
    check_outline(ATTENTION, &expect![[r#"
        seq Const(2)
          seq Const(8)
            call
            seq Const(9)
              lanes Const(9) Max
                load b4, Max
              store b5
              lanes Const(9)
                load b4, load b5, Sub, store b6
            call
    "#]]);
}

#[test]
fn products_share_the_loops_of_a_batch_where_their_matrices_meet() {
    let product = |left: &str, right: &str| {
        format!(
            "dot_general[dimension_numbers=((({left},), ({right},)), ((0,), (0,))) precision=None preferred_element_type=None out_sharding=None]"
        )
    };
    let (last, first) = (product("2", "1"), product("1", "1"));
    // Independent products between, a contraction over the batch after, operands that must be copied.
    for text in [
        format!(
            "{{ lambda ; a:f32[16,9,9] b:f32[16,9,9]. let c:f32[16,9,9] = {last} a b; d:f32[16,9,9] = {first} b a; e:f32[16,9,9] = mul c c; f:f32[16,9,9] = {last} e d in (c, f) }}"
        ),
        format!(
            "{{ lambda ; a:f32[9,16,9] b:f32[16,9,9]. let t:f32[16,9,9] = transpose[permutation=(1, 0, 2)] a; r:f32[16,9,9] = rev[dimensions=(2,)] b; c:f32[16,9,9] = {last} t r; e:f32[16,9,9] = neg c; s:f32[9,9] = reduce_sum[axes=(0,) out_sharding=None] e; u:f32[16,9,9] = {last} e b in (s, u) }}"
        ),
        format!(
            "{{ lambda ; a:f32[16,9,9] b:f32[16,9,9] x:f32[]. let c:f32[16,9,9] = {last} a b; y:f32[] = mul x 2.0:f32[]; z:f32[16,9,9] = mul c y; w:f32[16,9,9] = transpose[permutation=(0, 2, 1)] z; u:f32[16,9,9] = {last} w z; m:f32[16,9,9] = rev[dimensions=(0,)] u; v:f32[16,9,9] = {last} m b in (v,) }}"
        ),
        format!(
            "{{ lambda ; a:f32[16,9,9] b:f32[16,9,9]. let n:f32[16,9,9] = neg a; c:f32[16,9,9] = {last} n b; s:f32[16,9] = reduce_sum[axes=(2,) out_sharding=None] c; t:f32[16,9,9] = broadcast_in_dim[shape=(16, 9, 9) broadcast_dimensions=(0, 2) sharding=None] s; u:f32[16,9,9] = add t c; v:f32[16,9,9] = {first} u u in (v, s) }}"
        ),
        format!(
            "{{ lambda ; a:c64[16,9,9] b:c64[16,9,9]. let c:c64[16,9,9] = {last} a b; d:c64[16,9,9] = mul c c; e:c64[16,9,9] = {last} d b in (e,) }}"
        ),
    ] {
        let jaxpr = parse(&text);
        evaluate(&jaxpr, &ramps(&jaxpr));
    }
}
