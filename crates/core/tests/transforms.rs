//! Golden jaxprs of transforms: text in, transform, text out.

use expect_test::{Expect, expect};
use pullback_core::find_primitive;
use pullback_core::transforms::{batch_jaxpr, dce_jaxpr, jvp_jaxpr, split_jaxpr, transpose_jaxpr};
use pullback_ir::{Batch, Dialect, JaxprRef, check_jaxpr, jaxpr_text, parse_jaxpr};

fn parse(text: &str) -> JaxprRef {
    let jaxpr = parse_jaxpr(text, &find_primitive).expect("the test's jaxpr parses");
    assert_eq!(check_jaxpr(&jaxpr), Vec::<String>::new());
    JaxprRef::new(jaxpr)
}

fn check(result: &JaxprRef, want: &Expect) {
    assert_eq!(check_jaxpr(result), Vec::<String>::new(), "{result}");
    let full = jaxpr_text(result, Dialect::Full);
    if result.consts.is_empty() {
        let again = parse_jaxpr(&full, &find_primitive).expect("what is printed parses");
        assert_eq!(jaxpr_text(&again, Dialect::Full), full);
    }
    want.assert_eq(&result.to_string());
}

fn check_jvp(text: &str, nonzero: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    check(&jvp_jaxpr(&jaxpr, nonzero, &vec![false; jaxpr.outs.len()]).expect("differentiable").jaxpr, want);
}

fn check_transpose(text: &str, linear: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    check(&transpose_jaxpr(&jaxpr, linear, &vec![true; jaxpr.outs.len()], true).expect("linear").jaxpr, want);
}

fn check_batch(text: &str, batched: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    let batch = Batch { size: 5, name: None, split: None };
    check(&batch_jaxpr(&jaxpr, &batch, batched, &vec![false; jaxpr.outs.len()]).expect("batchable").jaxpr, want);
}

#[test]
fn jvp_of_a_product_with_cosine() {
    check_jvp(
        "{ lambda ; a:f32[3]. let b:f32[3] = cos a; c:f32[3] = mul b a in (c,) }",
        &[true],
        &expect![[r#"
            { lambda ; a:f32[3] b:f32[3]. let
                c:f32[3] = cos a
                d:f32[3] = sin a
                e:f32[3] = mul b d
                f:f32[3] = neg e
                g:f32[3] = mul c a
                h:f32[3] = mul f a
                i:f32[3] = mul c b
                j:f32[3] = add_any h i
              in (g, j) }"#]],
    );
}

#[test]
fn a_zero_tangent_stays_symbolic() {
    check_jvp(
        "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = cos a; d:f32[3] = mul c b in (c, d) }",
        &[false, true],
        &expect![[r#"
            { lambda ; a:f32[3] b:f32[3] c:f32[3]. let
                d:f32[3] = cos a
                e:f32[3] = mul d b
                f:f32[3] = mul d c
              in (d, e, f) }"#]],
    );
}

#[test]
fn transpose_of_broadcast_is_a_sum() {
    check_transpose(
        "{ lambda ; a:f32[3]. let b:f32[4,3] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(4, 3) sharding=None] a in (b,) }",
        &[true],
        &expect![[r#"
            { lambda ; a:f32[4,3]. let
                b:f32[3] = reduce_sum[axes=(0,) out_sharding=None] a
              in (b,) }"#]],
    );
}

#[test]
fn transpose_of_a_matrix_product() {
    check_transpose(
        "{ lambda ; a:f32[2,3] b:f32[3,4]. let c:f32[2,4] = dot_general[dimension_numbers=(([1], [0]), ([], [])) out_sharding=None precision=None preferred_element_type=float32] a b in (c,) }",
        &[false, true],
        &expect![[r#"
            { lambda ; a:f32[2,3] b:f32[2,4]. let
                c:f32[4,3] = dot_general[
                  dimension_numbers=(([0], [0]), ([], []))
                  preferred_element_type=float32
                ] b a
                d:f32[3,4] = transpose[permutation=(1, 0)] c
              in (d,) }"#]],
    );
}

#[test]
fn a_batched_operand_joins_an_unbatched_one() {
    check_batch(
        "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = add a b; d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c in (d,) }",
        &[true, false],
        &expect![[r#"
            { lambda ; a:f32[5,3] b:f32[3]. let
                c:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] b
                d:f32[5,3] = add a c
                e:f32[5] = reduce_sum[axes=(1,) out_sharding=None] d
              in (e,) }"#]],
    );
}

#[test]
fn a_batched_scalar_meets_a_vector() {
    check_batch(
        "{ lambda ; a:f32[] b:f32[3]. let c:f32[3] = mul a b in (c,) }",
        &[true, false],
        &expect![[r#"
            { lambda ; a:f32[5] b:f32[3]. let
                c:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] b
                d:f32[5,1] = broadcast_in_dim[broadcast_dimensions=(0,)] a
                e:f32[5,3] = mul d c
              in (e,) }"#]],
    );
}

#[test]
fn batched_matrix_product_keeps_the_shared_operand() {
    check_batch(
        "{ lambda ; a:f32[3] b:f32[3,4]. let c:f32[4] = dot_general[dimension_numbers=(([0], [0]), ([], [])) out_sharding=None precision=None preferred_element_type=float32] a b in (c,) }",
        &[true, false],
        &expect![[r#"
            { lambda ; a:f32[5,3] b:f32[3,4]. let
                c:f32[5,4] = dot_general[
                  dimension_numbers=(([1], [0]), ([], []))
                  preferred_element_type=float32
                ] a b
              in (c,) }"#]],
    );
}

#[test]
fn split_leaves_residuals() {
    let jaxpr = parse("{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = cos a; d:f32[3] = mul c b in (c, d) }");
    let parts = split_jaxpr(&jaxpr, &[false, true]).expect("splits");
    assert_eq!((parts.unknown_out, parts.n_residuals), (vec![false, true], 1));
    check(&parts.known, &expect!["{ lambda ; a:f32[3]. let b:f32[3] = cos a in (b, b) }"]);
    check(&parts.unknown, &expect!["{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = mul a b in (c,) }"]);
}

#[test]
fn dead_equations_go_also_inside_calls() {
    let jaxpr = parse(
        "{ lambda ; a:f32[3] b:f32[3]. let
            c:f32[3] d:f32[3] = jit[name=f donated_invars=(False, False) inline=False keep_unused=False jaxpr={ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = cos a; d:f32[3] = sin b in (c, d) }] a b
          in (c, d) }",
    );
    let pruned = dce_jaxpr(&jaxpr, &[false, true], &[false, false]);
    assert_eq!(pruned.used_in, [false, true]);
    check(
        &pruned.jaxpr,
        &expect![[r#"
            { lambda ; a:f32[3]. let
                b:f32[3] = jit[
                  name=f
                  jaxpr={ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
                ] a
              in (b,) }"#]],
    );
}
