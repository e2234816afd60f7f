//! Arrays of one shape along a new axis.
//!
//! stack : x[...] y[...] ... -> [... with a new axis]
//! Linear in all together; the transpose takes the axis apart.

use super::unlike;
use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Passing, Prim, PrimRef, Sample, Splits, Transpose, Val};
use smallvec::smallvec;

use crate::prims::{CONCATENATE, Concatenate, V, batch_to_front, check_same_dtypes, unstack, zeros};

/// Params of `stack`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Stack {
    /// Position of the new axis in the result.
    pub axis: usize,
}

struct StackPrim;

/// The primitive `stack`.
pub static STACK: PrimRef = PrimRef(&StackPrim);

fn check(axis: usize, ins: &[Aval]) -> Result<()> {
    let Some(first) = ins.first() else { bail!(Value, "Need at least one array to stack.") };
    let shapes = || ins.iter().map(|x| tuple_text(&x.shape)).collect::<Vec<_>>().join(", ");
    if ins.iter().any(|x| x.rank() != first.rank()) {
        bail!(Value, "Cannot stack arrays with different numbers of dimensions: got {}.", shapes());
    }
    if ins.iter().any(|x| x.shape != first.shape) {
        bail!(Value, "All input arrays must have the same shape. Got {}.", shapes());
    }
    if axis > first.rank() {
        bail!(Value, "axis {axis} is out of bounds for array of dimension {}", first.rank() + 1);
    }
    check_same_dtypes("stack", ins)
}

impl Prim for StackPrim {
    type Params = Stack;
    const NAME: &'static str = "stack";

    fn abstract_eval(&self, p: &Stack, ins: &[Aval]) -> Result<Avals> {
        check(p.axis, ins)?;
        let mut shape = ins[0].shape.clone();
        shape.insert(p.axis, ins.len());
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&shape, ins[0].dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<Stack> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Stack> {
        Transpose::Rule(|p, e, cts, ins| {
            let Some(ct) = &cts[0] else { return Ok(smallvec![None; ins.len()]) };
            let parts = unstack(e, ct, p.axis)?;
            Ok(parts.into_iter().zip(ins).map(|(part, x)| x.is_linear().then_some(part)).collect())
        })
    }

    fn splits(&self) -> Splits<Stack> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Stack> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let moved = ins.iter().zip(dims).map(|(x, &dim)| batch_to_front(e, x, dim, batch.size));
            let moved = moved.collect::<Result<Vec<Val>>>()?;
            Ok((e.bind(STACK, &Params::new(Stack { axis: p.axis + 1 }), &moved)?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &Stack, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let axis = p.axis;
        CpuForm::Decompose(Box::new(move |e, ins| {
            let slab = |x: &Val| {
                let mut shape = x.aval().shape.clone();
                shape.insert(axis, 1);
                V::new(e, x).reshape(&shape).done()
            };
            let slabs = ins.iter().map(slab).collect::<Result<Vec<Val>>>()?;
            e.bind(CONCATENATE, &Params::new(Concatenate { dimension: axis }), &slabs)
        }))
    }

    fn hlo(&self) -> Hlo<Stack> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |axis, shapes: &[&[usize]]| Sample::new(Params::new(Stack { axis }), DType::F32, (-5.0, 5.0), shapes);
        vec![
            sample(0, &[&[3], &[3]]),
            sample(1, &[&[2, 3], &[2, 3], &[2, 3]]),
            sample(0, &[&[], &[]]),
            sample(1, &[&[2]]),
        ]
    }
}

/// Operands that are split alike, with a new axis that is whole.
fn pass(p: &Stack, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if x.specs.iter().any(|spec| *spec != x.specs[0]) {
        return x.refuse(|| unlike(x));
    }
    let mut spec = x.specs[0].clone();
    spec.insert(p.axis, vec![]);
    Ok(vec![spec])
}
