//! Golden jaxprs of transforms of control flow.

use expect_test::{Expect, expect};
use pullback_core::find_primitive;
use pullback_core::transforms::{batch_jaxpr, jvp_jaxpr, split_jaxpr, transpose_jaxpr};
use pullback_ir::{Batch, JaxprRef, check_jaxpr, parse_jaxpr};

const SCAN: &str = "{ lambda ; w:f32[3] c:f32[3] xs:f32[4,3]. let
    d:f32[3] ys:f32[4,3] = scan[ft_in=((None,), (None,), (None,)) ft_out=((None,), (y,)) length=4 reverse=False unroll=1
      jaxpr={ lambda ; w:f32[3] c:f32[3] x:f32[3]. let p:f32[3] = mul w c; s:f32[3] = sin p; n:f32[3] = add s x in (n, s) }] w c xs
  in (d, ys) }";

const WHILE: &str = "{ lambda ; w:f32[] x:f32[]. let
    y:f32[] = while[cond_nconsts=0 body_nconsts=1
      cond_jaxpr={ lambda ; x:f32[]. let b:bool[] = lt x 3.0:f32[] in (b,) }
      body_jaxpr={ lambda ; w:f32[] x:f32[]. let y:f32[] = mul x w in (y,) }] w x
  in (y,) }";

const COND: &str = "{ lambda ; i:i32[] x:f32[]. let
    y:f32[] = cond[branches_platforms=None branches=(
      { lambda ; x:f32[]. let  in (x,) }
      { lambda ; x:f32[]. let s:f32[] = sin x; y:f32[] = mul s x in (y,) })] i x
  in (y,) }";

fn parse(text: &str) -> JaxprRef {
    let jaxpr = parse_jaxpr(text, &find_primitive).expect("the test's jaxpr parses");
    assert_eq!(check_jaxpr(&jaxpr), Vec::<String>::new());
    JaxprRef::new(jaxpr)
}

fn check(result: &JaxprRef, want: &Expect) {
    assert_eq!(check_jaxpr(result), Vec::<String>::new(), "{result}");
    want.assert_eq(&result.to_string());
}

fn check_jvp(text: &str, nonzero: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    check(&jvp_jaxpr(&jaxpr, nonzero, &vec![false; jaxpr.outs.len()]).expect("differentiable").jaxpr, want);
}

fn check_batch(text: &str, batched: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    let batch = Batch { size: 5, name: None, split: None };
    check(&batch_jaxpr(&jaxpr, &batch, batched, &vec![false; jaxpr.outs.len()]).expect("batchable").jaxpr, want);
}

/// The backward pass: jvp, split by tangents, transpose of the linear part.
fn check_backward(text: &str, nonzero: &[bool], want: &Expect) {
    let jaxpr = parse(text);
    let derived = jvp_jaxpr(&jaxpr, nonzero, &vec![false; jaxpr.outs.len()]).expect("differentiable").jaxpr;
    let n_tangents = derived.invars.len() - jaxpr.invars.len();
    let unknown: Vec<bool> = (0..derived.invars.len()).map(|i| i >= jaxpr.invars.len()).collect();
    let parts = split_jaxpr(&derived, &unknown).expect("splits");
    assert_eq!(check_jaxpr(&parts.known), Vec::<String>::new());
    assert_eq!(check_jaxpr(&parts.unknown), Vec::<String>::new());
    let linear: Vec<bool> = (0..parts.n_residuals + n_tangents).map(|i| i >= parts.n_residuals).collect();
    let cts = vec![true; parts.unknown.outs.len()];
    check(&transpose_jaxpr(&parts.unknown, &linear, &cts, true).expect("linear").jaxpr, want);
}

#[test]
fn jvp_of_scan_carries_tangents() {
    check_jvp(
        SCAN,
        &[true, false, false],
        &expect![[r#"
        { lambda ; a:f32[3] b:f32[3] c:f32[4,3] d:f32[3]. let
            e:f32[3] = broadcast_in_dim 0.0:f32[]
            f:f32[3] g:f32[3] h:f32[4,3] i:f32[4,3] = scan[
              ft_in=((None, None), (None, None), (None,))
              ft_out=((None, None), (RightsOnly(Right(None)), RightsOnly(Right(None))))
              jaxpr={ lambda ; j:f32[3] k:f32[3] l:f32[3] m:f32[3] n:f32[3]. let
                  o:f32[3] = mul j l
                  p:f32[3] = mul k l
                  q:f32[3] = mul j m
                  r:f32[3] = add_any p q
                  s:f32[3] = sin o
                  t:f32[3] = cos o
                  u:f32[3] = mul r t
                  v:f32[3] = add s n
                in (v, u, s, u) }
              length=4
              reverse=False
              unroll=1
            ] a d b e c
          in (f, h, g, i) }"#]],
    );
}

#[test]
fn scan_runs_backward_for_the_transpose() {
    check_backward(
        SCAN,
        &[true, true, false],
        &expect![[r#"
        { lambda ; a:f32[3] b:f32[4,3] c:f32[4,3] d:f32[3] e:f32[4,3]. let
            f:f32[3] = broadcast_in_dim 0.0:f32[]
            g:f32[3] h:f32[3] = scan[
              ft_in=((None,), (None, None), (None, None, None))
              ft_out=((None, None), ())
              jaxpr={ lambda ; i:f32[3] j:f32[3] k:f32[3] l:f32[3] m:f32[3] n:f32[3]. let
                  o:f32[3] = add_any k n
                  p:f32[3] = mul o m
                  q:f32[3] = mul i p
                  r:f32[3] = mul p l
                  s:f32[3] = add_any j r
                in (s, q) }
              length=4
              reverse=True
              unroll=1
            ] a f d b c e
          in (g, h) }"#]],
    );
}

#[test]
fn scan_keeps_unbatched_consts() {
    check_batch(
        SCAN,
        &[false, true, false],
        &expect![[r#"
        { lambda ; a:f32[3] b:f32[5,3] c:f32[4,3]. let
            d:f32[5,3] e:f32[4,5,3] = scan[
              ft_in=((None,), (None,), (None,))
              ft_out=((None,), (RightsOnly(Right(None)),))
              jaxpr={ lambda ; f:f32[3] g:f32[5,3] h:f32[3]. let
                  i:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] f
                  j:f32[5,3] = mul i g
                  k:f32[5,3] = sin j
                  l:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] h
                  m:f32[5,3] = add k l
                in (m, k) }
              length=4
              reverse=False
              unroll=1
            ] a b c
            n:f32[5,4,3] = transpose[permutation=(1, 0, 2)] e
          in (d, n) }"#]],
    );
}

#[test]
fn jvp_of_while_leaves_the_condition() {
    check_jvp(
        WHILE,
        &[true, true],
        &expect![[r#"
        { lambda ; a:f32[] b:f32[] c:f32[] d:f32[]. let
            e:f32[] f:f32[] = while[
              body_jaxpr={ lambda ; g:f32[] h:f32[] i:f32[] j:f32[]. let
                  k:f32[] = mul i g
                  l:f32[] = mul j g
                  m:f32[] = mul i h
                  n:f32[] = add_any l m
                in (k, n) }
              body_nconsts=2
              cond_jaxpr={ lambda ; o:f32[] p:f32[]. let
                  q:bool[] = lt o 3.0:f32[]
                in (q,) }
              cond_nconsts=0
            ] a c b d
          in (e, f) }"#]],
    );
}

#[test]
fn while_with_a_batched_condition() {
    check_batch(
        WHILE,
        &[false, true],
        &expect![[r#"
        { lambda ; a:f32[] b:f32[5]. let
            c:f32[5] = while[
              body_jaxpr={ lambda ; d:f32[] e:f32[5]. let f:f32[5] = mul e d in (f,) }
              body_nconsts=1
              cond_jaxpr={ lambda ; g:f32[5]. let h:bool[5] = lt g 3.0:f32[] in (h,) }
              cond_nconsts=0
            ] a b
          in (c,) }"#]],
    );
}

#[test]
fn cond_backward_pads_residuals() {
    check_backward(
        COND,
        &[false, true],
        &expect![[r#"
        { lambda ; a:i32[] b:f32[] c:f32[] d:f32[] e:f32[]. let
            f:f32[] = cond[
              branches=(
                { lambda ; g:f32[] h:f32[] i:f32[] j:f32[]. let  in (j,) }
                { lambda ; k:f32[] l:f32[] m:f32[] n:f32[]. let
                    o:f32[] = mul m n
                    p:f32[] = mul n l
                    q:f32[] = mul p k
                    r:f32[] = add_any o q
                  in (r,) }
              )
            ] a b c d e
          in (f,) }"#]],
    );
}

#[test]
fn cond_with_a_batched_index_selects() {
    check_batch(
        COND,
        &[true, true],
        &expect![[r#"
            { lambda ; a:i32[5] b:f32[5]. let
                c:bool[5] = eq a 0:i32[]
                d:f32[5] = stop_gradient b
                e:f32[5] = select_n c d b
                f:bool[5] = eq a 1:i32[]
                g:f32[5] = stop_gradient b
                h:f32[5] = select_n f g b
                i:f32[5] = sin h
                j:f32[5] = mul i h
                k:f32[5] = select_n a e j
              in (k,) }"#]],
    );
}

#[test]
fn while_has_no_reverse_derivative() {
    let jaxpr = parse(WHILE);
    let error = transpose_jaxpr(&jaxpr, &[false, true], &[true], true).expect_err("no transpose");
    assert!(error.message().starts_with("Reverse-mode differentiation does not work for lax.while_loop"));
}
