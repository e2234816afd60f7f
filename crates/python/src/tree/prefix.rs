//! A tree as prefix of another: flattening up to a structure, and spreading leaves of a prefix.

use pullback_base::tree::{Node, TreeDef};
use pyo3::prelude::*;

use super::flatten::flatten_all;
use super::keys::{Entries, entries, sorted_keys};
use super::node::{Children, Expansion, PyKind, PyNode, expand};
use super::paths::PathEntry;
use crate::errors::value_error;
use crate::stack;

/// Parts of `obj` at the leaves of `tree`.
///
/// # Errors
/// `ValueError` when `tree` is no prefix of `obj`.
pub fn flatten_up_to<'py>(tree: &TreeDef, obj: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut parts = vec![];
    descend(tree, obj, &mut parts)?;
    Ok(parts)
}

fn descend<'py>(tree: &TreeDef, obj: &Bound<'py, PyAny>, parts: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    if tree.is_leaf() {
        parts.push(obj.clone());
        return Ok(());
    }
    stack::check("flattening a tree")?;
    let children = children_like(tree.node(), tree.children().len(), obj)?;
    tree.children().iter().zip(children).try_for_each(|(tree, child)| descend(tree, &child, parts))
}

/// Children of `obj`, which must be the same kind of container as `node`.
fn children_like<'py>(node: &Node, arity: usize, obj: &Bound<'py, PyAny>) -> PyResult<Children<'py>> {
    let expected =
        |what: &str| -> PyResult<PyErr> { Ok(value_error(format!("Expected {what}, got {}.", obj.repr()?))) };
    let arity_error = |what: &str, n: usize| -> PyResult<PyErr> {
        let kind = what.to_lowercase();
        Ok(value_error(format!("{what} arity mismatch: {n} != {arity}; {kind}: {}.", obj.repr()?)))
    };
    match (node, expand(obj)?) {
        (Node::None, Expansion::None) => Ok(Children::new()),
        (Node::None, _) => Err(none_error(obj)?),
        (Node::Tuple, Expansion::Tuple(tuple)) if tuple.len() == arity => Ok(tuple.iter().collect()),
        (Node::Tuple, Expansion::Tuple(tuple)) => Err(arity_error("Tuple", tuple.len())?),
        (Node::Tuple, _) => Err(expected("tuple")?),
        (Node::List, Expansion::List(list)) if list.len() == arity => Ok(list.iter().collect()),
        (Node::List, Expansion::List(list)) => Err(arity_error("List", list.len())?),
        (Node::List, _) => Err(expected("list")?),
        (Node::Dict(custom), Expansion::Dict(dict)) => dict_children(obj.py(), PyNode::of(custom), entries(&dict)?),
        (Node::Dict(_), _) => Err(expected("dict")?),
        (Node::Custom(custom), Expansion::Custom(found, children)) => {
            let wanted = PyNode::of(custom);
            check_same(wanted, &found, obj)?;
            if children.len() != arity {
                return Err(arity_error("Custom type", children.len())?);
            }
            Ok(children)
        }
        (Node::Custom(custom), _) => {
            if matches!(PyNode::of(custom).kind, PyKind::NamedTuple) {
                return Err(expected("named tuple")?);
            }
            Err(other_class(PyNode::of(custom), obj)?)
        }
        (Node::Leaf, _) => unreachable!("leaves are taken whole"),
    }
}

fn none_error(obj: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    Ok(value_error(format!(
        "Expected None, got {}.\n\nIn previous releases of JAX, flatten-up-to used to consider None to be a tree-prefix of \
         non-None values. To obtain the previous behavior, you can usually write:\n  jax.tree.map(lambda x, y: None if x \
         is None else f(x, y), a, b, is_leaf=lambda x: x is None)",
        obj.repr()?
    )))
}

fn dict_children<'py>(py: Python<'py>, node: &PyNode, entries: Entries<'py>) -> PyResult<Children<'py>> {
    let (keys, wanted) = (entries.keys(py), node.aux.bind(py));
    if !keys.is(wanted) && !keys.eq(wanted)? {
        return Err(value_error(format!(
            "Dict key mismatch; expected keys: {}; present keys: {}.",
            wanted.repr()?,
            keys.repr()?
        )));
    }
    Ok(entries.values)
}

/// The error of an object of another class than the node's.
fn other_class(wanted: &PyNode, obj: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let class = wanted.class.bind(obj.py());
    let (what, given) = match wanted.kind {
        PyKind::NamedTuple => ("Named tuple", "tuple"),
        _ => ("Custom node", "value"),
    };
    Ok(value_error(format!("{what} type mismatch: expected type: {class}, {given}: {}.", obj.repr()?)))
}

fn check_same(wanted: &PyNode, found: &PyNode, obj: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = obj.py();
    if !wanted.class.is(&found.class) {
        return Err(other_class(wanted, obj)?);
    }
    if !wanted.aux.bind(py).eq(found.aux.bind(py))? {
        return Err(value_error(format!(
            "Mismatch custom node data: {} != {}; value: {}.",
            wanted.aux.bind(py).str()?,
            found.aux.bind(py).str()?,
            obj.repr()?
        )));
    }
    Ok(())
}

/// For each leaf of `full`, the leaf of `prefix` above it. `None` in the prefix counts as a leaf.
///
/// # Errors
/// As [`flatten_up_to`].
pub fn broadcast_prefix<'py>(prefix: &Bound<'py, PyAny>, full: &TreeDef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut spread = vec![];
    spread_prefix(prefix, full, &mut spread)?;
    Ok(spread)
}

fn spread_prefix<'py>(prefix: &Bound<'py, PyAny>, full: &TreeDef, spread: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    let expansion = expand(prefix)?;
    if matches!(expansion, Expansion::Leaf | Expansion::None) {
        spread.extend(std::iter::repeat_n(prefix.clone(), full.n_leaves()));
        return Ok(());
    }
    stack::check("flattening a tree")?;
    let (_, found) = flatten_all(prefix)?;
    let is_same = found.node() == full.node() && found.children().len() == full.children().len();
    if full.is_leaf() || !is_same {
        return Err(value_error(format!("Expected a prefix of the tree structure {full}, got {}", prefix.repr()?)));
    }
    let children = children_like(full.node(), full.children().len(), prefix)?;
    children.iter().zip(full.children()).try_for_each(|(prefix, full)| spread_prefix(prefix, full, spread))
}

/// Why `prefix` is no prefix of `full`, in JAX's words, with `name` for the key path's root. `None` when it is one.
pub fn prefix_mismatch(prefix: &Bound<'_, PyAny>, full: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<String>> {
    mismatch_at(prefix, full, name, String::new())
}

fn mismatch_at(
    prefix: &Bound<'_, PyAny>,
    full: &Bound<'_, PyAny>,
    name: &str,
    path: String,
) -> PyResult<Option<String>> {
    let place = format!("at key path\n    {name}{path}");
    let here = format!("At that key path, the prefix pytree {name} has a subtree of type");
    let parts = expand(prefix)?;
    if matches!(parts, Expansion::Leaf) {
        return Ok(None);
    }
    stack::check("comparing trees")?;
    let (class, other) = (prefix.get_type(), full.get_type());
    if !class.is(&other) {
        return Ok(Some(format!(
            "pytree structure error: different types {place}\n{here}\n    {}\nbut at the same key path the full pytree has a \
             subtree of different type\n    {}.",
            class.repr()?,
            other.repr()?
        )));
    }
    let (ours, theirs) = (super::paths::keyed_children(prefix)?, super::paths::keyed_children(full)?);
    if let Expansion::Tuple(_) | Expansion::List(_) = parts
        && ours.len() != theirs.len()
    {
        let kind = class.name()?;
        return Ok(Some(format!(
            "pytree structure error: different lengths of {kind} {place}\n{here} {kind} of length {}, but the full pytree has a \
             subtree of the same type but of length {}.",
            ours.len(),
            theirs.len()
        )));
    }
    if ours.len() != theirs.len() {
        return Ok(Some(children_text(&place, &here, &class.repr()?.to_string(), &ours, &theirs)));
    }
    if let Some(text) = metadata_mismatch(parts, full, &place, &here)? {
        return Ok(Some(text));
    }
    for ((entry, child), (_, other)) in ours.iter().zip(&theirs) {
        let path = format!("{path}{}", entry.text(prefix.py())?);
        if let Some(text) = mismatch_at(child, other, name, path)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

type Keyed<'py> = (PathEntry, Bound<'py, PyAny>);

fn children_text(place: &str, here: &str, class: &str, ours: &[Keyed<'_>], theirs: &[Keyed<'_>]) -> String {
    let texts = |children: &[Keyed<'_>]| -> Vec<String> {
        children.iter().map(|(entry, child)| entry.text(child.py()).unwrap_or_default()).collect()
    };
    let (a, b) = (texts(ours), texts(theirs));
    let only: Vec<String> =
        (a.iter().filter(|key| !b.contains(key))).chain(b.iter().filter(|key| !a.contains(key))).cloned().collect();
    format!(
        "pytree structure error: different numbers of pytree children {place}\n{here}\n    {class}\nwith {} child keys\n    {}\n\
         but at the same key path the full pytree has a subtree of the same type but with {} child keys\n    {}\nso the \
         symmetric difference on key sets is\n    {}",
        a.len(),
        a.join(" "),
        b.len(),
        b.join(" "),
        only.join(" ")
    )
}

fn metadata_mismatch(
    ours: Expansion<'_>,
    full: &Bound<'_, PyAny>,
    place: &str,
    here: &str,
) -> PyResult<Option<String>> {
    let py = full.py();
    let (class, a, b) = match (ours, expand(full)?) {
        (Expansion::Custom(ours, _), Expansion::Custom(theirs, _)) => {
            (ours.class.into_bound(py), ours.aux.into_bound(py), theirs.aux.into_bound(py))
        }
        (Expansion::Dict(ours), Expansion::Dict(theirs)) => {
            let (a, b) = (sorted_keys(&ours)?.to_tuple(), sorted_keys(&theirs)?.to_tuple());
            (ours.get_type(), a.into_any(), b.into_any())
        }
        _ => return Ok(None),
    };
    if a.eq(&b)? {
        return Ok(None);
    }
    let (a, b) = (a.str()?.to_string(), b.str()?.to_string());
    let differ = py.import("difflib")?.call_method1("ndiff", (vec![a.as_str()], vec![b.as_str()]))?;
    let mut lines = vec![];
    for line in differ.try_iter()? {
        lines.push(format!("    {}", line?.str()?));
    }
    Ok(Some(format!(
        "pytree structure error: different pytree metadata {place}\n{here}\n    {}\nwith metadata\n    {a}\nbut at the same key \
         path the full pytree has a subtree of the same type but with metadata\n    {b}\nso the diff in the metadata at \
         these pytree nodes is\n{}",
        class.repr()?,
        lines.join("\n")
    )))
}
