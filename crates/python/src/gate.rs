//! The one gate through which calls from Python pass.
//!
//! It says which line of the user's program is served (while something is traced, and when something fails), maps
//! errors, and turns panics into exceptions. A line is kept as code object and instruction, and resolved when shown.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::span::{Place, Source};
use pullback_base::{Error, Result, Span};
use pullback_lib::broadcast::{Called, enter_called};
use pullback_trace::settings::{PromotionScope, has_promotion_rules, promotion_rules_hold};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rustc_hash::FxHashMap;

use crate::errors::{is_carried, to_py};

/// Runs `body` as a call of the user: errors become exceptions and name the user's line.
///
/// # Errors
/// The exception for what `body` raises, panics included.
pub fn gate<T>(py: Python<'_>, body: impl FnOnce() -> Result<T>) -> PyResult<T> {
    let _rules = rules_for(py);
    let traced = pullback_trace::is_tracing();
    let before = traced.then(|| user_span(py).replace_current());
    let result = catch_unwind(AssertUnwindSafe(body));
    if let Some(before) = before {
        before.replace_current();
    }
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let is_carried = is_carried(&error);
            let exception = to_py(py, &error.at(user_span(py)));
            if is_carried {
                tell_hidden_frames(py, &exception);
            }
            Err(exception)
        }
        Err(panic) => Err(to_py(py, &panic_error(&*panic).at(user_span(py)))),
    }
}

/// Says on an exception that code of the user raised inside a transform that frames are missing from its traceback.
fn tell_hidden_frames(py: Python<'_>, exception: &PyErr) {
    // What goes wrong here must not hide the exception itself.
    let _ = py.import("pullback._tracebacks").and_then(|module| module.call_method1("tell", (exception.value(py),)));
}

/// The rules of promotion that a call follows: they hold for calls of the user, not for those of our own Python code.
fn rules_for(py: Python<'_>) -> Option<(PromotionScope, Called)> {
    has_promotion_rules().then(|| (promotion_rules_hold(!is_own_call(py)), enter_called(None)))
}

/// Whether the Python function that calls is one of Pullback's.
pub fn is_own_call(py: Python<'_>) -> bool {
    // SAFETY: we are attached; the frame is borrowed from the interpreter, and its code comes as a new reference.
    unsafe {
        let frame = ffi::PyEval_GetFrame();
        !frame.is_null() && {
            let code = Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame).cast());
            source_of(py, &code) == 0
        }
    }
}

/// Whether the caller of the Python function that calls is one of Pullback's.
pub fn is_called_by_own(py: Python<'_>) -> bool {
    // SAFETY: we are attached; the frame is borrowed from the interpreter, that before it and its code are new references.
    unsafe {
        let frame = ffi::PyEval_GetFrame();
        let before =
            if frame.is_null() { None } else { Bound::from_owned_ptr_or_opt(py, ffi::PyFrame_GetBack(frame).cast()) };
        before.is_some_and(|before: Bound<'_, PyAny>| {
            let code = Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(before.as_ptr().cast()).cast());
            source_of(py, &code) == 0
        })
    }
}

/// Where the debugging settings found a NaN or an infinity.
#[derive(Clone, Copy)]
pub enum Found {
    /// In a result of a jitted function.
    InOutput,
    /// In a cotangent.
    InBackwardPass,
}

/// As [`gate`], for calls whose numbers `debug_nans` and `debug_infs` look at: prints where one was found, in JAX's words,
/// before the exception that names the primitive.
///
/// # Errors
/// As [`gate`].
pub fn gate_of_numbers<T>(py: Python<'_>, found: Found, body: impl FnOnce() -> Result<T>) -> PyResult<T> {
    gate(py, || body().inspect_err(|error| announce(py, found, error)))
}

fn announce(py: Python<'_>, found: Found, error: &Error) {
    // Those of `checked` are told by their exceptions alone.
    let number = match error.message().split_once(") ").map(|(number, _)| number) {
        Some("invalid value (inf") => "inf",
        Some("invalid value (nan") => "nan",
        _ => return,
    };
    let (place, version) = match found {
        Found::InOutput => ("output", "version"),
        Found::InBackwardPass => ("backward pass", "backward pass"),
    };
    let text = format!(
        "Invalid {number} value encountered in the {place} of a jax.jit function. Calling the de-optimized {version}."
    );
    // The exception follows anyway, so a closed standard output hides nothing.
    let _ = py.import("builtins").and_then(|builtins| builtins.call_method1("print", (text,)));
}

thread_local! {
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics off the terminal: they surface as exceptions that say where they arose.
pub fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PANIC_PLACE.set(place);
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            before(info);
        }
    }));
}

/// Panics inside the gate, so that a test can see what users would.
#[pyfunction]
pub fn _panic(py: Python<'_>, text: &str) -> PyResult<()> {
    gate(py, || panic!("{text}"))
}

fn panic_error(panic: &(dyn Any + Send)) -> Error {
    if let Some(error) = panic.downcast_ref::<Error>() {
        return error.clone();
    }
    let text = (panic.downcast_ref::<String>().map(String::as_str))
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    let place = PANIC_PLACE.take();
    Error::internal(format!(
        "internal error of Pullback: {text} (at {place}). Please report it with the program that shows it; \
         RUST_BACKTRACE=1 prints where it comes from."
    ))
}

/// A code object as a source of lines.
struct Code(Py<PyAny>);

impl Source for Code {
    fn place(&self, offset: u32) -> Place {
        Python::attach(|py| {
            let code = self.0.bind(py);
            // SAFETY: the object is a code object, as only `source_of` makes this struct.
            let line = unsafe { ffi::PyCode_Addr2Line(code.as_ptr().cast(), offset as i32) };
            let text = |name| code.getattr(name).map(|text| text.to_string()).unwrap_or_default();
            Place { file: text("co_filename"), line: line.max(0) as u32, function: text("co_qualname") }
        })
    }
}

/// Number of the source of a code object; 0 for code of Pullback itself. Code objects in the table are never freed.
fn source_of(py: Python<'_>, code: &Bound<'_, PyAny>) -> u32 {
    static KNOWN: Mutex<Option<FxHashMap<usize, u32>>> = Mutex::new(None);
    let key = code.as_ptr() as usize;
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = lock().as_ref().and_then(|table| table.get(&key)) {
        return known;
    }
    let keeper = code.clone().unbind();
    let number = if is_own_code(code) {
        std::mem::forget(keeper);
        0
    } else {
        Span::register(Arc::new(Code(keeper)))
    };
    let _ = py;
    lock().get_or_insert_default().insert(key, number);
    number
}

fn is_own_code(code: &Bound<'_, PyAny>) -> bool {
    static ROOT: PyOnceLock<String> = PyOnceLock::new();
    let py = code.py();
    let root = ROOT.get_or_init(py, || package_folder(py).unwrap_or_else(|_| "<no folder>".into()));
    let file = code.getattr("co_filename").map(|name| name.to_string()).unwrap_or_default();
    file.starts_with(root.as_str()) || file.starts_with("<frozen importlib")
}

fn package_folder(py: Python<'_>) -> PyResult<String> {
    let file: String = py.import("pullback")?.getattr("__file__")?.extract()?;
    Ok(file.trim_end_matches("__init__.py").to_string())
}

/// The line that the nearest frame of the user's program is at.
pub fn user_span(py: Python<'_>) -> Span {
    // SAFETY: we are attached; the frame is borrowed from the interpreter, and we take a reference of our own.
    let mut frame: Option<Bound<'_, PyAny>> =
        unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
    while let Some(current) = frame {
        let raw = current.as_ptr().cast::<ffi::PyFrameObject>();
        // SAFETY: `raw` is a live frame; the code object comes as a new reference.
        let (code, offset) =
            unsafe { (Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(raw).cast()), ffi::PyFrame_GetLasti(raw)) };
        let source = source_of(py, &code);
        if source != 0 {
            return Span::new(source, offset.max(0) as u32);
        }
        // SAFETY: as above; the frame before comes as a new reference or null.
        frame = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyFrame_GetBack(raw).cast()) };
    }
    Span::UNKNOWN
}
