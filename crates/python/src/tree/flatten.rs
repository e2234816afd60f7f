//! Flattening to leaves and structure, and back.

use std::sync::LazyLock;

use pullback_base::tree::{Node, TreeDef};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::keys::values_into;
use super::node::{Children, Expansion, PyNode, expand};
use crate::errors::value_error;
use crate::stack;

static LEAF: LazyLock<TreeDef> = LazyLock::new(TreeDef::leaf);
static NONE: LazyLock<TreeDef> = LazyLock::new(|| TreeDef::new(Node::None, vec![]));

/// A user's predicate that stops the descent.
pub type IsLeaf<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Leaves of `obj`, appended to `leaves`, and its structure.
pub fn flatten<'py>(
    obj: &Bound<'py, PyAny>,
    is_leaf: IsLeaf<'_, 'py>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<TreeDef> {
    if let Some(is_leaf) = is_leaf
        && is_leaf.call1((obj,))?.is_truthy()?
    {
        leaves.push(obj.clone());
        return Ok(LEAF.clone());
    }
    let expansion = expand(obj)?;
    if !expansion.is_childless() {
        stack::check("flattening a tree")?;
    }
    match expansion {
        Expansion::Leaf => {
            leaves.push(obj.clone());
            Ok(LEAF.clone())
        }
        Expansion::None => Ok(NONE.clone()),
        Expansion::Tuple(tuple) => Ok(TreeDef::new(Node::Tuple, flatten_children(tuple.iter(), is_leaf, leaves)?)),
        Expansion::List(list) => Ok(TreeDef::new(Node::List, flatten_children(list.iter(), is_leaf, leaves)?)),
        Expansion::Dict(dict) => {
            let mut values = Children::new();
            let node = values_into(&dict, &mut values)?;
            Ok(TreeDef::new(Node::Dict(node), flatten_children(values.into_iter(), is_leaf, leaves)?))
        }
        Expansion::Custom(node, children) => {
            let children = flatten_children(children.into_iter(), is_leaf, leaves)?;
            Ok(TreeDef::new(node.into_node(), children))
        }
    }
}

fn flatten_children<'py>(
    children: impl Iterator<Item = Bound<'py, PyAny>>,
    is_leaf: IsLeaf<'_, 'py>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<TreeDef>> {
    children.map(|child| flatten(&child, is_leaf, leaves)).collect()
}

/// Leaves and structure.
pub fn flatten_all<'py>(obj: &Bound<'py, PyAny>) -> PyResult<(Vec<Bound<'py, PyAny>>, TreeDef)> {
    let mut leaves = vec![];
    let tree = flatten(obj, None, &mut leaves)?;
    Ok((leaves, tree))
}

/// The tree with the given leaves.
///
/// # Errors
/// `ValueError` when there are too few or too many leaves; what a constructor raises.
pub fn unflatten(py: Python<'_>, tree: &TreeDef, leaves: impl IntoIterator<Item = Py<PyAny>>) -> PyResult<Py<PyAny>> {
    let mut leaves = leaves.into_iter();
    let mut given = 0;
    let expected = tree.n_leaves();
    let mut next = || {
        let leaf = leaves.next();
        given += usize::from(leaf.is_some());
        leaf
    };
    let Some(built) = build(py, tree, &mut next)? else {
        return Err(value_error(format!("Too few leaves for PyTreeDef; expected {expected}, got {given}")));
    };
    if next().is_some() {
        return Err(value_error(format!("Too many leaves for PyTreeDef; expected {expected}.")));
    }
    Ok(built)
}

fn build(py: Python<'_>, tree: &TreeDef, next: &mut dyn FnMut() -> Option<Py<PyAny>>) -> PyResult<Option<Py<PyAny>>> {
    if tree.is_leaf() {
        return Ok(next());
    }
    stack::check("putting a tree together")?;
    let mut children = Vec::with_capacity(tree.children().len());
    for child in tree.children() {
        match build(py, child, next)? {
            Some(child) => children.push(child),
            None => return Ok(None),
        }
    }
    Ok(Some(match tree.node() {
        Node::Leaf => unreachable!("handled above"),
        Node::None => py.None(),
        Node::Tuple => PyTuple::new(py, children)?.into_any().unbind(),
        Node::List => PyList::new(py, children)?.into_any().unbind(),
        Node::Dict(custom) | Node::Custom(custom) => PyNode::of(custom).build(py, children)?,
    }))
}
