//! From indices to the terms of gather and scatter.

use pullback_base::aval::tuple_text;
use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result, Scalar, bail};
use pullback_ir::Val;

use super::IndexItem;
use crate::broadcast::{broadcast_in_dim, broadcast_shapes, broadcast_to};
use crate::convert::{int_literal, number, to_dtype};
use crate::lax;
use crate::numpy::{index_dtype, repeated_index};

/// An index that stands for one axis of the operand, or for a new one.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Int(i64),
    Range(Range),
    /// A computed start, and a number of positions from there on.
    Window(Val, usize),
    NewAxis,
    Array(Val),
}

/// Positions `start, start + step, …`, `size` of them, within an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: i64,
    pub(super) step: i64,
    pub(super) size: usize,
    pub(super) of: usize,
}

impl Range {
    pub(super) fn is_whole(self) -> bool {
        self.step == 1 && self.start == 0 && self.size == self.of
    }
}

/// The operand and one item for each of its axes (and new ones), after masks and ellipses are spelled out. Negative
/// positions count from the end unless they are `plain_negative`.
pub(super) fn normalize(x: &Val, items: &[IndexItem], plain_negative: bool) -> Result<(Val, Vec<Item>)> {
    let items = spell_masks(items)?;
    let (x, items) = spell_scalar_masks(x, items)?;
    let shape = x.aval().shape.to_vec();
    let items = spell_ellipsis(&shape, items)?;
    let mut axis = 0;
    let mut found = vec![];
    for item in items {
        found.push(match item {
            IndexItem::NewAxis => Item::NewAxis,
            IndexItem::Int(_) if shape[axis] == 0 => bail!(Index, "index is out of bounds for axis {axis} with size 0"),
            IndexItem::Int(position) if plain_negative => Item::Int(position),
            IndexItem::Int(position) => Item::Int(wrap_fixed(position, shape[axis])),
            IndexItem::Slice { start, stop, step } => Item::Range(range(start, stop, step, shape[axis])?),
            IndexItem::Window { start, size } => window(&start, size, shape[axis])?,
            IndexItem::Array(val) => Item::Array(val),
            IndexItem::Ellipsis | IndexItem::Bool(_) => unreachable!("spelled out before"),
        });
        axis += usize::from(!matches!(found.last(), Some(Item::NewAxis)));
    }
    Ok((x, found))
}

/// Refuses fixed integers that are out of bounds.
///
/// # Errors
/// An `Index` error that names the axis.
pub(super) fn check_static(x: &Val, items: &[IndexItem], plain_negative: bool) -> Result<()> {
    let (x, items) = spell_scalar_masks(x, spell_masks(items)?)?;
    let shape = x.aval().shape.to_vec();
    let items = spell_ellipsis(&shape, items)?;
    for (axis, item) in items.iter().filter(|item| !matches!(item, IndexItem::NewAxis)).enumerate() {
        let size = shape[axis] as i64;
        if let IndexItem::Int(position) = item
            && !(if plain_negative { 0..size } else { -size..size }).contains(position)
        {
            let normalize = if plain_negative { "False" } else { "True" };
            bail!(
                Index,
                "index {position} out of bounds for axis {axis} with size {size} (normalize_indices={normalize})"
            );
        }
    }
    Ok(())
}

fn window(start: &Val, size: usize, of: usize) -> Result<Item> {
    let aval = start.aval();
    if aval.rank() > 0 {
        bail!(
            Type,
            "start_indices arguments to dynamic_slice must be scalars, got indices ({},)",
            aval.weak(false).long()
        );
    }
    if !aval.dtype.is_integer() {
        bail!(Type, "index arguments to dynamic_slice must be integers of the same type, got: {}", aval.dtype);
    }
    if size > of {
        bail!(
            Type,
            "slice slice_sizes must be less than or equal to operand shape, got slice_sizes ({size},) for operand shape ({of},)."
        );
    }
    Ok(Item::Window(start.clone(), size))
}

fn wrap_fixed(position: i64, size: usize) -> i64 {
    if position < 0 { position + size as i64 } else { position }
}

fn range(start: Option<i64>, stop: Option<i64>, step: Option<i64>, of: usize) -> Result<Range> {
    let (step, n) = (step.unwrap_or(1), of as i64);
    if step == 0 {
        bail!(Value, "slice step cannot be zero");
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let bound = |given: Option<i64>, default: i64| {
        given.map_or(default, |at| (if at < 0 { at + n } else { at }).clamp(low, high))
    };
    let (start, stop) =
        if step > 0 { (bound(start, 0), bound(stop, n)) } else { (bound(start, n - 1), bound(stop, -1)) };
    let span = if step > 0 { stop - start } else { start - stop };
    let size = ((span + step.abs() - 1).max(0) / step.abs()) as usize;
    Ok(Range { start: if size == 0 { 0 } else { start }, step, size, of })
}

/// Masks become the positions where they hold, one array for each of their axes.
fn spell_masks(items: &[IndexItem]) -> Result<Vec<IndexItem>> {
    let mut spelled = vec![];
    for item in items {
        match item {
            IndexItem::Array(mask) if mask.aval().dtype == DType::Bool => match mask.aval().rank() {
                0 => spelled.push(IndexItem::Bool(concrete(mask)?.element(0)?.is_nonzero())),
                _ => spelled.extend(mask_positions(&concrete(mask)?)?),
            },
            IndexItem::Array(val) if !val.aval().dtype.is_integer() => {
                bail!(Type, "Indexer must have integer or boolean type, got indexer with type {}", val.aval().dtype);
            }
            other => spelled.push(other.clone()),
        }
    }
    Ok(spelled)
}

fn concrete(mask: &Val) -> Result<Array> {
    mask.to_array().ok_or_else(|| {
        let text = format!(
            "Array boolean indices must be concrete; got {}\nA mask decides how many elements there are, which must be known \
             when a function is traced. Keep the shape with jnp.where(mask, x, fill), or select a known number of elements with \
             jnp.nonzero(mask, size=...).",
            mask.aval().weak(false).short()
        );
        Error::about(ErrorKind::NonConcreteBooleanIndex, text, std::sync::Arc::new(mask.clone()))
    })
}

fn mask_positions(mask: &Array) -> Result<Vec<IndexItem>> {
    let shape = mask.shape();
    let mut columns: Vec<Vec<Scalar>> = vec![vec![]; shape.len()];
    for (flat, element) in mask.elements()?.into_iter().enumerate() {
        if !element.is_nonzero() {
            continue;
        }
        let mut rest = flat;
        for axis in (0..shape.len()).rev() {
            columns[axis].push(Scalar::i32((rest % shape[axis]) as i32));
            rest /= shape[axis];
        }
    }
    let array = |column: Vec<Scalar>| Array::from_scalars(&[column.len()], DType::I32, column);
    Ok(columns.into_iter().map(|column| IndexItem::Array(Val::Array(array(column)))).collect())
}

/// A scalar mask is an index array of one position, or none, in a new axis of size 1.
fn spell_scalar_masks(x: &Val, items: Vec<IndexItem>) -> Result<(Val, Vec<IndexItem>)> {
    let Some(at) = items.iter().position(|item| matches!(item, IndexItem::Bool(_))) else {
        return Ok((x.clone(), items));
    };
    let uses_axis = |item: &&IndexItem| {
        matches!(item, IndexItem::Int(_) | IndexItem::Slice { .. } | IndexItem::Window { .. } | IndexItem::Array(_))
    };
    let has_ellipsis_before = items[..at].iter().any(|item| matches!(item, IndexItem::Ellipsis));
    let axis = if has_ellipsis_before {
        x.aval().rank() - items[at..].iter().filter(uses_axis).count()
    } else {
        items[..at].iter().filter(uses_axis).count()
    };
    let all = items.iter().all(|item| !matches!(item, IndexItem::Bool(false)));
    let positions = Array::from_scalars(&[usize::from(all)], DType::I32, all.then(|| Scalar::i32(0)));
    let mut rest: Vec<IndexItem> = vec![];
    for (i, item) in items.into_iter().enumerate() {
        match item {
            IndexItem::Bool(_) if i == at => rest.push(IndexItem::Array(Val::Array(positions.clone()))),
            IndexItem::Bool(_) => {}
            other => rest.push(other),
        }
    }
    Ok((lax::expand_axes(x, &[axis])?, rest))
}

fn spell_ellipsis(shape: &[usize], items: Vec<IndexItem>) -> Result<Vec<IndexItem>> {
    let n_ellipsis = items.iter().filter(|item| matches!(item, IndexItem::Ellipsis)).count();
    if n_ellipsis > 1 {
        bail!(Index, "an index can only have a single ellipsis ('...')");
    }
    let named = items.iter().filter(|item| !matches!(item, IndexItem::Ellipsis | IndexItem::NewAxis)).count();
    if named > shape.len() {
        bail!(Index, "Too many indices: array is {}-dimensional, but {named} were indexed", shape.len());
    }
    let missing = shape.len() - named;
    let mut spelled = vec![];
    for item in items {
        match item {
            IndexItem::Ellipsis => spelled.extend(std::iter::repeat_n(IndexItem::ALL, missing)),
            other => spelled.push(other),
        }
    }
    if n_ellipsis == 0 {
        spelled.extend(std::iter::repeat_n(IndexItem::ALL, missing));
    }
    Ok(spelled)
}

/// The terms of a gather, or of the scatter to the same elements.
pub(super) struct Plan {
    /// Positions; the last axis holds their components.
    pub(super) indices: Val,
    /// Axes of the result (without new ones) that run over slices.
    pub(super) offset_dims: Vec<usize>,
    pub(super) collapsed: Vec<usize>,
    pub(super) start_index_map: Vec<usize>,
    pub(super) slice_sizes: Vec<usize>,
    /// Axes of the result (without new ones) that come in reverse.
    pub(super) reversed: Vec<usize>,
    /// Shape of the result without new axes.
    pub(super) shape: Vec<usize>,
    /// Where new axes of size 1 stand in the result.
    pub(super) new_axes: Vec<usize>,
    /// Whether no index array has axes, so positions come in order and once.
    pub(super) is_single: bool,
}

/// A component of the positions: an axis of the operand, and what counts on it.
enum Component {
    Array(Val),
    Int(i64),
    /// The start of a slice.
    Start(i64),
    /// The computed start of one.
    Window(Val),
    /// Separate positions along one axis of the result.
    Stride(Range, usize),
}

struct Layout {
    components: Vec<(usize, Component)>,
    /// Sizes of the result's axes that are counted by the indices, and where each stands in the result.
    index_axes: Vec<usize>,
    shape: Vec<usize>,
    advanced_shape: Vec<usize>,
    advanced_at: usize,
}

/// The plan of normalized items.
pub(super) fn plan(x: &Val, items: &[Item], plain_negative: bool) -> Result<Plan> {
    let arrays = index_arrays(x, items, plain_negative)?;
    let avals: Vec<Aval> = arrays.iter().map(Val::aval).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let advanced_shape = broadcast_shapes(&shapes)?.to_vec();
    let has_arrays = !arrays.is_empty();
    let in_front = has_arrays && !is_contiguous(items);
    let mut arrays = arrays.into_iter();
    let mut layout = Layout {
        components: vec![],
        index_axes: vec![],
        shape: vec![],
        advanced_shape: advanced_shape.clone(),
        advanced_at: 0,
    };
    let mut plan = Plan {
        indices: Val::Literal(Scalar::i32(0)),
        offset_dims: vec![],
        collapsed: vec![],
        start_index_map: vec![],
        slice_sizes: vec![],
        reversed: vec![],
        shape: vec![],
        new_axes: vec![],
        is_single: advanced_shape.is_empty(),
    };
    let mut is_placed = false;
    let mut n_result = 0;
    if in_front {
        place_advanced(&mut layout, &mut is_placed, &mut n_result);
    }
    let mut axis = 0;
    for item in items {
        let is_advanced = matches!(item, Item::Array(_)) || has_arrays && matches!(item, Item::Int(_));
        if is_advanced && !is_placed {
            place_advanced(&mut layout, &mut is_placed, &mut n_result);
        }
        match item {
            Item::NewAxis => {
                plan.new_axes.push(n_result);
                n_result += 1;
                continue;
            }
            Item::Array(_) => {
                layout.components.push((axis, Component::Array(arrays.next().expect("one for each"))));
                plan.collapsed.push(axis);
                plan.slice_sizes.push(1);
            }
            Item::Int(position) => {
                layout.components.push((axis, Component::Int(*position)));
                plan.collapsed.push(axis);
                plan.slice_sizes.push(1);
            }
            Item::Range(range) => {
                add_range(&mut layout, &mut plan, *range, axis);
                n_result += 1;
            }
            Item::Window(start, size) => {
                let at = layout.shape.len();
                layout.shape.push(*size);
                plan.offset_dims.push(at);
                plan.slice_sizes.push(*size);
                layout.components.push((axis, Component::Window(to_dtype(start, DType::I32)?)));
                n_result += 1;
            }
        }
        axis += 1;
    }
    plan.start_index_map = layout.components.iter().map(|(axis, _)| *axis).collect();
    plan.indices = positions(&layout, has_arrays)?;
    plan.shape = layout.shape;
    Ok(plan)
}

fn place_advanced(layout: &mut Layout, is_placed: &mut bool, n_result: &mut usize) {
    *is_placed = true;
    layout.advanced_at = layout.shape.len();
    layout.index_axes.extend(layout.shape.len()..layout.shape.len() + layout.advanced_shape.len());
    layout.shape.extend(&layout.advanced_shape);
    *n_result += layout.advanced_shape.len();
}

fn add_range(layout: &mut Layout, plan: &mut Plan, range: Range, axis: usize) {
    let at = layout.shape.len();
    layout.shape.push(range.size);
    if range.step == 1 {
        plan.offset_dims.push(at);
        plan.slice_sizes.push(range.size);
        if !range.is_whole() {
            layout.components.push((axis, Component::Start(range.start)));
        }
        return;
    }
    if range.step < 0 {
        plan.reversed.push(at);
    }
    layout.index_axes.push(at);
    layout.components.push((axis, Component::Stride(range, at)));
    plan.collapsed.push(axis);
    plan.slice_sizes.push(1);
}

/// Index arrays in a signed index type, counted from the end where negative unless that is `plain_negative`.
fn index_arrays(x: &Val, items: &[Item], plain_negative: bool) -> Result<Vec<Val>> {
    let mut axis = 0;
    let mut found = vec![];
    for item in items {
        if let Item::Array(val) = item {
            let to = index_dtype(val.aval().dtype);
            let is_narrow = val.aval().dtype != to;
            let val = if is_narrow && val.aval().dtype.bits() < 32 { to_dtype(val, to)? } else { val.clone() };
            let wrapped = if plain_negative { val } else { lax::wrap_index(&val, x.aval().shape[axis])? };
            found.push(if wrapped.aval().dtype == to { wrapped } else { to_dtype(&wrapped, to)? });
        }
        axis += usize::from(!matches!(item, Item::NewAxis));
    }
    Ok(found)
}

/// Whether all positions and index arrays stand side by side.
fn is_contiguous(items: &[Item]) -> bool {
    let advanced: Vec<usize> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| matches!(item, Item::Array(_) | Item::Int(_)))
        .map(|(i, _)| i)
        .collect();
    advanced.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

fn positions(layout: &Layout, has_arrays: bool) -> Result<Val> {
    let mut sizes: Vec<usize> = layout.index_axes.iter().map(|&axis| layout.shape[axis]).collect();
    if layout.components.is_empty() {
        sizes.push(0);
        return lax::full(&sizes, &int_literal(DType::I32, 0));
    }
    let ready: Result<Vec<Val>> = layout.components.iter().map(|(_, part)| prepare(layout, part, has_arrays)).collect();
    sizes.push(1);
    let columns: Result<Vec<Val>> =
        ready?.iter().zip(&layout.components).map(|(val, (_, part))| column(layout, val, part, &sizes)).collect();
    lax::concatenate(&columns?, sizes.len() - 1)
}

fn prepare(layout: &Layout, part: &Component, has_arrays: bool) -> Result<Val> {
    match part {
        Component::Array(val) => broadcast_to(val, &layout.advanced_shape),
        Component::Int(position) if has_arrays && !layout.advanced_shape.is_empty() => {
            repeated_index(*position, &layout.advanced_shape)
        }
        Component::Int(position) | Component::Start(position) => Ok(int_literal(DType::I32, (*position).into())),
        Component::Window(start) => Ok(start.clone()),
        Component::Stride(range, _) => stride_positions(*range),
    }
}

/// Rising positions; a falling range is read in reverse afterwards.
fn stride_positions(range: Range) -> Result<Val> {
    let counts = lax::iota(DType::I32, range.size)?;
    let steps = lax::mul(&number(&counts, range.step as f64), &counts)?;
    let places = lax::add(&number(&steps, range.start as f64), &steps)?;
    if range.step < 0 { lax::rev(&places, &[0]) } else { Ok(places) }
}

fn column(layout: &Layout, val: &Val, part: &Component, sizes: &[usize]) -> Result<Val> {
    let place = |axis: usize| layout.index_axes.iter().position(|&known| known == axis).expect("counted by indices");
    let is_advanced = matches!(part, Component::Array(_)) || matches!(part, Component::Int(_)) && val.aval().rank() > 0;
    let dims: Vec<usize> = match part {
        Component::Stride(_, at) => vec![place(*at)],
        _ if is_advanced => (0..layout.advanced_shape.len()).map(|i| place(layout.advanced_at + i)).collect(),
        Component::Array(_) | Component::Int(_) | Component::Start(_) | Component::Window(_) => vec![],
    };
    broadcast_in_dim(val, sizes, &dims)
}

/// Checks that each mask has the shape of the axes it stands for.
pub(super) fn check_masks(x: &Val, items: &[IndexItem]) -> Result<()> {
    let shape = x.aval().shape.to_vec();
    let width = |item: &IndexItem| match item {
        IndexItem::Array(val) if val.aval().dtype == DType::Bool => val.aval().rank(),
        IndexItem::Int(_) | IndexItem::Slice { .. } | IndexItem::Window { .. } | IndexItem::Array(_) => 1,
        IndexItem::NewAxis | IndexItem::Ellipsis | IndexItem::Bool(_) => 0,
    };
    let named: usize = items.iter().map(width).sum();
    let mut axis = 0;
    for (position, item) in items.iter().enumerate() {
        if let IndexItem::Array(mask) = item
            && mask.aval().dtype == DType::Bool
            && mask.aval().rank() > 0
        {
            let end = axis + mask.aval().rank();
            // An axis of size 0 selects nothing, whatever the size of the indexed one.
            let fits = |(own, of): (&usize, &usize)| own == of || *own == 0;
            if end > shape.len() || !mask.aval().shape.iter().zip(&shape[axis..end]).all(fits) {
                bail!(
                    Index,
                    "boolean index did not match shape of indexed array in index {position}: got {}, expected {:?}",
                    tuple_text(&mask.aval().shape),
                    &shape[axis.min(shape.len())..end.min(shape.len())]
                );
            }
        }
        axis += match item {
            IndexItem::Ellipsis => shape.len().saturating_sub(named),
            other => width(other),
        };
    }
    Ok(())
}
