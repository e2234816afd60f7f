//! Primitives that hold jaxprs, and their rules, which call transforms on them.

mod callback;
mod checkpoint;
mod cond;
mod custom;
mod host_call;
mod jit;
mod scan;
mod shapes;
mod shard_map;
mod while_loop;

use pullback_ir::PrimRef;

pub use callback::{Callback, DEBUG_PRINT, DebugCallback, HostFunction};
pub use checkpoint::{CHECKPOINT, Checkpoint};
pub use cond::{COND, Cond};
pub use custom::{
    CUSTOM_JVP_CALL, CUSTOM_LIN, CUSTOM_VJP_CALL, CustomJvpCall, CustomLin, CustomVjpCall, JvpRuleRef, VjpRule,
    VjpRuleRef,
};
pub use host_call::{IO_CALLBACK, IoCallback, PURE_CALLBACK, PureCallback, VmapMethod};
pub use jit::{JIT, Jit};
pub use scan::{SCAN, Scan};
pub use shapes::{ScanIns, ScanOuts};
pub use shard_map::{SHARD_MAP, ShardMap, ShardRunner, set_shard_runner};
pub use while_loop::{WHILE, While, check_condition};

/// All of them.
pub const ALL: &[PrimRef] = &[
    CHECKPOINT,
    COND,
    CUSTOM_JVP_CALL,
    CUSTOM_LIN,
    CUSTOM_VJP_CALL,
    DEBUG_PRINT,
    IO_CALLBACK,
    JIT,
    PURE_CALLBACK,
    SCAN,
    SHARD_MAP,
    WHILE,
];
