//! The one door through which every operation goes.
//!
//! A rule is written once against [`Emit`]; whether its operations run, are recorded, differentiated or batched is up
//! to the emitter it is given.

use pullback_base::Result;

use crate::params::Params;
use crate::prim::{PrimRef, Tangents};
use crate::val::{TraceId, Tracer, Val, Vals};

/// A shared emitter.
pub type EmitRef = std::sync::Arc<dyn Emit>;

/// Performs primitives: runs them, records them, or transforms them into others.
pub trait Emit: Send + Sync {
    /// Which trace this is.
    fn id(&self) -> TraceId;

    /// Performs a primitive.
    ///
    /// # Errors
    /// What abstract evaluation or a rule of the primitive raises, and failures of the run.
    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals>;

    /// The emitter that this one emits into; `None` at the bottom.
    fn parent(&self) -> Option<&dyn Emit> {
        None
    }

    /// For an emitter whose values bear marks: where a user's reverse rule runs instead, and its cotangents without marks.
    fn for_user_rules(&self, _cts: &[Option<Val>]) -> Option<(EmitRef, Vec<Option<Val>>)> {
        None
    }

    /// What a rule that ran there gave, as values of this emitter.
    fn accept_from_user_rules(&self, cts: Tangents) -> Tangents {
        cts
    }

    /// Inputs, by position, that a tracer of this emitter was computed from; for error texts. Empty when not known.
    fn inputs_of(&self, _tracer: &Tracer) -> Vec<usize> {
        vec![]
    }
}
