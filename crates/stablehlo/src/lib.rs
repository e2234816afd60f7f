//! Jaxprs as StableHLO: the text of an MLIR module that XLA and the tools around it read.
//!
//! [`module_text`] is the door. Owns the text (types, numbers, names, locations: [`text`]), the module with its private
//! functions, each written once ([`module`]), the functions ([`function`]), and scalar forms as elementwise operations
//! ([`scalar`]),
//! and what it asks for ([`cost`]). What each primitive says is in its own file. Only forms that every StableHLO from 1.13 on reads are
//! written. It deliberately compiles and runs nothing.
#![forbid(unsafe_code)]

mod cost;
mod function;
mod module;
mod scalar;
mod text;

pub use cost::Cost;
pub use module::{Calling, Division, Donation, Host, Options, Text, donations, module_text};
