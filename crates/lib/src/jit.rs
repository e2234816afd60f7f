//! Functions of the library that are jitted themselves: they show as `jit[name=…]` in jaxprs, and run as one program.

use std::cell::RefCell;

use std::sync::Arc;

use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::{Jaxpr, JaxprRef, Val, Vals};
use pullback_trace::{call_jaxpr, trace_to_jaxpr};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::config::settings;

/// Static arguments of a jitted function, as numbers.
pub type Statics<'a> = &'a [i64];

#[derive(PartialEq, Eq, Hash)]
struct Key {
    name: &'static str,
    avals: SmallVec<[Aval; 4]>,
    statics: SmallVec<[i64; 6]>,
    settings: u64,
}

thread_local! {
    static TRACED: RefCell<FxHashMap<Key, (Arc<str>, JaxprRef)>> = RefCell::default();
}

/// Calls `f` through a jaxpr named `name`, which is traced once for each combination of operand types, static
/// arguments and settings. `f` must depend on nothing else.
///
/// # Errors
/// What `f` or the run raises.
pub fn named_jit(
    name: &'static str,
    statics: Statics<'_>,
    args: &[Val],
    f: impl FnOnce(&[Val]) -> Result<Vec<Val>>,
) -> Result<Vals> {
    let (name, jaxpr) = traced(name, statics, args, f)?;
    call_jaxpr(name, &jaxpr, args)
}

/// As [`named_jit`], for one result.
///
/// # Errors
/// As [`named_jit`].
pub fn named_jit_one(
    name: &'static str,
    statics: Statics<'_>,
    args: &[Val],
    f: impl FnOnce(&[Val]) -> Result<Val>,
) -> Result<Val> {
    let mut outs = named_jit(name, statics, args, |args| Ok(vec![f(args)?]))?;
    Ok(outs.swap_remove(0))
}

/// Calls `f`; of known arrays as one program, which shows in no jaxpr.
///
/// # Errors
/// As [`named_jit`].
pub(crate) fn at_once(
    name: &'static str,
    statics: Statics<'_>,
    args: &[Val],
    f: impl FnOnce(&[Val]) -> Result<Vec<Val>>,
) -> Result<Vec<Val>> {
    if args.iter().any(|arg| matches!(arg, Val::Tracer(_))) {
        return f(args);
    }
    named_jit(name, statics, args, f).map(Vals::into_vec)
}

pub(crate) fn traced(
    name: &'static str,
    statics: Statics<'_>,
    args: &[Val],
    f: impl FnOnce(&[Val]) -> Result<Vec<Val>>,
) -> Result<(Arc<str>, JaxprRef)> {
    let avals: SmallVec<[Aval; 4]> = args.iter().map(Val::aval).collect();
    let key = Key { name, avals, statics: SmallVec::from_slice(statics), settings: settings() };
    if let Some(known) = TRACED.with_borrow(|traced| traced.get(&key).cloned()) {
        return Ok(known);
    }
    let mut f = Some(f);
    let traced = trace_to_jaxpr(&key.avals, &mut |args| {
        let f = f.take().expect("a function is traced once");
        Ok((f(args)?, None))
    })?;
    assert!(traced.captured.is_empty(), "{name} depends on a value that is not its operand");
    let found = (Arc::from(name), without_places(&traced.jaxpr));
    TRACED.with_borrow_mut(|known| known.insert(key, found.clone()));
    Ok(found)
}

/// The jaxpr for any caller: nothing in it is where the first one was.
fn without_places(jaxpr: &JaxprRef) -> JaxprRef {
    let mut shared = Jaxpr::clone(jaxpr);
    shared.eqns.iter_mut().for_each(|eqn| eqn.span = eqn.span.without_place());
    JaxprRef::new(shared)
}

/// The jaxpr of a function of scalars of one dtype, traced once by name.
///
/// # Errors
/// What `f` raises.
pub(crate) fn scalar_jaxpr(
    name: &'static str,
    dtype: DType,
    n_args: usize,
    f: impl FnOnce(&[Val]) -> Result<Val>,
) -> Result<JaxprRef> {
    let args = vec![Val::Literal(Scalar::zero(dtype)); n_args];
    Ok(traced(name, &[-1], &args, |args| Ok(vec![f(args)?]))?.1)
}
