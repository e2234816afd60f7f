//! Which shared loops are the same code: equal up to the numbers of values, loops and buffers.
//!
//! A network of many layers asks for the same few loops many times; each distinct one is compiled once. Loops that call,
//! swap, choose or repeat while a condition holds are not compared.

use std::collections::HashMap;
use std::fmt::Write;

use pullback_base::Scalar;
use pullback_loops::*;

/// The text of a loop with its values, loops and buffers numbered in order of appearance.
pub(crate) struct Likeness<'a> {
    program: &'a Program,
    text: String,
    values: HashMap<ValueId, usize>,
    loops: HashMap<LoopId, usize>,
    buffers: HashMap<BufferId, usize>,
    /// Buffers in order of appearance.
    pub(crate) order: Vec<BufferId>,
    is_comparable: bool,
}

/// How many outermost loops have each likeness, what they capture left aside.
pub(crate) fn count_alike(program: &Program) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for inst in &program.body {
        if let Op::For(inner) = &inst.op
            && let Some(key) = Likeness::of(program, inner).key(&[], &[], &[])
        {
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

impl<'a> Likeness<'a> {
    /// The likeness of a loop that threads share.
    pub(crate) fn of(program: &'a Program, inner: &For) -> Likeness<'a> {
        let mut likeness = Likeness {
            program,
            text: String::new(),
            values: HashMap::new(),
            loops: HashMap::new(),
            buffers: HashMap::new(),
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
    ) -> Option<String> {
        for &(value, scalar) in constants {
            let number = self.value(value);
            self.put(format_args!(" const {number} {:?} {:x}", scalar.dtype(), scalar.to_bits()));
        }
        for &value in values {
            let number = self.value(value);
            self.put(format_args!(" takes {number}"));
        }
        for &id in counters {
            let number = self.loop_number(id);
            self.put(format_args!(" counts {number}"));
        }
        self.is_comparable.then_some(self.text)
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all text");
    }

    /// The number of a value; its type is said at its first appearance.
    fn value(&mut self, value: ValueId) -> usize {
        let next = self.values.len();
        let number = *self.values.entry(value).or_insert(next);
        if number == next {
            let dtype = self.program.values[value.index()];
            self.put(format_args!(" v{number}:{dtype:?}"));
        }
        number
    }

    fn loop_number(&mut self, id: LoopId) -> usize {
        let next = self.loops.len();
        *self.loops.entry(id).or_insert(next)
    }

    fn buffer(&mut self, buffer: BufferId) -> usize {
        let next = self.buffers.len();
        let number = *self.buffers.entry(buffer).or_insert(next);
        if number == next {
            self.order.push(buffer);
            let dtype = self.program.buffers[buffer.index()].dtype;
            self.put(format_args!(" b{number}:{dtype:?}"));
        }
        number
    }

    fn addr(&mut self, buffer: BufferId, addr: &Addr) {
        let number = self.buffer(buffer);
        self.put(format_args!(" b{number}[{}", addr.base));
        for &(id, stride) in &addr.terms {
            let id = self.loop_number(id);
            self.put(format_args!(" i{id}*{stride:?}"));
        }
        if let Some(offset) = addr.offset {
            let offset = self.value(offset);
            self.put(format_args!(" +v{offset}"));
        }
        self.put(format_args!("]"));
    }

    fn counted(&mut self, inner: &For) {
        let id = self.loop_number(inner.id);
        self.put(format_args!("\nfor i{id} {:?} {:?}", inner.n, inner.kind));
        for carry in &inner.carries {
            let [phi, init] = [carry.phi, carry.init].map(|value| self.value(value));
            self.put(format_args!(" carry {phi} {init} {:?}", carry.combine));
        }
        for inst in &inner.body {
            self.inst(inst);
        }
        for carry in &inner.carries {
            let [next, out] = [carry.next, carry.out].map(|value| self.value(value));
            self.put(format_args!(" gives {next} {out}"));
        }
        self.put(format_args!("\nend"));
    }

    fn inst(&mut self, inst: &Inst) {
        self.put(format_args!("\n"));
        match &inst.op {
            Op::Const(scalar) => self.put(format_args!("const {:?} {:x}", scalar.dtype(), scalar.to_bits())),
            Op::Index(id) => {
                let id = self.loop_number(*id);
                self.put(format_args!("index i{id}"));
            }
            Op::Size(number) => self.put(format_args!("size {number}")),
            Op::Unary(op, _) => self.put(format_args!("{op:?}")),
            Op::Binary(op, ..) => self.put(format_args!("{op:?}")),
            Op::Fma(..) => self.put(format_args!("fma")),
            Op::Compare(op, ..) => self.put(format_args!("compare {op:?}")),
            Op::Select(..) => self.put(format_args!("select")),
            Op::Convert(dtype, _) => self.put(format_args!("convert {dtype:?}")),
            Op::Bitcast(dtype, _) => self.put(format_args!("bitcast {dtype:?}")),
            Op::Round(dtype, _) => self.put(format_args!("round {dtype:?}")),
            Op::Load(buffer, addr) => {
                self.put(format_args!("load"));
                self.addr(*buffer, addr);
            }
            Op::Store(buffer, addr, _) => {
                self.put(format_args!("store"));
                self.addr(*buffer, addr);
            }
            Op::For(inner) => return self.counted(inner),
            Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => self.is_comparable = false,
        }
        let mut operands = vec![];
        inst.op.for_each_operand(|value| operands.push(value));
        for value in operands {
            let number = self.value(value);
            self.put(format_args!(" {number}"));
        }
        if inst.op.has_value() {
            let number = self.value(inst.dst);
            self.put(format_args!(" -> {number}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Likenesses of the outermost loops, most frequent first.
    fn check(text: &str, want: &[usize]) {
        let program = parse(text).expect("the test's program parses");
        let mut counts: Vec<usize> = count_alike(&program).into_values().collect();
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
