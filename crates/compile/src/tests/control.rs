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

const UPDATE_LOOP: &str = "{ lambda ; i:i32[] x:f32[8]. let r:i32[] s:f32[8] = while[cond_nconsts=0
    cond_jaxpr={ lambda ; i:i32[] x:f32[8]. let b:bool[] = lt i 3:i32[] in (b,) } body_nconsts=0
    body_jaxpr={ lambda ; i:i32[] x:f32[8]. let y:f32[1] = dynamic_slice[slice_sizes=(1,)] x i; z:f32[1] = mul y 10.0:f32[];
      w:f32[8] = dynamic_update_slice x z i; j:i32[] = add i 1:i32[] in (j, w) }]
    i x in (r, s) }";

/// An iteration costs what it changes, not what it carries.
#[test]
fn a_carried_array_is_updated_in_place() {
    // From i = -3, which is clamped to 0 (three times, and once for 0), then 1 and 2.
    check(UPDATE_LOOP, &[&[3.0], &[-30000.0, -20.0, -10.0, 0.0, 1.0, 2.0, 3.0, -3.0]]);
    let text = outline(&compiled(&parse(UPDATE_LOOP), &Options::default()).program);
    let body = text.split("while").nth(1).expect("there is a loop");
    assert!(!body.contains("swap") && !body.contains("call"), "{text}");
}

#[test]
fn an_old_state_that_is_read_later_stays() {
    let text = UPDATE_LOOP.replace("add i 1:i32[] in (j, w)", "add i 1:i32[]; v:f32[8] = sub w x in (j, v)");
    // Three times the difference of new and old state, where only the first element is new.
    check(&text.replace("lt i 3:i32[]", "lt i 0:i32[]"), &[&[0.0], &[-2187.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]);
}

/// For each output of the program, the input that it takes over when all are given away.
fn taken(text: &str) -> Vec<Option<usize>> {
    let jaxpr = parse(text);
    evaluate(&jaxpr, &ramps(&jaxpr));
    donating(&jaxpr).taken
}

#[test]
fn results_take_over_what_is_given_away() {
    let step = "{ lambda ; p:f32[4,8] m:f32[4,8] g:f32[4,8]. let a:f32[4,8] = mul m 0.5:f32[]; b:f32[4,8] = add a g;
                  c:f32[4,8] = sub p b in (c, b) }";
    assert_eq!(taken(step), [Some(0), Some(1)]);
    // The row is read after its first element would be written.
    let rows = "{ lambda ; x:f32[4,8]. let s:f32[4] = reduce_sum[axes=(1,) out_sharding=None] x;
                  b:f32[4,8] = broadcast_in_dim[shape=(4, 8) broadcast_dimensions=(0,) sharding=None] s; y:f32[4,8] = sub x b in (y,) }";
    assert_eq!(taken(rows), [Some(0)]);
    let mirrored = "{ lambda ; x:f32[4,8]. let r:f32[4,8] = rev[dimensions=(0,)] x; y:f32[4,8] = sub x r in (y,) }";
    assert_eq!(taken(mirrored), [None]);
    let transposed =
        "{ lambda ; x:f32[8,8]. let r:f32[8,8] = transpose[permutation=(1, 0)] x; y:f32[8,8] = neg r in (y,) }";
    assert_eq!(taken(transposed), [None]);
    // Both results read all of the input; it is a result itself; another type.
    let twice = "{ lambda ; x:f32[8]. let y:f32[8] = neg x; z:f32[8] = exp x in (y, z) }";
    assert_eq!(taken(twice), [None, Some(0)]);
    assert_eq!(taken("{ lambda ; x:f32[8]. let y:f32[8] = neg x in (y, x) }"), [None]);
    assert_eq!(
        taken(
            "{ lambda ; x:f32[8]. let y:i32[8] = convert_element_type[new_dtype=int32 weak_type=False sharding=None] x in (y,) }"
        ),
        [None]
    );
    // A sum over all comes before; a product after, and makes its result while it reads.
    let centered =
        "{ lambda ; x:f32[8]. let s:f32[] = reduce_sum[axes=(0,) out_sharding=None] x; y:f32[8] = sub x s in (y,) }";
    assert_eq!(taken(centered), [Some(0)]);
    let product = "{ lambda ; x:f32[16,16] w:f32[16,16]. let y:f32[16,16] = neg x;
                     z:f32[16,16] = dot_general[dimension_numbers=(((1,), (0,)), ((), ())) precision=None preferred_element_type=None out_sharding=None] x w in (y, z) }";
    assert_eq!(taken(product), [None, None]);
    let update = "{ lambda ; x:f32[8] u:f32[2] i:i32[]. let y:f32[8] = dynamic_update_slice x u i in (y,) }";
    assert_eq!(taken(update), [Some(0)]);
}
