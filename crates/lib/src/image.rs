//! `jax.image`: images of other sizes and places.
//!
//! An axis is resampled by a matrix of weights: what each element of the image adds to each element of the result, by the
//! kernel of the method around the place that the result's element has in the image.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims::DotPrecision;
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::{canonical_axis, signed_tuple_text};
use crate::convert::{convert, default_float, inexact, literal, to_dtype};
use crate::declare::{Argument, Arguments, Constant, Reader, Type};
use crate::formula::{Formula, abs, floor, maximum, minimum, of, sin, where_};
use crate::indexing::{GetOptions, IndexItem, get};
use crate::jit::named_jit_one;
use crate::lax::{self, GatherMode};
use crate::numpy;
use crate::precision::{static_of, within};

/// How an image is resampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResizeMethod {
    /// The nearest element.
    Nearest,
    /// Linear interpolation: a triangle of radius 1.
    Linear,
    /// Lanczos' kernel of radius 3.
    Lanczos3,
    /// Lanczos' kernel of radius 5.
    Lanczos5,
    /// The cubic kernel of Keys, with a = -1/2.
    Cubic,
    /// As `Cubic`; without antialiasing with a = -3/4, and edges repeated.
    CubicPytorch,
    /// The average over the area of an element.
    Area,
}

impl ResizeMethod {
    /// Whether what lies beside the image is its edge, rather than 0.
    fn repeats_edges(self, antialias: bool) -> bool {
        self == ResizeMethod::CubicPytorch && !antialias
    }

    /// The method of a name.
    fn of_name(name: &str) -> Option<ResizeMethod> {
        Some(match name {
            "nearest" => ResizeMethod::Nearest,
            "linear" | "bilinear" | "trilinear" | "triangle" => ResizeMethod::Linear,
            "lanczos3" => ResizeMethod::Lanczos3,
            "lanczos5" => ResizeMethod::Lanczos5,
            "cubic" | "bicubic" | "tricubic" => ResizeMethod::Cubic,
            "cubic-pytorch" | "bicubic-pytorch" => ResizeMethod::CubicPytorch,
            "area" => ResizeMethod::Area,
            _ => return None,
        })
    }
}

impl Argument for ResizeMethod {
    const TYPE: Type = Type { python: "str | Any", rust: "String" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<ResizeMethod> {
        let shown = args.shown(at)?;
        let member = shown.strip_prefix("ResizeMethod.").map(|name| name.to_lowercase().replace('_', "-"));
        match ResizeMethod::of_name(member.as_deref().unwrap_or(&shown)) {
            Some(method) => Ok(method),
            None => bail!(Value, "Unknown resize method \"{shown}\""),
        }
    }
    fn absent(default: Constant) -> ResizeMethod {
        panic!("{default:?} is declared as the default of a method")
    }
}

/// A precision that is the highest where none is given.
pub struct HighestByDefault;

impl Reader<Option<DotPrecision>> for HighestByDefault {
    const TYPE: Type = DotPrecision::TYPE;
    const OPTIONAL: bool = true;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<DotPrecision>> {
        Option::read(args, at)
    }
    fn absent(_default: Constant) -> Option<DotPrecision> {
        DotPrecision::of_word("highest")
    }
}

/// Where an axis of the result lies in the image: `result = image * scale + translation`, and the sizes of both.
struct Axis {
    from: usize,
    to: usize,
    inverse: Formula,
    translation: Formula,
}

fn count(like: &Formula, size: usize) -> Formula {
    like.then(|like| lax::iota(like.aval().dtype, size))
}

fn column(x: &Formula) -> Formula {
    x.then(|x| lax::expand_axes(x, &[1]))
}

fn row(x: &Formula) -> Formula {
    x.then(|x| lax::expand_axes(x, &[0]))
}

impl Axis {
    /// The centres of the result's elements, in elements of the image.
    fn places(&self) -> Formula {
        (count(&self.inverse, self.to) + 0.5) * &self.inverse - &self.translation * &self.inverse - 0.5
    }

    /// How much of each element of the image an element of the result covers.
    fn overlaps(&self) -> Formula {
        let first = count(&self.inverse, self.to) * &self.inverse - &self.translation * &self.inverse;
        let last = &first + &self.inverse;
        let element = count(&self.inverse, self.from);
        let end = minimum(row(&last), column(&(&element + 1.0)));
        maximum(0.0, end - maximum(row(&first), column(&element)))
    }

    /// A kernel of the distances, which are in elements of the coarser of both.
    fn kernel(&self, method: ResizeMethod, antialias: bool) -> Formula {
        let repeats = method.repeats_edges(antialias);
        let margin = if repeats { 2 } else { 0 };
        let element = count(&self.inverse, self.from + 2 * margin) - margin as f64;
        let width = if antialias { maximum(&self.inverse, 1.0) } else { 1.0.into() };
        let distance = abs(row(&self.places()) - column(&element)) / width;
        match method {
            ResizeMethod::Lanczos3 => lanczos(&distance, 3.0),
            ResizeMethod::Lanczos5 => lanczos(&distance, 5.0),
            ResizeMethod::Cubic => cubic(&distance, -0.5),
            ResizeMethod::CubicPytorch if repeats => with_edges(&cubic(&distance, -0.75), margin),
            ResizeMethod::CubicPytorch => cubic(&distance, -0.5),
            ResizeMethod::Nearest | ResizeMethod::Linear | ResizeMethod::Area => maximum(0.0, 1.0 - distance),
        }
    }

    /// The weight of each element of the image (rows) in each of the result. They sum to 1, but are 0 outside of the image.
    fn weights(&self, method: ResizeMethod, antialias: bool) -> Formula {
        let raw = match method {
            ResizeMethod::Area => self.overlaps(),
            _ => self.kernel(method, antialias),
        };
        let total = row(&raw.sum(0));
        let divisor = where_(total.differs(0.0), &total, 1.0);
        let vanishes = abs(&total).le(1000.0 * f64::from(f32::EPSILON));
        let weights = where_(vanishes, 0.0, raw / divisor);
        if method.repeats_edges(antialias) {
            return weights;
        }
        let places = self.places();
        let is_inside = places.ge(-0.5) & places.le(self.from as f64 - 0.5);
        where_(row(&is_inside), weights, 0.0)
    }
}

/// Keys' piecewise cubic of a distance, with its slope at 1.
fn cubic(distance: &Formula, a: f64) -> Formula {
    let near = ((distance * (a + 2.0) - (a + 3.0)) * distance) * distance + 1.0;
    let far = ((distance * a - 5.0 * a) * distance + 8.0 * a) * distance - 4.0 * a;
    let both = where_(distance.ge(1.0), far, near);
    where_(distance.ge(2.0), 0.0, both)
}

/// `sinc(x) sinc(x / radius)`, zero from the radius on. Near 0 it is 1, and so are its derivatives' limits.
fn lanczos(distance: &Formula, radius: f64) -> Formula {
    let angle = distance * std::f64::consts::PI;
    let over = sin(&angle) * radius * sin(&angle / radius);
    let square = distance * distance * (std::f64::consts::PI * std::f64::consts::PI);
    let is_far = distance.gt(1e-3);
    let found = where_(&is_far, over / where_(&is_far, square, 1.0), 1.0);
    where_(distance.gt(radius), 0.0, found)
}

/// Weights whose first and last rows, beyond the image, go to its first and last element.
fn with_edges(weights: &Formula, margin: usize) -> Formula {
    weights.then(|weights| {
        let shape = shape_of(weights);
        let part = |from: usize, to: usize| lax::slice_in_dim(weights, from, to, 1, 0);
        let sum = |from: usize, to: usize| row(&of(&part(from, to)?).sum(0)).done();
        let size = shape[0] - 2 * margin;
        if size == 1 {
            return sum(0, shape[0]);
        }
        let inner = part(margin + 1, shape[0] - margin - 1)?;
        lax::concatenate(&[sum(0, margin + 1)?, inner, sum(shape[0] - margin - 1, shape[0])?], 0)
    })
}

/// Labels of axes for products of matrices.
fn label(axis: usize) -> Result<char> {
    match (b'a'..=b'z').nth(axis) {
        Some(letter) => Ok(letter.into()),
        None => bail!(Value, "jax.image serves images of up to 26 axes, got one of {}", axis + 1),
    }
}

/// The image, each of the axes multiplied with the weights beside it.
fn contracted(image: &Val, matrices: Vec<(usize, Val)>) -> Result<Val> {
    if matrices.is_empty() {
        return Ok(image.clone());
    }
    let all = (0..image.aval().rank()).map(label).collect::<Result<String>>()?;
    let (mut subscripts, mut result) = (all.clone(), all);
    let mut operands = vec![image.clone()];
    for (axis, weights) in matrices {
        let old = label(axis)?;
        let new = old.to_ascii_uppercase();
        subscripts.push_str(&format!(",{old}{new}"));
        result = result.replace(old, &new.to_string());
        operands.push(to_dtype(&weights, image.aval().dtype)?);
    }
    numpy::einsum(&format!("{subscripts}->{result}"), &operands, None)
}

fn shape_of(image: &Val) -> Vec<usize> {
    image.aval().shape.to_vec()
}

/// The image in a floating dtype.
fn floating(image: &Val) -> Result<Val> {
    let aval = image.aval();
    convert(image, inexact(aval.dtype), aval.weak_type)
}

/// The sizes of the result, one for each axis of the image.
fn sizes(image: &Val, shape: &[i64]) -> Result<Vec<usize>> {
    let of_image = shape_of(image);
    if shape.len() != of_image.len() {
        let (given, own) = (signed_tuple_text(shape), tuple_text(&of_image));
        bail!(Value, "shape must have length equal to the number of dimensions of x; {given} vs {own}");
    }
    shape.iter().map(|&size| size_of(size, shape)).collect()
}

fn size_of(size: i64, shape: &[i64]) -> Result<usize> {
    match usize::try_from(size) {
        Ok(size) => Ok(size),
        Err(_) => bail!(Value, "the shape of an image has no negative sizes, got {}", signed_tuple_text(shape)),
    }
}

fn nearest(image: &Val, to: &[usize]) -> Result<Val> {
    let from = shape_of(image);
    let mut out = image.clone();
    for axis in (0..from.len()).filter(|&axis| from[axis] != to[axis]) {
        let step = of(&lax::iota(DType::F32, to[axis])?) + 0.5;
        let place = floor(step * from[axis] as f64 / to[axis].max(1) as f64).astype(DType::I32).done()?;
        let mut items = vec![IndexItem::ALL; axis];
        items.push(IndexItem::Array(place));
        let options = GetOptions { mode: Some(GatherMode::PromiseInBounds), ..GetOptions::default() };
        out = get(&out, &items, &options)?;
    }
    Ok(out)
}

/// An image of another size.
///
/// Every axis whose size changes is resampled; elements are squares, and both images cover the same area.
///
/// Args:
///   image: an array or number.
///   shape: the sizes of the result, one for each axis of the image; equal ones leave an axis (of channels, of a batch) as it is.
///   method: a member of `ResizeMethod` or its name: 'nearest', 'linear' ('bilinear', 'trilinear', 'triangle'), 'lanczos3',
///     'lanczos5', 'cubic' ('bicubic', 'tricubic'), 'cubic-pytorch' ('bicubic-pytorch'), or 'area'.
///   antialias: whether kernels are widened where an axis shrinks.
///   precision: the precision of the products, as `jax.lax.dot_general` takes it; the highest by default.
/// Returns: an array of `shape`; of the dtype of `image` for 'nearest', else of its floating dtype.
/// Raises:
///   TypeError: `image` is neither an array nor a number.
///   ValueError: `shape` has another length than `image` has axes or a negative size, the method is unknown, or an axis of
///     size 0 should grow.
/// Differentiable: yes, in both modes; it is linear in `image`.
/// Example:
///   >>> print(jax.image.resize(jnp.array([0.0, 1.0]), (4,), "linear"))
///   [0.   0.25 0.75 1.  ]
#[public("image.resize(image, shape: Sizes, method, antialias=True, precision: HighestByDefault='highest')")]
pub fn resize(
    image: &Val,
    shape: Vec<i64>,
    method: ResizeMethod,
    antialias: bool,
    precision: Option<DotPrecision>,
) -> Result<Val> {
    let (from, to) = (shape_of(image), sizes(image, &shape)?);
    if let Some(axis) = (0..from.len()).find(|&axis| from[axis] == 0 && to[axis] != 0) {
        bail!(Value, "axis {axis} of the image is empty and cannot be resized to {} elements", to[axis]);
    }
    let statics = [&shape[..], &[method as i64, antialias.into()], &[static_of(precision)]].concat();
    within(precision, || {
        named_jit_one("_resize", &statics, std::slice::from_ref(image), |ins| match method {
            ResizeMethod::Nearest => nearest(&ins[0], &to),
            _ => resized(&floating(&ins[0])?, &to, method, antialias),
        })
    })
}

fn resized(image: &Val, to: &[usize], method: ResizeMethod, antialias: bool) -> Result<Val> {
    let (from, dtype) = (shape_of(image), default_float());
    let mut matrices = vec![];
    for axis in (0..from.len()).filter(|&axis| from[axis] != to[axis]) {
        let inverse = of(&literal(dtype, from[axis] as f64 / to[axis].max(1) as f64));
        let translation = of(&literal(dtype, 0.0));
        let along = Axis { from: from[axis], to: to[axis], inverse, translation };
        matrices.push((axis, along.weights(method, antialias).done()?));
    }
    contracted(image, matrices)
}

/// An image scaled and moved: what was at `x` along an axis comes to `x * scale + translation`, where the first element has its
/// centre at 0.5. Elements that come from outside of the image are 0.
///
/// Args:
///   image: an array or number.
///   shape: the sizes of the result, one for each axis of the image.
///   spatial_dims: the axes that are scaled and moved; the others keep their sizes.
///   scale: an array of one number for each of `spatial_dims`.
///   translation: an array of one number for each of `spatial_dims`, in elements of the result.
///   method: as for `resize`, but for 'nearest', which is refused.
///   antialias: whether kernels are widened where an axis shrinks.
///   precision: the precision of the products, as `jax.lax.dot_general` takes it; the highest by default.
/// Returns: an array of `shape` (along `spatial_dims`) and the floating dtype of `image`.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: `shape` has another length than `image` has axes, `scale` or `translation` another than `spatial_dims`, an axis
///     is out of bounds, or the method is unknown or 'nearest'.
/// Differentiable: yes, in both modes, in `image`, `scale` and `translation`.
/// Example:
///   >>> print(jax.image.scale_and_translate(jnp.array([1.0, 3.0]), (3,), (0,), jnp.ones(1), jnp.ones(1), "linear"))
///   [0. 1. 3.]
#[public(
    "image.scale_and_translate(image, shape: Sizes, spatial_dims, scale, translation, method, antialias=True, precision: HighestByDefault='highest')"
)]
#[expect(clippy::too_many_arguments, reason = "they are those of the public function")]
pub fn scale_and_translate(
    image: &Val,
    shape: Vec<i64>,
    spatial_dims: Vec<i64>,
    scale: &Val,
    translation: &Val,
    method: ResizeMethod,
    antialias: bool,
    precision: Option<DotPrecision>,
) -> Result<Val> {
    let to = sizes(image, &shape)?;
    if method == ResizeMethod::Nearest {
        bail!(Value, "Nearest neighbor resampling is not currently supported for scale_and_translate.");
    }
    check_one_for_each(&spatial_dims, [("scale", scale), ("translation", translation)])?;
    let [scale, translation] = crate::formula::promoted("scale_and_translate", [scale, translation])?;
    let (image, from) = (floating(image)?, shape_of(image));
    let mut matrices: Vec<(usize, Val)> = vec![];
    for (at, &axis) in spatial_dims.iter().enumerate() {
        let axis = canonical_axis(axis, from.len())?;
        let one = |of_all: &Formula| of_all.at(&[IndexItem::Int(at as i64)]);
        let along = Axis { from: from[axis], to: to[axis], inverse: 1.0 / one(&scale), translation: one(&translation) };
        matrices.push((axis, along.weights(method, antialias).done()?));
    }
    within(precision, || contracted(&image, matrices))
}

fn check_one_for_each(axes: &[i64], given: [(&str, &Val); 2]) -> Result<()> {
    for (name, val) in given {
        let shape = shape_of(val);
        if shape != [axes.len()] {
            let (shape, count) = (tuple_text(&shape), axes.len());
            bail!(
                Value,
                "scale_and_translate needs a {name} of shape ({count},), one number for each of spatial_dims, got {shape}"
            );
        }
    }
    Ok(())
}
