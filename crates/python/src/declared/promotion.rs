//! Which rules of promotion hold inside a public function.
//!
//! `jax_numpy_dtype_promotion="strict"` and `jax_numpy_rank_promotion="raise"` are about what the user combines. What a
//! function makes of operands that go together is its own affair, so the rules end where such a call begins.

use pullback_base::dtype::Typed;
use pullback_lib::broadcast::{Called, enter_called};
use pullback_lib::declare::{Declaration, Parameter};
use pullback_lib::promotion::{go_together, typed};
use pullback_trace::settings::{PromotionScope, has_promotion_rules, without_strict_promotion};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use super::slots::Slots;
use crate::value::{as_val, try_val};

/// Functions whose operands never meet in one dtype: positions beside values, what is appended to what.
const APART: &[&str] = &["ediff1d"];

type Types = SmallVec<[Typed; 4]>;

/// The rules for one call.
pub fn rules_for(declaration: &'static Declaration, slots: &Slots<'_, '_>) -> Option<(Option<PromotionScope>, Called)> {
    has_promotion_rules().then(|| {
        let is_apart = APART.contains(&declaration.name());
        let scope = (is_apart || go_together(&types_of(declaration, slots))).then(without_strict_promotion);
        (scope, enter_called(Some(declaration.names)))
    })
}

/// The types of all operands.
fn types_of(declaration: &Declaration, slots: &Slots<'_, '_>) -> Types {
    let mut types = Types::new();
    let takes_arrays = |(_, one): &(usize, &Parameter)| one.takes.python.contains("ArrayLike");
    for (at, _) in declaration.parameters.iter().enumerate().filter(takes_arrays) {
        if let Some(given) = slots.get(at) {
            add(given, 0, &mut types);
        }
    }
    for given in &slots.rest {
        add(given, 0, &mut types);
    }
    types
}

fn add(object: &Bound<'_, PyAny>, depth: usize, types: &mut Types) {
    if let Some(val) = as_val(object) {
        types.push(typed(val));
    } else if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        if depth < 2 {
            object.try_iter().into_iter().flatten().flatten().for_each(|item| add(&item, depth + 1, types));
        }
    } else if is_number(object) || object.hasattr("__array__").unwrap_or(false) {
        // What cannot be read is reported by the function itself.
        types.extend(try_val(object).ok().flatten().map(|val| typed(&val)));
    }
}

fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>()
        || object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>()
}
