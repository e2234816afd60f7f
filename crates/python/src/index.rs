//! Indices as Python writes them, parsed for `x[...]` and `x.at[...]`.

use pullback_backend::{Unguarded, are_transfers_guarded};
use pullback_base::scalar::Number;
use pullback_ir::Val;
use pullback_lib::indexing::{GetOptions, IndexItem, Update, UpdateOptions, get, getitem, update};
use pullback_lib::lax::GatherMode;
use pullback_lib::promotion::typed;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PySlice, PyString, PyTuple};

use crate::api::arguments::wide_integer;
use crate::api::numpy::irregular::array_like;
use crate::errors::{type_error, value_error};
use crate::gate::{gate, is_called_by_own};
use crate::numpy;
use crate::tracer::concrete;
use crate::transfers::{call_of, enter, enter_own, enter_through};
use crate::value::{as_val, to_val, wrap};

/// The items of an index.
pub fn parse(index: &Bound<'_, PyAny>) -> PyResult<Vec<IndexItem>> {
    match index.cast::<PyTuple>() {
        Ok(items) => items.iter().enumerate().map(|(position, item)| parse_item(&item, position, index)).collect(),
        Err(_) => Ok(vec![parse_item(index, 0, index)?]),
    }
}

fn parse_item(item: &Bound<'_, PyAny>, position: usize, whole: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    if item.is_exact_instance_of::<PyInt>() {
        return item.extract().map(IndexItem::Int);
    }
    if item.is_none() {
        return Ok(IndexItem::NewAxis);
    }
    if item.is(item.py().Ellipsis()) {
        return Ok(IndexItem::Ellipsis);
    }
    if let Ok(slice) = item.cast::<PySlice>() {
        return parse_slice(slice);
    }
    if let Ok(value) = item.cast::<PyBool>() {
        return Ok(IndexItem::Bool(value.is_true()));
    }
    if let Some(val) = as_val(item) {
        return Ok(array_item(val.clone()));
    }
    if numpy::is_ndarray(item)? || numpy::is_generic(item)? {
        return Ok(array_item(to_val(item)?));
    }
    if item.is_instance_of::<PyInt>() {
        return item.extract().map(IndexItem::Int);
    }
    if whole.is_instance_of::<PyTuple>() && (item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>()) {
        return sequence_item(item);
    }
    if item.is_instance(&item.py().import("pullback._slices")?.getattr("Slice")?)? {
        return window(item);
    }
    if let Some(convert) = item.getattr_opt("__jax_array__")? {
        return Ok(array_item(to_val(&convert.call0()?)?));
    }
    if let Some(index) = item.getattr_opt("__index__")? {
        return index.call0()?.extract().map(IndexItem::Int);
    }
    Err(bad_index(item, position, whole)?)
}

/// What `jax.ds` makes: a slice where the start is known, else positions from a computed one on.
fn window(item: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    if let Ok(slice) = item.call_method0("_fixed")?.cast::<PySlice>() {
        return parse_slice(slice);
    }
    Ok(IndexItem::Window { start: to_val(&item.getattr("start")?)?, size: item.getattr("size")?.extract()? })
}

/// A sequence among the items of an index is the array of its elements; of nothing, it is of integers.
fn sequence_item(item: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    let numpy = item.py().import("pullback.numpy")?;
    let array = numpy.call_method1("asarray", (item,))?;
    let is_empty = array.getattr("size")?.extract::<usize>()? == 0;
    let array = if is_empty { array.call_method1("astype", (numpy.getattr("int32")?,))? } else { array };
    Ok(array_item(to_val(&array)?))
}

fn array_item(val: Val) -> IndexItem {
    match val {
        Val::Literal(scalar) if scalar.dtype() == pullback_base::DType::Bool => IndexItem::Bool(scalar.is_nonzero()),
        Val::Literal(scalar) if scalar.dtype().is_integer() => IndexItem::Int(scalar.as_i64()),
        other => IndexItem::Array(
            concrete(&other).filter(|_| other.aval().dtype == pullback_base::DType::Bool).unwrap_or(other),
        ),
    }
}

fn bad_index(item: &Bound<'_, PyAny>, position: usize, whole: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
        return Ok(PyTypeError::new_err(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` instead of `arr[seq]`.",
        ));
    }
    if item.is_instance_of::<PyString>() {
        return Ok(type_error(format!("JAX does not support string indexing; got idx={}", whole.repr()?)));
    }
    let kind = if item.is_instance_of::<pyo3::types::PyFloat>() {
        "type float".into()
    } else {
        format!("type {}", item.get_type())
    };
    Ok(type_error(format!(
        "Indexer must have integer or boolean type, got indexer with {kind} at position {position}, indexer value {}",
        item.repr()?
    )))
}

fn parse_slice(slice: &Bound<'_, PySlice>) -> PyResult<IndexItem> {
    let bound = |name: &str| -> PyResult<Option<i64>> {
        let bound = slice.getattr(name)?;
        if bound.is_none() {
            return Ok(None);
        }
        if let Some(val) = as_val(&bound)
            && let (None, Val::Tracer(tracer)) = (concrete(val), val)
        {
            return Err(PyIndexError::new_err(format!(
                "Array slice indices must have static start/stop/step to be used with NumPy indexing syntax. Got {}. To index \
                 an array at a dynamic position with a static slice size, use x[jax.ds(start, size)] or \
                 lax.dynamic_slice/dynamic_update_slice instead (JAX does not support dynamically sized arrays within traced \
                 functions).{}",
                slice.repr()?,
                crate::tracer::origin(slice.py(), tracer)
            )));
        }
        let number = slice.py().import("operator")?.call_method1("index", (bound,))?;
        // A bound beyond all arrays means the end.
        Ok(Some(number.extract::<i64>().unwrap_or(if number.lt(0)? { i64::MIN / 2 } else { i64::MAX / 2 })))
    };
    Ok(IndexItem::Slice { start: bound("start")?, stop: bound("stop")?, step: bound("step")? })
}

/// `x[index]`.
pub fn get_item(py: Python<'_>, x: &Val, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let items = parse(index)?;
    let _own = enter_positions(py, x, &items)?;
    wrap(py, gate(py, || getitem(x, &items))?)
}

/// Tells the guard of transfers of positions: those of arrays, and the numbers that fixed ones are.
fn enter_positions(py: Python<'_>, x: &Val, items: &[IndexItem]) -> PyResult<Option<Unguarded>> {
    if !are_transfers_guarded() {
        return Ok(None);
    }
    for item in items {
        if let IndexItem::Array(positions) = item {
            enter(py, positions.clone())?;
        }
    }
    let shape = x.aval().shape.to_vec();
    let takes_axis = |item: &&IndexItem| !matches!(item, IndexItem::NewAxis | IndexItem::Ellipsis | IndexItem::Bool(_));
    let n_named = items.iter().filter(takes_axis).count();
    let mut axis = 0;
    for item in items {
        let size = shape.get(axis).copied().unwrap_or(0) as i64;
        let is_fixed_part = match item {
            IndexItem::Slice { start, stop, step } => {
                step.unwrap_or(1) == 1 && (start.unwrap_or(0) != 0 || stop.is_some_and(|stop| stop < size))
            }
            IndexItem::NewAxis | IndexItem::Ellipsis => false,
            IndexItem::Int(_) | IndexItem::Window { .. } | IndexItem::Array(_) | IndexItem::Bool(_) => true,
        };
        if is_fixed_part {
            enter_own(py)?;
            break;
        }
        axis += if matches!(item, IndexItem::Ellipsis) { shape.len().saturating_sub(n_named) } else { 0 };
        axis += usize::from(takes_axis(&item));
    }
    call_of(py, "an index")
}

fn mode_of(mode: Option<&Bound<'_, PyAny>>) -> PyResult<Option<GatherMode>> {
    let Some(mode) = mode.filter(|mode| !mode.is_none()) else { return Ok(None) };
    let name = mode.str()?.to_string().to_lowercase();
    let name = name.rsplit('.').next().unwrap_or_default();
    Ok(Some(match name {
        "clip" => GatherMode::Clip,
        "fill" | "drop" | "fill_or_drop" => GatherMode::FillOrDrop,
        "promise_in_bounds" => GatherMode::PromiseInBounds,
        other => {
            return Err(value_error(format!(
                "Unrecognized mode {other:?}: use 'clip', 'drop', 'fill' or 'promise_in_bounds'"
            )));
        }
    }))
}

/// `x.at[index].get(...)`.
#[pyfunction]
#[pyo3(signature = (x, index, indices_are_sorted=false, unique_indices=false, mode=None, fill_value=None, wrap_negative_indices=true))]
#[allow(clippy::too_many_arguments, reason = "called from one place, by name")]
fn index_get(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
    fill_value: Option<&Bound<'_, PyAny>>,
    wrap_negative_indices: bool,
) -> PyResult<Py<PyAny>> {
    let x = to_val(x)?;
    let fill = match fill_value.filter(|fill| !fill.is_none()) {
        None => None,
        Some(fill) if let Some(wide) = wide_integer(fill, x.aval().dtype)? => Some(wide),
        Some(fill) => match concrete(&to_val(fill)?).and_then(|val| val.to_array()) {
            Some(array) if array.aval().size() == 1 => Some(gate(py, || array.element(0))?),
            _ => return Err(type_error("fill_value must be a concrete scalar")),
        },
    };
    let options = GetOptions {
        mode: mode_of(mode)?,
        sorted: indices_are_sorted,
        unique: unique_indices,
        fill,
        plain_negative: !wrap_negative_indices,
    };
    let items = parse(index)?;
    let _own = enter_positions(py, &x, &items)?;
    wrap(py, gate(py, || get(&x, &items, &options))?)
}

/// `x.at[index].set(y)` and its relatives, by name.
#[pyfunction]
#[pyo3(signature = (kind, x, index, y, indices_are_sorted=false, unique_indices=false, mode=None, wrap_negative_indices=true))]
#[allow(clippy::too_many_arguments, reason = "called from one place, by name")]
fn index_update(
    py: Python<'_>,
    kind: &str,
    x: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
    wrap_negative_indices: bool,
) -> PyResult<Py<PyAny>> {
    let kind = match kind {
        "set" => Update::Set,
        "add" => Update::Add,
        "subtract" => Update::Subtract,
        "multiply" => Update::Multiply,
        "divide" => Update::Divide,
        "power" => Update::Power,
        "min" => Update::Min,
        "max" => Update::Max,
        other => return Err(value_error(format!("there is no update {other:?}"))),
    };
    let options = UpdateOptions {
        mode: mode_of(mode)?,
        sorted: indices_are_sorted,
        unique: unique_indices,
        plain_negative: !wrap_negative_indices,
    };
    let (x, items) = (to_val(x)?, parse(index)?);
    let y = enter_through(py, update_for(&x, y)?)?;
    enter_through(py, pullback_lib::convert::weak_int(0))?;
    let _own = call_of(py, "an update")?;
    warn_of_narrowing(py, &x, &y)?;
    gate(py, || pullback_lib::convert::warn_of_lost_part(&y, x.aval().dtype))?;
    wrap(py, gate(py, || update(&kind, &x, &items, &y, &options))?)
}

/// Warns of updates whose dtype the array's cannot hold, as the reference does; not of those that our own code makes.
fn warn_of_narrowing(py: Python<'_>, x: &Val, y: &Val) -> PyResult<()> {
    let (to, from) = (x.aval().dtype, y.aval().dtype);
    let joined = pullback_base::dtype::promote(typed(x), typed(y), true).map(|joined| joined.dtype);
    if from == to || joined.is_ok_and(|joined| joined == to) || is_called_by_own(py) {
        return Ok(());
    }
    let text = format!(
        "scatter inputs have incompatible types: cannot safely cast value from dtype={from} to dtype={to} with \
         jax_numpy_dtype_promotion=standard. In future JAX releases this will result in an error."
    );
    let category = py.get_type::<pyo3::exceptions::PyFutureWarning>();
    PyErr::warn(py, &category, &std::ffi::CString::new(text)?, 2)
}

/// The value of an update: an integer that only the dtype of the array holds is of that dtype.
fn update_for(x: &Val, y: &Bound<'_, PyAny>) -> PyResult<Val> {
    let dtype = x.aval().dtype;
    if dtype.is_integer()
        && let Some(wide) = wide_integer(y, dtype)?
        && y.extract::<i128>().is_ok_and(|given| wide.number() == Number::Int(given))
    {
        return Ok(Val::Literal(wide));
    }
    array_like(y)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(index_get, m)?)?;
    m.add_function(wrap_pyfunction!(index_update, m)?)
}
