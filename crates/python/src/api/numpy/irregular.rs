//! Functions whose arguments follow no pattern: arrays of nested sequences, `where`, `einsum`.

use pullback_base::{DType, Result};
use pullback_core::prims::DotDimensions;
use pullback_ir::Val;
use pullback_lib::numpy::{self, Nested};
use pullback_trace::settings::{PromotionScope, has_promotion_rules, promotion_rules_hold};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::support;
use crate::api::arguments::{
    canonical, concrete, items, no_out, on_device, one, one_within, operand, precision as precision_of, split_as, tuple,
};
use crate::dtypes::{self, DTypeArg};
use crate::errors::{from_py, type_error, value_error};
use crate::gate::gate;
use crate::python_trace::own_val;
use crate::value::{ArrayLike, as_val, try_val, wrap};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(array, m)?)?;
    m.add_function(wrap_pyfunction!(asarray, m)?)?;
    m.add_function(wrap_pyfunction!(r#where, m)?)?;
    m.add_function(wrap_pyfunction!(einsum, m)?)?;
    m.add_function(wrap_pyfunction!(nonzero, m)?)?;
    m.add_function(wrap_pyfunction!(flatnonzero, m)?)?;
    m.add_function(wrap_pyfunction!(result_type, m)?)?;
    m.add_function(wrap_pyfunction!(shape, m)?)?;
    m.add_function(wrap_pyfunction!(ndim, m)?)?;
    m.add_function(wrap_pyfunction!(size, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_shapes, m)?)?;
    m.add_function(wrap_pyfunction!(iscomplexobj, m)?)?;
    m.add_function(wrap_pyfunction!(_promote, m)?)?;
    m.add_function(wrap_pyfunction!(_promote_inexact, m)?)
}

/// The rules of promotion hold for what follows: a function written in Python has the user's operands.
fn of_user() -> PromotionScope {
    promotion_rules_hold(true)
}

/// Operands of function `name` in their common dtype, weak types included.
#[pyfunction]
#[pyo3(signature = (name, *args))]
fn _promote(py: Python<'_>, name: &str, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let vals = crate::api::arguments::positional(py, args, name)?;
    tuple(py, || {
        let _rules = of_user();
        pullback_lib::promotion::promote_dtypes(&vals)
    })
}

/// Operands of function `name` in their common floating or complex dtype, weak types included.
#[pyfunction]
#[pyo3(signature = (name, *args))]
fn _promote_inexact(py: Python<'_>, name: &str, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let vals = crate::api::arguments::positional(py, args, name)?;
    tuple(py, || {
        let _rules = of_user();
        pullback_lib::promotion::promote_inexact(&vals)
    })
}

fn is_sequence(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>()
}

fn holds_arrays(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !is_sequence(obj) {
        return Ok(as_val(obj).is_some() || obj.hasattr("__jax_array__")?);
    }
    crate::stack::check("reading a nested sequence")?;
    for item in items(obj)? {
        if holds_arrays(&item?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn nested(obj: &Bound<'_, PyAny>) -> PyResult<Nested> {
    if is_sequence(obj) {
        crate::stack::check("reading a nested sequence")?;
        return items(obj)?.map(|item| nested(&item?)).collect::<PyResult<_>>().map(Nested::List);
    }
    match try_val(obj)? {
        Some(val) => Ok(Nested::Leaf(val)),
        None => Err(type_error(format!("Unexpected input type for array: {}", obj.get_type()))),
    }
}

/// Sequences of plain numbers go through NumPy, whose rules for shapes are the reference's.
fn through_numpy(obj: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Val> {
    let py = obj.py();
    let asarray = crate::numpy::numpy(py)?.asarray.bind(py);
    let made = match dtype {
        Some(dtype) if dtypes::is_of_numpy(dtype) && dtype.is_inexact() => {
            asarray.call1((obj, dtypes::to_numpy(py, dtype)?))?
        }
        _ => asarray.call1((obj,))?,
    };
    check_range(&made, dtype)?;
    if dtype.is_some_and(|dtype| dtype != dtypes::canonical(dtype)) {
        return crate::numpy::exact_array(&made).map(Val::Array);
    }
    crate::numpy::from_ndarray(&made)
}

/// Python integers that do not fit the default type are an error, as in the reference.
fn check_range(made: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<()> {
    let name: String = made.getattr("dtype")?.getattr("name")?.extract()?;
    if name != "int64" || pullback_trace::settings::x64() || dtype.is_some_and(DType::is_inexact) {
        return Ok(());
    }
    let size: usize = made.getattr("size")?.extract()?;
    if size == 0 {
        return Ok(());
    }
    let target = dtype.filter(|dtype| dtype.is_integer()).unwrap_or(DType::I32);
    let (low, high) = (pullback_base::Scalar::least(target), pullback_base::Scalar::greatest(target));
    for bound in ["max", "min"] {
        let value: i64 = made.call_method0(bound)?.extract()?;
        let value128 = i128::from(value);
        if value128 < low.number().as_i128() || value128 > high.number().as_i128() {
            return Err(pyo3::exceptions::PyOverflowError::new_err(format!(
                "Python integer {value} out of bounds for {target}"
            )));
        }
    }
    Ok(())
}

/// One leaf of each type among nested sequences, and whether some are NumPy's.
#[derive(Default)]
struct LeafTypes {
    leaves: Vec<Val>,
    has_int: bool,
    has_float: bool,
    has_numpy: bool,
}

impl LeafTypes {
    fn add(&mut self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_sequence(obj) {
            return items(obj)?.try_for_each(|item| self.add(&item?));
        }
        let (is_int, is_float) = (obj.is_exact_instance_of::<PyInt>(), obj.is_exact_instance_of::<PyFloat>());
        if is_int && self.has_int || is_float && self.has_float {
            return Ok(());
        }
        self.has_int |= is_int;
        self.has_float |= is_float;
        self.has_numpy |= !is_int && !is_float && (crate::numpy::is_ndarray(obj)? || crate::numpy::is_generic(obj)?);
        // The number itself may be too large for its dtype; what it is matters alone.
        let leaf = match (is_int, is_float) {
            (true, _) => Some(pullback_lib::convert::weak_int(0)),
            (false, true) => Some(pullback_lib::convert::weak_float(0.0)),
            (false, false) => try_val(obj)?,
        };
        let kind = |val: &Val| (val.aval().dtype, val.aval().weak_type);
        if let Some(leaf) = leaf
            && self.leaves.iter().all(|known| kind(known) != kind(&leaf))
        {
            self.leaves.push(leaf);
        }
        Ok(())
    }
}

impl LeafTypes {
    fn of(obj: &Bound<'_, PyAny>) -> PyResult<LeafTypes> {
        let mut types = LeafTypes::default();
        types.add(obj)?;
        Ok(types)
    }

    /// The dtype where some leaves are NumPy's, to which numbers of Python give way; `None` where they hold none.
    fn dtype(&self, py: Python<'_>) -> PyResult<Option<DType>> {
        if !self.has_numpy {
            return Ok(None);
        }
        gate(py, || Ok(pullback_lib::promotion::result_type_of(&self.leaves)?.dtype)).map(Some)
    }

    /// Whether all are Python's integers and booleans.
    fn are_integers(&self) -> bool {
        let is_whole = |leaf: &Val| leaf.aval().dtype.is_integer() || leaf.aval().dtype == DType::Bool;
        self.has_int && !self.has_numpy && self.leaves.iter().all(is_whole)
    }
}

/// The array of nested sequences without arrays of ours.
fn of_plain_sequence(obj: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Val> {
    let py = obj.py();
    let Some(dtype) = dtype else {
        let types = LeafTypes::of(obj)?;
        if let Some(inferred) = types.dtype(py)? {
            let made = through_numpy(obj, Some(inferred))?;
            return gate(py, || pullback_lib::convert::to_dtype(&made, inferred));
        }
        let made = crate::numpy::numpy(py)?.asarray.bind(py).call1((obj,))?;
        let found: String = made.getattr("dtype")?.getattr("name")?.extract()?;
        if types.are_integers() && matches!(&*found, "uint64" | "float64" | "object") {
            return Err(pyo3::exceptions::PyOverflowError::new_err("Python int too large to convert to C long"));
        }
        // Beside a floating number an integer of any size is one.
        let wide = (found == "object" && types.has_float && !holds_none(obj)?).then_some(dtypes::canonical(DType::F64));
        return through_numpy(if wide.is_some() { obj } else { &made }, wide);
    };
    if dtype.is_integer() {
        check_sequence_range(obj, dtype)?;
    }
    through_numpy(obj, Some(dtype))
}

/// Refuses integers of a sequence that an integer dtype does not hold.
fn check_sequence_range(obj: &Bound<'_, PyAny>, dtype: DType) -> PyResult<()> {
    let py = obj.py();
    let made = crate::numpy::numpy(py)?.asarray.bind(py).call1((obj,))?;
    let (kind, size): (String, usize) =
        (made.getattr("dtype")?.getattr("kind")?.extract()?, made.getattr("size")?.extract()?);
    if kind == "c" {
        let text = "int() argument must be a string, a bytes-like object or a real number, not 'complex'";
        return Err(type_error(text));
    }
    if !matches!(&*kind, "i" | "u" | "O" | "f") || size == 0 || !LeafTypes::of(obj)?.are_integers() {
        return Ok(());
    }
    for bound in ["max", "min"] {
        // Integers that no dtype of NumPy holds together are floating there.
        let value = made.call_method0(bound)?.call_method0("__int__")?;
        let known: Option<i128> = value.extract().ok();
        let fits = |value: i128| pullback_base::Scalar::int(dtype, value).number().as_i128() == value;
        if !known.is_some_and(fits) {
            let text = format!("Python integer {value} out of bounds for {dtype}");
            return Err(pyo3::exceptions::PyOverflowError::new_err(text));
        }
    }
    Ok(())
}

/// Whether `None` stands somewhere in nested sequences.
fn holds_none(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !is_sequence(obj) {
        return Ok(obj.is_none());
    }
    for item in items(obj)? {
        if holds_none(&item?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What `jnp.asarray` makes of an object, for arguments that may be nested sequences.
pub fn array_like(obj: &Bound<'_, PyAny>) -> PyResult<Val> {
    own_val(obj).map_or_else(|| value_of(obj, None), Ok)
}

fn value_of(obj: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Val> {
    if obj.is_none() {
        return Err(value_error("None is not a valid value for jnp.array"));
    }
    if is_sequence(obj) {
        if !holds_arrays(obj)? {
            return of_plain_sequence(obj, dtype).map_err(|refused| match holds_none(obj) {
                Ok(true) => value_error("None is not a valid value for jnp.array"),
                Ok(false) | Err(_) => refused,
            });
        }
        let nested = nested(obj)?;
        return gate(obj.py(), || numpy::array_of(&nested, dtype));
    }
    if obj.is_instance_of::<PyString>() {
        return through_numpy(obj, dtype);
    }
    if let (Some(dtype), true) = (dtype, obj.is_exact_instance_of::<PyInt>()) {
        return integer_of(obj, dtype);
    }
    // Numbers and arrays of others go to a wide dtype from their own, not from the narrow one that they have here.
    let is_wide = dtype.is_some_and(|dtype| dtype != dtypes::canonical(dtype));
    if is_wide && as_val(obj).is_none() && !obj.hasattr("__jax_array__")? {
        return through_numpy(obj, dtype);
    }
    match try_val(obj)? {
        Some(val) => {
            if let Some(dtype) = dtype {
                gate(obj.py(), || pullback_lib::convert::check_number(&val, dtype))?;
            }
            Ok(val)
        }
        None if obj.hasattr("__array__")? || obj.hasattr("__array_interface__")? => through_numpy(obj, dtype),
        None if obj.hasattr("__iter__")? || obj.hasattr("__buffer__")? => through_numpy(obj, dtype),
        None => Err(type_error(format!("Unexpected input type for array: {}", obj.get_type()))),
    }
}

/// A Python integer in a dtype, which it must fit if that is one of integers.
fn integer_of(obj: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Val> {
    use pullback_base::Scalar;
    if !dtype.is_integer() {
        return Ok(Val::Literal(Scalar::float(dtype, obj.extract()?)));
    }
    let value: Option<i128> = obj.extract().ok();
    let fits = |value: &i128| Scalar::int(dtype, *value).number().as_i128() == *value;
    match value.filter(fits) {
        Some(value) => Ok(Val::Literal(Scalar::int(dtype, value))),
        None => Err(pyo3::exceptions::PyOverflowError::new_err(format!(
            "Python integer {} out of bounds for {dtype}",
            obj.str()?
        ))),
    }
}

/// The array of a number, an array or nested sequences of such.
/// Python numbers give weak types, which yield to other dtypes; sequences of them the default ones. 64-bit types
/// narrow to 32 bits unless `jax_enable_x64` is set.
///
/// Args:
///   object: a number, an array, an object with `__array__` or `__jax_array__`, or nested sequences of such.
///   dtype: the dtype; that of the elements together by default.
///   copy: whether to copy arrays of ours; other memory is copied anyway where NumPy may write to it.
///   order: for compatibility; arrays are in row-major order.
///   ndmin: the least number of axes; missing ones come first, of size 1.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array.
/// Raises:
///   TypeError: an element that is no number, or a dtype that is not of numbers.
///   ValueError: sequences of different lengths, or None.
///   OverflowError: a Python integer that the dtype cannot hold.
/// Differentiable: yes, in both modes, with respect to arrays in `object`.
/// Example:
///   >>> print(jnp.array([[1, 2], [3, 4]]))
///   [[1 2]
///    [3 4]]
#[pyfunction]
#[pyo3(
    signature = (object, dtype=None, *, copy=true, order=None, ndmin=0, device=None, out_sharding=None),
    text_signature = "(object, dtype=None, *, copy=True, order='K', ndmin=0, device=None, out_sharding=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the reference's parameters")]
fn array(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    copy: Option<bool>,
    order: Option<&Bound<'_, PyAny>>,
    ndmin: usize,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    check_order(order)?;
    let copy = copy == Some(true);
    split_as(py, "jnp.array", out_sharding.as_ref(), || {
        let dtype = canonical(py, dtype, "array")?;
        let was_array = as_val(object).is_some();
        if was_array && dtype.is_none() && !copy && ndmin == 0 && device.is_none() {
            return Ok(object.clone().unbind());
        }
        let val = crate::transfers::enter_through(py, value_of(object, dtype)?)?;
        let val = if was_array { real_for(py, val, dtype)? } else { val };
        on_device(py, device.as_ref(), || numpy::array(&val, dtype, copy && was_array, ndmin))
    })
}

/// An array of ours on its way to a dtype: of complex numbers the real part is what is asked whether it is 0.
fn real_for(py: Python<'_>, val: Val, dtype: Option<DType>) -> PyResult<Val> {
    if let Some(dtype) = dtype {
        gate(py, || pullback_lib::convert::warn_of_lost_part(&val, dtype))?;
    }
    match dtype {
        Some(DType::Bool) => gate(py, || pullback_lib::convert::without_imaginary_part(&val, DType::Bool)),
        _ => Ok(val),
    }
}

/// Refuses an order of elements in memory other than the one there is.
fn check_order(order: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match order {
        Some(order) if !order.eq("K")? => {
            Err(pyo3::exceptions::PyNotImplementedError::new_err("Only implemented for order='K'"))
        }
        _ => Ok(()),
    }
}

/// The array of a number, an array or nested sequences of such, without a copy where none is needed.
///
/// Args:
///   a: a number, an array, an object with `__array__` or `__jax_array__`, or nested sequences of such.
///   dtype: the dtype; that of the elements together by default.
///   order: for compatibility; arrays are in row-major order.
///   copy: whether to copy; None (the default) as needed. False does not keep from a copy that is needed.
///   device: the device or sharding that holds the result; the default device by default.
///   out_sharding: the sharding of the result, in place of `device`.
/// Returns: an array; with the memory of `a` if that is one of ours and has the dtype.
/// Raises:
///   TypeError: an element that is no number, or a dtype that is not of numbers.
///   ValueError: sequences of different lengths, or None.
///   OverflowError: a Python integer that the dtype cannot hold.
/// Differentiable: yes, in both modes, with respect to arrays in `a`.
/// Example:
///   >>> print(jnp.asarray([1.5, 2]))
///   [1.5 2. ]
#[pyfunction]
#[pyo3(
    signature = (a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None),
    text_signature = "(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the reference's parameters")]
fn asarray(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    order: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
    device: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    check_order(order)?;
    split_as(py, "jnp.asarray", out_sharding.as_ref(), || {
        let dtype = canonical(py, dtype, "asarray")?;
        let was_array = as_val(a).is_some();
        if was_array && dtype.is_none() && copy != Some(true) && device.is_none() {
            return Ok(a.clone().unbind());
        }
        let val = crate::transfers::enter_through(py, value_of(a, dtype)?)?;
        let val = if was_array { real_for(py, val, dtype)? } else { val };
        on_device(py, device.as_ref(), || numpy::array(&val, dtype, copy == Some(true) && was_array, 0))
    })
}

/// `x` where a condition holds and `y` elsewhere; with the condition alone the positions where it holds.
/// Both branches are computed: a NaN in the derivative of the one not taken still reaches the gradient as `0 *
/// nan`; guard its argument too.
///
/// Args:
///   condition: booleans or numbers, which hold where they differ from 0.
///   x, y: arrays or numbers that broadcast with `condition`; both or neither.
///   size: without `x` and `y`: how many positions to give, as for `nonzero`.
///   fill_value: without `x` and `y`: what fills up missing positions, as for `nonzero`.
/// Returns: an array of the broadcast shape and the promoted dtype of `x` and `y`; or a tuple of vectors of
///   positions.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or only one of `x` and `y` is given.
///   ValueError: shapes do not broadcast, or `size` or `fill_value` with `x` and `y`.
///   ConcretizationTypeError: a traced condition alone, without `size`.
/// Differentiable: yes, in both modes, with respect to `x` and `y`.
/// Example:
///   >>> print(jnp.where(jnp.array([True, False]), jnp.array([1, 2]), 0))
///   [1 0]
///   >>> print(jnp.where(jnp.array([True, False, True]))[0])
///   [0 2]
#[pyfunction]
#[pyo3(
    signature = (condition, x=None, y=None, /, *, size=None, fill_value=None),
    text_signature = "(condition, x=None, y=None, /, *, size=None, fill_value=None)"
)]
fn r#where(
    py: Python<'_>,
    condition: &Bound<'_, PyAny>,
    x: Option<&Bound<'_, PyAny>>,
    y: Option<&Bound<'_, PyAny>>,
    size: Option<usize>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    if x.is_none() && y.is_none() {
        return nonzero_of(py, &operand(condition, "where", 0)?, size, fill_value);
    }
    let none = py.None().into_bound(py);
    let condition = operand(condition, "where", 0)?;
    let x = operand(x.unwrap_or(&none), "where", 1)?;
    let y = operand(y.unwrap_or(&none), "where", 2)?;
    if size.is_some() || fill_value.is_some() {
        return Err(value_error("size and fill_value arguments cannot be used in three-term where function."));
    }
    one(py, || numpy::where_(&condition, &x, &y))
}

fn nonzero_of(
    py: Python<'_>,
    x: &Val,
    size: Option<usize>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let rank = x.aval().rank();
    if rank == 0 {
        return Err(value_error(
            "Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() instead.",
        ));
    }
    let odd = odd_fill(fill_value, rank)?;
    let fill = if odd.is_some() { vec![-1; rank] } else { fill_values(fill_value, rank)? };
    tuple(py, || {
        let found = match size {
            None => support::nonzero(x)?,
            Some(size) => numpy::nonzero_sized(x, size, &fill)?,
        };
        match &odd {
            None => Ok(found),
            Some(odd) => found.iter().zip(odd).map(|(places, fill)| filled(places, fill)).collect(),
        }
    })
}

/// Positions with another number, which is no integer, in the place of -1.
fn filled(places: &Val, fill: &Val) -> pullback_base::Result<Val> {
    let is_missing = numpy::less(places, &pullback_lib::convert::weak_int(0))?;
    let found = numpy::where_(&is_missing, fill, places)?;
    pullback_lib::convert::to_dtype(&found, found.aval().dtype)
}

/// What fills up positions, where that is no integer.
fn odd_fill(given: Option<&Bound<'_, PyAny>>, rank: usize) -> PyResult<Option<Vec<Val>>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(None) };
    let read = |obj: &Bound<'_, PyAny>| operand(obj, "nonzero", 1);
    let all = if is_sequence(given) {
        items(given)?.map(|item| read(&item?)).collect::<PyResult<Vec<Val>>>()?
    } else {
        vec![read(given)?; rank]
    };
    let is_odd = all.len() == rank && all.iter().any(|x| x.aval().dtype.is_inexact() && x.aval().rank() == 0);
    Ok(is_odd.then_some(all))
}

/// What fills up positions along each axis: one number for all, or a tuple with one for each.
fn fill_values(given: Option<&Bound<'_, PyAny>>, rank: usize) -> PyResult<Vec<i64>> {
    let number = |obj: &Bound<'_, PyAny>| Ok(concrete(obj, "the fill value of jnp.nonzero")?.as_i64());
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(vec![0; rank]) };
    if !is_sequence(given) {
        return Ok(vec![number(given)?; rank]);
    }
    let all: Vec<i64> = items(given)?.map(|item| number(&item?)).collect::<PyResult<_>>()?;
    if all.len() != rank {
        return Err(value_error(format!(
            "fill_value must have one entry for each of the {rank} axes, got {}",
            all.len()
        )));
    }
    Ok(all)
}

/// The positions of the elements that differ from 0, in row-major order.
///
/// Args:
///   a: an array of at least one axis; concrete unless `size` is given.
///   size: how many positions to give, a static integer: more are cut off, missing ones are filled up.
///   fill_value: the position that fills up: an integer, or a tuple with one for each axis; 0 by default.
/// Returns: a tuple with a vector of integers for each axis.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `a` has no axes.
///   ConcretizationTypeError: a traced `a` without `size`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> rows, columns = jnp.nonzero(jnp.array([[0, 5], [7, 0]]))
///   >>> print(rows, columns)
///   [0 1] [1 0]
///   >>> print(jnp.nonzero(jnp.array([0, 5]), size=2, fill_value=-1)[0])
///   [ 1 -1]
#[pyfunction]
#[pyo3(signature = (a, *, size=None, fill_value=None), text_signature = "(a, *, size=None, fill_value=None)")]
fn nonzero(
    py: Python<'_>,
    a: ArrayLike,
    size: Option<usize>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    nonzero_of(py, &a.val(py, "nonzero", 0)?, size, fill_value)
}

/// The positions of the elements of the flat array that differ from 0.
///
/// Args:
///   a: an array or number; concrete unless `size` is given.
///   size: how many positions to give, a static integer: more are cut off, missing ones are filled up.
///   fill_value: the position that fills up; 0 by default.
/// Returns: a vector of integers.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced `a` without `size`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.flatnonzero(jnp.array([[0, 5], [7, 0]])))
///   [1 2]
#[pyfunction]
#[pyo3(signature = (a, *, size=None, fill_value=None), text_signature = "(a, *, size=None, fill_value=None)")]
fn flatnonzero(
    py: Python<'_>,
    a: ArrayLike,
    size: Option<usize>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "flatnonzero", 0)?;
    let flat = gate(py, || numpy::ravel(&a, numpy::Order::RowMajor))?;
    let found = nonzero_of(py, &flat, size, fill_value)?;
    Ok(found.bind(py).get_item(0)?.unbind())
}

/// `einsum` as `jax.numpy.einsum` describes it; `_dot_general` is None where `lax.dot_general` contracts.
#[pyfunction]
#[pyo3(
    signature = (
        subscripts, /, *operands, out=None, optimize=None, precision=None, preferred_element_type=None,
        _dot_general=None, out_sharding=None
    ),
    text_signature = "(subscripts, /, *operands, out=None, optimize='auto', precision=None, preferred_element_type=None, _dot_general=None, out_sharding=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the reference's parameters")]
fn einsum(
    py: Python<'_>,
    subscripts: &Bound<'_, PyAny>,
    operands: &Bound<'_, PyTuple>,
    out: Option<Bound<'_, PyAny>>,
    optimize: Option<Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    _dot_general: Option<Bound<'_, PyAny>>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let _ = optimize;
    no_out("einsum", out.as_ref())?;
    let dtype = canonical(py, preferred_element_type, "einsum")?;
    let (subscripts, operands) = if subscripts.is_instance_of::<PyString>() {
        (subscripts.extract::<String>()?, operands.iter().collect::<Vec<_>>())
    } else {
        interleaved(subscripts, operands)?
    };
    let operands: Vec<Val> =
        operands.iter().enumerate().map(|(i, x)| operand(x, "einsum", i + 1)).collect::<PyResult<_>>()?;
    if has_promotion_rules() {
        gate(py, || {
            let _rules = of_user();
            pullback_lib::promotion::result_type_of(&operands)
        })?;
    }
    split_as(py, "jnp.einsum", out_sharding.as_ref(), || match _dot_general {
        None => one_within(py, precision_of(precision.as_ref())?, || numpy::einsum(&subscripts, &operands, dtype)),
        Some(dot_general) => one(py, || {
            numpy::einsum_by(&subscripts, &operands, dtype, &|x, y, dims, dtype| {
                contract_by(&dot_general, precision.as_ref(), (x, y), &dims, dtype)
            })
        }),
    })
}

/// A pair contracted by a function of the user, called as `lax.dot_general` is.
fn contract_by(
    dot_general: &Bound<'_, PyAny>,
    precision: Option<&Bound<'_, PyAny>>,
    (x, y): (&Val, &Val),
    dims: &DotDimensions,
    dtype: DType,
) -> Result<Val> {
    let py = dot_general.py();
    let call = || {
        let pair = |[x, y]: &[Vec<usize>; 2]| Ok::<_, PyErr>((PyTuple::new(py, x)?, PyTuple::new(py, y)?));
        let args = (wrap(py, x.clone())?, wrap(py, y.clone())?, (pair(&dims.contract)?, pair(&dims.batch)?), precision);
        let kwargs = [("preferred_element_type", crate::dtypes::to_numpy(py, dtype)?)].into_py_dict(py)?;
        operand(&dot_general.call(args, Some(&kwargs))?, "einsum", 1)
    };
    call().map_err(|raised| from_py(py, raised))
}

/// Operands each followed by the list of its labels, and perhaps the labels of the result.
fn interleaved<'py>(
    first: &Bound<'py, PyAny>,
    rest: &Bound<'py, PyTuple>,
) -> PyResult<(String, Vec<Bound<'py, PyAny>>)> {
    let all: Vec<Bound<'py, PyAny>> = std::iter::once(first.clone()).chain(rest.iter()).collect();
    let text = |labels: &Bound<'py, PyAny>| -> PyResult<String> {
        labels
            .try_iter()?
            .map(|label| {
                let label = label?;
                if label.is(label.py().Ellipsis()) {
                    return Ok("...".to_string());
                }
                let number: u32 = label.extract()?;
                let letter = char::from_u32(if number < 26 { 97 + number } else { 39 + number });
                Ok(letter.ok_or_else(|| value_error("too many labels for einsum"))?.to_string())
            })
            .collect()
    };
    let mut operands = vec![];
    let mut inputs = vec![];
    for pair in all.chunks_exact(2) {
        operands.push(pair[0].clone());
        inputs.push(text(&pair[1])?);
    }
    let mut subscripts = inputs.join(",");
    if let [output] = all.chunks_exact(2).remainder() {
        subscripts = format!("{subscripts}->{}", text(output)?);
    }
    Ok((subscripts, operands))
}

/// The dtype that an operation on arrays, numbers and dtypes has.
/// By JAX's promotion lattice: Python numbers are weak, so that they change only the kind, and integers with floats
/// give the float. 64-bit types narrow to 32 bits unless `jax_enable_x64` is set.
///
/// Args:
///   args: arrays, numbers, dtypes, or names of dtypes; at least one.
/// Returns: a `numpy.dtype`.
/// Raises:
///   ValueError: there is no argument.
///   TypeError: an argument is nothing of that kind.
///   TypePromotionError: dtypes that do not promote, such as two of 8-bit floats; it is a ValueError.
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.result_type(jnp.int8, jnp.float16), jnp.result_type(jnp.int8, 1.5)
///   (dtype('float16'), dtype('float32'))
#[pyfunction]
#[pyo3(signature = (*args), text_signature = "(*args)")]
fn result_type(py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    use pullback_base::dtype::Typed;
    if args.is_empty() {
        return Err(value_error("at least one array or dtype is required"));
    }
    let typed = |arg: Bound<'_, PyAny>| -> PyResult<Typed> {
        if let Some(val) = try_val(&arg)? {
            return Ok(pullback_lib::promotion::typed(&val));
        }
        let is_python = [py.get_type::<pyo3::types::PyFloat>(), py.get_type::<pyo3::types::PyInt>()];
        let is_complex = arg.is(py.get_type::<pyo3::types::PyComplex>());
        let weak_type = is_complex || is_python.iter().any(|class| arg.is(class));
        Ok(Typed { dtype: dtypes::canonical_named(dtypes::of_object(&arg)?), weak_type })
    };
    let types: Vec<Typed> = args.iter().map(typed).collect::<PyResult<_>>()?;
    let found = gate(py, || pullback_lib::promotion::result_type(&types))?;
    Ok(dtypes::to_numpy(py, found.dtype)?.unbind())
}

/// `None` has the sizes of a number and lists those of arrays, as in NumPy; the reference warns.
fn warn_of_no_array(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let (py, class) = (obj.py(), obj.get_type());
    let text = format!(
        "{name} requires ndarray or scalar arguments, got {class} at position 0. In a future JAX release this will be an error."
    );
    let category = py.get_type::<pyo3::exceptions::PyDeprecationWarning>();
    PyErr::warn(py, &category, &std::ffi::CString::new(text)?, 1)
}

fn sized(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<pullback_base::Aval> {
    if obj.is_none() || obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>() {
        warn_of_no_array(obj, name)?;
    }
    if obj.is_none() {
        return Ok(pullback_base::Aval::scalar(pullback_base::DType::F32, true));
    }
    Ok(operand(obj, name, 0)?.aval())
}

/// The sizes of the axes of an array.
///
/// Args:
///   a: an array or number.
/// Returns: a tuple of ints; empty for numbers.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.shape(jnp.ones((2, 3)))
///   (2, 3)
#[pyfunction]
#[pyo3(signature = (a), text_signature = "(a)")]
fn shape<'py>(a: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if is_sequence(a) {
        return a.py().import("numpy")?.call_method1("shape", (a,));
    }
    if let Some(shape) = a.getattr_opt("shape")? {
        return Ok(shape);
    }
    Ok(PyTuple::new(a.py(), sized(a, "shape")?.shape.iter())?.into_any())
}

/// The number of axes of an array.
///
/// Args:
///   a: an array or number.
/// Returns: an int; 0 for numbers.
/// Raises:
///   TypeError: `a` is neither an array nor a number; of lists it warns.
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.ndim(jnp.ones((2, 3)))
///   2
#[pyfunction]
#[pyo3(signature = (a), text_signature = "(a)")]
fn ndim(a: &Bound<'_, PyAny>) -> PyResult<usize> {
    if a.is_none() {
        return warn_of_no_array(a, "ndim").map(|()| 0);
    }
    if is_sequence(a) {
        warn_of_no_array(a, "ndim")?;
        return shape(a)?.len();
    }
    match a.getattr_opt("ndim")? {
        Some(ndim) => ndim.extract(),
        None => Ok(sized(a, "ndim")?.rank()),
    }
}

/// The number of elements of an array, or along axes.
///
/// Args:
///   a: an array or number.
///   axis: the axis or tuple of axes whose sizes are multiplied; None (the default) for all.
/// Returns: an int.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.size(jnp.ones((2, 3))), jnp.size(jnp.ones((2, 3)), axis=1)
///   (6, 3)
#[pyfunction]
#[pyo3(signature = (a, axis=crate::api::arguments::AxesArg::ALL), text_signature = "(a, axis=None)")]
fn size(py: Python<'_>, a: &Bound<'_, PyAny>, axis: crate::api::arguments::AxesArg) -> PyResult<usize> {
    let shape: Vec<usize> = self::shape(a)?.extract()?;
    gate(py, || -> Result<usize> { Ok(axis.0.resolve(shape.len())?.into_iter().map(|axis| shape[axis]).product()) })
}

/// The shape to which shapes broadcast: aligned at their ends, axes of size 1 stretch.
///
/// Args:
///   shapes: shapes: tuples of integers, or integers.
/// Returns: a tuple of ints.
/// Raises:
///   ValueError: the shapes do not broadcast.
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.broadcast_shapes((2, 1), (3,))
///   (2, 3)
#[pyfunction]
#[pyo3(signature = (*shapes), text_signature = "(*shapes)")]
fn broadcast_shapes(py: Python<'_>, shapes: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let shapes: Vec<crate::api::arguments::ShapeArg> =
        shapes.iter().map(|shape| shape.extract()).collect::<PyResult<_>>()?;
    let shape = gate(py, || {
        let sizes: Vec<Vec<usize>> = shapes.iter().map(|shape| shape.sizes()).collect::<Result<_>>()?;
        pullback_lib::broadcast::broadcast_shapes(&sizes.iter().map(Vec::as_slice).collect::<Vec<_>>())
    })?;
    Ok(PyTuple::new(py, shape.iter())?.into_any().unbind())
}

/// Whether the dtype of a value is complex, whatever its elements are.
///
/// Args:
///   x: an array or number.
/// Returns: a bool.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is no array.
/// Example:
///   >>> jnp.iscomplexobj(jnp.array([1 + 0j])), jnp.iscomplexobj(1.0)
///   (True, False)
#[pyfunction]
#[pyo3(signature = (x), text_signature = "(x)")]
fn iscomplexobj(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let is_complex = x.val(py, "iscomplexobj", 0)?.aval().dtype.is_complex();
    Ok(pyo3::types::PyBool::new(py, is_complex).to_owned().into_any().unbind())
}
