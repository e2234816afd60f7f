//! Repeats an array along new axes and axes of size 1.
//!
//! broadcast_in_dim : x[...] -> [shape]        axis i of x becomes axis broadcast_dimensions[i]
//! Linear; the transpose sums what was repeated.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, OutSharding, Params, Passing, Prim, PrimRef,
    Sample, Splits, Tangents, Transpose, Val, Vals,
};
use smallvec::smallvec;

use crate::prims::{V, zeros};

/// Params of `broadcast_in_dim`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct BroadcastInDim {
    /// Shape of the result.
    #[param(hidden)]
    pub shape: Vec<usize>,
    /// For each axis of the operand, its axis in the result; strictly increasing.
    pub broadcast_dimensions: Vec<usize>,
    /// How the result is asked to be split.
    #[param(hidden)]
    pub sharding: Option<OutSharding>,
}

struct Broadcast;

/// The primitive `broadcast_in_dim`.
pub static BROADCAST_IN_DIM: PrimRef = PrimRef(&Broadcast);

impl<'e> V<'e> {
    /// Repeated to `shape`, with axis `i` at `dims[i]`.
    pub fn broadcast_in_dim(&self, shape: &[usize], dims: &[usize]) -> V<'e> {
        let (shape, broadcast_dimensions) = (shape.to_vec(), dims.to_vec());
        self.bind(BROADCAST_IN_DIM, &Params::new(BroadcastInDim { shape, broadcast_dimensions, sharding: None }), &[])
    }
}

impl<'e> V<'e> {
    /// Repeated to the shape of a type and split as it says, with axis `i` at `dims[i]`.
    pub fn broadcast_as(&self, aval: Aval, dims: &[usize]) -> V<'e> {
        let sharding = (aval.sharding.is_some() || self.aval().sharding.is_some()).then(|| OutSharding::like(aval));
        let (shape, broadcast_dimensions) = (aval.shape.to_vec(), dims.to_vec());
        self.bind(BROADCAST_IN_DIM, &Params::new(BroadcastInDim { shape, broadcast_dimensions, sharding }), &[])
    }
}

impl Prim for Broadcast {
    type Params = BroadcastInDim;
    const NAME: &'static str = "broadcast_in_dim";

    fn abstract_eval(&self, p: &BroadcastInDim, ins: &[Aval]) -> Result<Avals> {
        let (x, dims) = (ins[0], &p.broadcast_dimensions);
        let is_increasing = dims.windows(2).all(|pair| pair[0] < pair[1]);
        if dims.len() != x.rank() || !is_increasing || dims.last().is_some_and(|&last| last >= p.shape.len()) {
            bail!(
                Type,
                "broadcast_in_dim broadcast_dimensions must be strictly increasing axes of the result, one for each axis \
                 of the operand; got {} for operand shape {} and result shape {}.",
                tuple_text(dims),
                tuple_text(&x.shape),
                tuple_text(&p.shape)
            );
        }
        if x.shape.iter().zip(dims).any(|(&size, &dim)| size != 1 && size != p.shape[dim]) {
            bail!(
                Type,
                "broadcast_in_dim operand dimension sizes must either be 1, or be equal to their corresponding dimensions \
                 in the target broadcast shape; got operand of shape {}, target broadcast shape {}, \
                 broadcast_dimensions {}.",
                tuple_text(&x.shape),
                tuple_text(&p.shape),
                tuple_text(dims)
            );
        }
        Ok(smallvec![x.with_shape(&p.shape)])
    }

    fn derivative(&self) -> Derivative<BroadcastInDim> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<BroadcastInDim> {
        Transpose::Rule(transpose)
    }

    fn asked<'a>(&self, p: &'a BroadcastInDim) -> Option<&'a OutSharding> {
        p.sharding.as_ref()
    }

    fn splits(&self) -> Splits<BroadcastInDim> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<BroadcastInDim> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &BroadcastInDim, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dims, sizes) = (p.broadcast_dimensions.clone(), ins[0].shape.clone());
        CpuForm::Element(Box::new(move |cx, index| {
            let source: Vec<Index> = (dims.iter().zip(&sizes))
                .map(|(&dim, &size)| if size == 1 { Index::constant(0) } else { index[dim].clone() })
                .collect();
            cx.operand(0, &source)
        }))
    }

    fn hlo(&self) -> Hlo<BroadcastInDim> {
        Hlo::Attributes("stablehlo.broadcast_in_dim", |p, _| format!("dims = {:?}", p.broadcast_dimensions))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |shape: &[usize], dims: &[usize], operand: &[usize]| {
            let (shape, broadcast_dimensions) = (shape.to_vec(), dims.to_vec());
            let params = BroadcastInDim { shape, broadcast_dimensions, sharding: None };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![
            sample(&[2, 3], &[], &[]),
            sample(&[2, 3], &[1], &[3]),
            sample(&[4, 2, 3], &[0, 2], &[4, 1]),
            sample(&[0, 3], &[1], &[3]),
        ]
    }

    fn unprinted(&self, p: &BroadcastInDim) -> Vec<&'static str> {
        if p.broadcast_dimensions.is_empty() { vec!["broadcast_dimensions"] } else { vec![] }
    }
}

/// Axes that keep their size stay split.
fn pass(p: &BroadcastInDim, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let mut spec: Spec = vec![vec![]; p.shape.len()];
    for (axis, &dim) in p.broadcast_dimensions.iter().enumerate() {
        if x.ins[0].shape[axis] == p.shape[dim] {
            spec[dim].clone_from(&x.specs[0][axis]);
        }
    }
    Ok(vec![spec])
}

fn transpose(p: &BroadcastInDim, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None]) };
    let (x, ct) = (ins[0].aval(), V::new(e, ct));
    let is_kept = |axis: usize| {
        let source = p.broadcast_dimensions.iter().position(|&dim| dim == axis);
        source.is_some_and(|source| x.shape[source] == p.shape[axis])
    };
    let repeated: Vec<usize> = (0..p.shape.len()).filter(|&axis| !is_kept(axis)).collect();
    Ok(smallvec![Some(ct.reduce_sum(&repeated).reshape(&x.shape).done()?)])
}

fn batch(
    p: &BroadcastInDim,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let x = V::new(e, &ins[0]).move_axis(dims[0].expect("the only operand is batched"), 0);
    let shape: Vec<usize> = std::iter::once(batch.size).chain(p.shape.iter().copied()).collect();
    let dims: Vec<usize> = std::iter::once(0).chain(p.broadcast_dimensions.iter().map(|dim| dim + 1)).collect();
    let split = x.aval();
    let sharding = p.sharding.as_ref().map(|asked| asked.with_axis(0, split.entry(0), p.shape.len(), split));
    let params = BroadcastInDim { shape, broadcast_dimensions: dims, sharding };
    Ok((smallvec![x.bind(BROADCAST_IN_DIM, &Params::new(params), &[]).done()?], smallvec![Some(0)]))
}
