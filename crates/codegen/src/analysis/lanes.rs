//! Which values of a loop's body differ from lane to lane, and whether the body can run in lanes.

use pullback_loops::*;
use rustc_hash::FxHashSet;

/// Values that differ from lane to lane. A set, not a table: a program has many loops, and each has few of its values.
pub(crate) type Varying = FxHashSet<ValueId>;

/// The values that vary over the lanes of a loop; `None` when the body must run one iteration at a time.
pub(crate) fn varying_values(inner: &For) -> Option<Varying> {
    let varying = inner.carries.iter().flat_map(|carry| [carry.phi, carry.next]).collect();
    let mut analysis = Analysis { id: inner.id, varying, changed: true };
    while analysis.changed {
        analysis.changed = false;
        if !analysis.block(&inner.body) {
            return None;
        }
    }
    Some(analysis.varying)
}

struct Analysis {
    id: LoopId,
    varying: Varying,
    changed: bool,
}

impl Analysis {
    fn mark(&mut self, value: ValueId, varies: bool) {
        if varies {
            self.changed |= self.varying.insert(value);
        }
    }

    /// Whether an address moves with the lanes.
    fn moves(&self, addr: &Addr) -> bool {
        let step: i64 = addr
            .terms
            .iter()
            .filter(|&&(id, _)| id == self.id)
            .map(|&(_, stride)| match stride {
                Extent::Const(stride) => stride,
                Extent::Size(_) => 1,
            })
            .sum();
        step != 0 || addr.offset.is_some_and(|offset| self.varying.contains(&offset))
    }

    /// Marks what varies; false when something cannot run in lanes.
    fn block(&mut self, block: &[Inst]) -> bool {
        block.iter().all(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Store(_, addr, _) => self.moves(addr),
            Op::Load(_, addr) => {
                let moves = self.moves(addr);
                self.mark(inst.dst, moves);
                true
            }
            Op::Index(id) => {
                let is_lane = *id == self.id;
                self.mark(inst.dst, is_lane);
                true
            }
            Op::For(inner) => inner.kind != LoopKind::Lanes && self.inner_loop(inner),
            Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => false,
            op => {
                let mut varies = false;
                op.for_each_operand(|operand| varies |= self.varying.contains(&operand));
                self.mark(inst.dst, varies);
                true
            }
        }
    }

    fn inner_loop(&mut self, inner: &For) -> bool {
        for carry in &inner.carries {
            let varies = [carry.init, carry.phi, carry.next].iter().any(|value| self.varying.contains(value));
            self.mark(carry.phi, varies);
            self.mark(carry.out, varies);
        }
        self.block(&inner.body)
    }
}

/// How many groups a step without carries handles.
pub(crate) fn unroll_of(body: &[Inst]) -> usize {
    let mut n_insts = 0;
    let mut has_loop = false;
    for_each_inst(body, &mut |inst| {
        n_insts += usize::from(!matches!(inst.op, Op::Const(_)));
        has_loop |= matches!(inst.op, Op::For(_));
    });
    match n_insts {
        _ if has_loop => 1,
        0..=8 => 4,
        9..=20 => 2,
        _ => 1,
    }
}
