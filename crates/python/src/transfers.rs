//! Guards of transfers: values of the host that enter an operation, and what the user wants to become of them.

use pullback_backend::{Unguarded, are_transfers_guarded, transfer, unguarded};
use pullback_base::array::place::DeviceId;
use pullback_base::{Array, Result};
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};
use pyo3::prelude::*;

use crate::errors::Carry;
use crate::gate::{gate, is_own_call};
use crate::numpy::default_place;
use crate::value::{to_val, wrap};

/// Logs a value that goes to a device, or refuses it.
fn hear(val: &Val, device: DeviceId) -> Result<()> {
    Python::attach(|py| {
        let facts = (crate::aval::repr(val.aval()), device, is_on(Setting::RefuseTransfers));
        py.import("pullback._transfers").and_then(|guards| guards.call_method1("_to_device", facts)).carry(py)?;
        Ok(())
    })
}

/// Functions that the reference does not compile as a whole, so that numbers of their own go to a device one by one.
const WITH_OWN_NUMBERS: &[&str] = &[
    "lax.polynomial",
    "lax.random_gamma_grad",
    "nn.gelu",
    "nn.logsumexp",
    "nn.softmax",
    "numpy.argwhere",
    "numpy.bartlett",
    "numpy.bincount",
    "numpy.blackman",
    "numpy.choose",
    "numpy.compress",
    "numpy.delete",
    "numpy.diagflat",
    "numpy.extract",
    "numpy.eye",
    "numpy.fft.fftfreq",
    "numpy.fft.hfft",
    "numpy.fft.ihfft",
    "numpy.fft.rfftfreq",
    "numpy.hamming",
    "numpy.hanning",
    "numpy.histogram",
    "numpy.histogram2d",
    "numpy.histogramdd",
    "numpy.insert",
    "numpy.isneginf",
    "numpy.isposinf",
    "numpy.linalg.trace",
    "numpy.logspace",
    "numpy.polydiv",
    "numpy.repeat",
    "numpy.select",
    "numpy.setdiff1d",
    "numpy.setxor1d",
    "numpy.tril_indices_from",
    "numpy.triu_indices_from",
    "numpy.union1d",
    "numpy.unique_all",
    "numpy.unique_counts",
    "numpy.unique_inverse",
    "numpy.unique_values",
    "numpy.unravel_index",
    "random.bernoulli",
    "random.bits",
    "random.lognormal",
    "random.uniform",
    "numpy.std",
    "numpy.var",
    "numpy.nonzero",
    "numpy.flatnonzero",
    "numpy.unique",
    "numpy.piecewise",
    "scipy.special.beta",
    "scipy.special.betaln",
    "scipy.special.boxcox",
    "scipy.special.boxcox1p",
    "scipy.special.comb",
    "scipy.special.dawsn",
    "scipy.special.entr",
    "scipy.special.erfcx",
    "scipy.special.exp1",
    "scipy.special.factorial",
    "scipy.special.fresnel",
    "scipy.special.log_ndtr",
    "scipy.special.loggamma",
    "scipy.special.logit",
    "scipy.special.logsumexp",
    "scipy.special.ndtr",
    "scipy.special.ndtri",
    "scipy.special.owens_t",
    "scipy.special.poch",
    "scipy.special.softmax",
    "scipy.special.spence",
    "scipy.special.wofz",
    "scipy.special.xlog1py",
    "scipy.special.xlogy",
];

/// Functions whose numbers of their own are seen where they enter an operation.
const MADE_OF_NUMBERS: &[&str] = &["numpy.ones", "numpy.ones_like", "numpy.zeros", "numpy.zeros_like"];

/// Whether what the user's call enters now is told.
fn is_guarded(py: Python<'_>) -> bool {
    are_transfers_guarded() && pullback_trace::is_evaluating() && !is_own_call(py)
}

/// An argument as an operation takes it at once: the guard is told of one of the host, in the type that the user gave it.
///
/// # Errors
/// `JaxRuntimeError` where the guard refuses it.
pub fn enter(py: Python<'_>, val: Val) -> PyResult<Val> {
    // Arrays are the user's, whoever hands them on.
    let is_marked = matches!(&val, Val::Array(array) if array.is_of_host());
    let is_told = is_guarded(py) || is_marked && pullback_trace::is_evaluating();
    if is_told { enter_any(py, val) } else { Ok(val) }
}

/// As [`enter`], for functions that the user calls through one of ours.
///
/// # Errors
/// As [`enter`].
pub fn enter_through(py: Python<'_>, val: Val) -> PyResult<Val> {
    if are_transfers_guarded() && pullback_trace::is_evaluating() { enter_any(py, val) } else { Ok(val) }
}

fn enter_any(py: Python<'_>, val: Val) -> PyResult<Val> {
    gate(py, || {
        transfer(&val)?;
        Ok(match val {
            Val::Array(array) => Val::Array(array.of_device()?),
            Val::Literal(scalar) => Val::Array(default_place(Array::scalar(scalar))),
            Val::Tracer(tracer) => Val::Tracer(tracer),
        })
    })
}

/// Tells the guard of a number of ours, which is an integer of Python in the reference.
///
/// # Errors
/// `JaxRuntimeError` where the guard refuses it.
pub fn enter_own(py: Python<'_>) -> PyResult<()> {
    if !is_guarded(py) {
        return Ok(());
    }
    gate(py, || transfer(&pullback_lib::convert::weak_int(0)))
}

/// Tells the guard what a public function is called with. Until the scope ends, it hears of nothing else: further numbers are
/// the function's own.
///
/// # Errors
/// `JaxRuntimeError` where the guard refuses a number of the function.
pub fn call_of(py: Python<'_>, function: &str) -> PyResult<Option<Unguarded>> {
    if !are_transfers_guarded() {
        return Ok(None);
    }
    if WITH_OWN_NUMBERS.contains(&function) {
        enter_own(py)?;
    }
    Ok((!MADE_OF_NUMBERS.contains(&function)).then(unguarded))
}

/// An array that was made of memory of the host, marked while a guard is on.
pub fn of_host(array: Array) -> Array {
    if are_transfers_guarded() { array.of_host() } else { array }
}

/// Whether operations on known values run now.
#[pyfunction]
fn is_evaluating() -> bool {
    pullback_trace::is_evaluating()
}

/// The array of any value, on a device whatever the guards say: the user asked for it.
#[pyfunction]
fn taken_to_device(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let val = match to_val(x)? {
        Val::Array(array) => Val::Array(gate(py, || array.of_device())?),
        Val::Literal(scalar) => Val::Array(default_place(Array::scalar(scalar))),
        Val::Tracer(tracer) => Val::Tracer(tracer),
    };
    wrap(py, val)
}

/// Adds the functions to the extension module, and begins to listen.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pullback_backend::on_transfer(hear);
    m.add_function(wrap_pyfunction!(is_evaluating, m)?)?;
    m.add_function(wrap_pyfunction!(taken_to_device, m)?)
}
