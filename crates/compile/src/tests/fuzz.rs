//! Random programs of integers, whose results do not depend on any order: fused, unfused, and equation by equation.

use pullback_base::{Aval, DType};
use pullback_core::prims::{DotDimensions, V};

use super::*;

/// A linear congruential generator: the same programs in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// One more value from those there are; `None` when the choice does not fit.
fn step<'e>(random: &mut Random, values: &[V<'e>]) -> Option<V<'e>> {
    let x = random.pick(values).clone();
    let shape = x.aval().data().shape.to_vec();
    let rank = shape.len();
    let axis = if rank == 0 { 0 } else { random.below(rank) };
    let same: Vec<&V<'e>> = values.iter().filter(|y| y.aval() == x.aval() || y.aval().rank() == 0).collect();
    match random.below(13) {
        0..=3 => {
            let y = *random.pick(&same);
            Some(match random.below(3) {
                0 => &x + y,
                1 => &x * y,
                _ => &x - y,
            })
        }
        4 => Some(-&x),
        5 if rank > 0 => Some(x.reduce_sum(&[axis])),
        6 if rank > 1 => Some(x.transpose(&(0..rank).rev().collect::<Vec<_>>())),
        7 => Some(x.reshape(&[shape.iter().product()])),
        8 if rank < 3 => {
            let size = 1 + random.below(4);
            let at = random.below(rank + 1);
            let mut wide = shape;
            wide.insert(at, size);
            let dims: Vec<usize> = (0..=rank).filter(|&axis| axis != at).collect();
            Some(x.broadcast_in_dim(&wide, &dims))
        }
        9 if rank > 0 && shape[axis] > 1 => Some(x.slice_axis(axis, 1, shape[axis], 1 + random.below(2))),
        10 if rank > 0 => Some(x.rev(&[axis])),
        11 if rank > 0 => Some(x.cumsum(axis, random.below(2) == 0)),
        12 if rank == 2 => {
            let dims = DotDimensions { contract: [vec![axis], vec![axis]], batch: [vec![], vec![]] };
            Some(x.dot_general(&x, dims, None))
        }
        _ => None,
    }
}

fn program(seed: u64) -> JaxprRef {
    let mut random = Random(seed);
    let builder = Builder::new();
    let shapes: [&[usize]; 5] = [&[], &[3], &[2, 3], &[4, 1, 3], &[9, 4]];
    let inputs: Vec<Val> = shapes.iter().map(|shape| builder.input(Aval::new(shape, DType::I32))).collect();
    let mut values: Vec<V<'_>> = inputs.iter().map(|val| V::new(&builder, val)).collect();
    for _ in 0..16 {
        values.extend(step(&mut random, &values).filter(|value| value.aval().size() < 500));
    }
    let outs: Vec<Val> = (0..3).map(|_| random.pick(&values).clone().done().expect("each step fits")).collect();
    JaxprRef::new(builder.finish(&outs, None).0)
}

#[test]
fn random_programs() {
    // `PULLBACK_FUZZ_PROGRAMS=20000` tries so many; the seed is in the failing program's message.
    let n = std::env::var("PULLBACK_FUZZ_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    for seed in 0..n {
        let jaxpr = program(seed);
        evaluate(&jaxpr, &ramps(&jaxpr));
    }
}
