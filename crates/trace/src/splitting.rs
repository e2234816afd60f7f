//! How calls of public functions deal with splits that leave a result open.
//!
//! A call that says how its result is split resolves what is ambiguous on the way, as only the result counts. Other calls
//! split the constants that they make themselves like the arrays beside them.

use std::cell::RefCell;

use pullback_base::{Aval, ErrorKind, Result};
use pullback_core::prims::{RESHARD, Reshard};
use pullback_ir::{OutSharding, ParamField, ParamValue, Params, PrimRef, Val, Vals};

use crate::current::bind_on_current;

/// What becomes of operations whose result is open.
#[derive(Clone, Default)]
enum Way {
    /// They are errors.
    #[default]
    Strict,
    /// Arrays that nothing splits are split like those beside them.
    Lenient,
    /// The result of the call is split so; operations that make it may be asked for it themselves.
    Asked(OutSharding, bool),
}

thread_local! {
    static WAY: RefCell<Way> = const { RefCell::new(Way::Strict) };
}

/// A scope of one call.
#[must_use]
pub struct SplitScope(Way);

impl Drop for SplitScope {
    fn drop(&mut self) {
        WAY.replace(std::mem::take(&mut self.0));
    }
}

/// Until the scope ends, what is ambiguous is resolved, as the result is split as asked. Where the call `is_direct`, one
/// operation makes its result, and is asked for it.
pub fn resolving_splits(asked: &OutSharding, is_direct: bool) -> SplitScope {
    SplitScope(WAY.replace(Way::Asked(asked.clone(), is_direct)))
}

/// Until the scope ends, a function of the library works with constants of its own.
pub fn splitting_constants(is_lenient: bool) -> SplitScope {
    SplitScope(WAY.replace(if is_lenient { Way::Lenient } else { Way::Strict }))
}

/// Whether ambiguous operations are resolved on this thread.
pub fn is_resolving() -> bool {
    WAY.with_borrow(|way| matches!(way, Way::Asked(..)))
}

/// Operations that can be asked for the split of their result.
const ASKABLE: &[&str] = &["broadcast_in_dim", "conv_general_dilated", "dot_general", "iota", "reshape"];

/// Performs a primitive on the current emitter, in the way of the call that is at work.
pub(crate) fn bind_split(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    if let Some(outs) = bind_directly(prim, params, ins) {
        return Ok(outs);
    }
    match bind_on_current(prim, params, ins) {
        Err(error) if error.kind() == ErrorKind::ShardingType => match WAY.with_borrow(Clone::clone) {
            Way::Strict => Err(error),
            Way::Lenient => match alike(prim, ins)? {
                Some(ins) => bind_on_current(prim, params, &ins),
                None => Err(error),
            },
            Way::Asked(asked, _) => match with_asked(prim, params, &asked) {
                Some(params) if prim.abstract_eval(&params, &avals(ins)).is_ok() => bind_on_current(prim, &params, ins),
                Some(_) | None => bind_on_current(prim, params, &ins.iter().map(whole).collect::<Result<Vec<Val>>>()?),
            },
        },
        result => result,
    }
}

/// The only operation of a call, asked for the split of its result; nothing where it cannot be.
fn bind_directly(prim: PrimRef, params: &Params, ins: &[Val]) -> Option<Vals> {
    let asked = WAY.with_borrow(|way| match way {
        Way::Asked(asked, true) => Some(asked.clone()),
        Way::Asked(_, false) | Way::Strict | Way::Lenient => None,
    })?;
    let params = with_asked(prim, params, &asked)?;
    prim.abstract_eval(&params, &avals(ins)).ok()?;
    bind_on_current(prim, &params, ins).ok()
}

fn avals(ins: &[Val]) -> Vec<Aval> {
    ins.iter().map(Val::aval).collect()
}

/// The params with the split that is asked for; nothing where the primitive cannot be asked, or is already.
fn with_asked(prim: PrimRef, params: &Params, asked: &OutSharding) -> Option<Params> {
    if !ASKABLE.contains(&prim.name()) || prim.asked(params).is_some() {
        return None;
    }
    let field = |(name, value): (String, ParamValue)| match name.as_str() {
        "sharding" | "out_sharding" => (name, asked.to_value()),
        _ => (name, value),
    };
    let fields: Vec<(String, ParamValue)> = params.fields().into_iter().map(field).collect();
    prim.params_from_fields(&fields).ok()
}

/// The operands of a choice or a stack with those that nothing splits split like the others.
fn alike(prim: PrimRef, ins: &[Val]) -> Result<Option<Vec<Val>>> {
    if !prim.is("select_n") && !prim.is("stack") {
        return Ok(None);
    }
    let Some(like) = ins.iter().map(Val::aval).find(|aval| aval.sharding.is_some()) else { return Ok(None) };
    let split_alike = |val: &Val| {
        let aval = val.aval();
        let is_whole = aval.sharding.is_none() && aval.shape == like.shape;
        if is_whole { split(val, OutSharding::like(like)) } else { Ok(val.clone()) }
    };
    ins.iter().map(split_alike).collect::<Result<_>>().map(Some)
}

fn whole(val: &Val) -> Result<Val> {
    let aval = val.aval();
    if aval.sharding.is_none() {
        return Ok(val.clone());
    }
    split(val, OutSharding::like(aval.sharded(None)))
}

/// A value split as asked; the value itself where it is.
///
/// # Errors
/// `Value` where the sharding does not divide the axes.
pub fn split(val: &Val, dst_sharding: OutSharding) -> Result<Val> {
    let params = Params::new(Reshard { dst_sharding });
    let wanted = RESHARD.abstract_eval(&params, &[val.aval()])?;
    if wanted[0] == val.aval() && val.aval().sharding.is_some() {
        return Ok(val.clone());
    }
    Ok(bind_on_current(RESHARD, &params, std::slice::from_ref(val))?.swap_remove(0))
}
