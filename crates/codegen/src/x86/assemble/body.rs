//! One function: instructions with their machine registers, operands in memory, the frame.

use super::super::allocate::{Allocation, Location};
use super::super::encode::{Alu, Base, Cond, Encoder, Label, Len, Place, Rm, Vector};
use super::super::inst::*;
use super::super::ops::{self, Coding, Form, Tuple, VecOp};
use super::{Assembler, Entry, Frame};
use crate::host::{self, HostAddress};

const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RSP: u8 = 4;
const RBP: u8 = 5;
const RSI: u8 = 6;
const RDI: u8 = 7;
/// Registers of the first arguments of a call.
const ARGUMENTS: [u8; 4] = [RDI, RSI, RDX, RCX];
/// Vector and mask registers that sequences use in between.
const FIRST: u8 = 0;
const SECOND: u8 = 1;
const MASK_RESULT: u8 = 0;
const MASK_OPERAND: u8 = 7;

/// One function in the making.
pub(super) struct Body<'a> {
    asm: &'a mut Assembler,
    function: &'a Function,
    allocation: Allocation,
    labels: Vec<Label>,
    /// Restores registers and returns `eax`.
    leave: Label,
    interrupted: Label,
    has_avx512: bool,
    frame: Frame,
    /// By how much pushes have moved the stack pointer.
    shift: i32,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        asm: &'a mut Assembler,
        function: &'a Function,
        allocation: Allocation,
        frame: Frame,
    ) -> Body<'a> {
        let labels = (0..function.n_labels).map(|_| asm.encoder.label()).collect();
        let [leave, interrupted] = [(); 2].map(|()| asm.encoder.label());
        let has_avx512 = asm.has_avx512;
        Body { asm, function, allocation, labels, leave, interrupted, has_avx512, frame, shift: 0 }
    }

    pub(super) fn emit(mut self, insts: &[Inst]) {
        self.prologue();
        insts.iter().for_each(|inst| self.inst(inst));
        self.epilogue();
    }

    fn prologue(&mut self) {
        let e = &mut self.asm.encoder;
        e.push(&Rm::Reg(RBP));
        if self.frame == Frame::Stack {
            e.mov(true, RBP, &Rm::Reg(RSP));
        }
        self.allocation.saved.iter().for_each(|&register| e.push(&Rm::Reg(register)));
        match self.frame {
            Frame::Stack if self.allocation.frame_bytes == 0 => {}
            Frame::Stack => e.alu_imm(Alu::Sub, true, &Rm::Reg(RSP), self.allocation.frame_bytes),
            Frame::Given(entry) => {
                e.mov(true, RBP, &Rm::Mem(Place::at(RDI, 8 * entry as i32)));
                e.mov_store(8, Place::at(RBP, self.allocation.frame_bytes), RSP);
            }
        }
        e.alu_imm(Alu::And, true, &Rm::Reg(RSP), -64);
    }

    fn epilogue(&mut self) {
        let e = &mut self.asm.encoder;
        e.mov_imm(RAX, host::DONE.into());
        e.bind(self.leave);
        match self.frame {
            Frame::Stack => e.lea(RSP, Place::at(RBP, -8 * self.allocation.saved.len() as i32)),
            Frame::Given(_) => e.mov(true, RSP, &Rm::Mem(Place::at(RBP, self.allocation.frame_bytes))),
        }
        self.allocation.saved.iter().rev().for_each(|&register| e.pop(register));
        e.pop(RBP);
        e.vzeroupper();
        e.ret();
        e.bind(self.interrupted);
        e.mov_imm(RAX, host::INTERRUPTED.into());
        e.jump(self.leave);
    }

    fn location(&self, reg: Reg) -> Location {
        self.allocation.locations[reg.index()]
    }

    fn slot(&self, offset: i32) -> Place {
        match self.frame {
            Frame::Stack => Place::at(RSP, offset + self.shift),
            Frame::Given(_) => Place::at(RBP, offset),
        }
    }

    fn whole(&self) -> Len {
        if self.has_avx512 { Len::L512 } else { Len::L256 }
    }

    /// An integer as a register or memory; numbers go to `spare`.
    fn int(&mut self, reg: Reg, spare: u8) -> Rm {
        match self.location(reg) {
            Location::Reg(number) => Rm::Reg(number),
            Location::Slot(offset) => Rm::Mem(self.slot(offset)),
            Location::Literal(Literal::Scalar { bits, .. }) => {
                self.asm.encoder.mov_imm(spare, bits as i64);
                Rm::Reg(spare)
            }
            other => unreachable!("an integer is {other:?}"),
        }
    }

    /// An integer in a register, `spare` if it is not in one.
    fn int_reg(&mut self, reg: Reg, spare: u8) -> u8 {
        match self.int(reg, spare) {
            Rm::Reg(number) => number,
            rm @ Rm::Mem(_) => {
                self.asm.encoder.mov(true, spare, &rm);
                spare
            }
        }
    }

    /// The number that a register is known to hold, if an instruction can hold it too.
    fn number(&self, reg: Reg) -> Option<i32> {
        match self.location(reg) {
            Location::Literal(Literal::Scalar { bits, .. }) if reg.class() == Class::Int => {
                i32::try_from(bits as i64).ok()
            }
            _ => None,
        }
    }

    /// The register to compute an integer in, and [`Body::keep_int`] puts it where it belongs.
    fn int_result(&self, reg: Reg) -> u8 {
        match self.location(reg) {
            Location::Reg(number) => number,
            _ => RAX,
        }
    }

    fn keep_int(&mut self, reg: Reg, from: u8) {
        match self.location(reg) {
            Location::Reg(number) if number == from => {}
            Location::Reg(number) => self.asm.encoder.mov(true, number, &Rm::Reg(from)),
            Location::Slot(offset) => {
                let place = self.slot(offset);
                self.asm.encoder.mov_store(8, place, from);
            }
            Location::Nowhere | Location::Literal(_) => {}
        }
    }

    /// An address. Registers in memory come through `rax` (base), `rdx` (index) or the second vector register.
    fn place(&mut self, mem: &Mem) -> Place {
        let base = match mem.base {
            MemBase::Frame => return self.frame_place(mem),
            MemBase::Reg(base) => self.int_reg(base, RAX),
        };
        let index = mem.index.map(|(index, scale)| (self.index(index), scale));
        Place { base: Base::Reg(base), index, disp: mem.disp }
    }

    fn frame_place(&mut self, mem: &Mem) -> Place {
        let index = mem.index.map(|(index, scale)| (self.index(index), scale));
        Place { index, ..self.slot(mem.disp) }
    }

    fn index(&mut self, index: Reg) -> u8 {
        match index.class() {
            Class::Int => self.int_reg(index, RDX),
            Class::Vector | Class::Mask => self.vector_reg(index, SECOND),
        }
    }

    /// A vector register with the value, `spare` if it is in memory.
    fn vector_reg(&mut self, reg: Reg, spare: u8) -> u8 {
        match self.location(reg) {
            Location::Reg(number) => number,
            Location::Slot(offset) => {
                let (place, len) = (self.slot(offset), self.whole());
                self.vector(&ops::MOVUPS, Vector::new(len, spare, 0, Rm::Mem(place)));
                spare
            }
            Location::Literal(literal) => {
                self.load_literal(literal, spare);
                spare
            }
            Location::Nowhere => unreachable!("a register is read that nothing writes"),
        }
    }

    fn mask_reg(&mut self, reg: Reg, spare: u8) -> u8 {
        match self.location(reg) {
            Location::Reg(number) => number,
            Location::Slot(offset) => {
                let place = self.slot(offset);
                self.vector(&ops::KMOV, Vector::new(Len::L128, spare, 0, Rm::Mem(place)));
                spare
            }
            other => unreachable!("a mask is {other:?}"),
        }
    }

    fn keep_vector(&mut self, reg: Reg, from: u8) {
        let place = match self.location(reg) {
            Location::Reg(number) if number == from => return,
            Location::Reg(number) => {
                let len = self.whole();
                return self.vector(&ops::MOVAPS, Vector::new(len, number, 0, Rm::Reg(from)));
            }
            Location::Slot(offset) => self.slot(offset),
            Location::Nowhere | Location::Literal(_) => return,
        };
        let len = self.whole();
        self.vector(&ops::MOVUPS_STORE, Vector::new(len, from, 0, Rm::Mem(place)));
    }

    fn keep_mask(&mut self, reg: Reg, from: u8) {
        match self.location(reg) {
            Location::Reg(number) if number == from => {}
            Location::Reg(number) => self.vector(&ops::KMOV, Vector::new(Len::L128, number, 0, Rm::Reg(from))),
            Location::Slot(offset) => {
                let place = self.slot(offset);
                self.vector(&ops::KMOV_STORE, Vector::new(Len::L128, from, 0, Rm::Mem(place)));
            }
            Location::Nowhere | Location::Literal(_) => {}
        }
    }

    fn vector(&mut self, op: &VecOp, vector: Vector) {
        self.asm.encoder.vector(op, &vector);
    }

    fn pool(&mut self, entry: Entry) -> Rm {
        let entry = self.asm.entry(entry);
        Rm::Mem(Place { base: Base::Pool(entry), index: None, disp: 0 })
    }

    fn load_literal(&mut self, literal: Literal, to: u8) {
        match literal {
            Literal::Lanes { bits: 0, .. } | Literal::Scalar { bits: 0, .. } => {
                // The short form clears the whole register.
                let op = if to > 15 { &ops::PXOR[1] } else { &ops::PXOR[0] };
                let len = if to > 15 { Len::L512 } else { Len::L128 };
                self.vector(op, Vector::new(len, to, to, Rm::Reg(to)));
            }
            Literal::Lanes { bits, element } if self.has_avx512 => {
                let rm = self.pool(Entry::Element { bits, size_bytes: element });
                let op = if element == 8 { &ops::BROADCASTSD } else { &ops::BROADCASTSS };
                self.vector(op, Vector::new(Len::L512, to, 0, rm));
            }
            Literal::Scalar { bits, element } => {
                let rm = self.pool(Entry::Element { bits, size_bytes: element });
                let op = if element == 8 { &ops::MOVSD } else { &ops::MOVSS };
                self.vector(op, Vector::new(Len::L128, to, 0, rm));
            }
            Literal::Lanes { .. } | Literal::Pattern(_) => {
                let (rm, len) = self.whole_literal(literal);
                self.vector(&ops::MOVUPS, Vector::new(len, to, 0, rm));
            }
        }
    }

    /// A literal as memory of whole registers, and how long those are.
    fn whole_literal(&mut self, literal: Literal) -> (Rm, Len) {
        let bytes = match literal {
            Literal::Pattern(number) => self.function.patterns[number as usize].clone(),
            Literal::Lanes { bits, element } | Literal::Scalar { bits, element } => {
                bits.to_le_bytes()[..element as usize].repeat(32 / element as usize)
            }
        };
        let len = match bytes.len() {
            16 => Len::L128,
            32 => Len::L256,
            _ => Len::L512,
        };
        (self.pool(Entry::Bytes(bytes)), len)
    }

    /// The last operand of a vector instruction, and whether it is one element for all lanes.
    fn vector_operand(&mut self, op: &VecOp, len: Len, operand: &Operand) -> (Rm, bool) {
        let reg = match operand {
            Operand::Mem(mem) => return (Rm::Mem(self.place(mem)), false),
            Operand::Reg(reg) => *reg,
        };
        match reg.class() {
            Class::Int => return (Rm::Reg(self.int_reg(reg, RAX)), false),
            Class::Mask => return (Rm::Reg(self.mask_reg(reg, MASK_OPERAND)), false),
            Class::Vector => {}
        }
        let takes_memory = op.form != Form::Mr && op.name != ops::MOVMSK.name && !matches!(op.form, Form::Vmi(_));
        match self.location(reg) {
            Location::Slot(offset) if takes_memory => (Rm::Mem(self.slot(offset)), false),
            Location::Literal(literal) if takes_memory => self.literal_operand(op, len, reg, literal),
            _ => (Rm::Reg(self.vector_reg(reg, SECOND)), false),
        }
    }

    /// A literal as memory, where the instruction reads as much as the pool has.
    fn literal_operand(&mut self, op: &VecOp, len: Len, reg: Reg, literal: Literal) -> (Rm, bool) {
        match literal {
            Literal::Scalar { bits, element } if op.tuple == Tuple::Bytes(element) => {
                (self.pool(Entry::Element { bits, size_bytes: element }), false)
            }
            Literal::Lanes { bits, element }
                if self.has_avx512
                    && op.tuple == Tuple::Full
                    && op.element() == element
                    && op.coding != Coding::Vex =>
            {
                (self.pool(Entry::Element { bits, size_bytes: element }), true)
            }
            // A register for it might be the one that a fourth operand needs.
            Literal::Lanes { .. } | Literal::Scalar { .. } if !self.has_avx512 && len <= Len::L256 => {
                (self.whole_literal(literal).0, false)
            }
            _ => (Rm::Reg(self.vector_reg(reg, SECOND)), false),
        }
    }

    fn vector_inst(&mut self, inst: &VectorInst) {
        let (rm, broadcast) = self.vector_operand(inst.op, inst.len, &inst.rm);
        let middle = match inst.middle {
            None => 0,
            Some(reg) if reg.class() == Class::Mask => self.mask_reg(reg, MASK_RESULT),
            Some(reg) => self.vector_reg(reg, FIRST),
        };
        let imm = match inst.fourth {
            Some(reg) => self.vector_reg(reg, SECOND) << 4,
            None => inst.imm,
        };
        let mask = inst.mask.map_or(0, |reg| self.mask_reg(reg, MASK_OPERAND));
        let result = match (inst.dst.class(), self.location(inst.dst)) {
            (_, Location::Reg(number)) => number,
            (Class::Int, _) => RAX,
            (Class::Vector, _) => FIRST,
            (Class::Mask, _) => MASK_RESULT,
        };
        let (reg, rm) = match (inst.op.form, rm) {
            (Form::Mr, Rm::Reg(source)) => (source, Rm::Reg(result)),
            (_, rm) => (result, rm),
        };
        let is_blend = std::ptr::eq(inst.op, &ops::BLENDM[0]) || std::ptr::eq(inst.op, &ops::BLENDM[1]);
        // Comparisons write masks, which have nothing to keep.
        let zeroing = mask != 0 && !is_blend && inst.dst.class() == Class::Vector;
        let vector = Vector { mask, zeroing, broadcast, imm, ..Vector::new(inst.len, reg, middle, rm) };
        self.vector(inst.op, vector);
        match inst.dst.class() {
            Class::Int => self.keep_int(inst.dst, result),
            Class::Vector => self.keep_vector(inst.dst, result),
            Class::Mask => self.keep_mask(inst.dst, result),
        }
    }

    /// Fused multiplication and addition, in the form whose destination is an operand that may go.
    fn fma(&mut self, format: usize, len: Len, dst: Reg, [x, y, z]: [Reg; 3]) {
        let result = match self.location(dst) {
            Location::Reg(number) => number,
            _ => FIRST,
        };
        let is_result = |me: &Self, reg: Reg| me.location(reg) == Location::Reg(result);
        let (op, middle, last) = if is_result(self, z) {
            (&ops::FMA231[format], x, y)
        } else if is_result(self, x) {
            (&ops::FMA213[format], y, z)
        } else if is_result(self, y) {
            (&ops::FMA213[format], x, z)
        } else {
            let from = self.vector_reg(z, result);
            if from != result {
                let whole = self.whole();
                self.vector(&ops::MOVAPS, Vector::new(whole, result, 0, Rm::Reg(from)));
            }
            (&ops::FMA231[format], x, y)
        };
        // The first of the two factors must be in a register; literals had best be memory operands.
        let (middle, last) = match (std::ptr::eq(op, &ops::FMA231[format]), self.location(middle)) {
            (true, Location::Reg(_)) | (false, _) => (middle, last),
            (true, _) => (last, middle),
        };
        let middle = self.spare_for_middle(middle, result);
        let (rm, broadcast) = self.vector_operand(op, len, &Operand::Reg(last));
        let (rm, broadcast) = match rm {
            // The second spare register may be taken by the operand in the middle.
            Rm::Reg(SECOND) if middle == SECOND => unreachable!("{}: two operands need the same register", op.name),
            rm => (rm, broadcast),
        };
        self.vector(op, Vector { broadcast, ..Vector::new(len, result, middle, rm) });
        self.keep_vector(dst, result);
    }

    fn spare_for_middle(&mut self, middle: Reg, result: u8) -> u8 {
        let spare = if result == FIRST { SECOND } else { FIRST };
        self.vector_reg(middle, spare)
    }

    fn test(&mut self, test: &Test) {
        let y = match test.y {
            Source::Imm(value) => Some(value),
            Source::Reg(reg) => self.number(reg),
        };
        if let Some(value) = y {
            let x = self.int(test.x, RAX);
            if let (0, Rm::Reg(x)) = (value, x) {
                return self.asm.encoder.test(test.wide, x, x);
            }
            return self.asm.encoder.alu_imm(Alu::Cmp, test.wide, &x, value);
        }
        let Source::Reg(y) = test.y else { unreachable!("a number was handled") };
        let x = self.int_reg(test.x, RAX);
        let y = self.int(y, RDX);
        self.asm.encoder.alu(Alu::Cmp, test.wide, x, &y);
    }

    fn move_int(&mut self, wide: bool, to: u8, from: &Rm) {
        if *from != Rm::Reg(to) {
            self.asm.encoder.mov(wide, to, from);
        }
    }

    fn alu(&mut self, op: Alu, wide: bool, dst: Reg, x: Reg, y: &Source) {
        let result = self.int_result(dst);
        let number = match *y {
            Source::Imm(value) => Some(value),
            Source::Reg(reg) => self.number(reg),
        };
        if let Some(value) = number {
            let x = self.int(x, RDX);
            match (op, x) {
                (Alu::Add, Rm::Reg(x)) if x != result => self.asm.encoder.lea(result, Place::at(x, value)),
                _ => {
                    self.move_int(wide, result, &x);
                    self.asm.encoder.alu_imm(op, wide, &Rm::Reg(result), value);
                }
            }
            return self.keep_int(dst, result);
        }
        let Source::Reg(y) = *y else { unreachable!("a number was handled") };
        let (mut x, mut y) = (self.int(x, RAX), self.int(y, RDX));
        if y == Rm::Reg(result) && x != y && op.commutes() {
            std::mem::swap(&mut x, &mut y);
        }
        if y == Rm::Reg(result) && x != y {
            self.move_int(wide, RAX, &x);
            self.asm.encoder.alu(op, wide, RAX, &y);
            return self.keep_int(dst, RAX);
        }
        self.move_int(wide, result, &x);
        self.asm.encoder.alu(op, wide, result, &y);
        self.keep_int(dst, result);
    }

    fn mul(&mut self, wide: bool, dst: Reg, x: Reg, y: &Source) {
        let result = self.int_result(dst);
        let number = match *y {
            Source::Imm(value) => Some(value),
            Source::Reg(reg) => self.number(reg),
        };
        if let Some(value) = number {
            let x = self.int(x, RDX);
            self.asm.encoder.imul_imm(wide, result, &x, value);
            return self.keep_int(dst, result);
        }
        let Source::Reg(y) = *y else { unreachable!("a number was handled") };
        let (mut x, mut y) = (self.int(x, RAX), self.int(y, RDX));
        if y == Rm::Reg(result) {
            std::mem::swap(&mut x, &mut y);
        }
        self.move_int(wide, result, &x);
        self.asm.encoder.imul(wide, result, &y);
        self.keep_int(dst, result);
    }

    /// `x` into the register of the result, then `change` there.
    fn in_place(&mut self, wide: bool, dst: Reg, x: Reg, change: impl FnOnce(&mut Encoder, u8)) {
        let result = self.int_result(dst);
        let x = self.int(x, RDX);
        self.move_int(wide, result, &x);
        change(&mut self.asm.encoder, result);
        self.keep_int(dst, result);
    }

    fn choose(&mut self, wide: bool, dst: Reg, test: &Test, x: Reg, y: Reg) {
        self.test(test);
        let result = self.int_result(dst);
        // Moves keep the flags.
        if self.location(x) == Location::Reg(result) {
            let y = self.int(y, RDX);
            self.asm.encoder.cmov(opposite(test.cond), wide, result, &y);
        } else {
            let y = self.int(y, RDX);
            self.move_int(wide, result, &y);
            let x = self.int(x, RDX);
            self.asm.encoder.cmov(test.cond, wide, result, &x);
        }
        self.keep_int(dst, result);
    }

    fn float_set(&mut self, cond: Cond, double: bool, dst: Reg, x: Reg, y: Reg) {
        let op = if double { &ops::UCOMISD } else { &ops::UCOMISS };
        let x = self.vector_reg(x, FIRST);
        let (y, _) = self.vector_operand(op, Len::L128, &Operand::Reg(y));
        self.vector(op, Vector::new(Len::L128, x, 0, y));
        let e = &mut self.asm.encoder;
        e.setcc(cond, RAX);
        match cond {
            Cond::Equal => {
                e.setcc(Cond::NoParity, RDX);
                e.alu(Alu::And, false, RAX, &Rm::Reg(RDX));
            }
            Cond::NotEqual => {
                e.setcc(Cond::Parity, RDX);
                e.alu(Alu::Or, false, RAX, &Rm::Reg(RDX));
            }
            _ => {}
        }
        self.keep_bit(dst);
    }

    /// The lowest byte of `rax` as an integer.
    fn keep_bit(&mut self, dst: Reg) {
        let result = self.int_result(dst);
        self.asm.encoder.mov_narrow(1, false, result, &Rm::Reg(RAX));
        self.keep_int(dst, result);
    }

    fn divide(&mut self, wide: bool, is_signed: bool, remainder: bool, dst: Reg, [x, y]: [Reg; 2]) {
        let by = match self.location(y) {
            Location::Literal(Literal::Scalar { bits, .. }) => self.pool(Entry::Element { bits, size_bytes: 8 }),
            _ => self.int(y, RDX),
        };
        let x = self.int(x, RAX);
        self.move_int(wide, RAX, &x);
        let e = &mut self.asm.encoder;
        if is_signed {
            e.sign_to_rdx(wide);
        } else {
            e.alu(Alu::Xor, false, RDX, &Rm::Reg(RDX));
        }
        e.divide(wide, is_signed, &by);
        self.keep_int(dst, if remainder { RDX } else { RAX });
    }

    fn store_int(&mut self, size_bytes: u8, mem: &Mem, src: Reg) {
        let mut place = self.place(mem);
        if matches!(self.location(src), Location::Reg(_)) {
            let src = self.int_reg(src, RAX);
            return self.asm.encoder.mov_store(size_bytes, place, src);
        }
        let takes =
            |register| place.base == Base::Reg(register) || place.index.is_some_and(|(index, _)| index == register);
        let spare = match (takes(RAX), takes(RDX)) {
            (true, true) => {
                self.asm.encoder.lea(RAX, place);
                place = Place::at(RAX, 0);
                RDX
            }
            (true, false) => RDX,
            _ => RAX,
        };
        let src = self.int_reg(src, spare);
        self.asm.encoder.mov_store(size_bytes, place, src);
    }

    fn gather(&mut self, wide: bool, len: Len, dst: Reg, mem: &Mem, mask: Option<Reg>) {
        let place = self.place(mem);
        let op = &ops::GATHER[usize::from(wide)];
        let mut vector = Vector { vector_index: true, ..Vector::new(len, 0, 0, Rm::Mem(place)) };
        if self.has_avx512 {
            self.gather_mask(mask);
            let result = match self.location(dst) {
                Location::Reg(number) => number,
                _ => FIRST,
            };
            (vector.reg, vector.mask) = (result, MASK_OPERAND);
            self.load_literal(Literal::Lanes { bits: 0, element: 4 }, result);
            self.asm.encoder.vector(&VecOp { coding: Coding::Evex, ..*op }, &vector);
            return self.keep_vector(dst, result);
        }
        let index = place.index.map_or(0, |(index, _)| index);
        let borrowed = if index == 15 { 14 } else { 15 };
        let keep = Rm::Mem(self.slot(self.allocation.borrowed));
        let in_register = match self.location(dst) {
            Location::Reg(number) => Some(number),
            _ => None,
        };
        if in_register.is_none() {
            self.vector(&ops::MOVUPS_STORE, Vector::new(Len::L256, borrowed, 0, keep));
        }
        vector.reg = in_register.unwrap_or(borrowed);
        vector.middle = FIRST;
        self.vector(&ops::PCMPEQ[0], Vector::new(Len::L256, FIRST, FIRST, Rm::Reg(FIRST)));
        self.asm.encoder.vector(op, &vector);
        if in_register.is_none() {
            self.keep_vector(dst, borrowed);
            self.vector(&ops::MOVUPS, Vector::new(Len::L256, borrowed, 0, keep));
        }
    }

    /// A copy of the mask, or all lanes, in the mask register that the instruction clears.
    fn gather_mask(&mut self, mask: Option<Reg>) {
        let Some(mask) = mask else {
            let all = Vector::new(Len::L256, MASK_OPERAND, MASK_OPERAND, Rm::Reg(MASK_OPERAND));
            return self.vector(&ops::KXNOR, all);
        };
        let mask = self.mask_reg(mask, MASK_OPERAND);
        if mask != MASK_OPERAND {
            self.vector(&ops::KMOV, Vector::new(Len::L128, MASK_OPERAND, 0, Rm::Reg(mask)));
        }
    }

    fn scatter(&mut self, wide: bool, len: Len, mem: &Mem, src: Reg, mask: Option<Reg>) {
        let place = self.place(mem);
        self.gather_mask(mask);
        let src = self.vector_reg(src, FIRST);
        let vector = Vector { vector_index: true, mask: MASK_OPERAND, ..Vector::new(len, src, 0, Rm::Mem(place)) };
        self.vector(&ops::SCATTER[usize::from(wide)], vector);
    }

    fn vector_store(&mut self, op: &VecOp, len: Len, mem: &Mem, src: Reg, mask: Option<Reg>, imm: u8) {
        let place = self.place(mem);
        let src = self.vector_reg(src, FIRST);
        let mask = mask.map_or(0, |mask| self.mask_reg(mask, MASK_OPERAND));
        self.vector(op, Vector { mask, imm, ..Vector::new(len, src, 0, Rm::Mem(place)) });
    }

    /// Loads the arguments of a call, by way of the stack since they may stand in one another's registers.
    fn arguments(&mut self, args: &[Reg]) {
        for &arg in args.iter().rev() {
            let arg = self.int(arg, RAX);
            self.asm.encoder.push(&arg);
            self.shift += 8;
        }
        args.iter().zip(ARGUMENTS).for_each(|(_, register)| self.asm.encoder.pop(register));
        self.shift = 0;
        self.asm.encoder.vzeroupper();
    }

    fn leave_on_failure(&mut self) {
        self.asm.encoder.test(false, RAX, RAX);
        self.asm.encoder.jump_if(Cond::NotEqual, self.leave);
    }

    fn call_address(&mut self, function: HostAddress) {
        self.asm.encoder.mov_host(RAX, function);
        self.asm.encoder.call_reg(RAX);
    }

    fn remainder(&mut self, double: bool, dst: Reg, [x, y]: [Reg; 2]) {
        for (reg, to) in [(x, FIRST), (y, SECOND)] {
            let from = self.vector_reg(reg, to);
            if from != to {
                self.vector(&ops::MOVAPS, Vector::new(Len::L128, to, 0, Rm::Reg(from)));
            }
        }
        self.asm.encoder.vzeroupper();
        self.call_address(if double { HostAddress::RemF64 } else { HostAddress::RemF32 });
        self.keep_vector(dst, FIRST);
    }

    fn parameters(&mut self, params: &[Reg]) {
        if let [only] = params {
            return self.keep_int(*only, RDI);
        }
        params.iter().zip(ARGUMENTS).for_each(|(_, register)| self.asm.encoder.push(&Rm::Reg(register)));
        self.shift = 8 * params.len() as i32;
        for &param in params.iter().rev() {
            self.asm.encoder.pop(RAX);
            self.shift -= 8;
            self.keep_int(param, RAX);
        }
    }

    fn check_interrupt(&mut self) {
        self.asm.encoder.mov_host(RAX, HostAddress::InterruptFlag);
        self.asm.encoder.is_byte_zero(Place::at(RAX, 0));
        self.asm.encoder.jump_if(Cond::NotEqual, self.interrupted);
    }

    fn move_reg(&mut self, dst: Reg, src: Reg) {
        match dst.class() {
            Class::Int => {
                let spare = self.int_result(dst);
                let from = self.int_reg(src, spare);
                self.keep_int(dst, from);
            }
            Class::Vector => {
                let spare = match self.location(dst) {
                    Location::Reg(number) => number,
                    _ => FIRST,
                };
                let from = self.vector_reg(src, spare);
                self.keep_vector(dst, from);
            }
            Class::Mask => {
                let from = self.mask_reg(src, MASK_RESULT);
                self.keep_mask(dst, from);
            }
        }
    }

    fn load_int(&mut self, size_bytes: u8, is_signed: bool, dst: Reg, mem: &Mem) {
        let place = Rm::Mem(self.place(mem));
        let result = self.int_result(dst);
        match size_bytes {
            1 | 2 => self.asm.encoder.mov_narrow(size_bytes, is_signed, result, &place),
            _ => self.asm.encoder.mov(size_bytes == 8, result, &place),
        }
        self.keep_int(dst, result);
    }

    fn extend(&mut self, size_bytes: u8, is_signed: bool, dst: Reg, x: Reg) {
        let result = self.int_result(dst);
        // Bytes of registers above the third need a prefix that memory does not, so the value goes through one.
        let x = Rm::Reg(self.int_reg(x, RDX));
        match (size_bytes, is_signed) {
            (1 | 2, _) => self.asm.encoder.mov_narrow(size_bytes, is_signed, result, &x),
            (_, true) => self.asm.encoder.movsxd(result, &x),
            (_, false) => self.asm.encoder.mov(false, result, &x),
        }
        self.keep_int(dst, result);
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Vector(vector) => self.vector_inst(vector),
            Inst::VectorStore { op, len, mem, src, mask, imm } => self.vector_store(op, *len, mem, *src, *mask, *imm),
            Inst::Fma { format, len, dst, x, y, z } => self.fma(*format, *len, *dst, [*x, *y, *z]),
            Inst::Move { dst, src } => self.move_reg(*dst, *src),
            Inst::Literal { dst } => self.literal(*dst),
            Inst::Gather { wide, len, dst, mem, mask } => self.gather(*wide, *len, *dst, mem, *mask),
            Inst::Scatter { wide, len, mem, src, mask } => self.scatter(*wide, *len, mem, *src, *mask),
            Inst::Alu { op, wide, dst, x, y } => self.alu(*op, *wide, *dst, *x, y),
            Inst::Mul { wide, dst, x, y } => self.mul(*wide, *dst, *x, y),
            Inst::Neg { wide, dst, x } => self.in_place(*wide, *dst, *x, |e, to| e.neg(*wide, to)),
            Inst::Not { wide, dst, x } => self.in_place(*wide, *dst, *x, |e, to| e.not(*wide, to)),
            Inst::PopCount { wide, dst, x } => {
                let (x, result) = (self.int(*x, RDX), self.int_result(*dst));
                self.asm.encoder.popcnt(*wide, result, &x);
                self.keep_int(*dst, result);
            }
            Inst::LeadingZeros { wide, dst, x } => {
                let (x, result) = (self.int(*x, RDX), self.int_result(*dst));
                self.asm.encoder.lzcnt(*wide, result, &x);
                self.keep_int(*dst, result);
            }
            Inst::ShiftImm { number, wide, dst, x, by } => {
                self.in_place(*wide, *dst, *x, |e, to| e.shift_imm(*number, *wide, to, *by));
            }
            Inst::ShiftBy { number, wide, dst, x, by } => {
                let (x, by, result) = (self.int_reg(*x, RAX), self.int_reg(*by, RDX), self.int_result(*dst));
                self.asm.encoder.shift_by(*number, *wide, result, x, by);
                self.keep_int(*dst, result);
            }
            Inst::Extend { size_bytes, is_signed, dst, x } => self.extend(*size_bytes, *is_signed, *dst, *x),
            Inst::Load { size_bytes, is_signed, dst, mem } => self.load_int(*size_bytes, *is_signed, *dst, mem),
            Inst::Store { size_bytes, mem, src } => self.store_int(*size_bytes, mem, *src),
            Inst::Lea { dst, mem } => {
                let (place, result) = (self.place(mem), self.int_result(*dst));
                self.asm.encoder.lea(result, place);
                self.keep_int(*dst, result);
            }
            Inst::Imm { dst, value } => {
                let result = self.int_result(*dst);
                self.asm.encoder.mov_imm(result, *value);
                self.keep_int(*dst, result);
            }
            Inst::Set { dst, test } => {
                self.test(test);
                self.asm.encoder.setcc(test.cond, RAX);
                self.keep_bit(*dst);
            }
            Inst::FloatSet { cond, double, dst, x, y } => self.float_set(*cond, *double, *dst, *x, *y),
            Inst::Choose { wide, dst, test, x, y } => self.choose(*wide, *dst, test, *x, *y),
            Inst::Divide { wide, is_signed, remainder, dst, x, y } => {
                self.divide(*wide, *is_signed, *remainder, *dst, [*x, *y]);
            }
            Inst::LoopStart(label) => {
                self.asm.encoder.align(16);
                self.asm.encoder.bind(self.labels[label.0 as usize]);
            }
            Inst::Bind(label) => self.asm.encoder.bind(self.labels[label.0 as usize]),
            Inst::Jump(label) => self.asm.encoder.jump(self.labels[label.0 as usize]),
            Inst::Branch { test, label } => {
                self.test(test);
                self.asm.encoder.jump_if(test.cond, self.labels[label.0 as usize]);
            }
            Inst::CheckInterrupt => self.check_interrupt(),
            Inst::CallHost { function, args } => {
                self.arguments(args);
                self.call_address(*function);
                self.leave_on_failure();
            }
            Inst::CallPiece { number, args } => {
                self.arguments(args);
                let label = self.asm.piece(*number);
                self.asm.encoder.call(label);
                self.leave_on_failure();
            }
            Inst::PieceAddress { number, dst } => {
                let (label, result) = (self.asm.piece(*number), self.int_result(*dst));
                self.asm.encoder.lea_label(result, label);
                self.keep_int(*dst, result);
            }
            Inst::Remainder { double, dst, x, y } => self.remainder(*double, *dst, [*x, *y]),
            Inst::Entry { params } => self.parameters(params),
            Inst::LoopEnd | Inst::Hoisted(_) | Inst::Return => {}
        }
    }

    fn literal(&mut self, dst: Reg) {
        let Location::Reg(number) = self.location(dst) else { return };
        let literal = self.allocation.literals[dst.index()].expect("the register of a literal has one");
        match (dst.class(), literal) {
            (Class::Int, Literal::Scalar { bits, .. }) => self.asm.encoder.mov_imm(number, bits as i64),
            _ => self.load_literal(literal, number),
        }
    }
}

/// The condition that holds where the other does not.
fn opposite(cond: Cond) -> Cond {
    match cond {
        Cond::Below => Cond::AboveEqual,
        Cond::AboveEqual => Cond::Below,
        Cond::Equal => Cond::NotEqual,
        Cond::NotEqual => Cond::Equal,
        Cond::BelowEqual => Cond::Above,
        Cond::Above => Cond::BelowEqual,
        Cond::Parity => Cond::NoParity,
        Cond::NoParity => Cond::Parity,
        Cond::Less => Cond::GreaterEqual,
        Cond::GreaterEqual => Cond::Less,
        Cond::LessEqual => Cond::Greater,
        Cond::Greater => Cond::LessEqual,
    }
}
