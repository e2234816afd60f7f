//! Memory of arrays: counted, immutable once frozen, 64-byte aligned when it is our own.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::pool;
use crate::error::{Error, ErrorKind, Result};

/// Who frees the memory.
enum Owner {
    Pool {
        capacity: usize,
    },
    /// Some object that keeps the memory alive and unchanged while it lives.
    Foreign(#[allow(dead_code, reason = "held only to keep the memory alive")] Box<dyn Any + Send + Sync>),
}

struct Memory {
    start: *mut u8,
    size_bytes: usize,
    owner: Owner,
}

// SAFETY: the memory is reached for writing only through `BufferMut`, which is the sole owner; after freezing it is
// only read.
unsafe impl Send for Memory {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Owner::Pool { capacity } = self.owner {
            pool::release(self.start, capacity);
        }
    }
}

/// The error of memory that cannot be had.
#[cold]
pub(crate) fn out_of_memory(size_bytes: usize) -> Error {
    let mut text = format!("RESOURCE_EXHAUSTED: Out of memory allocating {size_bytes} bytes{}.", in_words(size_bytes));
    if let Some(most) = pool::memory_limit() {
        let live = pool::pool_stats().live_bytes;
        text += &format!(" The limit is {most} bytes{}, of which {live} are in use.", in_words(most));
    }
    Error::new(ErrorKind::Memory, text)
}

/// A large number of bytes in a unit that people read: ` (4.0 MiB)`.
fn in_words(size_bytes: usize) -> String {
    let (mut size, mut unit) = (size_bytes as f64, "");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    if unit.is_empty() { String::new() } else { format!(" ({size:.1} {unit})") }
}

/// A vector of equal elements, for work beside arrays.
///
/// # Errors
/// `Memory` when the system has none for so many.
pub fn scratch<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(n).map_err(|_| out_of_memory(n.saturating_mul(size_of::<T>())))?;
    memory.resize(n, value);
    Ok(memory)
}

/// Refuses work that makes so many objects beside arrays that no memory holds them, before it begins.
///
/// # Errors
/// `Memory` when the system has none for `n` objects of `each` bytes.
pub fn check_room(n: usize, each: usize) -> Result<()> {
    scratch::<u8>(0, 0)?.try_reserve_exact(n.saturating_mul(each)).map_err(|_| out_of_memory(n.saturating_mul(each)))
}

/// Immutable shared memory.
#[derive(Clone)]
pub struct Buffer(Arc<Memory>);

/// Memory with one owner, still being written.
pub struct BufferMut(Arc<Memory>);

impl Buffer {
    /// Fresh memory of at least `size_bytes` bytes, 64-byte aligned, with unspecified but initialized contents.
    ///
    /// # Errors
    /// `Memory` when the system has no such block.
    pub fn allocate(size_bytes: usize) -> Result<BufferMut> {
        let Some((start, capacity)) = pool::acquire(size_bytes) else { return Err(out_of_memory(size_bytes)) };
        Ok(BufferMut(Arc::new(Memory { start, size_bytes, owner: Owner::Pool { capacity } })))
    }

    /// Memory of another owner, which `keeper` keeps alive.
    ///
    /// # Safety
    /// `start` must be readable for `size_bytes` bytes, and nobody may write there, while `keeper` lives.
    pub unsafe fn foreign(start: *const u8, size_bytes: usize, keeper: Box<dyn Any + Send + Sync>) -> Buffer {
        Buffer(Arc::new(Memory { start: start.cast_mut(), size_bytes, owner: Owner::Foreign(keeper) }))
    }

    /// Bytes that can be read.
    pub fn size_bytes(&self) -> usize {
        self.0.size_bytes
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is initialized, lives as long as `self`, and is never written while shared.
        unsafe { std::slice::from_raw_parts(self.0.start, self.0.size_bytes) }
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.start
    }

    /// Whether this handle is not the only one, or the memory is not our own.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1 || matches!(self.0.owner, Owner::Foreign(_))
    }

    /// The memory for writing, if nobody else can see it and it is our own.
    pub(super) fn try_into_mut(self) -> Result<BufferMut, Buffer> {
        let is_own = matches!(self.0.owner, Owner::Pool { .. });
        if is_own && Arc::strong_count(&self.0) == 1 { Ok(BufferMut(self.0)) } else { Err(self) }
    }
}

impl BufferMut {
    /// Bytes that can be written.
    pub fn size_bytes(&self) -> usize {
        self.0.size_bytes
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: a `BufferMut` is the only handle to its memory, which is initialized.
        unsafe { std::slice::from_raw_parts_mut(self.0.start, self.0.size_bytes) }
    }

    /// Address of the first byte, for a kernel that fills the memory.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.start
    }

    /// Ends writing.
    pub fn freeze(self) -> Buffer {
        Buffer(self.0)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.size_bytes)
    }
}
