//! `jax.ops`: reductions of segments.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_derive::{Keywords, public};
use pullback_ir::Val;

use crate::axes::Axes;
use crate::convert::{concrete_scalar, literal};
use crate::formula::of;
use crate::indexing::{IndexItem, Update, UpdateOptions, update};
use crate::lax::{self, GatherMode};
use crate::numpy::{self, Reduction};

/// The options of reductions of segments.
#[derive(Clone, Debug, Default, Keywords)]
pub struct Segments {
    /// How many segments; by default one more than the greatest id.
    pub num_segments: Option<i64>,
    /// Whether ids come in order.
    pub indices_are_sorted: bool,
    /// Whether no id occurs twice.
    pub unique_indices: bool,
    /// How many elements are reduced together.
    pub bucket_size: Option<i64>,
    /// What ids outside do.
    pub mode: Option<GatherMode>,
}

type Reduce = fn(&Val, &Reduction) -> Result<Val>;

/// Which segment function: its name, the update, the reduction and what a segment starts from.
struct Kind(&'static str, Update, Reduce, fn(DType) -> Scalar);

fn segments(kind: &Kind, data: &Val, ids: &Val, options: &Segments) -> Result<Val> {
    let Kind(name, combine, reduce, start) = kind;
    let (of_data, of_ids) = (data.aval(), ids.aval());
    if !of_ids.dtype.is_integer() {
        bail!(Type, "segment_ids must be integers");
    }
    let rank = of_ids.rank();
    let rest = of_data.shape.get(rank..).unwrap_or_default();
    let data = &numpy::broadcast_to_shape(data, &[&of_ids.shape[..], rest].concat()).map_err(|error| {
        let (ids, data) = (tuple_text(&of_ids.shape), tuple_text(&of_data.shape));
        error.context(format!("segment_ids of shape {ids} do not index the leading axes of data of shape {data}"))
    })?;
    let of_data = data.aval();
    let count = match options.num_segments {
        Some(count) => count,
        None => number_of_segments(name, ids)?,
    };
    let Ok(count) = usize::try_from(count) else {
        bail!(Value, "num_segments must be non-negative.");
    };
    let dtype = of_data.dtype;
    let first = Val::Literal(start(dtype));
    let shape = [&[count], &of_data.shape[rank..]].concat();
    let hints = UpdateOptions {
        mode: options.mode,
        sorted: options.indices_are_sorted,
        unique: options.unique_indices,
        plain_negative: true,
    };
    let places = IndexItem::Array(ids.clone());
    if options.bucket_size == Some(0) {
        bail!(Value, "bucket_size must not be 0: slices cannot be counted by nothing");
    }
    let bucket = options.bucket_size.map(|size| (size, (of_ids.size() as i64 + size - 1).div_euclid(size.max(1))));
    let Some((size, n_buckets)) = bucket.filter(|&(_, n_buckets)| n_buckets != 1) else {
        return update(combine, &lax::full(&shape, &first)?, &[places], data, &hints);
    };
    let bucket = lax::broadcasted_iota(ids.aval().dtype, &[of_ids.size()], 0)?;
    let bucket = numpy::floor_divide(&lax::reshape(&bucket, &of_ids.shape, None)?, &crate::convert::weak_int(size))?;
    let parts = lax::full(&[&[n_buckets.max(0) as usize], &shape[..]].concat(), &first)?;
    let hints = UpdateOptions { sorted: false, ..hints };
    let parts = update(combine, &parts, &[IndexItem::Array(bucket), places], data, &hints)?;
    numpy::astype(&reduce(&parts, &Reduction::over(Axes::One(0), false))?, dtype)
}

fn number_of_segments(name: &str, ids: &Val) -> Result<i64> {
    if matches!(ids, Val::Tracer(_)) {
        bail!(Value, "num_segments must be given when segment_ids are traced in jax.ops.segment_{name}");
    }
    let greatest = (of(&numpy::max(ids, &Reduction::default())?) + 1).done()?;
    Ok(concrete_scalar(&greatest, "the number of segments")?.as_i64().max(0))
}

fn number(dtype: DType, value: f64) -> Scalar {
    match literal(dtype, value) {
        Val::Literal(scalar) => scalar,
        _ => unreachable!("a literal is one"),
    }
}

/// The sum of the slices of `data` in each segment.
///
/// Args:
///   data: an array `[*ids, *rest]`; `segment_ids` index its leading axes.
///   segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too,
///     are
///     dropped.
///   num_segments: number of segments; by default one more than the largest id, which must then be known.
///   indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
///   bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at
///     once.
///   mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
/// Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are 0.
/// Raises:
///   TypeError: ids are no integers.
///   ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are
///     traced.
///   ZeroDivisionError: `bucket_size` is 0.
/// Differentiable: yes, with respect to `data`, in which it is linear.
/// Example:
///   >>> print(jax.ops.segment_sum(jnp.arange(5.0), jnp.array([0, 0, 1, 1, 2])))
///   [1. 5. 4.]
#[public(
    "ops.segment_sum(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None, out_sharding: Sharded=None)"
)]
pub fn segment_sum(data: &Val, segment_ids: &Val, options: &Segments) -> Result<Val> {
    let kind = Kind("sum", Update::Add, numpy::sum, |dtype| number(dtype, 0.0));
    segments(&kind, data, segment_ids, options)
}

/// The product of the slices of `data` in each segment.
///
/// Args:
///   data: an array `[*ids, *rest]`; `segment_ids` index its leading axes.
///   segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too,
///     are
///     dropped.
///   num_segments: number of segments; by default one more than the largest id, which must then be known.
///   indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
///   bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at
///     once.
///   mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
/// Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are 1.
/// Raises:
///   TypeError: ids are no integers.
///   ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are
///     traced.
///   ZeroDivisionError: `bucket_size` is 0.
/// Differentiable: yes, with respect to `data` where `unique_indices` is true; else a derivative raises
/// NotImplementedError.
/// Example:
///   >>> print(jax.ops.segment_prod(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1])))
///   [6. 4.]
#[public(
    "ops.segment_prod(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None, out_sharding: Sharded=None)"
)]
pub fn segment_prod(data: &Val, segment_ids: &Val, options: &Segments) -> Result<Val> {
    let kind = Kind("prod", Update::Multiply, numpy::prod, |dtype| number(dtype, 1.0));
    segments(&kind, data, segment_ids, options)
}

/// The maximum of the slices of `data` in each segment.
///
/// Args:
///   data: an array `[*ids, *rest]` of real numbers or bools; `segment_ids` index its leading axes.
///   segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too,
///     are
///     dropped.
///   num_segments: number of segments; by default one more than the largest id, which must then be known.
///   indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
///   bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at
///     once.
///   mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
/// Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are the least value: `-inf`, the least
/// integer, False.
/// Raises:
///   TypeError: ids are no integers.
///   ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are
///     traced.
///   ZeroDivisionError: `bucket_size` is 0.
/// Differentiable: yes, with respect to `data`; equal maxima share the cotangent.
/// Example:
///   >>> print(jax.ops.segment_max(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1]), num_segments=3))
///   [  3.   4. -inf]
#[public(
    "ops.segment_max(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None, out_sharding: Sharded=None)"
)]
pub fn segment_max(data: &Val, segment_ids: &Val, options: &Segments) -> Result<Val> {
    segments(&Kind("max", Update::Max, numpy::max, Scalar::least), data, segment_ids, options)
}

/// The minimum of the slices of `data` in each segment.
///
/// Args:
///   data: an array `[*ids, *rest]` of real numbers or bools; `segment_ids` index its leading axes.
///   segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too,
///     are
///     dropped.
///   num_segments: number of segments; by default one more than the largest id, which must then be known.
///   indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
///   bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at
///     once.
///   mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
/// Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are the greatest value: `inf`, the
/// greatest integer,
///   True.
/// Raises:
///   TypeError: ids are no integers.
///   ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are
///     traced.
///   ZeroDivisionError: `bucket_size` is 0.
/// Differentiable: yes, with respect to `data`; equal minima share the cotangent.
/// Example:
///   >>> print(jax.ops.segment_min(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1]), num_segments=3))
///   [ 2.  4. inf]
#[public(
    "ops.segment_min(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None, out_sharding: Sharded=None)"
)]
pub fn segment_min(data: &Val, segment_ids: &Val, options: &Segments) -> Result<Val> {
    segments(&Kind("min", Update::Min, numpy::min, Scalar::greatest), data, segment_ids, options)
}
