//! The engine that runs jaxprs on XLA: on the devices of a PJRT plugin.
//!
//! A jaxpr becomes the text of a StableHLO module, which the plugin compiles; arrays lie in buffers of the plugin, one for
//! each device of their place. Runs are started and not waited for: who reads an array waits, and learns there of a
//! run that failed. This crate decides nothing about placement, and knows no Python.
#![forbid(unsafe_code)]

mod array;
mod cache;
mod engine;
mod host;
mod program;

pub use cache::{CacheSettings, set_cache};
pub use engine::{DeviceFacts, XlaEngine};
pub use pullback_pjrt::{KeyValueStore, Setting};
