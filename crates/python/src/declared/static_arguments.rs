//! Arguments that are part of what a function is compiled for, and so must have a hash.
//!
//! A table of names alone: what an argument may be is said by the declaration.

use std::sync::LazyLock;

use pullback_lib::declare::Declaration;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::slots::Slots;
use crate::jit::unhashable;

const TABLE: &str = include_str!("static_arguments.txt");

/// How an argument without a hash is refused.
#[derive(Clone, Copy)]
enum Refusal {
    /// As a static argument of a staged function is.
    Static,
    /// By Python's own error.
    Unhashable,
}

/// The static parameters of one function.
#[derive(Default)]
pub struct Statics(Vec<(usize, Refusal)>);

type Row = (Refusal, Vec<&'static str>);

static ROWS: LazyLock<FxHashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: FxHashMap<&'static str, Vec<Row>> = FxHashMap::default();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (refusal, rest) = match line.strip_prefix("~ ") {
            Some(rest) => (Refusal::Unhashable, rest),
            None => (Refusal::Static, line),
        };
        let mut words = rest.split(' ');
        rows.entry(words.next().unwrap_or_default()).or_default().push((refusal, words.collect()));
    }
    rows
});

impl Statics {
    /// Those of a declared function.
    pub fn of(declaration: &Declaration) -> Statics {
        let rows = declaration.names.iter().filter_map(|name| ROWS.get(name)).flatten();
        let position = |name: &str| declaration.parameters.iter().position(|one| one.name == name);
        let found = rows.flat_map(|(refusal, names)| {
            names.iter().filter_map(move |name| position(name)).map(move |at| (at, *refusal))
        });
        Statics(found.collect())
    }

    /// Refuses arguments without a hash.
    ///
    /// # Errors
    /// A `ValueError` in the words of `jit`, or what Python raises.
    pub fn check(&self, slots: &Slots<'_, '_>) -> PyResult<()> {
        self.0.iter().try_for_each(|&(at, refusal)| {
            let Some(given) = slots.get(at) else { return Ok(()) };
            given.hash().map(|_| ()).map_err(|error| match refusal {
                Refusal::Static => unhashable(given, &error),
                Refusal::Unhashable => error,
            })
        })
    }
}
