//! Convolution and correlation of vectors.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims::{CONV_GENERAL_DILATED, ConvDimensions, ConvGeneralDilated, DotPrecision, PadPair};
use pullback_derive::public;
use pullback_ir::{Params, Val};

use crate::convert::inexact;
use crate::indexing::{IndexItem, getitem};
use crate::precision::{in_force, within};
use crate::promotion::result_type_of;

/// Sums of products of `x` with `y` at each place, without turning `y`.
fn sliding(x: &Val, y: &Val, mode: &str, dtype: Option<DType>) -> Result<Val> {
    let n = y.aval().shape[0] as i64;
    let padding = match mode {
        "full" => (n - 1, n - 1),
        "same" => (n / 2, n - n / 2 - 1),
        "valid" => (0, 0),
        _ => bail!(Value, "mode must be one of ['full', 'same', 'valid']"),
    };
    let one = |x: &Val| getitem(x, &[IndexItem::NewAxis, IndexItem::NewAxis]);
    let axes = vec![0, 1, 2];
    let params = ConvGeneralDilated {
        window_strides: vec![1],
        padding: vec![PadPair(padding.0, padding.1)],
        lhs_dilation: vec![1],
        rhs_dilation: vec![1],
        dimension_numbers: ConvDimensions { lhs: axes.clone(), rhs: axes.clone(), out: axes },
        feature_group_count: 1,
        batch_group_count: 1,
        precision: in_force(),
        preferred_element_type: dtype,
        out_sharding: None,
    };
    let found = pullback_trace::bind_one(CONV_GENERAL_DILATED, &Params::new(params), &[one(x)?, one(y)?])?;
    getitem(&found, &[IndexItem::Int(0), IndexItem::Int(0)])
}

fn operands(name: &str, a: &Val, v: &Val) -> Result<(Val, Val)> {
    let (a_shape, v_shape) = (a.aval().shape.to_vec(), v.aval().shape.to_vec());
    if a_shape.len() != 1 || v_shape.len() != 1 {
        bail!(Value, "{name}() only support 1-dimensional inputs.");
    }
    let mut dtype = result_type_of(&[a.clone(), v.clone()])?.dtype;
    if !dtype.is_inexact() {
        dtype = inexact(dtype);
    }
    if a_shape[0] == 0 || v_shape[0] == 0 {
        let shapes = (tuple_text(&a_shape), tuple_text(&v_shape));
        bail!(Value, "{name}: inputs cannot be empty, got shapes {} and {}.", shapes.0, shapes.1);
    }
    Ok((super::astype(a, dtype)?, super::astype(v, dtype)?))
}

fn turned(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::Slice { start: None, stop: None, step: Some(-1) }])
}

/// The convolution of two vectors: `sum(a[i] * v[k - i])` for each k.
///
/// Args:
///   a, v: vectors of at least one element; integers become floating.
///   mode: 'full' (the default) for all places where they meet, `n + m - 1`; 'same' for as many as the longer has
///     elements; 'valid' for those where they meet wholly.
///   precision: as `jax.lax.conv_general_dilated` takes it.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: a vector of the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument that is no array.
///   ValueError: an operand is no vector or empty, or another `mode`.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
///   [ 1. 12. 23. 30.]
#[public("numpy.convolve(a, v, mode='full', *, precision=None, preferred_element_type=None)")]
pub fn convolve(
    a: &Val,
    v: &Val,
    mode: &str,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    let (mut a, mut v) = operands("convolve", a, v)?;
    if a.aval().shape[0] < v.aval().shape[0] {
        std::mem::swap(&mut a, &mut v);
    }
    within(precision, || sliding(&a, &turned(&v)?, mode, preferred_element_type))
}

/// The cross-correlation of two vectors: `sum(a[i + k] * conj(v[i]))` for each lag k.
///
/// Args:
///   a, v: vectors of at least one element; integers become floating.
///   mode: 'valid' (the default) for the lags where they meet wholly, 'same' for as many as the longer has
///     elements, 'full' for all lags.
///   precision: as `jax.lax.conv_general_dilated` takes it.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: a vector of the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument that is no array.
///   ValueError: an operand is no vector or empty, or another `mode`.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
///   [21. 32.]
#[public("numpy.correlate(a, v, mode='valid', *, precision=None, preferred_element_type=None)")]
pub fn correlate(
    a: &Val,
    v: &Val,
    mode: &str,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Result<Val> {
    let (a, v) = operands("correlate", a, v)?;
    let v = if v.aval().dtype.is_complex() { super::conjugate(&v)? } else { v };
    if a.aval().shape[0] >= v.aval().shape[0] {
        return within(precision, || sliding(&a, &v, mode, preferred_element_type));
    }
    within(precision, || turned(&sliding(&v, &a, mode, preferred_element_type)?))
}
