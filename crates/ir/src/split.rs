//! What a primitive sees when some of its operands are known and the others are not.

use pullback_base::Result;

use crate::builder::Builder;
use crate::emit::Emit;
use crate::jaxpr::JaxprRef;
use crate::val::Val;

/// Where known work runs at once and unknown work is recorded.
pub trait Split {
    /// Performs known operations.
    fn known(&self) -> &dyn Emit;
    /// Records unknown operations; known operands become residuals.
    fn unknown(&self) -> &Builder;
    /// Whether a value is unknown.
    fn is_unknown(&self, val: &Val) -> bool;
    /// Splits a jaxpr by the same rules. See [`SplitJaxpr`].
    ///
    /// # Errors
    /// What a rule raises.
    fn split_jaxpr(&self, jaxpr: &JaxprRef, unknown_in: &[bool]) -> Result<SplitJaxpr>;
}

/// A jaxpr split in what can be computed from its known inputs and the rest.
#[derive(Clone, Debug)]
pub struct SplitJaxpr {
    /// Known inputs to known outputs, then residuals.
    pub known: JaxprRef,
    /// Residuals, then unknown inputs, to unknown outputs.
    pub unknown: JaxprRef,
    /// Which outputs are unknown.
    pub unknown_out: Vec<bool>,
    /// How many residuals.
    pub n_residuals: usize,
}
