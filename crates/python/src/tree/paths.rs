//! Key paths: where in a tree a leaf is.

use pullback_base::tree::TreeDef;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::flatten::{IsLeaf, flatten};
use super::keys::entries;
use super::node::{Expansion, PyKind, expand};
use super::registry::Form;
use crate::stack;

macro_rules! key_classes {
    ($($(#[$doc:meta])* $name:ident($field:ident) $text:expr;)*) => {$(
        $(#[$doc])*
        #[pyclass(module = "pullback.tree_util", frozen)]
        pub struct $name {
            /// What the key holds.
            #[pyo3(get)]
            $field: Py<PyAny>,
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__() -> (&'static str,) {
                (stringify!($field),)
            }
            #[new]
            fn new($field: Py<PyAny>) -> Self {
                $name { $field }
            }
            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!(concat!(stringify!($name), "(", stringify!($field), "={})"), self.$field.bind(py).repr()?))
            }
            fn __str__(&self, py: Python<'_>) -> PyResult<String> {
                let show: fn(&Bound<'_, PyAny>) -> PyResult<String> = $text;
                show(self.$field.bind(py))
            }
            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
                match other.cast_exact::<$name>() {
                    Ok(other) => self.$field.bind(py).eq(other.get().$field.bind(py)),
                    Err(_) => Ok(false),
                }
            }
            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                self.$field.bind(py).hash()
            }
            fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyAny>,) {
                (self.$field.clone_ref(py),)
            }
            fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
                visit.call(&self.$field)
            }
        }
    )*};
}
key_classes! {
    /// An entry of a dictionary, as a step of a key path.
    ///
    /// Attributes: `key`, the dictionary's key. As text, `['key']`.
    ///
    /// Example:
    ///   >>> str(jax.tree_util.DictKey("a"))
    ///   "['a']"
    DictKey(key) |key| Ok(format!("[{}]", key.repr()?));
    /// An element of a list or tuple, as a step of a key path.
    ///
    /// Attributes: `idx`, its number. As text, `[0]`.
    ///
    /// Example:
    ///   >>> str(jax.tree_util.SequenceKey(0))
    ///   '[0]'
    SequenceKey(idx) |idx| Ok(format!("[{}]", idx.repr()?));
    /// A named field, as a step of a key path.
    ///
    /// Attributes: `name`, a string. As text, `.name`.
    ///
    /// Example:
    ///   >>> str(jax.tree_util.GetAttrKey("x"))
    ///   '.x'
    GetAttrKey(name) |name| Ok(format!(".{}", name.str()?));
    /// A child of a registered class without keys, as a step of a key path.
    ///
    /// Attributes: `key`, its number. As text, `[<flat index 0>]`.
    ///
    /// Example:
    ///   >>> str(jax.tree_util.FlattenedIndexKey(0))
    ///   '[<flat index 0>]'
    FlattenedIndexKey(key) |key| Ok(format!("[<flat index {}>]", key.repr()?));
}

/// One step of a key path.
pub enum PathEntry {
    /// An element of a list or tuple.
    Sequence(usize),
    /// An entry of a dictionary.
    Dict(Py<PyAny>),
    /// A named field.
    Attribute(Py<PyAny>),
    /// A child of a registered class without keys.
    Flat(usize),
    /// A key that the user's class made.
    Own(Py<PyAny>),
}

impl PathEntry {
    /// The Python object of the step.
    pub fn object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let number = |index: &usize| Ok::<_, PyErr>(index.into_pyobject(py)?.into_any().unbind());
        Ok(match self {
            PathEntry::Sequence(idx) => Py::new(py, SequenceKey { idx: number(idx)? })?.into_any(),
            PathEntry::Dict(key) => Py::new(py, DictKey { key: key.clone_ref(py) })?.into_any(),
            PathEntry::Attribute(name) => Py::new(py, GetAttrKey { name: name.clone_ref(py) })?.into_any(),
            PathEntry::Flat(index) => Py::new(py, FlattenedIndexKey { key: number(index)? })?.into_any(),
            PathEntry::Own(key) => key.clone_ref(py),
        })
    }

    /// The text of the step: `['w']`, `[0]`, `.x`.
    pub fn text(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.object(py)?.bind(py).str()?.to_string())
    }
}

/// The children of a container with the steps to them; none for a leaf.
pub fn keyed_children<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<(PathEntry, Bound<'py, PyAny>)>> {
    let py = obj.py();
    Ok(match expand(obj)? {
        Expansion::Leaf | Expansion::None => vec![],
        Expansion::Tuple(tuple) => tuple.iter().enumerate().map(|(i, child)| (PathEntry::Sequence(i), child)).collect(),
        Expansion::List(list) => list.iter().enumerate().map(|(i, child)| (PathEntry::Sequence(i), child)).collect(),
        Expansion::Dict(dict) => {
            let entries = entries(&dict)?;
            let keys = entries.keys(py).iter().map(|key| PathEntry::Dict(key.unbind()));
            keys.collect::<Vec<_>>().into_iter().zip(entries.values).collect()
        }
        Expansion::Custom(node, children) => {
            let entries = match &node.kind {
                PyKind::Dict | PyKind::OrderedDict | PyKind::DefaultDict => {
                    node.keys(py)?.into_iter().map(|key| PathEntry::Dict(key.unbind())).collect()
                }
                PyKind::NamedTuple => field_entries(node.class.bind(py).as_any())?,
                PyKind::Registered(registration) => match &registration.form {
                    Form::Static => vec![],
                    Form::Dataclass { data, .. } => {
                        data.iter().map(|name| PathEntry::Attribute(name.clone_ref(py))).collect()
                    }
                    Form::Functions { with_keys: Some(with_keys), .. } => return keyed_by_user(obj, with_keys),
                    Form::Functions { with_keys: None, .. } => (0..children.len()).map(PathEntry::Flat).collect(),
                },
            };
            entries.into_iter().zip(children).collect()
        }
    })
}

fn field_entries(class: &Bound<'_, PyAny>) -> PyResult<Vec<PathEntry>> {
    class.getattr("_fields")?.try_iter()?.map(|name| Ok(PathEntry::Attribute(name?.unbind()))).collect()
}

fn keyed_by_user<'py>(obj: &Bound<'py, PyAny>, with_keys: &Py<PyAny>) -> PyResult<Vec<(PathEntry, Bound<'py, PyAny>)>> {
    let pairs = with_keys.bind(obj.py()).call1((obj,))?.get_item(0)?;
    let pair = |pair: PyResult<Bound<'py, PyAny>>| {
        let pair = pair?;
        Ok((PathEntry::Own(pair.get_item(0)?.unbind()), pair.get_item(1)?))
    };
    pairs.try_iter()?.map(pair).collect()
}

/// Leaves with their paths, and the structure.
pub fn flatten_with_paths<'py>(
    obj: &Bound<'py, PyAny>,
    is_leaf: IsLeaf<'_, 'py>,
    takes_path: bool,
) -> PyResult<(Vec<(Bound<'py, PyTuple>, Bound<'py, PyAny>)>, TreeDef)> {
    let mut walk = Walk { is_leaf, takes_path, path: vec![], found: vec![] };
    if takes_path && is_leaf.is_some() {
        walk.descend(obj)?;
        // The predicate wants paths: what it stopped at is known by identity and order.
        let stops: Vec<Bound<'py, PyAny>> = walk.found.iter().map(|(_, leaf)| leaf.clone()).collect();
        let tree = flatten_at(obj, &mut stops.into_iter().peekable())?;
        return Ok((walk.found, tree));
    }
    // The structure first: of a container inside itself the paths alone would take all memory.
    let tree = flatten(obj, is_leaf, &mut vec![])?;
    walk.descend(obj)?;
    Ok((walk.found, tree))
}

fn flatten_at<'py>(
    obj: &Bound<'py, PyAny>,
    stops: &mut std::iter::Peekable<std::vec::IntoIter<Bound<'py, PyAny>>>,
) -> PyResult<TreeDef> {
    if stops.next_if(|stop| stop.is(obj)).is_some() {
        return Ok(TreeDef::leaf());
    }
    stack::check("flattening a tree")?;
    let mut trees = vec![];
    for (_, child) in keyed_children(obj)? {
        trees.push(flatten_at(&child, stops)?);
    }
    let (_, whole) = super::flatten::flatten_all(obj)?;
    Ok(TreeDef::new(whole.node().clone(), trees))
}

struct Walk<'a, 'py> {
    is_leaf: IsLeaf<'a, 'py>,
    takes_path: bool,
    path: Vec<Bound<'py, PyAny>>,
    found: Vec<(Bound<'py, PyTuple>, Bound<'py, PyAny>)>,
}

impl<'py> Walk<'_, 'py> {
    fn descend(&mut self, obj: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.stops(obj)? || matches!(expand(obj)?, Expansion::Leaf) {
            let path = PyTuple::new(obj.py(), &self.path)?;
            self.found.push((path, obj.clone()));
            return Ok(());
        }
        stack::check("flattening a tree")?;
        for (entry, child) in keyed_children(obj)? {
            self.path.push(entry.object(obj.py())?.into_bound(obj.py()));
            self.descend(&child)?;
            self.path.pop();
        }
        Ok(())
    }

    fn stops(&self, obj: &Bound<'py, PyAny>) -> PyResult<bool> {
        let Some(is_leaf) = self.is_leaf else { return Ok(false) };
        let answer = if self.takes_path {
            is_leaf.call1((PyTuple::new(obj.py(), &self.path)?, obj))?
        } else {
            is_leaf.call1((obj,))?
        };
        answer.is_truthy()
    }
}

/// The text of a path: `['a'][0].x`.
pub fn key_text(path: &Bound<'_, PyTuple>) -> PyResult<String> {
    path.iter().map(|key| Ok(key.str()?.to_string())).collect()
}

fn simple_text(key: &Bound<'_, PyAny>) -> PyResult<String> {
    for name in ["key", "idx", "name"] {
        if let Some(inner) = key.getattr_opt(PyString::new(key.py(), name))? {
            return Ok(inner.str()?.to_string());
        }
    }
    Ok(key.str()?.to_string())
}

/// The text of a key path.
///
/// Args:
///   keys: an iterable of keys, as `tree_flatten_with_path` gives.
///   simple: whether keys are shown without brackets, dots and quotes.
///   separator: what stands between keys.
/// Returns: a string.
/// Raises:
///   TypeError: `keys` cannot be iterated.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> [(path, _)], _ = jax.tree.flatten_with_path({"a": [1]})
///   >>> jax.tree_util.keystr(path), jax.tree_util.keystr(path, simple=True, separator="/")
///   ("['a'][0]", 'a/0')
#[pyfunction]
#[pyo3(signature = (keys, *, simple=false, separator=""))]
fn keystr(keys: &Bound<'_, PyAny>, simple: bool, separator: &str) -> PyResult<String> {
    let show = |key: PyResult<Bound<'_, PyAny>>| {
        let key = key?;
        if simple { simple_text(&key) } else { Ok(key.str()?.to_string()) }
    };
    let texts: PyResult<Vec<String>> = keys.try_iter()?.map(show).collect();
    Ok(texts?.join(separator))
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<DictKey>()?;
    m.add_class::<SequenceKey>()?;
    m.add_class::<GetAttrKey>()?;
    m.add_class::<FlattenedIndexKey>()?;
    m.add_function(wrap_pyfunction!(keystr, m)?)
}
