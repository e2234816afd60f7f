//! Shardings as types say them: which axes of an array are split over which axes of a mesh, interned.
//!
//! Only mesh axes of the kind [`AxisKind::Explicit`] stand in types. An array that no such axis splits has no sharding at
//! all, so that programs without a mesh carry nothing. Devices are no part of a type.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use crate::array::place::Spec;

/// Who decides how values are divided along an axis of a mesh.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AxisKind {
    /// The system.
    Auto,
    /// The types of arrays.
    Explicit,
    /// The user, inside of a map over devices.
    Manual,
}

/// One axis of a mesh in a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MeshAxis {
    /// Its name.
    pub name: Arc<str>,
    /// Number of devices along it.
    pub size: usize,
    /// Who decides along it.
    pub kind: AxisKind,
}

/// What a type says of placement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShardingData {
    /// The axes of the mesh.
    pub mesh: Arc<[MeshAxis]>,
    /// For each axis of the array the mesh axes that split it.
    pub entries: Spec,
    /// Mesh axes along which parts are still to be summed, in the order of the mesh.
    pub unreduced: Vec<Arc<str>>,
    /// Mesh axes along which parts were summed, in the order of the mesh.
    pub reduced: Vec<Arc<str>>,
}

/// An interned sharding; equal ones are one pointer.
#[derive(Clone, Copy)]
pub struct Sharding(&'static ShardingData);

static INTERNED: LazyLock<Mutex<HashSet<&'static ShardingData, rustc_hash::FxBuildHasher>>> =
    LazyLock::new(Mutex::default);

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether any type of this process ever had a sharding; until then nobody need look.
pub fn in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

impl Sharding {
    /// The sharding that says this; nothing where it splits nothing.
    pub fn of(data: ShardingData) -> Option<Sharding> {
        if data.entries.iter().all(Vec::is_empty) && data.unreduced.is_empty() && data.reduced.is_empty() {
            return None;
        }
        let mut table = INTERNED.lock().expect("interning never panics");
        if let Some(known) = table.get(&data) {
            return Some(Sharding(known));
        }
        IN_USE.store(true, Ordering::Relaxed);
        let known: &'static ShardingData = Box::leak(Box::new(data));
        table.insert(known);
        Some(Sharding(known))
    }

    /// Over the same mesh, with the same partial sums, other entries.
    #[must_use]
    pub fn with_entries(self, entries: Spec) -> Option<Sharding> {
        Sharding::of(ShardingData { entries, ..self.0.clone() })
    }

    /// Number of devices along a mesh axis; 1 for an unknown one.
    pub fn size_of(self, name: &str) -> usize {
        self.0.mesh.iter().find(|axis| &*axis.name == name).map_or(1, |axis| axis.size)
    }

    /// In how many parts mesh axes split.
    pub fn factor(self, names: &[Arc<str>]) -> usize {
        names.iter().map(|name| self.size_of(name)).product()
    }

    /// The type of cotangents: what was summed comes back in parts, and parts come back summed.
    #[must_use]
    pub fn cotangent(self) -> Option<Sharding> {
        let data = self.0.clone();
        Sharding::of(ShardingData { unreduced: data.reduced, reduced: data.unreduced, ..data })
    }
}

impl Deref for Sharding {
    type Target = ShardingData;
    fn deref(&self) -> &ShardingData {
        self.0
    }
}

impl PartialEq for Sharding {
    fn eq(&self, other: &Sharding) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Sharding {}

impl Hash for Sharding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl std::fmt::Debug for Sharding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&spec_text(&self.0.entries))
    }
}

/// One entry as Python shows it: `None`, `'x'`, `('x', 'y')`.
fn entry_text(names: &[Arc<str>]) -> String {
    let quoted = |name: &Arc<str>| format!("'{name}'");
    match names {
        [] => "None".to_string(),
        [name] => quoted(name),
        names => format!("({})", names.iter().map(quoted).collect::<Vec<_>>().join(", ")),
    }
}

/// Entries as Python shows them in a tuple: `('x', None)`.
pub fn entries_text(entries: &Spec) -> String {
    let parts: Vec<String> = entries.iter().map(|names| entry_text(names)).collect();
    let comma = if parts.len() == 1 { "," } else { "" };
    format!("({}{comma})", parts.join(", "))
}

/// A spec as Python shows it: `P('x', None)`.
pub fn spec_text(entries: &Spec) -> String {
    format!("P{}", entries_text(entries))
}

/// A size with the mesh axes that split it: `8@x`, `8@(x,y)`.
pub fn size_text(size: usize, names: &[Arc<str>]) -> String {
    match names {
        [] => size.to_string(),
        [name] => format!("{size}@{name}"),
        names => format!("{size}@({})", names.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(entries: &[&[&str]]) -> ShardingData {
        let axis = |name: &str, size| MeshAxis { name: name.into(), size, kind: AxisKind::Explicit };
        let entries = entries.iter().map(|names| names.iter().map(|&name| name.into()).collect()).collect();
        ShardingData { mesh: [axis("x", 4), axis("y", 2)].into(), entries, unreduced: vec![], reduced: vec![] }
    }

    #[test]
    fn what_splits_nothing_is_no_sharding() {
        assert_eq!(Sharding::of(data(&[&[], &[]])), None);
        let split = Sharding::of(data(&[&["x"], &[]])).expect("it splits");
        assert_eq!(Some(split), Sharding::of(data(&[&["x"], &[]])));
        assert_eq!((split.factor(&["x".into(), "y".into()]), format!("{split:?}")), (8, "P('x', None)".to_string()));
    }

    #[test]
    fn cotangents_turn_partial_sums_around() {
        let parts = Sharding::of(ShardingData { unreduced: vec!["y".into()], ..data(&[&["x"]]) }).expect("it splits");
        let ct = parts.cotangent().expect("it splits");
        assert_eq!((ct.unreduced.len(), &*ct.reduced[0]), (0, "y"));
        assert_eq!(ct.cotangent(), Some(parts));
    }
}
