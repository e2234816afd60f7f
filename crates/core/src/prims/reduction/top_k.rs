//! The greatest elements along an axis, greatest first, and where they were; of equal ones the first come first.
//!
//! top_k : x[... n ...] -> values[... k ...] positions[... k ...]        positions int32; floats in total order
//! Tangents are gathered at the positions.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Passing, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use pullback_loops::{Body, Greatest};
use smallvec::smallvec;

use super::sort::sort;
use crate::prims::movement::batch_axis;
use crate::prims::{DTypes, Gather, GatherDimensions, GatherMode, V, iota};

/// Params of `top_k`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct TopK {
    /// How many.
    pub k: usize,
    /// Along which axis.
    pub axis: usize,
    /// Whether equal elements keep their order; they always do.
    pub is_stable: bool,
}

struct TopKPrim;

/// The primitive `top_k`.
pub static TOP_K: PrimRef = PrimRef(&TopKPrim);

impl Prim for TopKPrim {
    type Params = TopK;
    const NAME: &'static str = "top_k";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &TopK, ins: &[Aval]) -> Result<Avals> {
        let [x] = ins else { bail!(Type, "top_k takes 1 operand, got {}", ins.len()) };
        DTypes::ORDERED.check("top_k", 0, x.dtype)?;
        if x.rank() == 0 {
            bail!(Type, "top_k operand must have >= 1 dimension, got {}", tuple_text(&x.shape));
        }
        if p.axis >= x.rank() {
            bail!(Value, "axis {} is out of bounds for array of dimension {}", p.axis, x.rank());
        }
        let mut shape = x.shape.clone();
        if p.k > shape[p.axis] {
            let (k, size) = (p.k, shape[p.axis]);
            bail!(Value, "k argument to top_k must be no larger than size along axis; got k={k} with size {size}.");
        }
        shape[p.axis] = p.k;
        Ok(smallvec![x.with_shape(&shape), Aval::new(&shape, DType::I32)])
    }

    fn derivative(&self) -> Derivative<TopK> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<TopK> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<TopK> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<TopK> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let params = TopK { axis: batch_axis(p.axis, dim), ..p.clone() };
            Ok((e.bind(TOP_K, &Params::new(params), ins)?, smallvec![Some(dim), Some(dim)]))
        })
    }

    fn cpu(&self, p: &TopK, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (p, x) = (p.clone(), ins[0]);
        if x.dtype.bits() < 8 && x.dtype != DType::Bool || x.dtype == DType::F8E8M0FNU {
            return CpuForm::Decompose(Box::new(move |e, ins| greatest(&p, e, &ins[0])));
        }
        let sizes = [x.shape[..p.axis].iter().product(), x.shape[p.axis], x.shape[p.axis + 1..].iter().product()];
        CpuForm::Body(Box::new(Body::Greatest(Greatest { dtype: x.dtype, sizes, k: p.k })))
    }

    fn hlo(&self) -> Hlo<TopK> {
        Hlo::Composition(|p, e, ins| greatest(p, e, &ins[0]))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |shape: &[usize], k, axis, dtype| {
            Sample::new(Params::new(TopK { k, axis, is_stable: true }), dtype, (-5.0, 5.0), &[shape])
        };
        vec![
            sample(&[7], 3, 0, DType::F32),
            sample(&[3, 4], 2, 1, DType::F32),
            sample(&[3, 4], 2, 0, DType::I32),
            sample(&[3], 0, 0, DType::F32),
        ]
    }
}

/// The axis along which is chosen may not be split.
fn pass(p: &TopK, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if !x.specs[0][p.axis].is_empty() {
        return x.refuse(|| {
            format!(
                "The input should be unsharded over the axis along which to compute the top_k values. Got input type={} and axis={}",
                x.shown(0),
                p.axis
            )
        });
    }
    Ok(vec![x.specs[0].clone(); 2])
}

/// Sorted backward, so that ascending order with the last of equals first is descending order with the first one first.
fn greatest(p: &TopK, e: &dyn Emit, x: &Val) -> Result<Vals> {
    let shape = x.aval().shape.to_vec();
    let positions = iota(e, DType::I32, &shape, p.axis)?.rev(&[p.axis]);
    let dtype = x.aval().dtype;
    // Exponents without a sign bit are in order as they are.
    let is_float = dtype.is_float() && dtype.bits() >= 8 && dtype != DType::F8E8M0FNU;
    let keys = if is_float { ordered_bits(&V::new(e, x)) } else { V::new(e, x) };
    let sorted = sort(e, &[keys.rev(&[p.axis]).done()?, positions.done()?], p.axis, 1)?;
    let first = |x: &Val| V::new(e, x).rev(&[p.axis]).slice_axis(p.axis, 0, p.k, 1);
    let values = first(&sorted[0]);
    let values = if is_float { flipped_below_zero(&values).bitcast(x.aval().dtype) } else { values };
    Ok(smallvec![values.done()?, first(&sorted[1]).done()?])
}

/// Integers in the total order of floating numbers (IEEE 754, 5.10): -NaN first, -0 before 0, NaN last.
fn ordered_bits<'e>(x: &V<'e>) -> V<'e> {
    let dtype = match x.aval().dtype.bits() {
        8 => DType::I8,
        16 => DType::I16,
        32 => DType::I32,
        _ => DType::I64,
    };
    flipped_below_zero(&x.bitcast(dtype))
}

/// All bits but the sign are flipped where it is set; its own inverse.
fn flipped_below_zero<'e>(bits: &V<'e>) -> V<'e> {
    let dtype = bits.aval().dtype;
    let width = f64::from(dtype.bits());
    let greatest = V::new(bits.emit(), &Val::Literal(Scalar::greatest(dtype)));
    bits.xor(&bits.shift_right_arithmetic(&bits.number(width - 1.0)).and(&greatest))
}

fn jvp(p: &TopK, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(TOP_K, &Params::new(p.clone()), xs)?;
    let (Some(t), false) = (&ts[0], p.k == 0) else { return Ok((outs, smallvec![None, None])) };
    let rank = xs[0].aval().rank();
    let mut indices_shape = outs[1].aval().shape.to_vec();
    indices_shape.push(1);
    let others: Vec<usize> = (0..rank).filter(|&axis| axis != p.axis).collect();
    let params = Gather {
        dimension_numbers: GatherDimensions {
            collapsed_slice_dims: vec![p.axis],
            start_index_map: vec![p.axis],
            operand_batching_dims: others.clone(),
            start_indices_batching_dims: others,
            ..GatherDimensions::default()
        },
        slice_sizes: vec![1; rank],
        indices_are_sorted: false,
        unique_indices: false,
        mode: GatherMode::PromiseInBounds,
        fill_value: None,
    };
    let indices = V::new(e, &outs[1]).reshape(&indices_shape);
    let tangent = V::new(e, t).gather(&indices, params).done()?;
    Ok((outs, smallvec![Some(tangent), None]))
}
