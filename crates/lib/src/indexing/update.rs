//! Writing elements: `x.at[...].set()` and its relatives, which give a new array.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;
use pullback_trace::trace_to_jaxpr;

use super::IndexItem;
use super::plan::{check_masks, normalize, plan};
use crate::broadcast::broadcast_to;
use crate::convert::{convert, number};
use crate::lax::{self, GatherMode, IndexOptions, ScatterDimensions, ScatterKind};
use crate::promotion::{promote_dtypes, typed};

/// What an update does with the present elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Takes their place.
    Set,
    /// Is added.
    Add,
    /// Is subtracted.
    Subtract,
    /// Multiplies.
    Multiply,
    /// Divides.
    Divide,
    /// Is the exponent.
    Power,
    /// The smaller stays.
    Min,
    /// The greater stays.
    Max,
}

/// Hints of an update.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpdateOptions {
    /// Out-of-bounds indices; without it they are dropped.
    pub mode: Option<GatherMode>,
    /// Whether indices come in order.
    pub sorted: bool,
    /// Whether no index occurs twice.
    pub unique: bool,
    /// Whether negative indices are out of bounds rather than counted from the end.
    pub plain_negative: bool,
}

/// `x.at[items].set(y)` and its relatives.
///
/// # Errors
/// As [`getitem`](super::getitem), and a `Value` error when `y` does not broadcast to the chosen elements.
pub fn update(kind: &Update, x: &Val, items: &[IndexItem], y: &Val, options: &UpdateOptions) -> Result<Val> {
    let ones = || lax::full_like(x, 1.0);
    match kind {
        Update::Set => scatter(&ScatterKind::Set, x, items, y, options),
        Update::Add => scatter(&ScatterKind::Add, x, items, y, options),
        Update::Subtract => scatter(&ScatterKind::Sub, x, items, y, options),
        Update::Multiply => scatter(&ScatterKind::Mul, x, items, y, options),
        Update::Min => scatter(&ScatterKind::Min, x, items, y, options),
        Update::Max => scatter(&ScatterKind::Max, x, items, y, options),
        Update::Divide => {
            let factors = scatter(&ScatterKind::Mul, &ones()?, items, y, options)?;
            crate::numpy::true_divide(x, &factors)
        }
        Update::Power => {
            let exponents = scatter(&ScatterKind::Mul, &ones()?, items, y, options)?;
            crate::numpy::power(x, &exponents)
        }
    }
}

/// `x.at[items].apply(f)`: `f` of one element, where the indices point.
///
/// # Errors
/// As [`update`], and what `f` raises.
pub fn apply(
    x: &Val,
    items: &[IndexItem],
    f: &mut dyn FnMut(&Val) -> Result<Val>,
    options: &UpdateOptions,
) -> Result<Val> {
    let scalar = pullback_base::Aval::new(&[], x.aval().dtype);
    let traced = trace_to_jaxpr(&[scalar, scalar], &mut |args| Ok((vec![f(&args[0])?], None)))?;
    if !traced.captured.is_empty() {
        bail!(NotImplemented, "the function given to x.at[...].apply may not use values of a trace around it");
    }
    scatter(&ScatterKind::Apply(traced.jaxpr), x, items, &number(x, 0.0), options)
}

/// Whether values of one dtype can stand in another without loss of kind, as updates should.
pub fn is_safe_update(x: &Val, y: &Val) -> bool {
    let (to, from) = (typed(x), typed(y));
    from.weak_type && kind_order(from.dtype) <= kind_order(to.dtype)
        || crate::promotion::result_type(&[to, from]).is_ok_and(|result| result.dtype == to.dtype)
}

fn kind_order(dtype: DType) -> u8 {
    use pullback_base::dtype::Kind;
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::Signed | Kind::Unsigned => 1,
        Kind::Float => 2,
        Kind::Complex => 3,
        Kind::Float0 | Kind::Key => 4,
    }
}

fn scatter(kind: &ScatterKind, x: &Val, items: &[IndexItem], y: &Val, options: &UpdateOptions) -> Result<Val> {
    check_masks(x, items)?;
    let given = typed(x);
    let (lifted, items) = normalize(x, items, options.plain_negative)?;
    if lifted.aval().rank() != x.aval().rank() {
        let out = scatter_normalized(kind, &lifted, &items, y, options)?;
        return lax::reshape(&out, &x.aval().shape, None);
    }
    let out = scatter_normalized(kind, x, &items, y, options)?;
    convert(&out, given.dtype, given.weak_type)
}

fn scatter_normalized(
    kind: &ScatterKind,
    x: &Val,
    items: &[super::plan::Item],
    y: &Val,
    options: &UpdateOptions,
) -> Result<Val> {
    let plan = plan(x, items, options.plain_negative)?;
    let (x, y) = if y.aval().dtype == x.aval().dtype {
        (x.clone(), convert(y, y.aval().dtype, y.aval().weak_type && x.aval().weak_type)?)
    } else {
        let ins = promote_dtypes(&[x.clone(), y.clone()])?;
        (ins[0].clone(), ins[1].clone())
    };
    if plan.shape.contains(&0) || x.aval().shape.contains(&0) {
        return Ok(x);
    }
    let mut shown = plan.shape.clone();
    for &axis in &plan.new_axes {
        shown.insert(axis, 1);
    }
    let updates = broadcast_to(&y, &shown)?;
    let updates = lax::squeeze_axes(&updates, &plan.new_axes)?;
    let updates = lax::rev(&updates, &plan.reversed)?;
    let dims = ScatterDimensions {
        update_window_dims: plan.offset_dims.clone(),
        inserted_window_dims: plan.collapsed.clone(),
        scatter_dims_to_operand_dims: plan.start_index_map.clone(),
        ..ScatterDimensions::default()
    };
    let options = IndexOptions {
        mode: options.mode.unwrap_or(GatherMode::FillOrDrop),
        sorted: options.sorted || plan.is_single,
        unique: options.unique || plan.is_single,
    };
    lax::scatter(kind, &x, &plan.indices, &updates, &dims, options)
}
