//! Reductions, cumulative operations and positions of extremes.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};

use crate::bind::{self, Fields, Named};

fn reduce(prim: &Named, x: &Val, axes: &[usize], has_sharding: bool) -> Result<Val> {
    let params = Fields::new().with("axes", &axes.to_vec());
    let params = if has_sharding { params.none("out_sharding") } else { params };
    prim.call_with(params, std::slice::from_ref(x))
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $prim:ident $sharding:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val, axes: &[usize]) -> Result<Val> {
            reduce(&bind::$prim, x, axes, $sharding)
        }
    )*};
}
/// Sum over axes.
///
/// # Errors
/// What the primitive raises; a `Value` error for half-width floats where a setting forbids their sums.
pub fn reduce_sum(x: &Val, axes: &[usize]) -> Result<Val> {
    let aval = x.aval();
    if matches!(aval.dtype, DType::F16 | DType::BF16) && !axes.is_empty() && is_on(Setting::NoHalfWidthSums) {
        bail!(
            Value,
            "reduce_sum on operand {} is not allowed when jax_allow_f16_reductions=False.",
            aval.weak(false).short()
        );
    }
    reduce(&bind::REDUCE_SUM, x, axes, true)
}

reductions! {
    /// Greatest over axes.
    reduce_max REDUCE_MAX true;
    /// Least over axes.
    reduce_min REDUCE_MIN true;
    /// Product over axes.
    reduce_prod REDUCE_PROD false;
    /// Whether all hold, or bitwise and, over axes.
    reduce_and REDUCE_AND false;
    /// Whether any holds, or bitwise or, over axes.
    reduce_or REDUCE_OR false;
    /// Bitwise exclusive or over axes.
    reduce_xor REDUCE_XOR false;
}

fn arg_extreme(prim: &Named, x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    let params = Fields::new().with("axes", &vec![axis]).with("index_dtype", &index_dtype);
    prim.call_with(params, std::slice::from_ref(x))
}

/// Position of the first greatest element; of the first NaN if there is one.
///
/// # Errors
/// What the primitive raises.
pub fn argmax(x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    arg_extreme(&bind::ARGMAX, x, axis, index_dtype)
}

/// Position of the first least element; of the first NaN if there is one.
///
/// # Errors
/// What the primitive raises.
pub fn argmin(x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    arg_extreme(&bind::ARGMIN, x, axis, index_dtype)
}

macro_rules! cumulative {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val, axis: usize, reverse: bool) -> Result<Val> {
            let params = Fields::new().with("axis", &axis).with("reverse", &reverse);
            bind::$prim.call_with(params, std::slice::from_ref(x))
        }
    )*};
}
cumulative! {
    /// Sums of all elements so far.
    cumsum CUMSUM;
    /// Products of all elements so far.
    cumprod CUMPROD;
    /// Greatest element so far.
    cummax CUMMAX;
    /// Least element so far.
    cummin CUMMIN;
    /// Logarithm of the sum of exponentials so far.
    cumlogsumexp CUMLOGSUMEXP;
}
