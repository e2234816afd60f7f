//! What a user call enters: the current emitter of each thread, tracing to jaxprs, and the transforms of running
//! functions.
//!
//! User-facing functions call [`bind`], which performs a primitive on whatever is current. Front ends flatten trees and
//! hand in flat functions; this crate knows no trees, no names of arguments, and no Python. It also finds tracers that
//! outlived their trace.
#![forbid(unsafe_code)]

mod axes;
mod current;
mod record;
pub mod settings;
mod splitting;
mod staging;
mod transform;

pub use axes::{AxisEnv, BoundAxis, axis_env, axis_size, is_typed_axis, set_user_contexts, with_axes};
pub use current::{
    AnswerWarning, DescribeLeak, FindLeaks, Warn, Warning, answer_warnings, bind, bind_one, current, enter,
    enter_evaluation, find_leaks, inputs_of, is_evaluating, is_live, is_tracing, leave, set_describe_leak,
    set_find_leaks, set_warn, vary, warn, warn_as, with_current,
};
pub use record::{is_recording, record};
pub use splitting::{SplitScope, is_resolving, resolving_splits, split, splitting_constants};
pub use staging::{Traced, call_jaxpr, trace_to_jaxpr, unify_captures};
pub use transform::{Flat, jvp, linearize, pull_back, vmap, where_safe};
