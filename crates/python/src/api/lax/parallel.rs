//! Collectives and the named axes they run over, for `pullback.lax._parallel`.

use std::sync::{Mutex, PoisonError};

use pullback_core::prims::{Axis, Groups};
use pullback_ir::{AxisName, Val};
use pullback_lib::lax;
use pullback_trace::BoundAxis;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::api::arguments::one;
use crate::gate::gate;
use crate::value::to_val;

/// The name of an axis: text stands for itself, any other hashable object for a text of its own.
///
/// # Errors
/// `TypeError` for an object without hash.
pub fn axis_name(obj: &Bound<'_, PyAny>) -> PyResult<AxisName> {
    static OTHERS: Mutex<Option<Py<PyDict>>> = Mutex::new(None);
    if let Ok(text) = obj.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    let py = obj.py();
    let known = {
        let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
        others.get_or_insert_with(|| PyDict::new(py).unbind()).clone_ref(py)
    };
    let known = known.bind(py);
    if let Some(text) = known.get_item(obj)? {
        return Ok(text.to_string().into());
    }
    // The number keeps apart objects that print alike.
    let text = format!("{}#{}", obj.repr()?, known.len());
    known.set_item(obj, &text)?;
    Ok(text.into())
}

/// Names of axes from one name or a tuple or list of them.
///
/// # Errors
/// As [`axis_name`].
pub fn axis_names(obj: &Bound<'_, PyAny>) -> PyResult<Vec<AxisName>> {
    if obj.is_instance_of::<PyTuple>() || obj.is_instance_of::<pyo3::types::PyList>() {
        return obj.try_iter()?.map(|name| axis_name(&name?)).collect();
    }
    Ok(vec![axis_name(obj)?])
}

/// Named and positional axes: an integer is a position.
fn axes_of(obj: &Bound<'_, PyAny>, x: &Val) -> PyResult<Vec<Axis>> {
    let mut axes = vec![];
    let mut add = |axis: &Bound<'_, PyAny>| -> PyResult<()> {
        if !axis.is_instance_of::<pyo3::types::PyInt>() {
            axes.push(Axis::Named(axis_name(axis)?));
            return Ok(());
        }
        let number: i64 = axis.extract()?;
        let position = usize::try_from(number).ok().filter(|&position| position < x.aval().rank());
        axes.push(Axis::Positional(position.ok_or_else(|| {
            let aval = x.aval().weak(false).long();
            crate::errors::value_error(format!("reduction axes ({number},) contains out-of-bounds indices for {aval}."))
        })?));
        Ok(())
    };
    if obj.is_instance_of::<PyTuple>() || obj.is_instance_of::<pyo3::types::PyList>() {
        for axis in obj.try_iter()? {
            add(&axis?)?;
        }
    } else {
        add(obj)?;
    }
    Ok(axes)
}

fn member(obj: &Bound<'_, PyAny>) -> PyResult<Val> {
    to_val(obj).map_err(|error| match error.is_instance_of::<PyTypeError>(obj.py()) {
        true => PyTypeError::new_err(format!(
            "Value {} of type {} is not a valid JAX type",
            obj.str().map(|text| text.to_string()).unwrap_or_default(),
            obj.get_type()
        )),
        false => error,
    })
}

macro_rules! reductions {
    ($($name:ident $function:ident;)*) => {$(
        #[pyfunction]
        fn $name(py: Python<'_>, x: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>, groups: Groups) -> PyResult<Py<PyAny>> {
            let x = member(x)?;
            let axes = axes_of(axes, &x)?;
            one(py, || lax::$function(&x, &axes, &groups))
        }
    )*};
}
reductions! {
    _psum psum;
    _pmax pmax;
    _pmin pmin;
}

#[pyfunction]
fn _all_gather(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    names: &Bound<'_, PyAny>,
    axis: i64,
    groups: Groups,
    tiled: bool,
) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::all_gather(&x, &names, axis, &groups, tiled))
}

#[pyfunction]
fn _psum_scatter(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    names: &Bound<'_, PyAny>,
    axis: i64,
    groups: Groups,
    tiled: bool,
) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::psum_scatter(&x, &names, axis, &groups, tiled))
}

#[pyfunction]
fn _all_to_all(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    names: &Bound<'_, PyAny>,
    axes: (i64, i64),
    groups: Groups,
    tiled: bool,
) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::all_to_all(&x, &names, axes, &groups, tiled))
}

#[pyfunction]
fn _ppermute(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    names: &Bound<'_, PyAny>,
    perm: Vec<(i64, i64)>,
) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::ppermute(&x, &names, &perm))
}

#[pyfunction]
fn _pbroadcast(py: Python<'_>, x: &Bound<'_, PyAny>, names: &Bound<'_, PyAny>, source: usize) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::pbroadcast(&x, &names, source))
}

#[pyfunction]
fn _axis_index(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let name = axis_name(name)?;
    one(py, || lax::axis_index(&name))
}

/// The value, taken to differ along axes of devices.
#[pyfunction]
fn _pvary(py: Python<'_>, x: &Bound<'_, PyAny>, names: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (x, names) = (member(x)?, axis_names(names)?);
    one(py, || lax::pvary(&x, &names))
}

/// The product of the lengths of bound axes.
#[pyfunction]
fn _axes_size(py: Python<'_>, names: &Bound<'_, PyAny>) -> PyResult<usize> {
    let names = axis_names(names)?;
    gate(py, || lax::axes_size(&names))
}

/// Names and lengths of the axes that are bound.
#[pyfunction]
fn _axis_env() -> Vec<(String, usize)> {
    pullback_trace::axis_env().into_iter().map(|axis| (axis.name.to_string(), axis.size)).collect()
}

/// Calls `fun()` with more axes bound.
#[pyfunction]
#[pyo3(signature = (axes, fun, is_typed = false))]
fn _call_with_axes(
    axes: Vec<(Bound<'_, PyAny>, usize)>,
    fun: &Bound<'_, PyAny>,
    is_typed: bool,
) -> PyResult<Py<PyAny>> {
    let bound = |(name, size): (Bound<'_, PyAny>, usize)| Ok(BoundAxis { name: axis_name(&name)?, size, is_typed });
    let axes: PyResult<Vec<_>> = axes.into_iter().map(bound).collect();
    pullback_trace::with_axes(&axes?, || fun.call0()).map(Bound::unbind)
}

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_psum, m)?)?;
    m.add_function(wrap_pyfunction!(_pmax, m)?)?;
    m.add_function(wrap_pyfunction!(_pmin, m)?)?;
    m.add_function(wrap_pyfunction!(_all_gather, m)?)?;
    m.add_function(wrap_pyfunction!(_psum_scatter, m)?)?;
    m.add_function(wrap_pyfunction!(_all_to_all, m)?)?;
    m.add_function(wrap_pyfunction!(_ppermute, m)?)?;
    m.add_function(wrap_pyfunction!(_pbroadcast, m)?)?;
    m.add_function(wrap_pyfunction!(_axis_index, m)?)?;
    m.add_function(wrap_pyfunction!(_pvary, m)?)?;
    m.add_function(wrap_pyfunction!(_axes_size, m)?)?;
    m.add_function(wrap_pyfunction!(_axis_env, m)?)?;
    m.add_function(wrap_pyfunction!(_call_with_axes, m)?)
}
