//! The layouts of the C interface: argument structs, and the numbers of the functions in the table.
//!
//! Fields are only ever appended between versions, so one layout holds for all plugins from 0.81 on.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

/// Something of the plugin's.
pub(crate) type Ptr = *mut c_void;

/// The head of every extension.
#[repr(C)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *const Extension,
}

/// The head of the table of functions, which follow it one after the other.
#[repr(C)]
pub(crate) struct Table {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) version_size: usize,
    pub(crate) version_extensions: *const Extension,
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
}

/// A named option, attribute or count.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NamedValue {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) name: *const c_char,
    pub(crate) name_size: usize,
    pub(crate) kind: c_int,
    /// A number, or the address of text or numbers.
    pub(crate) value: u64,
    pub(crate) value_size: usize,
}

/// Kinds of named values.
pub(crate) mod value {
    use std::ffi::c_int;
    pub(crate) const TEXT: c_int = 0;
    pub(crate) const INT: c_int = 1;
    pub(crate) const INTS: c_int = 2;
    pub(crate) const FLOAT: c_int = 3;
    pub(crate) const BOOL: c_int = 4;
}

/// Zeros after the fields we know, and counted in the size: a newer plugin reads them for its newer fields.
const PADDING: usize = 8;

macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            pub(crate) struct_size: usize,
            pub(crate) extensions: *const Extension,
            $(pub(crate) $field: $type,)*
            pub(crate) padding: [usize; PADDING],
        }

        impl Default for $name {
            fn default() -> $name {
                // SAFETY: all fields are numbers, booleans, addresses or optional functions, for which zeros are valid.
                let mut made: $name = unsafe { std::mem::zeroed() };
                made.struct_size = size_of::<$name>();
                made
            }
        }
    )* };
}

structs! {
    /// Nothing but the head.
    Nothing {}
    /// One thing in, or a thing in and one out.
    One { object: Ptr, out: Ptr }
    /// A thing in; text out.
    Text { object: Ptr, text: *const u8, size: usize }
    /// A thing in; things out.
    List { object: Ptr, items: *const Ptr, n: usize }
    /// A thing in; numbers out.
    Dims { object: Ptr, items: *const i64, n: usize }
    /// A thing in; a small number out.
    Int { object: Ptr, out: c_int }
    /// A thing in; a word out.
    Size { object: Ptr, out: usize }
    /// A thing in; a truth out.
    Bool { object: Ptr, out: bool }
    /// A thing in; named values out, counted first.
    CountedValues { object: Ptr, n: usize, items: *const NamedValue }
    /// Attributes of a plugin.
    PluginValues { items: *const NamedValue, n: usize }
    /// What is to be called when something is done.
    OnReady { event: Ptr, callback: Option<extern "C" fn(Ptr, Ptr)>, argument: Ptr }
    /// A new client, perhaps with the key-value store that other processes write too.
    ClientCreate {
        options: *const NamedValue, n: usize, get: Ptr, get_arg: Ptr, put: Ptr, put_arg: Ptr, client: Ptr, try_get: Ptr,
        try_get_arg: Ptr,
    }
    /// A program as text or bytes.
    Program { code: *const u8, code_size: usize, format: *const u8, format_size: usize }
    /// A program to compile for the devices of a client.
    ClientCompile { client: Ptr, program: *const Program, options: *const u8, options_size: usize, executable: Ptr }
    /// A program to compile for a described machine.
    Compile {
        topology: Ptr, program: *const Program, options: *const u8, options_size: usize, client: Ptr, executable: Ptr,
    }
    /// A described machine.
    TopologyCreate { name: *const u8, name_size: usize, options: *const NamedValue, n: usize, topology: Ptr }
    /// Elements from the host.
    FromHost {
        client: Ptr, data: *const c_void, kind: c_int, dims: *const i64, n_dims: usize, strides: *const i64,
        n_strides: usize, semantics: c_int, device: Ptr, memory: Ptr, layout: Ptr, done: Ptr, buffer: Ptr,
    }
    /// Elements to the host.
    ToHost { buffer: Ptr, layout: *const HostLayout, to: *mut c_void, size: usize, event: Ptr }
    /// A copy on another device.
    CopyTo { buffer: Ptr, device: Ptr, copy: Ptr }
    /// How to run.
    ExecuteOptions {
        send: Ptr, receive: Ptr, n_send: usize, n_receive: usize, launch_id: c_int, kept: *const i64, n_kept: usize,
        context: Ptr, call_location: *const c_char, n_tasks: usize, tasks: Ptr, incarnations: Ptr, slices: Ptr,
    }
    /// One run on all devices of an executable.
    Execute {
        executable: Ptr, options: *const ExecuteOptions, arguments: *const *const Ptr, n_devices: usize, n_arguments: usize,
        results: *const *mut Ptr, done: *mut Ptr, device: Ptr,
    }
    /// An executable as bytes that `owner` holds.
    Serialize { executable: Ptr, bytes: *const u8, n: usize, owner: Ptr, free: Option<extern "C" fn(Ptr)> }
    /// An executable from bytes.
    Deserialize { client: Ptr, bytes: *const u8, n: usize, executable: Ptr, options: *const u8, options_size: usize }
    /// The program after all passes.
    Optimized { executable: Ptr, program: *mut Program }
    /// Bytes of one run.
    CompiledMemory {
        executable: Ptr, code: i64, arguments: i64, results: i64, aliases: i64, temporaries: i64, host_code: i64,
        host_arguments: i64, host_results: i64, host_aliases: i64, host_temporaries: i64, peak: i64,
    }
    /// The memory of a device: each count is followed by whether the plugin keeps it.
    DeviceMemory {
        device: Ptr, in_use: i64, peak: i64, peak_is_set: bool, n_allocations: i64, n_allocations_is_set: bool,
        largest: i64, largest_is_set: bool, limit: i64, limit_is_set: bool, reserved: i64, reserved_is_set: bool,
        peak_reserved: i64, peak_reserved_is_set: bool, reservable: i64, reservable_is_set: bool, largest_free: i64,
        largest_free_is_set: bool, pool: i64, pool_is_set: bool, peak_pool: i64, peak_pool_is_set: bool,
    }
    /// A failure to free or to ask.
    ErrorOf { error: Ptr }
    /// The text of a failure.
    ErrorText { error: Ptr, text: *const u8, size: usize }
    /// The class of a failure.
    ErrorCode { error: Ptr, code: c_int }
}

/// The order of the axes in memory of the host.
#[repr(C)]
pub(crate) struct HostLayout {
    struct_size: usize,
    extensions: *const Extension,
    tiles: Tiles,
    kind: c_int,
}

/// An order of axes, without tiles.
#[repr(C)]
struct Tiles {
    struct_size: usize,
    extensions: *const Extension,
    minor_to_major: *const i64,
    n_axes: usize,
    tile_dims: *const i64,
    tile_sizes: *const usize,
    n_tiles: usize,
}

impl HostLayout {
    /// The axes from the fastest to the slowest; they must outlive the layout.
    pub(crate) fn of_axes(minor_to_major: &[i64]) -> HostLayout {
        const TILED: c_int = 0;
        let tiles = Tiles {
            struct_size: size_of::<Tiles>(),
            extensions: null(),
            minor_to_major: minor_to_major.as_ptr(),
            n_axes: minor_to_major.len(),
            tile_dims: null(),
            tile_sizes: null(),
            n_tiles: 0,
        };
        HostLayout { struct_size: size_of::<HostLayout>(), extensions: null(), tiles, kind: TILED }
    }
}

/// Numbers of functions in the table.
pub(crate) mod slot {
    pub(crate) const ERROR_FREE: usize = 0;
    pub(crate) const ERROR_TEXT: usize = 1;
    pub(crate) const ERROR_CODE: usize = 2;
    pub(crate) const INITIALIZE: usize = 3;
    pub(crate) const ATTRIBUTES: usize = 4;
    pub(crate) const EVENT_FREE: usize = 5;
    pub(crate) const EVENT_IS_READY: usize = 6;
    pub(crate) const EVENT_AWAIT: usize = 8;
    pub(crate) const EVENT_ON_READY: usize = 9;
    pub(crate) const CLIENT_CREATE: usize = 10;
    pub(crate) const CLIENT_FREE: usize = 11;
    pub(crate) const CLIENT_PLATFORM: usize = 12;
    pub(crate) const CLIENT_PROCESS: usize = 13;
    pub(crate) const CLIENT_VERSION: usize = 14;
    pub(crate) const CLIENT_DEVICES: usize = 15;
    pub(crate) const CLIENT_COMPILE: usize = 20;
    pub(crate) const FROM_HOST: usize = 22;
    pub(crate) const DESCRIPTION_ID: usize = 23;
    pub(crate) const DESCRIPTION_PROCESS: usize = 24;
    pub(crate) const DESCRIPTION_ATTRIBUTES: usize = 25;
    pub(crate) const DESCRIPTION_KIND: usize = 26;
    pub(crate) const DESCRIPTION_LONG: usize = 27;
    pub(crate) const DESCRIPTION_SHORT: usize = 28;
    pub(crate) const DEVICE_DESCRIPTION: usize = 29;
    pub(crate) const DEVICE_IS_ADDRESSABLE: usize = 30;
    pub(crate) const DEVICE_HARDWARE_ID: usize = 31;
    pub(crate) const DEVICE_MEMORIES: usize = 32;
    pub(crate) const DEVICE_MEMORY_STATS: usize = 34;
    pub(crate) const MEMORY_KIND: usize = 36;
    pub(crate) const EXECUTABLE_FREE: usize = 40;
    pub(crate) const EXECUTABLE_NAME: usize = 41;
    pub(crate) const EXECUTABLE_N_RESULTS: usize = 44;
    pub(crate) const EXECUTABLE_COST: usize = 46;
    pub(crate) const EXECUTABLE_OPTIMIZED: usize = 48;
    pub(crate) const EXECUTABLE_SERIALIZE: usize = 49;
    pub(crate) const LOADED_FREE: usize = 50;
    pub(crate) const LOADED_EXECUTABLE: usize = 51;
    pub(crate) const LOADED_EXECUTE: usize = 55;
    pub(crate) const DESERIALIZE: usize = 56;
    pub(crate) const BUFFER_FREE: usize = 58;
    pub(crate) const BUFFER_TYPE: usize = 59;
    pub(crate) const BUFFER_DIMS: usize = 60;
    pub(crate) const BUFFER_BYTES: usize = 64;
    pub(crate) const BUFFER_DELETE: usize = 67;
    pub(crate) const BUFFER_IS_DELETED: usize = 68;
    pub(crate) const BUFFER_COPY_TO_DEVICE: usize = 69;
    pub(crate) const BUFFER_TO_HOST: usize = 70;
    pub(crate) const BUFFER_READY: usize = 72;
    pub(crate) const BUFFER_ADDRESS: usize = 73;
    pub(crate) const TOPOLOGY_CREATE: usize = 82;
    pub(crate) const TOPOLOGY_FREE: usize = 83;
    pub(crate) const TOPOLOGY_PLATFORM: usize = 84;
    pub(crate) const TOPOLOGY_DEVICES: usize = 86;
    pub(crate) const COMPILE: usize = 89;
    pub(crate) const EXECUTABLE_MEMORY: usize = 96;
}
