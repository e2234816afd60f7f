//! Methods of arrays and tracers: facts, conversions to Python and NumPy, operators, indexing.
//!
//! Methods that are functions of `numpy` too are attached in Python, see `pullback._array_methods`.

use std::ffi::{CString, c_int, c_void};

use pullback_base::{Array, Aval, DType, Scalar};
use pullback_ir::Val;
use pullback_lib::numpy as np;
use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use crate::aval::PyAval;
use crate::errors::{to_py, type_error, value_error};
use crate::gate::gate;
use crate::names::class_name;
use crate::operators::{Operator, operand, operated, unequal};
use crate::tracer::{self, concrete};
use crate::value::{PyArray, as_val, to_val, wrap, wrap_all};
use crate::{dtypes, index, numpy};

impl PyArray {
    fn binary(&self, py: Python<'_>, other: &Bound<'_, PyAny>, op: Operator) -> PyResult<Py<PyAny>> {
        match operand(other)? {
            Some(other) => operated(py, || op(self.val(), &other)),
            None => Ok(py.NotImplemented()),
        }
    }

    fn reflected(&self, py: Python<'_>, other: &Bound<'_, PyAny>, op: Operator) -> PyResult<Py<PyAny>> {
        match operand(other)? {
            Some(other) => operated(py, || op(&other, self.val())),
            None => Ok(py.NotImplemented()),
        }
    }

    fn unary(&self, py: Python<'_>, op: fn(&Val) -> pullback_base::Result<Val>) -> PyResult<Py<PyAny>> {
        operated(py, || op(self.val()))
    }

    fn aval(&self) -> Aval {
        self.val().aval()
    }

    /// The elements, or the error of an abstract tracer. A tracer of a derivative whose value is known gives it, so this
    /// is for what has no derivative: truth values and integers, by which programs choose their way.
    fn known(&self, error: impl FnOnce(&pullback_ir::Tracer) -> PyErr) -> PyResult<Array> {
        match (concrete(self.val()), self.val()) {
            (Some(val), _) => Ok(val.to_array().expect("concrete values have elements")),
            (None, Val::Tracer(tracer)) => Err(error(tracer)),
            (None, Val::Literal(_) | Val::Array(_)) => unreachable!("these are concrete"),
        }
    }

    /// The elements, or the error of any tracer: what leaves a derivative this way would lose it in silence.
    fn elements(&self, error: impl FnOnce(&pullback_ir::Tracer) -> PyErr) -> PyResult<Array> {
        match self.val() {
            Val::Tracer(tracer) => Err(error(tracer)),
            Val::Literal(scalar) => Ok(Array::scalar(*scalar)),
            Val::Array(array) => Ok(array.clone()),
        }
    }

    /// The error of a tracer that is asked for what only concrete arrays have.
    fn asked(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        let Val::Tracer(found) = self.val() else { return Ok(()) };
        let shape = found.aval.weak(false).long();
        Err(tracer::method_error(py, found, &format!("The {what} was called on traced array with shape {shape}.")))
    }

    /// What a function of `pullback._device` says of a concrete array.
    fn placement<'py>(slf: Bound<'py, Self>, asked: &str, function: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.get().elements(|found| {
            tracer::method_error(py, found, &format!("The {asked} of a traced array were asked for."))
        })?;
        py.import("pullback._device")?.call_method1(function, (slf,))
    }

    /// An attribute that says where a concrete array lies; tracers lack it.
    fn place<'py>(slf: Bound<'py, Self>, name: &str, function: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Val::Tracer(tracer) = slf.get().val() {
            return Err(tracer::place_error(py, tracer, name));
        }
        py.import("pullback._device")?.call_method1(function, (slf,))
    }

    /// An array without axes, whose element a function of Python asks for.
    fn check_scalar(&self) -> PyResult<()> {
        match self.aval().rank() {
            0 => Ok(()),
            rank => {
                Err(type_error(format!("Only scalar arrays can be converted to Python scalars; got arr.ndim={rank}")))
            }
        }
    }

    /// Keys have words, but are no numbers.
    fn check_is_number(&self, function: &str) -> PyResult<()> {
        if self.aval().dtype.is_key() {
            let text = format!("{function}() argument must be a string or a real number, not 'PRNGKeyArray'");
            return Err(type_error(&text));
        }
        Ok(())
    }

    /// The only element of an array without axes.
    fn scalar(&self, py: Python<'_>, function: &str) -> PyResult<Scalar> {
        self.check_is_number(function)?;
        self.check_scalar()?;
        let array = self.elements(|found| tracer::number_error(py, found, function))?;
        array.element(0).map_err(|error| to_py(py, &error))
    }
}

#[pymethods]
impl PyArray {
    #[classattr]
    #[allow(non_upper_case_globals, reason = "the name that NumPy reads")]
    const __array_priority__: i32 = 100;
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    // Facts.

    /// Sizes of the axes, a tuple of ints.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.aval().data().shape)
    }
    /// Element type, a NumPy dtype object.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtypes::to_numpy(py, self.aval().dtype)
    }
    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.aval().rank()
    }
    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.aval().size()
    }
    /// Bytes that the elements take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.aval().size_bytes()
    }
    /// Bytes that one element takes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.aval().dtype.size_bytes()
    }
    /// Whether the dtype gives way to others in promotion, as that of a Python number does.
    #[getter]
    fn weak_type(&self) -> bool {
        self.aval().weak_type
    }
    /// The abstract value: shape, dtype, weak type and sharding; `jax.typeof` gives the same.
    #[getter(aval)]
    fn aval_object(&self) -> PyAval {
        PyAval(self.aval())
    }
    /// Whether the array was put on its device by the user, so that computations with it stay there.
    #[getter]
    fn committed(&self, py: Python<'_>) -> PyResult<bool> {
        match self.val() {
            Val::Tracer(found) => Err(tracer::method_error(py, found, "The 'committed' attribute was asked for.")),
            Val::Array(array) => Ok(array.is_committed()),
            Val::Literal(_) => Ok(false),
        }
    }
    #[getter]
    fn _committed(&self, py: Python<'_>) -> PyResult<bool> {
        self.committed(py)
    }
    /// Whether this process reads all elements: always true, as there is one process.
    #[getter]
    fn is_fully_addressable(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, "is_fully_addressable property").map(|_| true)
    }
    /// Whether every device of the sharding holds all elements.
    #[getter]
    fn is_fully_replicated(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, "is_fully_replicated property")?;
        Ok(!matches!(self.val(), Val::Array(array) if array.place().is_some_and(|place| !place.layout.is_replicated())))
    }

    // Views of the same elements.

    /// The array with its axes in reverse order.
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, |x| np::transpose(x, None))
    }
    /// The array with its last two axes exchanged; ValueError with fewer than two.
    #[getter(mT)]
    fn matrix_transposed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::matrix_transpose)
    }
    /// Real parts of the elements; the array itself if it is real.
    #[getter]
    fn real(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::real)
    }
    /// Imaginary parts of the elements; zeros if the array is real.
    #[getter]
    fn imag(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::imag)
    }

    // Life.

    /// Whether the elements were freed, by `delete` or by donation to a jitted function.
    fn is_deleted(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, "is_deleted() method")?;
        Ok(matches!(self.val(), Val::Array(array) if array.is_deleted()))
    }

    /// Frees the elements; to read them afterwards raises RuntimeError.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        self.asked(py, "delete() method")?;
        if let Val::Array(array) = self.val() {
            array.delete();
        }
        Ok(())
    }

    /// Whether reading the elements would not wait for a computation.
    fn is_ready(&self) -> bool {
        !matches!(self.val(), Val::Array(array) if !array.is_ready())
    }

    /// Waits until the elements are computed, and gives the array; AttributeError for a tracer.
    fn block_until_ready(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let py = slf.py();
        let array = slf.get().elements(|found| tracer::attribute_error(py, found, "block_until_ready"))?;
        gate(py, || array.wait())?;
        Ok(slf)
    }

    /// The address of the first element. It is valid while the array lives; nothing may be written there.
    fn unsafe_buffer_pointer(&self, py: Python<'_>) -> PyResult<usize> {
        let array =
            self.elements(|found| tracer::method_error(py, found, "The address was asked of a traced array."))?;
        let address = || match array.held() {
            Some(held) => held.address(0),
            None => Ok(array.buffer()?.as_ptr() as usize),
        };
        gate(py, address)
    }

    /// Starts a copy to the host; the elements are there already.
    fn copy_to_host_async(&self, py: Python<'_>) -> PyResult<()> {
        match self.val() {
            Val::Tracer(found) => Err(tracer::attribute_error(py, found, "copy_to_host_async")),
            Val::Literal(_) | Val::Array(_) => Ok(()),
        }
    }

    /// The set of devices that hold the elements.
    fn devices<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyArray::placement(slf, "devices", "devices_of")
    }
    /// The device that holds the elements, or the sharding when several do.
    #[getter]
    fn device<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyArray::place(slf, "device", "device_of")
    }
    /// How the elements are divided over devices; for a tracer the sharding of uncommitted work.
    #[getter]
    fn sharding<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyArray::place(slf, "sharding", "sharding_of")
    }
    /// A list with a `Shard` for each device: which part of the array it holds.
    #[getter]
    fn addressable_shards<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyArray::placement(slf, "addressable_shards", "shards_of")
    }
    /// As `addressable_shards`: this process has all devices.
    #[getter]
    fn global_shards<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyArray::placement(slf, "global_shards", "shards_of")
    }
    /// The part that the device number `index` holds, as an array; IndexError without such a device.
    fn addressable_data<'py>(slf: Bound<'py, Self>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        PyArray::placement(slf, "addressable_data", "shards_of")?.get_item(index)?.getattr("data")
    }

    // Conversions.

    /// A read-only NumPy view of the elements, or a copy in another type.
    #[pyo3(signature = (dtype=None, context=None, copy=None))]
    fn __array__<'py>(
        slf: Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = context;
        let py = slf.py();
        let array = slf.get().elements(|found| tracer::array_error(py, found))?;
        if array.dtype().is_key() {
            return Err(type_error(
                "JAX array with PRNGKey dtype cannot be converted to a NumPy array. Use jax.random.key_data(arr) if you wish to \
                 extract the underlying integer array.",
            ));
        }
        gate(py, || array.buffer())?;
        let is_owner = matches!(slf.get().val(), Val::Array(_));
        let owner = if is_owner { slf.into_any() } else { wrap(py, array.clone().into())?.into_bound(py) };
        let view = numpy::view_of(&owner, &array)?;
        match dtype {
            Some(dtype) if !dtype.is_none() => {
                let wanted = numpy::numpy(py)?.dtype.bind(py).call1((&dtype,))?;
                if copy == Some(false) && !wanted.eq(view.getattr("dtype")?)? {
                    return Err(PyValueError::new_err(
                        "Unable to avoid copy while creating an array as requested: the dtypes differ.",
                    ));
                }
                let options = PyDict::new(py);
                options.set_item("copy", copy.unwrap_or(false))?;
                view.call_method("astype", (dtype,), Some(&options))
            }
            _ if copy == Some(true) => view.call_method0("copy"),
            _ => Ok(view),
        }
    }

    /// A DLPack capsule of the elements, which cannot be written through it.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.get().elements(|found| {
            tracer::method_error(py, found, "The __dlpack__() method was called on a traced array.")
        })?;
        if stream.is_some() {
            return Err(PyBufferError::new_err(
                "__dlpack__(stream=...) is for arrays of an accelerator; this one is on the CPU",
            ));
        }
        if let Some((kind, _)) = dl_device.filter(|device| *device != (1, 0)) {
            return Err(PyBufferError::new_err(format!("there is no device of DLPack type {kind} to copy to")));
        }
        let is_versioned = max_version.is_some_and(|(major, _)| major >= 1);
        py.import("pullback._core")?.getattr("to_dlpack_capsule")?.call1((slf, is_versioned, copy.unwrap_or(false)))
    }

    /// DLPack's number of the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    /// One element as a Python number: the only one, or that at an index (a flat one, or one for each axis).
    ///
    /// Raises ValueError without an index unless there is one element, IndexError out of bounds, and
    /// ConcretizationTypeError for a tracer.
    #[pyo3(signature = (*args))]
    fn item<'py>(slf: Bound<'py, Self>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let context = "This occurred in the item() method of jax.Array";
        let known = slf.get().known(|found| tracer::method_error(py, found, context))?;
        let value = if slf.get().val().is_tracer() { wrap(py, known.into())?.into_bound(py).cast_into()? } else { slf };
        PyArray::__array__(value, None, None, None)?.call_method1("item", args)
    }

    /// The elements as nested lists of Python numbers; for an array without axes a number.
    fn tolist<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.get()
            .elements(|found| tracer::method_error(py, found, "The tolist() method was called on a traced array."))?;
        PyArray::__array__(slf, None, None, None)?.call_method0("tolist")
    }

    /// The bytes of the elements, in the order of rows ("C") or columns ("F").
    #[pyo3(signature = (order="C"))]
    fn tobytes<'py>(slf: Bound<'py, Self>, order: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.get()
            .elements(|found| tracer::method_error(py, found, "The tobytes() method was called on a traced array."))?;
        PyArray::__array__(slf, None, None, None)?.call_method1("tobytes", (order,))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        if self.aval().dtype.is_key() {
            return Err(type_error("key array cannot be converted to boolean."));
        }
        match self.aval().size() {
            0 => {
                return Err(PyValueError::new_err(
                    "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
                ));
            }
            1 => {}
            _ => {
                return Err(PyValueError::new_err(
                    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
                ));
            }
        }
        let array = self.known(|found| tracer::bool_error(py, found))?;
        Ok(gate(py, || array.element(0))?.is_nonzero())
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        let scalar = self.scalar(py, "float")?;
        if scalar.dtype().is_complex() {
            return Err(type_error("can't convert complex to float"));
        }
        Ok(scalar.as_f64())
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_is_number("int")?;
        self.check_scalar()?;
        let array = self.known(|found| tracer::number_error(py, found, "int"))?;
        if array.dtype().is_complex() {
            return Err(type_error("can't convert complex to int"));
        }
        let scalar = gate(py, || array.element(0))?;
        if scalar.dtype().is_inexact() {
            // Python's own conversion refuses infinities and NaN, and knows no bounds.
            return py.get_type::<pyo3::types::PyInt>().call1((scalar.as_f64(),));
        }
        Ok(scalar.number().as_i128().into_pyobject(py)?.into_any())
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (re, im) = match self.scalar(py, "complex")?.number() {
            pullback_base::scalar::Number::Complex(re, im) => (re, im),
            other => (other.as_f64(), 0.0),
        };
        Ok(pyo3::types::PyComplex::from_doubles(py, re, im).into_any())
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let aval = self.aval();
        if aval.rank() > 0 || !aval.dtype.is_integer() {
            return Err(type_error("Only integer scalar arrays can be converted to a scalar index."));
        }
        let array = self.known(|found| tracer::index_error(py, found))?;
        Ok(gate(py, || array.element(0))?.number().as_i128().into_pyobject(py)?.into_any())
    }

    #[pyo3(signature = (ndigits=None))]
    fn __round__(slf: Bound<'_, Self>, ndigits: Option<i64>) -> PyResult<Bound<'_, PyAny>> {
        if slf.get().aval().dtype == DType::Bool {
            return Err(value_error("booleans cannot be rounded; convert them with `x.astype(int)`."));
        }
        let rounded = slf.call_method1("round", (ndigits.unwrap_or(0),))?;
        // Without a number of digits the result is whole, as for Python's numbers.
        if ndigits.is_some() { Ok(rounded) } else { rounded.call_method1("astype", (slf.py().get_type::<PyInt>(),)) }
    }

    fn __len__(&self) -> PyResult<usize> {
        self.aval().shape.first().copied().ok_or_else(|| type_error("len() of unsized object"))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(&n) = self.aval().data().shape.first() else { return Err(type_error("iteration over a 0-d array")) };
        if self.val().is_tracer() && n > 0 {
            let rows = gate(py, || pullback_lib::lax::unstack(self.val(), 0))?;
            return wrap_all(py, rows)?.into_pyobject(py)?.call_method0("__iter__");
        }
        let row =
            |i: usize| pullback_lib::indexing::getitem(self.val(), &[pullback_lib::indexing::IndexItem::Int(i as i64)]);
        let rows = gate(py, || (0..n).map(row).collect::<pullback_base::Result<Vec<Val>>>())?;
        wrap_all(py, rows)?.into_pyobject(py)?.call_method0("__iter__")
    }

    fn __contains__(slf: Bound<'_, Self>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        let shape_text = |aval: Aval| pullback_base::aval::tuple_text(&aval.shape);
        let aval = slf.get().aval();
        if aval.rank() != 1 {
            let shape = shape_text(aval);
            let text = format!("Array.__contains__: search array must be one-dimensional, got arr.shape={shape}.");
            return Err(value_error(text));
        }
        let Some(query) = operand(item)? else {
            return Err(type_error(format!("Array.__contains__: unsupported operand type {}.", item.get_type())));
        };
        if query.aval().rank() > 0 {
            let shape = shape_text(query.aval());
            return Err(value_error(format!(
                "Array.__contains__: query value must be a scalar, got query.shape={shape}"
            )));
        }
        slf.as_any().rich_compare(item, CompareOp::Eq)?.call_method0("any")?.is_truthy()
    }

    fn __repr__(slf: Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        match slf.get().val() {
            Val::Tracer(found) => Ok(tracer::repr(py, found)),
            Val::Array(_) | Val::Literal(_) => {
                py.import("pullback._printing")?.call_method1("array_repr", (slf,))?.extract()
            }
        }
    }

    fn __str__(slf: Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        match slf.get().val() {
            Val::Tracer(found) => Ok(tracer::str_of(py, found)),
            Val::Array(_) | Val::Literal(_) => {
                py.import("pullback._printing")?.call_method1("array_str", (slf,))?.extract()
            }
        }
    }

    fn __format__<'py>(slf: Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Val::Tracer(found) = slf.get().val() {
            if spec.is_empty() {
                return Ok(tracer::str_of(py, found).into_pyobject(py)?.into_any());
            }
            return Err(tracer::format_error(py, found, &class_name(slf.as_any())));
        }
        if slf.get().aval().dtype.is_key() {
            return slf.str()?.call_method1("__format__", (spec,));
        }
        let value = PyArray::__array__(slf, None, None, None)?;
        let value = if value.getattr("ndim")?.eq(0)? { value.get_item(())? } else { value };
        value.call_method1("__format__", (spec,))
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = slf.get().elements(|found| tracer::method_error(py, found, "A traced array was pickled."))?;
        if array.aval().dtype.is_key() {
            return py.import("pullback._keys")?.call_method1("reduced", (slf,));
        }
        crate::pickled::reduced(py, &array)?.into_bound_py_any(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        match slf.get().val() {
            Val::Tracer(_) => Ok(slf.clone().into_any().unbind()),
            Val::Literal(scalar) => wrap(py, Array::scalar(*scalar).into()),
            Val::Array(array) => {
                let copy = gate(py, || Array::from_bytes(array.aval(), &array.to_bytes()?))?;
                wrap(py, copy.into())
            }
        }
    }

    fn __deepcopy__(slf: Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        PyArray::__copy__(slf)
    }

    /// The elements as a buffer of bytes with a format, read-only.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: the interpreter hands in a valid view to fill.
        unsafe { fill_view(slf, view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` was made by `fill_view` from a box, and is released once.
        unsafe { drop(Box::from_raw((*view).internal.cast::<ViewParts>())) }
    }

    // Indexing.

    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        index::get_item(py, self.val(), index)
    }

    fn __setitem__(slf: Bound<'_, Self>, _index: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(type_error(format!(
            "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use x = \
             x.at[idx].set(y) or another .at[] method: pullback.help(\"immutable_arrays\") \
             (got {})",
            class_name(slf.as_any())
        )))
    }

    /// Updates of parts of the array, each giving a new one: `x.at[index].set(y)`, and likewise `add`, `subtract`,
    /// `multiply`, `divide`, `power`, `min`, `max`, `apply` and `get`.
    #[getter]
    fn at<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pullback._indexing")?.getattr("_IndexUpdateHelper")?.call1((slf,))
    }

    // Operators.

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::add)
    }
    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::add)
    }
    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::subtract)
    }
    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::subtract)
    }
    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::multiply)
    }
    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::multiply)
    }
    fn __truediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::true_divide)
    }
    fn __rtruediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::true_divide)
    }
    fn __floordiv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::floor_divide)
    }
    fn __rfloordiv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::floor_divide)
    }
    fn __mod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::remainder)
    }
    fn __rmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::remainder)
    }
    fn __divmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented()) };
        let (quotient, rest) = gate(py, || np::divmod(self.val(), &other))?;
        Ok(PyTuple::new(py, [wrap(py, quotient)?, wrap(py, rest)?])?.into_any().unbind())
    }
    fn __rdivmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented()) };
        let (quotient, rest) = gate(py, || np::divmod(&other, self.val()))?;
        Ok(PyTuple::new(py, [wrap(py, quotient)?, wrap(py, rest)?])?.into_any().unbind())
    }
    fn __pow__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, modulus: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if !modulus.is_none() {
            return Ok(py.NotImplemented());
        }
        if !other.is_exact_instance_of::<PyInt>() {
            return self.binary(py, other, np::power);
        }
        // The exponent is no operand.
        let exponent = to_val(other)?;
        operated(py, || np::power(self.val(), &exponent))
    }
    fn __rpow__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, modulus: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if modulus.is_none() { self.reflected(py, other, np::power) } else { Ok(py.NotImplemented()) }
    }
    fn __matmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, matmul)
    }
    fn __rmatmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, matmul)
    }
    fn __and__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::bitwise_and)
    }
    fn __rand__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::bitwise_and)
    }
    fn __or__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::bitwise_or)
    }
    fn __ror__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::bitwise_or)
    }
    fn __xor__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::bitwise_xor)
    }
    fn __rxor__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::bitwise_xor)
    }
    fn __lshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::left_shift)
    }
    fn __rlshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::left_shift)
    }
    fn __rshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.binary(py, other, np::right_shift)
    }
    fn __rrshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.reflected(py, other, np::right_shift)
    }
    fn __neg__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::negative)
    }
    fn __pos__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::positive)
    }
    fn __abs__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::absolute)
    }
    fn __invert__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.unary(py, np::invert)
    }
    fn __richcmp__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let Some(other) = operand(other)? else { return unequal(py, other, op) };
        let op = match op {
            CompareOp::Lt => np::less,
            CompareOp::Le => np::less_equal,
            CompareOp::Eq => np::equal,
            CompareOp::Ne => np::not_equal,
            CompareOp::Gt => np::greater,
            CompareOp::Ge => np::greater_equal,
        };
        wrap(py, gate(py, || op(self.val(), &other))?)
    }
}

fn matmul(x: &Val, y: &Val) -> pullback_base::Result<Val> {
    np::matmul(x, y, None)
}

/// What a buffer view points into while it lives.
struct ViewParts {
    format: CString,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
    _buffer: pullback_base::array::Buffer,
}

/// The code of the `struct` module for an element type; none for types that it does not know.
fn format_code(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "?",
        DType::I8 => "b",
        DType::I16 => "h",
        DType::I32 => "i",
        DType::I64 => "q",
        DType::U8 => "B",
        DType::U16 => "H",
        DType::U32 => "I",
        DType::U64 => "Q",
        DType::F16 => "e",
        DType::F32 => "f",
        DType::F64 => "d",
        DType::C64 => "Zf",
        DType::C128 => "Zd",
        _ => return None,
    })
}

/// # Safety
/// `view` must be valid for writing.
unsafe fn fill_view(slf: Bound<'_, PyArray>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    let py = slf.py();
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    let wants = |flag: c_int| flags & flag == flag;
    if wants(ffi::PyBUF_WRITABLE) {
        return Err(PyBufferError::new_err("arrays are immutable: the buffer is read-only"));
    }
    let code = format_code(slf.get().aval().dtype);
    if code.is_none() && wants(ffi::PyBUF_FORMAT) {
        // NumPy then asks `__array__`, which knows the type.
        return Err(PyBufferError::new_err("the element type has no buffer format"));
    }
    let array = slf.get().elements(|found| tracer::buffer_error(py, found, &class_name(slf.as_any())))?;
    // Whoever asks for a format is to ask `__array__` for types that formats cannot say, as NumPy then does.
    if wants(ffi::PyBUF_FORMAT) && !dtypes::is_of_numpy(array.dtype()) {
        return Err(PyBufferError::new_err(format!("no buffer format stands for {}", array.dtype())));
    }
    let buffer = gate(py, || array.buffer())?;
    let aval = array.aval();
    // Without shape, the buffer is a row of bytes; of elements, where their format is wanted.
    let (is_shaped, size) = (wants(ffi::PyBUF_ND), aval.size_bytes());
    let has_items = is_shaped || wants(ffi::PyBUF_FORMAT);
    let item = if has_items { aval.dtype.size_bytes() as ffi::Py_ssize_t } else { 1 };
    let is_row = size == 0 || aval.shape.iter().filter(|&&n| n != 1).count() <= 1;
    if wants(ffi::PyBUF_F_CONTIGUOUS) && !is_row {
        return Err(PyBufferError::new_err("the elements lie in the order of rows, not of columns"));
    }
    let sizes = if is_shaped { &aval.data().shape[..] } else { std::slice::from_ref(&size) };
    let shape: Vec<ffi::Py_ssize_t> = sizes.iter().map(|&n| n as ffi::Py_ssize_t).collect();
    let mut strides = vec![item; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let format = CString::new(code.unwrap_or("B")).expect("codes hold no zero bytes");
    let start = buffer.as_ptr();
    let mut parts = Box::new(ViewParts { format, shape, strides, _buffer: buffer });
    // SAFETY: the caller vouches for `view`; what it points to lives in `parts`, which `__releasebuffer__` frees.
    unsafe {
        (*view).buf = start.cast_mut().cast::<c_void>();
        (*view).len = size as ffi::Py_ssize_t;
        (*view).readonly = 1;
        (*view).itemsize = item;
        (*view).ndim = parts.shape.len() as c_int;
        (*view).format = if wants(ffi::PyBUF_FORMAT) { parts.format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
        (*view).shape = if is_shaped { parts.shape.as_mut_ptr() } else { std::ptr::null_mut() };
        (*view).strides = if wants(ffi::PyBUF_STRIDES) { parts.strides.as_mut_ptr() } else { std::ptr::null_mut() };
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = Box::into_raw(parts).cast::<c_void>();
        (*view).obj = slf.into_ptr();
    }
    Ok(())
}

/// The type of an array or number: its shape, dtype, weak type and sharding.
///
/// Args:
///   x: an array, a tracer, a number, or anything with `shape` and `dtype`.
/// Returns: a `ShapedArray`.
/// Raises:
///   TypeError: `x` is nothing of these.
/// Differentiable: no; no array is computed.
/// Example:
///   >>> jax.typeof(jnp.ones((2, 3)))
///   ShapedArray(float32[2,3])
#[pyfunction]
fn typeof_(x: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    // A reference has shape and dtype too, so it is asked for first.
    if as_val(x).is_none()
        && let Some(aval) = aval_of_reference(x)?
    {
        return Ok(aval.unbind());
    }
    match crate::aval::aval_of(x)? {
        Some(aval) => Ok(Py::new(x.py(), PyAval(aval))?.into_any()),
        None => Err(PyTypeError::new_err(format!(
            "Argument '{}' of type {} is not a valid JAX type",
            x.str()?,
            x.get_type()
        ))),
    }
}

/// The aval of a mutable reference, which is a class of the Python files.
fn aval_of_reference<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(aval) = x.getattr_opt("aval")? else { return Ok(None) };
    let class = x.py().import("pullback._src.state.types")?.getattr("AbstractRef")?;
    Ok(aval.is_instance(&class)?.then_some(aval))
}

/// The NumPy dtype object of anything that names a type, narrowed while 64-bit types are off.
#[pyfunction]
fn as_dtype<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    dtypes::to_numpy(dtype.py(), dtypes::canonical_named(dtypes::of_object(dtype)?))
}

/// Whether tangents of the type carry no information.
#[pyfunction]
fn tangent_dtype_is_float0(aval: &PyAval) -> bool {
    aval.0.tangent().dtype == DType::Float0
}

/// Whether the object is an array whose value is known: no abstract tracer.
#[pyfunction]
fn is_concrete(x: &Bound<'_, PyAny>) -> bool {
    as_val(x).is_none_or(|val| concrete(val).is_some())
}

/// The known value inside a tracer of a derivative; the object itself when it is no tracer.
#[pyfunction]
fn concrete_or_none(x: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    match as_val(x) {
        Some(val) => concrete(val).map(|val| wrap(x.py(), val)).transpose(),
        None => Ok(Some(x.clone().unbind())),
    }
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("typeof", wrap_pyfunction!(typeof_, m)?)?;
    m.add_function(wrap_pyfunction!(as_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(tangent_dtype_is_float0, m)?)?;
    m.add_function(wrap_pyfunction!(is_concrete, m)?)?;
    m.add_function(wrap_pyfunction!(concrete_or_none, m)?)
}
