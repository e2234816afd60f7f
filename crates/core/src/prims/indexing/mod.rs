//! Primitives that read and write at computed positions, and what they share.
//!
//! Positions outside of the operand are clamped, filled or dropped, as [`GatherMode`] says; nothing here reads or writes
//! outside of memory, whatever was promised.

mod dynamic_slice;
mod dynamic_update_slice;
mod gather;
pub mod scatter;
mod scatter_add;
mod scatter_max;
mod scatter_min;
mod scatter_mul;
mod scatter_sub;

use std::marker::PhantomData;

use pullback_base::{Array, Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue};
use pullback_ir::lower::{ElementCx, Index};
use pullback_ir::{Emit, ParamField, ParamValue, PrimRef, Val};
use pullback_loops::{Binary, Comparison, ValueId};

use super::value::V;

pub use dynamic_slice::{DYNAMIC_SLICE, DynamicSlice};
pub use dynamic_update_slice::DYNAMIC_UPDATE_SLICE;
pub use gather::{GATHER, Gather, GatherDimensions};
use scatter::ScatterPrim;
pub use scatter::{Scatter, ScatterDimensions};

macro_rules! members {
    ($($name:ident $member:path;)*) => {$(
        #[doc = concat!("The primitive of `", stringify!($member), "`.")]
        pub static $name: PrimRef = PrimRef(&ScatterPrim::<$member>(PhantomData));
    )*};
}
members! {
    SCATTER scatter::Replace;
    SCATTER_ADD scatter_add::ScatterAdd;
    SCATTER_MAX scatter_max::ScatterMax;
    SCATTER_MIN scatter_min::ScatterMin;
    SCATTER_MUL scatter_mul::ScatterMul;
    SCATTER_SUB scatter_sub::ScatterSub;
}

/// What happens to positions outside of the operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GatherMode {
    /// They move inside.
    Clip,
    /// Reads give the fill value, writes are dropped.
    FillOrDrop,
    /// The caller promises that there are none.
    PromiseInBounds,
}

impl ParamField for GatherMode {
    fn to_value(&self) -> ParamValue {
        ParamValue::Name(
            match self {
                GatherMode::Clip => "GatherScatterMode.CLIP",
                GatherMode::FillOrDrop => "GatherScatterMode.FILL_OR_DROP",
                GatherMode::PromiseInBounds => "GatherScatterMode.PROMISE_IN_BOUNDS",
            }
            .into(),
        )
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let ParamValue::Name(name) = value else { return None };
        [GatherMode::Clip, GatherMode::FillOrDrop, GatherMode::PromiseInBounds]
            .into_iter()
            .find(|mode| mode.to_value() == ParamValue::Name(name.clone()))
    }
}

/// A record of axes as the shared model has it.
fn axes_record(class: &'static str, fields: &[(&'static str, &Vec<usize>)]) -> ParamValue {
    ParamValue::Record(class, fields.iter().map(|(name, axes)| (*name, axes.to_value())).collect())
}

/// The axes of a record, by position.
fn record_axes<const N: usize>(value: &ParamValue) -> Option<[Vec<usize>; N]> {
    let ParamValue::Record(_, fields) = value else { return None };
    let axes: Option<Vec<Vec<usize>>> = fields.iter().map(|(_, value)| ParamField::from_value(value)).collect();
    axes?.try_into().ok()
}

/// Each number one more: axes once a batch axis is in front.
fn shifted(axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|axis| axis + 1).collect()
}

/// The same with the batch axis itself as first.
fn with_front(axes: &[usize]) -> Vec<usize> {
    std::iter::once(0).chain(shifted(axes)).collect()
}

/// How a window of an operand follows from index vectors, for reads and writes alike.
#[derive(Clone, Debug)]
struct Window {
    /// Sizes of the operand.
    operand: Vec<usize>,
    /// Sizes of the window in the operand.
    sizes: Vec<usize>,
    /// For each component of an index vector, the axis of the operand that it starts.
    start_axes: Vec<usize>,
    /// Axes of the operand that run with an axis of the indices: operand axis, index axis.
    batch_axes: Vec<(usize, usize)>,
    /// Axes of the operand with an axis of their own in the window.
    window_axes: Vec<usize>,
    /// What happens outside.
    mode: GatherMode,
}

impl Window {
    /// For each component of an index vector, the last start from which the window is inside.
    fn lasts(&self) -> Vec<i64> {
        self.start_axes.iter().map(|&axis| self.operand[axis] as i64 - self.sizes[axis] as i64).collect()
    }

    /// The position in the operand of the element `offset` of the window that the index vector at `batch` (of operand
    /// number `indices`) starts; and whether the whole window is inside, when the mode asks.
    fn position(
        &self,
        cx: &mut dyn ElementCx,
        indices: usize,
        batch: &[Index],
        offset: &[Index],
    ) -> Result<(Vec<Index>, Option<ValueId>)> {
        let mut position = vec![Index::constant(0); self.operand.len()];
        let mut is_inside = None;
        for (component, &axis) in self.start_axes.iter().enumerate() {
            let at: Vec<Index> = batch.iter().cloned().chain([Index::constant(component as i64)]).collect();
            let start = cx.operand(indices, &at)?.one();
            let start = cx.loops().convert(DType::I64, start);
            let last = self.operand[axis] as i64 - self.sizes[axis] as i64;
            if self.mode != GatherMode::Clip {
                is_inside = Some(inside(cx, start, last, is_inside));
            }
            position[axis] = Index::computed(start, cx.loops()).clamped(0, last, cx.loops());
        }
        for &(axis, index_axis) in &self.batch_axes {
            position[axis] = batch[index_axis].clone();
        }
        for (&axis, offset) in self.window_axes.iter().zip(offset) {
            position[axis] = position[axis].plus(offset, cx.loops());
        }
        Ok((position, is_inside))
    }
}

/// Whether `0 <= start <= last`, and what was asked before holds.
fn inside(cx: &mut dyn ElementCx, start: ValueId, last: i64, before: Option<ValueId>) -> ValueId {
    let loops = cx.loops();
    let (zero, last) = (loops.int(0), loops.int(last));
    let (low, high) = (loops.compare(Comparison::Ge, start, zero), loops.compare(Comparison::Le, start, last));
    let both = loops.binary(Binary::And, low, high);
    before.map_or(both, |before| loops.binary(Binary::And, before, both))
}

/// Checks the start indices of a dynamic slice.
fn check_starts(name: &str, rank: usize, starts: &[Aval]) -> Result<()> {
    if starts.len() != rank || starts.iter().any(|start| start.rank() != 0) {
        bail!(Type, "{name} takes one scalar start index for each of the {rank} axes, got {}", starts.len());
    }
    if starts.iter().any(|start| !start.dtype.is_integer() || start.dtype != starts[0].dtype) {
        let names: Vec<&str> = starts.iter().map(|start| start.dtype.name()).collect();
        bail!(Type, "index arguments to {name} must be integers of the same type, got: {}", names.join(", "));
    }
    Ok(())
}

/// Scalar start indices as index vectors, with the batch axis in front when any is batched.
fn start_vectors(e: &dyn Emit, size: usize, starts: &[Val], dims: &[Option<usize>]) -> Result<(Val, Option<usize>)> {
    let is_batched = dims.iter().any(Option::is_some);
    let shape: &[usize] = if is_batched { &[size, 1] } else { &[1] };
    let column = |(start, dim): (&Val, &Option<usize>)| {
        let axes: &[usize] = if dim.is_some() { &[0] } else { &[] };
        V::new(e, start).broadcast_in_dim(shape, axes)
    };
    let columns: Vec<V<'_>> = starts.iter().zip(dims).map(column).collect();
    let others: Vec<&V<'_>> = columns[1..].iter().collect();
    let vectors = columns[0].concatenate(&others, shape.len() - 1).done()?;
    Ok((vectors, is_batched.then_some(0)))
}

/// Index vectors as 64-bit numbers, and the last start of each component, one for each vector.
fn starts_hlo(cx: &mut dyn HloCx, indices: HloValue, lasts: &[i64]) -> (HloValue, HloValue, HloValue) {
    let indices = cx.convert(indices, DType::I64);
    let shape = &indices.aval.data().shape;
    let row =
        Array::from_scalars(&[lasts.len()], DType::I64, lasts.iter().map(|&last| Scalar::int(DType::I64, last.into())));
    let row = cx.array(&row).expect("numbers at hand");
    let lasts = cx.broadcast_in_dim(row, &[shape.len() - 1], shape);
    (indices, lasts, cx.full(Scalar::zero(DType::I64), shape))
}

/// For each index vector whether its window is inside.
fn inside_hlo(cx: &mut dyn HloCx, indices: HloValue, lasts: &[i64]) -> Result<HloValue> {
    let (indices, lasts, zero) = starts_hlo(cx, indices, lasts);
    let (low, high) = (cx.compare("GE", indices, zero), cx.compare("LE", indices, lasts));
    let both = cx.binary("stablehlo.and", low, high);
    cx.reduce(both, Scalar::bool(true), "stablehlo.and", &[both.aval.rank() - 1])
}

/// Index vectors moved so that their windows are inside.
fn clamped_hlo(cx: &mut dyn HloCx, indices: HloValue, lasts: &[i64]) -> HloValue {
    let (indices, lasts, zero) = starts_hlo(cx, indices, lasts);
    cx.one("stablehlo.clamp", "", &[zero, indices, lasts], indices.aval)
}
