//! Warnings of reductions that see no element, while the setting asks for them.
//!
//! A shape shows it at once; a mask only when it is known, so a program that is traced for later takes along a call that
//! warns when it runs, with the line where the reduction was written.

use std::sync::Arc;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Span};
use pullback_core::control::{Callback, DEBUG_PRINT, DebugCallback, HostCall, HostFunction};
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};
use pullback_trace::warn;

use super::reductions::Reduction;
use crate::broadcast::broadcast_to;
use crate::convert::to_dtype;
use crate::lax;
use crate::primitive::Bind;

/// Warns, while the setting is on, where a reduction sees nothing.
///
/// # Errors
/// When the front end makes an error of warnings; for axes that are out of bounds.
pub(super) fn warn_of_nothing(name: &'static str, x: &Val, options: &Reduction) -> Result<()> {
    if !is_on(Setting::WarnEmpty) {
        return Ok(());
    }
    let shape = x.aval().shape.to_vec();
    let axes = options.axis.split_names().1.resolve(shape.len())?;
    let kept = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]);
    if kept.clone().any(|size| size == 0) {
        return Ok(());
    }
    if axes.iter().any(|&axis| shape[axis] == 0) {
        let shape = tuple_text(&shape);
        return warn(&format!(
            "jnp.{name} of an array of shape {shape} sees no element: its result is that of nothing"
        ));
    }
    let Some(mask) = &options.where_ else { return Ok(()) };
    let mask = broadcast_to(&to_dtype(mask, DType::Bool)?, &shape)?;
    let empty = lax::bitwise_not(&lax::reduce_or(&mask, &axes)?)?;
    let all: Vec<usize> = (0..empty.aval().rank()).collect();
    let n_empty = lax::reduce_sum(&to_dtype(&empty, DType::I32)?, &all)?;
    let notice = Notice { name, place: Span::current(), n_results: kept.product() };
    match n_empty.to_array() {
        Some(known) => notice.warn(known.element(0)?.as_i64()),
        None => {
            let callback = HostFunction(Arc::new(notice));
            let params = DebugCallback { fmt: "warn_empty".into(), ordered: false, callback };
            DEBUG_PRINT.bind_many(params, &[n_empty]).map(drop)
        }
    }
}

/// What is said of a reduction under a mask.
struct Notice {
    name: &'static str,
    place: Span,
    n_results: usize,
}

impl Notice {
    fn warn(&self, n_empty: i64) -> Result<()> {
        if n_empty == 0 {
            return Ok(());
        }
        let place =
            self.place.resolve().map_or_else(String::new, |place| format!(", at {}:{}", place.file, place.line));
        let (name, n) = (self.name, self.n_results);
        warn(&format!(
            "jnp.{name} sees no element in {n_empty} of {n} results: its mask is false all over there{place}; \
             pullback.masked.{name} has a value and a gradient for that"
        ))
    }
}

impl HostCall for Notice {
    fn call(&self, ins: &[&[u8]], _outs: &mut [&mut [u8]]) -> Result<()> {
        let bytes = ins[0].first_chunk().expect("one number of 32 bits");
        self.warn(i32::from_le_bytes(*bytes).into())
    }

    fn name(&self) -> String {
        format!("warn_empty({})", self.name)
    }
}

impl Callback for Notice {
    fn retyped(&self, _ins: Vec<Aval>, _outs: Vec<Aval>) -> HostFunction {
        HostFunction(Arc::new(Notice { name: self.name, place: self.place, n_results: self.n_results }))
    }
}
