//! The entries of dictionaries in the order of their keys.
//!
//! Programs flatten dictionaries with the same keys again and again. The order of keys that are strings is remembered by
//! their addresses, so that only the first dictionary of its kind is sorted.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::node::{Children, PyNode};
use crate::errors::value_error;

/// The values of a dictionary, sorted by key, and its node, whose static data are the sorted keys.
pub struct Entries<'py> {
    /// The dictionary without its values.
    pub node: Arc<PyNode>,
    /// The values.
    pub values: Children<'py>,
}

impl Entries<'_> {
    /// The sorted keys.
    pub fn keys<'py>(&self, py: Python<'py>) -> &Bound<'py, PyList> {
        // SAFETY: the static data of a dictionary are always a list; see `PyNode::dict`.
        unsafe { self.node.aux.bind(py).cast_unchecked() }
    }
}

/// How keys that came in some order are sorted.
struct KeyOrder {
    /// Addresses of the keys as they came; the sorted keys in the node keep them alive.
    given: Box<[usize]>,
    /// For each sorted key, where it came.
    places: Box<[u32]>,
    node: Arc<PyNode>,
}

/// Orders that were seen, by a hash of the addresses.
#[derive(Default)]
struct Known {
    orders: FxHashMap<u64, Arc<KeyOrder>>,
    n_keys: usize,
}

/// Keys in remembered orders, before all are forgotten.
const MAX_KEYS: usize = 1 << 15;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// What `take` makes of the order of these keys, if it is known. No code of Python may run in `take`.
fn with_known<R>(hash: u64, given: &[usize], take: impl FnOnce(&Arc<KeyOrder>) -> R) -> Option<R> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref()?.orders.get(&hash).filter(|order| *order.given == *given).map(take)
}

fn remember(hash: u64, order: &Arc<KeyOrder>) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    known.n_keys += order.given.len();
    let old = if known.n_keys > MAX_KEYS { std::mem::take(known) } else { Known::default() };
    known.orders.insert(hash, order.clone());
    // Strings may go with the old orders; they run no code.
    drop(old);
}

/// The entries of a dictionary, sorted by key.
///
/// # Errors
/// `ValueError` when the keys cannot be compared.
pub fn entries<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Entries<'py>> {
    let mut values = Children::new();
    let node = values_into(dict, &mut values)?;
    Ok(Entries { node, values })
}

/// Appends the values of a dictionary to `values`, sorted by key, and gives its node.
///
/// # Errors
/// `ValueError` when the keys cannot be compared.
pub fn values_into<'py>(dict: &Bound<'py, PyDict>, values: &mut Children<'py>) -> PyResult<Arc<PyNode>> {
    let mut given: SmallVec<[usize; 128]> = SmallVec::with_capacity(dict.len());
    let mut lent: SmallVec<[*mut ffi::PyObject; 128]> = SmallVec::with_capacity(dict.len());
    let (mut position, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: we are attached and nothing in the loop runs code of Python, so the dictionary stays as it is.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) != 0 {
            given.push(key as usize);
            lent.push(value);
        }
    }
    let mut state = rustc_hash::FxHasher::default();
    given.hash(&mut state);
    let hash = state.finish();
    // SAFETY: no code of Python has run since the dictionary lent its values, so they are live; each becomes a reference of
    // its own.
    let own = |&place: &u32| unsafe { Bound::from_borrowed_ptr(dict.py(), lent[place as usize]) };
    let known = with_known(hash, &given, |order| {
        values.extend(order.places.iter().map(own));
        order.node.clone()
    });
    if let Some(node) = known {
        return Ok(node);
    }
    // Keys whose order is known are strings, so it need not be asked before.
    // SAFETY: the dictionary holds its keys.
    if given.iter().all(|&key| unsafe { ffi::PyUnicode_CheckExact(key as *mut ffi::PyObject) } != 0) {
        remember(hash, &Arc::new(order_of_strings(dict, &given)?));
    }
    sorted_values_into(dict, values)
}

fn order_of_strings(dict: &Bound<'_, PyDict>, given: &[usize]) -> PyResult<KeyOrder> {
    let sorted = sorted_keys(dict)?;
    let came: FxHashMap<usize, u32> = given.iter().zip(0..).map(|(&key, place)| (key, place)).collect();
    let places = sorted.iter().map(|key| came[&(key.as_ptr() as usize)]).collect();
    Ok(KeyOrder { given: given.into(), places, node: Arc::new(PyNode::dict(sorted)) })
}

fn sorted_values_into<'py>(dict: &Bound<'py, PyDict>, values: &mut Children<'py>) -> PyResult<Arc<PyNode>> {
    let keys = sorted_keys(dict)?;
    for key in keys.iter() {
        values.push(dict.as_any().get_item(key)?);
    }
    Ok(Arc::new(PyNode::dict(keys)))
}

/// The keys of a dictionary in order.
///
/// # Errors
/// `ValueError` when they cannot be compared.
pub fn sorted_keys<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyList>> {
    let keys = dict.keys();
    keys.sort().map_err(|cause| {
        let error = value_error("Comparator raised exception while sorting pytree dictionary keys.");
        error.set_cause(dict.py(), Some(cause));
        error
    })?;
    Ok(keys)
}
