//! The pooled allocator: freed blocks wait in size classes and are handed out again.
//!
//! A fresh large block costs a page fault for each 4 KiB at first touch, more than most kernels that fill it, so
//! blocks are kept. Size classes are powers of two with four steps between; at most [`set_pool_limit`] bytes wait in all,
//! and none when the system has no more memory. Small blocks of a thread wait in that thread, without a lock.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::system::{self, ALIGNMENT};

/// Bytes that may wait for reuse before blocks go back to the system, if nobody sets another limit.
const KEPT_BYTES: usize = 1 << 30;
/// Blocks up to this size wait in the thread that freed them.
const SMALL_BYTES: usize = 4096;
/// Small blocks of one class that a thread keeps.
const SMALL_KEPT: usize = 32;
const N_CLASSES: usize = 4 * 58;
/// No address space holds more.
const MOST_BYTES: usize = 1 << (usize::BITS - 2);

static KEPT: AtomicUsize = AtomicUsize::new(0);
/// The limit that was asked for; the greatest number while nobody asked.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// Bytes that may live; the greatest number while there is no limit.
static MOST_LIVE: AtomicUsize = AtomicUsize::new(usize::MAX);
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

/// How many bytes may wait for reuse: as set, else `PULLBACK_POOL_BYTES`, else 1 GiB.
fn limit() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    let setting = || std::env::var("PULLBACK_POOL_BYTES").ok().and_then(|text| text.parse().ok());
    match LIMIT.load(Ordering::Relaxed) {
        usize::MAX => *DEFAULT.get_or_init(|| setting().unwrap_or(KEPT_BYTES)),
        n => n,
    }
}

/// Sets how many bytes may wait for reuse; blocks beyond that go back to the system, those that wait now at once.
pub fn set_pool_limit(size_bytes: usize) {
    LIMIT.store(size_bytes, Ordering::Relaxed);
    if KEPT.load(Ordering::Relaxed) > size_bytes {
        trim_pool();
    }
}

/// How many bytes arrays and temporaries may take; `None` when there is no limit.
pub fn memory_limit() -> Option<usize> {
    Some(MOST_LIVE.load(Ordering::Relaxed)).filter(|&most| most < usize::MAX)
}

/// Sets how many bytes arrays and temporaries may take. Those that live already stay.
pub fn set_memory_limit(size_bytes: Option<usize>) {
    MOST_LIVE.store(size_bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
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

/// A block of at least `size_bytes` bytes and its capacity; `None` when the system has no such block, or the limit forbids
/// it.
pub(super) fn acquire(size_bytes: usize) -> Option<(*mut u8, usize)> {
    if size_bytes > MOST_BYTES {
        return None;
    }
    let class = class_of(size_bytes);
    let capacity = capacity_of(class);
    let live = LIVE.fetch_add(capacity, Ordering::Relaxed).saturating_add(capacity);
    if live > MOST_LIVE.load(Ordering::Relaxed) {
        LIVE.fetch_sub(capacity, Ordering::Relaxed);
        return None;
    }
    let waiting = if capacity <= SMALL_BYTES { take_small(class) } else { take_large(class) };
    let Some(start) = waiting.map_or_else(|| fresh(capacity), |block| Some(block.0)) else {
        LIVE.fetch_sub(capacity, Ordering::Relaxed);
        return None;
    };
    Some((start, capacity))
}

fn fresh(capacity: usize) -> Option<*mut u8> {
    super::check_memory().ok()?;
    let mut start = system::acquire(capacity);
    if start.is_null() {
        trim_pool();
        start = system::acquire(capacity);
    }
    (!start.is_null()).then_some(start)
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
    if KEPT.load(Ordering::Relaxed) + capacity > limit() || class >= N_CLASSES {
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
    // SAFETY: `start` came from `system::acquire` with this capacity and has no owner any more.
    unsafe { system::free(start, capacity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Page faults of this thread so far.
    #[cfg(target_os = "linux")]
    fn faults() -> i64 {
        // SAFETY: zeros are a valid value of the plain struct, which the call fills.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
            usage.ru_minflt
        }
    }

    /// Touches every page of a block and lets it go; gives how many pages faulted.
    #[cfg(target_os = "linux")]
    fn faults_of_one_use(size_bytes: usize) -> i64 {
        let before = faults();
        let (start, capacity) = acquire(size_bytes).expect("a test's block");
        for at in (0..size_bytes).step_by(4096) {
            // SAFETY: inside of the block, which is this function's.
            unsafe { start.add(at).write_volatile(1) };
        }
        release(start, capacity);
        faults() - before
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_blocks_fault_once() {
        let size_bytes = 40 << 20;
        faults_of_one_use(size_bytes);
        let again = faults_of_one_use(size_bytes);
        assert!(again < 100, "{again} page faults where the block was used before");
    }

    #[test]
    fn large_blocks_are_aligned_and_zero_at_first() {
        let capacity = capacity_of(class_of(5 << 20));
        let start = fresh(capacity).expect("a test's block");
        assert_eq!(start.addr() % ALIGNMENT, 0);
        // SAFETY: the block has that many bytes.
        assert!(unsafe { std::slice::from_raw_parts(start, capacity) }.iter().all(|&byte| byte == 0));
        free(start, capacity);
    }

    #[test]
    fn too_large_blocks_are_none() {
        for size in [1 << 50, MOST_BYTES, MOST_BYTES + 1, usize::MAX] {
            assert!(acquire(size).is_none(), "{size}");
        }
    }

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
