//! Contractions: as a matrix product of the gemm kernel when their axes can be said by strides, else as loops.
//!
//! Axes fall into four kinds: batch, free of the left (rows), free of the right (columns), contracted (depth). Which
//! way is taken depends on sizes and dtypes alone, so that a program gives the same bits however its operands lie. A batch of
//! small products may be loops around one product ([`Product`]), so that what reads a matrix finds it in the cache.

use pullback_base::{Aval, DType, Result};
use pullback_ir::Atom;
use pullback_ir::lower::{Contraction, CpuForm, Elem, Index, value_dtype, values_per_element};
use pullback_loops::{Binary, BufferId, Builder, Call, Combine, Gemm, Kernel, Op, ValueId};

use super::Block;
use super::group::{Accesses, converted, kept_index, product, take_elem, values_of};
use super::kernels::first_of;
use crate::graph::Graph;
use crate::nest::{Acc, Nest, NestBody};
use crate::view::{Strides, Value, View, rounded};

/// Products with at most this many multiplications a batch element are loops.
const MAX_LOOP_WORK: usize = 512;
/// From this many columns on, lanes run over columns and not over the depth.
const MIN_LANE_COLUMNS: usize = 8;

/// Multiplications of one matrix up to which no thread shares it.
const MAX_ALONE: usize = 1 << 21;
/// From so many matrices on, a batch is worth loops around its products.
const MIN_BATCH: usize = 16;

/// Axes of the operands by kind, with their sizes.
pub(super) struct Shape {
    batch: [Vec<usize>; 2],
    contract: [Vec<usize>; 2],
    free: [Vec<usize>; 2],
    avals: [Aval; 2],
}

impl Shape {
    fn new(contraction: &Contraction, avals: [Aval; 2]) -> Shape {
        let Contraction { contract, batch } = contraction.clone();
        let free = [0, 1].map(|side: usize| {
            let is_free = |axis: &usize| !contract[side].contains(axis) && !batch[side].contains(axis);
            (0..avals[side].rank()).filter(is_free).collect()
        });
        Shape { batch, contract, free, avals }
    }

    fn sizes(&self, side: usize, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|&axis| self.avals[side].shape[axis]).collect()
    }

    fn size(&self, side: usize, axes: &[usize]) -> usize {
        self.sizes(side, axes).iter().product()
    }

    fn batch_sizes(&self) -> Vec<usize> {
        self.sizes(0, &self.batch[0])
    }

    fn rows(&self) -> usize {
        self.size(0, &self.free[0])
    }

    fn columns(&self) -> usize {
        self.size(1, &self.free[1])
    }

    fn depth(&self) -> usize {
        self.size(0, &self.contract[0])
    }
}

/// What a contraction multiplies, and in which type.
fn factors(graph: &Graph, number: usize, contraction: &Contraction) -> (Shape, DType) {
    let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
    let shape = Shape::new(contraction, [0, 1].map(|side| graph.aval(eqn.ins[side])));
    (shape, if values_per_element(out.dtype) == 2 { out.dtype } else { value_dtype(out.dtype) })
}

/// Whether loops are the shorter way.
fn goes_by_loops(shape: &Shape, dtype: DType) -> bool {
    let (rows, columns, depth) = (shape.rows(), shape.columns(), shape.depth());
    let is_small = rows * columns * depth <= MAX_LOOP_WORK || rows * columns == 1 || depth <= 1;
    is_small || !dtype.is_inexact()
}

/// A contraction whose batch may be loops, each iteration of which makes one matrix.
pub(crate) struct Batched {
    /// Sizes of its batch, which are the first axes of the result.
    pub(crate) sizes: Vec<usize>,
    /// Whether the same axes in the same order come first in each operand.
    pub(crate) leads: [bool; 2],
    /// Multiplications of one matrix.
    pub(crate) work: usize,
}

/// The batch of an equation, if it is such a contraction.
pub(crate) fn batched(graph: &Graph, number: usize) -> Option<Batched> {
    let CpuForm::Contract(contraction) = &graph.forms[number] else { return None };
    let (shape, dtype) = factors(graph, number, contraction);
    let sizes = shape.batch_sizes();
    let long = |side: usize, axes: &[usize]| shape.sizes(side, axes).iter().filter(|&&size| size != 1).count();
    let is_plain = |side: usize| {
        let has_one = long(side, &shape.free[side]) <= 1 && long(side, &shape.contract[side]) <= 1;
        has_one && shape.avals[side].dtype == dtype
    };
    let work = shape.rows() * shape.columns() * shape.depth();
    let fits = !goes_by_loops(&shape, dtype)
        && (is_plain(0) && is_plain(1) && graph.out_aval(number).dtype == dtype)
        && sizes.iter().product::<usize>() >= MIN_BATCH
        && work <= MAX_ALONE;
    let leads = [0, 1].map(|side| shape.batch[side].iter().copied().eq(0..sizes.len()));
    fits.then_some(Batched { sizes, leads, work })
}

/// An operand of a matrix product: its first element, and strides.
struct Operand {
    view: View,
    /// Of the free and of the contracted axes.
    matrix: [isize; 2],
    batch: Strides,
}

/// A contraction that is made one matrix at a time.
pub(super) struct Product {
    number: usize,
    shape: Shape,
    dtype: DType,
    /// `None` where the operand is made in the same loops.
    operands: [Option<Operand>; 2],
}

impl Block<'_, '_> {
    /// A batch of products before the loops around it: `is_inside` tells which operands are made in them.
    pub(super) fn product(&mut self, loops: &mut Builder, number: usize, is_inside: [bool; 2]) -> Result<Product> {
        let graph = self.graph.clone();
        let CpuForm::Contract(contraction) = &graph.forms[number] else { unreachable!("it is batched") };
        let (shape, dtype) = factors(&graph, number, contraction);
        let mut operands = [None, None];
        for side in (0..2).filter(|&side| !is_inside[side]) {
            let order: Vec<usize> = (0..shape.contract[side].len()).collect();
            let atom = graph.eqn(number).ins[side];
            operands[side] = Some(match self.operand(loops, atom, &shape, side, dtype) {
                Some(operand) => operand,
                None => self.packed(loops, atom, &shape, side, &order, dtype)?,
            });
        }
        Ok(Product { number, shape, dtype, operands })
    }

    /// The matrix at one index of the batch.
    pub(super) fn product_at(&mut self, loops: &mut Builder, product: &Product, index: &[Index]) -> Result<()> {
        let graph = self.graph.clone();
        let Product { number, shape, dtype, operands } = product;
        let dest = self.contraction_dest(loops, *number);
        let made = [0, 1].map(|side| match operands[side] {
            Some(_) => None,
            None => self.operand(loops, graph.eqn(*number).ins[side], shape, side, *dtype),
        });
        let one = |side: usize| operands[side].as_ref().or(made[side].as_ref()).expect("rows of a run are in memory");
        let ([row, lhs_depth], [column, rhs_depth]) = (one(0).matrix, one(1).matrix);
        let [out_row, out_column] = matrix_strides(shape, &dest).expect("one axis each");
        let kernel = Kernel::Gemm(Gemm {
            dtype: *dtype,
            sizes: [1, 1, shape.rows(), shape.columns(), shape.depth()],
            lhs_strides: [0, 0, row, lhs_depth],
            rhs_strides: [0, 0, rhs_depth, column],
            out_strides: [0, 0, out_row, out_column],
        });
        let mut first = |view: &View, batch: &[i64]| {
            let view = View { strides: batch.into(), ..view.clone() };
            (view.buffer, view.addr(loops, index))
        };
        let args = vec![
            first(&one(0).view, &one(0).batch),
            first(&one(1).view, &one(1).batch),
            first(&dest, &dest.strides[..index.len()]),
        ];
        loops.push(Op::Call(Box::new(Call { kernel, args })));
        self.define(graph.out(*number), dest);
        Ok(())
    }

    pub(super) fn contract(&mut self, loops: &mut Builder, number: usize, contraction: &Contraction) -> Result<()> {
        let graph = self.graph.clone();
        let eqn = graph.eqn(number);
        let (shape, dtype) = factors(&graph, number, contraction);
        let out = graph.out_aval(number);
        if goes_by_loops(&shape, dtype) {
            return self.contract_by_loops(loops, number, &shape, dtype);
        }
        let dest = self.contraction_dest(loops, number);
        if dtype == out.dtype && result_strides(&shape, &dest).is_some() {
            self.gemm(loops, [eqn.ins[0], eqn.ins[1]], &shape, dtype, &dest)?;
        } else {
            let wide = self.step_temp(loops, &out.shape, dtype);
            self.gemm(loops, [eqn.ins[0], eqn.ins[1]], &shape, dtype, &wide)?;
            self.round_into(loops, &wide, &dest, &out.shape)?;
        }
        self.define(graph.out(number), dest);
        Ok(())
    }

    fn round_into(&mut self, loops: &mut Builder, from: &View, to: &View, shape: &[usize]) -> Result<()> {
        let nest = Nest::new(shape, &[], Some(&[from.strides.clone(), to.strides.clone()]), 1);
        self.map(loops, &nest, |_, loops, index| {
            let elem = from.load(loops, index, from.dtype)?;
            to.store(loops, index, elem);
            Ok(())
        })
    }

    /// The result's strides are known to fit.
    fn gemm(&mut self, loops: &mut Builder, ins: [Atom; 2], shape: &Shape, dtype: DType, dest: &View) -> Result<()> {
        let views = [self.strided(loops, ins[0], dtype), self.strided(loops, ins[1], dtype)];
        let order = depth_order(shape, &views);
        let mut batch = Batch::of(shape.batch_sizes());
        let n_batch = shape.batch[0].len();
        batch.admit(&dest.strides[..n_batch]);
        let mut operands = vec![];
        for (side, view) in views.into_iter().enumerate() {
            let fitting = view.and_then(|view| Operand::of(view, shape, side, &order));
            operands.push(match fitting.filter(|operand| batch.admit(&operand.batch)) {
                Some(fitting) => fitting,
                None => self.packed(loops, ins[side], shape, side, &order, dtype)?,
            });
        }
        let [lhs, rhs] = <[_; 2]>::try_from(operands).unwrap_or_else(|_| unreachable!("two operands"));
        let ([row, lhs_depth], [column, rhs_depth]) = (lhs.matrix, rhs.matrix);
        let [out_row, out_column] = result_strides(shape, dest).expect("asked before");
        let [outer, inner] = batch.sizes();
        let sizes = [outer, inner, shape.rows(), shape.columns(), shape.depth()];
        let with_batch = |strides: &[i64], [a, b]: [isize; 2]| {
            let [outer, inner] = batch.strides(strides);
            [outer, inner, a, b]
        };
        let lhs_strides = with_batch(&lhs.batch, [row, lhs_depth]);
        let rhs_strides = with_batch(&rhs.batch, [rhs_depth, column]);
        let out_strides = with_batch(&dest.strides[..n_batch], [out_row, out_column]);
        let kernel = Kernel::Gemm(Gemm { dtype, sizes, lhs_strides, rhs_strides, out_strides });
        let args = vec![first_of(loops, &lhs.view), first_of(loops, &rhs.view), first_of(loops, dest)];
        loops.push(Op::Call(Box::new(Call { kernel, args })));
        Ok(())
    }

    /// The operand's memory, if it holds the dtype that is multiplied.
    fn strided(&mut self, loops: &mut Builder, atom: Atom, dtype: DType) -> Option<View> {
        match self.value(loops, atom) {
            Some(Value::Memory(view)) if view.dtype == dtype && view.strides.iter().all(|&stride| stride >= 0) => {
                Some(view)
            }
            _ => None,
        }
    }

    /// An operand of one long free and one long contracted axis where it lies, if it is in memory as the dtype that is
    /// multiplied.
    fn operand(
        &mut self,
        loops: &mut Builder,
        atom: Atom,
        shape: &Shape,
        side: usize,
        dtype: DType,
    ) -> Option<Operand> {
        let order: Vec<usize> = (0..shape.contract[side].len()).collect();
        Operand::of(self.strided(loops, atom, dtype)?, shape, side, &order)
    }

    /// A copy as batch, free, contracted axes.
    fn packed(
        &mut self,
        loops: &mut Builder,
        atom: Atom,
        shape: &Shape,
        side: usize,
        order: &[usize],
        dtype: DType,
    ) -> Result<Operand> {
        let contracted = order.iter().map(|&i| shape.contract[side][i]);
        let axes: Vec<usize> = shape.batch[side].iter().chain(&shape.free[side]).copied().chain(contracted).collect();
        let sizes = shape.sizes(side, &axes);
        let dest = self.step_temp(loops, &sizes, dtype);
        let mut accesses = Accesses::new();
        match self.value(loops, atom) {
            Some(Value::Memory(view)) => accesses.add(axes.iter().map(|&axis| view.strides[axis]).collect()),
            Some(Value::Uniform(_)) => {}
            None => accesses.unknown(),
        }
        accesses.add(dest.strides.clone());
        let nest = Nest::new(&sizes, &[], accesses.known(), 1);
        self.map(loops, &nest, |block, loops, index| {
            let mut from = vec![Index::constant(0); axes.len()];
            axes.iter().zip(index).for_each(|(&axis, index)| from[axis] = index.clone());
            let elem = block.element(loops, atom, &from)?;
            let elem = converted(loops, elem, dtype);
            dest.store(loops, index, elem);
            Ok(())
        })?;
        let batch = dest.strides[..shape.batch[side].len()].into();
        Ok(Operand { view: dest, matrix: [shape.depth() as isize, 1], batch })
    }

    fn contract_by_loops(&mut self, loops: &mut Builder, number: usize, shape: &Shape, dtype: DType) -> Result<()> {
        let graph = self.graph.clone();
        let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
        let dest = (out.rank() > 0).then(|| self.contraction_dest(loops, number));
        let layout = Layout::new(shape);
        let mut accesses = Accesses::new();
        for side in 0..2 {
            match self.value(loops, eqn.ins[side]) {
                Some(Value::Memory(view)) => accesses.add(layout.operand_strides(side, &view.strides)),
                Some(Value::Uniform(_)) => {}
                None => accesses.unknown(),
            }
        }
        if let Some(dest) = &dest {
            accesses.add(super::group::spread(&dest.strides, &layout.reduced, layout.sizes.len()));
        }
        let combine = if dtype == DType::Bool { Combine::Or } else { Combine::Add };
        let accs = Acc::of(combine, dtype).to_vec();
        let nest = Nest::new(&layout.sizes, &layout.reduced, accesses.known(), 4).reducing(accs, false);
        self.current.clear();
        let ins = [eqn.ins[0], eqn.ins[1]];
        let mut body = Dot { block: self, layout: &layout, ins, dtype, out, dest: dest.as_ref(), total: None };
        nest.run(loops, &mut body)?;
        let total = body.total;
        match (dest, total) {
            (Some(view), _) => self.define(graph.out(number), view),
            (None, total) => {
                let elem = total.expect("a nest without kept axes ends once");
                if let Some(wanted) = self.wanted.get(&graph.out(number)) {
                    wanted.clone().store(loops, &[], elem);
                }
                self.values[graph.out(number).index()] = Some(Value::Uniform(elem));
            }
        }
        Ok(())
    }
}

/// Contracted pairs in an order in which the left operand (or else the right one) sees them as one axis, if any does.
fn depth_order(shape: &Shape, views: &[Option<View>; 2]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shape.contract[0].len()).collect();
    for (side, view) in views.iter().enumerate() {
        let Some(view) = view else { continue };
        order.sort_by_key(|&i| std::cmp::Reverse(view.strides[shape.contract[side][i]]));
        if merged(shape, side, view, &order).is_some() {
            return order;
        }
    }
    order.sort_unstable();
    order
}

impl Operand {
    /// An operand where it lies, if its free and its contracted axes go as one each.
    fn of(view: View, shape: &Shape, side: usize, order: &[usize]) -> Option<Operand> {
        let matrix = merged(shape, side, &view, order)?;
        let batch = shape.batch[side].iter().map(|&axis| view.strides[axis]).collect();
        Some(Operand { view, matrix, batch })
    }
}

/// The strides of free and contracted axes, each kind as one axis.
fn merged(shape: &Shape, side: usize, view: &View, order: &[usize]) -> Option<[isize; 2]> {
    let contracted: Vec<usize> = order.iter().map(|&i| shape.contract[side][i]).collect();
    let one = |axes: &[usize]| merged_stride(&shape.sizes(side, axes), axes, &view.strides);
    Some([one(&shape.free[side])?, one(&contracted)?])
}

/// The strides of rows and columns of the result, if they and the batch can be said.
fn result_strides(shape: &Shape, dest: &View) -> Option<[isize; 2]> {
    let fits = Batch::of(shape.batch_sizes()).admit(&dest.strides[..shape.batch[0].len()]);
    matrix_strides(shape, dest).filter(|_| fits)
}

/// The strides of rows and columns of the result, if each kind of axes goes as one.
fn matrix_strides(shape: &Shape, dest: &View) -> Option<[isize; 2]> {
    let (n_batch, n_rows) = (shape.batch[0].len(), shape.free[0].len());
    let n_columns = shape.free[1].len();
    let one = |side: usize, first: usize, n: usize| {
        let axes: Vec<usize> = (first..first + n).collect();
        merged_stride(&shape.sizes(side, &shape.free[side]), &axes, &dest.strides)
    };
    Some([one(0, n_batch, n_rows)?, one(1, n_batch + n_rows, n_columns)?])
}

/// The axes of a batch as at most two: all operands see those of each half as one.
struct Batch {
    sizes: Vec<usize>,
    /// Where the inner half begins, once some operand decided it.
    split: Option<usize>,
}

impl Batch {
    fn of(sizes: Vec<usize>) -> Batch {
        Batch { sizes, split: None }
    }

    /// Takes in an operand with these strides; false when its axes would need a third part.
    fn admit(&mut self, strides: &[i64]) -> bool {
        let mut split = self.split;
        let mut last: Option<usize> = None;
        for axis in (0..self.sizes.len()).filter(|&axis| self.sizes[axis] != 1) {
            if let Some(before) = last
                && strides[before] != strides[axis] * self.sizes[axis] as i64
                && split.is_none_or(|split| !(before < split && split <= axis))
                && split.replace(axis).is_some()
            {
                return false;
            }
            last = Some(axis);
        }
        self.split = split;
        true
    }

    /// Where the two parts meet: all axes are the inner part if nobody wants otherwise.
    fn middle(&self) -> usize {
        self.split.unwrap_or(0)
    }

    fn sizes(&self) -> [usize; 2] {
        let (outer, inner) = self.sizes.split_at(self.middle());
        [outer.iter().product(), inner.iter().product()]
    }

    /// The strides of the two parts of an operand that was admitted.
    fn strides(&self, strides: &[i64]) -> [isize; 2] {
        let last = |axes: std::ops::Range<usize>| {
            let long = axes.rev().find(|&axis| self.sizes[axis] != 1);
            long.map_or(0, |axis| strides[axis] as isize)
        };
        [last(0..self.middle()), last(self.middle()..self.sizes.len())]
    }
}

fn merged_stride(sizes: &[usize], axes: &[usize], strides: &Strides) -> Option<isize> {
    let long: Vec<(usize, i64)> =
        sizes.iter().zip(axes).filter(|(size, _)| **size != 1).map(|(&size, &axis)| (size, strides[axis])).collect();
    let as_one = long.windows(2).all(|pair| pair[0].1 == pair[1].1 * pair[1].0 as i64);
    as_one.then(|| long.last().map_or(0, |&(_, stride)| stride as isize))
}

/// The axes of a contraction as loops: batch, rows, then columns and depth in the order that suits lanes.
struct Layout {
    sizes: Vec<usize>,
    reduced: Vec<usize>,
    /// For each axis of the nest, its axis in each operand.
    axes: Vec<[Option<usize>; 2]>,
    ranks: [usize; 2],
}

impl Layout {
    fn new(shape: &Shape) -> Layout {
        let batch = shape.batch[0].iter().zip(&shape.batch[1]).map(|(&l, &r)| [Some(l), Some(r)]);
        let rows = shape.free[0].iter().map(|&axis| [Some(axis), None]);
        let columns: Vec<_> = shape.free[1].iter().map(|&axis| [None, Some(axis)]).collect();
        let depth: Vec<_> =
            shape.contract[0].iter().zip(&shape.contract[1]).map(|(&l, &r)| [Some(l), Some(r)]).collect();
        let mut axes: Vec<[Option<usize>; 2]> = batch.chain(rows).collect();
        let first_reduced = axes.len() + if shape.columns() >= MIN_LANE_COLUMNS { 0 } else { columns.len() };
        let reduced = (first_reduced..first_reduced + depth.len()).collect();
        if shape.columns() >= MIN_LANE_COLUMNS {
            axes.extend(depth.into_iter().chain(columns));
        } else {
            axes.extend(columns.into_iter().chain(depth));
        }
        let size = |axis: &[Option<usize>; 2]| match *axis {
            [Some(axis), _] => shape.avals[0].shape[axis],
            [None, Some(axis)] => shape.avals[1].shape[axis],
            [None, None] => unreachable!("each axis is of some operand"),
        };
        let ranks = [shape.avals[0].rank(), shape.avals[1].rank()];
        Layout { sizes: axes.iter().map(size).collect(), reduced, axes, ranks }
    }

    fn operand_strides(&self, side: usize, strides: &Strides) -> Strides {
        self.axes.iter().map(|axis| axis[side].map_or(0, |axis| strides[axis])).collect()
    }

    fn operand_index(&self, side: usize, index: &[Index]) -> Vec<Index> {
        let mut found = vec![Index::constant(0); self.ranks[side]];
        for (axis, index) in self.axes.iter().zip(index) {
            if let Some(axis) = axis[side] {
                found[axis] = index.clone();
            }
        }
        found
    }
}

struct Dot<'b, 'a, 'o> {
    block: &'b mut Block<'a, 'o>,
    layout: &'b Layout,
    ins: [Atom; 2],
    dtype: DType,
    out: Aval,
    dest: Option<&'b View>,
    total: Option<Elem>,
}

impl NestBody for Dot<'_, '_, '_> {
    fn element(&mut self, loops: &mut Builder, index: &[Index], accs: &[ValueId]) -> Result<Vec<ValueId>> {
        let mut operand = |side: usize, loops: &mut Builder| {
            let elem = self.block.element(loops, self.ins[side], &self.layout.operand_index(side, index))?;
            Ok(converted(loops, elem, self.dtype))
        };
        let (x, y) = (operand(0, loops)?, operand(1, loops)?);
        Ok(match (x, y, take_elem(&mut accs.iter().copied(), self.dtype)) {
            (Elem::One(x), Elem::One(y), Elem::One(sum)) => vec![multiply_add(loops, x, y, sum)],
            (Elem::Two(a, b), Elem::Two(c, d), Elem::Two(re, im)) => {
                let product = values_of(product(loops, [a, b], [c, d]));
                vec![loops.binary(Binary::Add, re, product[0]), loops.binary(Binary::Add, im, product[1])]
            }
            _ => pullback_base::bail!(NotImplemented, "a contraction of complex and real numbers is not implemented"),
        })
    }

    fn finish(&mut self, loops: &mut Builder, index: &[Index], totals: &[ValueId]) -> Result<()> {
        let elem = take_elem(&mut totals.iter().copied(), self.dtype);
        let elem = rounded(loops, elem, self.out.dtype);
        match self.dest {
            Some(dest) => dest.store(loops, &kept_index(index, &self.layout.reduced), elem),
            None => self.total = Some(elem),
        }
        Ok(())
    }

    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        self.block.step_temp(loops, &[len as usize], dtype).buffer
    }
}

fn multiply_add(loops: &mut Builder, x: ValueId, y: ValueId, sum: ValueId) -> ValueId {
    let dtype = loops.dtype(sum);
    if dtype.is_float() {
        return loops.fma(x, y, sum);
    }
    let (times, plus) = if dtype == DType::Bool { (Binary::And, Binary::Or) } else { (Binary::Mul, Binary::Add) };
    let product = loops.binary(times, x, y);
    loops.binary(plus, sum, product)
}
