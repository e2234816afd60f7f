//! Names for people: of traced functions, their places and their arguments; and which traces of this thread they
//! belong to.

use std::cell::RefCell;
use std::collections::VecDeque;

use pullback_base::Span;
use pullback_base::span::Place;
use pullback_ir::{JaxprRef, Slot, TraceId, Tracer, VarId};
use pullback_trace::settings::{Setting, is_on};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple};

use crate::tree::flatten_with_paths;
use crate::value::{TracerKind, kind_of};

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
    let Some(code) = code_of(fun) else { return String::new() };
    let text = |name: &str| code.getattr(name).map(|value| value.to_string()).unwrap_or_default();
    format!("{}:{}", text("co_filename"), text("co_firstlineno"))
}

/// Refuses to trace a function where the user forbids that.
pub fn check_may_trace(transform: &str, fun: &Bound<'_, PyAny>) -> pullback_base::Result<()> {
    if !is_on(Setting::NoTracing) {
        return Ok(());
    }
    let (name, place) = (function_name(fun), function_place(fun));
    let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let text = format!("re-tracing function {name}{at} for `{transform}`, but 'no_tracing' is set");
    Err(pullback_base::Error::new(pullback_base::ErrorKind::Runtime, text))
}

/// The code object of a function, inside what wraps it.
fn code_of<'py>(fun: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // Wrappers may be made to wrap themselves; no chain in earnest is so long.
    const MAX_WRAPPERS: usize = 100;
    let mut inner = fun.clone();
    for _ in 0..MAX_WRAPPERS {
        let wrapped = ["__wrapped__", "func"].into_iter().find_map(|name| inner.getattr_opt(name).ok().flatten());
        match wrapped {
            Some(wrapped) => inner = wrapped,
            None => break,
        }
    }
    inner.getattr_opt("__code__").ok().flatten()
}

fn code_and_place(code: &Bound<'_, PyAny>) -> String {
    let text = |name: &str| code.getattr(name).map(|value| value.to_string()).unwrap_or_default();
    format!("{} at {}:{}", text("co_name"), text("co_filename"), text("co_firstlineno"))
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
    let rest = kwargs.and_then(|_| rest_of_keywords(fun));
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
                let root = match &rest {
                    Some((rest, named)) if !named.contains(&name) => format!("{rest}['{name}']"),
                    Some(_) | None => name,
                };
                extend(&mut all, &root, &kwargs.get_item(&key)?.expect("a key of the dictionary"))?;
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

/// Names of the first `n` positional parameters; those of the parameter that takes the rest, or `args`, come with a number.
pub fn positional_names(fun: &Bound<'_, PyAny>, n: usize) -> Vec<String> {
    let all = parameters_of(fun).unwrap_or_default();
    let known: Vec<&String> = all.iter().filter(|(_, kind)| *kind <= POSITIONAL).map(|(name, _)| name).collect();
    let rest = all.iter().find(|(_, kind)| *kind == REST).map_or("args", |(name, _)| name.as_str());
    let numbered = |i: usize| format!("{rest}[{}]", i - known.len().min(i));
    (0..n).map(|i| known.get(i).map_or_else(|| numbered(i), |name| (*name).clone())).collect()
}

/// The parameter that takes further keywords, where there is one, and the names of those that have a parameter.
fn rest_of_keywords(fun: &Bound<'_, PyAny>) -> Option<(String, Vec<String>)> {
    let all = parameters_of(fun).ok()?;
    let (rest, _) = all.iter().find(|(_, kind)| *kind == REST_OF_KEYWORDS)?;
    Some((rest.clone(), all.iter().map(|(name, _)| name.clone()).collect()))
}

// Kinds of parameters, as `inspect` numbers them.
const POSITIONAL: usize = 1;
const REST: usize = 2;
const KEYWORD: usize = 3;
const REST_OF_KEYWORDS: usize = 4;

/// The parameters of a function with their kinds.
fn parameters_of(fun: &Bound<'_, PyAny>) -> PyResult<Vec<(String, usize)>> {
    if let Some(plain) = parameters_of_plain(fun)? {
        return Ok(plain);
    }
    let signature = fun.py().import("inspect")?.call_method1("signature", (fun,))?;
    let mut names = vec![];
    for parameter in signature.getattr("parameters")?.call_method0("values")?.try_iter()? {
        let parameter = parameter?;
        names.push((parameter.getattr("name")?.to_string(), parameter.getattr("kind")?.extract()?));
    }
    Ok(names)
}

/// The parameters of a function of Python that wraps no other one, from its code: every trace asks for them, and
/// `inspect` takes longer than a small trace.
fn parameters_of_plain(fun: &Bound<'_, PyAny>) -> PyResult<Option<Vec<(String, usize)>>> {
    let py = fun.py();
    if !fun.is_exact_instance_of::<PyFunction>() {
        return Ok(None);
    }
    let own = fun.getattr(intern!(py, "__dict__"))?;
    if own.contains(intern!(py, "__wrapped__"))? || own.contains(intern!(py, "__signature__"))? {
        return Ok(None);
    }
    let code = fun.getattr(intern!(py, "__code__"))?;
    let number = |name: &Bound<'_, PyString>| code.getattr(name)?.extract::<usize>();
    let n_positional = number(intern!(py, "co_argcount"))?;
    let n_keywords = number(intern!(py, "co_kwonlyargcount"))?;
    let flags = number(intern!(py, "co_flags"))?;
    let names: Vec<String> = code.getattr(intern!(py, "co_varnames"))?.extract()?;
    let takes = |flag: usize| usize::from(flags & flag != 0);
    let (n_rest, n_rest_of_keywords) = (takes(CODE_TAKES_REST), takes(CODE_TAKES_KEYWORDS));
    let counts = [n_positional, n_keywords, n_rest, n_rest_of_keywords];
    let kinds = [POSITIONAL, KEYWORD, REST, REST_OF_KEYWORDS];
    let kinds = counts.into_iter().zip(kinds).flat_map(|(n, kind)| std::iter::repeat_n(kind, n));
    Ok(Some(names.into_iter().zip(kinds).collect()))
}

// Flags of code objects.
const CODE_TAKES_REST: usize = 4;
const CODE_TAKES_KEYWORDS: usize = 8;

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

/// A trace that is over: what it was of, and which line made each of its variables. The function's code is
/// held, not the function, which may hold arrays.
struct Ended {
    id: TraceId,
    transform: &'static str,
    code: Option<Py<PyAny>>,
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
        let Some(tracing) = TRACING.with_borrow_mut(Vec::pop) else { return };
        Python::attach(|py| {
            let code = code_of(tracing.fun.bind(py)).map(Bound::unbind);
            let ended = Ended { id: tracing.id, transform: tracing.transform, code, lines: vec![] };
            let old = ENDED.with_borrow_mut(|all| {
                let old = if all.len() == MAX_ENDED { all.pop_front() } else { None };
                all.push_back(ended);
                old
            });
            drop(old);
        });
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

/// Remembers which lines made the variables of a trace that ended, for errors about values that leaked out of it.
pub fn remember_lines(id: TraceId, jaxpr: &JaxprRef) {
    ENDED.with_borrow_mut(|all| {
        if let Some(ended) = all.iter_mut().rev().find(|ended| ended.id == id) {
            ended.lines = jaxpr.eqns.iter().map(|eqn| (eqn.first_out, eqn.span)).collect();
        }
    });
}

/// The class that a leaked tracer shows, which function it was made in, and at which line.
pub fn describe_leak(tracer: &Tracer) -> (&'static str, Option<String>) {
    let class = match kind_of(tracer) {
        TracerKind::Jit => "DynamicJaxprTracer",
        TracerKind::Jvp => "JVPTracer",
        TracerKind::Linearize => "LinearizeTracer",
        TracerKind::Batch => "BatchTracer",
    };
    (class, Python::attach(|py| leak_text(py, tracer)))
}

/// Which function a tracer of an ended trace was made in, and at which line.
pub fn leak_text(py: Python<'_>, tracer: &Tracer) -> Option<String> {
    let known = ENDED.with_borrow(|all| {
        let ended = all.iter().rev().find(|ended| ended.id == tracer.trace)?;
        Some((ended.code.as_ref().map(|code| code.clone_ref(py)), ended.transform))
    });
    let mut text = known.map_or_else(String::new, |(code, transform)| {
        let name =
            code.map_or_else(|| "a function without code in Python".into(), |code| code_and_place(code.bind(py)));
        format!("The function being traced when the value leaked was {name} traced for {transform}.")
    });
    if let Some(place) = made_at(tracer) {
        text += &format!(
            "\n------------------------------\nThe leaked intermediate value was created on line {place}.\n\
             ------------------------------"
        );
    }
    (!text.is_empty()).then(|| text.trim_start().to_string())
}

/// The line of the user's program that made a tracer, also after its trace.
pub fn made_at(tracer: &Tracer) -> Option<Place> {
    match &tracer.slot {
        Slot::Dual(dual) => dual.span.resolve(),
        Slot::Batched(batched) => batched.span.resolve(),
        Slot::Var(var) => ENDED.with_borrow(|all| {
            let ended = all.iter().rev().find(|ended| ended.id == tracer.trace)?;
            let at = ended.lines.partition_point(|(first, _)| first <= var);
            ended.lines[at.checked_sub(1)?].1.resolve()
        }),
        Slot::Foreign(_) => None,
    }
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
