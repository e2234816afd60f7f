//! Compiling on another thread what takes long, so that the user's interrupt need not wait for its end.
//!
//! A compilation cannot be stopped in the middle; it is left behind, and its result is dropped.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pullback_base::{Error, ErrorKind, Result, Span};
use pullback_ir::JaxprRef;
use pullback_runtime::interrupt;

/// Equations from which a thread of its own costs nothing that shows.
const MANY_EQUATIONS: usize = 256;
/// How long an interrupt may wait.
const PATIENCE: Duration = Duration::from_millis(20);
/// Passes recurse into nested jaxprs; deep ones must not end the process.
const STACK_BYTES: usize = 256 << 20;

/// Compiles by `compile`; large jaxprs on a thread of their own, which an interrupt leaves behind.
pub(crate) fn compile<T: Send + 'static>(
    jaxpr: &JaxprRef,
    donated: &[bool],
    compile: fn(&JaxprRef, &[bool]) -> Result<T>,
) -> Result<T> {
    if jaxpr.n_eqns_deep() < MANY_EQUATIONS {
        return compile(jaxpr, donated);
    }
    let (sender, receiver) = channel();
    let (owned, given, span) = (jaxpr.clone(), donated.to_vec(), Span::current());
    let work = move || span.scope(|| sender.send(compile(&owned, &given)));
    let thread = std::thread::Builder::new().name("pullback-compile".into()).stack_size(STACK_BYTES);
    let Ok(thread) = thread.spawn(work) else { return compile(jaxpr, donated) };
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if interrupt::is_raised() => {
                return Err(Error::new(ErrorKind::Interrupt, "the compilation was interrupted"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(_) => return Err(Error::internal("the compiler gave nothing")),
            },
        }
    }
}
