//! The interpreter: one scalar at a time, the oracle of native code.
//!
//! It runs expanded programs only. Every access is checked, so a wrong program is an error here where native code
//! would do harm. Subnormals are flushed by the mode of the calling thread, which the caller sets.

mod arithmetic;
mod memory;

use arithmetic::{binary, compare, convert, unary};
pub use arithmetic::{rem_f32, rem_f64};

use pullback_base::{Result, bail};

use crate::kernels::Kernels;
use crate::program::*;
use memory::Memory;

/// Runs `program` on the bytes of its inputs and fills those of its outputs.
///
/// # Errors
/// When a kernel fails, or the program is wrong: an access out of bounds, a symbolic operation.
pub fn interpret(
    program: &Program,
    sizes: &[i64],
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
    kernels: &dyn Kernels,
) -> Result<()> {
    let memory = Memory::new(program, sizes, inputs, outputs)?;
    let values = vec![0; program.values.len()];
    let counters = vec![0; program.n_loops as usize];
    Interpreter { program, sizes, memory, values, counters, kernels }.block(&program.body)
}

struct Interpreter<'a, 'b> {
    program: &'a Program,
    sizes: &'a [i64],
    memory: Memory<'a, 'b>,
    /// The bits of each value so far.
    values: Vec<u64>,
    counters: Vec<i64>,
    kernels: &'a dyn Kernels,
}

impl Interpreter<'_, '_> {
    fn get(&self, value: ValueId) -> u64 {
        self.values[value.index()]
    }

    fn set(&mut self, value: ValueId, bits: u64) {
        self.values[value.index()] = bits;
    }

    fn extent(&self, extent: Extent) -> i64 {
        match extent {
            Extent::Const(n) => n,
            Extent::Size(number) => self.sizes[number as usize],
        }
    }

    fn position(&self, addr: &Addr) -> i64 {
        let counted =
            addr.terms.iter().map(|&(id, stride)| self.counters[id.index()].wrapping_mul(self.extent(stride)));
        let offset = addr.offset.map_or(0, |value| self.get(value) as i64);
        counted.fold(addr.base.wrapping_add(offset), i64::wrapping_add)
    }

    fn block(&mut self, block: &[Inst]) -> Result<()> {
        block.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        match &inst.op {
            Op::Store(buffer, addr, value) => {
                let (position, bits) = (self.position(addr), self.get(*value));
                self.memory.store(*buffer, position, bits)
            }
            Op::For(inner) => self.for_loop(inner),
            Op::While(inner) => self.while_loop(inner),
            Op::Switch(inner) => {
                let last = inner.branches.len() as i64 - 1;
                let index = (self.get(inner.index) as i64).clamp(0, last.max(0));
                inner.branches.get(index as usize).map_or(Ok(()), |branch| self.block(branch))
            }
            Op::Call(call) => {
                let args: Vec<_> = call.args.iter().map(|(buffer, addr)| (*buffer, self.position(addr))).collect();
                self.memory.call(&call.kernel, &args, self.kernels)
            }
            Op::Swap(x, y) => {
                self.memory.swap(*x, *y);
                Ok(())
            }
            _ => {
                let bits = self.value(&inst.op)?;
                self.set(inst.dst, bits);
                Ok(())
            }
        }
    }

    fn value(&self, op: &Op) -> Result<u64> {
        let dtype = |value: ValueId| self.program.values[value.index()];
        Ok(match *op {
            Op::Const(scalar) => scalar.to_bits() as u64,
            Op::Index(id) => self.counters[id.index()] as u64,
            Op::Size(number) => self.sizes[number as usize] as u64,
            Op::Unary(op, x) => unary(op, dtype(x), self.get(x))?,
            Op::Binary(op, x, y) => binary(op, dtype(x), self.get(x), self.get(y))?,
            Op::Fma(x, y, z) => arithmetic::fma(dtype(x), self.get(x), self.get(y), self.get(z)),
            Op::Compare(op, x, y) => compare(op, dtype(x), self.get(x), self.get(y)).into(),
            Op::Select(condition, x, y) => self.get(if self.get(condition) != 0 { x } else { y }),
            Op::Convert(to, x) => convert(dtype(x), to, self.get(x)),
            Op::Bitcast(to, x) => arithmetic::bitcast(to, self.get(x)),
            Op::Round(to, x) => arithmetic::round(to, self.get(x)),
            Op::Lookup(ref table, x) => table[self.get(x) as usize % TABLE_LEN].into(),
            Op::Load(buffer, ref addr) => self.memory.load(buffer, self.position(addr))?,
            Op::Store(..) | Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => {
                bail!(Internal, "an instruction without a value was asked for one")
            }
        })
    }

    fn for_loop(&mut self, inner: &For) -> Result<()> {
        let reduces = inner.kind == LoopKind::Lanes && !inner.carries.is_empty();
        if reduces { self.reducing_loop(inner) } else { self.plain_loop(inner) }
    }

    fn plain_loop(&mut self, inner: &For) -> Result<()> {
        self.enter(&inner.carries);
        for i in 0..self.extent(inner.n) {
            self.counters[inner.id.index()] = i;
            self.block(&inner.body)?;
            self.advance(&inner.carries);
        }
        self.leave(&inner.carries);
        Ok(())
    }

    fn while_loop(&mut self, inner: &While) -> Result<()> {
        self.enter(&inner.carries);
        loop {
            self.block(&inner.header)?;
            if self.get(inner.condition) == 0 {
                break;
            }
            self.block(&inner.body)?;
            self.advance(&inner.carries);
        }
        self.leave(&inner.carries);
        Ok(())
    }

    fn enter(&mut self, carries: &[Carry]) {
        self.assign(carries.iter().map(|carry| (carry.phi, carry.init)));
    }

    fn advance(&mut self, carries: &[Carry]) {
        self.assign(carries.iter().map(|carry| (carry.phi, carry.next)));
    }

    fn leave(&mut self, carries: &[Carry]) {
        self.assign(carries.iter().map(|carry| (carry.out, carry.phi)));
    }

    /// Assigns all at once: a carry's next value may be another's phi.
    fn assign(&mut self, pairs: impl Iterator<Item = (ValueId, ValueId)>) {
        let new: Vec<_> = pairs.map(|(to, from)| (to, self.get(from))).collect();
        new.into_iter().for_each(|(to, bits)| self.set(to, bits));
    }

    fn reducing_loop(&mut self, inner: &For) -> Result<()> {
        let identities = inner.carries.iter().map(|carry| self.identity(carry)).collect::<Result<Vec<u64>>>()?;
        let mut lanes: Vec<[u64; N_LANES]> = identities.into_iter().map(|bits| [bits; N_LANES]).collect();
        for i in 0..self.extent(inner.n) {
            self.counters[inner.id.index()] = i;
            let lane = i as usize % N_LANES;
            for (carry, lanes) in inner.carries.iter().zip(&lanes) {
                self.values[carry.phi.index()] = lanes[lane];
            }
            self.block(&inner.body)?;
            for (carry, lanes) in inner.carries.iter().zip(&mut lanes) {
                lanes[lane] = self.values[carry.next.index()];
            }
        }
        for (carry, lanes) in inner.carries.iter().zip(lanes) {
            let total = self.tree(carry, lanes)?;
            self.set(carry.out, total);
        }
        Ok(())
    }

    fn identity(&self, carry: &Carry) -> Result<u64> {
        let Some(combine) = carry.combine else { bail!(Internal, "a carry of a reducing loop has no combiner") };
        Ok(combine.identity(self.program.values[carry.phi.index()]).to_bits() as u64)
    }

    fn tree(&self, carry: &Carry, mut lanes: [u64; N_LANES]) -> Result<u64> {
        let Some(combine) = carry.combine else { bail!(Internal, "a carry of a reducing loop has no combiner") };
        let dtype = self.program.values[carry.phi.index()];
        for step in [8, 4, 2, 1] {
            for lane in 0..step {
                lanes[lane] = binary(combine.binary(), dtype, lanes[lane], lanes[lane + step])?;
            }
        }
        binary(combine.binary(), dtype, self.get(carry.init), lanes[0])
    }
}
