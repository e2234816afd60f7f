//! Functions of this process that programs of a plugin call while they run, through XLA's foreign functions.
//!
//! One handler is registered with a plugin. A call names the function by a number in its attributes; numbers are given by
//! [`HostFunction::new`] and are valid while that lives. Buffers must lie in the memory of the host: platform `Host`.

use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pullback_base::{Error, Result};

use crate::abi::{Extension, Ptr};
use crate::api::{Plugin, slice_of};

/// By this name programs call the handler; the attribute `number` says which function.
pub const HOST_CALL_TARGET: &str = "pullback_host_call";

/// What a function does: reads the bytes of operands and fills those of results.
pub type HostCode = dyn Fn(&[&[u8]], &mut [&mut [u8]]) -> Result<()> + Send + Sync;

struct Entry {
    code: Box<HostCode>,
    in_bytes: Vec<usize>,
    out_bytes: Vec<usize>,
}

static FUNCTIONS: LazyLock<Mutex<HashMap<i64, Arc<Entry>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicI64 = AtomicI64::new(1);

/// A function that programs can call while this lives.
pub struct HostFunction(i64);

impl HostFunction {
    /// A function of operands and results of so many bytes.
    pub fn new(in_bytes: Vec<usize>, out_bytes: Vec<usize>, code: Box<HostCode>) -> HostFunction {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let entry = Arc::new(Entry { code, in_bytes, out_bytes });
        FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, entry);
        HostFunction(number)
    }

    /// Its number in programs.
    pub fn number(&self) -> i64 {
        self.0
    }
}

impl Drop for HostFunction {
    fn drop(&mut self) {
        let gone = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        // Functions of a front end may go with it: outside of the lock.
        drop(gone);
    }
}

/// Failures whose errors are kept until the plugin tells of them.
const MAX_FAILURES: usize = 64;

static FAILURES: Mutex<VecDeque<(i64, Error)>> = Mutex::new(VecDeque::new());

/// What stands before the number of a failure in the text that a plugin passes on.
const FAILURE: &str = "[failure of the host, number ";

/// Keeps an error; gives the text by which it is found again.
fn remember(error: &Error) -> String {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    let old = if failures.len() == MAX_FAILURES { failures.pop_front() } else { None };
    failures.push_back((number, error.clone()));
    drop(failures);
    drop(old);
    format!("{} {FAILURE}{number}]", error.message())
}

/// The error that a text of a plugin's tells of, where a function of the host raised it.
pub(crate) fn failure_in(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once(FAILURE)?;
    let number: i64 = rest.split_once(']')?.0.parse().ok()?;
    let failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    failures.iter().find(|(known, _)| *known == number).map(|(_, error)| error.clone())
}

/// The extension of the interface by which handlers are registered.
#[repr(C)]
struct FfiExtension {
    head: Extension,
    register_type: *const c_void,
    add_user_data: *const c_void,
    register: Option<unsafe extern "C" fn(*mut Register) -> Ptr>,
}

#[repr(C)]
struct Register {
    struct_size: usize,
    name: *const u8,
    name_size: usize,
    handler: *const c_void,
    platform: *const u8,
    platform_size: usize,
    traits: u32,
    padding: [usize; 4],
}

/// The number of that extension.
const FFI: c_int = 5;

impl Plugin {
    /// Lets programs call functions of the host; false where the plugin has no foreign functions.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn register_host_calls(&self) -> Result<bool> {
        const PLATFORM: &str = "Host";
        let Some(extension) = self.extension(FFI, size_of::<FfiExtension>()) else { return Ok(false) };
        // SAFETY: the extension of this number has this layout, and is as long.
        let Some(register) = (unsafe { (*extension.cast::<FfiExtension>()).register }) else { return Ok(false) };
        let mut args = Register {
            struct_size: size_of::<Register>(),
            name: HOST_CALL_TARGET.as_ptr(),
            name_size: HOST_CALL_TARGET.len(),
            handler: handler as *const c_void,
            platform: PLATFORM.as_ptr(),
            platform_size: PLATFORM.len(),
            traits: 0,
            padding: [0; 4],
        };
        // SAFETY: the struct lives through the call, which copies the names.
        self.check(unsafe { register(&mut args) }).map(|()| true)
    }
}

// What a handler is given.

#[repr(C)]
struct Node {
    struct_size: usize,
    kind: c_int,
    next: *mut Node,
}

#[repr(C)]
struct Version {
    struct_size: usize,
    extensions: *mut Node,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Api {
    struct_size: usize,
    extensions: *mut Node,
    version: Version,
    internal: *const c_void,
    new_error: unsafe extern "C" fn(*mut NewError) -> Ptr,
}

#[repr(C)]
struct NewError {
    struct_size: usize,
    extensions: *mut Node,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct Metadata {
    struct_size: usize,
    version: Version,
    traits: u32,
    state: i64,
}

#[repr(C)]
struct MetadataNode {
    head: Node,
    metadata: *mut Metadata,
}

#[repr(C)]
struct FfiBuffer {
    struct_size: usize,
    extensions: *mut Node,
    kind: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

#[repr(C)]
struct Buffers {
    struct_size: usize,
    extensions: *mut Node,
    n: i64,
    kinds: *const c_int,
    items: *const *const FfiBuffer,
}

#[repr(C)]
struct Attributes {
    struct_size: usize,
    extensions: *mut Node,
    n: i64,
    kinds: *const c_int,
    names: *const *const Bytes,
    values: *const *const c_void,
}

#[repr(C)]
struct Bytes {
    start: *const u8,
    n: usize,
}

#[repr(C)]
struct Scalar {
    kind: c_int,
    value: *const c_void,
}

#[repr(C)]
struct Frame {
    struct_size: usize,
    extensions: *mut Node,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    args: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// The kind of the extension by which a plugin asks what a handler is.
const METADATA: c_int = 1;
/// The stage in which a handler does its work.
const EXECUTE: c_int = 3;
/// The plugin's code of an internal failure.
const INTERNAL: c_int = 13;

unsafe extern "C" fn handler(frame: *mut Frame) -> Ptr {
    // SAFETY: the plugin gives a frame that lives through the call, with the lists that it names.
    let frame = unsafe { &mut *frame };
    let mut next = frame.extensions;
    // SAFETY: the list ends with null.
    while let Some(node) = unsafe { next.as_ref() } {
        if node.kind == METADATA {
            // SAFETY: a node of this kind has this layout.
            unsafe { answer(frame, next.cast()) };
            return null_mut();
        }
        next = node.next;
    }
    if frame.stage != EXECUTE {
        return null_mut();
    }
    // No panic may cross into the plugin.
    let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(frame)));
    let result = called.unwrap_or_else(|_| Err(Error::internal("a function of the host panicked")));
    match result {
        Ok(()) => null_mut(),
        Err(error) => failed(frame, &error),
    }
}

/// Says which version the handler was made for: that of the plugin.
///
/// # Safety
/// The node must be that of the frame.
unsafe fn answer(frame: &Frame, node: *mut MetadataNode) {
    // SAFETY: as the caller says; the table lives as long as the plugin.
    unsafe {
        let metadata = &mut *(*node).metadata;
        metadata.version.major = (*frame.api).version.major;
        metadata.version.minor = (*frame.api).version.minor;
        metadata.traits = 0;
    }
}

fn failed(frame: &Frame, error: &Error) -> Ptr {
    let text = std::ffi::CString::new(remember(error).replace('\0', "")).unwrap_or_default();
    let mut args =
        NewError { struct_size: size_of::<NewError>(), extensions: null_mut(), message: text.as_ptr(), code: INTERNAL };
    // SAFETY: the function copies the text.
    unsafe { ((*frame.api).new_error)(&mut args) }
}

/// The function that a call names.
fn function_of(frame: &Frame) -> Option<Arc<Entry>> {
    let attributes = &frame.attributes;
    let at = (0..attributes.n as usize).find(|&at| {
        // SAFETY: there are so many names, which live through the call.
        let name = unsafe { &**attributes.names.add(at) };
        // SAFETY: as above.
        unsafe { slice_of(name.start, name.n) == b"number" }
    })?;
    // SAFETY: there are as many values; programs of ours give this one as a number of 64 bits.
    let number = unsafe { *(*(*attributes.values.add(at)).cast::<Scalar>()).value.cast::<i64>() };
    FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
}

fn call(frame: &Frame) -> Result<()> {
    let entry =
        function_of(frame).ok_or_else(|| Error::internal("a program called a function of the host that is gone"))?;
    let (n_args, n_results) = (frame.args.n as usize, frame.results.n as usize);
    if n_args != entry.in_bytes.len() || n_results != entry.out_bytes.len() {
        return Err(Error::internal(format!("a call of the host has {n_args} operands and {n_results} results")));
    }
    // SAFETY: there are so many buffers, of the types that the program states: those of the function.
    let ins: Vec<&[u8]> =
        entry.in_bytes.iter().enumerate().map(|(at, &n)| unsafe { slice_of(start(&frame.args, at), n) }).collect();
    let result = |(at, &n): (usize, &usize)| {
        let start = start(&frame.results, at);
        if n == 0 || start.is_null() {
            return Default::default();
        }
        // SAFETY: as above; results are written by this call alone.
        unsafe { std::slice::from_raw_parts_mut(start, n) }
    };
    let mut outs: Vec<&mut [u8]> = entry.out_bytes.iter().enumerate().map(result).collect();
    (entry.code)(&ins, &mut outs)
}

/// Where the elements of a buffer begin.
fn start(buffers: &Buffers, at: usize) -> *mut u8 {
    // SAFETY: the caller counted them.
    unsafe { (**buffers.items.add(at)).data.cast() }
}
