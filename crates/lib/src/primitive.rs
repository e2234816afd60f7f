//! How functions of the library perform a primitive: with its typed params, on the trace that is current.

use pullback_base::{Aval, Result};
use pullback_ir::{ParamSet, Params, PrimRef, Val, Vals};
use pullback_trace::{bind, bind_one};

/// The ways to bind a primitive.
pub(crate) trait Bind {
    /// Without params; one result.
    fn bind(self, ins: &[Val]) -> Result<Val>;

    /// One result.
    fn bind_with(self, params: impl ParamSet, ins: &[Val]) -> Result<Val>;

    /// All results.
    fn bind_many(self, params: impl ParamSet, ins: &[Val]) -> Result<Vals>;

    /// One result, with the operands checked first: a map around the call may leave nothing to check.
    fn bind_checked(self, params: impl ParamSet, ins: &[Val]) -> Result<Val>;
}

impl Bind for PrimRef {
    fn bind(self, ins: &[Val]) -> Result<Val> {
        bind_one(self, &Params::NONE, ins)
    }

    fn bind_with(self, params: impl ParamSet, ins: &[Val]) -> Result<Val> {
        bind_one(self, &Params::new(params), ins)
    }

    fn bind_many(self, params: impl ParamSet, ins: &[Val]) -> Result<Vals> {
        bind(self, &Params::new(params), ins)
    }

    fn bind_checked(self, params: impl ParamSet, ins: &[Val]) -> Result<Val> {
        let params = Params::new(params);
        let avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
        self.abstract_eval(&params, &avals)?;
        bind_one(self, &params, ins)
    }
}
