//! Where in the user's program something was asked for.
//!
//! A [`Span`] is twelve bytes: a source, an offset in it, and the names that the user gave to the part of the program
//! around it. It is cheap to take (no line number is computed) and resolved to file and line only when shown. Front ends
//! register sources and say, per call, which span is current. This module does not know how any language finds its lines.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, RwLock};

use crate::name_stack::NameStack;

/// Resolves offsets of one source (for example one Python code object) to places.
pub trait Source: Send + Sync {
    /// The place of `offset` in this source.
    fn place(&self, offset: u32) -> Place;
}

/// A line of the user's program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// File name as the front end knows it.
    pub file: String,
    /// Line, counted from one.
    pub line: u32,
    /// Name of the function around the line; empty when unknown.
    pub function: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.function.is_empty() { Ok(()) } else { write!(f, " ({})", self.function) }
    }
}

/// A position in the user's program; resolved to a [`Place`] only when shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    source: u32,
    offset: u32,
    names: NameStack,
}

static SOURCES: RwLock<Vec<Arc<dyn Source>>> = RwLock::new(Vec::new());

thread_local! {
    static CURRENT: Cell<Span> = const { Cell::new(Span::UNKNOWN) };
}

impl Span {
    /// No place is known.
    pub const UNKNOWN: Span = Span { source: 0, offset: 0, names: NameStack::EMPTY };

    /// Registers a source and gives its number, to be kept by the front end.
    pub fn register(source: Arc<dyn Source>) -> u32 {
        let mut sources = SOURCES.write().expect("the table of sources is never poisoned");
        sources.push(source);
        u32::try_from(sources.len()).expect("fewer than 2^32 sources")
    }

    /// The span at `offset` of a registered source, inside the current names.
    pub fn new(source: u32, offset: u32) -> Span {
        Span { source, offset, names: Span::current().names }
    }

    /// The names around it.
    pub fn names(self) -> NameStack {
        self.names
    }

    /// The same place with other names around it.
    #[must_use]
    pub fn with_names(self, names: NameStack) -> Span {
        Span { names, ..self }
    }

    /// The same place with more names around those it has.
    #[must_use]
    pub fn under(self, outer: NameStack) -> Span {
        self.with_names(outer.then(self.names))
    }

    /// The span of a Rust caller.
    pub fn of(location: &'static Location<'static>) -> Span {
        struct Rust(&'static Location<'static>);
        impl Source for Rust {
            fn place(&self, _offset: u32) -> Place {
                Place { file: self.0.file().to_string(), line: self.0.line(), function: String::new() }
            }
        }
        thread_local!(static KNOWN: std::cell::RefCell<std::collections::HashMap<usize, u32>> = std::cell::RefCell::default());
        let key = std::ptr::from_ref(location) as usize;
        let number = KNOWN
            .with_borrow_mut(|known| *known.entry(key).or_insert_with(|| Span::register(Arc::new(Rust(location)))));
        Span::new(number, 0)
    }

    /// The span of the user's call that is now being served on this thread.
    pub fn current() -> Span {
        CURRENT.get()
    }

    /// The same names without a place: what has it is where its caller is.
    #[must_use]
    pub fn without_place(self) -> Span {
        Span::UNKNOWN.with_names(self.names)
    }

    /// Runs `body` with `self` as the current span. Where its place is unknown, the current one stays.
    pub fn scope<T>(self, body: impl FnOnce() -> T) -> T {
        struct Restore(Span);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let entered = if self.is_known() { self } else { Span::current().with_names(self.names) };
        let _restore = Restore(CURRENT.replace(entered));
        body()
    }

    /// Runs `body` inside one more transform.
    pub fn within_transform<T>(name: &'static str, body: impl FnOnce() -> T) -> T {
        let span = Span::current();
        span.with_names(span.names.transform(name)).scope(body)
    }

    /// Sets the current span and returns the one before; for front ends that restore it by hand.
    pub fn replace_current(self) -> Span {
        CURRENT.replace(self)
    }

    /// Whether a place is known.
    pub fn is_known(self) -> bool {
        self.source != 0
    }

    /// The place in the user's program, when known.
    pub fn resolve(self) -> Option<Place> {
        let index = (self.source as usize).checked_sub(1)?;
        let source = SOURCES.read().expect("the table of sources is never poisoned").get(index).cloned()?;
        Some(source.place(self.offset))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resolve() {
            Some(place) => write!(f, "{place}"),
            None => f.write_str("unknown"),
        }
    }
}
