//! Numbers and arrays of the host that enter a computation, told to whom guards them.
//!
//! All memory is the host's here, so nothing is copied; what is guarded is what would be a copy on another device. A front
//! end marks the arrays that it makes of the host's ([`Array::of_host`]) while a guard is on, and decides what becomes of
//! one that enters. While no guard is on, nothing is looked at.
//!
//! [`Array::of_host`]: pullback_base::Array::of_host

use std::cell::Cell;
use std::sync::OnceLock;

use pullback_base::Result;
use pullback_base::array::place::DeviceId;
use pullback_core::control::Jit;
use pullback_ir::{Params, Val};

use crate::checks;
use crate::placement::{default_device, place_of_work};

/// Hears of a value of the host that goes to a device; an error refuses it.
pub type OnTransfer = fn(&Val, DeviceId) -> Result<()>;

static ON_TRANSFER: OnceLock<OnTransfer> = OnceLock::new();

/// Lets a front end hear of transfers, while [`crate::Forbidden`] says that they are guarded. The first one stays.
pub fn on_transfer(hear: OnTransfer) {
    let _ = ON_TRANSFER.set(hear);
}

/// Whether transfers are guarded on this thread now.
pub fn are_transfers_guarded() -> bool {
    checks::is_armed() && checks::forbidden().transfers
}

fn is_of_host(val: &Val) -> bool {
    match val {
        Val::Literal(_) => true,
        Val::Array(array) => array.is_of_host(),
        Val::Tracer(_) => false,
    }
}

/// Tells of a value that an operation on the default device takes, if it is the host's.
///
/// # Errors
/// When the front end refuses it.
pub fn transfer(val: &Val) -> Result<()> {
    transfer_to(val, default_device())
}

fn transfer_to(val: &Val, device: DeviceId) -> Result<()> {
    match ON_TRANSFER.get() {
        Some(hear) if is_of_host(val) => hear(val, device),
        Some(_) | None => Ok(()),
    }
}

thread_local! {
    static IS_UNGUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A scope in which numbers are not told.
#[must_use]
pub struct Unguarded(bool);

impl Drop for Unguarded {
    fn drop(&mut self) {
        IS_UNGUARDED.set(self.0);
    }
}

/// Numbers are not told until the scope ends, as they are a function's own.
pub fn unguarded() -> Unguarded {
    Unguarded(IS_UNGUARDED.replace(true))
}

/// Tells of all operands of the host that the program uses.
///
/// # Errors
/// When the front end refuses one.
pub(crate) fn transfer_operands(params: &Params, ins: &[Val]) -> Result<()> {
    let is_own = |val: &Val| IS_UNGUARDED.get() && matches!(val, Val::Literal(_));
    if !ins.iter().any(|val| is_of_host(val) && !is_own(val)) {
        return Ok(());
    }
    let device = place_of_work(ins).unwrap_or_else(default_device);
    let used = params.get::<Jit>().filter(|jit| !jit.keep_unused).map(|jit| jit.jaxpr.used_inputs());
    let is_used = |at: usize| used.as_ref().is_none_or(|used| used[at]);
    let mut told = ins.iter().enumerate().filter(|(at, val)| is_used(*at) && !is_own(val));
    told.try_for_each(|(_, val)| transfer_to(val, device))
}
