//! Loops, choices and calls.

use super::*;
use crate::analysis::takes_long;

/// The iterations of a counted loop.
pub(super) struct Bounds {
    pub(super) start: Source,
    pub(super) end: Source,
    pub(super) step: i32,
    /// Whether there surely are any.
    pub(super) runs: bool,
}

impl<'a> Lower<'_, 'a> {
    pub(super) fn for_loop(&mut self, inner: &'a For) {
        let stands_free = !self.is_outlined && self.lanes.is_none();
        if inner.kind == LoopKind::Parallel && stands_free && self.shared.is_worth_sharing(inner) {
            self.shared_loop(inner);
        } else if stands_free && self.depth == 0 && self.shared.is_repeated(inner) {
            self.repeated_loop(inner);
        } else if inner.kind == LoopKind::Lanes && self.lanes.is_none() {
            self.lanes_loop(inner);
        } else {
            self.ordered_loop(inner);
        }
    }

    fn ordered_loop(&mut self, inner: &'a For) {
        let inits = self.flat(inner.carries.iter().map(|carry| (carry.init, carry.phi)));
        if let Extent::Const(n) = inner.n
            && n <= 1
        {
            let outs = if n == 1 { self.only_iteration(inner, &inits) } else { inits };
            return self.bind(inner.carries.iter().map(|carry| carry.out), &outs);
        }
        let variables: Vec<Reg> = inits.into_iter().map(|init| self.variable(init)).collect();
        let stands_free = self.depth == 0 && !self.is_outlined || takes_long(inner);
        let checks = inner.kind == LoopKind::Seq && self.lanes.is_none() && stands_free;
        let bounds = self.all_of(inner.n);
        self.depth += 1;
        self.counted(inner.id, &bounds, &inner.body, &variables, |me| {
            if checks {
                me.push(Inst::CheckInterrupt);
            }
            me.bind(inner.carries.iter().map(|carry| carry.phi), &variables);
            me.block(&inner.body);
            me.flat(inner.carries.iter().map(|carry| (carry.next, carry.phi)))
        });
        self.depth -= 1;
        self.bind(inner.carries.iter().map(|carry| carry.out), &variables);
    }

    fn only_iteration(&mut self, inner: &'a For, inits: &[Reg]) -> Vec<Reg> {
        self.bind(inner.carries.iter().map(|carry| carry.phi), inits);
        self.depth += 1;
        self.at_constant(inner.id, 0, |me| me.block(&inner.body));
        self.depth -= 1;
        self.flat(inner.carries.iter().map(|carry| (carry.next, carry.phi)))
    }

    /// Runs `body` with the counter of a loop at a number.
    pub(super) fn at_constant(&mut self, id: LoopId, number: i64, body: impl FnOnce(&mut Self)) {
        let outer = self.counters[id.index()].replace(Counter { reg: None, plus: number });
        body(self);
        self.counters[id.index()] = outer;
    }

    pub(super) fn all_of(&mut self, n: Extent) -> Bounds {
        let end = self.extent(n);
        Bounds { start: Source::Imm(0), end, step: 1, runs: matches!(n, Extent::Const(n) if n > 0) }
    }

    /// The registers of values, each in the form of the carry it goes to.
    pub(super) fn flat(&mut self, values: impl Iterator<Item = (ValueId, ValueId)>) -> Vec<Reg> {
        let mut regs = vec![];
        for (value, carry) in values {
            if !self.is_varying(carry) {
                regs.push(self.scalar(value));
            } else if self.dtype(value) == DType::Bool {
                regs.push(self.mask(value));
            } else {
                regs.extend(self.vector(value));
            }
        }
        regs
    }

    /// Names the registers that [`Lower::flat`] listed.
    pub(super) fn bind(&mut self, values: impl Iterator<Item = ValueId>, mut regs: &[Reg]) {
        for value in values {
            let (slot, n) = match (self.is_varying(value), self.dtype(value)) {
                (false, _) => (Slot::Scalar(regs[0]), 1),
                (true, DType::Bool) => (Slot::Mask(regs[0]), 1),
                (true, dtype) => {
                    let n = vector::n_parts(dtype);
                    (Slot::Vector(regs[..n].into()), n)
                }
            };
            self.set(value, slot);
            regs = &regs[n..];
        }
    }

    /// A loop whose test is at its end. `body` gives the next values of the variables.
    pub(super) fn counted(
        &mut self,
        id: LoopId,
        bounds: &Bounds,
        block: &[pullback_loops::Inst],
        variables: &[Reg],
        body: impl FnOnce(&mut Self) -> Vec<Reg>,
    ) {
        let counter = self.reg(Class::Int);
        match bounds.start {
            Source::Reg(start) => self.assign(counter, start),
            Source::Imm(start) => self.push_variable(Inst::Imm { dst: counter, value: start.into() }),
        }
        let (exit, head) = (self.label(), self.label());
        let floor = self.load_floor;
        let test = |cond| Test { cond, wide: true, x: counter, y: bounds.end };
        if !bounds.runs {
            self.push(Inst::Branch { test: test(Cond::GreaterEqual), label: exit });
            self.load_floor = self.scopes.len();
        }
        self.open_scope(&[block]);
        let start = self.start_loop(head, variables);
        self.regs[counter.index()].level = self.scopes.len() as u32;
        let outer = self.counters[id.index()].replace(Counter { reg: Some(counter), plus: 0 });
        let nexts = body(self);
        self.counters[id.index()] = outer;
        self.carry_over(variables, &nexts, start);
        let y = Source::Imm(bounds.step);
        self.push_variable(Inst::Alu { op: Alu::Add, wide: true, dst: counter, x: counter, y });
        self.push(Inst::Branch { test: test(Cond::Less), label: head });
        self.end_loop(variables);
        self.load_floor = floor;
        self.push(Inst::Bind(exit));
    }

    /// Opens a loop after its scope; gives the number of its first instruction.
    fn start_loop(&mut self, head: Label, variables: &[Reg]) -> u32 {
        self.push(Inst::LoopStart(head));
        variables.iter().for_each(|variable| self.regs[variable.index()].level = self.scopes.len() as u32);
        self.f.insts.len() as u32
    }

    fn end_loop(&mut self, variables: &[Reg]) {
        self.push(Inst::LoopEnd);
        self.close_scope();
        variables.iter().for_each(|variable| self.regs[variable.index()].level = self.scopes.len() as u32);
    }

    /// Gives the variables their next values, all at once. Where nobody needs a variable's old value when its next one
    /// is made, the two become one register.
    fn carry_over(&mut self, variables: &[Reg], nexts: &[Reg], start: u32) {
        let now = self.f.insts.len() as u32;
        nexts.iter().for_each(|next| self.regs[next.index()].read = now);
        let mut moves = vec![];
        for (&variable, &next) in variables.iter().zip(nexts) {
            if variable == next {
                continue;
            }
            if self.may_merge(variable, next, start) {
                self.f.merged.push((next, variable));
                // Not to be merged a second time.
                self.regs[next.index()].written = 0;
            } else {
                moves.push((variable, next));
            }
        }
        let is_overwritten = |reg: &Reg| moves.iter().any(|(variable, _)| variable == reg);
        if moves.iter().any(|(_, next)| is_overwritten(next)) {
            for (_, next) in &mut moves {
                let copy = self.reg(next.class());
                self.push_variable(Inst::Move { dst: copy, src: *next });
                *next = copy;
            }
        }
        moves.into_iter().for_each(|(variable, next)| self.assign(variable, next));
    }

    fn may_merge(&self, variable: Reg, next: Reg, start: u32) -> bool {
        let (next, variable) = (self.regs[next.index()], self.regs[variable.index()]);
        let Some(written) = next.written.checked_sub(1).filter(|&written| written >= start) else { return false };
        let is_early = self.f.insts[written as usize].is_early() && variable.read == written;
        variable.read <= written && !is_early
    }

    pub(super) fn while_loop(&mut self, inner: &'a While) {
        let inits = self.flat(inner.carries.iter().map(|carry| (carry.init, carry.phi)));
        let variables: Vec<Reg> = inits.into_iter().map(|init| self.variable(init)).collect();
        let (head, exit) = (self.label(), self.label());
        let floor = self.load_floor;
        self.open_scope(&[&inner.header, &inner.body]);
        let start = self.start_loop(head, &variables);
        self.bind(inner.carries.iter().map(|carry| carry.phi), &variables);
        // Nobody knows how often it runs, however deep it is.
        self.push(Inst::CheckInterrupt);
        self.depth += 1;
        self.block(&inner.header);
        let condition = self.scalar(inner.condition);
        self.push(Inst::Branch { test: Test { cond: Cond::Equal, ..holds(condition) }, label: exit });
        self.load_floor = self.scopes.len();
        self.block(&inner.body);
        let nexts = self.flat(inner.carries.iter().map(|carry| (carry.next, carry.phi)));
        self.carry_over(&variables, &nexts, start);
        self.depth -= 1;
        self.push(Inst::Jump(head));
        self.end_loop(&variables);
        self.load_floor = floor;
        self.push(Inst::Bind(exit));
        self.bind(inner.carries.iter().map(|carry| carry.out), &variables);
    }

    /// Runs `body`, which code may jump over.
    pub(super) fn conditional<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let floor = std::mem::replace(&mut self.load_floor, self.scopes.len());
        let result = body(self);
        self.load_floor = floor;
        result
    }

    pub(super) fn switch(&mut self, inner: &'a Switch) {
        let Some(last) = inner.branches.len().checked_sub(1) else { return };
        let index = self.scalar(inner.index);
        let exit = self.label();
        for (number, branch) in inner.branches.iter().enumerate() {
            let next = self.label();
            if number < last {
                // All below the first branch take it.
                let cond = if number == 0 { Cond::Greater } else { Cond::NotEqual };
                let test = Test { cond, wide: true, x: index, y: Source::Imm(number as i32) };
                self.push(Inst::Branch { test, label: next });
            }
            self.conditional(|me| me.block(branch));
            if number < last {
                self.push(Inst::Jump(exit));
            }
            self.push(Inst::Bind(next));
        }
        self.push(Inst::Bind(exit));
    }

    pub(super) fn kernel_call(&mut self, call: &Call) {
        self.with_frame(|me| me.framed_kernel_call(call));
    }

    fn framed_kernel_call(&mut self, call: &Call) {
        let pointers: Vec<Reg> = call.args.iter().map(|(buffer, addr)| self.address(*buffer, addr)).collect();
        let table = self.table(&pointers);
        let buffers = call.args.iter().map(|&(buffer, _)| buffer).collect();
        self.shared.kernels.push((call.kernel.clone(), buffers));
        let number = self.int(self.shared.kernels.len() as i64 - 1);
        let args = smallvec![self.context, number, table];
        self.push(Inst::CallHost { function: HostAddress::CallKernel, args });
    }

    /// Writes registers to cells of 8 bytes in the frame and gives their address.
    pub(super) fn table(&mut self, regs: &[Reg]) -> Reg {
        let offset = self.frame(8 * regs.len());
        for (number, &src) in regs.iter().enumerate() {
            let mem = Mem::frame(offset + 8 * number as i32);
            match src.class() {
                Class::Int => self.push(Inst::Store { size_bytes: 8, mem, src }),
                Class::Vector | Class::Mask => self.store_whole(Len::L128, true, mem, src),
            }
        }
        let dst = self.reg(Class::Int);
        self.push_at(self.scopes.len(), Inst::Lea { dst, mem: Mem::frame(offset) });
        dst
    }

    /// Fresh memory of the function.
    pub(super) fn frame(&mut self, size_bytes: usize) -> i32 {
        let start = self.frame_used;
        self.frame_used += (size_bytes as i32 + 63) & !63;
        self.f.frame_bytes = self.f.frame_bytes.max(self.frame_used);
        start
    }

    /// Runs `body`; the memory that it asked for is free again after what it emitted.
    pub(super) fn with_frame<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.frame_used;
        let result = body(self);
        self.frame_used = before;
        result
    }

    pub(super) fn swap(&mut self, x: BufferId, y: BufferId) {
        let places = [x, y].map(|buffer| Mem::at(self.context, self.buffer_entry(buffer)));
        let [first, second] = places.map(|mem| {
            let dst = self.reg(Class::Int);
            self.push(Inst::Load { size_bytes: 8, is_signed: false, dst, mem });
            dst
        });
        self.push(Inst::Store { size_bytes: 8, mem: places[0], src: second });
        self.push(Inst::Store { size_bytes: 8, mem: places[1], src: first });
    }

    fn buffer_entry(&self, buffer: BufferId) -> i32 {
        host::buffer_entry(self.program, buffer) as i32 * 8
    }
}
