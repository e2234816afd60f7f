//! Something that the plugin will have done.

use std::ffi::c_void;

use pullback_base::Result;

use crate::abi::{Bool, OnReady, Ptr, slot};
use crate::api::Plugin;

/// The end of some work on a device.
pub struct Event {
    plugin: Plugin,
    raw: Ptr,
}

// SAFETY: events may be asked and awaited from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// What is dropped when an event has happened.
type Kept = Box<dyn Send>;

extern "C" fn release(error: Ptr, kept: Ptr) {
    // SAFETY: `keep_until_ready` made the address of a box, which comes here once.
    let keeper = unsafe { Box::from_raw(kept.cast::<Keeper>()) };
    let _ = keeper.plugin.check(error);
}

/// What a callback is given.
struct Keeper {
    plugin: Plugin,
    _kept: Kept,
}

impl Event {
    /// The event at an address; `None` for null, which is work that is done.
    pub(crate) fn new(plugin: &Plugin, raw: Ptr) -> Option<Event> {
        (!raw.is_null()).then(|| Event { plugin: plugin.clone(), raw })
    }

    /// Blocks until the work is done.
    ///
    /// # Errors
    /// When the work failed.
    pub fn wait(&self) -> Result<()> {
        self.plugin.one(slot::EVENT_AWAIT, self.raw).map(|_| ())
    }

    /// Whether the work is done.
    pub fn is_ready(&self) -> bool {
        let mut args = Bool { object: self.raw, ..Bool::default() };
        // What cannot be asked is found out by waiting.
        self.plugin.call(slot::EVENT_IS_READY, &mut args).is_err() || args.out
    }

    /// Keeps something alive until the work is done.
    ///
    /// # Errors
    /// When the plugin cannot say when that is.
    pub(crate) fn keep_until_ready(&self, kept: Kept) -> Result<()> {
        let keeper = Box::into_raw(Box::new(Keeper { plugin: self.plugin.clone(), _kept: kept }));
        let mut args = OnReady {
            event: self.raw,
            callback: Some(release),
            argument: keeper.cast::<c_void>(),
            ..OnReady::default()
        };
        // After a failure the plugin may still read what was kept: it is leaked rather than freed too early.
        self.plugin.call(slot::EVENT_ON_READY, &mut args)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.plugin.free(slot::EVENT_FREE, self.raw);
    }
}
