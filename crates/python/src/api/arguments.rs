//! Arguments as users write them, and results as they get them: what the glue of all functions shares.

use pullback_base::array::check_room;
use pullback_base::{DType, Error, ErrorKind, Result, Scalar};
use pullback_core::prims::{CustomAlgorithm, DotPrecision, Precision};
use pullback_ir::{OutSharding, Tracer, Val};
use pullback_lib::axes::Axes;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};

use crate::api::lax::parallel::axis_name;
use crate::dtypes::DTypeArg;
use crate::errors::{type_error, value_error};
use crate::gate::gate;
use crate::names::class_name;
use crate::value::{ArrayLike, as_val, to_val, try_val, wrap, wrap_all};

/// Which axes: `None`, an integer, or several.
pub struct AxesArg(pub Axes);

impl AxesArg {
    /// All axes, the default.
    pub const ALL: AxesArg = AxesArg(Axes::All);
}

impl<'py> FromPyObject<'_, 'py> for AxesArg {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<AxesArg> {
        if obj.is_none() {
            return Ok(AxesArg::ALL);
        }
        if let Ok(axis) = obj.extract::<i64>() {
            return Ok(AxesArg(Axes::One(axis)));
        }
        if obj.is_instance_of::<PyString>() {
            return Ok(AxesArg(Axes::Named(vec![axis_name(&obj)?], vec![])));
        }
        let (mut names, mut axes) = (vec![], vec![]);
        for axis in items(&obj)? {
            let axis = axis?;
            if axis.is_instance_of::<PyString>() { names.push(axis_name(&axis)?) } else { axes.push(axis.extract()?) }
        }
        Ok(AxesArg(if names.is_empty() { Axes::Many(axes) } else { Axes::Named(names, axes) }))
    }
}

impl AxesArg {
    /// As a list.
    pub fn list(self) -> Vec<i64> {
        match self.0 {
            Axes::All => vec![],
            Axes::One(axis) => vec![axis],
            Axes::Many(axes) | Axes::Named(_, axes) => axes,
        }
    }
}

/// The items of an iterable; of one that says how many it has no more, as old sequences may give items for ever.
///
/// # Errors
/// What `__iter__` raises, and `__len__` when it gives no number; `Memory` for more items than memory holds.
pub fn items<'py>(obj: &Bound<'py, PyAny>) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>>> {
    let py = obj.py();
    let most = match obj.hasattr("__len__")? {
        true => obj.len()?,
        false => usize::MAX,
    };
    if most < usize::MAX {
        gate(py, || check_room(most, BYTES_PER_ITEM))?;
    }
    // Items may come for ever, or for hours: the user can stop them.
    let polite = move |(at, item)| if at % ITEMS_PER_LOOK == 0 { py.check_signals().and(item) } else { item };
    Ok(obj.try_iter()?.take(most).enumerate().map(polite))
}

/// What an item of Python takes at least, with the pointer to it.
const BYTES_PER_ITEM: usize = 32;
/// Items between two looks at signals.
const ITEMS_PER_LOOK: usize = 1 << 14;

/// Sizes: an integer or several.
pub struct ShapeArg(pub Vec<i64>);

impl ShapeArg {
    /// The sizes, none of which may be negative.
    pub fn sizes(&self) -> Result<Vec<usize>> {
        pullback_lib::axes::shape_of(&self.0)
    }
}

impl<'py> FromPyObject<'_, 'py> for ShapeArg {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<ShapeArg> {
        let is_tracer = as_val(&obj).is_some_and(Val::is_tracer);
        if !is_tracer && let Ok(size) = obj.extract::<i64>() {
            return Ok(ShapeArg(vec![size]));
        }
        let sizes = |obj: &Bound<'py, PyAny>| -> PyResult<Vec<i64>> {
            if as_val(obj).is_some_and(Val::is_tracer) || obj.is_instance_of::<pyo3::types::PyString>() {
                return Err(type_error("not concrete"));
            }
            items(obj)?.map(|size| size?.extract()).collect()
        };
        sizes(&obj).map(ShapeArg).map_err(|_| bad_shape(&obj))
    }
}

fn first_tracer(obj: &Bound<'_, PyAny>) -> Option<Tracer> {
    let tracer = |obj: &Bound<'_, PyAny>| match as_val(obj) {
        Some(Val::Tracer(tracer)) => Some(tracer.clone()),
        _ => None,
    };
    // An iterator that raises has no more items, though it may be asked for ever.
    let among =
        |obj: &Bound<'_, PyAny>| obj.try_iter().ok()?.take(64).map_while(Result::ok).find_map(|size| tracer(&size));
    tracer(obj).or_else(|| among(obj))
}

fn bad_shape(obj: &Bound<'_, PyAny>) -> PyErr {
    let shown = if obj.is_instance_of::<PyTuple>() || obj.is_instance_of::<PyList>() {
        obj.repr()
    } else {
        PyTuple::new(obj.py(), [obj]).and_then(|tuple| tuple.repr())
    };
    let mut text = format!(
        "Shapes must be 1D sequences of concrete values of integer type, got {}.",
        shown.map(|text| text.to_string()).unwrap_or_default()
    );
    if let Some(tracer) = first_tracer(obj) {
        text += "\nIf using `jit`, try using `static_argnums` or applying `jit` to smaller subfunctions.";
        text += &crate::tracer::origin(obj.py(), &tracer);
    }
    type_error(text)
}

/// Several arrays: a sequence of them, or the slices of one.
pub struct Arrays(Vec<Py<PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Arrays {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Arrays> {
        let items: PyResult<Vec<Py<PyAny>>> = items(&obj)?.map(|item| Ok(item?.unbind())).collect();
        items.map(Arrays)
    }
}

impl Arrays {
    /// The values.
    ///
    /// # Errors
    /// `TypeError` that names the function and position of what is no array.
    pub fn vals(self, py: Python<'_>, name: &str) -> PyResult<Vec<Val>> {
        self.0.iter().enumerate().map(|(i, item)| operand(item.bind(py), name, i)).collect()
    }
}

/// The value of an argument.
///
/// # Errors
/// `TypeError` that names the function and position of what is no array.
pub fn operand(obj: &Bound<'_, PyAny>, name: &str, position: usize) -> PyResult<Val> {
    let refused = || {
        type_error(format!(
            "{name} requires ndarray or scalar arguments, got {} at position {position}.",
            obj.get_type()
        ))
    };
    crate::transfers::enter(obj.py(), try_val(obj)?.ok_or_else(refused)?)
}

/// The values of positional arguments.
pub fn positional(py: Python<'_>, args: &Bound<'_, PyTuple>, name: &str) -> PyResult<Vec<Val>> {
    let _ = py;
    args.iter().enumerate().map(|(i, arg)| operand(&arg, name, i)).collect()
}

/// The value of an argument that may be absent.
pub fn optional(py: Python<'_>, arg: Option<ArrayLike>, name: &str, position: usize) -> PyResult<Option<Val>> {
    arg.map(|arg| arg.val(py, name, position)).transpose()
}

/// The `where` of a reduction: booleans, or nothing.
///
/// # Errors
/// JAX's `ValueError` for another dtype.
pub fn mask(py: Python<'_>, arg: Option<ArrayLike>, name: &str, position: usize) -> PyResult<Option<Val>> {
    let found = optional(py, arg, name, position)?;
    match found.as_ref().map(|mask| mask.aval().dtype) {
        None | Some(DType::Bool) => Ok(found),
        Some(dtype) => Err(value_error(format!(
            "jnp.{name}: where must be None or a boolean array; got where.dtype=dtype('{dtype}')."
        ))),
    }
}

/// The `initial` of a reduction: a scalar, or nothing.
///
/// # Errors
/// JAX's `ValueError` for an array with axes.
pub fn initial_value(py: Python<'_>, arg: Option<ArrayLike>, name: &str, position: usize) -> PyResult<Option<Val>> {
    let found = optional(py, arg, name, position)?;
    match found.as_ref().map(Val::aval) {
        Some(aval) if aval.rank() > 0 => {
            let shape = pullback_base::aval::tuple_text(&aval.shape);
            Err(value_error(format!("initial value must be a scalar. Got array of shape {shape}")))
        }
        _ => Ok(found),
    }
}

/// A Python integer that the default dtype of integers does not hold, in the dtype where it goes, of which it takes the
/// low bits. `None` for all else.
///
/// # Errors
/// What Python raises.
pub fn wide_integer(obj: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<Scalar>> {
    let narrow = i64::from(i32::MIN)..=i64::from(i32::MAX);
    let is_narrow = |value: &i64| pullback_trace::settings::x64() || narrow.contains(value);
    if !obj.is_exact_instance_of::<PyInt>() || obj.extract::<i64>().is_ok_and(|value| is_narrow(&value)) {
        return Ok(None);
    }
    if !dtype.is_integer() && !dtype.is_key() {
        return Ok(Some(Scalar::float(dtype, obj.extract()?)));
    }
    let given = obj.extract::<i64>().map(i128::from).or_else(|_| obj.extract::<u64>().map(i128::from));
    let widest = if dtype.is_key() { DType::U64 } else { dtype };
    Ok(given.ok().map(|given| Scalar::int(widest, given)))
}

/// The value of an argument that goes to a dtype; see [`wide_integer`].
///
/// # Errors
/// As [`operand`].
pub fn operand_for(obj: &Bound<'_, PyAny>, dtype: Option<DType>, name: &str, position: usize) -> PyResult<Val> {
    match dtype.map(|dtype| wide_integer(obj, dtype)).transpose()?.flatten() {
        Some(scalar) => Ok(Val::Literal(scalar)),
        None => operand(obj, name, position),
    }
}

/// The dtype of an argument, after narrowing.
pub fn canonical(py: Python<'_>, dtype: Option<DTypeArg>, name: &str) -> PyResult<Option<DType>> {
    dtype.map(|dtype| dtype.canonical(py, name)).transpose()
}

/// `out` arguments exist for NumPy's sake, and must be absent.
pub fn no_out(name: &str, out: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match out {
        None => Ok(()),
        Some(_) => Err(PyNotImplementedError::new_err(format!("The 'out' argument to jnp.{name} is not supported."))),
    }
}

/// How a result is to be split; see `pullback._out_sharding`.
///
/// # Errors
/// The exception of the Python function that holds the rule.
pub fn out_sharding(function: &str, asked: Option<&Bound<'_, PyAny>>) -> PyResult<Option<OutSharding>> {
    let Some(asked) = asked.filter(|given| !given.is_none()) else { return Ok(None) };
    let module = asked.py().import("pullback._out_sharding")?;
    let found = module.call_method1("resolved", (function, asked))?;
    if found.is_none() {
        return Ok(None);
    }
    Ok(Some(found.cast::<crate::devices::PyOutSharding>()?.get().0.clone()))
}

/// Runs `call` and splits its result as asked.
///
/// # Errors
/// What `call` raises, and what is wrong with the sharding.
pub fn split_as(
    py: Python<'_>,
    function: &str,
    asked: Option<&Bound<'_, PyAny>>,
    call: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let Some(asked) = out_sharding(function, asked)? else { return call() };
    let result = {
        let _way = pullback_trace::resolving_splits(&asked, function == "jnp.arange");
        call()?
    };
    let val = to_val(result.bind(py))?;
    wrap(py, gate(py, || pullback_trace::split(&val, asked))?)
}

/// The prototype of a `*_like` function, and the shape of the result where the prototype does not say it: of an object
/// that has only a shape and a dtype, such as a `ShapeDtypeStruct`, the prototype is a zero of that dtype.
///
/// # Errors
/// JAX's `TypeError`, which names the function, for what describes no array.
pub fn prototype_of(
    py: Python<'_>,
    prototype: ArrayLike,
    shape: Option<ShapeArg>,
    function: &str,
) -> PyResult<(Val, Option<Vec<i64>>)> {
    let shape = shape.map(|shape| shape.0);
    let described = match prototype.into_inner() {
        Ok(val) => return Ok((val, shape)),
        Err(object) => object.into_bound(py),
    };
    match crate::aval::aval_of(&described)? {
        Some(aval) => {
            let its_own = || aval.shape.iter().map(|&size| size as i64).collect();
            Ok((Val::Literal(Scalar::zero(aval.dtype)), Some(shape.unwrap_or_else(its_own))))
        }
        None => ArrayLike::refused(described).val(py, function, 0).map(|val| (val, shape)),
    }
}

/// A concrete number.
///
/// # Errors
/// `ConcretizationTypeError` for a tracer, `TypeError` for what is no scalar.
pub fn concrete(obj: &Bound<'_, PyAny>, what: &str) -> PyResult<Scalar> {
    let val = to_val(obj)?;
    let py = obj.py();
    gate(py, || {
        if let Val::Literal(scalar) = val {
            return Ok(scalar);
        }
        let Some(array) = val.to_array() else {
            let text = format!(
                "Abstract tracer value encountered where concrete value is expected: traced array with shape {}\n{what}",
                val.aval().weak(false).long()
            );
            return Err(Error::about(ErrorKind::Concretization, text, std::sync::Arc::new(val.clone())));
        };
        if array.aval().size() != 1 {
            return Err(Error::type_error(format!("only scalar arrays can be used here, got {}", array.aval())));
        }
        Ok(array.element(0)?.weak(array.aval().weak_type))
    })
}

/// Runs a function of one result.
pub fn one(py: Python<'_>, f: impl FnOnce() -> Result<Val>) -> PyResult<Py<PyAny>> {
    let val = gate(py, f)?;
    wrap(py, val)
}

/// Runs a function of one result, the contractions of which have a precision.
pub fn one_within(
    py: Python<'_>,
    precision: Option<DotPrecision>,
    f: impl FnOnce() -> Result<Val>,
) -> PyResult<Py<PyAny>> {
    one(py, || pullback_lib::precision::within(precision, f))
}

/// Runs a function of one result, which is put on the device or sharding that was asked for.
pub fn on_device(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    f: impl FnOnce() -> Result<Val>,
) -> PyResult<Py<PyAny>> {
    let made = one(py, f)?;
    match device.filter(|device| !device.is_none()) {
        Some(device) => Ok(py.import("pullback._device")?.call_method1("device_put", (made, device))?.unbind()),
        None => Ok(made),
    }
}

/// Runs a function of several results, which become a tuple.
pub fn tuple<V: IntoIterator<Item = Val>>(py: Python<'_>, f: impl FnOnce() -> Result<V>) -> PyResult<Py<PyAny>> {
    let vals = gate(py, f)?;
    Ok(PyTuple::new(py, wrap_all(py, vals)?)?.into_any().unbind())
}

/// Runs a function of several results, which become a list.
pub fn list<V: IntoIterator<Item = Val>>(py: Python<'_>, f: impl FnOnce() -> Result<V>) -> PyResult<Py<PyAny>> {
    let vals = gate(py, f)?;
    Ok(PyList::new(py, wrap_all(py, vals)?)?.into_any().unbind())
}

/// The `precision` of a contraction: a word, a level, a pair of them, or an algorithm.
pub fn precision(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DotPrecision>> {
    given.map(|given| find_precision(given)?.ok_or_else(|| wrong_precision(given))).transpose()
}

fn find_precision(given: &Bound<'_, PyAny>) -> PyResult<Option<DotPrecision>> {
    if let Ok(word) = given.extract::<String>() {
        return Ok(DotPrecision::of_word(&word));
    }
    if let Some(level) = precision_level(given)? {
        return Ok(Some(DotPrecision::level(level)));
    }
    match class_name(given).as_str() {
        "DotAlgorithmPreset" => Ok(DotPrecision::algorithm(&given.getattr("name")?.extract::<String>()?)),
        "DotAlgorithm" => custom_algorithm(given).map(Some),
        "tuple" | "list" if given.len()? == 2 => {
            let pair = (precision_level(&given.get_item(0)?)?, precision_level(&given.get_item(1)?)?);
            Ok(if let (Some(x), Some(y)) = pair { Some(DotPrecision::Levels(x, y)) } else { None })
        }
        _ => Ok(None),
    }
}

/// A `lax.DotAlgorithm`, by its parts.
fn custom_algorithm(given: &Bound<'_, PyAny>) -> PyResult<DotPrecision> {
    let dtype = |at: usize| Ok::<_, PyErr>(given.get_item(at)?.extract::<DTypeArg>()?.exact());
    let count = |at: usize| given.get_item(at)?.extract::<u8>();
    Ok(DotPrecision::custom(CustomAlgorithm {
        types: [dtype(0)?, dtype(1)?, dtype(2)?],
        counts: [count(3)?, count(4)?, count(5)?],
        is_imprecise: given.get_item(6)?.is_truthy()?,
    }))
}

fn precision_level(given: &Bound<'_, PyAny>) -> PyResult<Option<Precision>> {
    let is_level = class_name(given) == "Precision";
    let word =
        if is_level { given.getattr("name")?.extract::<String>()?.to_lowercase().into() } else { given.extract().ok() };
    Ok(word.and_then(|word: String| Precision::of_word(&word)))
}

fn wrong_precision(given: &Bound<'_, PyAny>) -> PyErr {
    let algorithms: Vec<&str> = DotPrecision::algorithms().collect();
    value_error(format!(
        "Precision argument must be None, one of the words 'default', 'fastest', 'bfloat16', 'high', 'bfloat16_3x', \
         'tensorfloat32', 'highest' and 'float32', a lax.Precision, a pair of these, a lax.DotAlgorithm, or a lax.DotAlgorithmPreset or its \
         name ({}), but got {}",
        algorithms.join(", "),
        given.repr().map_or_else(|_| class_name(given), |text| text.to_string())
    ))
}
