//! What pickle stores of arrays: names, numbers and bytes, each of which is checked when it comes back. NumPy's own objects
//! are not among them: their state is taken as it comes, and altered bytes end the process.

use pullback_base::{Array, Aval, DType};
use pullback_ir::Val;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::value_error;
use crate::gate::gate;
use crate::value::wrap;

/// How an array is rebuilt: its dtype by name, its shape, its weak type and its bytes.
type Stored<'py> = (String, Vec<usize>, bool, Bound<'py, PyBytes>);

/// The function that rebuilds an array, and what it takes.
///
/// # Errors
/// When the array was deleted.
pub fn reduced<'py>(py: Python<'py>, array: &Array) -> PyResult<(Bound<'py, PyAny>, Stored<'py>)> {
    let aval = array.aval();
    let bytes = gate(py, || array.to_bytes())?;
    let rebuild = py.import("pullback._core")?.getattr("_array_of_bytes")?;
    Ok((rebuild, (aval.dtype.name().into(), aval.shape.to_vec(), aval.weak_type, PyBytes::new(py, &bytes))))
}

/// An array from its pickled form.
#[pyfunction]
fn _array_of_bytes(
    py: Python<'_>,
    dtype: &str,
    shape: Vec<usize>,
    weak_type: bool,
    bytes: &[u8],
) -> PyResult<Py<PyAny>> {
    let damaged = |what: &str| value_error(format!("the pickled array is damaged: {what}"));
    let dtype = DType::parse(dtype).filter(|dtype| !dtype.is_key()).ok_or_else(|| damaged("it has no known dtype"))?;
    let aval = Aval::new(&shape, dtype);
    gate(py, || aval.check_extent())?;
    if aval.size_bytes() != bytes.len() {
        return Err(damaged("its bytes are not as many as its shape says"));
    }
    if !bytes.iter().all(|&byte| holds(dtype, byte)) {
        return Err(damaged("an element is none of its dtype"));
    }
    wrap(py, Val::Array(gate(py, || Array::from_bytes(aval.weak(weak_type), bytes))?))
}

/// Whether a byte may stand in an element: a type of fewer bits than a byte does not use all of them.
fn holds(dtype: DType, byte: u8) -> bool {
    let signed = byte as i8;
    match dtype {
        DType::Bool => byte < 2,
        DType::U2 => byte < 4,
        DType::U4 | DType::F4E2M1FN => byte < 16,
        DType::I2 => (-2..2).contains(&signed),
        DType::I4 => (-8..8).contains(&signed),
        _ => true,
    }
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_array_of_bytes, m)?)
}
