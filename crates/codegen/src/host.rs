//! What running code sees of the host: the table of a run, and the functions it calls back.
//!
//! The table is words: the run itself, the size parameters, the pointers of the buffers, the pointer of the frame.
//!
//! What every code generator owes the host: each iteration of a `While`, and each of an outermost `Seq` loop or of one
//! that runs long by itself, loads the byte [`interrupt::FLAG`](pullback_runtime::interrupt::FLAG) (no ordering) and
//! returns [`INTERRUPTED`] from the function when it is not zero; loops that threads share are looked after here ([`share`]); a
//! status other than [`DONE`] of a host function or of a
//! shared loop is returned at once. The flag may rise at any time, from a signal handler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use pullback_base::{DType, Error, Result};
use pullback_kernels::gemm_at;
use pullback_loops::{BufferId, Kernel, Kernels, Program};
use pullback_runtime::{FlushSubnormals, interrupt, parallel_for};

/// Statuses of functions: all done, stopped by the user, failed with the error in the run.
pub(crate) const DONE: i32 = 0;
pub(crate) const INTERRUPTED: i32 = 1;
pub(crate) const FAILED: i32 = 2;

/// How often a thread looks whether the user wants an end while it works on its share of a loop, and the fewest iterations in
/// between: a look costs a call.
const LOOKS: usize = 256;
const FEWEST: usize = 16;

/// What compiled code knows of the process by its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostAddress {
    /// [`call_kernel`].
    CallKernel,
    /// [`share`].
    Share,
    /// [`rem_f32`].
    RemF32,
    /// [`rem_f64`].
    RemF64,
    /// The flag of an interrupt.
    InterruptFlag,
}

impl HostAddress {
    /// All, by their numbers in files.
    pub(crate) const ALL: [HostAddress; 5] = [
        HostAddress::CallKernel,
        HostAddress::Share,
        HostAddress::RemF32,
        HostAddress::RemF64,
        HostAddress::InterruptFlag,
    ];

    /// The address in this process.
    pub(crate) fn value(self) -> u64 {
        let address = match self {
            HostAddress::CallKernel => call_kernel as *const u8,
            HostAddress::Share => share as *const u8,
            HostAddress::RemF32 => rem_f32 as *const u8,
            HostAddress::RemF64 => rem_f64 as *const u8,
            HostAddress::InterruptFlag => std::ptr::from_ref(&interrupt::FLAG).cast(),
        };
        address.addr() as u64
    }
}

/// Where an address of the host stands in code: its place and whose it is.
pub(crate) type Relocation = (usize, HostAddress);

/// Compiled code of a program.
pub(crate) type Main = unsafe extern "C" fn(*mut u64) -> i32;
/// Compiled code of a loop that threads share: table, captured values, start, end.
type Piece = unsafe extern "C" fn(*mut u64, *const u64, i64, i64) -> i32;

pub(crate) fn size_entry(number: u32) -> usize {
    1 + number as usize
}

pub(crate) fn buffer_entry(program: &Program, buffer: BufferId) -> usize {
    1 + program.n_sizes as usize + buffer.index()
}

/// Where the memory is that values which fit into no register have.
pub(crate) fn frame_entry(program: &Program) -> usize {
    1 + program.n_sizes as usize + program.buffers.len()
}

/// A kernel with the bytes that each argument spans.
pub(crate) struct BoundKernel {
    pub(crate) kernel: Kernel,
    pub(crate) spans: Vec<usize>,
}

impl BoundKernel {
    /// The kernel over buffers of the given types.
    pub(crate) fn new(kernel: Kernel, dtypes: &[DType]) -> BoundKernel {
        let spans = kernel.spans().into_iter().zip(dtypes).map(|(n, dtype)| n * dtype.size_bytes()).collect();
        BoundKernel { kernel, spans }
    }
}

/// One run of a program.
pub(crate) struct Run<'a> {
    pub(crate) kernels: &'a [BoundKernel],
    pub(crate) error: Mutex<Option<Error>>,
}

impl Run<'_> {
    /// The status of a result, whose error the run keeps.
    fn status(&self, result: std::thread::Result<Result<()>>) -> i32 {
        let error = match result {
            Ok(Ok(())) => return DONE,
            Ok(Err(error)) => error,
            Err(_) => Error::internal("a kernel panicked"),
        };
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        FAILED
    }
}

/// Where empty arrays are: aligned for every element type, and never read.
const NO_MEMORY: *mut u8 = std::ptr::without_provenance_mut(64);

/// Runs a kernel on the pointers in `args`.
///
/// # Safety
/// `table` must be that of a run, `number` one of its kernels, and `args` hold pointers to as many bytes as the kernel
/// spans, results apart from each other and from operands.
pub(crate) unsafe extern "C" fn call_kernel(table: *mut u64, number: i64, args: *const *mut u8) -> i32 {
    // SAFETY: the first word of a table is its run.
    let run = unsafe { &*(*table as *const Run<'_>) };
    let bound = &run.kernels[number as usize];
    if let Kernel::Gemm(gemm) = &bound.kernel {
        // SAFETY: by contract; by address, as threads may make matrices that lie interleaved.
        let done = || unsafe { gemm_at(gemm, *args, *args.add(1), *args.add(2)) };
        return run.status(catch_unwind(AssertUnwindSafe(done)));
    }
    let n_ins = bound.kernel.n_ins();
    let (mut ins, mut outs): (Vec<&[u8]>, Vec<&mut [u8]>) = (vec![], vec![]);
    for (index, &span) in bound.spans.iter().enumerate() {
        // SAFETY: by contract; memory of no bytes may be nowhere, so an aligned address stands for it.
        unsafe {
            let start = if span == 0 { NO_MEMORY } else { *args.add(index) };
            if index < n_ins {
                ins.push(std::slice::from_raw_parts(start, span));
            } else {
                outs.push(std::slice::from_raw_parts_mut(start, span));
            }
        }
    }
    run.status(catch_unwind(AssertUnwindSafe(|| pullback_kernels::Table.call(&bound.kernel, &ins, &mut outs))))
}

/// Pointers that threads of one run share.
struct Shared(*mut u64, *const u64);

// SAFETY: the table is only read while threads share a loop (no swap is inside one), and so are captured values.
unsafe impl Sync for Shared {}

/// Runs a loop's iterations `0..n` on the threads.
///
/// # Safety
/// `table` must be that of a run, `piece` compiled code of one of its loops, and `captured` what that loop takes.
pub(crate) unsafe extern "C" fn share(table: *mut u64, piece: *const u8, captured: *const u64, n: i64) -> i32 {
    // SAFETY: by contract the pointer is to code of this type.
    let piece = unsafe { std::mem::transmute::<*const u8, Piece>(piece) };
    let shared = Shared(table, captured);
    let status = AtomicI32::new(DONE);
    let work = |range: std::ops::Range<usize>| {
        let _flush = FlushSubnormals::new();
        let shared = &shared;
        let step = range.len().div_ceil(LOOKS).max(FEWEST);
        for start in range.clone().step_by(step) {
            if interrupt::is_raised() {
                status.fetch_max(INTERRUPTED, Ordering::Relaxed);
                return;
            }
            let end = range.end.min(start + step);
            // SAFETY: by contract; ranges are disjoint parts of the loop.
            let result = unsafe { piece(shared.0, shared.1, start as i64, end as i64) };
            status.fetch_max(result, Ordering::Relaxed);
        }
    };
    let result = catch_unwind(AssertUnwindSafe(|| parallel_for(n.max(0) as usize, &work)));
    match result {
        Ok(()) => status.into_inner(),
        Err(_) => FAILED,
    }
}

/// The remainder of floats, for code whose machine has no instruction for it.
pub(crate) extern "C" fn rem_f32(x: f32, y: f32) -> f32 {
    pullback_loops::rem_f32(x, y)
}

/// As [`rem_f32`].
pub(crate) extern "C" fn rem_f64(x: f64, y: f64) -> f64 {
    pullback_loops::rem_f64(x, y)
}
