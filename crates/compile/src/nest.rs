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
        let axes = collapse(shape, reduced, accesses);
        let lanes_on_kept = axes.last().is_some_and(|axis| !axis.is_reduced);
        let size: i64 = axes.iter().map(|axis| axis.size).product();
        let is_parallel = size.saturating_mul(work.div_ceil(4) as i64) >= PARALLEL_WORK && size >= 2 * BLOCK;
        let (reduced, kept) = axes.into_iter().partition(|axis| axis.is_reduced);
        Nest { rank: shape.len(), kept, reduced, accs: vec![], is_ordered: false, lanes_on_kept, is_parallel }
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
        self.keep(0, loops, &mut vec![Index::constant(0); self.rank][..], body)
    }

    fn keep(&self, level: usize, loops: &mut Builder, index: &mut [Index], body: &mut dyn NestBody) -> Result<()> {
        let Some(axis) = self.kept.get(level) else { return self.reduce(loops, index, body) };
        let is_parallel = self.is_parallel && level == 0;
        if self.lanes_on_kept && level + 1 == self.kept.len() {
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
fn collapse(shape: &[usize], reduced: &[usize], accesses: Option<&[Strides]>) -> Vec<Axis> {
    let mut axes: Vec<Axis> = vec![];
    for at in (0..shape.len()).filter(|&axis| shape[axis] != 1) {
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
