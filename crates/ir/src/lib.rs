//! The jaxpr and the contracts around it.
//!
//! Owns the intermediate representation of traced programs ([`Jaxpr`]), its text in two dialects, its checker and its
//! evaluation; the contract of a primitive ([`Prim`]), of an emitter ([`Emit`]) and of lowering to the CPU ([`lower`])
//! and to StableHLO ([`hlo`]).
//! It deliberately knows no primitive and no transform.
#![forbid(unsafe_code)]

mod builder;
mod check;
mod elements;
mod emit;
mod eval;
pub mod hlo;
mod intern;
mod jaxpr;
pub mod lower;
mod params;
mod parse;
mod passing;
mod prim;
mod print;
mod split;
mod val;

pub use builder::Builder;
pub use check::{check_jaxpr, check_read_jaxpr};
pub use emit::{Emit, EmitRef};
pub use eval::{eval_jaxpr, with_span};
pub use hlo::Hlo;
pub use jaxpr::{Atom, AxisName, DebugInfo, Effects, Eqn, Jaxpr, JaxprRef, VarId};
pub use params::{Opaque, ParamField, ParamFields, ParamSet, ParamValue, Params, ParamsObject, read_field};
pub use parse::{Finder, parse_jaxpr};
pub use passing::{OutSharding, PassRule, Passing, Splits, sharding_error, typed_results};
pub use prim::*;
pub use print::{Dialect, annotated_text, jaxpr_text};
pub use pullback_derive::Params;
pub use split::{Split, SplitJaxpr};
pub use val::{Batched, Dual, Foreign, Slot, TraceId, Tracer, Val, Vals};
