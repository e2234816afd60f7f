//! The current emitter of a thread, and which traces are live.

use std::cell::RefCell;
use std::sync::Arc;

use pullback_base::{Error, ErrorKind, Result};
use pullback_ir::{Emit, EmitRef, Params, PrimRef, TraceId, Tracer, Val, Vals};

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

/// Whether anything is being traced on this thread.
pub fn is_tracing() -> bool {
    STACK.with_borrow(|stack| stack.last().is_some_and(|emit| emit.id() != TraceId::EVAL))
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

/// What a front end can say of a tracer whose trace is over: where it was made.
pub type DescribeLeak = fn(&Tracer) -> Option<String>;

static DESCRIBE_LEAK: std::sync::OnceLock<DescribeLeak> = std::sync::OnceLock::new();

/// Lets a front end add to the errors about leaked tracers. The first one stays.
pub fn set_describe_leak(describe: DescribeLeak) {
    let _ = DESCRIBE_LEAK.set(describe);
}

/// The error of a tracer that is used after its trace, or on a thread that does not run it.
fn leaked(tracer: &Tracer) -> Error {
    let place = DESCRIBE_LEAK.get().and_then(|describe| describe(tracer)).map_or_else(String::new, |text| text + "\n");
    let text = format!(
        "Encountered an unexpected tracer. A function transformed by JAX had a side effect, allowing for a reference to an \
         intermediate value with type {} wrapped in a DynamicJaxprTracer to escape the scope of the transformation.\n\
         JAX transformations require that functions explicitly return their outputs, and disallow saving intermediate \
         values to global state.\n{place}Return the value from the transformed function instead. To catch the leak earlier, \
         try setting the environment variable JAX_CHECK_TRACER_LEAKS or using the `jax.checking_leaks` context manager.",
        tracer.aval.long()
    );
    Error::new(ErrorKind::UnexpectedTracer, text)
}

/// Performs a primitive on the current emitter.
///
/// # Errors
/// What the primitive raises; `UnexpectedTracer` for a tracer that outlived its trace.
pub fn bind(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    check_live(ins)?;
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
