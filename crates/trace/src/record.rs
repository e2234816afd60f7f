//! Running a function on known values and writing down what it does.
//!
//! Where staging sees types only, this sees the values too: control flow of the host language on them goes the way that it
//! goes in an ordinary call under a derivative, and the jaxpr is of that way.

use std::cell::Cell;
use std::sync::Arc;

use pullback_base::{Result, Span};
use pullback_ir::{Builder, Dual, Emit, EmitRef, JaxprRef, Params, PrimRef, Slot, TraceId, Tracer, Val, Vals};

use crate::current::{current, with_current};
use crate::staging::Traced;
use crate::transform::Flat;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether a function is being recorded on this thread: then what has a rule of the user is wanted with its inside.
pub fn is_recording() -> bool {
    DEPTH.get() > 0
}

struct Depth;

impl Depth {
    fn deeper() -> Depth {
        DEPTH.set(DEPTH.get() + 1);
        Depth
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Performs at once, and records what depends on the arguments. A value goes with the variable that stands for it.
struct RecordEmit {
    id: TraceId,
    parent: EmitRef,
    builder: Arc<Builder>,
}

impl RecordEmit {
    fn pack(&self, value: Val, variable: Val) -> Val {
        let aval = value.aval();
        let dual = Arc::new(Dual { primal: value, tangent: Some(variable), span: Span::current() });
        Val::Tracer(Tracer { trace: self.id, aval, slot: Slot::Dual(dual) })
    }

    /// The value, and what stands for it in the record: itself if it does not depend on the arguments.
    fn unpack(&self, val: &Val) -> (Val, Val) {
        match val {
            Val::Tracer(Tracer { trace, slot: Slot::Dual(dual), .. }) if *trace == self.id => {
                (dual.primal.clone(), dual.tangent.clone().expect("a recorded value has its variable"))
            }
            other => (other.clone(), other.clone()),
        }
    }
}

impl Emit for RecordEmit {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let (values, operands): (Vec<Val>, Vec<Val>) = ins.iter().map(|val| self.unpack(val)).unzip();
        let outs = self.parent.bind(prim, params, &values)?;
        if !ins.iter().any(|val| val.tracer_of(self.id).is_some()) {
            return Ok(outs);
        }
        let variables = self.builder.bind(prim, params, &operands)?;
        Ok(outs.into_iter().zip(variables).map(|(value, variable)| self.pack(value, variable)).collect())
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.parent)
    }
}

/// Runs `f` at `args` and gives the jaxpr of what it did with them.
///
/// # Errors
/// What `f` raises.
pub fn record(f: Flat<'_>, args: &[Val]) -> Result<Traced> {
    let _depth = Depth::deeper();
    let builder = Arc::new(Builder::new());
    let emit = Arc::new(RecordEmit { id: TraceId::fresh(), parent: current(), builder: builder.clone() });
    let ins: Vec<Val> = args.iter().map(|arg| emit.pack(arg.clone(), builder.input(arg.aval()))).collect();
    let outs = with_current(emit.clone(), || f(&ins))?;
    let outs: Vec<Val> = outs.iter().map(|out| emit.unpack(out).1).collect();
    let (jaxpr, captured) = builder.finish(&outs, None);
    Ok(Traced { jaxpr: JaxprRef::new(jaxpr), captured })
}
