//! Samples of vectors.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::key::{checked_key, split_typed};
use super::uniform::{check_float, statics};
use super::{exponential, generalized_normal};
use crate::axes::{Axes, signed_tuple_text};
use crate::convert::weak_int;
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{Reduction, absolute, add, power, sum, true_divide};

/// Points uniform in the unit ball of an Lp norm.
///
/// Numbers with density proportional to `exp(-|x|**p)`, divided by the norm of them together with an exponential number
/// (Barthe, Guédon, Mendelson, Naor: A probabilistic approach to the geometry of the l_p^n-ball, 2005).
///
/// Args:
///   key: a key, typed or of two words.
///   d: the dimension of the points.
///   p: the exponent of the norm, a positive scalar.
///   shape: the shape of the batch.
///   dtype: a floating dtype, float32 by default.
///   out_sharding: not served; None.
/// Returns: an array of shape `(*shape, d)`.
/// Raises:
///   TypeError: `key` is no key, or the dimension is negative.
///   ValueError: several keys are given, or the dtype is not floating.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in `p`, as `gamma` is.
/// Example:
///   >>> bool(jnp.linalg.norm(jax.random.ball(jax.random.key(0), 3)) <= 1)
///   True
#[public("random.ball(key: Key, d, p=2, shape=(), dtype: FloatByDefault=None, *, out_sharding: NoSharding=None)")]
pub fn ball(key: &Val, d: i64, p: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("ball", key)?;
    check_float("gamma", dtype)?;
    let Ok(size) = usize::try_from(d) else {
        let shape: Vec<i64> = shape.iter().map(|&size| size as i64).chain([d]).collect();
        let shape = signed_tuple_text(&shape);
        bail!(Type, "Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape}.");
    };
    let statics = [statics(shape, dtype), vec![d]].concat();
    named_jit_one("_ball", &statics, &[key, p.clone()], |ins| {
        let (keys, p) = (split_typed(&ins[0], &[2])?, &ins[1]);
        let nth = |i: i64| getitem(&keys, &[IndexItem::Int(i)]);
        let (for_point, for_rest) = (nth(0)?, nth(1)?);
        let point = generalized_normal(&for_point, p, &[shape, &[size]].concat(), dtype)?;
        let rest = exponential(&for_rest, shape, dtype)?;
        let powers = sum(&power(&absolute(&point)?, p)?, &Reduction::over(Axes::One(-1), false))?;
        let norm = power(&add(&powers, &rest)?, &true_divide(&weak_int(1), p)?)?;
        true_divide(&point, &lax::expand_axes(&norm, &[shape.len()])?)
    })
}
