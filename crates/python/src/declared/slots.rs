//! Arguments sorted to the parameters that they are for.

use pullback_lib::declare::{Parameter, ParameterKind};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

use super::Function;
use crate::errors::type_error;

type Object<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// The arguments of a call: one place for each parameter, then those that have none.
pub struct Slots<'a, 'py> {
    places: SmallVec<[Option<Object<'a, 'py>>; 10]>,
    /// Arguments at further positions.
    pub rest: SmallVec<[Object<'a, 'py>; 4]>,
    /// Arguments by other names.
    pub keywords: Vec<(Object<'a, 'py>, Object<'a, 'py>)>,
}

impl<'a, 'py> Slots<'a, 'py> {
    /// Without arguments.
    pub fn new() -> Slots<'a, 'py> {
        Slots { places: SmallVec::new(), rest: SmallVec::new(), keywords: vec![] }
    }

    /// Takes the positional arguments, which come first.
    ///
    /// # Errors
    /// Python's `TypeError` when there are too many.
    pub fn place(
        &mut self,
        function: &Function,
        positional: impl ExactSizeIterator<Item = Object<'a, 'py>>,
    ) -> PyResult<()> {
        let parameters = function.declaration.parameters;
        let n_given = positional.len();
        for value in positional {
            let at = self.places.len();
            match parameters.get(at).map(|parameter| parameter.kind) {
                Some(ParameterKind::PositionalOnly | ParameterKind::Either) => self.places.push(Some(value)),
                Some(ParameterKind::Rest) => self.rest.push(value),
                Some(ParameterKind::KeywordOnly | ParameterKind::Keywords) | None => {
                    return Err(too_many(function, n_given));
                }
            }
        }
        self.places.resize(parameters.len(), None);
        Ok(())
    }

    /// Adds a named argument.
    ///
    /// # Errors
    /// Python's `TypeError` for a name that no parameter has, or that was given.
    pub fn name(&mut self, function: &Function, name: Object<'a, 'py>, value: Object<'a, 'py>) -> PyResult<()> {
        let parameters = function.declaration.parameters;
        match position(function, name) {
            Some(at) if self.places[at].is_some() => Err(type_error(format!(
                "{}() got multiple values for argument '{}'",
                function.name(),
                parameters[at].name
            ))),
            Some(at) => {
                self.places[at] = Some(value);
                Ok(())
            }
            None if parameters.last().is_some_and(|last| last.kind == ParameterKind::Keywords) => {
                self.keywords.push((name, value));
                Ok(())
            }
            None => Err(unexpected(function, name)),
        }
    }

    /// Refuses a call that lacks an argument.
    ///
    /// # Errors
    /// Python's `TypeError`, which names what is missing.
    pub fn check_complete(&self, function: &Function) -> PyResult<()> {
        let parameters = function.declaration.parameters;
        if self.places[..function.n_required].iter().all(Option::is_some) && !function.requires_keywords {
            return Ok(());
        }
        let is_missing = |(parameter, place): &(&Parameter, &Option<Object<'a, 'py>>)| {
            place.is_none() && parameter.default.is_none() && is_single(parameter)
        };
        if !parameters.iter().zip(&self.places).any(|pair| is_missing(&pair)) {
            return Ok(());
        }
        let names = |keyword_only: bool| -> Vec<String> {
            (parameters.iter().zip(&self.places).filter(is_missing))
                .filter(|(parameter, _)| (parameter.kind == ParameterKind::KeywordOnly) == keyword_only)
                .map(|(parameter, _)| format!("'{}'", parameter.name))
                .collect()
        };
        let positional = names(false);
        let (kind, names) =
            if positional.is_empty() { ("keyword-only", names(true)) } else { ("positional", positional) };
        let s = if names.len() == 1 { "" } else { "s" };
        let (name, n) = (function.name(), names.len());
        Err(type_error(format!("{name}() missing {n} required {kind} argument{s}: {}", listed(&names))))
    }

    /// The argument for a parameter.
    pub fn get(&self, at: usize) -> Option<&Bound<'py, PyAny>> {
        self.places[at].as_deref()
    }
}

/// Whether a parameter takes one argument.
fn is_single(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, ParameterKind::Rest | ParameterKind::Keywords)
}

/// The position of the parameter that may be given by a name.
fn position(function: &Function, name: Object<'_, '_>) -> Option<usize> {
    let is_named = |at: &usize| {
        matches!(function.declaration.parameters[*at].kind, ParameterKind::Either | ParameterKind::KeywordOnly)
    };
    let places = 0..function.names.len();
    let same = places.clone().find(|&at| function.names[at].as_ptr() == name.as_ptr());
    let found = same.or_else(|| {
        let name = name.cast::<PyString>().ok()?;
        let text = name.to_str().ok()?;
        places.clone().find(|&at| function.declaration.parameters[at].name == text)
    });
    found.filter(is_named)
}

fn unexpected(function: &Function, name: Object<'_, '_>) -> PyErr {
    let (text, own) = (name.to_string(), function.name());
    let is_positional = |one: &Parameter| one.name == text && one.kind == ParameterKind::PositionalOnly;
    type_error(if function.declaration.parameters.iter().any(is_positional) {
        format!("{own}() got some positional-only arguments passed as keyword arguments: '{text}'")
    } else {
        format!("{own}() got an unexpected keyword argument '{text}'")
    })
}

fn too_many(function: &Function, n_given: usize) -> PyErr {
    let positional = function.declaration.parameters.iter();
    let positional: Vec<&Parameter> =
        positional.filter(|one| matches!(one.kind, ParameterKind::PositionalOnly | ParameterKind::Either)).collect();
    let (most, least) = (positional.len(), positional.iter().filter(|one| one.default.is_none()).count());
    let count = if least == most { most.to_string() } else { format!("from {least} to {most}") };
    let s = if most == 1 { "" } else { "s" };
    let were = if n_given == 1 { "was" } else { "were" };
    type_error(format!("{}() takes {count} positional argument{s} but {n_given} {were} given", function.name()))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}
