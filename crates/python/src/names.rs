//! Names for people: of traced functions, their places and their arguments; and which traces of this thread they
//! belong to.

use std::cell::RefCell;
use std::collections::VecDeque;

use pullback_base::Span;
use pullback_ir::{JaxprRef, Slot, TraceId, Tracer, VarId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::tree::flatten_with_paths;

/// The name of a function; that of its class when it has none.
pub fn function_name(fun: &Bound<'_, PyAny>) -> String {
    if let Ok(name) = fun.getattr("__name__") {
        return name.to_string();
    }
    if let Ok(inner) = fun.getattr("func") {
        return function_name(&inner);
    }
    fun.get_type().name().map(|name| name.to_string()).unwrap_or_else(|_| "<unnamed function>".into())
}

/// `FILE:LINE` where a function is defined; empty when unknown.
pub fn function_place(fun: &Bound<'_, PyAny>) -> String {
    let mut inner = fun.clone();
    while let Ok(wrapped) = inner.getattr("__wrapped__").or_else(|_| inner.getattr("func")) {
        inner = wrapped;
    }
    let Ok(code) = inner.getattr("__code__") else { return String::new() };
    let text = |name: &str| code.getattr(name).map(|value| value.to_string()).unwrap_or_default();
    format!("{}:{}", text("co_filename"), text("co_firstlineno"))
}

/// `f at FILE:LINE`.
pub fn function_and_place(fun: &Bound<'_, PyAny>) -> String {
    let (name, place) = (function_name(fun), function_place(fun));
    if place.is_empty() { name } else { format!("{name} at {place}") }
}

/// Names of the flat arguments of a call: `x`, `params['w']`, `args[0]`, `kwargs['y']`.
///
/// Positions in `skip` are static and have no leaves.
pub fn argument_names(
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    is_skipped: &dyn Fn(usize, &str) -> bool,
) -> Vec<String> {
    names(fun, args, kwargs, is_skipped).unwrap_or_default()
}

fn names(
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    is_skipped: &dyn Fn(usize, &str) -> bool,
) -> PyResult<Vec<String>> {
    let parameters = positional_names(fun, args.len());
    let mut all = vec![];
    for (i, arg) in args.iter().enumerate() {
        if !is_skipped(i, "") {
            extend(&mut all, &parameters[i], &arg)?;
        }
    }
    if let Some(kwargs) = kwargs {
        for key in kwargs.keys().iter() {
            let name = key.to_string();
            if !is_skipped(usize::MAX, &name) {
                extend(&mut all, &name, &kwargs.get_item(&key)?.expect("a key of the dictionary"))?;
            }
        }
    }
    Ok(all)
}

fn extend(all: &mut Vec<String>, root: &str, arg: &Bound<'_, PyAny>) -> PyResult<()> {
    let (leaves, _) = flatten_with_paths(arg, None, false)?;
    for (path, _) in leaves {
        all.push(format!("{root}{}", crate::tree::key_text(&path)?));
    }
    Ok(())
}

/// Names of the first `n` positional parameters; `args[0]` and so on where the function does not say.
pub fn positional_names(fun: &Bound<'_, PyAny>, n: usize) -> Vec<String> {
    let known = signature_names(fun).unwrap_or_default();
    let n_known = known.len();
    (0..n).map(|i| known.get(i).cloned().unwrap_or_else(|| format!("args[{}]", i - n_known.min(i)))).collect()
}

fn signature_names(fun: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let signature = fun.py().import("inspect")?.call_method1("signature", (fun,))?;
    let mut names = vec![];
    for parameter in signature.getattr("parameters")?.call_method0("values")?.try_iter()? {
        let parameter = parameter?;
        let kind: usize = parameter.getattr("kind")?.extract()?;
        if kind > 1 {
            break;
        }
        names.push(parameter.getattr("name")?.to_string());
    }
    Ok(names)
}

/// A function being traced.
pub struct Tracing {
    id: TraceId,
    transform: &'static str,
    fun: Py<PyAny>,
    args: Py<PyTuple>,
    kwargs: Option<Py<PyDict>>,
    statics: Vec<usize>,
    n_inputs: usize,
}

/// A trace that is over: what it was of, and which line made each of its variables.
struct Ended {
    id: TraceId,
    text: String,
    lines: Vec<(VarId, Span)>,
}

thread_local! {
    static TRACING: RefCell<Vec<Tracing>> = const { RefCell::new(Vec::new()) };
    static ENDED: RefCell<VecDeque<Ended>> = const { RefCell::new(VecDeque::new()) };
}

/// Traces that are remembered after their end, for errors about leaks.
const MAX_ENDED: usize = 64;

/// A trace in progress; forgotten when dropped.
pub struct TracingGuard;

impl Drop for TracingGuard {
    fn drop(&mut self) {
        TRACING.with_borrow_mut(Vec::pop);
    }
}

/// Says that the current trace is of `fun` for `transform`.
pub fn enter(
    transform: &'static str,
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    statics: Vec<usize>,
    n_inputs: usize,
) -> TracingGuard {
    let id = pullback_trace::current().id();
    let tracing = Tracing {
        id,
        transform,
        fun: fun.clone().unbind(),
        args: args.clone().unbind(),
        kwargs: kwargs.map(|kwargs| kwargs.clone().unbind()),
        statics,
        n_inputs,
    };
    TRACING.with_borrow_mut(|stack| stack.push(tracing));
    TracingGuard
}

/// Remembers a trace that ended, for errors about values that leaked out of it.
pub fn remember(id: TraceId, text: String, jaxpr: &JaxprRef) {
    let lines = jaxpr.eqns.iter().map(|eqn| (eqn.first_out, eqn.span)).collect();
    ENDED.with_borrow_mut(|ended| {
        if ended.len() == MAX_ENDED {
            ended.pop_front();
        }
        ended.push_back(Ended { id, text, lines });
    });
}

/// Which function a leaked tracer was made in, and at which line.
pub fn describe_leak(tracer: &Tracer) -> Option<String> {
    ENDED.with_borrow(|ended| {
        let ended = ended.iter().rev().find(|ended| ended.id == tracer.trace)?;
        let mut text = format!("The function being traced when the value leaked was {}.", ended.text);
        if let Slot::Var(var) = tracer.slot {
            let at = ended.lines.partition_point(|(first, _)| *first <= var);
            let place = at.checked_sub(1).and_then(|at| ended.lines[at].1.resolve());
            if let Some(place) = place {
                text += &format!(
                    "\n------------------------------\nThe leaked intermediate value was created on line {place}.\n\
                     ------------------------------"
                );
            }
        }
        Some(text)
    })
}

/// The sentences that name the traced function, its line and the argument that a tracer depends on.
pub fn origin(py: Python<'_>, tracer: &Tracer) -> Option<String> {
    TRACING.with_borrow(|stack| {
        let tracing = stack.iter().rev().find(|tracing| tracing.id == tracer.trace)?;
        let fun = tracing.fun.bind(py);
        let mut text = format!(
            "The error occurred while tracing the function {} for {}.",
            function_and_place(fun),
            tracing.transform
        );
        let inputs = match tracer.slot {
            Slot::Var(_) => pullback_trace::inputs_of(tracer),
            Slot::Dual(_) | Slot::Batched(_) | Slot::Foreign(_) => vec![],
        };
        let is_static = |i: usize, _: &str| tracing.statics.contains(&i);
        let kwargs = tracing.kwargs.as_ref().map(|kwargs| kwargs.bind(py));
        let names = argument_names(fun, tracing.args.bind(py), kwargs, &is_static);
        if names.len() == tracing.n_inputs && !inputs.is_empty() {
            text += &depends(&inputs.iter().map(|&i| names[i].clone()).collect::<Vec<_>>());
        }
        Some(text)
    })
}

fn depends(names: &[String]) -> String {
    let start = " This concrete value was not available in Python because it depends on the value";
    match names {
        [name] => format!("{start} of the argument {name}."),
        [first, last] => format!("{start}s of the arguments {first} and {last}."),
        [rest @ .., last] => format!("{start}s of the arguments {}, and {last}.", rest.join(", ")),
        [] => String::new(),
    }
}

/// The name of a Python object's class.
pub fn class_name(obj: &Bound<'_, PyAny>) -> String {
    obj.get_type().name().map(|name: Bound<'_, PyString>| name.to_string()).unwrap_or_default()
}

/// How an object prints in a jaxpr: without its address, so that the same program has the same text in every run.
pub fn masked_repr(obj: &Bound<'_, PyAny>) -> String {
    let text = obj.repr().map(|text| text.to_string()).unwrap_or_default();
    let Some(start) = text.find(" at 0x").map(|at| at + 4) else { return text };
    let rest = text[start + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    format!("{}0xXXXXXXXXXXXX{rest}", &text[..start])
}
