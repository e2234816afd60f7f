//! Loop IR: programs of structured SSA loops over buffers, the last form before machine code.
//!
//! A [`Program`] is what the compiler makes of a jaxpr and what code generation turns into machine code. It prints
//! and parses, [`verify`] checks it after every pass, and [`interpret`] is the oracle: native code must give its bits.
//! The IR fixes the order of every reduction and every fused multiply-add, so no target may choose. It deliberately
//! knows no jaxpr, no vector width and no register.
#![forbid(unsafe_code)]

mod body;
mod builder;
mod dead;
mod expand;
mod half_width;
mod interpret;
mod kernels;
mod program;
mod text;
mod verify;
mod visit;

pub use body::*;
pub use builder::Builder;
pub use dead::remove_dead;
pub use expand::expand;
pub use interpret::{interpret, rem_f32, rem_f64};
pub use kernels::{Kernels, parts};
pub use program::*;
pub use text::parse;
pub use verify::{verify, verify_expanded};
pub use visit::for_each_inst;
