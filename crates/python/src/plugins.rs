//! Plugins of XLA and their devices: the glue of `pullback._plugins`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pullback_base::array::place::DeviceId;
use pullback_base::{ErrorKind, Result};
use pullback_xla::{CacheSettings, DeviceFacts, KeyValueStore, Setting, XlaEngine};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::coordination::{DistributedRuntimeClient, Store};
use crate::errors::{Carry, type_error};
use crate::gate::gate;

/// A started plugin.
#[pyclass(module = "pullback._core", frozen)]
pub struct Plugin(Arc<XlaEngine>);

fn setting_of(value: &Bound<'_, PyAny>) -> PyResult<Setting> {
    // A truth is a number too, so it is asked for first.
    if let Ok(truth) = value.cast::<pyo3::types::PyBool>() {
        return Ok(Setting::Bool(truth.is_true()));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Setting::Int(number));
    }
    if let Ok(number) = value.extract::<f32>() {
        return Ok(Setting::Float(number));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Setting::Text(text));
    }
    match value.extract::<Vec<i64>>() {
        Ok(numbers) => Ok(Setting::Ints(numbers)),
        Err(_) => {
            Err(type_error(format!("an option of a plugin is text, a number or a list of whole numbers, not {value}")))
        }
    }
}

fn shown(py: Python<'_>, setting: &Setting) -> PyResult<Py<PyAny>> {
    match setting {
        Setting::Text(text) => text.into_py_any(py),
        Setting::Int(number) => number.into_py_any(py),
        Setting::Ints(numbers) => numbers.into_py_any(py),
        Setting::Float(number) => number.into_py_any(py),
        Setting::Bool(truth) => truth.into_py_any(py),
    }
}

fn dict_of<'py>(py: Python<'py>, settings: &[(String, Setting)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, setting) in settings {
        dict.set_item(name, shown(py, setting)?)?;
    }
    Ok(dict)
}

/// Loads a plugin and adds its devices; `processes` is the client of those that work together.
#[pyfunction]
#[pyo3(signature = (name, path, options, processes=None))]
fn start_plugin(
    py: Python<'_>,
    name: &str,
    path: PathBuf,
    options: &Bound<'_, PyDict>,
    processes: Option<&Bound<'_, DistributedRuntimeClient>>,
) -> PyResult<Plugin> {
    let store = || processes.map(|client| Arc::new(Store(client.get().0.clone())) as Arc<dyn KeyValueStore>);
    let one =
        |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract::<String>()?, setting_of(&value)?));
    let options = options.iter().map(one).collect::<PyResult<Vec<_>>>()?;
    Ok(Plugin(gate(py, || XlaEngine::start(name, &path, &options, store()))?))
}

#[pymethods]
impl Plugin {
    /// The name of its platform.
    #[getter]
    fn platform(&self, py: Python<'_>) -> PyResult<String> {
        gate(py, || self.0.client().platform())
    }

    /// The version of the platform, in its words.
    #[getter]
    fn platform_version(&self, py: Python<'_>) -> PyResult<String> {
        gate(py, || self.0.client().platform_version())
    }

    /// The version of the interface.
    #[getter]
    fn api_version(&self) -> (i32, i32) {
        self.0.client().plugin().version()
    }

    /// What it says of itself.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, &gate(py, || self.0.client().plugin().attributes())?)
    }

    /// What is known of its devices, a dictionary for each.
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        gate(py, || self.0.facts())?.iter().map(|facts| facts_of(py, facts)).collect()
    }

    /// Counts of a device's memory; `None` where the plugin keeps none.
    fn memory_stats<'py>(&self, py: Python<'py>, number: DeviceId) -> PyResult<Option<Bound<'py, PyDict>>> {
        let stats = gate(py, || match self.0.memory_stats(number) {
            Err(error) if error.kind() == ErrorKind::NotImplemented => Ok(None),
            stats => stats.map(Some),
        })?;
        let Some(stats) = stats else { return Ok(None) };
        let dict = PyDict::new(py);
        for (name, count) in stats {
            dict.set_item(name, count)?;
        }
        Ok(Some(dict))
    }
}

fn facts_of<'py>(py: Python<'py>, facts: &DeviceFacts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("number", facts.number)?;
    dict.set_item("id", facts.id)?;
    dict.set_item("local_hardware_id", facts.hardware_id)?;
    dict.set_item("process_index", facts.process_index)?;
    dict.set_item("device_kind", &facts.kind)?;
    dict.set_item("long_name", &facts.long_name)?;
    dict.set_item("short_name", &facts.short_name)?;
    dict.set_item("memory_kinds", &facts.memory_kinds)?;
    dict.set_item("attributes", dict_of(py, &facts.attributes)?)?;
    Ok(dict)
}

/// Asks the package for the default device of the process, which may start plugins.
fn find_default_device() -> Result<DeviceId> {
    Python::attach(|py| {
        let found = py.import("pullback._plugins").and_then(|plugins| plugins.call_method0("default_device_number"));
        found.and_then(|number| number.extract()).carry(py)
    })
}

/// Says that plugins may be here, so that the default device is asked for when it matters.
#[pyfunction]
fn expect_plugins() {
    pullback_backend::find_default_device_with(find_default_device);
}

/// Sets the device of uncommitted work on threads that name none.
#[pyfunction]
fn set_process_default_device(device: DeviceId) {
    pullback_backend::set_process_default_device(device);
}

/// Sets the folder in which executables are kept, the seconds of compiling and the bytes from which they are, and how many
/// bytes all may take; without a folder none are kept.
#[pyfunction]
fn set_executable_cache(folder: Option<PathBuf>, least_seconds: f64, least_bytes: u64, most_bytes: Option<u64>) {
    let least_time = Duration::try_from_secs_f64(least_seconds.max(0.0)).unwrap_or(Duration::MAX);
    let own = |folder| pullback_backend::CacheSettings { folder, least_time, least_bytes, most_bytes };
    pullback_backend::set_cache(folder.clone().map(own));
    pullback_xla::set_cache(folder.map(|folder| CacheSettings { folder, least_time }));
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Plugin>()?;
    m.add_function(wrap_pyfunction!(start_plugin, m)?)?;
    m.add_function(wrap_pyfunction!(expect_plugins, m)?)?;
    m.add_function(wrap_pyfunction!(set_executable_cache, m)?)?;
    m.add_function(wrap_pyfunction!(set_process_default_device, m)?)
}
