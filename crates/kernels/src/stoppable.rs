//! Work of a library that cannot be stopped in the middle, on a thread that an interrupt leaves behind.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pullback_base::{Error, Result};
use pullback_runtime::{FlushSubnormals, interrupt};

/// How long an interrupt may wait.
const PATIENCE: Duration = Duration::from_millis(20);

/// What `work` gives; on a thread of its own if it is long. It owns what it works on: it may go on when nobody waits any
/// more.
///
/// # Errors
/// An interrupt.
pub(crate) fn stoppable<R: Send + 'static>(is_long: bool, work: impl FnOnce() -> R + Send + 'static) -> Result<R> {
    // WebAssembly has no threads, and nobody who interrupts.
    if !is_long || cfg!(target_family = "wasm") {
        return Ok(work());
    }
    let (sender, receiver) = channel();
    let flushing = move || {
        let _mode = FlushSubnormals::new();
        // Nobody listens any more when the user stopped the program.
        let _ = sender.send(work());
    };
    let thread = std::thread::Builder::new().name("pullback-kernel".into());
    let Ok(thread) = thread.spawn(flushing) else {
        return Err(Error::internal("no thread could be started for a long kernel"));
    };
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) if interrupt::is_raised() => return Err(interrupt::interrupted()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(Error::internal("a kernel gave nothing")),
            },
        }
    }
}
