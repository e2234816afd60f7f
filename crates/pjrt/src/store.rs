//! The key-value store of several processes, by which clients of a plugin find each other.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use pullback_base::{Error, Result};

use crate::abi::{Extension, Ptr};
use crate::api::slice_of;

/// Values by key that all processes see.
pub trait KeyValueStore: Send + Sync {
    /// The value of a key; waits for it.
    ///
    /// # Errors
    /// When it does not come in time, or a process was lost.
    fn get(&self, key: &str, limit: Duration) -> Result<Vec<u8>>;
    /// The value of a key that has one.
    ///
    /// # Errors
    /// When it has none, or a process was lost.
    fn try_get(&self, key: &str) -> Result<Vec<u8>>;
    /// Keeps a value.
    ///
    /// # Errors
    /// When a process was lost.
    fn put(&self, key: &str, value: &[u8]) -> Result<()>;
}

/// A store as the argument of callbacks; it must stay where it is while a client may call.
pub(crate) type Shared = Box<Arc<dyn KeyValueStore>>;

/// Makes an error of the plugin's.
type NewError = unsafe extern "C" fn(c_int, *const c_char, usize) -> Ptr;

#[repr(C)]
pub(crate) struct Get {
    struct_size: usize,
    extensions: *const Extension,
    key: *const u8,
    key_size: usize,
    milliseconds: c_int,
    new_error: *const NewError,
    store: *mut c_void,
    value: *mut u8,
    value_size: usize,
    free: Option<unsafe extern "C" fn(*mut u8)>,
}

#[repr(C)]
pub(crate) struct TryGet {
    struct_size: usize,
    extensions: *const Extension,
    key: *const u8,
    key_size: usize,
    new_error: *const NewError,
    store: *mut c_void,
    value: *mut u8,
    value_size: usize,
    free: Option<unsafe extern "C" fn(*mut u8)>,
}

#[repr(C)]
pub(crate) struct Put {
    struct_size: usize,
    extensions: *const Extension,
    key: *const u8,
    key_size: usize,
    value: *const u8,
    value_size: usize,
    new_error: *const NewError,
    store: *mut c_void,
}

/// Names that texts of failures begin with, and the plugin's codes.
const CODES: [(&str, c_int); 4] =
    [("INVALID_ARGUMENT", 3), ("DEADLINE_EXCEEDED", 4), ("NOT_FOUND", 5), ("ALREADY_EXISTS", 6)];
const UNAVAILABLE: c_int = 14;

/// Tells the plugin of a failure.
///
/// # Safety
/// `new_error` must be what the plugin gave.
unsafe fn told(result: Result<()>, new_error: *const NewError) -> Ptr {
    let Err(error) = result else { return std::ptr::null_mut() };
    let text = error.message();
    let code = CODES.iter().find(|(name, _)| text.starts_with(name)).map_or(UNAVAILABLE, |(_, code)| *code);
    // SAFETY: as the caller says; the function copies the text.
    unsafe { (*new_error)(code, text.as_ptr().cast(), text.len()) }
}

/// Runs a callback; no panic may cross into the plugin.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    caught.unwrap_or_else(|_| Err(Error::internal("the key-value store panicked")))
}

/// The key of a callback.
///
/// # Safety
/// The key must be what the plugin gave.
unsafe fn key_of(key: *const u8, size: usize) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { slice_of(key, size) }).into_owned()
}

/// Memory for the plugin, with its size in front.
fn given(value: &[u8]) -> *mut u8 {
    const HEAD: usize = size_of::<usize>();
    let bytes: Box<[u8]> = [&value.len().to_ne_bytes()[..], value].concat().into();
    // SAFETY: the head is inside.
    unsafe { Box::into_raw(bytes).cast::<u8>().add(HEAD) }
}

unsafe extern "C" fn free(value: *mut u8) {
    const HEAD: usize = size_of::<usize>();
    if value.is_null() {
        return;
    }
    // SAFETY: `given` made it, with its size in front.
    unsafe {
        let start = value.sub(HEAD);
        let size = usize::from_ne_bytes(std::slice::from_raw_parts(start, HEAD).try_into().expect("a head"));
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, HEAD + size)));
    }
}

/// The store of a callback.
///
/// # Safety
/// The address must be that of a [`Shared`] that lives.
unsafe fn store_of<'a>(store: *mut c_void) -> &'a dyn KeyValueStore {
    // SAFETY: as the caller says.
    unsafe { &**store.cast::<Arc<dyn KeyValueStore>>() }
}

pub(crate) unsafe extern "C" fn get(args: *mut Get) -> Ptr {
    // SAFETY: the plugin gives a struct that lives through the call, with the store that its client was given.
    unsafe {
        let args = &mut *args;
        let (store, key) = (store_of(args.store), key_of(args.key, args.key_size));
        let limit = Duration::from_millis(args.milliseconds.max(0) as u64);
        let value = guarded(|| store.get(&key, limit));
        let give = |value: Vec<u8>| {
            (args.value, args.value_size) = (given(&value), value.len());
            args.free = Some(free);
        };
        told(value.map(give), args.new_error)
    }
}

pub(crate) unsafe extern "C" fn try_get(args: *mut TryGet) -> Ptr {
    // SAFETY: as in `get`.
    unsafe {
        let args = &mut *args;
        let (store, key) = (store_of(args.store), key_of(args.key, args.key_size));
        let value = guarded(|| store.try_get(&key));
        let give = |value: Vec<u8>| {
            (args.value, args.value_size) = (given(&value), value.len());
            args.free = Some(free);
        };
        told(value.map(give), args.new_error)
    }
}

pub(crate) unsafe extern "C" fn put(args: *mut Put) -> Ptr {
    // SAFETY: as in `get`.
    unsafe {
        let args = &mut *args;
        let (store, key) = (store_of(args.store), key_of(args.key, args.key_size));
        let value = slice_of(args.value, args.value_size);
        told(guarded(|| store.put(&key, value)), args.new_error)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ptr::{null, null_mut};
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Map(Mutex<HashMap<String, Vec<u8>>>);

    impl KeyValueStore for Map {
        fn get(&self, key: &str, _: Duration) -> Result<Vec<u8>> {
            self.try_get(key)
        }
        fn try_get(&self, key: &str) -> Result<Vec<u8>> {
            let known = self.0.lock().expect("no panic").get(key).cloned();
            known.ok_or_else(|| Error::runtime(format!("NOT_FOUND: {key}")))
        }
        fn put(&self, key: &str, value: &[u8]) -> Result<()> {
            self.0.lock().expect("no panic").insert(key.into(), value.to_vec());
            Ok(())
        }
    }

    unsafe extern "C" fn new_error(code: c_int, _: *const c_char, size: usize) -> Ptr {
        (code as usize * 1000 + size) as Ptr
    }

    #[test]
    fn values_go_through_callbacks() {
        let mut store: Shared = Box::new(Arc::new(Map::default()));
        let store = (&raw mut *store).cast::<c_void>();
        let new_error: NewError = new_error;
        let head = |size| (size, null::<Extension>());
        let (struct_size, extensions) = head(size_of::<Put>());
        let (key, value) = (b"k", b"some bytes");
        let mut args = Put {
            struct_size,
            extensions,
            key: key.as_ptr(),
            key_size: 1,
            value: value.as_ptr(),
            value_size: value.len(),
            new_error: &new_error,
            store,
        };
        // SAFETY: all addresses are of what lives here.
        assert!(unsafe { put(&mut args) }.is_null());
        let mut args = Get {
            struct_size: size_of::<Get>(),
            extensions,
            key: key.as_ptr(),
            key_size: 1,
            milliseconds: 10,
            new_error: &new_error,
            store,
            value: null_mut(),
            value_size: 0,
            free: None,
        };
        // SAFETY: as above.
        unsafe {
            assert!(get(&mut args).is_null());
            assert_eq!(slice_of(args.value.cast_const(), args.value_size), value);
            (args.free.expect("the value is freed"))(args.value);
            args.key_size = 0;
            assert_eq!(get(&mut args) as usize, 5 * 1000 + "NOT_FOUND: ".len());
        }
    }
}
