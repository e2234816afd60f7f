//! Jaxprs as Python objects: read when asked for, and built from parts that Python code made or took from others.
//!
//! Owns the classes `Jaxpr, JaxprEqn, Var, DropVar, Literal, DebugInfo`. An object of them is immutable. Open and closed
//! jaxprs are one class: an open one has `constvars` without `consts`. Consts that are tracers belong to the trace around,
//! so the object holds them, and the jaxpr inside stays open.

mod build;
mod effects;
mod params;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use pullback_base::{Aval, Scalar, Span};
use pullback_ir::{Atom, Dialect, Eqn, Jaxpr, JaxprRef, Params, PrimRef, Val, VarId, annotated_text, jaxpr_text};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple};

pub use self::effects::{add as add_effects, check_allowed};
pub use self::params::{PyOpaque, param_object, param_value, params_by_name};
use crate::aval::PyAval;
use crate::defined::PyParams;
use crate::errors::type_error;
use crate::name_stack::SourceInfo;
use crate::primitive::{PyPrimitive, primitive_object};
use crate::value::wrap;

/// A traced program: inputs, equations, results.
#[pyclass(name = "Jaxpr", module = "pullback.core", frozen, weakref, subclass)]
pub struct PyJaxpr(pub JaxprRef, Arc<OnceLock<Vec<bool>>>, Option<Arc<[Val]>>);

/// A variable: of a jaxpr, or one that Python code made.
#[pyclass(name = "Var", module = "pullback.core", frozen, subclass, weakref)]
pub struct PyVar {
    id: Name,
    aval: PyAval,
}

/// The jaxpr that a variable is of, and its number there; made ones share [`MADE`].
type Name = (u64, VarId);

/// The owner of variables that Python code made; no jaxpr has this number.
const MADE: u64 = u64::MAX;

/// A result that nothing uses.
#[pyclass(name = "DropVar", module = "pullback.core", frozen, weakref, extends = PyVar)]
pub struct PyDropVar;

/// A number written in place.
#[pyclass(name = "Literal", module = "pullback.core", frozen, weakref)]
pub struct PyLiteral {
    scalar: Scalar,
}

/// One application of a primitive.
#[pyclass(name = "JaxprEqn", module = "pullback.core", frozen, weakref)]
pub struct PyEqn(Application);

/// Where the parts of an equation are.
enum Application {
    /// In a jaxpr, at a position; the table says which variables are used.
    Of { jaxpr: JaxprRef, used: Arc<OnceLock<Vec<bool>>>, index: usize },
    /// In Python.
    Made { ins: Vec<Py<PyAny>>, outs: Vec<Py<PyAny>>, prim: PrimRef, params: Params, span: Span },
}

/// Names for people: what was traced, and its arguments.
#[pyclass(name = "DebugInfo", module = "pullback.core", frozen)]
pub struct PyDebugInfo {
    #[pyo3(get)]
    traced_for: String,
    #[pyo3(get)]
    func_src_info: String,
    arg_names: Vec<String>,
    result_paths: Vec<String>,
}

#[pymethods]
impl PyDebugInfo {
    #[new]
    #[pyo3(signature = (traced_for="", func_src_info="", arg_names=vec![], result_paths=vec![]))]
    fn new(traced_for: &str, func_src_info: &str, arg_names: Vec<String>, result_paths: Vec<String>) -> PyDebugInfo {
        PyDebugInfo { traced_for: traced_for.into(), func_src_info: func_src_info.into(), arg_names, result_paths }
    }
    /// The names of the arguments, one for each leaf.
    #[getter]
    fn arg_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.arg_names)
    }
    /// Where each result lies in the tree of results.
    #[getter]
    fn result_paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.result_paths)
    }
    #[getter]
    fn func_name(&self) -> &str {
        self.func_src_info.split(' ').next().unwrap_or_default()
    }
    fn __repr__(&self) -> String {
        format!(
            "DebugInfo(traced_for='{}', func_src_info='{}', arg_names={:?}, result_paths={:?})",
            self.traced_for, self.func_src_info, self.arg_names, self.result_paths
        )
    }
}

fn atom(py: Python<'_>, jaxpr: &JaxprRef, atom: Atom) -> PyResult<Py<PyAny>> {
    match atom {
        Atom::Var(var) => variable(py, jaxpr, var),
        Atom::Literal(scalar) => Ok(Py::new(py, PyLiteral { scalar })?.into_any()),
    }
}

fn variable(py: Python<'_>, jaxpr: &JaxprRef, var: VarId) -> PyResult<Py<PyAny>> {
    let aval = PyAval(jaxpr.vars[var.index()]);
    Ok(Py::new(py, PyVar { id: (jaxpr.id(), var), aval })?.into_any())
}

fn list<'py>(py: Python<'py>, items: impl Iterator<Item = PyResult<Py<PyAny>>>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// Which variables of a jaxpr are used by an equation or are results.
fn used_vars(jaxpr: &Jaxpr) -> Vec<bool> {
    let mut used = vec![false; jaxpr.vars.len()];
    for &operand in jaxpr.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&jaxpr.outs) {
        if let Atom::Var(var) = operand {
            used[var.index()] = true;
        }
    }
    used
}

impl PyJaxpr {
    /// The object of a jaxpr.
    pub fn new(jaxpr: JaxprRef) -> PyJaxpr {
        PyJaxpr(jaxpr, Arc::default(), None)
    }

    /// The jaxpr whose first inputs have known values, of which some may be tracers: they are its consts.
    pub fn closed_over(jaxpr: &JaxprRef, captured: &[Val]) -> PyJaxpr {
        if captured.is_empty() {
            return PyJaxpr::new(jaxpr.clone());
        }
        let mut open = Jaxpr::clone(jaxpr);
        let rest = open.invars.split_off(captured.len());
        open.constvars.extend(std::mem::replace(&mut open.invars, rest));
        let known = std::mem::take(&mut open.consts).into_iter().map(Val::Array);
        let consts = known.chain(captured.iter().cloned()).collect();
        PyJaxpr(JaxprRef::new(open), Arc::default(), Some(consts))
    }

    /// The jaxpr, and the values of its consts.
    pub fn and_consts(&self) -> (&JaxprRef, Vec<Val>) {
        let own = || self.0.consts.iter().cloned().map(Val::Array).collect();
        (&self.0, self.2.as_ref().map_or_else(own, |consts| consts.to_vec()))
    }

    /// The jaxpr, closed over nothing of a trace around.
    ///
    /// # Errors
    /// `TypeError` when tracers are among its consts.
    pub fn own(&self) -> PyResult<&JaxprRef> {
        match &self.2 {
            None => Ok(&self.0),
            Some(_) => Err(type_error(
                "a jaxpr with tracers among its consts cannot be a parameter: pass them as arguments, see \
                 jax.core.convert_constvars_jaxpr",
            )),
        }
    }
}

#[pymethods]
impl PyJaxpr {
    /// From the parts of an open jaxpr, or from an open jaxpr and its consts.
    #[new]
    #[pyo3(signature = (*parts, **named))]
    fn of_parts(parts: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> PyResult<PyJaxpr> {
        let first = parts.get_item(0).or_else(|_| named_part(named, "jaxpr"));
        if let Ok(jaxpr) = first.and_then(|first| Ok(first.cast_into::<PyJaxpr>()?)) {
            let consts = parts.get_item(1).or_else(|_| named_part(named, "consts"))?;
            return jaxpr.get().closed(&consts);
        }
        let part = |at: usize, name: &str| parts.get_item(at).or_else(|_| named_part(named, name));
        let (constvars, invars) = (part(0, "constvars")?, part(1, "invars")?);
        let consts = named_part(named, "consts").ok();
        build::jaxpr(&constvars, consts.as_ref(), &invars, &part(2, "outvars")?, &part(3, "eqns")?)
    }

    /// This jaxpr; the classes of open and closed jaxprs are one.
    #[getter]
    fn jaxpr(slf: Py<PyJaxpr>) -> Py<PyJaxpr> {
        slf
    }
    #[getter]
    fn consts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.2 {
            None => list(py, self.0.consts.iter().map(|array| wrap(py, array.clone().into()))),
            Some(consts) => list(py, consts.iter().map(|val| wrap(py, val.clone()))),
        }
    }
    #[getter]
    fn literals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.consts(py)
    }
    #[getter]
    fn constvars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.0.constvars.iter().map(|&var| variable(py, &self.0, var)))
    }
    #[getter]
    fn invars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.0.invars.iter().map(|&var| variable(py, &self.0, var)))
    }
    #[getter]
    fn outvars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.0.outs.iter().map(|&out| atom(py, &self.0, out)))
    }
    #[getter]
    fn eqns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let of = |index| Application::Of { jaxpr: self.0.clone(), used: self.1.clone(), index };
        list(py, (0..self.0.eqns.len()).map(|index| Ok(Py::new(py, PyEqn(of(index)))?.into_any())))
    }
    #[getter]
    fn in_avals(&self) -> Vec<PyAval> {
        self.0.in_avals().into_iter().map(PyAval).collect()
    }
    #[getter]
    fn out_avals(&self) -> Vec<PyAval> {
        self.0.out_avals().into_iter().map(PyAval).collect()
    }
    #[getter]
    fn effects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        effects::effects_of(py, &self.0)
    }
    #[getter]
    fn debug_info(&self) -> PyDebugInfo {
        let info = self.0.debug.as_deref().cloned().unwrap_or_default();
        let place = if info.place.is_empty() { String::new() } else { format!(" at {}", info.place) };
        PyDebugInfo {
            traced_for: info.traced_for,
            func_src_info: info.function + &place,
            arg_names: info.arg_names,
            result_paths: info.result_paths,
        }
    }

    /// The text.
    #[pyo3(signature = (*, source_info=false, print_shapes=true, custom_pp_eqn_rules=true, name_stack=false, print_effects=false, use_color=None))]
    fn pretty_print(
        &self,
        source_info: bool,
        print_shapes: bool,
        custom_pp_eqn_rules: bool,
        name_stack: bool,
        print_effects: bool,
        use_color: Option<bool>,
    ) -> String {
        let _ = (print_shapes, custom_pp_eqn_rules, print_effects, use_color);
        if !source_info && !name_stack {
            return self.0.to_string();
        }
        annotated_text(&self.0, &|span| {
            let place = span.resolve().filter(|_| source_info).map(|place| place.to_string());
            let names = name_stack.then(|| format!("[{}]", span.names()));
            place.into_iter().chain(names).collect::<Vec<_>>().join(" ")
        })
    }

    /// The text with weak types and all parameters, which parses back.
    fn _full_text(&self) -> String {
        jaxpr_text(&self.0, Dialect::Full)
    }

    /// The same jaxpr with some parts changed: `constvars, consts, invars, outvars, eqns`.
    #[pyo3(signature = (**changes))]
    fn replace(slf: &Bound<'_, PyJaxpr>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<PyJaxpr> {
        const PARTS: [&str; 8] = ["constvars", "consts", "invars", "outvars", "eqns", "effects", "debug_info", "jaxpr"];
        for name in changes.into_iter().flat_map(|changes| changes.keys()) {
            if !PARTS.contains(&name.to_string().as_str()) {
                return Err(type_error(format!("Jaxpr.replace cannot change {name:?}")));
            }
        }
        let base = named_part(changes, "jaxpr").unwrap_or_else(|_| slf.clone().into_any());
        let part = |name: &str| named_part(changes, name).or_else(|_| base.getattr(name));
        let consts = part("consts")?;
        let jaxpr =
            build::jaxpr(&part("constvars")?, Some(&consts), &part("invars")?, &part("outvars")?, &part("eqns")?)?;
        let debug = slf.get().0.debug.clone();
        let PyJaxpr(made, used, consts) = jaxpr;
        Ok(PyJaxpr(JaxprRef::new(Jaxpr { debug, ..Jaxpr::clone(&made) }), used, consts))
    }

    fn map_jaxpr<'py>(slf: Bound<'py, PyJaxpr>, fun: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        fun.call1((slf,))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyJaxpr>().is_ok_and(|other| other.get().0 == self.0)
    }
    fn __hash__(&self) -> u64 {
        self.0.id()
    }
}

fn named_part<'py>(named: Option<&Bound<'py, PyDict>>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = named.map_or(Ok(None), |named| named.get_item(name))?;
    found.ok_or_else(|| type_error(format!("Jaxpr() is missing the part '{name}'")))
}

impl PyJaxpr {
    /// The open jaxpr with consts.
    fn closed(&self, consts: &Bound<'_, PyAny>) -> PyResult<PyJaxpr> {
        let consts = build::const_vals(consts)?;
        let wanted = self.0.constvars.len();
        if consts.len() != wanted {
            return Err(type_error(format!(
                "the jaxpr has {wanted} constvars, but {} consts were given",
                consts.len()
            )));
        }
        Ok(PyJaxpr::with_consts(Jaxpr::clone(&self.0), consts))
    }

    /// A jaxpr with values for its constvars.
    fn with_consts(jaxpr: Jaxpr, vals: Vec<Val>) -> PyJaxpr {
        let arrays: Option<Vec<_>> = vals.iter().map(Val::to_array).collect();
        match arrays {
            Some(consts) => PyJaxpr::new(JaxprRef::new(Jaxpr { consts, ..jaxpr })),
            None => {
                let open = JaxprRef::new(Jaxpr { consts: vec![], ..jaxpr });
                PyJaxpr(open, Arc::default(), Some(vals.into()))
            }
        }
    }
}

#[pymethods]
impl PyVar {
    #[new]
    #[pyo3(signature = (aval, initial_qdd=None, final_qdd=None))]
    fn new(aval: PyRef<'_, PyAval>, initial_qdd: Option<Py<PyAny>>, final_qdd: Option<Py<PyAny>>) -> PyVar {
        let _ = (initial_qdd, final_qdd);
        static NEXT: AtomicU32 = AtomicU32::new(0);
        PyVar { id: (MADE, VarId(NEXT.fetch_add(1, Ordering::Relaxed))), aval: aval.clone() }
    }
    #[getter]
    fn aval(&self) -> PyAval {
        self.aval.clone()
    }
    #[getter]
    fn count(&self) -> u32 {
        self.id.1.0
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyVar>().is_ok_and(|other| other.get().id == self.id)
    }
    fn __hash__(&self) -> u64 {
        self.id.0 << 24 ^ u64::from(self.id.1.0)
    }
    fn __repr__(&self) -> String {
        format!("Var(id={}):{}", self.__hash__(), self.aval.0.weak(false).long())
    }
}

#[pymethods]
impl PyDropVar {
    #[new]
    fn new(aval: PyRef<'_, PyAval>) -> PyClassInitializer<PyDropVar> {
        PyClassInitializer::from(PyVar::new(aval, None, None)).add_subclass(PyDropVar)
    }
    fn __repr__(&self) -> &'static str {
        "_"
    }
}

/// A number as a NumPy scalar.
fn literal_value(py: Python<'_>, scalar: Scalar) -> PyResult<Py<PyAny>> {
    let array = wrap(py, pullback_base::Array::scalar(scalar).into())?;
    Ok(array.bind(py).call_method0("__array__")?.get_item(())?.unbind())
}

#[pymethods]
impl PyLiteral {
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    #[new]
    #[pyo3(signature = (val, aval=None))]
    fn new(val: &Bound<'_, PyAny>, aval: Option<PyRef<'_, PyAval>>) -> PyResult<PyLiteral> {
        let scalar = match crate::value::to_val(val)? {
            Val::Literal(scalar) => Some(scalar),
            Val::Array(array) if array.shape().is_empty() => {
                Some(array.element(0).map_err(|e| type_error(e.to_string()))?)
            }
            Val::Array(_) | Val::Tracer(_) => None,
        };
        let scalar = scalar.ok_or_else(|| type_error(format!("a Literal is one known number, got {val}")))?;
        let weak_type = aval.map_or(scalar.weak_type(), |aval| aval.0.weak_type);
        Ok(PyLiteral { scalar: scalar.weak(weak_type) })
    }
    #[getter]
    fn val(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        literal_value(py, self.scalar)
    }
    #[getter]
    fn aval(&self) -> PyAval {
        PyAval(self.scalar.aval())
    }
    fn __repr__(&self) -> String {
        format!("Literal({})", self.scalar)
    }
}

#[pymethods]
impl PyEqn {
    #[new]
    #[pyo3(signature = (invars, outvars, primitive, params, effects=None, source_info=None, ctx=None))]
    #[allow(clippy::too_many_arguments, reason = "the parts of an equation, as Python gives them")]
    fn new(
        py: Python<'_>,
        invars: Vec<Py<PyAny>>,
        outvars: Vec<Py<PyAny>>,
        primitive: &Bound<'_, PyPrimitive>,
        params: &Bound<'_, PyDict>,
        effects: Option<Py<PyAny>>,
        source_info: Option<Py<PyAny>>,
        ctx: Option<Py<PyAny>>,
    ) -> PyResult<PyEqn> {
        let _ = (source_info, ctx);
        let primitive = primitive.get();
        let params = primitive.params(Some(params))?;
        if let Some(effects) = effects {
            PyParams::set_effects(&params, effects.bind(py))?;
        }
        Ok(PyEqn(Application::Made { ins: invars, outs: outvars, prim: primitive.prim(), params, span: Span::UNKNOWN }))
    }
    #[getter]
    fn primitive(&self, py: Python<'_>) -> PyResult<Py<PyPrimitive>> {
        primitive_object(py, self.application().0)
    }
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        params_by_name(py, self.application().1)
    }
    #[getter]
    fn invars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.0 {
            Application::Of { jaxpr, index, .. } => {
                list(py, jaxpr.eqns[*index].ins.iter().map(|&operand| atom(py, jaxpr, operand)))
            }
            Application::Made { ins, .. } => PyList::new(py, ins),
        }
    }
    #[getter]
    fn outvars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.0 {
            Application::Of { jaxpr, used, index } => {
                let used = used.get_or_init(|| used_vars(jaxpr));
                list(py, jaxpr.eqns[*index].outs().map(|var| result(py, jaxpr, var, used[var.index()])))
            }
            Application::Made { outs, .. } => PyList::new(py, outs),
        }
    }
    #[getter]
    fn effects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        let (prim, params, _) = self.application();
        let found = PySet::empty(py)?;
        effects::add(py, prim, params, &found)?;
        PyFrozenSet::new(py, found.iter())
    }
    /// The user's line and the names around it.
    #[getter]
    fn source_info(&self) -> SourceInfo {
        SourceInfo::of(self.application().2)
    }
    #[getter]
    fn ctx(&self) -> Option<Py<PyAny>> {
        None
    }
    /// The same equation with some parts changed: `invars, outvars, primitive, params`.
    #[pyo3(signature = (**changes))]
    fn replace(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<PyEqn> {
        let changed = |name: &str| changes.map_or(Ok(None), |changes| changes.get_item(name));
        let items =
            |changed: Option<Bound<'_, PyAny>>, own: Bound<'_, PyList>| changed.unwrap_or(own.into_any()).extract();
        let prim = match changed("primitive")? {
            Some(prim) => prim.cast_into::<PyPrimitive>()?.get().prim(),
            None => self.application().0,
        };
        let params = match changed("params")? {
            Some(params) => {
                let (object, params) = (primitive_object(py, prim)?, params.cast_into::<PyDict>()?);
                py.import("pullback._jaxpr_checks")?.call_method1("check_params", (prim.name(), &params))?;
                object.get().params(Some(&params))?
            }
            None => self.application().1.clone(),
        };
        let ins = items(changed("invars")?, self.invars(py)?)?;
        let outs = items(changed("outvars")?, self.outvars(py)?)?;
        Ok(PyEqn(Application::Made { ins, outs, prim, params, span: self.application().2 }))
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let single = build::single(py, self)?;
        let text = single.to_string();
        let start = text.find(". let").map_or(0, |at| at + 5);
        let end = text.rfind("in (").unwrap_or(text.len());
        Ok(text[start..end].trim().to_string())
    }
}

fn result(py: Python<'_>, jaxpr: &JaxprRef, var: VarId, used: bool) -> PyResult<Py<PyAny>> {
    if used {
        return variable(py, jaxpr, var);
    }
    let base = PyVar { id: (jaxpr.id(), var), aval: PyAval(jaxpr.vars[var.index()]) };
    Ok(Py::new(py, PyClassInitializer::from(base).add_subclass(PyDropVar))?.into_any())
}

impl PyEqn {
    /// What is applied, with which parameters, for which line.
    fn application(&self) -> (PrimRef, &Params, Span) {
        match &self.0 {
            Application::Of { jaxpr, index, .. } => {
                let Eqn { prim, params, span, .. } = &jaxpr.eqns[*index];
                (*prim, params, *span)
            }
            Application::Made { prim, params, span, .. } => (*prim, params, *span),
        }
    }
}

/// Results of a jaxpr for consts in the places of its constvars, and flat arguments.
#[pyfunction]
fn eval_jaxpr(
    py: Python<'_>,
    jaxpr: &PyJaxpr,
    consts: Vec<Bound<'_, PyAny>>,
    args: Vec<Bound<'_, PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let vals: PyResult<Vec<Val>> = consts.iter().chain(&args).map(crate::value::to_val).collect();
    let vals = vals?;
    let (n_consts, n_args) = (jaxpr.0.constvars.len(), jaxpr.0.invars.len());
    // Callers may hold constvars as the first inputs, and their values as consts.
    if vals.len() != n_consts + n_args {
        let given = format!("{} consts and {} arguments", consts.len(), args.len());
        return Err(type_error(format!("the jaxpr takes {n_consts} consts and {n_args} arguments, got {given}")));
    }
    let open = Jaxpr {
        invars: [&jaxpr.0.constvars[..], &jaxpr.0.invars[..]].concat(),
        constvars: vec![],
        consts: vec![],
        ..Jaxpr::clone(&jaxpr.0)
    };
    let outs = crate::gate::gate(py, || pullback_ir::eval_jaxpr(&*pullback_trace::current(), &open, &vals))?;
    crate::value::wrap_all(py, outs)
}

/// The jaxpr with its constvars as its first inputs.
#[pyfunction]
fn open_constvars(jaxpr: &PyJaxpr) -> PyJaxpr {
    let invars = [&jaxpr.0.constvars[..], &jaxpr.0.invars[..]].concat();
    PyJaxpr::new(JaxprRef::new(Jaxpr { invars, constvars: vec![], consts: vec![], ..Jaxpr::clone(&jaxpr.0) }))
}

/// The jaxpr of only those results that are marked, and which inputs it still has. Marked inputs stay.
#[pyfunction]
fn dce_jaxpr(jaxpr: &PyJaxpr, used_outputs: Vec<bool>, kept_inputs: Vec<bool>) -> PyResult<(PyJaxpr, Vec<bool>)> {
    if used_outputs.len() != jaxpr.0.outs.len() {
        let (given, wanted) = (used_outputs.len(), jaxpr.0.outs.len());
        return Err(type_error(format!("the jaxpr has {wanted} results, but {given} marks were given")));
    }
    let pruned = pullback_core::transforms::dce_jaxpr(&jaxpr.0, &used_outputs, &kept_inputs);
    Ok((PyJaxpr::new(pruned.jaxpr), pruned.used_in))
}

/// The jaxpr of what `_full_text` gave; ValueError with the place of the first character that does not fit, or with
/// the first law of jaxprs that it breaks.
#[pyfunction]
fn jaxpr_from_text(py: Python<'_>, text: &str) -> PyResult<PyJaxpr> {
    let jaxpr = crate::gate::gate(py, || {
        let jaxpr = pullback_ir::parse_jaxpr(text, &pullback_core::find_primitive)?;
        match pullback_ir::check_read_jaxpr(&jaxpr).first() {
            Some(wrong) => Err(pullback_base::Error::new(pullback_base::ErrorKind::Value, wrong.as_str())),
            None => Ok(jaxpr),
        }
    })?;
    Ok(PyJaxpr::new(JaxprRef::new(jaxpr)))
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyJaxpr>()?;
    m.add_class::<PyVar>()?;
    m.add_class::<PyDropVar>()?;
    m.add_class::<PyLiteral>()?;
    m.add_class::<PyEqn>()?;
    m.add_class::<PyDebugInfo>()?;
    m.add_class::<PyOpaque>()?;
    m.add_function(wrap_pyfunction!(eval_jaxpr, m)?)?;
    m.add_function(wrap_pyfunction!(open_constvars, m)?)?;
    m.add_function(wrap_pyfunction!(jaxpr_from_text, m)?)?;
    m.add_function(wrap_pyfunction!(dce_jaxpr, m)?)
}

/// Avals of atoms that Python code gave.
fn aval_of_atom(atom: &Bound<'_, PyAny>) -> PyResult<Aval> {
    match atom.cast::<PyLiteral>() {
        Ok(literal) => Ok(literal.get().scalar.aval()),
        Err(_) => Ok(atom.cast::<PyVar>()?.get().aval.0),
    }
}
