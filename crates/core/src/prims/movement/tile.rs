//! An array repeated side by side along its axes.
//!
//! tile : x[...] -> [...]        each axis reps times as long
//! Linear; the transpose sums the repetitions.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Passing, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use crate::prims::{V, zeros};

/// Params of `tile`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Tile {
    /// Number of repetitions along each axis.
    pub reps: Vec<usize>,
}

struct TilePrim;

/// The primitive `tile`.
pub static TILE: PrimRef = PrimRef(&TilePrim);

impl<'e> V<'e> {
    /// Repeated side by side.
    pub fn tile(&self, reps: &[usize]) -> V<'e> {
        self.bind(TILE, &Params::new(Tile { reps: reps.to_vec() }), &[])
    }
}

/// The shape with an axis of repetitions before each axis.
fn apart(reps: &[usize], shape: &[usize]) -> Vec<usize> {
    reps.iter().zip(shape).flat_map(|(&rep, &size)| [rep, size]).collect()
}

impl Prim for TilePrim {
    type Params = Tile;
    const NAME: &'static str = "tile";

    fn abstract_eval(&self, p: &Tile, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        if p.reps.len() != x.rank() {
            bail!(
                Type,
                "reps length must be equal to the ndim of x, got len(reps)={} and x.ndim={}.",
                p.reps.len(),
                x.rank()
            );
        }
        let shape: Vec<usize> = p.reps.iter().zip(&x.shape).map(|(rep, &size)| rep.saturating_mul(size)).collect();
        Ok(smallvec![x.with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<Tile> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Tile> {
        Transpose::Rule(|p, e, cts, ins| {
            let axes: Vec<usize> = (0..p.reps.len()).map(|axis| 2 * axis).collect();
            let shape = apart(&p.reps, &ins[0].aval().shape);
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).reshape(&shape).reduce_sum(&axes).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<Tile> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Tile> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let mut reps = p.reps.clone();
            reps.insert(dim, 1);
            Ok((smallvec![V::new(e, &ins[0]).tile(&reps).done()?], smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &Tile, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let (wide, out) = (apart(&p.reps, &ins[0].shape), outs[0].shape.to_vec());
        CpuForm::Decompose(Box::new(move |e, ins| {
            let axes: Vec<usize> = (0..out.len()).map(|axis| 2 * axis + 1).collect();
            let tiled = V::new(e, &ins[0]).broadcast_in_dim(&wide, &axes).reshape(&out);
            Ok(smallvec![tiled.done()?])
        }))
    }

    fn hlo(&self) -> Hlo<Tile> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], reps: &[usize]| {
            Sample::new(Params::new(Tile { reps: reps.to_vec() }), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![
            sample(&[3], &[2]),
            sample(&[2, 3], &[2, 1]),
            sample(&[2, 1], &[1, 3]),
            sample(&[2], &[0]),
            sample(&[], &[]),
        ]
    }
}

/// What is repeated may not be split.
fn pass(p: &Tile, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let spec = &x.specs[0];
    let ahead = p.reps.len().saturating_sub(spec.len());
    if let Some(axis) = (0..spec.len()).find(|&axis| !spec[axis].is_empty() && p.reps[ahead + axis] != 1) {
        return x.refuse(|| {
            format!(
                "Operand cannot be sharded on dimension {axis} when the tiling is non-trivial. Got input type: {} with reps: {}",
                x.shown(0),
                tuple_text(&p.reps)
            )
        });
    }
    Ok(vec![[vec![vec![]; ahead], spec.clone()].concat()])
}
