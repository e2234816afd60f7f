//! An array with a box at a computed position replaced, moved inside where it would stick out.
//!
//! dynamic_update_slice : x[...] update[...] start[]... -> x[...]
//! Linear in x and update together.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, Params, Passing, Prim, PrimRef, Sample,
    SampleIn, Splits, Tangents, Transpose, Val, Vals,
};
use smallvec::{SmallVec, smallvec};

use super::{
    DYNAMIC_SLICE, DynamicSlice, GatherMode, SCATTER, Scatter, ScatterDimensions, check_starts, scatter, start_vectors,
};
use crate::prims::{batch_to_front, instantiate, zeros};

struct DynamicUpdateSlice;

/// The primitive `dynamic_update_slice`.
pub static DYNAMIC_UPDATE_SLICE: PrimRef = PrimRef(&DynamicUpdateSlice);

fn check(x: Aval, update: Aval) -> Result<()> {
    let shapes = format!("got update shape {} for operand shape {}", tuple_text(&update.shape), tuple_text(&x.shape));
    if update.rank() != x.rank() {
        bail!(Type, "dynamic_update_slice update must have the same rank as operand, {shapes}.");
    }
    if update.shape.iter().zip(&x.shape).any(|(size, bound)| size > bound) {
        bail!(Type, "dynamic_update_slice update shape must be smaller than operand shape, {shapes}.");
    }
    if update.dtype != x.dtype {
        bail!(
            Type,
            "lax.dynamic_update_slice requires arguments to have the same dtypes, got {}, {}.",
            x.dtype,
            update.dtype
        );
    }
    Ok(())
}

impl Prim for DynamicUpdateSlice {
    type Params = ();
    const NAME: &'static str = "dynamic_update_slice";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [x, update, starts @ ..] = ins else {
            bail!(
                Type,
                "dynamic_update_slice takes an operand, an update and start indices, got {} operands",
                ins.len()
            )
        };
        check(*x, *update)?;
        check_starts("dynamic_update_slice", x.rank(), starts)?;
        Ok(smallvec![*x])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Jvp(|(), e, xs, ts| {
            let out = e.bind(DYNAMIC_UPDATE_SLICE, &Params::NONE, xs)?;
            if ts[0].is_none() && ts[1].is_none() {
                return Ok((out, smallvec![None]));
            }
            let mut operands = xs.to_vec();
            for i in [0, 1] {
                operands[i] = instantiate(e, xs[i].aval(), ts[i].clone())?;
            }
            Ok((out, smallvec![e.bind(DYNAMIC_UPDATE_SLICE, &Params::NONE, &operands)?.pop()]))
        })
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<()> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<()> {
        Batching::Rule(batch)
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let lasts: Vec<i64> =
            ins[0].shape.iter().zip(&ins[1].shape).map(|(&bound, &size)| bound as i64 - size as i64).collect();
        let target = move |cx: &mut dyn pullback_ir::lower::ElementCx, index: &[Index]| {
            let mut position: Vec<Index> = vec![];
            for (axis, (index, &last)) in index.iter().zip(&lasts).enumerate() {
                let start = cx.operand(axis + 2, &[])?.one();
                let loops = cx.loops();
                let start = loops.convert(DType::I64, start);
                position.push(Index::computed(start, loops).clamped(0, last, loops).plus(index, loops));
            }
            Ok((position, None))
        };
        CpuForm::Scatter { updates: 1, combine: None, target: Box::new(target) }
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Attributes("stablehlo.dynamic_update_slice", |(), _| String::new())
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |x: &[usize], update: &[usize]| {
            let array = |shape: &[usize]| SampleIn { aval: Aval::new(shape, DType::F32), domain: (-5.0, 5.0) };
            let start = || SampleIn { aval: Aval::scalar(DType::I32, false), domain: (-2.0, 5.0) };
            let mut ins = vec![array(x), array(update)];
            ins.extend(x.iter().map(|_| start()));
            Sample { params: Params::NONE, ins }
        };
        vec![sample(&[5], &[2]), sample(&[3, 4], &[2, 4]), sample(&[3, 4], &[1, 2]), sample(&[3], &[0])]
    }
}

/// The array and what is put into it are split alike.
fn pass((): &(), x: &Passing<'_>) -> Result<Vec<Spec>> {
    if x.is_strict && x.specs[0] != x.specs[1] {
        return x.refuse(|| {
            format!(
                "dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding {} and update \
                 sharding {}.",
                x.shown(0),
                x.shown(1)
            )
        });
    }
    Ok(vec![x.specs[0].clone()])
}

fn transpose((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let mut result: Tangents = SmallVec::from_elem(None, ins.len());
    let Some(ct) = &cts[0] else { return Ok(result) };
    let starts: Vec<Val> = ins[2..].iter().filter_map(|start| start.known().cloned()).collect();
    if ins[0].is_linear() {
        let hole = zeros(e, ins[1].aval().tangent())?;
        let operands = [&[ct.clone(), hole], &starts[..]].concat();
        result[0] = e.bind(DYNAMIC_UPDATE_SLICE, &Params::NONE, &operands)?.pop();
    }
    if ins[1].is_linear() {
        let params = Params::new(DynamicSlice { slice_sizes: ins[1].aval().shape.to_vec() });
        let operands = [std::slice::from_ref(ct), &starts[..]].concat();
        result[1] = e.bind(DYNAMIC_SLICE, &params, &operands)?.pop();
    }
    Ok(result)
}

/// As a scatter of one window, batched.
fn batch((): &(), e: &dyn Emit, b: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    if ins.len() == 2 {
        // A scalar operand is wholly replaced.
        return Ok((smallvec![batch_to_front(e, &ins[1], dims[1], b.size)?], smallvec![Some(0)]));
    }
    let (vectors, vector_dim) = start_vectors(e, b.size, &ins[2..], &dims[2..])?;
    let all: Vec<usize> = (0..ins.len() - 2).collect();
    let dimension_numbers = ScatterDimensions {
        update_window_dims: all.clone(),
        scatter_dims_to_operand_dims: all,
        ..ScatterDimensions::default()
    };
    let params = Scatter {
        dimension_numbers,
        indices_are_sorted: true,
        unique_indices: true,
        mode: GatherMode::Clip,
        update_jaxpr: None,
        update_consts: vec![],
    };
    let operands = [ins[0].clone(), vectors, ins[1].clone()];
    scatter::batch(SCATTER, &params, e, b, &operands, &[dims[0], vector_dim, dims[1]])
}
