//! The family of writes of windows at computed positions, and `scatter`, which replaces what was there.
//!
//! scatter : x[...] indices[batch..., n] updates[...] -> x[...]
//! Updates are written in row-major order. A member states how an update joins what is there, and its derivative.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use pullback_base::array::place::Spec;
use pullback_base::{Aval, DType, Error, Result, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue};
use pullback_ir::lower::{CpuForm, Index};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Builder, Derivative, Emit, Hlo, JaxprRef, JvpRule, Operand, ParamField,
    ParamValue, Params, Passing, Prim, PrimRef, Sample, SampleIn, Splits, Tangents, Transpose, Val, Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{
    GATHER, Gather, GatherDimensions, GatherMode, SCATTER, SCATTER_ADD, Window, axes_record, clamped_hlo, record_axes,
    shifted, with_front,
};
use crate::prims::{V, batch_to_front, check_same_dtypes, instantiate, iota, zeros};

/// Which axis is what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScatterDimensions {
    /// Axes of the updates that are window axes.
    pub update_window_dims: Vec<usize>,
    /// Axes of x with size 1 in the window, which the updates lack.
    pub inserted_window_dims: Vec<usize>,
    /// For each component of an index vector, the axis of x that it starts.
    pub scatter_dims_to_operand_dims: Vec<usize>,
    /// Axes of x that run with axes of the indices.
    pub operand_batching_dims: Vec<usize>,
    /// Those axes of the indices.
    pub scatter_indices_batching_dims: Vec<usize>,
}

impl ParamField for ScatterDimensions {
    fn to_value(&self) -> ParamValue {
        axes_record(
            "ScatterDimensionNumbers",
            &[
                ("update_window_dims", &self.update_window_dims),
                ("inserted_window_dims", &self.inserted_window_dims),
                ("scatter_dims_to_operand_dims", &self.scatter_dims_to_operand_dims),
                ("operand_batching_dims", &self.operand_batching_dims),
                ("scatter_indices_batching_dims", &self.scatter_indices_batching_dims),
            ],
        )
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [update, inserted, to_operand, operand_batching, indices_batching] = record_axes(value)?;
        Some(ScatterDimensions {
            update_window_dims: update,
            inserted_window_dims: inserted,
            scatter_dims_to_operand_dims: to_operand,
            operand_batching_dims: operand_batching,
            scatter_indices_batching_dims: indices_batching,
        })
    }
}

/// Params of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Scatter {
    /// Which axis is what.
    pub dimension_numbers: ScatterDimensions,
    /// Whether the caller promises sorted index vectors.
    pub indices_are_sorted: bool,
    /// Whether the caller promises that windows do not overlap.
    pub unique_indices: bool,
    /// What happens outside of x.
    pub mode: GatherMode,
    /// How an update joins an element, as a jaxpr of two scalars; `None` replaces.
    pub update_jaxpr: Option<JaxprRef>,
    /// Always empty.
    pub update_consts: Vec<i64>,
}

/// A member of the family.
pub trait ScatterOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// The primitive by which an update joins an element; `None` replaces.
    const JOIN: Option<PrimRef>;
    /// The same for the CPU; `None` replaces.
    const COMBINE: Option<Combine>;
    /// Whether updates are negated first on the CPU.
    const NEGATES: bool = false;
    /// Forward derivative.
    const JVP: JvpRule<Scatter>;
    /// Transpose.
    fn transpose() -> Transpose<Scatter>;
}

/// The family.
pub struct ScatterPrim<T>(pub PhantomData<T>);

/// The jaxpr of a member's update for elements of `dtype`, made once.
fn update_jaxpr(join: Option<PrimRef>, dtype: DType) -> Result<Option<JaxprRef>> {
    static KNOWN: Mutex<Vec<(PrimRef, DType, JaxprRef)>> = Mutex::new(Vec::new());
    let Some(join) = join else { return Ok(None) };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., jaxpr)) = known.iter().find(|entry| entry.0 == join && entry.1 == dtype) {
        return Ok(Some(jaxpr.clone()));
    }
    let builder = Builder::new();
    let scalar = Aval::scalar(dtype, false);
    let operands = [builder.input(scalar), builder.input(scalar)];
    let outs = builder.bind(join, &Params::NONE, &operands)?;
    let jaxpr = JaxprRef::new(builder.finish(&outs, None).0);
    known.push((join, dtype, jaxpr.clone()));
    Ok(Some(jaxpr))
}

/// Writes windows by a member of the family. `flags`: sorted, unique.
///
/// # Errors
/// What the emitter raises.
pub fn scatter(
    e: &dyn Emit,
    prim: PrimRef,
    [x, indices, updates]: [&Val; 3],
    dimension_numbers: ScatterDimensions,
    (indices_are_sorted, unique_indices): (bool, bool),
    mode: GatherMode,
) -> Result<Val> {
    let join = join_of(prim);
    let params = Scatter {
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
        update_jaxpr: update_jaxpr(join, x.aval().dtype)?,
        update_consts: vec![],
    };
    Ok(e.bind(prim, &Params::new(params), &[x.clone(), indices.clone(), updates.clone()])?.swap_remove(0))
}

fn join_of(prim: PrimRef) -> Option<PrimRef> {
    use crate::prims::{ADD, MAX, MIN, MUL, SUB};
    match prim.name() {
        "scatter-add" => Some(ADD),
        "scatter-sub" => Some(SUB),
        "scatter-mul" => Some(MUL),
        "scatter-min" => Some(MIN),
        "scatter-max" => Some(MAX),
        _ => None,
    }
}

impl Scatter {
    /// The same write by another member, for elements of `dtype`.
    pub(super) fn write(&self, e: &dyn Emit, prim: PrimRef, x: &Val, indices: &Val, updates: &Val) -> Result<Val> {
        let flags = (self.indices_are_sorted, self.unique_indices);
        scatter(e, prim, [x, indices, updates], self.dimension_numbers.clone(), flags, self.mode)
    }

    fn window_axes(&self, rank: usize) -> Vec<usize> {
        let dims = &self.dimension_numbers;
        let is_own =
            |axis: &usize| !dims.inserted_window_dims.contains(axis) && !dims.operand_batching_dims.contains(axis);
        (0..rank).filter(is_own).collect()
    }

    /// Sizes of the window in x.
    fn window_sizes(&self, x: Aval, updates: Aval) -> Vec<usize> {
        let mut sizes = vec![1; x.rank()];
        for (&axis, &update_axis) in self.window_axes(x.rank()).iter().zip(&self.dimension_numbers.update_window_dims) {
            sizes[axis] = updates.shape[update_axis];
        }
        sizes
    }

    fn window(&self, x: Aval, updates: Aval) -> Window {
        let dims = &self.dimension_numbers;
        let pairs = dims.operand_batching_dims.iter().zip(&dims.scatter_indices_batching_dims);
        Window {
            operand: x.shape.to_vec(),
            sizes: self.window_sizes(x, updates),
            start_axes: dims.scatter_dims_to_operand_dims.clone(),
            batch_axes: pairs.map(|(&axis, &index_axis)| (axis, index_axis)).collect(),
            window_axes: self.window_axes(x.rank()),
            mode: self.mode,
        }
    }

    /// The properties of the operation of StableHLO.
    fn properties(&self, indices: Aval) -> String {
        let dims = &self.dimension_numbers;
        format!(
            "indices_are_sorted = {}, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {:?}, \
             inserted_window_dims = {:?}, input_batching_dims = {:?}, scatter_indices_batching_dims = {:?}, \
             scatter_dims_to_operand_dims = {:?}, index_vector_dim = {}>, unique_indices = {}",
            self.indices_are_sorted,
            dims.update_window_dims,
            dims.inserted_window_dims,
            dims.operand_batching_dims,
            dims.scatter_indices_batching_dims,
            dims.scatter_dims_to_operand_dims,
            indices.rank() - 1,
            self.unique_indices
        )
    }

    /// Reads the windows that this write touches.
    pub(super) fn read(&self, e: &dyn Emit, x: &Val, indices: &Val, updates: Aval, mode: GatherMode) -> Result<Val> {
        let dims = self.dimension_numbers.clone();
        let params = Gather {
            dimension_numbers: GatherDimensions {
                offset_dims: dims.update_window_dims,
                collapsed_slice_dims: dims.inserted_window_dims,
                start_index_map: dims.scatter_dims_to_operand_dims,
                operand_batching_dims: dims.operand_batching_dims,
                start_indices_batching_dims: dims.scatter_indices_batching_dims,
            },
            slice_sizes: self.window_sizes(x.aval(), updates),
            indices_are_sorted: self.indices_are_sorted,
            unique_indices: self.unique_indices,
            mode,
            fill_value: (mode == GatherMode::FillOrDrop).then(|| pullback_base::Scalar::zero(x.aval().dtype)),
        };
        Ok(e.bind(GATHER, &Params::new(params), &[x.clone(), indices.clone()])?.swap_remove(0))
    }
}

fn check(name: &str, p: &Scatter, ins: &[Aval]) -> Result<()> {
    let [x, indices, updates] = ins else { bail!(Type, "{name} takes 3 operands, got {}", ins.len()) };
    let dims = &p.dimension_numbers;
    check_same_dtypes(name, &[*x, *updates])?;
    if !indices.dtype.is_integer() {
        bail!(Value, "indices must have an integer type, got {}", indices.dtype);
    }
    let n_components = dims.scatter_dims_to_operand_dims.len();
    if indices.rank() == 0 || indices.shape[indices.rank() - 1] != n_components {
        bail!(
            Type,
            "Scatter op requires the size of the index vector (the last dimension of the indices) to be \
             len(scatter_dims_to_operand_dims)={n_components}, got indices {indices}"
        );
    }
    let named = [&dims.inserted_window_dims, &dims.scatter_dims_to_operand_dims, &dims.operand_batching_dims];
    if let Some(axis) = named.into_iter().flatten().find(|&&axis| axis >= x.rank()) {
        bail!(Type, "Scatter op names axis {axis} of an operand of rank {}", x.rank());
    }
    let window_axes = p.window_axes(x.rank());
    let is_right_rank = updates.rank() == indices.rank() - 1 + dims.update_window_dims.len();
    if !is_right_rank || window_axes.len() != dims.update_window_dims.len() {
        bail!(Type, "Updates of shape {:?} do not fit indices {indices} and operand {x} in {name}", updates.shape);
    }
    if let Some(axis) = (0..x.rank()).find(|&axis| p.window_sizes(*x, *updates)[axis] > x.shape[axis]) {
        bail!(
            Type,
            "Bounds of the window dimensions of updates must not exceed the bounds of the corresponding dimensions of \
             operand. For axis {axis} of operand {x}, updates are {updates}."
        );
    }
    let mut batch = indices.shape[..indices.rank() - 1].iter();
    let is_batch_wrong =
        |axis: usize| !dims.update_window_dims.contains(&axis) && batch.next() != Some(&updates.shape[axis]);
    if (0..updates.rank()).any(is_batch_wrong) {
        bail!(
            Type,
            "Bounds of the scatter dimensions of updates must be those of the indices: updates {updates}, indices {indices}."
        );
    }
    Ok(())
}

impl<T: ScatterOp> Prim for ScatterPrim<T> {
    type Params = Scatter;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &Scatter, ins: &[Aval]) -> Result<Avals> {
        check(T::NAME, p, ins)?;
        Ok(smallvec![ins[0].weak(ins[0].weak_type && ins[2].weak_type)])
    }

    fn derivative(&self) -> Derivative<Scatter> {
        Derivative::Jvp(T::JVP)
    }

    fn transpose(&self) -> Transpose<Scatter> {
        T::transpose()
    }

    fn splits(&self) -> Splits<Scatter> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Scatter> {
        Batching::Rule(|p, e, b, ins, dims| batch(PrimRef(&ScatterPrim::<T>(PhantomData)), p, e, b, ins, dims))
    }

    fn cpu(&self, p: &Scatter, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if T::NEGATES {
            let p = p.clone();
            return CpuForm::Decompose(Box::new(move |e, ins| {
                let updates = (-V::new(e, &ins[2])).done()?;
                Ok(smallvec![p.write(e, SCATTER_ADD, &ins[0], &ins[1], &updates)?])
            }));
        }
        let combine = match (T::COMBINE, ins[0].dtype) {
            (Some(Combine::Max), DType::Bool) => Some(Combine::Or),
            (Some(Combine::Min | Combine::Mul), DType::Bool) => Some(Combine::And),
            (combine, _) => combine,
        };
        let (window, update_window) = (p.window(ins[0], ins[2]), p.dimension_numbers.update_window_dims.clone());
        let target = move |cx: &mut dyn pullback_ir::lower::ElementCx, index: &[Index]| {
            let is_window = |axis: &usize| update_window.contains(axis);
            let (offset, batch): (Vec<usize>, Vec<usize>) = (0..index.len()).partition(is_window);
            let pick = |axes: Vec<usize>| axes.into_iter().map(|axis| index[axis].clone()).collect::<Vec<Index>>();
            window.position(cx, 1, &pick(batch), &pick(offset))
        };
        CpuForm::Scatter { updates: 2, combine, target: Box::new(target) }
    }

    fn hlo(&self) -> Hlo<Scatter> {
        Hlo::Rule(|p, cx, ins, outs| {
            let mut indices = ins[1];
            if p.mode == GatherMode::Clip {
                indices = clamped_hlo(cx, indices, &p.window(ins[0].aval, ins[2].aval).lasts());
            }
            let mut body = |cx: &mut dyn HloCx, args: &[HloValue]| match &p.update_jaxpr {
                Some(jaxpr) => cx.inline(jaxpr, args),
                None => Ok(smallvec![args[1]]),
            };
            let args = vec![Aval::scalar(outs[0].dtype, false); 2];
            let region = HloRegion { args, body: &mut body };
            cx.generic(
                "stablehlo.scatter",
                &p.properties(indices.aval),
                &[ins[0], indices, ins[2]],
                &mut [region],
                outs,
            )
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![];
        for mode in [GatherMode::Clip, GatherMode::FillOrDrop] {
            let mut add = |unique, axes: [&[usize]; 5], shapes: [&[usize]; 3]| {
                samples.extend(sample::<T>(mode, unique, axes, shapes));
            };
            add(false, [&[1], &[0], &[0], &[], &[]], [&[3, 4], &[5, 1], &[5, 4]]);
            add(true, [&[0, 1], &[], &[0, 1], &[], &[]], [&[3, 4], &[2], &[2, 3]]);
            add(false, [&[0], &[1], &[1, 0], &[], &[]], [&[3, 4], &[2, 3, 2], &[2, 2, 3]]);
            add(false, [&[2], &[1], &[1], &[0], &[0]], [&[2, 3, 4], &[2, 5, 1], &[2, 5, 4]]);
        }
        samples
    }
}

/// Axes that windows cover stay split; whatever else is split leaves the result open.
fn pass(p: &Scatter, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let dims = &p.dimension_numbers;
    let spec = &x.specs[0];
    let is_gone = |axis: &usize| dims.inserted_window_dims.contains(axis) || dims.operand_batching_dims.contains(axis);
    let windows: Vec<usize> = (0..spec.len()).filter(|axis| !is_gone(axis)).collect();
    let covered = |axis: usize| {
        let at = windows.iter().position(|&window| window == axis);
        at.is_some_and(|at| x.ins[2].shape[dims.update_window_dims[at]] == x.ins[0].shape[axis])
    };
    let runs = |axis: usize| dims.operand_batching_dims.contains(&axis);
    let is_clear = (0..spec.len()).all(|axis| spec[axis].is_empty() || covered(axis) || runs(axis));
    let along = |axis: usize| dims.scatter_indices_batching_dims.contains(&axis);
    let are_clear = (0..x.specs[1].len()).all(|axis| x.specs[1][axis].is_empty() || along(axis));
    let agrees = |(at, &update): (usize, &usize)| {
        let names = &x.specs[2][update];
        names.is_empty() || *names == spec[windows[at]]
    };
    if !is_clear || !are_clear || !dims.update_window_dims.iter().enumerate().all(agrees) {
        return x.refuse(|| {
            format!(
                "Use `.at[...].set/add/mul/...(out_sharding=)` to provide output PartitionSpec for the scatter update as out \
                 sharding could not be resolved unambiguously (or would require collectives on inputs). Got \
                 operand=ShapedArray({}), indices=ShapedArray({}), updates=ShapedArray({})",
                x.shown(0),
                x.shown(1),
                x.shown(2)
            )
        });
    }
    Ok(vec![spec.clone()])
}

/// A sample, unless the update has no jaxpr for the dtype.
fn sample<T: ScatterOp>(mode: GatherMode, unique: bool, axes: [&[usize]; 5], shapes: [&[usize]; 3]) -> Option<Sample> {
    let [update, inserted, to_operand, operand_batching, indices_batching] = axes.map(<[usize]>::to_vec);
    let dimension_numbers = ScatterDimensions {
        update_window_dims: update,
        inserted_window_dims: inserted,
        scatter_dims_to_operand_dims: to_operand,
        operand_batching_dims: operand_batching,
        scatter_indices_batching_dims: indices_batching,
    };
    let params = Scatter {
        dimension_numbers,
        indices_are_sorted: false,
        unique_indices: unique,
        mode,
        update_jaxpr: update_jaxpr(T::JOIN, DType::F32).ok()?,
        update_consts: vec![],
    };
    let input = |i: usize, dtype, domain| SampleIn { aval: Aval::new(shapes[i], dtype), domain };
    let ins =
        vec![input(0, DType::F32, (-5.0, 5.0)), input(1, DType::I32, (-2.0, 5.0)), input(2, DType::F32, (-5.0, 5.0))];
    Some(Sample { params: Params::new(params), ins })
}

/// Without batched indices the batch is one more window axis; with them it is an axis that runs with the indices'.
pub(super) fn batch(
    prim: PrimRef,
    p: &Scatter,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let (old, mut new) = (&p.dimension_numbers, p.clone());
    let n = &mut new.dimension_numbers;
    n.inserted_window_dims = shifted(&old.inserted_window_dims);
    n.scatter_dims_to_operand_dims = shifted(&old.scatter_dims_to_operand_dims);
    let indices = if dims[1].is_some() {
        n.update_window_dims = shifted(&old.update_window_dims);
        n.operand_batching_dims = with_front(&old.operand_batching_dims);
        n.scatter_indices_batching_dims = with_front(&old.scatter_indices_batching_dims);
        batch_to_front(e, &ins[1], dims[1], batch.size)?
    } else {
        n.update_window_dims = with_front(&old.update_window_dims);
        n.operand_batching_dims = shifted(&old.operand_batching_dims);
        ins[1].clone()
    };
    let x = batch_to_front(e, &ins[0], dims[0], batch.size)?;
    if batch.size == 0 {
        return Ok((smallvec![x], smallvec![Some(0)]));
    }
    let updates = batch_to_front(e, &ins[2], dims[2], batch.size)?;
    Ok((e.bind(prim, &Params::new(new), &[x, indices, updates])?, smallvec![Some(0)]))
}

/// Derivative of a member that is linear in x and updates together.
pub(super) fn linear_jvp(
    prim: PrimRef,
    p: &Scatter,
    e: &dyn Emit,
    xs: &[Val],
    ts: &[Option<Val>],
) -> Result<(Vals, Tangents)> {
    let params = Params::new(p.clone());
    let out = e.bind(prim, &params, xs)?;
    if ts[0].is_none() && ts[2].is_none() {
        return Ok((out, smallvec![None]));
    }
    let x_dot = instantiate(e, xs[0].aval(), ts[0].clone())?;
    let updates_dot = instantiate(e, xs[2].aval(), ts[2].clone())?;
    Ok((out, smallvec![e.bind(prim, &params, &[x_dot, xs[1].clone(), updates_dot])?.pop()]))
}

/// Transpose of `scatter-add`, or of `scatter-sub` when `negates`.
pub(super) fn additive_transpose(
    p: &Scatter,
    e: &dyn Emit,
    cts: &[Option<Val>],
    ins: &[Operand],
    negates: bool,
) -> Result<Tangents> {
    let (Some(ct), Some(indices)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None; 3]) };
    let x_ct = ins[0].is_linear().then(|| ct.clone());
    if !ins[2].is_linear() {
        return Ok(smallvec![x_ct, None, None]);
    }
    let windows = p.read(e, ct, indices, ins[2].aval(), p.mode)?;
    let updates_ct = if negates { (-V::new(e, &windows)).done()? } else { windows };
    Ok(smallvec![x_ct, None, Some(updates_ct)])
}

/// `scatter`: the last update at a place replaces what was there.
pub(super) struct Replace;

impl ScatterOp for Replace {
    const NAME: &'static str = "scatter";
    const JOIN: Option<PrimRef> = None;
    const COMBINE: Option<Combine> = None;
    const JVP: JvpRule<Scatter> = replace_jvp;

    fn transpose() -> Transpose<Scatter> {
        Transpose::Rule(|p, e, cts, ins| {
            let (Some(ct), Some(indices)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None; 3]) };
            if !p.unique_indices {
                let text = "scatter transpose is only implemented where unique_indices=True";
                return Err(Error::not_implemented(text));
            }
            let updates = ins[2].aval();
            let hole = || zeros(e, updates.tangent());
            let x_ct = ins[0].is_linear().then(|| p.write(e, SCATTER, ct, indices, &hole()?)).transpose()?;
            let updates_ct = ins[2].is_linear().then(|| p.read(e, ct, indices, updates, p.mode)).transpose()?;
            Ok(smallvec![x_ct, None, updates_ct])
        })
    }
}

/// With overlapping windows, only the update that won has a derivative: updates are numbered, the numbers are written,
/// and those that can be read back won. Losers and what they replace are zeroed, and the rest is a sum.
fn replace_jvp(p: &Scatter, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    if p.unique_indices || (ts[0].is_none() && ts[2].is_none()) {
        return linear_jvp(SCATTER, p, e, xs, ts);
    }
    let (x, indices, updates) = (&xs[0], &xs[1], &xs[2]);
    let numbers = update_numbers(p, e, updates.aval())?;
    let blank = zeros(e, Aval::new(&x.aval().shape, DType::U32))?;
    let written = V::new(e, &p.write(e, SCATTER, &blank, indices, &numbers)?);
    let read = p.read(e, &written.clone().done()?, indices, updates.aval(), GatherMode::PromiseInBounds)?;
    let (numbers, read) = (V::new(e, &numbers), V::new(e, &read));
    let masked = |x: &Val, updates: &Val| -> Result<(Val, Val)> {
        let x = V::new(e, x);
        let untouched = written.eq(&written.full(0.0)).select(&x.full(0.0), &x).done()?;
        let updates = V::new(e, updates);
        let winners = numbers.eq(&read).select(&updates.full(0.0), &updates).done()?;
        Ok((untouched, winners))
    };
    let (x_part, updates_part) = masked(x, updates)?;
    let x_dot = instantiate(e, x.aval(), ts[0].clone())?;
    let updates_dot = instantiate(e, updates.aval(), ts[2].clone())?;
    let (x_dot, updates_dot) = masked(&x_dot, &updates_dot)?;
    let out = p.write(e, SCATTER_ADD, &x_part, indices, &updates_part)?;
    let tangent = p.write(e, SCATTER_ADD, &x_dot, indices, &updates_dot)?;
    Ok((smallvec![out], smallvec![Some(tangent)]))
}

/// Numbers from 1, one for each window, over its elements.
fn update_numbers(p: &Scatter, e: &dyn Emit, updates: Aval) -> Result<Val> {
    let mut shape = updates.shape.to_vec();
    p.dimension_numbers.update_window_dims.iter().for_each(|&axis| shape[axis] = 1);
    let count = iota(e, DType::U32, &[shape.iter().product()], 0)?.reshape(&shape);
    let ones = count.number(1.0).broadcast_in_dim(&updates.shape, &[]);
    (count + ones).done()
}

/// Derivative of the greatest or least of an element and its updates. Where k updates reach the result, each has 1/k of
/// it, or 1/(k+1) when the element reaches it too, which then has the rest.
pub(super) fn extreme_jvp(
    prim: PrimRef,
    p: &Scatter,
    e: &dyn Emit,
    xs: &[Val],
    ts: &[Option<Val>],
) -> Result<(Vals, Tangents)> {
    let (x, indices, updates) = (&xs[0], &xs[1], V::new(e, &xs[2]));
    let out = e.bind(prim, &Params::new(p.clone()), xs)?;
    if ts[0].is_none() && ts[2].is_none() {
        return Ok((out, smallvec![None]));
    }
    let read = |x: &Val| -> Result<V<'_>> { Ok(V::new(e, &p.read(e, x, indices, xs[2].aval(), p.mode)?)) };
    let (before, after) = (read(x)?, read(&out[0])?);
    let (is_reached, is_kept) = (updates.eq(&after), before.eq(&after));
    let count = |ones: V<'_>| -> Result<V<'_>> {
        let blank = zeros(e, x.aval().tangent())?;
        read(&p.write(e, SCATTER_ADD, &blank, indices, &ones.done()?)?)
    };
    let ones = is_reached.select(&updates.full(0.0), &updates.full(1.0));
    let (n_reached, n_updates) = (count(ones)?, count(updates.full(1.0))?);
    let share = is_kept.select(&(1.0 / &n_reached), &(1.0 / (&n_reached + 1.0)));
    let share = is_reached.select(&share.full(0.0), &share);
    let kept = 1.0 / (&n_reached + 1.0);
    let kept = is_kept.select(&kept.full(0.0), &kept);
    // Every update of a place takes an equal part of what the element loses.
    let loss = (-1.0 + &kept) / &n_updates;
    let x_dot = instantiate(e, x.aval(), ts[0].clone())?;
    let updates_dot = V::new(e, &instantiate(e, xs[2].aval(), ts[2].clone())?);
    let change = (read(&x_dot)? * loss + updates_dot * share).done()?;
    let tangent = p.write(e, SCATTER_ADD, &x_dot, indices, &change)?;
    Ok((out, smallvec![Some(tangent)]))
}
