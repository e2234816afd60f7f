//! Address space kept back, so that small objects can be made when the system has no more memory.
//!
//! An array that finds no memory is an error; a node of a graph or a string that finds none ends the process, as Rust has
//! it. So a front end installs [`WithReserve`] as its allocator: when the system refuses a small block, the reserve is
//! given back to the system, and the block is asked for again. From then on memory is low ([`check_memory`]): work ends
//! with the error of memory at the next place that looks, and the reserve is taken again as soon as there is room.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::error::Result;

/// Bytes kept back. They cost address space alone, as nobody touches them.
const RESERVE_BYTES: usize = 32 << 20;
/// Blocks up to this size may use the reserve; larger ones would have it at once.
const SMALL_BYTES: usize = 4 << 20;

static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static IS_LOW: AtomicBool = AtomicBool::new(false);

/// The system's allocator, with the reserve behind it.
pub struct WithReserve;

// SAFETY: every block is the system's own; a refused one is asked for again at most once.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() && give_up_reserve(layout.size()) {
            // SAFETY: by contract.
            return unsafe { System.alloc(layout) };
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() && give_up_reserve(layout.size()) {
            // SAFETY: by contract.
            return unsafe { System.alloc_zeroed(layout) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract.
        let moved = unsafe { System.realloc(block, layout, size) };
        if moved.is_null() && give_up_reserve(size) {
            // SAFETY: by contract; a refused block is still where it was.
            return unsafe { System.realloc(block, layout, size) };
        }
        moved
    }
}

/// Gives the reserve back to the system for a small block; whether there was one. It takes no lock and allocates nothing.
#[cold]
fn give_up_reserve(size: usize) -> bool {
    if size > SMALL_BYTES {
        return false;
    }
    let reserve = RESERVE.swap(null_mut(), Ordering::AcqRel);
    if reserve.is_null() {
        return false;
    }
    IS_LOW.store(true, Ordering::Relaxed);
    // SAFETY: the reserve is mapped with this size, and whoever swaps it out owns it.
    unsafe { unmap(reserve) };
    true
}

/// Keeps the reserve back, if it is not there.
pub fn take_reserve() {
    let fresh = map();
    if fresh.is_null() {
        return;
    }
    if RESERVE.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        // SAFETY: just mapped, and nobody else knows it.
        unsafe { unmap(fresh) };
    }
    IS_LOW.store(false, Ordering::Relaxed);
}

/// Refuses work while the system has so little memory that even small objects needed the reserve.
///
/// # Errors
/// `Memory` until there is room for the reserve again.
#[inline]
pub fn check_memory() -> Result<()> {
    if IS_LOW.load(Ordering::Relaxed) { recover() } else { Ok(()) }
}

#[cold]
fn recover() -> Result<()> {
    super::trim_pool();
    take_reserve();
    if IS_LOW.load(Ordering::Relaxed) { Err(super::buffer::out_of_memory(RESERVE_BYTES)) } else { Ok(()) }
}

#[cfg(unix)]
fn map() -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new pages at a place that the system chooses.
    let start = unsafe { libc::mmap(null_mut(), RESERVE_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED { null_mut() } else { start.cast() }
}

/// # Safety
/// The pages came from [`map`] and are nobody's any more.
#[cfg(unix)]
unsafe fn unmap(start: *mut u8) {
    // SAFETY: by contract.
    unsafe { libc::munmap(start.cast(), RESERVE_BYTES) };
}

#[cfg(not(unix))]
fn map() -> *mut u8 {
    null_mut()
}

/// # Safety
/// Never called.
#[cfg(not(unix))]
unsafe fn unmap(_: *mut u8) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_given_up_once_and_taken_again() {
        take_reserve();
        assert!(!give_up_reserve(SMALL_BYTES + 1));
        assert!(give_up_reserve(64));
        assert!(!give_up_reserve(64));
        assert!(IS_LOW.load(Ordering::Relaxed));
        check_memory().expect("there is memory for a test");
        assert!(!IS_LOW.load(Ordering::Relaxed));
    }
}
