//! Machine registers for virtual ones: linear scan over live intervals.
//!
//! An interval spans from the first write to the last read, and to the end of every loop that reads what was written
//! before it. When registers run out, the interval with the least weight for its length goes to memory for all its
//! life; literals go back to the constant pool at no cost but their reads.

use super::inst::{Class, Function, Inst, Literal, Reg};

/// Where a virtual register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Location {
    /// Never read or written.
    Nowhere,
    Reg(u8),
    /// So many bytes above the frame's start.
    Slot(i32),
    Literal(Literal),
}

/// Locations of all registers of a function.
pub(crate) struct Allocation {
    /// By virtual register, those merged into others included.
    pub(crate) locations: Vec<Location>,
    pub(crate) literals: Vec<Option<Literal>>,
    /// Where a vector register is kept while it is borrowed.
    pub(crate) borrowed: i32,
    /// Bytes of the frame in all.
    pub(crate) frame_bytes: i32,
    /// Callee-saved general registers that are written.
    pub(crate) saved: Vec<u8>,
}

/// General registers that calls keep.
const CALLEE_SAVED: u32 = 1 << 3 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15;
/// General registers for allocation: all but the stack's two, and `rax` and `rdx`, which sequences use in between.
const GENERAL: u32 = 0xffff & !(1 << 4 | 1 << 5 | 1 << 0 | 1 << 2);
/// Vector registers 0 and 1, and masks 0 and 7, are used in between.
const VECTORS_16: u32 = 0xffff & !3;
const VECTORS_32: u32 = !3;
const MASKS: u32 = 0x7e;

/// Memory at the end of what the function asked for, where a vector register is kept while it is borrowed.
const BORROWED_BYTES: i32 = 64;

#[derive(Clone, Copy)]
struct Interval {
    reg: Reg,
    start: u32,
    end: u32,
    weight: f32,
}

struct Active {
    interval: Interval,
    register: u8,
}

/// Memory of one spilled register: of 8 bytes, or of a whole vector register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    is_large: bool,
    offset: i32,
}

/// Registers and memory of the intervals that are alive.
struct Scan<'a> {
    locations: Vec<Location>,
    literals: Vec<Option<Literal>>,
    active: [Vec<Active>; 3],
    free: [u32; 3],
    /// Memory in use, by the end of its interval, and memory that is free again.
    slots: std::collections::BinaryHeap<std::cmp::Reverse<(u32, Slot)>>,
    free_slots: [Vec<i32>; 2],
    /// Small slots that were never used.
    fresh_small: Vec<i32>,
    frame_bytes: i32,
    slot_bytes: i32,
    used: u32,
    calls: &'a [u32],
}

/// Reads happen at twice the number of the instruction, writes just after.
fn at(number: usize) -> u32 {
    2 * number as u32
}

/// Finds a place for every register of the flattened instructions.
pub(crate) fn allocate(function: &Function, insts: &[Inst], has_avx512: bool) -> Allocation {
    let roots = roots(function);
    let root = |reg: Reg| Reg::new(roots[reg.index()] as usize, reg.class());
    let (intervals, writers) = intervals(function, insts, root);
    let calls: Vec<u32> =
        insts.iter().enumerate().filter(|(_, inst)| inst.is_call()).map(|(number, _)| at(number)).collect();
    let mut literals = vec![None; function.n_regs];
    for &(reg, literal) in &function.literals {
        literals[reg.index()] = Some(literal);
    }
    let mut scan = Scan {
        locations: vec![Location::Nowhere; function.n_regs],
        literals,
        active: Default::default(),
        free: [GENERAL, if has_avx512 { VECTORS_32 } else { VECTORS_16 }, MASKS],
        slots: Default::default(),
        free_slots: Default::default(),
        fresh_small: vec![],
        frame_bytes: ((function.frame_bytes + 63) & !63) + if has_avx512 { 0 } else { BORROWED_BYTES },
        slot_bytes: if has_avx512 { 64 } else { 32 },
        used: 0,
        calls: &calls,
    };
    for (interval, writer) in intervals.into_iter().zip(writers) {
        scan.expire(interval.start);
        let hint = scan.hint(&insts[writer as usize], interval.reg, root);
        scan.place(interval, hint);
    }
    let saved = (0..16).filter(|&register| scan.used & CALLEE_SAVED & 1 << register != 0).collect();
    let mut locations = scan.locations;
    for (index, &root) in roots.iter().enumerate() {
        locations[index] = locations[root as usize];
    }
    let literals = scan.literals;
    Allocation {
        locations,
        literals,
        borrowed: (function.frame_bytes + 63) & !63,
        frame_bytes: scan.frame_bytes,
        saved,
    }
}

/// The variable that each register is one with, or itself.
fn roots(function: &Function) -> Vec<u32> {
    let mut roots: Vec<u32> = (0..function.n_regs as u32).collect();
    for &(reg, variable) in &function.merged {
        roots[reg.index()] = variable.index() as u32;
    }
    for index in 0..roots.len() {
        let mut root = roots[index];
        while roots[root as usize] != root {
            root = roots[root as usize];
        }
        roots[index] = root;
    }
    roots
}

/// The intervals by their starts, with the instructions that first write them.
fn intervals(function: &Function, insts: &[Inst], root: impl Fn(Reg) -> Reg) -> (Vec<Interval>, Vec<u32>) {
    let ends = loop_ends(insts);
    let mut number_of = vec![u32::MAX; function.n_regs];
    let (mut intervals, mut writers): (Vec<Interval>, Vec<u32>) = (vec![], vec![]);
    let mut open: Vec<(u32, u32)> = vec![];
    let mut weight = 1.0;
    for (number, inst) in insts.iter().enumerate() {
        match inst {
            Inst::LoopStart(_) => open.push((at(number), ends[number])),
            Inst::LoopEnd => drop(open.pop()),
            _ => {}
        }
        if matches!(inst, Inst::LoopStart(_) | Inst::LoopEnd) {
            weight = 10f32.powi(open.len().min(6) as i32);
        }
        let read_at = at(number) + if inst.is_early() { 2 } else { 0 };
        inst.for_each_read(|reg| {
            let interval = &mut intervals[number_of[root(reg).index()] as usize];
            let looped = open.iter().find(|&&(start, _)| interval.start < start).map(|&(_, end)| end);
            interval.end = interval.end.max(looped.unwrap_or(read_at)).max(read_at);
            interval.weight += weight;
        });
        let mut write = |reg: Reg| {
            let reg = root(reg);
            let known = &mut number_of[reg.index()];
            if *known == u32::MAX {
                *known = intervals.len() as u32;
                let start = at(number) + 1;
                intervals.push(Interval { reg, start, end: start + 1, weight });
                writers.push(number as u32);
            } else {
                let interval = &mut intervals[*known as usize];
                let looped = open.iter().find(|&&(start, _)| interval.start < start).map(|&(_, end)| end);
                interval.end = interval.end.max(looped.unwrap_or(0)).max(at(number) + 1);
                interval.weight += weight;
            }
        };
        inst.written().into_iter().for_each(&mut write);
        if let Inst::Entry { params } = inst {
            params.iter().copied().for_each(write);
        }
    }
    (intervals, writers)
}

/// For each start of a loop where it ends.
fn loop_ends(insts: &[Inst]) -> Vec<u32> {
    let mut ends = vec![0; insts.len()];
    let mut open = vec![];
    for (number, inst) in insts.iter().enumerate() {
        match inst {
            Inst::LoopStart(_) => open.push(number),
            Inst::LoopEnd => ends[open.pop().expect("a loop that ends has started")] = at(number),
            _ => {}
        }
    }
    ends
}

impl Scan<'_> {
    fn expire(&mut self, now: u32) {
        for (active, free) in self.active.iter_mut().zip(&mut self.free) {
            active.retain(|one| {
                let lives = one.interval.end > now;
                if !lives {
                    *free |= 1 << one.register;
                }
                lives
            });
        }
        while let Some(&std::cmp::Reverse((end, slot))) = self.slots.peek()
            && end <= now
        {
            self.slots.pop();
            self.free_slots[usize::from(slot.is_large)].push(slot.offset);
        }
    }

    /// A register that an operand of the writing instruction has just left.
    fn hint(&self, writer: &Inst, reg: Reg, root: impl Fn(Reg) -> Reg) -> Option<u8> {
        let mut hint = None;
        writer.for_each_read(|read| {
            if hint.is_none()
                && read.class() == reg.class()
                && let Location::Reg(register) = self.locations[root(read).index()]
                && self.free[reg.class() as usize] & 1 << register != 0
            {
                hint = Some(register);
            }
        });
        hint
    }

    fn place(&mut self, interval: Interval, hint: Option<u8>) {
        let class = interval.reg.class();
        let allowed = self.allowed(&interval);
        let free = self.free[class as usize] & allowed;
        let hint = hint.filter(|&register| free & 1 << register != 0);
        let lowest = (free != 0).then(|| preferred(class, free));
        match hint.or(lowest) {
            Some(register) => self.assign(interval, register),
            None => self.evict(interval, allowed),
        }
    }

    /// Registers that keep a value over the interval.
    fn allowed(&self, interval: &Interval) -> u32 {
        let next = self.calls.partition_point(|&call| call < interval.start);
        let crosses = self.calls.get(next).is_some_and(|&call| call < interval.end);
        match (interval.reg.class(), crosses) {
            (_, false) => u32::MAX,
            (Class::Int, true) => CALLEE_SAVED,
            (Class::Vector | Class::Mask, true) => 0,
        }
    }

    fn assign(&mut self, interval: Interval, register: u8) {
        let class = interval.reg.class();
        self.free[class as usize] &= !(1 << register);
        if class == Class::Int {
            self.used |= 1 << register;
        }
        self.locations[interval.reg.index()] = Location::Reg(register);
        self.active[class as usize].push(Active { interval, register });
    }

    /// Gives the register of the least valuable interval, or none, to this one.
    fn evict(&mut self, interval: Interval, allowed: u32) {
        let class = interval.reg.class() as usize;
        let value = |scan: &Self, interval: &Interval| {
            // What is read from the pool costs one memory operand and no store.
            let factor = if scan.literals[interval.reg.index()].is_some() { 0.4 } else { 1.0 };
            factor * interval.weight / (interval.end - interval.start + 1) as f32
        };
        let least = (0..self.active[class].len())
            .filter(|&number| allowed & 1 << self.active[class][number].register != 0)
            .map(|number| (value(self, &self.active[class][number].interval), number))
            .min_by(|x, y| x.0.total_cmp(&y.0));
        match least {
            Some((least, number)) if least < value(self, &interval) => {
                let evicted = self.active[class].swap_remove(number);
                self.spill(evicted.interval);
                self.assign(interval, evicted.register);
            }
            _ => self.spill(interval),
        }
    }

    fn spill(&mut self, interval: Interval) {
        let reg = interval.reg;
        let location = match self.literals[reg.index()] {
            Some(literal) => Location::Literal(literal),
            None => Location::Slot(self.slot(interval)),
        };
        self.locations[reg.index()] = location;
    }

    /// Memory for an interval. One that was in a register so far needs memory that was free since its start, so it
    /// takes fresh memory.
    fn slot(&mut self, interval: Interval) -> i32 {
        let is_large = interval.reg.class() == Class::Vector;
        let was_active = matches!(self.locations[interval.reg.index()], Location::Reg(_));
        let reused = if was_active { None } else { self.free_slots[usize::from(is_large)].pop() };
        let offset = reused.unwrap_or_else(|| self.fresh_slot(is_large));
        self.slots.push(std::cmp::Reverse((interval.end, Slot { is_large, offset })));
        offset
    }

    fn fresh_slot(&mut self, is_large: bool) -> i32 {
        if let (false, Some(offset)) = (is_large, self.fresh_small.pop()) {
            return offset;
        }
        let offset = self.frame_bytes;
        self.frame_bytes += self.slot_bytes;
        if !is_large {
            self.fresh_small.extend((1..self.slot_bytes / 8).map(|number| offset + 8 * number));
        }
        offset
    }
}

/// The register to take first: one that calls do not keep, since those need no saving.
fn preferred(class: Class, free: u32) -> u8 {
    let cheap = if class == Class::Int && free & !CALLEE_SAVED != 0 { free & !CALLEE_SAVED } else { free };
    cheap.trailing_zeros() as u8
}
