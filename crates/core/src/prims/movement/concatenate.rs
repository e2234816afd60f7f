//! Arrays one after the other along an axis.
//!
//! concatenate : x[...] y[...] ... -> [...]        of one dtype, equal in the other axes
//! Linear in all together; the transpose splits.

use super::unlike;
use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Piece};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Passing, Prim, PrimRef, Sample, Splits, Tangents,
    Transpose, Val,
};
use smallvec::smallvec;

use crate::prims::{V, batch_to_front, check_same_dtypes, split, zeros};

/// Params of `concatenate`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Concatenate {
    /// Along which axis.
    pub dimension: usize,
}

struct ConcatenatePrim;

/// The primitive `concatenate`.
pub static CONCATENATE: PrimRef = PrimRef(&ConcatenatePrim);

impl<'e> V<'e> {
    /// This value and then the others, along an axis.
    pub fn concatenate(&self, others: &[&V<'e>], dimension: usize) -> V<'e> {
        if others.is_empty() {
            return self.clone();
        }
        self.bind(CONCATENATE, &Params::new(Concatenate { dimension }), others)
    }
}

fn check(dimension: usize, ins: &[Aval]) -> Result<()> {
    let Some(first) = ins.first() else { bail!(Value, "concatenate requires a non-empty sequences of arrays") };
    let shapes = || ins.iter().map(|x| tuple_text(&x.shape)).collect::<Vec<_>>().join(", ");
    if ins.iter().any(|x| x.rank() != first.rank()) {
        bail!(Type, "Cannot concatenate arrays with different numbers of dimensions: got {}.", shapes());
    }
    if dimension >= first.rank() {
        bail!(Type, "concatenate dimension out of bounds: dimension {dimension} for shapes {}.", shapes());
    }
    let differs = |x: &Aval| (0..x.rank()).any(|axis| axis != dimension && x.shape[axis] != first.shape[axis]);
    if ins.iter().any(differs) {
        bail!(
            Type,
            "Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: \
             concatenating along dimension {dimension} for shapes {}.",
            shapes()
        );
    }
    check_same_dtypes("concatenate", ins)
}

impl Prim for ConcatenatePrim {
    type Params = Concatenate;
    const NAME: &'static str = "concatenate";

    fn abstract_eval(&self, p: &Concatenate, ins: &[Aval]) -> Result<Avals> {
        check(p.dimension, ins)?;
        let mut shape = ins[0].shape.clone();
        shape[p.dimension] = ins.iter().map(|x| x.shape[p.dimension]).sum();
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&shape, ins[0].dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<Concatenate> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Concatenate> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Concatenate> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Concatenate> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let moved = ins.iter().zip(dims).map(|(x, &dim)| batch_to_front(e, x, dim, batch.size));
            let moved = moved.collect::<Result<Vec<Val>>>()?;
            let params = Params::new(Concatenate { dimension: p.dimension + 1 });
            Ok((e.bind(CONCATENATE, &params, &moved)?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &Concatenate, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let mut offset = 0;
        let piece = |(operand, x): (usize, &Aval)| {
            let mut start = vec![0; x.rank()];
            start[p.dimension] = offset;
            offset += x.shape[p.dimension] as i64;
            Piece { start, step: vec![1; x.rank()], sizes: x.shape.to_vec(), operand, operand_start: vec![0; x.rank()] }
        };
        CpuForm::Pieces(ins.iter().enumerate().map(piece).collect())
    }

    fn hlo(&self) -> Hlo<Concatenate> {
        Hlo::Attributes("stablehlo.concatenate", |p, _| format!("dim = {}", p.dimension))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dimension, dtype, shapes: &[&[usize]]| {
            Sample::new(Params::new(Concatenate { dimension }), dtype, (-5.0, 5.0), shapes)
        };
        vec![
            sample(0, DType::F32, &[&[2], &[3]]),
            sample(1, DType::F32, &[&[2, 3], &[2, 1], &[2, 0]]),
            sample(0, DType::I32, &[&[2, 3], &[1, 3]]),
            sample(0, DType::F32, &[&[3]]),
        ]
    }
}

/// Operands that are split alike.
fn pass(_: &Concatenate, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if x.is_strict && x.specs.iter().any(|spec| *spec != x.specs[0]) {
        return x.refuse(|| unlike(x));
    }
    if x.is_strict { x.divisible("concatenating") } else { x.pointwise_by_rank() }
}

fn transpose(p: &Concatenate, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None; ins.len()]) };
    let sizes: Vec<usize> = ins.iter().map(|x| x.aval().shape[p.dimension]).collect();
    let parts = split(e, ct, &sizes, p.dimension)?;
    Ok(parts.into_iter().zip(ins).map(|(part, x)| x.is_linear().then_some(part)).collect())
}
