//! Machine instructions over virtual registers: what lowering writes and allocation reads.
//!
//! Most are one machine instruction; some are a short fixed sequence that reads all its operands before it writes its
//! result. Registers are written once, but for variables: what loops carry.

use smallvec::SmallVec;

use super::encode::{Alu, Cond, Label, Len};
use super::ops::VecOp;
use crate::host::HostAddress;

/// The register file that a virtual register lives in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Int,
    Vector,
    Mask,
}

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Reg(u32);

impl Reg {
    pub(crate) fn new(number: usize, class: Class) -> Reg {
        Reg((number as u32) << 2 | class as u32)
    }

    pub(crate) fn index(self) -> usize {
        (self.0 >> 2) as usize
    }

    pub(crate) fn class(self) -> Class {
        match self.0 & 3 {
            0 => Class::Int,
            1 => Class::Vector,
            _ => Class::Mask,
        }
    }
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MemBase {
    Reg(Reg),
    /// Memory of this function, so many bytes from its start.
    Frame,
}

/// An address: base, index with the logarithm of its scale, displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mem {
    pub(crate) base: MemBase,
    pub(crate) index: Option<(Reg, u8)>,
    pub(crate) disp: i32,
}

impl Mem {
    pub(crate) fn at(base: Reg, disp: i32) -> Mem {
        Mem { base: MemBase::Reg(base), index: None, disp }
    }

    pub(crate) fn frame(disp: i32) -> Mem {
        Mem { base: MemBase::Frame, index: None, disp }
    }

    pub(crate) fn plus(self, bytes: i32) -> Mem {
        Mem { disp: self.disp + bytes, ..self }
    }

    fn regs(&self, visit: &mut impl FnMut(Reg)) {
        if let MemBase::Reg(base) = self.base {
            visit(base);
        }
        if let Some((index, _)) = self.index {
            visit(index);
        }
    }
}

/// A register or memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    Reg(Reg),
    Mem(Mem),
}

/// A register or a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Source {
    Reg(Reg),
    Imm(i32),
}

/// A constant that a register holds, or that is read from the pool where no register is free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Literal {
    /// The same element, of 4 or 8 bytes, in all lanes.
    Lanes { bits: u64, element: u8 },
    /// One element of 4 or 8 bytes.
    Scalar { bits: u64, element: u8 },
    /// Whole registers, by number in the function's table.
    Pattern(u32),
}

/// A vector instruction: see [`VecOp`].
#[derive(Clone, Debug)]
pub(crate) struct VectorInst {
    pub(crate) op: &'static VecOp,
    pub(crate) len: Len,
    pub(crate) dst: Reg,
    pub(crate) middle: Option<Reg>,
    pub(crate) rm: Operand,
    pub(crate) fourth: Option<Reg>,
    /// Lanes outside become zero, or for blends choose the operand in the middle.
    pub(crate) mask: Option<Reg>,
    pub(crate) imm: u8,
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) cond: Cond,
    pub(crate) wide: bool,
    pub(crate) x: Reg,
    pub(crate) y: Source,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) enum Inst {
    Vector(VectorInst),
    /// Writes the register to memory, under the mask if any.
    VectorStore {
        op: &'static VecOp,
        len: Len,
        mem: Mem,
        src: Reg,
        mask: Option<Reg>,
        imm: u8,
    },
    /// `x·y + z`, in the format with this number.
    Fma {
        format: usize,
        len: Len,
        dst: Reg,
        x: Reg,
        y: Reg,
        z: Reg,
    },
    /// A register of the same class.
    Move {
        dst: Reg,
        src: Reg,
    },
    /// The literal of the register.
    Literal {
        dst: Reg,
    },
    /// Elements of 4 or 8 bytes by 32-bit indices in a vector register.
    Gather {
        wide: bool,
        len: Len,
        dst: Reg,
        mem: Mem,
        mask: Option<Reg>,
    },
    Scatter {
        wide: bool,
        len: Len,
        mem: Mem,
        src: Reg,
        mask: Option<Reg>,
    },
    Alu {
        op: Alu,
        wide: bool,
        dst: Reg,
        x: Reg,
        y: Source,
    },
    Mul {
        wide: bool,
        dst: Reg,
        x: Reg,
        y: Source,
    },
    Neg {
        wide: bool,
        dst: Reg,
        x: Reg,
    },
    Not {
        wide: bool,
        dst: Reg,
        x: Reg,
    },
    PopCount {
        wide: bool,
        dst: Reg,
        x: Reg,
    },
    LeadingZeros {
        wide: bool,
        dst: Reg,
        x: Reg,
    },
    /// 4 left, 5 right, 7 right with the sign.
    ShiftImm {
        number: u8,
        wide: bool,
        dst: Reg,
        x: Reg,
        by: u8,
    },
    /// The amount counts modulo the width.
    ShiftBy {
        number: u8,
        wide: bool,
        dst: Reg,
        x: Reg,
        by: Reg,
    },
    /// The low bytes widened to 32 bits, or 4 of them to 64.
    Extend {
        size_bytes: u8,
        is_signed: bool,
        dst: Reg,
        x: Reg,
    },
    /// Bytes from memory, widened to 32 bits when fewer.
    Load {
        size_bytes: u8,
        is_signed: bool,
        dst: Reg,
        mem: Mem,
    },
    Store {
        size_bytes: u8,
        mem: Mem,
        src: Reg,
    },
    Lea {
        dst: Reg,
        mem: Mem,
    },
    Imm {
        dst: Reg,
        value: i64,
    },
    /// 1 where the comparison holds, else 0.
    Set {
        dst: Reg,
        test: Test,
    },
    /// 1 where the ordered comparison of scalars holds (for `NotEqual`: or they are unordered), else 0.
    FloatSet {
        cond: Cond,
        double: bool,
        dst: Reg,
        x: Reg,
        y: Reg,
    },
    /// `x` where the comparison holds, else `y`.
    Choose {
        wide: bool,
        dst: Reg,
        test: Test,
        x: Reg,
        y: Reg,
    },
    Divide {
        wide: bool,
        is_signed: bool,
        remainder: bool,
        dst: Reg,
        x: Reg,
        y: Reg,
    },
    /// The start of a loop, to which its jumps go back.
    LoopStart(Label),
    LoopEnd,
    Bind(Label),
    Jump(Label),
    Branch {
        test: Test,
        label: Label,
    },
    /// Leaves the function when the user asked for it.
    CheckInterrupt,
    /// Calls a function of the host with integers and leaves when its status is not zero.
    CallHost {
        function: HostAddress,
        args: SmallVec<[Reg; 4]>,
    },
    /// Calls another function of the program likewise.
    CallPiece {
        number: usize,
        args: SmallVec<[Reg; 4]>,
    },
    /// The address of another function of the program.
    PieceAddress {
        number: usize,
        dst: Reg,
    },
    /// The remainder of floats, by the host.
    Remainder {
        double: bool,
        dst: Reg,
        x: Reg,
        y: Reg,
    },
    /// The function's parameters.
    Entry {
        params: SmallVec<[Reg; 4]>,
    },
    /// Instructions of a list that is filled later.
    Hoisted(u32),
    Return,
}

impl Inst {
    /// Whether the instruction calls, so that no register but the callee-saved ones keeps its value.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self, Inst::CallHost { .. } | Inst::CallPiece { .. } | Inst::Remainder { .. })
    }

    /// Whether operands must not share a register with the result.
    pub(crate) fn is_early(&self) -> bool {
        matches!(self, Inst::Gather { .. })
    }

    /// Whether the value depends on the operands alone, so that the instruction may move to where they are known.
    pub(crate) fn is_pure(&self) -> bool {
        match self {
            Inst::Vector(v) => matches!(v.rm, Operand::Reg(_)),
            Inst::Fma { .. }
            | Inst::Move { .. }
            | Inst::Literal { .. }
            | Inst::Alu { .. }
            | Inst::Mul { .. }
            | Inst::Neg { .. }
            | Inst::Not { .. }
            | Inst::PopCount { .. }
            | Inst::LeadingZeros { .. }
            | Inst::ShiftImm { .. }
            | Inst::ShiftBy { .. }
            | Inst::Extend { .. }
            | Inst::Lea { .. }
            | Inst::Imm { .. }
            | Inst::Set { .. }
            | Inst::FloatSet { .. }
            | Inst::Choose { .. }
            | Inst::Divide { .. }
            | Inst::PieceAddress { .. } => true,
            Inst::VectorStore { .. }
            | Inst::Gather { .. }
            | Inst::Scatter { .. }
            | Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::LoopStart(_)
            | Inst::LoopEnd
            | Inst::Bind(_)
            | Inst::Jump(_)
            | Inst::Branch { .. }
            | Inst::CheckInterrupt
            | Inst::CallHost { .. }
            | Inst::CallPiece { .. }
            | Inst::Remainder { .. }
            | Inst::Entry { .. }
            | Inst::Hoisted(_)
            | Inst::Return => false,
        }
    }

    /// The register that the instruction writes; those of [`Inst::Entry`] aside.
    pub(crate) fn written(&self) -> Option<Reg> {
        match self {
            Inst::Vector(v) => Some(v.dst),
            Inst::Fma { dst, .. }
            | Inst::Move { dst, .. }
            | Inst::Literal { dst }
            | Inst::Gather { dst, .. }
            | Inst::Alu { dst, .. }
            | Inst::Mul { dst, .. }
            | Inst::Neg { dst, .. }
            | Inst::Not { dst, .. }
            | Inst::PopCount { dst, .. }
            | Inst::LeadingZeros { dst, .. }
            | Inst::ShiftImm { dst, .. }
            | Inst::ShiftBy { dst, .. }
            | Inst::Extend { dst, .. }
            | Inst::Load { dst, .. }
            | Inst::Lea { dst, .. }
            | Inst::Imm { dst, .. }
            | Inst::Set { dst, .. }
            | Inst::FloatSet { dst, .. }
            | Inst::Choose { dst, .. }
            | Inst::Divide { dst, .. }
            | Inst::PieceAddress { dst, .. }
            | Inst::Remainder { dst, .. } => Some(*dst),
            Inst::VectorStore { .. }
            | Inst::Scatter { .. }
            | Inst::Store { .. }
            | Inst::LoopStart(_)
            | Inst::LoopEnd
            | Inst::Bind(_)
            | Inst::Jump(_)
            | Inst::Branch { .. }
            | Inst::CheckInterrupt
            | Inst::CallHost { .. }
            | Inst::CallPiece { .. }
            | Inst::Entry { .. }
            | Inst::Hoisted(_)
            | Inst::Return => None,
        }
    }

    /// Calls `visit` with each register that the instruction reads; the one that its result had best share first.
    pub(crate) fn for_each_read(&self, mut visit: impl FnMut(Reg)) {
        match self {
            Inst::Vector(v) => {
                v.middle.into_iter().for_each(&mut visit);
                match &v.rm {
                    Operand::Reg(reg) => visit(*reg),
                    Operand::Mem(mem) => mem.regs(&mut visit),
                }
                v.fourth.into_iter().chain(v.mask).for_each(visit);
            }
            Inst::VectorStore { mem, src, mask, .. } | Inst::Scatter { mem, src, mask, .. } => {
                mem.regs(&mut visit);
                visit(*src);
                mask.iter().copied().for_each(visit);
            }
            Inst::Gather { mem, mask, .. } => {
                mem.regs(&mut visit);
                mask.iter().copied().for_each(visit);
            }
            Inst::Fma { x, y, z, .. } => [*z, *x, *y].into_iter().for_each(visit),
            Inst::Alu { x, y, .. } | Inst::Mul { x, y, .. } => {
                visit(*x);
                y.reg().into_iter().for_each(visit);
            }
            Inst::Move { src: x, .. }
            | Inst::Neg { x, .. }
            | Inst::Not { x, .. }
            | Inst::PopCount { x, .. }
            | Inst::LeadingZeros { x, .. }
            | Inst::ShiftImm { x, .. }
            | Inst::Extend { x, .. } => visit(*x),
            Inst::ShiftBy { x, by: y, .. }
            | Inst::FloatSet { x, y, .. }
            | Inst::Divide { x, y, .. }
            | Inst::Remainder { x, y, .. } => [*x, *y].into_iter().for_each(visit),
            Inst::Load { mem, .. } | Inst::Lea { mem, .. } => mem.regs(&mut visit),
            Inst::Store { mem, src, .. } => {
                mem.regs(&mut visit);
                visit(*src);
            }
            Inst::Set { test, .. } | Inst::Branch { test, .. } => {
                visit(test.x);
                test.y.reg().into_iter().for_each(visit);
            }
            Inst::Choose { test, x, y, .. } => {
                [*y, *x, test.x].into_iter().for_each(&mut visit);
                test.y.reg().into_iter().for_each(visit);
            }
            Inst::CallHost { args, .. } | Inst::CallPiece { args, .. } => args.iter().copied().for_each(visit),
            Inst::Literal { .. }
            | Inst::Imm { .. }
            | Inst::LoopStart(_)
            | Inst::LoopEnd
            | Inst::Bind(_)
            | Inst::Jump(_)
            | Inst::CheckInterrupt
            | Inst::PieceAddress { .. }
            | Inst::Entry { .. }
            | Inst::Hoisted(_)
            | Inst::Return => {}
        }
    }
}

impl Source {
    fn reg(&self) -> Option<Reg> {
        match *self {
            Source::Reg(reg) => Some(reg),
            Source::Imm(_) => None,
        }
    }
}

/// A function before its registers are machine registers.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) insts: Vec<Inst>,
    /// The lists that [`Inst::Hoisted`] stands for.
    pub(crate) hoisted: Vec<Vec<Inst>>,
    pub(crate) n_regs: usize,
    pub(crate) n_labels: u32,
    /// What registers of [`Inst::Literal`] hold.
    pub(crate) literals: Vec<(Reg, Literal)>,
    /// Bytes of the literals that are whole registers.
    pub(crate) patterns: Vec<Vec<u8>>,
    /// Registers that are one with a variable.
    pub(crate) merged: Vec<(Reg, Reg)>,
    /// Bytes of memory that the function itself asked for.
    pub(crate) frame_bytes: i32,
}

impl Function {
    pub(crate) fn reg(&mut self, class: Class) -> Reg {
        self.n_regs += 1;
        Reg::new(self.n_regs - 1, class)
    }

    pub(crate) fn label(&mut self) -> Label {
        self.n_labels += 1;
        Label(self.n_labels - 1)
    }

    /// The instructions in order, hoisted ones in their places.
    pub(crate) fn flatten(&mut self) -> Vec<Inst> {
        let mut flat = Vec::with_capacity(self.insts.len() + self.hoisted.iter().map(Vec::len).sum::<usize>());
        for inst in std::mem::take(&mut self.insts) {
            match inst {
                Inst::Hoisted(number) => flat.append(&mut self.hoisted[number as usize]),
                inst => flat.push(inst),
            }
        }
        flat
    }
}
