//! The glue of `pullback.random`: keys, shapes and dtypes as users write them, one call into `lib`, the result wrapped.

macro_rules! add_all {
    ($m:expr; $($name:ident)*) => { $($m.add_function(wrap_pyfunction!($name, $m)?)?;)* };
}

mod distributions;
mod keys;
mod selection;

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;
use pullback_lib::random::Mode;
use pyo3::prelude::*;

use super::arguments::{ShapeArg, check_out_sharding};
use crate::dtypes::DTypeArg;
use crate::errors::{Carry, type_error};
use crate::value::try_val;

type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// An argument that should be a key.
struct Key(pub Val);

impl<'py> FromPyObject<'_, 'py> for Key {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Key> {
        match try_val(&obj)? {
            Some(val) => Ok(Key(val)),
            None => Err(type_error(format!("unexpected PRNG key type {}", obj.get_type()))),
        }
    }
}

/// The default shape: that of one sample.
const ONE: ShapeArg = ShapeArg(vec![]);

/// The dtype that was asked for, or the default.
fn dtype_or(py: Python<'_>, asked: Option<DTypeArg>, function: &str, default: DType) -> PyResult<DType> {
    asked.map_or(Ok(default), |asked| asked.canonical(py, function))
}

fn sizes(shape: Option<ShapeArg>) -> Result<Option<Vec<usize>>> {
    shape.map(|shape| shape.sizes()).transpose()
}

/// Refuses options that are not served.
fn check_options(name: &str, out_sharding: Object<'_, '_>, method: Option<&str>) -> Result<()> {
    if let Some(given) = out_sharding {
        check_out_sharding(name, out_sharding).carry(given.py())?;
    }
    match method {
        None | Some("exact") => Ok(()),
        Some("approximate") => {
            bail!(NotImplemented, "method='approximate' of jax.random.{name} is not implemented; use method='exact'")
        }
        Some(other) => {
            bail!(Value, "method argument to `{name}` must be one of {{'exact', 'approximate'}}, got '{other}'")
        }
    }
}

fn mode_of(mode: Option<&str>) -> Result<Mode> {
    mode.map_or(Ok(Mode::Low), Mode::parse)
}

/// Adds `_core.random`, whose functions say that they live in `pullback.random`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.random")?;
    keys::register(&m)?;
    distributions::register(&m)?;
    selection::register(&m)?;
    core.add("random", m)
}
