//! The pooled allocator: freed blocks wait in size classes and are handed out again.
//!
//! A fresh large block costs a page fault for each 4 KiB at first touch, more than most kernels that fill it, so
//! blocks are kept. Size classes are powers of two with four steps between; at most [`KEPT_BYTES`] wait in all.
//! Small blocks of a thread wait in that thread, without a lock.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Alignment of every block: a cache line, and the widest vector register.
const ALIGNMENT: usize = 64;
/// Bytes that may wait for reuse before blocks go back to the system.
const KEPT_BYTES: usize = 1 << 30;
/// Blocks up to this size wait in the thread that freed them.
const SMALL_BYTES: usize = 4096;
/// Small blocks of one class that a thread keeps.
const SMALL_KEPT: usize = 32;
const N_CLASSES: usize = 4 * 58;

static KEPT: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static LARGE: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

/// A free block that waits for reuse.
struct Block(*mut u8);

// SAFETY: a waiting block has no other owner.
unsafe impl Send for Block {}

/// The blocks that wait in one thread; they go back to the system with it.
struct Small(Vec<Vec<Block>>);

impl Drop for Small {
    fn drop(&mut self) {
        for (class, blocks) in self.0.iter_mut().enumerate() {
            for block in blocks.drain(..) {
                free(block.0, capacity_of(class));
            }
        }
    }
}

thread_local! {
    static SMALL: RefCell<Small> = const { RefCell::new(Small(Vec::new())) };
}

/// How much memory the pool holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// Bytes in arrays and programs.
    pub live_bytes: usize,
    /// Bytes that wait for reuse.
    pub kept_bytes: usize,
}

/// How much memory the pool holds now.
pub fn pool_stats() -> PoolStats {
    PoolStats { live_bytes: LIVE.load(Ordering::Relaxed), kept_bytes: KEPT.load(Ordering::Relaxed) }
}

/// Gives all large waiting blocks back to the system.
pub fn trim_pool() {
    let classes = std::mem::take(&mut *LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    for (class, blocks) in classes.into_iter().enumerate() {
        for block in blocks {
            KEPT.fetch_sub(capacity_of(class), Ordering::Relaxed);
            free(block.0, capacity_of(class));
        }
    }
}

/// The class whose capacity is the least that holds `size_bytes`.
fn class_of(size_bytes: usize) -> usize {
    let size = size_bytes.max(ALIGNMENT);
    let power = (size - 1).ilog2() as usize;
    // Four classes between 2^power (exclusive) and 2^(power+1) (inclusive).
    let step = ((1usize << power) / 4).max(1);
    let quarter = (size - (1 << power)).div_ceil(step).max(1);
    (power - 5) * 4 + quarter - 1
}

fn capacity_of(class: usize) -> usize {
    let (power, quarter) = (class / 4 + 5, class % 4 + 1);
    (1 << power) + quarter * ((1 << power) / 4)
}

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(capacity, ALIGNMENT).expect("a block is smaller than the address space")
}

/// A block of at least `size_bytes` bytes and its capacity.
pub(super) fn acquire(size_bytes: usize) -> (*mut u8, usize) {
    let class = class_of(size_bytes);
    let capacity = capacity_of(class);
    LIVE.fetch_add(capacity, Ordering::Relaxed);
    let waiting = if capacity <= SMALL_BYTES { take_small(class) } else { take_large(class) };
    if let Some(block) = waiting {
        return (block.0, capacity);
    }
    // SAFETY: the layout's size is at least one alignment, not zero.
    let start = unsafe { alloc_zeroed(layout(capacity)) };
    if start.is_null() {
        handle_alloc_error(layout(capacity));
    }
    (start, capacity)
}

fn take_small(class: usize) -> Option<Block> {
    SMALL.try_with(|small| small.borrow_mut().0.get_mut(class).and_then(Vec::pop)).ok().flatten()
}

fn take_large(class: usize) -> Option<Block> {
    let block = LARGE.lock().unwrap_or_else(PoisonError::into_inner).get_mut(class).and_then(Vec::pop)?;
    KEPT.fetch_sub(capacity_of(class), Ordering::Relaxed);
    Some(block)
}

/// Takes a block back.
pub(super) fn release(start: *mut u8, capacity: usize) {
    LIVE.fetch_sub(capacity, Ordering::Relaxed);
    let class = class_of(capacity);
    debug_assert_eq!(capacity_of(class), capacity);
    let kept = if capacity <= SMALL_BYTES { keep_small(class, start) } else { keep_large(class, start, capacity) };
    if !kept {
        free(start, capacity);
    }
}

fn keep_small(class: usize, start: *mut u8) -> bool {
    let keep = |small: &RefCell<Small>| {
        let classes = &mut small.borrow_mut().0;
        if classes.len() <= class {
            classes.resize_with(class + 1, Vec::new);
        }
        let has_room = classes[class].len() < SMALL_KEPT;
        if has_room {
            classes[class].push(Block(start));
        }
        has_room
    };
    SMALL.try_with(keep).unwrap_or(false)
}

fn keep_large(class: usize, start: *mut u8, capacity: usize) -> bool {
    if KEPT.load(Ordering::Relaxed) + capacity > KEPT_BYTES || class >= N_CLASSES {
        return false;
    }
    let mut classes = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    if classes.len() <= class {
        classes.resize_with(class + 1, Vec::new);
    }
    classes[class].push(Block(start));
    KEPT.fetch_add(capacity, Ordering::Relaxed);
    true
}

fn free(start: *mut u8, capacity: usize) {
    // SAFETY: `start` came from `alloc_zeroed` with this layout and has no owner any more.
    unsafe { dealloc(start, layout(capacity)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_sizes_and_round_trip() {
        for size in (0..5000).chain([1 << 20, (1 << 20) + 1, 3 << 25]) {
            let class = class_of(size);
            assert!(capacity_of(class) >= size, "{size}");
            assert_eq!(class_of(capacity_of(class)), class, "{size}");
            assert!(capacity_of(class) <= size.max(ALIGNMENT) * 5 / 4 + 64);
        }
    }
}
