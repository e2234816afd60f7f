//! What both code generators ask of a program before they make code: which loops run in lanes, which threads share,
//! which are alike.
//!
//! It knows no registers and no instructions.

mod alike;
mod lanes;
mod outline;

use pullback_base::Scalar;
use pullback_loops::*;
use rustc_hash::{FxHashMap, FxHashSet};

use alike::{Likeness, Words};
pub(crate) use lanes::{Varying, unroll_of, varying_values};
use outline::captures;
pub(crate) use outline::{Outlined, takes_long, work_of};

use crate::executable::CalledKernel;

/// As work from which on threads share a loop: none do, no loop is used twice, and the program is one function.
pub(crate) const NEVER_SHARED: i64 = i64::MAX;

/// What the functions of a program share.
pub(crate) struct Shared<'a> {
    pub(crate) program: &'a Program,
    /// Buffers that some instruction swaps: their pointers change.
    #[cfg_attr(not(feature = "cranelift"), allow(dead_code, reason = "our own emitter keeps track of swaps itself"))]
    pub(crate) swapped: Vec<bool>,
    /// Kernels that calls refer to by number.
    pub(crate) kernels: Vec<CalledKernel>,
    /// Loops to be emitted as functions of their own.
    pub(crate) outlined: Vec<Outlined<'a>>,
    /// The number of the outlined loop that serves all loops of one likeness.
    alike: FxHashMap<(bool, Words), usize>,
    /// Outermost loops that others of the program are like.
    repeated: FxHashSet<LoopId>,
    /// Operations from which on threads share a loop.
    shared_work: i64,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(program: &'a Program, shared_work: Option<i64>) -> Shared<'a> {
        let mut swapped = vec![false; program.buffers.len()];
        for_each_inst(&program.body, &mut |inst| {
            if let Op::Swap(x, y) = inst.op {
                swapped[x.index()] = true;
                swapped[y.index()] = true;
            }
        });
        let shared_work = shared_work.unwrap_or(outline::SHARED_WORK);
        let groups = if shared_work == NEVER_SHARED { vec![] } else { alike::groups(program) };
        let repeated = groups.into_iter().filter(|group| group.len() > 1).flatten().collect();
        let (kernels, outlined, alike) = (vec![], vec![], FxHashMap::default());
        Shared { program, swapped, kernels, outlined, alike, repeated, shared_work }
    }

    /// Whether threads should share a loop that stands outside of lanes and of other shared loops.
    pub(crate) fn is_worth_sharing(&self, inner: &For) -> bool {
        let n = outline::known_length(inner.n);
        n > 1 && self.shared_work != NEVER_SHARED && outline::work_of(&inner.body).saturating_mul(n) >= self.shared_work
    }

    /// Whether other outermost loops of the program are like this outermost one.
    pub(crate) fn is_repeated(&self, inner: &For) -> bool {
        inner.carries.is_empty() && self.repeated.contains(&inner.id)
    }

    /// The number of the function for a loop, and the loop with what it takes. Loops alike have one function.
    /// `constant` says which values from outside are known.
    pub(crate) fn outline(
        &mut self,
        inner: &'a For,
        is_whole: bool,
        constant: impl Fn(ValueId) -> Option<Scalar>,
    ) -> (usize, Outlined<'a>) {
        let mut outlined = captures(inner, constant);
        outlined.is_whole = is_whole;
        let likeness = Likeness::of(self.program, inner);
        let buffers = likeness.order.clone();
        let key = likeness.key(&outlined.constants, &outlined.values, &outlined.counters);
        if key.is_some() {
            outlined.buffers = buffers;
        }
        let next = self.outlined.len();
        let number = key.map_or(next, |key| *self.alike.entry((is_whole, key)).or_insert(next));
        if number == next {
            self.outlined.push(outlined.clone());
        }
        (number, outlined)
    }
}
