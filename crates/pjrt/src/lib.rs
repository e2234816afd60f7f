//! Plugins of XLA, through the PJRT C interface: devices, buffers on them, executables.
//!
//! A plugin is a shared library with one function that gives a table of functions ([`Plugin::load`]). Each takes a
//! struct that begins with its own size; the layouts are written by hand ([`abi`]) with zeros after what we know, so a
//! newer plugin reads zeros for fields that are newer than this file, and an older one does not look at them. What a
//! plugin lacks is an error of the call, never an abort. Programs come in as text and go out as executables: this crate
//! knows no jaxpr, no array and no sharding.

mod abi;
mod api;
mod buffer;
mod client;
mod event;
mod executable;
mod ffi;
mod options;
mod store;
mod topology;

pub use api::Plugin;
pub use buffer::{DeviceBuffer, ElementType};
pub use client::{Client, Device, MemoryStats};
pub use event::Event;
pub use executable::{CompiledMemory, Executable};
pub use ffi::{HOST_CALL_TARGET, HostCode, HostFunction};
pub use options::{CompileOptions, Setting};
pub use store::KeyValueStore;
pub use topology::{AotExecutable, Topology};
