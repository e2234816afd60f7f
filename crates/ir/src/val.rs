//! Values that rules handle: literals, arrays and tracers.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pullback_base::{Array, Aval, Scalar, Span};
use smallvec::SmallVec;

use crate::jaxpr::VarId;

/// The identity of one trace (one builder, one differentiation, one batching) of this process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TraceId(u32);

impl TraceId {
    /// The evaluating emitter, which makes no tracers.
    pub const EVAL: TraceId = TraceId(0);

    /// A new identity.
    pub fn fresh() -> TraceId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        TraceId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a tracer stands for inside the trace that made it.
#[derive(Clone)]
pub enum Slot {
    /// A variable of the jaxpr being built.
    Var(VarId),
    /// A primal with its tangent; `None` is a symbolic zero.
    Dual(Arc<Dual>),
    /// A value with one more axis than it shows.
    Batched(Arc<Batched>),
    /// Meaning known only to the emitter that made it.
    Foreign(Arc<Foreign>),
}

/// A payload that only its emitter understands, behind one thin pointer.
pub struct Foreign(pub Box<dyn Any + Send + Sync>);

/// A primal value with its tangent.
pub struct Dual {
    /// The value.
    pub primal: Val,
    /// Its direction; `None` is a symbolic zero.
    pub tangent: Option<Val>,
    /// The user's line that made it.
    pub span: Span,
}

/// A value whose `dim` axis is the batch.
pub struct Batched {
    /// The value with the batch axis.
    pub value: Val,
    /// Which axis is the batch.
    pub dim: usize,
    /// The user's line that made it.
    pub span: Span,
}

/// A stand-in for a value during a trace.
#[derive(Clone)]
pub struct Tracer {
    /// The trace it belongs to.
    pub trace: TraceId,
    /// What is known of the value.
    pub aval: Aval,
    /// What it stands for.
    pub slot: Slot,
}

/// A value: known, or traced.
#[derive(Clone)]
pub enum Val {
    /// One element, for example a Python number.
    Literal(Scalar),
    /// An array.
    Array(Array),
    /// A stand-in.
    Tracer(Tracer),
}

/// Results of a primitive.
pub type Vals = SmallVec<[Val; 1]>;

impl Val {
    /// Shape, dtype and weak type.
    pub fn aval(&self) -> Aval {
        match self {
            Val::Literal(scalar) => scalar.aval(),
            Val::Array(array) => array.aval(),
            Val::Tracer(tracer) => tracer.aval,
        }
    }

    /// The tracer, if it is one of `trace`.
    pub fn tracer_of(&self, trace: TraceId) -> Option<&Tracer> {
        match self {
            Val::Tracer(tracer) if tracer.trace == trace => Some(tracer),
            Val::Tracer(_) | Val::Literal(_) | Val::Array(_) => None,
        }
    }

    /// The array, when the value is known; literals become arrays.
    pub fn to_array(&self) -> Option<Array> {
        match self {
            Val::Literal(scalar) => Some(Array::scalar(*scalar)),
            Val::Array(array) => Some(array.clone()),
            Val::Tracer(_) => None,
        }
    }

    /// Whether it is a tracer.
    pub fn is_tracer(&self) -> bool {
        matches!(self, Val::Tracer(_))
    }
}

impl From<Array> for Val {
    fn from(array: Array) -> Val {
        Val::Array(array)
    }
}

impl From<Scalar> for Val {
    fn from(scalar: Scalar) -> Val {
        Val::Literal(scalar)
    }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Literal(scalar) => write!(f, "{scalar:?}"),
            Val::Array(array) => write!(f, "{array:?}"),
            Val::Tracer(tracer) => write!(f, "tracer({} of {:?})", tracer.aval, tracer.trace),
        }
    }
}

const _: () = assert!(std::mem::size_of::<Val>() <= 32);
