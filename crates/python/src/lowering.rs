//! The lowered program of a jaxpr: its StableHLO text, what it and the compiled one cost, and primitives to test on.
//!
//! Which arguments are donated and kept is decided here, from what the user asked; the text is made by `stablehlo`.

use pullback_core::transforms::dce_jaxpr;
use pullback_ir::{Builder, Emit, JaxprRef, Val};
use pullback_stablehlo::{Options, donations, module_text};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::aval::PyAval;
use crate::errors::value_error;
use crate::gate::gate;
use crate::jaxpr::PyJaxpr;

/// A program as StableHLO.
#[pyclass(module = "pullback._core", frozen, get_all)]
pub struct LoweredText {
    /// The text.
    text: String,
    /// Which arguments the text has, by number.
    kept: Vec<usize>,
    flops: f64,
    transcendentals: f64,
    bytes_accessed: f64,
}

/// A jaxpr without dead code, which of its arguments are left, and which of those are donated.
fn pruned(jaxpr: &JaxprRef, donated: &[bool], keep_unused: bool) -> (JaxprRef, Vec<usize>, Vec<bool>) {
    let pruned = dce_jaxpr(jaxpr, &vec![true; jaxpr.outs.len()], &vec![keep_unused; jaxpr.invars.len()]);
    let kept: Vec<usize> = (0..jaxpr.invars.len()).filter(|&i| pruned.used_in[i]).collect();
    let donated = kept.iter().map(|&i| donated.get(i).copied().unwrap_or(false)).collect();
    (pruned.jaxpr, kept, donated)
}

/// Types of donated arguments whose memory no result can take over.
#[pyfunction]
#[pyo3(signature = (jaxpr, donated, *, keep_unused=false))]
fn unusable_donations(jaxpr: &PyJaxpr, donated: Vec<bool>, keep_unused: bool) -> Vec<PyAval> {
    if !donated.contains(&true) {
        return vec![];
    }
    let (jaxpr, _, donated) = pruned(&jaxpr.0, &donated, keep_unused);
    let (_, unusable) = donations(&donated, &jaxpr.in_avals(), &jaxpr.out_avals());
    unusable.into_iter().map(|i| PyAval(jaxpr.in_avals()[i])).collect()
}

/// The StableHLO text of a jaxpr. Arguments that the results do not need are left out unless `keep_unused`.
#[pyfunction]
#[pyo3(signature = (jaxpr, name, donated, *, keep_unused=false, debug_info=false))]
fn stablehlo(
    py: Python<'_>,
    jaxpr: &PyJaxpr,
    name: &str,
    donated: Vec<bool>,
    keep_unused: bool,
    debug_info: bool,
) -> PyResult<LoweredText> {
    let names = jaxpr.0.debug.clone().unwrap_or_default();
    let (jaxpr, kept, donated) = pruned(&jaxpr.0, &donated, keep_unused);
    let options = Options {
        name: format!("jit_{name}"),
        arg_names: kept.iter().map(|&i| names.arg_names.get(i).cloned().unwrap_or_default()).collect(),
        donations: donations(&donated, &jaxpr.in_avals(), &jaxpr.out_avals()).0,
        result_names: names.result_paths.clone(),
        debug_info,
        division: None,
        host: None,
    };
    let made = gate(py, || module_text(&jaxpr, &options))?;
    let (flops, transcendentals, bytes_accessed) = (made.cost.flops, made.cost.transcendentals, made.cost.bytes);
    Ok(LoweredText { text: made.text, kept, flops, transcendentals, bytes_accessed })
}

/// What one run of the compiled jaxpr does: arithmetic, functions, bytes.
#[pyfunction]
fn run_cost(py: Python<'_>, jaxpr: &PyJaxpr) -> PyResult<(f64, f64, f64)> {
    let cost = gate(py, || pullback_backend::run_cost(&jaxpr.0))?;
    Ok((cost.flops, cost.transcendentals, cost.bytes))
}

/// Bytes of one run of the compiled jaxpr: arguments, results, temporaries, results in the memory of donated arguments.
#[pyfunction]
fn run_memory(py: Python<'_>, jaxpr: &PyJaxpr, donated: Vec<bool>) -> PyResult<(usize, usize, usize, usize)> {
    let memory = gate(py, || pullback_backend::memory(&jaxpr.0, &donated))?;
    Ok((memory.arguments, memory.results, memory.temporaries, memory.aliases))
}

/// The battery's applications of a primitive: for each a jaxpr of it alone, and the intervals of its operands' elements.
#[pyfunction]
fn primitive_samples(py: Python<'_>, name: &str) -> PyResult<Vec<(PyJaxpr, Vec<(f64, f64)>)>> {
    let prim =
        pullback_core::find_primitive(name).ok_or_else(|| value_error(format!("there is no primitive {name:?}")))?;
    let application = |sample: &pullback_ir::Sample| {
        let builder = Builder::new();
        let ins: Vec<Val> = sample.ins.iter().map(|input| builder.input(input.aval)).collect();
        let outs = builder.bind(prim, &sample.params, &ins)?;
        Ok(JaxprRef::new(builder.finish(&outs, None).0))
    };
    let one = |sample: &pullback_ir::Sample| {
        let domains = sample.ins.iter().map(|input| input.domain).collect();
        Ok((PyJaxpr::new(gate(py, || application(sample))?), domains))
    };
    prim.samples().iter().map(one).collect()
}

/// Which rules a primitive has: for each kind its name, or `None` where there is none.
#[pyfunction]
fn primitive_coverage<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let prim =
        pullback_core::find_primitive(name).ok_or_else(|| value_error(format!("there is no primitive {name:?}")))?;
    let coverage = prim.coverage();
    let found = PyDict::new(py);
    let rules = [
        ("derivative", coverage.derivative),
        ("transpose", coverage.transpose),
        ("batching", coverage.batching),
        ("stablehlo", coverage.hlo),
    ];
    for (kind, rule) in rules {
        found.set_item(kind, rule.ok())?;
    }
    Ok(found)
}

/// Adds the functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<LoweredText>()?;
    m.add_function(wrap_pyfunction!(unusable_donations, m)?)?;
    m.add_function(wrap_pyfunction!(stablehlo, m)?)?;
    m.add_function(wrap_pyfunction!(run_cost, m)?)?;
    m.add_function(wrap_pyfunction!(run_memory, m)?)?;
    m.add_function(wrap_pyfunction!(primitive_samples, m)?)?;
    m.add_function(wrap_pyfunction!(primitive_coverage, m)?)
}
