//! Memory for code: written first, then executable and no longer writable.

use pullback_base::{Error, Result};
use region::{Allocation, Protection};

/// Machine code. Dropping it frees the memory.
pub(crate) struct CodeMemory(Allocation);

impl CodeMemory {
    /// Memory with these bytes, ready to run.
    pub(crate) fn new(bytes: &[u8]) -> Result<CodeMemory> {
        let failed = |error: region::Error| Error::internal(format!("code generation: memory for code: {error}"));
        let mut memory = region::alloc(bytes.len().max(1), Protection::READ_WRITE).map_err(failed)?;
        // SAFETY: the memory is fresh, writable, and at least as long.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.as_mut_ptr::<u8>(), bytes.len()) };
        // SAFETY: the range is the allocation itself, and nothing else refers to it.
        unsafe { region::protect(memory.as_ptr::<u8>(), memory.len(), Protection::READ_EXECUTE) }.map_err(failed)?;
        Ok(CodeMemory(memory))
    }

    /// Bytes of its pages.
    pub(crate) fn size_bytes(&self) -> usize {
        self.0.len()
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation is that long, readable, and never written after it was made.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *const u8 {
        self.0.as_ptr()
    }
}
