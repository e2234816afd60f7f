//! `Parallel` loops that threads share: their bodies become functions of a range.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use pullback_base::{Result, Scalar};
use pullback_loops::*;

use super::alike::Likeness;
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
    /// Buffers whose pointers it takes, when its code serves all loops like it.
    buffers: Vec<BufferId>,
    /// Whether it is the whole loop, called once, rather than a range that threads share.
    is_whole: bool,
}

impl<'a> Emitter<'_, 'a, '_> {
    pub(super) fn is_worth_sharing(&self, inner: &For) -> bool {
        let n = known_length(inner.n);
        !self.is_outlined
            && self.lanes.is_none()
            && n > 1
            && work_of(&inner.body).saturating_mul(n) >= self.shared.shared_work
    }

    /// Whether the loop stands by itself and others of the program are like it.
    pub(super) fn is_repeated(&self, inner: &For) -> bool {
        let stands_alone = !self.is_outlined && self.depth == 0 && self.lanes.is_none() && inner.carries.is_empty();
        stands_alone
            && self.shared.has_repeats
            && Likeness::of(self.program, inner)
                .key(&[], &[], &[])
                .is_some_and(|key| self.shared.repeats.get(&key).is_some_and(|&count| count > 1))
    }

    /// Whether each iteration looks at the interrupt flag: of an outermost loop, and of one that alone takes long.
    pub(super) fn is_interruptible(&self, inner: &For) -> bool {
        const LONG: i64 = 1 << 20;
        self.depth == 0 && !self.is_outlined || known_length(inner.n) >= LONG
    }

    pub(super) fn shared_loop(&mut self, inner: &'a For) -> Result<()> {
        let (number, captured) = self.outline(inner, false);
        let function = (self.declare)(self.fb.func, number)?;
        let function = self.fb.ins().func_addr(types::I64, function);
        let n = self.extent(inner.n);
        self.host_call(host::share as *const u8, &[self.context, function, captured, n]);
        Ok(())
    }

    /// Calls the function of a whole loop.
    pub(super) fn repeated_loop(&mut self, inner: &'a For) -> Result<()> {
        let (number, captured) = self.outline(inner, true);
        let function = (self.declare)(self.fb.func, number)?;
        let zero = self.int(0);
        let call = self.fb.ins().call(function, &[self.context, captured, zero, zero]);
        let status = self.fb.inst_results(call)[0];
        self.leave_if(status, status);
        Ok(())
    }

    /// The number of the function for a loop, and where what it captures stands. Loops alike have one function.
    fn outline(&mut self, inner: &'a For, is_whole: bool) -> (usize, Value) {
        let mut outlined = self.captures(inner);
        outlined.is_whole = is_whole;
        let likeness = Likeness::of(self.program, inner);
        let buffers = likeness.order.clone();
        let key = likeness.key(&outlined.constants, &outlined.values, &outlined.counters);
        let mut registers: Vec<Value> = outlined.values.iter().map(|&value| self.scalar(value)).collect();
        registers.extend(outlined.counters.iter().map(|&id| self.counter(id)));
        if key.is_some() {
            registers.extend(buffers.iter().map(|&buffer| self.buffer_pointer(buffer)));
            outlined.buffers = buffers;
        }
        let captured = self.spill(&registers);
        let next = self.shared.outlined.len();
        let key = key.map(|key| format!("{is_whole} {key}"));
        let number = key.map_or(next, |key| *self.shared.alike.entry(key).or_insert(next));
        if number == next {
            self.shared.outlined.push(outlined);
        }
        (number, captured)
    }

    /// What the body reads that is made outside of it.
    fn captures(&self, inner: &'a For) -> Outlined<'a> {
        let mut outlined =
            Outlined { inner, constants: vec![], values: vec![], counters: vec![], buffers: vec![], is_whole: false };
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
        let first_pointer = outlined.values.len() + outlined.counters.len();
        for (number, &buffer) in outlined.buffers.iter().enumerate() {
            let at = (first_pointer + number) as i32 * 8;
            self.pointers[buffer.index()] = Some(self.fb.ins().load(types::I64, loads(), captured, at));
        }
        let inner = outlined.inner;
        if outlined.buffers.is_empty() {
            self.cache_pointers(&inner.body);
        } else {
            self.has_pointers = true;
        }
        if outlined.is_whole {
            self.for_loop(inner)?;
            self.end(target);
            return Ok(());
        }
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
pub(crate) fn work_of(block: &[Inst]) -> i64 {
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
