//! Primitives that combine elements over axes, and what they share.

pub mod arg;
pub mod cumulative;
pub mod extreme;
pub mod logical;
mod reduce_prod;
mod reduce_sum;
mod sort;
mod top_k;

use std::marker::PhantomData;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::{BatchDims, Emit, Params, PrimRef, Val, Vals};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::value::V;

use arg::Arg;
pub use arg::ArgReduce;
use cumulative::Cumul;
pub use cumulative::Cumulative;
use extreme::Extreme;
pub use extreme::ReduceExtreme;
use logical::Logical;
pub use logical::ReduceLogical;
pub use reduce_prod::{REDUCE_PROD, ReduceProd};
pub use reduce_sum::{REDUCE_SUM, ReduceSum};
pub use sort::{SORT, Sort, sort};
pub use top_k::{TOP_K, TopK};

// Each line is the file of a member, its primitive, and its place among [`MEMBERS`].
macro_rules! members {
    ($($family:ident $name:ident $file:ident::$member:ident;)*) => {
        $(
            mod $file;
            #[doc = concat!("The primitive of `", stringify!($file), "`.")]
            pub static $name: PrimRef = PrimRef(&$family::<$file::$member>(PhantomData));
        )*

        /// The members of the families.
        pub(super) static MEMBERS: &[PrimRef] = &[$($name),*];
    };
}
members! {
    Arg ARGMAX argmax::ArgMax;
    Arg ARGMIN argmin::ArgMin;
    Cumul CUMLOGSUMEXP cumlogsumexp::CumLogSumExp;
    Cumul CUMMAX cummax::CumMax;
    Cumul CUMMIN cummin::CumMin;
    Cumul CUMPROD cumprod::CumProd;
    Cumul CUMSUM cumsum::CumSum;
    Logical REDUCE_AND reduce_and::ReduceAnd;
    Extreme REDUCE_MAX reduce_max::ReduceMax;
    Extreme REDUCE_MIN reduce_min::ReduceMin;
    Logical REDUCE_OR reduce_or::ReduceOr;
    Logical REDUCE_XOR reduce_xor::ReduceXor;
}

impl<'e> V<'e> {
    /// Running sums along an axis.
    pub fn cumsum(&self, axis: usize, reverse: bool) -> V<'e> {
        self.bind(CUMSUM, &Params::new(Cumulative { axis, reverse }), &[])
    }
}

/// The shape without `axes`.
///
/// # Errors
/// A `Value` error when an axis is out of range or occurs twice.
pub fn reduced_shape(name: &str, x: Aval, axes: &[usize]) -> Result<Vec<usize>> {
    let is_bad = |(i, &axis): (usize, &usize)| axis >= x.rank() || axes[..i].contains(&axis);
    if axes.iter().enumerate().any(is_bad) {
        bail!(Value, "{name} axes {} do not fit an operand of shape {}.", tuple_text(axes), tuple_text(&x.shape));
    }
    Ok((0..x.rank()).filter(|axis| !axes.contains(axis)).map(|axis| x.shape[axis]).collect())
}

/// Batches a reduction of one operand: `params` makes the params for moved axes.
///
/// # Errors
/// What the emitter raises.
pub fn batch_reduction(
    prim: PrimRef,
    params: impl Fn(Vec<usize>) -> Params,
    axes: &[usize],
    e: &dyn Emit,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let dim = dims[0].expect("the only operand is batched");
    let moved: Vec<usize> = axes.iter().map(|&axis| if axis >= dim { axis + 1 } else { axis }).collect();
    let n_before = moved.iter().filter(|&&axis| axis < dim).count();
    let out = V::new(e, &ins[0]).bind(prim, &params(moved), &[]).done()?;
    Ok((smallvec![out], smallvec![Some(dim - n_before)]))
}

/// A reduction from the element that changes nothing.
fn reduce(cx: &mut dyn HloCx, x: HloValue, combine: Combine, axes: &[usize]) -> Result<HloValues> {
    let dtype = x.aval.dtype;
    let (init, name) = match combine {
        Combine::Add => (Scalar::zero(dtype), "stablehlo.add"),
        Combine::Mul => (Scalar::one(dtype), "stablehlo.multiply"),
        Combine::Min => (Scalar::greatest(dtype), "stablehlo.minimum"),
        Combine::Max => (Scalar::least(dtype), "stablehlo.maximum"),
        Combine::And => (combine.identity(dtype), "stablehlo.and"),
        Combine::Or => (Scalar::zero(dtype), "stablehlo.or"),
        Combine::Xor => (Scalar::zero(dtype), "stablehlo.xor"),
    };
    Ok(smallvec![cx.reduce(x, init, name, axes)?])
}
