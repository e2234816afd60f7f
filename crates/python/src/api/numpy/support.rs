//! What the functions of `numpy` need beside their arguments.

use pullback_base::{DType, Result, Scalar};
use pullback_ir::Val;
use pullback_lib::numpy::{TakeMode, TakeOptions, TensordotAxes};
use pyo3::prelude::*;

use crate::api::arguments::{AxesArg, concrete, wide_integer};
use crate::errors::{type_error, value_error};
use crate::gate::gate;
use crate::value::ArrayLike;

/// Refuses a traced array where a function needs to know its elements to know the size of the result.
#[pyfunction]
pub fn _check_known(py: Python<'_>, x: ArrayLike, function: &str) -> PyResult<()> {
    let x = x.val(py, function, 0)?;
    gate(py, || pullback_lib::convert::known(&x, function, "The size argument").map(|_| ()))
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
    let array = pullback_lib::convert::known(x, "nonzero", "The size argument")?;
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
