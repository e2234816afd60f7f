//! Nests of arrays: what transformations take and give.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
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
pub trait Tree: Clone {
    /// Appends the leaves.
    fn leaves(&self, into: &mut Vec<Array>);
    /// The same structure with other leaves, taken in order.
    ///
    /// # Panics
    /// If there are too few.
    #[must_use]
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self;
    /// Appends everything but the leaves: how many there are of what has no fixed number, which variant, which keys, and
    /// the fixed fields. A function that was compiled for one structure is compiled anew for another.
    fn structure(&self, into: &mut Structure);
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
    fn leaves(&self, into: &mut Vec<Array>) {
        into.push(self.clone());
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Array {
        leaves.next().expect("as many leaves as the structure has")
    }
    fn structure(&self, _into: &mut Structure) {}
}

impl Tree for () {
    fn leaves(&self, _into: &mut Vec<Array>) {}
    fn with_leaves(&self, _leaves: &mut dyn Iterator<Item = Array>) {}
    fn structure(&self, _into: &mut Structure) {}
}

impl<T: Tree> Tree for Vec<T> {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Vec<T> {
        self.iter().map(|item| item.with_leaves(leaves)).collect()
    }
    fn structure(&self, into: &mut Structure) {
        into.number(self.len());
        self.iter().for_each(|item| item.structure(into));
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> [T; N] {
        std::array::from_fn(|i| self[i].with_leaves(leaves))
    }
    fn structure(&self, into: &mut Structure) {
        self.iter().for_each(|item| item.structure(into));
    }
}

impl<T: Tree> Tree for Option<T> {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Option<T> {
        self.as_ref().map(|item| item.with_leaves(leaves))
    }
    fn structure(&self, into: &mut Structure) {
        into.number(usize::from(self.is_some()));
        self.iter().for_each(|item| item.structure(into));
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: Tree> Tree for $pointer<T> {
            fn leaves(&self, into: &mut Vec<Array>) { T::leaves(self, into); }
            fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> $pointer<T> {
                $pointer::new(T::with_leaves(self, leaves))
            }
            fn structure(&self, into: &mut Structure) { T::structure(self, into); }
        }
    )*};
}
pointers!(Box Arc);

impl<K: Ord + Hash + Clone + Send + Sync + 'static, T: Tree> Tree for BTreeMap<K, T> {
    fn leaves(&self, into: &mut Vec<Array>) {
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
}

/// The entries of a map in the order of their keys, which is that of the leaves.
fn sorted<K: Ord, T, S>(map: &HashMap<K, T, S>) -> Vec<(&K, &T)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

impl<K: Ord + Hash + Clone + Send + Sync + 'static, T: Tree, S: BuildHasher + Clone> Tree for HashMap<K, T, S> {
    fn leaves(&self, into: &mut Vec<Array>) {
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
}

macro_rules! tuples {
    ($(($($T:ident $i:tt),+);)*) => {$(
        impl<$($T: Tree),+> Tree for ($($T,)+) {
            fn leaves(&self, into: &mut Vec<Array>) { $(self.$i.leaves(into);)+ }
            fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self { ($(self.$i.with_leaves(leaves),)+) }
            fn structure(&self, into: &mut Structure) { $(self.$i.structure(into);)+ }
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

/// The leaves of a tree.
pub(crate) fn leaves_of(tree: &impl Tree) -> Vec<Array> {
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
    let leaves: Vec<Array> = leaves_of(tree).iter().map(f).collect();
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
    let leaves: Vec<Array> = a.iter().zip(&b).map(|(x, y)| f(x, y)).collect();
    tree.with_leaves(&mut leaves.into_iter())
}
