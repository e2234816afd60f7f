//! Reading elements: `x[...]` and `x.at[...].get()`.

use pullback_base::{Result, Scalar};
use pullback_ir::OutSharding;
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};
use pullback_trace::{is_resolving, split};

use super::IndexItem;
use super::plan::{Item, Range, check_masks, check_static, normalize, plan};
use crate::convert::int_literal;
use crate::lax::{self, GatherDimensions, GatherMode, IndexOptions};

/// Options of [`get`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GetOptions {
    /// Out-of-bounds indices; without it they become the nearest.
    pub mode: Option<GatherMode>,
    /// Whether indices come in order.
    pub sorted: bool,
    /// Whether no index occurs twice.
    pub unique: bool,
    /// What out-of-bounds indices give.
    pub fill: Option<Scalar>,
    /// Whether negative indices are out of bounds rather than counted from the end.
    pub plain_negative: bool,
}

/// `x[items]`.
///
/// # Errors
/// `Index` for too many indices, misfit or abstract masks; `Type` for indices that are no integers.
pub fn getitem(x: &Val, items: &[IndexItem]) -> Result<Val> {
    get(x, items, &GetOptions::default())
}

/// `x.at[items].get(...)`.
///
/// # Errors
/// As [`getitem`].
pub fn get(x: &Val, items: &[IndexItem], options: &GetOptions) -> Result<Val> {
    check_masks(x, items)?;
    if is_on(Setting::CheckStaticIndices) && matches!(options.mode, None | Some(GatherMode::PromiseInBounds)) {
        check_static(x, items, options.plain_negative)?;
    }
    let (x, items) = normalize(x, items, options.plain_negative)?;
    let x = match check_unsplit(&x, &items) {
        Err(_) if is_resolving() => split(&x, OutSharding::like(x.aval().sharded(None)))?,
        checked => checked.map(|()| x)?,
    };
    if options.mode.is_none() && options.fill.is_none() && !options.plain_negative {
        if is_static(&x, &items) {
            return static_slice(&x, &items);
        }
        if let Some(out) = dynamic_slice(&x, &items)? {
            return Ok(out);
        }
    }
    gather(&x, &items, options)
}

/// What is taken from an axis may lie on few devices, so that the split of the result is open.
fn check_unsplit(x: &Val, items: &[Item]) -> Result<()> {
    let aval = x.aval();
    if aval.sharding.is_none() {
        return Ok(());
    }
    let is_taken = |(axis, item): (usize, &Item)| match item {
        Item::Range(range) => !range.is_whole() && !aval.entry(axis).is_empty(),
        _ => !aval.entry(axis).is_empty(),
    };
    if !on_axes(items).enumerate().any(is_taken) {
        return Ok(());
    }
    Err(pullback_ir::sharding_error(format!(
        "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding could not be \
         resolved unambiguously (or would require collectives on inputs). Got operand=ShapedArray({}), indices=ShapedArray(int32[1])",
        aval.weak(false).long()
    )))
}

fn on_axes(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().filter(|item| !matches!(item, Item::NewAxis))
}

fn is_static(x: &Val, items: &[Item]) -> bool {
    let is_inside = |(item, &size): (&Item, &usize)| match item {
        Item::Int(position) => (0..size as i64).contains(position),
        Item::Range(_) | Item::NewAxis => true,
        Item::Window(..) | Item::Array(_) => false,
    };
    on_axes(items).zip(&x.aval().shape).all(is_inside)
}

fn static_slice(x: &Val, items: &[Item]) -> Result<Val> {
    let (mut starts, mut limits, mut strides) = (vec![], vec![], vec![]);
    let (mut squeezed, mut reversed) = (vec![], vec![]);
    for (axis, item) in on_axes(items).enumerate() {
        let bounds = match item {
            Item::Int(position) => {
                squeezed.push(axis);
                (*position, *position + 1, 1)
            }
            Item::Range(range) => {
                if range.step < 0 && range.size > 0 {
                    reversed.push(axis);
                }
                forward(*range)
            }
            Item::Window(..) | Item::Array(_) | Item::NewAxis => unreachable!("the index is static"),
        };
        starts.push(bounds.0 as usize);
        limits.push(bounds.1 as usize);
        strides.push(bounds.2 as usize);
    }
    let is_dense = strides.iter().all(|&stride| stride == 1);
    let part = lax::slice(x, &starts, &limits, (!is_dense).then_some(&strides[..]))?;
    let part = lax::rev(&part, &reversed)?;
    let part = lax::squeeze_axes(&part, &squeezed)?;
    lax::expand_axes(&part, &new_axes(items))
}

/// Bounds that name the same positions in rising order.
fn forward(range: Range) -> (i64, i64, i64) {
    if range.size == 0 {
        return (0, 0, 1);
    }
    let last = range.start + range.step * (range.size as i64 - 1);
    if range.size == 1 {
        return (range.start, range.start + 1, 1);
    }
    let (low, high) = (range.start.min(last), range.start.max(last));
    let limit = if range.step > 0 { (high + range.step).min(range.of as i64).max(high + 1) } else { high + 1 };
    (low, limit, range.step.abs())
}

fn new_axes(items: &[Item]) -> Vec<usize> {
    let mut at = 0;
    let mut found = vec![];
    for item in items {
        match item {
            Item::NewAxis => {
                found.push(at);
                at += 1;
            }
            Item::Range(_) | Item::Window(..) => at += 1,
            Item::Int(_) | Item::Array(_) => {}
        }
    }
    found
}

/// Single positions and dense ranges are one dynamic slice.
fn dynamic_slice(x: &Val, items: &[Item]) -> Result<Option<Val>> {
    let is_simple = |item: &Item| match item {
        Item::Int(_) | Item::NewAxis | Item::Window(..) => true,
        Item::Range(range) => range.step == 1,
        Item::Array(val) => val.aval().rank() == 0,
    };
    if !items.iter().all(is_simple) {
        return Ok(None);
    }
    let (mut starts, mut sizes, mut squeezed) = (vec![], vec![], vec![]);
    for (axis, item) in on_axes(items).enumerate() {
        match item {
            Item::Range(range) => {
                starts.push(int_literal(pullback_base::DType::I32, range.start.into()));
                sizes.push(range.size);
            }
            Item::Window(start, size) => {
                starts.push(start.clone());
                sizes.push(*size);
            }
            Item::Int(position) => {
                // Counted from the front already: what is still negative is out of bounds and must not wrap again.
                starts.push(int_literal(pullback_base::DType::I32, (*position).max(0).into()));
                squeezed.push(axis);
                sizes.push(1);
            }
            Item::Array(val) => {
                starts.push(val.clone());
                squeezed.push(axis);
                sizes.push(1);
            }
            Item::NewAxis => unreachable!("left out"),
        }
    }
    if sizes.iter().zip(&x.aval().shape).any(|(size, of)| size > of) {
        return Ok(None);
    }
    let starts = same_dtype(lax::wrapped_starts(x, &starts)?)?;
    let part = lax::dynamic_slice_at(x, &starts, &sizes)?;
    let part = lax::squeeze_axes(&part, &squeezed)?;
    Ok(Some(lax::expand_axes(&part, &new_axes(items))?))
}

/// Starts of one dtype, as the primitive wants them.
fn same_dtype(starts: Vec<Val>) -> Result<Vec<Val>> {
    let first = starts.first().map(|start| start.aval().dtype);
    if starts.iter().all(|start| Some(start.aval().dtype) == first) {
        return Ok(starts);
    }
    starts.iter().map(|start| crate::convert::to_dtype(start, pullback_base::DType::I32)).collect()
}

fn gather(x: &Val, items: &[Item], options: &GetOptions) -> Result<Val> {
    let plan = plan(x, items, options.plain_negative)?;
    let dims = GatherDimensions {
        offset_dims: plan.offset_dims.clone(),
        collapsed_slice_dims: plan.collapsed.clone(),
        start_index_map: plan.start_index_map.clone(),
        ..GatherDimensions::default()
    };
    if x.aval().size() == 0 && pullback_base::extent(&plan.shape) == 0 {
        let zero = crate::convert::number(x, 0.0);
        return lax::expand_axes(&lax::full(&plan.shape, &zero)?, &plan.new_axes);
    }
    let default = if options.fill.is_some() { GatherMode::FillOrDrop } else { GatherMode::PromiseInBounds };
    let index_options =
        IndexOptions { mode: options.mode.unwrap_or(default), sorted: options.sorted, unique: options.unique };
    let out = lax::gather(x, &plan.indices, &dims, &plan.slice_sizes, index_options, options.fill)?;
    let out = lax::rev(&out, &plan.reversed)?;
    lax::expand_axes(&out, &plan.new_axes)
}
