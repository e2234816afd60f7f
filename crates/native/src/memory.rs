//! Memory for code: written first, then executable and no longer writable.

use pullback_base::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::host;
use crate::pages::Pages;

/// What code refers to outside of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Symbol {
    /// [`host::call_kernel`].
    CallKernel,
    /// [`host::share`].
    Share,
    /// [`host::rem_f32`].
    RemF32,
    /// [`host::rem_f64`].
    RemF64,
    /// The byte that is not zero when the user asked for an end.
    InterruptFlag,
}

impl Symbol {
    /// Where it is in this process.
    pub fn address(self) -> u64 {
        let address = match self {
            Symbol::CallKernel => host::call_kernel as *const u8 as usize,
            Symbol::Share => host::share as *const u8 as usize,
            Symbol::RemF32 => host::rem_f32 as *const u8 as usize,
            Symbol::RemF64 => host::rem_f64 as *const u8 as usize,
            Symbol::InterruptFlag => std::ptr::from_ref(&pullback_runtime::interrupt::FLAG).addr(),
        };
        address as u64
    }
}

/// Eight bytes of code that are the address of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Relocation {
    /// The first of them.
    pub at: u32,
    /// What they are the address of.
    pub symbol: Symbol,
}

/// Machine code. Dropping it frees the memory.
pub struct CodeMemory {
    memory: Pages,
    n_bytes: usize,
    relocations: Vec<Relocation>,
}

impl CodeMemory {
    /// Memory with these bytes and the addresses of what they refer to, ready to run.
    ///
    /// # Errors
    /// `Internal` where the system gives no such memory, or a relocation lies outside of the bytes; `NotImplemented` where
    /// there is no machine code.
    pub fn new(bytes: &[u8], relocations: Vec<Relocation>) -> Result<CodeMemory> {
        let mut linked = bytes.to_vec();
        for &Relocation { at, symbol } in &relocations {
            let place = linked.get_mut(at as usize..at as usize + 8);
            let place = place.ok_or_else(|| Error::internal("code generation: a relocation outside of the code"))?;
            place.copy_from_slice(&symbol.address().to_le_bytes());
        }
        Ok(CodeMemory { memory: Pages::holding(&linked)?, n_bytes: linked.len(), relocations })
    }

    /// How many bytes of code there are.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// The first byte.
    pub fn start(&self) -> *const u8 {
        self.memory.start()
    }

    /// The code as it is in any process: without the addresses.
    pub(crate) fn unlinked(&self) -> (Vec<u8>, &[Relocation]) {
        // SAFETY: the memory holds so many bytes, which nobody writes any more.
        let mut bytes = unsafe { std::slice::from_raw_parts(self.start(), self.n_bytes) }.to_vec();
        self.relocations.iter().for_each(|one| bytes[one.at as usize..one.at as usize + 8].fill(0));
        (bytes, &self.relocations)
    }
}
