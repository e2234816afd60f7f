//! Which shared loops are the same code: equal up to the numbers of values, loops and buffers.
//!
//! A network of many layers asks for the same few loops many times; each distinct one is compiled once. Loops that call,
//! swap, choose or repeat while a condition holds are not compared.

use pullback_base::{DType, Scalar};
use pullback_loops::*;
use rustc_hash::FxHashMap;

/// What a loop says, as numbers: two loops with equal words are the same code.
pub(crate) type Words = Vec<u32>;

/// A loop in words, its values, loops and buffers numbered in order of appearance.
pub(crate) struct Likeness<'a> {
    program: &'a Program,
    words: Words,
    values: FxHashMap<ValueId, u32>,
    loops: FxHashMap<LoopId, u32>,
    buffers: FxHashMap<BufferId, u32>,
    /// Buffers in order of appearance.
    pub(crate) order: Vec<BufferId>,
    is_comparable: bool,
}

/// The outermost loops in groups of one likeness, what they capture left aside.
pub(crate) fn groups(program: &Program) -> Vec<Vec<LoopId>> {
    let mut numbers: FxHashMap<Words, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<LoopId>> = vec![];
    for inst in &program.body {
        if let Op::For(inner) = &inst.op
            && let Some(key) = Likeness::of(program, inner).key(&[], &[], &[])
        {
            let number = *numbers.entry(key).or_insert(groups.len());
            groups.resize_with(groups.len().max(number + 1), Vec::new);
            groups[number].push(inner.id);
        }
    }
    groups
}

/// Words that say what follows.
#[derive(Clone, Copy)]
enum Mark {
    Captured,
    Const,
    Index,
    Size,
    Unary,
    Binary,
    Fma,
    Compare,
    Select,
    Convert,
    Bitcast,
    Round,
    Lookup,
    Load,
    Store,
    Loop,
    Yields,
    Addr,
    Offset,
    Absent,
}

impl<'a> Likeness<'a> {
    /// The likeness of a loop that threads share.
    pub(crate) fn of(program: &'a Program, inner: &For) -> Likeness<'a> {
        let mut likeness = Likeness {
            program,
            words: vec![],
            values: FxHashMap::default(),
            loops: FxHashMap::default(),
            buffers: FxHashMap::default(),
            order: vec![],
            is_comparable: true,
        };
        likeness.counted(inner);
        likeness
    }

    /// The key of the loop with what it captures, if it can be compared.
    pub(crate) fn key(
        mut self,
        constants: &[(ValueId, Scalar)],
        values: &[ValueId],
        counters: &[LoopId],
    ) -> Option<Words> {
        self.mark(Mark::Captured);
        for &(value, scalar) in constants {
            self.value(value);
            self.scalar(scalar);
        }
        self.mark(Mark::Captured);
        values.iter().for_each(|&value| self.value(value));
        self.mark(Mark::Captured);
        counters.iter().for_each(|&id| self.loop_number(id));
        self.is_comparable.then_some(self.words)
    }

    fn put(&mut self, word: u32) {
        self.words.push(word);
    }

    fn mark(&mut self, mark: Mark) {
        self.put(mark as u32);
    }

    fn wide(&mut self, word: u64) {
        self.words.extend([word as u32, (word >> 32) as u32]);
    }

    fn dtype(&mut self, dtype: DType) {
        self.put(dtype as u32);
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.dtype(scalar.dtype());
        let bits = scalar.to_bits();
        self.wide(bits as u64);
        self.wide((bits >> 64) as u64);
    }

    fn extent(&mut self, extent: Extent) {
        match extent {
            Extent::Const(n) => {
                self.put(0);
                self.wide(n as u64);
            }
            Extent::Size(number) => self.words.extend([1, number]),
        }
    }

    /// The number of a value; its type is said at its first appearance.
    fn value(&mut self, value: ValueId) {
        let next = self.values.len() as u32;
        let number = *self.values.entry(value).or_insert(next);
        self.put(number);
        if number == next {
            self.dtype(self.program.values[value.index()]);
        }
    }

    fn loop_number(&mut self, id: LoopId) {
        let next = self.loops.len() as u32;
        let number = *self.loops.entry(id).or_insert(next);
        self.put(number);
    }

    fn buffer(&mut self, buffer: BufferId) {
        let next = self.buffers.len() as u32;
        let number = *self.buffers.entry(buffer).or_insert(next);
        self.put(number);
        if number == next {
            self.order.push(buffer);
            self.dtype(self.program.buffers[buffer.index()].dtype);
        }
    }

    fn addr(&mut self, buffer: BufferId, addr: &Addr) {
        self.mark(Mark::Addr);
        self.buffer(buffer);
        self.wide(addr.base as u64);
        self.put(addr.terms.len() as u32);
        for &(id, stride) in &addr.terms {
            self.loop_number(id);
            self.extent(stride);
        }
        if let Some(offset) = addr.offset {
            self.mark(Mark::Offset);
            self.value(offset);
        }
    }

    fn counted(&mut self, inner: &For) {
        self.mark(Mark::Loop);
        self.loop_number(inner.id);
        self.extent(inner.n);
        self.words.extend([inner.kind as u32, inner.carries.len() as u32]);
        for carry in &inner.carries {
            self.value(carry.phi);
            self.value(carry.init);
            self.put(carry.combine.map_or(Mark::Absent as u32, |combine| combine as u32));
        }
        self.put(inner.body.len() as u32);
        for inst in &inner.body {
            self.inst(inst);
        }
        self.mark(Mark::Yields);
        for carry in &inner.carries {
            self.value(carry.next);
            self.value(carry.out);
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match &inst.op {
            Op::Const(scalar) => {
                self.mark(Mark::Const);
                self.scalar(*scalar);
            }
            Op::Index(id) => {
                self.mark(Mark::Index);
                self.loop_number(*id);
            }
            Op::Size(number) => self.words.extend([Mark::Size as u32, *number]),
            Op::Unary(op, _) => self.words.extend([Mark::Unary as u32, *op as u32]),
            Op::Binary(op, ..) => self.words.extend([Mark::Binary as u32, *op as u32]),
            Op::Fma(..) => self.mark(Mark::Fma),
            Op::Compare(op, ..) => self.words.extend([Mark::Compare as u32, *op as u32]),
            Op::Select(..) => self.mark(Mark::Select),
            Op::Convert(dtype, _) => self.words.extend([Mark::Convert as u32, *dtype as u32]),
            Op::Bitcast(dtype, _) => self.words.extend([Mark::Bitcast as u32, *dtype as u32]),
            Op::Round(dtype, _) => self.words.extend([Mark::Round as u32, *dtype as u32]),
            Op::Lookup(table, _) => {
                self.mark(Mark::Lookup);
                self.words.extend(table.iter());
            }
            Op::Load(buffer, addr) => {
                self.mark(Mark::Load);
                self.addr(*buffer, addr);
            }
            Op::Store(buffer, addr, _) => {
                self.mark(Mark::Store);
                self.addr(*buffer, addr);
            }
            Op::For(inner) => return self.counted(inner),
            Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => self.is_comparable = false,
        }
        inst.op.for_each_operand(|value| self.value(value));
        if inst.op.has_value() {
            self.value(inst.dst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Likenesses of the outermost loops, most frequent first.
    fn check(text: &str, want: &[usize]) {
        let program = parse(text).expect("the test's program parses");
        let mut counts: Vec<usize> = groups(&program).iter().map(Vec::len).collect();
        counts.sort_by(|a, b| b.cmp(a));
        assert_eq!(counts, want);
    }

    #[test]
    fn loops_are_alike_up_to_numbers_but_not_up_to_sizes_or_operations() {
        let nest = |id: usize, n: usize, first: usize, from: usize, to: usize, op: &str| {
            format!(
                "  for i{id} < {n} lanes {{\n    v{first}: float32 = load b{from}[i{id}*1]\n    v{}: float32 = {op} v{first} v{first}\n    \
                 store b{to}[i{id}*1] v{}\n  }}\n",
                first + 1,
                first + 1
            )
        };
        let program = |nests: &[String]| {
            let buffers = "  b0: float32[20] input 0\n  b1: float32[20] output 0\n  b2: float32[20] temp\n";
            format!("program \"p\" {{\n{buffers}{}}}\n", nests.concat())
        };
        let first = nest(0, 20, 0, 0, 2, "mul");
        check(&program(&[first.clone(), nest(1, 20, 2, 2, 1, "mul")]), &[2]);
        check(&program(&[first.clone(), nest(1, 19, 2, 2, 1, "mul")]), &[1, 1]);
        check(&program(&[first, nest(1, 20, 2, 2, 1, "add")]), &[1, 1]);
    }
}
