//! `Parallel` loops that threads share: their bodies become functions of a range.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use pullback_base::Result;
use pullback_loops::*;

use super::{Counter, Emitter, Slot, loads, scalar_type};
use crate::analysis::{Outlined, takes_long};
use pullback_native as host;

impl<'a> Emitter<'_, 'a, '_> {
    pub(super) fn is_worth_sharing(&self, inner: &For) -> bool {
        !self.is_outlined && self.lanes.is_none() && self.shared.is_worth_sharing(inner)
    }

    /// Whether the loop stands by itself and others of the program are like it.
    pub(super) fn is_repeated(&self, inner: &For) -> bool {
        !self.is_outlined && self.depth == 0 && self.lanes.is_none() && self.shared.is_repeated(inner)
    }

    /// Whether each iteration looks at the interrupt flag: of an outermost loop, and of one that alone takes long.
    pub(super) fn is_interruptible(&self, inner: &For) -> bool {
        self.depth == 0 && !self.is_outlined || takes_long(inner)
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

    /// The number of the function for a loop, and where what it captures stands.
    fn outline(&mut self, inner: &'a For, is_whole: bool) -> (usize, Value) {
        let slots = &self.slots;
        let (number, outlined) = self.shared.outline(inner, is_whole, |value| match &slots[value.index()] {
            Slot::Const(scalar) => Some(*scalar),
            _ => None,
        });
        let mut registers: Vec<Value> = outlined.values.iter().map(|&value| self.scalar(value)).collect();
        registers.extend(outlined.counters.iter().map(|&id| self.counter(id)));
        registers.extend(outlined.buffers.iter().map(|&buffer| self.buffer_pointer(buffer)));
        (number, self.spill(&registers))
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
