//! Long work without the interpreter's lock, and Ctrl-C while it runs.
//!
//! The interpreter notes a signal and tells Python code at its next instruction; native code has none. So while long work
//! runs on the main thread, a handler of ours stands in front of the interpreter's: it raises the flag that loops of
//! programs look at, and passes the signal on. When the work has ended the interpreter says what the signal means.

use std::ffi::{c_int, c_ulong};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pullback_base::Result;
use pullback_runtime::interrupt;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::Carry;

const SIGINT: c_int = 2;
/// Handlers that are no functions: default, ignore, error.
const NO_HANDLERS: [usize; 3] = [0, 1, usize::MAX];

// As the interpreter declares them, but with addresses: some handlers are no functions.
unsafe extern "C" {
    fn PyOS_getsig(signal: c_int) -> usize;
    fn PyOS_setsig(signal: c_int, handler: usize) -> usize;
}

/// The handler in front of which ours stands; 0 while ours is not installed.
static BEHIND: AtomicUsize = AtomicUsize::new(0);
/// The main thread's number.
static MAIN: AtomicU64 = AtomicU64::new(0);

/// Registers the interpreter with the runtime.
pub fn install(py: Python<'_>) -> PyResult<()> {
    let main: c_ulong = py.import("threading")?.call_method0("main_thread")?.getattr("ident")?.extract()?;
    MAIN.store(main, Ordering::Relaxed);
    pullback_runtime::set_detach(detach);
    pullback_runtime::set_unlock(unlock);
    Ok(())
}

fn unlock(work: &mut (dyn FnMut() + Send)) {
    // SAFETY: may be called by any thread at any time.
    if unsafe { ffi::PyGILState_Check() } == 0 {
        work();
    } else {
        Python::attach(|py| py.detach(work));
    }
}

fn detach(work: &mut (dyn FnMut() + Send)) -> Result<()> {
    // SAFETY: may be called by any thread at any time.
    if unsafe { ffi::PyGILState_Check() } == 0 {
        // The caller let go of the lock already, or belongs to nobody's interpreter.
        work();
        return Ok(());
    }
    Python::attach(|py| {
        // SAFETY: as above.
        let is_main = unsafe { ffi::PyThread_get_thread_ident() } == MAIN.load(Ordering::Relaxed) as c_ulong;
        if !is_main {
            py.detach(work);
            wait_for_main();
            return Ok(());
        }
        let listening = Listening::start();
        // A signal that came just before ours was installed would have gone unseen.
        let mut result = py.check_signals().carry(py);
        if result.is_ok() {
            py.detach(work);
            result = py.check_signals().carry(py);
        }
        drop(listening);
        interrupt::clear();
        result
    })
}

/// Lets the main thread clear the flag, which was not meant for this thread; work that it stopped then starts again.
fn wait_for_main() {
    let start = Instant::now();
    while interrupt::is_raised() && start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Our handler is installed while it lives.
struct Listening {
    is_outermost: bool,
}

impl Listening {
    fn start() -> Listening {
        if BEHIND.load(Ordering::Relaxed) != 0 {
            return Listening { is_outermost: false };
        }
        // SAFETY: asks only.
        let behind = unsafe { PyOS_getsig(SIGINT) };
        let is_outermost = !NO_HANDLERS.contains(&behind);
        if is_outermost {
            // Before ours is installed: it passes on the very first signal.
            BEHIND.store(behind, Ordering::Relaxed);
            // SAFETY: the handler has the type that the system calls and does only what a handler may. A signal that
            // ends the process needs no help, nor one that is ignored: there ours is not installed.
            unsafe { PyOS_setsig(SIGINT, on_interrupt as *const () as usize) };
        }
        Listening { is_outermost }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.is_outermost {
            // SAFETY: what was there before.
            unsafe { PyOS_setsig(SIGINT, BEHIND.load(Ordering::Relaxed)) };
            BEHIND.store(0, Ordering::Relaxed);
        }
    }
}

/// Runs inside the signal: touches atomics only, then passes the signal on.
extern "C" fn on_interrupt(signal: c_int) {
    interrupt::raise();
    let behind = BEHIND.load(Ordering::Relaxed);
    if !NO_HANDLERS.contains(&behind) {
        // SAFETY: the address of the handler that was installed before ours, which the system would have called.
        let behind = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(behind) };
        behind(signal);
    }
}
