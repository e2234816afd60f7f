//! Primitives that hold jaxprs, and their rules, which call transforms on them.

mod callback;
mod checkpoint;
mod cond;
mod custom;
mod jit;
mod reduce;
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
pub use reduce::{REDUCE, REDUCE_WINDOW, Reduce, ReduceWindowBy};
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
    REDUCE,
    REDUCE_WINDOW,
    SCAN,
    WHILE,
];
