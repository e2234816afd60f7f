//! Primitives, transforms, and the primitives that hold jaxprs: the mathematics of Pullback.
//!
//! Four modules in layers, each seeing only those before it: [`prims`] holds every primitive without an inner jaxpr,
//! one file each; [`transforms`] the emitters and jaxpr-to-jaxpr passes; [`control`] the primitives that hold jaxprs;
//! [`marks`] the emitter of where-safe gradients.
//! Deliberately absent: promotion of dtypes, defaults and user errors (they live in `lib`), and any way to run.
#![forbid(unsafe_code)]

pub mod control;
pub mod marks;
pub mod prims;
pub mod transforms;

use pullback_ir::PrimRef;

/// Every primitive of the system.
pub fn all_primitives() -> impl Iterator<Item = PrimRef> {
    prims::all().chain(control::ALL.iter().copied())
}

/// The primitive with the given name.
pub fn find_primitive(name: &str) -> Option<PrimRef> {
    all_primitives().find(|prim| prim.name() == name)
}
