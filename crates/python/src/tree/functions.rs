//! Functions of `tree_util` that walk trees.

use pullback_base::tree::TreeDef;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::flatten::{flatten, unflatten};
use super::map::map_leaves;
use super::paths::flatten_with_paths;
use super::prefix::{broadcast_prefix, flatten_up_to, prefix_mismatch};
use super::treedef::PyTreeDef;
use crate::errors::{type_error, value_error};

/// Leaves and structure of a tree.
///
/// A tree is a leaf or a container of trees: tuple, named tuple, list, dict, `OrderedDict`, `defaultdict`, None (no
/// leaves), or a registered class. Children of a dict come in the order of its sorted keys.
///
/// Args:
///   tree: any object; what is no container is a leaf.
///   is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
/// Returns: the list of leaves and a `PyTreeDef`; `tree_unflatten` is the inverse.
/// Raises:
///   ValueError: keys of a dict that cannot be compared.
/// Differentiable: yes; leaves are passed unchanged.
/// Example:
///   >>> leaves, treedef = jax.tree.flatten({"b": [1, 2], "a": None})
///   >>> leaves, treedef
///   ([1, 2], PyTreeDef({'a': None, 'b': [*, *]}))
#[pyfunction]
#[pyo3(signature = (tree, is_leaf=None))]
fn tree_flatten<'py>(
    tree: &Bound<'py, PyAny>,
    is_leaf: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, PyTreeDef)> {
    let mut leaves = vec![];
    let structure = flatten(tree, is_leaf, &mut leaves)?;
    Ok((leaves, PyTreeDef(structure)))
}

/// Leaves of a tree, from left to right.
///
/// Args:
///   tree: any object; what is no container is a leaf.
///   is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
/// Returns: a list.
/// Raises:
///   ValueError: keys of a dict that cannot be compared.
/// Differentiable: yes; leaves are passed unchanged.
/// Example:
///   >>> jax.tree.leaves({"b": [1, 2], "a": (3, None)})
///   [3, 1, 2]
#[pyfunction]
#[pyo3(signature = (tree, is_leaf=None))]
fn tree_leaves<'py>(tree: &Bound<'py, PyAny>, is_leaf: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    Ok(tree_flatten(tree, is_leaf)?.0)
}

/// Structure of a tree: its containers, without its leaves.
///
/// Args:
///   tree: any object; what is no container is a leaf.
///   is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
/// Returns: a `PyTreeDef`, which compares and hashes by structure.
/// Raises:
///   ValueError: keys of a dict that cannot be compared.
/// Differentiable: no; leaves are left out.
/// Example:
///   >>> jax.tree.structure({"b": [1, 2], "a": 3})
///   PyTreeDef({'a': *, 'b': [*, *]})
#[pyfunction]
#[pyo3(signature = (tree, is_leaf=None))]
fn tree_structure<'py>(tree: &Bound<'py, PyAny>, is_leaf: Option<&Bound<'py, PyAny>>) -> PyResult<PyTreeDef> {
    Ok(tree_flatten(tree, is_leaf)?.1)
}

/// The tree with the given structure and leaves; the inverse of `tree_flatten`.
///
/// Args:
///   treedef: a `PyTreeDef`.
///   leaves: an iterable of as many leaves as the structure has; any objects.
/// Returns: the tree.
/// Raises:
///   TypeError: `treedef` is no `PyTreeDef`, or `leaves` cannot be iterated.
///   ValueError: another number of leaves.
/// Differentiable: yes; leaves are passed unchanged.
/// Example:
///   >>> treedef = jax.tree.structure({"a": 0, "b": (0, 0)})
///   >>> jax.tree.unflatten(treedef, [1, 2, 3])
///   {'a': 1, 'b': (2, 3)}
#[pyfunction]
fn tree_unflatten(py: Python<'_>, treedef: &Bound<'_, PyAny>, leaves: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let Ok(treedef) = treedef.cast::<PyTreeDef>() else {
        return Err(type_error(format!("tree_unflatten expects a PyTreeDef, got {}", treedef.get_type())));
    };
    let leaves: PyResult<Vec<Py<PyAny>>> = leaves.try_iter()?.map(|leaf| leaf.map(Bound::unbind)).collect();
    unflatten(py, &treedef.get().0, leaves?)
}

/// The tree of `f` of the leaves of `tree` and of the parts of `rest` at the same places.
///
/// Args:
///   f: a function of a leaf of `tree` and of one part of each tree of `rest`.
///   tree: any object; what is no container is a leaf.
///   rest: trees that have the structure of `tree` above its leaves; their parts there may be trees.
///   is_leaf: a predicate of nodes of `tree`; where it is true, the node is a leaf whatever it is.
/// Returns: a tree of the structure of `tree`.
/// Raises:
///   ValueError: a tree of `rest` has another structure; the text names the place.
/// Differentiable: as `f` is.
/// Example:
///   >>> jax.tree.map(lambda x, y: x + y, {"a": 1, "b": [2, 3]}, {"a": 10, "b": [20, 30]})
///   {'a': 11, 'b': [22, 33]}
#[pyfunction]
#[pyo3(signature = (f, tree, *rest, is_leaf=None))]
fn tree_map<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    tree: &Bound<'py, PyAny>,
    rest: &Bound<'py, PyTuple>,
    is_leaf: Option<&Bound<'py, PyAny>>,
) -> PyResult<Py<PyAny>> {
    if rest.is_empty() {
        return map_leaves(f, tree, is_leaf);
    }
    let mut leaves = vec![];
    let structure = flatten(tree, is_leaf, &mut leaves)?;
    let columns = columns(tree, &structure, leaves, rest, is_leaf)?;
    let mut mapped = vec![];
    for row in 0..structure.n_leaves() {
        let arguments = PyTuple::new(py, columns.iter().map(|column| &column[row]))?;
        mapped.push(f.call1(arguments)?.unbind());
    }
    unflatten(py, &structure, mapped)
}

fn columns<'py>(
    tree: &Bound<'py, PyAny>,
    structure: &TreeDef,
    leaves: Vec<Bound<'py, PyAny>>,
    rest: &Bound<'py, PyTuple>,
    is_leaf: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Vec<Bound<'py, PyAny>>>> {
    let mut columns = vec![leaves];
    for other in rest.iter() {
        columns.push(flatten_up_to(structure, &other).map_err(|error| explain(tree, &other, is_leaf, error))?);
    }
    Ok(columns)
}

/// The first difference of two trees, as an error, where a predicate decides on leaves too.
fn first_difference(
    tree: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
    is_leaf: &Bound<'_, PyAny>,
) -> PyResult<Option<PyErr>> {
    let module = tree.py().import("pullback._tree_errors")?;
    let found = module.call_method1("prefix_errors", (tree, other, is_leaf))?;
    let Some(first) = found.try_iter()?.next() else { return Ok(None) };
    Ok(Some(PyErr::from_value(first?.call1(("tree_map tree",))?)))
}

/// The same error in terms of key paths, when the trees alone decide.
fn explain(
    tree: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
    is_leaf: Option<&Bound<'_, PyAny>>,
    error: PyErr,
) -> PyErr {
    if !error.is_instance_of::<pyo3::exceptions::PyValueError>(tree.py()) {
        return error;
    }
    if let Some(is_leaf) = is_leaf {
        return match first_difference(tree, other, is_leaf) {
            Ok(Some(found)) => found,
            Ok(None) => error,
            Err(raised) => raised,
        };
    }
    match prefix_mismatch(tree, other, "tree_map tree") {
        Ok(Some(text)) => value_error(text),
        Ok(None) => error,
        Err(raised) => raised,
    }
}

/// Pairs of key path and leaf, and the structure of a tree.
///
/// Args:
///   tree: any object; what is no container is a leaf.
///   is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
///   is_leaf_takes_path: whether `is_leaf` is a function of key path and node.
/// Returns: a list of pairs of key path (a tuple of `DictKey`, `SequenceKey`, `GetAttrKey` or `FlattenedIndexKey`) and
/// leaf, and a `PyTreeDef`.
/// Raises:
///   ValueError: keys of a dict that cannot be compared.
/// Differentiable: yes; leaves are passed unchanged.
/// Example:
///   >>> pairs, treedef = jax.tree.flatten_with_path({"a": [1, 2]})
///   >>> [(jax.tree_util.keystr(path), leaf) for path, leaf in pairs]
///   [("['a'][0]", 1), ("['a'][1]", 2)]
#[pyfunction]
#[pyo3(signature = (tree, is_leaf=None, is_leaf_takes_path=false))]
fn tree_flatten_with_path<'py>(
    tree: &Bound<'py, PyAny>,
    is_leaf: Option<&Bound<'py, PyAny>>,
    is_leaf_takes_path: bool,
) -> PyResult<(Vec<(Bound<'py, PyTuple>, Bound<'py, PyAny>)>, PyTreeDef)> {
    let (found, structure) = flatten_with_paths(tree, is_leaf, is_leaf_takes_path)?;
    Ok((found, PyTreeDef(structure)))
}

/// For each leaf of the structure, the leaf of the prefix above it.
#[pyfunction]
fn _broadcast_prefix<'py>(prefix: &Bound<'py, PyAny>, full: &PyTreeDef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    broadcast_prefix(prefix, &full.0)
}

/// Why the first tree is no prefix of the second, in words; `None` when it is one.
#[pyfunction]
fn _prefix_mismatch(prefix: &Bound<'_, PyAny>, full: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<String>> {
    prefix_mismatch(prefix, full, name)
}

/// Children of a container with their keys, and its static data; `None` for a leaf.
#[pyfunction]
fn _keyed_children<'py>(tree: &Bound<'py, PyAny>) -> PyResult<Vec<(Py<PyAny>, Bound<'py, PyAny>)>> {
    let py = tree.py();
    super::paths::keyed_children(tree)?.into_iter().map(|(key, child)| Ok((key.object(py)?, child))).collect()
}

/// Whether nothing in the iterable is a container.
///
/// Args:
///   iterable: objects to test.
///   is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
/// Returns: a bool.
/// Raises:
///   TypeError: `iterable` cannot be iterated.
/// Differentiable: no; values are not looked at.
/// Example:
///   >>> jax.tree_util.all_leaves([1, 2.0]), jax.tree_util.all_leaves([1, (2,)])
///   (True, False)
#[pyfunction]
#[pyo3(signature = (iterable, is_leaf=None))]
fn all_leaves<'py>(iterable: &Bound<'py, PyAny>, is_leaf: Option<&Bound<'py, PyAny>>) -> PyResult<bool> {
    for item in iterable.try_iter()? {
        if !tree_structure(&item?, is_leaf)?.0.is_leaf() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(tree_flatten, m)?)?;
    m.add_function(wrap_pyfunction!(tree_leaves, m)?)?;
    m.add_function(wrap_pyfunction!(tree_structure, m)?)?;
    m.add_function(wrap_pyfunction!(tree_unflatten, m)?)?;
    m.add_function(wrap_pyfunction!(tree_map, m)?)?;
    m.add_function(wrap_pyfunction!(tree_flatten_with_path, m)?)?;
    m.add_function(wrap_pyfunction!(_broadcast_prefix, m)?)?;
    m.add_function(wrap_pyfunction!(_prefix_mismatch, m)?)?;
    m.add_function(wrap_pyfunction!(_keyed_children, m)?)?;
    m.add_function(wrap_pyfunction!(all_leaves, m)?)
}
