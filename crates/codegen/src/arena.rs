//! Places of temporaries in the memory of one run.
//!
//! Temporaries of known size whose lives at the outermost block do not meet share memory; those of unknown size follow
//! one another.

use pullback_loops::*;

/// Alignment of temporaries.
const ALIGNMENT: usize = 64;

/// Where each temporary starts.
pub(crate) struct Arena {
    /// Offsets of buffers of known size, by buffer.
    offsets: Vec<Option<usize>>,
    known_bytes: usize,
}

fn aligned(size_bytes: usize) -> usize {
    size_bytes.next_multiple_of(ALIGNMENT)
}

/// Bytes of a buffer, if known.
fn known_size(decl: &BufferDecl) -> Option<usize> {
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
        let mut placed: Vec<(Life, usize)> = vec![];
        for life in lives(program) {
            let mut busy: Vec<(usize, usize)> = placed
                .iter()
                .filter(|(other, _)| other.first <= life.last && life.first <= other.last)
                .map(|(other, start)| (*start, start + aligned(other.size_bytes)))
                .collect();
            busy.sort_unstable();
            let size = aligned(life.size_bytes);
            let mut start = 0;
            for (from, to) in busy {
                if start + size <= from {
                    break;
                }
                start = start.max(to);
            }
            arena.offsets[life.buffer] = Some(start);
            arena.known_bytes = arena.known_bytes.max(start + size);
            placed.push((life, start));
        }
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

/// Temporaries of known size, the largest first. Temporaries that swap live as long as one another.
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
    lives.sort_by_key(|life| std::cmp::Reverse(life.size_bytes));
    lives
}
