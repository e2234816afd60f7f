//! The threads: workers that sleep until a loop is long enough to share.
//!
//! One loop runs at a time on the workers; a second caller, or a loop inside a loop, runs inline. Whoever asks gets a
//! share of the chunks that are left, so which thread runs which chunk is left open; programs give the same bits either
//! way. Waking a worker takes tens of microseconds, in which the caller goes on alone: shares get smaller as the loop
//! ends, so that the two still end together. Who owns the machine may let workers look for work a while before they sleep
//! ([`set_awake`]); nobody waits awake unless asked to. After a fork the child has no workers, and makes its own.

use std::any::Any;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The number of threads that was asked for; 0 while nobody asked.
static WANTED: AtomicUsize = AtomicUsize::new(0);
static POOL: Mutex<Option<Pool>> = Mutex::new(None);

thread_local! {
    /// Whether this thread is inside a shared loop.
    static INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// The most threads that loops of this thread's call may use.
    static CAP: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

/// Sets how many threads a loop may use, the caller's among them. Zero means the default.
pub fn set_threads(n: usize) {
    WANTED.store(n, Ordering::Relaxed);
}

/// How many threads a loop may use: as set, else `PULLBACK_NUM_THREADS`, else the cores; no more than the cap of the
/// call in which it runs ([`with_threads`]).
pub fn threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    let n = match WANTED.load(Ordering::Relaxed) {
        0 => *DEFAULT.get_or_init(default_threads),
        n => n,
    };
    n.min(CAP.get())
}

/// Runs `work`, whose loops use at most `n` threads (at least one), the caller's among them, and no more than a cap around
/// it allows. Other calls are free.
pub fn with_threads<T>(n: usize, work: impl FnOnce() -> T) -> T {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            CAP.set(self.0);
        }
    }
    let _restore = Restore(lower_cap(n));
    work()
}

/// From now on loops of this thread's calls use at most `n` threads (at least one), and no more than before. Gives what
/// [`restore_cap`] takes, for a front end whose scopes are not closures.
pub fn lower_cap(n: usize) -> usize {
    CAP.replace(n.max(1).min(CAP.get()))
}

/// Ends the scope that [`lower_cap`] began.
pub fn restore_cap(before: usize) {
    CAP.set(before);
}

/// Microseconds that were asked for; none while nobody asked.
static AWAKE_US: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets how long a worker without work looks for more before it sleeps. It takes a core for that time, and the next loop need
/// not wake it. `None` means the default: as many microseconds as `PULLBACK_AWAKE_US` says, else none.
pub fn set_awake(time: Option<Duration>) {
    let micros = time.map_or(u64::MAX, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX - 1));
    AWAKE_US.store(micros, Ordering::Relaxed);
}

fn awake() -> Duration {
    static DEFAULT: OnceLock<u64> = OnceLock::new();
    let setting = || std::env::var("PULLBACK_AWAKE_US").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Duration::from_micros(match AWAKE_US.load(Ordering::Relaxed) {
        u64::MAX => *DEFAULT.get_or_init(setting),
        micros => micros,
    })
}

fn default_threads() -> usize {
    let setting = std::env::var("PULLBACK_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|&n| n > 0);
    setting.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs `work` over `0..n_chunks` in pieces, on several threads where that is possible. Returns when all is done.
///
/// # Panics
/// When a piece panics, after the others ended.
pub fn parallel_for(n_chunks: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    share(n_chunks, 2, work);
}

/// As [`parallel_for`], in fewer and longer pieces, for work that pays for every piece.
///
/// # Panics
/// When a piece panics, after the others ended.
pub fn parallel_for_runs(n_chunks: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    share(n_chunks, 1, work);
}

/// A piece is what is left, divided by `n_shares` times the number of threads.
fn share(n_chunks: usize, n_shares: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let n_threads = threads().min(n_chunks);
    if n_threads <= 1 || INSIDE.get() {
        return work(0..n_chunks);
    }
    let mut pool = match POOL.try_lock() {
        Ok(pool) => pool,
        Err(TryLockError::Poisoned(pool)) => pool.into_inner(),
        Err(TryLockError::WouldBlock) => return work(0..n_chunks),
    };
    let pool = Pool::ready(&mut pool, n_threads - 1);
    pool.run(n_chunks, n_threads, n_shares, work);
}

/// A loop that is being shared.
struct Job {
    /// The closure; its lifetime ends when `run` returns, and `run` returns when nobody uses it any more.
    work: &'static (dyn Fn(Range<usize>) + Sync),
    n_chunks: usize,
    /// A piece is this part of the chunks that are left.
    n_shares: usize,
    /// Whether the last chunk is the caller's. A caller that ends first has to sleep, and be woken, for the rest; a worker
    /// that ends first costs nothing. It pays where one chunk is little of the whole.
    leaves_last: bool,
    /// The next chunk to hand out.
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Who runs a piece.
#[derive(Clone, Copy)]
enum Who {
    Caller,
    Worker,
}

impl Job {
    /// The next piece, if anything is left.
    fn take(&self, who: Who) -> Option<Range<usize>> {
        let share = |left: usize| match who {
            Who::Caller => left.div_ceil(self.n_shares),
            Who::Worker if left == 1 && self.leaves_last => 0,
            Who::Worker => (left / self.n_shares).max(left.min(1)),
        };
        let end_of = |start: usize| start + share(self.n_chunks - start);
        let more = |start: usize| Some(end_of(start)).filter(|&end| end > start);
        let start = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(start..end_of(start))
    }

    fn run(&self, who: Who) {
        let outside = INSIDE.replace(true);
        let result = catch_unwind(AssertUnwindSafe(|| {
            while let Some(piece) = self.take(who) {
                (self.work)(piece);
            }
        }));
        INSIDE.set(outside);
        if let Err(panic) = result {
            *lock(&self.panic) = Some(panic);
        }
    }
}

#[derive(Default)]
struct State {
    job: Option<Arc<Job>>,
    /// Workers that may still join the job.
    seats: usize,
    /// Workers inside the job.
    busy: usize,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Counts jobs, for workers that look without the lock.
    n_jobs: AtomicU64,
    /// Wakes workers.
    wake: Condvar,
    /// Wakes the caller.
    done: Condvar,
}

struct Pool {
    shared: Arc<Shared>,
    n_workers: usize,
    process: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// The pool of this process with at least so many workers.
    fn ready(slot: &mut Option<Pool>, n_workers: usize) -> &mut Pool {
        let process = std::process::id();
        if let Some(old) = slot.take_if(|pool| pool.process != process) {
            // The workers stayed with the parent; the lock may be held by one that does not exist here.
            std::mem::forget(old);
        }
        let pool = slot.get_or_insert_with(|| Pool { shared: Arc::default(), n_workers: 0, process });
        while pool.n_workers < n_workers && pool.spawn() {}
        pool
    }

    fn spawn(&mut self) -> bool {
        let shared = self.shared.clone();
        let worker = std::thread::Builder::new().name(format!("pullback-{}", self.n_workers));
        let spawned = worker.spawn(move || work_forever(&shared)).is_ok();
        self.n_workers += usize::from(spawned);
        spawned
    }

    fn run(&self, n_chunks: usize, n_threads: usize, n_shares: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        // SAFETY: the reference is used by `Job::run` only, and this function returns after all of those ended.
        let work = unsafe {
            std::mem::transmute::<&(dyn Fn(Range<usize>) + Sync), &'static (dyn Fn(Range<usize>) + Sync)>(work)
        };
        let (n_shares, leaves_last) = (n_shares * n_threads, n_chunks >= 4 * n_threads);
        let (next, panic) = (AtomicUsize::new(0), Mutex::default());
        let job = Arc::new(Job { work, n_chunks, n_shares, leaves_last, next, panic });
        {
            let mut state = lock(&self.shared.state);
            state.job = Some(job.clone());
            state.seats = (n_threads - 1).min(self.n_workers);
            self.shared.n_jobs.fetch_add(1, Ordering::Release);
        }
        for _ in 1..n_threads {
            self.shared.wake.notify_one();
        }
        job.run(Who::Caller);
        let mut state = lock(&self.shared.state);
        state.job = None;
        state.seats = 0;
        while state.busy > 0 {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        let panic = lock(&job.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.shared.state).stop = true;
        self.shared.wake.notify_all();
    }
}

fn work_forever(shared: &Shared) {
    let mut state = lock(&shared.state);
    let mut seen = None;
    while !state.stop {
        let Some(job) = state.job.clone().filter(|_| state.seats > 0) else {
            let n_jobs = shared.n_jobs.load(Ordering::Acquire);
            if seen.replace(n_jobs) != Some(n_jobs) && !awake().is_zero() {
                drop(state);
                look_for_work(shared, n_jobs);
                state = lock(&shared.state);
            } else {
                state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            continue;
        };
        state.seats -= 1;
        state.busy += 1;
        drop(state);
        job.run(Who::Worker);
        state = lock(&shared.state);
        state.busy -= 1;
        if state.busy == 0 {
            shared.done.notify_one();
        }
    }
}

/// Returns when there is a new job, or nothing came for as long as a worker stays awake.
fn look_for_work(shared: &Shared, n_jobs: u64) {
    let (start, awake) = (Instant::now(), awake());
    while shared.n_jobs.load(Ordering::Acquire) == n_jobs && start.elapsed() < awake {
        (0..64).for_each(|_| std::hint::spin_loop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a loop and says how often each chunk ran.
    fn counts(n: usize) -> Vec<usize> {
        let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        let count = |range: Range<usize>| {
            range.for_each(|i| {
                counts[i].fetch_add(1, Ordering::Relaxed);
            });
        };
        parallel_for(n, &count);
        parallel_for_runs(n, &count);
        counts.into_iter().map(|count| count.into_inner() / 2).collect()
    }

    #[test]
    fn every_chunk_runs_once_for_any_number_of_threads() {
        for n_threads in [1, 2, 3, 8] {
            set_threads(n_threads);
            for n in [0, 1, 2, 7, 1000] {
                assert_eq!(counts(n), vec![1; n], "{n_threads} threads");
            }
        }
        set_awake(Some(Duration::from_millis(1)));
        for n in [2, 7, 1000, 7, 2] {
            assert_eq!(counts(n), vec![1; n], "awake");
        }
        set_awake(None);
        set_threads(8);
        let caps = [0, 1, 3].map(|cap| with_threads(cap, || (threads(), counts(9))));
        assert_eq!(caps.map(|(n, _)| n), [1, 1, 3]);
        assert_eq!(threads(), 8, "a cap ends with its call");
        assert_eq!(with_threads(2, || with_threads(4, threads)), 2, "the lower cap holds");
        // Loops inside loops, and a panic, leave the pool usable.
        parallel_for(8, &|range| range.for_each(|_| assert_eq!(counts(5), vec![1; 5])));
        let panicked = catch_unwind(|| parallel_for(64, &|range| assert!(!range.contains(&63), "on purpose")));
        assert!(panicked.is_err());
        assert_eq!(counts(100), vec![1; 100]);
        set_threads(0);
    }
}
