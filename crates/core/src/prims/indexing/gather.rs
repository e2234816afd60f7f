//! Windows of an array at computed positions.
//!
//! gather : x[...] indices[batch..., n] -> [batch and window axes]
//! Linear in x; the transpose adds the windows up where they came from.

use pullback_base::array::place::Spec;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::int_array;
use pullback_ir::lower::{CpuForm, Index, constant, select};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, ParamField, ParamValue, Params, Passing, Prim,
    PrimRef, Sample, SampleIn, Splits, Tangents, Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::scatter::scatter;
use super::{
    GatherMode, SCATTER_ADD, ScatterDimensions, Window, axes_record, inside_hlo, record_axes, shifted, with_front,
};
use crate::prims::{V, batch_to_front, zeros};

/// Which axis is what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct GatherDimensions {
    /// Axes of the result that are window axes.
    pub offset_dims: Vec<usize>,
    /// Window axes of size 1 that the result lacks.
    pub collapsed_slice_dims: Vec<usize>,
    /// For each component of an index vector, the axis of x that it starts.
    pub start_index_map: Vec<usize>,
    /// Axes of x that run with axes of the indices.
    pub operand_batching_dims: Vec<usize>,
    /// Those axes of the indices.
    pub start_indices_batching_dims: Vec<usize>,
}

impl ParamField for GatherDimensions {
    fn to_value(&self) -> ParamValue {
        axes_record(
            "GatherDimensionNumbers",
            &[
                ("offset_dims", &self.offset_dims),
                ("collapsed_slice_dims", &self.collapsed_slice_dims),
                ("start_index_map", &self.start_index_map),
                ("operand_batching_dims", &self.operand_batching_dims),
                ("start_indices_batching_dims", &self.start_indices_batching_dims),
            ],
        )
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims] =
            record_axes(value)?;
        Some(GatherDimensions {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
        })
    }
}

/// Params of `gather`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Gather {
    /// Which axis is what.
    pub dimension_numbers: GatherDimensions,
    /// Sizes of the window.
    pub slice_sizes: Vec<usize>,
    /// Whether the caller promises sorted index vectors.
    pub indices_are_sorted: bool,
    /// Whether the caller promises that windows do not overlap.
    pub unique_indices: bool,
    /// What happens outside of x.
    pub mode: GatherMode,
    /// What is read outside; by default NaN, the least integer, the greatest unsigned one or `true`.
    pub fill_value: Option<Scalar>,
}

struct GatherPrim;

/// The primitive `gather`.
pub static GATHER: PrimRef = PrimRef(&GatherPrim);

impl<'e> V<'e> {
    /// Windows at computed positions.
    pub fn gather(&self, indices: &V<'e>, params: Gather) -> V<'e> {
        self.bind(GATHER, &Params::new(params), &[indices])
    }
}

impl Gather {
    fn window_axes(&self) -> Vec<usize> {
        let dims = &self.dimension_numbers;
        let is_own =
            |axis: &usize| !dims.collapsed_slice_dims.contains(axis) && !dims.operand_batching_dims.contains(axis);
        (0..self.slice_sizes.len()).filter(is_own).collect()
    }

    fn window(&self, x: Aval) -> Window {
        let dims = &self.dimension_numbers;
        let pairs = dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims);
        Window {
            operand: x.shape.to_vec(),
            sizes: self.slice_sizes.clone(),
            start_axes: dims.start_index_map.clone(),
            batch_axes: pairs.map(|(&axis, &index_axis)| (axis, index_axis)).collect(),
            window_axes: self.window_axes(),
            mode: self.mode,
        }
    }

    fn result_shape(&self, indices: Aval) -> Vec<usize> {
        let offset_dims = &self.dimension_numbers.offset_dims;
        let n_batch = indices.rank() - 1;
        let (mut batch, mut window) = (indices.shape[..n_batch].iter(), self.window_axes().into_iter());
        let size = |axis| match offset_dims.contains(&axis) {
            true => window.next().map_or(1, |axis| self.slice_sizes[axis]),
            false => batch.next().copied().unwrap_or(1),
        };
        (0..n_batch + offset_dims.len()).map(size).collect()
    }

    /// The properties of the operation of StableHLO.
    fn properties(&self, indices: Aval) -> String {
        let dims = &self.dimension_numbers;
        format!(
            "dimension_numbers = #stablehlo.gather<offset_dims = {:?}, collapsed_slice_dims = {:?}, \
             operand_batching_dims = {:?}, start_indices_batching_dims = {:?}, start_index_map = {:?}, \
             index_vector_dim = {}>, indices_are_sorted = {}, slice_sizes = {}",
            dims.offset_dims,
            dims.collapsed_slice_dims,
            dims.operand_batching_dims,
            dims.start_indices_batching_dims,
            dims.start_index_map,
            indices.rank() - 1,
            self.indices_are_sorted,
            int_array(&self.slice_sizes)
        )
    }

    fn fill(&self, dtype: DType) -> Scalar {
        let default = || match dtype {
            _ if dtype.is_inexact() => Scalar::float(dtype, f64::NAN),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Scalar::least(dtype),
            _ => Scalar::greatest(dtype),
        };
        self.fill_value.map_or_else(default, |value| value.convert(dtype))
    }
}

fn check(p: &Gather, x: Aval, indices: Aval) -> Result<()> {
    let dims = &p.dimension_numbers;
    if !indices.dtype.is_integer() {
        bail!(Value, "indices must have an integer type, got {}", indices.dtype);
    }
    if indices.rank() == 0 || indices.shape[indices.rank() - 1] != dims.start_index_map.len() {
        bail!(
            Type,
            "Gather op requires the size of the index vector (the last dimension of the indices) to be len(start_index_map)={}, \
             got indices {indices}",
            dims.start_index_map.len()
        );
    }
    let all = [&dims.collapsed_slice_dims, &dims.start_index_map, &dims.operand_batching_dims];
    if let Some(axis) = all.into_iter().flatten().find(|&&axis| axis >= x.rank()) {
        bail!(Type, "Gather op names axis {axis} of an operand of rank {}", x.rank());
    }
    let is_too_big = |(&size, &bound): (&usize, &usize)| size > bound;
    if p.slice_sizes.len() != x.rank() || p.slice_sizes.iter().zip(&x.shape).any(is_too_big) {
        bail!(
            Type,
            "Slice size at index in gather op is out of range, must be within the operand's sizes; got slice_sizes {:?} for \
             operand {x}",
            p.slice_sizes
        );
    }
    let unit = dims.collapsed_slice_dims.iter().chain(&dims.operand_batching_dims);
    if let Some(axis) = unit.copied().find(|&axis| p.slice_sizes[axis] > 1) {
        bail!(
            Type,
            "Gather op can only collapse slice dims with bound 1, but bound is {} at axis {axis}.",
            p.slice_sizes[axis]
        );
    }
    if dims.offset_dims.len() != p.window_axes().len() {
        bail!(Type, "Gather op has {} offset dims for {} window axes", dims.offset_dims.len(), p.window_axes().len());
    }
    Ok(())
}

impl Prim for GatherPrim {
    type Params = Gather;
    const NAME: &'static str = "gather";

    fn abstract_eval(&self, p: &Gather, ins: &[Aval]) -> Result<Avals> {
        let [x, indices] = ins else { bail!(Type, "gather takes 2 operands, got {}", ins.len()) };
        check(p, *x, *indices)?;
        Ok(smallvec![x.with_shape(&p.result_shape(*indices))])
    }

    fn derivative(&self) -> Derivative<Gather> {
        Derivative::Jvp(|p, e, xs, ts| {
            let indices = V::new(e, &xs[1]);
            let out = V::new(e, &xs[0]).gather(&indices, p.clone()).done()?;
            let zero = (p.mode == GatherMode::FillOrDrop).then(|| Scalar::zero(out.aval().dtype));
            let params = Gather { fill_value: zero, ..p.clone() };
            let tangent = ts[0].as_ref().map(|t| V::new(e, t).gather(&indices, params).done());
            Ok((smallvec![out], smallvec![tangent.transpose()?]))
        })
    }

    fn transpose(&self) -> Transpose<Gather> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Gather> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Gather> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Gather, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (window, offset_dims) = (p.window(ins[0]), p.dimension_numbers.offset_dims.clone());
        let fill = (p.mode == GatherMode::FillOrDrop).then(|| p.fill(ins[0].dtype));
        CpuForm::Element(Box::new(move |cx, index| {
            let is_offset = |axis: &usize| offset_dims.contains(axis);
            let (offset, batch): (Vec<usize>, Vec<usize>) = (0..index.len()).partition(is_offset);
            let pick = |axes: Vec<usize>| axes.into_iter().map(|axis| index[axis].clone()).collect::<Vec<Index>>();
            let (position, is_inside) = window.position(cx, 1, &pick(batch), &pick(offset))?;
            let element = cx.operand(0, &position)?;
            let (Some(fill), Some(is_inside)) = (fill, is_inside) else { return Ok(element) };
            let fill = constant(cx.loops(), fill);
            Ok(select(cx.loops(), is_inside, element, fill))
        }))
    }

    fn hlo(&self) -> Hlo<Gather> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (x, indices, out) = (ins[0], ins[1], outs[0]);
            let windows = cx.generic("stablehlo.gather", &p.properties(indices.aval), &[x, indices], &mut [], outs)?[0];
            if p.mode != GatherMode::FillOrDrop {
                return Ok(smallvec![windows]);
            }
            let lasts = p.window(x.aval).lasts();
            let is_inside = inside_hlo(cx, indices, &lasts)?;
            let batch_axes: Vec<usize> =
                (0..out.rank()).filter(|axis| !p.dimension_numbers.offset_dims.contains(axis)).collect();
            let is_inside = cx.broadcast_in_dim(is_inside, &batch_axes, &out.shape);
            let fill = cx.full(p.fill(out.dtype), &out.shape);
            Ok(smallvec![cx.select(is_inside, windows, fill)])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![];
        for mode in [GatherMode::Clip, GatherMode::FillOrDrop] {
            samples.push(sample(mode, dims([&[1], &[0], &[0], &[], &[]]), &[1, 4], &[3, 4], &[5, 1]));
            samples.push(sample(mode, dims([&[0, 1], &[], &[0, 1], &[], &[]]), &[2, 3], &[3, 4], &[2]));
            samples.push(sample(mode, dims([&[0], &[1], &[1, 0], &[], &[]]), &[2, 1], &[3, 4], &[2, 3, 2]));
            samples.push(sample(mode, dims([&[2], &[1], &[1], &[0], &[0]]), &[1, 1, 4], &[2, 3, 4], &[2, 5, 1]));
        }
        samples
    }
}

/// Axes that windows take whole stay split; whatever else is split leaves the result open.
fn pass(p: &Gather, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let dims = &p.dimension_numbers;
    let (spec, shape) = (&x.specs[0], &x.ins[0].shape);
    let is_whole_window = |axis: usize| p.slice_sizes[axis] == shape[axis] && p.window_axes().contains(&axis);
    let is_batch = |axis: usize| dims.operand_batching_dims.contains(&axis);
    let is_clear = (0..spec.len()).all(|axis| spec[axis].is_empty() || is_whole_window(axis) || is_batch(axis));
    let indices = &x.specs[1];
    let runs_along = |axis: usize| dims.start_indices_batching_dims.contains(&axis);
    let are_clear = (0..indices.len()).all(|axis| indices[axis].is_empty() || runs_along(axis));
    let pairs = || dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims);
    if !is_clear || !are_clear || pairs().any(|(&a, &b)| spec[a] != indices[b]) {
        return x.refuse(|| {
            format!(
                "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding could \
                 not be resolved unambiguously (or would require collectives on inputs). Got operand=ShapedArray({}), \
                 indices=ShapedArray({})",
                x.shown(0),
                x.shown(1)
            )
        });
    }
    let mut found = x.whole();
    for (&out, axis) in dims.offset_dims.iter().zip(p.window_axes()) {
        if is_whole_window(axis) {
            found[0][out].clone_from(&spec[axis]);
        }
    }
    let rows: Vec<usize> = (0..found[0].len()).filter(|axis| !dims.offset_dims.contains(axis)).collect();
    for (&row, names) in rows.iter().zip(indices) {
        found[0][row].clone_from(names);
    }
    Ok(found)
}

fn dims(axes: [&[usize]; 5]) -> GatherDimensions {
    let [offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims] =
        axes.map(<[usize]>::to_vec);
    GatherDimensions {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
    }
}

fn sample(mode: GatherMode, dims: GatherDimensions, sizes: &[usize], x: &[usize], indices: &[usize]) -> Sample {
    let params = Gather {
        dimension_numbers: dims,
        slice_sizes: sizes.to_vec(),
        indices_are_sorted: false,
        unique_indices: false,
        mode,
        fill_value: None,
    };
    let x = SampleIn { aval: Aval::new(x, DType::F32), domain: (-5.0, 5.0) };
    let indices = SampleIn { aval: Aval::new(indices, DType::I32), domain: (-2.0, 5.0) };
    Sample { params: Params::new(params), ins: vec![x, indices] }
}

fn transpose(p: &Gather, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let (Some(ct), Some(indices)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None, None]) };
    let dims = p.dimension_numbers.clone();
    let scatter_dims = ScatterDimensions {
        update_window_dims: dims.offset_dims,
        inserted_window_dims: dims.collapsed_slice_dims,
        scatter_dims_to_operand_dims: dims.start_index_map,
        operand_batching_dims: dims.operand_batching_dims,
        scatter_indices_batching_dims: dims.start_indices_batching_dims,
    };
    let x = zeros(e, ins[0].aval().tangent().weak(false))?;
    let flags = (p.indices_are_sorted, p.unique_indices);
    let x_ct = scatter(e, SCATTER_ADD, [&x, indices, ct], scatter_dims, flags, p.mode)?;
    Ok(smallvec![Some(x_ct), None])
}

/// The batch axis of x becomes one more window axis; that of the indices one more batch axis; that of both an axis that
/// runs with both.
pub(super) fn batch(
    p: &Gather,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let mut new = p.clone();
    let (old, n) = (&p.dimension_numbers, &mut new.dimension_numbers);
    n.offset_dims = shifted(&old.offset_dims);
    if dims[0].is_some() {
        n.collapsed_slice_dims = shifted(&old.collapsed_slice_dims);
        n.start_index_map = shifted(&old.start_index_map);
        n.operand_batching_dims = shifted(&old.operand_batching_dims);
    }
    match (dims[0], dims[1]) {
        (Some(_), None) => {
            n.offset_dims = with_front(&old.offset_dims);
            new.slice_sizes.insert(0, batch.size);
        }
        (None, _) => {
            n.start_indices_batching_dims = shifted(&old.start_indices_batching_dims);
            (new.indices_are_sorted, new.unique_indices) = (false, false);
        }
        (Some(_), Some(_)) if batch.size == 0 => {
            let indices = V::new(e, &ins[1]).move_axis(dims[1].unwrap_or(0), 0).aval();
            let inner = Aval::new(&indices.shape[1..], indices.dtype);
            let shape: Vec<usize> = std::iter::once(0).chain(p.result_shape(inner)).collect();
            return Ok((smallvec![zeros(e, ins[0].aval().with_shape(&shape))?], smallvec![Some(0)]));
        }
        (Some(_), Some(_)) => {
            n.operand_batching_dims = with_front(&old.operand_batching_dims);
            n.start_indices_batching_dims = with_front(&old.start_indices_batching_dims);
            new.slice_sizes.insert(0, 1);
        }
    }
    let front = |i: usize| match dims[i] {
        Some(_) => batch_to_front(e, &ins[i], dims[i], batch.size),
        None => Ok(ins[i].clone()),
    };
    let (x, indices) = (front(0)?, front(1)?);
    let out = V::new(e, &x).gather(&V::new(e, &indices), new).done()?;
    Ok((smallvec![out], smallvec![Some(0)]))
}
