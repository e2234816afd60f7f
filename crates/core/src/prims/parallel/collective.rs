//! What the StableHLO forms of collectives share: which devices meet, and how that is said.
//!
//! Devices are named by their positions in the mesh of the map around the program, row by row.

use pullback_base::array::place::Mesh;
use pullback_base::{Aval, Error, Result};
use pullback_ir::AxisName;
use pullback_ir::hlo::{HloCx, HloRegion, HloValue};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::axes::Groups;

/// The devices that communicate with each other along the named axes, in the order of those; all groups of the mesh.
///
/// # Errors
/// `NotImplemented` outside of a map over devices.
pub(super) fn groups_of(prim: &str, cx: &dyn HloCx, names: &[AxisName], groups: &Groups) -> Result<Vec<Vec<usize>>> {
    let Some(mesh) = cx.devices() else {
        let text = format!("StableHLO of primitive '{prim}' is not implemented outside of shard_map");
        return Err(Error::not_implemented(text));
    };
    let mut found: Vec<(Vec<usize>, Vec<(usize, usize)>)> = vec![];
    for position in 0..mesh.devices.len() {
        let others = mesh.axes.iter().filter(|(name, _)| !names.contains(name));
        let others: Vec<usize> = others.map(|(name, _)| mesh.coordinate(position, name)).collect();
        let member = (index_along(&mesh, position, names), position);
        match found.iter_mut().find(|(known, _)| *known == others) {
            Some((_, members)) => members.push(member),
            None => found.push((others, vec![member])),
        }
    }
    let ordered = |(_, mut members): (Vec<usize>, Vec<(usize, usize)>)| -> Vec<usize> {
        members.sort_unstable();
        members.into_iter().map(|(_, position)| position).collect()
    };
    let whole: Vec<Vec<usize>> = found.into_iter().map(ordered).collect();
    let Some(parts) = groups else { return Ok(whole) };
    let part = |members: &Vec<usize>| -> Vec<Vec<usize>> {
        parts.iter().map(|part| part.iter().map(|&index| members[index]).collect()).collect()
    };
    Ok(whole.iter().flat_map(part).collect())
}

/// The index of a device along axes taken together, the first the slowest.
fn index_along(mesh: &Mesh, position: usize, names: &[AxisName]) -> usize {
    names.iter().fold(0, |index, name| index * mesh.size_of(name) + mesh.coordinate(position, name))
}

/// `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`
pub(super) fn table(rows: &[Vec<usize>]) -> String {
    format!("dense<{rows:?}> : tensor<{}x{}xi64>", rows.len(), rows.first().map_or(0, Vec::len))
}

/// The properties that say which devices meet.
pub(super) fn meeting(cx: &mut dyn HloCx, groups: &[Vec<usize>]) -> String {
    format!("{}, replica_groups = {}", channel(cx), table(groups))
}

/// The property that tells this meeting from others.
pub(super) fn channel(cx: &mut dyn HloCx) -> String {
    format!("channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>", cx.channel())
}

/// A collective that joins elements of the devices by an operation.
///
/// # Errors
/// What writing the region raises.
pub(super) fn joined(
    cx: &mut dyn HloCx,
    (name, properties): (&str, &str),
    x: HloValue,
    combine: Combine,
    out: Aval,
) -> Result<HloValue> {
    let operation = match combine {
        Combine::Add => "stablehlo.add",
        Combine::Mul => "stablehlo.multiply",
        Combine::Max => "stablehlo.maximum",
        Combine::Min => "stablehlo.minimum",
        Combine::And => "stablehlo.and",
        Combine::Or => "stablehlo.or",
        Combine::Xor => "stablehlo.xor",
    };
    let element = Aval::new(&[], x.aval.dtype);
    let body = &mut |cx: &mut dyn HloCx, ins: &[HloValue]| Ok(smallvec![cx.binary(operation, ins[0], ins[1])]);
    let region = HloRegion { args: vec![element; 2], body };
    Ok(cx.generic(name, properties, &[x], &mut [region], &[out])?[0])
}

/// The sum, or another combination, over the devices along named axes.
///
/// # Errors
/// As [`groups_of`].
pub(super) fn all_reduce(
    prim: &str,
    cx: &mut dyn HloCx,
    (names, groups): (&[AxisName], &Groups),
    x: HloValue,
    combine: Combine,
) -> Result<HloValue> {
    let groups = groups_of(prim, cx, names, groups)?;
    let properties = format!("{}, use_global_device_ids", meeting(cx, &groups));
    joined(cx, ("stablehlo.all_reduce", &properties), x, combine, x.aval)
}

/// The parts of all devices along named axes, joined along an axis that they have.
///
/// # Errors
/// As [`groups_of`].
pub(super) fn all_gather(
    prim: &str,
    cx: &mut dyn HloCx,
    (names, groups): (&[AxisName], &Groups),
    x: HloValue,
    axis: usize,
) -> Result<HloValue> {
    let groups = groups_of(prim, cx, names, groups)?;
    let mut shape = x.aval.shape.to_vec();
    shape[axis] *= groups.first().map_or(1, Vec::len);
    let meeting = meeting(cx, &groups);
    let properties = format!("all_gather_dim = {axis} : i64, {meeting}, use_global_device_ids");
    let out = Aval::new(&shape, x.aval.dtype);
    Ok(cx.generic("stablehlo.all_gather", &properties, &[x], &mut [], &[out])?[0])
}
