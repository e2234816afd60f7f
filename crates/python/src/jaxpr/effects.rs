//! What programs do besides computing, as the objects that Python code compares: those that a defined primitive's rule gave,
//! and one of each kind for the core's own primitives.

use pullback_ir::{Effects, Jaxpr, JaxprRef, Params, PrimRef};
use pyo3::prelude::*;
use pyo3::types::PySet;

use crate::defined::PyParams;

/// The effects of all equations.
pub fn effects_of<'py>(py: Python<'py>, jaxpr: &Jaxpr) -> PyResult<Bound<'py, PySet>> {
    let found = PySet::empty(py)?;
    add_all(py, jaxpr, &found)?;
    Ok(found)
}

fn add_all(py: Python<'_>, jaxpr: &Jaxpr, found: &Bound<'_, PySet>) -> PyResult<()> {
    jaxpr.eqns.iter().try_for_each(|eqn| add(py, eqn.prim, &eqn.params, found))
}

/// Adds the effects of one application: those of inner programs, where it holds such.
pub fn add(py: Python<'_>, prim: PrimRef, params: &Params, found: &Bound<'_, PySet>) -> PyResult<()> {
    let effects = prim.effects(params);
    if effects.is_none() {
        return Ok(());
    }
    if let Some(own) = PyParams::effects(params) {
        return own.bind(py).try_iter()?.try_for_each(|effect| found.add(effect?));
    }
    let inner = params.jaxprs();
    if !inner.is_empty() {
        return inner.iter().try_for_each(|jaxpr| add_all(py, jaxpr, found));
    }
    let of_core = py.import("pullback._effects")?.getattr("of_core")?;
    found.add(of_core.call1((prim.name(), effects == Effects::ORDERED))?)
}

/// Refuses bodies of control flow with effects of kinds that are not registered for it.
pub fn check_allowed(py: Python<'_>, what: &str, jaxprs: &[&JaxprRef]) -> PyResult<()> {
    if jaxprs.iter().all(|jaxpr| jaxpr.effects().is_none()) {
        return Ok(());
    }
    let found = PySet::empty(py)?;
    jaxprs.iter().try_for_each(|jaxpr| add_all(py, jaxpr, &found))?;
    py.import("pullback._effects")?.call_method1("check_allowed", (what, found))?;
    Ok(())
}
