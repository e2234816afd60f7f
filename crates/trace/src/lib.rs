//! What a user call enters: the current emitter of each thread, tracing to jaxprs, and the transforms of running
//! functions.
//!
//! User-facing functions call [`bind`], which performs a primitive on whatever is current. Front ends flatten trees and
//! hand in flat functions; this crate knows no trees, no names of arguments, and no Python. It also finds tracers that
//! outlived their trace.
#![forbid(unsafe_code)]

mod current;
pub mod settings;
mod staging;
mod transform;

pub use current::{
    DescribeLeak, bind, bind_one, current, enter, inputs_of, is_live, is_tracing, leave, set_describe_leak,
    with_current,
};
pub use staging::{Traced, call_jaxpr, trace_to_jaxpr, unify_captures};
pub use transform::{jvp, linearize, vmap};
