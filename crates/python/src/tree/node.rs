//! One container: how it comes apart, how its kind compares and prints, and how it is put together.

use std::any::Any;
use std::sync::Arc;

use pullback_base::tree::{CustomNode, Node, enclosed};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use smallvec::SmallVec;

use super::keys::sorted_keys;
use super::leaf_types;
use super::registry::{self, Form, Registration};
use crate::errors::value_error;
use crate::value::PyArray;

/// Children of a container.
pub type Children<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// A container taken apart.
pub enum Expansion<'py> {
    /// No container.
    Leaf,
    /// `None`.
    None,
    /// A tuple.
    Tuple(Bound<'py, PyTuple>),
    /// A list.
    List(Bound<'py, PyList>),
    /// A dictionary.
    Dict(Bound<'py, PyDict>),
    /// Anything else, with its children.
    Custom(PyNode, Children<'py>),
}

impl Expansion<'_> {
    /// Whether nothing is below: a leaf or `None`.
    #[inline]
    pub fn is_childless(&self) -> bool {
        match self {
            Expansion::Leaf | Expansion::None => true,
            Expansion::Tuple(_) | Expansion::List(_) | Expansion::Dict(_) | Expansion::Custom(..) => false,
        }
    }
}

/// Which kind of custom container.
pub enum PyKind {
    /// A plain dictionary; the static data are its sorted keys.
    Dict,
    /// A class made by `namedtuple`.
    NamedTuple,
    /// `collections.OrderedDict`; the static data are its keys.
    OrderedDict,
    /// `collections.defaultdict`; the static data are its factory and its sorted keys.
    DefaultDict,
    /// A registered class.
    Registered(Arc<Registration>),
}

/// A container without its children: kind, class and static data.
pub struct PyNode {
    /// Which kind.
    pub kind: PyKind,
    /// Its class.
    pub class: Py<PyType>,
    /// Its static data.
    pub aux: Py<PyAny>,
}

struct Classes {
    ordered_dict: Py<PyType>,
    default_dict: Py<PyType>,
}

fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("collections")?;
        let get = |name| -> PyResult<Py<PyType>> { Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        Ok(Classes { ordered_dict: get("OrderedDict")?, default_dict: get("defaultdict")? })
    })
}

/// Takes a container apart.
#[inline]
pub fn expand<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Expansion<'py>> {
    if leaf_types::is_known(obj) {
        return Ok(Expansion::Leaf);
    }
    if obj.is_none() {
        return Ok(Expansion::None);
    }
    // SAFETY: the checks only read the type of a live object.
    let (is_tuple, is_list, is_dict) = unsafe {
        let raw = obj.as_ptr();
        (ffi::PyTuple_CheckExact(raw) != 0, ffi::PyList_CheckExact(raw) != 0, ffi::PyDict_CheckExact(raw) != 0)
    };
    if is_tuple {
        return Ok(Expansion::Tuple(obj.clone().cast_into()?));
    }
    if is_list {
        return Ok(Expansion::List(obj.clone().cast_into()?));
    }
    if is_dict {
        return Ok(Expansion::Dict(obj.clone().cast_into()?));
    }
    let expansion = expand_other(obj)?;
    if matches!(expansion, Expansion::Leaf) {
        leaf_types::remember(obj);
    }
    Ok(expansion)
}

fn expand_other<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Expansion<'py>> {
    if obj.is_instance_of::<PyArray>() {
        return Ok(Expansion::Leaf);
    }
    let (py, class) = (obj.py(), obj.get_type());
    if let Some(registration) = registry::find(&class) {
        return expand_registered(obj, registration);
    }
    if obj.is_instance_of::<PyTuple>() && obj.hasattr("_fields")? {
        let children = obj.cast::<PyTuple>()?.iter().collect();
        let node = PyNode { kind: PyKind::NamedTuple, aux: class.clone().into_any().unbind(), class: class.unbind() };
        return Ok(Expansion::Custom(node, children));
    }
    let Ok(dict) = obj.cast::<PyDict>() else { return Ok(Expansion::Leaf) };
    let known = classes(py)?;
    let is_default = class.is(&known.default_dict);
    if !is_default && !class.is(&known.ordered_dict) {
        return Ok(Expansion::Leaf);
    }
    let keys = if is_default { sorted_keys(dict)? } else { ordered_keys(obj)? };
    let children: PyResult<Children<'py>> = keys.iter().map(|key| obj.get_item(key)).collect();
    let keys = keys.to_tuple().into_any();
    let (kind, aux) = if is_default {
        (PyKind::DefaultDict, PyTuple::new(py, [obj.getattr("default_factory")?, keys])?.into_any())
    } else {
        (PyKind::OrderedDict, keys)
    };
    Ok(Expansion::Custom(PyNode { kind, class: class.unbind(), aux: aux.unbind() }, children?))
}

/// Keys of an `OrderedDict`, whose order the dictionary underneath need not have.
fn ordered_keys<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let keys = PyList::empty(obj.py());
    for key in obj.try_iter()? {
        keys.append(key?)?;
    }
    Ok(keys)
}

fn expand_registered<'py>(obj: &Bound<'py, PyAny>, registration: Arc<Registration>) -> PyResult<Expansion<'py>> {
    let py = obj.py();
    let (children, aux) = match &registration.form {
        Form::Static => (Children::new(), obj.clone()),
        Form::Functions { to_iterable, .. } => split_pair(&to_iterable.bind(py).call1((obj,))?)?,
        Form::Dataclass { data, meta } => {
            let children: PyResult<Children<'py>> = data.iter().map(|name| attribute(obj, name)).collect();
            let meta: PyResult<Vec<_>> = meta.iter().map(|name| attribute(obj, name)).collect();
            (children?, PyTuple::new(py, meta?)?.into_any())
        }
    };
    let node =
        PyNode { class: registration.class.clone_ref(py), kind: PyKind::Registered(registration), aux: aux.unbind() };
    Ok(Expansion::Custom(node, children))
}

fn attribute<'py>(obj: &Bound<'py, PyAny>, name: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    obj.getattr(name.bind(obj.py()).cast::<pyo3::types::PyString>()?)
}

fn split_pair<'py>(pair: &Bound<'py, PyAny>) -> PyResult<(Children<'py>, Bound<'py, PyAny>)> {
    let fits = pair.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
    let Some(pair) = fits else {
        let text = "The to_iterable function for a custom PyTree node should return a (children, aux_data) tuple, got";
        return Err(value_error(format!("{text} {}", pair.repr()?)));
    };
    let mut children = Children::new();
    let iterable = pair.get_item(0)?;
    if !iterable.is_none() {
        let not_iterable = |_| {
            let text = "The to_iterable function for a custom PyTree node should return a (children, aux_data) tuple where \
                        'children' is iterable, got";
            value_error(format!("{text} {pair}"))
        };
        for child in iterable.try_iter().map_err(not_iterable)? {
            children.push(child?);
        }
    }
    Ok((children, pair.get_item(1)?))
}

impl PyNode {
    /// A plain dictionary with sorted keys.
    pub fn dict(keys: Bound<'_, PyList>) -> PyNode {
        let class = keys.py().get_type::<PyDict>().unbind();
        PyNode { kind: PyKind::Dict, class, aux: keys.into_any().unbind() }
    }

    /// As a node of a treedef.
    pub fn into_node(self) -> Node {
        if matches!(self.kind, PyKind::Dict) { Node::Dict(Arc::new(self)) } else { Node::Custom(Arc::new(self)) }
    }

    /// The payload of a custom node.
    pub fn of(custom: &Arc<dyn CustomNode>) -> &PyNode {
        custom.as_any().downcast_ref().expect("treedefs of Python hold nodes of Python")
    }

    /// Keys of a dictionary of any kind.
    pub fn keys<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let aux = self.aux.bind(py);
        let keys = if matches!(self.kind, PyKind::DefaultDict) { aux.get_item(1)? } else { aux.clone() };
        keys.try_iter()?.collect()
    }

    /// The static data, for Python to keep.
    pub fn data(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // Dictionaries share the list of their keys.
        if matches!(self.kind, PyKind::Dict) {
            Ok(PyList::new(py, self.keys(py)?)?.into())
        } else {
            Ok(self.aux.clone_ref(py))
        }
    }

    /// The container with the given children.
    pub fn build(&self, py: Python<'_>, children: Vec<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        match &self.kind {
            PyKind::Registered(registration) => registration.build(py, self.aux.bind(py), children),
            PyKind::NamedTuple => self.class.call1(py, PyTuple::new(py, children)?),
            PyKind::Dict => self.build_dict(py, children.into_iter().map(|child| child.into_bound(py))),
            PyKind::OrderedDict | PyKind::DefaultDict => {
                let empty = match &self.kind {
                    PyKind::DefaultDict => self.class.call1(py, (self.aux.bind(py).get_item(0)?,))?,
                    _ => self.class.call0(py)?,
                };
                fill(empty.bind(py), self.keys(py)?, children)?;
                Ok(empty)
            }
        }
    }

    /// The plain dictionary with the given values.
    pub fn build_dict<'py>(
        &self,
        py: Python<'py>,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let dict = PyDict::new(py);
        let keys = self.aux.bind(py).cast::<PyList>()?;
        keys.iter().zip(values).try_for_each(|(key, value)| dict.set_item(key, value))?;
        Ok(dict.into_any().unbind())
    }

    fn try_equals(&self, py: Python<'_>, other: &PyNode) -> PyResult<bool> {
        Ok(self.class.is(&other.class) && (self.aux.is(&other.aux) || self.aux.bind(py).eq(other.aux.bind(py))?))
    }
}

fn fill(dict: &Bound<'_, PyAny>, keys: Vec<Bound<'_, PyAny>>, children: Vec<Py<PyAny>>) -> PyResult<()> {
    keys.into_iter().zip(children).try_for_each(|(key, child)| dict.set_item(key, child))
}

impl CustomNode for PyNode {
    fn equals(&self, other: &dyn CustomNode) -> bool {
        let Some(other) = other.as_any().downcast_ref::<PyNode>() else { return false };
        Python::attach(|py| self.try_equals(py, other).unwrap_or(false))
    }

    /// Static data need not be hashable, so only the class counts; the treedef adds arity and children.
    fn hash_value(&self) -> u64 {
        self.class.as_ptr() as u64
    }

    fn pieces(&self, n: usize) -> Vec<String> {
        let failed = |error: PyErr| enclosed(&format!("<{error}>["), n, "]");
        Python::attach(|py| self.try_pieces(py, n).unwrap_or_else(failed))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PyNode {
    fn try_pieces(&self, py: Python<'_>, n: usize) -> PyResult<Vec<String>> {
        if matches!(self.kind, PyKind::Dict) {
            let mut pieces = enclosed("{", n, "}");
            for (key, piece) in self.keys(py)?.iter().zip(&mut pieces[..n]) {
                piece.push_str(&format!("{}: ", key.repr()?));
            }
            return Ok(pieces);
        }
        let class = self.class.bind(py).name()?;
        let head = match self.kind {
            PyKind::NamedTuple => format!("CustomNode(namedtuple[{class}], ["),
            _ => format!("CustomNode({class}[{}], [", self.aux.bind(py).str()?),
        };
        Ok(enclosed(&head, n, "])"))
    }
}
