//! Functions that call functions of the user on parts of arrays.

use pullback_base::{DType, Error, Result, bail};
use pullback_lib::declare::CallableOr;
use pullback_lib::numpy;

use crate::array::Array;
use crate::call::{Function, Operand};
use crate::functions::{arange, select};
use crate::transforms::vmap;

/// `f` of each row along an axis, all at once; what it gives takes the place of that axis.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::apply_along_axis;
///
/// let x = arr![[1.0, 2.0], [3.0, 5.0]];
/// assert_eq!(apply_along_axis(|row| Ok(row.max() - row.min()), 0, &x)?, arr![2.0, 3.0]);
/// assert_eq!(apply_along_axis(|row| Ok(row * 2.0), -1, &x)?, arr![[2.0, 4.0], [6.0, 10.0]]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Value` error for an axis that does not exist, and what waits in an operation of `f`.
#[track_caller]
pub fn apply_along_axis(f: impl Fn(&Array) -> Result<Array>, axis: i64, x: impl Operand) -> Result<Array> {
    let x = x.into_array().eval()?;
    let rank = x.rank() as i64;
    if axis < -rank || axis >= rank {
        bail!(Value, "axis {axis} is out of bounds for array of dimension {rank}");
    }
    let at = axis.rem_euclid(rank) as usize;
    let outer: Vec<i64> = (0..x.rank()).filter(|&i| i != at).map(|i| x.shape()[i] as i64).collect();
    let n = x.shape()[at] as i64;
    let rows = x.moveaxis(&[axis], &[-1]).reshape(&[outer.iter().product(), n]);
    let found = vmap(|row: &Array| f(row))(&rows)?;
    let inner: Vec<i64> = found.shape()[1..].iter().map(|&size| size as i64).collect();
    let whole = found.reshape(&[&outer[..], &inner].concat());
    // The axes of what `f` gave stand last; they go to where the axis was.
    let mut order: Vec<i64> = (0..outer.len() as i64).collect();
    let last = outer.len() as i64..(outer.len() + inner.len()) as i64;
    order.splice(at..at, last);
    whole.unary(|x| numpy::transpose(x, Some(&order))).eval()
}

/// The array of a shape whose element at each position is `f` of that position: one `int32` scalar for each axis.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::fromfunction;
///
/// let table = fromfunction(|at| Ok(&at[0] * 10 + &at[1]), &[2, 3])?;
/// assert_eq!(table, arr![[0, 1, 2], [10, 11, 12]]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// What waits in an operation of `f`.
#[track_caller]
pub fn fromfunction(f: impl Fn(&[Array]) -> Result<Array>, shape: &[usize]) -> Result<Array> {
    let size = shape.iter().product::<usize>();
    let n = i32::try_from(size).map_err(|_| Error::value_error(format!("an array of shape {shape:?} is too large")))?;
    let at = |flat: &Array| {
        let mut rest = flat.clone();
        let mut positions = vec![];
        for &size in shape.iter().rev() {
            positions.push(rest.remainder(size as i32));
            rest = rest.floor_divide(size as i32);
        }
        positions.reverse();
        f(&positions)
    };
    let found = vmap(at)(&arange(n))?;
    let all: Vec<i64> = shape.iter().chain(&found.shape()[1..]).map(|&size| size as i64).collect();
    found.reshape(&all).eval()
}

/// For each element what the function of the last condition that holds gives, or one more function where none holds (0 if
/// there is none more). Functions are called on single elements, all at once.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::{Function, piecewise};
///
/// let x = arr![-2.0, 0.5, 3.0];
/// let functions = vec![Function::new(|x: &[Array]| -&x[0]), Function::new(|x: &[Array]| x[0].square()), 7.0.into()];
/// assert_eq!(piecewise(&x, &[x.less(0.0), x.greater(1.0)], functions)?, arr![2.0, 7.0, 9.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Value` error for another number of functions than conditions, or one more; and what waits in an operation of one.
#[track_caller]
pub fn piecewise(x: impl Operand, conditions: &[Array], functions: Vec<Function>) -> Result<Array> {
    let x = x.into_array().eval()?;
    let (n, have) = (conditions.len(), functions.len());
    if have != n && have != n + 1 {
        bail!(Value, "piecewise with {n} conditions takes {n} or {} functions, got {have}", n + 1);
    }
    let flat = x.reshape(&[-1]);
    let mut values = vec![];
    for Function(function) in functions {
        let value = match function {
            CallableOr::Callable(f) => {
                vmap(|x: &Array| f.call(&[x.val()?]).map(Array::from_val))(&flat)?.reshape_as(&x)?
            }
            CallableOr::Constant(value) => Array::from_val(value),
        };
        values.push(value.astype(x.dtype()));
    }
    let rest = if have > n { values.pop() } else { None };
    let zero = x.zeros_like();
    let start = rest.map_or_else(|| zero.clone(), |rest| rest + &zero);
    let choose =
        |found: Array, (condition, value): (&Array, &Array)| select(&condition.astype(DType::Bool), value, &found);
    conditions.iter().zip(&values).fold(start, choose).eval()
}

impl Array {
    fn reshape_as(&self, like: &Array) -> Result<Array> {
        let sizes: Vec<i64> = like.shape().iter().map(|&size| size as i64).collect();
        self.reshape(&sizes).eval()
    }
}
