//! Calls of the user's Python functions on flat values: the seam between trees and transforms.

use pullback_base::tree::TreeDef;
use pullback_ir::Val;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::type_error;
use crate::tree::{flatten_with_paths, key_text, unflatten};
use crate::value::{try_val, wrap_all};

/// Positional and keyword arguments of a call.
pub type Args<'py> = (Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>);

/// The arguments with the given leaves; the structure is that of a pair of a tuple and a dictionary.
pub fn arguments<'py>(py: Python<'py>, tree: &TreeDef, leaves: Vec<Py<PyAny>>) -> PyResult<Args<'py>> {
    let pair = unflatten(py, tree, leaves)?.into_bound(py).cast_into::<PyTuple>()?;
    let args = pair.get_item(0)?.cast_into::<PyTuple>()?;
    let kwargs = pair.get_item(1)?.cast_into::<PyDict>()?;
    Ok((args, (!kwargs.is_empty()).then_some(kwargs)))
}

/// Calls `fun` for the named transform with values in the given structure of arguments.
pub fn call_with<'py>(
    transform: &'static str,
    fun: &Bound<'py, PyAny>,
    tree: &TreeDef,
    vals: &[Val],
) -> PyResult<Bound<'py, PyAny>> {
    call_on(transform, fun, tree, wrap_all(fun.py(), vals.iter().cloned())?)
}

/// As [`call_with`], with objects in the place of values.
pub fn call_on<'py>(
    transform: &'static str,
    fun: &Bound<'py, PyAny>,
    tree: &TreeDef,
    leaves: Vec<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let count = leaves.len();
    let (args, kwargs) = arguments(fun.py(), tree, leaves)?;
    let _guard = crate::names::enter(transform, fun, &args, kwargs.as_ref(), vec![], count);
    fun.call(args, kwargs.as_ref())
}

/// The values of a tree and its structure.
///
/// # Errors
/// What `bad` makes of the first leaf that is no value, and of the text of its path.
pub fn tree_vals<'py>(
    obj: &Bound<'py, PyAny>,
    bad: &dyn Fn(&Bound<'py, PyAny>, &str) -> PyErr,
) -> PyResult<(Vec<Val>, TreeDef)> {
    let mut leaves = vec![];
    let tree = crate::tree::flatten(obj, None, &mut leaves)?;
    let mut vals = Vec::with_capacity(leaves.len());
    for (i, leaf) in leaves.iter().enumerate() {
        match try_val(leaf)? {
            Some(val) => vals.push(val),
            None => return Err(bad(leaf, &path_of(obj, i)?)),
        }
    }
    Ok((vals, tree))
}

/// The text of the path to the leaf number `index`.
pub fn path_of(obj: &Bound<'_, PyAny>, index: usize) -> PyResult<String> {
    let (found, _) = flatten_with_paths(obj, None, false)?;
    found.get(index).map_or_else(|| Ok(String::new()), |(path, _)| key_text(path))
}

/// `TypeError` for something that is no value.
pub fn not_a_jax_type(obj: &Bound<'_, PyAny>, _path: &str) -> PyErr {
    let text = obj.str().map(|text| text.to_string()).unwrap_or_default();
    type_error(format!("Argument '{text}' of type {} is not a valid JAX type", obj.get_type()))
}

/// The tree with the given values as leaves.
pub fn tree_of(py: Python<'_>, tree: &TreeDef, vals: impl IntoIterator<Item = Val>) -> PyResult<Py<PyAny>> {
    let mut vals = vals.into_iter();
    if tree.is_leaf()
        && let Some(val) = vals.next()
    {
        return crate::value::wrap(py, val);
    }
    unflatten(py, tree, wrap_all(py, vals)?)
}

/// `TypeError` unless the object can be called.
pub fn check_callable(fun: &Bound<'_, PyAny>) -> PyResult<()> {
    if fun.is_callable() { Ok(()) } else { Err(type_error(format!("Expected a callable value, got {}", fun.str()?))) }
}
