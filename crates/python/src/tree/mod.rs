//! Pytrees of Python containers: which classes are nodes, flattening and unflattening, treedefs and key paths.
//!
//! The structure itself is [`pullback_base::tree::TreeDef`]; this module knows how Python's containers come apart. What
//! can be said in terms of these functions (reductions, transposition) is written in Python.

mod flatten;
mod functions;
mod keys;
mod leaf_types;
mod map;
mod node;
mod paths;
mod prefix;
mod registry;
mod treedef;

use pyo3::prelude::*;

pub use flatten::{flatten, flatten_all, unflatten};
pub use keys::values_into;
pub use node::{Children, Expansion, PyNode, expand};
pub use paths::{PathEntry, flatten_with_paths, key_text};
pub use prefix::{broadcast_prefix, flatten_up_to, prefix_mismatch};
pub use treedef::PyTreeDef;

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    treedef::register(m)?;
    paths::register(m)?;
    registry::register(m)?;
    functions::register(m)
}
