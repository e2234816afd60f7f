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
    /// How the node prints inside a treedef, around the text of its children.
    fn text(&self, children: &[String]) -> String;
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
        let n_leaves = usize::from(is_leaf) + children.iter().map(TreeDef::n_leaves).sum::<usize>();
        let n_nodes = 1 + children.iter().map(TreeDef::n_nodes).sum::<usize>();
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

    fn text(&self) -> String {
        let children: Vec<String> = self.children().iter().map(TreeDef::text).collect();
        match self.node() {
            Node::Leaf => "*".into(),
            Node::None => "None".into(),
            Node::Tuple if children.len() == 1 => format!("({},)", children[0]),
            Node::Tuple => format!("({})", children.join(", ")),
            Node::List => format!("[{}]", children.join(", ")),
            Node::Dict(custom) | Node::Custom(custom) => custom.text(&children),
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
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.node == other.0.node && self.0.children == other.0.children
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
        write!(f, "PyTreeDef({})", self.text())
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
}
