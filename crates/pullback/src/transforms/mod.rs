//! The transformations, on functions from trees to trees.

mod batch;
mod compile;
mod custom;
mod gradient;

use pullback_base::{Aval, Result};
use pullback_ir::Val;

pub use batch::{AxesOf, Batching, ByName, EachLeaf, vmap, vmap_owned, vmap_with};
pub(crate) use compile::traced_at;
pub use compile::{checkpoint, eval_shape, jit, jit_owned, make_jaxpr};
pub use custom::{Ruled, custom_jvp, custom_vjp};
pub(crate) use gradient::run_value_and_grad;
pub use gradient::{
    grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, safe_grads, value_and_grad, value_and_grad_aux, vjp,
};

use crate::array::{Array, caught};
use crate::tree::{Tree, leaves_of};

/// What a transformed function may give: a tree, or an error or a tree.
pub trait Output {
    /// The tree.
    type Tree: Tree;
    /// The tree, or the error.
    fn into_result(self) -> Result<Self::Tree>;
}

impl<T: Tree> Output for T {
    type Tree = T;
    fn into_result(self) -> Result<T> {
        Ok(self)
    }
}

impl<T: Tree> Output for Result<T> {
    type Tree = T;
    fn into_result(self) -> Result<T> {
        self
    }
}

pub(crate) fn vals(tree: &impl Tree) -> Result<Vec<Val>> {
    leaves_of(tree).into_iter().map(Array::val).collect()
}

pub(crate) fn rebuild<T: Tree>(like: &T, vals: impl IntoIterator<Item = Val>) -> T {
    like.with_leaves(&mut vals.into_iter().map(Array::from_val))
}

/// Calls `f` on flat values; leaves the structure of its result in `structure`.
pub(crate) fn call_flat<A: Tree, R: Output>(
    f: &impl Fn(&A) -> R,
    like: &A,
    args: &[Val],
    structure: &mut Option<R::Tree>,
) -> Result<Vec<Val>> {
    let out = caught(|| f(&rebuild(like, args.iter().cloned())).into_result())?;
    let flat = vals(&out)?;
    *structure = Some(out);
    Ok(flat)
}

/// Literals as arrays, so that users never meet them.
pub(crate) fn arrays(vals: Vec<Val>) -> Vec<Val> {
    let plain = |val: Val| match val {
        Val::Literal(scalar) => Val::Array(pullback_base::Array::scalar(scalar)),
        other => other,
    };
    vals.into_iter().map(plain).collect()
}

/// A tree of the same structure whose leaves hold nothing: what can be kept without keeping memory.
pub(crate) fn hollow<T: Tree>(tree: &T) -> T {
    let nothing = Val::Literal(pullback_base::Scalar::zero(pullback_base::DType::Bool));
    tree.with_leaves(&mut std::iter::repeat_with(|| Array::from_val(nothing.clone())))
}

/// Whether shapes and dtypes are equal.
pub(crate) fn is_same_type(a: Aval, b: Aval) -> bool {
    a.shape == b.shape && a.dtype == b.dtype
}
