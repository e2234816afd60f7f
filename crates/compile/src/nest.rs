//! Loop nests: from a shape with reduced axes and a body to loops of the three kinds.
//!
//! Order of loops: kept axes outside, reduced axes inside; the innermost loop runs in lanes. When the last axis is kept
//! and others are reduced, lanes run over the last axis and each lane reduces in order. Long reductions in lanes go by
//! chunks of [`CHUNK`], each of which starts anew, so that accuracy stays. All these numbers are constants: they, and
//! not the machine, decide the order of every sum.

use pullback_base::{DType, Result, Scalar};
use pullback_ir::lower::{Affine, Index, value_dtype, values_per_element};
use pullback_loops::{Addr, BufferId, Builder, Combine, Extent, LoopId, LoopKind, ValueId};
use smallvec::{SmallVec, smallvec};

use crate::view::Strides;

/// Elements of a reduction that lanes add before the sum starts anew.
pub(crate) const CHUNK: i64 = 4096;
/// Elements that one task of a flat parallel loop covers.
const BLOCK: i64 = 8192;
/// Columns whose totals are in the first-level cache together.
const COLUMNS: i64 = 512;
/// Rows from which on totals of columns are in memory.
const MIN_ROWS: i64 = 8;
/// Element operations from which a nest runs in parallel.
const PARALLEL_WORK: i64 = 1 << 16;

/// A loop of a nest: one axis, or several that all accesses see as one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The axis whose index is the counter; those merged into it stay at 0.
    at: usize,
    size: i64,
    is_reduced: bool,
}

/// A value that a nest reduces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acc {
    pub(crate) combine: Combine,
    /// The type of its value.
    pub(crate) dtype: DType,
    /// What it starts from.
    pub(crate) init: Scalar,
}

impl Acc {
    /// The values that a reduction of elements of `dtype` carries. A sum starts from +0, as the sum of nothing is +0;
    /// a complex number from its identity in the order by real, then imaginary part.
    pub(crate) fn of(combine: Combine, dtype: DType) -> SmallVec<[Acc; 2]> {
        let part = value_dtype(dtype);
        let first = match combine {
            Combine::Add => Scalar::zero(part),
            // The ends of the range of an integer narrower than its value.
            _ if dtype.is_integer() => combine.identity(dtype).convert(part),
            _ => combine.identity(part),
        };
        let mut accs: SmallVec<[Acc; 2]> = smallvec![Acc { combine, dtype: part, init: first }];
        if values_per_element(dtype) == 2 {
            accs.push(Acc { combine, dtype: part, init: Scalar::zero(part) });
        }
        accs
    }

    /// Whether the parts of an element combine together, so that lanes cannot combine them apart.
    pub(crate) fn needs_order(combine: Combine, dtype: DType) -> bool {
        values_per_element(dtype) == 2 && combine != Combine::Add
    }
}

/// What a nest does at each index.
pub(crate) trait NestBody {
    /// The work at one index; gives the next values of the reduced ones.
    fn element(&mut self, loops: &mut Builder, index: &[Index], accs: &[ValueId]) -> Result<Vec<ValueId>>;
    /// The work after the reduced axes at one index of the kept ones.
    fn finish(&mut self, loops: &mut Builder, index: &[Index], totals: &[ValueId]) -> Result<()>;
    /// Scratch memory until the nest ends.
    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId;
}

/// A loop nest without its body.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    rank: usize,
    /// Axes whose loops are around the nest.
    outer: Vec<Axis>,
    kept: Vec<Axis>,
    reduced: Vec<Axis>,
    accs: Vec<Acc>,
    /// Reduced axes run in order, one element after the other.
    is_ordered: bool,
    lanes_on_kept: bool,
    is_parallel: bool,
}

impl Nest {
    /// A nest over `shape`. `accesses` holds the strides of everything read and written, or is `None` when something
    /// is not known by strides. `work` is the number of operations at one index.
    pub(crate) fn new(shape: &[usize], reduced: &[usize], accesses: Option<&[Strides]>, work: usize) -> Nest {
        Nest::inside(0, shape, reduced, accesses, work)
    }

    /// As [`Nest::new`], inside of loops over the first `n_outer` axes.
    pub(crate) fn inside(
        n_outer: usize,
        shape: &[usize],
        reduced: &[usize],
        accesses: Option<&[Strides]>,
        work: usize,
    ) -> Nest {
        let axes = collapse(n_outer, shape, reduced, accesses);
        let lanes_on_kept = axes.last().is_some_and(|axis| !axis.is_reduced);
        let size: i64 = axes.iter().map(|axis| axis.size).product();
        let is_parallel = n_outer == 0 && size >= 2 * BLOCK && is_parallel(self::work(size as usize, work));
        let (reduced, kept) = axes.into_iter().partition(|axis| axis.is_reduced);
        let outer = (0..n_outer).map(|at| Axis { at, size: shape[at] as i64, is_reduced: false }).collect();
        Nest { rank: shape.len(), outer, kept, reduced, accs: vec![], is_ordered: false, lanes_on_kept, is_parallel }
    }

    /// With values to reduce.
    pub(crate) fn reducing(self, accs: Vec<Acc>, is_ordered: bool) -> Nest {
        Nest { accs, is_ordered, ..self }
    }

    /// On one thread, each iteration after the one before: for bodies whose iterations depend on each other.
    pub(crate) fn run_in_order(&self, loops: &mut Builder, body: &mut dyn NestBody) -> Result<()> {
        let mut axes: Vec<Axis> = self.kept.iter().chain(&self.reduced).cloned().collect();
        axes.sort_by_key(|axis| axis.at);
        in_order(&axes, loops, &mut vec![Index::constant(0); self.rank][..], body)
    }

    /// Emits the loops.
    pub(crate) fn run(&self, loops: &mut Builder, body: &mut dyn NestBody) -> Result<()> {
        self.run_at(&[], loops, body)
    }

    /// Emits the loops inside of others, which are at an index of the first axes.
    pub(crate) fn run_at(&self, outer: &[Index], loops: &mut Builder, body: &mut dyn NestBody) -> Result<()> {
        let mut index = outer.to_vec();
        index.resize(self.rank, Index::constant(0));
        self.keep(0, loops, &mut index, body)
    }

    fn keep(&self, level: usize, loops: &mut Builder, index: &mut [Index], body: &mut dyn NestBody) -> Result<()> {
        let Some(axis) = self.kept.get(level) else { return self.reduce(loops, index, body) };
        let is_parallel = self.is_parallel && level == 0;
        if self.lanes_on_kept && level + 1 == self.kept.len() {
            if self.sums_columns() {
                return self.columns(axis, is_parallel, loops, index, body);
            }
            return self.lanes(axis, is_parallel, loops, index, body);
        }
        let kind = if is_parallel { LoopKind::Parallel } else { LoopKind::Seq };
        each(loops, axis.size, kind, |loops, id| {
            index[axis.at] = Index::counter(id);
            self.keep(level + 1, loops, index, body)
        })
    }

    /// The last kept axis in lanes; in parallel by blocks and a rest.
    fn lanes(
        &self,
        axis: &Axis,
        is_parallel: bool,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let mut run = |loops: &mut Builder, n: i64, base: &Affine| {
            each(loops, n, LoopKind::Lanes, |loops, id| {
                index[axis.at] = Index::Affine(base.plus(&counter(id)));
                self.reduce(loops, index, body)
            })
        };
        if !is_parallel || axis.size < 2 * BLOCK {
            return run(loops, axis.size, &Affine::default());
        }
        let (n_blocks, rest) = (axis.size / BLOCK, axis.size % BLOCK);
        each(loops, n_blocks, LoopKind::Parallel, |loops, block| run(loops, BLOCK, &counter(block).times(BLOCK)))?;
        if rest > 0 { run(loops, rest, &constant(n_blocks * BLOCK)) } else { Ok(()) }
    }

    /// Whether so many rows are combined in the lanes of the last axis that the rows should be read one after the other.
    fn sums_columns(&self) -> bool {
        !self.accs.is_empty() && self.reduced.iter().map(|axis| axis.size).product::<i64>() >= MIN_ROWS
    }

    /// Columns combined row by row: totals are in memory, so that whole rows are read in their order. Each column
    /// combines its elements in the same order as one that is summed by itself.
    fn columns(
        &self,
        axis: &Axis,
        is_parallel: bool,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let len: i64 = self.outer.iter().chain(&self.kept).map(|axis| axis.size).product();
        let totals: Vec<BufferId> = self.accs.iter().map(|acc| body.scratch(loops, acc.dtype, len)).collect();
        let (n_blocks, rest) = (axis.size / COLUMNS, axis.size % COLUMNS);
        let kind = if is_parallel { LoopKind::Parallel } else { LoopKind::Seq };
        if n_blocks > 1 || (n_blocks == 1 && rest == 0) {
            each(loops, n_blocks, kind, |loops, block| {
                self.column_block(axis, COLUMNS, &counter(block).times(COLUMNS), &totals, loops, index, body)
            })?;
            let base = constant(n_blocks * COLUMNS);
            return if rest > 0 { self.column_block(axis, rest, &base, &totals, loops, index, body) } else { Ok(()) };
        }
        self.column_block(axis, axis.size, &Affine::default(), &totals, loops, index, body)
    }

    #[allow(clippy::too_many_arguments, reason = "a slice of an axis and the state of the walk")]
    fn column_block(
        &self,
        axis: &Axis,
        n: i64,
        base: &Affine,
        totals: &[BufferId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let mut place = base.clone();
        let mut stride = axis.size;
        for outer in self.outer.iter().chain(&self.kept[..self.kept.len() - 1]).rev() {
            let Index::Affine(at) = &index[outer.at] else { unreachable!("counters of the loops around") };
            place = place.plus(&at.times(stride));
            stride *= outer.size;
        }
        let place = |id: LoopId| address(&place.plus(&counter(id)));
        each(loops, n, LoopKind::Lanes, |loops, id| {
            for (acc, &total) in self.accs.iter().zip(totals) {
                let first = loops.constant(acc.init);
                loops.store(total, place(id), first);
            }
            Ok(())
        })?;
        self.each_row(0, loops, index, &mut |loops, index| {
            each(loops, n, LoopKind::Lanes, |loops, id| {
                index[axis.at] = Index::Affine(base.plus(&counter(id)));
                let accs: Vec<ValueId> = totals.iter().map(|&total| loops.load(total, place(id))).collect();
                let next = body.element(loops, index, &accs)?;
                totals.iter().zip(next).for_each(|(&total, next)| loops.store(total, place(id), next));
                Ok(())
            })
        })?;
        each(loops, n, LoopKind::Lanes, |loops, id| {
            index[axis.at] = Index::Affine(base.plus(&counter(id)));
            let values: Vec<ValueId> = totals.iter().map(|&total| loops.load(total, place(id))).collect();
            body.finish(loops, index, &values)
        })
    }

    /// Runs `body` at each index of the reduced axes, in order.
    fn each_row(
        &self,
        level: usize,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn FnMut(&mut Builder, &mut [Index]) -> Result<()>,
    ) -> Result<()> {
        let Some(axis) = self.reduced.get(level) else { return body(loops, index) };
        each(loops, axis.size, LoopKind::Seq, |loops, id| {
            index[axis.at] = Index::counter(id);
            self.each_row(level + 1, loops, index, body)
        })
    }

    fn reduce(&self, loops: &mut Builder, index: &mut [Index], body: &mut dyn NestBody) -> Result<()> {
        if self.accs.is_empty() && self.reduced.is_empty() {
            body.element(loops, index, &[])?;
            return Ok(());
        }
        let inits: Vec<ValueId> = self.accs.iter().map(|acc| loops.constant(acc.init)).collect();
        let is_long = self.kept.is_empty() && self.reduced.len() == 1 && self.reduced[0].size >= PARALLEL_WORK;
        let totals = if is_long && self.is_parallel && !self.is_ordered {
            self.in_two_stages(&self.reduced[0], &inits, loops, index, body)?
        } else {
            self.inner(0, &inits, loops, index, body)?
        };
        body.finish(loops, index, &totals)
    }

    fn inner(
        &self,
        level: usize,
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        let Some(axis) = self.reduced.get(level) else { return body.element(loops, index, inits) };
        if level + 1 == self.reduced.len() && !self.lanes_on_kept && !self.is_ordered {
            return self.by_chunks(axis, inits, loops, index, body);
        }
        carry(loops, axis.size, LoopKind::Seq, &plain(inits), |loops, id, phis| {
            index[axis.at] = Index::counter(id);
            self.inner(level + 1, phis, loops, index, body)
        })
    }

    fn by_chunks(
        &self,
        axis: &Axis,
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        if axis.size <= CHUNK {
            return self.in_lanes(axis, axis.size, &Affine::default(), inits, loops, index, body);
        }
        let (n, rest) = (axis.size / CHUNK, axis.size % CHUNK);
        let totals = carry(loops, n, LoopKind::Seq, &plain(inits), |loops, id, phis| {
            self.in_lanes(axis, CHUNK, &counter(id).times(CHUNK), phis, loops, index, body)
        })?;
        if rest == 0 {
            Ok(totals)
        } else {
            self.in_lanes(axis, rest, &constant(n * CHUNK), &totals, loops, index, body)
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a slice of an axis and the state of the walk")]
    fn in_lanes(
        &self,
        axis: &Axis,
        n: i64,
        base: &Affine,
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        let combines: Vec<_> = inits.iter().zip(&self.accs).map(|(&init, acc)| (init, Some(acc.combine))).collect();
        carry(loops, n, LoopKind::Lanes, &combines, |loops, id, phis| {
            index[axis.at] = Index::Affine(base.plus(&counter(id)));
            body.element(loops, index, phis)
        })
    }

    /// Chunks in parallel into scratch memory, then the chunks' totals.
    fn in_two_stages(
        &self,
        axis: &Axis,
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        let (n, rest) = (axis.size / CHUNK, axis.size % CHUNK);
        let partials: Vec<BufferId> = self.accs.iter().map(|acc| body.scratch(loops, acc.dtype, n)).collect();
        each(loops, n, LoopKind::Parallel, |loops, id| {
            let totals = self.in_lanes(axis, CHUNK, &counter(id).times(CHUNK), inits, loops, index, body)?;
            totals.into_iter().zip(&partials).for_each(|(total, &partial)| loops.store(partial, at(id), total));
            Ok(())
        })?;
        let combines: Vec<_> = inits.iter().zip(&self.accs).map(|(&init, acc)| (init, Some(acc.combine))).collect();
        let totals = carry(loops, n, LoopKind::Lanes, &combines, |loops, id, phis| {
            let parts = phis.iter().zip(&self.accs).zip(&partials);
            Ok(parts
                .map(|((&phi, acc), &partial)| {
                    let part = loops.load(partial, at(id));
                    loops.binary(acc.combine.binary(), phi, part)
                })
                .collect())
        })?;
        if rest == 0 {
            Ok(totals)
        } else {
            self.in_lanes(axis, rest, &constant(n * CHUNK), &totals, loops, index, body)
        }
    }
}

fn in_order(axes: &[Axis], loops: &mut Builder, index: &mut [Index], body: &mut dyn NestBody) -> Result<()> {
    let Some((axis, inner)) = axes.split_first() else { return body.element(loops, index, &[]).map(|_| ()) };
    each(loops, axis.size, LoopKind::Seq, |loops, id| {
        index[axis.at] = Index::counter(id);
        in_order(inner, loops, index, body)
    })
}

/// Merges neighbouring axes that every access sees as one; axes of size 1 go.
fn collapse(n_outer: usize, shape: &[usize], reduced: &[usize], accesses: Option<&[Strides]>) -> Vec<Axis> {
    let mut axes: Vec<Axis> = vec![];
    for at in (n_outer..shape.len()).filter(|&axis| shape[axis] != 1) {
        let (size, is_reduced) = (shape[at] as i64, reduced.contains(&at));
        let joins = |before: &Axis| {
            let as_one = |strides: &Strides| strides[before.at] == strides[at] * size;
            before.is_reduced == is_reduced && accesses.is_some_and(|accesses| accesses.iter().all(as_one))
        };
        match axes.last_mut() {
            Some(before) if joins(before) => *before = Axis { at, size: before.size * size, is_reduced },
            _ => axes.push(Axis { at, size, is_reduced }),
        }
    }
    axes
}

fn counter(id: LoopId) -> Affine {
    Affine { base: 0, terms: [(id, 1)].into_iter().collect() }
}

fn constant(base: i64) -> Affine {
    Affine { base, ..Affine::default() }
}

fn address(place: &Affine) -> Addr {
    let terms = place.terms.iter().map(|&(id, stride)| (id, Extent::Const(stride))).collect();
    Addr { base: place.base, terms, offset: None }
}

/// The work at `size` indices with `n_operations` each; operations that go along with others count less.
pub(crate) fn work(size: usize, n_operations: usize) -> usize {
    size.saturating_mul(n_operations.div_ceil(4))
}

/// Whether so much work is worth several threads.
pub(crate) fn is_parallel(work: usize) -> bool {
    work >= PARALLEL_WORK as usize
}

/// Loops over the leading axes of a run, the first in parallel when that pays.
pub(crate) fn rows(
    loops: &mut Builder,
    shape: &[usize],
    is_parallel: bool,
    index: &mut Vec<Index>,
    body: &mut dyn FnMut(&mut Builder, &[Index]) -> Result<()>,
) -> Result<()> {
    let Some(&size) = shape.get(index.len()) else { return body(loops, index) };
    let kind = if is_parallel && index.is_empty() { LoopKind::Parallel } else { LoopKind::Seq };
    each(loops, size as i64, kind, |loops, id| {
        index.push(Index::counter(id));
        let done = rows(loops, shape, is_parallel, index, body);
        index.pop();
        done
    })
}

fn at(id: LoopId) -> Addr {
    Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
}

fn plain(inits: &[ValueId]) -> Vec<(ValueId, Option<Combine>)> {
    inits.iter().map(|&init| (init, None)).collect()
}

/// A loop without carries.
pub(crate) fn each(
    loops: &mut Builder,
    n: i64,
    kind: LoopKind,
    mut body: impl FnMut(&mut Builder, LoopId) -> Result<()>,
) -> Result<()> {
    carry(loops, n, kind, &[], |loops, id, _| body(loops, id).map(|()| vec![])).map(|_| ())
}

/// A loop whose body may fail; the program is of no use then.
pub(crate) fn carry(
    loops: &mut Builder,
    n: i64,
    kind: LoopKind,
    inits: &[(ValueId, Option<Combine>)],
    body: impl FnOnce(&mut Builder, LoopId, &[ValueId]) -> Result<Vec<ValueId>>,
) -> Result<Vec<ValueId>> {
    let mut failure = None;
    let outs = loops.for_loop(Extent::Const(n), kind, inits, |loops, id, phis| {
        body(loops, id, phis).unwrap_or_else(|error| {
            failure = Some(error);
            phis.to_vec()
        })
    });
    failure.map_or(Ok(outs), Err)
}
