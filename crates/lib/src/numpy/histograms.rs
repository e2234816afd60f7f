//! Histograms of one and several dimensions.

use pullback_base::aval::tuple_text;
use pullback_base::tree::{Node, TreeDef};
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::nested::Nest;
use super::parts::{changed, flat, part, range as range_of, shaped, slice_at};
use super::{Linspace, Reduction, linspace, where_};
use crate::convert::{concrete_scalar, literal, to_dtype, weak_float, weak_int};
use crate::declare::{Argument, Arguments, Constant, Object, Tree, Type};
use crate::indexing::{IndexItem, Update, getitem};
use crate::jit::at_once;
use crate::lax;
use crate::promotion::{promote_dtypes, promote_inexact};

/// The number of bins, or their edges; of several axes.
#[derive(Clone, Debug)]
pub enum Bins {
    /// As many, evenly spaced.
    Count(i64),
    /// The name of a rule, of which there are none.
    Rule(String),
    /// Edges, or what holds for each axis.
    Each(Nest),
}

impl Bins {
    /// The number of bins, or else their edges.
    fn known(&self) -> Result<(i64, Option<Val>)> {
        match self {
            Bins::Count(count) => Ok((*count, None)),
            Bins::Rule(rule) => bail!(
                Type,
                "jax.numpy.histogram takes the number of bins or their edges, got the name of a rule, '{rule}'"
            ),
            Bins::Each(edges) => {
                let edges = edges.stacked()?;
                if edges.aval().rank() == 1 {
                    return Ok((0, Some(edges)));
                }
                Ok((concrete_scalar(&edges, "the number of bins")?.as_i64(), None))
            }
        }
    }
}

impl Argument for Bins {
    const TYPE: Type = Type { python: "ArrayLike | Sequence[ArrayLike]", rust: "&Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Bins> {
        if args.is_array(at) {
            return args.array(at).map(Nest::Leaf).map(Bins::Each);
        }
        if let Ok(count) = args.int(at) {
            return Ok(Bins::Count(count));
        }
        match args.text(at) {
            Ok(rule) => Ok(Bins::Rule(rule)),
            Err(_) => Nest::read(args, at).map(Bins::Each),
        }
    }
    fn absent(default: Constant) -> Bins {
        Bins::Count(i64::absent(default))
    }
}

/// The edges of bins: evenly spaced over a range, or those that are given.
///
/// Args:
///   a: an array, taken as flat.
///   bins: the number of bins, or a vector of their edges.
///   range: the first and the last edge; the least and the greatest element by default.
///   weights: for compatibility; without influence.
/// Returns: the edges `[bins + 1]`, floating; a range of length 0 is widened by half on both sides.
/// Raises:
///   TypeError: `bins` is the name of a rule, or `a` is neither an array nor a number.
///   ValueError: `range` is no pair of numbers.
/// Differentiable: with respect to `a` and `range`.
/// Example:
///   >>> print(jnp.histogram_bin_edges(jnp.array([0.0, 3.0]), bins=3))
///   [0. 1. 2. 3.]
#[public("numpy.histogram_bin_edges(a, bins=10, range=None, weights: Ignored=None)")]
pub fn histogram_bin_edges(a: &Val, bins: &Bins, range: Option<&Nest>) -> Result<Val> {
    let a = promote_inexact(std::slice::from_ref(a))?.swap_remove(0);
    let dtype = a.aval().dtype;
    let (count, edges) = bins.known()?;
    if let Some(edges) = edges {
        return to_dtype(&edges, dtype);
    }
    let (low, high) = match range {
        None if a.aval().size() == 0 => (weak_float(0.0), weak_float(1.0)),
        None => {
            let flat = flat(&a)?;
            (super::min(&flat, &Reduction::default())?, super::max(&flat, &Reduction::default())?)
        }
        Some(range) => ends_of(range)?,
    };
    let (low, high) = (to_dtype(&low, dtype)?, to_dtype(&high, dtype)?);
    if low.aval().rank() > 0 {
        bail!(Value, "range must be None or have shape (2,), got {}", tuple_text(&low.aval().shape));
    }
    let is_flat = super::equal(&high, &low)?;
    let low = where_(&is_flat, &super::subtract(&low, &weak_float(0.5))?, &low)?;
    let high = where_(&is_flat, &super::add(&high, &weak_float(0.5))?, &high)?;
    linspace(&low, &high, Linspace { num: count + 1, dtype: Some(dtype), ..Linspace::default() })
}

/// The first and the last edge.
fn ends_of(range: &Nest) -> Result<(Val, Val)> {
    let ends = range.arrays("the first and the last edge of a histogram")?;
    match <[Val; 2]>::try_from(ends) {
        Ok([low, high]) => Ok((low, high)),
        Err(ends) => bail!(Value, "the range of a histogram is a pair of numbers, got {} of them", ends.len()),
    }
}

/// How many elements lie in each bin; a bin holds its left edge, the last one both.
///
/// Args:
///   a: an array, taken as flat.
///   bins: the number of bins, or a vector of their edges.
///   range: the first and the last edge; the least and the greatest element by default; elements outside do not
///     count.
///   weights: what each element counts: an array of the shape of `a`.
///   density: whether to divide by the widths of the bins and the sum.
///   out_sharding: must be None.
/// Returns: the counts `[bins]`, floating, and the edges `[bins + 1]`.
/// Raises:
///   ValueError: weights of another shape.
///   TypeError: `bins` is the name of a rule, or `a` is neither an array nor a number.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: the counts with respect to `weights`.
/// Example:
///   >>> counts, edges = jnp.histogram(jnp.array([0.0, 0.5, 3.0]), bins=3)
///   >>> print(counts, edges)
///   [2. 0. 1.] [0. 1. 2. 3.]
#[public("numpy.histogram(a, bins=10, range=None, weights=None, density=None, out_sharding=None)")]
pub fn histogram(
    a: &Val,
    bins: &Bins,
    range: Option<&Nest>,
    weights: Option<&Val>,
    density: bool,
    out_sharding: Option<Object>,
) -> Result<(Val, Val)> {
    if out_sharding.is_some() {
        bail!(NotImplemented, "out_sharding of jax.numpy.histogram is not implemented");
    }
    if weights.is_some_and(|weights| weights.aval().shape != a.aval().shape) {
        bail!(Value, "weights should have the same shape as a.");
    }
    let (count, edges) = bins.known()?;
    let ends = if edges.is_some() { None } else { range.map(ends_of).transpose()? };
    let (low, high) = ends.unzip();
    let parts = [Some(a.clone()), weights.cloned(), edges, low, high];
    let given: Vec<bool> = parts.iter().map(Option::is_some).collect();
    let statics: Vec<i64> = [count, density.into()].into_iter().chain(given.iter().map(|&is| is.into())).collect();
    let args: Vec<Val> = parts.into_iter().flatten().collect();
    let mut out = at_once("histogram", &statics, &args, |args| {
        let mut rest = args.iter();
        let mut next = |at: usize| if given[at] { rest.next() } else { None };
        let (a, weights) = (next(0).expect("the elements"), next(1));
        let bins = next(2).map_or(Bins::Count(count), |edges| Bins::Each(Nest::Leaf(edges.clone())));
        let range = next(3).zip(next(4)).map(|(low, high)| [low, high].map(|end| Nest::Leaf(end.clone())));
        histogram_of(a, weights, &bins, range.map(|ends| Nest::Tuple(ends.to_vec())).as_ref(), density)
    })?;
    let edges = out.pop().expect("counts and edges");
    Ok((out.swap_remove(0), edges))
}

fn histogram_of(a: &Val, weights: Option<&Val>, bins: &Bins, range: Option<&Nest>, density: bool) -> Result<Vec<Val>> {
    let given: Vec<Val> = [Some(a), weights].into_iter().flatten().cloned().collect();
    let mut given = promote_inexact(&given)?;
    let weights = match given.get(1) {
        None => super::ones_like(&given[0], None, None)?,
        Some(_) => given.swap_remove(1),
    };
    let a = given.swap_remove(0);
    let edges = histogram_bin_edges(&a, bins, range)?;
    let n = edges.aval().shape[0];
    let (a, weights) = (flat(&a)?, flat(&weights)?);
    let place = super::searchsorted(&edges, &a, true)?;
    let is_last = super::equal(&a, &slice_at(&edges, 0, -1)?)?;
    let place = where_(&is_last, &weak_int(n as i64 - 1), &place)?;
    let none = lax::full(&[n], &literal(weights.aval().dtype, 0.0))?;
    let counts = part(&changed(&Update::Add, &none, &place, &weights)?, 0, 1, None)?;
    if !density {
        return Ok(vec![counts, edges]);
    }
    let widths = super::diff(&edges, 1, -1, None, None)?;
    let total = super::sum(&counts, &Reduction::default())?;
    Ok(vec![super::true_divide(&super::true_divide(&counts, &widths)?, &total)?, edges])
}

/// How many points of the plane lie in each cell.
///
/// Args:
///   x, y: the coordinates, vectors `[n]`.
///   bins: the number of bins or a vector of edges, for both axes, or a pair of such.
///   range: the first and the last edge of each axis, `[2, 2]`; those of the points by default.
///   weights: what each point counts `[n]`.
///   density: whether to divide by the areas of the cells and the sum.
/// Returns: the counts `[bins of x, bins of y]`, the edges along `x` and the edges along `y`.
/// Raises:
///   TypeError: coordinates that are no vectors of one length.
///   ValueError: weights or ranges of another length.
/// Differentiable: the counts with respect to `weights`.
/// Example:
///   >>> counts, _, _ = jnp.histogram2d(jnp.array([0.0, 0.0, 1.0]), jnp.array([0.0, 1.0, 1.0]), bins=2)
///   >>> print(counts)
///   [[1 1]
///    [0 1]]
#[public("numpy.histogram2d(x, y, bins=10, range=None, weights=None, density=None)")]
pub fn histogram2d(
    x: &Val,
    y: &Val,
    bins: &Bins,
    range: Option<&Nest>,
    weights: Option<&Val>,
    density: bool,
) -> Result<(Val, Val, Val)> {
    let both = promote_dtypes(&[x.clone(), y.clone()])?;
    let (x_aval, y_aval) = (both[0].aval(), both[1].aval());
    if x_aval.rank() != 1 || x_aval.shape != y_aval.shape {
        let shapes = (tuple_text(&x_aval.shape), tuple_text(&y_aval.shape));
        bail!(Type, "x and y must be vectors of the same length, got shapes {} and {}", shapes.0, shapes.1);
    }
    let n = match bins {
        Bins::Each(Nest::Leaf(edges)) => edges.aval().shape.first().copied().unwrap_or(1),
        Bins::Each(each) => each.items().map_or(1, <[Nest]>::len),
        Bins::Rule(rule) => rule.len(),
        Bins::Count(_) => 1,
    };
    let same = match bins {
        Bins::Each(edges) if n != 1 && n != 2 => {
            let edges = Nest::Leaf(edges.stacked()?);
            Some(Bins::Each(Nest::List(vec![edges.clone(), edges])))
        }
        _ => None,
    };
    let sample = super::stack(&both, 1, None)?;
    let (counts, mut edges) = counted(&sample, same.as_ref().unwrap_or(bins), range, weights, density)?;
    let last = edges.pop().expect("two axes");
    Ok((counts, edges.swap_remove(0), last))
}

/// How many points lie in each cell of a grid of any dimension.
///
/// Args:
///   sample: points `[n, d]`.
///   bins: the number of bins or a vector of edges for all axes, or a list with one for each.
///   range: the first and the last edge of each axis, or None for those of the points: a sequence of `d` pairs.
///   weights: what each point counts `[n]`.
///   density: whether to divide by the volumes of the cells and the sum.
/// Returns: the counts, with `d` axes, and the list of edges along each.
/// Raises:
///   ValueError: `sample` has not two axes; weights, bins or ranges of another length.
/// Differentiable: the counts with respect to `weights`.
/// Example:
///   >>> counts, edges = jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), bins=2)
///   >>> print(counts)
///   [[1 0]
///    [1 1]]
#[public("numpy.histogramdd(sample, bins=10, range=None, weights=None, density=None)")]
pub fn histogramdd(
    sample: &Val,
    bins: &Bins,
    range: Option<&Nest>,
    weights: Option<&Val>,
    density: bool,
) -> Result<Tree> {
    let (counts, edges) = counted(sample, bins, range, weights, density)?;
    let list = TreeDef::new(Node::List, vec![TreeDef::leaf(); edges.len()]);
    let leaves = std::iter::once(counts).chain(edges).collect();
    Ok(Tree { leaves, structure: TreeDef::tuple(vec![TreeDef::leaf(), list]) })
}

/// What each axis has: `n` of them.
fn each(given: &Nest, n: usize) -> Result<Vec<Nest>> {
    match given {
        Nest::Leaf(rows) if rows.aval().rank() > 0 => {
            (0..rows.aval().shape[0]).map(|i| slice_at(rows, 0, i as i64).map(Nest::Leaf)).collect()
        }
        Nest::Leaf(_) | Nest::None => Ok(vec![given.clone(); n]),
        Nest::List(items) | Nest::Tuple(items) => Ok(items.clone()),
    }
}

fn counted(
    sample: &Val,
    bins: &Bins,
    range: Option<&Nest>,
    weights: Option<&Val>,
    density: bool,
) -> Result<(Val, Vec<Val>)> {
    let given: Vec<Val> = [Some(sample), weights].into_iter().flatten().cloned().collect();
    let given = promote_inexact(&given)?;
    let (sample, weights) = (&given[0], given.get(1));
    let shape = sample.aval().shape.to_vec();
    let [n, d] = shape[..] else { bail!(Value, "Expected sample.ndim = 2. Got sample.ndim = {}", shape.len()) };
    if weights.is_some_and(|weights| weights.aval().shape[..] != [n]) {
        bail!(Value, "should have one weight for each sample.");
    }
    let ranges = each(range.unwrap_or(&Nest::None), d)?;
    let is_pair = |range: &Nest| match range {
        Nest::None => true,
        Nest::Leaf(pair) => pair.aval().shape.first() == Some(&2),
        Nest::List(items) | Nest::Tuple(items) => items.len() == 2,
    };
    if ranges.len() != d || !ranges.iter().all(is_pair) {
        bail!(Value, "For sample.shape={}, range must be a sequence of {d} pairs or Nones", tuple_text(&shape));
    }
    let every = match bins {
        Bins::Each(given) => each(given, d)?.into_iter().map(Bins::Each).collect(),
        one => vec![one.clone(); d],
    };
    if every.len() != d {
        bail!(Value, "should be a bin for each dimension.");
    }
    let (mut places, mut edges) = (vec![], vec![]);
    for (i, (bins, range)) in every.iter().zip(&ranges).enumerate() {
        let x = getitem(sample, &[IndexItem::ALL, IndexItem::Int(i as i64)])?;
        let range = Some(range).filter(|range| !matches!(range, Nest::None));
        let these = histogram_bin_edges(&x, bins, range)?;
        let place = super::searchsorted(&these, &x, true)?;
        let is_last = super::equal(&x, &slice_at(&these, 0, -1)?)?;
        places.push(where_(&is_last, &super::subtract(&place, &weak_int(1))?, &place)?);
        edges.push(these);
    }
    let sizes: Vec<usize> = edges.iter().map(|edges| edges.aval().shape[0] + 1).collect();
    let counts = super::bincount(&ravelled(&places, &sizes)?, weights, pullback_base::extent(&sizes))?;
    let counts = getitem(&shaped(&counts, &sizes)?, &vec![range_of(1, -1); d])?;
    let counts = if density { densities(&counts, &edges, sample.aval().dtype)? } else { counts };
    Ok((counts, edges))
}

/// Positions in the flat array of all cells.
fn ravelled(places: &[Val], sizes: &[usize]) -> Result<Val> {
    let mut total = places[0].clone();
    for (place, &size) in places.iter().zip(sizes).skip(1) {
        total = super::add(&super::multiply(&total, &weak_int(size as i64))?, place)?;
    }
    Ok(total)
}

fn densities(counts: &Val, edges: &[Val], dtype: DType) -> Result<Val> {
    let total = super::sum(counts, &Reduction::default())?;
    let mut counts = super::true_divide(&super::astype(counts, dtype)?, &total)?;
    for (i, edges_) in edges.iter().enumerate() {
        let others: Vec<usize> = (0..edges.len()).filter(|&j| j != i).collect();
        let widths = super::diff(edges_, 1, -1, None, None)?;
        counts = super::true_divide(&counts, &lax::expand_axes(&widths, &others)?)?;
    }
    Ok(counts)
}
