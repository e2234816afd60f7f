//! Parameters of equations as Python objects, and back.

use pullback_core::prims::{DotPrecision, MeshParam, NameSet, SpecParam};
use pullback_ir::{AxisName, Opaque, ParamField, ParamValue, Params};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyTuple};

use super::{PyJaxpr, literal_value};
use crate::aval::PyAval;
use crate::defined::PyParams;
use crate::devices::MeshHandle;
use crate::dtypes;

/// A parameter that only the core understands, such as a derivative rule. It can be passed on.
#[pyclass(name = "Opaque", module = "pullback.core", frozen, weakref)]
pub struct PyOpaque(Opaque);

#[pymethods]
impl PyOpaque {
    fn __repr__(&self) -> &str {
        &self.0.text
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyOpaque>().is_ok_and(|other| other.get().0 == self.0)
    }
    fn __hash__(&self) -> usize {
        std::sync::Arc::as_ptr(&self.0.value).cast::<()>() as usize
    }
}

/// All parameters by name, as an equation shows them.
pub fn params_by_name<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    if let Some(own) = PyParams::dict(py, params) {
        return own;
    }
    let dict = PyDict::new(py);
    for (name, value) in params.fields() {
        dict.set_item(name, param_object(py, &value)?)?;
    }
    Ok(dict)
}

/// A parameter as a Python object.
pub fn param_object(py: Python<'_>, value: &ParamValue) -> PyResult<Py<PyAny>> {
    let items = |items: &[ParamValue]| items.iter().map(|item| param_object(py, item)).collect::<PyResult<Vec<_>>>();
    Ok(match value {
        ParamValue::None => py.None(),
        ParamValue::Bool(value) => value.into_pyobject(py)?.to_owned().into_any().unbind(),
        ParamValue::Int(value) => value.into_pyobject(py)?.into_any().unbind(),
        ParamValue::Scalar(scalar) => literal_value(py, *scalar)?,
        ParamValue::Name(name) => named(py, name)?,
        ParamValue::Text(name) => name.into_pyobject(py)?.into_any().unbind(),
        ParamValue::DType(dtype) => dtypes::to_numpy(py, *dtype)?.unbind(),
        ParamValue::Aval(aval) => Py::new(py, PyAval(*aval))?.into_any(),
        ParamValue::Tuple(tuple) => PyTuple::new(py, items(tuple)?)?.into_any().unbind(),
        ParamValue::List(list) => PyList::new(py, items(list)?)?.into_any().unbind(),
        ParamValue::Record(name, fields) => record(py, name, fields)?,
        ParamValue::Jaxpr(jaxpr) => Py::new(py, PyJaxpr::new(jaxpr.clone()))?.into_any(),
        ParamValue::Opaque(opaque) => match opaque.value.downcast_ref::<Py<PyAny>>() {
            Some(object) => object.clone_ref(py),
            None => match layout_object(py, opaque)? {
                Some(object) => object,
                None => Py::new(py, PyOpaque(opaque.clone()))?.into_any(),
            },
        },
    })
}

/// A mesh, a spec or a set of axes as the object that the user knows; `None` for what is none of them.
fn layout_object(py: Python<'_>, opaque: &Opaque) -> PyResult<Option<Py<PyAny>>> {
    if let Some(mesh) = opaque.value.downcast_ref::<MeshParam>() {
        return Ok(crate::devices::mesh_object(py, &mesh.0).ok());
    }
    if let Some(set) = opaque.value.downcast_ref::<NameSet>() {
        let names: Vec<String> = set.0.iter().map(ToString::to_string).collect();
        return Ok(Some(PyFrozenSet::new(py, names)?.into_any().unbind()));
    }
    let Some(spec) = opaque.value.downcast_ref::<SpecParam>() else { return Ok(None) };
    let entry = |names: &Vec<AxisName>| -> PyResult<Py<PyAny>> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        Ok(match &names[..] {
            [] => py.None(),
            [name] => name.into_pyobject(py)?.into_any().unbind(),
            names => PyTuple::new(py, names)?.into_any().unbind(),
        })
    };
    let entries = spec.entries.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
    let class = py.import("pullback.sharding")?.getattr("PartitionSpec")?;
    Ok(Some(class.call1(PyTuple::new(py, entries)?)?.unbind()))
}

/// The parameter that [`layout_object`] gave as an object; `None` for any other object.
fn layout_value(obj: &Bound<'_, PyAny>) -> PyResult<Option<ParamValue>> {
    if let Ok(names) = obj.cast::<PyFrozenSet>() {
        let names: PyResult<Vec<String>> = names.iter().map(|name| name.extract()).collect();
        let mut names: Vec<AxisName> = names?.into_iter().map(AxisName::from).collect();
        names.sort_by_key(ToString::to_string);
        return Ok(Some(NameSet(names).to_value()));
    }
    if obj.get_type().name()? == "PartitionSpec" {
        let entry = |entry: Bound<'_, PyAny>| -> PyResult<Vec<AxisName>> {
            let names: Vec<String> = match entry.is_none() {
                true => vec![],
                false => entry.extract().or_else(|_| entry.extract().map(|name: String| vec![name]))?,
            };
            Ok(names.into_iter().map(AxisName::from).collect())
        };
        let entries = obj.try_iter()?.map(|item| entry(item?)).collect::<PyResult<_>>()?;
        return Ok(Some(SpecParam::new(entries).to_value()));
    }
    let handle = obj.getattr_opt("_handle")?.and_then(|handle| handle.cast_into::<MeshHandle>().ok());
    Ok(handle.map(|handle| MeshParam(handle.get().0.clone()).to_value()))
}

/// An enumerator of `lax` by its name, or the name itself.
fn named(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    let enumerator = match name.split_once('.') {
        Some((class @ ("Precision" | "GatherScatterMode"), member)) => Some((class, member)),
        None if DotPrecision::algorithms().any(|known| known == name) => Some(("DotAlgorithmPreset", name)),
        _ => None,
    };
    let Some((class, member)) = enumerator else { return Ok(name.into_pyobject(py)?.into_any().unbind()) };
    Ok(py.import("pullback.lax")?.getattr(class)?.getattr(member)?.unbind())
}

fn record(py: Python<'_>, name: &str, fields: &[(&'static str, ParamValue)]) -> PyResult<Py<PyAny>> {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let class = match name {
        "DotAlgorithm" => py.import("pullback.lax")?.getattr(name)?,
        _ => py.import("collections")?.getattr("namedtuple")?.call1((name, names))?,
    };
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
        return Ok(ParamValue::Jaxpr(jaxpr.get().own()?.clone()));
    }
    if let Some(layout) = layout_value(obj)? {
        return Ok(layout);
    }
    if let Ok(opaque) = obj.cast::<PyOpaque>() {
        return Ok(ParamValue::Opaque(opaque.get().0.clone()));
    }
    if obj.is_instance(&obj.py().import("numpy")?.getattr("generic")?)? {
        return number(obj);
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
    match crate::names::class_name(obj).as_str() {
        "DotAlgorithmPreset" => return Ok(ParamValue::Name(obj.getattr("name")?.extract::<String>()?.into())),
        class @ ("Precision" | "GatherScatterMode") => {
            return Ok(ParamValue::Name(format!("{class}.{}", obj.getattr("name")?.extract::<String>()?).into()));
        }
        _ => {}
    }
    dtypes::of_object(obj).map(ParamValue::DType)
}

/// A NumPy scalar, with its element type.
fn number(obj: &Bound<'_, PyAny>) -> PyResult<ParamValue> {
    let scalar = match crate::value::to_val(obj)? {
        pullback_ir::Val::Literal(scalar) => Some(scalar),
        pullback_ir::Val::Array(array) => array.element(0).ok(),
        pullback_ir::Val::Tracer(_) => None,
    };
    let unreadable = || crate::errors::type_error(format!("a parameter must be a known value, got {obj}"));
    scalar.map(ParamValue::Scalar).ok_or_else(unreadable)
}

/// A named tuple is a record in the model, if it is one that a primitive knows; others are plain tuples.
fn record_value(obj: &Bound<'_, PyAny>, items: Vec<ParamValue>) -> PyResult<ParamValue> {
    const RECORDS: [(&str, &[&str]); 4] = [
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
        (
            "DotAlgorithm",
            &[
                "lhs_precision_type",
                "rhs_precision_type",
                "accumulation_type",
                "lhs_component_count",
                "rhs_component_count",
                "num_primitive_operations",
                "allow_imprecise_accumulation",
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
