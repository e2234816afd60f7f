//! The flag by which a user stops a running program.
//!
//! Loops of a program look at it, and so do kernels between their pieces ([`shared_pieces`]); the run then ends with an
//! error. Whoever raised the flag clears it.

use std::sync::atomic::{AtomicBool, Ordering};

use pullback_base::{Error, ErrorKind, Result};

use crate::parallel_for;

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

/// Runs `work` on each of `0..n_pieces`, on several threads where that is possible, and stops between pieces when the user
/// wants an end. A piece should take milliseconds: longer ones keep the user waiting.
///
/// # Errors
/// An interrupt, when pieces were left out.
pub fn shared_pieces(n_pieces: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    shared_pieces_with(n_pieces, || (), |(), piece| work(piece))
}

/// As [`shared_pieces`], with memory that pieces on one thread hand on.
///
/// # Errors
/// An interrupt, when pieces were left out.
pub fn shared_pieces_with<S>(
    n_pieces: usize,
    memory: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Result<()> {
    let was_stopped = AtomicBool::new(false);
    parallel_for(n_pieces, &|pieces| {
        let mut memory = memory();
        for piece in pieces {
            if is_raised() {
                return was_stopped.store(true, Ordering::Relaxed);
            }
            work(&mut memory, piece);
        }
    });
    // Not the flag itself, which somebody may have cleared since.
    if was_stopped.into_inner() { Err(interrupted()) } else { Ok(()) }
}

/// What a run that the user stopped ends with.
pub fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupt, "the computation was interrupted")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn pieces_stop_between_two() {
        let done = AtomicUsize::new(0);
        let count = |_: usize| {
            done.fetch_add(1, Ordering::Relaxed);
        };
        assert!(shared_pieces(100, &count).is_ok());
        assert_eq!(done.swap(0, Ordering::Relaxed), 100);
        let result = shared_pieces(100, &|piece| {
            count(piece);
            raise();
        });
        clear();
        assert_eq!(result.expect_err("it was stopped").kind(), ErrorKind::Interrupt);
        assert!(done.into_inner() < 100);
        // All was done when the flag was raised.
        assert!(shared_pieces(1, &|_| raise()).is_ok());
        clear();
    }
}
