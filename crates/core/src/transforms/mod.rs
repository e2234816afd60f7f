//! Transforms: emitters that turn primitives into others, and passes from jaxpr to jaxpr made of them.
//!
//! There is one mechanism: a transform of a jaxpr is its evaluation under the transform's emitter over a builder, and a
//! transform of a running function is the same emitter over whatever was current. No transform looks at a primitive's
//! name; all it knows comes from the primitive's rules.

mod batch;
mod cache;
mod dce;
mod jvp;
mod linearize;
mod safe;
mod split;
mod transpose;

pub use batch::{BatchEmit, BatchedJaxpr, batch_jaxpr};
pub(crate) use cache::Cache;
pub(crate) use dce::dce_inner_jaxpr;
pub use dce::{PrunedJaxpr, dce_jaxpr};
pub use jvp::{JvpEmit, JvpJaxpr, jvp_jaxpr, jvp_jaxpr_strong};
pub use linearize::{Linear, linearize};
pub(crate) use safe::is_edge_divisor;
pub use safe::{derivatives_are_safe, with_safe_derivatives};
pub use split::{SplitEmit, split_jaxpr, split_jaxpr_forced};
pub use transpose::{TransposedJaxpr, backward_pass, transpose_function, transpose_jaxpr};
