//! What is left of the stack: whatever walks containers of Python asks before it goes deeper, since a container may be
//! inside itself, and the end of the stack is the end of the process.

use std::cell::Cell;

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

thread_local! {
    /// The address below which nothing goes deeper; 0 before the first question.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that are left to code of Python and to what does not ask.
const RESERVE: usize = 512 << 10;

/// An error when the stack of this thread is nearly used up.
///
/// # Errors
/// `RecursionError`, which says what was being done.
#[inline]
pub fn check(doing: &str) -> PyResult<()> {
    let mark = 0_u8;
    let here = std::ptr::from_ref(&mark) as usize;
    let limit = LIMIT.get();
    if limit != 0 && here > limit { Ok(()) } else { check_slowly(here, doing) }
}

#[cold]
#[inline(never)]
fn check_slowly(here: usize, doing: &str) -> PyResult<()> {
    if LIMIT.get() == 0 {
        LIMIT.set(limit(here));
    }
    if here > LIMIT.get() {
        return Ok(());
    }
    let text = format!(
        "maximum recursion depth exceeded while {doing}: containers are nested too deeply, or one is inside itself"
    );
    Err(PyRecursionError::new_err(text))
}

fn limit(here: usize) -> usize {
    match bounds() {
        Some((lowest, size)) => lowest + RESERVE.min(size / 4),
        // Of an unknown stack as much is used as every platform gives.
        None => here.saturating_sub(256 << 10).max(1),
    }
}

/// The lowest address of this thread's stack, and its size.
#[cfg(target_os = "linux")]
fn bounds() -> Option<(usize, usize)> {
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the first call fills the attributes when it gives 0; they are read and given back only then.
    let found = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let read = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            read
        }
    };
    found.then_some((lowest as usize, size))
}

#[cfg(not(target_os = "linux"))]
fn bounds() -> Option<(usize, usize)> {
    None
}
