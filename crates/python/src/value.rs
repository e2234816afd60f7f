//! The classes of arrays and tracers, and values across the border.
//!
//! `Array` is a real base class, so that `isinstance(x, jax.Array)` is one walk of a short chain: concrete arrays are
//! `ArrayImpl`, tracers descend from `Tracer`. All of them hold one [`Val`].

use pullback_base::scalar::Number;
use pullback_base::{Array, DType, Scalar};
use pullback_ir::{Slot, Tracer, Val};
use pullback_trace::settings::{Setting, is_on, x64};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyTuple};

use crate::errors::type_error;
use crate::{numpy, python_trace};

/// What every array and tracer is.
#[pyclass(name = "Array", module = "pullback", frozen, subclass, weakref, sequence)]
pub struct PyArray {
    held: Val,
}

impl PyArray {
    /// What it stands for.
    #[inline]
    pub fn val(&self) -> &Val {
        python_trace::resolved(&self.held)
    }

    /// What it was made with; see [`python_trace`].
    pub fn held(&self) -> &Val {
        &self.held
    }
}

/// A concrete array.
#[pyclass(name = "ArrayImpl", module = "pullback", extends = PyArray, frozen)]
pub struct ArrayImpl;

/// A stand-in for an array during a trace.
#[pyclass(name = "Tracer", module = "pullback.core", extends = PyArray, frozen, subclass)]
pub struct PyTracer;

#[pymethods]
impl PyTracer {
    /// A tracer of a class that Python code defines, as only such are made by a call.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<PyTracer> {
        PyClassInitializer::from(PyArray { held: python_trace::unset() }).add_subclass(PyTracer)
    }

    fn __init__(slf: &Bound<'_, PyTracer>, trace: &Bound<'_, PyAny>, aval: &Bound<'_, PyAny>) -> PyResult<()> {
        python_trace::set(slf.as_any(), trace, aval)
    }

    /// The trace that it was made with; None for one of the core.
    #[getter]
    fn _python_trace(slf: &Bound<'_, PyTracer>) -> Py<PyAny> {
        let py = slf.py();
        python_trace::trace_of(py, slf.as_super().get().held()).unwrap_or_else(|| py.None())
    }
}

macro_rules! tracer_classes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[pyclass(module = "pullback.core", extends = PyTracer, frozen)]
        pub struct $name;
    )*};
}
tracer_classes! {
    /// A variable of a jaxpr being made.
    DynamicJaxprTracer;
    /// A primal with a tangent.
    JVPTracer;
    /// A primal with a tangent that is being recorded.
    LinearizeTracer;
    /// A value with a hidden axis.
    BatchTracer;
}

/// Adds the classes to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyArray>()?;
    m.add_class::<ArrayImpl>()?;
    m.add_class::<PyTracer>()?;
    m.add_class::<DynamicJaxprTracer>()?;
    m.add_class::<JVPTracer>()?;
    m.add_class::<LinearizeTracer>()?;
    m.add_class::<BatchTracer>()
}

/// The Python object of a value.
pub fn wrap(py: Python<'_>, val: Val) -> PyResult<Py<PyAny>> {
    let val = match val {
        // While something is traced, a number stays one, so that it is written in place in the jaxpr.
        Val::Literal(scalar) if !pullback_trace::is_tracing() => {
            Val::Array(crate::transfers::of_host(numpy::default_place(Array::scalar(scalar))))
        }
        other => other,
    };
    let Val::Tracer(tracer) = &val else { return wrap_concrete(py, val) };
    let kind = kind_of(tracer);
    if let Some(object) = python_trace::object_of(py, tracer) {
        return Ok(object);
    }
    let base = PyClassInitializer::from(PyArray { held: val }).add_subclass(PyTracer);
    let object = match kind {
        TracerKind::Jit => Py::new(py, base.add_subclass(DynamicJaxprTracer))?.into_any(),
        TracerKind::Jvp => Py::new(py, base.add_subclass(JVPTracer))?.into_any(),
        TracerKind::Linearize => Py::new(py, base.add_subclass(LinearizeTracer))?.into_any(),
        TracerKind::Batch => Py::new(py, base.add_subclass(BatchTracer))?.into_any(),
    };
    if is_on(Setting::CheckLeaks) {
        crate::leaks::watch(object.bind(py))?;
    }
    Ok(object)
}

fn wrap_concrete(py: Python<'_>, val: Val) -> PyResult<Py<PyAny>> {
    let array = Py::new(py, PyClassInitializer::from(PyArray { held: val }).add_subclass(ArrayImpl))?;
    // Tangents of integers hold no information; as in the reference they are NumPy arrays.
    if array.bind(py).as_super().get().val().aval().dtype == DType::Float0 {
        let Some(inner) = array.bind(py).as_super().get().val().to_array() else { unreachable!("concrete") };
        return Ok(numpy::view_of(array.bind(py), &inner)?.unbind());
    }
    Ok(array.into_any())
}

/// Several values as Python objects.
pub fn wrap_all(py: Python<'_>, vals: impl IntoIterator<Item = Val>) -> PyResult<Vec<Py<PyAny>>> {
    vals.into_iter().map(|val| wrap(py, val)).collect()
}

/// Which class a tracer shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracerKind {
    /// Of `jit` and other staging.
    Jit,
    /// Of `jvp`.
    Jvp,
    /// Of `grad`, `vjp` and `linearize`.
    Linearize,
    /// Of `vmap`.
    Batch,
}

/// Which class a tracer shows. Under `linearize` the tangent is a variable of another trace than the primal.
pub fn kind_of(tracer: &Tracer) -> TracerKind {
    let Slot::Dual(dual) = &tracer.slot else {
        return if matches!(tracer.slot, Slot::Batched(_)) { TracerKind::Batch } else { TracerKind::Jit };
    };
    match (&dual.primal, &dual.tangent) {
        (Val::Tracer(primal), Some(Val::Tracer(tangent))) if primal.trace == tangent.trace => TracerKind::Jvp,
        (_, Some(Val::Tracer(Tracer { slot: Slot::Var(_), .. }))) => TracerKind::Linearize,
        _ => TracerKind::Jvp,
    }
}

/// The value inside an array or tracer; `None` for any other object.
#[inline]
pub fn as_val<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a Val> {
    obj.cast::<PyArray>().ok().map(|array| array.get().val())
}

/// The value of an array, tracer, Python number, NumPy array or scalar, or an object with `__jax_array__`.
///
/// # Errors
/// `TypeError` for anything else; `OverflowError` for an integer that does not fit.
pub fn to_val(obj: &Bound<'_, PyAny>) -> PyResult<Val> {
    match try_val(obj)? {
        Some(val) => Ok(val),
        None => {
            Err(type_error(format!("Argument '{}' of type {} is not a valid JAX type", obj.str()?, obj.get_type())))
        }
    }
}

/// As [`to_val`], with `None` for what is no array.
///
/// # Errors
/// As [`to_val`] for numbers that do not fit, and what `__jax_array__` raises.
pub fn try_val(obj: &Bound<'_, PyAny>) -> PyResult<Option<Val>> {
    if let Some(val) = plain_val(obj)? {
        return Ok(Some(val));
    }
    match obj.getattr_opt("__jax_array__")? {
        Some(convert) if !obj.is_instance_of::<pyo3::types::PyType>() => converted(&convert.call0()?, obj).map(Some),
        _ => Ok(None),
    }
}

/// The value of what `__jax_array__` gave, which is asked once: it may not give an object that is asked again.
fn converted(given: &Bound<'_, PyAny>, of: &Bound<'_, PyAny>) -> PyResult<Val> {
    plain_val(given)?.ok_or_else(|| {
        let (class, given) = (of.get_type(), given.get_type());
        type_error(format!("__jax_array__() of {class} must give an array or a number, got an instance of {given}"))
    })
}

/// As [`try_val`] without `__jax_array__`, as `jit` takes its arguments.
///
/// # Errors
/// As [`to_val`] for numbers that do not fit.
pub fn plain_val(obj: &Bound<'_, PyAny>) -> PyResult<Option<Val>> {
    if let Some(val) = python_trace::own_val(obj) {
        return Ok(Some(val));
    }
    if let Some(number) = python_number(obj)? {
        return Ok(Some(Val::Literal(number)));
    }
    if numpy::is_ndarray(obj)? {
        return numpy::from_ndarray(obj).map(Some);
    }
    if numpy::is_generic(obj)? {
        let array = numpy::numpy(obj.py())?.asarray.bind(obj.py()).call1((obj,))?;
        return numpy::from_ndarray(&array).map(Some);
    }
    subclassed_number(obj)
}

/// A number of exactly Python's own types: weakly typed, but for booleans.
fn python_number(obj: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if obj.is_exact_instance_of::<PyFloat>() {
        return Ok(Some(float(obj.extract()?)));
    }
    if obj.is_exact_instance_of::<PyBool>() {
        return Ok(Some(Scalar::bool(obj.is_truthy()?)));
    }
    if obj.is_exact_instance_of::<PyInt>() {
        return integer(obj).map(Some);
    }
    if obj.is_exact_instance_of::<PyComplex>() {
        return complex(obj).map(Some);
    }
    Ok(None)
}

fn subclassed_number(obj: &Bound<'_, PyAny>) -> PyResult<Option<Val>> {
    let number = if obj.is_instance_of::<PyInt>() {
        integer(obj)?
    } else if obj.is_instance_of::<PyFloat>() {
        float(obj.extract()?)
    } else if obj.is_instance_of::<PyComplex>() {
        complex(obj)?
    } else {
        return Ok(None);
    };
    Ok(Some(Val::Literal(number)))
}

/// The weak scalar of a Python float.
pub fn float(value: f64) -> Scalar {
    Scalar::float(if x64() { DType::F64 } else { DType::F32 }, value).weak(true)
}

/// The weak scalar of a Python integer.
fn integer(obj: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    // SAFETY: the object is an `int` or of a subclass.
    let value = unsafe { ffi::PyLong_AsLongLong(obj.as_ptr()) };
    let overflows = value == -1 && PyErr::take(obj.py()).is_some();
    let (dtype, fits) = if x64() { (DType::I64, true) } else { (DType::I32, i32::try_from(value).is_ok()) };
    if overflows || !fits {
        let text = format!("Python int {} too large to convert to {dtype}", obj.str()?);
        return Err(PyOverflowError::new_err(text));
    }
    Ok(Scalar::int(dtype, value.into()).weak(true))
}

fn complex(obj: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    let (re, im): (f64, f64) = (obj.getattr("real")?.extract()?, obj.getattr("imag")?.extract()?);
    let dtype = if x64() { DType::C128 } else { DType::C64 };
    Ok(Scalar::new(dtype, Number::Complex(re, im)).weak(true))
}

/// An argument that should be an array, for `#[pyfunction]` signatures. What is no array is kept, so that the function
/// can name itself in the error; see [`ArrayLike::val`].
pub struct ArrayLike(Result<Val, Py<PyAny>>);

impl ArrayLike {
    /// The value.
    ///
    /// # Errors
    /// JAX's `TypeError`, which names the function and the position, when the argument was no array.
    pub fn val(self, py: Python<'_>, function: &str, position: usize) -> PyResult<Val> {
        self.0.map_err(|obj| {
            type_error(format!(
                "{function} requires ndarray or scalar arguments, got {} at position {position}.",
                obj.bind(py).get_type()
            ))
        })
    }

    /// The argument `object`, known to be no array.
    pub fn refused(object: Bound<'_, PyAny>) -> ArrayLike {
        ArrayLike(Err(object.unbind()))
    }

    /// The value, or the object that is no array.
    pub fn into_inner(self) -> Result<Val, Py<PyAny>> {
        self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for ArrayLike {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<ArrayLike> {
        Ok(ArrayLike(try_val(&obj)?.ok_or_else(|| obj.to_owned().unbind())))
    }
}
