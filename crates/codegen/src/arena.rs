//! Places of temporaries in the memory of one run.
//!
//! Temporaries of known size whose lives at the outermost block do not meet share memory; those of unknown size follow
//! one another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use pullback_loops::*;

/// Alignment of temporaries.
const ALIGNMENT: usize = 64;

/// Where each temporary starts.
pub(crate) struct Arena {
    /// Offsets of buffers of known size, by buffer.
    pub(crate) offsets: Vec<Option<usize>>,
    pub(crate) known_bytes: usize,
}

fn aligned(size_bytes: usize) -> usize {
    size_bytes.next_multiple_of(ALIGNMENT)
}

/// Bytes of a buffer, if known.
pub(crate) fn known_size(decl: &BufferDecl) -> Option<usize> {
    match decl.len {
        Extent::Const(n) => Some(n.max(0) as usize * decl.dtype.size_bytes()),
        Extent::Size(_) => None,
    }
}

/// A temporary with the outermost instructions that it lives through, and its place.
struct Life {
    buffer: usize,
    first: usize,
    last: usize,
    size_bytes: usize,
}

impl Arena {
    pub(crate) fn new(program: &Program) -> Arena {
        let mut arena = Arena { offsets: vec![None; program.buffers.len()], known_bytes: 0 };
        let mut free = Free::default();
        // By their ends, the first on top.
        let mut living: BinaryHeap<Reverse<(usize, usize, usize)>> = BinaryHeap::new();
        for life in lives(program) {
            while let Some(&Reverse((last, start, size))) = living.peek()
                && last < life.first
            {
                living.pop();
                free.give(start, size);
            }
            let size = aligned(life.size_bytes);
            let start = free.take(size);
            arena.offsets[life.buffer] = Some(start);
            living.push(Reverse((life.last, start, size)));
        }
        arena.known_bytes = free.end;
        arena
    }

    /// The offset of each temporary for given sizes, and the bytes of all.
    pub(crate) fn lay_out(&self, program: &Program, sizes: &[i64]) -> (Vec<Option<usize>>, usize) {
        let mut offsets = self.offsets.clone();
        let mut end = self.known_bytes;
        for (decl, offset) in program.buffers.iter().zip(&mut offsets) {
            if let (Role::Temp, Extent::Size(number)) = (&decl.role, decl.len) {
                *offset = Some(end);
                end += aligned(sizes[number as usize].max(0) as usize * decl.dtype.size_bytes());
            }
        }
        (offsets, end)
    }
}

/// Free ranges below the end of the memory.
#[derive(Default)]
struct Free {
    /// Sizes by start; no two ranges touch.
    by_start: BTreeMap<usize, usize>,
    /// Size and start.
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
}

impl Free {
    /// The start of a range: the smallest free one that holds it, else the end moves.
    fn take(&mut self, size: usize) -> usize {
        if size == 0 {
            return 0;
        }
        if let Some(&(found, start)) = self.by_size.range((size, 0)..).next() {
            self.remove(start, found);
            self.insert(start + size, found - size);
            return start;
        }
        let last = self.by_start.last_key_value().map(|(&start, &size)| (start, size));
        let start = match last.filter(|(start, size)| start + size == self.end) {
            Some((start, size)) => {
                self.remove(start, size);
                start
            }
            None => self.end,
        };
        self.end = start + size;
        start
    }

    fn give(&mut self, mut start: usize, mut size: usize) {
        if let Some((&before, &its_size)) = self.by_start.range(..start).next_back()
            && before + its_size == start
        {
            self.remove(before, its_size);
            (start, size) = (before, its_size + size);
        }
        if let Some(&after) = self.by_start.get(&(start + size)) {
            self.remove(start + size, after);
            size += after;
        }
        self.insert(start, size);
    }

    fn insert(&mut self, start: usize, size: usize) {
        if size > 0 {
            self.by_start.insert(start, size);
            self.by_size.insert((size, start));
        }
    }

    fn remove(&mut self, start: usize, size: usize) {
        self.by_start.remove(&start);
        self.by_size.remove(&(size, start));
    }
}

/// Temporaries of known size in the order of their beginnings. Temporaries that swap live as long as one another.
fn lives(program: &Program) -> Vec<Life> {
    let n = program.buffers.len();
    let (mut first, mut last) = (vec![usize::MAX; n], vec![0; n]);
    let mut swaps = vec![];
    for (time, inst) in program.body.iter().enumerate() {
        for_each_inst(std::slice::from_ref(inst), &mut |inst| {
            let mut touch = |buffer: BufferId| {
                first[buffer.index()] = first[buffer.index()].min(time);
                last[buffer.index()] = last[buffer.index()].max(time);
            };
            match &inst.op {
                Op::Load(buffer, _) | Op::Store(buffer, ..) => touch(*buffer),
                Op::Call(call) => call.args.iter().for_each(|&(buffer, _)| touch(buffer)),
                Op::Swap(x, y) => {
                    touch(*x);
                    touch(*y);
                    swaps.push((x.index(), y.index()));
                }
                _ => {}
            }
        });
    }
    // Chains of swaps: repeat until nothing grows.
    for _ in 0..swaps.len() {
        for &(x, y) in &swaps {
            let (start, end) = (first[x].min(first[y]), last[x].max(last[y]));
            (first[x], first[y], last[x], last[y]) = (start, start, end, end);
        }
    }
    let life = |(buffer, decl): (usize, &BufferDecl)| {
        let size_bytes = known_size(decl).filter(|_| matches!(decl.role, Role::Temp))?;
        let first = first[buffer].min(last[buffer]);
        Some(Life { buffer, first, last: last[buffer], size_bytes })
    };
    let mut lives: Vec<Life> = program.buffers.iter().enumerate().filter_map(life).collect();
    lives.sort_by_key(|life| (life.first, Reverse(life.size_bytes)));
    lives
}
