//! Making arrays: of one value, of ranges, of nested sequences.

use pullback_base::array::Layout;
use pullback_base::dtype::Kind;
use pullback_base::scalar::Number;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_core::prims;
use pullback_derive::{Keywords, public};
use pullback_ir::{OutSharding, Val};

use crate::axes::{canonical_axis, shape_of};
use crate::broadcast::broadcast_to;
use crate::convert::{convert, default_float, default_int, inexact, literal, number, to_dtype};
use crate::declare::{OneOrTuple, Prototype, WideNumber};
use crate::jit::{named_jit, named_jit_one};
use crate::lax;
use crate::primitive::Bind;
use crate::promotion::{result_type_of, typed};

/// An array of zeros.
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.zeros((2, 3), int))
///   [[0 0 0]
///    [0 0 0]]
#[public("numpy.zeros(shape: Sizes, dtype=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn zeros(shape: &[i64], dtype: Option<DType>) -> Result<Val> {
    filled(shape, dtype, 0)
}

/// An array of ones.
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.ones((2, 3), int))
///   [[1 1 1]
///    [1 1 1]]
#[public("numpy.ones(shape: Sizes, dtype=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn ones(shape: &[i64], dtype: Option<DType>) -> Result<Val> {
    filled(shape, dtype, 1)
}

fn filled(shape: &[i64], dtype: Option<DType>, value: i128) -> Result<Val> {
    let dtype = dtype.unwrap_or_else(default_float);
    lax::full(&shape_of(shape)?, &crate::convert::int_literal(dtype, value))
}

/// An array of one value, which broadcasts to the shape.
///
/// # Errors
/// A `Value` error when it does not.
pub fn full(shape: &[i64], value: &Val, dtype: Option<DType>) -> Result<Val> {
    let weak_type = dtype.is_none() && value.aval().weak_type;
    let value = convert(value, dtype.unwrap_or(value.aval().dtype), weak_type)?;
    broadcast_to(&value, &shape_of(shape)?)
}

/// An array of one value with shape and dtype of another unless given.
///
/// # Errors
/// As [`full`].
pub fn full_like(x: &Val, value: &Val, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    let aval = x.aval();
    let weak_type = dtype.is_none() && aval.weak_type;
    let value = convert(value, dtype.unwrap_or(aval.dtype), weak_type)?;
    let shape = shape.map_or_else(|| Ok(aval.shape.to_vec()), shape_of)?;
    // What is like a split array is split like it, unless it has another shape.
    let sharding = aval.sharding.filter(|_| shape[..] == aval.shape[..]).map(|_| OutSharding::like(aval));
    if sharding.is_none() || value.aval().rank() > 0 {
        return placed_like(x, broadcast_to(&value, &shape)?);
    }
    let params = prims::BroadcastInDim { shape, broadcast_dimensions: vec![], sharding };
    prims::BROADCAST_IN_DIM.bind_with(params, &[value])
}

/// An array over the devices over which another of its shape is divided.
fn placed_like(x: &Val, made: Val) -> Result<Val> {
    let (Val::Array(array), Val::Array(_)) = (x, &made) else { return Ok(made) };
    let place = array.place().filter(|place| place.is_committed && made.aval().shape == x.aval().shape);
    let Some(Layout::Split(mesh, spec)) = place.map(|place| &place.layout) else { return Ok(made) };
    let sharding = prims::ShardingParam {
        layout: Layout::Split(mesh.clone(), spec.clone()),
        text: "that of another array".into(),
    };
    prims::SHARDING_CONSTRAINT.bind_with(prims::ShardingConstraint::new(sharding), &[made])
}

/// Zeros with shape and dtype of another array unless given.
///
/// # Errors
/// A `Type` error for a negative size.
pub fn zeros_like(x: &Val, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    full_like(x, &crate::convert::weak_int(0), dtype, shape)
}

/// Ones with shape and dtype of another array unless given.
///
/// # Errors
/// A `Type` error for a negative size.
pub fn ones_like(x: &Val, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    full_like(x, &crate::convert::weak_int(1), dtype, shape)
}

fn range_length(start: Scalar, stop: Scalar, step: Scalar) -> Result<usize> {
    let numbers = [start, stop, step].map(Scalar::number);
    if let [Number::Int(start), Number::Int(stop), Number::Int(step)] = numbers {
        if step == 0 {
            bail!(Value, "arange: step must not be zero");
        }
        let (span, step) = if step > 0 { (stop - start, step) } else { (start - stop, -step) };
        return Ok(((span + step - 1).max(0) / step) as usize);
    }
    let dtype = result_type_of(&[start, stop, step].map(Val::Literal))?.dtype;
    let rounded = |x: f64| Scalar::float(dtype, x).as_f64();
    let [start, stop, step] = numbers.map(Number::as_f64);
    if step == 0.0 {
        bail!(Value, "arange: step must not be zero");
    }
    Ok(rounded(rounded(stop - start) / step).ceil().max(0.0) as usize)
}

/// Numbers from `start` up to but without `stop`, `step` apart: as many as their quotient, in their own precision, says.
///
/// # Errors
/// A `Value` error for a step of zero.
pub fn arange(start: Option<Scalar>, stop: Scalar, step: Option<Scalar>, dtype: Option<DType>) -> Result<Val> {
    let (zero, one) = (Scalar::zero(stop.dtype()), Scalar::one(stop.dtype()));
    let size = range_length(start.unwrap_or(zero), stop, step.unwrap_or(one))?;
    range_of_size(size, start, stop, step, dtype)
}

/// As [`arange`], for a known number of elements; of `stop` only the dtype matters.
///
/// # Errors
/// What the primitives raise.
pub fn range_of_size(
    size: usize,
    start: Option<Scalar>,
    stop: Scalar,
    step: Option<Scalar>,
    dtype: Option<DType>,
) -> Result<Val> {
    let given: Vec<Val> = [start, Some(stop), step].into_iter().flatten().map(Val::Literal).collect();
    let natural = result_type_of(&given)?.dtype;
    let dtype = dtype.unwrap_or(if natural == DType::Bool { default_int() } else { natural });
    let computed = if dtype == DType::Bool { default_int() } else { dtype };
    let mut out = lax::iota(computed, size)?;
    if let Some(step) = step {
        out = lax::mul(&Val::Literal(step.convert(computed)), &out)?;
    }
    // Alone a start of 0 says nothing; beside a step the reference adds it.
    if let Some(start) = start.filter(|start| step.is_some() || start.as_f64() != 0.0) {
        out = lax::add(&Val::Literal(start.convert(computed)), &out)?;
    }
    to_dtype(&out, dtype)
}

/// Options of [`linspace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keywords)]
pub struct Linspace {
    /// Number of samples.
    pub num: i64,
    /// Whether the last sample is `stop`.
    pub endpoint: bool,
    /// Dtype of the result.
    pub dtype: Option<DType>,
    /// Axis of the result along which samples lie.
    pub axis: i64,
}

impl Default for Linspace {
    fn default() -> Linspace {
        Linspace { num: 50, endpoint: true, dtype: None, axis: 0 }
    }
}

impl Linspace {
    fn statics(&self) -> [i64; 4] {
        let dtype = self.dtype.map_or(-1, |dtype| dtype as i64);
        [self.num, self.endpoint.into(), dtype, self.axis]
    }

    fn check(&self) -> Result<()> {
        if self.num < 0 {
            bail!(Value, "Number of samples, {}, must be non-negative.", self.num);
        }
        Ok(())
    }
}

/// Evenly spaced numbers from `start` to `stop`, and the step between them.
///
/// # Errors
/// A `Value` error for a negative number of samples.
pub fn linspace(start: &Val, stop: &Val, options: Linspace) -> Result<Val> {
    options.check()?;
    named_jit_one("_linspace", &options.statics(), &[start.clone(), stop.clone()], |args| {
        Ok(linspace_of(&args[0], &args[1], options)?.0)
    })
}

/// As [`linspace`], with the step.
///
/// # Errors
/// As [`linspace`].
pub fn linspace_with_step(start: &Val, stop: &Val, options: Linspace) -> Result<(Val, Val)> {
    options.check()?;
    let mut statics = options.statics().to_vec();
    statics.push(1);
    let mut outs = named_jit("_linspace", &statics, &[start.clone(), stop.clone()], |args| {
        let (samples, step) = linspace_of(&args[0], &args[1], options)?;
        Ok(vec![samples, step])
    })?;
    let step = outs.pop().expect("two results");
    Ok((outs.pop().expect("two results"), step))
}

fn linspace_of(start: &Val, stop: &Val, options: Linspace) -> Result<(Val, Val)> {
    let natural = inexact(result_type_of(&[start.clone(), stop.clone()])?.dtype);
    let dtype = options.dtype.unwrap_or(natural);
    let computed = if dtype.is_inexact() { dtype } else { natural };
    let ins = crate::broadcast::broadcast_arrays(&[to_dtype(start, computed)?, to_dtype(stop, computed)?])?;
    let (start, stop) = (&ins[0], &ins[1]);
    let bounds = start.aval().shape.to_vec();
    let (num, has_end) = (options.num as usize, options.endpoint);
    let div = if has_end { num.saturating_sub(1) } else { num };
    let in_front = |x: &Val| lax::reshape_always(x, &[&[1], &bounds[..]].concat());
    let (out, step) = if num > 1 {
        let n = number(start, div as f64);
        let step = lax::div(&lax::sub(stop, start)?, &n)?;
        let mut column = vec![1; bounds.len() + 1];
        column[0] = div;
        let counts = lax::iota(computed.real(), div)?;
        let fraction = lax::div(&counts, &literal(computed.real(), div as f64))?;
        let fraction = to_dtype(&lax::reshape(&fraction, &column, None)?, computed)?;
        let counts = to_dtype(&lax::reshape(&counts, &column, None)?, computed)?;
        let first = in_front(start)?;
        let left = lax::mul(&first, &lax::sub(&number(&fraction, 1.0), &fraction)?)?;
        let right = lax::mul(&lax::div(&in_front(stop)?, &n)?, &counts)?;
        let mut out = lax::add(&left, &right)?;
        if has_end {
            out = lax::concatenate(&[out, lax::expand_axes(stop, &[0])?], 0)?;
        }
        (out, step)
    } else if num == 1 {
        let step = if has_end { literal(computed, f64::NAN) } else { lax::sub(stop, start)? };
        (in_front(start)?, step)
    } else {
        let empty: Vec<usize> = std::iter::once(0).chain(bounds.iter().copied()).collect();
        (lax::full(&empty, &literal(computed, 0.0))?, literal(computed, f64::NAN))
    };
    let axis = canonical_axis(options.axis, out.aval().rank())?;
    let out = super::move_axis_to(&out, 0, axis)?;
    let out = if dtype.is_integer() && !computed.is_integer() { lax::floor(&out)? } else { out };
    Ok((to_dtype(&out, dtype)?, step))
}

/// Numbers at even ratios: `base` to the powers of `linspace(start, stop)`.
///
/// Args:
///   start, stop: the exponents of the ends: numbers, or arrays whose shapes broadcast.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether the power of `stop` is the last one.
///   base: the base, 10 by default: a number or an array that broadcasts.
///   dtype: the dtype; floating or complex by default.
///   axis: the axis of the result along which numbers go; the first by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`.
/// Raises:
///   TypeError: an end is neither an array nor a number.
///   ValueError: `num` is negative.
/// Differentiable: yes, in both modes, with respect to `start`, `stop` and `base`.
/// Example:
///   >>> print(jnp.logspace(0, 3, 4, base=2))
///   [1. 2. 4. 8.]
#[public("numpy.logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)")]
pub fn logspace(start: &Val, stop: &Val, base: &Val, options: Linspace) -> Result<Val> {
    options.check()?;
    named_jit_one("_logspace", &options.statics(), &[start.clone(), stop.clone(), base.clone()], |args| {
        let natural = inexact(result_type_of(&args[..2])?.dtype);
        let dtype = options.dtype.unwrap_or(natural);
        let computed = inexact(dtype);
        let (start, stop) = (to_dtype(&args[0], computed)?, to_dtype(&args[1], computed)?);
        let exponents = linspace(&start, &stop, Linspace { dtype: None, ..options })?;
        to_dtype(&lax::pow(&to_dtype(&args[2], computed)?, &exponents)?, dtype)
    })
}

/// Numbers at even ratios from `start` to `stop`: evenly spaced logarithms.
///
/// Args:
///   start, stop: the ends, of one sign and not 0: numbers, or arrays whose shapes broadcast.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether `stop` is the last one.
///   dtype: the dtype; floating or complex by default.
///   axis: the axis of the result along which numbers go; the first by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`; NaN for ends that are 0 or of different
///   signs.
/// Raises:
///   TypeError: an end is neither an array nor a number.
///   ValueError: `num` is negative.
/// Differentiable: yes, in both modes, with respect to `start` and `stop`.
/// Example:
///   >>> print(jnp.round(jnp.geomspace(1, 8, 4), 3))
///   [1. 2. 4. 8.]
#[public("numpy.geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)")]
pub fn geomspace(start: &Val, stop: &Val, options: Linspace) -> Result<Val> {
    options.check()?;
    named_jit_one("_geomspace", &options.statics(), &[start.clone(), stop.clone()], |args| {
        let natural = inexact(result_type_of(args)?.dtype);
        let dtype = options.dtype.unwrap_or(natural);
        let computed = inexact(dtype);
        let (start, stop) = (to_dtype(&args[0], computed)?, to_dtype(&args[1], computed)?);
        let sign = lax::sign(&start)?;
        let low = super::log10(&lax::div(&start, &sign)?)?;
        let high = super::log10(&lax::div(&stop, &sign)?)?;
        let base = crate::convert::weak_float(10.0);
        let inner = Linspace { dtype: Some(computed), axis: 0, ..options };
        let out = super::multiply(&sign, &logspace(&low, &high, &base, inner)?)?;
        let axis = canonical_axis(options.axis, out.aval().rank())?;
        to_dtype(&super::move_axis_to(&out, 0, axis)?, dtype)
    })
}

/// A matrix with ones on a diagonal and zeros elsewhere.
///
/// Args:
///   N: the number of rows.
///   M: the number of columns; `N` by default.
///   k: which diagonal: 0, the default, is the main one, positive ones are above it, negative ones below.
///   dtype: the dtype; the default float by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array `[N, M]`.
/// Raises:
///   ValueError: a negative size, or a `device` that is neither a device nor a sharding.
///   TypeError: a size that is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.eye(2, 3, k=1, dtype=int))
///   [[0 1 0]
///    [0 0 1]]
#[public("numpy.eye(N, M=None, k=0, dtype=None, *, device: Placed=None)")]
pub fn eye_by(n: i64, m: Option<i64>, k: &Val, dtype: Option<DType>) -> Result<Val> {
    let aval = k.aval();
    if aval.rank() > 0 || aval.dtype.is_inexact() {
        bail!(Value, "k must be a scalar integer; got a value of type {}", aval.long());
    }
    eye_of(n, m, k, dtype)
}

/// Ones on a diagonal.
///
/// # Errors
/// A `Value` error for a negative size.
pub fn eye(n: i64, m: Option<i64>, k: i64, dtype: Option<DType>) -> Result<Val> {
    eye_of(n, m, &crate::convert::weak_int(k), dtype)
}

fn eye_of(n: i64, m: Option<i64>, k: &Val, dtype: Option<DType>) -> Result<Val> {
    let m = m.unwrap_or(n);
    for size in [n, m] {
        if size < 0 {
            bail!(Value, "negative dimensions are not allowed, got {size}");
        }
    }
    to_dtype(&diagonal_mask(&[n as usize, m as usize], k)?, dtype.unwrap_or_else(default_float))
}

/// Which elements of a matrix lie on a diagonal.
pub(super) fn diagonal_mask(shape: &[usize], diagonal: &Val) -> Result<Val> {
    let rows = lax::broadcasted_iota(DType::I32, shape, 0)?;
    let columns = lax::broadcasted_iota(DType::I32, shape, 1)?;
    lax::eq(&lax::add(&rows, &to_dtype(diagonal, DType::I32)?)?, &columns)
}

/// Which elements of matrices lie on or below a diagonal.
pub(super) fn lower_mask(shape: &[usize], diagonal: &Val) -> Result<Val> {
    let rows = lax::broadcasted_iota(DType::I32, shape, 0)?;
    let rows = lax::add(&rows, &to_dtype(diagonal, DType::I32)?)?;
    lax::ge(&rows, &lax::broadcasted_iota(DType::I32, shape, 1)?)
}

/// Ones on and below a diagonal.
///
/// # Errors
/// What the primitives raise.
pub fn tri(rows: usize, columns: Option<usize>, diagonal: &Val, dtype: Option<DType>) -> Result<Val> {
    let mask = lower_mask(&[rows, columns.unwrap_or(rows)], diagonal)?;
    to_dtype(&mask, dtype.unwrap_or_else(default_float))
}

/// Coordinates of every position of a grid.
///
/// # Errors
/// What the primitives raise.
pub fn indices(sizes: &[usize], dtype: Option<DType>) -> Result<Vec<Val>> {
    let dtype = dtype.unwrap_or_else(default_int);
    let along =
        |(axis, &size): (usize, &usize)| crate::broadcast::broadcast_in_dim(&lax::iota(dtype, size)?, sizes, &[axis]);
    sizes.iter().enumerate().map(along).collect()
}

/// A nested sequence of values, as users write arrays.
#[derive(Clone, Debug)]
pub enum Nested {
    /// A value.
    Leaf(Val),
    /// A sequence.
    List(Vec<Nested>),
}

impl Nested {
    fn leaves(&self, found: &mut Vec<Val>) {
        match self {
            Nested::Leaf(val) => found.push(val.clone()),
            Nested::List(items) => items.iter().for_each(|item| item.leaves(found)),
        }
    }

    fn join(&self, dtype: DType) -> Result<Val> {
        match self {
            Nested::Leaf(val) => to_dtype(val, dtype),
            Nested::List(items) if items.is_empty() => lax::full(&[0], &literal(dtype, 0.0)),
            Nested::List(items) => {
                let rows: Result<Vec<Val>> =
                    items.iter().map(|item| lax::expand_axes(&item.join(dtype)?, &[0])).collect();
                super::join_parts(rows?, 0)
            }
        }
    }
}

/// The array of a nested sequence, strongly typed.
///
/// # Errors
/// When shapes or dtypes do not go together.
pub fn array_of(nested: &Nested, dtype: Option<DType>) -> Result<Val> {
    let mut leaves = vec![];
    nested.leaves(&mut leaves);
    let natural = if leaves.is_empty() { default_float() } else { result_type_of(&leaves)?.dtype };
    nested.join(dtype.unwrap_or(natural))
}

/// Axes that may be asked for by their number.
const MOST_AXES: usize = 1 << 12;

/// The value as an array: a copy when asked for, of a dtype and of at least `ndmin` axes.
///
/// # Errors
/// What the primitives raise.
pub fn array(x: &Val, dtype: Option<DType>, copy: bool, ndmin: usize) -> Result<Val> {
    let copied = if copy && !matches!(x, Val::Literal(_)) { lax::copy(x)? } else { x.clone() };
    let given = typed(&copied);
    let out = match dtype {
        Some(dtype) => astype(&copied, dtype)?,
        None => convert(&copied, given.dtype, given.weak_type)?,
    };
    let rank = out.aval().rank();
    if ndmin > MOST_AXES {
        bail!(Value, "ndmin is {ndmin}: no array has more than {MOST_AXES} axes");
    }
    lax::expand_axes(&out, &(0..ndmin.saturating_sub(rank)).collect::<Vec<_>>())
}

/// The value in another dtype, strongly typed; complex to real drops the imaginary part.
///
/// # Errors
/// What the primitive raises.
pub fn astype(x: &Val, dtype: DType) -> Result<Val> {
    if x.aval().dtype.is_complex() && dtype.kind() == Kind::Bool {
        return lax::nonzero_mask(x);
    }
    to_dtype(x, dtype)
}

/// An array of zeros: memory that was not written to cannot be seen, so that `empty` is `zeros`.
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   dtype: the dtype; the default float (float32, or float64 with `jax_enable_x64`) by default.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers.
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.empty(2))
///   [0. 0.]
#[public("numpy.empty(shape: Sizes, dtype=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn empty(shape: &[i64], dtype: Option<DType>) -> Result<Val> {
    zeros(shape, dtype)
}

/// An array of one value.
///
/// Args:
///   shape: the sizes of the axes: an integer or a sequence of static integers.
///   fill_value: the value: a number, or an array that broadcasts to `shape`.
///   dtype: the dtype; that of `fill_value` by default, weak if it is a Python number.
///   device: the device or sharding that holds it; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape `shape` and the dtype `dtype`.
/// Raises:
///   TypeError: sizes that are negative, no integers or traced; a dtype that is not of numbers; a `fill_value` that
///     is neither an array nor a number.
///   ValueError: `fill_value` does not broadcast to `shape`; a `device` that is neither a device nor a sharding.
/// Differentiable: yes, in both modes, with respect to `fill_value`.
/// Example:
///   >>> print(jnp.full((2, 2), 7))
///   [[7 7]
///    [7 7]]
#[public("numpy.full(shape: Sizes, fill_value, dtype=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn full_of(shape: &[i64], fill_value: WideNumber, dtype: Option<DType>) -> Result<Val> {
    let value = match dtype {
        Some(dtype) => fill_value.to_wide(dtype)?,
        None => fill_value.to(None)?,
    };
    if let Some(dtype) = dtype {
        // NaN and infinities become integers as XLA converts them; a complex number has no such meaning.
        if value.aval().dtype.is_complex() {
            crate::convert::check_number(&value, dtype)?;
        }
        crate::convert::warn_of_lost_part(&value, dtype)?;
    }
    full(shape, &value, dtype)
}

/// Zeros with the shape and the dtype of another array; weak if that is weak.
///
/// Args:
///   a: an array or number.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.zeros_like(jnp.array([1, 2])))
///   [0 0]
#[public("numpy.zeros_like(a, dtype=None, shape: Sizes=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn zeros_as(a: Prototype, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    let shape = shape.map(<[i64]>::to_vec).or(a.shape);
    zeros_like(&a.val, dtype, shape.as_deref())
}

/// Ones with the shape and the dtype of another array; weak if that is weak.
///
/// Args:
///   a: an array or number.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.ones_like(jnp.array([1, 2])))
///   [1 1]
#[public("numpy.ones_like(a, dtype=None, shape: Sizes=None, *, device: Placed=None, out_sharding: Sharded=None)")]
pub fn ones_as(a: Prototype, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    let shape = shape.map(<[i64]>::to_vec).or(a.shape);
    ones_like(&a.val, dtype, shape.as_deref())
}

/// Zeros with the shape and the dtype of another array: `empty_like` is `zeros_like`.
///
/// Args:
///   prototype: an array or number.
///   dtype: another dtype; that of `prototype` by default.
///   shape: another shape; that of `prototype` by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array of the shape and dtype of `prototype`, or those that are given.
/// Raises:
///   TypeError: `prototype` is neither an array nor a number (lists are refused).
///   ValueError: a `device` that is neither a device nor a sharding.
/// Differentiable: with derivative 0.
/// Example:
///   >>> print(jnp.empty_like(jnp.array([1, 2])))
///   [0 0]
#[public("numpy.empty_like(prototype, dtype=None, shape: Sizes=None, *, device: Placed=None)")]
pub fn empty_like(prototype: Prototype, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    zeros_as(prototype, dtype, shape)
}

/// One value with the shape and the dtype of another array.
///
/// Args:
///   a: an array or number.
///   fill_value: the value, converted to the dtype: a number, or an array that broadcasts to the shape.
///   dtype: another dtype; that of `a` by default.
///   shape: another shape; that of `a` by default.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array of the shape and dtype of `a`, or those that are given.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: `fill_value` does not broadcast; a `device` that is neither a device nor a sharding.
/// Differentiable: yes, in both modes, with respect to `fill_value`.
/// Example:
///   >>> print(jnp.full_like(jnp.arange(3), 2.7))
///   [2 2 2]
#[public(
    "numpy.full_like(a, fill_value, dtype=None, shape: Sizes=None, *, device: Placed=None, out_sharding: Sharded=None)"
)]
pub fn full_as(a: Prototype, fill_value: WideNumber, dtype: Option<DType>, shape: Option<&[i64]>) -> Result<Val> {
    let value = fill_value.to_wide(dtype.unwrap_or(a.val.aval().dtype))?;
    let shape = shape.map(<[i64]>::to_vec).or(a.shape);
    full_like(&a.val, &value, dtype, shape.as_deref())
}

/// Numbers at even distances from `start` to `stop`.
///
/// Args:
///   start, stop: the ends: numbers, or arrays whose shapes broadcast and give several ranges.
///   num: how many, a static integer; 50 by default.
///   endpoint: whether `stop` is the last one; if not, there is one distance more.
///   retstep: whether to give the distance too.
///   dtype: the dtype; floating or complex by default. For integers numbers are rounded down.
///   axis: the axis of the result along which numbers go; the first by default.
///   device: the device or sharding that holds the result; the default device by default.
/// Returns: an array of the broadcast shape with a new axis of size `num`, or the pair of it and the distance.
/// Raises:
///   TypeError: `start` or `stop` is neither an array nor a number.
///   ValueError: `num` is negative, the shapes do not broadcast, or a `device` that is neither a device nor a
///     sharding.
/// Differentiable: yes, in both modes, with respect to `start` and `stop`.
/// Example:
///   >>> print(jnp.linspace(0, 1, 5))
///   [0.   0.25 0.5  0.75 1.  ]
#[public(
    "numpy.linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device: Placed=None)"
)]
pub fn linspace_by(start: &Val, stop: &Val, options: Linspace, retstep: bool) -> Result<OneOrTuple> {
    if !retstep {
        return linspace(start, stop, options).map(OneOrTuple::One);
    }
    let (samples, step) = linspace_with_step(start, stop, options)?;
    Ok(OneOrTuple::Tuple(vec![samples, step]))
}

/// The identity matrix.
///
/// Args:
///   n: the number of rows and columns.
///   dtype: the dtype; the default float by default.
/// Returns: an array `[n, n]`.
/// Raises:
///   ValueError: `n` is negative.
///   TypeError: `n` is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.identity(2))
///   [[1. 0.]
///    [0. 1.]]
#[public("numpy.identity(n, dtype=None)")]
pub fn identity(n: i64, dtype: Option<DType>) -> Result<Val> {
    eye(n, None, 0, dtype)
}

/// A matrix with ones on and below a diagonal and zeros above.
///
/// Args:
///   N: the number of rows.
///   M: the number of columns; `N` by default.
///   k: the highest diagonal with ones, an integer or a traced one: 0, the default, is the main one, positive ones are above it.
///   dtype: the dtype; the default float by default.
/// Returns: an array `[N, M]`.
/// Raises:
///   TypeError: a size that is no integer.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.tri(2, 3, dtype=int))
///   [[1 0 0]
///    [1 1 0]]
#[public("numpy.tri(N, M=None, k=0, dtype=None)")]
pub fn tri_of(n: i64, m: Option<i64>, k: &Val, dtype: Option<DType>) -> Result<Val> {
    let aval = k.aval();
    if aval.rank() > 0 || aval.dtype.is_inexact() {
        bail!(Type, "'{}' object cannot be interpreted as an integer", aval.dtype);
    }
    let columns = m.unwrap_or(n);
    let [Ok(rows), Ok(columns)] = [n, columns].map(usize::try_from) else {
        bail!(Type, "iota shape must have every element be nonnegative, got ({n}, {columns}).")
    };
    tri(rows, Some(columns), k, dtype)
}

/// A copy of an array, in memory of its own.
///
/// Args:
///   a: an array or number.
///   order: None or 'K'.
/// Returns: an array of the shape and dtype of `a`.
/// Raises:
///   NotImplementedError: another order.
///   TypeError: `a` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is the identity.
/// Example:
///   >>> print(jnp.copy(jnp.arange(3)))
///   [0 1 2]
#[public("numpy.copy(a, order=None)")]
pub fn copy(a: &Val, order: Option<&str>) -> Result<Val> {
    if order.is_some_and(|order| order != "K") {
        bail!(NotImplemented, "Only implemented for order='K'");
    }
    array(a, None, true, 0)
}

/// The array in another dtype.
/// Floating numbers lose their fractions as integers, complex ones their imaginary parts as real ones; 64-bit types
/// narrow to 32 bits unless `jax_enable_x64` is set.
///
/// Args:
///   x: an array or number.
///   dtype: the dtype; None for the default float.
///   copy: whether to copy where nothing changes.
///   device: the device or sharding that holds the result; that of `x` by default.
/// Returns: an array of the shape of `x` and the dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, between floating and complex dtypes; integers and booleans stop gradients.
/// Example:
///   >>> print(jnp.astype(jnp.array([1.7, -2.9]), int))
///   [ 1 -2]
#[public("numpy.astype(x, dtype, /, *, copy=False, device: Placed=None)")]
pub fn astype_of(x: &Val, dtype: Option<DType>, copy: bool) -> Result<Val> {
    let out = astype(x, dtype.unwrap_or_else(default_float))?;
    if copy && x.aval() == out.aval() { lax::copy(&out) } else { Ok(out) }
}

/// The coordinates of all positions of a grid.
///
/// Args:
///   dimensions: the sizes of the axes of the grid: a sequence of static integers.
///   dtype: the dtype; the default integer by default.
///   sparse: whether to give a tuple of arrays that broadcast to the grid, instead of one array.
/// Returns: an array `[len(dimensions), *dimensions]`, whose part `i` holds the positions along axis `i`; or a
///   tuple of arrays.
/// Raises:
///   TypeError: sizes that are no integers.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.indices((2, 2)))
///   [[[0 0]
///     [1 1]]
///   <BLANKLINE>
///    [[0 1]
///     [0 1]]]
#[public("numpy.indices(dimensions, dtype=None, sparse=False)")]
pub fn indices_of(dimensions: &[usize], dtype: Option<DType>, sparse: bool) -> Result<OneOrTuple> {
    if !sparse && dimensions.is_empty() {
        return super::zeros(&[0], Some(dtype.unwrap_or_else(default_int))).map(OneOrTuple::One);
    }
    if !sparse {
        return super::stack(&indices(dimensions, dtype)?, 0, None).map(OneOrTuple::One);
    }
    let alone = |axis: usize| {
        let mut shape = vec![1; dimensions.len()];
        shape[axis] = dimensions[axis] as i64;
        super::reshape(&indices(&dimensions[axis..=axis], dtype)?.swap_remove(0), &shape, super::Order::RowMajor)
    };
    (0..dimensions.len()).map(alone).collect::<Result<_>>().map(OneOrTuple::Tuple)
}
