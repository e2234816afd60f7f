//! How the work of compiling grows: a count of allocations' worth, not seconds, so that the test is the same everywhere.

use super::*;
use pullback_base::{Aval, DType};
use pullback_core::prims::{ADD, MUL, NEG, REDUCE_SUM, ReduceSum};

fn bind(builder: &Builder, prim: PrimRef, params: &Params, ins: &[&Val]) -> Val {
    let ins: Vec<Val> = ins.iter().map(|&val| val.clone()).collect();
    builder.bind(prim, params, &ins).expect("operands fit")[0].clone()
}

/// Programs of about `n` equations: a chain, and a tree of values that are used again and reduced.
fn programs(n: usize) -> Vec<JaxprRef> {
    let none = &Params::NONE;
    let chain = Builder::new();
    let x = chain.input(Aval::new(&[8], DType::F32));
    let mut last = x.clone();
    for i in 0..n {
        last = if i % 2 == 0 { bind(&chain, NEG, none, &[&last]) } else { bind(&chain, MUL, none, &[&last, &x]) };
    }
    let chain = chain.finish(&[last], None).0;
    let steps = Builder::new();
    let x = steps.input(Aval::new(&[4, 8], DType::F32));
    let axes = Params::new(ReduceSum { axes: vec![0, 1], out_sharding: None });
    let mut last = x.clone();
    for _ in 0..n / 3 {
        let total = bind(&steps, REDUCE_SUM, &axes, &[&last]);
        let scaled = bind(&steps, MUL, none, &[&x, &total]);
        last = bind(&steps, ADD, none, &[&scaled, &last]);
    }
    let steps = steps.finish(&[last], None).0;
    vec![JaxprRef::new(chain), JaxprRef::new(steps)]
}

fn n_insts(block: &[Inst]) -> usize {
    let mut n = 0;
    pullback_loops::for_each_inst(block, &mut |_| n += 1);
    n
}

/// The program grows no faster than its jaxpr; time is a benchmark's concern.
#[test]
fn programs_grow_with_their_jaxprs() {
    let sizes = [10, 100, 1000, 10_000];
    let counts: Vec<Vec<usize>> = sizes
        .iter()
        .map(|&n| {
            programs(n)
                .iter()
                .map(|jaxpr| n_insts(&compile(jaxpr, &Options::default()).unwrap().program.body))
                .collect()
        })
        .collect();
    for kind in 0..2 {
        for (i, pair) in counts.windows(2).enumerate() {
            let slope =
                (pair[1][kind] as f64 / pair[0][kind] as f64).log10() / (sizes[i + 1] as f64 / sizes[i] as f64).log10();
            assert!(slope <= 1.1, "program {kind}: {counts:?}");
        }
    }
}
