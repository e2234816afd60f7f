//! Nests of arrays: what transformations take and give.

use std::collections::BTreeMap;

use crate::array::Array;

/// A nest of arrays with a fixed structure. Leaves come in the order of the fields.
pub trait Tree: Clone {
    /// Appends the leaves.
    fn leaves(&self, into: &mut Vec<Array>);
    /// The same structure with other leaves, taken in order.
    ///
    /// # Panics
    /// If there are too few.
    #[must_use]
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self;
}

impl Tree for Array {
    fn leaves(&self, into: &mut Vec<Array>) {
        into.push(self.clone());
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Array {
        leaves.next().expect("as many leaves as the structure has")
    }
}

impl Tree for () {
    fn leaves(&self, _into: &mut Vec<Array>) {}
    fn with_leaves(&self, _leaves: &mut dyn Iterator<Item = Array>) {}
}

impl<T: Tree> Tree for Vec<T> {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Vec<T> {
        self.iter().map(|item| item.with_leaves(leaves)).collect()
    }
}

impl<T: Tree> Tree for Option<T> {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.iter().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Option<T> {
        self.as_ref().map(|item| item.with_leaves(leaves))
    }
}

impl<K: Ord + Clone, T: Tree> Tree for BTreeMap<K, T> {
    fn leaves(&self, into: &mut Vec<Array>) {
        self.values().for_each(|item| item.leaves(into));
    }
    fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> BTreeMap<K, T> {
        self.iter().map(|(key, item)| (key.clone(), item.with_leaves(leaves))).collect()
    }
}

macro_rules! tuples {
    ($(($($T:ident $i:tt),+);)*) => {$(
        impl<$($T: Tree),+> Tree for ($($T,)+) {
            fn leaves(&self, into: &mut Vec<Array>) { $(self.$i.leaves(into);)+ }
            fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Array>) -> Self { ($(self.$i.with_leaves(leaves),)+) }
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
}

/// The leaves of a tree.
pub(crate) fn leaves_of(tree: &impl Tree) -> Vec<Array> {
    let mut leaves = vec![];
    tree.leaves(&mut leaves);
    leaves
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
pub fn zip_map<T: Tree, U: Tree>(tree: &T, other: &U, mut f: impl FnMut(&Array, &Array) -> Array) -> T {
    let (a, b) = (leaves_of(tree), leaves_of(other));
    assert_eq!(a.len(), b.len(), "trees of one structure");
    let leaves: Vec<Array> = a.iter().zip(&b).map(|(x, y)| f(x, y)).collect();
    tree.with_leaves(&mut leaves.into_iter())
}
