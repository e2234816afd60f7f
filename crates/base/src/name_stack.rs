//! Names that the user gives to parts of a program, and the transforms around them: `transpose(jvp(layer))/dense`.
//!
//! A [`NameStack`] is four bytes: stacks are made once each and kept for the life of the process, as few exist. A
//! [`Span`](crate::Span) carries one along. This module does not know what opens a name.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::thread::LocalKey;

/// One entry of a stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NamePart {
    /// A name of the user.
    Scope(Arc<str>),
    /// A transform, which wraps the name that comes next.
    Transform(&'static str),
}

/// Nested names, the outermost first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NameStack(u32);

struct Node {
    parent: NameStack,
    part: NamePart,
    depth: usize,
}

#[derive(Default)]
struct Table {
    nodes: Vec<Node>,
    known: HashMap<(NameStack, NamePart), NameStack>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

impl Table {
    fn push(&mut self, parent: NameStack, part: NamePart) -> NameStack {
        if let Some(&known) = self.known.get(&(parent, part.clone())) {
            return known;
        }
        let depth = self.depth(parent) + 1;
        self.nodes.push(Node { parent, part: part.clone(), depth });
        let new = NameStack(u32::try_from(self.nodes.len()).expect("fewer than 2^32 stacks of names"));
        self.known.insert((parent, part), new);
        new
    }

    fn node(&self, stack: NameStack) -> Option<&Node> {
        self.nodes.get((stack.0 as usize).checked_sub(1)?)
    }

    fn depth(&self, stack: NameStack) -> usize {
        self.node(stack).map_or(0, |node| node.depth)
    }

    /// The entries above `base`, the outermost first; `None` when `base` is not below.
    fn parts_above(&self, stack: NameStack, base: NameStack) -> Option<Vec<NamePart>> {
        let (mut parts, mut current) = (vec![], stack);
        while current != base {
            let node = self.node(current)?;
            parts.push(node.part.clone());
            current = node.parent;
        }
        parts.reverse();
        Some(parts)
    }
}

fn extend(stack: NameStack, parts: Vec<NamePart>) -> NameStack {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    parts.into_iter().fold(stack, |stack, part| table.push(stack, part))
}

type Last = Cell<Option<((NameStack, NameStack), NameStack)>>;

thread_local! {
    static LAST_THEN: Last = const { Cell::new(None) };
    static LAST_INSIDE: Last = const { Cell::new(None) };
}

/// What `make` gives, or gave the last time: operations that follow each other are inside of the same names.
fn remembered(
    last: &'static LocalKey<Last>,
    key: (NameStack, NameStack),
    make: impl FnOnce() -> NameStack,
) -> NameStack {
    match last.get() {
        Some((known, made)) if known == key => made,
        _ => {
            let made = make();
            last.set(Some((key, made)));
            made
        }
    }
}

impl NameStack {
    /// No names.
    pub const EMPTY: NameStack = NameStack(0);

    /// The stack with one more entry inside.
    #[must_use]
    pub fn push(self, part: NamePart) -> NameStack {
        extend(self, vec![part])
    }

    /// The stack with a transform inside.
    #[must_use]
    pub fn transform(self, name: &'static str) -> NameStack {
        self.push(NamePart::Transform(name))
    }

    /// Its entries, the outermost first.
    pub fn parts(self) -> Vec<NamePart> {
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        table.parts_above(self, NameStack::EMPTY).expect("all stacks begin empty")
    }

    /// This stack, with `inner` inside.
    #[must_use]
    pub fn then(self, inner: NameStack) -> NameStack {
        match (self, inner) {
            (NameStack::EMPTY, inner) => inner,
            (outer, NameStack::EMPTY) => outer,
            (outer, inner) => remembered(&LAST_THEN, (outer, inner), || extend(outer, inner.parts())),
        }
    }

    /// What is inside of `base`; the whole when it does not begin with `base`.
    #[must_use]
    pub fn inside(self, base: NameStack) -> NameStack {
        if base == NameStack::EMPTY {
            return self;
        }
        remembered(&LAST_INSIDE, (self, base), || {
            let parts = TABLE.read().unwrap_or_else(PoisonError::into_inner).parts_above(self, base);
            parts.map_or(self, |parts| extend(NameStack::EMPTY, parts))
        })
    }
}

impl fmt::Display for NameStack {
    /// Names joined by `/`; a transform wraps the name after it, and stands alone as `jvp()` when there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut wraps: Vec<&'static str> = vec![];
        let mut names: Vec<String> = vec![];
        let wrapped = |wraps: &mut Vec<&'static str>, name: &str| {
            wraps.drain(..).rev().fold(name.to_string(), |inner, wrap| format!("{wrap}({inner})"))
        };
        for part in self.parts() {
            match part {
                NamePart::Transform(name) => wraps.push(name),
                NamePart::Scope(name) => names.push(wrapped(&mut wraps, &name)),
            }
        }
        if !wraps.is_empty() {
            names.push(wrapped(&mut wraps, ""));
        }
        f.write_str(&names.join("/"))
    }
}

impl fmt::Debug for NameStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NameStack({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(name: &str) -> NamePart {
        NamePart::Scope(name.into())
    }

    #[test]
    fn transforms_wrap_the_next_name() {
        let layer = NameStack::EMPTY.transform("jvp").push(scope("layer"));
        assert_eq!(layer.push(scope("dense")).to_string(), "jvp(layer)/dense");
        let backward = NameStack::EMPTY.push(scope("out")).transform("transpose").then(layer);
        assert_eq!(backward.to_string(), "out/transpose(jvp(layer))");
        assert_eq!(NameStack::EMPTY.push(scope("a")).transform("vmap").to_string(), "a/vmap()");
    }

    #[test]
    fn what_is_inside_of_a_stack_comes_out_again() {
        let outer = NameStack::EMPTY.push(scope("a")).push(scope("b"));
        let inner = NameStack::EMPTY.push(scope("c"));
        assert_eq!(outer.then(inner).inside(outer), inner);
        assert_eq!(outer.inside(outer), NameStack::EMPTY);
        assert_eq!(inner.inside(outer), inner);
        assert_eq!(outer.then(NameStack::EMPTY), outer);
    }
}
