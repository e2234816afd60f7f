//! Products, sorting and choice.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{Arrays, canonical, check_out_sharding, no_out, one, optional, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::bail;
use pullback_lib::numpy::{self, TakeMode, TakeOptions, TensordotAxes};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(dot, m)?)?;
    m.add_function(wrap_pyfunction!(matmul, m)?)?;
    m.add_function(wrap_pyfunction!(vdot, m)?)?;
    m.add_function(wrap_pyfunction!(vecdot, m)?)?;
    m.add_function(wrap_pyfunction!(inner, m)?)?;
    m.add_function(wrap_pyfunction!(outer, m)?)?;
    m.add_function(wrap_pyfunction!(tensordot, m)?)?;
    m.add_function(wrap_pyfunction!(cross, m)?)?;
    m.add_function(wrap_pyfunction!(sort, m)?)?;
    m.add_function(wrap_pyfunction!(argsort, m)?)?;
    m.add_function(wrap_pyfunction!(lexsort, m)?)?;
    m.add_function(wrap_pyfunction!(searchsorted, m)?)?;
    m.add_function(wrap_pyfunction!(digitize, m)?)?;
    m.add_function(wrap_pyfunction!(partition, m)?)?;
    m.add_function(wrap_pyfunction!(argpartition, m)?)?;
    m.add_function(wrap_pyfunction!(top_k, m)?)?;
    m.add_function(wrap_pyfunction!(take, m)?)?;
    m.add_function(wrap_pyfunction!(take_along_axis, m)?)?;
    m.add_function(wrap_pyfunction!(choose, m)?)?;
    m.add_function(wrap_pyfunction!(select, m)?)?;
    Ok(())
}

/// The dot product.
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn dot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "dot", 0)?;
    let b = b.val(py, "dot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "dot")?;
    check_out_sharding("jnp.dot", out_sharding.as_ref())?;
    one(py, || numpy::dot(&a, &b, preferred_element_type))
}

/// The matrix product.
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn matmul(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "matmul", 0)?;
    let b = b.val(py, "matmul", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "matmul")?;
    check_out_sharding("jnp.matmul", out_sharding.as_ref())?;
    one(py, || numpy::matmul(&a, &b, preferred_element_type))
}

/// The dot product of all elements.
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None)")]
fn vdot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "vdot", 0)?;
    let b = b.val(py, "vdot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "vdot")?;
    one(py, || numpy::vdot(&a, &b, preferred_element_type))
}

/// The dot product over one axis.
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None), text_signature = "(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None)")]
fn vecdot(
    py: Python<'_>,
    x1: ArrayLike,
    x2: ArrayLike,
    axis: i64,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "vecdot", 0)?;
    let x2 = x2.val(py, "vecdot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "vecdot")?;
    one(py, || numpy::vecdot(&x1, &x2, axis, preferred_element_type))
}

/// The sum of products over the last axes.
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None)")]
fn inner(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "inner", 0)?;
    let b = b.val(py, "inner", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "inner")?;
    one(py, || numpy::inner(&a, &b, preferred_element_type))
}

/// All products of elements of two vectors.
#[pyfunction]
#[pyo3(signature = (a, b, out=None), text_signature = "(a, b, out=None)")]
fn outer(py: Python<'_>, a: ArrayLike, b: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "outer", 0)?;
    let b = b.val(py, "outer", 1)?;
    no_out("outer", out.as_ref())?;
    one(py, || numpy::outer(&a, &b))
}

/// The sum of products over chosen axes.
#[pyfunction]
#[pyo3(signature = (a, b, axes=None, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn tensordot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    axes: Option<&Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "tensordot", 0)?;
    let b = b.val(py, "tensordot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "tensordot")?;
    check_out_sharding("jnp.tensordot", out_sharding.as_ref())?;
    {
        let axes = match axes {
            None => TensordotAxes::Count(2),
            Some(axes) => super::support::tensordot_axes(axes)?,
        };
        one(py, || numpy::tensordot(&a, &b, &axes, preferred_element_type))
    }
}

/// The cross product.
#[pyfunction]
#[pyo3(signature = (a, b, axisa=-1, axisb=-1, axisc=-1, axis=None), text_signature = "(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)")]
fn cross(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    axisa: i64,
    axisb: i64,
    axisc: i64,
    axis: Option<i64>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cross", 0)?;
    let b = b.val(py, "cross", 1)?;
    one(py, || numpy::cross(&a, &b, axis.map_or([axisa, axisb, axisc], |axis| [axis; 3])))
}

/// Refuses the arguments of NumPy's that choose a method or fields.
fn plain_order(name: &str, kind: Option<&Bound<'_, PyAny>>, order: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if kind.is_some() {
        return Err(crate::errors::type_error(format!(
            "'kind' argument to {name} is not supported. Use stable=True or stable=False to specify sort stability."
        )));
    }
    match order {
        None => Ok(()),
        Some(_) => Err(crate::errors::type_error(format!("'order' argument to {name} is not supported."))),
    }
}

/// The elements in order along an axis.
#[pyfunction]
#[pyo3(signature = (a, axis=Some(-1), *, kind=None, order=None, stable=true, descending=false), text_signature = "(a, axis=-1, *, kind=None, order=None, stable=True, descending=False)")]
fn sort(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    kind: Option<Bound<'_, PyAny>>,
    order: Option<Bound<'_, PyAny>>,
    stable: bool,
    descending: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "sort", 0)?;
    plain_order("sort", kind.as_ref(), order.as_ref())?;
    one(py, || numpy::sort(&a, axis, stable, descending))
}

/// The positions that would sort along an axis.
#[pyfunction]
#[pyo3(signature = (a, axis=Some(-1), *, kind=None, order=None, stable=true, descending=false, dtype=None), text_signature = "(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None)")]
fn argsort(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    kind: Option<Bound<'_, PyAny>>,
    order: Option<Bound<'_, PyAny>>,
    stable: bool,
    descending: bool,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argsort", 0)?;
    plain_order("argsort", kind.as_ref(), order.as_ref())?;
    let dtype = canonical(py, dtype, "argsort")?;
    one(py, || {
        let _ = dtype;
        numpy::argsort(&a, axis, stable, descending)
    })
}

/// The positions that would sort by several keys.
#[pyfunction]
#[pyo3(signature = (keys, axis=-1, *, batch_size=16), text_signature = "(keys, axis=-1, *, batch_size=16)")]
fn lexsort(py: Python<'_>, keys: Arrays, axis: i64, batch_size: i64) -> PyResult<Py<PyAny>> {
    let keys = keys.vals(py, "lexsort")?;
    one(py, || {
        let _ = batch_size;
        numpy::lexsort(&keys, axis)
    })
}

/// Positions at which elements would be inserted.
#[pyfunction]
#[pyo3(signature = (a, v, side="left", sorter=None, *, method="scan"), text_signature = "(a, v, side='left', sorter=None, *, method='scan')")]
fn searchsorted(
    py: Python<'_>,
    a: ArrayLike,
    v: ArrayLike,
    side: &str,
    sorter: Option<ArrayLike>,
    method: &str,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "searchsorted", 0)?;
    let v = v.val(py, "searchsorted", 1)?;
    let sorter = optional(py, sorter, "searchsorted", 3)?;
    one(py, || {
        let _ = method;
        let sorted = match &sorter {
            Some(order) => numpy::take(&a, order, None, TakeOptions::default())?,
            None => a.clone(),
        };
        match side {
            "left" | "right" => numpy::searchsorted(&sorted, &v, side == "right"),
            _ => bail!(Value, "{side:?} is an invalid value for keyword 'side'. Expected one of ['left', 'right']."),
        }
    })
}

/// The bin of each element.
#[pyfunction]
#[pyo3(signature = (x, bins, right=false, *, method=None), text_signature = "(x, bins, right=False, *, method=None)")]
fn digitize(py: Python<'_>, x: ArrayLike, bins: ArrayLike, right: bool, method: Option<&str>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "digitize", 0)?;
    let bins = bins.val(py, "digitize", 1)?;
    one(py, || {
        let _ = method;
        numpy::digitize(&x, &bins, right)
    })
}

/// The kth smallest in its place.
#[pyfunction]
#[pyo3(signature = (a, kth, axis=-1), text_signature = "(a, kth, axis=-1)")]
fn partition(py: Python<'_>, a: ArrayLike, kth: i64, axis: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "partition", 0)?;
    one(py, || numpy::partition(&a, kth, axis))
}

/// Positions for partition.
#[pyfunction]
#[pyo3(signature = (a, kth, axis=-1), text_signature = "(a, kth, axis=-1)")]
fn argpartition(py: Python<'_>, a: ArrayLike, kth: i64, axis: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argpartition", 0)?;
    one(py, || numpy::argpartition(&a, kth, axis))
}

/// The greatest elements and their positions.
#[pyfunction]
#[pyo3(signature = (a, k, /, *, axis=-1, mode="largest", sorted=true), text_signature = "(a, k, /, *, axis=-1, mode='largest', sorted=True)")]
fn top_k(py: Python<'_>, a: ArrayLike, k: usize, axis: i64, mode: &str, sorted: bool) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "top_k", 0)?;
    tuple(py, || {
        let _ = sorted;
        if mode != "largest" {
            bail!(NotImplemented, "jnp.top_k with mode={mode:?} is not implemented");
        }
        let (values, positions) = numpy::top_k(&a, k, axis)?;
        Ok([values, positions])
    })
}

/// Elements at indices along an axis.
#[pyfunction]
#[pyo3(signature = (a, indices, axis=None, out=None, mode=None, unique_indices=false, indices_are_sorted=false, fill_value=None), text_signature = "(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None)")]
fn take(
    py: Python<'_>,
    a: ArrayLike,
    indices: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    mode: Option<&str>,
    unique_indices: bool,
    indices_are_sorted: bool,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "take", 0)?;
    let indices = indices.val(py, "take", 1)?;
    no_out("take", out.as_ref())?;
    {
        let options =
            super::support::take_options(mode, unique_indices, indices_are_sorted, fill_value, a.aval().dtype)?;
        one(py, || numpy::take(&a, &indices, axis, options))
    }
}

/// Elements at indices along an axis, one for each position.
#[pyfunction]
#[pyo3(signature = (arr, indices, axis=Some(-1), mode=None, fill_value=None, *, wrap_negative_indices=true), text_signature = "(arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=True)")]
fn take_along_axis(
    py: Python<'_>,
    arr: ArrayLike,
    indices: ArrayLike,
    axis: Option<i64>,
    mode: Option<&str>,
    fill_value: Option<&Bound<'_, PyAny>>,
    wrap_negative_indices: bool,
) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "take_along_axis", 0)?;
    let indices = indices.val(py, "take_along_axis", 1)?;
    {
        let _ = wrap_negative_indices;
        let options = super::support::take_options(mode, false, false, fill_value, arr.aval().dtype)?;
        one(py, || numpy::take_along_axis(&arr, &indices, axis, options))
    }
}

/// For each element that of one of several choices.
#[pyfunction]
#[pyo3(signature = (a, choices, out=None, mode="raise"), text_signature = "(a, choices, out=None, mode='raise')")]
fn choose(
    py: Python<'_>,
    a: ArrayLike,
    choices: Arrays,
    out: Option<Bound<'_, PyAny>>,
    mode: &str,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "choose", 0)?;
    let choices = choices.vals(py, "choose")?;
    no_out("choose", out.as_ref())?;
    one(py, || {
        let mode = match mode {
            "wrap" => TakeMode::Wrap,
            "clip" => TakeMode::Clip,
            _ => bail!(NotImplemented, "jnp.choose with mode={mode:?} is not implemented; give 'wrap' or 'clip'"),
        };
        numpy::choose(&a, &choices, mode)
    })
}

/// The choice of the first condition that holds.
#[pyfunction]
#[pyo3(signature = (condlist, choicelist, default=None), text_signature = "(condlist, choicelist, default=0)")]
fn select(py: Python<'_>, condlist: Arrays, choicelist: Arrays, default: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let condlist = condlist.vals(py, "select")?;
    let choicelist = choicelist.vals(py, "select")?;
    let default = optional(py, default, "select", 2)?;
    one(py, || numpy::select(&condlist, &choicelist, &default.unwrap_or_else(|| pullback_lib::convert::weak_int(0))))
}
