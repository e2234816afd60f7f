//! Loops that become functions of their own, and what such a function takes from outside.

use pullback_base::Scalar;
use pullback_loops::*;
use rustc_hash::FxHashSet;

/// Operations from which on a loop is shared, if the options name no other: about what waking a thread costs.
pub(crate) const SHARED_WORK: i64 = 1 << 16;
/// Iterations that a loop of unknown length counts for.
const UNKNOWN_LENGTH: i64 = 1 << 10;

/// A loop that is a function of its own, and what it takes from outside.
#[derive(Clone)]
pub(crate) struct Outlined<'a> {
    pub(crate) inner: &'a For,
    pub(crate) constants: Vec<(ValueId, Scalar)>,
    pub(crate) values: Vec<ValueId>,
    pub(crate) counters: Vec<LoopId>,
    /// Buffers whose pointers it takes, when its code serves all loops like it.
    pub(crate) buffers: Vec<BufferId>,
    /// Whether it is the whole loop, called once, rather than a range that threads share.
    pub(crate) is_whole: bool,
}

/// What the body of a loop reads that is made outside of it.
pub(crate) fn captures<'a>(inner: &'a For, constant: impl Fn(ValueId) -> Option<Scalar>) -> Outlined<'a> {
    let mut outlined =
        Outlined { inner, constants: vec![], values: vec![], counters: vec![], buffers: vec![], is_whole: false };
    let mut made: FxHashSet<ValueId> = FxHashSet::default();
    let mut opened: FxHashSet<LoopId> = [inner.id].into_iter().collect();
    let (mut read, mut counted) = (vec![], vec![]);
    for_each_inst(&inner.body, &mut |inst| {
        if inst.op.has_value() {
            made.insert(inst.dst);
        }
        let carries = match &inst.op {
            Op::For(inner) => {
                opened.insert(inner.id);
                &inner.carries[..]
            }
            Op::While(inner) => &inner.carries,
            _ => &[],
        };
        for carry in carries {
            made.extend([carry.phi, carry.out]);
        }
        inst.op.for_each_operand(|value| read.push(value));
        inst.op.for_each_yield(|value| read.push(value));
        counted.extend(inst.op.addrs().flat_map(|addr| addr.terms.iter().map(|&(id, _)| id)));
        if let Op::Index(id) = inst.op {
            counted.push(id);
        }
    });
    for value in read {
        if made.insert(value) {
            match constant(value) {
                Some(scalar) => outlined.constants.push((value, scalar)),
                None => outlined.values.push(value),
            }
        }
    }
    for id in counted {
        if opened.insert(id) {
            outlined.counters.push(id);
        }
    }
    outlined
}

pub(crate) fn known_length(extent: Extent) -> i64 {
    match extent {
        Extent::Const(n) => n,
        Extent::Size(_) => UNKNOWN_LENGTH,
    }
}

/// Whether a loop has so many iterations that it must look at the interrupt flag even inside of others.
pub(crate) fn takes_long(inner: &For) -> bool {
    const LONG: i64 = 1 << 20;
    known_length(inner.n) >= LONG
}

/// Operations that one run of a block does, roughly.
pub(crate) fn work_of(block: &[Inst]) -> i64 {
    let work = |inst: &Inst| match &inst.op {
        Op::Const(_) | Op::Index(_) | Op::Size(_) => 0,
        Op::For(inner) => work_of(&inner.body).saturating_mul(known_length(inner.n)),
        Op::While(inner) => work_of(&inner.header).saturating_add(work_of(&inner.body)).saturating_mul(UNKNOWN_LENGTH),
        Op::Switch(inner) => inner.branches.iter().map(|branch| work_of(branch)).max().unwrap_or(0),
        Op::Call(call) => match &call.kernel {
            Kernel::Gemm(gemm) => gemm.sizes.iter().fold(1, |work: i64, &size| work.saturating_mul(size as i64)),
            Kernel::Sort(_) | Kernel::Copy(_) | Kernel::Host(..) | Kernel::Body(..) => UNKNOWN_LENGTH,
        },
        _ => 1,
    };
    block.iter().map(work).fold(0, i64::saturating_add)
}
