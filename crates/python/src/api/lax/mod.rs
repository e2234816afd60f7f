//! The glue of `pullback.lax`: functions that stand for one primitive each.

/// Functions of one operand, which share their name with the primitive.
macro_rules! unary {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(signature = (x), text_signature = "(x)")]
        fn $name(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
            let x = x.val(py, stringify!($name), 0)?;
            one(py, || lax::$name(&x))
        }
    )*};
}

/// Those that say how exact they should be, which is nothing to this engine.
macro_rules! unary_with_accuracy {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(signature = (x, *, accuracy=None), text_signature = "(x, *, accuracy=None)")]
        fn $name(py: Python<'_>, x: ArrayLike, accuracy: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
            let x = x.val(py, stringify!($name), 0)?;
            let _ = accuracy;
            one(py, || lax::$name(&x))
        }
    )*};
}

/// Functions of two operands of one dtype.
macro_rules! binary {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(signature = (x, y), text_signature = "(x, y)")]
        fn $name(py: Python<'_>, x: ArrayLike, y: ArrayLike) -> PyResult<Py<PyAny>> {
            let x = x.val(py, stringify!($name), 0)?;
            let y = y.val(py, stringify!($name), 1)?;
            one(py, || {
                let [x, y] = same_rank(stringify!($name), &x, &y)?;
                lax::$name(&x, &y)
            })
        }
    )*};
}

macro_rules! add_all {
    ($m:expr; $($name:ident)*) => { $($m.add_function(wrap_pyfunction!($name, $m)?)?;)* };
}

mod arithmetic;
mod bits;
mod comparison;
mod contraction;
mod conversion;
mod creation;
mod indexing;
pub mod parallel;
mod reductions;
mod shaping;
mod slicing;
mod sorting;
mod special;
mod support;
mod transcendental;

use pyo3::prelude::*;

/// Adds `_core.lax`, whose functions say that they live in `pullback.lax`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.lax")?;
    arithmetic::register(&m)?;
    bits::register(&m)?;
    comparison::register(&m)?;
    contraction::register(&m)?;
    conversion::register(&m)?;
    creation::register(&m)?;
    indexing::register(&m)?;
    reductions::register(&m)?;
    shaping::register(&m)?;
    slicing::register(&m)?;
    sorting::register(&m)?;
    special::register(&m)?;
    support::register(&m)?;
    transcendental::register(&m)?;
    parallel::register(&m)?;
    core.add("lax", m)
}
