//! An array with a value around and between its elements, or with elements taken off its ends.
//!
//! pad : x[...] value[] -> [...]        for each axis (low, high, interior); negative low and high crop
//! Linear in both together; the transpose slices, and sums what was padded.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{CpuForm, Piece};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents,
    Transpose, Val, Vals,
};
use smallvec::smallvec;

use crate::prims::{V, batch_to_front, check_same_dtypes, zeros};

/// Elements before the first, after the last, and between two, of one axis.
pub type PadAxis = (i64, i64, i64);

/// Params of `pad`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Pad {
    /// For each axis (low, high, interior).
    pub padding_config: Vec<PadAxis>,
}

struct PadPrim;

/// The primitive `pad`.
pub static PAD: PrimRef = PrimRef(&PadPrim);

impl<'e> V<'e> {
    /// With `value` around and between the elements; nothing when there is none to add or to take.
    pub fn pad(&self, value: &V<'e>, config: &[PadAxis]) -> V<'e> {
        if config.iter().all(|&axis| axis == (0, 0, 0)) {
            return self.clone();
        }
        self.bind(PAD, &Params::new(Pad { padding_config: config.to_vec() }), &[value])
    }
}

/// Size of an axis after padding; negative when more is cropped than there is. The ends of `i64` stand for all beyond.
fn padded(size: usize, (low, high, interior): PadAxis) -> i64 {
    let (size, interior) = (size as i128, i128::from(interior));
    let all = i128::from(low) + i128::from(high) + size + (size - 1).max(0) * interior;
    all.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn config_text(p: &Pad) -> String {
    let axes: Vec<String> =
        (p.padding_config.iter()).map(|(low, high, interior)| format!("({low}, {high}, {interior})")).collect();
    if axes.len() == 1 { format!("({},)", axes[0]) } else { format!("({})", axes.join(", ")) }
}

impl Prim for PadPrim {
    type Params = Pad;
    const NAME: &'static str = "pad";

    fn abstract_eval(&self, p: &Pad, ins: &[Aval]) -> Result<Avals> {
        let [x, value] = ins else { bail!(Type, "pad takes 2 operands, got {}", ins.len()) };
        check_same_dtypes("pad", ins)?;
        let (config, shape) = (config_text(p), tuple_text(&x.shape));
        if value.rank() != 0 {
            bail!(Value, "padding_value must be a scalar; got np.shape(padding_value)={}", tuple_text(&value.shape));
        }
        if p.padding_config.len() != x.rank() {
            bail!(
                Value,
                "length of padding_config must equal the number of axes of operand, got padding_config {config} for operand \
                 shape {shape}"
            );
        }
        if p.padding_config.iter().any(|axis| axis.2 < 0) {
            bail!(Value, "interior padding in padding_config must be nonnegative, got padding_config {config}");
        }
        let sizes: Vec<i64> = x.shape.iter().zip(&p.padding_config).map(|(&size, &axis)| padded(size, axis)).collect();
        if sizes.iter().any(|&size| size < 0) {
            let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
            bail!(
                Value,
                "Dimension size after padding is not at least 0, got result shape ({}), for padding_config {config} and \
                 operand shape {shape}",
                sizes.join(", ")
            );
        }
        let shape: Vec<usize> = sizes.into_iter().map(|size| size as usize).collect();
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&shape, x.dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<Pad> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Pad> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Pad> {
        Splits::Rule(|_, x| x.divisible("padding"))
    }

    fn batching(&self) -> Batching<Pad> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Pad, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        CpuForm::Pieces(pieces(p, &ins[0].shape, &outs[0].shape))
    }

    fn hlo(&self) -> Hlo<Pad> {
        Hlo::Attributes("stablehlo.pad", |p, _| {
            let part = |of: fn(&PadAxis) -> i64| p.padding_config.iter().map(of).collect::<Vec<_>>();
            format!("low = {:?}, high = {:?}, interior = {:?}", part(|a| a.0), part(|a| a.1), part(|a| a.2))
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], config: &[PadAxis], dtype| {
            let params = Pad { padding_config: config.to_vec() };
            Sample::new(Params::new(params), dtype, (-5.0, 5.0), &[operand, &[]])
        };
        vec![
            sample(&[3], &[(1, 2, 0)], DType::F32),
            sample(&[2, 3], &[(1, 0, 2), (-1, 1, 0)], DType::F32),
            sample(&[4], &[(-1, -2, 1)], DType::F32),
            sample(&[5], &[(-2, -2, 2)], DType::F32),
            sample(&[0, 2], &[(1, 1, 3), (0, 0, 0)], DType::F32),
            sample(&[3], &[(2, 1, 1)], DType::I32),
        ]
    }
}

/// The padding everywhere, then what is left of the operand over it.
fn pieces(p: &Pad, x: &[usize], out: &[usize]) -> Vec<Piece> {
    let rank = out.len();
    let fill =
        Piece { start: vec![0; rank], step: vec![1; rank], sizes: out.to_vec(), operand: 1, operand_start: vec![] };
    let (mut start, mut step, mut sizes, mut operand_start) = (vec![], vec![], vec![], vec![]);
    for (axis, &(low, _, interior)) in p.padding_config.iter().enumerate() {
        let stride = interior.saturating_add(1);
        // Elements i of the operand with 0 <= low + i stride < size of the result.
        let first = if low < 0 { low.saturating_neg().saturating_add(stride - 1) / stride } else { 0 };
        let end = (out[axis] as i64).saturating_sub(low).saturating_add(stride - 1).div_euclid(stride);
        let end = end.clamp(first, (x[axis] as i64).max(first));
        start.push(low.saturating_add(first.saturating_mul(stride)));
        step.push(stride);
        sizes.push((end - first) as usize);
        operand_start.push(first);
    }
    if sizes.contains(&0) && !out.is_empty() {
        return vec![fill];
    }
    vec![fill, Piece { start, step, sizes, operand: 0, operand_start }]
}

fn transpose(p: &Pad, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None, None]) };
    let (ct, shape) = (V::new(e, ct), &ins[0].aval().shape);
    let unpadded: Vec<PadAxis> = p.padding_config.iter().map(|&(low, high, _)| (-low, -high, 0)).collect();
    let strides: Vec<usize> = p.padding_config.iter().map(|axis| axis.2 as usize + 1).collect();
    let whole = ct.pad(&ct.strong_number(0.0), &unpadded);
    let limits = whole.aval().shape.to_vec();
    let mut x_ct = whole.slice(&vec![0; shape.len()], &limits, Some(&strides));
    if shape.contains(&0) {
        x_ct = V::new(e, &zeros(e, ct.aval().with_shape(shape))?);
    }
    let value_ct = ins[1].is_linear().then(|| {
        let axes: Vec<usize> = (0..shape.len()).collect();
        ct.reduce_sum(&axes) - x_ct.reduce_sum(&axes)
    });
    let x_ct = ins[0].is_linear().then(|| x_ct.clone().done()).transpose()?;
    Ok(smallvec![x_ct, value_ct.map(V::done).transpose()?])
}

fn batch(p: &Pad, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let config = |dim: usize| {
        let mut config = p.padding_config.clone();
        config.insert(dim, (0, 0, 0));
        config
    };
    let value = V::new(e, &ins[1]);
    if let (Some(dim), None) = (dims[0], dims[1]) {
        let out = V::new(e, &ins[0]).pad(&value, &config(dim));
        return Ok((smallvec![out.done()?], smallvec![Some(dim)]));
    }
    // Each example has a padding of its own: a mask says where it goes.
    let x = V::new(e, &batch_to_front(e, &ins[0], dims[0], batch.size)?);
    let out = x.pad(&x.number(0.0), &config(0));
    let truth = |value| V::new(e, &Val::Literal(Scalar::bool(value)));
    let is_inside = truth(true).broadcast_in_dim(&x.aval().shape, &[]).pad(&truth(false), &config(0));
    let filled = value.broadcast_in_dim(&out.aval().shape, &[0]);
    Ok((smallvec![is_inside.select(&filled, &out).done()?], smallvec![Some(0)]))
}
