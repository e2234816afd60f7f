//! Forward differentiation: values go in pairs of primal and tangent.
//!
//! A tangent that is a symbolic zero is `None` and stays one; operations whose tangents are all zero are passed on
//! unchanged. The emitter never makes a zero array.

use std::sync::Arc;

use pullback_base::{DType, Result, Span};
use pullback_ir::{
    Builder, Dual, Emit, EmitRef, JaxprRef, Params, PrimRef, Slot, Tangents, TraceId, Tracer, Val, Vals, eval_jaxpr,
};

use super::cache::Cache;
use super::safe::{derivatives_are_safe, safe_jvp};
use crate::prims::instantiate;

/// The differentiating emitter over a parent.
pub struct JvpEmit {
    id: TraceId,
    parent: EmitRef,
    /// Whether choices stay in sight.
    is_safe: bool,
}

impl JvpEmit {
    /// Differentiation whose operations go to `parent`.
    pub fn new(parent: EmitRef) -> JvpEmit {
        JvpEmit { id: TraceId::fresh(), parent, is_safe: derivatives_are_safe() }
    }

    /// A value with its tangent; without one the plain value.
    pub fn pack(&self, primal: Val, tangent: Option<Val>) -> Val {
        let Some(tangent) = tangent else { return primal };
        let aval = primal.aval();
        let dual = Arc::new(Dual { primal, tangent: Some(tangent), span: Span::current() });
        Val::Tracer(Tracer { trace: self.id, aval, slot: Slot::Dual(dual) })
    }

    /// Primal and tangent of a value; foreign values have a symbolic zero.
    pub fn unpack(&self, val: &Val) -> (Val, Option<Val>) {
        match val {
            Val::Tracer(Tracer { trace, slot: Slot::Dual(dual), .. }) if *trace == self.id => {
                (dual.primal.clone(), dual.tangent.clone())
            }
            other => (other.clone(), None),
        }
    }

    fn jvp(&self, prim: PrimRef, params: &Params, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let safe = if self.is_safe { safe_jvp(prim, params, &*self.parent, xs, ts) } else { None };
        safe.unwrap_or_else(|| prim.jvp(prim, params, &*self.parent, xs, ts))
    }
}

impl Emit for JvpEmit {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let (primals, tangents): (Vec<Val>, Vec<Option<Val>>) = ins.iter().map(|val| self.unpack(val)).unzip();
        if tangents.iter().all(Option::is_none) {
            return self.parent.bind(prim, params, &primals);
        }
        let (outs, out_tangents) = match prim.custom_rule(params) {
            Some(rule) => rule.jvp(&self.parent, &primals, &tangents)?,
            None => self.jvp(prim, params, &primals, &tangents)?,
        };
        Ok(outs.into_iter().zip(out_tangents).map(|(out, tangent)| self.pack(out, tangent)).collect())
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.parent)
    }
}

/// The forward derivative of a jaxpr.
#[derive(Clone, Debug)]
pub struct JvpJaxpr {
    /// From inputs, then tangents of those inputs that have one, to results, then tangents of those that have one.
    pub jaxpr: JaxprRef,
    /// Which results have a tangent.
    pub nonzero_out: Vec<bool>,
}

/// Differentiates a jaxpr whose inputs marked in `nonzero_in` have tangents. Results marked in `instantiate` get a
/// tangent even if it is zero.
///
/// # Errors
/// What a rule raises, for example that it is missing.
pub fn jvp_jaxpr(jaxpr: &JaxprRef, nonzero_in: &[bool], force_out: &[bool]) -> Result<JvpJaxpr> {
    jvp_jaxpr_strong(jaxpr, nonzero_in, force_out, &[])
}

/// As [`jvp_jaxpr`], with tangents of the inputs marked in `strong_in` strongly typed even where the input is not.
///
/// # Errors
/// As [`jvp_jaxpr`].
pub fn jvp_jaxpr_strong(
    jaxpr: &JaxprRef,
    nonzero_in: &[bool],
    force_out: &[bool],
    strong_in: &[bool],
) -> Result<JvpJaxpr> {
    type Key = (u64, bool, Vec<bool>, Vec<bool>, Vec<bool>);
    static CACHE: Cache<Key, JvpJaxpr> = Cache::new();
    let key = (jaxpr.id(), derivatives_are_safe(), nonzero_in.to_vec(), force_out.to_vec(), strong_in.to_vec());
    CACHE.get_or_make(key, || make_jvp(jaxpr, nonzero_in, force_out, strong_in))
}

fn make_jvp(jaxpr: &JaxprRef, nonzero_in: &[bool], force_out: &[bool], strong_in: &[bool]) -> Result<JvpJaxpr> {
    let builder = Arc::new(Builder::new());
    let emit = JvpEmit::new(builder.clone());
    let primals: Vec<Val> = jaxpr.in_avals().into_iter().map(|aval| builder.input(aval)).collect();
    let mut args = vec![];
    for (i, (primal, &nonzero)) in primals.into_iter().zip(nonzero_in).enumerate() {
        let aval = primal.aval().tangent();
        let is_weak = aval.weak_type && !strong_in.get(i).copied().unwrap_or(false);
        let tangent = nonzero.then(|| builder.input(aval.weak(is_weak)));
        args.push(emit.pack(primal, tangent));
    }
    let (mut outs, mut tangents, mut nonzero_out) = (vec![], vec![], vec![]);
    for (out, &forced) in eval_jaxpr(&emit, jaxpr, &args)?.iter().zip(force_out) {
        let (primal, mut tangent) = emit.unpack(out);
        if forced && tangent.is_none() && primal.aval().dtype.tangent() != DType::Float0 {
            tangent = Some(instantiate(&*builder, primal.aval(), None)?);
        }
        nonzero_out.push(tangent.is_some());
        outs.push(primal);
        tangents.extend(tangent);
    }
    outs.extend(tangents);
    Ok(JvpJaxpr { jaxpr: JaxprRef::interned(builder.finish(&outs, None).0), nonzero_out })
}
