//! `jax.scipy.ndimage`: elements of an image between its points.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::convert::{literal, to_dtype};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::formula::{Formula, abs, between, floor, of, where_};
use crate::indexing::{IndexItem, getitem};
use crate::lax::{self, RoundingMethod};
use crate::numpy;

/// The coordinates of points: for each axis of the image an array of positions.
#[derive(Clone, Debug)]
pub struct Coordinates(pub Vec<Val>);

impl Argument for Coordinates {
    const TYPE: Type = Type { python: "Sequence[ArrayLike] | ArrayLike", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Coordinates> {
        if let Ok(arrays) = args.arrays(at) {
            return Ok(Coordinates(arrays));
        }
        Ok(Coordinates(numpy::unstack(&args.convertible(at)?, 0)?.into_vec()))
    }
    fn absent(default: Constant) -> Coordinates {
        panic!("{default:?} is declared as the default of coordinates")
    }
}

/// What stands for places beyond the edges.
fn folded(mode: &str, index: &Formula, size: i64) -> Formula {
    let mirrored = |index: &Formula, size: i64| {
        let half = size - 1;
        abs((index + half) % (2 * half).max(1) - half)
    };
    match mode {
        "nearest" => between(index, 0, size - 1),
        "wrap" => index % size,
        "mirror" => mirrored(index, size),
        "reflect" => {
            let doubled = mirrored(&(2 * index + 1), 2 * size + 1);
            doubled.then(|doubled| numpy::floor_divide(doubled, &crate::convert::weak_int(2)))
        }
        _ => index.clone(),
    }
}

/// A point beside a coordinate: its place, whether that is inside, and its share.
struct Beside {
    place: Formula,
    is_inside: Option<Formula>,
    share: Option<Formula>,
}

/// The points beside the coordinates along an axis.
fn beside(place: &Val, size: usize, order: i64, mode: &str) -> Vec<Beside> {
    let size = size as i64;
    let at = |index: Formula, share: Option<Formula>| {
        let is_inside = (mode == "constant").then(|| index.ge(0) & index.lt(size));
        Beside { place: folded(mode, &index, size), is_inside, share }
    };
    if order == 0 {
        let is_whole = place.aval().dtype.is_integer();
        let place = if is_whole { of(place) } else { floor(of(place) + 0.5) };
        return vec![at(place.astype(DType::I32), None)];
    }
    let lower = floor(place);
    let share = of(place) - &lower;
    let index = lower.astype(DType::I32);
    vec![at(index.clone(), Some(1 - &share)), at(index + 1, Some(share))]
}

/// An array at coordinates between its elements.
///
/// Args:
///   input: an array of `d` axes.
///   coordinates: `d` arrays of one shape: where to evaluate, in elements.
///   order: 0 for the nearest element, 1 for linear interpolation.
///   mode: what lies outside: "constant", "nearest", "wrap", "mirror" (edges not repeated) or "reflect" (repeated).
///   cval: the value outside in mode "constant".
/// Returns: an array of the shape of the coordinates and the dtype of `input`; integers are rounded.
/// Raises:
///   ValueError: another number of coordinates than axes.
///   NotImplementedError: another mode or order.
/// Differentiable: yes, with respect to `input`, and for order 1 almost everywhere to the coordinates.
/// Example:
///   >>> print(jax.scipy.ndimage.map_coordinates(jnp.array([0.0, 10.0]), [jnp.array([0.25])], order=1))
///   [2.5]
#[public(
    "scipy.ndimage.map_coordinates(input: Convertible, coordinates, order, mode='constant', cval: Convertible=0.0)"
)]
pub fn map_coordinates(input: &Val, coordinates: Coordinates, order: i64, mode: &str, cval: &Val) -> Result<Val> {
    let (shape, dtype) = (input.aval().shape.clone(), input.aval().dtype);
    let places = coordinates.0;
    if places.len() != shape.len() {
        bail!(Value, "coordinates must be a sequence of length input.ndim, but {} != {}", places.len(), shape.len());
    }
    if !["constant", "nearest", "wrap", "mirror", "reflect"].contains(&mode) {
        bail!(
            NotImplemented,
            "jax.scipy.ndimage.map_coordinates does not yet support mode {mode}. Currently supported modes are \
             {{'constant', 'nearest', 'wrap', 'mirror', 'reflect'}}."
        );
    }
    if order != 0 && order != 1 {
        bail!(NotImplemented, "jax.scipy.ndimage.map_coordinates currently requires order<=1");
    }
    let outside = to_dtype(cval, dtype)?;
    let corners: Vec<_> = places.iter().zip(&shape).map(|(place, &size)| beside(place, size, order, mode)).collect();
    let mut total: Option<Formula> = None;
    for at in 0..corners.iter().map(Vec::len).product() {
        let term = corner(input, &corners, at, &outside)?;
        total = Some(match total {
            None => term,
            Some(total) => total + term,
        });
    }
    let total = total.unwrap_or_else(|| Formula::from(literal(dtype, 0.0))).done()?;
    let is_rounded = !dtype.is_inexact() && dtype != DType::Bool && total.aval().dtype.is_inexact();
    let total = if is_rounded { lax::round(&total, RoundingMethod::AwayFromZero)? } else { total };
    numpy::astype(&total, dtype)
}

/// The value at a corner, times its share. Corners are numbered with the last axis first.
fn corner(input: &Val, corners: &[Vec<Beside>], at: usize, outside: &Val) -> Result<Formula> {
    let mut rest = at;
    let mut chosen = vec![];
    for choices in corners.iter().rev() {
        chosen.push(&choices[rest % choices.len()]);
        rest /= choices.len();
    }
    chosen.reverse();
    let places = chosen.iter().map(|one| one.place.clone().done().map(IndexItem::Array));
    let mut value = Formula::from(getitem(input, &places.collect::<Result<Vec<_>>>()?));
    let is_inside = chosen.iter().filter_map(|one| one.is_inside.clone()).reduce(|x, y| x & y);
    if let Some(is_inside) = is_inside {
        value = where_(is_inside, value, outside);
    }
    let share = chosen.iter().filter_map(|one| one.share.clone()).reduce(|x, y| x * y);
    Ok(match share {
        Some(share) => share * value,
        None => value,
    })
}
