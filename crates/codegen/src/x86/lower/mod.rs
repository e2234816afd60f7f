//! From a program's blocks to instructions on virtual registers.
//!
//! [`Lower`] walks one function's blocks. A value is a constant, a scalar, or, inside a vectorized `Lanes` loop, a group
//! of lanes ([`Slot`]): 16 with AVX-512, 8 with AVX2. Lanes of 32 bits take one register, of 64 bits two; narrower
//! integers stand in 32 bits, extended by their sign; booleans are masks.
//!
//! An instruction whose operands are known outside of loops is emitted before the outermost of those loops, into a list
//! that stays open while the loop's body is made. Structure is here; see the modules for the rest.

mod convert;
mod float;
mod half_width;
mod integer;
mod lanes;
mod memory;
mod outline;
mod reduce;
mod scalar;
mod structure;
mod vector;

use std::rc::Rc;

use pullback_base::{DType, Scalar};
use pullback_loops::*;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::encode::{Alu, Cond, Label, Len};
use super::inst::{Class, Function, Inst, Literal, Mem, Reg, Source, Test};
use crate::analysis::{Shared, Varying};
use crate::host::{self, HostAddress};

/// The registers of a group of lanes.
type Parts = SmallVec<[Reg; 2]>;

/// Where a value is.
#[derive(Clone, Debug)]
enum Slot {
    Empty,
    /// Made anew at each use.
    Const(Scalar),
    /// The same for all lanes.
    Scalar(Reg),
    /// One for each lane.
    Vector(Parts),
    /// Booleans of lanes: a mask register, or with AVX2 32-bit lanes of all or no bits.
    Mask(Reg),
}

/// A loop counter: a register, if it moves, and a constant.
#[derive(Clone, Copy, Debug)]
struct Counter {
    reg: Option<Reg>,
    plus: i64,
}

/// The vectorized loop that is being emitted.
#[derive(Clone)]
struct LaneScope {
    id: LoopId,
    /// Which values differ from lane to lane.
    varying: Rc<Varying>,
    /// The lanes that exist, where not all do.
    tail: Option<Tail>,
}

/// The last, incomplete group.
#[derive(Clone, Copy)]
struct Tail {
    mask: Reg,
    n: Source,
}

/// An open loop, as far as moving instructions out of it goes.
struct Scope {
    /// The list of instructions before the loop.
    list: u32,
    /// Buffers that the loop writes, and those that it swaps.
    stored: Vec<BufferId>,
    swapped: Vec<BufferId>,
    /// What is known as long as the loop is open.
    keys: Vec<Key>,
}

/// What is computed once for all that ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Literal(Literal, u8),
    /// A scalar in all lanes, of 64 bits or not.
    Splat(Reg, bool),
    /// A boolean scalar as a mask.
    SplatMask(Reg),
    Pointer(BufferId),
    Size(u32),
    /// A pointer moved on by a counter times so many bytes.
    Advanced(Reg, LoopId, i64),
}

/// What lowering keeps of a register.
#[derive(Clone, Copy)]
struct Known {
    /// How many of the open loops the value depends on, from the outermost.
    level: u32,
    /// The number of the instruction that writes it, plus one; 0 if it is hoisted, a variable or a parameter.
    written: u32,
    /// The number of the instruction that read it last.
    read: u32,
    /// Its bits, if it is a float literal.
    literal: Option<u64>,
}

pub(crate) struct Lower<'s, 'a> {
    f: Function,
    shared: &'s mut Shared<'a>,
    program: &'a Program,
    has_avx512: bool,
    slots: Vec<Slot>,
    counters: Vec<Option<Counter>>,
    /// The table of the run: see [`host`].
    context: Reg,
    scopes: Vec<Scope>,
    regs: Vec<Known>,
    known: FxHashMap<Key, Reg>,
    /// Loads stay inside so many of the open loops: further out they might not run at all.
    load_floor: usize,
    lanes: Option<LaneScope>,
    /// Accumulators of extremes that are never NaN, each with the mask that says where NaN came.
    watched: Vec<(ValueId, Reg)>,
    /// Open loops in this function.
    depth: usize,
    /// Whether this function is an outlined loop.
    is_outlined: bool,
    /// Bytes of the function's memory that are in use.
    frame_used: i32,
    /// Pointers of buffers that the function was given.
    pointers: Vec<Option<Reg>>,
}

/// Tables by value, loop and buffer that the functions of a program use one after the other: large programs have many
/// functions, and clearing the tables for each would take longer than making its code.
pub(crate) struct Tables {
    slots: Vec<Slot>,
    counters: Vec<Option<Counter>>,
    pointers: Vec<Option<Reg>>,
}

impl Tables {
    pub(crate) fn new(program: &Program) -> Tables {
        Tables {
            slots: vec![Slot::Empty; program.values.len()],
            counters: vec![None; program.n_loops as usize],
            pointers: vec![None; program.buffers.len()],
        }
    }
}

/// The instructions of a program's main function.
pub(crate) fn main_function(shared: &mut Shared<'_>, tables: &mut Tables, has_avx512: bool) -> Function {
    let mut lower = Lower::new(shared, tables, has_avx512);
    let context = lower.context;
    lower.push(Inst::Entry { params: smallvec![context] });
    let program = lower.program;
    lower.block(&program.body);
    lower.push(Inst::Return);
    lower.finish(tables)
}

/// The instructions of the function of an outlined loop.
pub(crate) fn outlined_function(
    shared: &mut Shared<'_>,
    tables: &mut Tables,
    number: usize,
    has_avx512: bool,
) -> Function {
    let outlined = shared.outlined[number].clone();
    let mut lower = Lower::new(shared, tables, has_avx512);
    lower.outlined(&outlined);
    lower.finish(tables)
}

impl<'s, 'a> Lower<'s, 'a> {
    fn new(shared: &'s mut Shared<'a>, tables: &mut Tables, has_avx512: bool) -> Lower<'s, 'a> {
        let program = shared.program;
        let mut lower = Lower {
            f: Function::default(),
            shared,
            program,
            has_avx512,
            slots: std::mem::take(&mut tables.slots),
            counters: std::mem::take(&mut tables.counters),
            context: Reg::new(0, Class::Int),
            scopes: vec![],
            regs: vec![],
            known: FxHashMap::default(),
            load_floor: 0,
            lanes: None,
            watched: vec![],
            depth: 0,
            is_outlined: false,
            frame_used: 0,
            pointers: std::mem::take(&mut tables.pointers),
        };
        lower.context = lower.reg(Class::Int);
        lower
    }

    /// The function, and the tables back. Slots stay: values are set before they are read.
    fn finish(self, tables: &mut Tables) -> Function {
        (tables.slots, tables.counters, tables.pointers) = (self.slots, self.counters, self.pointers);
        self.f
    }

    /// Lanes of a group.
    fn group(&self) -> usize {
        if self.has_avx512 { 16 } else { 8 }
    }

    /// The length of whole registers.
    fn whole(&self) -> Len {
        if self.has_avx512 { Len::L512 } else { Len::L256 }
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

    fn reg(&mut self, class: Class) -> Reg {
        let level = self.scopes.len() as u32;
        self.regs.push(Known { level, written: 0, read: 0, literal: None });
        self.f.reg(class)
    }

    fn label(&mut self) -> Label {
        self.f.label()
    }

    fn level(&self, reg: Reg) -> usize {
        self.regs[reg.index()].level as usize
    }

    /// The number of loops that the operands depend on.
    fn level_of_reads(&self, inst: &Inst) -> usize {
        let mut level = 0;
        inst.for_each_read(|reg| level = level.max(self.level(reg)));
        level
    }

    /// Appends an instruction, before all loops that its value does not depend on.
    fn push(&mut self, inst: Inst) {
        let level = if inst.is_pure() { self.level_of_reads(&inst) } else { self.scopes.len() };
        self.push_at(level, inst);
    }

    /// Appends an instruction inside so many of the open loops.
    fn push_at(&mut self, level: usize, inst: Inst) {
        let now = self.f.insts.len() as u32;
        let is_here = level >= self.scopes.len();
        inst.for_each_read(|reg| self.regs[reg.index()].read = now);
        if let Some(dst) = inst.written() {
            let known = &mut self.regs[dst.index()];
            known.level = level.min(self.scopes.len()) as u32;
            known.written = if is_here { now + 1 } else { 0 };
        }
        if is_here {
            self.f.insts.push(inst);
        } else {
            self.f.hoisted[self.scopes[level].list as usize].push(inst);
        }
    }

    /// Writes a variable.
    fn push_variable(&mut self, inst: Inst) {
        let now = self.f.insts.len() as u32;
        inst.for_each_read(|reg| self.regs[reg.index()].read = now);
        self.f.insts.push(inst);
    }

    fn assign(&mut self, variable: Reg, value: Reg) {
        self.push_variable(Inst::Move { dst: variable, src: value });
    }

    /// A fresh variable with a value.
    fn variable(&mut self, init: Reg) -> Reg {
        let variable = self.reg(init.class());
        self.assign(variable, init);
        variable
    }

    /// Keeps what was computed inside `level` loops for others to find, unless it was computed just here.
    fn remember(&mut self, key: Key, reg: Reg) {
        let level = self.level(reg);
        if level < self.scopes.len() {
            self.known.insert(key, reg);
            self.scopes[level].keys.push(key);
        }
    }

    fn open_scope(&mut self, blocks: &[&[pullback_loops::Inst]]) {
        let (mut stored, mut swapped) = (vec![], vec![]);
        for block in blocks {
            for_each_inst(block, &mut |inst| match &inst.op {
                Op::Store(buffer, ..) => stored.push(*buffer),
                Op::Call(call) => stored.extend(call.args.iter().map(|&(buffer, _)| buffer)),
                Op::Swap(x, y) => swapped.extend([*x, *y]),
                _ => {}
            });
        }
        let list = self.f.hoisted.len() as u32;
        self.f.hoisted.push(vec![]);
        self.push_variable(Inst::Hoisted(list));
        self.scopes.push(Scope { list, stored, swapped, keys: vec![] });
    }

    fn close_scope(&mut self) {
        let scope = self.scopes.pop().expect("an open loop");
        for key in &scope.keys {
            self.known.remove(key);
        }
    }

    fn literal(&mut self, literal: Literal, class: Class) -> Reg {
        let key = Key::Literal(literal, class as u8);
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let reg = self.reg(class);
        self.f.literals.push((reg, literal));
        if let (Literal::Lanes { bits, .. } | Literal::Scalar { bits, .. }, Class::Vector) = (literal, class) {
            self.regs[reg.index()].literal = Some(bits);
        }
        self.push(Inst::Literal { dst: reg });
        self.remember(key, reg);
        reg
    }

    fn int(&mut self, value: i64) -> Reg {
        self.literal(Literal::Scalar { bits: value as u64, element: 8 }, Class::Int)
    }

    fn source(&mut self, value: i64) -> Source {
        i32::try_from(value).map_or_else(|_| Source::Reg(self.int(value)), Source::Imm)
    }

    /// The register of a value that is the same for all lanes.
    fn scalar(&mut self, value: ValueId) -> Reg {
        match self.slots[value.index()].clone() {
            Slot::Const(scalar) => self.scalar_constant(scalar),
            Slot::Scalar(reg) => reg,
            slot => unreachable!("v{} is {slot:?}, not a scalar", value.0),
        }
    }

    fn scalar_constant(&mut self, scalar: Scalar) -> Reg {
        let bits = scalar.to_bits() as u64;
        let dtype = scalar.dtype();
        if dtype.is_float() {
            let element = dtype.size_bytes() as u8;
            return self.literal(Literal::Scalar { bits, element }, Class::Vector);
        }
        self.int(integer_value(dtype, bits))
    }

    /// A number of the run's table.
    fn context_entry(&mut self, key: Key, entry: usize, level: usize) -> Reg {
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let dst = self.reg(Class::Int);
        let mem = Mem::at(self.context, entry as i32 * 8);
        self.push_at(level, Inst::Load { size_bytes: 8, is_signed: false, dst, mem });
        self.remember(key, dst);
        dst
    }

    fn size(&mut self, number: u32) -> Reg {
        self.context_entry(Key::Size(number), host::size_entry(number), 0)
    }

    fn extent(&mut self, extent: Extent) -> Source {
        match extent {
            Extent::Const(n) => self.source(n),
            Extent::Size(number) => Source::Reg(self.size(number)),
        }
    }

    fn source_reg(&mut self, source: Source) -> Reg {
        match source {
            Source::Reg(reg) => reg,
            Source::Imm(value) => self.int(value.into()),
        }
    }

    fn counter(&mut self, id: LoopId) -> Reg {
        let counter = self.counters[id.index()].expect("the verifier saw the loop open");
        match (counter.reg, counter.plus) {
            (None, plus) => self.int(plus),
            (Some(reg), 0) => reg,
            (Some(reg), plus) => {
                let plus = self.source(plus);
                self.alu(Alu::Add, true, reg, plus)
            }
        }
    }

    fn alu(&mut self, op: Alu, wide: bool, x: Reg, y: Source) -> Reg {
        let dst = self.reg(Class::Int);
        self.push(Inst::Alu { op, wide, dst, x, y });
        dst
    }

    fn block(&mut self, block: &'a [pullback_loops::Inst]) {
        block.iter().for_each(|inst| self.inst(inst));
    }

    fn inst(&mut self, inst: &'a pullback_loops::Inst) {
        match &inst.op {
            Op::Const(scalar) => self.set(inst.dst, Slot::Const(*scalar)),
            Op::Store(buffer, addr, value) => self.store(*buffer, addr, *value),
            Op::Load(buffer, addr) => {
                let slot = self.load(*buffer, addr);
                self.set(inst.dst, slot);
            }
            Op::For(inner) => self.for_loop(inner),
            Op::While(inner) => self.while_loop(inner),
            Op::Switch(inner) => self.switch(inner),
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
    }

    fn uniform_value(&mut self, inst: &pullback_loops::Inst) -> Slot {
        let mut args: SmallVec<[Reg; 3]> = smallvec![];
        inst.op.for_each_operand(|operand| args.push(self.scalar(operand)));
        Slot::Scalar(self.scalar_op(&inst.op, &args))
    }
}

/// An integer's bits as the number that stands in a register: extended by its sign.
fn integer_value(dtype: DType, bits: u64) -> i64 {
    let spare = 64 - 8 * dtype.size_bytes() as u32;
    if is_signed(dtype) { (bits << spare) as i64 >> spare } else { (bits << spare >> spare) as i64 }
}

fn is_signed(dtype: DType) -> bool {
    dtype.kind() == pullback_base::dtype::Kind::Signed
}

/// Whether values take 64 bits.
fn is_wide(dtype: DType) -> bool {
    dtype.size_bytes() == 8
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// The register file of scalars of a type.
fn class_of(dtype: DType) -> Class {
    if dtype.is_float() { Class::Vector } else { Class::Int }
}

/// Whether a boolean in an integer register holds.
fn holds(condition: Reg) -> Test {
    Test { cond: Cond::NotEqual, wide: false, x: condition, y: Source::Imm(0) }
}
