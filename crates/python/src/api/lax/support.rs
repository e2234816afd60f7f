//! Arguments of `lax` that are records of numbers, and what they must satisfy together.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Error, Result, Scalar, bail};
use pullback_core::prims::DotDimensions;
use pullback_ir::Val;
use pullback_lib::axes::{canonical_axes, canonical_axis, signed_tuple_text};
use pullback_lib::convert::{int_literal, to_dtype};
use pullback_lib::lax::{self, GatherDimensions, IndexMode, IndexOptions, ScatterDimensions, ScatterKind};
use pyo3::prelude::*;

use crate::api::arguments::{concrete, one, operand};
use crate::errors::type_error;
use crate::errors::value_error;
use crate::value::{ArrayLike, as_val};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_stop_gradient, m)?)
}

/// Operands whose ranks agree, or one of which is a scalar.
pub fn same_rank(name: &str, x: &Val, y: &Val) -> Result<[Val; 2]> {
    let (a, b) = (x.aval().rank(), y.aval().rank());
    if a != b && a != 0 && b != 0 {
        let (low, high) = (a.min(b), a.max(b));
        return Err(Error::type_error(format!(
            "{name}: arrays must have the same number of dimensions, got {{{low}, {high}}}"
        )));
    }
    Ok([x.clone(), y.clone()])
}

/// The axes of a reduction, none of which may count from the end.
pub fn reduced_axes(x: &Val, axes: &[i64]) -> Result<Vec<usize>> {
    let aval = x.aval();
    if axes.iter().any(|axis| !(0..aval.rank() as i64).contains(axis)) {
        let axes = signed_tuple_text(axes);
        bail!(Value, "reduction axes {axes} contains out-of-bounds indices for {}.", aval.long());
    }
    canonical_axes(axes, aval.rank())
}

/// The axis of a running reduction, which may not count from the end.
pub fn running_axis(x: &Val, axis: i64) -> Result<usize> {
    if axis < 0 {
        bail!(Value, "XLA operations do not allow negative axes, got {axis}");
    }
    canonical_axis(axis, x.aval().rank())
}

/// The axis along which an extreme is looked for.
pub fn searched_axis(x: &Val, axis: i64) -> Result<usize> {
    let aval = x.aval();
    if !(0..aval.rank() as i64).contains(&axis) {
        bail!(Value, "Invalid axis {axis} for operand shape {}", tuple_text(&aval.shape));
    }
    Ok(axis as usize)
}

/// The axes that `rev` turns around.
pub fn reversed_axes(x: &Val, axes: &[i64]) -> Result<Vec<usize>> {
    let (rank, text) = (x.aval().rank(), signed_tuple_text(axes));
    if axes.iter().any(|&axis| axis < 0) {
        bail!(Type, "rev dimensions must have every element be nonnegative, got {text}.");
    }
    if axes.iter().any(|&axis| axis >= rank as i64) {
        bail!(
            Type,
            "rev dimensions must all be less than operand ndim, got dimensions {text} for operand ndim {rank}."
        );
    }
    if (1..axes.len()).any(|i| axes[..i].contains(&axes[i])) {
        bail!(Type, "rev dimensions must be unique, got {text}.");
    }
    sizes(axes)
}

/// The axis along which arrays are joined.
pub fn joined_axis(xs: &[Val], axis: i64) -> Result<usize> {
    let rank = xs.first().map_or(0, |x| x.aval().rank());
    if (0..rank as i64).contains(&axis) {
        return Ok(axis as usize);
    }
    let shapes: Vec<String> = xs.iter().map(|x| tuple_text(&x.aval().shape)).collect();
    bail!(Type, "concatenate dimension out of bounds: dimension {axis} for shapes {}.", shapes.join(", "))
}

/// The sizes of a new shape, none of which may be left to be found.
pub fn new_sizes(x: &Val, given: &[i64]) -> Result<Vec<usize>> {
    if given.iter().any(|&size| size < 0) {
        bail!(Type, "reshape new_sizes must all be positive, got {}.", signed_tuple_text(given));
    }
    let (new, aval) = (sizes(given)?, x.aval());
    let (wanted, size) = (new.iter().product::<usize>(), aval.size());
    if wanted != size {
        let (old, new) = (tuple_text(&aval.shape), tuple_text(&new));
        bail!(
            Value,
            "reshape total size must be unchanged, got new_sizes {new} (size {wanted}) for shape {old} (size {size})."
        );
    }
    Ok(new)
}

/// Numbers that are not negative.
pub fn sizes(numbers: &[i64]) -> Result<Vec<usize>> {
    let convert = |&number: &i64| {
        usize::try_from(number)
            .map_err(|_| Error::type_error(format!("expected a number that is not negative, got {number}")))
    };
    numbers.iter().map(convert).collect()
}

/// Positions, one for each axis: a sequence of scalars or a vector.
pub fn starts(py: Python<'_>, obj: &Bound<'_, PyAny>) -> PyResult<Vec<Val>> {
    if let Some(vector) = as_val(obj)
        && vector.aval().rank() == 1
    {
        return crate::gate::gate(py, || Ok(lax::unstack(vector, 0)?.into_vec()));
    }
    obj.try_iter()?.enumerate().map(|(i, start)| operand(&start?, "dynamic_slice", i + 1)).collect()
}

/// For which axes negative positions count from the end: all, unless something else is said, for all or for each.
pub fn negatives_allowed(obj: Option<&Bound<'_, PyAny>>, rank: usize) -> PyResult<Vec<bool>> {
    let Some(obj) = obj else { return Ok(vec![true; rank]) };
    let Ok(each) = obj.try_iter() else { return Ok(vec![obj.is_truthy()?; rank]) };
    let each: Vec<bool> = each.map(|one| one?.is_truthy()).collect::<PyResult<_>>()?;
    if each.len() != rank {
        let n = each.len();
        return Err(value_error(format!("allow_negative_indices needs one value for each of {rank} axes, got {n}")));
    }
    Ok(each)
}

/// Positions that do not count from the end where that is not allowed.
pub fn from_the_front(x: &Val, starts: Vec<Val>, allowed: &[bool]) -> Result<Vec<Val>> {
    let aval = x.aval();
    if starts.len() != aval.rank() {
        // The function itself says so.
        return Ok(starts);
    }
    let place = |((start, &size), &allowed): ((Val, &usize), &bool)| match &start {
        _ if allowed => Ok(start),
        Val::Literal(number) if number.as_i64() < 0 => {
            let number = number.as_i64();
            bail!(Value, "Index {number} is out of bounds for dimension {size} if allow_negative_indices=False")
        }
        _ => at_least_zero(&start),
    };
    starts.into_iter().zip(&aval.shape).zip(allowed).map(place).collect()
}

/// A position that is moved to 0 where it is negative.
pub fn at_least_zero(start: &Val) -> Result<Val> {
    lax::max(start, &int_literal(start.aval().dtype, 0))
}

/// Positions that are 0 but on one axis.
pub fn each(x: &Val, axis: usize, start: &Val) -> Vec<Val> {
    let dtype = start.aval().dtype;
    (0..x.aval().rank()).map(|i| if i == axis { start.clone() } else { int_literal(dtype, 0) }).collect()
}

/// `(low, high, interior)` for each axis.
pub fn padding(obj: &Bound<'_, PyAny>) -> PyResult<Vec<(i64, i64, i64)>> {
    obj.try_iter()?.map(|entry| entry?.extract()).collect()
}

fn numbers(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<usize>> {
    match obj.getattr_opt(name)? {
        Some(found) => found.try_iter()?.map(|number| number?.extract()).collect(),
        None => Ok(vec![]),
    }
}

/// The fields of `GatherDimensionNumbers`.
pub fn gather_dimensions(obj: &Bound<'_, PyAny>) -> PyResult<GatherDimensions> {
    Ok(GatherDimensions {
        offset_dims: numbers(obj, "offset_dims")?,
        collapsed_slice_dims: numbers(obj, "collapsed_slice_dims")?,
        start_index_map: numbers(obj, "start_index_map")?,
        operand_batching_dims: numbers(obj, "operand_batching_dims")?,
        start_indices_batching_dims: numbers(obj, "start_indices_batching_dims")?,
    })
}

/// The fields of `ScatterDimensionNumbers`.
pub fn scatter_dimensions(obj: &Bound<'_, PyAny>) -> PyResult<ScatterDimensions> {
    Ok(ScatterDimensions {
        update_window_dims: numbers(obj, "update_window_dims")?,
        inserted_window_dims: numbers(obj, "inserted_window_dims")?,
        scatter_dims_to_operand_dims: numbers(obj, "scatter_dims_to_operand_dims")?,
        operand_batching_dims: numbers(obj, "operand_batching_dims")?,
        scatter_indices_batching_dims: numbers(obj, "scatter_indices_batching_dims")?,
    })
}

/// Mode and hints of gather and scatter, whose defaults differ.
pub fn index_options(
    mode: Option<&Bound<'_, PyAny>>,
    default: IndexMode,
    sorted: bool,
    unique: bool,
) -> PyResult<IndexOptions> {
    let text = match mode.filter(|mode| !mode.is_none()) {
        None => String::new(),
        Some(mode) => mode.str()?.to_string().rsplit('.').next().unwrap_or("").to_lowercase(),
    };
    let mode = match &*text {
        "" => default,
        "fill" | "drop" | "fill_or_drop" => IndexMode::FillOrDrop,
        "clip" => IndexMode::Clip,
        "promise_in_bounds" => IndexMode::PromiseInBounds,
        other => return Err(value_error(format!("Unknown gather/scatter mode {other}"))),
    };
    Ok(IndexOptions { mode, sorted, unique })
}

/// A fill value in a dtype.
pub fn fill_of(fill: Option<&Bound<'_, PyAny>>, dtype: DType) -> PyResult<Option<Scalar>> {
    let fill = fill.filter(|fill| !fill.is_none()).map(|fill| concrete(fill, "the fill value")).transpose()?;
    Ok(fill.map(|fill| fill.convert(dtype)))
}

/// Refuses arrays of several dtypes.
pub fn one_dtype(name: &str, xs: &[Val]) -> Result<()> {
    if xs.windows(2).all(|pair| pair[0].aval().dtype == pair[1].aval().dtype) {
        return Ok(());
    }
    let dtypes: Vec<_> = xs.iter().map(|x| x.aval().dtype.to_string()).collect();
    Err(Error::type_error(format!("{name} requires arguments to have the same dtypes, got {}.", dtypes.join(", "))))
}

/// Refuses a fill value that is no scalar.
pub fn scalar_fill(fill: &Val) -> Result<()> {
    if fill.aval().rank() == 0 {
        return Ok(());
    }
    let shape = pullback_base::aval::tuple_text(&fill.aval().shape);
    Err(Error::type_error(format!("full must be called with scalar fill_value, got fill_value.shape {shape}.")))
}

/// A scatter whose updates take the dtype of the operand when they are weak.
pub fn scatter_with(
    kind: &ScatterKind,
    x: &Val,
    indices: &Val,
    updates: &Val,
    dims: &ScatterDimensions,
    options: IndexOptions,
) -> Result<Val> {
    let updates = if updates.aval().weak_type { to_dtype(updates, x.aval().dtype)? } else { updates.clone() };
    lax::scatter(kind, x, indices, &updates, dims, options)
}

/// `((left contracted, right contracted), (left batch, right batch))`.
pub fn dot_dimensions(obj: &Bound<'_, PyAny>) -> PyResult<DotDimensions> {
    let axis = |axis: PyResult<Bound<'_, PyAny>>| {
        let number: i64 = axis?.extract()?;
        usize::try_from(number).map_err(|_| {
            type_error(format!(
                "dot_general requires dimension numbers to be nonnegative and less than the number of axes, got {number}; count \
                 axes from the first"
            ))
        })
    };
    let axes = |obj: &Bound<'_, PyAny>| -> PyResult<Vec<usize>> { obj.try_iter()?.map(axis).collect() };
    let pair = |obj: &Bound<'_, PyAny>| -> PyResult<[Vec<usize>; 2]> {
        Ok([axes(&obj.get_item(0)?)?, axes(&obj.get_item(1)?)?])
    };
    Ok(DotDimensions { contract: pair(&obj.get_item(0)?)?, batch: pair(&obj.get_item(1)?)? })
}

/// The same value, constant to differentiation.
#[pyfunction]
fn _stop_gradient(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "stop_gradient", 0)?;
    one(py, || lax::stop_gradient(&x))
}
