//! From a program's blocks to Cranelift's functions.
//!
//! [`Emitter`] walks one function's blocks. A value is a constant, a scalar, or, inside a vectorized `Lanes` loop, a
//! group of [`GROUP`] lanes held in 128-bit registers ([`Slot`]). Structure is here; arithmetic is in [`scalar`] and
//! [`vector`], memory in [`memory`], `Lanes` loops in [`lanes`], loops that threads share in [`outline`].

mod half_width;
mod lanes;
mod memory;
mod module;
mod outline;
mod scalar;
mod vector;

use cranelift_codegen::ir::{
    self, AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, Signature, Value, condcodes::IntCC, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use pullback_base::{DType, Result, Scalar};
use pullback_loops::*;
use smallvec::{SmallVec, smallvec};

use crate::analysis::Shared;
pub(crate) use module::compile;
use pullback_native as host;

/// Lanes that one step of a vectorized loop handles together.
pub(crate) const GROUP: usize = 4;

/// Registers of one group.
pub(crate) type Parts = SmallVec<[Value; 2]>;

/// Where a value is.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Empty,
    /// Made anew at each use.
    Const(Scalar),
    /// The same for all lanes.
    Scalar(Value),
    /// One for each lane: one register, or two of a 64-bit type.
    Vector(Parts),
    /// Booleans of lanes, all bits of a lane alike: one register of 32-bit lanes, or two of 64-bit lanes.
    Mask(Parts),
}

/// A loop counter: a register and a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    value: Value,
    plus: i64,
}

/// The vectorized loop that is being emitted.
#[derive(Clone)]
pub(crate) struct LaneScope {
    id: LoopId,
    /// Which values differ from lane to lane.
    varying: std::rc::Rc<crate::analysis::Varying>,
}

pub(crate) struct Emitter<'s, 'a, 'f> {
    pub(crate) fb: FunctionBuilder<'f>,
    pub(crate) shared: &'s mut Shared<'a>,
    call_conv: CallConv,
    pub(crate) program: &'a Program,
    slots: Vec<Slot>,
    counters: Vec<Option<Counter>>,
    /// The table of the run: see [`host`].
    context: Value,
    /// Returns its parameter.
    leave: Block,
    lanes: Option<LaneScope>,
    /// Open ordered loops in this function.
    depth: usize,
    /// Whether this function is the body of a loop that threads share.
    is_outlined: bool,
    /// Pointers of swapped buffers inside a loop that swaps nothing.
    pointers: Vec<Option<Value>>,
    has_pointers: bool,
    /// Declares an outlined function in the function being built.
    declare: &'s mut dyn FnMut(&mut ir::Function, usize) -> Result<ir::FuncRef>,
}

pub(crate) fn loads() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn constants() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

pub(crate) fn bits() -> MemFlagsData {
    MemFlagsData::new().with_endianness(ir::Endianness::Little)
}

/// The register type of a scalar.
pub(crate) fn scalar_type(dtype: DType) -> ir::Type {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => types::F32,
        DType::F64 => types::F64,
        other => match other.size_bytes() {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        },
    }
}

impl<'s, 'a, 'f> Emitter<'s, 'a, 'f> {
    /// An emitter at the start of a function whose first parameter is the context.
    pub(crate) fn new(
        mut fb: FunctionBuilder<'f>,
        shared: &'s mut Shared<'a>,
        call_conv: CallConv,
        declare: &'s mut dyn FnMut(&mut ir::Function, usize) -> Result<ir::FuncRef>,
    ) -> Emitter<'s, 'a, 'f> {
        let entry = fb.create_block();
        fb.append_block_params_for_function_params(entry);
        fb.switch_to_block(entry);
        let context = fb.block_params(entry)[0];
        let leave = fb.create_block();
        fb.append_block_param(leave, types::I32);
        fb.set_cold_block(leave);
        let program = shared.program;
        Emitter {
            slots: vec![Slot::Empty; program.values.len()],
            counters: vec![None; program.n_loops as usize],
            pointers: vec![None; program.buffers.len()],
            has_pointers: false,
            call_conv,
            fb,
            shared,
            program,
            context,
            leave,
            lanes: None,
            depth: 0,
            is_outlined: false,
            declare,
        }
    }

    /// Emits the whole function.
    pub(crate) fn function(
        mut self,
        body: &'a [Inst],
        target: cranelift_codegen::isa::TargetFrontendConfig,
    ) -> Result<()> {
        self.block(body)?;
        self.end(target);
        Ok(())
    }

    fn end(mut self, target: cranelift_codegen::isa::TargetFrontendConfig) {
        let done = self.fb.ins().iconst(types::I32, i64::from(host::DONE));
        self.fb.ins().return_(&[done]);
        self.fb.switch_to_block(self.leave);
        let status = self.fb.block_params(self.leave)[0];
        self.fb.ins().return_(&[status]);
        self.fb.seal_all_blocks();
        self.fb.finalize(target);
    }

    fn dtype(&self, value: ValueId) -> DType {
        self.program.values[value.index()]
    }

    fn set(&mut self, value: ValueId, slot: Slot) {
        self.slots[value.index()] = slot;
    }

    fn is_varying(&self, value: ValueId) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.varying.contains(&value))
    }

    /// The register of a value that is the same for all lanes.
    pub(crate) fn scalar(&mut self, value: ValueId) -> Value {
        match self.slots[value.index()].clone() {
            Slot::Const(scalar) => self.scalar_constant(scalar),
            Slot::Scalar(register) => register,
            slot => unreachable!("v{} is {slot:?}, not a scalar", value.0),
        }
    }

    fn scalar_constant(&mut self, scalar: Scalar) -> Value {
        let bits = scalar.to_bits() as u64;
        match scalar_type(scalar.dtype()) {
            types::F32 => self.fb.ins().f32const(f32::from_bits(bits as u32)),
            types::F64 => self.fb.ins().f64const(f64::from_bits(bits)),
            ty => {
                let spare = 64 - ty.bits();
                self.fb.ins().iconst(ty, (bits << spare) as i64 >> spare)
            }
        }
    }

    pub(crate) fn int(&mut self, value: i64) -> Value {
        self.fb.ins().iconst(types::I64, value)
    }

    /// A number of the run's table.
    fn context_entry(&mut self, index: usize) -> Value {
        self.fb.ins().load(types::I64, constants(), self.context, index as i32 * 8)
    }

    pub(crate) fn extent(&mut self, extent: Extent) -> Value {
        match extent {
            Extent::Const(n) => self.int(n),
            Extent::Size(number) => self.context_entry(host::size_entry(number)),
        }
    }

    pub(crate) fn counter(&mut self, id: LoopId) -> Value {
        let counter = self.counters[id.index()].expect("the verifier saw the loop open");
        if counter.plus == 0 { counter.value } else { self.fb.ins().iadd_imm_s(counter.value, counter.plus) }
    }

    pub(crate) fn block(&mut self, block: &'a [Inst]) -> Result<()> {
        block.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &'a Inst) -> Result<()> {
        match &inst.op {
            Op::Const(scalar) => self.set(inst.dst, Slot::Const(*scalar)),
            Op::Store(buffer, addr, value) => self.store(*buffer, addr, *value),
            Op::Load(buffer, addr) => {
                let slot = self.load(*buffer, addr);
                self.set(inst.dst, slot);
            }
            Op::For(inner) => self.for_loop(inner)?,
            Op::While(inner) => self.while_loop(inner)?,
            Op::Switch(inner) => self.switch(inner)?,
            Op::Call(call) => self.kernel_call(call),
            Op::Swap(x, y) => self.swap(*x, *y),
            Op::Index(_)
            | Op::Size(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bitcast(..)
            | Op::Round(..)
            | Op::Lookup(..) => {
                let slot = if self.is_varying(inst.dst) { self.varying_value(inst) } else { self.uniform_value(inst) };
                self.set(inst.dst, slot);
            }
        }
        Ok(())
    }

    fn uniform_value(&mut self, inst: &Inst) -> Slot {
        let mut args: SmallVec<[Value; 3]> = smallvec![];
        inst.op.for_each_operand(|operand| args.push(self.scalar(operand)));
        Slot::Scalar(self.scalar_op(&inst.op, &args))
    }

    fn for_loop(&mut self, inner: &'a For) -> Result<()> {
        let cached = self.cache_pointers(&inner.body);
        match inner.kind {
            LoopKind::Parallel if self.is_worth_sharing(inner) => self.shared_loop(inner)?,
            _ if self.is_repeated(inner) => self.repeated_loop(inner)?,
            LoopKind::Lanes if self.lanes.is_none() => self.lanes_loop(inner)?,
            LoopKind::Seq | LoopKind::Lanes | LoopKind::Parallel => self.ordered_loop(inner)?,
        }
        if cached {
            self.has_pointers = false;
            self.pointers.fill(None);
        }
        Ok(())
    }

    fn ordered_loop(&mut self, inner: &'a For) -> Result<()> {
        let (start, end) = (self.int(0), self.extent(inner.n));
        let inits = self.flat(inner.carries.iter().map(|carry| (carry.init, carry.phi)));
        let checks = inner.kind == LoopKind::Seq && self.lanes.is_none() && self.is_interruptible(inner);
        self.depth += 1;
        let outs = self.counted(inner.id, [start, end], 1, inner.n, &inits, |me, phis| {
            if checks {
                me.check_interrupt();
            }
            me.bind(inner.carries.iter().map(|carry| carry.phi), phis);
            me.block(&inner.body)?;
            Ok(me.flat(inner.carries.iter().map(|carry| (carry.next, carry.phi))))
        })?;
        self.depth -= 1;
        self.bind_outs(&inner.carries, &outs);
        Ok(())
    }

    /// The registers of values, each in the form of the carry it goes to.
    fn flat(&mut self, values: impl Iterator<Item = (ValueId, ValueId)>) -> Vec<Value> {
        let mut registers = vec![];
        for (value, carry) in values {
            if !self.is_varying(carry) {
                registers.push(self.scalar(value));
            } else if self.dtype(value) == DType::Bool {
                registers.extend(self.mask(value, false));
            } else {
                registers.extend(self.vector(value));
            }
        }
        registers
    }

    /// Names the registers that [`Emitter::flat`] listed.
    fn bind(&mut self, values: impl Iterator<Item = ValueId>, mut registers: &[Value]) {
        for value in values {
            let (slot, n) = match (self.is_varying(value), self.dtype(value)) {
                (false, _) => (Slot::Scalar(registers[0]), 1),
                (true, DType::Bool) => (Slot::Mask(smallvec![registers[0]]), 1),
                (true, dtype) => {
                    let n = vector::n_parts(dtype);
                    (Slot::Vector(registers[..n].into()), n)
                }
            };
            self.set(value, slot);
            registers = &registers[n..];
        }
    }

    fn bind_outs(&mut self, carries: &[Carry], registers: &[Value]) {
        self.bind(carries.iter().map(|carry| carry.out), registers);
    }

    /// A loop from `start` to `end` by `step`, its test at the end. `body` gets the carried registers and gives the
    /// next ones. Returns those after the loop.
    fn counted(
        &mut self,
        id: LoopId,
        [start, end]: [Value; 2],
        step: i64,
        known: Extent,
        inits: &[Value],
        body: impl FnOnce(&mut Self, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let (body_block, exit) = (self.fb.create_block(), self.fb.create_block());
        let counter = self.fb.append_block_param(body_block, types::I64);
        for &init in inits {
            let ty = self.fb.func.dfg.value_type(init);
            self.fb.append_block_param(body_block, ty);
            self.fb.append_block_param(exit, ty);
        }
        let exit_args = block_args(inits);
        let mut body_args = vec![BlockArg::from(start)];
        body_args.extend(&exit_args);
        if matches!(known, Extent::Const(n) if n > 0) {
            self.fb.ins().jump(body_block, &body_args);
        } else {
            let any = self.fb.ins().icmp(IntCC::SignedLessThan, start, end);
            self.fb.ins().brif(any, body_block, &body_args, exit, &exit_args);
        }
        self.fb.switch_to_block(body_block);
        let phis: Vec<Value> = self.fb.block_params(body_block)[1..].to_vec();
        let outer = self.counters[id.index()].replace(Counter { value: counter, plus: 0 });
        let nexts = body(self, &phis)?;
        self.counters[id.index()] = outer;
        let next = self.fb.ins().iadd_imm_s(counter, step);
        let more = self.fb.ins().icmp(IntCC::SignedLessThan, next, end);
        let exit_args = block_args(&nexts);
        let mut body_args = vec![BlockArg::from(next)];
        body_args.extend(&exit_args);
        self.fb.ins().brif(more, body_block, &body_args, exit, &exit_args);
        self.fb.switch_to_block(exit);
        Ok(self.fb.block_params(exit).to_vec())
    }

    fn while_loop(&mut self, inner: &'a While) -> Result<()> {
        let inits = self.flat(inner.carries.iter().map(|carry| (carry.init, carry.phi)));
        let [header, body, exit] = [(); 3].map(|()| self.fb.create_block());
        for &init in &inits {
            let ty = self.fb.func.dfg.value_type(init);
            self.fb.append_block_param(header, ty);
        }
        self.fb.ins().jump(header, &block_args(&inits));
        self.fb.switch_to_block(header);
        let phis = self.fb.block_params(header).to_vec();
        self.bind(inner.carries.iter().map(|carry| carry.phi), &phis);
        // Nobody knows how often it runs, however deep it is.
        self.check_interrupt();
        self.depth += 1;
        self.block(&inner.header)?;
        let condition = self.scalar(inner.condition);
        self.fb.ins().brif(condition, body, &[], exit, &[]);
        self.fb.switch_to_block(body);
        self.block(&inner.body)?;
        let nexts = self.flat(inner.carries.iter().map(|carry| (carry.next, carry.phi)));
        self.fb.ins().jump(header, &block_args(&nexts));
        self.depth -= 1;
        self.fb.switch_to_block(exit);
        self.bind_outs(&inner.carries, &phis);
        Ok(())
    }

    fn switch(&mut self, inner: &'a Switch) -> Result<()> {
        let Some(last) = inner.branches.len().checked_sub(1) else { return Ok(()) };
        let index = self.scalar(inner.index);
        let zero = self.int(0);
        let below = self.fb.ins().icmp_imm_s(IntCC::SignedLessThan, index, 0);
        let index = self.fb.ins().select(below, zero, index);
        let blocks: Vec<Block> = inner.branches.iter().map(|_| self.fb.create_block()).collect();
        let exit = self.fb.create_block();
        let mut switch = cranelift_frontend::Switch::new();
        for (number, &block) in blocks.iter().enumerate().take(last) {
            switch.set_entry(number as u128, block);
        }
        switch.emit(&mut self.fb, index, blocks[last]);
        for (branch, block) in inner.branches.iter().zip(blocks) {
            self.fb.switch_to_block(block);
            self.block(branch)?;
            self.fb.ins().jump(exit, &[]);
        }
        self.fb.switch_to_block(exit);
        Ok(())
    }

    /// Leaves the function when the user asked for it.
    fn check_interrupt(&mut self) {
        let flag = self.int(std::ptr::from_ref(&pullback_runtime::interrupt::FLAG).addr() as i64);
        let raised = self.fb.ins().load(types::I8, loads(), flag, 0);
        let status = self.fb.ins().iconst(types::I32, i64::from(host::INTERRUPTED));
        self.leave_if(raised, status);
    }

    fn leave_if(&mut self, condition: Value, status: Value) {
        let on = self.fb.create_block();
        self.fb.ins().brif(condition, self.leave, &[status.into()], on, &[]);
        self.fb.switch_to_block(on);
    }

    /// Calls a function of the host that gives a status, and leaves when it failed.
    fn host_call(&mut self, function: *const u8, args: &[Value]) {
        let mut signature = Signature::new(self.call_conv);
        signature.params = args.iter().map(|&arg| AbiParam::new(self.fb.func.dfg.value_type(arg))).collect();
        signature.returns.push(AbiParam::new(types::I32));
        let signature = self.fb.import_signature(signature);
        let callee = self.int(function.addr() as i64);
        let call = self.fb.ins().call_indirect(signature, callee, args);
        let status = self.fb.inst_results(call)[0];
        self.leave_if(status, status);
    }

    fn kernel_call(&mut self, call: &Call) {
        let pointers: Vec<Value> = call.args.iter().map(|(buffer, addr)| self.pointer(*buffer, addr)).collect();
        let table = self.spill(&pointers);
        let buffers = call.args.iter().map(|&(buffer, _)| buffer).collect();
        self.shared.kernels.push((call.kernel.clone(), buffers));
        let number = self.int(self.shared.kernels.len() as i64 - 1);
        self.host_call(host::call_kernel as *const u8, &[self.context, number, table]);
    }

    /// Writes registers to cells of 8 bytes on the stack and gives their address.
    fn spill(&mut self, registers: &[Value]) -> Value {
        let slot = self.stack(registers.len().max(1) * 8);
        for (number, &register) in registers.iter().enumerate() {
            self.fb.ins().store(loads(), register, slot, number as i32 * 8);
        }
        slot
    }

    /// The address of fresh stack memory.
    fn stack(&mut self, size_bytes: usize) -> Value {
        let data = ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, size_bytes as u32, 4);
        let slot = self.fb.create_sized_stack_slot(data);
        self.fb.ins().stack_addr(types::I64, slot, 0)
    }

    fn swap(&mut self, x: BufferId, y: BufferId) {
        let (at_x, at_y) = (self.buffer_entry(x), self.buffer_entry(y));
        let [first, second] = [at_x, at_y].map(|at| self.fb.ins().load(types::I64, loads(), self.context, at));
        self.fb.ins().store(loads(), second, self.context, at_x);
        self.fb.ins().store(loads(), first, self.context, at_y);
    }

    fn buffer_entry(&self, buffer: BufferId) -> i32 {
        host::buffer_entry(self.program, buffer) as i32 * 8
    }

    /// Reads the pointers of swapped buffers once before a loop that swaps nothing.
    fn cache_pointers(&mut self, body: &[Inst]) -> bool {
        if self.has_pointers || !self.shared.swapped.contains(&true) {
            return false;
        }
        let mut swaps = false;
        let mut used = vec![];
        for_each_inst(body, &mut |inst| match &inst.op {
            Op::Swap(..) => swaps = true,
            Op::Load(buffer, _) | Op::Store(buffer, ..) => used.push(*buffer),
            Op::Call(call) => used.extend(call.args.iter().map(|&(buffer, _)| buffer)),
            _ => {}
        });
        if swaps {
            return false;
        }
        for buffer in used {
            if self.shared.swapped[buffer.index()] && self.pointers[buffer.index()].is_none() {
                let at = self.buffer_entry(buffer);
                self.pointers[buffer.index()] = Some(self.fb.ins().load(types::I64, loads(), self.context, at));
            }
        }
        self.has_pointers = true;
        true
    }
}

fn block_args(registers: &[Value]) -> Vec<BlockArg> {
    registers.iter().copied().map(BlockArg::from).collect()
}
