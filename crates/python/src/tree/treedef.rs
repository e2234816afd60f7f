//! `PyTreeDef`, the structure of a tree as a Python object.

use pullback_base::tree::{Node, TreeDef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use super::flatten::{flatten_all, unflatten};
use super::node::{PyKind, PyNode};
use super::prefix::flatten_up_to;
use crate::errors::value_error;
use crate::stack;

/// The structure of a tree: its containers, with a place for each leaf. Structures compare, hash and pickle.
///
/// Attributes:
///   num_leaves: how many leaves the tree has.
///   num_nodes: how many containers and leaves.
///
/// Example:
///   >>> treedef = jax.tree.structure({"a": [0, 0]})
///   >>> treedef.num_leaves, treedef.unflatten([1, 2])
///   (2, {'a': [1, 2]})
#[pyclass(module = "pullback.tree_util", frozen, weakref)]
pub struct PyTreeDef(pub TreeDef);

#[pymethods]
impl PyTreeDef {
    /// Number of leaves.
    #[getter]
    fn num_leaves(&self) -> usize {
        self.0.n_leaves()
    }

    /// Number of containers and leaves.
    #[getter]
    fn num_nodes(&self) -> usize {
        self.0.n_nodes()
    }

    /// The tree with the given leaves.
    fn unflatten(&self, py: Python<'_>, leaves: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let leaves: PyResult<Vec<Py<PyAny>>> = leaves.try_iter()?.map(|leaf| leaf.map(Bound::unbind)).collect();
        unflatten(py, &self.0, leaves?)
    }

    /// Parts of a tree at the leaves of this structure.
    fn flatten_up_to<'py>(&self, xs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        flatten_up_to(&self.0, xs)
    }

    /// Structures of the children; none for a leaf.
    fn children(&self) -> Vec<PyTreeDef> {
        self.0.children().iter().cloned().map(PyTreeDef).collect()
    }

    /// Class and static data of the root; `None` for a leaf.
    fn node_data(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Py<PyAny>)>> {
        let plain = |class: Bound<'_, PyType>| Some((class.into_any().unbind(), py.None()));
        Ok(match self.0.node() {
            Node::Leaf => None,
            Node::None => plain(py.None().bind(py).get_type()),
            Node::Tuple => plain(py.get_type::<PyTuple>()),
            Node::List => plain(py.get_type::<PyList>()),
            Node::Dict(custom) | Node::Custom(custom) => {
                let node = PyNode::of(custom);
                Some((node.class.clone_ref(py).into_any(), node.data(py)?))
            }
        })
    }

    /// This structure with `inner` in place of every leaf.
    fn compose(&self, inner: &PyTreeDef) -> PyResult<PyTreeDef> {
        composed(&self.0, &inner.0).map(PyTreeDef)
    }

    /// Calls `f_leaf` on leaves and `f_node` on children and static data of containers, from the leaves up.
    fn walk<'py>(
        &self,
        py: Python<'py>,
        f_node: &Bound<'py, PyAny>,
        f_leaf: Option<&Bound<'py, PyAny>>,
        leaves: &Bound<'py, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let mut leaves = leaves.try_iter()?;
        walk(py, &self.0, f_node, f_leaf, &mut || leaves.next())
    }

    /// The structure of a container of the given class and static data (None for a leaf) with the given children.
    #[staticmethod]
    fn from_node_data_and_children(
        py: Python<'_>,
        _registry: Py<PyAny>,
        node_data: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
        children: Vec<PyRef<'_, PyTreeDef>>,
    ) -> PyResult<PyTreeDef> {
        let children: Vec<TreeDef> = children.iter().map(|child| child.0.clone()).collect();
        let Some((class, aux)) = node_data else { return Ok(PyTreeDef(TreeDef::leaf())) };
        node_from_data(py, &class, &aux, children).map(PyTreeDef)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyTreeDef>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        self.0.hash_value()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>,))> {
        let rebuild = py.import("pullback._core")?.getattr("tree_structure")?;
        let skeleton = unflatten(
            py,
            &self.0,
            (0..self.0.n_leaves()).map(|_| false.into_pyobject(py).expect("a bool").to_owned().into_any().unbind()),
        )?;
        Ok((rebuild, (skeleton,)))
    }
}

fn composed(outer: &TreeDef, inner: &TreeDef) -> PyResult<TreeDef> {
    if outer.is_leaf() {
        return Ok(inner.clone());
    }
    stack::check("composing structures of trees")?;
    let children: PyResult<_> = outer.children().iter().map(|child| composed(child, inner)).collect();
    Ok(TreeDef::new(outer.node().clone(), children?))
}

fn walk<'py>(
    py: Python<'py>,
    tree: &TreeDef,
    f_node: &Bound<'py, PyAny>,
    f_leaf: Option<&Bound<'py, PyAny>>,
    next: &mut dyn FnMut() -> Option<PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Py<PyAny>> {
    if tree.is_leaf() {
        let leaf = next().ok_or_else(|| value_error("Too few leaves for PyTreeDef"))??;
        return Ok(f_leaf.map_or_else(|| Ok(leaf.clone()), |f| f.call1((leaf.clone(),)))?.unbind());
    }
    stack::check("walking a tree")?;
    let mut children = vec![];
    for child in tree.children() {
        children.push(walk(py, child, f_node, f_leaf, next)?);
    }
    let aux = match tree.node() {
        Node::Dict(custom) | Node::Custom(custom) => PyNode::of(custom).data(py)?,
        Node::Leaf | Node::None | Node::Tuple | Node::List => py.None(),
    };
    Ok(f_node.call1((PyTuple::new(py, children)?, aux))?.unbind())
}

fn node_from_data(
    py: Python<'_>,
    class: &Bound<'_, PyAny>,
    aux: &Bound<'_, PyAny>,
    children: Vec<TreeDef>,
) -> PyResult<TreeDef> {
    let class = class.cast::<PyType>()?;
    let node = if class.is(py.get_type::<PyTuple>()) {
        Node::Tuple
    } else if class.is(py.get_type::<PyList>()) {
        Node::List
    } else if class.is(py.None().bind(py).get_type()) {
        Node::None
    } else if class.is(py.get_type::<PyDict>()) {
        PyNode::dict(PyList::new(py, aux.try_iter()?.collect::<PyResult<Vec<_>>>()?)?).into_node()
    } else {
        let kind = match super::registry::find(class) {
            Some(registration) => PyKind::Registered(registration),
            None if class.hasattr("_fields")? => PyKind::NamedTuple,
            None if class.hasattr("__missing__")? => PyKind::DefaultDict,
            None => PyKind::OrderedDict,
        };
        PyNode { kind, class: class.clone().unbind(), aux: aux.clone().unbind() }.into_node()
    };
    Ok(TreeDef::new(node, children))
}

/// The structure of a tuple whose entries have the given structures.
///
/// Args:
///   treedefs: an iterable of `PyTreeDef`.
/// Returns: a `PyTreeDef`.
/// Raises:
///   TypeError: an entry is no `PyTreeDef`.
/// Differentiable: no; structures have no leaves.
/// Example:
///   >>> jax.tree_util.treedef_tuple([jax.tree.structure(0), jax.tree.structure([0])])
///   PyTreeDef((*, [*]))
#[pyfunction]
fn treedef_tuple(py: Python<'_>, treedefs: &Bound<'_, PyAny>) -> PyResult<PyTreeDef> {
    let mut children = vec![];
    for child in treedefs.try_iter()? {
        children.push(child?.cast::<PyTreeDef>()?.get().0.clone());
    }
    let _ = py;
    Ok(PyTreeDef(TreeDef::tuple(children)))
}

/// Structures of the children of a container; none for a leaf.
///
/// Args:
///   treedef: a `PyTreeDef`.
/// Returns: a list of `PyTreeDef`.
/// Raises:
///   TypeError: `treedef` is no `PyTreeDef`.
/// Differentiable: no; structures have no leaves.
/// Example:
///   >>> jax.tree_util.treedef_children(jax.tree.structure([0, (0, 0)]))
///   [PyTreeDef(*), PyTreeDef((*, *))]
#[pyfunction]
fn treedef_children(treedef: &PyTreeDef) -> Vec<PyTreeDef> {
    treedef.children()
}

/// Whether the structure is a single leaf.
///
/// Args:
///   treedef: a `PyTreeDef`.
/// Returns: a bool.
/// Raises:
///   TypeError: `treedef` is no `PyTreeDef`.
/// Differentiable: no; structures have no leaves.
/// Example:
///   >>> jax.tree_util.treedef_is_leaf(jax.tree.structure(0)), jax.tree_util.treedef_is_leaf(jax.tree.structure(()))
///   (True, False)
#[pyfunction]
fn treedef_is_leaf(treedef: &PyTreeDef) -> bool {
    treedef.0.is_leaf()
}

/// Whether the class is a container without leaves of its own: see `tree_structure`.
#[pyfunction]
fn treedef_is_strict_leaf(treedef: &PyTreeDef) -> bool {
    treedef.0.is_leaf() && treedef.0.n_nodes() == 1
}

/// The structure of a tree one level deep whose children are treedefs.
#[pyfunction]
fn treedef_from_children(py: Python<'_>, tree: &Bound<'_, PyAny>) -> PyResult<PyTreeDef> {
    let _ = py;
    let (leaves, outer) = flatten_all(tree)?;
    let mut children = vec![];
    for leaf in &leaves {
        children.push(leaf.cast::<PyTreeDef>()?.get().0.clone());
    }
    Ok(PyTreeDef(TreeDef::new(outer.node().clone(), children)))
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyTreeDef>()?;
    m.add_function(wrap_pyfunction!(treedef_tuple, m)?)?;
    m.add_function(wrap_pyfunction!(treedef_children, m)?)?;
    m.add_function(wrap_pyfunction!(treedef_is_leaf, m)?)?;
    m.add_function(wrap_pyfunction!(treedef_is_strict_leaf, m)?)?;
    m.add_function(wrap_pyfunction!(treedef_from_children, m)?)
}
