//! Consecutive parts of an array along an axis.
//!
//! split : x[...] -> [...] ...        one result for each size; the sizes sum to the axis
//! Linear; the transpose concatenates.

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use smallvec::{SmallVec, smallvec};

use super::batch_axis;
use crate::prims::{CONCATENATE, Concatenate, V, zeros};

/// Params of `split`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Split {
    /// Sizes of the parts.
    pub sizes: Vec<usize>,
    /// Along which axis.
    pub axis: usize,
}

struct SplitPrim;

/// The primitive `split`.
pub static SPLIT: PrimRef = PrimRef(&SplitPrim);

/// Consecutive parts along an axis.
///
/// # Errors
/// What the emitter raises.
pub fn split(e: &dyn Emit, x: &Val, sizes: &[usize], axis: usize) -> Result<Vals> {
    e.bind(SPLIT, &Params::new(Split { sizes: sizes.to_vec(), axis }), std::slice::from_ref(x))
}

impl Prim for SplitPrim {
    type Params = Split;
    const NAME: &'static str = "split";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Split, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        if p.axis >= x.rank() {
            bail!(Value, "axis {} is out of bounds for array of dimension {}", p.axis, x.rank());
        }
        let sum: usize = p.sizes.iter().sum();
        if sum != x.shape[p.axis] {
            bail!(
                Value,
                "Sum of sizes {sum} must be equal to dimension {} of the operand shape {:?}",
                p.axis,
                x.shape.to_vec()
            );
        }
        let part = |&size: &usize| {
            let mut shape = x.shape.clone();
            shape[p.axis] = size;
            x.with_shape(&shape)
        };
        Ok(p.sizes.iter().map(part).collect())
    }

    fn derivative(&self) -> Derivative<Split> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Split> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Split> {
        Splits::Rule(|_, x| x.divisible("split"))
    }

    fn batching(&self) -> Batching<Split> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let parts = split(e, &ins[0], &p.sizes, batch_axis(p.axis, dim))?;
            let dims = SmallVec::from_elem(Some(dim), parts.len());
            Ok((parts, dims))
        })
    }

    fn cpu(&self, p: &Split, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (sizes, axis) = (p.sizes.clone(), p.axis);
        CpuForm::Decompose(Box::new(move |e, ins| {
            let (x, mut start) = (V::new(e, &ins[0]), 0);
            let part = |&size: &usize| {
                start += size;
                x.slice_axis(axis, start - size, start, 1).done()
            };
            sizes.iter().map(part).collect()
        }))
    }

    fn hlo(&self) -> Hlo<Split> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], sizes: &[usize], axis| {
            Sample::new(Params::new(Split { sizes: sizes.to_vec(), axis }), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![sample(&[5], &[2, 3], 0), sample(&[2, 4], &[1, 0, 3], 1), sample(&[3, 2], &[3], 0)]
    }
}

fn transpose(p: &Split, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    if cts.iter().all(Option::is_none) {
        return Ok(smallvec![None]);
    }
    let x = ins[0].aval().tangent();
    let part = |(ct, &size): (&Option<Val>, &usize)| {
        let mut shape = x.shape.clone();
        shape[p.axis] = size;
        ct.clone().map_or_else(|| zeros(e, x.with_shape(&shape)), Ok)
    };
    let parts = cts.iter().zip(&p.sizes).map(part).collect::<Result<Vec<Val>>>()?;
    Ok(smallvec![e.bind(CONCATENATE, &Params::new(Concatenate { dimension: p.axis }), &parts)?.pop()])
}
