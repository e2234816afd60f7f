//! Blocks from the system and back: large ones by pages of their own, on Linux by huge ones.
//!
//! A first touch of 40 MB costs ten thousand page faults with pages of 4 KiB, more time than most kernels take; and a
//! stream of memory is read about twice as fast through huge pages. It keeps nothing: waiting blocks are the pool's.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Alignment of every block: a cache line, and the widest vector register.
pub(super) const ALIGNMENT: usize = 64;

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(capacity, ALIGNMENT).expect("a block is smaller than the address space")
}

/// A block of initialized memory, or null when the system has none.
pub(super) fn acquire(capacity: usize) -> *mut u8 {
    if pages::are_own(capacity) {
        return pages::acquire(capacity);
    }
    let Ok(layout) = Layout::from_size_align(capacity, ALIGNMENT) else { return std::ptr::null_mut() };
    // SAFETY: the layout's size is at least one alignment, not zero.
    unsafe { alloc_zeroed(layout) }
}

/// Gives a block of [`acquire`] back.
///
/// # Safety
/// The block came from [`acquire`] with this capacity and has no owner any more.
pub(super) unsafe fn free(start: *mut u8, capacity: usize) {
    if pages::are_own(capacity) {
        // SAFETY: by contract.
        return unsafe { pages::free(start, capacity) };
    }
    // SAFETY: by contract; it came from `alloc_zeroed` with this layout.
    unsafe { dealloc(start, layout(capacity)) }
}

#[cfg(target_os = "linux")]
mod pages {
    use std::ptr::null_mut;

    /// The size of a huge page, and the size from which on blocks have pages of their own.
    const HUGE: usize = 2 << 20;

    pub(super) fn are_own(capacity: usize) -> bool {
        capacity >= HUGE
    }

    pub(super) fn acquire(capacity: usize) -> *mut u8 {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let Some(size_bytes) = capacity.checked_add(HUGE) else { return null_mut() };
        // SAFETY: new pages at a place that the system chooses.
        let start = unsafe { libc::mmap(null_mut(), size_bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return null_mut();
        }
        let start = start.cast::<u8>();
        let skipped = start.align_offset(HUGE);
        // SAFETY: both parts are of the pages just made, and nobody knows them. The advice changes no contents, and it
        // does not matter if a system refuses it.
        unsafe {
            free_some(start, skipped);
            let block = start.add(skipped);
            free_some(block.add(capacity), HUGE - skipped);
            libc::madvise(block.cast(), capacity, libc::MADV_HUGEPAGE);
            block
        }
    }

    /// # Safety
    /// The pages are nobody's.
    unsafe fn free_some(start: *mut u8, size_bytes: usize) {
        if size_bytes > 0 {
            // SAFETY: by contract.
            unsafe { free(start, size_bytes) };
        }
    }

    /// # Safety
    /// The pages came from [`acquire`] and are nobody's any more.
    pub(super) unsafe fn free(start: *mut u8, capacity: usize) {
        // SAFETY: by contract.
        let failed = unsafe { libc::munmap(start.cast(), capacity) };
        debug_assert_eq!(failed, 0, "whole pages of our own");
    }
}

#[cfg(not(target_os = "linux"))]
mod pages {
    pub(super) fn are_own(_: usize) -> bool {
        false
    }

    pub(super) fn acquire(_: usize) -> *mut u8 {
        unreachable!("no block has pages of its own here")
    }

    /// # Safety
    /// Never called.
    pub(super) unsafe fn free(_: *mut u8, _: usize) {
        unreachable!("no block has pages of its own here")
    }
}
