//! The emitter that records: every bind becomes an equation of a jaxpr.
//!
//! A value of another trace is captured: arrays become consts, outer tracers become captured inputs that whoever
//! binds the finished jaxpr must pass. The builder checks nothing that abstract evaluation does not, and transforms
//! nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pullback_base::{Array, Aval, NameStack, Result, Span};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::emit::Emit;
use crate::jaxpr::{Atom, DebugInfo, Eqn, Jaxpr, VarId};
use crate::params::Params;
use crate::prim::PrimRef;
use crate::val::{Slot, TraceId, Tracer, Val, Vals};

#[derive(Default)]
struct State {
    vars: Vec<Aval>,
    invars: Vec<VarId>,
    constvars: Vec<VarId>,
    consts: Vec<Array>,
    captured_vars: Vec<VarId>,
    captured: Vec<Val>,
    eqns: Vec<Eqn>,
    /// Variables of captured values by the identity of the value.
    known: FxHashMap<(TraceId, usize), VarId>,
}

/// A jaxpr in the making.
pub struct Builder {
    id: TraceId,
    /// Names around the whole jaxpr, which its equations do not repeat.
    around: NameStack,
    state: Mutex<State>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Builder {
        Builder { id: TraceId::fresh(), around: Span::current().names(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tracer(&self, aval: Aval, var: VarId) -> Val {
        Val::Tracer(Tracer { trace: self.id, aval, slot: Slot::Var(var) })
    }

    /// A new input.
    pub fn input(&self, aval: Aval) -> Val {
        let mut state = self.state();
        let var = state.fresh(aval);
        state.invars.push(var);
        self.tracer(aval, var)
    }

    /// Number of equations so far.
    pub fn n_eqns(&self) -> usize {
        self.state().eqns.len()
    }

    /// The value as an operand of this jaxpr, captured when it is foreign.
    pub fn atom(&self, val: &Val) -> Atom {
        self.state().atom(self.id, val)
    }

    /// The value as a variable or literal of this builder: a foreign one is captured.
    pub fn lift(&self, val: &Val) -> Val {
        match self.atom(val) {
            Atom::Var(var) => self.tracer(val.aval(), var),
            Atom::Literal(scalar) => Val::Literal(scalar),
        }
    }

    /// The finished jaxpr, and the outer values it captured, which are its first inputs.
    /// The builder is empty afterwards; a tracer of it that is used later is a leak.
    pub fn finish(&self, outs: &[Val], debug: Option<DebugInfo>) -> (Jaxpr, Vec<Val>) {
        let id = self.id;
        let mut state = std::mem::take(&mut *self.state());
        let outs = outs.iter().map(|out| state.atom(id, out)).collect();
        let invars = [state.captured_vars, state.invars].concat();
        let State { vars, constvars, consts, eqns, captured, .. } = state;
        (Jaxpr { vars, constvars, consts, invars, eqns, outs, debug: debug.map(std::sync::Arc::new) }, captured)
    }

    /// The finished jaxpr of a builder that captured nothing from outside, or whose captured values (returned second)
    /// should come last: inputs first, then captured.
    pub fn finish_captured_last(&self, outs: &[Val]) -> (Jaxpr, Vec<Val>) {
        let n_captured = self.state().captured.len();
        let (mut jaxpr, captured) = self.finish(outs, None);
        jaxpr.invars.rotate_left(n_captured);
        (jaxpr, captured)
    }

    /// Records an equation whose result avals the caller knows.
    pub fn record(&self, prim: PrimRef, params: &Params, ins: &[Val], outs: &[Aval]) -> Vals {
        let mut state = self.state();
        let ins: SmallVec<[Atom; 3]> = ins.iter().map(|val| state.atom(self.id, val)).collect();
        let first_out = VarId(state.vars.len() as u32);
        state.vars.extend_from_slice(outs);
        let (n_outs, span) = (outs.len() as u32, Span::current());
        let span = span.with_names(span.names().inside(self.around));
        state.eqns.push(Eqn { prim, params: params.clone(), ins, first_out, n_outs, span });
        drop(state);
        let vars = (first_out.0..).map(VarId);
        outs.iter().zip(vars).map(|(&aval, var)| self.tracer(aval, var)).collect()
    }
}

impl State {
    fn fresh(&mut self, aval: Aval) -> VarId {
        self.vars.push(aval);
        VarId(self.vars.len() as u32 - 1)
    }

    fn atom(&mut self, id: TraceId, val: &Val) -> Atom {
        match val {
            Val::Literal(scalar) => Atom::Literal(*scalar),
            Val::Tracer(Tracer { trace, slot: Slot::Var(var), .. }) if *trace == id => Atom::Var(*var),
            Val::Array(array) => Atom::Var(self.constant(array)),
            Val::Tracer(tracer) => Atom::Var(self.capture(tracer)),
        }
    }

    fn constant(&mut self, array: &Array) -> VarId {
        let key = (TraceId::EVAL, array.address());
        if let Some(&var) = self.known.get(&key) {
            return var;
        }
        let var = self.fresh(array.aval());
        self.constvars.push(var);
        self.consts.push(array.clone());
        self.known.insert(key, var);
        var
    }

    fn capture(&mut self, tracer: &Tracer) -> VarId {
        let key = (tracer.trace, tracer.identity());
        if let Some(&var) = self.known.get(&key) {
            return var;
        }
        let var = self.fresh(tracer.aval);
        self.captured_vars.push(var);
        // Held, so that the identity stays taken while the builder lives.
        self.captured.push(Val::Tracer(tracer.clone()));
        self.known.insert(key, var);
        var
    }
}

impl Tracer {
    /// A number that no other tracer of the same trace has while this one lives.
    pub fn identity(&self) -> usize {
        match &self.slot {
            Slot::Var(var) => var.index(),
            Slot::Dual(dual) => std::sync::Arc::as_ptr(dual) as usize,
            Slot::Batched(batched) => std::sync::Arc::as_ptr(batched) as usize,
            Slot::Foreign(foreign) => std::sync::Arc::as_ptr(foreign) as usize,
        }
    }
}

impl Emit for Builder {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let avals: SmallVec<[Aval; 3]> = ins.iter().map(Val::aval).collect();
        let outs = prim.abstract_eval(params, &avals)?;
        Ok(self.record(prim, params, ins, &outs))
    }

    fn inputs_of(&self, tracer: &Tracer) -> Vec<usize> {
        let Slot::Var(var) = tracer.slot else { return vec![] };
        let state = self.state();
        let mut wanted = vec![false; state.vars.len()];
        wanted[var.index()] = true;
        for eqn in state.eqns.iter().rev().filter(|eqn| eqn.first_out <= var) {
            if eqn.outs().any(|out| wanted[out.index()]) {
                for atom in &eqn.ins {
                    if let Atom::Var(operand) = atom {
                        wanted[operand.index()] = true;
                    }
                }
            }
        }
        (0..state.invars.len()).filter(|&i| wanted[state.invars[i].index()]).collect()
    }
}
