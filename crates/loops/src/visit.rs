//! What an operation reads: its operands and the loops its addresses count by.

use crate::program::{Addr, Binary, Carry, Inst, LoopId, Op, Unary, ValueId};

impl Op {
    /// Calls `visit` with each value that the operation itself reads; blocks inside are not entered, but what a
    /// structured operation needs before it starts (initial values, the index of a switch) counts.
    pub fn for_each_operand(&self, mut visit: impl FnMut(ValueId)) {
        match self {
            Op::Const(_) | Op::Index(_) | Op::Size(_) | Op::Swap(..) => {}
            Op::Unary(_, x) | Op::Convert(_, x) | Op::Bitcast(_, x) | Op::Round(_, x) | Op::Lookup(_, x) => visit(*x),
            Op::Binary(_, x, y) | Op::Compare(_, x, y) => [*x, *y].into_iter().for_each(visit),
            Op::Fma(x, y, z) | Op::Select(x, y, z) => [*x, *y, *z].into_iter().for_each(visit),
            Op::Load(_, addr) => addr.offset.into_iter().for_each(visit),
            Op::Store(_, addr, value) => {
                addr.offset.into_iter().for_each(&mut visit);
                visit(*value);
            }
            Op::For(inner) => inner.carries.iter().for_each(|carry| visit(carry.init)),
            Op::While(inner) => inner.carries.iter().for_each(|carry| visit(carry.init)),
            Op::Switch(inner) => visit(inner.index),
            Op::Call(call) => call.args.iter().filter_map(|(_, addr)| addr.offset).for_each(visit),
        }
    }

    /// The addresses of the operation itself.
    pub fn addrs(&self) -> impl Iterator<Item = &Addr> {
        let (one, many): (Option<&Addr>, &[_]) = match self {
            Op::Load(_, addr) | Op::Store(_, addr, _) => (Some(addr), &[]),
            Op::Call(call) => (None, &call.args),
            _ => (None, &[]),
        };
        one.into_iter().chain(many.iter().map(|(_, addr)| addr))
    }

    /// The blocks inside the operation, in order.
    pub fn blocks(&self) -> Vec<&[Inst]> {
        match self {
            Op::For(inner) => vec![&inner.body],
            Op::While(inner) => vec![&inner.header, &inner.body],
            Op::Switch(inner) => inner.branches.iter().map(Vec::as_slice).collect(),
            _ => vec![],
        }
    }

    /// The values that blocks inside hand to the operation, which count as read at their end.
    pub fn for_each_yield(&self, mut visit: impl FnMut(ValueId)) {
        match self {
            Op::For(inner) => inner.carries.iter().for_each(|carry| visit(carry.next)),
            Op::While(inner) => {
                visit(inner.condition);
                inner.carries.iter().for_each(|carry| visit(carry.next));
            }
            _ => {}
        }
    }

    /// Replaces each value that [`Op::for_each_operand`] visits.
    pub fn map_operands(&mut self, map: impl Fn(ValueId) -> ValueId) {
        let change = |value: &mut ValueId| *value = map(*value);
        let change_inits = |carries: &mut Vec<Carry>| carries.iter_mut().for_each(|carry| change(&mut carry.init));
        match self {
            Op::Const(_) | Op::Index(_) | Op::Size(_) | Op::Swap(..) => {}
            Op::Unary(_, x) | Op::Convert(_, x) | Op::Bitcast(_, x) | Op::Round(_, x) | Op::Lookup(_, x) => change(x),
            Op::Binary(_, x, y) | Op::Compare(_, x, y) => [x, y].into_iter().for_each(change),
            Op::Fma(x, y, z) | Op::Select(x, y, z) => [x, y, z].into_iter().for_each(change),
            Op::Load(_, addr) => addr.offset.iter_mut().for_each(change),
            Op::Store(_, addr, value) => {
                addr.offset.iter_mut().for_each(change);
                change(value);
            }
            Op::For(inner) => change_inits(&mut inner.carries),
            Op::While(inner) => change_inits(&mut inner.carries),
            Op::Switch(inner) => change(&mut inner.index),
            Op::Call(call) => call.args.iter_mut().filter_map(|(_, addr)| addr.offset.as_mut()).for_each(change),
        }
    }

    /// Replaces each value that [`Op::for_each_yield`] visits.
    pub fn map_yields(&mut self, map: impl Fn(ValueId) -> ValueId) {
        let change = |value: &mut ValueId| *value = map(*value);
        match self {
            Op::For(inner) => inner.carries.iter_mut().for_each(|carry| change(&mut carry.next)),
            Op::While(inner) => {
                change(&mut inner.condition);
                inner.carries.iter_mut().for_each(|carry| change(&mut carry.next));
            }
            _ => {}
        }
    }

    /// The blocks inside the operation, in order, to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Inst>> {
        match self {
            Op::For(inner) => vec![&mut inner.body],
            Op::While(inner) => vec![&mut inner.header, &mut inner.body],
            Op::Switch(inner) => inner.branches.iter_mut().collect(),
            _ => vec![],
        }
    }

    /// Whether the operation must be expanded before it can run.
    pub fn is_symbolic(&self) -> bool {
        match self {
            Op::Unary(op, _) => op.is_symbolic(),
            Op::Binary(op, ..) => matches!(op, Binary::Pow | Binary::Atan2),
            _ => false,
        }
    }
}

impl Unary {
    /// Whether the operation must be expanded before it can run.
    pub fn is_symbolic(self) -> bool {
        self as u8 >= Unary::Exp as u8
    }
}

impl Addr {
    /// Whether the address moves with the counter of `id` by affine stride.
    pub fn counts_by(&self, id: LoopId) -> bool {
        self.terms.iter().any(|&(term, _)| term == id)
    }
}

/// Calls `visit` with every instruction of a block and of the blocks inside, outer ones first.
pub fn for_each_inst<'a>(block: &'a [Inst], visit: &mut dyn FnMut(&'a Inst)) {
    for inst in block {
        visit(inst);
        for inner in inst.op.blocks() {
            for_each_inst(inner, visit);
        }
    }
}
