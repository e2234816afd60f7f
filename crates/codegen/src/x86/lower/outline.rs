//! Functions of loops: those that threads share, and those that serve all loops alike.

use super::structure::Bounds;
use super::*;
use crate::analysis::Outlined;

impl<'a> Lower<'_, 'a> {
    pub(super) fn shared_loop(&mut self, inner: &'a For) {
        self.with_frame(|me| me.framed_shared_loop(inner));
    }

    fn framed_shared_loop(&mut self, inner: &'a For) {
        let (number, captured) = self.outline(inner, false);
        let piece = self.reg(Class::Int);
        self.push(Inst::PieceAddress { number, dst: piece });
        let n = self.extent(inner.n);
        let n = self.source_reg(n);
        let args = smallvec![self.context, piece, captured, n];
        self.push(Inst::CallHost { function: HostAddress::Share, args });
    }

    /// Calls the function of a whole loop.
    pub(super) fn repeated_loop(&mut self, inner: &'a For) {
        self.with_frame(|me| {
            let (number, captured) = me.outline(inner, true);
            let zero = me.int(0);
            me.push(Inst::CallPiece { number, args: smallvec![me.context, captured, zero, zero] });
        });
    }

    /// The number of the function for a loop, and where what it captures stands.
    fn outline(&mut self, inner: &'a For, is_whole: bool) -> (usize, Reg) {
        let slots = &self.slots;
        let (number, outlined) = self.shared.outline(inner, is_whole, |value| match &slots[value.index()] {
            Slot::Const(scalar) => Some(*scalar),
            _ => None,
        });
        let mut regs: Vec<Reg> = outlined.values.iter().map(|&value| self.scalar(value)).collect();
        regs.extend(outlined.counters.iter().map(|&id| self.counter(id)));
        regs.extend(outlined.buffers.iter().map(|&buffer| self.pointer(buffer)));
        (number, self.table(&regs))
    }

    /// Emits the function of an outlined loop: table of the run, captured values, start and end.
    pub(super) fn outlined(&mut self, outlined: &Outlined<'a>) {
        self.is_outlined = true;
        let [captured, start, end] = [(); 3].map(|()| self.reg(Class::Int));
        self.push(Inst::Entry { params: smallvec![self.context, captured, start, end] });
        for &(value, scalar) in &outlined.constants {
            self.set(value, Slot::Const(scalar));
        }
        let cell = |number: usize| Mem::at(captured, 8 * number as i32);
        for (number, &value) in outlined.values.iter().enumerate() {
            let dtype = self.dtype(value);
            // Integers were stored whole.
            let stored = if dtype.is_float() { dtype } else { DType::I64 };
            let reg = self.load_scalar(stored, cell(number), None);
            self.set(value, Slot::Scalar(reg));
        }
        let first = outlined.values.len();
        for (number, &id) in outlined.counters.iter().enumerate() {
            let reg = self.load_scalar(DType::I64, cell(first + number), None);
            self.counters[id.index()] = Some(Counter { reg: Some(reg), plus: 0 });
        }
        let first = first + outlined.counters.len();
        for (number, &buffer) in outlined.buffers.iter().enumerate() {
            self.pointers[buffer.index()] = Some(self.load_scalar(DType::I64, cell(first + number), None));
        }
        let inner = outlined.inner;
        if outlined.is_whole {
            self.for_loop(inner);
        } else {
            let bounds = Bounds { start: Source::Reg(start), end: Source::Reg(end), step: 1, runs: false };
            self.counted(inner.id, &bounds, &inner.body, &[], |me| {
                me.block(&inner.body);
                vec![]
            });
        }
        self.push(Inst::Return);
        outlined.counters.iter().for_each(|id| self.counters[id.index()] = None);
        outlined.buffers.iter().for_each(|buffer| self.pointers[buffer.index()] = None);
    }
}
