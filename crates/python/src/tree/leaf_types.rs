//! Types that are known to be no containers, so that a leaf is known by one look.
//!
//! Only types that are never freed are remembered: an address then means the same type for ever.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

use crate::value::{ArrayImpl, DynamicJaxprTracer};

const N_SLOTS: usize = 64;

/// Addresses of types, each in the slot of its hash.
static TYPES: [AtomicUsize; N_SLOTS] = [const { AtomicUsize::new(0) }; N_SLOTS];

fn slot(address: usize) -> &'static AtomicUsize {
    &TYPES[(address >> 4) % N_SLOTS]
}

/// Whether objects of this type were seen to be leaves.
pub(super) fn is_known(obj: &Bound<'_, PyAny>) -> bool {
    let address = obj.get_type_ptr() as usize;
    slot(address).load(Ordering::Relaxed) == address
}

/// Remembers the type of a leaf.
pub(super) fn remember(leaf: &Bound<'_, PyAny>) {
    let class = leaf.get_type_ptr();
    // SAFETY: the type of a live object.
    let is_static = unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) } == 0;
    let is_ours = leaf.is_exact_instance_of::<ArrayImpl>() || leaf.is_exact_instance_of::<DynamicJaxprTracer>();
    if is_static || is_ours {
        slot(class as usize).store(class as usize, Ordering::Relaxed);
    }
}

/// Forgets all: a type became a container.
pub(super) fn forget() {
    TYPES.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
}
