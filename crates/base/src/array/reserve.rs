//! Address space kept back, so that small objects can be made when the system has no more memory.
//!
//! An array that finds no memory is an error; a node of a graph or a string that finds none ends the process, as Rust has
//! it. So a front end installs [`WithReserve`] as its allocator: when the system refuses a small block, the reserve is
//! given back to the system, and the block is asked for again. From then on memory is low ([`check_memory`]): work ends
//! with the error of memory at the next place that looks, and the reserve is taken again as soon as there is room.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Bytes kept back; where the system does not have as many, one of the smaller numbers. They cost address space alone, as
/// nobody touches them.
const RESERVE_BYTES: [usize; 4] = [32 << 20, 8 << 20, 2 << 20, 1 << 19];
/// Blocks up to this size may use the reserve; larger ones would have it at once.
const SMALL_BYTES: usize = 4 << 20;

static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// The size of the reserve that is there, or was last.
static SIZE: AtomicUsize = AtomicUsize::new(0);
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
    // SAFETY: the reserve is mapped with this size, which changes only while there is none; whoever swaps it out owns it.
    unsafe { unmap(reserve, SIZE.load(Ordering::Acquire)) };
    true
}

/// Keeps the reserve back, if it is not there.
pub fn take_reserve() {
    static TAKING: Mutex<()> = Mutex::new(());
    let _alone = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !RESERVE.load(Ordering::Acquire).is_null() {
        return IS_LOW.store(false, Ordering::Relaxed);
    }
    for size in RESERVE_BYTES {
        let fresh = map(size);
        if !fresh.is_null() {
            SIZE.store(size, Ordering::Release);
            RESERVE.store(fresh, Ordering::Release);
            return IS_LOW.store(false, Ordering::Relaxed);
        }
    }
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
    trim_system();
    take_reserve();
    if IS_LOW.load(Ordering::Relaxed) { Err(super::buffer::out_of_memory(RESERVE_BYTES[3])) } else { Ok(()) }
}

/// Pages that the system's allocator keeps without use go back.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim_system() {
    // SAFETY: it gives back only what nobody uses.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim_system() {}

#[cfg(unix)]
fn map(size: usize) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new pages at a place that the system chooses.
    let start = unsafe { libc::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED { null_mut() } else { start.cast() }
}

/// # Safety
/// The pages came from [`map`] with this size and are nobody's any more.
#[cfg(unix)]
unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: by contract.
    unsafe { libc::munmap(start.cast(), size) };
}

#[cfg(not(unix))]
fn map(_: usize) -> *mut u8 {
    null_mut()
}

/// # Safety
/// Never called.
#[cfg(not(unix))]
unsafe fn unmap(_: *mut u8, _: usize) {}

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
