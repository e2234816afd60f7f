//! Jaxprs as read-only Python objects, made when asked for.

use pullback_ir::{Atom, Dialect, Jaxpr, JaxprRef, ParamValue, VarId, jaxpr_text};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyTuple};

use crate::aval::PyAval;
use crate::dtypes;
use crate::errors::type_error;
use crate::primitive::{PyPrimitive, primitive_object};
use crate::value::wrap;

/// A traced program: inputs, equations, results.
#[pyclass(name = "Jaxpr", module = "pullback.core", frozen, weakref)]
pub struct PyJaxpr(pub JaxprRef);

/// A variable of a jaxpr.
#[pyclass(name = "Var", module = "pullback.core", frozen, subclass, weakref)]
pub struct PyVar {
    jaxpr: u64,
    var: VarId,
    aval: PyAval,
}

/// A number written in place.
#[pyclass(name = "Literal", module = "pullback.core", frozen, weakref)]
pub struct PyLiteral {
    scalar: pullback_base::Scalar,
}

/// One application of a primitive.
#[pyclass(name = "JaxprEqn", module = "pullback.core", frozen, weakref)]
pub struct PyEqn {
    jaxpr: JaxprRef,
    index: usize,
}

/// Names for people: what was traced, and its arguments.
#[pyclass(name = "DebugInfo", module = "pullback.core", frozen)]
pub struct PyDebugInfo {
    #[pyo3(get)]
    traced_for: String,
    #[pyo3(get)]
    func_src_info: String,
    #[pyo3(get)]
    arg_names: Vec<String>,
    #[pyo3(get)]
    result_paths: Vec<String>,
}

#[pymethods]
impl PyDebugInfo {
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
    Ok(Py::new(py, PyVar { jaxpr: jaxpr.id(), var, aval })?.into_any())
}

fn list<'py>(py: Python<'py>, items: impl Iterator<Item = PyResult<Py<PyAny>>>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// What effects a program has, as the set that Python code looks into.
fn effects(py: Python<'_>, effects: pullback_ir::Effects) -> PyResult<Bound<'_, PyFrozenSet>> {
    if effects.is_none() { PyFrozenSet::empty(py) } else { PyFrozenSet::new(py, ["effect"]) }
}

#[pymethods]
impl PyJaxpr {
    /// This jaxpr; the classes of open and closed jaxprs are one.
    #[getter]
    fn jaxpr(slf: Py<PyJaxpr>) -> Py<PyJaxpr> {
        slf
    }
    #[getter]
    fn consts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.0.consts.iter().map(|array| wrap(py, array.clone().into())))
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
        let eqn = |index| Ok(Py::new(py, PyEqn { jaxpr: self.0.clone(), index })?.into_any());
        list(py, (0..self.0.eqns.len()).map(eqn))
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
    fn effects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        effects(py, self.0.effects())
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
        let _ = (source_info, print_shapes, custom_pp_eqn_rules, name_stack, print_effects, use_color);
        self.0.to_string()
    }

    /// The text with weak types and all parameters, which parses back.
    fn _full_text(&self) -> String {
        jaxpr_text(&self.0, Dialect::Full)
    }

    /// The same jaxpr with some equations: those at the given positions.
    #[pyo3(signature = (**changes))]
    fn replace(&self, changes: Option<&Bound<'_, PyDict>>) -> PyResult<PyJaxpr> {
        let mut new = Jaxpr::clone(&self.0);
        for (name, value) in changes.into_iter().flat_map(|changes| changes.iter()) {
            match name.to_string().as_str() {
                "eqns" => new.eqns = self.own_eqns(&value)?,
                "outvars" => new.outs = self.own_atoms(&value)?,
                "invars" => new.invars = self.own_vars(&value)?,
                "debug_info" | "effects" | "consts" | "jaxpr" | "constvars" => {}
                other => return Err(type_error(format!("Jaxpr.replace cannot change {other:?}"))),
            }
        }
        Ok(PyJaxpr(JaxprRef::new(new)))
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

impl PyJaxpr {
    fn own_eqns(&self, eqns: &Bound<'_, PyAny>) -> PyResult<Vec<pullback_ir::Eqn>> {
        let mut own = vec![];
        for eqn in eqns.try_iter()? {
            let eqn = eqn?.cast_into::<PyEqn>()?;
            own.push(eqn.get().jaxpr.eqns[eqn.get().index].clone());
        }
        Ok(own)
    }

    fn own_atoms(&self, atoms: &Bound<'_, PyAny>) -> PyResult<Vec<Atom>> {
        let mut own = vec![];
        for atom in atoms.try_iter()? {
            let atom = atom?;
            match atom.cast::<PyLiteral>() {
                Ok(literal) => own.push(Atom::Literal(literal.get().scalar)),
                Err(_) => own.push(Atom::Var(atom.cast::<PyVar>()?.get().var)),
            }
        }
        Ok(own)
    }

    fn own_vars(&self, vars: &Bound<'_, PyAny>) -> PyResult<Vec<VarId>> {
        vars.try_iter()?.map(|var| Ok(var?.cast::<PyVar>()?.get().var)).collect()
    }
}

#[pymethods]
impl PyVar {
    #[getter]
    fn aval(&self) -> PyAval {
        self.aval.clone()
    }
    #[getter]
    fn count(&self) -> u32 {
        self.var.0
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyVar>().is_ok_and(|other| (other.get().jaxpr, other.get().var) == (self.jaxpr, self.var))
    }
    fn __hash__(&self) -> u64 {
        self.jaxpr << 24 ^ u64::from(self.var.0)
    }
    fn __repr__(&self) -> String {
        format!("Var(id={}):{}", self.__hash__(), self.aval.0.weak(false).long())
    }
}

#[pymethods]
impl PyLiteral {
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    #[getter]
    fn val(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = wrap(py, pullback_base::Array::scalar(self.scalar).into())?;
        Ok(array.bind(py).call_method0("__array__")?.get_item(())?.unbind())
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
    #[getter]
    fn primitive(&self, py: Python<'_>) -> PyResult<Py<PyPrimitive>> {
        primitive_object(py, self.eqn().prim)
    }
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        for (name, value) in self.eqn().params.fields() {
            params.set_item(name, param_object(py, &value)?)?;
        }
        Ok(params)
    }
    #[getter]
    fn invars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.eqn().ins.iter().map(|&operand| atom(py, &self.jaxpr, operand)))
    }
    #[getter]
    fn outvars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, self.eqn().outs().map(|var| variable(py, &self.jaxpr, var)))
    }
    #[getter]
    fn effects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        effects(py, self.eqn().effects())
    }
    /// The user's line, as text.
    #[getter]
    fn source_info(&self) -> String {
        self.eqn().span.resolve().map(|place| place.to_string()).unwrap_or_default()
    }
    fn __repr__(&self) -> String {
        let mut single = Jaxpr::clone(&self.jaxpr);
        single.eqns = vec![self.eqn().clone()];
        single.consts = vec![];
        single.constvars = vec![];
        single.invars = vec![];
        for &operand in &self.eqn().ins {
            if let Atom::Var(var) = operand
                && !single.invars.contains(&var)
            {
                single.invars.push(var);
            }
        }
        single.outs = self.eqn().outs().map(Atom::Var).collect();
        let text = single.to_string();
        let start = text.find(". let").map_or(0, |at| at + 5);
        let end = text.rfind("in (").unwrap_or(text.len());
        text[start..end].trim().to_string()
    }
}

impl PyEqn {
    fn eqn(&self) -> &pullback_ir::Eqn {
        &self.jaxpr.eqns[self.index]
    }
}

/// A parameter as a Python object.
pub fn param_object(py: Python<'_>, value: &ParamValue) -> PyResult<Py<PyAny>> {
    let items = |items: &[ParamValue]| items.iter().map(|item| param_object(py, item)).collect::<PyResult<Vec<_>>>();
    Ok(match value {
        ParamValue::None => py.None(),
        ParamValue::Bool(value) => value.into_pyobject(py)?.to_owned().into_any().unbind(),
        ParamValue::Int(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParamValue::Scalar(scalar) => PyLiteral { scalar: *scalar }.val(py)?,
        ParamValue::Name(name) | ParamValue::Text(name) => name.into_pyobject(py)?.into_any().unbind(),
        ParamValue::DType(dtype) => dtypes::to_numpy(py, *dtype)?.unbind(),
        ParamValue::Aval(aval) => Py::new(py, PyAval(*aval))?.into_any(),
        ParamValue::Tuple(tuple) => PyTuple::new(py, items(tuple)?)?.into_any().unbind(),
        ParamValue::List(list) => PyList::new(py, items(list)?)?.into_any().unbind(),
        ParamValue::Record(name, fields) => record(py, name, fields)?,
        ParamValue::Jaxpr(jaxpr) => Py::new(py, PyJaxpr(jaxpr.clone()))?.into_any(),
        ParamValue::Opaque(opaque) => opaque.text.into_pyobject(py)?.into_any().unbind(),
    })
}

fn record(py: Python<'_>, name: &str, fields: &[(&'static str, ParamValue)]) -> PyResult<Py<PyAny>> {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let class = py.import("collections")?.getattr("namedtuple")?.call1((name, names))?;
    let values: PyResult<Vec<_>> = fields.iter().map(|(_, value)| param_object(py, value)).collect();
    Ok(class.call1(PyTuple::new(py, values?)?)?.unbind())
}

/// A Python object as a parameter.
pub fn param_value(obj: &Bound<'_, PyAny>) -> PyResult<ParamValue> {
    let items = |obj: &Bound<'_, PyAny>| obj.try_iter()?.map(|item| param_value(&item?)).collect::<PyResult<Vec<_>>>();
    if obj.is_none() {
        return Ok(ParamValue::None);
    }
    if let Ok(value) = obj.cast::<pyo3::types::PyBool>() {
        return Ok(ParamValue::Bool(value.is_true()));
    }
    if obj.is_instance_of::<pyo3::types::PyInt>() {
        return Ok(ParamValue::Int(obj.extract()?));
    }
    if let Ok(jaxpr) = obj.cast::<PyJaxpr>() {
        return Ok(ParamValue::Jaxpr(jaxpr.get().0.clone()));
    }
    if let Ok(aval) = obj.cast::<PyAval>() {
        return Ok(ParamValue::Aval(aval.get().0));
    }
    if obj.is_instance_of::<PyTuple>() {
        return record_value(obj, items(obj)?);
    }
    if obj.is_instance_of::<PyList>() {
        return items(obj).map(ParamValue::List);
    }
    if obj.is_instance_of::<pyo3::types::PyFloat>() {
        return Ok(ParamValue::Scalar(crate::value::float(obj.extract()?)));
    }
    if let Ok(name) = obj.extract::<String>() {
        return Ok(ParamValue::Name(name.into()));
    }
    dtypes::of_object(obj).map(ParamValue::DType)
}

/// A named tuple is a record in the model, if it is one that a primitive knows; others are plain tuples.
fn record_value(obj: &Bound<'_, PyAny>, items: Vec<ParamValue>) -> PyResult<ParamValue> {
    const RECORDS: [(&str, &[&str]); 3] = [
        (
            "GatherDimensionNumbers",
            &[
                "offset_dims",
                "collapsed_slice_dims",
                "start_index_map",
                "operand_batching_dims",
                "start_indices_batching_dims",
            ],
        ),
        (
            "ScatterDimensionNumbers",
            &[
                "update_window_dims",
                "inserted_window_dims",
                "scatter_dims_to_operand_dims",
                "operand_batching_dims",
                "scatter_indices_batching_dims",
            ],
        ),
        ("ConvDimensionNumbers", &["lhs_spec", "rhs_spec", "out_spec"]),
    ];
    let class = crate::names::class_name(obj);
    Ok(match RECORDS.iter().find(|(name, _)| *name == class) {
        Some((name, fields)) => ParamValue::Record(name, fields.iter().copied().zip(items).collect()),
        None => ParamValue::Tuple(items),
    })
}

/// Results of a jaxpr for flat arguments.
#[pyfunction]
fn eval_jaxpr(py: Python<'_>, jaxpr: &PyJaxpr, args: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Py<PyAny>>> {
    let vals: PyResult<Vec<pullback_ir::Val>> = args.iter().map(crate::value::to_val).collect();
    let vals = vals?;
    let wanted = jaxpr.0.invars.len();
    if vals.len() != wanted {
        return Err(type_error(format!("the jaxpr takes {wanted} arguments, got {}", vals.len())));
    }
    let outs = crate::gate::gate(py, || pullback_ir::eval_jaxpr(&*pullback_trace::current(), &jaxpr.0, &vals))?;
    crate::value::wrap_all(py, outs)
}

/// Every stage of a staged function on its way to machine code, as text.
#[pyfunction]
fn inspect(py: Python<'_>, staged: &crate::jit::Staged) -> PyResult<Inspection> {
    crate::gate::gate(py, || pullback_backend::inspect(staged.parts().0)).map(Inspection)
}

/// The stages of one compilation, as text.
#[pyclass(module = "pullback", frozen)]
struct Inspection(pullback_backend::Inspection);

#[pymethods]
impl Inspection {
    #[getter]
    fn jaxpr(&self) -> &str {
        &self.0.jaxpr
    }
    #[getter]
    fn simplified(&self) -> &str {
        &self.0.simplified
    }
    #[getter]
    fn before(&self) -> &str {
        &self.0.before
    }
    #[getter]
    fn after(&self) -> &str {
        &self.0.after
    }
    #[getter]
    fn report(&self) -> &str {
        &self.0.report
    }
    #[getter]
    fn machine_code(&self) -> &str {
        &self.0.machine_code
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyJaxpr>()?;
    m.add_class::<PyVar>()?;
    m.add_class::<PyLiteral>()?;
    m.add_class::<PyEqn>()?;
    m.add_class::<PyDebugInfo>()?;
    m.add_class::<Inspection>()?;
    m.add_function(wrap_pyfunction!(eval_jaxpr, m)?)?;
    m.add_function(wrap_pyfunction!(inspect, m)?)
}
