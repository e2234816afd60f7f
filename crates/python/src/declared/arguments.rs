//! Python objects as the arguments of a public function.

use pullback_base::{DType, Error, Result};
use pullback_core::prims::DotPrecision;
use pullback_ir::{OutSharding, Val};
use pullback_lib::axes::Axes;
use pullback_lib::declare::{Arguments, Callable, CallableOr, NestedInts, Prototype, Tree, WideNumber};
use pullback_trace::{SplitScope, resolving_splits};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice, PyString, PyTuple};

use super::Function;
use super::slots::Slots;
use crate::api::arguments::{AxesArg, ShapeArg, items, operand, out_sharding, precision, prototype_of};
use crate::api::numpy::irregular::array_like;
use crate::dtypes::DTypeArg;
use crate::errors::{Carry, type_error};
use crate::python_trace::own_val;
use crate::tracer;
use crate::transfers::enter;
use crate::tree::flatten_all;
use crate::value::{ArrayLike, as_val, try_val, wrap};

/// Functions that ask a number of Python itself, so that a traced one is an error of `__index__`, as in the reference.
const BY_INDEX: [&str; 7] = ["argmax", "argmin", "concatenate", "stack", "take", "diag", "delete"];
/// Functions whose traced numbers are sizes of a shape.
const OF_SIZES: [&str; 3] = ["eye", "tri", "identity"];
/// Modules whose functions take numbers of Python as floating ones.
const OF_FLOATS: [&str; 2] = ["scipy.special.", "scipy.stats."];
/// Functions whose result is that of one operation, which can be asked how to split it.
const IS_DIRECT: &[&str] = &[
    "lax.broadcast",
    "lax.broadcast_in_dim",
    "lax.broadcasted_iota",
    "lax.dot",
    "lax.dot_general",
    "lax.full",
    "lax.reshape",
    "numpy.broadcast_to",
    "numpy.dot",
    "numpy.empty",
    "numpy.full",
    "numpy.ones",
    "numpy.ravel",
    "numpy.reshape",
    "numpy.zeros",
];

/// The arguments of one call.
pub struct Given<'a, 'b, 'py> {
    pub py: Python<'py>,
    pub function: &'a Function,
    pub slots: &'a Slots<'b, 'py>,
    /// How the result is to be split, where the function does not see to it.
    pub asked: Option<(OutSharding, SplitScope)>,
}

impl<'py> Given<'_, '_, 'py> {
    fn object(&self, at: usize) -> Result<&Bound<'py, PyAny>> {
        self.slots.get(at).ok_or_else(|| {
            Error::internal(format!("{} reads argument {at}, which was not given", self.function.name()))
        })
    }

    /// What Python converts, with the name of the parameter in the error.
    fn converted<T>(&self, at: usize, convert: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> Result<T> {
        let object = self.object(at)?;
        convert(object)
            .map_err(|error| self.unknown(at, object, &error).unwrap_or_else(|| self.about(at, error)))
            .carry(self.py)
    }

    /// A great integer of Python for a function of floating numbers, as which it is read.
    fn floating(&self, object: &Bound<'py, PyAny>) -> Option<Val> {
        let is_of_floats = OF_FLOATS.iter().any(|module| self.function.declaration.names[0].starts_with(module));
        let is_int = is_of_floats && object.is_exact_instance_of::<PyInt>() && !pullback_trace::settings::x64();
        let is_wide = is_int && object.extract::<i32>().is_err();
        is_wide.then(|| object.extract::<f64>().ok()).flatten().map(pullback_lib::convert::weak_float)
    }

    /// The error of a traced value in the place of numbers that must be known when the function is traced.
    fn unknown(&self, at: usize, object: &Bound<'py, PyAny>, error: &PyErr) -> Option<PyErr> {
        let Val::Tracer(found) = as_val(object)? else { return None };
        let class = error.get_type(self.py).name().ok()?.to_string();
        let function = self.function.name();
        if BY_INDEX.contains(&function) {
            return None;
        }
        if OF_SIZES.contains(&function) {
            let shown = object.repr().ok()?;
            let text = format!("Shapes must be 1D sequences of concrete values of integer type, got ({shown},).");
            return Some(type_error(format!("{text}{}", tracer::origin(self.py, found))));
        }
        let is_of_numbers =
            class == "TracerIntegerConversionError" || error.value(self.py).to_string().contains("unsized");
        let (name, title) = (self.function.declaration.parameters[at].name, self.function.title());
        let context = format!("The '{name}' argument of {title} must be known statically.");
        is_of_numbers.then(|| tracer::method_error(self.py, found, &context))
    }

    fn about(&self, at: usize, error: PyErr) -> PyErr {
        if !error.get_type(self.py).is(self.py.get_type::<PyTypeError>()) {
            return error;
        }
        let name = self.function.declaration.parameters[at].name;
        type_error(format!("argument '{name}': {}", error.value(self.py)))
    }

    /// A function of arrays that calls a Python function, with all further arguments of this call.
    fn bound(&self, function: &Bound<'py, PyAny>) -> PyResult<Callable> {
        let extra: Vec<Py<PyAny>> = self.slots.rest.iter().map(|arg| (**arg).clone().unbind()).collect();
        let named = PyDict::new(self.py);
        for (name, value) in &self.slots.keywords {
            named.set_item(name, value)?;
        }
        let (function, named) = (function.clone().unbind(), named.unbind());
        Ok(Callable::new(move |operands| {
            Python::attach(|py| {
                let run = || -> PyResult<Val> {
                    let mut args = operands.iter().map(|val| wrap(py, val.clone())).collect::<PyResult<Vec<_>>>()?;
                    args.extend(extra.iter().map(|arg| arg.clone_ref(py)));
                    let result = function.bind(py).call(PyTuple::new(py, args)?, Some(named.bind(py)))?;
                    crate::value::to_val(&result)
                };
                run().carry(py)
            })
        }))
    }
}

fn nested(obj: &Bound<'_, PyAny>) -> PyResult<NestedInts> {
    if as_val(obj).is_none_or(|val| val.aval().rank() == 0)
        && let Ok(number) = obj.extract::<i64>()
    {
        return Ok(NestedInts::One(number));
    }
    if obj.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("'str' object cannot be interpreted as an integer"));
    }
    crate::stack::check("reading nested integers")?;
    let Ok(items) = items(obj) else {
        return obj.extract::<i64>().map(NestedInts::One);
    };
    items.map(|item| nested(&item?)).collect::<PyResult<_>>().map(NestedInts::Many)
}

impl<'py> Arguments for Given<'_, '_, 'py> {
    fn function(&self) -> &'static str {
        self.function.name()
    }

    fn is_given(&self, at: usize) -> bool {
        self.slots.get(at).is_some()
    }

    fn is_sequence(&self, at: usize) -> bool {
        self.slots.get(at).is_some_and(|object| object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>())
    }

    fn class(&self, at: usize) -> String {
        self.slots.get(at).map_or_else(String::new, |object| object.get_type().to_string())
    }

    fn shown(&mut self, at: usize) -> Result<String> {
        self.object(at)?.str().map(|text| text.to_string()).carry(self.py)
    }

    fn is_none(&self, at: usize) -> bool {
        self.slots.get(at).is_none_or(|object| object.is_none())
    }

    fn array(&mut self, at: usize) -> Result<Val> {
        let object = self.object(at)?;
        // An exponent that is an integer of Python is no operand.
        if self.function.is_power() && at == 1 && object.is_exact_instance_of::<PyInt>() {
            return try_val(object).map(|val| val.expect("an integer")).carry(self.py);
        }
        match own_val(object) {
            Some(val) => enter(self.py, val).carry(self.py),
            None => self.floating(object).map_or_else(|| operand(object, self.function.title(), at).carry(self.py), Ok),
        }
    }

    fn number(&mut self, at: usize) -> Result<WideNumber> {
        let object = self.object(at)?;
        let is_narrow = |value: i64| pullback_trace::settings::x64() || i32::try_from(value).is_ok();
        if object.is_exact_instance_of::<PyInt>() && !object.extract::<i64>().is_ok_and(is_narrow) {
            let wide = object.extract::<i128>();
            return match wide {
                Ok(wide) => Ok(WideNumber::Int(wide)),
                Err(error) => Err(error).carry(self.py),
            };
        }
        self.array(at).map(WideNumber::Val)
    }

    fn convertible(&mut self, at: usize) -> Result<Val> {
        array_like(self.object(at)?).carry(self.py)
    }

    fn prototype(&mut self, at: usize) -> Result<Prototype> {
        let object = self.object(at)?;
        // An object that says what it stands for is not converted.
        let is_described = || -> PyResult<bool> {
            Ok(as_val(object).is_none()
                && object.hasattr("__jax_array__")?
                && object.hasattr("shape")?
                && object.hasattr("dtype")?)
        };
        let given: PyResult<ArrayLike> =
            is_described().and_then(|yes| if yes { Ok(ArrayLike::refused(object.clone())) } else { object.extract() });
        let found = given.and_then(|given| prototype_of(self.py, given, None, self.function.name()));
        found.map(|(val, shape)| Prototype { val, shape }).carry(self.py)
    }

    fn is_array(&self, at: usize) -> bool {
        self.slots.get(at).is_some_and(|object| as_val(object).is_some())
    }

    fn arrays(&mut self, at: usize) -> Result<Vec<Val>> {
        let name = self.function.name();
        self.converted(at, |object| {
            items(object)?.enumerate().map(|(i, item)| operand(&item?, name, i)).collect::<PyResult<_>>()
        })
    }

    fn rest(&mut self) -> Result<Vec<Val>> {
        let first = self.function.declaration.parameters.iter().position(|one| one.default.is_none()).unwrap_or(0);
        let name = self.function.name();
        let vals = self.slots.rest.iter().enumerate().map(|(i, object)| operand(object, name, first + i));
        vals.collect::<PyResult<_>>().carry(self.py)
    }

    fn flag(&mut self, at: usize) -> Result<bool> {
        self.object(at)?.is_truthy().carry(self.py)
    }

    fn int(&mut self, at: usize) -> Result<i64> {
        self.converted(at, |object| object.extract())
    }

    fn float(&mut self, at: usize) -> Result<f64> {
        self.converted(at, |object| object.extract())
    }

    fn nested_ints(&mut self, at: usize) -> Result<NestedInts> {
        self.converted(at, nested)
    }

    fn text(&mut self, at: usize) -> Result<String> {
        self.converted(at, |object| object.extract())
    }

    fn slice(&mut self, at: usize) -> Result<Option<[Option<i64>; 3]>> {
        self.converted(at, |object| {
            let Ok(slice) = object.cast::<PySlice>() else { return Ok(None) };
            let end = |name: &str| slice.getattr(name)?.extract::<Option<i64>>();
            Ok(Some([end("start")?, end("stop")?, end("step")?]))
        })
    }

    fn axes(&mut self, at: usize) -> Result<Axes> {
        self.converted(at, |object| object.extract::<AxesArg>().map(|axes| axes.0))
    }

    fn sizes(&mut self, at: usize) -> Result<Vec<i64>> {
        self.object(at)?.extract::<ShapeArg>().map(|shape| shape.0).carry(self.py)
    }

    fn dtype(&mut self, at: usize) -> Result<DType> {
        let named: PyResult<DTypeArg> = self.object(at)?.extract();
        named.and_then(|named| named.canonical(self.py, self.function.name())).carry(self.py)
    }

    fn exact_dtype(&mut self, at: usize) -> Result<DType> {
        self.object(at)?.extract().map(DTypeArg::exact).carry(self.py)
    }

    fn precision(&mut self, at: usize) -> Result<DotPrecision> {
        let found = precision(Some(self.object(at)?)).carry(self.py)?;
        found.ok_or_else(|| Error::internal("a precision that is given was not read"))
    }

    fn key(&mut self, at: usize) -> Result<Val> {
        let object = self.object(at)?;
        let refused = || type_error(format!("unexpected PRNG key type {}", object.get_type()));
        try_val(object).and_then(|found| found.ok_or_else(refused)).carry(self.py)
    }

    fn callable(&mut self, at: usize) -> Result<Callable> {
        self.bound(self.object(at)?).carry(self.py)
    }

    fn callables(&mut self, at: usize) -> Result<Vec<CallableOr>> {
        let each = |object: Bound<'py, PyAny>| -> PyResult<CallableOr> {
            if object.is_callable() && as_val(&object).is_none() {
                return self.bound(&object).map(CallableOr::Callable);
            }
            operand(&object, self.function.title(), at).map(CallableOr::Constant)
        };
        items(self.object(at)?).and_then(|all| all.map(|item| each(item?)).collect()).carry(self.py)
    }

    fn tree(&mut self, at: usize) -> Result<Tree> {
        let object = self.object(at)?;
        let read = || -> PyResult<Tree> {
            let (leaves, structure) = flatten_all(object)?;
            let leaves = leaves.iter().map(|leaf| operand(leaf, self.function.name(), at)).collect::<PyResult<_>>()?;
            Ok(Tree { leaves, structure })
        };
        read().carry(self.py)
    }

    fn split_result(&mut self, at: usize) -> Result<()> {
        if self.is_none(at) {
            return Ok(());
        }
        let name = self.function.name();
        let shown = if self.function.is_of("numpy") { format!("jnp.{name}") } else { name.to_string() };
        let found = out_sharding(&shown, Some(self.object(at)?)).carry(self.py)?;
        let is_direct = IS_DIRECT.contains(&self.function.full_name);
        self.asked = found.map(|asked| {
            let scope = resolving_splits(&asked, is_direct);
            (asked, scope)
        });
        Ok(())
    }
}
