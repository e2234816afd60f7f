//! Results of public functions as Python objects.

use pullback_ir::Vals;
use pullback_lib::declare::{NamedTuple, Returned};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::dtypes::to_numpy;
use crate::tree::unflatten;
use crate::value::{wrap, wrap_all};

/// The Python object of a result.
///
/// # Errors
/// What the constructors of trees and named tuples raise.
pub fn wrapped(py: Python<'_>, returned: Returned) -> PyResult<Py<PyAny>> {
    Ok(match returned {
        Returned::One(val) => wrap(py, val)?,
        Returned::Tuple(vals) => PyTuple::new(py, wrap_all(py, vals)?)?.into_any().unbind(),
        Returned::List(vals) => PyList::new(py, wrap_all(py, vals)?)?.into_any().unbind(),
        Returned::Named(class, vals) => named(py, class, vals)?,
        Returned::Tree(tree) => unflatten(py, &tree.structure, wrap_all(py, tree.leaves)?)?,
        Returned::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any().unbind(),
        Returned::Int(number) => number.into_pyobject(py)?.into_any().unbind(),
        Returned::Sizes(sizes) => PyTuple::new(py, sizes)?.into_any().unbind(),
        Returned::DType(dtype) => to_numpy(py, dtype)?.unbind(),
        Returned::Text(text) => PyString::new(py, &text).into_any().unbind(),
    })
}

/// An instance of the class that the Python module of that name has.
fn named(py: Python<'_>, class: &NamedTuple, vals: Vals) -> PyResult<Py<PyAny>> {
    let (module, name) = class.name.rsplit_once('.').unwrap_or(("", class.name));
    let class = py.import(format!("pullback.{module}"))?.getattr(name)?;
    Ok(class.call1(PyTuple::new(py, wrap_all(py, vals)?)?)?.unbind())
}
