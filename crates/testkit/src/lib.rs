//! What tests of the whole system share: random elements, host arithmetic on arrays, and the battery of laws that every
//! primitive must hold to.
//!
//! The battery knows no engine: whoever runs it passes one ([`Engine`]). It deliberately knows no primitive by name but
//! where a law has an exception, which is data with a reason.
#![forbid(unsafe_code)]

pub mod battery;
pub mod coverage;
pub mod elements;
pub mod facade;
pub mod host;

use pullback_base::{Array, Result};
use pullback_ir::JaxprRef;

/// Runs a jaxpr on arrays.
pub type Engine<'a> = &'a dyn Fn(&JaxprRef, &[Array]) -> Result<Vec<Array>>;
