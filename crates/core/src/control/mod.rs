//! Primitives that hold jaxprs, and their rules, which call transforms on them; and those that are made of such.

mod callback;
mod checkpoint;
mod cond;
mod custom;
mod jit;
mod random_gamma;
mod scan;
mod shapes;
mod while_loop;

use pullback_ir::PrimRef;

pub use callback::{DEBUG_PRINT, DebugCallback, HostFunction, PURE_CALLBACK, PureCallback};
pub use checkpoint::{CHECKPOINT, Checkpoint};
pub use cond::{COND, Cond};
pub use custom::{
    CUSTOM_JVP_CALL, CUSTOM_LIN, CUSTOM_VJP_CALL, CustomJvpCall, CustomLin, CustomVjpCall, JvpRuleRef, VjpRule,
    VjpRuleRef,
};
pub use jit::{JIT, Jit};
pub use random_gamma::{RANDOM_GAMMA, RandomGamma};
pub use scan::{SCAN, Scan};
pub use shapes::{ScanIns, ScanOuts};
pub use while_loop::{WHILE, While, check_condition};

/// All of them.
pub const ALL: &[PrimRef] = &[
    CHECKPOINT,
    COND,
    CUSTOM_JVP_CALL,
    CUSTOM_LIN,
    CUSTOM_VJP_CALL,
    DEBUG_PRINT,
    JIT,
    PURE_CALLBACK,
    RANDOM_GAMMA,
    SCAN,
    WHILE,
];
