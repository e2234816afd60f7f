//! A function of every leaf of one tree, and the tree of its results.
//!
//! A tree that is only taken apart and put together again needs no treedef: its containers are steps in the order in which
//! they are put together.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::flatten::IsLeaf;
use super::keys::values_into;
use super::node::{Children, Expansion, PyKind, PyNode, expand};
use crate::stack;

/// Takes the last results, as many as it has children, and gives one.
enum Step {
    Leaf,
    None,
    Tuple(usize),
    List(usize),
    Node(Arc<PyNode>, usize),
}

/// The tree of `f` of the leaves of `tree`. All containers are taken apart before the first call, and put together after
/// the last.
///
/// # Errors
/// What `f` and the functions of containers raise.
pub fn map_leaves<'py>(
    f: &Bound<'py, PyAny>,
    tree: &Bound<'py, PyAny>,
    is_leaf: IsLeaf<'_, 'py>,
) -> PyResult<Py<PyAny>> {
    let mut recorder = Recorder { is_leaf, leaves: Vec::with_capacity(128), steps: Vec::with_capacity(256) };
    recorder.record(tree.clone())?;
    let Recorder { mut leaves, steps, .. } = recorder;
    for leaf in &mut leaves {
        *leaf = f.call1((&*leaf,))?;
    }
    put_together(f.py(), steps, leaves)
}

struct Recorder<'a, 'py> {
    is_leaf: IsLeaf<'a, 'py>,
    leaves: Vec<Bound<'py, PyAny>>,
    steps: Vec<Step>,
}

impl<'py> Recorder<'_, 'py> {
    fn record(&mut self, obj: Bound<'py, PyAny>) -> PyResult<()> {
        if let Some(is_leaf) = self.is_leaf
            && is_leaf.call1((&obj,))?.is_truthy()?
        {
            return self.leaf(obj);
        }
        let expansion = expand(&obj)?;
        if !expansion.is_childless() {
            stack::check("mapping over a tree")?;
        }
        match expansion {
            Expansion::Leaf => self.leaf(obj),
            Expansion::None => self.container(std::iter::empty(), Step::None),
            Expansion::Tuple(tuple) => self.container(tuple.iter(), Step::Tuple(tuple.len())),
            Expansion::List(list) => {
                // A list may change while its children are taken apart.
                let children: Children<'py> = list.iter().collect();
                let n = children.len();
                self.container(children.into_iter(), Step::List(n))
            }
            Expansion::Dict(dict) => {
                let mut values = Children::new();
                let node = values_into(&dict, &mut values)?;
                let n = values.len();
                self.container(values.into_iter(), Step::Node(node, n))
            }
            Expansion::Custom(node, children) => {
                let n = children.len();
                self.container(children.into_iter(), Step::Node(Arc::new(node), n))
            }
        }
    }

    fn leaf(&mut self, obj: Bound<'py, PyAny>) -> PyResult<()> {
        self.leaves.push(obj);
        self.steps.push(Step::Leaf);
        Ok(())
    }

    fn container(&mut self, mut children: impl Iterator<Item = Bound<'py, PyAny>>, step: Step) -> PyResult<()> {
        children.try_for_each(|child| self.record(child))?;
        self.steps.push(step);
        Ok(())
    }
}

fn put_together<'py>(py: Python<'py>, steps: Vec<Step>, leaves: Vec<Bound<'py, PyAny>>) -> PyResult<Py<PyAny>> {
    let mut leaves = leaves.into_iter();
    let mut made: Vec<Bound<'py, PyAny>> = Vec::with_capacity(128);
    for step in steps {
        let whole = match step {
            Step::Leaf => leaves.next().expect("a step for each leaf"),
            Step::None => py.None().into_bound(py),
            Step::Tuple(n) => PyTuple::new(py, made.drain(made.len() - n..))?.into_any(),
            Step::List(n) => PyList::new(py, made.drain(made.len() - n..))?.into_any(),
            Step::Node(node, n) if matches!(node.kind, PyKind::Dict) => {
                node.build_dict(py, made.drain(made.len() - n..))?.into_bound(py)
            }
            Step::Node(node, n) => {
                let children = made.drain(made.len() - n..).map(Bound::unbind).collect();
                node.build(py, children)?.into_bound(py)
            }
        };
        made.push(whole);
    }
    Ok(made.pop().expect("one result").unbind())
}
