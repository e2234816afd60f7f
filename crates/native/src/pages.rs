//! Pages of memory that the machine may run: written once, and no longer writable then.
//!
//! WebAssembly has none: code there is no data, and programs are interpreted.

use pullback_base::Result;

#[cfg(not(target_family = "wasm"))]
mod system {
    use pullback_base::{Error, Result};
    use region::{Allocation, Protection};

    pub(crate) struct Pages(Allocation);

    impl Pages {
        pub(super) fn new(bytes: &[u8]) -> Result<Pages> {
            let failed = |error: region::Error| Error::internal(format!("code generation: memory for code: {error}"));
            let mut memory = region::alloc(bytes.len().max(1), Protection::READ_WRITE).map_err(failed)?;
            // SAFETY: the memory is fresh, writable, and at least as long.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.as_mut_ptr::<u8>(), bytes.len()) };
            // SAFETY: the range is the allocation itself, and nothing else refers to it.
            unsafe { region::protect(memory.as_ptr::<u8>(), memory.len(), Protection::READ_EXECUTE) }
                .map_err(failed)?;
            Ok(Pages(memory))
        }

        pub(crate) fn start(&self) -> *const u8 {
            self.0.as_ptr()
        }
    }

    // SAFETY: the memory is not written any more; it is only kept to be run, read and freed.
    unsafe impl Send for Pages {}
    // SAFETY: as above.
    unsafe impl Sync for Pages {}
}

#[cfg(target_family = "wasm")]
mod system {
    use pullback_base::{Error, Result};

    pub(crate) enum Pages {}

    impl Pages {
        pub(super) fn new(_: &[u8]) -> Result<Pages> {
            Err(Error::not_implemented(
                "WebAssembly cannot run machine code that was made or loaded; functions are interpreted",
            ))
        }

        pub(crate) fn start(&self) -> *const u8 {
            match *self {}
        }
    }
}

pub(crate) use system::Pages;

impl Pages {
    /// Pages that hold these bytes, ready to run.
    pub(crate) fn holding(bytes: &[u8]) -> Result<Pages> {
        Pages::new(bytes)
    }
}
