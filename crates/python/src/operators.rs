//! What operators of arrays take, and what they answer to anything else.

use pullback_ir::Val;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;

use crate::errors::type_error;
use crate::gate::gate;
use crate::names::class_name;
use crate::transfers::call_of;
use crate::value::{try_val, wrap};

/// An operation of two values.
pub type Operator = fn(&Val, &Val) -> pullback_base::Result<Val>;

/// The other operand; `None` for what no operator takes, lists and texts among them.
pub fn operand(obj: &Bound<'_, PyAny>) -> PyResult<Option<Val>> {
    if let Some(val) = crate::python_trace::own_val(obj) {
        return Ok(Some(val));
    }
    try_val(obj)?.map(|val| crate::transfers::enter(obj.py(), val)).transpose()
}

/// The result of an operator.
pub fn operated(py: Python<'_>, op: impl FnOnce() -> pullback_base::Result<Val>) -> PyResult<Py<PyAny>> {
    let _own = call_of(py, "an operator")?;
    wrap(py, gate(py, op)?)
}

/// The answer to a comparison with what is no operand. Of a collection Python would say whether it is the same object,
/// which is never what was meant.
pub fn unequal(py: Python<'_>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
    let class = class_name(other);
    let name = match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => return Ok(py.NotImplemented()),
    };
    if !["list", "tuple", "dict", "set"].contains(&class.as_str()) {
        return Ok(py.NotImplemented());
    }
    Err(type_error(format!(
        "unsupported operand type(s) for {name}: 'Array' and '{class}'. Convert it with `jnp.array` first."
    )))
}
