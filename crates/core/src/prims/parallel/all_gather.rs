//! The values of all examples or devices along named axes, put together.
//!
//! all_gather : x[...] -> [... axis_size at all_gather_dimension ...], or that axis times axis_size when tiled
//! Linear; the transpose is the sum of which each keeps its part (`reduce_scatter`).

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits,
    Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::axes::{AxisNames, Groups, only_name};
use super::collective;
use super::exchange::AllGather as AllGatherCall;
use super::reduce_scatter::{REDUCE_SCATTER, ReduceScatter};
use crate::prims::{V, batch_to_front, zeros};

/// Params of `all_gather`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct AllGather {
    /// Where the parts lie in the result.
    pub all_gather_dimension: usize,
    /// Along which axes.
    pub axis_name: AxisNames,
    /// Groups along those axes.
    pub axis_index_groups: Groups,
    /// How many parts.
    pub axis_size: usize,
    /// Whether parts are joined along an axis they have, rather than stacked along a new one.
    pub tiled: bool,
}

struct AllGatherPrim;

/// The primitive `all_gather`.
pub static ALL_GATHER: PrimRef = PrimRef(&AllGatherPrim);

impl Prim for AllGatherPrim {
    type Params = AllGather;
    const NAME: &'static str = "all_gather";

    fn abstract_eval(&self, p: &AllGather, ins: &[Aval]) -> Result<Avals> {
        let (mut shape, dim) = (ins[0].shape.to_vec(), p.all_gather_dimension);
        if dim > shape.len() || (p.tiled && dim == shape.len()) {
            bail!(Value, "all_gather dimension {dim} does not fit an operand of shape {}.", tuple_text(&shape));
        }
        if p.tiled {
            shape[dim] *= p.axis_size
        } else {
            shape.insert(dim, p.axis_size)
        }
        Ok(smallvec![ins[0].with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<AllGather> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<AllGather> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = ReduceScatter {
                axis_name: p.axis_name.clone(),
                scatter_dimension: p.all_gather_dimension,
                axis_index_groups: p.axis_index_groups.clone(),
                axis_size: p.axis_size,
                tiled: p.tiled,
            };
            let back = |ct: &Val| V::new(e, ct).bind(REDUCE_SCATTER, &Params::new(params.clone()), &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<AllGather> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<AllGather> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &AllGather, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(AllGatherCall {
            names: p.axis_name.0.clone(),
            groups: p.axis_index_groups.clone(),
            outer: ins[0].shape[..p.all_gather_dimension].iter().product(),
        }))
    }

    fn hlo(&self) -> Hlo<AllGather> {
        Hlo::Rule(|p, cx, ins, _outs| {
            let (axis, mut x) = (p.all_gather_dimension, ins[0]);
            if !p.tiled {
                let mut shape = x.aval.shape.to_vec();
                shape.insert(axis, 1);
                x = cx.reshape(x, &shape);
            }
            let devices = (&p.axis_name.0[..], &p.axis_index_groups);
            Ok(smallvec![collective::all_gather("all_gather", cx, devices, x, axis)?])
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &AllGather) -> Option<Vec<AxisName>> {
        Some(p.axis_name.0.clone())
    }
}

fn batch(p: &AllGather, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let at = p.all_gather_dimension;
    let is_here = batch.name.as_ref().is_some_and(|name| p.axis_name.0.contains(name));
    if is_here {
        only_name("all_gather", &p.axis_name.0, &p.axis_index_groups)?;
        let front = V::new(e, &batch_to_front(e, &ins[0], dims[0], batch.size)?);
        let gathered = front.move_axis(0, at);
        return Ok((smallvec![if p.tiled { gathered.merged(at) } else { gathered }.done()?], smallvec![None]));
    }
    let dim = dims[0].expect("the only operand is batched");
    let (at, out_dim) = if dim <= at { (at + 1, dim) } else { (at, dim + usize::from(!p.tiled)) };
    let params = AllGather { all_gather_dimension: at, ..p.clone() };
    Ok((smallvec![V::new(e, &ins[0]).bind(ALL_GATHER, &Params::new(params), &[]).done()?], smallvec![Some(out_dim)]))
}

impl<'e> V<'e> {
    /// The value with axis `axis` and the next one made one.
    pub(super) fn merged(&self, axis: usize) -> V<'e> {
        let mut shape = self.aval().shape.to_vec();
        let next = shape.remove(axis + 1);
        shape[axis] *= next;
        self.reshape(&shape)
    }

    /// The value with axis `axis` made two, of which the first has `n` positions.
    pub(super) fn divided(&self, axis: usize, n: usize) -> V<'e> {
        let mut shape = self.aval().shape.to_vec();
        shape[axis] /= n.max(1);
        shape.insert(axis, n);
        self.reshape(&shape)
    }
}
