//! Slices with fixed and with computed bounds, gather and scatter.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, Scalar, bail};
use pullback_ir::{JaxprRef, ParamField, ParamValue, Val};

use crate::bind::{self, Fields, Named};
use crate::convert::to_dtype;

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
    let params = Fields::new()
        .with("start_indices", &start.to_vec())
        .with("limit_indices", &limit.to_vec())
        .with("strides", &strides.map(<[usize]>::to_vec));
    bind::SLICE.call_with(params, std::slice::from_ref(x))
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
    bind::DYNAMIC_SLICE.call_with(Fields::new().with("slice_sizes", &sizes.to_vec()), &ins)
}

/// `x` with `update` written at computed positions, which are clamped; negative ones count from the end.
///
/// # Errors
/// A `Type` error when the number of positions is not that of the axes.
pub fn dynamic_update_slice(x: &Val, update: &Val, starts: &[Val]) -> Result<Val> {
    check_starts("dynamic_update_slice", x, starts)?;
    let starts = wrapped_starts(x, starts)?;
    let ins: Vec<Val> = [x, update].into_iter().chain(&starts).cloned().collect();
    bind::DYNAMIC_UPDATE_SLICE.call(&ins)
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

/// What gather and scatter do with indices out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexMode {
    /// They become the nearest valid ones.
    Clip,
    /// Gather gives a fill value, scatter drops.
    FillOrDrop,
    /// There are none; that is up to the caller.
    PromiseInBounds,
}

impl IndexMode {
    fn text(self) -> &'static str {
        match self {
            IndexMode::Clip => "GatherScatterMode.CLIP",
            IndexMode::FillOrDrop => "GatherScatterMode.FILL_OR_DROP",
            IndexMode::PromiseInBounds => "GatherScatterMode.PROMISE_IN_BOUNDS",
        }
    }
}

/// Which axes of operand, indices and result correspond in a gather.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct GatherDimensions {
    /// Axes of the result that run over the slice.
    pub offset_dims: Vec<usize>,
    /// Axes of the operand, of slice size 1, that go.
    pub collapsed_slice_dims: Vec<usize>,
    /// For each component of an index, the axis of the operand it counts on.
    pub start_index_map: Vec<usize>,
    /// Axes of the operand that go along with the indices.
    pub operand_batching_dims: Vec<usize>,
    /// Those axes of the indices.
    pub start_indices_batching_dims: Vec<usize>,
}

impl GatherDimensions {
    fn to_value(&self) -> ParamValue {
        ParamValue::Record(
            "GatherDimensionNumbers",
            vec![
                ("offset_dims", self.offset_dims.to_value()),
                ("collapsed_slice_dims", self.collapsed_slice_dims.to_value()),
                ("start_index_map", self.start_index_map.to_value()),
                ("operand_batching_dims", self.operand_batching_dims.to_value()),
                ("start_indices_batching_dims", self.start_indices_batching_dims.to_value()),
            ],
        )
    }
}

/// Hints and modes of gather and scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexOptions {
    /// Out-of-bounds indices.
    pub mode: IndexMode,
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
    let fill = if options.mode == IndexMode::FillOrDrop {
        Some(fill.unwrap_or_else(|| default_fill(x.aval().dtype)))
    } else {
        None
    };
    if let Some(shape) = nothing_taken(x, indices, dims, slice_sizes) {
        return super::full(&shape, &Val::Literal(Scalar::zero(x.aval().dtype)));
    }
    let params = Fields::new()
        .value("dimension_numbers", dims.to_value())
        .with("slice_sizes", &slice_sizes.to_vec())
        .with("indices_are_sorted", &options.sorted)
        .with("unique_indices", &options.unique)
        .value("mode", ParamValue::Name(options.mode.text().into()))
        .value("fill_value", fill.map_or(ParamValue::None, ParamValue::Scalar));
    bind::GATHER.call_with(params, &[x.clone(), indices.clone()])
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

/// Which axes of operand, indices and updates correspond in a scatter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScatterDimensions {
    /// Axes of the updates that run over the window.
    pub update_window_dims: Vec<usize>,
    /// Axes of the operand, of window size 1, that updates lack.
    pub inserted_window_dims: Vec<usize>,
    /// For each component of an index, the axis of the operand it counts on.
    pub scatter_dims_to_operand_dims: Vec<usize>,
    /// Axes of the operand that go along with the indices.
    pub operand_batching_dims: Vec<usize>,
    /// Those axes of the indices.
    pub scatter_indices_batching_dims: Vec<usize>,
}

impl ScatterDimensions {
    fn to_value(&self) -> ParamValue {
        ParamValue::Record(
            "ScatterDimensionNumbers",
            vec![
                ("update_window_dims", self.update_window_dims.to_value()),
                ("inserted_window_dims", self.inserted_window_dims.to_value()),
                ("scatter_dims_to_operand_dims", self.scatter_dims_to_operand_dims.to_value()),
                ("operand_batching_dims", self.operand_batching_dims.to_value()),
                ("scatter_indices_batching_dims", self.scatter_indices_batching_dims.to_value()),
            ],
        )
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
    fn primitive(&self) -> &'static Named {
        match self {
            ScatterKind::Set | ScatterKind::Apply(_) => &bind::SCATTER,
            ScatterKind::Add => &bind::SCATTER_ADD,
            ScatterKind::Sub => &bind::SCATTER_SUB,
            ScatterKind::Mul => &bind::SCATTER_MUL,
            ScatterKind::Min => &bind::SCATTER_MIN,
            ScatterKind::Max => &bind::SCATTER_MAX,
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
                crate::jit::scalar_jaxpr(self.primitive().name(), x.aval().dtype, 2, |xs| self.combine(&xs[0], &xs[1]))
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
    let params = Fields::new()
        .value("dimension_numbers", dims.to_value())
        .with("indices_are_sorted", &options.sorted)
        .with("unique_indices", &options.unique)
        .value("mode", ParamValue::Name(options.mode.text().into()))
        .value("update_jaxpr", jaxpr.map_or(ParamValue::None, ParamValue::Jaxpr))
        .value("update_consts", ParamValue::Tuple(vec![]));
    kind.primitive().call_with(params, &[x.clone(), indices.clone(), updates.clone()])
}
