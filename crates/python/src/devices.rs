//! Devices, meshes and places of arrays: the glue of `pullback._device` and `pullback.sharding`.
//!
//! Meshes and shardings are Python classes; here they are what programs and arrays carry: numbers, names, and the
//! Python mesh, so that a result's sharding names the very mesh that its operand's did.

use std::sync::Arc;
use std::time::Duration;

use pullback_base::array::place::{DeviceId, Layout, Mesh, Place, Spec, use_places};
use pullback_base::sharding::{AxisKind, MeshAxis, ShardingData};
use pullback_base::{Array, Result, Sharding};
use pullback_core::control::{SHARD_MAP, ShardMap};
use pullback_core::prims::{MeshParam, NameSet, SHARDING_CONSTRAINT, ShardingConstraint, ShardingParam, SpecParam};
use pullback_ir::{AxisName, OutSharding, Params, Val};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::api::lax::parallel::axis_name;
use crate::aval::PyAval;
use crate::call::tree_of;
use crate::errors::{Carry, type_error, value_error};
use crate::gate::gate;
use crate::jit::Staged;
use crate::value::{as_val, to_val, wrap};

/// A mesh as programs and arrays carry it.
#[pyclass(module = "pullback._core", frozen)]
pub struct MeshHandle(pub(crate) Arc<Mesh>);

#[pymethods]
impl MeshHandle {
    #[new]
    fn new(
        axes: Vec<(Bound<'_, PyAny>, usize)>,
        devices: Vec<DeviceId>,
        kinds: Vec<String>,
        text: String,
        mesh: Py<PyAny>,
    ) -> PyResult<MeshHandle> {
        let axes: PyResult<Vec<_>> = axes.into_iter().map(|(name, size)| Ok((axis_name(&name)?, size))).collect();
        use_places();
        let kinds = kinds.iter().map(|kind| kind_of(kind)).collect();
        Ok(MeshHandle(Arc::new(Mesh { axes: axes?, devices, kinds, text, object: Some(Arc::new(mesh)) })))
    }
}

/// Who decides along an axis, by the name of the `AxisType`.
fn kind_of(name: &str) -> AxisKind {
    match name {
        "Explicit" => AxisKind::Explicit,
        "Manual" => AxisKind::Manual,
        _ => AxisKind::Auto,
    }
}

fn kind_name(kind: AxisKind) -> &'static str {
    match kind {
        AxisKind::Auto => "Auto",
        AxisKind::Explicit => "Explicit",
        AxisKind::Manual => "Manual",
    }
}

/// The parts of a sharding in a type: axes of the mesh with their sizes and kinds, entries, unreduced and reduced axes.
pub type ShardingParts = (Vec<(String, usize, &'static str)>, Vec<Vec<String>>, Vec<String>, Vec<String>);

/// What Python makes the sharding of a type of.
pub fn sharding_parts(sharding: Sharding) -> ShardingParts {
    let names = |names: &[AxisName]| names.iter().map(|name| name.to_string()).collect::<Vec<String>>();
    let axes = sharding.mesh.iter().map(|axis| (axis.name.to_string(), axis.size, kind_name(axis.kind))).collect();
    let entries = sharding.entries.iter().map(|entry| names(entry)).collect();
    (axes, entries, names(&sharding.unreduced), names(&sharding.reduced))
}

/// How a result is to be split, for functions that take an `out_sharding`.
#[pyclass(name = "OutSharding", module = "pullback._core", frozen)]
pub struct PyOutSharding(pub OutSharding);

/// Names of mesh axes, as Python gives them.
type Names<'py> = Vec<Bound<'py, PyAny>>;

#[pymethods]
impl PyOutSharding {
    /// `axes` are those of the mesh, as `(name, size, kind)`; `mesh` has its devices, where they are known.
    #[new]
    fn new(
        axes: Vec<(Bound<'_, PyAny>, usize, String)>,
        entries: Entries<'_>,
        sums: (Names<'_>, Names<'_>),
        mesh: Option<&MeshHandle>,
        text: String,
    ) -> PyResult<PyOutSharding> {
        let names = |names: Names<'_>| names.iter().map(axis_name).collect::<PyResult<Vec<AxisName>>>();
        let axis = |(name, size, kind): (Bound<'_, PyAny>, usize, String)| {
            Ok(MeshAxis { name: axis_name(&name)?, size, kind: kind_of(&kind) })
        };
        let axes = axes.into_iter().map(axis).collect::<PyResult<Vec<_>>>()?;
        let (unreduced, reduced) = (names(sums.0)?, names(sums.1)?);
        let data = ShardingData { mesh: axes.into(), entries: spec_of(entries)?, unreduced, reduced };
        use_places();
        let mesh = mesh.map(|mesh| mesh.0.clone());
        Ok(PyOutSharding(OutSharding { sharding: Sharding::of(data), mesh, text: text.into() }))
    }
}

/// A value split as said, in its type.
#[pyfunction]
fn reshard(py: Python<'_>, x: &Bound<'_, PyAny>, to: &PyOutSharding) -> PyResult<Py<PyAny>> {
    let val = to_val(x)?;
    wrap(py, gate(py, || pullback_trace::split(&val, to.0.clone()))?)
}

/// What `call` gives, split as asked; what is ambiguous on the way is resolved.
#[pyfunction]
fn split_call(
    py: Python<'_>,
    function: &str,
    asked: &Bound<'_, PyAny>,
    call: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    crate::api::arguments::split_as(py, function, Some(asked), || Ok(call.call0()?.unbind()))
}

/// Sets the mesh of the context of this thread.
#[pyfunction]
fn set_context_mesh(mesh: Option<&MeshHandle>) {
    pullback_backend::set_context_mesh(mesh.map(|mesh| mesh.0.clone()));
}

/// The object of a mesh that a user made.
pub fn mesh_object(py: Python<'_>, mesh: &Mesh) -> PyResult<Py<PyAny>> {
    let found = mesh.object.as_ref().and_then(|object| object.downcast_ref::<Py<PyAny>>());
    found.map(|object| object.clone_ref(py)).ok_or_else(|| value_error("the mesh of the array is not known to Python"))
}

/// Mesh axes that split each axis, as Python gives them: a list of lists of names.
type Entries<'py> = Vec<Vec<Bound<'py, PyAny>>>;

fn spec_of(entries: Entries<'_>) -> PyResult<Spec> {
    entries.iter().map(|names| names.iter().map(axis_name).collect()).collect()
}

fn put(py: Python<'_>, x: &Bound<'_, PyAny>, place: Option<Place>) -> PyResult<Py<PyAny>> {
    let Some(array) = to_val(x)?.to_array() else {
        return Err(type_error("only concrete arrays are on devices"));
    };
    wrap(py, Val::Array(gate(py, || pullback_backend::put(&array, place.map(Arc::new)))?))
}

/// The array on one device.
#[pyfunction]
fn put_on_device(py: Python<'_>, x: &Bound<'_, PyAny>, device: DeviceId, is_committed: bool) -> PyResult<Py<PyAny>> {
    let is_default = device == 0 && !is_committed;
    put(py, x, (!is_default).then_some(Place { layout: Layout::Device(device), is_committed }))
}

/// The array split over a mesh.
#[pyfunction]
fn put_on_mesh(py: Python<'_>, x: &Bound<'_, PyAny>, mesh: &MeshHandle, entries: Entries<'_>) -> PyResult<Py<PyAny>> {
    let layout = Layout::Split(mesh.0.clone(), spec_of(entries)?);
    put(py, x, Some(Place { layout, is_committed: true }))
}

/// Where an array is: `(device, None, is_committed)` or `(mesh, entries, True)`.
#[pyfunction]
fn place_of(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, Option<Vec<Vec<String>>>, bool)> {
    let place = match as_val(x) {
        Some(Val::Array(array)) => array.place().cloned(),
        _ => pullback_backend::uncommitted(),
    };
    let Some(place) = place else { return Ok((0u32.into_pyobject(py)?.into_any().unbind(), None, false)) };
    match &place.layout {
        Layout::Device(id) => Ok((id.into_pyobject(py)?.into_any().unbind(), None, place.is_committed)),
        Layout::Split(mesh, spec) => {
            let entries = spec.iter().map(|names| names.iter().map(|name| name.to_string()).collect()).collect();
            Ok((mesh_object(py, mesh)?, Some(entries), place.is_committed))
        }
    }
}

fn array_of(x: &Bound<'_, PyAny>) -> PyResult<Array> {
    match as_val(x).and_then(Val::to_array) {
        Some(array) => Ok(array),
        None => Err(type_error(format!("Unsupported type for elements in `arrays`: {}", x.get_type()))),
    }
}

/// The part of an array that the device number `position` of its place holds.
#[pyfunction]
fn shard_of(py: Python<'_>, x: &Bound<'_, PyAny>, position: usize) -> PyResult<Py<PyAny>> {
    let array = array_of(x)?;
    wrap(py, Val::Array(gate(py, || array.shard(position))?))
}

/// An array of parts, one for each device of the mesh in order.
#[pyfunction]
fn assemble(
    py: Python<'_>,
    aval: &PyAval,
    mesh: &MeshHandle,
    entries: Entries<'_>,
    parts: Vec<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let parts: Vec<Array> = parts.iter().map(array_of).collect::<PyResult<_>>()?;
    let layout = Layout::Split(mesh.0.clone(), spec_of(entries)?);
    wrap(py, Val::Array(gate(py, || pullback_backend::assemble(aval.0, layout, &parts))?))
}

/// Sets the device of uncommitted work on this thread, and gives the one before.
#[pyfunction]
fn set_default_device(device: Option<DeviceId>) -> Option<DeviceId> {
    pullback_backend::set_default_device(device)
}

/// The device of uncommitted work on this thread.
#[pyfunction]
fn default_device_id() -> DeviceId {
    pullback_backend::default_device()
}

/// A value put where a program asks for it: split over a mesh, or on one device.
#[pyfunction]
fn constrain(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    mesh: Option<&MeshHandle>,
    entries: Entries<'_>,
    device: DeviceId,
    text: String,
) -> PyResult<Py<PyAny>> {
    let val = to_val(x)?;
    let layout = match mesh {
        Some(mesh) => Layout::Split(mesh.0.clone(), spec_of(entries)?),
        None => Layout::Device(device),
    };
    use_places();
    let params = Params::new(ShardingConstraint::new(ShardingParam { layout, text: text.into() }));
    wrap(py, gate(py, || pullback_trace::bind_one(SHARDING_CONSTRAINT, &params, &[val]))?)
}

/// What a map over devices says beside its program.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MapOptions<'py> {
    in_specs: Vec<Entries<'py>>,
    out_specs: Vec<Entries<'py>>,
    check_vma: bool,
    manual: Vec<String>,
}

/// Runs a staged program on every device of a mesh, each on its parts of the leaves.
#[pyfunction]
fn bind_shard_map(
    py: Python<'_>,
    staged: &Staged,
    leaves: &Bound<'_, PyTuple>,
    mesh: &MeshHandle,
    options: MapOptions<'_>,
) -> PyResult<Py<PyAny>> {
    let (jaxpr, captured, _, out_tree) = staged.parts();
    let mut vals = captured.to_vec();
    for leaf in leaves {
        vals.push(to_val(&leaf)?);
    }
    let specs = |all: Vec<Entries<'_>>| -> PyResult<Vec<SpecParam>> {
        all.into_iter().map(|entries| spec_of(entries).map(SpecParam::new)).collect()
    };
    let mut in_specs = vec![SpecParam::new(vec![]); captured.len()];
    in_specs.extend(specs(options.in_specs)?);
    let manual: Vec<AxisName> = options.manual.into_iter().map(AxisName::from).collect();
    let params = Params::new(ShardMap {
        mesh: MeshParam(mesh.0.clone()),
        in_specs,
        out_specs: specs(options.out_specs)?,
        jaxpr: jaxpr.clone(),
        check_vma: options.check_vma,
        newly_manual_axes: NameSet(manual),
    });
    let outs = gate(py, || pullback_trace::bind(SHARD_MAP, &params, &vals))?;
    tree_of(py, out_tree, outs)
}

/// Waits for devices without the interpreter, which their callbacks may need, and lets the user interrupt.
fn wait(step: &mut (dyn FnMut(Duration) -> bool + Send)) -> Result<()> {
    const STEP: Duration = Duration::from_millis(50);
    Python::attach(|py| {
        while !py.detach(|| step(STEP)) {
            py.check_signals().carry(py)?;
        }
        Ok(())
    })
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pullback_backend::set_wait(wait);
    m.add_class::<MeshHandle>()?;
    m.add_class::<PyOutSharding>()?;
    m.add_function(wrap_pyfunction!(reshard, m)?)?;
    m.add_function(wrap_pyfunction!(split_call, m)?)?;
    m.add_function(wrap_pyfunction!(set_context_mesh, m)?)?;
    m.add_function(wrap_pyfunction!(put_on_device, m)?)?;
    m.add_function(wrap_pyfunction!(put_on_mesh, m)?)?;
    m.add_function(wrap_pyfunction!(place_of, m)?)?;
    m.add_function(wrap_pyfunction!(shard_of, m)?)?;
    m.add_function(wrap_pyfunction!(assemble, m)?)?;
    m.add_function(wrap_pyfunction!(set_default_device, m)?)?;
    m.add_function(wrap_pyfunction!(default_device_id, m)?)?;
    m.add_function(wrap_pyfunction!(constrain, m)?)?;
    m.add_function(wrap_pyfunction!(bind_shard_map, m)?)
}
