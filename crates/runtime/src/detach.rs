//! Long work, during which a front end lets its other threads run and listens to its user.
//!
//! A front end with a global lock registers how it lets go of it ([`set_detach`]); the rest of the engine wraps what may
//! take long in [`detached`]. Short work is not wrapped: letting go and coming back costs more than it.

use std::sync::OnceLock;

use pullback_base::{ErrorKind, Result};

/// Runs the work without the front end's lock, then says whether its user wants to go on. While the work runs, the front
/// end raises the [interrupt flag](crate::interrupt) when its user asks for an end.
pub type Detach = fn(&mut (dyn FnMut() + Send)) -> Result<()>;

static DETACH: OnceLock<Detach> = OnceLock::new();

/// Registers the front end. The first one stays.
pub fn set_detach(detach: Detach) {
    let _ = DETACH.set(detach);
}

/// Whether work that was stopped may start again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// It has effects: running it twice shows.
    No,
    /// Nothing shows that it was stopped.
    Yes,
}

/// Runs `work` while the front end lets others run. Work that the flag stopped, though the user of this thread wants to
/// go on (the signal was handled, or was meant for another thread), starts again where it may.
///
/// # Errors
/// What `work` gives; what the front end raises for its user's interrupt.
pub fn detached<T: Send>(restart: Restart, mut work: impl FnMut() -> Result<T> + Send) -> Result<T> {
    let Some(detach) = DETACH.get() else { return work() };
    loop {
        let mut result = None;
        detach(&mut || result = Some(work()))?;
        let result = result.expect("the front end runs the work");
        match &result {
            Err(error) if error.kind() == ErrorKind::Interrupt && restart == Restart::Yes => {}
            _ => return result,
        }
    }
}

/// Runs the work without the front end's lock, and without listening to its user.
pub type Unlock = fn(&mut (dyn FnMut() + Send));

static UNLOCK: OnceLock<Unlock> = OnceLock::new();

/// Registers how the front end lets go of its lock. The first one stays.
pub fn set_unlock(unlock: Unlock) {
    let _ = UNLOCK.set(unlock);
}

/// Runs `work` while the front end lets others run: as [`detached`], for work that no flag can stop. It costs less, as
/// nothing listens.
pub fn unlocked<T: Send>(mut work: impl FnMut() -> T + Send) -> T {
    let Some(unlock) = UNLOCK.get() else { return work() };
    let mut result = None;
    unlock(&mut || result = Some(work()));
    result.expect("the front end runs the work")
}
