//! The settings of the core, for `pullback.config`.

use pullback_ir::ParamField;
use pullback_trace::settings::{self, Setting};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::jaxpr::param_object;
use crate::value::{to_val, wrap};

fn setting(name: &str) -> PyResult<Setting> {
    let found = Setting::ALL.iter().copied().find(|setting| setting.name() == name);
    found.ok_or_else(|| value_error(format!("the core has no setting {name:?}")))
}

/// Sets a setting for the process.
#[pyfunction]
fn set_setting(name: &str, on: bool) -> PyResult<()> {
    settings::set(setting(name)?, on);
    Ok(())
}

/// Overrides a setting on this thread, and gives the override before.
#[pyfunction]
fn set_setting_on_thread(name: &str, on: Option<bool>) -> PyResult<Option<bool>> {
    Ok(settings::set_on_thread(setting(name)?, on))
}

/// Whether a setting is on for this thread.
#[pyfunction]
fn is_setting_on(name: &str) -> PyResult<bool> {
    Ok(settings::is_on(setting(name)?))
}

/// All settings as one number.
#[pyfunction]
fn settings_word() -> u64 {
    settings::settings()
}

/// Names of the settings, from the lowest bit of [`settings_word`] on.
#[pyfunction]
fn setting_names() -> Vec<String> {
    Setting::ALL.iter().map(|setting| setting.name().to_string()).collect()
}

/// Puts other contexts of the user in force on this thread, by a number for all of them; gives the number before.
#[pyfunction]
fn set_user_contexts(contexts: u32) -> u32 {
    pullback_trace::set_user_contexts(contexts)
}

/// Lowers the most threads that loops of this thread's calls may use; gives what [`restore_thread_cap`] takes.
#[pyfunction]
fn lower_thread_cap(n: usize) -> usize {
    pullback_runtime::lower_cap(n)
}

/// Ends the scope that [`lower_thread_cap`] began.
#[pyfunction]
fn restore_thread_cap(before: usize) {
    pullback_runtime::restore_cap(before);
}

/// How many bytes arrays and temporaries may take; nothing while there is no limit.
#[pyfunction]
fn memory_limit() -> Option<usize> {
    pullback_base::array::memory_limit()
}

/// Sets how many bytes arrays and temporaries may take.
#[pyfunction]
#[pyo3(signature = (size_bytes))]
fn set_memory_limit(size_bytes: Option<usize>) {
    pullback_base::array::set_memory_limit(size_bytes);
}

/// How many threads loops of this thread's calls may use.
#[pyfunction]
fn thread_count() -> usize {
    pullback_runtime::threads()
}

/// Words for the precision of contractions, in the order of the numbers that settings hold, which start at 1.
#[pyfunction]
fn precision_words() -> Vec<&'static str> {
    pullback_lib::precision::words().collect()
}

/// The precision that a user gives or that is in force, as the parameter of a contraction.
#[pyfunction]
#[pyo3(signature = (given=None))]
fn precision_param(py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let precision = crate::api::arguments::precision(given)?.or_else(pullback_lib::precision::in_force);
    param_object(py, &precision.to_value())
}

/// Sets the number that is added to every seed of a random key.
#[pyfunction]
fn set_seed_offset(offset: i64) {
    pullback_lib::random::set_seed_offset(offset);
}

/// Any number or array as an array of ours.
#[pyfunction]
fn to_array(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    wrap(py, to_val(x)?)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    // Python's numbers have no types: 64 bits are given when they are on.
    settings::set(Setting::NamedX64, false);
    m.add_function(wrap_pyfunction!(set_setting, m)?)?;
    m.add_function(wrap_pyfunction!(set_setting_on_thread, m)?)?;
    m.add_function(wrap_pyfunction!(is_setting_on, m)?)?;
    m.add_function(wrap_pyfunction!(settings_word, m)?)?;
    m.add_function(wrap_pyfunction!(setting_names, m)?)?;
    m.add_function(wrap_pyfunction!(set_user_contexts, m)?)?;
    m.add_function(wrap_pyfunction!(lower_thread_cap, m)?)?;
    m.add_function(wrap_pyfunction!(restore_thread_cap, m)?)?;
    m.add_function(wrap_pyfunction!(thread_count, m)?)?;
    m.add_function(wrap_pyfunction!(memory_limit, m)?)?;
    m.add_function(wrap_pyfunction!(set_memory_limit, m)?)?;
    m.add_function(wrap_pyfunction!(set_seed_offset, m)?)?;
    m.add_function(wrap_pyfunction!(precision_words, m)?)?;
    m.add_function(wrap_pyfunction!(precision_param, m)?)?;
    m.add_function(wrap_pyfunction!(to_array, m)?)
}
