//! Texts of small jaxprs. That XLA reads and runs them is tested from Python.

use expect_test::{Expect, expect};
use pullback_core::find_primitive;
use pullback_ir::{Builder, Emit, Val, parse_jaxpr};
use pullback_stablehlo::{Donation, Options, donations, module_text};

fn lowered(jaxpr: &str, options: &Options) -> pullback_stablehlo::Text {
    let jaxpr = parse_jaxpr(jaxpr, &find_primitive).expect("a jaxpr");
    module_text(&jaxpr, options).expect("forms of all primitives")
}

fn options() -> Options {
    Options { name: "jit_f".into(), ..Options::default() }
}

fn check(jaxpr: &str, expect: Expect) {
    expect.assert_eq(&lowered(jaxpr, &options()).text);
}

#[test]
fn scalars_repeat_to_the_shape_of_the_result() {
    check(
        "{ lambda ; a:f32[2,3] b:f32[1,3]. let c:f32[2,3] = mul a 2.0:f32[]; d:f32[2,3] = add c b; e:bool[2,3] = lt d a in (e,) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<1x3xf32>) -> (tensor<2x3xi1>) {
                %c_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
                %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
                %2 = stablehlo.multiply %arg0, %1 : tensor<2x3xf32>
                %3 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
                %4 = stablehlo.add %2, %3 : tensor<2x3xf32>
                %5 = stablehlo.compare LT, %4, %arg0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
                return %5 : tensor<2x3xi1>
              }
            }
        "#]],
    );
}

#[test]
fn reductions_start_from_what_changes_nothing() {
    check(
        "{ lambda ; a:f32[2,3]. let b:f32[3] = reduce_max[axes=(0,) out_sharding=None] a; c:i32[2] = argmax[axes=(1,) index_dtype=int32] a in (b, c) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2xi32>) {
                %c_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
                %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
                %2 = stablehlo.iota dim = 1 : tensor<2x3xi32>
                %c_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
                %c_4 = stablehlo.constant dense<0> : tensor<i32>
                %5:2 = "stablehlo.reduce"(%arg0, %2, %c_3, %c_4) <{dimensions = array<i64: 1>}> ({
                ^bb0(%arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<i32>):
                  %6 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
                  %7 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
                  %8 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                  %9 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
                  %10 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
                  %11 = stablehlo.not %10 : tensor<i1>
                  %12 = stablehlo.and %9, %10 : tensor<i1>
                  %13 = stablehlo.and %9, %11 : tensor<i1>
                  %14 = stablehlo.or %6, %13 : tensor<i1>
                  %15 = stablehlo.or %7, %12 : tensor<i1>
                  %16 = stablehlo.and %15, %8 : tensor<i1>
                  %17 = stablehlo.or %14, %16 : tensor<i1>
                  %18 = stablehlo.select %17, %arg1, %arg3 : tensor<i1>, tensor<f32>
                  %19 = stablehlo.select %17, %arg2, %arg4 : tensor<i1>, tensor<i32>
                  stablehlo.return %18, %19 : tensor<f32>, tensor<i32>
                }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
                return %1, %5#1 : tensor<3xf32>, tensor<2xi32>
              }
            }
        "#]],
    );
}

#[test]
fn a_jaxpr_that_is_called_twice_is_one_function() {
    check(
        "{ lambda ; a:f32[3]. let
            b:f32[3] = jit[name=g jaxpr={ lambda ; c:f32[3]. let d:f32[3] = sin c in (d,) } donated_invars=(False,) inline=False keep_unused=False] a
            e:f32[3] = jit[name=g jaxpr={ lambda ; c:f32[3]. let d:f32[3] = sin c in (d,) } donated_invars=(False,) inline=False keep_unused=False] b
            f:f32[3] = jit[name=g jaxpr={ lambda ; c:f32[3]. let d:f32[3] = cos c in (d,) } donated_invars=(False,) inline=False keep_unused=False] e
          in (f,) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
                %0 = call @g(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
                %1 = call @g(%0) : (tensor<3xf32>) -> tensor<3xf32>
                %2 = call @g_0(%1) : (tensor<3xf32>) -> tensor<3xf32>
                return %2 : tensor<3xf32>
              }
              func.func private @g(%arg0: tensor<3xf32>) -> tensor<3xf32> {
                %0 = stablehlo.sine %arg0 : tensor<3xf32>
                return %0 : tensor<3xf32>
              }
              func.func private @g_0(%arg0: tensor<3xf32>) -> tensor<3xf32> {
                %0 = stablehlo.cosine %arg0 : tensor<3xf32>
                return %0 : tensor<3xf32>
              }
            }
        "#]],
    );
}

#[test]
fn scan_is_a_loop_over_positions() {
    check(
        "{ lambda ; a:f32[] b:f32[4,2]. let
            c:f32[] d:f32[4] = scan[
              jaxpr={ lambda ; e:f32[] f:f32[2]. let g:f32[] = reduce_sum[axes=(0,) out_sharding=None] f; h:f32[] = add e g in (h, g) }
              length=4 reverse=True unroll=1 ft_in=((), (None,), (None,)) ft_out=((None,), (y,))
            ] a b
          in (c, d) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<f32>, %arg1: tensor<4x2xf32>) -> (tensor<f32>, tensor<4xf32>) {
                %c_0 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
                %c_1 = stablehlo.constant dense<0> : tensor<i32>
                %2:4 = stablehlo.while(%iterArg_2 = %c_1, %iterArg_3 = %arg0, %iterArg_4 = %arg1, %iterArg_5 = %c_0) : tensor<i32>, tensor<f32>, tensor<4x2xf32>, tensor<4xf32>
                cond {
                  %c_3 = stablehlo.constant dense<4> : tensor<i32>
                  %4 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                  stablehlo.return %4 : tensor<i1>
                } do {
                  %c_5 = stablehlo.constant dense<3> : tensor<i32>
                  %6 = stablehlo.subtract %c_5, %iterArg_2 : tensor<i32>
                  %c_7 = stablehlo.constant dense<0> : tensor<i32>
                  %8 = stablehlo.dynamic_slice %iterArg_4, %6, %c_7, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
                  %9 = stablehlo.reshape %8 : (tensor<1x2xf32>) -> tensor<2xf32>
                  %c_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
                  %11 = stablehlo.reduce(%9 init: %c_10) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
                  %12 = stablehlo.add %iterArg_3, %11 : tensor<f32>
                  %c_13 = stablehlo.constant dense<1> : tensor<i32>
                  %14 = stablehlo.reshape %11 : (tensor<f32>) -> tensor<1xf32>
                  %15 = stablehlo.dynamic_update_slice %iterArg_5, %14, %6 : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
                  %16 = stablehlo.add %iterArg_2, %c_13 : tensor<i32>
                  stablehlo.return %16, %12, %iterArg_4, %15 : tensor<i32>, tensor<f32>, tensor<4x2xf32>, tensor<4xf32>
                }
                return %2#1, %2#3 : tensor<f32>, tensor<4xf32>
              }
            }
        "#]],
    );
}

#[test]
fn branches_are_regions() {
    check(
        "{ lambda ; a:i32[] b:f32[2]. let
            c:f32[2] = cond[branches=(
              { lambda ; d:f32[2]. let e:f32[2] = sin d in (e,) }
              { lambda ; d:f32[2]. let in (d,) }
            ) branches_platforms=None] a b
          in (c,) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>) {
                %0 = "stablehlo.case"(%arg0) ({
                  %1 = stablehlo.sine %arg1 : tensor<2xf32>
                  stablehlo.return %1 : tensor<2xf32>
                }, {
                  stablehlo.return %arg1 : tensor<2xf32>
                }) : (tensor<i32>) -> tensor<2xf32>
                return %0 : tensor<2xf32>
              }
            }
        "#]],
    );
}

#[test]
fn keys_are_words_at_the_border() {
    check(
        "{ lambda ; a:key<fry>[3]. let b:key<fry>[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] a in (b,) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<3x2xui32>) -> (tensor<1x2xui32>) {
                %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x2xui32>) -> tensor<3xui64>
                %1 = stablehlo.slice %0 [0:1] : (tensor<3xui64>) -> tensor<1xui64>
                %2 = stablehlo.bitcast_convert %1 : (tensor<1xui64>) -> tensor<1x2xui32>
                return %2 : tensor<1x2xui32>
              }
            }
        "#]],
    );
}

#[test]
fn compositions_of_a_few_operations_stand_in_place() {
    check(
        "{ lambda ; a:f32[4] b:c64[2]. let c:f32[4] = integer_pow[y=-3] a; d:c64[2] = conj[input_dtype=complex64] b in (c, d) }",
        expect![[r#"
            module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
              func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2xcomplex<f32>>) -> (tensor<4xf32>, tensor<2xcomplex<f32>>) {
                %0 = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
                %1 = stablehlo.multiply %arg0, %0 : tensor<4xf32>
                %c_2 = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
                %3 = stablehlo.divide %c_2, %1 : tensor<4xf32>
                %4 = stablehlo.real %arg1 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
                %5 = stablehlo.imag %arg1 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
                %6 = stablehlo.negate %5 : tensor<2xf32>
                %7 = stablehlo.complex %4, %6 : tensor<2xcomplex<f32>>
                return %3, %7 : tensor<4xf32>, tensor<2xcomplex<f32>>
              }
            }
        "#]],
    );
}

#[test]
fn locations_donations_and_names() {
    let options = Options {
        arg_names: vec!["x".into()],
        donations: vec![Some(Donation::Result(0))],
        result_names: vec!["result['a']".into()],
        debug_info: true,
        ..options()
    };
    expect![[r#"
        module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
          func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("x")) -> (tensor<3xf32> {jax.result_info = "result['a']"}) {
            %0 = stablehlo.sine %arg0 : tensor<3xf32> loc("jit(f)/sin")
            return %0 : tensor<3xf32> loc("jit(f)")
          }
        }
    "#]].assert_eq(&lowered("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }", &options).text);
}

#[test]
fn donated_memory_goes_to_the_first_result_of_its_type() {
    let jaxpr =
        parse_jaxpr("{ lambda ; a:f32[3] b:f32[3] c:i32[3]. let d:f32[3] = add a b in (c, d) }", &find_primitive)
            .expect("a jaxpr");
    let (found, unusable) = donations(&[true, true, true], &jaxpr.in_avals(), &jaxpr.out_avals());
    assert_eq!(found, [Some(Donation::Result(1)), None, Some(Donation::Result(0))]);
    assert_eq!(unusable, [1]);
}

#[test]
fn costs_are_those_of_all_operations() {
    let check = |jaxpr: &str, flops: f64, transcendentals: f64, bytes: f64| {
        let cost = lowered(jaxpr, &options()).cost;
        assert_eq!([cost.flops, cost.transcendentals, cost.bytes], [flops, transcendentals, bytes], "{jaxpr}");
    };
    check("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }", 0.0, 3.0, 24.0);
    check("{ lambda ; a:f32[3]. let b:f32[3] = add a 1.0:f32[] in (b,) }", 3.0, 0.0, 16.0 + 36.0);
    check(
        "{ lambda ; a:f32[2,5] b:f32[5,4]. let c:f32[2,4] = dot_general[dimension_numbers=(([1], [0]), ([], [])) precision=None preferred_element_type=float32 out_sharding=None] a b in (c,) }",
        80.0,
        0.0,
        4.0 * (10.0 + 20.0 + 8.0),
    );
    check(
        "{ lambda ; a:f32[2,5]. let c:f32[5] = reduce_sum[axes=(0,) out_sharding=None] a in (c,) }",
        5.0,
        0.0,
        4.0 * (10.0 + 1.0 + 5.0),
    );
}

#[test]
fn text_grows_with_the_program_and_no_faster() {
    let chain = |n: usize| {
        let eqns: Vec<String> = (0..n).map(|i| format!("x{}:f32[3] = erf_inv x{i}", i + 1)).collect();
        lowered(&format!("{{ lambda ; x0:f32[3]. let {} in (x{n},) }}", eqns.join("; ")), &options()).text
    };
    let lines = |n| chain(n).lines().count();
    assert_eq!(lines(300) - lines(200), lines(200) - lines(100));
}

#[test]
fn every_application_of_the_battery_has_a_text() {
    for prim in pullback_core::all_primitives() {
        for (number, sample) in prim.samples().iter().enumerate() {
            let builder = Builder::new();
            let ins: Vec<Val> = sample.ins.iter().map(|input| builder.input(input.aval)).collect();
            let outs = builder.bind(prim, &sample.params, &ins).expect("a sample");
            let (jaxpr, _) = builder.finish(&outs, None);
            let text = module_text(&jaxpr, &options());
            match prim.coverage().hlo {
                Ok(_) => assert!(text.is_ok(), "{} sample {number}: {:?}", prim.name(), text.err()),
                Err(reason) => {
                    let error = text.expect_err("a hole of the table");
                    assert!(error.message().contains(reason), "{} sample {number}: {error:?}", prim.name());
                }
            }
        }
    }
}

#[test]
fn a_hole_names_the_primitive() {
    let text = "{ lambda ; a:c64[3]. let b:c64[] = reduce_max[axes=(0,) out_sharding=None] a in (b,) }";
    let jaxpr = parse_jaxpr(text, &find_primitive).expect("a jaxpr");
    let error = module_text(&jaxpr, &options()).expect_err("complex numbers have no order");
    assert_eq!(error.message(), "StableHLO of reduce_max of complex numbers is not implemented");
}
