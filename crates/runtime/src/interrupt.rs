//! The flag by which a user stops a running program.
//!
//! Loops of a program look at it; the run then ends with an error. Whoever raised the flag clears it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether running programs should stop.
pub static FLAG: AtomicBool = AtomicBool::new(false);

/// Asks running programs to stop.
pub fn raise() {
    FLAG.store(true, Ordering::Relaxed);
}

/// Lets programs run again.
pub fn clear() {
    FLAG.store(false, Ordering::Relaxed);
}

/// Whether running programs should stop.
pub fn is_raised() -> bool {
    FLAG.load(Ordering::Relaxed)
}
