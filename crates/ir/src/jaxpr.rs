//! The jaxpr: an immutable, typed list of equations.
//!
//! Variables are numbers into one table of avals. Results of an equation are consecutive, so an equation is a
//! primitive, its params, its operands and the number of its first result. Literals are scalars only; arrays are consts.
//! Sharing gives a jaxpr its identity, which caches go by; [`JaxprRef::interned`] gives equal jaxprs the same one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use pullback_base::{Array, Aval, Scalar, Span};
use smallvec::SmallVec;

use crate::params::Params;
use crate::prim::PrimRef;

/// A variable of one jaxpr.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VarId(pub u32);

impl VarId {
    /// As an index into the table of variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operand of an equation or a result of a jaxpr.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A variable.
    Var(VarId),
    /// A number written in place.
    Literal(Scalar),
}

impl Atom {
    /// The variable, unless it is a number.
    pub fn var(self) -> Option<VarId> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Literal(_) => None,
        }
    }
}

/// What an equation does besides computing its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Effects(u8);

impl Effects {
    /// None: the equation may be dropped when its results are not used.
    pub const NONE: Effects = Effects(0);
    /// Something outside is touched, in any order.
    pub const UNORDERED: Effects = Effects(1);
    /// Something outside is touched, in program order.
    pub const ORDERED: Effects = Effects(2);

    /// Both.
    #[must_use]
    pub fn union(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Whether there are none.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// One application of a primitive.
#[derive(Clone, Debug)]
pub struct Eqn {
    /// What is applied.
    pub prim: PrimRef,
    /// Its static parameters.
    pub params: Params,
    /// Its operands.
    pub ins: SmallVec<[Atom; 3]>,
    /// The first result; the others follow.
    pub first_out: VarId,
    /// Number of results.
    pub n_outs: u32,
    /// The user's line that asked for it.
    pub span: Span,
}

impl Eqn {
    /// The results.
    pub fn outs(&self) -> impl ExactSizeIterator<Item = VarId> + use<> {
        (self.first_out.0..self.first_out.0 + self.n_outs).map(VarId)
    }

    /// What it does besides computing.
    pub fn effects(&self) -> Effects {
        self.prim.effects(&self.params)
    }
}

/// Names for people: the traced function and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugInfo {
    /// Which transform traced it, for example `jit`.
    pub traced_for: String,
    /// The function's name.
    pub function: String,
    /// Where the function is defined.
    pub place: String,
    /// Names of the flat arguments, for example `x` or `params['w']`.
    pub arg_names: Vec<String>,
    /// Names of the flat results.
    pub result_paths: Vec<String>,
}

/// A jaxpr. Make one with [`crate::Builder`] or the parser; share it as [`JaxprRef`].
#[derive(Clone, Debug)]
pub struct Jaxpr {
    /// Aval of each variable.
    pub vars: Vec<Aval>,
    /// Variables that stand for known arrays.
    pub constvars: Vec<VarId>,
    /// Those arrays.
    pub consts: Vec<Array>,
    /// Variables of the inputs.
    pub invars: Vec<VarId>,
    /// The equations, each after those whose results it uses.
    pub eqns: Vec<Eqn>,
    /// The results.
    pub outs: Vec<Atom>,
    /// Names for people.
    pub debug: Option<Arc<DebugInfo>>,
}

impl Jaxpr {
    /// The jaxpr whose first inputs are these arrays.
    pub fn closed_over(&self, known: &[Array]) -> Jaxpr {
        let mut closed = self.clone();
        let rest = closed.invars.split_off(known.len());
        closed.constvars.extend(std::mem::replace(&mut closed.invars, rest));
        closed.consts.extend(known.iter().cloned());
        closed
    }

    /// Aval of a variable or literal.
    pub fn aval(&self, atom: Atom) -> Aval {
        match atom {
            Atom::Var(var) => self.vars[var.index()],
            Atom::Literal(scalar) => scalar.aval(),
        }
    }

    /// Avals of the inputs.
    pub fn in_avals(&self) -> Vec<Aval> {
        self.invars.iter().map(|var| self.vars[var.index()]).collect()
    }

    /// Avals of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.outs.iter().map(|&out| self.aval(out)).collect()
    }

    /// For each input, whether an equation or a result uses it.
    pub fn used_inputs(&self) -> Vec<bool> {
        let mut used = vec![false; self.vars.len()];
        for atom in self.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&self.outs) {
            if let Atom::Var(var) = atom {
                used[var.index()] = true;
            }
        }
        self.invars.iter().map(|var| used[var.index()]).collect()
    }

    /// Avals of an equation's results.
    pub fn eqn_out_avals(&self, eqn: &Eqn) -> &[Aval] {
        &self.vars[eqn.first_out.index()..][..eqn.n_outs as usize]
    }

    /// What all equations do besides computing.
    pub fn effects(&self) -> Effects {
        self.eqns.iter().fold(Effects::NONE, |all, eqn| all.union(eqn.effects()))
    }

    /// The same jaxpr with its inputs and results in another order: entry `i` of an order is the old position.
    #[must_use]
    pub fn reordered(&self, in_order: &[usize], out_order: &[usize]) -> Jaxpr {
        let invars = in_order.iter().map(|&i| self.invars[i]).collect();
        let outs = out_order.iter().map(|&i| self.outs[i]).collect();
        Jaxpr { invars, outs, ..self.clone() }
    }

    /// Number of equations, those of inner jaxprs included.
    pub fn n_eqns_deep(&self) -> usize {
        let inner = |eqn: &Eqn| eqn.params.jaxprs().iter().map(|jaxpr| jaxpr.n_eqns_deep()).sum::<usize>();
        self.eqns.iter().map(|eqn| 1 + inner(eqn)).sum()
    }
}

/// The name of a mapped axis, as collectives use it.
pub type AxisName = Arc<str>;

pub(crate) struct Shared {
    id: u64,
    pub(crate) jaxpr: Jaxpr,
    axis_names: OnceLock<Vec<AxisName>>,
}

/// A shared jaxpr; compares by identity.
#[derive(Clone)]
pub struct JaxprRef(pub(crate) Arc<Shared>);

impl JaxprRef {
    /// Shares a finished jaxpr.
    pub fn new(jaxpr: Jaxpr) -> JaxprRef {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        JaxprRef(Arc::new(Shared { id: NEXT.fetch_add(1, Ordering::Relaxed), jaxpr, axis_names: OnceLock::new() }))
    }

    /// Names of mapped axes that equations use and nothing inside binds.
    pub fn axis_names(&self) -> &[AxisName] {
        self.0.axis_names.get_or_init(|| {
            let mut all: Vec<AxisName> = self.eqns.iter().flat_map(|eqn| eqn.prim.axis_names(&eqn.params)).collect();
            all.sort();
            all.dedup();
            all
        })
    }

    /// A number that no other jaxpr of this process ever has.
    pub fn id(&self) -> u64 {
        self.0.id
    }
}

impl Deref for JaxprRef {
    type Target = Jaxpr;
    fn deref(&self) -> &Jaxpr {
        &self.0.jaxpr
    }
}

impl PartialEq for JaxprRef {
    fn eq(&self, other: &JaxprRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for JaxprRef {}

impl Hash for JaxprRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl fmt::Debug for JaxprRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
