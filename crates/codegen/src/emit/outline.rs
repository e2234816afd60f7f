//! `Parallel` loops that threads share: their bodies become functions of a range.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use pullback_base::{Result, Scalar};
use pullback_loops::*;

use super::{Counter, Emitter, Slot, loads, scalar_type};
use crate::host;

/// Operations from which on a loop is shared, if the options name no other: about what waking a thread costs.
pub(crate) const SHARED_WORK: i64 = 1 << 16;
/// Iterations that a loop of unknown length counts for.
const UNKNOWN_LENGTH: i64 = 1 << 10;

/// A loop that is a function of its own, and what it takes from outside.
pub(crate) struct Outlined<'a> {
    pub(crate) inner: &'a For,
    constants: Vec<(ValueId, Scalar)>,
    values: Vec<ValueId>,
    counters: Vec<LoopId>,
}

impl<'a> Emitter<'_, 'a, '_> {
    pub(super) fn is_worth_sharing(&self, inner: &For) -> bool {
        let n = known_length(inner.n);
        !self.is_outlined
            && self.lanes.is_none()
            && n > 1
            && work_of(&inner.body).saturating_mul(n) >= self.shared.shared_work
    }

    pub(super) fn shared_loop(&mut self, inner: &'a For) -> Result<()> {
        let outlined = self.captures(inner);
        let mut registers: Vec<Value> = outlined.values.iter().map(|&value| self.scalar(value)).collect();
        registers.extend(outlined.counters.iter().map(|&id| self.counter(id)));
        let captured = self.spill(&registers);
        let number = self.shared.outlined.len();
        self.shared.outlined.push(outlined);
        let function = (self.declare)(self.fb.func, number)?;
        let function = self.fb.ins().func_addr(types::I64, function);
        let n = self.extent(inner.n);
        self.host_call(host::share as *const u8, &[self.context, function, captured, n]);
        Ok(())
    }

    /// What the body reads that is made outside of it.
    fn captures(&self, inner: &'a For) -> Outlined<'a> {
        let mut outlined = Outlined { inner, constants: vec![], values: vec![], counters: vec![] };
        let mut made = vec![false; self.program.values.len()];
        let mut opened = vec![false; self.program.n_loops as usize];
        opened[inner.id.index()] = true;
        let (mut read, mut counted) = (vec![], vec![]);
        for_each_inst(&inner.body, &mut |inst| {
            if inst.op.has_value() {
                made[inst.dst.index()] = true;
            }
            let carries = match &inst.op {
                Op::For(inner) => {
                    opened[inner.id.index()] = true;
                    &inner.carries[..]
                }
                Op::While(inner) => &inner.carries,
                _ => &[],
            };
            for carry in carries {
                made[carry.phi.index()] = true;
                made[carry.out.index()] = true;
            }
            inst.op.for_each_operand(|value| read.push(value));
            inst.op.for_each_yield(|value| read.push(value));
            counted.extend(inst.op.addrs().flat_map(|addr| addr.terms.iter().map(|&(id, _)| id)));
            if let Op::Index(id) = inst.op {
                counted.push(id);
            }
        });
        for value in read {
            if !std::mem::replace(&mut made[value.index()], true) {
                match &self.slots[value.index()] {
                    Slot::Const(scalar) => outlined.constants.push((value, *scalar)),
                    _ => outlined.values.push(value),
                }
            }
        }
        for id in counted {
            if !std::mem::replace(&mut opened[id.index()], true) {
                outlined.counters.push(id);
            }
        }
        outlined
    }

    /// Emits the function of a shared loop: context, captured values, start and end.
    pub(crate) fn outlined_function(mut self, outlined: &Outlined<'a>, target: TargetFrontendConfig) -> Result<()> {
        self.is_outlined = true;
        let entry = self.fb.current_block().expect("the entry block");
        let [captured, start, end] = [1, 2, 3].map(|number| self.fb.block_params(entry)[number]);
        for &(value, scalar) in &outlined.constants {
            self.set(value, Slot::Const(scalar));
        }
        for (number, &value) in outlined.values.iter().enumerate() {
            let ty = scalar_type(self.dtype(value));
            let register = self.fb.ins().load(ty, loads(), captured, number as i32 * 8);
            self.set(value, Slot::Scalar(register));
        }
        for (number, &id) in outlined.counters.iter().enumerate() {
            let at = (outlined.values.len() + number) as i32 * 8;
            let value = self.fb.ins().load(types::I64, loads(), captured, at);
            self.counters[id.index()] = Some(Counter { value, plus: 0 });
        }
        let inner = outlined.inner;
        self.cache_pointers(&inner.body);
        self.counted(inner.id, [start, end], 1, Extent::Size(0), &[], |me, _| {
            me.block(&inner.body)?;
            Ok(vec![])
        })?;
        self.end(target);
        Ok(())
    }
}

fn known_length(extent: Extent) -> i64 {
    match extent {
        Extent::Const(n) => n,
        Extent::Size(_) => UNKNOWN_LENGTH,
    }
}

/// Operations that one run of a block does, roughly.
fn work_of(block: &[Inst]) -> i64 {
    let work = |inst: &Inst| match &inst.op {
        Op::Const(_) | Op::Index(_) | Op::Size(_) => 0,
        Op::For(inner) => work_of(&inner.body).saturating_mul(known_length(inner.n)),
        Op::While(inner) => work_of(&inner.header).saturating_add(work_of(&inner.body)).saturating_mul(UNKNOWN_LENGTH),
        Op::Switch(inner) => inner.branches.iter().map(|branch| work_of(branch)).max().unwrap_or(0),
        Op::Call(_) => UNKNOWN_LENGTH,
        _ => 1,
    };
    block.iter().map(work).fold(0, i64::saturating_add)
}
