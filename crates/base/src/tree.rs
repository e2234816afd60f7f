//! Pytree structure without Python: how nested containers flatten to leaves.
//!
//! A [`TreeDef`] is the shape of a nest of containers whose leaves were taken out in order. Containers of a host
//! language that this module does not know are [`Node::Custom`], whose payload the front end interprets. `None` is
//! an empty container; dictionary keys come sorted.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A container class and its static data, defined by a front end.
pub trait CustomNode: Any + Send + Sync {
    /// Equality of class and static data.
    fn equals(&self, other: &dyn CustomNode) -> bool;
    /// Hash that agrees with [`CustomNode::equals`].
    fn hash_value(&self) -> u64;
    /// How the node prints inside a treedef: what stands before, between and after the texts of its `n` children.
    fn pieces(&self, n: usize) -> Vec<String>;
    /// For the front end to find its own class again.
    fn as_any(&self) -> &dyn Any;
}

/// One container of a tree.
#[derive(Clone)]
pub enum Node {
    /// A leaf.
    Leaf,
    /// `None`.
    None,
    /// A tuple.
    Tuple,
    /// A list.
    List,
    /// A dictionary with its sorted keys, which the front end owns.
    Dict(Arc<dyn CustomNode>),
    /// A registered class or a named tuple.
    Custom(Arc<dyn CustomNode>),
}

struct Inner {
    node: Node,
    children: Box<[TreeDef]>,
    n_leaves: usize,
    n_nodes: usize,
    hash: u64,
}

/// The structure of a pytree. Cloning copies one pointer; comparing starts with the pointers and hashes.
#[derive(Clone)]
pub struct TreeDef(Arc<Inner>);

impl TreeDef {
    /// The structure with `node` at the root over `children`.
    pub fn new(node: Node, children: Vec<TreeDef>) -> TreeDef {
        let is_leaf = matches!(node, Node::Leaf);
        // Structures that share parts can count more leaves than any program could hold.
        let total = |own: usize, of: fn(&TreeDef) -> usize| children.iter().map(of).fold(own, usize::saturating_add);
        let n_leaves = total(usize::from(is_leaf), TreeDef::n_leaves);
        let n_nodes = total(1, TreeDef::n_nodes);
        let hash = hash_of(&node, &children);
        TreeDef(Arc::new(Inner { node, children: children.into(), n_leaves, n_nodes, hash }))
    }

    /// A single leaf.
    pub fn leaf() -> TreeDef {
        TreeDef::new(Node::Leaf, vec![])
    }

    /// A tuple of the given structures.
    pub fn tuple(children: Vec<TreeDef>) -> TreeDef {
        TreeDef::new(Node::Tuple, children)
    }

    /// The container at the root.
    pub fn node(&self) -> &Node {
        &self.0.node
    }

    /// The structures below the root.
    pub fn children(&self) -> &[TreeDef] {
        &self.0.children
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.0.n_leaves
    }

    /// Number of nodes, leaves included.
    pub fn n_nodes(&self) -> usize {
        self.0.n_nodes
    }

    /// Whether the whole is one leaf.
    pub fn is_leaf(&self) -> bool {
        matches!(self.0.node, Node::Leaf)
    }

    /// A hash that agrees with equality.
    pub fn hash_value(&self) -> u64 {
        self.0.hash
    }

    /// What stands before, between and after the texts of the children.
    fn pieces(&self) -> Vec<String> {
        let n = self.children().len();
        match self.node() {
            Node::Leaf => vec!["*".into()],
            Node::None => vec!["None".into()],
            Node::Tuple => enclosed("(", n, if n == 1 { ",)" } else { ")" }),
            Node::List => enclosed("[", n, "]"),
            Node::Dict(custom) | Node::Custom(custom) => custom.pieces(n),
        }
    }
}

/// The pieces around `n` children that are parted by commas.
pub fn enclosed(before: &str, n: usize, after: &str) -> Vec<String> {
    if n == 0 {
        return vec![format!("{before}{after}")];
    }
    let mut pieces = vec![", ".to_string(); n + 1];
    pieces[0] = before.into();
    pieces[n] = after.into();
    pieces
}

impl Drop for Inner {
    /// Children that nobody else holds go one after another: a structure may be deeper than the stack.
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.children).into_vec();
        while let Some(TreeDef(child)) = rest.pop() {
            if let Some(mut child) = Arc::into_inner(child) {
                rest.append(&mut std::mem::take(&mut child.children).into_vec());
            }
        }
    }
}

fn hash_of(node: &Node, children: &[TreeDef]) -> u64 {
    let mut state = rustc_hash::FxHasher::default();
    std::mem::discriminant(node).hash(&mut state);
    if let Node::Dict(custom) | Node::Custom(custom) = node {
        custom.hash_value().hash(&mut state);
    }
    children.len().hash(&mut state);
    for child in children {
        child.0.hash.hash(&mut state);
    }
    state.finish()
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Leaf, Node::Leaf) | (Node::None, Node::None) => true,
            (Node::Tuple, Node::Tuple) | (Node::List, Node::List) => true,
            (Node::Dict(a), Node::Dict(b)) | (Node::Custom(a), Node::Custom(b)) => a.equals(&**b),
            (Node::Leaf | Node::None | Node::Tuple | Node::List | Node::Dict(_) | Node::Custom(_), _) => false,
        }
    }
}

impl PartialEq for TreeDef {
    fn eq(&self, other: &TreeDef) -> bool {
        let is_same = |(a, b): (&TreeDef, &TreeDef)| Arc::ptr_eq(&a.0, &b.0);
        if is_same((self, other)) || self.0.hash != other.0.hash {
            return is_same((self, other));
        }
        // By a list of what is left to compare: structures may be deeper than the stack.
        let mut pairs = vec![(self, other)];
        while let Some((a, b)) = pairs.pop() {
            if a.0.hash != b.0.hash || a.0.node != b.0.node || a.children().len() != b.children().len() {
                return false;
            }
            pairs.extend(a.children().iter().zip(b.children()).filter(|pair| !is_same(*pair)));
        }
        true
    }
}

impl Eq for TreeDef {}

impl Hash for TreeDef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Display for TreeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        enum Part<'a> {
            Tree(&'a TreeDef),
            Text(String),
        }
        f.write_str("PyTreeDef(")?;
        let mut rest = vec![Part::Tree(self)];
        while let Some(part) = rest.pop() {
            let tree = match part {
                Part::Tree(tree) => tree,
                Part::Text(text) => {
                    f.write_str(&text)?;
                    continue;
                }
            };
            let mut pieces = tree.pieces().into_iter().rev().map(Part::Text);
            rest.extend(pieces.next());
            for (child, piece) in tree.children().iter().rev().zip(pieces) {
                rest.extend([Part::Tree(child), piece]);
            }
        }
        f.write_str(")")
    }
}

impl fmt::Debug for TreeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structure_prints_compares_and_counts() {
        let pair = TreeDef::tuple(vec![TreeDef::leaf(), TreeDef::new(Node::None, vec![])]);
        let tree = TreeDef::new(Node::List, vec![TreeDef::leaf(), pair]);
        assert_eq!(tree.to_string(), "PyTreeDef([*, (*, None)])");
        assert_eq!((tree.n_leaves(), tree.n_nodes()), (2, 5));
        assert_eq!(tree, tree.clone());
        assert_ne!(tree, TreeDef::leaf());
    }

    #[test]
    fn structures_deeper_than_the_stack_print_compare_and_go() {
        let deep = || (0..300_000).fold(TreeDef::leaf(), |tree, _| TreeDef::tuple(vec![tree]));
        let (one, other) = (deep(), deep());
        assert!(one == other && one != TreeDef::tuple(vec![deep()]));
        assert_eq!(one.to_string().len(), 300_000 * 3 + 1 + "PyTreeDef()".len());
    }

    #[test]
    fn leaves_of_shared_parts_are_counted_without_overflow() {
        let wide = (0..80).fold(TreeDef::leaf(), |tree, _| TreeDef::tuple(vec![tree.clone(), tree]));
        assert_eq!(wide.n_leaves(), usize::MAX);
    }
}
