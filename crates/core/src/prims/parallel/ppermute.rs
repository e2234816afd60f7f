//! Values sent along named axes from sources to targets.
//!
//! ppermute : x[...] -> [...]        what nobody sends to is zero
//! Linear; the transpose sends back.

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::{Array, Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits,
    Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::axes::{AxisNames, only_name};
use super::collective;
use super::exchange::Permute;
use crate::prims::indexing::GatherMode;
use crate::prims::{GATHER, Gather, GatherDimensions, V, batch_to_front, zeros};

/// Params of `ppermute`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Ppermute {
    /// Along which axes.
    pub axis_name: AxisNames,
    /// Pairs of source and target; no source and no target twice.
    pub perm: Vec<(usize, usize)>,
}

struct PpermutePrim;

/// The primitive `ppermute`.
pub static PPERMUTE: PrimRef = PrimRef(&PpermutePrim);

impl Prim for PpermutePrim {
    type Params = Ppermute;
    const NAME: &'static str = "ppermute";

    fn abstract_eval(&self, p: &Ppermute, ins: &[Aval]) -> Result<Avals> {
        let twice = |i: usize| p.perm[..i].iter().any(|other| other.0 == p.perm[i].0 || other.1 == p.perm[i].1);
        if (0..p.perm.len()).any(twice) {
            bail!(
                Value,
                "ppermute sources and destinations must be unique, got {:?}. A value for several targets is an all_gather.",
                p.perm
            );
        }
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<Ppermute> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Ppermute> {
        Transpose::Rule(|p, e, cts, _ins| {
            let perm = p.perm.iter().map(|&(source, target)| (target, source)).collect();
            let params = Params::new(Ppermute { axis_name: p.axis_name.clone(), perm });
            let back = |ct: &Val| V::new(e, ct).bind(PPERMUTE, &params, &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<Ppermute> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<Ppermute> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Ppermute, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(Permute { names: p.axis_name.0.clone(), perm: p.perm.clone() }))
    }

    fn hlo(&self) -> Hlo<Ppermute> {
        Hlo::Rule(|p, cx, ins, outs| {
            let groups = collective::groups_of("ppermute", cx, &p.axis_name.0, &None)?;
            let pairs = groups.iter().flat_map(|group| p.perm.iter().map(|&(from, to)| vec![group[from], group[to]]));
            let pairs: Vec<Vec<usize>> = pairs.collect();
            if pairs.is_empty() {
                return Ok(smallvec![cx.full(Scalar::zero(outs[0].dtype), &outs[0].shape)]);
            }
            let properties =
                format!("{}, source_target_pairs = {}", collective::channel(cx), collective::table(&pairs));
            cx.generic("stablehlo.collective_permute", &properties, ins, &mut [], outs)
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &Ppermute) -> Option<Vec<AxisName>> {
        Some(p.axis_name.0.clone())
    }
}

fn batch(p: &Ppermute, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    if !batch.name.as_ref().is_some_and(|name| p.axis_name.0.contains(name)) {
        let params = Params::new(p.clone());
        return Ok((smallvec![V::new(e, &ins[0]).bind(PPERMUTE, &params, &[]).done()?], smallvec![dims[0]]));
    }
    only_name("ppermute", &p.axis_name.0, &None)?;
    let front = V::new(e, &batch_to_front(e, &ins[0], dims[0], batch.size)?);
    let mut sources = vec![None; batch.size];
    for &(source, target) in &p.perm {
        sources[target] = Some(source);
    }
    Ok((smallvec![take(&front, &sources)?], smallvec![Some(0)]))
}

/// Rows of `x` by number; zeros where there is none.
fn take(x: &V<'_>, rows: &[Option<usize>]) -> Result<Val> {
    let aval = x.aval();
    let numbers = rows.iter().map(|row| Scalar::int(DType::I32, row.map_or(-1, |row| row as i128)));
    let indices = Val::Array(Array::from_scalars(&[rows.len(), 1], DType::I32, numbers));
    let gather = Gather {
        dimension_numbers: GatherDimensions {
            offset_dims: (1..aval.rank()).collect(),
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            ..GatherDimensions::default()
        },
        slice_sizes: std::iter::once(1).chain(aval.shape[1..].iter().copied()).collect(),
        indices_are_sorted: false,
        unique_indices: false,
        mode: GatherMode::FillOrDrop,
        fill_value: Some(Scalar::zero(aval.dtype)),
    };
    x.bind(GATHER, &Params::new(gather), &[&V::new(x.emit(), &indices)]).done()
}
