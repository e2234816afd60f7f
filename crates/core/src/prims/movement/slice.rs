//! A box of an array, every so many elements.
//!
//! slice : x[...] -> [...]        from start to limit, by strides (1 when absent)
//! Linear; the transpose pads with zeros.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::slice_attributes;
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val};
use smallvec::smallvec;

use crate::prims::{V, zeros};

/// Params of `slice`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Slice {
    /// First index of each axis.
    pub start_indices: Vec<usize>,
    /// One past the last index of each axis.
    pub limit_indices: Vec<usize>,
    /// Step of each axis; `None` when all are 1.
    pub strides: Option<Vec<usize>>,
}

impl Slice {
    fn stride(&self, axis: usize) -> usize {
        self.strides.as_ref().map_or(1, |strides| strides[axis])
    }

    fn size(&self, axis: usize) -> usize {
        (self.limit_indices[axis] - self.start_indices[axis]).div_ceil(self.stride(axis))
    }
}

struct SlicePrim;

/// The primitive `slice`.
pub static SLICE: PrimRef = PrimRef(&SlicePrim);

impl<'e> V<'e> {
    /// The box from `start` to `limit`, by `strides`; nothing when it is everything.
    pub fn slice(&self, start: &[usize], limit: &[usize], strides: Option<&[usize]>) -> V<'e> {
        let shape = &self.aval().shape;
        let is_all = start.iter().all(|&start| start == 0) && shape[..] == *limit;
        if is_all && strides.is_none_or(|strides| strides.iter().all(|&stride| stride == 1)) {
            return self.clone();
        }
        let (start_indices, limit_indices) = (start.to_vec(), limit.to_vec());
        let strides = strides.map(<[usize]>::to_vec);
        self.bind(SLICE, &Params::new(Slice { start_indices, limit_indices, strides }), &[])
    }

    /// The part of one axis from `start` to `limit`, by `stride`.
    pub fn slice_axis(&self, axis: usize, start: usize, limit: usize, stride: usize) -> V<'e> {
        let shape = self.aval().shape.clone();
        let (mut starts, mut limits, mut strides) = (vec![0; shape.len()], shape.to_vec(), vec![1; shape.len()]);
        (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
        self.slice(&starts, &limits, (stride != 1).then_some(&strides[..]))
    }
}

fn check(p: &Slice, x: Aval) -> Result<()> {
    let shape = tuple_text(&x.shape);
    let lengths = [p.start_indices.len(), p.limit_indices.len(), p.strides.as_ref().map_or(x.rank(), Vec::len)];
    if lengths.iter().any(|&length| length != x.rank()) {
        bail!(
            Type,
            "slice start_indices must have length equal to the number of dimensions of the operand, got indices {} for \
             operand shape {shape}.",
            tuple_text(&p.start_indices)
        );
    }
    if p.strides.as_ref().is_some_and(|strides| strides.contains(&0)) {
        bail!(Type, "slice strides must be positive, got {}", tuple_text(p.strides.as_ref().expect("seen above")));
    }
    for (axis, &size) in x.shape.iter().enumerate() {
        let (start, limit) = (p.start_indices[axis], p.limit_indices[axis]);
        if start > limit || limit > size {
            bail!(
                Type,
                "slice limit_indices must be greater than or equal to start_indices and less than or equal to operand \
                 shape, got start_indices {} and limit_indices {} for operand shape {shape}.",
                tuple_text(&p.start_indices),
                tuple_text(&p.limit_indices)
            );
        }
    }
    Ok(())
}

impl Prim for SlicePrim {
    type Params = Slice;
    const NAME: &'static str = "slice";

    fn abstract_eval(&self, p: &Slice, ins: &[Aval]) -> Result<Avals> {
        check(p, ins[0])?;
        let shape: Vec<usize> = (0..ins[0].rank()).map(|axis| p.size(axis)).collect();
        Ok(smallvec![ins[0].with_shape(&shape)])
    }

    fn derivative(&self) -> Derivative<Slice> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Slice> {
        Transpose::Rule(|p, e, cts, ins| {
            let Some(ct) = &cts[0] else { return Ok(smallvec![None]) };
            let (ct, shape) = (V::new(e, ct), &ins[0].aval().shape);
            let config = |axis: usize| {
                let (size, stride) = (p.size(axis), p.stride(axis));
                let reached = p.start_indices[axis] + if size == 0 { 0 } else { 1 + (size - 1) * stride };
                (p.start_indices[axis] as i64, shape[axis] as i64 - reached as i64, stride as i64 - 1)
            };
            let configs: Vec<_> = (0..shape.len()).map(config).collect();
            // A zero of strong type: what a slice was taken from is an array, also where the cotangent is a plain number.
            let zero = V::new(e, &Val::Literal(Scalar::zero(ct.aval().dtype)));
            Ok(smallvec![Some(ct.pad(&zero, &configs).done()?)])
        })
    }

    fn splits(&self) -> Splits<Slice> {
        Splits::Rule(|_, x| x.divisible("slicing"))
    }

    fn batching(&self) -> Batching<Slice> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let with = |axes: &[usize], value| {
                let mut axes = axes.to_vec();
                axes.insert(dim, value);
                axes
            };
            let strides = p.strides.as_ref().map(|strides| with(strides, 1));
            let (start, limit) = (with(&p.start_indices, 0), with(&p.limit_indices, batch.size));
            let out = V::new(e, &ins[0]).slice(&start, &limit, strides.as_deref());
            Ok((smallvec![out.done()?], smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &Slice, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let steps: Vec<(i64, i64)> =
            (0..p.start_indices.len()).map(|axis| (p.start_indices[axis] as i64, p.stride(axis) as i64)).collect();
        CpuForm::Element(Box::new(move |cx, index| {
            let source = |(index, &(start, stride)): (&Index, &(i64, i64))| {
                let loops = cx.loops();
                index.times(stride, loops).plus_const(start, loops)
            };
            let source: Vec<Index> = index.iter().zip(&steps).map(source).collect();
            cx.operand(0, &source)
        }))
    }

    fn hlo(&self) -> Hlo<Slice> {
        Hlo::Attributes("stablehlo.slice", |p, _| {
            let strides: Vec<usize> = (0..p.start_indices.len()).map(|axis| p.stride(axis)).collect();
            slice_attributes(&p.start_indices, &p.limit_indices, &strides)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], start: &[usize], limit: &[usize], strides: Option<&[usize]>| {
            let params = Slice {
                start_indices: start.to_vec(),
                limit_indices: limit.to_vec(),
                strides: strides.map(<[usize]>::to_vec),
            };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![
            sample(&[5], &[1], &[4], None),
            sample(&[4, 5], &[1, 0], &[3, 5], Some(&[1, 2])),
            sample(&[7], &[1], &[7], Some(&[3])),
            sample(&[3, 4], &[1, 2], &[1, 4], None),
        ]
    }
}
