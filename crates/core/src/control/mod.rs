//! Primitives that hold jaxprs, and their rules, which call transforms on them; and those that are made of such.

mod callback;
mod checkpoint;
mod cond;
mod custom;
mod custom_vmap;
mod host_call;
mod jit;
mod linear_call;
mod linear_solve;
mod random_gamma;
mod reduce;
mod scan;
mod shapes;
mod shard_map;
mod shared;
mod while_loop;

use pullback_ir::PrimRef;

pub use callback::{Callback, DEBUG_PRINT, DebugCallback, HostCall, HostFunction};
pub use checkpoint::{CHECKPOINT, Checkpoint, PolicyRef, SavePolicy};
pub use cond::{COND, Cond};
pub use custom::{
    CUSTOM_JVP_CALL, CUSTOM_LIN, CUSTOM_VJP_CALL, CustomJvpCall, CustomLin, CustomVjpCall, JvpRuleRef, VjpRule,
    VjpRuleRef,
};
pub use custom_vmap::{CUSTOM_VMAP_CALL, CustomVmapCall, VmapRule, VmapRuleRef};
pub use host_call::{IO_CALLBACK, IoCallback, PURE_CALLBACK, PureCallback, VmapMethod};
pub use jit::{JIT, Jit};
pub use linear_call::{LINEAR_CALL, LinearCall};
pub use linear_solve::{CUSTOM_LINEAR_SOLVE, LinearSolve, SolveConsts, SolveJaxprs, transposed_matvec};
pub use random_gamma::{RANDOM_GAMMA, RandomGamma};
pub use reduce::{REDUCE, REDUCE_WINDOW, Reduce, ReduceWindowBy};
pub use scan::{SCAN, Scan};
pub use shapes::{ScanIns, ScanOuts};
pub use shard_map::{SHARD_MAP, ShardMap, ShardRunner, set_shard_runner};
pub use while_loop::{WHILE, While, check_condition};

/// All of them.
pub static ALL: &[PrimRef] = &[
    CHECKPOINT,
    COND,
    CUSTOM_JVP_CALL,
    CUSTOM_LIN,
    CUSTOM_LINEAR_SOLVE,
    CUSTOM_VMAP_CALL,
    LINEAR_CALL,
    CUSTOM_VJP_CALL,
    DEBUG_PRINT,
    IO_CALLBACK,
    JIT,
    PURE_CALLBACK,
    RANDOM_GAMMA,
    REDUCE,
    REDUCE_WINDOW,
    SCAN,
    SHARD_MAP,
    WHILE,
];
