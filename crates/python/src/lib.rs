//! The Python extension module of Pullback: the only crate that knows Python.
//!
//! Owns the classes that users touch (arrays, tracers, jitted functions, treedefs), the conversion of Python values, and
//! the one gate through which every call passes. It decides nothing about mathematics: functions live in `lib`.
#![allow(unreachable_pub, reason = "a cdylib exports nothing; `pub` marks what other modules of it may use")]

pub mod api;
pub mod array;
pub mod aval;
pub mod batching;
pub mod bodies;
pub mod call;
pub mod callback;
pub mod config;
pub mod control;
pub mod coordination;
pub mod custom;
mod declared;
pub mod defined;
pub mod detach;
pub mod devices;
pub mod dlpack;
pub mod dtypes;
pub mod errors;
pub mod explain;
pub mod gate;
pub mod index;
pub mod inspect;
pub mod jaxpr;
pub mod jit;
pub mod leaks;
pub mod linear;
pub mod lowering;
pub mod name_stack;
pub mod names;
pub mod numpy;
pub mod operators;
mod pickled;
pub mod plugins;
pub mod primitive;
pub mod python_trace;
mod stack;
pub mod tracer;
pub mod transfers;
pub mod transforms;
pub mod tree;
pub mod value;
pub mod vmap;

use pullback_base::array::{WithReserve, take_reserve};
use pyo3::prelude::*;

/// Small objects can be made when memory is gone, so that its end is an exception.
#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// The extension module.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    take_reserve();
    gate::install_panic_hook();
    detach::install(m.py())?;
    m.add_function(wrap_pyfunction!(gate::_panic, m)?)?;
    errors::register(m)?;
    value::register(m)?;
    array::register(m)?;
    pickled::register(m)?;
    index::register(m)?;
    tree::register(m)?;
    m.add_class::<aval::PyAval>()?;
    jaxpr::register(m)?;
    explain::register(m)?;
    inspect::register(m)?;
    primitive::register(m)?;
    python_trace::register(m)?;
    jit::register(m)?;
    lowering::register(m)?;
    name_stack::register(m)?;
    transforms::register(m)?;
    vmap::register(m)?;
    bodies::register(m)?;
    control::register(m)?;
    custom::register(m)?;
    linear::register(m)?;
    batching::register(m)?;
    callback::register(m)?;
    dlpack::register(m)?;
    config::register(m)?;
    pullback_trace::set_find_leaks(leaks::find);
    pullback_trace::set_warn(|kind, text| {
        Python::attach(|py| errors::Carry::carry(dtypes::warn_as(py, kind, text), py))
    });
    pullback_explain::look_for_mistakes();
    devices::register(m)?;
    transfers::register(m)?;
    plugins::register(m)?;
    coordination::register(m)?;
    pullback_trace::set_describe_leak(names::describe_leak);
    api::register(m)?;
    declared::register(m)
}
