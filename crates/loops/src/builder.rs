//! Makes programs: one method an operation, blocks by closures.
//!
//! Within a block equal pure instructions are made once, so lowering may ask for the same value twice. Constants fold
//! only where that cannot change bits: integer address arithmetic.

use std::collections::HashMap;

use pullback_base::{DType, Scalar};
use rustc_hash::FxHashMap;

use crate::program::*;

/// A program in the making.
pub struct Builder {
    program: Program,
    blocks: Vec<Block>,
    /// Values that are integer constants.
    ints: FxHashMap<ValueId, i64>,
}

#[derive(Default)]
struct Block {
    insts: Vec<Inst>,
    known: HashMap<Key, ValueId>,
}

#[derive(PartialEq, Eq, Hash, Clone)]
enum Key {
    Const(Scalar),
    Index(LoopId),
    Size(u32),
    Unary(Unary, ValueId),
    Binary(Binary, ValueId, ValueId),
    Compare(Comparison, ValueId, ValueId),
    Select(ValueId, ValueId, ValueId),
    Convert(DType, ValueId),
    Bitcast(DType, ValueId),
    Round(DType, ValueId),
    Lookup(Table, ValueId),
    Fma(ValueId, ValueId, ValueId),
}

impl Builder {
    /// An empty program.
    pub fn new(name: &str) -> Builder {
        Builder::with(Program { name: name.into(), ..Program::default() })
    }

    /// A program with the tables of another and an empty body, for passes that rebuild blocks.
    pub fn over(program: &Program) -> Builder {
        Builder::with(Program { body: vec![], ..program.clone() })
    }

    fn with(program: Program) -> Builder {
        Builder { program, blocks: vec![Block::default()], ints: FxHashMap::default() }
    }

    /// Opens a block inside the current one.
    pub fn open(&mut self) {
        self.blocks.push(Block::default());
    }

    /// Closes the current block and gives its instructions.
    pub fn close(&mut self) -> Vec<Inst> {
        self.blocks.pop().expect("an open block").insts
    }

    /// The number of instructions in the current block so far.
    pub fn open_len(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.insts.len())
    }

    /// Appends an instruction whose value, if any, is already in the table.
    pub fn push_inst(&mut self, inst: Inst) {
        self.blocks.last_mut().expect("an open block").insts.push(inst);
    }

    /// The finished program.
    pub fn finish(mut self) -> Program {
        let block = self.blocks.pop().expect("the outermost block");
        assert!(self.blocks.is_empty(), "all inner blocks are closed");
        self.program.body = block.insts;
        self.program
    }

    /// Declares a buffer.
    pub fn buffer(&mut self, dtype: DType, len: Extent, role: Role) -> BufferId {
        self.program.buffers.push(BufferDecl { dtype, len, role });
        BufferId(u32::try_from(self.program.buffers.len() - 1).expect("fewer than 2^32 buffers"))
    }

    /// The declaration of a buffer.
    pub fn decl(&self, buffer: BufferId) -> &BufferDecl {
        &self.program.buffers[buffer.index()]
    }

    /// A new size parameter.
    pub fn size_param(&mut self) -> u32 {
        self.program.n_sizes += 1;
        self.program.n_sizes - 1
    }

    /// The type of a value.
    pub fn dtype(&self, value: ValueId) -> DType {
        self.program.values[value.index()]
    }

    /// A value that some instruction to come will define.
    pub fn fresh(&mut self, dtype: DType) -> ValueId {
        self.program.values.push(dtype);
        ValueId(u32::try_from(self.program.values.len() - 1).expect("fewer than 2^32 values"))
    }

    /// A loop that some [`Op::For`] to come will carry.
    pub fn fresh_loop(&mut self) -> LoopId {
        self.program.n_loops += 1;
        LoopId(self.program.n_loops - 1)
    }

    /// Appends an instruction that defines no value.
    pub fn push(&mut self, op: Op) {
        debug_assert!(!op.has_value());
        let inst = Inst { dst: ValueId(u32::MAX), op };
        self.blocks.last_mut().expect("an open block").insts.push(inst);
    }

    fn pure(&mut self, key: Key, dtype: DType, op: Op) -> ValueId {
        if let Some(&known) = self.blocks.iter().rev().find_map(|block| block.known.get(&key)) {
            return known;
        }
        let dst = self.fresh(dtype);
        let block = self.blocks.last_mut().expect("an open block");
        block.insts.push(Inst { dst, op });
        block.known.insert(key, dst);
        dst
    }

    /// A constant; its weak type is dropped.
    pub fn constant(&mut self, scalar: Scalar) -> ValueId {
        let scalar = scalar.weak(false);
        let value = self.pure(Key::Const(scalar), scalar.dtype(), Op::Const(scalar));
        if scalar.dtype().is_integer() {
            self.ints.insert(value, scalar.as_i64());
        }
        value
    }

    /// The number that a value is, if it is an integer constant.
    pub fn known_int(&self, value: ValueId) -> Option<i64> {
        self.ints.get(&value).copied()
    }

    /// An `int64` constant.
    pub fn int(&mut self, value: i64) -> ValueId {
        self.constant(Scalar::int(DType::I64, value.into()))
    }

    /// The counter of an enclosing loop.
    pub fn index(&mut self, id: LoopId) -> ValueId {
        self.pure(Key::Index(id), DType::I64, Op::Index(id))
    }

    /// A size parameter as a value.
    pub fn size(&mut self, number: u32) -> ValueId {
        self.pure(Key::Size(number), DType::I64, Op::Size(number))
    }

    /// An operation of one operand.
    pub fn unary(&mut self, op: Unary, x: ValueId) -> ValueId {
        let dtype = if op == Unary::IsFinite { DType::Bool } else { self.dtype(x) };
        self.pure(Key::Unary(op, x), dtype, Op::Unary(op, x))
    }

    /// An operation of two operands of one type.
    pub fn binary(&mut self, op: Binary, x: ValueId, y: ValueId) -> ValueId {
        debug_assert_eq!(self.dtype(x), self.dtype(y), "{op:?}");
        self.pure(Key::Binary(op, x, y), self.dtype(x), Op::Binary(op, x, y))
    }

    /// `x·y + z`, rounded once.
    pub fn fma(&mut self, x: ValueId, y: ValueId, z: ValueId) -> ValueId {
        self.pure(Key::Fma(x, y, z), self.dtype(x), Op::Fma(x, y, z))
    }

    /// A comparison.
    pub fn compare(&mut self, op: Comparison, x: ValueId, y: ValueId) -> ValueId {
        debug_assert_eq!(self.dtype(x), self.dtype(y), "{op:?}");
        self.pure(Key::Compare(op, x, y), DType::Bool, Op::Compare(op, x, y))
    }

    /// `on_true` where `condition` holds, else `on_false`.
    pub fn select(&mut self, condition: ValueId, on_true: ValueId, on_false: ValueId) -> ValueId {
        debug_assert_eq!(self.dtype(on_true), self.dtype(on_false));
        let op = Op::Select(condition, on_true, on_false);
        self.pure(Key::Select(condition, on_true, on_false), self.dtype(on_true), op)
    }

    /// Conversion by value; nothing when the type is the same.
    pub fn convert(&mut self, dtype: DType, x: ValueId) -> ValueId {
        match self.known_int(x) {
            _ if self.dtype(x) == dtype => x,
            // Positions come as integers of any kind.
            Some(number) if dtype == DType::I64 => self.int(number),
            _ => self.pure(Key::Convert(dtype, x), dtype, Op::Convert(dtype, x)),
        }
    }

    /// Conversion by bits; nothing when the type is the same.
    pub fn bitcast(&mut self, dtype: DType, x: ValueId) -> ValueId {
        if self.dtype(x) == dtype { x } else { self.pure(Key::Bitcast(dtype, x), dtype, Op::Bitcast(dtype, x)) }
    }

    /// Rounds a `float32` to the nearest value of a 16-bit float type.
    pub fn round(&mut self, dtype: DType, x: ValueId) -> ValueId {
        self.pure(Key::Round(dtype, x), DType::F32, Op::Round(dtype, x))
    }

    /// The entry of a table that the low bits of an `int32` name.
    pub fn lookup(&mut self, table: &Table, index: ValueId) -> ValueId {
        debug_assert_eq!(self.dtype(index), DType::I32);
        self.pure(Key::Lookup(table.clone(), index), DType::F32, Op::Lookup(table.clone(), index))
    }

    /// Reads an element. Half-width floats come as `float32`.
    pub fn load(&mut self, buffer: BufferId, addr: Addr) -> ValueId {
        let dtype = match self.decl(buffer).dtype {
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        };
        let dst = self.fresh(dtype);
        self.blocks.last_mut().expect("an open block").insts.push(Inst { dst, op: Op::Load(buffer, addr) });
        dst
    }

    /// Writes an element.
    pub fn store(&mut self, buffer: BufferId, addr: Addr, value: ValueId) {
        self.push(Op::Store(buffer, addr, value));
    }

    /// A counted loop. `body` gets the loop and the carried values and gives their next values, in order.
    /// Returns the values after the loop.
    pub fn for_loop(
        &mut self,
        n: Extent,
        kind: LoopKind,
        inits: &[(ValueId, Option<Combine>)],
        body: impl FnOnce(&mut Builder, LoopId, &[ValueId]) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let id = self.fresh_loop();
        let phis = self.phis(inits.iter().map(|&(init, _)| init));
        self.blocks.push(Block::default());
        let nexts = body(self, id, &phis);
        let block = self.blocks.pop().expect("the block of the body").insts;
        let combines = inits.iter().map(|&(_, combine)| combine).collect();
        let carries = self.carries(inits.iter().map(|&(init, _)| init), phis, nexts, combines);
        let outs = carries.iter().map(|carry| carry.out).collect();
        self.push(Op::For(Box::new(For { id, n, kind, carries, body: block })));
        outs
    }

    /// A loop that runs while the condition holds. `header` computes the condition from the carried values, `body`
    /// their next values. Returns the values after the loop.
    pub fn while_loop(
        &mut self,
        inits: &[ValueId],
        header: impl FnOnce(&mut Builder, &[ValueId]) -> ValueId,
        body: impl FnOnce(&mut Builder, &[ValueId]) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let phis = self.phis(inits.iter().copied());
        self.blocks.push(Block::default());
        let condition = header(self, &phis);
        let header = self.blocks.pop().expect("the header").insts;
        self.blocks.push(Block::default());
        let nexts = body(self, &phis);
        let block = self.blocks.pop().expect("the body").insts;
        let carries = self.carries(inits.iter().copied(), phis, nexts, vec![None; inits.len()]);
        let outs = carries.iter().map(|carry| carry.out).collect();
        self.push(Op::While(Box::new(While { carries, header, condition, body: block })));
        outs
    }

    /// A choice between blocks by an `int64` index.
    #[allow(clippy::type_complexity, reason = "closures of different types in one list")]
    pub fn switch(&mut self, index: ValueId, branches: Vec<Box<dyn FnOnce(&mut Builder) + '_>>) {
        let mut blocks = vec![];
        for branch in branches {
            self.blocks.push(Block::default());
            branch(self);
            blocks.push(self.blocks.pop().expect("the branch").insts);
        }
        self.push(Op::Switch(Box::new(Switch { index, branches: blocks })));
    }

    /// Runs `body` in a block of its own and returns its instructions, for callers that build structure themselves.
    pub fn block<T>(&mut self, body: impl FnOnce(&mut Builder) -> T) -> (Vec<Inst>, T) {
        self.blocks.push(Block::default());
        let result = body(self);
        (self.blocks.pop().expect("the block").insts, result)
    }

    fn phis(&mut self, inits: impl Iterator<Item = ValueId>) -> Vec<ValueId> {
        inits.map(|init| self.fresh(self.dtype(init))).collect()
    }

    fn carries(
        &mut self,
        inits: impl Iterator<Item = ValueId>,
        phis: Vec<ValueId>,
        nexts: Vec<ValueId>,
        combines: Vec<Option<Combine>>,
    ) -> Vec<Carry> {
        assert_eq!(phis.len(), nexts.len(), "one next value for each carry");
        let parts = inits.zip(phis).zip(nexts).zip(combines);
        parts
            .map(|(((init, phi), next), combine)| {
                let out = self.fresh(self.dtype(init));
                Carry { phi, init, next, out, combine }
            })
            .collect()
    }
}
