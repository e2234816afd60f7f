//! Processes that work together: the glue of `pullback.distributed`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pullback_base::Result;
use pullback_coordination::{Client, Service, Settings};
use pullback_runtime::unlocked;
use pullback_xla::KeyValueStore;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::gate::gate;

/// The service that one process runs for all.
#[pyclass(module = "pullback._core", frozen)]
pub struct CoordinationService(Mutex<Option<Service>>);

#[pymethods]
impl CoordinationService {
    #[new]
    fn new(py: Python<'_>, address: &str, n_processes: u64, silence: f64) -> PyResult<CoordinationService> {
        let service = asked(py, || Service::start(address, n_processes, seconds(silence)))?;
        Ok(CoordinationService(Mutex::new(Some(service))))
    }

    /// Ends the service when all have left, or the time is over.
    fn shutdown(&self, limit: f64) {
        let service = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(service) = service {
            unlocked(|| service.wait_for_end(seconds(limit)));
        }
    }
}

fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number.max(0.0)).unwrap_or(Duration::MAX)
}

/// This process among those that joined.
#[pyclass(module = "pullback._core", frozen)]
pub struct DistributedRuntimeClient(pub Arc<Client>);

/// What the service says; its failures are those of a runtime, not of the caller's line.
fn asked<T: Send>(py: Python<'_>, ask: impl Fn() -> Result<T> + Send + Sync) -> PyResult<T> {
    let answer = gate(py, || Ok(unlocked(&ask)))?;
    answer.map_err(|error| {
        let class = py.import("pullback.errors").and_then(|errors| errors.getattr("JaxRuntimeError"));
        class.and_then(|class| class.call1((error.message(),))).map_or_else(|error| error, PyErr::from_value)
    })
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[pymethods]
impl DistributedRuntimeClient {
    /// Joins, and waits for all others.
    #[new]
    fn new(
        py: Python<'_>,
        address: String,
        process: u64,
        n_processes: u64,
        start: f64,
        silence: f64,
        end: f64,
    ) -> PyResult<DistributedRuntimeClient> {
        let (start, silence, end) = (seconds(start), seconds(silence), seconds(end));
        let settings = Settings { address, process, n_processes, start, silence, end };
        asked(py, || Client::join(settings.clone())).map(|client| DistributedRuntimeClient(Arc::new(client)))
    }

    /// Keeps a text.
    #[pyo3(signature = (key, value, allow_overwrite=false))]
    fn key_value_set(&self, py: Python<'_>, key: &str, value: &str, allow_overwrite: bool) -> PyResult<()> {
        asked(py, || self.0.set(key, value.as_bytes(), allow_overwrite))
    }

    /// Keeps bytes.
    #[pyo3(signature = (key, value, allow_overwrite=false))]
    fn key_value_set_bytes(&self, py: Python<'_>, key: &str, value: &[u8], allow_overwrite: bool) -> PyResult<()> {
        asked(py, || self.0.set(key, value, allow_overwrite))
    }

    /// The text of a key; waits for it.
    fn blocking_key_value_get(&self, py: Python<'_>, key: &str, timeout_in_ms: u64) -> PyResult<String> {
        asked(py, || self.0.get(key, Duration::from_millis(timeout_in_ms))).map(text)
    }

    /// The bytes of a key; waits for them.
    fn blocking_key_value_get_bytes<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        timeout_in_ms: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let value = asked(py, || self.0.get(key, Duration::from_millis(timeout_in_ms)))?;
        Ok(PyBytes::new(py, &value))
    }

    /// The text of a key that has one.
    fn key_value_try_get(&self, py: Python<'_>, key: &str) -> PyResult<String> {
        asked(py, || self.0.try_get(key)).map(text)
    }

    /// The bytes of a key that has some.
    fn key_value_try_get_bytes<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &asked(py, || self.0.try_get(key))?))
    }

    /// Keys that begin so, with their texts.
    fn key_value_dir_get(&self, py: Python<'_>, key: &str) -> PyResult<Vec<(String, String)>> {
        let found = asked(py, || self.0.list(key))?;
        Ok(found.into_iter().map(|(key, value)| (key, text(value))).collect())
    }

    /// Keys that begin so, with their bytes.
    fn key_value_dir_get_bytes<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let found = asked(py, || self.0.list(key))?;
        Ok(found.into_iter().map(|(key, value)| (key, PyBytes::new(py, &value))).collect())
    }

    /// Adds to the number of a key; gives the sum.
    fn key_value_increment(&self, py: Python<'_>, key: &str, increment: i64) -> PyResult<i64> {
        asked(py, || self.0.increment(key, increment))
    }

    /// Forgets a key and those below it.
    fn key_value_delete(&self, py: Python<'_>, key: &str) -> PyResult<()> {
        asked(py, || self.0.delete(key))
    }

    /// Waits until all processes, or those of the numbers, are here.
    #[pyo3(signature = (barrier_id, timeout_in_ms, process_ids=None))]
    fn wait_at_barrier(
        &self,
        py: Python<'_>,
        barrier_id: &str,
        timeout_in_ms: u64,
        process_ids: Option<Vec<u64>>,
    ) -> PyResult<()> {
        let processes = process_ids.unwrap_or_default();
        asked(py, || self.0.barrier(barrier_id, Duration::from_millis(timeout_in_ms), &processes))
    }

    /// Those of the processes that are there.
    fn get_live_nodes(&self, py: Python<'_>, process_ids: Vec<u64>) -> PyResult<Vec<u64>> {
        let live = asked(py, || self.0.live())?;
        Ok(live.into_iter().filter(|process| process_ids.contains(process)).collect())
    }

    /// Waits for all others to end too, and leaves.
    fn shutdown(&self, py: Python<'_>) -> PyResult<()> {
        asked(py, || self.0.leave())
    }
}

/// What a plugin is given.
pub struct Store(pub Arc<Client>);

impl KeyValueStore for Store {
    fn get(&self, key: &str, limit: Duration) -> Result<Vec<u8>> {
        self.0.get(key, limit)
    }
    fn try_get(&self, key: &str) -> Result<Vec<u8>> {
        self.0.try_get(key)
    }
    fn put(&self, key: &str, value: &[u8]) -> Result<()> {
        self.0.set(key, value, true)
    }
}

/// Adds classes to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CoordinationService>()?;
    m.add_class::<DistributedRuntimeClient>()
}
