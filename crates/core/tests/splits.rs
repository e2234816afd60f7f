//! How splits over a mesh pass through primitives, as types say it.

use std::sync::Arc;

use pullback_base::sharding::{AxisKind, MeshAxis, ShardingData};
use pullback_base::{Aval, DType, Sharding};
use pullback_core::prims::{self, DotDimensions, DotGeneral, Reshape, Sort, TransposeParams};
use pullback_ir::{ParamSet, Params, PrimRef};

/// A float32 array over the mesh `x: 4, y: 2`; each axis is its size and the names that split it.
fn aval(axes: &[(usize, &str)]) -> Aval {
    let axis = |name: &str, size| MeshAxis { name: name.into(), size, kind: AxisKind::Explicit };
    let entry = |(_, names): &(usize, &str)| names.split_whitespace().map(Arc::from).collect();
    let entries = axes.iter().map(entry).collect();
    let data = ShardingData { mesh: [axis("x", 4), axis("y", 2)].into(), entries, unreduced: vec![], reduced: vec![] };
    let shape: Vec<usize> = axes.iter().map(|(size, _)| *size).collect();
    Aval::new(&shape, DType::F32).sharded(Sharding::of(data))
}

fn check(prim: PrimRef, params: &Params, ins: &[Aval], expect: &str) {
    let found = match prim.abstract_eval(params, ins) {
        Ok(outs) => outs.iter().map(|out| out.short()).collect::<Vec<_>>().join(" "),
        Err(error) => error.message().to_string(),
    };
    assert!(found == expect || found.contains(expect) && expect.contains(' '), "{prim:?}: {found} is not {expect}");
}

#[test]
fn every_primitive_says_how_splits_pass() {
    for prim in pullback_core::all_primitives() {
        assert!(prim.coverage().splits.is_ok(), "{prim:?}");
    }
}

#[test]
fn elementwise_operands_are_joined() {
    let (a, b) = (aval(&[(8, "x"), (4, "")]), aval(&[(8, ""), (4, "y")]));
    check(prims::ADD, &Params::NONE, &[a, b], "f32[8@x,4@y]");
    check(prims::MUL, &Params::NONE, &[a, aval(&[(1, ""), (4, "y")])], "f32[8@x,4@y]");
    check(
        prims::ADD,
        &Params::NONE,
        &[a, aval(&[(8, "y"), (4, "")])],
        "add got incompatible shardings for broadcasting",
    );
    check(
        prims::ADD,
        &Params::NONE,
        &[a, aval(&[(8, ""), (4, "x")])],
        "produces an illegally sharded result: f32[8@x,4@x]",
    );
    check(prims::SIN, &Params::NONE, &[aval(&[(8, "x y")])], "f32[8@(x,y)]");
}

#[test]
fn reshapes_divide_and_join_splits() {
    let cases: &[(&[(usize, &str)], &[usize], &str)] = &[
        (&[(8, "x"), (4, "y")], &[32], "f32[32@(x,y)]"),
        (&[(8, "x"), (4, "")], &[4, 2, 4], "f32[4@x,2,4]"),
        (&[(8, "x"), (4, "")], &[2, 4, 4], "This reshape is not supported"),
        (&[(8, ""), (4, "x")], &[32], "This reshape is not supported"),
        (&[(8, "x y"), (4, "")], &[4, 2, 4], "f32[4@x,2@y,4]"),
        (&[(8, "x"), (4, "y")], &[8, 1, 2, 2], "f32[8@x,1,2@y,2]"),
        (&[(8, "x"), (4, "")], &[4, 8], "This reshape is not supported"),
    ];
    for (from, to, expect) in cases {
        let params = Params::new(Reshape { new_sizes: to.to_vec(), dimensions: None, sharding: None });
        check(prims::RESHAPE, &params, &[aval(from)], expect);
    }
}

#[test]
fn products_keep_free_axes_and_refuse_two_sided_contraction() {
    let params = |left: usize, right: usize| {
        let dimension_numbers = DotDimensions { contract: [vec![left], vec![right]], batch: Default::default() };
        Params::new(DotGeneral { dimension_numbers, precision: None, preferred_element_type: None, out_sharding: None })
    };
    let (a, b) = (aval(&[(8, "x"), (4, "")]), aval(&[(4, ""), (8, "y")]));
    check(prims::DOT_GENERAL, &params(1, 0), &[a, b], "f32[8@x,8@y]");
    check(prims::DOT_GENERAL, &params(0, 1), &[a, aval(&[(4, ""), (8, "x")])], "Contracting dimensions are sharded");
    check(prims::DOT_GENERAL, &params(1, 1), &[a, a], "dot_general operation with inputs");
}

#[test]
fn axes_along_which_is_worked_are_whole() {
    let x = aval(&[(8, "x"), (4, "")]);
    let sort = |dimension| Params::new(Sort { dimension, is_stable: true, num_keys: 1 });
    check(prims::SORT, &sort(1), &[x], "f32[8@x,4]");
    check(prims::SORT, &sort(0), &[x], "must be unsharded over the sorting dimension");
    check(prims::TRANSPOSE, &Params::new(TransposeParams { permutation: vec![1, 0] }), &[x], "f32[4,8@x]");
}

#[test]
fn params_survive_the_shared_model() {
    let asked = pullback_ir::OutSharding::like(aval(&[(8, "x")]));
    let params = Reshape { new_sizes: vec![8], dimensions: None, sharding: Some(asked) };
    let fields: Vec<_> = params.fields().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    assert_eq!(Reshape::from_fields(&fields).expect("its own fields"), params);
}
