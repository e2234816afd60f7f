//! Collectives over named axes: checks against the axes that are bound, then one primitive each.

use pullback_base::{DType, Error, ErrorKind, Result};
use pullback_core::prims;
use pullback_core::prims::{Axis, AxisNames, BareNames, Groups};
use pullback_ir::{AxisName, PrimRef, Val};
use pullback_trace::{axis_size, is_typed_axis};

use crate::convert::to_dtype;
use crate::primitive::Bind;

/// The product of the sizes of bound axes.
///
/// # Errors
/// `Name` when one of them is not bound.
pub fn axes_size(names: &[AxisName]) -> Result<usize> {
    names.iter().map(|name| axis_size(name)).product()
}

/// Refuses names that are not bound, in the reference's words for a staged collective.
fn check_bound(prim: &str, names: &[AxisName]) -> Result<()> {
    for name in names {
        if axis_size(name).is_err() {
            let text = if pullback_trace::is_tracing() || prim == "axis_index" {
                format!("Found an unbound axis name: {name}. To fix this, please call {prim} under `jax.shard_map`.")
            } else {
                format!("unbound axis name: {name}")
            };
            return Err(Error::new(ErrorKind::Name, text));
        }
    }
    Ok(())
}

/// How many members a collective has: all along the axes, or those of one group.
///
/// # Errors
/// `Name` for an unbound axis; `Value` unless groups cover every index once and, if `alike`, have one size.
fn members(names: &[AxisName], groups: &Groups, alike: bool) -> Result<usize> {
    let size = axes_size(names)?;
    let Some(groups) = groups else { return Ok(size) };
    let mut indices: Vec<usize> = groups.concat();
    indices.sort_unstable();
    if !indices.iter().copied().eq(0..size) {
        return Err(Error::value_error("axis_index_groups must cover all indices exactly once"));
    }
    let first = groups.first().map_or(size, Vec::len);
    if alike && groups.iter().any(|group| group.len() != first) {
        return Err(Error::value_error("axis_index_groups must all be the same size for this collective"));
    }
    Ok(first)
}

fn all_reduce(prim: PrimRef, x: &Val, axes: &[Axis], groups: &Groups) -> Result<Val> {
    let names: Vec<AxisName> = axes.iter().filter_map(|axis| axis.name().cloned()).collect();
    check_bound(prim.name(), &names)?;
    if groups.is_some() && names.len() < axes.len() {
        return Err(Error::value_error("axis_index_groups only supported for sums over just named axes"));
    }
    members(&names, groups, false)?;
    let params = prims::AllReduce { axes: axes.to_vec(), axis_index_groups: groups.clone() };
    prim.bind_checked(params, &[pvary(x, &names)?])
}

/// The value, taken to differ along those of the axes of which types speak.
///
/// # Errors
/// `Name` for an unbound axis.
pub fn pvary(x: &Val, names: &[AxisName]) -> Result<Val> {
    axes_size(names)?;
    let typed: Vec<AxisName> = names.iter().filter(|name| is_typed_axis(name)).cloned().collect();
    pullback_trace::vary(x, &typed)
}

/// The sum over axes of which types speak: the same for all along them.
fn psum_typed(x: &Val, axes: &[Axis], typed: Vec<AxisName>) -> Result<Val> {
    let is_typed = |axis: &&Axis| axis.name().is_some_and(|name| typed.contains(name));
    let rest: Vec<Axis> = axes.iter().filter(|axis| !is_typed(axis)).cloned().collect();
    let x = match rest.iter().map(Axis::position).collect::<Option<Vec<usize>>>() {
        Some(positions) if positions.is_empty() => x.clone(),
        Some(positions) => super::reduce_sum(x, &positions)?,
        None => all_reduce(prims::PSUM, x, &rest, &None)?,
    };
    let x = pullback_trace::vary(&x, &typed)?;
    prims::PSUM_INVARIANT.bind_with(prims::PsumInvariant { axes: AxisNames(typed) }, &[x])
}

/// The sum over named and positional axes; booleans are counted.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for wrong groups or positions.
pub fn psum(x: &Val, axes: &[Axis], groups: &Groups) -> Result<Val> {
    let x = if x.aval().dtype == DType::Bool { to_dtype(x, DType::I32)? } else { x.clone() };
    let typed: Vec<AxisName> = axes.iter().filter_map(Axis::name).filter(|name| is_typed_axis(name)).cloned().collect();
    if typed.is_empty() || groups.is_some() {
        return all_reduce(prims::PSUM, &x, axes, groups);
    }
    check_bound("psum", &axes.iter().filter_map(|axis| axis.name().cloned()).collect::<Vec<_>>())?;
    psum_typed(&x, axes, typed)
}

/// The greatest over named and positional axes.
///
/// # Errors
/// As [`psum`].
pub fn pmax(x: &Val, axes: &[Axis], groups: &Groups) -> Result<Val> {
    all_reduce(prims::PMAX, x, axes, groups)
}

/// The least over named and positional axes.
///
/// # Errors
/// As [`psum`].
pub fn pmin(x: &Val, axes: &[Axis], groups: &Groups) -> Result<Val> {
    all_reduce(prims::PMIN, x, axes, groups)
}

/// The position of this example or device along an axis.
///
/// # Errors
/// `Name` for an unbound axis.
pub fn axis_index(name: &AxisName) -> Result<Val> {
    check_bound("axis_index", std::slice::from_ref(name))?;
    let fields = prims::AxisIndex { axis_name: name.clone(), check_vma: is_typed_axis(name) };
    prims::AXIS_INDEX.bind_with(fields, &[])
}

/// The values of all members, stacked along a new axis or, when tiled, joined along one they have.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for wrong groups or axes.
pub fn all_gather(x: &Val, names: &[AxisName], axis: i64, groups: &Groups, tiled: bool) -> Result<Val> {
    let size = members(names, groups, true)?;
    let axis = crate::axes::canonical_axis(axis, x.aval().rank() + usize::from(!tiled))?;
    let fields = prims::AllGather {
        all_gather_dimension: axis,
        axis_name: AxisNames(names.to_vec()),
        axis_index_groups: groups.clone(),
        axis_size: size,
        tiled,
    };
    prims::ALL_GATHER.bind_checked(fields, &[pvary(x, names)?])
}

/// The sum over members, of which each keeps its part along an axis.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for wrong groups, or when the axis cannot be divided.
pub fn psum_scatter(x: &Val, names: &[AxisName], axis: i64, groups: &Groups, tiled: bool) -> Result<Val> {
    let size = members(names, groups, true)?;
    let axis = crate::axes::canonical_axis(axis, x.aval().rank())?;
    let x = if x.aval().dtype == DType::Bool { to_dtype(x, DType::I32)? } else { x.clone() };
    let fields = prims::ReduceScatter {
        axis_name: AxisNames(names.to_vec()),
        scatter_dimension: axis,
        axis_index_groups: groups.clone(),
        axis_size: size,
        tiled,
    };
    prims::REDUCE_SCATTER.bind_checked(fields, &[pvary(&x, names)?])
}

/// Divides `split_axis` among the members and joins what each gets along `concat_axis`; unless tiled, the divided axis
/// must have one position for each member and goes away, and the joined axis is new.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for wrong groups, axes or sizes.
pub fn all_to_all(
    x: &Val,
    names: &[AxisName],
    (split, concat): (i64, i64),
    groups: &Groups,
    tiled: bool,
) -> Result<Val> {
    let size = members(names, groups, true)?;
    let rank = x.aval().rank();
    let (split, concat) = (crate::axes::canonical_axis(split, rank)?, crate::axes::canonical_axis(concat, rank)?);
    let found = x.aval().shape[split];
    let bind = |x: &Val, split: usize, concat: usize| {
        let fields = prims::AllToAll {
            split_axis: split,
            concat_axis: concat,
            axis_name: BareNames(names.to_vec()),
            axis_index_groups: groups.clone(),
            tiled,
            axis_size: size,
        };
        prims::ALL_TO_ALL.bind_checked(fields, &[pvary(x, names)?])
    };
    if tiled {
        return bind(x, split, concat);
    }
    if found != size {
        return Err(Error::value_error(format!(
            "all_to_all requires the size of the mapped axis axis_name to equal x.shape[split_axis], but they are {size} and \
             {found} respectively."
        )));
    }
    if split == concat {
        return bind(x, split, concat);
    }
    // A new axis of one position takes what the members send; the divided one is left with one position.
    let (new, split) = if split < concat { (concat + 1, split) } else { (concat, split + 1) };
    let mut shape = x.aval().shape.to_vec();
    shape.insert(new, 1);
    let kept: Vec<usize> = (0..shape.len()).filter(|&axis| axis != new).collect();
    let wide = super::broadcast_in_dim(x, &shape, &kept)?;
    super::squeeze_axes(&bind(&wide, split, new)?, &[split])
}

/// Values sent from sources to targets; zero where nothing comes.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for a source or target that is out of range or twice.
pub fn ppermute(x: &Val, names: &[AxisName], perm: &[(i64, i64)]) -> Result<Val> {
    let size = axes_size(names)?;
    let mut pairs = vec![];
    for &(source, target) in perm {
        let position = |number: i64| usize::try_from(number).ok().filter(|&number| number < size);
        let (Some(source), Some(target)) = (position(source), position(target)) else {
            return Err(Error::value_error(format!(
                "ppermute pair ({source}, {target}) is out of bounds for the axis {names:?} of size {size}."
            )));
        };
        pairs.push((source, target));
    }
    let fields = prims::Ppermute { axis_name: AxisNames(names.to_vec()), perm: pairs };
    prims::PPERMUTE.bind_checked(fields, &[pvary(x, names)?])
}

/// The value of one member for all.
///
/// # Errors
/// `Name` for an unbound axis; `Value` for a source out of range.
pub fn pbroadcast(x: &Val, names: &[AxisName], source: usize) -> Result<Val> {
    let size = axes_size(names)?;
    if source >= size {
        return Err(Error::value_error(format!(
            "pbroadcast source {source} is out of bounds for an axis of size {size}."
        )));
    }
    let fields = prims::Pbroadcast { axis_name: BareNames(names.to_vec()), source };
    prims::PBROADCAST.bind_checked(fields, &[pvary(x, names)?])
}
