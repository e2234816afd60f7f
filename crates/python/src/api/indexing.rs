//! The glue of indexing: what stands between the brackets, and the updates of `x.at[...]`.

use pullback_base::Scalar;
use pullback_ir::Val;
use pullback_lib::indexing::{self, GetOptions, IndexItem, Update, UpdateOptions};
use pullback_lib::lax::IndexMode;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PySlice, PyString, PyTuple};

use crate::api::arguments::{concrete, one, operand};
use crate::errors::{Carry, value_error};
use crate::value::{as_val, to_val, try_val, wrap};

/// Adds the functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_getitem, m)?)?;
    m.add_function(wrap_pyfunction!(_at_get, m)?)?;
    m.add_function(wrap_pyfunction!(_at_update, m)?)?;
    m.add_function(wrap_pyfunction!(_at_apply, m)?)
}

/// The indices between the brackets.
///
/// # Errors
/// `TypeError` for strings, floats and lists; `IndexError` for slices with abstract bounds.
pub fn items(index: &Bound<'_, PyAny>) -> PyResult<Vec<IndexItem>> {
    match index.cast::<PyTuple>() {
        Ok(several) => several.iter().map(|one| item(&one, true)).collect(),
        Err(_) => Ok(vec![item(index, false)?]),
    }
}

fn item(index: &Bound<'_, PyAny>, in_tuple: bool) -> PyResult<IndexItem> {
    if index.is_none() {
        return Ok(IndexItem::NewAxis);
    }
    if index.is(index.py().Ellipsis()) {
        return Ok(IndexItem::Ellipsis);
    }
    if let Ok(slice) = index.cast::<PySlice>() {
        return range(slice);
    }
    if let Ok(flag) = index.cast::<PyBool>() {
        return Ok(IndexItem::Bool(flag.is_true()));
    }
    if index.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("JAX does not support string indexing; got idx={}", index.repr()?)));
    }
    if index.is_instance_of::<PyList>() || in_tuple && index.is_instance_of::<PyTuple>() {
        return sequence(index, in_tuple);
    }
    let Some(val) = try_val(index)? else {
        return Err(PyTypeError::new_err(format!(
            "Indexer must have integer or boolean type, got indexer with type {}",
            index.get_type()
        )));
    };
    Ok(of_value(val, as_val(index).is_some()))
}

/// Python and NumPy integers are fixed positions; arrays of ours stay values.
fn of_value(val: Val, is_array: bool) -> IndexItem {
    match val {
        Val::Literal(scalar) if scalar.dtype().is_integer() && !is_array => IndexItem::Int(scalar.as_i64()),
        Val::Literal(scalar) if scalar.dtype() == pullback_base::DType::Bool => IndexItem::Bool(scalar.is_nonzero()),
        other => IndexItem::Array(other),
    }
}

fn sequence(index: &Bound<'_, PyAny>, in_tuple: bool) -> PyResult<IndexItem> {
    if !in_tuple || index.is_instance_of::<PyList>() {
        return Err(PyTypeError::new_err(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` instead of \
             `arr[seq]`. See https://github.com/jax-ml/jax/issues/4564 for more information.",
        ));
    }
    let array = crate::numpy::numpy(index.py())?.asarray.bind(index.py()).call1((index,))?;
    Ok(IndexItem::Array(to_val(&array)?))
}

fn range(slice: &Bound<'_, PySlice>) -> PyResult<IndexItem> {
    let bound = |name: &str| -> PyResult<Option<i64>> {
        let bound = slice.getattr(name)?;
        if bound.is_none() {
            return Ok(None);
        }
        if as_val(&bound).is_some_and(Val::is_tracer) {
            return Err(PyIndexError::new_err(
                "Array slice indices must have static start/stop/step to be used with NumPy indexing syntax. To index a \
                 statically sized array at a dynamic position, try lax.dynamic_slice/dynamic_update_slice.",
            ));
        }
        if as_val(&bound).is_some() {
            return Ok(Some(concrete(&bound, "a bound of a slice")?.as_i64()));
        }
        bound.extract().map(Some)
    };
    Ok(IndexItem::Slice { start: bound("start")?, stop: bound("stop")?, step: bound("step")? })
}

fn index_mode(mode: Option<&Bound<'_, PyAny>>) -> PyResult<Option<IndexMode>> {
    let Some(mode) = mode.filter(|mode| !mode.is_none()) else { return Ok(None) };
    let text = mode.str()?.to_string();
    let name = text.rsplit('.').next().unwrap_or("").to_lowercase();
    Ok(Some(match &*name {
        "clip" => IndexMode::Clip,
        "fill" | "drop" | "fill_or_drop" => IndexMode::FillOrDrop,
        "promise_in_bounds" => IndexMode::PromiseInBounds,
        _ => return Err(value_error(format!("Unrecognized mode '{text}' for indexed update or access"))),
    }))
}

/// `x[index]`.
#[pyfunction]
pub fn _getitem(py: Python<'_>, x: &Bound<'_, PyAny>, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let x = operand(x, "getitem", 0)?;
    let items = items(index)?;
    one(py, || indexing::getitem(&x, &items))
}

/// `x.at[index].get(...)`.
#[pyfunction]
#[pyo3(signature = (x, index, *, indices_are_sorted=false, unique_indices=false, mode=None, fill_value=None))]
fn _at_get(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = operand(x, "getitem", 0)?;
    let items = items(index)?;
    let fill: Option<Scalar> = fill_value.map(|fill| concrete(fill, "the fill value")).transpose()?;
    let options = GetOptions {
        mode: index_mode(mode)?,
        sorted: indices_are_sorted,
        unique: unique_indices,
        fill: fill.map(|fill| fill.convert(x.aval().dtype)),
        plain_negative: false,
    };
    one(py, || indexing::get(&x, &items, &options))
}

fn update_kind(name: &str) -> PyResult<Update> {
    Ok(match name {
        "set" => Update::Set,
        "add" => Update::Add,
        "subtract" | "sub" => Update::Subtract,
        "multiply" | "mul" => Update::Multiply,
        "divide" => Update::Divide,
        "power" => Update::Power,
        "min" => Update::Min,
        "max" => Update::Max,
        _ => return Err(value_error(format!("unknown update {name}"))),
    })
}

/// `x.at[index].set(values, ...)` and its relatives.
#[pyfunction]
#[pyo3(signature = (kind, x, index, values, *, indices_are_sorted=false, unique_indices=false, mode=None))]
#[allow(clippy::too_many_arguments, reason = "the reference's parameters")]
fn _at_update(
    py: Python<'_>,
    kind: &str,
    x: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let kind = update_kind(kind)?;
    let x = operand(x, "scatter", 0)?;
    let items = items(index)?;
    let y = operand(values, "scatter", 1)?;
    if !indexing::is_safe_update(&x, &y) {
        let text = format!(
            "scatter inputs have incompatible types: cannot safely cast value from dtype={} to dtype={} with \
             jax_numpy_dtype_promotion=standard. In future JAX releases this will result in an error.",
            y.aval().dtype,
            x.aval().dtype
        );
        let text = std::ffi::CString::new(text).expect("warnings hold no zero bytes");
        PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyFutureWarning>(), &text, 1)?;
    }
    let options = UpdateOptions { mode: index_mode(mode)?, sorted: indices_are_sorted, unique: unique_indices };
    one(py, || indexing::update(&kind, &x, &items, &y, &options))
}

/// `x.at[index].apply(func, ...)`.
#[pyfunction]
#[pyo3(signature = (x, index, func, *, indices_are_sorted=false, unique_indices=false, mode=None))]
fn _at_apply(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    func: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = operand(x, "scatter", 0)?;
    let items = items(index)?;
    let options = UpdateOptions { mode: index_mode(mode)?, sorted: indices_are_sorted, unique: unique_indices };
    one(py, || {
        let mut call = |element: &Val| {
            let element = wrap(py, element.clone()).carry(py)?;
            let out = func.call1((element,)).carry(py)?;
            to_val(&out).carry(py)
        };
        indexing::apply(&x, &items, &mut call, &options)
    })
}
