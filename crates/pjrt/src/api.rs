//! A loaded plugin: its table of functions, and the errors that they give.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use libloading::Library;
use pullback_base::{Error, ErrorKind, Result};

use crate::abi::{
    ErrorCode, ErrorOf, ErrorText, Extension, List, NamedValue, Nothing, One, PluginValues, Ptr, Table, Text, slot,
    value,
};
use crate::ffi::failure_in;
use crate::options::Setting;

/// The oldest version of the interface whose plugins were run.
const OLDEST: (i32, i32) = (0, 81);

struct Inner {
    table: *const Table,
    path: String,
    /// Never unloaded: threads of the plugin outlive all that we hold of it.
    _library: ManuallyDrop<Library>,
}

// SAFETY: the table is constant memory of a library that is never unloaded, and its functions may be called from any
// thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// A loaded plugin. Copies are free.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

fn unusable(path: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Runtime, format!("'{path}' cannot be used as a PJRT plugin: {reason}"))
}

impl Plugin {
    /// Loads the shared library at a path and initializes it.
    ///
    /// # Errors
    /// `Runtime` for a file that is missing, is no library, lacks a library that it needs, or is no plugin, and for
    /// plugins of unknown or too old versions.
    pub fn load(path: &Path) -> Result<Plugin> {
        let text = path.display().to_string();
        if !path.is_file() {
            return Err(unusable(&text, "there is no such file"));
        }
        // SAFETY: loading runs the library's initializers; the user named it as a plugin to be run.
        let library = unsafe { Library::new(path) }.map_err(|error| unusable(&text, error))?;
        // SAFETY: every PJRT plugin exports a function of this name and type.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Table>(b"GetPjrtApi\0") };
        let entry = entry.map_err(|_| unusable(&text, "the library has no function GetPjrtApi"))?;
        // SAFETY: it takes nothing and gives the address of a constant table, or null.
        let table = unsafe { entry() };
        if table.is_null() {
            return Err(unusable(&text, "GetPjrtApi gave nothing"));
        }
        // SAFETY: a table begins with this head in every version.
        let version = unsafe { ((*table).major, (*table).minor) };
        if version.0 != OLDEST.0 || version < OLDEST {
            let (major, minor) = version;
            let text = unusable(&text, format!("its version {major}.{minor} of the interface is not supported"));
            return Err(text.with_message(format!(
                "{}; it should be {}.{} or newer",
                text.message(),
                OLDEST.0,
                OLDEST.1
            )));
        }
        let plugin = Plugin(Arc::new(Inner { table, path: text, _library: ManuallyDrop::new(library) }));
        plugin
            .call(slot::INITIALIZE, &mut Nothing::default())
            .map_err(|error| unusable(plugin.path(), error.message()))?;
        Ok(plugin)
    }

    /// The file that it was loaded from.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The version of the interface.
    pub fn version(&self) -> (i32, i32) {
        // SAFETY: the table lives as long as the process.
        unsafe { ((*self.0.table).major, (*self.0.table).minor) }
    }

    /// What the plugin says of itself.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn attributes(&self) -> Result<Vec<(String, Setting)>> {
        let mut args = PluginValues::default();
        self.call(slot::ATTRIBUTES, &mut args)?;
        // SAFETY: the plugin gave so many values, which live as long as it does.
        Ok(unsafe { named_values(args.items, args.n) })
    }

    /// The numbers of its extensions.
    pub fn extensions(&self) -> Vec<i32> {
        let mut found = vec![];
        // SAFETY: the list and its heads are constant memory of the plugin; it ends with null.
        unsafe {
            let mut next = (*self.0.table).extensions;
            while let Some(extension) = next.as_ref() {
                found.push(extension.kind);
                next = extension.next;
            }
        }
        found
    }

    /// The extension of a number, where the plugin has one of at least so many bytes.
    pub(crate) fn extension(&self, kind: i32, size: usize) -> Option<*const Extension> {
        // SAFETY: the list and its heads are constant memory of the plugin; it ends with null.
        unsafe {
            let mut next = (*self.0.table).extensions;
            while let Some(extension) = next.as_ref() {
                if extension.kind == kind && extension.struct_size >= size {
                    return Some(next);
                }
                next = extension.next;
            }
        }
        None
    }

    fn function(&self, number: usize) -> Option<*const ()> {
        let offset = size_of::<Table>() + number * size_of::<*const ()>();
        // SAFETY: the table says how long it is; its functions follow the head.
        unsafe {
            if offset + size_of::<*const ()>() > (*self.0.table).struct_size {
                return None;
            }
            let function = *self.0.table.byte_add(offset).cast::<*const ()>();
            (!function.is_null()).then_some(function)
        }
    }

    /// Calls a function of the table.
    ///
    /// # Errors
    /// `NotImplemented` when the plugin has no such function; what it raises.
    pub(crate) fn call<T>(&self, number: usize, args: &mut T) -> Result<()> {
        let Some(function) = self.function(number) else {
            let (major, minor) = self.version();
            return Err(Error::not_implemented(format!(
                "the PJRT plugin '{}' of version {major}.{minor} lacks function {number} of the interface",
                self.path()
            )));
        };
        // SAFETY: every function of the table but those on errors has this type; the struct is the one of its number.
        let function: unsafe extern "C" fn(*mut T) -> Ptr = unsafe { std::mem::transmute(function) };
        // SAFETY: as above; the struct lives through the call.
        self.check(unsafe { function(args) })
    }

    /// Calls a function of an extension.
    pub(crate) fn check(&self, error: Ptr) -> Result<()> {
        if error.is_null() { Ok(()) } else { Err(self.error(error)) }
    }

    fn error(&self, error: Ptr) -> Error {
        let mut text = ErrorText { error, ..ErrorText::default() };
        let mut code = ErrorCode { error, ..ErrorCode::default() };
        let mut free = ErrorOf { error, ..ErrorOf::default() };
        let functions =
            (self.function(slot::ERROR_TEXT), self.function(slot::ERROR_CODE), self.function(slot::ERROR_FREE));
        let (Some(text_of), Some(code_of), Some(free_of)) = functions else {
            return Error::internal("the plugin failed and has no functions to say how");
        };
        // SAFETY: these are the types of the functions on errors; the text is copied before the error is freed.
        let message = unsafe {
            let text_of: unsafe extern "C" fn(*mut ErrorText) = std::mem::transmute(text_of);
            let code_of: unsafe extern "C" fn(*mut ErrorCode) -> Ptr = std::mem::transmute(code_of);
            let free_of: unsafe extern "C" fn(*mut ErrorOf) = std::mem::transmute(free_of);
            text_of(&mut text);
            code_of(&mut code);
            let message = bytes_as_text(text.text, text.size);
            free_of(&mut free);
            message
        };
        failure_in(&message).unwrap_or_else(|| error_of(code.code, &message))
    }

    /// The text that a function gives of a thing.
    pub(crate) fn text(&self, number: usize, object: Ptr) -> Result<String> {
        let mut args = Text { object, ..Text::default() };
        self.call(number, &mut args)?;
        // SAFETY: the plugin gave so many bytes.
        Ok(unsafe { bytes_as_text(args.text, args.size) })
    }

    /// The thing that a function gives of a thing.
    pub(crate) fn one(&self, number: usize, object: Ptr) -> Result<Ptr> {
        let mut args = One { object, ..One::default() };
        self.call(number, &mut args)?;
        Ok(args.out)
    }

    /// The things that a function gives of a thing.
    pub(crate) fn list(&self, number: usize, object: Ptr) -> Result<Vec<Ptr>> {
        let mut args = List { object, ..List::default() };
        self.call(number, &mut args)?;
        // SAFETY: the plugin gave so many.
        Ok(unsafe { slice_of(args.items, args.n) }.to_vec())
    }

    /// Frees a thing; a failure to do so has no one to tell.
    pub(crate) fn free(&self, number: usize, object: Ptr) {
        let _ = self.one(number, object);
    }
}

/// The class of the exception for a code of the plugin's, and its name in texts.
fn error_of(code: i32, message: &str) -> Error {
    const CODES: &[(&str, ErrorKind)] = &[
        ("OK", ErrorKind::Runtime),
        ("CANCELLED", ErrorKind::Runtime),
        ("UNKNOWN", ErrorKind::Runtime),
        ("INVALID_ARGUMENT", ErrorKind::Runtime),
        ("DEADLINE_EXCEEDED", ErrorKind::Runtime),
        ("NOT_FOUND", ErrorKind::Runtime),
        ("ALREADY_EXISTS", ErrorKind::Runtime),
        ("PERMISSION_DENIED", ErrorKind::Runtime),
        ("RESOURCE_EXHAUSTED", ErrorKind::Memory),
        ("FAILED_PRECONDITION", ErrorKind::Runtime),
        ("ABORTED", ErrorKind::Runtime),
        ("OUT_OF_RANGE", ErrorKind::Runtime),
        ("UNIMPLEMENTED", ErrorKind::NotImplemented),
        ("INTERNAL", ErrorKind::Runtime),
        ("UNAVAILABLE", ErrorKind::Runtime),
        ("DATA_LOSS", ErrorKind::Runtime),
        ("UNAUTHENTICATED", ErrorKind::Runtime),
    ];
    let (name, kind) = usize::try_from(code).ok().and_then(|code| CODES.get(code)).copied().unwrap_or(CODES[2]);
    let message = message.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
    Error::new(kind, format!("{name}: {message}"))
}

/// Items that the plugin gave.
///
/// # Safety
/// `items` must be null or the address of `n` items that live for `'a`.
pub(crate) unsafe fn slice_of<'a, T>(items: *const T, n: usize) -> &'a [T] {
    if items.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(items, n) }
}

/// Text that the plugin gave.
///
/// # Safety
/// As [`slice_of`].
pub(crate) unsafe fn bytes_as_text(text: *const u8, size: usize) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { slice_of(text, size) }).into_owned()
}

/// Named values that the plugin gave. Newer plugins may have longer values, so steps are of the size that each states.
///
/// # Safety
/// `items` must be the address of `n` values.
pub(crate) unsafe fn named_values(items: *const NamedValue, n: usize) -> Vec<(String, Setting)> {
    // SAFETY: as the caller says; text and numbers have the sizes that the value states.
    let one = |item: &NamedValue| unsafe {
        let name = bytes_as_text(item.name.cast(), item.name_size);
        let setting = match item.kind {
            value::TEXT => Setting::Text(bytes_as_text(item.value as *const u8, item.value_size)),
            value::INT => Setting::Int(item.value as i64),
            value::INTS => Setting::Ints(slice_of(item.value as *const i64, item.value_size).to_vec()),
            value::FLOAT => Setting::Float(f32::from_bits(item.value as u32)),
            value::BOOL => Setting::Bool(item.value & 0xff != 0),
            other => Setting::Text(format!("a value of unknown kind {other}")),
        };
        (name, setting)
    };
    // SAFETY: as the caller says.
    unsafe { slice_of(items, n) }.iter().map(one).collect()
}
