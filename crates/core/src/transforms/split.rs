//! Partial evaluation: what depends on known values only is done at once, the rest is recorded.
//!
//! Known operands of recorded operations become residuals: consts or captured inputs of the recorded jaxpr.
//! Linearization is differentiation over this emitter, since tangents are then the unknowns.

use std::sync::Arc;

use pullback_base::Result;
use pullback_ir::{
    Builder, Emit, EmitRef, Jaxpr, JaxprRef, Params, PrimRef, Split, SplitJaxpr, TraceId, Val, Vals, eval_jaxpr,
};

use super::cache::Cache;
use super::dce::dce_jaxpr;

/// The emitter that runs the known and records the unknown.
pub struct SplitEmit {
    known: EmitRef,
    unknown: Arc<Builder>,
}

impl SplitEmit {
    /// Splits between `known` and a new builder.
    pub fn new(known: EmitRef) -> SplitEmit {
        SplitEmit { known, unknown: Arc::new(Builder::new()) }
    }

    /// The recorder; its inputs are the unknowns.
    pub fn recorder(&self) -> &Arc<Builder> {
        &self.unknown
    }
}

impl Split for SplitEmit {
    fn known(&self) -> &dyn Emit {
        &*self.known
    }

    fn unknown(&self) -> &Builder {
        &self.unknown
    }

    fn is_unknown(&self, val: &Val) -> bool {
        val.tracer_of(self.unknown.id()).is_some()
    }

    fn split_jaxpr(&self, jaxpr: &JaxprRef, unknown_in: &[bool]) -> Result<SplitJaxpr> {
        split_jaxpr(jaxpr, unknown_in)
    }
}

impl Emit for SplitEmit {
    fn id(&self) -> TraceId {
        self.unknown.id()
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        if !ins.iter().any(|val| self.is_unknown(val)) {
            return self.known.bind(prim, params, ins);
        }
        match prim.split(params, self, ins)? {
            Some(outs) => Ok(outs),
            None => self.unknown.bind(prim, params, ins),
        }
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.known)
    }
}

/// Splits a jaxpr whose inputs marked in `unknown_in` are unknown.
///
/// # Errors
/// What a rule raises.
pub fn split_jaxpr(jaxpr: &JaxprRef, unknown_in: &[bool]) -> Result<SplitJaxpr> {
    split_jaxpr_forced(jaxpr, unknown_in, &vec![false; jaxpr.outs.len()])
}

/// As [`split_jaxpr`], with the results marked in `unknown_out` treated as unknown even if they are known.
///
/// # Errors
/// What a rule raises.
pub fn split_jaxpr_forced(jaxpr: &JaxprRef, unknown_in: &[bool], unknown_out: &[bool]) -> Result<SplitJaxpr> {
    static CACHE: Cache<(u64, Vec<bool>, Vec<bool>), SplitJaxpr> = Cache::new();
    let key = (jaxpr.id(), unknown_in.to_vec(), unknown_out.to_vec());
    CACHE.get_or_make(key, || make_split(jaxpr, unknown_in, unknown_out))
}

fn make_split(jaxpr: &JaxprRef, unknown_in: &[bool], force_unknown: &[bool]) -> Result<SplitJaxpr> {
    let known = Arc::new(Builder::new());
    let emit = SplitEmit::new(known.clone());
    let make_input = |(aval, &unknown)| if unknown { emit.unknown.input(aval) } else { known.input(aval) };
    let args: Vec<Val> = jaxpr.in_avals().into_iter().zip(unknown_in).map(make_input).collect();
    let outs = eval_jaxpr(&emit, jaxpr, &args)?;
    let (mut known_outs, mut unknown_outs, mut unknown_out) = (vec![], vec![], vec![]);
    for (out, &forced) in outs.into_iter().zip(force_unknown) {
        let is_unknown = forced || emit.is_unknown(&out);
        unknown_out.push(is_unknown);
        if is_unknown { unknown_outs.push(out) } else { known_outs.push(out) }
    }
    let (unknown_jaxpr, residuals) = emit.unknown.finish(&unknown_outs, None);
    let (unknown, residuals) = without_dead_code(unknown_jaxpr, residuals);
    let n_residuals = residuals.len();
    known_outs.extend(residuals);
    let (known_jaxpr, captured) = known.finish(&known_outs, None);
    debug_assert!(captured.is_empty(), "a jaxpr captures nothing");
    let all_ins = vec![true; known_jaxpr.invars.len()];
    let known = dce_jaxpr(&JaxprRef::new(known_jaxpr), &vec![true; known_outs.len()], &all_ins).jaxpr;
    Ok(SplitJaxpr { known, unknown, unknown_out, n_residuals })
}

/// The unknown part without equations that no result needs, and the residuals that it still reads.
fn without_dead_code(unknown: Jaxpr, residuals: Vec<Val>) -> (JaxprRef, Vec<Val>) {
    let keep: Vec<bool> = (0..unknown.invars.len()).map(|i| i >= residuals.len()).collect();
    let n_outs = unknown.outs.len();
    let pruned = dce_jaxpr(&JaxprRef::new(unknown), &vec![true; n_outs], &keep);
    let read = residuals.into_iter().zip(&pruned.used_in).filter(|(_, used)| **used).map(|(val, _)| val).collect();
    (pruned.jaxpr, read)
}
