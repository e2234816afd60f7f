//! Each member divides an axis among all members and joins what it gets along another.
//!
//! all_to_all : x[...] -> [... split_axis divided by the number of members, concat_axis multiplied by it ...]
//! Linear; the transpose exchanges the two axes. The form that removes one axis and adds another is made of this one.

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits,
    Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::axes::{BareNames, Groups, only_name};
use super::collective;
use super::exchange::AllToAll as AllToAllCall;
use crate::prims::{V, batch_to_front, zeros};

/// Params of `all_to_all`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct AllToAll {
    /// Which axis of the operand is divided.
    pub split_axis: usize,
    /// Along which axis parts are joined.
    pub concat_axis: usize,
    /// Over which axes.
    pub axis_name: BareNames,
    /// Groups along those axes.
    pub axis_index_groups: Groups,
    /// What the user asked for; the primitive itself always keeps both axes.
    pub tiled: bool,
    /// How many members.
    #[param(hidden)]
    pub axis_size: usize,
}

struct AllToAllPrim;

/// The primitive `all_to_all`.
pub static ALL_TO_ALL: PrimRef = PrimRef(&AllToAllPrim);

impl Prim for AllToAllPrim {
    type Params = AllToAll;
    const NAME: &'static str = "all_to_all";

    fn abstract_eval(&self, p: &AllToAll, ins: &[Aval]) -> Result<Avals> {
        let mut shape = ins[0].shape.to_vec();
        let (rank, n) = (shape.len(), p.axis_size);
        if p.split_axis >= rank || p.concat_axis >= rank {
            let axis = p.split_axis.max(p.concat_axis);
            bail!(Value, "axis {axis} is out of bounds for array of dimension {rank}");
        }
        if !shape[p.split_axis].is_multiple_of(n) {
            bail!(
                Value,
                "all_to_all requires the size of the mapped axis axis_name to divide x.shape[split_axis], but they are {n} and \
                 {} respectively.",
                shape[p.split_axis]
            );
        }
        shape[p.split_axis] /= n;
        shape[p.concat_axis] *= n;
        Ok(smallvec![ins[0].with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<AllToAll> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<AllToAll> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = AllToAll { split_axis: p.concat_axis, concat_axis: p.split_axis, ..p.clone() };
            let back = |ct: &Val| V::new(e, ct).bind(ALL_TO_ALL, &Params::new(params.clone()), &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<AllToAll> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<AllToAll> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &AllToAll, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let shape = &ins[0].shape;
        let mut part = shape.to_vec();
        part[p.split_axis] /= p.axis_size;
        CpuForm::Host(Arc::new(AllToAllCall {
            names: p.axis_name.0.clone(),
            groups: p.axis_index_groups.clone(),
            split_outer: shape[..p.split_axis].iter().product(),
            concat_outer: part[..p.concat_axis].iter().product(),
        }))
    }

    fn hlo(&self) -> Hlo<AllToAll> {
        Hlo::Rule(|p, cx, ins, outs| {
            let groups = collective::groups_of("all_to_all", cx, &p.axis_name.0, &p.axis_index_groups)?;
            let meeting = collective::meeting(cx, &groups);
            let (split, concat, n) = (p.split_axis, p.concat_axis, p.axis_size);
            let properties = format!(
                "split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {n} : i64, {meeting}"
            );
            cx.generic("stablehlo.all_to_all", &properties, ins, &mut [], outs)
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &AllToAll) -> Option<Vec<AxisName>> {
        Some(p.axis_name.0.clone())
    }
}

fn batch(p: &AllToAll, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let (split, concat) = (p.split_axis, p.concat_axis);
    if let Some(at) = p.axis_name.0.iter().position(|name| Some(name) == batch.name.as_ref()) {
        let is_outermost = at == 0;
        if p.axis_name.0.len() > 1 && p.axis_index_groups.is_none() && (is_outermost || at + 1 == p.axis_name.0.len()) {
            return batch_of_several(p, e, batch, &batch_to_front(e, &ins[0], dims[0], batch.size)?, is_outermost);
        }
        only_name("all_to_all", &p.axis_name.0, &p.axis_index_groups)?;
        let front = batch_to_front(e, &ins[0], dims[0], batch.size)?;
        let rank = front.aval().rank() - 1;
        // Now the axes are: sources, then those of the operand, of which the divided one is targets and part.
        let divided = V::new(e, &front).divided(split + 1, batch.size);
        let place = |axis: usize| if axis < split { axis + 1 } else { axis + 2 };
        let order = |axis: usize| if axis == concat { vec![0, place(axis)] } else { vec![place(axis)] };
        let permutation: Vec<usize> = std::iter::once(split + 1).chain((0..rank).flat_map(order)).collect();
        return Ok((smallvec![divided.transpose(&permutation).merged(concat + 1).done()?], smallvec![Some(0)]));
    }
    let dim = dims[0].expect("the only operand is batched");
    let past = |axis: usize| if axis >= dim { axis + 1 } else { axis };
    let params = AllToAll { split_axis: past(split), concat_axis: past(concat), ..p.clone() };
    Ok((smallvec![V::new(e, &ins[0]).bind(ALL_TO_ALL, &Params::new(params), &[]).done()?], smallvec![Some(dim)]))
}

/// Over several axes of which the first or the last is the batch: the members are numbered by a pair, so each number of the
/// pair is exchanged along its own axis, that of the batch by a transpose here.
fn batch_of_several(
    p: &AllToAll,
    e: &dyn Emit,
    batch: &Batch,
    front: &Val,
    is_outermost: bool,
) -> Result<(Vals, BatchDims)> {
    let (split, concat, rank) = (p.split_axis, p.concat_axis, front.aval().rank() - 1);
    let others = p.axis_size / batch.size;
    let (outer, inner) = if is_outermost { (batch.size, others) } else { (others, batch.size) };
    let (own, other) = if is_outermost { (split + 1, split + 2) } else { (split + 2, split + 1) };
    let names = p.axis_name.0.iter().filter(|name| Some(*name) != batch.name.as_ref()).cloned().collect();
    let params = AllToAll {
        split_axis: other,
        concat_axis: other,
        axis_name: BareNames(names),
        axis_index_groups: None,
        tiled: true,
        axis_size: others,
    };
    // Now the axes are: batch, those of the operand, of which the divided one is outer number, inner number and part.
    let divided = V::new(e, front).divided(split + 1, outer).divided(split + 2, inner);
    let mut exchange: Vec<usize> = (0..rank + 3).collect();
    exchange.swap(0, own);
    let exchanged = divided.bind(ALL_TO_ALL, &Params::new(params), &[]).transpose(&exchange);
    let place = |axis: usize| if axis < split { axis + 1 } else { axis + 3 };
    let order = |axis: usize| match axis == concat {
        true => vec![split + 1, split + 2, place(axis)],
        false => vec![place(axis)],
    };
    let permutation: Vec<usize> = std::iter::once(0).chain((0..rank).flat_map(order)).collect();
    let joined = exchanged.transpose(&permutation).merged(concat + 1).merged(concat + 1);
    Ok((smallvec![joined.done()?], smallvec![Some(0)]))
}
