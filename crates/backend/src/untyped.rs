//! Programs without shardings in their types, which is what is compiled: values do not depend on how arrays are split.
//!
//! Rules of lowering may combine operands as they like, which shardings in types would forbid.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use pullback_base::{Aval, Result, sharding};
use pullback_ir::{Eqn, Jaxpr, JaxprRef, OutSharding, ParamField, ParamValue, Params, PrimRef};

/// Programs that are remembered before all are forgotten.
const MAX_KEPT: usize = 4096;

/// Untyped programs by the identity of the typed ones, which are kept so that no other gets their identity.
type Known = HashMap<u64, (JaxprRef, JaxprRef)>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Forgets all untyped programs.
pub(crate) fn clear() {
    let old = std::mem::take(&mut *KNOWN.lock().unwrap_or_else(PoisonError::into_inner));
    drop(old);
}

/// The params without shardings in types.
///
/// # Errors
/// When the params cannot be made of their own fields.
pub(crate) fn untyped(prim: PrimRef, params: &Params) -> Result<Params> {
    if !sharding::in_use() || !is_typed(prim, params) {
        return Ok(params.clone());
    }
    let fields = params.fields().into_iter().map(|(name, value)| Ok((name, field(value)?)));
    prim.params_from_fields(&fields.collect::<Result<Vec<_>>>()?)
}

/// Whether an application has types with shardings.
pub(crate) fn has_shardings(prim: PrimRef, params: &Params, ins: &[Aval]) -> bool {
    sharding::in_use() && (ins.iter().any(|aval| aval.sharding.is_some()) || is_typed(prim, params))
}

fn is_typed(prim: PrimRef, params: &Params) -> bool {
    prim.asked(params).is_some() || params.jaxprs().iter().any(|jaxpr| is_typed_jaxpr(jaxpr))
}

fn is_typed_jaxpr(jaxpr: &Jaxpr) -> bool {
    jaxpr.vars.iter().any(|aval| aval.sharding.is_some())
        || jaxpr.eqns.iter().any(|eqn| is_typed(eqn.prim, &eqn.params))
}

fn field(value: ParamValue) -> Result<ParamValue> {
    Ok(match value {
        ParamValue::Jaxpr(jaxpr) => ParamValue::Jaxpr(untyped_jaxpr(&jaxpr)?),
        ParamValue::Aval(aval) => ParamValue::Aval(aval.sharded(None)),
        ParamValue::Tuple(items) => ParamValue::Tuple(items.into_iter().map(field).collect::<Result<_>>()?),
        ParamValue::List(items) => ParamValue::List(items.into_iter().map(field).collect::<Result<_>>()?),
        ParamValue::Opaque(ref opaque) if opaque.value.is::<OutSharding>() => {
            OutSharding { sharding: None, mesh: None, text: "None".into() }.to_value()
        }
        other => other,
    })
}

/// The program without shardings in types.
///
/// # Errors
/// When params of an equation cannot be made of their own fields.
pub(crate) fn untyped_jaxpr(jaxpr: &JaxprRef) -> Result<JaxprRef> {
    if !is_typed_jaxpr(jaxpr) {
        return Ok(jaxpr.clone());
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = known().get(&jaxpr.id()) {
        return Ok(found.clone());
    }
    let made = JaxprRef::new(stripped(jaxpr)?);
    let mut known = known();
    let old = if known.len() >= MAX_KEPT { std::mem::take(&mut *known) } else { Known::default() };
    known.insert(jaxpr.id(), (jaxpr.clone(), made.clone()));
    drop(known);
    drop(old);
    Ok(made)
}

fn stripped(jaxpr: &Jaxpr) -> Result<Jaxpr> {
    let eqn = |eqn: &Eqn| Ok(Eqn { params: untyped(eqn.prim, &eqn.params)?, ..eqn.clone() });
    let consts = jaxpr.consts.iter().map(|array| array.reinterpret(array.aval().sharded(None)));
    Ok(Jaxpr {
        vars: jaxpr.vars.iter().map(|aval: &Aval| aval.sharded(None)).collect(),
        consts: consts.collect::<Result<_>>()?,
        eqns: jaxpr.eqns.iter().map(eqn).collect::<Result<_>>()?,
        ..jaxpr.clone()
    })
}
