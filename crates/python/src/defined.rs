//! Primitives that Python code defines.
//!
//! The rules are Python functions in the tables of `pullback.interpreters`. A question of a transform becomes a call of the
//! function of `pullback.interpreters._defined` that answers it, with the transform's emitter current. Nothing here knows
//! what the rules are.

use std::any::Any;
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pullback_base::array::place::Spec;
use pullback_base::{Aval, Result};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Coverage, CustomRule, DynPrim, Effects, Emit, EmitRef, Opaque, Operand, OutSharding,
    ParamValue, Params, ParamsObject, Passing, PrimRef, Sample, Split, Tangents, Val, Vals, as_cpu, eval_jaxpr,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyTuple};

use crate::aval::PyAval;
use crate::errors::{Carry, type_error};
use crate::jaxpr::{PyJaxpr, param_value};
use crate::primitive::primitive_object;
use crate::value::{to_val, wrap};

/// A primitive without rules of its own. It lives as long as the process.
pub struct Defined {
    name: String,
    multiple_results: AtomicBool,
    has_effects: AtomicBool,
    this: OnceLock<PrimRef>,
}

/// A new primitive.
pub fn define(name: String) -> &'static Defined {
    let new: &'static Defined = Box::leak(Box::new(Defined {
        name,
        multiple_results: AtomicBool::new(false),
        has_effects: AtomicBool::new(false),
        this: OnceLock::new(),
    }));
    new.this.get_or_init(|| PrimRef(Box::leak(Box::new(new))));
    new
}

impl Defined {
    /// Says whether equations have a list of results.
    pub fn set_multiple_results(&self, multiple: bool) {
        self.multiple_results.store(multiple, Ordering::Relaxed);
    }

    /// Says whether applications do something besides computing, so that they stay when nothing uses their results.
    pub fn set_has_effects(&self, has_effects: bool) {
        self.has_effects.store(has_effects, Ordering::Relaxed);
    }

    /// The primitive as equations hold it.
    pub fn this(&self) -> PrimRef {
        *self.this.get().expect("set when it was made")
    }
}

/// Parameters as the Python objects that they are, and what the application does besides computing, once it is known.
#[derive(Debug)]
pub struct PyParams {
    fields: Vec<(String, Py<PyAny>)>,
    effects: OnceLock<DefinedEffects>,
}

/// Effects as the objects that the abstract evaluation gave.
#[derive(Debug)]
struct DefinedEffects {
    set: Py<PyFrozenSet>,
    is_ordered: bool,
}

impl PyParams {
    /// Parameters by name.
    pub fn erased(params: Option<&Bound<'_, PyDict>>) -> PyResult<Params> {
        let mut fields = vec![];
        for (name, value) in params.into_iter().flat_map(|params| params.iter()) {
            fields.push((name.extract()?, value.unbind()));
        }
        fields.sort_by(|(a, _): &(String, _), (b, _)| a.cmp(b));
        Ok(Params::foreign(Arc::new(PyParams { fields, effects: OnceLock::new() })))
    }

    fn of(params: &Params) -> Option<&PyParams> {
        params.object()?.as_any().downcast_ref()
    }

    /// The effects of an application that is known to have some.
    pub fn effects(params: &Params) -> Option<&Py<PyFrozenSet>> {
        Some(&Self::of(params)?.effects.get()?.set)
    }

    /// Says what effects an application has; an empty set says nothing.
    pub fn set_effects(params: &Params, effects: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(own) = Self::of(params).filter(|_| effects.is_truthy().unwrap_or(false)) else { return Ok(()) };
        let py = effects.py();
        let items: Vec<Bound<'_, PyAny>> = effects.try_iter()?.collect::<PyResult<_>>()?;
        let set = PyFrozenSet::new(py, items)?;
        let is_ordered = py.import("pullback._effects")?.call_method1("has_ordered", (&set,))?.is_truthy()?;
        own.effects.get_or_init(|| DefinedEffects { set: set.unbind(), is_ordered });
        Ok(())
    }

    /// The Python objects of parameters, if they are such.
    pub fn dict<'py>(py: Python<'py>, params: &Params) -> Option<PyResult<Bound<'py, PyDict>>> {
        let own = Self::of(params)?;
        let dict = PyDict::new(py);
        for (name, value) in &own.fields {
            if let Err(error) = dict.set_item(name, value) {
                return Some(Err(error));
            }
        }
        Some(Ok(dict))
    }
}

fn params_dict<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    PyParams::dict(py, params).unwrap_or_else(|| Ok(PyDict::new(py)))
}

/// A parameter that only Python understands.
fn opaque(py: Python<'_>, value: &Py<PyAny>) -> ParamValue {
    let text = value.bind(py).str().map_or_else(|_| "<object>".to_string(), |text| text.to_string());
    ParamValue::Opaque(Opaque { text: text.into(), value: Arc::new(value.clone_ref(py)) })
}

impl ParamsObject for PyParams {
    fn fields(&self) -> Vec<(String, ParamValue)> {
        Python::attach(|py| {
            let field = |value: &Py<PyAny>| param_value(value.bind(py)).unwrap_or_else(|_| opaque(py, value));
            self.fields.iter().map(|(name, value)| (name.clone(), field(value))).collect()
        })
    }
    fn hidden(&self) -> &'static [&'static str] {
        &[]
    }
    fn equals(&self, other: &dyn ParamsObject) -> bool {
        let Some(other) = other.as_any().downcast_ref::<PyParams>() else { return false };
        let same = |py: Python<'_>, x: &Py<PyAny>, y: &Py<PyAny>| x.is(y) || x.bind(py).eq(y).unwrap_or(false);
        let all =
            |py: Python<'_>| self.fields.iter().zip(&other.fields).all(|((a, x), (b, y))| a == b && same(py, x, y));
        self.fields.len() == other.fields.len() && Python::attach(all)
    }
    fn hash_value(&self) -> u64 {
        let mut state = rustc_hash::FxHasher::default();
        Python::attach(|py| {
            for (name, value) in &self.fields {
                state.write(name.as_bytes());
                // What cannot be hashed counts as one; equality decides.
                state.write_isize(value.bind(py).hash().unwrap_or(0));
            }
        });
        state.finish()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Calls the answering function.
fn ask<'py>(
    py: Python<'py>,
    question: &str,
    prim: &'static Defined,
    params: &Params,
    args: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let answers = py.import("pullback.interpreters._defined")?;
    let mut all =
        vec![primitive_object(py, prim.this())?.into_bound(py).into_any(), params_dict(py, params)?.into_any()];
    all.extend(args);
    answers.getattr(question)?.call1(PyTuple::new(py, all)?)
}

fn list<'py>(py: Python<'py>, items: impl IntoIterator<Item = PyResult<Py<PyAny>>>) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, items.into_iter().collect::<PyResult<Vec<_>>>()?)?.into_any())
}

fn optional(py: Python<'_>, val: Option<&Val>) -> PyResult<Py<PyAny>> {
    val.map_or_else(|| Ok(py.None()), |val| wrap(py, val.clone()))
}

fn avals<'py>(py: Python<'py>, ins: &[Aval]) -> PyResult<Bound<'py, PyAny>> {
    list(py, ins.iter().map(|&aval| Ok(Py::new(py, PyAval(aval))?.into_any())))
}

fn read_vals(obj: &Bound<'_, PyAny>) -> PyResult<Vals> {
    obj.try_iter()?.map(|item| to_val(&item?)).collect()
}

fn read_optional(obj: &Bound<'_, PyAny>) -> PyResult<Tangents> {
    let read = |item: Bound<'_, PyAny>| if item.is_none() { Ok(None) } else { to_val(&item).map(Some) };
    obj.try_iter()?.map(|item| read(item?)).collect()
}

fn read_avals(obj: &Bound<'_, PyAny>) -> PyResult<Avals> {
    let read = |item: Bound<'_, PyAny>| {
        crate::aval::aval_of(&item)?
            .ok_or_else(|| type_error(format!("an abstract evaluation rule gave {item}, not a ShapedArray")))
    };
    obj.try_iter()?.map(|item| read(item?)).collect()
}

/// One application's rules.
struct Rules {
    prim: &'static Defined,
    params: Params,
}

impl Rules {
    fn ask_jvp(&self, py: Python<'_>, primals: &[Val], tangents: &[Option<Val>]) -> PyResult<(Vals, Tangents)> {
        let primals = list(py, primals.iter().map(|val| wrap(py, val.clone())))?;
        let tangents = list(py, tangents.iter().map(|val| optional(py, val.as_ref())))?;
        let (outs, dots): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            ask(py, "jvp", self.prim, &self.params, vec![primals, tangents])?.extract()?;
        Ok((read_vals(&outs)?, read_optional(&dots)?))
    }

    fn ask_transpose(&self, py: Python<'_>, cts: &[Option<Val>], ins: &[Operand]) -> PyResult<Tangents> {
        let cts = list(py, cts.iter().map(|val| optional(py, val.as_ref())))?;
        let known = list(py, ins.iter().map(|operand| optional(py, operand.known())))?;
        let in_avals = avals(py, &ins.iter().map(Operand::aval).collect::<Vec<_>>())?;
        read_optional(&ask(py, "transpose", self.prim, &self.params, vec![cts, known, in_avals])?)
    }

    fn ask_batch(
        &self,
        py: Python<'_>,
        batch: &Batch,
        ins: &[Val],
        dims: &[Option<usize>],
    ) -> PyResult<(Vals, BatchDims)> {
        let vals = list(py, ins.iter().map(|val| wrap(py, val.clone())))?;
        let dims = PyList::new(py, dims)?.into_any();
        let size = batch.size.into_pyobject(py)?.into_any();
        let name = batch.name.as_deref().into_pyobject(py)?;
        let (outs, out_dims): (Bound<'_, PyAny>, Vec<Option<isize>>) =
            ask(py, "batch", self.prim, &self.params, vec![size, name, vals, dims])?.extract()?;
        let outs = read_vals(&outs)?;
        let dim = |(dim, out): (Option<isize>, &Val)| {
            dim.map(|dim| dim.rem_euclid(out.aval().rank().max(1) as isize) as usize)
        };
        let dims = out_dims.into_iter().zip(&outs).map(dim).collect();
        Ok((outs, dims))
    }
}

/// Calls Python with an emitter current.
fn within<T>(e: &EmitRef, body: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    Python::attach(|py| pullback_trace::with_current(e.clone(), || body(py)).carry(py))
}

impl CustomRule for Rules {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        within(e, |py| self.ask_jvp(py, primals, tangents))
    }
    fn transpose(&self, e: &EmitRef, cts: &[Option<Val>], ins: &[Operand]) -> Option<Result<Tangents>> {
        Some(within(e, |py| self.ask_transpose(py, cts, ins)))
    }
    fn batch(
        &self,
        e: &EmitRef,
        batch: &Batch,
        ins: &[Val],
        dims: &[Option<usize>],
    ) -> Option<Result<(Vals, BatchDims)>> {
        Some(within(e, |py| self.ask_batch(py, batch, ins, dims)))
    }
    fn name(&self) -> String {
        self.prim.name.clone()
    }
}

const BY_CUSTOM_RULE: &str = "transforms take the custom rule of a primitive that has one";

/// A defined primitive as a transform sees it: always behind a reference that lives as long as the process.
impl DynPrim for &'static Defined {
    fn name(&self) -> &str {
        &self.name
    }
    fn multiple_results(&self) -> bool {
        self.multiple_results.load(Ordering::Relaxed)
    }
    fn abstract_eval(&self, params: &Params, ins: &[Aval]) -> Result<Avals> {
        Python::attach(|py| {
            let answer = |py| {
                let (outs, effects): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                    ask(py, "typed", self, params, vec![avals(py, ins)?])?.extract()?;
                PyParams::set_effects(params, &effects)?;
                read_avals(&outs)
            };
            answer(py).carry(py)
        })
    }
    fn jvp(&self, _: PrimRef, _: &Params, _: &dyn Emit, _: &[Val], _: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        unreachable!("{BY_CUSTOM_RULE}")
    }
    fn transpose(&self, _: &Params, _: &dyn Emit, _: &[Option<Val>], _: &[Operand]) -> Result<Tangents> {
        unreachable!("{BY_CUSTOM_RULE}")
    }
    fn batch(
        &self,
        _: &Params,
        _: &dyn Emit,
        _: &Batch,
        _: &[Val],
        _: &[Option<usize>],
    ) -> Result<Option<(Vals, BatchDims)>> {
        unreachable!("{BY_CUSTOM_RULE}")
    }
    fn cpu(&self, params: &Params, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let lowered = Python::attach(|py| {
            let answer = || {
                let effects = PyParams::effects(params).map_or_else(|| py.None(), |set| set.clone_ref(py).into_any());
                let found = ask(py, "lowered", self, params, vec![avals(py, ins)?, effects.into_bound(py)])?;
                found.cast::<PyJaxpr>()?.get().own().cloned()
            };
            answer().carry(py)
        });
        CpuForm::Decompose(Box::new(move |e, ins| {
            let jaxpr = lowered.as_ref().map_err(Clone::clone)?;
            Ok(eval_jaxpr(e, jaxpr, ins)?.into())
        }))
    }
    fn hlo(
        &self,
        this: PrimRef,
        params: &Params,
        cx: &mut dyn HloCx,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<HloValues> {
        as_cpu(this, params, cx, ins, outs)
    }
    fn pass(&self, _: &Params, passing: &Passing<'_>) -> Option<Result<Vec<Spec>>> {
        Some(Ok(passing.whole()))
    }
    fn asked<'a>(&self, _: &'a Params) -> Option<&'a OutSharding> {
        None
    }
    fn effects(&self, params: &Params) -> Effects {
        match PyParams::of(params).and_then(|own| own.effects.get()) {
            Some(own) if own.is_ordered => Effects::ORDERED,
            Some(_) => Effects::UNORDERED,
            None if self.has_effects.load(Ordering::Relaxed) => Effects::UNORDERED,
            None => Effects::NONE,
        }
    }
    fn split(&self, _: &Params, _: &dyn Split, _: &[Val]) -> Result<Option<Vals>> {
        Ok(None)
    }
    fn drop_unused(&self, _: &Params, _: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        None
    }
    fn eval(&self, params: &Params, ins: &[Val]) -> Option<Result<Vals>> {
        Some(within(&pullback_backend::eval(), |py| {
            let args = list(py, ins.iter().map(|val| wrap(py, val.clone())))?;
            read_vals(&ask(py, "evaluate", self, params, vec![args])?)
        }))
    }
    fn custom_rule(&self, params: &Params) -> Option<Arc<dyn CustomRule>> {
        Some(Arc::new(Rules { prim: self, params: params.clone() }))
    }
    fn unprinted(&self, _: &Params) -> Vec<&'static str> {
        vec![]
    }
    fn shares_names(&self) -> bool {
        false
    }
    fn params_from_fields(&self, fields: &[(String, ParamValue)]) -> Result<Params> {
        Python::attach(|py| {
            let build = || {
                let dict = PyDict::new(py);
                for (name, value) in fields {
                    dict.set_item(name, crate::jaxpr::param_object(py, value)?)?;
                }
                PyParams::erased(Some(&dict))
            };
            build().carry(py)
        })
    }
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn coverage(&self) -> Coverage {
        let rule = Ok("python");
        Coverage { derivative: rule, transpose: rule, batching: rule, splits: rule, hlo: rule }
    }
}
