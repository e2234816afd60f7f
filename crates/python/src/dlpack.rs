//! DLPack: arrays handed to other libraries and taken from them without a copy.
//!
//! What goes out is marked as read-only; what comes in is kept alive by its owner, is never written, and is never given
//! away by donation. The structures are those of version 1 of the protocol, and of the version before.

use std::ffi::{CStr, c_char, c_void};

use pullback_base::array::Buffer;
use pullback_base::{Array, Aval, DType};
use pullback_ir::Val;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::gate::gate;
use crate::numpy::narrowed;
use crate::value::{as_val, wrap};

const CPU: i32 = 1;
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
/// Alignment that the engine has for its own memory; what has less is copied.
const ALIGNMENT: usize = 64;

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct ElementType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    rank: i32,
    element: ElementType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// What a capsule named `dltensor` holds.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// What a capsule named `dltensor_versioned` holds.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const PLAIN_NAME: &CStr = c"dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";

/// Type codes of the protocol: integer, unsigned, float, opaque, bfloat, complex, bool.
fn element_of(dtype: DType) -> Option<ElementType> {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::C64 | DType::C128 => 5,
        DType::Bool => 6,
        _ => return None,
    };
    Some(ElementType { code, bits: 8 * dtype.size_bytes() as u8, lanes: 1 })
}

fn dtype_of(element: &ElementType) -> Option<DType> {
    const ALL: [DType; 15] = [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::F32,
        DType::F64,
        DType::BF16,
        DType::C64,
        DType::C128,
        DType::Bool,
    ];
    let is_it = |dtype: &DType| {
        element_of(*dtype)
            .is_some_and(|own| (own.code, own.bits, own.lanes) == (element.code, element.bits, element.lanes))
    };
    ALL.into_iter().find(is_it)
}

/// What an exported tensor points into while it lives.
struct Export {
    _buffer: Buffer,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// The tensor of an array, and what it points into.
fn tensor_of(py: Python<'_>, array: &Array) -> PyResult<(Tensor, *mut c_void)> {
    let Some(element) = element_of(array.dtype()) else {
        return Err(PyBufferError::new_err(format!("DLPack has no element type for {}", array.dtype())));
    };
    let buffer = gate(py, || array.buffer())?;
    let shape: Vec<i64> = array.shape().iter().map(|&n| n as i64).collect();
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    let data = buffer.as_ptr().cast_mut().cast();
    let mut export = Box::new(Export { _buffer: buffer, shape, strides });
    let tensor = Tensor {
        data,
        device: Device { kind: CPU, id: 0 },
        rank: export.shape.len() as i32,
        element,
        shape: export.shape.as_mut_ptr(),
        strides: export.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    Ok((tensor, Box::into_raw(export).cast()))
}

unsafe extern "C" fn delete_plain(managed: *mut Managed) {
    // SAFETY: both boxes were made by `to_capsule`; the protocol calls the deleter once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Export>()));
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: as above.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Export>()));
    }
}

/// Frees what a capsule holds that nobody took.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter hands in the capsule that dies; a capsule that was taken has another name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN_NAME.as_ptr()) == 1 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN_NAME.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED_NAME.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED_NAME.as_ptr()).cast());
        }
    }
}

fn capsule<'py>(py: Python<'py>, pointer: *mut c_void, name: &'static CStr) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer is not null, the name lives forever, and the result is a new reference or null.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy))) }
}

/// A capsule with the elements of an array; they are copied first if asked for, and can only be read otherwise.
#[pyfunction]
fn to_dlpack_capsule<'py>(x: &Bound<'py, PyAny>, is_versioned: bool, copy: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let array = as_val(x).and_then(|val| crate::tracer::concrete(val)?.to_array());
    let Some(mut array) = array else { return Err(PyTypeError::new_err("a traced array has no elements")) };
    if copy {
        array = gate(py, || Array::from_bytes(array.aval(), &array.to_bytes()?))?;
    }
    let (tensor, context) = tensor_of(py, &array)?;
    if is_versioned {
        let flags = if copy { IS_COPIED } else { READ_ONLY };
        let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut Versioned));
        let managed = Versioned { version: [1, 0], context, deleter, flags, tensor };
        return capsule(py, Box::into_raw(Box::new(managed)).cast(), VERSIONED_NAME);
    }
    let managed = Managed { tensor, context, deleter: Some(delete_plain) };
    capsule(py, Box::into_raw(Box::new(managed)).cast(), PLAIN_NAME)
}

/// A tensor of another library; gives it back when dropped.
enum Taken {
    Plain(*mut Managed),
    Versioned(*mut Versioned),
}

// SAFETY: the protocol lets any thread read the memory and call the deleter; ours calls it with the interpreter's lock.
unsafe impl Send for Taken {}
// SAFETY: as above.
unsafe impl Sync for Taken {}

impl Taken {
    /// Takes what a capsule holds, and marks the capsule as used.
    fn from_capsule(object: &Bound<'_, PyAny>) -> PyResult<Taken> {
        let raw = object.as_ptr();
        let take = |name: &CStr, used: &'static CStr| -> Option<*mut c_void> {
            // SAFETY: any object may be asked whether it is such a capsule; only one is asked for its pointer.
            unsafe {
                if ffi::PyCapsule_IsValid(raw, name.as_ptr().cast::<c_char>()) == 0 {
                    return None;
                }
                let pointer = ffi::PyCapsule_GetPointer(raw, name.as_ptr());
                ffi::PyCapsule_SetName(raw, used.as_ptr());
                // Who made the capsule looks at its name; who did not must not free what we took.
                Some(pointer)
            }
        };
        if let Some(pointer) = take(VERSIONED_NAME, c"used_dltensor_versioned") {
            return Ok(Taken::Versioned(pointer.cast()));
        }
        match take(PLAIN_NAME, c"used_dltensor") {
            Some(pointer) => Ok(Taken::Plain(pointer.cast())),
            None => Err(PyTypeError::new_err("__dlpack__ gave no DLPack capsule, or one that was used already")),
        }
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: the tensor lives until its deleter is called, in `drop`.
        unsafe {
            match self {
                Taken::Plain(managed) => &(**managed).tensor,
                Taken::Versioned(managed) => &(**managed).tensor,
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Deleters of Python libraries count references.
        Python::attach(|_| {
            // SAFETY: the tensor was taken, so that it is ours to delete, once.
            unsafe {
                match *self {
                    Taken::Plain(managed) => (*managed).deleter.into_iter().for_each(|delete| delete(managed)),
                    Taken::Versioned(managed) => (*managed).deleter.into_iter().for_each(|delete| delete(managed)),
                }
            }
        });
    }
}

fn sizes(start: *const i64, rank: usize) -> Vec<i64> {
    // SAFETY: the protocol has `rank` numbers there; none are read when there are none.
    if rank == 0 { vec![] } else { unsafe { std::slice::from_raw_parts(start, rank) }.to_vec() }
}

/// Steps of the axes in elements when elements lie in row-major order.
fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The bytes of elements with steps, in row-major order.
///
/// # Safety
/// All elements that shape and strides reach from `start` must be readable.
unsafe fn gather(start: *const u8, shape: &[i64], strides: &[i64], item: usize) -> Vec<u8> {
    let n = shape.iter().product::<i64>() as usize;
    let mut bytes = Vec::with_capacity(n * item);
    let mut index = vec![0i64; shape.len()];
    for _ in 0..n {
        let at: i64 = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        // SAFETY: by contract.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start.offset(at as isize * item as isize), item) });
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    bytes
}

/// The array in a capsule. `copy` says whether its elements must, or must not, be copied; else they are when they have to.
#[pyfunction]
fn from_dlpack_capsule(object: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Py<PyAny>> {
    let py = object.py();
    let taken = Taken::from_capsule(object)?;
    let tensor = taken.tensor();
    if tensor.device.kind != CPU {
        return Err(PyValueError::new_err(format!(
            "from_dlpack takes arrays of the CPU, got device type {}",
            tensor.device.kind
        )));
    }
    let Some(dtype) = dtype_of(&tensor.element) else {
        let ElementType { code, bits, lanes } = tensor.element;
        return Err(PyTypeError::new_err(format!(
            "DLPack type code {code} of {bits} bits and {lanes} lanes is not supported"
        )));
    };
    let rank = tensor.rank as usize;
    let shape = sizes(tensor.shape, rank);
    let strides = if tensor.strides.is_null() { row_major(&shape) } else { sizes(tensor.strides, rank) };
    let dims: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    let aval = Aval::new(&dims, dtype);
    let size_bytes = aval.size_bytes();
    // SAFETY: the offset stays inside what the tensor describes.
    let start = unsafe { tensor.data.cast::<u8>().cast_const().add(tensor.byte_offset as usize) };
    let is_dense = size_bytes == 0
        || shape.iter().zip(strides.iter().zip(row_major(&shape))).all(|(&n, (&have, want))| n == 1 || have == want);
    let is_narrowed = crate::dtypes::canonical(dtype) != dtype;
    let can_share = is_dense && start.addr() % ALIGNMENT == 0 && size_bytes > 0 && !is_narrowed;
    if copy == Some(false) && !can_share {
        return Err(PyValueError::new_err(format!(
            "from_dlpack(copy=False) of an array of type {} needs a copy: its elements must be dense in row-major order, aligned to \
             {ALIGNMENT} bytes, and of a type that is enabled",
            aval.long()
        )));
    }
    if can_share && copy != Some(true) {
        // SAFETY: the owner keeps the elements while the tensor is ours. That nobody writes to them meanwhile is what the
        // user of the protocol takes care of, as for every library.
        let buffer = unsafe { Buffer::foreign(start, size_bytes, Box::new(taken)) };
        return wrap(py, Val::Array(Array::new(aval, buffer)));
    }
    // SAFETY: the tensor says that these elements are there.
    let bytes = if size_bytes == 0 { vec![] } else { unsafe { gather(start, &shape, &strides, dtype.size_bytes()) } };
    wrap(py, Val::Array(gate(py, || narrowed(aval, &bytes))?))
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(to_dlpack_capsule, m)?)?;
    m.add_function(wrap_pyfunction!(from_dlpack_capsule, m)?)
}
