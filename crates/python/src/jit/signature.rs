//! What distinguishes one call of a jitted function from another: structure, avals, static values, settings.
//!
//! A signature is a row of words (kinds of containers, avals as pointers) and the few Python objects among them
//! (dictionary keys, classes, static values), compared by identity first. No treedef is built to look one up.

use std::hash::{Hash, Hasher};

use pullback_ir::Val;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use crate::errors::{type_error, value_error};
use crate::stack;
use crate::tree::{Children, Expansion, expand, values_into};
use crate::value::{ArrayImpl, PyArray, plain_val};

/// A leaf of a call.
pub enum Leaf<'py> {
    /// An array or tracer, which holds its value.
    Array(Bound<'py, PyArray>),
    /// What a number or an array of NumPy became.
    Made(Val),
}

impl Leaf<'_> {
    /// Its value.
    pub fn val(&self) -> &Val {
        match self {
            Leaf::Array(array) => array.get().val(),
            Leaf::Made(val) => val,
        }
    }
}

/// The leaves of a call. Values are shared with the objects that hold them until a program takes them.
pub type Leaves<'py> = SmallVec<[Leaf<'py>; 8]>;

/// Which arguments are static: positions and names, sorted.
#[derive(Clone, Default)]
pub struct Statics {
    /// Positions.
    pub argnums: Vec<usize>,
    /// Names of keyword arguments.
    pub argnames: Vec<String>,
}

impl Statics {
    /// Whether the positional argument is static.
    pub fn has_position(&self, position: usize) -> bool {
        !self.argnums.is_empty() && self.argnums.contains(&position)
    }

    /// Whether the keyword argument is static.
    pub fn has_name(&self, name: &str) -> bool {
        self.argnames.iter().any(|known| known == name)
    }
}

// Words below any pointer: kinds of nodes.
const TUPLE: u64 = 1;
const LIST: u64 = 2;
const DICT: u64 = 3;
const NONE: u64 = 4;
const CUSTOM: u64 = 5;
const STATIC: u64 = 6;
const KEYWORD: u64 = 7;

/// A call's structure, avals and static values.
pub struct Signature {
    words: SmallVec<[u64; 24]>,
    objects: SmallVec<[Py<PyAny>; 4]>,
    settings: u64,
    /// Whether some leaf is a tracer; no part of what is compared.
    has_tracer: bool,
}

/// The error of an argument that is no value: what it was and the number of its leaf.
pub struct BadLeaf(pub Py<PyAny>);

/// Why no signature could be made.
pub enum SignatureError {
    /// An exception of Python.
    Raised(PyErr),
    /// A leaf is no value.
    Bad(BadLeaf),
}

impl From<PyErr> for SignatureError {
    fn from(raised: PyErr) -> SignatureError {
        SignatureError::Raised(raised)
    }
}

impl Signature {
    /// The signature of a call, and the values of its leaves.
    pub fn of_call<'py>(
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        statics: &Statics,
    ) -> Result<(Signature, Leaves<'py>), SignatureError> {
        let mut signature = Signature {
            words: SmallVec::new(),
            objects: SmallVec::new(),
            settings: pullback_trace::settings::settings(),
            has_tracer: false,
        };
        let mut leaves = Leaves::new();
        for (position, arg) in args.iter().enumerate() {
            if statics.has_position(position) {
                signature.push_static(&arg)?;
            } else {
                signature.push(arg, &mut leaves)?;
            }
        }
        if let Some(kwargs) = kwargs {
            signature.push_keywords(kwargs, statics, &mut leaves)?;
        }
        Ok((signature, leaves))
    }

    fn push_keywords<'py>(
        &mut self,
        kwargs: &Bound<'py, PyDict>,
        statics: &Statics,
        leaves: &mut Leaves<'py>,
    ) -> Result<(), SignatureError> {
        let keys = kwargs.keys();
        keys.sort()?;
        for key in keys.iter() {
            let arg = kwargs.as_any().get_item(&key)?;
            self.words.push(KEYWORD);
            let is_static = !statics.argnames.is_empty() && statics.has_name(&key.to_string());
            self.objects.push(key.unbind());
            if is_static {
                self.push_static(&arg)?;
            } else {
                self.push(arg, leaves)?;
            }
        }
        Ok(())
    }

    fn push_static(&mut self, arg: &Bound<'_, PyAny>) -> Result<(), SignatureError> {
        let hash = arg.hash().map_err(|cause| unhashable(arg, &cause))?;
        self.words.extend([STATIC, hash as u64]);
        self.objects.push(arg.clone().unbind());
        Ok(())
    }

    #[inline]
    fn push_leaf<'py>(&mut self, leaf: Leaf<'py>, leaves: &mut Leaves<'py>) {
        self.words.push(std::ptr::from_ref(leaf.val().aval().data()) as u64);
        leaves.push(leaf);
    }

    /// Of an instance of [`ArrayImpl`].
    #[inline]
    fn push_array<'py>(&mut self, obj: Bound<'py, PyAny>, leaves: &mut Leaves<'py>) {
        // SAFETY: the class extends that of all arrays.
        let array = unsafe { obj.cast_into_unchecked::<PyArray>() };
        self.push_leaf(Leaf::Array(array), leaves);
    }

    fn push<'py>(&mut self, obj: Bound<'py, PyAny>, leaves: &mut Leaves<'py>) -> Result<(), SignatureError> {
        if obj.is_exact_instance_of::<ArrayImpl>() {
            self.push_array(obj, leaves);
            return Ok(());
        }
        let expansion = expand(&obj)?;
        if !expansion.is_childless() {
            stack::check("flattening the arguments of a jitted function")?;
        }
        match expansion {
            Expansion::Leaf => {
                let Some(val) = plain_val(&obj)? else { return Err(SignatureError::Bad(BadLeaf(obj.unbind()))) };
                self.has_tracer |= val.is_tracer();
                self.push_leaf(Leaf::Made(val), leaves);
                Ok(())
            }
            Expansion::None => {
                self.words.push(NONE);
                Ok(())
            }
            Expansion::Tuple(tuple) => {
                self.words.extend([TUPLE, tuple.len() as u64]);
                tuple.iter().try_for_each(|child| self.push(child, leaves))
            }
            Expansion::List(list) => {
                self.words.extend([LIST, list.len() as u64]);
                list.iter().try_for_each(|child| self.push(child, leaves))
            }
            Expansion::Dict(dict) => {
                let mut values = Children::new();
                let node = values_into(&dict, &mut values)?;
                self.words.extend([DICT, values.len() as u64]);
                self.objects.push(node.aux.clone_ref(obj.py()));
                self.push_all(values, leaves)
            }
            Expansion::Custom(node, children) => {
                self.words.extend([CUSTOM, node.class.as_ptr() as u64, children.len() as u64]);
                self.objects.push(node.aux);
                self.push_all(children, leaves)
            }
        }
    }

    fn push_all<'py>(&mut self, children: Children<'py>, leaves: &mut Leaves<'py>) -> Result<(), SignatureError> {
        self.words.reserve(children.len());
        leaves.reserve(children.len());
        let Some(first) = children.first() else { return Ok(()) };
        let class = ArrayImpl::type_object_raw(first.py());
        children.into_iter().try_for_each(|child| {
            if child.get_type_ptr() != class {
                return self.push(child, leaves);
            }
            self.push_array(child, leaves);
            Ok(())
        })
    }

    /// Whether some leaf is a tracer.
    pub fn has_tracer(&self) -> bool {
        self.has_tracer
    }

    /// A hash of all but the Python objects.
    pub fn hash_value(&self) -> u64 {
        let mut state = rustc_hash::FxHasher::default();
        self.words.hash(&mut state);
        self.settings.hash(&mut state);
        state.finish()
    }

    /// Whether two signatures are equal; asks Python objects for equality when they are not the same.
    pub fn equals(&self, py: Python<'_>, other: &Signature) -> PyResult<bool> {
        if self.settings != other.settings || self.words != other.words || self.objects.len() != other.objects.len() {
            return Ok(false);
        }
        for (a, b) in self.objects.iter().zip(&other.objects) {
            if !a.is(b) && !same_object(a.bind(py), b.bind(py))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Equal and of one class: `1`, `1.0` and `True` are different static values.
fn same_object(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(a.get_type().is(b.get_type()) && a.eq(b)?)
}

/// The error of a static argument that has no hash.
pub fn unhashable(arg: &Bound<'_, PyAny>, cause: &PyErr) -> PyErr {
    let text = arg.repr().map(|text| text.to_string()).unwrap_or_default();
    let kind = cause.get_type(arg.py()).name().map(|name| name.to_string()).unwrap_or_default();
    value_error(format!(
        "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type {}, {text}. \
         The error was:\n{kind}: {}\n",
        arg.get_type(),
        cause.value(arg.py())
    ))
}

/// The error of a non-array argument of a staged function.
pub fn bad_argument(fun: &Bound<'_, PyAny>, leaf: &Bound<'_, PyAny>, path: &str) -> PyErr {
    if leaf.hasattr("__jax_array__").unwrap_or(false) {
        return value_error(
            "Triggering __jax_array__() during abstractification is no longer supported. To avoid this error, either \
             explicitly convert your object using jax.numpy.array(), or register your object as a pytree.",
        );
    }
    let fun = fun.repr().map(|text| text.to_string()).unwrap_or_default();
    let class = leaf.get_type();
    type_error(format!(
        "Error interpreting argument to {fun} as an abstract array. The problematic value is of type {class} and was passed to \
         the function at path {path}.\nAn instance of {class} is not a valid JAX type. This typically means that a jit-wrapped \
         function was called with a non-array argument, and this argument was not marked as static using the \
         static_argnums or static_argnames parameters of jax.jit."
    ))
}
