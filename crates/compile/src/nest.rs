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
const COLUMNS: i64 = 2048;
/// Rows from which on totals of columns are in memory.
const MIN_ROWS: i64 = 8;
/// Rows that a sum of columns adds before it starts anew, where there are many rows and few columns.
const ROW_CHUNK: i64 = 256;
/// The longest last axis that is too short for lanes, and the shortest axis beside it that goes into lanes instead.
pub(crate) const SHORT: usize = 4;
pub(crate) const LONG_ENOUGH: usize = 16;
/// Elements of a nest from which on code is made longer to run faster.
const LONG: i64 = 1 << 14;
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
    /// The last kept axis is short and a long reduced one is before it.
    has_few_columns: bool,
    is_parallel: bool,
    /// Number of elements.
    size: i64,
    /// Operations at one index.
    n_operations: usize,
}

/// Where one of the axes has no index there is nothing to do at any index of the others, however many they have.
fn empty_all_if_one_is(axes: &mut [Axis]) {
    if axes.iter().any(|axis| axis.size == 0) {
        axes.iter_mut().for_each(|axis| axis.size = 0);
    }
}

/// Consecutive indices of an axis.
struct Span {
    start: Affine,
    n: i64,
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
        let mut axes = collapse(n_outer, shape, reduced, accesses);
        let short = ShortAxis::of(n_outer, shape, reduced);
        if short == Some(ShortAxis::OfMap) && accesses.is_some_and(|accesses| goes_along(&axes, accesses)) {
            let n = axes.len();
            axes.swap(n - 1, n - 2);
        }
        let lanes_on_kept = short == Some(ShortAxis::Reduced) || axes.last().is_some_and(|axis| !axis.is_reduced);
        let size: i64 = axes.iter().map(|axis| axis.size).product();
        let is_parallel = n_outer == 0 && size >= 2 * BLOCK && is_parallel(self::work(size as usize, work));
        let (mut reduced, mut kept): (Vec<Axis>, Vec<Axis>) = axes.into_iter().partition(|axis| axis.is_reduced);
        [&mut reduced, &mut kept].into_iter().for_each(|axes| empty_all_if_one_is(axes));
        let outer = (0..n_outer).map(|at| Axis { at, size: shape[at] as i64, is_reduced: false }).collect();
        Nest {
            rank: shape.len(),
            outer,
            kept,
            reduced,
            accs: vec![],
            is_ordered: false,
            lanes_on_kept,
            has_few_columns: short == Some(ShortAxis::Kept),
            is_parallel,
            size: size * shape[..n_outer].iter().product::<usize>() as i64,
            n_operations: work,
        }
    }

    /// With values to reduce.
    pub(crate) fn reducing(self, accs: Vec<Acc>, is_ordered: bool) -> Nest {
        let lanes_on_kept = self.lanes_on_kept && (is_ordered || !self.has_few_columns);
        Nest { accs, is_ordered, lanes_on_kept, ..self }
    }

    /// On one thread, each iteration after the one before: for bodies whose iterations depend on each other.
    pub(crate) fn run_in_order(&self, loops: &mut Builder, body: &mut dyn NestBody) -> Result<()> {
        let mut axes: Vec<Axis> = self.kept.iter().chain(&self.reduced).cloned().collect();
        axes.sort_by_key(|axis| axis.at);
        in_order(&axes, loops, &mut vec![Index::constant(0); self.rank][..], body)
    }

    /// As [`Nest::run_in_order`], but the iterations of the last axis do not depend on each other.
    pub(crate) fn run_rows_in_order(&self, loops: &mut Builder, body: &mut dyn NestBody) -> Result<()> {
        let mut axes: Vec<Axis> = self.kept.iter().chain(&self.reduced).cloned().collect();
        axes.sort_by_key(|axis| axis.at);
        let mut index = vec![Index::constant(0); self.rank];
        let Some(last) = axes.pop().filter(|axis| axis.at + 1 == self.rank) else {
            return self.run_in_order(loops, body);
        };
        rows_in_order(&axes, &last, loops, &mut index, body)
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
        let is_parallel = self.is_parallel && level == self.parallel_level();
        if self.lanes_on_kept && level + 1 == self.kept.len() {
            if self.sums_columns() {
                return self.columns(axis, is_parallel, loops, index, body);
            }
            return self.lanes(axis, is_parallel, loops, index, body);
        }
        let kind = if is_parallel { LoopKind::Parallel } else { LoopKind::Seq };
        if level + 1 == self.kept.len() && self.sums_beside() > 1 {
            return self.rows_beside(axis, kind, loops, index, body);
        }
        each(loops, axis.size, kind, |loops, id| {
            index[axis.at] = Index::counter(id);
            self.keep(level + 1, loops, index, body)
        })
    }

    /// The kept axis that threads share: the first that is not short.
    fn parallel_level(&self) -> usize {
        self.kept.iter().position(|axis| axis.size > SHORT as i64).unwrap_or(0)
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
        if self.goes_by_row_chunks(axis) {
            return self.columns_by_row_chunks(axis, loops, index, body);
        }
        let len: i64 = self.outer.iter().chain(&self.kept).map(|axis| axis.size).product();
        let totals = self.totals(len, loops, body);
        let place = self.place_of_columns(axis, index);
        let rows = Span { start: Affine::default(), n: self.reduced.last().expect("it reduces").size };
        let kind = if is_parallel { LoopKind::Parallel } else { LoopKind::Seq };
        column_blocks(axis.size, kind, loops, &mut |loops, columns| {
            let place = place.plus(&columns.start);
            self.column_totals(axis, columns, &rows, (&totals, &place), loops, index, body)?;
            self.finish_columns(axis, columns, loops, index, body, &|loops, id| {
                let addr = address(&place.plus(&counter(id)));
                Ok(totals.iter().map(|&total| loops.load(total, addr.clone())).collect())
            })
        })
    }

    fn totals(&self, len: i64, loops: &mut Builder, body: &mut dyn NestBody) -> Vec<BufferId> {
        self.accs.iter().map(|acc| body.scratch(loops, acc.dtype, len)).collect()
    }

    /// Where the totals of the first column are at this index of the other kept axes.
    fn place_of_columns(&self, axis: &Axis, index: &[Index]) -> Affine {
        let (mut place, mut stride) = (Affine::default(), axis.size);
        for outer in self.outer.iter().chain(&self.kept[..self.kept.len() - 1]).rev() {
            let Index::Affine(at) = &index[outer.at] else { unreachable!("counters of the loops around") };
            place = place.plus(&at.times(stride));
            stride *= outer.size;
        }
        place
    }

    /// Whether rows are combined by chunks of [`ROW_CHUNK`], whose totals are combined after: only then can threads
    /// share a sum that has few columns, and long sums keep their accuracy. Never what else the nest does: it is an order.
    fn goes_by_row_chunks(&self, axis: &Axis) -> bool {
        let is_alone = self.outer.is_empty() && self.kept.len() == 1 && self.reduced.len() == 1 && !self.is_ordered;
        is_alone && self.reduced[0].size >= 2 * ROW_CHUNK && axis.size < 16 * COLUMNS && self.size >= PARALLEL_WORK
    }

    fn columns_by_row_chunks(
        &self,
        axis: &Axis,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let rows = self.reduced[0].size;
        let (n_chunks, rest) = (rows / ROW_CHUNK, rows % ROW_CHUNK);
        let n_partials = n_chunks + i64::from(rest > 0);
        let partials = self.totals(n_partials * axis.size, loops, body);
        let mut chunk = |loops: &mut Builder, number: &Affine, n: i64| {
            let rows = Span { start: number.times(ROW_CHUNK), n };
            column_blocks(axis.size, LoopKind::Seq, loops, &mut |loops, columns| {
                let place = number.times(axis.size).plus(&columns.start);
                self.column_totals(axis, columns, &rows, (&partials, &place), loops, index, body)
            })
        };
        each(loops, n_chunks, LoopKind::Parallel, |loops, id| chunk(loops, &counter(id), ROW_CHUNK))?;
        if rest > 0 {
            chunk(loops, &constant(n_chunks), rest)?;
        }
        let columns = Span { start: Affine::default(), n: axis.size };
        self.finish_columns(axis, &columns, loops, index, body, &|loops, id| {
            let at = |number: &Affine| address(&number.times(axis.size).plus(&counter(id)));
            let first: Vec<ValueId> =
                partials.iter().map(|&partial| loops.load(partial, at(&Affine::default()))).collect();
            carry(loops, n_partials - 1, LoopKind::Seq, &plain(&first), |loops, id, phis| {
                let number = counter(id).plus(&constant(1));
                let parts = phis.iter().zip(&self.accs).zip(&partials);
                Ok(parts
                    .map(|((&phi, acc), &partial)| {
                        let part = loops.load(partial, at(&number));
                        loops.binary(acc.combine.binary(), phi, part)
                    })
                    .collect())
            })
        })
    }

    /// Ends columns whose totals `total` gives by their number.
    fn finish_columns(
        &self,
        axis: &Axis,
        columns: &Span,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
        total: &dyn Fn(&mut Builder, LoopId) -> Result<Vec<ValueId>>,
    ) -> Result<()> {
        each(loops, columns.n, LoopKind::Lanes, |loops, id| {
            let totals = total(loops, id)?;
            index[axis.at] = Index::Affine(columns.start.plus(&counter(id)));
            body.finish(loops, index, &totals)
        })
    }

    /// Combines some rows of some columns into memory, from `place` on.
    #[allow(clippy::too_many_arguments, reason = "a part of two axes and the state of the walk")]
    fn column_totals(
        &self,
        axis: &Axis,
        columns: &Span,
        rows: &Span,
        (totals, place): (&[BufferId], &Affine),
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let place = |id: LoopId| address(&place.plus(&counter(id)));
        each(loops, columns.n, LoopKind::Lanes, |loops, id| {
            for (acc, &total) in self.accs.iter().zip(totals) {
                let first = loops.constant(acc.init);
                loops.store(total, place(id), first);
            }
            Ok(())
        })?;
        let last = self.reduced.last().expect("it reduces").at;
        self.each_rows(0, rows, loops, index, &mut |loops, index, rows| {
            each(loops, columns.n, LoopKind::Lanes, |loops, id| {
                index[axis.at] = Index::Affine(columns.start.plus(&counter(id)));
                let mut accs: Vec<ValueId> = totals.iter().map(|&total| loops.load(total, place(id))).collect();
                for row in 0..rows.n {
                    index[last] = Index::Affine(rows.start.plus(&constant(row)));
                    accs = body.element(loops, index, &accs)?;
                }
                totals.iter().zip(accs).for_each(|(&total, next)| loops.store(total, place(id), next));
                Ok(())
            })
        })
    }

    /// Rows that a pass over totals takes in, one after the other: each is a stream of memory, and totals are read and
    /// written once for all of them.
    fn rows_at_once(&self) -> i64 {
        match self.n_operations {
            _ if self.size < LONG => 1,
            0..=2 => 8,
            3..=8 => 4,
            _ => 1,
        }
    }

    /// Runs `body` at some rows at once of the last reduced axis, for each index of the others, in order.
    fn each_rows(
        &self,
        level: usize,
        rows: &Span,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn FnMut(&mut Builder, &mut [Index], &Span) -> Result<()>,
    ) -> Result<()> {
        if level + 1 < self.reduced.len() {
            let axis = &self.reduced[level];
            return each(loops, axis.size, LoopKind::Seq, |loops, id| {
                index[axis.at] = Index::counter(id);
                self.each_rows(level + 1, rows, loops, index, body)
            });
        }
        let n = self.rows_at_once();
        let (n_steps, rest) = (rows.n / n, rows.n % n);
        if n_steps > 0 {
            each(loops, n_steps, LoopKind::Seq, |loops, id| {
                body(loops, index, &Span { start: rows.start.plus(&counter(id).times(n)), n })
            })?;
        }
        let start = rows.start.plus(&constant(n_steps * n));
        if rest > 0 { body(loops, index, &Span { start, n: rest }) } else { Ok(()) }
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

    /// Sums in lanes that go side by side: none waits for another's addition, and each is a stream of memory.
    fn sums_beside(&self) -> i64 {
        let is_apart = !self.accs.is_empty() && !self.lanes_on_kept && !self.is_ordered && self.reduced.len() == 1;
        match self.n_operations * self.accs.len() {
            _ if !is_apart || self.size < LONG => 1,
            0..=2 => 4,
            3..=8 => 2,
            _ => 1,
        }
    }

    /// The last kept axis, several rows of which are reduced side by side.
    fn rows_beside(
        &self,
        axis: &Axis,
        kind: LoopKind,
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let n = self.sums_beside();
        let (n_steps, rest) = (axis.size / n, axis.size % n);
        let mut run = |loops: &mut Builder, start: &Affine, n: i64| {
            let strands = (0..n).map(|row| Strand::of_row(axis.at, Index::Affine(start.plus(&constant(row)))));
            self.beside(&strands.collect::<Vec<_>>(), loops, index, body)
        };
        if n_steps > 0 {
            each(loops, n_steps, kind, |loops, id| run(loops, &counter(id).times(n), n))?;
        }
        if rest > 0 { run(loops, &constant(n_steps * n), rest) } else { Ok(()) }
    }

    fn beside(
        &self,
        strands: &[Strand],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<()> {
        let mut inits: Vec<ValueId> = vec![];
        for _ in strands {
            inits.extend(self.accs.iter().map(|acc| loops.constant(acc.init)));
        }
        let totals = self.by_chunks(&self.reduced[0], strands, &inits, loops, index, body)?;
        for (strand, totals) in strands.iter().zip(totals.chunks(self.accs.len())) {
            strand.go(index);
            body.finish(loops, index, totals)?;
        }
        Ok(())
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
            return self.by_chunks(axis, &[Strand::default()], inits, loops, index, body);
        }
        if self.lanes_on_kept && axis.size <= SHORT as i64 {
            let mut values = inits.to_vec();
            for at in 0..axis.size {
                index[axis.at] = Index::constant(at);
                values = self.inner(level + 1, &values, loops, index, body)?;
            }
            return Ok(values);
        }
        carry(loops, axis.size, LoopKind::Seq, &plain(inits), |loops, id, phis| {
            index[axis.at] = Index::counter(id);
            self.inner(level + 1, phis, loops, index, body)
        })
    }

    fn by_chunks(
        &self,
        axis: &Axis,
        strands: &[Strand],
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        if axis.size <= CHUNK {
            return self.in_lanes(axis, axis.size, strands, inits, loops, index, body);
        }
        let (n, rest) = (axis.size / CHUNK, axis.size % CHUNK);
        let moved = |by: &Affine| strands.iter().map(|strand| strand.moved(by)).collect::<Vec<_>>();
        let totals = carry(loops, n, LoopKind::Seq, &plain(inits), |loops, id, phis| {
            self.in_lanes(axis, CHUNK, &moved(&counter(id).times(CHUNK)), phis, loops, index, body)
        })?;
        if rest == 0 {
            Ok(totals)
        } else {
            self.in_lanes(axis, rest, &moved(&constant(n * CHUNK)), &totals, loops, index, body)
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a slice of an axis and the state of the walk")]
    fn in_lanes(
        &self,
        axis: &Axis,
        n: i64,
        strands: &[Strand],
        inits: &[ValueId],
        loops: &mut Builder,
        index: &mut [Index],
        body: &mut dyn NestBody,
    ) -> Result<Vec<ValueId>> {
        carry(loops, n, LoopKind::Lanes, &self.combining(inits), |loops, id, phis| {
            let mut nexts = vec![];
            let n = self.accs.len();
            for (number, strand) in strands.iter().enumerate() {
                strand.go(index);
                index[axis.at] = Index::Affine(strand.start.plus(&counter(id)));
                nexts.extend(body.element(loops, index, &phis[number * n..][..n])?);
            }
            Ok(nexts)
        })
    }

    /// What lanes start from, with how they combine.
    fn combining(&self, inits: &[ValueId]) -> Vec<(ValueId, Option<Combine>)> {
        inits.iter().zip(self.accs.iter().cycle()).map(|(&init, acc)| (init, Some(acc.combine))).collect()
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
        let partials = self.totals(n, loops, body);
        let mut chunks = |loops: &mut Builder, first: &Affine, n: i64| {
            let number = |i: i64| first.plus(&constant(i));
            let strands: Vec<Strand> = (0..n).map(|i| Strand::default().moved(&number(i).times(CHUNK))).collect();
            let inits = inits.repeat(n as usize);
            let totals = self.in_lanes(axis, CHUNK, &strands, &inits, loops, index, body)?;
            for (i, totals) in (0..n).zip(totals.chunks(self.accs.len())) {
                let place = address(&number(i));
                totals.iter().zip(&partials).for_each(|(&total, &partial)| loops.store(partial, place.clone(), total));
            }
            Ok(())
        };
        let beside = self.sums_beside();
        if n >= beside {
            each(loops, n / beside, LoopKind::Parallel, |loops, id| chunks(loops, &counter(id).times(beside), beside))?;
        }
        if n % beside > 0 {
            chunks(loops, &constant(n - n % beside), n % beside)?;
        }
        let totals = carry(loops, n, LoopKind::Lanes, &self.combining(inits), |loops, id, phis| {
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
            let rest_of_axis = Strand::default().moved(&constant(n * CHUNK));
            self.in_lanes(axis, rest, &[rest_of_axis], &totals, loops, index, body)
        }
    }
}

/// One of the reductions in lanes that go side by side.
#[derive(Clone, Default)]
struct Strand {
    /// The kept axis whose index it is at, and that index.
    row: Option<(usize, Index)>,
    /// Where on the reduced axis it starts.
    start: Affine,
}

impl Strand {
    fn of_row(at: usize, index: Index) -> Strand {
        Strand { row: Some((at, index)), start: Affine::default() }
    }

    fn moved(&self, by: &Affine) -> Strand {
        Strand { start: self.start.plus(by), ..self.clone() }
    }

    fn go(&self, index: &mut [Index]) {
        if let Some((at, row)) = &self.row {
            index[*at] = row.clone();
        }
    }
}

/// How a short last axis after a long one is walked; lanes are for the long one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortAxis {
    /// Nothing is reduced: outside of the long one, where memory allows.
    OfMap,
    /// It is reduced, in order.
    Reduced,
    /// The long one is reduced, for each index of the short one.
    Kept,
}

impl ShortAxis {
    /// Sizes alone decide where that is the order of a sum.
    fn of(n_outer: usize, shape: &[usize], reduced: &[usize]) -> Option<ShortAxis> {
        let mut axes = (n_outer..shape.len()).rev().filter(|&axis| shape[axis] != 1);
        let (last, before) = (axes.next()?, axes.next()?);
        if shape[last] > SHORT || shape[before] < LONG_ENOUGH {
            return None;
        }
        match [before, last].map(|axis| reduced.contains(&axis)) {
            [false, false] if reduced.is_empty() => Some(ShortAxis::OfMap),
            [false, true] => Some(ShortAxis::Reduced),
            [true, false] => Some(ShortAxis::Kept),
            [false, false] | [true, true] => None,
        }
    }
}

/// Whether a nest that reduces these axes has lanes for a long axis before a short last one.
pub(crate) fn has_long_axis_in_lanes(shape: &[usize], reduced: &[usize]) -> bool {
    matches!(ShortAxis::of(0, shape, reduced), Some(ShortAxis::Reduced | ShortAxis::Kept))
}

/// Whether most of what a nest touches lies along its last axis but one, or is the same there.
fn goes_along(axes: &[Axis], accesses: &[Strides]) -> bool {
    let [.., before, last] = axes else { return false };
    let lies_along = |strides: &&Strides| matches!(strides[before.at], 0 | 1);
    last.size <= SHORT as i64 && 2 * accesses.iter().filter(lies_along).count() > accesses.len()
}

/// Columns in blocks of [`COLUMNS`] and a rest; a number of columns that is barely more than a block is one.
fn column_blocks(
    n: i64,
    kind: LoopKind,
    loops: &mut Builder,
    body: &mut dyn FnMut(&mut Builder, &Span) -> Result<()>,
) -> Result<()> {
    let (n_blocks, rest) = (n / COLUMNS, n % COLUMNS);
    if n_blocks == 0 || (n_blocks == 1 && rest > 0) {
        return body(loops, &Span { start: Affine::default(), n });
    }
    each(loops, n_blocks, kind, |loops, block| {
        body(loops, &Span { start: counter(block).times(COLUMNS), n: COLUMNS })
    })?;
    let start = constant(n_blocks * COLUMNS);
    if rest > 0 { body(loops, &Span { start, n: rest }) } else { Ok(()) }
}

fn in_order(axes: &[Axis], loops: &mut Builder, index: &mut [Index], body: &mut dyn NestBody) -> Result<()> {
    let Some((axis, inner)) = axes.split_first() else { return body.element(loops, index, &[]).map(|_| ()) };
    each(loops, axis.size, LoopKind::Seq, |loops, id| {
        index[axis.at] = Index::counter(id);
        in_order(inner, loops, index, body)
    })
}

fn rows_in_order(
    axes: &[Axis],
    last: &Axis,
    loops: &mut Builder,
    index: &mut [Index],
    body: &mut dyn NestBody,
) -> Result<()> {
    let (axis, inner, kind) = match axes.split_first() {
        Some((axis, inner)) => (axis, Some(inner), LoopKind::Seq),
        None => (last, None, LoopKind::Lanes),
    };
    each(loops, axis.size, kind, |loops, id| {
        index[axis.at] = Index::counter(id);
        match inner {
            Some(inner) => rows_in_order(inner, last, loops, index, body),
            None => body.element(loops, index, &[]).map(|_| ()),
        }
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

/// Which of the leading axes of a run threads share: the first that is not short.
pub(crate) fn parallel_level(shape: &[usize]) -> usize {
    shape.iter().position(|&size| size >= SHORT).unwrap_or(0)
}

/// Loops over the leading axes of a run from those in `index` on, one of them in parallel.
pub(crate) fn rows(
    loops: &mut Builder,
    shape: &[usize],
    parallel: Option<usize>,
    index: &mut Vec<Index>,
    body: &mut dyn FnMut(&mut Builder, &[Index]) -> Result<()>,
) -> Result<()> {
    let Some(&size) = shape.get(index.len()) else { return body(loops, index) };
    let kind = if parallel == Some(index.len()) { LoopKind::Parallel } else { LoopKind::Seq };
    each(loops, size as i64, kind, |loops, id| {
        index.push(Index::counter(id));
        let done = rows(loops, shape, parallel, index, body);
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
