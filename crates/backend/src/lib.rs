//! The CPU backend of Pullback and the evaluating emitter.
#![forbid(unsafe_code)]

use std::sync::Arc;

use pullback_base::{Error, Result};
use pullback_ir::{Emit, EmitRef, Params, PrimRef, TraceId, Val, Vals};

struct Eval;

impl Emit for Eval {
    fn id(&self) -> TraceId {
        TraceId::EVAL
    }
    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        eval_bind(prim, params, ins)
    }
}

/// The evaluating emitter.
pub fn eval() -> EmitRef {
    Arc::new(Eval)
}

/// Runs a primitive.
///
/// # Errors
/// What the primitive raises.
pub fn eval_bind(prim: PrimRef, _params: &Params, _ins: &[Val]) -> Result<Vals> {
    Err(Error::not_implemented(format!("evaluation of {} comes with the compiler", prim.name())))
}
