//! Nests of arrays: what transformations take and give.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use crate::array::Array;

/// A nest of arrays. Leaves come in the order of the fields.
///
/// `#[derive(Tree)]` makes a struct or an enum one: every field is a tree, but for fields marked `#[tree(fixed)]`, which
/// belong to the structure and are compared and hashed, and `#[tree(skip)]`, which are copied and otherwise ignored.
///
/// ```
/// use pullback::prelude::*;
///
/// #[derive(Clone, Tree)]
/// struct Dense {
///     weights: Array,
///     bias: Option<Array>,
///     #[tree(fixed)]
///     name: String,
/// }
/// let layer = Dense { weights: ones(&[2, 3]), bias: None, name: "first".into() };
/// let gradient = grad(|layer: &Dense| layer.weights.square().sum())(&layer)?;
/// assert_eq!(gradient.weights.to_vec::<f32>()?, [2.0; 6]);
/// assert_eq!(gradient.name, "first");
/// # Ok::<(), pullback::Error>(())
/// ```
pub trait Tree {
    /// Appends the leaves.
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>);
    /// The same structure with other leaves, taken in order.
    ///
    /// # Panics
    /// If there are too few.
    #[must_use]
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self;
    /// Appends everything but the leaves: how many there are of what has no fixed number, which variant, which keys, and
    /// the fixed fields. A function that was compiled for one structure is compiled anew for another.
    fn structure(&self, into: &mut Structure);
    /// Appends the name of each leaf, which begins with `path`: fields and keys by name, entries by number, with dots
    /// between. Leaves are saved under these names. Unless a type says otherwise they are the numbers of its leaves.
    fn names(&self, path: &str, into: &mut Vec<String>) {
        into.extend((0..leaves_of(self).len()).map(|i| below(path, i)));
    }
}

/// The name of an entry of what has the name `path`.
pub(crate) fn below(path: &str, entry: impl Display) -> String {
    if path.is_empty() { entry.to_string() } else { format!("{path}.{entry}") }
}

/// The names of entries that have numbers.
fn numbered<'a, T: Tree + 'a>(items: impl IntoIterator<Item = &'a T>, path: &str, into: &mut Vec<String>) {
    items.into_iter().enumerate().for_each(|(i, item)| item.names(&below(path, i), into));
}

/// The names of entries that have keys: texts and integers as they are, others by their number.
fn keyed<'a, K: Any, T: Tree + 'a>(
    entries: impl IntoIterator<Item = (&'a K, &'a T)>,
    path: &str,
    into: &mut Vec<String>,
) {
    for (i, (key, item)) in entries.into_iter().enumerate() {
        let key: &dyn Any = key;
        let text = key.downcast_ref::<String>().cloned().or_else(|| key.downcast_ref::<&str>().map(|s| s.to_string()));
        let number =
            || key.downcast_ref::<i32>().map(i32::to_string).or_else(|| key.downcast_ref().map(usize::to_string));
        item.names(&below(path, text.or_else(number).unwrap_or_else(|| i.to_string())), into);
    }
}

/// A value that belongs to the structure of a tree.
trait Fixed: Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, state: &mut dyn Hasher);
    fn as_any(&self) -> &dyn Any;
}

impl<T: PartialEq + Hash + Send + Sync + 'static> Fixed for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }
    fn hash_into(&self, mut state: &mut dyn Hasher) {
        TypeId::of::<T>().hash(&mut state);
        self.hash(&mut state);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Clone)]
enum Part {
    Number(usize),
    Fixed(Arc<dyn Fixed>),
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::Number(a), Part::Number(b)) => a == b,
            (Part::Fixed(a), Part::Fixed(b)) => a.equals(b.as_any()),
            (Part::Number(_) | Part::Fixed(_), _) => false,
        }
    }
}

/// What a tree is but for its leaves; two trees of one type differ in nothing else when these are equal.
#[derive(Clone, Default, PartialEq)]
pub struct Structure(Vec<Part>);

impl Structure {
    /// Notes a length or the number of a variant.
    pub fn number(&mut self, number: usize) {
        self.0.push(Part::Number(number));
    }

    /// Notes a value that is no array.
    pub fn fixed<T: PartialEq + Hash + Clone + Send + Sync + 'static>(&mut self, value: &T) {
        self.0.push(Part::Fixed(Arc::new(value.clone())));
    }
}

// What is fixed compares by `PartialEq`. A value that is not equal to itself, such as a NaN, finds nothing that was
// compiled before, and is compiled again.
impl Eq for Structure {}

impl Hash for Structure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for part in &self.0 {
            match part {
                Part::Number(number) => number.hash(state),
                Part::Fixed(value) => value.hash_into(state),
            }
        }
    }
}

impl Tree for Array {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        into.push(self);
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Array {
        leaves.next().expect("as many leaves as the structure has")
    }
    fn structure(&self, _into: &mut Structure) {}
    fn names(&self, path: &str, into: &mut Vec<String>) {
        into.push(path.to_string());
    }
}

impl Tree for () {
    fn leaves<'a>(&'a self, _into: &mut Vec<&'a Array>) {}
    fn with_leaves(&self, _leaves: &mut dyn Iterator<Item = Array>) {}
    fn structure(&self, _into: &mut Structure) {}
}

impl<T: Tree> Tree for Vec<T> {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Vec<T> {
        self.iter().map(|item| item.with_leaves(leaves)).collect()
    }
    fn structure(&self, into: &mut Structure) {
        into.number(self.len());
        self.iter().for_each(|item| item.structure(into));
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        numbered(self, path, into);
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> [T; N] {
        std::array::from_fn(|i| self[i].with_leaves(leaves))
    }
    fn structure(&self, into: &mut Structure) {
        self.iter().for_each(|item| item.structure(into));
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        numbered(self, path, into);
    }
}

impl<T: Tree> Tree for Option<T> {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Option<T> {
        self.as_ref().map(|item| item.with_leaves(leaves))
    }
    fn structure(&self, into: &mut Structure) {
        into.number(usize::from(self.is_some()));
        self.iter().for_each(|item| item.structure(into));
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        self.iter().for_each(|item| item.names(path, into));
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: Tree> Tree for $pointer<T> {
            fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) { T::leaves(self, into); }
            fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> $pointer<T> {
                $pointer::new(T::with_leaves(self, leaves))
            }
            fn structure(&self, into: &mut Structure) { T::structure(self, into); }
            fn names(&self, path: &str, into: &mut Vec<String>) { T::names(self, path, into); }
        }
    )*};
}
pointers!(Box Arc);

impl<K: Ord + Hash + Clone + Send + Sync + 'static, T: Tree> Tree for BTreeMap<K, T> {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        self.values().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> BTreeMap<K, T> {
        self.iter().map(|(key, item)| (key.clone(), item.with_leaves(leaves))).collect()
    }
    fn structure(&self, into: &mut Structure) {
        into.number(self.len());
        for (key, item) in self {
            into.fixed(key);
            item.structure(into);
        }
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        keyed(self, path, into);
    }
}

/// The entries of a map in the order of their keys, which is that of the leaves.
fn sorted<K: Ord, T, S>(map: &HashMap<K, T, S>) -> Vec<(&K, &T)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

impl<K: Ord + Hash + Clone + Send + Sync + 'static, T: Tree, S: BuildHasher + Clone> Tree for HashMap<K, T, S> {
    fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) {
        sorted(self).into_iter().for_each(|(_, item)| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> HashMap<K, T, S> {
        let mut new = HashMap::with_capacity_and_hasher(self.len(), self.hasher().clone());
        new.extend(sorted(self).into_iter().map(|(key, item)| (key.clone(), item.with_leaves(leaves))));
        new
    }
    fn structure(&self, into: &mut Structure) {
        into.number(self.len());
        for (key, item) in sorted(self) {
            into.fixed(key);
            item.structure(into);
        }
    }
    fn names(&self, path: &str, into: &mut Vec<String>) {
        keyed(sorted(self), path, into);
    }
}

macro_rules! tuples {
    ($(($($T:ident $i:tt),+);)*) => {$(
        impl<$($T: Tree),+> Tree for ($($T,)+) {
            fn leaves<'a>(&'a self, into: &mut Vec<&'a Array>) { $(self.$i.leaves(into);)+ }
            fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self { ($(self.$i.with_leaves(leaves),)+) }
            fn structure(&self, into: &mut Structure) { $(self.$i.structure(into);)+ }
            fn names(&self, path: &str, into: &mut Vec<String>) { $(self.$i.names(&below(path, $i), into);)+ }
        }
    )*};
}
tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
}

/// A value that belongs to the structure of a tree and holds no array: a function that is compiled is compiled anew for
/// another value.
///
/// ```
/// use pullback::prelude::*;
///
/// let power = jit(|(x, Static(n)): &(Array, Static<i32>)| (0..*n).fold(ones(&[]), |y, _| y * x));
/// assert_eq!(power(&(arr![2.0], Static(3)))?, arr![8.0]);
/// assert_eq!(power(&(arr![2.0], Static(4)))?, arr![16.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Static<T>(pub T);

impl<T: PartialEq + Hash + Clone + Send + Sync + 'static> Tree for Static<T> {
    fn leaves<'a>(&'a self, _into: &mut Vec<&'a Array>) {}
    fn with_leaves(&self, _leaves: &mut dyn Iterator<Item = Array>) -> Static<T> {
        self.clone()
    }
    fn structure(&self, into: &mut Structure) {
        into.fixed(&self.0);
    }
}

/// Trees behind references, as one: what a call gives when its arguments stay where they are.
pub(crate) struct Pair<'a, A, B>(pub &'a A, pub &'a B);

impl<A: Tree, B: Tree> Pair<'_, A, B> {
    pub(crate) fn leaves(&self) -> Vec<&Array> {
        let mut leaves = vec![];
        self.0.leaves(&mut leaves);
        self.1.leaves(&mut leaves);
        leaves
    }

    pub(crate) fn structure(&self) -> Structure {
        let mut structure = Structure::default();
        self.0.structure(&mut structure);
        self.1.structure(&mut structure);
        structure
    }

    pub(crate) fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> (A, B) {
        (self.0.with_leaves(leaves), self.1.with_leaves(leaves))
    }
}

/// The leaves of a tree.
pub(crate) fn leaves_of<T: Tree + ?Sized>(tree: &T) -> Vec<&Array> {
    let mut leaves = vec![];
    tree.leaves(&mut leaves);
    leaves
}

/// The structure of a tree.
pub(crate) fn structure_of(tree: &impl Tree) -> Structure {
    let mut structure = Structure::default();
    tree.structure(&mut structure);
    structure
}

/// The tree with `f` applied to each leaf.
pub fn map<T: Tree>(tree: &T, f: impl FnMut(&Array) -> Array) -> T {
    let leaves: Vec<Array> = leaves_of(tree).into_iter().map(f).collect();
    tree.with_leaves(&mut leaves.into_iter())
}

/// The tree with `f` applied to each leaf and its counterpart in another tree of the same structure.
///
/// # Panics
/// If the trees differ in their number of leaves.
#[track_caller]
pub fn zip_map<T: Tree, U: Tree>(tree: &T, other: &U, mut f: impl FnMut(&Array, &Array) -> Array) -> T {
    let (a, b) = (leaves_of(tree), leaves_of(other));
    assert_eq!(a.len(), b.len(), "zip_map takes trees of one structure");
    let leaves: Vec<Array> = a.into_iter().zip(b).map(|(x, y)| f(x, y)).collect();
    tree.with_leaves(&mut leaves.into_iter())
}
