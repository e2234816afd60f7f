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
const RESERVE_BYTES: [usize; 4] = [32 << 20, 8 << 20, 2 << 20, HEAP_BYTES];
/// Bytes kept back of the allocator's own heap, where the system has no pages at all: what a program freed in small pieces
/// stays address space of the heap, so that there can be much room for small objects and none for one more page.
const HEAP_BYTES: usize = 1 << 19;
/// They are kept in pieces, as such a heap has few large holes; each piece begins with the address of the next.
const PIECE: Layout = Layout::new::<[usize; 1 << 15]>();
/// Blocks up to this size may use the reserve; larger ones would have it at once.
const SMALL_BYTES: usize = 4 << 20;

static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// The bytes of the reserve's own pages, of the one that is there or was last; 0 for pieces of the heap.
static PAGES: AtomicUsize = AtomicUsize::new(0);
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
    // SAFETY: the reserve was made with this number, which changes only while there is none; whoever swaps it out owns it.
    unsafe {
        match PAGES.load(Ordering::Acquire) {
            0 => free_pieces(reserve),
            size => unmap(reserve, size),
        }
    }
    true
}

/// The first of a chain of pieces of the heap; null, and nothing is taken, where the heap has not as many.
fn take_pieces() -> *mut u8 {
    let mut first = null_mut();
    for _ in 0..HEAP_BYTES / PIECE.size() {
        // SAFETY: the layout is not empty.
        let piece = unsafe { System.alloc(PIECE) };
        if piece.is_null() {
            // SAFETY: the chain is this function's.
            unsafe { free_pieces(first) };
            return null_mut();
        }
        // SAFETY: a piece has room for an address and is aligned to one.
        unsafe { piece.cast::<*mut u8>().write(first) };
        first = piece;
    }
    first
}

/// # Safety
/// The chain came from [`take_pieces`] and is nobody's any more.
unsafe fn free_pieces(mut first: *mut u8) {
    while !first.is_null() {
        // SAFETY: by contract; the next one is read before the piece that names it goes.
        unsafe {
            let next = first.cast::<*mut u8>().read();
            System.dealloc(first, PIECE);
            first = next;
        }
    }
}

/// Keeps the reserve back, if it is not there.
pub fn take_reserve() {
    static TAKING: Mutex<()> = Mutex::new(());
    let _alone = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !RESERVE.load(Ordering::Acquire).is_null() {
        return IS_LOW.store(false, Ordering::Relaxed);
    }
    let mapped = RESERVE_BYTES.into_iter().map(|size| (map(size), size)).find(|(fresh, _)| !fresh.is_null());
    let (fresh, pages) = mapped.unwrap_or_else(|| (take_pieces(), 0));
    if !fresh.is_null() {
        PAGES.store(pages, Ordering::Release);
        RESERVE.store(fresh, Ordering::Release);
        IS_LOW.store(false, Ordering::Relaxed);
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
    if IS_LOW.load(Ordering::Relaxed) { Err(super::buffer::out_of_memory(HEAP_BYTES)) } else { Ok(()) }
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

    #[test]
    fn pieces_of_the_heap_are_a_chain() {
        let first = take_pieces();
        let pieces = std::iter::successors(Some(first), |piece| {
            // SAFETY: the chain is this test's.
            let next = unsafe { piece.cast::<*mut u8>().read() };
            (!next.is_null()).then_some(next)
        });
        assert_eq!(pieces.count() * PIECE.size(), HEAP_BYTES);
        // SAFETY: as above.
        unsafe { free_pieces(first) };
    }
}
