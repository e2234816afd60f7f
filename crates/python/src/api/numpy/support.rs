//! What the functions of `numpy` need beside their arguments.

use pullback_base::{Result, Scalar};
use pullback_ir::Val;
use pyo3::prelude::*;

use crate::gate::gate;
use crate::value::ArrayLike;

/// Refuses a traced array where a function needs to know its elements to know the size of the result.
#[pyfunction]
pub fn _check_known(py: Python<'_>, x: ArrayLike, function: &str) -> PyResult<()> {
    let x = x.val(py, function, 0)?;
    gate(py, || pullback_lib::convert::known(&x, function, "The size argument").map(|_| ()))
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
