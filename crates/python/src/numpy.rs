//! NumPy's arrays, read in place and made: the few facts of its C structures that never change.
//!
//! An array that NumPy can still write to is copied; one of our own that comes back is recognized. Only what the type of an
//! object says is believed: a subclass may override any method, so none is called.
//!
//! What another thread writes to an array while it is copied may be in the copy or not, element by element: NumPy computes
//! without the interpreter's lock. The copy itself never changes afterwards.

use std::ffi::{c_char, c_int};

use pullback_base::array::Buffer;
use pullback_base::{Array, Aval, DType};
use pullback_ir::Val;
use pullback_trace::settings::{Setting, set_on_thread};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use smallvec::SmallVec;

use crate::dtypes;
use crate::errors::type_error;
use crate::gate::gate;
use crate::value;

/// What is used of the `numpy` module.
pub struct NumPy {
    /// `numpy.ndarray`.
    pub ndarray: Py<PyType>,
    /// `numpy.generic`, the class of scalars.
    pub generic: Py<PyType>,
    /// `numpy.dtype`.
    pub dtype: Py<PyAny>,
    /// `numpy.asarray`.
    pub asarray: Py<PyAny>,
    /// `numpy.array`.
    array: Py<PyAny>,
}

/// The `numpy` module.
pub fn numpy(py: Python<'_>) -> PyResult<&'static NumPy> {
    static NUMPY: PyOnceLock<NumPy> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let get = |name| module.getattr(name).map(Bound::unbind);
        let class = |name| -> PyResult<Py<PyType>> { Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        Ok(NumPy {
            ndarray: class("ndarray")?,
            generic: class("generic")?,
            dtype: get("dtype")?,
            asarray: get("asarray")?,
            array: get("array")?,
        })
    })
}

/// The head of NumPy's array objects, the same in all its versions.
#[repr(C)]
struct NdArray {
    head: ffi::PyObject,
    data: *mut c_char,
    rank: c_int,
    dimensions: *mut isize,
    strides: *mut isize,
    base: *mut ffi::PyObject,
    descr: *mut ffi::PyObject,
    flags: c_int,
}

const C_CONTIGUOUS: c_int = 1;

/// Whether the object is a NumPy array.
pub fn is_ndarray(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(obj, &numpy(obj.py())?.ndarray))
}

/// Whether the object is a NumPy scalar.
pub fn is_generic(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(obj, &numpy(obj.py())?.generic))
}

/// Whether the type of an object is a class or derives from it. `isinstance` would also believe its `__class__`.
fn is_of(obj: &Bound<'_, PyAny>, class: &Py<PyType>) -> bool {
    // SAFETY: both are live objects, and the second is a type.
    unsafe { ffi::PyObject_TypeCheck(obj.as_ptr(), class.as_ptr().cast()) != 0 }
}

/// The elements of an array as one of NumPy's own class, in the order of rows.
fn plain_copy<'py>(array: &Bound<'py, PyAny>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let options = PyDict::new(py);
    options.set_item("copy", true)?;
    options.set_item("order", "C")?;
    options.set_item("dtype", dtype)?;
    let copy = numpy(py)?.array.bind(py).call((array,), Some(&options))?;
    // SAFETY: read only when the object is an instance of `numpy.ndarray`, whose head this is.
    let is_plain =
        is_ndarray(&copy)? && unsafe { (*copy.as_ptr().cast::<NdArray>()).flags } & C_CONTIGUOUS == C_CONTIGUOUS;
    if is_plain { Ok(copy) } else { Err(type_error("numpy.array gave no contiguous array")) }
}

/// The value of a NumPy array, narrowed while 64-bit types are off. One without axes becomes a literal.
pub fn from_ndarray(array: &Bound<'_, PyAny>) -> PyResult<Val> {
    let py = array.py();
    if !is_ndarray(array)? {
        return Err(type_error(format!("expected an array of NumPy, got an instance of {}", array.get_type())));
    }
    if !array.is_exact_instance(numpy(py)?.ndarray.bind(py)) && array.get_type().name()? == "MaskedArray" {
        return Err(crate::errors::value_error(
            "numpy masked arrays are not supported as direct inputs to JAX functions. Use arr.filled() to convert the value \
             to a standard numpy array.",
        ));
    }
    // SAFETY: the object is an instance of `numpy.ndarray`, whose head this is, and lives as long as `array`.
    let head = unsafe { &*array.as_ptr().cast::<NdArray>() };
    // SAFETY: the descriptor is a live object that the array holds.
    let descr = unsafe { Bound::from_borrowed_ptr(py, head.descr) };
    let Some(dtype) = dtypes::of_numpy(&descr)? else { return from_strange(array, &descr) };
    // Types of other packages can be given another size by their pickled state.
    let is_checked = dtypes::is_of_numpy(dtype) || dtype == DType::Float0;
    if !is_checked && descr.getattr("itemsize")?.extract::<usize>()? != dtype.size_bytes() {
        return Err(type_error(format!("a dtype named {dtype} has elements of another size than that type")));
    }
    if head.flags & C_CONTIGUOUS == 0 {
        return from_ndarray(&plain_copy(array, None)?);
    }
    if let Some(own) = own_array(py, head, dtype) {
        return Ok(Val::Array(own));
    }
    let shape = shape_of(head);
    let aval = Aval::new(&shape, dtype);
    // SAFETY: a contiguous array has all its bytes at `data`, and is not freed while we hold it and the interpreter's lock.
    let array = gate(py, || unsafe { narrowed_at(aval, head.data.cast::<u8>()) })?;
    Ok(if shape.is_empty() && dtype != DType::Float0 {
        Val::Literal(array.element(0).expect("fresh"))
    } else {
        Val::Array(crate::transfers::of_host(default_place(array)))
    })
}

/// A new array, on the default device.
pub fn default_place(array: Array) -> Array {
    match pullback_backend::uncommitted() {
        None => array,
        place => array.placed(place).unwrap_or(array),
    }
}

fn shape_of(head: &NdArray) -> SmallVec<[usize; 4]> {
    // SAFETY: NumPy keeps `rank` sizes there.
    let sizes = if head.rank == 0 {
        &[][..]
    } else {
        unsafe { std::slice::from_raw_parts(head.dimensions, head.rank as usize) }
    };
    sizes.iter().map(|&size| size as usize).collect()
}

/// The array of ours that a NumPy array is a whole view of, if it is one.
fn own_array(py: Python<'_>, head: &NdArray, dtype: DType) -> Option<Array> {
    // SAFETY: the base is null or a live object that the array holds.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(py, head.base) }?;
    // NumPy reads our buffers through a memory view, which knows whose memory it shows.
    let base = match base.cast::<pyo3::types::PyMemoryView>() {
        Ok(view) => view.getattr("obj").ok()?,
        Err(_) => base,
    };
    let Val::Array(own) = value::as_val(&base)?.clone() else { return None };
    let is_whole = own.dtype() == dtype && own.shape() == shape_of(head).as_slice() && !own.aval().weak_type;
    let is_same = own.buffer().is_ok_and(|buffer| buffer.as_ptr() == head.data.cast::<u8>());
    (is_whole && is_same).then_some(own)
}

/// Foreign byte orders are swapped; all else is refused.
fn from_strange(array: &Bound<'_, PyAny>, descr: &Bound<'_, PyAny>) -> PyResult<Val> {
    let native = descr.call_method1("newbyteorder", ("=",))?;
    if native.is(descr) || dtypes::of_numpy(&native)?.is_none() {
        return Err(type_error(format!(
            "Value '{}' with dtype {} is not a valid JAX array type. Only arrays of numeric types are supported by JAX.",
            array.repr()?,
            descr.str()?
        )));
    }
    from_ndarray(&plain_copy(array, Some(&native))?)
}

/// The array of elements in row-major order, narrowed while 64-bit types are off.
///
/// # Errors
/// `Memory` when there is none for the copy.
pub fn narrowed(aval: Aval, bytes: &[u8]) -> pullback_base::Result<Array> {
    assert_eq!(bytes.len(), aval.size_bytes(), "bytes for {aval}");
    // SAFETY: the bytes of all elements are there.
    unsafe { narrowed_at(aval, bytes.as_ptr()) }
}

/// As [`narrowed`], of memory that others may write meanwhile: it is only copied, never lent as a slice, and nothing is
/// decided by what it holds.
///
/// # Safety
/// The bytes of all elements must be readable at `data`.
unsafe fn narrowed_at(aval: Aval, data: *const u8) -> pullback_base::Result<Array> {
    if aval.dtype == DType::Float0 {
        return Array::full(aval, pullback_base::Scalar::zero(aval.dtype));
    }
    let narrow_aval = aval.with_dtype(dtypes::canonical(aval.dtype));
    let size = narrow_aval.size_bytes();
    let mut buffer = Buffer::allocate(size)?;
    let out = &mut buffer.bytes_mut()[..size];
    // SAFETY: the caller vouches for all bytes; a narrow element is made of one wide one.
    match (aval.dtype, narrow_aval.dtype) {
        (wide, same) if wide == same => unsafe { copy(data, out) },
        (DType::I64 | DType::U64, _) => unsafe {
            narrow(data, out, |word| (u64::from_le_bytes(word) as u32).to_le_bytes());
        },
        _ => unsafe { narrow(data, out, |word| (f64::from_le_bytes(word) as f32).to_le_bytes()) },
    }
    Ok(Array::new(narrow_aval, buffer.freeze()))
}

/// # Safety
/// As many bytes as `to` has must be readable at `from`.
unsafe fn copy(from: *const u8, to: &mut [u8]) {
    if !to.is_empty() {
        // SAFETY: the caller vouches for `from`; `to` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
    }
}

/// # Safety
/// Twice as many bytes as `to` has must be readable at `from`.
unsafe fn narrow(from: *const u8, to: &mut [u8], convert: impl Fn([u8; 8]) -> [u8; 4]) {
    const BLOCK: usize = 4096;
    let mut block = [0; BLOCK];
    for (i, to) in to.chunks_mut(BLOCK / 2).enumerate() {
        let own = &mut block[..2 * to.len()];
        // SAFETY: the block before ended where this one begins, and the caller vouches for all.
        unsafe { copy(from.add(i * BLOCK), own) };
        for (from, to) in own.chunks_exact(8).zip(to.chunks_exact_mut(4)) {
            to.copy_from_slice(&convert(from.try_into().expect("chunks of eight")));
        }
    }
}

/// The array of a NumPy array in its own type, 64-bit types included.
pub fn exact_array(array: &Bound<'_, PyAny>) -> PyResult<Array> {
    let before = set_on_thread(Setting::X64, Some(true));
    let val = from_ndarray(array);
    set_on_thread(Setting::X64, before);
    Ok(val?.to_array().expect("NumPy arrays are concrete"))
}

/// A read-only NumPy view of a Python object with the buffer of an array.
pub fn view_of<'py>(owner: &Bound<'py, PyAny>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let shape = pyo3::types::PyTuple::new(py, array.shape())?;
    let dtype = dtypes::to_numpy(py, array.dtype())?;
    let class = numpy(py)?.ndarray.bind(py);
    if array.dtype() == DType::Float0 || array.aval().size() == 0 {
        let empty = class.call1((shape, dtype))?;
        empty.call_method1("setflags", (false,))?;
        return Ok(empty);
    }
    class.call1((shape, dtype, owner))
}
