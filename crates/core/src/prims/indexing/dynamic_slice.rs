//! A box of fixed size at a computed position, moved inside where it would stick out.
//!
//! dynamic_slice : x[...] start[]... -> [slice_sizes]
//! Linear in x; the transpose writes into zeros.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, SampleIn, Splits,
    Tangents, Transpose, Val, Vals,
};
use smallvec::{SmallVec, smallvec};

use super::{DYNAMIC_UPDATE_SLICE, Gather, GatherDimensions, GatherMode, check_starts, gather, start_vectors};
use crate::prims::zeros;

/// Params of `dynamic_slice`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct DynamicSlice {
    /// Sizes of the box.
    pub slice_sizes: Vec<usize>,
}

struct DynamicSlicePrim;

/// The primitive `dynamic_slice`.
pub static DYNAMIC_SLICE: PrimRef = PrimRef(&DynamicSlicePrim);

impl Prim for DynamicSlicePrim {
    type Params = DynamicSlice;
    const NAME: &'static str = "dynamic_slice";

    fn abstract_eval(&self, p: &DynamicSlice, ins: &[Aval]) -> Result<Avals> {
        let [x, starts @ ..] = ins else {
            bail!(Type, "dynamic_slice takes an operand and start indices, got nothing")
        };
        if p.slice_sizes.len() != x.rank() {
            bail!(
                Value,
                "Length of slice indices must match number of operand dimensions ({} vs {})",
                p.slice_sizes.len(),
                tuple_text(&x.shape)
            );
        }
        check_starts("dynamic_slice", x.rank(), starts)?;
        if p.slice_sizes.iter().zip(&x.shape).any(|(size, bound)| size > bound) {
            bail!(
                Type,
                "slice slice_sizes must be less than or equal to operand shape, got slice_sizes {} for operand shape {}.",
                tuple_text(&p.slice_sizes),
                tuple_text(&x.shape)
            );
        }
        Ok(smallvec![x.with_shape(&p.slice_sizes)])
    }

    fn derivative(&self) -> Derivative<DynamicSlice> {
        Derivative::Jvp(|p, e, xs, ts| {
            let params = Params::new(p.clone());
            let out = e.bind(DYNAMIC_SLICE, &params, xs)?;
            let Some(t) = &ts[0] else { return Ok((out, smallvec![None])) };
            let operands: Vec<Val> = std::iter::once(t).chain(&xs[1..]).cloned().collect();
            Ok((out, smallvec![e.bind(DYNAMIC_SLICE, &params, &operands)?.pop()]))
        })
    }

    fn transpose(&self) -> Transpose<DynamicSlice> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<DynamicSlice> {
        Splits::Rule(|_, x| x.divisible("slicing"))
    }

    fn batching(&self) -> Batching<DynamicSlice> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &DynamicSlice, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let lasts: Vec<i64> =
            ins[0].shape.iter().zip(&p.slice_sizes).map(|(&bound, &size)| bound as i64 - size as i64).collect();
        CpuForm::Element(Box::new(move |cx, index| {
            let mut position: Vec<Index> = vec![];
            for (axis, (index, &last)) in index.iter().zip(&lasts).enumerate() {
                let start = cx.operand(axis + 1, &[])?.one();
                let loops = cx.loops();
                let start = loops.convert(DType::I64, start);
                position.push(Index::computed(start, loops).clamped(0, last, loops).plus(index, loops));
            }
            cx.operand(0, &position)
        }))
    }

    fn hlo(&self) -> Hlo<DynamicSlice> {
        Hlo::Attributes("stablehlo.dynamic_slice", |p, _| format!("sizes = {:?}", p.slice_sizes))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |x: &[usize], sizes: &[usize]| {
            let start = || SampleIn { aval: Aval::scalar(DType::I32, false), domain: (-2.0, 5.0) };
            let mut ins = vec![SampleIn { aval: Aval::new(x, DType::F32), domain: (-5.0, 5.0) }];
            ins.extend(x.iter().map(|_| start()));
            Sample { params: Params::new(DynamicSlice { slice_sizes: sizes.to_vec() }), ins }
        };
        vec![sample(&[5], &[2]), sample(&[3, 4], &[2, 4]), sample(&[3, 4], &[1, 2]), sample(&[3], &[0])]
    }
}

fn transpose(_: &DynamicSlice, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let mut result: Tangents = SmallVec::from_elem(None, ins.len());
    let Some(ct) = &cts[0] else { return Ok(result) };
    let mut operands = vec![zeros(e, ins[0].aval().tangent().weak(false))?, ct.clone()];
    operands.extend(ins[1..].iter().filter_map(|start| start.known().cloned()));
    result[0] = e.bind(DYNAMIC_UPDATE_SLICE, &Params::NONE, &operands)?.pop();
    Ok(result)
}

/// As a gather of one window, batched.
fn batch(p: &DynamicSlice, e: &dyn Emit, b: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let rank = p.slice_sizes.len();
    if rank == 0 {
        return Ok((smallvec![ins[0].clone()], smallvec![dims[0]]));
    }
    let (vectors, vector_dim) = start_vectors(e, b.size, &ins[1..], &dims[1..])?;
    let all: Vec<usize> = (0..rank).collect();
    let dimension_numbers =
        GatherDimensions { offset_dims: all.clone(), start_index_map: all, ..GatherDimensions::default() };
    let params = Gather {
        dimension_numbers,
        slice_sizes: p.slice_sizes.clone(),
        indices_are_sorted: true,
        unique_indices: true,
        mode: GatherMode::Clip,
        fill_value: None,
    };
    gather::batch(&params, e, b, &[ins[0].clone(), vectors], &[dims[0], vector_dim])
}
