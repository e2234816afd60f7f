//! Slices with fixed and with computed bounds, gather and scatter.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, Scalar, bail};
use pullback_core::prims;
use pullback_ir::{DynPrim, JaxprRef, PrimRef, Val};

use crate::convert::to_dtype;
use crate::primitive::Bind;

pub use pullback_core::prims::{GatherDimensions, GatherMode, ScatterDimensions};

/// A part of each axis.
///
/// # Errors
/// What the primitive raises.
pub fn slice(x: &Val, start: &[usize], limit: &[usize], strides: Option<&[usize]>) -> Result<Val> {
    let whole = start.iter().all(|&start| start == 0) && x.aval().shape[..] == *limit;
    if whole && strides.is_none_or(|strides| strides.iter().all(|&stride| stride == 1)) {
        return Ok(x.clone());
    }
    slice_always(x, start, limit, strides)
}

/// As [`slice`], also when it is the whole.
///
/// # Errors
/// What the primitive raises.
pub fn slice_always(x: &Val, start: &[usize], limit: &[usize], strides: Option<&[usize]>) -> Result<Val> {
    let params = prims::Slice {
        start_indices: start.to_vec(),
        limit_indices: limit.to_vec(),
        strides: strides.map(<[usize]>::to_vec),
    };
    prims::SLICE.bind_with(params, std::slice::from_ref(x))
}

/// A part of one axis.
///
/// # Errors
/// What the primitive raises.
pub fn slice_in_dim(x: &Val, start: usize, limit: usize, stride: usize, axis: usize) -> Result<Val> {
    let aval = x.aval();
    let mut starts = vec![0; aval.rank()];
    let mut limits = aval.shape.to_vec();
    let mut strides = vec![1; aval.rank()];
    (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
    slice_always(x, &starts, &limits, Some(&strides))
}

/// A part of fixed size at computed positions, which are clamped; negative ones count from the end.
///
/// # Errors
/// A `Type` error when the number of positions or sizes is not that of the axes.
pub fn dynamic_slice(x: &Val, starts: &[Val], sizes: &[usize]) -> Result<Val> {
    check_starts("dynamic_slice", x, starts)?;
    let starts = wrapped_starts(x, starts)?;
    dynamic_slice_at(x, &starts, sizes)
}

/// As [`dynamic_slice`], with positions that are not negative.
///
/// # Errors
/// What the primitive raises.
pub fn dynamic_slice_at(x: &Val, starts: &[Val], sizes: &[usize]) -> Result<Val> {
    let ins: Vec<Val> = std::iter::once(x).chain(starts).cloned().collect();
    prims::DYNAMIC_SLICE.bind_with(prims::DynamicSlice { slice_sizes: sizes.to_vec() }, &ins)
}

/// `x` with `update` written at computed positions, which are clamped; negative ones count from the end.
///
/// # Errors
/// A `Type` error when the number of positions is not that of the axes.
pub fn dynamic_update_slice(x: &Val, update: &Val, starts: &[Val]) -> Result<Val> {
    check_starts("dynamic_update_slice", x, starts)?;
    let starts = wrapped_starts(x, starts)?;
    let ins: Vec<Val> = [x, update].into_iter().chain(&starts).cloned().collect();
    prims::DYNAMIC_UPDATE_SLICE.bind(&ins)
}

fn check_starts(name: &str, x: &Val, starts: &[Val]) -> Result<()> {
    if starts.len() == x.aval().rank() {
        return Ok(());
    }
    bail!(
        Value,
        "{name}: length of slice indices must match number of operand dimensions ({} vs {})",
        starts.len(),
        tuple_text(&x.aval().shape)
    )
}

/// Positions with negative ones counted from the end.
///
/// # Errors
/// What the primitives raise.
pub fn wrapped_starts(x: &Val, starts: &[Val]) -> Result<Vec<Val>> {
    starts.iter().zip(&x.aval().shape).map(|(start, &size)| wrap_index(start, size)).collect()
}

/// An index with negative values counted from the end of an axis of `size`.
///
/// # Errors
/// What the primitives raise.
pub fn wrap_index(index: &Val, size: usize) -> Result<Val> {
    let dtype = index.aval().dtype;
    if !matches!(dtype.kind(), pullback_base::dtype::Kind::Signed) {
        return Ok(index.clone());
    }
    let is_negative = super::lt(index, &Val::Literal(Scalar::zero(dtype)))?;
    let strong = to_dtype(index, dtype)?;
    let wrapped = super::add(&strong, &Val::Literal(Scalar::int(dtype, size as i128)))?;
    super::select(&is_negative, &wrapped, index)
}

/// Hints and modes of gather and scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexOptions {
    /// Out-of-bounds indices.
    pub mode: GatherMode,
    /// Whether indices come in order.
    pub sorted: bool,
    /// Whether no index occurs twice.
    pub unique: bool,
}

/// Slices of `x` at computed positions; the last axis of `indices` holds the components of a position.
///
/// # Errors
/// What the primitive raises.
pub fn gather(
    x: &Val,
    indices: &Val,
    dims: &GatherDimensions,
    slice_sizes: &[usize],
    options: IndexOptions,
    fill: Option<Scalar>,
) -> Result<Val> {
    let fill = if options.mode == GatherMode::FillOrDrop {
        Some(fill.unwrap_or_else(|| default_fill(x.aval().dtype)))
    } else {
        None
    };
    if let Some(shape) = nothing_taken(x, indices, dims, slice_sizes) {
        return super::full(&shape, &Val::Literal(Scalar::zero(x.aval().dtype)));
    }
    let params = prims::Gather {
        dimension_numbers: dims.clone(),
        slice_sizes: slice_sizes.to_vec(),
        indices_are_sorted: options.sorted,
        unique_indices: options.unique,
        mode: options.mode,
        fill_value: fill,
    };
    prims::GATHER.bind_with(params, &[x.clone(), indices.clone()])
}

/// The shape of what a gather of no elements from axes of size 0 gives: slices of one element do not fit there, but none
/// is taken.
fn nothing_taken(x: &Val, indices: &Val, dims: &GatherDimensions, slice_sizes: &[usize]) -> Option<Vec<usize>> {
    let (of, places) = (x.aval().shape.to_vec(), indices.aval().shape.to_vec());
    let (_, places) = places.split_last()?;
    if !of.contains(&0) || !places.contains(&0) {
        return None;
    }
    let is_left_out =
        |axis: &usize| dims.collapsed_slice_dims.contains(axis) || dims.operand_batching_dims.contains(axis);
    let mut windows = (0..slice_sizes.len()).filter(|axis| !is_left_out(axis)).map(|axis| slice_sizes[axis]);
    let mut places = places.iter().copied();
    let rank = dims.offset_dims.len() + places.len();
    (0..rank).map(|axis| if dims.offset_dims.contains(&axis) { windows.next() } else { places.next() }).collect()
}

/// What an index out of bounds gives: NaN, the least signed, the greatest unsigned, true, a key of ones.
pub fn default_fill(dtype: pullback_base::DType) -> Scalar {
    use pullback_base::dtype::Kind;
    match dtype.kind() {
        Kind::Float | Kind::Complex => Scalar::float(dtype, f64::NAN),
        Kind::Signed => Scalar::least(dtype),
        Kind::Unsigned | Kind::Bool => Scalar::greatest(dtype),
        Kind::Key => crate::convert::key_of_word(dtype, -1),
        Kind::Float0 => Scalar::zero(dtype),
    }
}

/// What a scatter does with an update and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScatterKind {
    /// The update takes its place.
    Set,
    /// Their sum.
    Add,
    /// Their difference.
    Sub,
    /// Their product.
    Mul,
    /// The smaller.
    Min,
    /// The greater.
    Max,
    /// What the jaxpr of the present element and the update gives.
    Apply(JaxprRef),
}

impl ScatterKind {
    fn primitive(&self) -> PrimRef {
        match self {
            ScatterKind::Set | ScatterKind::Apply(_) => prims::SCATTER,
            ScatterKind::Add => prims::SCATTER_ADD,
            ScatterKind::Sub => prims::SCATTER_SUB,
            ScatterKind::Mul => prims::SCATTER_MUL,
            ScatterKind::Min => prims::SCATTER_MIN,
            ScatterKind::Max => prims::SCATTER_MAX,
        }
    }

    fn combine(&self, x: &Val, update: &Val) -> Result<Val> {
        match self {
            ScatterKind::Set | ScatterKind::Apply(_) => Ok(update.clone()),
            ScatterKind::Add => super::add(x, update),
            ScatterKind::Sub => super::sub(x, update),
            ScatterKind::Mul => super::mul(x, update),
            ScatterKind::Min => super::min(x, update),
            ScatterKind::Max => super::max(x, update),
        }
    }

    fn update_jaxpr(&self, x: &Val) -> Result<Option<JaxprRef>> {
        match self {
            ScatterKind::Set => Ok(None),
            ScatterKind::Apply(jaxpr) => Ok(Some(jaxpr.clone())),
            ScatterKind::Add | ScatterKind::Sub | ScatterKind::Mul | ScatterKind::Min | ScatterKind::Max => {
                let primitive: &'static dyn DynPrim = self.primitive().0;
                crate::jit::scalar_jaxpr(primitive.name(), x.aval().dtype, 2, |xs| self.combine(&xs[0], &xs[1]))
                    .map(Some)
            }
        }
    }
}

/// `x` with updates at computed positions; the last axis of `indices` holds the components of a position.
///
/// # Errors
/// What the primitive raises.
pub fn scatter(
    kind: &ScatterKind,
    x: &Val,
    indices: &Val,
    updates: &Val,
    dims: &ScatterDimensions,
    options: IndexOptions,
) -> Result<Val> {
    if x.aval().shape.contains(&0) {
        return Ok(x.clone());
    }
    let jaxpr = kind.update_jaxpr(x)?;
    let params = prims::Scatter {
        dimension_numbers: dims.clone(),
        indices_are_sorted: options.sorted,
        unique_indices: options.unique,
        mode: options.mode,
        update_jaxpr: jaxpr,
        update_consts: vec![],
    };
    kind.primitive().bind_with(params, &[x.clone(), indices.clone(), updates.clone()])
}
