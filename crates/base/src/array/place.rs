//! Where an array lies: on one device, or split over a mesh of devices by a spec.
//!
//! Our own devices share the memory of this process, so an array is whole in one buffer wherever it lies; its place says
//! which part of it each device holds, and results are placed by the places of operands. Parts are boxes of the array.
//! Devices of other engines have numbers from [`FIRST_FOREIGN`] on, and memory of their own ([`super::Held`]).

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Array, Buffer};
use crate::aval::Aval;
use crate::error::{Error, Result};
use crate::sharding::{AxisKind, MeshAxis, Sharding, ShardingData};

/// A device by its number.
pub type DeviceId = u32;

/// The number of the first device that another engine than our own may have.
pub const FIRST_FOREIGN: DeviceId = 1 << 16;

/// Devices in a grid with named axes, the first the slowest.
pub struct Mesh {
    /// Names and sizes of the axes.
    pub axes: Vec<(Arc<str>, usize)>,
    /// The devices in row-major order.
    pub devices: Vec<DeviceId>,
    /// Who decides along each axis.
    pub kinds: Vec<AxisKind>,
    /// How it prints.
    pub text: String,
    /// What the front end knows the mesh as.
    pub object: Option<Arc<dyn Any + Send + Sync>>,
}

impl Mesh {
    /// Size of a named axis; 1 for an unknown one.
    pub fn size_of(&self, name: &str) -> usize {
        self.axes.iter().find(|(known, _)| &**known == name).map_or(1, |(_, size)| *size)
    }

    /// Position along a named axis of the device number `position`.
    pub fn coordinate(&self, position: usize, name: &str) -> usize {
        let Some(at) = self.axes.iter().position(|(known, _)| &**known == name) else { return 0 };
        let stride: usize = self.axes[at + 1..].iter().map(|(_, size)| size).product();
        position / stride % self.axes[at].1
    }

    /// Whether both have the same devices under the same names, with the same deciders.
    pub fn is_like(&self, other: &Mesh) -> bool {
        self.axes == other.axes && self.devices == other.devices && self.kinds == other.kinds
    }

    /// Its axes as types say them.
    pub fn types(&self) -> Arc<[MeshAxis]> {
        let axis =
            |((name, size), &kind): (&(Arc<str>, usize), &AxisKind)| MeshAxis { name: name.clone(), size: *size, kind };
        self.axes.iter().zip(&self.kinds).map(axis).collect()
    }

    /// Whether types say how arrays are split along a named axis.
    pub fn is_explicit(&self, name: &str) -> bool {
        let kind = self.axes.iter().zip(&self.kinds).find(|((own, _), _)| &**own == name).map(|(_, kind)| *kind);
        kind == Some(AxisKind::Explicit)
    }

    /// The part of a spec that stands in types, for arrays of a rank.
    pub fn in_type(&self, spec: &Spec, rank: usize) -> Spec {
        let explicit = |names: &Vec<Arc<str>>| names.iter().filter(|name| self.is_explicit(name)).cloned().collect();
        let mut entries: Spec = spec.iter().map(explicit).collect();
        entries.resize(rank, vec![]);
        entries
    }

    /// What the type of an array of a rank says that is split by a spec over this mesh.
    pub fn sharding(&self, spec: &Spec, rank: usize) -> Option<Sharding> {
        if !self.kinds.contains(&AxisKind::Explicit) {
            return None;
        }
        let entries = self.in_type(spec, rank);
        Sharding::of(ShardingData { mesh: self.types(), entries, unreduced: vec![], reduced: vec![] })
    }
}

/// For each axis of an array the mesh axes that split it, the first the slowest; axes beyond the last are whole.
pub type Spec = Vec<Vec<Arc<str>>>;

/// A box of an array: a range for each axis.
pub type Region = Vec<Range<usize>>;

/// Which devices hold which parts.
#[derive(Clone)]
pub enum Layout {
    /// One device holds all.
    Device(DeviceId),
    /// Each device of a mesh holds its part.
    Split(Arc<Mesh>, Spec),
}

impl Layout {
    /// The devices, in order.
    pub fn devices(&self) -> Vec<DeviceId> {
        match self {
            Layout::Device(id) => vec![*id],
            Layout::Split(mesh, _) => mesh.devices.clone(),
        }
    }

    /// The mesh axes that split axis `axis`.
    fn names(&self, axis: usize) -> &[Arc<str>] {
        match self {
            Layout::Device(_) => &[],
            Layout::Split(_, spec) => spec.get(axis).map_or(&[], |names| names),
        }
    }

    /// In how many parts an axis is split.
    pub fn factor(&self, axis: usize) -> usize {
        match self {
            Layout::Device(_) => 1,
            Layout::Split(mesh, _) => self.names(axis).iter().map(|name| mesh.size_of(name)).product(),
        }
    }

    /// The part that the device number `position` holds. Every axis must be divisible by its factor.
    pub fn region(&self, shape: &[usize], position: usize) -> Region {
        let range = |(axis, &size): (usize, &usize)| {
            let Layout::Split(mesh, _) = self else { return 0..size };
            let part = self
                .names(axis)
                .iter()
                .fold(0, |part, name| part * mesh.size_of(name) + mesh.coordinate(position, name));
            let width = size / self.factor(axis).max(1);
            part * width..(part + 1) * width
        };
        shape.iter().enumerate().map(range).collect()
    }

    /// Whether the device number `position` is the first of those that hold its part.
    pub fn is_first_holder(&self, position: usize) -> bool {
        let Layout::Split(mesh, spec) = self else { return true };
        let is_split = |name: &Arc<str>| spec.iter().flatten().any(|other| other == name);
        mesh.axes.iter().all(|(name, _)| is_split(name) || mesh.coordinate(position, name) == 0)
    }

    /// Whether every device holds all.
    pub fn is_replicated(&self) -> bool {
        match self {
            Layout::Device(_) => true,
            Layout::Split(_, spec) => (0..spec.len()).all(|axis| self.factor(axis) == 1),
        }
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        match (self, other) {
            (Layout::Device(a), Layout::Device(b)) => a == b,
            (Layout::Split(a, spec), Layout::Split(b, other)) => spec == other && (Arc::ptr_eq(a, b) || a.is_like(b)),
            (Layout::Device(_), Layout::Split(..)) | (Layout::Split(..), Layout::Device(_)) => false,
        }
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Layout::Device(id) => id.hash(state),
            Layout::Split(mesh, spec) => {
                mesh.devices.hash(state);
                spec.hash(state);
            }
        }
    }
}

/// The place of an array. Without one, an array lies uncommitted on the first device.
#[derive(Clone)]
pub struct Place {
    /// Which devices hold which parts.
    pub layout: Layout,
    /// Whether the user asked for it: then computations follow, and other places are refused.
    pub is_committed: bool,
}

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether any array of this process was ever placed; until then nobody need look.
pub fn places_in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// Says that places matter from now on.
pub fn use_places() {
    IN_USE.store(true, Ordering::Relaxed);
}

/// Calls `visit` with the offset in bytes and the length of each contiguous run of a region.
fn runs(shape: &[usize], region: &Region, element: usize, mut visit: impl FnMut(usize, usize)) {
    let sizes: Vec<usize> = region.iter().map(ExactSizeIterator::len).collect();
    if sizes.contains(&0) {
        return;
    }
    let row = sizes.last().map_or(1, |size| *size) * element;
    let mut index: Vec<usize> = vec![0; shape.len().saturating_sub(1)];
    loop {
        let mut offset = 0;
        for (axis, size) in shape.iter().enumerate() {
            offset = offset * size + region[axis].start + index.get(axis).copied().unwrap_or(0);
        }
        visit(offset * element, row);
        let Some(axis) = (0..index.len()).rev().find(|&axis| index[axis] + 1 < sizes[axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The bytes of a region of a row-major array.
///
/// # Errors
/// `Memory` when there is none for them.
pub fn read_region(bytes: &[u8], shape: &[usize], region: &Region, element: usize) -> Result<Buffer> {
    let sizes = region.iter().map(ExactSizeIterator::len);
    let mut found = Buffer::allocate(sizes.product::<usize>() * element)?;
    let mut done = 0;
    runs(shape, region, element, |offset, len| {
        found.bytes_mut()[done..][..len].copy_from_slice(&bytes[offset..][..len]);
        done += len;
    });
    Ok(found.freeze())
}

/// Writes the bytes of a region of a row-major array.
pub fn write_region(bytes: &mut [u8], shape: &[usize], region: &Region, element: usize, part: &[u8]) {
    let mut done = 0;
    runs(shape, region, element, |offset, len| {
        bytes[offset..][..len].copy_from_slice(&part[done..][..len]);
        done += len;
    });
}

/// The type of an array at a place: what explicit axes of the mesh split stands in it.
fn typed_at(aval: Aval, place: Option<&Place>) -> Aval {
    let Some(Place { layout: Layout::Split(mesh, spec), .. }) = place else { return aval.sharded(None) };
    let found = mesh.sharding(spec, aval.rank());
    let entries = |sharding: Option<Sharding>| sharding.map_or_else(Vec::new, |sharding| sharding.entries.clone());
    // Of partial sums a place does not speak.
    match aval.sharding {
        Some(own)
            if !(own.unreduced.is_empty() && own.reduced.is_empty())
                && own.entries == aval.sharded(found).entries() =>
        {
            aval
        }
        Some(own) if entries(Some(own)) == entries(found) && own.mesh[..] == mesh.types()[..] => aval,
        Some(_) | None => aval.sharded(found),
    }
}

impl Array {
    /// Where the array was placed; `None` is uncommitted on the first device.
    pub fn place(&self) -> Option<&Arc<Place>> {
        self.0.place.as_ref()
    }

    /// The same elements at another place; nothing is copied.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn placed(&self, place: Option<Arc<Place>>) -> Result<Array> {
        if place.is_some() {
            use_places();
        }
        let layout = |place: &Option<Arc<Place>>| place.as_ref().map(|place| place.layout.clone());
        let aval = typed_at(self.aval(), place.as_deref());
        if let Some(held) = self.held().filter(|_| layout(&place) == layout(&self.0.place)) {
            return Ok(Array::on_device(aval, held, place));
        }
        let buffer = self.buffer()?;
        Ok(Array::at(aval, buffer, place))
    }

    /// The part of the array that the device number `position` holds, on that device.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn shard(&self, position: usize) -> Result<Array> {
        let Some(place) = self.place() else { return Ok(self.clone()) };
        let device = *place.layout.devices().get(position).ok_or_else(|| Error::internal("no such shard"))?;
        let region = place.layout.region(self.shape(), position);
        let shape: Vec<usize> = region.iter().map(ExactSizeIterator::len).collect();
        if let Some(part) = self.held().and_then(|held| held.part(position)) {
            let place = Place { layout: Layout::Device(device), is_committed: true };
            return Ok(Array::on_device(self.aval().with_shape(&shape), part, Some(Arc::new(place))));
        }
        let part = read_region(self.buffer()?.bytes(), self.shape(), &region, self.dtype().size_bytes())?;
        let place = Place { layout: Layout::Device(device), is_committed: true };
        Array::new(self.aval().with_shape(&shape), part).placed(Some(Arc::new(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Arc<Mesh> {
        let axes = vec![("x".into(), 2), ("y".into(), 2)];
        Arc::new(Mesh {
            axes,
            devices: vec![0, 1, 2, 3],
            kinds: vec![AxisKind::Auto; 2],
            text: String::new(),
            object: None,
        })
    }

    #[test]
    fn shards_are_boxes() {
        let x = Array::f32s(&(0..8).map(|i| i as f32).collect::<Vec<_>>());
        let x = x.reinterpret(x.aval().with_shape(&[2, 4])).expect("alive");
        let layout = Layout::Split(mesh(), vec![vec!["x".into()], vec!["y".into()]]);
        let x = x.placed(Some(Arc::new(Place { layout, is_committed: true }))).expect("alive");
        let part = x.shard(3).expect("a device");
        let elements: Vec<f64> = part.elements().expect("alive").into_iter().map(crate::Scalar::as_f64).collect();
        assert_eq!((part.shape(), &elements[..]), (&[1, 2][..], &[6.0, 7.0][..]));
    }

    #[test]
    fn regions_of_joined_axes_count_the_first_slowest() {
        let joined = |names: [&str; 2]| Layout::Split(mesh(), vec![names.map(Arc::from).to_vec()]);
        assert_eq!(joined(["x", "y"]).region(&[8], 1)[0], 2..4);
        assert_eq!(joined(["y", "x"]).region(&[8], 1)[0], 4..6);
        assert_eq!(Layout::Split(mesh(), vec![]).region(&[8], 1)[0], 0..8);
    }

    #[test]
    fn regions_are_written_where_they_are_read() {
        let (shape, region) = ([2, 3, 4], vec![1..2, 0..2, 1..3]);
        let bytes: Vec<u8> = (0..24).collect();
        let part = read_region(&bytes, &shape, &region, 1).expect("memory").bytes().to_vec();
        assert_eq!(part, [13, 14, 17, 18]);
        let mut other = vec![0; 24];
        write_region(&mut other, &shape, &region, 1, &part);
        assert_eq!(read_region(&other, &shape, &region, 1).expect("memory").bytes(), part);
        assert_eq!(read_region(&[7], &[], &vec![], 1).expect("memory").bytes(), [7]);
    }
}
