//! Calls that say how their result is split: what is ambiguous on the way is not, as only the result counts.

use std::cell::Cell;

use pullback_base::{ErrorKind, Result};
use pullback_core::prims::{RESHARD, Reshard};
use pullback_ir::{OutSharding, Params, PrimRef, Val, Vals};

use crate::current::bind_on_current;

thread_local! {
    static IS_FREE: Cell<bool> = const { Cell::new(false) };
}

/// A scope in which operands of an ambiguous operation are made whole.
#[must_use]
pub struct FreeScope(bool);

impl Drop for FreeScope {
    fn drop(&mut self) {
        IS_FREE.set(self.0);
    }
}

/// Ambiguous operations are resolved until the scope ends.
pub fn resolving_splits() -> FreeScope {
    FreeScope(IS_FREE.replace(true))
}

/// Whether ambiguous operations are resolved on this thread.
pub fn is_resolving() -> bool {
    IS_FREE.get()
}

/// Performs a primitive on the current emitter, on whole operands where their splits leave the result open.
pub(crate) fn bind_split(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    match bind_on_current(prim, params, ins) {
        Err(error) if error.kind() == ErrorKind::ShardingType && IS_FREE.get() => {
            let ins = ins.iter().map(whole).collect::<Result<Vec<Val>>>()?;
            bind_on_current(prim, params, &ins)
        }
        result => result,
    }
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
