//! Arrays sorted along an axis, all moved by the first of them.
//!
//! sort : keys[...]... others[...]... -> the same        NaN last, -0 before 0
//! Linear in the values once the order is known: tangents are gathered.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::sharding::spec_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Passing, Prim, PrimRef, Sample, SampleIn, Splits,
    Tangents, Transpose, Val, Vals,
};
use smallvec::{SmallVec, smallvec};

use crate::prims::movement::batch_axis;
use crate::prims::{Gather, GatherDimensions, GatherMode, V, batch_to_front, iota};

/// Params of `sort`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Sort {
    /// Along which axis.
    pub dimension: usize,
    /// Whether equal keys keep their order.
    pub is_stable: bool,
    /// How many operands are keys, compared one after the other.
    pub num_keys: usize,
}

struct SortPrim;

/// The primitive `sort`.
pub static SORT: PrimRef = PrimRef(&SortPrim);

/// The operands sorted by the first `num_keys` of them, stably.
///
/// # Errors
/// What the emitter raises.
pub fn sort(e: &dyn Emit, operands: &[Val], dimension: usize, num_keys: usize) -> Result<Vals> {
    e.bind(SORT, &Params::new(Sort { dimension, is_stable: true, num_keys }), operands)
}

impl Prim for SortPrim {
    type Params = Sort;
    const NAME: &'static str = "sort";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Sort, ins: &[Aval]) -> Result<Avals> {
        let Some(first) = ins.first() else { bail!(Type, "Sort requires at least one operand") };
        if ins.iter().any(|x| x.shape != first.shape) {
            let shapes: Vec<String> = ins.iter().map(|x| tuple_text(&x.shape)).collect();
            bail!(Type, "Arguments to sort must have equal shapes, got: {}", shapes.join(" "));
        }
        if p.dimension >= first.rank() {
            bail!(Value, "axis {} is out of bounds for array of dimension {}", p.dimension, first.rank());
        }
        if p.num_keys < 1 || p.num_keys > ins.len() {
            bail!(Value, "num_keys={} must be between 1 and len(operand)={}", p.num_keys, ins.len());
        }
        Ok(ins.iter().copied().collect())
    }

    fn derivative(&self) -> Derivative<Sort> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<Sort> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<Sort> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Sort> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Sort, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Sort { axis: p.dimension, n_keys: p.num_keys }
    }

    fn hlo(&self) -> Hlo<Sort> {
        Hlo::Rule(|p, cx, ins, outs| {
            let args = ins.iter().flat_map(|x| [Aval::scalar(x.aval.dtype, false); 2]).collect();
            let mut body =
                |cx: &mut dyn HloCx, args: &[HloValue]| Ok(smallvec![is_before(cx, &args[..2 * p.num_keys])]);
            let properties = format!("dimension = {} : i64, is_stable = {}", p.dimension, p.is_stable);
            cx.generic("stablehlo.sort", &properties, ins, &mut [HloRegion { args, body: &mut body }], outs)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |shape: &[usize], dtypes: &[DType], dimension, num_keys| {
            let ins = dtypes.iter().map(|&dtype| SampleIn { aval: Aval::new(shape, dtype), domain: (-5.0, 5.0) });
            Sample { params: Params::new(Sort { dimension, is_stable: true, num_keys }), ins: ins.collect() }
        };
        vec![
            sample(&[7], &[DType::F32], 0, 1),
            sample(&[3, 4], &[DType::F32], 0, 1),
            sample(&[3, 4], &[DType::F32, DType::F32], 1, 1),
            sample(&[20], &[DType::I32, DType::F32, DType::I32], 0, 2),
            sample(&[0], &[DType::F32], 0, 1),
            sample(&[9], &[DType::C64], 0, 1),
            sample(&[3, 4], &[DType::C64, DType::F32], 1, 2),
        ]
    }
}

/// The axis along which is sorted may not be split, and all operands are split alike.
fn pass(p: &Sort, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if x.is_strict && !x.specs[0][p.dimension].is_empty() {
        return x.refuse(|| {
            format!(
                "Arguments to sort must be unsharded over the sorting dimension. Got arg sharding={} and sorting dimension={}",
                spec_text(&x.specs[0]),
                p.dimension
            )
        });
    }
    if x.is_strict
        && x.specs.iter().any(|spec| x.is_split(0) && spec != &x.specs[0] && spec.iter().any(|names| !names.is_empty()))
    {
        return x.refuse(|| "Arguments to sort must have equal shardings".into());
    }
    Ok(vec![x.specs[0].clone(); x.outs.len()])
}

/// The positions are sorted along; tangents are gathered at them.
fn jvp(p: &Sort, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    if ts.iter().all(Option::is_none) {
        return Ok((e.bind(SORT, &Params::new(p.clone()), xs)?, smallvec![None; xs.len()]));
    }
    let shape = &xs[0].aval().data().shape;
    if shape[p.dimension] == 0 {
        // Nothing moves, and a window of one element does not fit.
        return Ok((e.bind(SORT, &Params::new(p.clone()), xs)?, ts.iter().cloned().collect()));
    }
    let mut operands = xs.to_vec();
    operands.push(iota(e, DType::U32, shape, p.dimension)?.done()?);
    let mut outs = e.bind(SORT, &Params::new(p.clone()), &operands)?;
    let order = V::new(e, &outs.pop().expect("the sorted positions")).expand_dims(&[shape.len()]);
    let others: Vec<usize> = (0..shape.len()).filter(|&axis| axis != p.dimension).collect();
    let params = Gather {
        dimension_numbers: GatherDimensions {
            collapsed_slice_dims: vec![p.dimension],
            start_index_map: vec![p.dimension],
            operand_batching_dims: others.clone(),
            start_indices_batching_dims: others,
            ..GatherDimensions::default()
        },
        slice_sizes: vec![1; shape.len()],
        indices_are_sorted: false,
        unique_indices: false,
        mode: GatherMode::PromiseInBounds,
        fill_value: None,
    };
    let gathered = |t: &Option<Val>| t.as_ref().map(|t| V::new(e, t).gather(&order, params.clone()).done()).transpose();
    let tangents = ts.iter().map(gathered).collect::<Result<Tangents>>()?;
    Ok((outs, tangents))
}

fn batch(p: &Sort, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let is_one_place = dims.iter().all(|&dim| dim.is_some() && dim == dims[0]);
    let dim = dims[0].filter(|_| is_one_place).unwrap_or(0);
    let moved = |(x, &own): (&Val, &Option<usize>)| {
        if is_one_place { Ok(x.clone()) } else { batch_to_front(e, x, own, batch.size) }
    };
    let moved = ins.iter().zip(dims).map(moved).collect::<Result<Vec<Val>>>()?;
    let params = Params::new(Sort { dimension: batch_axis(p.dimension, dim), ..p.clone() });
    let outs = e.bind(SORT, &params, &moved)?;
    let dims = SmallVec::from_elem(Some(dim), outs.len());
    Ok((outs, dims))
}

/// Whether the first of each pair of keys comes before the second: by the first pair that differs.
fn is_before(cx: &mut dyn HloCx, pairs: &[HloValue]) -> HloValue {
    let parts: Vec<HloValue> = pairs.chunks_exact(2).flat_map(|pair| key_parts(cx, pair)).collect();
    let mut result = None;
    for pair in parts.chunks_exact(2).rev() {
        let is_less = cx.compare_total("LT", pair[0], pair[1]);
        result = Some(match result {
            None => is_less,
            Some(rest) => {
                let is_equal = cx.compare_total("EQ", pair[0], pair[1]);
                let rest = cx.binary("stablehlo.and", is_equal, rest);
                cx.binary("stablehlo.or", is_less, rest)
            }
        });
    }
    result.expect("at least one key")
}

/// A pair of keys as pairs that the total order compares: zeros alike, all NaN last; complex ones by parts.
fn key_parts(cx: &mut dyn HloCx, pair: &[HloValue]) -> Vec<HloValue> {
    let dtype = pair[0].aval.dtype;
    if dtype.is_complex() {
        let part = Aval::scalar(dtype.real(), false);
        let mut parts = vec![];
        for name in ["stablehlo.real", "stablehlo.imag"] {
            let pair: Vec<HloValue> = pair.iter().map(|&x| cx.one(name, "", &[x], part)).collect();
            parts.extend(key_parts(cx, &pair));
        }
        return parts;
    }
    if !dtype.is_float() {
        return pair.to_vec();
    }
    let (zero, nan) = (cx.constant(Scalar::zero(dtype)), cx.constant(Scalar::float(dtype, f64::NAN)));
    let canonical = |&x: &HloValue| {
        let (is_zero, is_nan) = (cx.compare("EQ", x, zero), cx.compare("NE", x, x));
        let x = cx.select(is_zero, zero, x);
        cx.select(is_nan, nan, x)
    };
    pair.iter().map(canonical).collect()
}
