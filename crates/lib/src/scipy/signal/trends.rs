//! Trends of signals.

use pullback_base::aval::tuple_text;
use pullback_base::{Array, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::Axes;
use crate::convert::known_for;
use crate::declare::Object;
use crate::formula::{Formula, of};
use crate::lax;
use crate::numpy::{self, Reduction};
use crate::promotion::promote_args_inexact;

/// Where pieces begin and end.
fn breaks(bp: &Val, size: usize) -> Result<Vec<usize>> {
    let given = known_for(bp, "the breakpoints of detrend")?;
    let given = (0..given.aval().size()).map(|at| given.element(at).map(|place| place.as_f64() as i64));
    let given = given.collect::<Result<Vec<_>>>()?;
    if given.iter().any(|place| !(0..=size as i64).contains(place)) {
        bail!(
            Value,
            "Breakpoints must be non-negative and less than length of data along given axis; got bp={given:?} for \
             length {size}."
        );
    }
    let mut places: Vec<usize> = given.iter().map(|&place| place as usize).chain([0, size]).collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Without the line of least squares along the last axis.
fn without_line(y: &Val) -> Result<Val> {
    let (size, dtype) = (y.aval().shape[y.aval().rank() - 1], y.aval().dtype);
    let kept = Reduction::over(Axes::One(-1), true);
    let y = of(y) - numpy::mean(y, &kept);
    if size < 2 {
        return y.done();
    }
    let last = size as f64 - 1.0;
    let places: Vec<f64> = (0..size).map(|at| (2.0 * at as f64 - last) / last).collect();
    let square: f64 = places.iter().map(|place| place * place).sum();
    let array = |scale: f64| {
        let elements = places.iter().map(|place| Scalar::float(dtype, place / scale));
        Val::Array(Array::from_scalars(&[size], dtype, elements))
    };
    let slope = (&y * &array(square)).then(|terms| numpy::sum(terms, &kept));
    (&y - slope * &array(1.0)).done()
}

/// The data without their mean, or without the straight line of least squares.
///
/// Args:
///   data: an array of numbers; integers become floating.
///   axis: the axis along which they follow each other.
///   type: "linear" for the line, "constant" for the mean.
///   bp: for "linear", a place or several where a new line begins.
///   overwrite_data: must be None.
/// Returns: an array of the shape of `data`.
/// Raises:
///   ValueError: another type, or a place outside of the data.
///   NotImplementedError: `overwrite_data` is given.
///   IndexError: an axis out of bounds.
///   TypeError: `data` is no array or number.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.signal.detrend(jnp.array([1.0, 2.0, 3.0, 2.0]), type="constant"))
///   [-1.  0.  1.  0.]
#[public("scipy.signal.detrend(data: Convertible, axis=-1, type='linear', bp: Convertible=0, overwrite_data=None)")]
pub fn detrend(data: &Val, axis: i64, type_: &str, bp: &Val, overwrite_data: Option<Object>) -> Result<Val> {
    if overwrite_data.is_some() {
        bail!(NotImplemented, "detrend: overwrite_data argument not implemented; arrays are never overwritten.");
    }
    if type_ != "constant" && type_ != "linear" {
        bail!(Value, "Trend type must be 'linear' or 'constant', got '{type_}'.");
    }
    let data = promote_args_inexact("detrend", std::slice::from_ref(data))?.swap_remove(0);
    let rank = data.aval().rank();
    if !(-(rank as i64)..rank as i64).contains(&axis) {
        let shape = tuple_text(&data.aval().shape);
        bail!(Index, "detrend: axis {axis} is out of range for data of shape {shape}");
    }
    if type_ == "constant" {
        return (of(&data) - numpy::mean(&data, &Reduction::over(Axes::One(axis), true))).done();
    }
    let data = numpy::moveaxis(&data, &[axis], &[-1])?;
    let places = breaks(bp, data.aval().shape[rank - 1])?;
    let piece = |ends: &[usize]| without_line(&lax::slice_in_dim(&data, ends[0], ends[1], 1, rank - 1)?);
    let pieces = places.windows(2).map(piece).collect::<Result<Vec<_>>>()?;
    let found = if pieces.is_empty() { Ok(data) } else { numpy::concatenate(&pieces, Some(-1), None) };
    Formula::from(found).then(|found| numpy::moveaxis(found, &[-1], &[axis])).done()
}
