//! Classes that the user registered as containers.

use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rustc_hash::FxHashMap;

use crate::errors::value_error;

/// How instances come apart and are put together.
pub enum Form {
    /// By the user's functions: to children and static data, back, and optionally to keyed children.
    Functions {
        /// Instance to `(children, aux)`.
        to_iterable: Py<PyAny>,
        /// `(aux, children)` to instance.
        from_iterable: Py<PyAny>,
        /// Instance to `((key, child) pairs, aux)`.
        with_keys: Option<Py<PyAny>>,
    },
    /// By attributes: some are children, some static.
    Dataclass {
        /// Names of the children.
        data: Vec<Py<PyAny>>,
        /// Names of static attributes.
        meta: Vec<Py<PyAny>>,
    },
    /// All of the instance is static.
    Static,
}

/// A registered class.
pub struct Registration {
    /// The class.
    pub class: Py<PyType>,
    /// How its instances come apart.
    pub form: Form,
}

static TABLE: RwLock<Option<FxHashMap<usize, Arc<Registration>>>> = RwLock::new(None);

/// The registration of a class.
pub fn find(class: &Bound<'_, PyType>) -> Option<Arc<Registration>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.as_ref()?.get(&(class.as_ptr() as usize)).cloned()
}

/// Whether a class is a container of its own accord.
fn is_builtin(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let collections = py.import("collections")?;
    let own =
        [py.get_type::<PyTuple>(), py.get_type::<PyList>(), py.get_type::<PyDict>(), py.None().bind(py).get_type()];
    Ok(own.iter().any(|own| own.is(class))
        || class.is(&collections.getattr("OrderedDict")?)
        || class.is(&collections.getattr("defaultdict")?))
}

fn insert(class: Bound<'_, PyType>, form: Form) -> PyResult<()> {
    let key = class.as_ptr() as usize;
    let text = format!("Duplicate custom PyTreeDef type registration for {}.", class.repr()?);
    if is_builtin(&class)? {
        return Err(value_error(text));
    }
    let registration = Arc::new(Registration { class: class.unbind(), form });
    // Functions of the user may go with a registration that is refused: after the lock.
    let is_new = match TABLE.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().entry(key) {
        Entry::Occupied(_) => false,
        Entry::Vacant(free) => {
            free.insert(registration.clone());
            true
        }
    };
    if !is_new {
        return Err(value_error(text));
    }
    super::leaf_types::forget();
    Ok(())
}

impl Registration {
    /// An instance from static data and children.
    pub fn build<'py>(
        &self,
        py: Python<'py>,
        aux: &Bound<'py, PyAny>,
        children: Vec<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match &self.form {
            Form::Static => Ok(aux.clone().unbind()),
            Form::Functions { from_iterable, .. } => from_iterable.call1(py, (aux, PyTuple::new(py, children)?)),
            Form::Dataclass { data, meta } => {
                let fields = PyDict::new(py);
                for (name, child) in data.iter().zip(children) {
                    fields.set_item(name, child)?;
                }
                for (name, value) in meta.iter().zip(aux.cast::<PyTuple>()?) {
                    fields.set_item(name, value)?;
                }
                self.class.call(py, (), Some(&fields))
            }
        }
    }
}

/// Registers a class as a container, with functions that take instances apart and put them together.
#[pyfunction]
#[pyo3(signature = (nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None))]
fn register_pytree_node(
    nodetype: Bound<'_, PyType>,
    flatten_func: Py<PyAny>,
    unflatten_func: Py<PyAny>,
    flatten_with_keys_func: Option<Py<PyAny>>,
) -> PyResult<()> {
    let form =
        Form::Functions { to_iterable: flatten_func, from_iterable: unflatten_func, with_keys: flatten_with_keys_func };
    insert(nodetype, form)
}

/// Registers a class whose instances are containers of some attributes, with others static.
#[pyfunction]
fn _register_dataclass(nodetype: Bound<'_, PyType>, data: Vec<Py<PyAny>>, meta: Vec<Py<PyAny>>) -> PyResult<()> {
    insert(nodetype, Form::Dataclass { data, meta })
}

/// Registers a class whose instances hold no leaves: all of an instance is structure. A decorator.
///
/// Args:
///   cls: a class; its instances must be hashable and comparable where they go through `jit`.
/// Returns: the class.
/// Raises:
///   ValueError: the class is registered already.
///   TypeError: `cls` is no class.
/// Differentiable: no; instances hold no arrays.
/// Example:
///   >>> @jax.tree_util.register_static
///   ... class Name(str):
///   ...     pass
///   >>> jax.tree.leaves([Name("x"), 1])
///   [1]
#[pyfunction]
fn register_static(cls: Bound<'_, PyType>) -> PyResult<Bound<'_, PyType>> {
    insert(cls.clone(), Form::Static)?;
    Ok(cls)
}

/// Whether a class was registered as a container.
#[pyfunction]
fn is_registered(class: &Bound<'_, PyType>) -> bool {
    find(class).is_some()
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(is_registered, m)?)?;
    m.add_function(wrap_pyfunction!(register_pytree_node, m)?)?;
    m.add_function(wrap_pyfunction!(_register_dataclass, m)?)?;
    m.add_function(wrap_pyfunction!(register_static, m)?)
}
