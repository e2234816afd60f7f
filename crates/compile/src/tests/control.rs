//! Loops and branches.

use super::*;

#[test]
fn calls_are_inlined() {
    check(
        "{ lambda ; a:f32[2]. let b:f32[2] = jit[name=f jaxpr={ lambda ; a:f32[2]. let b:f32[2] = neg a in (b,) } donated_invars=(False,) inline=False keep_unused=False] a in (b,) }",
        &[&[3.0, 2.0]],
    );
}

#[test]
fn scalar_while() {
    check(
        "{ lambda ; a:f32[]. let b:f32[] = while[cond_nconsts=0 cond_jaxpr={ lambda ; a:f32[]. let b:bool[] = lt a 10.0:f32[] in (b,) }
           body_nconsts=0 body_jaxpr={ lambda ; a:f32[]. let b:f32[] = add a 4.0:f32[] in (b,) }] a in (b,) }",
        &[&[13.0]],
    );
}

#[test]
fn while_over_arrays() {
    check(
        "{ lambda ; i:i32[] x:f32[2] y:f32[2] c:f32[2]. let r:i32[] s:f32[2] t:f32[2] = while[cond_nconsts=0
           cond_jaxpr={ lambda ; i:i32[] x:f32[2] y:f32[2]. let b:bool[] = lt i 0:i32[] in (b,) } body_nconsts=1
           body_jaxpr={ lambda ; c:f32[2] i:i32[] x:f32[2] y:f32[2]. let j:i32[] = add i 1:i32[]; z:f32[2] = add x c in (j, y, z) }]
           c i x y in (r, s, t) }",
        // Three steps of (x, y) -> (y, x + c) from x = y = c = (-3, -2).
        &[&[0.0], &[-6.0, -4.0], &[-9.0, -6.0]],
    );
}

#[test]
fn scan_with_carry_and_slices() {
    for reverse in ["False", "True"] {
        let text = format!(
            "{{ lambda ; c:f32[2] x:f32[3,2]. let d:f32[2] y:f32[3,2] n:f32[3] = scan[jaxpr={{ lambda ; c:f32[2] x:f32[2]. let
               d:f32[2] = add c x; n:f32[] = reduce_sum[axes=(0,) out_sharding=None] x in (d, c, n) }}
               length=3 reverse={reverse} unroll=1 ft_in=((), (None,), (None,)) ft_out=((None,), (None, None))] c x in (d, y, n) }}"
        );
        let jaxpr = parse(&text);
        let outs = numbers(&evaluate(&jaxpr, &ramps(&jaxpr)));
        // x = ((-3, -2), (-1, 0), (1, 2)), c = (-3, -2).
        assert_eq!(outs[0], [-6.0, -2.0]);
        assert_eq!(outs[2], [-5.0, -1.0, 3.0]);
        let carries =
            if reverse == "True" { [-3.0, 0.0, -2.0, 0.0, -3.0, -2.0] } else { [-3.0, -2.0, -6.0, -4.0, -7.0, -4.0] };
        assert_eq!(outs[1], carries, "{reverse}");
    }
}

#[test]
fn branches() {
    let text = |index: i32| {
        format!(
            "{{ lambda ; a:f32[2] s:f32[]. let b:f32[2] t:f32[] = cond[branches=({{ lambda ; a:f32[2] s:f32[]. let b:f32[2] = neg a in (b, s) }},
               {{ lambda ; a:f32[2] s:f32[]. let t:f32[] = add s 1.0:f32[] in (a, t) }}) branches_platforms=None] {index}:i32[] a s in (b, t) }}"
        )
    };
    check(&text(0), &[&[3.0, 2.0], &[-3.0]]);
    check(&text(1), &[&[-3.0, -2.0], &[-2.0]]);
    check(&text(7), &[&[-3.0, -2.0], &[-2.0]]);
}
