//! The current emitter of a thread, and which traces are live.

use std::cell::RefCell;
use std::sync::Arc;

use crate::splitting::bind_split;
use pullback_base::array::check_memory;
use pullback_base::{Aval, Error, ErrorKind, Result};
use pullback_core::prims::{AxisNames, PVARY, Pvary};
use pullback_ir::{AxisName, Emit, EmitRef, Params, PrimRef, TraceId, Tracer, Val, Vals, varying_axes};

use crate::settings::{Setting, is_on};

thread_local! {
    static STACK: RefCell<Vec<EmitRef>> = const { RefCell::new(Vec::new()) };
}

/// The emitter that user calls on this thread go to; the evaluating one when nothing is being traced.
pub fn current() -> EmitRef {
    STACK.with_borrow(|stack| stack.last().cloned()).unwrap_or_else(pullback_backend::eval)
}

/// Runs `body` with `emit` current. Tracers of `emit` and of all emitters around it may be used meanwhile.
pub fn with_current<T>(emit: EmitRef, body: impl FnOnce() -> T) -> T {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            STACK.with_borrow_mut(Vec::pop);
        }
    }
    STACK.with_borrow_mut(|stack| stack.push(emit));
    let _pop = Pop;
    body()
}

/// Makes `emit` current until [`leave`]; for callers whose scopes are not closures.
pub fn enter(emit: EmitRef) {
    STACK.with_borrow_mut(|stack| stack.push(emit));
}

/// Ends the innermost [`enter`].
pub fn leave() {
    STACK.with_borrow_mut(Vec::pop);
}

/// Runs primitives on known values at once; those with a tracer among their operands go to the emitter around.
struct Eager {
    around: EmitRef,
}

impl Emit for Eager {
    fn id(&self) -> TraceId {
        TraceId::EVAL
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        match ins.iter().any(Val::is_tracer) {
            true => self.around.bind(prim, params, ins),
            false => pullback_backend::eval_bind(prim, params, ins),
        }
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.around)
    }
}

/// Operations on known values run at once until the matching [`leave`], whatever is being traced.
pub fn enter_evaluation() {
    enter(Arc::new(Eager { around: current() }));
}

/// Whether anything is being traced on this thread.
pub fn is_tracing() -> bool {
    STACK.with_borrow(|stack| stack.last().is_some_and(|emit| emit.id() != TraceId::EVAL))
}

/// Whether operations on known values run now: nothing is traced, or what is traced transforms values that are known.
pub fn is_evaluating() -> bool {
    let is_at_root = |emit: &EmitRef| {
        let mut emit: &dyn Emit = &**emit;
        while let Some(parent) = emit.parent() {
            emit = parent;
        }
        emit.id() == TraceId::EVAL
    };
    STACK.with_borrow(|stack| stack.last().is_none_or(is_at_root))
}

/// Whether tracers of a trace may be used on this thread now.
pub fn is_live(trace: TraceId) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|emit| is_in_chain(&**emit, trace)))
}

fn is_in_chain(emit: &dyn Emit, trace: TraceId) -> bool {
    emit.id() == trace || emit.parent().is_some_and(|parent| is_in_chain(parent, trace))
}

fn check_live(vals: &[Val]) -> Result<()> {
    for val in vals {
        if let Val::Tracer(tracer) = val
            && !is_live(tracer.trace)
        {
            return Err(leaked(tracer));
        }
    }
    Ok(())
}

/// Inputs of its trace, by position, that a tracer of a live builder was computed from; none when unknown.
pub fn inputs_of(tracer: &Tracer) -> Vec<usize> {
    let emit = STACK.with_borrow(|stack| stack.iter().find(|emit| emit.id() == tracer.trace).cloned());
    emit.map_or_else(Vec::new, |emit| emit.inputs_of(tracer))
}

/// What a front end can say of a tracer whose trace is over: the name of its class, and where it was made.
pub type DescribeLeak = fn(&Tracer) -> (&'static str, Option<String>);

static DESCRIBE_LEAK: std::sync::OnceLock<DescribeLeak> = std::sync::OnceLock::new();

/// Lets a front end add to the errors about leaked tracers. The first one stays.
pub fn set_describe_leak(describe: DescribeLeak) {
    let _ = DESCRIBE_LEAK.set(describe);
}

/// The error of a tracer that is used after its trace, or on a thread that does not run it.
fn leaked(tracer: &Tracer) -> Error {
    let Some((class, place)) = DESCRIBE_LEAK.get().map(|describe| describe(tracer)) else {
        let text = format!(
            "an array of type {} stands for a value inside of a function that is being transformed, and was used outside of \
             it. Return it from the function instead of storing it elsewhere.",
            tracer.aval.weak(false).long()
        );
        return Error::new(ErrorKind::UnexpectedTracer, text);
    };
    let place = place.map_or_else(String::new, |text| text + "\n");
    let text = format!(
        "Encountered an unexpected tracer. A function transformed by JAX had a side effect, allowing for a reference to an \
         intermediate value with type {} wrapped in a {class} to escape the scope of the transformation.\n\
         JAX transformations require that functions explicitly return their outputs, and disallow saving intermediate \
         values to global state.\n{place}Return the value from the transformed function instead. To catch the leak earlier, \
         try setting the environment variable JAX_CHECK_TRACER_LEAKS or using the `jax.checking_leaks` context manager.",
        tracer.aval.weak(false).long()
    );
    Error::new(ErrorKind::UnexpectedTracer, text)
}

/// Looks, at the end of a trace, for tracers of it that someone still holds.
pub type FindLeaks = fn(TraceId) -> Result<()>;

static FIND_LEAKS: std::sync::OnceLock<FindLeaks> = std::sync::OnceLock::new();

/// Lets a front end look for leaks when the setting asks for it. The first one stays.
pub fn set_find_leaks(find: FindLeaks) {
    let _ = FIND_LEAKS.set(find);
}

/// To be called where a trace has ended, and what the function gave is in the hands of Rust alone; [`trace_to_jaxpr`]
/// leaves it to its caller, who first learns the lines of the jaxpr.
///
/// # Errors
/// What the front end finds.
///
/// [`trace_to_jaxpr`]: crate::trace_to_jaxpr
pub fn find_leaks(trace: TraceId) -> Result<()> {
    match FIND_LEAKS.get() {
        Some(find) if is_on(Setting::CheckLeaks) => find(trace),
        _ => Ok(()),
    }
}

/// The error of a function that returned a tracer whose trace is over.
pub(crate) fn check_returned(out: &Val) -> Result<()> {
    match out {
        Val::Tracer(tracer) if !is_live(tracer.trace) => Err(leaked(tracer)),
        _ => Ok(()),
    }
}

/// Performs a primitive on the current emitter.
///
/// # Errors
/// What the primitive raises; `UnexpectedTracer` for a tracer that outlived its trace.
pub fn bind(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    check_memory()?;
    check_live(ins)?;
    if let Some(ins) = alike(prim, params, ins)? {
        return bind_split(prim, params, &ins);
    }
    bind_split(prim, params, ins)
}

/// Operands of an operation on values of which some differ along more axes of devices than others: all are taken to
/// differ along the same. `None` when they do, or when the primitive holds jaxprs, which say what they take.
fn alike(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Option<Vec<Val>>> {
    if ins.len() < 2 || ins.iter().all(|val| val.aval().vma.is_empty()) || !params.jaxprs().is_empty() {
        return Ok(None);
    }
    let avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
    let all = varying_axes(&avals);
    let is_alike = |val: &Val| matches!(val, Val::Literal(_)) || val.aval().vma == all;
    if ins.iter().all(is_alike) || prim == PVARY {
        return Ok(None);
    }
    // Known scalars are constants of the operation.
    let is_constant = |val: &Val| !val.is_tracer() && val.aval().rank() == 0;
    if is_on(Setting::ExplicitVarying) && !ins.iter().all(|val| is_alike(val) || is_constant(val)) {
        return Err(not_alike(prim, &avals));
    }
    let widen = |val: &Val| if is_alike(val) { Ok(val.clone()) } else { vary(val, &all) };
    ins.iter().map(widen).collect::<Result<_>>().map(Some)
}

fn not_alike(prim: PrimRef, avals: &[Aval]) -> Error {
    let names = |aval: &Aval| {
        let names: Vec<String> = aval.vma.iter().map(|name| format!("'{name}'")).collect();
        if names.is_empty() { "frozenset()".into() } else { format!("frozenset({{{}}})", names.join(", ")) }
    };
    let got: Vec<String> = avals.iter().map(names).collect();
    Error::value_error(format!(
        "Primitive {} requires varying manual axes to match, but got [{}]. Make the operands alike with \
         jax.lax.pcast(..., to='varying'), or pass the check_vma=False argument to `jax.shard_map`",
        prim.name(),
        got.join(", ")
    ))
}

/// The value, taken to differ along axes of devices.
///
/// # Errors
/// What the emitter raises.
pub fn vary(val: &Val, axes: &[AxisName]) -> Result<Val> {
    let aval = val.aval();
    let new: Vec<AxisName> = axes.iter().filter(|name| !aval.vma.contains(name)).cloned().collect();
    if new.is_empty() {
        return Ok(val.clone());
    }
    let params = Params::new(Pvary { axes: AxisNames(new) });
    Ok(bind_on_current(PVARY, &params, std::slice::from_ref(val))?.swap_remove(0))
}

pub(crate) fn bind_on_current(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    STACK
        .with_borrow(|stack| stack.last().map(Arc::clone))
        .map_or_else(|| pullback_backend::eval_bind(prim, params, ins), |emit| emit.bind(prim, params, ins))
}

/// Performs a primitive with one result on the current emitter.
///
/// # Errors
/// As [`bind`].
pub fn bind_one(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Val> {
    Ok(bind(prim, params, ins)?.swap_remove(0))
}

/// What a warning is about, from which a front end takes its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Anything else.
    User,
    /// What will be an error some day.
    Deprecation,
    /// Imaginary parts that are lost.
    Complex,
}

/// Shows a warning to the user; an error when the user wants warnings to be errors.
pub type Warn = fn(Warning, &str) -> Result<()>;

static WARN: std::sync::OnceLock<Warn> = std::sync::OnceLock::new();

/// Lets a front end show warnings. The first one stays.
pub fn set_warn(warn: Warn) {
    let _ = WARN.set(warn);
}

/// Answers a warning: an error in its place, or whether it is to be shown.
pub type AnswerWarning = fn(&str) -> Result<bool>;

static ANSWER: std::sync::OnceLock<AnswerWarning> = std::sync::OnceLock::new();

/// Lets `answer` decide what becomes of warnings while mistakes are looked for ([`Setting::Checked`]). The first one stays.
pub fn answer_warnings(answer: AnswerWarning) {
    let _ = ANSWER.set(answer);
}

/// Warns the user.
///
/// # Errors
/// When the front end makes an error of warnings, or [`answer_warnings`] of this one.
pub fn warn(text: &str) -> Result<()> {
    warn_as(Warning::User, text)
}

/// Warns the user, and says what of.
///
/// # Errors
/// As [`warn`].
pub fn warn_as(kind: Warning, text: &str) -> Result<()> {
    match ANSWER.get().filter(|_| is_on(Setting::Checked)) {
        Some(answer) if !answer(text)? => Ok(()),
        _ => WARN.get().map_or(Ok(()), |warn| warn(kind, text)),
    }
}
