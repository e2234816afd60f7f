//! Where-safe gradients: linear values that know which of their elements are zero by structure.
//!
//! A cotangent that a choice dropped is not a small number but none at all, and none times anything is none. The emitter
//! here performs the programs of derivatives (transposed ones, or tangents) with two marks beside each linear value:
//!
//! - *dead*: elements that are zero because a choice, a slice or a pad dropped them. Their value is always zero exactly.
//! - *edge*: elements that are infinite because the slope of a square root at zero is. A square root that exists around its
//!   zero has its least value there, so zero is one of its slopes, and an edge times an exact zero is zero.
//!
//! A dead element times anything, infinity and NaN too, is dead; a dead element plus another is the other. What is not
//! marked is computed as always. Rules of primitives know nothing of marks: they bind their operations on this emitter.
//! What each operation does with marks is in [`rules`]; an operation that is not listed there takes the values, and its
//! result has no marks, which is ordinary differentiation. [`mod@control`] carries marks through calls, branches and loops.

mod contraction;
mod control;
mod rules;

use std::sync::Arc;

use pullback_base::Result;
use pullback_ir::{Emit, EmitRef, Foreign, Params, PrimRef, Slot, Tangents, TraceId, Tracer, Val, Vals};

/// Booleans of the shape of a value; `None` is nowhere.
#[derive(Clone, Default)]
struct Marks {
    dead: Option<Val>,
    edge: Option<Val>,
}

/// An operand or result: its value, and its marks when it is linear in the cotangents or tangents.
type Marked = (Val, Option<Marks>);

/// What a tracer of [`MarkEmit`] stands for.
struct Payload {
    value: Val,
    marks: Marks,
}

/// The emitter of programs of derivatives whose linear values bear marks.
pub struct MarkEmit {
    id: TraceId,
    parent: EmitRef,
}

impl MarkEmit {
    /// Marks over operations that go to `parent`.
    pub fn new(parent: EmitRef) -> MarkEmit {
        MarkEmit { id: TraceId::fresh(), parent }
    }

    /// A linear value of which nothing is known to be dropped.
    pub fn linear(&self, value: Val) -> Val {
        self.pack((value, Some(Marks::default())))
    }

    /// The value without its marks.
    pub fn value(&self, val: &Val) -> Val {
        self.unpack(val).0
    }

    fn pack(&self, (value, marks): Marked) -> Val {
        let Some(marks) = marks else { return value };
        let aval = value.aval();
        let payload = Arc::new(Foreign(Box::new(Payload { value, marks })));
        Val::Tracer(Tracer { trace: self.id, aval, slot: Slot::Foreign(payload) })
    }

    fn unpack(&self, val: &Val) -> Marked {
        match val {
            Val::Tracer(Tracer { trace, slot: Slot::Foreign(foreign), .. }) if *trace == self.id => {
                let payload = foreign.0.downcast_ref::<Payload>().expect("a tracer of this trace holds its payload");
                (payload.value.clone(), Some(payload.marks.clone()))
            }
            other => (other.clone(), None),
        }
    }
}

impl Emit for MarkEmit {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let ins: Vec<Marked> = ins.iter().map(|val| self.unpack(val)).collect();
        if ins.iter().all(|(_, marks)| marks.is_none()) {
            let values: Vals = ins.into_iter().map(|(value, _)| value).collect();
            return self.parent.bind(prim, params, &values);
        }
        let outs = rules::apply(&*self.parent, prim, params, &ins)?;
        Ok(outs.into_iter().map(|out| self.pack(out)).collect())
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.parent)
    }

    fn for_user_rules(&self, cts: &[Option<Val>]) -> Option<(EmitRef, Vec<Option<Val>>)> {
        let bare = cts.iter().map(|ct| ct.as_ref().map(|ct| self.value(ct))).collect();
        Some((self.parent.clone(), bare))
    }

    fn accept_from_user_rules(&self, cts: Tangents) -> Tangents {
        cts.into_iter().map(|ct| ct.map(|ct| self.linear(ct))).collect()
    }
}

/// Runs `body`, which is linear in `linear`, on an emitter with marks over `e`; its results are without marks.
///
/// # Errors
/// What `body` raises.
pub fn with_marks(
    e: &EmitRef,
    linear: &[Option<Val>],
    body: impl FnOnce(&EmitRef, &[Option<Val>]) -> Result<Vec<Option<Val>>>,
) -> Result<Vec<Option<Val>>> {
    let emit = Arc::new(MarkEmit::new(e.clone()));
    let marked: Vec<Option<Val>> = linear.iter().map(|val| val.clone().map(|val| emit.linear(val))).collect();
    let outs = body(&(emit.clone() as EmitRef), &marked)?;
    Ok(outs.into_iter().map(|out| out.map(|out| emit.value(&out))).collect())
}
