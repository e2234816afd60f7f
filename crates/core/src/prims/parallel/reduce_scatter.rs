//! The sum over named axes, of which each example or device keeps its part.
//!
//! reduce_scatter : x[...] -> [... without scatter_dimension], or that axis divided by axis_size when tiled
//! Linear; the transpose gathers.

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits,
    Transpose, Val, Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::all_gather::{ALL_GATHER, AllGather};
use super::axes::{AxisNames, Groups, only_name};
use super::collective;
use super::exchange::ReduceScatter as ReduceScatterCall;
use crate::prims::{V, zeros};

/// Params of `reduce_scatter`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceScatter {
    /// Along which axes.
    pub axis_name: AxisNames,
    /// Which axis of the operand is divided among the members.
    pub scatter_dimension: usize,
    /// Groups along those axes.
    pub axis_index_groups: Groups,
    /// How many members.
    pub axis_size: usize,
    /// Whether the divided axis stays, with the part's length.
    pub tiled: bool,
}

struct ReduceScatterPrim;

/// The primitive `reduce_scatter`.
pub static REDUCE_SCATTER: PrimRef = PrimRef(&ReduceScatterPrim);

impl Prim for ReduceScatterPrim {
    type Params = ReduceScatter;
    const NAME: &'static str = "reduce_scatter";

    fn abstract_eval(&self, p: &ReduceScatter, ins: &[Aval]) -> Result<Avals> {
        let (mut shape, dim, n) = (ins[0].shape.to_vec(), p.scatter_dimension, p.axis_size);
        let Some(&size) = shape.get(dim) else {
            bail!(Value, "reduce_scatter dimension {dim} does not fit an operand of shape {}.", tuple_text(&shape));
        };
        if p.tiled && size % n != 0 {
            bail!(
                Value,
                "tiled reduce_scatter operand scatter dimension size {size} must be divisible by shard_count {n}. \
                 Pad the axis to a multiple of it."
            );
        }
        if !p.tiled && size != n {
            bail!(
                Value,
                "reduce_scatter operand scatter dimension size {size} must match shard_count {n}. \
                 Pass tiled=True to give each member several positions."
            );
        }
        if p.tiled {
            shape[dim] /= n;
        } else {
            shape.remove(dim);
        }
        Ok(smallvec![ins[0].with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<ReduceScatter> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<ReduceScatter> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = AllGather {
                all_gather_dimension: p.scatter_dimension,
                axis_name: p.axis_name.clone(),
                axis_index_groups: p.axis_index_groups.clone(),
                axis_size: p.axis_size,
                tiled: p.tiled,
            };
            let back = |ct: &Val| V::new(e, ct).bind(ALL_GATHER, &Params::new(params.clone()), &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<ReduceScatter> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<ReduceScatter> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &ReduceScatter, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(ReduceScatterCall {
            names: p.axis_name.0.clone(),
            groups: p.axis_index_groups.clone(),
            outer: ins[0].shape[..p.scatter_dimension].iter().product(),
            dtype: ins[0].dtype,
        }))
    }

    fn hlo(&self) -> Hlo<ReduceScatter> {
        Hlo::Rule(|p, cx, ins, outs| {
            let groups = collective::groups_of("reduce_scatter", cx, &p.axis_name.0, &p.axis_index_groups)?;
            let (axis, x) = (p.scatter_dimension, ins[0]);
            let mut shape = x.aval.shape.to_vec();
            shape[axis] /= p.axis_size;
            let meeting = collective::meeting(cx, &groups);
            let properties = format!("scatter_dimension = {axis} : i64, {meeting}, use_global_device_ids");
            let part = Aval::new(&shape, x.aval.dtype);
            let found = collective::joined(cx, ("stablehlo.reduce_scatter", &properties), x, Combine::Add, part)?;
            Ok(smallvec![cx.reshape(found, &outs[0].shape)])
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &ReduceScatter) -> Option<Vec<AxisName>> {
        Some(p.axis_name.0.clone())
    }
}

fn batch(
    p: &ReduceScatter,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let at = p.scatter_dimension;
    let x = V::new(e, &ins[0]);
    if batch.name.as_ref().is_some_and(|name| p.axis_name.0.contains(name)) {
        only_name("psum_scatter", &p.axis_name.0, &p.axis_index_groups)?;
        let sum = match dims[0] {
            Some(dim) => x.reduce_sum(&[dim]),
            None => batch.size as f64 * &x,
        };
        // The axis that is divided among the examples becomes the batch axis.
        let sum = if p.tiled { sum.divided(at, batch.size) } else { sum };
        return Ok((smallvec![sum.done()?], smallvec![Some(at)]));
    }
    let dim = dims[0].expect("the only operand is batched");
    let (at, out_dim) = if dim <= at { (at + 1, dim) } else { (at, dim - usize::from(!p.tiled)) };
    let params = ReduceScatter { scatter_dimension: at, ..p.clone() };
    Ok((smallvec![x.bind(REDUCE_SCATTER, &Params::new(params), &[]).done()?], smallvec![Some(out_dim)]))
}
