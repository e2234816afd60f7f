//! Element types across the border: NumPy's dtype objects, JAX's scalar-type objects, and the x64 switch.
//!
//! NumPy's own types come from `numpy`; bfloat16, int4 and the eight-bit floats from `ml_dtypes`, imported on first use.

use std::sync::{Mutex, PoisonError};

use pullback_base::DType;
use pullback_trace::settings::{Setting, is_on, named_x64, x64};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyType};
use rustc_hash::FxHashMap;

use crate::numpy::numpy;

/// The NumPy dtype object of an element type.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    static TABLE: [PyOnceLock<Py<PyAny>>; DType::ALL.len()] = [const { PyOnceLock::new() }; DType::ALL.len()];
    let made = TABLE[dtype as usize].get_or_try_init(py, || make_numpy(py, dtype).map(Bound::unbind))?;
    Ok(made.bind(py).clone())
}

fn make_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let make = &numpy(py)?.dtype;
    match dtype {
        key if key.is_key() => py.import("pullback.dtypes")?.getattr("_KEY_DTYPES")?.get_item(key.name()),
        DType::Float0 => make.bind(py).call1((vec![("float0", "V0")],)),
        _ if is_of_numpy(dtype) => make.bind(py).call1((dtype.name(),)),
        _ => make.bind(py).call1((py.import("ml_dtypes")?.getattr(dtype.name())?,)),
    }
}

/// Whether NumPy itself has the type.
pub fn is_of_numpy(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F16 | F32 | F64 | C64 | C128)
}

/// The element type of a NumPy dtype object; `None` for types that arrays cannot have.
pub fn of_numpy(descr: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    static KNOWN: Mutex<Option<FxHashMap<usize, DType>>> = Mutex::new(None);
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = descr.as_ptr() as usize;
    if let Some(&known) = lock().as_ref().and_then(|table| table.get(&key)) {
        return Ok(Some(known));
    }
    let Some(dtype) = describe(descr)? else { return Ok(None) };
    // The descriptor stays alive, so that its address stays its own.
    std::mem::forget(descr.clone());
    lock().get_or_insert_default().insert(key, dtype);
    Ok(Some(dtype))
}

fn describe(descr: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let name: String = descr.getattr("name")?.extract()?;
    let is_native: bool = descr.getattr("isnative")?.extract()?;
    if !is_native {
        return Ok(None);
    }
    if let Some(dtype) = DType::parse(&name).filter(|dtype| dtype.name() == name) {
        return Ok(Some(dtype));
    }
    let is_float0 = descr.eq(to_numpy(descr.py(), DType::Float0)?)?;
    Ok(is_float0.then_some(DType::Float0))
}

/// The element type that an object names: a NumPy dtype or scalar type, a JAX scalar type, a name, or a Python number
/// type. It is not narrowed; see [`canonical`].
pub fn of_object(obj: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = obj.py();
    if let Some(known) = of_python_type(obj) {
        return Ok(known);
    }
    let descr = if obj.is_instance(numpy(py)?.dtype.bind(py))? || obj.hasattr("_pullback_dtype")? {
        obj.clone()
    } else if let Some(own) =
        // Scalar types of NumPy have a descriptor there, which is no dtype.
        obj.getattr_opt("dtype")?.filter(|own| own.hasattr("name").unwrap_or(false))
    {
        own
    } else {
        named_or_numpy(obj)?
    };
    if let Ok(key) = descr.getattr("_pullback_dtype") {
        return Ok(DType::parse(&key.extract::<String>()?).expect("our own dtype objects bear our names"));
    }
    let native =
        if descr.is_instance(numpy(py)?.dtype.bind(py))? { descr.call_method1("newbyteorder", ("=",))? } else { descr };
    of_numpy(&native)?.ok_or_else(|| not_a_dtype(&native))
}

fn not_a_dtype(descr: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "JAX only supports number, bool, and string dtypes, got dtype {} in array",
        descr.str().map(|text| text.to_string()).unwrap_or_default()
    ))
}

/// Python's number types mean the default types, without a warning.
fn of_python_type(obj: &Bound<'_, PyAny>) -> Option<DType> {
    let class = obj.cast::<PyType>().ok()?;
    let py = obj.py();
    let wide = [
        (py.get_type::<PyFloat>(), DType::F64),
        (py.get_type::<PyInt>(), DType::I64),
        (py.get_type::<PyBool>(), DType::Bool),
        (py.get_type::<PyComplex>(), DType::C128),
    ];
    let (_, dtype) = wide.iter().find(|(known, _)| known.is(class))?;
    Some(canonical(*dtype))
}

fn named_or_numpy<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    if let Ok(name) = obj.extract::<String>()
        && let Some(dtype) = DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    {
        return to_numpy(py, dtype);
    }
    numpy(py)?.dtype.bind(py).call1((obj,))
}

/// The type after narrowing while 64-bit types are off.
pub fn canonical(dtype: DType) -> DType {
    if x64() { dtype } else { dtype.narrowed() }
}

/// The type of a dtype that somebody named, in a place where nobody is warned.
pub fn canonical_named(dtype: DType) -> DType {
    if named_x64() { dtype } else { dtype.narrowed() }
}

/// The type that a user gets who asked for one by name: of the wide ones what `jax_explicit_x64_dtypes` says.
pub fn canonical_explicit(py: Python<'_>, dtype: DType, function: &str) -> PyResult<DType> {
    let narrow = canonical_named(dtype);
    if narrow != dtype {
        if is_on(Setting::RefuseNamedX64) {
            return Err(crate::errors::value_error(format!(
                "Explicitly requested dtype {dtype} requested in {function} is not available. To enable more dtypes, set \
                 the jax_enable_x64 or allow_explicit_x64_dtypes configuration options. See \
                 pullback.help(\"x64\") for more."
            )));
        }
        let text = format!(
            "Explicitly requested dtype {dtype} requested in {function} is not available, and will be truncated to dtype \
             {narrow}. To enable more dtypes, set the jax_enable_x64 configuration option or the JAX_ENABLE_X64 shell \
             environment variable. See pullback.help(\"x64\") for more."
        );
        pullback_trace::warn(&text).map_err(|error| crate::errors::to_py(py, &error))?;
    }
    Ok(narrow)
}

/// Issues a `UserWarning` at the caller's line.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    warn_as(py, pullback_trace::Warning::User, text)
}

/// Issues a warning of the class for what it is about at the caller's line.
pub fn warn_as(py: Python<'_>, kind: pullback_trace::Warning, text: &str) -> PyResult<()> {
    let category = match kind {
        pullback_trace::Warning::User => py.get_type::<pyo3::exceptions::PyUserWarning>().into_any(),
        pullback_trace::Warning::Deprecation => py.get_type::<pyo3::exceptions::PyDeprecationWarning>().into_any(),
        pullback_trace::Warning::Complex => py.import("numpy.exceptions")?.getattr("ComplexWarning")?,
    };
    let text = std::ffi::CString::new(text).expect("warnings hold no zero bytes");
    PyErr::warn(py, &category, &text, 1)
}

/// An argument that names an element type, as the user wrote it; for `#[pyfunction]` signatures.
#[derive(Clone, Copy, Debug)]
pub struct DTypeArg(DType);

impl DTypeArg {
    /// The type after narrowing; warns in the name of `function` when 64 bits were asked for and are off.
    pub fn canonical(self, py: Python<'_>, function: &str) -> PyResult<DType> {
        canonical_explicit(py, self.0, function)
    }

    /// The type as asked for.
    pub fn exact(self) -> DType {
        self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for DTypeArg {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<DTypeArg> {
        if crate::value::as_val(&obj).is_some() {
            return Err(crate::errors::value_error(
                "Passing an array as a dtype argument is no longer supported; instead of dtype=arr use dtype=arr.dtype.",
            ));
        }
        of_object(&obj).map(DTypeArg)
    }
}
