//! A flag beside the results of a compiled program: whether one of them holds a number that is an error.
//!
//! The flag is a result like the others, so the loops that make them compute it on the way, and a program that is
//! watched runs nearly as fast as one that is not. Where a flag is set, the results themselves are looked at.

use std::sync::{LazyLock, Mutex, PoisonError};

use pullback_base::{Array, DType, Result};
use pullback_core::control::{JIT, Jit};
use pullback_core::prims::{EQ, IMAG, NE, OR, REAL, V};
use pullback_ir::{Builder, JaxprRef, Params, Val};
use rustc_hash::FxHashMap;

use crate::checks::Forbidden;

/// By the identity of the jaxpr, which lives in what is kept.
type Flagged = FxHashMap<(u64, bool, bool), JaxprRef>;

static FLAGGED: LazyLock<Mutex<Flagged>> = LazyLock::new(Mutex::default);
const MAX_KEPT: usize = 4096;

fn flagged() -> std::sync::MutexGuard<'static, Flagged> {
    FLAGGED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets all programs.
pub(crate) fn clear() {
    let old = std::mem::take(&mut *flagged());
    drop(old);
}

/// A jitted call with the flag as its last result; nothing for other primitives, and where no result can hold such a
/// number or dtypes are among them that no loop compares.
///
/// # Errors
/// What recording the flag raises.
pub(crate) fn with_flag(params: &Params, forbidden: Forbidden) -> Result<Option<Params>> {
    let Some(jit) = params.get::<Jit>().filter(|_| forbidden.nans || forbidden.infs) else { return Ok(None) };
    let dtypes = || jit.jaxpr.outs.iter().map(|&out| jit.jaxpr.aval(out).dtype);
    if !dtypes().any(|dtype| dtype.is_inexact()) || !dtypes().all(|dtype| !dtype.is_inexact() || is_compared(dtype)) {
        return Ok(None);
    }
    let key = (jit.jaxpr.id(), forbidden.nans, forbidden.infs);
    let known = flagged().get(&key).cloned();
    let jaxpr = match known {
        Some(jaxpr) => jaxpr,
        None => {
            let made = record(jit, params, forbidden)?;
            let mut all = flagged();
            let old = if all.len() >= MAX_KEPT { std::mem::take(&mut *all) } else { Flagged::default() };
            all.insert(key, made.clone());
            drop(all);
            drop(old);
            made
        }
    };
    Ok(Some(Params::new(Jit { jaxpr, ..jit.clone() })))
}

fn is_compared(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128)
}

/// The call, and behind its results whether one of them holds a forbidden number.
fn record(jit: &Jit, params: &Params, forbidden: Forbidden) -> Result<JaxprRef> {
    let builder = Builder::new();
    let ins: Vec<Val> = jit.jaxpr.invars.iter().map(|&var| builder.input(jit.jaxpr.vars[var.index()])).collect();
    let avals: Vec<_> = jit.jaxpr.outs.iter().map(|&out| jit.jaxpr.aval(out)).collect();
    let mut outs = builder.record(JIT, params, &ins, &avals).into_vec();
    let watched: Vec<&Val> = outs.iter().filter(|out| out.aval().dtype.is_inexact()).collect();
    let flags = watched.into_iter().map(|out| any(&V::new(&builder, out), forbidden));
    let flag =
        flags.reduce(|one, other| one.bind(OR, &Params::NONE, &[&other])).expect("a result is inexact").done()?;
    outs.push(flag);
    Ok(JaxprRef::new(builder.finish(&outs, jit.jaxpr.debug.as_deref().cloned()).0))
}

/// Whether an element is a forbidden number.
fn any<'e>(x: &V<'e>, forbidden: Forbidden) -> V<'e> {
    let axes: Vec<usize> = (0..x.aval().rank()).collect();
    is_forbidden(x, forbidden).reduce_or(&axes)
}

fn is_forbidden<'e>(x: &V<'e>, forbidden: Forbidden) -> V<'e> {
    if x.aval().dtype.is_complex() {
        let part = |prim| is_forbidden(&x.bind(prim, &Params::NONE, &[]), forbidden);
        return part(REAL).bind(OR, &Params::NONE, &[&part(IMAG)]);
    }
    match (forbidden.nans, forbidden.infs) {
        (true, true) => x.is_finite().not(),
        (true, false) => x.bind(NE, &Params::NONE, &[x]),
        _ => x.abs().bind(EQ, &Params::NONE, &[&x.full(f64::INFINITY)]),
    }
}

/// Whether a flag is set.
///
/// # Errors
/// When the array of a device cannot be read.
pub(crate) fn is_set(flag: &Val) -> Result<bool> {
    flag.to_array().map_or(Ok(true), |flag: Array| Ok(flag.element(0)?.is_nonzero()))
}
