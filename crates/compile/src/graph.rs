//! A simplified jaxpr with the loop form of each equation, and what can be told of forms by asking them once.
//!
//! An element form that only renames indices (a transpose, a slice, a broadcast) is found by evaluating it at a symbolic
//! index; it then is an [`IndexMap`], and a reader of its result reads its operand's memory with other strides.

use std::rc::Rc;

use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::{
    Affine, CpuForm, Elem, ElementCx, ElementFn, Index, TargetFn, is_computable, value_dtype, values_per_element,
};
use pullback_ir::{Atom, Eqn, JaxprRef, VarId};
use pullback_loops::{Builder, Op};
use smallvec::SmallVec;

/// How the index in an operand follows from that in the result: operand axis `axis` is at
/// `base[axis] + Σ stride · result axis`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct IndexMap {
    /// Number of the operand.
    pub(crate) operand: usize,
    /// Constant part for each operand axis.
    pub(crate) base: SmallVec<[i64; 4]>,
    /// Operand axis, result axis, stride.
    pub(crate) terms: SmallVec<[(usize, usize, i64); 4]>,
}

impl IndexMap {
    /// Whether the axes of a result of `rank` are the operand's in another order. Without axes there is no order.
    fn is_permutation(&self, rank: usize) -> bool {
        let mut to: SmallVec<[usize; 4]> = self.terms.iter().map(|term| term.1).collect();
        let mut from: SmallVec<[usize; 4]> = self.terms.iter().map(|term| term.0).collect();
        to.sort_unstable();
        from.sort_unstable();
        let each_once = |axes: &[usize]| axes.iter().copied().eq(0..self.base.len());
        let moves_none = self.base.iter().all(|&base| base == 0) && self.terms.iter().all(|term| term.2 == 1);
        rank > 0 && self.base.len() == rank && moves_none && each_once(&to) && each_once(&from)
    }
}

/// A jaxpr ready to be planned.
pub(crate) struct Graph {
    pub(crate) jaxpr: JaxprRef,
    /// The form of each equation.
    pub(crate) forms: Vec<CpuForm>,
    /// The index map of each equation that is one.
    pub(crate) maps: Vec<Option<IndexMap>>,
    /// The equation that defines each variable; `None` for inputs and consts.
    pub(crate) made_by: Vec<Option<usize>>,
    /// For each contraction, the transpose that alone reads its result: the result lies in memory as that one wants it.
    pub(crate) transposed_by: Vec<Option<usize>>,
}

impl Graph {
    /// Asks every primitive for its form.
    pub(crate) fn new(jaxpr: JaxprRef) -> Result<Rc<Graph>> {
        let n = jaxpr.eqns.len();
        let (mut forms, mut maps) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut made_by = vec![None; jaxpr.vars.len()];
        jaxpr.vars.iter().try_for_each(|aval| aval.check_extent())?;
        for (number, eqn) in jaxpr.eqns.iter().enumerate() {
            let ins: SmallVec<[Aval; 4]> = eqn.ins.iter().map(|&atom| jaxpr.aval(atom)).collect();
            let outs = jaxpr.eqn_out_avals(eqn);
            check_computable(eqn, &ins, outs)?;
            let form = eqn.prim.cpu(&eqn.params, &ins, outs);
            maps.push(index_map(&form, &ins, outs));
            forms.push(form);
            eqn.outs().for_each(|var| made_by[var.index()] = Some(number));
        }
        let mut graph = Graph { jaxpr, forms, maps, made_by, transposed_by: vec![None; n] };
        graph.find_transposed();
        Ok(Rc::new(graph))
    }

    fn find_transposed(&mut self) {
        let mut n_readers = vec![0; self.jaxpr.vars.len()];
        for &atom in self.jaxpr.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&self.jaxpr.outs) {
            if let Atom::Var(var) = atom {
                n_readers[var.index()] += 1;
            }
        }
        for number in 0..self.forms.len() {
            let CpuForm::Element(_) = self.forms[number] else { continue };
            let Some(map) = self.maps[number].as_ref().filter(|map| map.is_permutation(self.out_aval(number).rank()))
            else {
                continue;
            };
            let Atom::Var(operand) = self.eqn(number).ins[map.operand] else { continue };
            let Some(maker) = self.made_by[operand.index()] else { continue };
            if matches!(self.forms[maker], CpuForm::Contract(_)) && n_readers[operand.index()] == 1 {
                self.transposed_by[maker] = Some(number);
            }
        }
    }

    /// Whether an equation is the transpose of a contraction that nobody else reads.
    pub(crate) fn transposes_a_contraction(&self, number: usize) -> bool {
        let maker = |var: VarId| self.made_by[var.index()];
        self.eqn(number).ins.iter().any(|&atom| match atom {
            Atom::Var(var) => maker(var).is_some_and(|maker| self.transposed_by[maker] == Some(number)),
            Atom::Literal(_) => false,
        })
    }

    pub(crate) fn eqn(&self, number: usize) -> &Eqn {
        &self.jaxpr.eqns[number]
    }

    pub(crate) fn aval(&self, atom: Atom) -> Aval {
        self.jaxpr.aval(atom)
    }

    /// The first result of an equation.
    pub(crate) fn out(&self, number: usize) -> VarId {
        self.jaxpr.eqns[number].first_out
    }

    /// The aval of the first result of an equation.
    pub(crate) fn out_aval(&self, number: usize) -> Aval {
        self.jaxpr.vars[self.out(number).index()]
    }
}

fn check_computable(eqn: &Eqn, ins: &[Aval], outs: &[Aval]) -> Result<()> {
    match ins.iter().chain(outs).find(|aval| !is_computable(**aval)) {
        None => Ok(()),
        Some(aval) => eqn.span.scope(|| {
            bail!(NotImplemented, "{} of {} inside a compiled function is not implemented", eqn.prim.name(), aval.dtype)
        }),
    }
}

fn index_map(form: &CpuForm, ins: &[Aval], outs: &[Aval]) -> Option<IndexMap> {
    match form {
        CpuForm::Element(element) if outs[0].rank() > 0 => probe(element, ins, outs[0]),
        CpuForm::Alias => renaming(ins[0], outs[0]),
        _ => None,
    }
}

/// Records which single element a form reads.
struct Probe<'a> {
    loops: Builder,
    ins: &'a [Aval],
    read: Option<(usize, Vec<Index>, Elem)>,
    n_reads: usize,
    /// Reads at an index that is not all zeros.
    n_varying: usize,
    /// Indices of all reads.
    indices: Vec<Index>,
}

impl ElementCx for Probe<'_> {
    fn loops(&mut self) -> &mut Builder {
        &mut self.loops
    }

    fn operand(&mut self, number: usize, index: &[Index]) -> Result<Elem> {
        let dtype = self.ins[number].dtype;
        let first = self.loops.fresh(value_dtype(dtype));
        let elem = if values_per_element(dtype) == 1 {
            Elem::One(first)
        } else {
            Elem::Two(first, self.loops.fresh(value_dtype(dtype)))
        };
        self.n_reads += 1;
        self.n_varying += usize::from(index.iter().any(|index| *index != Index::constant(0)));
        self.indices.extend(index.iter().cloned());
        self.read = Some((number, index.to_vec(), elem));
        Ok(elem)
    }
}

fn probe(element: &ElementFn, ins: &[Aval], out: Aval) -> Option<IndexMap> {
    let mut cx = Probe { loops: Builder::new("probe"), ins, read: None, n_reads: 0, n_varying: 0, indices: vec![] };
    let counters: Vec<_> = (0..out.rank()).map(|_| cx.loops.fresh_loop()).collect();
    let index: Vec<Index> = counters.iter().map(|&id| Index::counter(id)).collect();
    let elem = element(&mut cx, &index).ok()?;
    let (operand, read, marker) = cx.read?;
    // A conversion on the way would show as another value, or as another type of the same value.
    if elem != marker || cx.n_reads != 1 || ins[operand].dtype != out.dtype {
        return None;
    }
    let mut map = IndexMap { operand, ..IndexMap::default() };
    for (axis, index) in read.iter().enumerate() {
        let Index::Affine(Affine { base, terms }) = index else { return None };
        map.base.push(*base);
        map.terms.extend(terms.iter().map(|&(id, stride)| (axis, id.index(), stride)));
    }
    Some(map)
}

/// Whether the target of every update is a start that is the same for all plus the update's index, so that no two
/// updates meet and their order does not matter.
pub(crate) fn moves_a_box(target: &TargetFn, ins: &[Aval], shape: &[usize]) -> bool {
    let mut cx = Probe { loops: Builder::new("probe"), ins, read: None, n_reads: 0, n_varying: 0, indices: vec![] };
    let counters: Vec<_> = shape.iter().map(|_| cx.loops.fresh_loop()).collect();
    let index: Vec<Index> = counters.iter().map(|&id| Index::counter(id)).collect();
    let Ok((at, None)) = target(&mut cx, &index) else { return false };
    // Operands are read at no index that counts, so a value counts only by way of a counter.
    if cx.n_varying > 0 {
        return false;
    }
    let program = cx.loops.finish();
    let counts = program.body.iter().any(|inst| matches!(inst.op, Op::Index(_)));
    let adds = |axis: usize, index: &Index| match index {
        Index::Affine(affine) => affine.terms.as_slice() == [(counters[axis], 1)],
        Index::Sum(affine, _) => affine.terms.as_slice() == [(counters[axis], 1)] && !counts,
    };
    at.len() == shape.len() && at.iter().enumerate().all(|(axis, index)| adds(axis, index))
}

/// Whether updates along the last axis have targets side by side, and all else that counts for them is the same.
pub(crate) fn moves_rows(target: &TargetFn, ins: &[Aval], shape: &[usize]) -> bool {
    let mut cx = Probe { loops: Builder::new("probe"), ins, read: None, n_reads: 0, n_varying: 0, indices: vec![] };
    let counters: Vec<_> = shape.iter().map(|_| cx.loops.fresh_loop()).collect();
    let index: Vec<Index> = counters.iter().map(|&id| Index::counter(id)).collect();
    let (Some(&last), Ok((at, _))) = (counters.last(), target(&mut cx, &index)) else { return false };
    let steps = |index: &Index| {
        let (Index::Affine(affine) | Index::Sum(affine, _)) = index;
        affine.terms.iter().find(|(id, _)| *id == last).map(|&(_, stride)| stride)
    };
    // A value may count by way of a counter in the program, or of an operand that is read where it counts.
    let is_read = cx.indices.iter().any(|index| steps(index).is_some());
    let program = cx.loops.finish();
    let is_computed = program.body.iter().any(|inst| match &inst.op {
        Op::Index(id) => *id == last,
        op => !op.has_value(),
    });
    let found: Vec<i64> = at.iter().filter_map(steps).collect();
    !is_read && !is_computed && found == [1]
}

/// The index map of a reshape that only adds and drops axes of size 1.
fn renaming(x: Aval, out: Aval) -> Option<IndexMap> {
    if x.dtype != out.dtype {
        return None;
    }
    let long =
        |aval: Aval| -> SmallVec<[usize; 4]> { (0..aval.rank()).filter(|&axis| aval.shape[axis] != 1).collect() };
    let (from, to) = (long(x), long(out));
    let same = from.len() == to.len() && from.iter().zip(&to).all(|(&a, &b)| x.shape[a] == out.shape[b]);
    let terms = from.iter().zip(&to).map(|(&a, &b)| (a, b, 1)).collect();
    same.then(|| IndexMap { operand: 0, base: SmallVec::from_elem(0, x.rank()), terms })
}
