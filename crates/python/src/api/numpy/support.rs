//! What the functions of `numpy` need beside their arguments.

use pullback_base::{DType, Error, ErrorKind, Result, Scalar, bail};
use pullback_ir::Val;
use pullback_lib::axes::Axes;
use pullback_lib::convert::weak_float;
use pullback_lib::numpy::{self, Reduction, TakeMode, TakeOptions, TensordotAxes};
use pyo3::prelude::*;

use crate::api::arguments::{AxesArg, concrete, list, one, wide_integer};
use crate::errors::{type_error, value_error};
use crate::gate::gate;
use crate::value::ArrayLike;

/// The options of a reduction.
pub fn options(axis: Axes, dtype: Option<DType>, keepdims: bool, initial: Option<Val>, mask: Option<Val>) -> Reduction {
    Reduction { axis, dtype, keepdims, initial, where_: mask, ..Reduction::default() }
}

/// A flag that may be `None`.
pub fn is_true(flag: Option<&Bound<'_, PyAny>>) -> bool {
    flag.is_some_and(|flag| flag.is_truthy().unwrap_or(false))
}

/// What is taken off the number of elements: `ddof`, or `correction` in its place.
pub fn freedom(ddof: f64, correction: Option<&Bound<'_, PyAny>>) -> Result<f64> {
    let Some(correction) = correction.filter(|given| !given.is_none()) else { return Ok(ddof) };
    if ddof != 0.0 {
        bail!(Value, "ddof and correction can't be provided simultaneously.");
    }
    correction.extract().map_err(|_| Error::type_error("correction must be a number"))
}

/// Refuses an option that is not served.
pub fn without(name: &str, option: Option<&Val>) -> Result<()> {
    match option {
        None => Ok(()),
        Some(_) => Err(Error::not_implemented(format!("this option of jnp.{name} is not implemented"))),
    }
}

/// A tolerance, or its default.
pub fn tolerance(given: Option<Val>, default: f64) -> Val {
    given.unwrap_or_else(|| weak_float(default))
}

/// The array behind a value that must be concrete for `function`.
pub fn known(val: &Val, function: &str, why: &str) -> Result<pullback_base::Array> {
    val.to_array().ok_or_else(|| {
        let text = format!(
            "Abstract tracer value encountered where concrete value is expected: traced array with shape {}\n{why} of \
             jnp.{function} must be statically specified to use jnp.{function} within JAX transformations.",
            val.aval().weak(false).long()
        );
        Error::about(ErrorKind::Concretization, text, std::sync::Arc::new(val.clone()))
    })
}

/// Refuses a traced array where a function needs to know its elements to know the size of the result.
#[pyfunction]
pub fn _check_known(py: Python<'_>, x: ArrayLike, function: &str) -> PyResult<()> {
    let x = x.val(py, function, 0)?;
    gate(py, || known(&x, function, "The size argument").map(|_| ()))
}

/// One more than the greatest of concrete integers; 0 for none.
pub fn greatest_plus_one(x: &Val) -> Result<usize> {
    let elements = known(x, "bincount", "The 'length' argument")?.elements()?;
    Ok(elements.into_iter().map(|element| element.as_i64() + 1).max().unwrap_or(0).max(0) as usize)
}

/// Booleans as numbers of the default integer; others as they are.
pub fn numeric(x: &Val) -> Result<Val> {
    match x.aval().dtype {
        DType::Bool => pullback_lib::convert::convert(x, pullback_lib::convert::default_int(), false),
        _ => Ok(x.clone()),
    }
}

/// Two operands of which not both are booleans, which become numbers; a boolean beside a number takes its type.
pub fn numerics(x: Val, y: Val) -> Result<(Val, Val)> {
    let are_booleans = [&x, &y].iter().all(|val| val.aval().dtype == DType::Bool);
    if are_booleans { Ok((numeric(&x)?, numeric(&y)?)) } else { Ok((x, y)) }
}

/// The size that `repeat` gives for concrete numbers of repetitions.
pub fn total_of(x: &Val, repeats: &Val, axis: Option<i64>) -> Result<usize> {
    let elements =
        known(repeats, "repeat", "When the 'repeats' argument is an array, 'total_repeat_length'")?.elements()?;
    if elements.iter().any(|element| element.as_i64() < 0) {
        bail!(Type, "jnp.repeat: numbers of repetitions must not be negative");
    }
    let total: i64 = elements.iter().map(|element| element.as_i64()).sum();
    if elements.len() != 1 {
        return Ok(total as usize);
    }
    let aval = x.aval();
    let size = match axis {
        None => aval.size(),
        Some(axis) => aval.shape[pullback_lib::axes::canonical_axis(axis, aval.rank())?],
    };
    Ok(total as usize * size)
}

/// One result for one operand, a list for several.
pub fn each_or_one(py: Python<'_>, xs: &[Val], f: impl Fn(&Val) -> Result<Val>) -> PyResult<Py<PyAny>> {
    match xs {
        [only] => one(py, || f(only)),
        several => crate::api::arguments::tuple(py, || several.iter().map(&f).collect::<Result<Vec<Val>>>()),
    }
}

/// Parts of an axis: of a number of sections, or at positions.
pub fn split(py: Python<'_>, x: &Val, at: &Bound<'_, PyAny>, axis: i64, equal: bool) -> PyResult<Py<PyAny>> {
    if let Ok(sections) = at.extract::<usize>() {
        return list(
            py,
            || if equal { numpy::split(x, sections, axis) } else { numpy::array_split(x, sections, axis) },
        );
    }
    let positions: PyResult<Vec<i64>> = at.try_iter()?.map(|at| at?.extract()).collect();
    let positions = positions?;
    list(py, || numpy::split_at(x, &positions, axis))
}

/// Widths of padding as NumPy takes them: one number, one pair, or a pair for each axis.
pub fn widths(given: &Bound<'_, PyAny>, rank: usize) -> PyResult<Vec<(i64, i64)>> {
    let bad = || value_error(format!("jnp.pad: pad_width does not fit an array of {rank} axes"));
    if let Ok(all) = given.extract::<i64>() {
        return Ok(vec![(all, all); rank]);
    }
    let rows: Vec<Bound<'_, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
    if let Ok(flat) = rows.iter().map(|row| row.extract::<i64>()).collect::<PyResult<Vec<i64>>>() {
        return match flat[..] {
            [all] => Ok(vec![(all, all); rank]),
            [low, high] => Ok(vec![(low, high); rank]),
            _ => Err(bad()),
        };
    }
    let pair = |row: &Bound<'_, PyAny>| -> PyResult<(i64, i64)> {
        let ends: Vec<i64> = row.try_iter()?.map(|end| end?.extract()).collect::<PyResult<_>>()?;
        match ends[..] {
            [both] => Ok((both, both)),
            [low, high] => Ok((low, high)),
            _ => Err(bad()),
        }
    };
    let pairs: Vec<(i64, i64)> = rows.iter().map(pair).collect::<PyResult<_>>()?;
    match pairs.len() {
        1 => Ok(vec![pairs[0]; rank]),
        n if n == rank => Ok(pairs),
        _ => Err(bad()),
    }
}

/// The axes of a tensor product: a number, or two lists.
pub fn tensordot_axes(axes: &Bound<'_, PyAny>) -> PyResult<TensordotAxes> {
    if let Ok(count) = axes.extract::<usize>() {
        return Ok(TensordotAxes::Count(count));
    }
    let sides: Vec<Bound<'_, PyAny>> = axes.try_iter()?.collect::<PyResult<_>>()?;
    let [left, right] = &sides[..] else {
        return Err(type_error(
            "tensordot axes argument must be an int, a pair of ints, or a pair of lists/tuples of ints.",
        ));
    };
    let side = |side: &Bound<'_, PyAny>| side.extract::<AxesArg>().map(AxesArg::list);
    Ok(TensordotAxes::Pairs(side(left)?, side(right)?))
}

/// The options of `take`.
pub fn take_options(
    mode: Option<&str>,
    unique: bool,
    sorted: bool,
    fill: Option<&Bound<'_, PyAny>>,
    dtype: DType,
) -> PyResult<TakeOptions> {
    let mode = match mode {
        None | Some("fill") => TakeMode::Fill,
        Some("clip") => TakeMode::Clip,
        Some("promise_in_bounds") => TakeMode::PromiseInBounds,
        Some("wrap") => TakeMode::Wrap,
        Some("raise") => {
            return Err(pyo3::exceptions::PyNotImplementedError::new_err(
                "The 'raise' mode to jnp.take is not supported.",
            ));
        }
        Some(other) => return Err(value_error(format!("Invalid mode '{other}' for np.take"))),
    };
    let number = |fill: &Bound<'_, PyAny>| match wide_integer(fill, dtype)? {
        Some(wide) => Ok(wide),
        None => concrete(fill, "the fill value"),
    };
    let fill = fill.filter(|fill| !fill.is_none()).map(number).transpose()?;
    Ok(TakeOptions { mode, unique, sorted, fill: fill.map(|fill| fill.convert(dtype)), ..TakeOptions::default() })
}

/// Positions of the nonzero elements of a concrete array, one vector for each axis.
pub fn nonzero(x: &Val) -> Result<Vec<Val>> {
    let array = known(x, "nonzero", "The size argument")?;
    let shape = array.shape();
    let mut columns: Vec<Vec<Scalar>> = vec![vec![]; shape.len()];
    for (flat, element) in array.elements()?.into_iter().enumerate() {
        if element.is_nonzero() {
            let mut rest = flat;
            for axis in (0..shape.len()).rev() {
                columns[axis].push(Scalar::i32((rest % shape[axis]) as i32));
                rest /= shape[axis];
            }
        }
    }
    let dtype = pullback_lib::convert::default_int();
    let vector = |column: Vec<Scalar>| pullback_base::Array::from_scalars(&[column.len()], dtype, column);
    Ok(columns.into_iter().map(|column| Val::Array(vector(column))).collect())
}
