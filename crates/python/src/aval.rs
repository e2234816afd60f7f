//! `ShapedArray`: shape, dtype and weak type as a Python object.

use std::collections::HashSet;

use pullback_base::sharding::AxisKind;
use pullback_base::{Aval, DType};
use pullback_ir::AxisName;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::devices::{PyOutSharding, sharding_parts};
use crate::dtypes::{self, DTypeArg};
use crate::errors::type_error;

/// What is known of an array without its elements.
#[pyclass(name = "ShapedArray", module = "pullback.core", frozen, eq, hash, weakref)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyAval(pub Aval);

#[pymethods]
impl PyAval {
    #[new]
    #[pyo3(signature = (shape, dtype, weak_type=false, *, sharding=None, vma=None, memory_space=None))]
    fn new(
        shape: Vec<usize>,
        dtype: DTypeArg,
        weak_type: bool,
        sharding: Option<Bound<'_, PyAny>>,
        vma: Option<HashSet<String>>,
        memory_space: Option<Py<PyAny>>,
    ) -> PyResult<PyAval> {
        let _ = memory_space;
        let aval = Aval::with_weak_type(&shape, dtype.exact(), weak_type);
        let aval = aval.varying(&vma.unwrap_or_default().into_iter().map(AxisName::from).collect::<Vec<_>>());
        Ok(PyAval(sharded(aval, sharding)?))
    }

    /// The memory that arrays of the type are in: that of a device, as no other is told apart.
    #[getter]
    fn memory_space<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pullback.memory")?.getattr("Space")?.getattr("Device")
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.data().shape)
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtypes::to_numpy(py, self.0.dtype)
    }

    #[getter]
    fn weak_type(&self) -> bool {
        self.0.weak_type
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// How explicit axes of a mesh split it; of what none splits, whole on the mesh of the context.
    #[getter]
    fn sharding<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let module = py.import("pullback.sharding")?;
        match self.0.sharding {
            None => module.call_method1("_sharding_without_mesh", (self.0.rank(),)),
            Some(sharding) => module.call_method1("_sharding_of_type", sharding_parts(sharding)),
        }
    }

    #[getter]
    fn vma<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyFrozenSet>> {
        pyo3::types::PyFrozenSet::new(py, self.0.vma.iter().map(|name| name.to_string()))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.shape.first().copied().ok_or_else(|| type_error("len() of unsized object"))
    }

    /// The same with some fields changed.
    #[pyo3(signature = (**changes))]
    fn update(&self, changes: Option<&Bound<'_, PyDict>>) -> PyResult<PyAval> {
        let get = |name: &str| changes.map_or(Ok(None), |changes| changes.get_item(name));
        let shape = get("shape")?.map_or_else(|| Ok(self.0.shape.to_vec()), |shape| shape.extract())?;
        let dtype = get("dtype")?.map_or(Ok(self.0.dtype), |dtype| dtypes::of_object(&dtype))?;
        let weak_type = get("weak_type")?.map_or(Ok(self.0.weak_type), |weak| weak.extract())?;
        let vma = match get("vma")? {
            Some(names) => names.extract::<HashSet<String>>()?.into_iter().map(AxisName::from).collect(),
            None => self.0.vma.clone(),
        };
        let changed = Aval::with_weak_type(&shape, dtype, weak_type).varying(&vma);
        match get("sharding")? {
            Some(sharding) => Ok(PyAval(sharded(changed, Some(sharding))?)),
            None if changed.shape == self.0.shape => Ok(PyAval(changed.sharded(self.0.sharding))),
            None => Ok(PyAval(changed)),
        }
    }

    /// The aval of tangents.
    fn to_tangent_aval(&self) -> PyAval {
        PyAval(self.0.tangent())
    }

    /// The aval of cotangents.
    fn to_ct_aval(&self) -> PyAval {
        PyAval(pullback_core::prims::cotangent_type(self.0))
    }

    /// The tangent aval, under its older name.
    fn at_least_vspace(&self) -> PyAval {
        PyAval(self.0.tangent())
    }

    /// The same with a strong type.
    fn strip_weak_type(&self) -> PyAval {
        PyAval(self.0.weak(false))
    }

    /// `float32[3]`, or `f32[3]` with short names.
    #[pyo3(signature = (short_dtypes=false, mesh_axis_types=false))]
    fn str_short(&self, short_dtypes: bool, mesh_axis_types: bool) -> String {
        let text = if short_dtypes { self.0.short() } else { self.0.weak(false).long() };
        match self.0.sharding.filter(|_| mesh_axis_types) {
            Some(sharding) => format!("{text}({})", kinds_text(sharding)),
            None => text,
        }
    }

    fn __str__(&self) -> String {
        self.0.weak(false).long()
    }

    fn __repr__(&self) -> String {
        repr(self.0)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyTuple>, Bound<'py, PyAny>, bool))> {
        let class = py.get_type::<PyAval>().into_any();
        let dtype = self.0.dtype;
        // By name: NumPy takes the state of a pickled dtype as it comes.
        let is_named = !dtype.is_key() && dtype != DType::Float0;
        let dtype = if is_named { PyString::new(py, dtype.name()).into_any() } else { self.dtype(py)? };
        Ok((class, (self.shape(py)?, dtype, self.0.weak_type)))
    }
}

/// The type with the sharding that a Python object says.
pub fn sharded(aval: Aval, sharding: Option<Bound<'_, PyAny>>) -> PyResult<Aval> {
    let Some(sharding) = sharding.filter(|sharding| !sharding.is_none()) else { return Ok(aval) };
    let module = sharding.py().import("pullback.sharding")?;
    let found = module.call_method1("_in_types", (sharding, aval.rank()))?;
    Ok(match found.cast::<PyOutSharding>() {
        Ok(found) => aval.sharded(found.get().0.sharding),
        Err(_) => aval,
    })
}

/// `{Explicit: ('x', 'y')}`: which axes of the mesh are of which kind.
fn kinds_text(sharding: pullback_base::Sharding) -> String {
    let of = |wanted: AxisKind| {
        let names = sharding.mesh.iter().filter(|axis| axis.kind == wanted).map(|axis| format!("'{}'", axis.name));
        names.collect::<Vec<String>>()
    };
    let kinds = [("Auto", AxisKind::Auto), ("Explicit", AxisKind::Explicit), ("Manual", AxisKind::Manual)];
    let text = |(name, kind): (&str, AxisKind)| match &of(kind)[..] {
        [] => None,
        [one] => Some(format!("{name}: ({one},)")),
        all => Some(format!("{name}: ({})", all.join(", "))),
    };
    format!("{{{}}}", kinds.into_iter().filter_map(text).collect::<Vec<String>>().join(", "))
}

/// `ShapedArray(float32[3])`, with the weak type when there is one.
pub fn repr(aval: Aval) -> String {
    let weak = if aval.weak_type { ", weak_type=True" } else { "" };
    format!("ShapedArray({}{weak})", aval.weak(false).long())
}

/// The aval of an object with `shape` and `dtype`, of an array, or of a number.
pub fn aval_of(obj: &Bound<'_, PyAny>) -> PyResult<Option<Aval>> {
    if let Ok(aval) = obj.cast::<PyAval>() {
        return Ok(Some(aval.get().0));
    }
    if let Some(val) = crate::value::plain_val(obj)? {
        return Ok(Some(val.aval()));
    }
    let (Some(shape), Some(dtype)) = (obj.getattr_opt("shape")?, obj.getattr_opt("dtype")?) else { return Ok(None) };
    let dtype: DType = dtypes::canonical_named(dtypes::of_object(&dtype)?);
    let weak = obj.getattr_opt("weak_type")?.map_or(Ok(false), |weak| weak.is_truthy())?;
    let aval = Aval::with_weak_type(&shape.extract::<Vec<usize>>()?, dtype, weak);
    if !pullback_base::array::place::places_in_use() {
        return Ok(Some(aval));
    }
    sharded(aval, obj.getattr_opt("sharding")?).map(Some)
}
