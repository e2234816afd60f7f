//! Groups: elementwise equations, moved elements and reductions over one shape in one loop nest; and copies.

use std::rc::Rc;

use pullback_base::{DType, Result, bail};
use pullback_ir::lower::{CpuForm, Elem, Index, lexicographic, value_dtype, values_per_element};
use pullback_ir::{Atom, VarId};
use pullback_loops::{Binary, BufferId, Builder, Combine, Comparison, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Block, mapped_index};
use crate::graph::Graph;
use crate::nest::{Acc, Nest, NestBody};
use crate::plan::{Group, Place};
use crate::view::{Strides, Value, View, rounded};

/// The strides of everything that a nest reads and writes, while they are known.
pub(super) struct Accesses(Option<Vec<Strides>>);

impl Accesses {
    pub(super) fn new() -> Accesses {
        Accesses(Some(vec![]))
    }

    pub(super) fn add(&mut self, strides: Strides) {
        if let Some(known) = &mut self.0 {
            known.push(strides);
        }
    }

    /// Something is read at computed positions.
    pub(super) fn unknown(&mut self) {
        self.0 = None;
    }

    pub(super) fn known(&self) -> Option<&[Strides]> {
        self.0.as_deref()
    }
}

impl Block<'_, '_> {
    /// Adds what reading `atom` at the index of a nest over `shape` touches.
    pub(super) fn access(&mut self, loops: &mut Builder, atom: Atom, shape: &[usize], accesses: &mut Accesses) {
        match self.value(loops, atom) {
            Some(Value::Uniform(_)) => {}
            Some(Value::Memory(view)) => accesses.add(repeated(&view.strides, &self.graph.aval(atom).shape, shape)),
            None => accesses.unknown(),
        }
    }

    /// Copies all elements of a variable to memory.
    pub(super) fn copy(&mut self, loops: &mut Builder, atom: Atom, dest: &View) -> Result<()> {
        let aval = self.graph.aval(atom);
        let mut accesses = Accesses::new();
        self.access(loops, atom, &aval.shape, &mut accesses);
        accesses.add(dest.strides.clone());
        let nest = Nest::new(&aval.shape, &[], accesses.known(), 1);
        self.map(loops, &nest, |block, loops, index| {
            let elem = block.element(loops, atom, index)?;
            let elem = converted(loops, elem, dest.dtype);
            dest.store(loops, index, elem);
            Ok(())
        })
    }

    /// Runs `body` at each index of a nest that reduces nothing.
    pub(super) fn map(
        &mut self,
        loops: &mut Builder,
        nest: &Nest,
        body: impl FnMut(&mut Self, &mut Builder, &[Index]) -> Result<()>,
    ) -> Result<()> {
        self.current.clear();
        nest.run(loops, &mut Map { block: self, body })
    }

    pub(super) fn group(&mut self, loops: &mut Builder, group: &Group) -> Result<()> {
        self.group_at(loops, group, &[])
    }

    /// A group at one index of its first axes.
    pub(super) fn group_at(&mut self, loops: &mut Builder, group: &Group, outer: &[Index]) -> Result<()> {
        let graph = self.graph.clone();
        let axes = group.axes.clone().unwrap_or_default();
        let dests: Vec<Option<View>> = group.members.iter().map(|&eqn| self.member_dest(loops, eqn)).collect();
        let mut accesses = Accesses::new();
        for (&eqn, dest) in group.members.iter().zip(&dests) {
            self.member_accesses(loops, eqn, group, &mut accesses);
            if let Some(dest) = dest {
                let is_reduction = matches!(graph.forms[eqn], CpuForm::Reduce { .. });
                accesses.add(if is_reduction {
                    spread(&dest.strides, &axes, group.shape.len())
                } else {
                    dest.strides.clone()
                });
            }
        }
        let (accs, is_ordered) = accs(&graph, group);
        let nest = Nest::inside(outer.len(), &group.shape, &axes, accesses.known(), group.members.len());
        let nest = nest.reducing(accs, is_ordered);
        self.current.clear();
        nest.run_at(
            outer,
            loops,
            &mut GroupBody { block: self, graph: graph.clone(), group, dests: &dests, read: FxHashMap::default() },
        )?;
        self.current.clear();
        for (&eqn, dest) in group.members.iter().zip(dests) {
            let is_register = self.values[graph.out(eqn).index()].is_some();
            if let (Some(view), false) = (dest, is_register) {
                self.define(graph.out(eqn), view);
            }
        }
        Ok(())
    }

    /// Memory for a member's result, when it goes to memory.
    fn member_dest(&mut self, loops: &mut Builder, eqn: usize) -> Option<View> {
        let (out, aval) = (self.graph.out(eqn), self.graph.out_aval(eqn));
        let is_register = matches!(self.graph.forms[eqn], CpuForm::Reduce { .. }) && aval.rank() == 0;
        let is_stored = self.plan.stored[out.index()] || self.wanted.contains_key(&out);
        if is_register {
            return self.wanted.get(&out).cloned();
        }
        is_stored.then(|| self.dest(loops, out))
    }

    fn member_accesses(&mut self, loops: &mut Builder, number: usize, group: &Group, accesses: &mut Accesses) {
        let graph = self.graph.clone();
        let eqn = graph.eqn(number);
        let place = self.plan.places[number];
        if let (CpuForm::Element(_) | CpuForm::Alias, map) = (&graph.forms[number], &graph.maps[number]) {
            let Some(map) = map else { return accesses.unknown() };
            return match self.value(loops, eqn.ins[map.operand]) {
                Some(Value::Memory(view)) => accesses.add(view.mapped(map, group.shape.len()).strides),
                Some(Value::Uniform(_)) => {}
                None => accesses.unknown(),
            };
        }
        for &atom in &eqn.ins {
            if !is_made_here(&graph, &self.plan.places, atom, place) {
                self.access(loops, atom, &group.shape, accesses);
            }
        }
    }

    /// The element of an operand at the index of a group; read once.
    fn member_operand(&mut self, loops: &mut Builder, atom: Atom, shape: &[usize], index: &[Index]) -> Result<Elem> {
        let aval = self.graph.aval(atom);
        let index = repeated_index(index, &aval.shape, shape);
        self.element(loops, atom, &index)
    }
}

fn is_made_here(graph: &Graph, places: &[Place], atom: Atom, place: Place) -> bool {
    let Atom::Var(var) = atom else { return false };
    graph.made_by[var.index()].is_some_and(|maker| places[maker] == place)
}

/// Strides in a nest of an operand whose axes of size 1, or which as a scalar, repeats.
fn repeated(strides: &Strides, from: &[usize], to: &[usize]) -> Strides {
    if from.is_empty() {
        return Strides::from_elem(0, to.len());
    }
    let stride = |axis: usize| if from[axis] == 1 && to[axis] != 1 { 0 } else { strides[axis] };
    (0..to.len()).map(stride).collect()
}

fn repeated_index(index: &[Index], from: &[usize], to: &[usize]) -> SmallVec<[Index; 4]> {
    let at = |axis: usize| if from[axis] == 1 && to[axis] != 1 { Index::constant(0) } else { index[axis].clone() };
    (0..from.len()).map(at).collect()
}

/// Strides of kept axes in a nest that also has reduced ones.
pub(super) fn spread(strides: &Strides, axes: &[usize], rank: usize) -> Strides {
    let mut kept = strides.iter();
    let stride =
        |axis: usize| if axes.contains(&axis) { 0 } else { *kept.next().expect("one stride for each kept axis") };
    (0..rank).map(stride).collect()
}

/// The index without reduced axes.
pub(super) fn kept_index(index: &[Index], axes: &[usize]) -> Vec<Index> {
    (0..index.len()).filter(|axis| !axes.contains(axis)).map(|axis| index[axis].clone()).collect()
}

/// The values that the reductions of a group carry, and whether some of them need the order of the elements.
fn accs(graph: &Graph, group: &Group) -> (Vec<Acc>, bool) {
    let (mut accs, mut is_ordered) = (vec![], false);
    for &eqn in &group.members {
        if let CpuForm::Reduce { combine, .. } = graph.forms[eqn] {
            let dtype = graph.out_aval(eqn).dtype;
            accs.extend(Acc::of(combine, dtype));
            is_ordered |= Acc::needs_order(combine, dtype);
        }
    }
    (accs, is_ordered)
}

/// An element as one of another real type; nothing between equal types.
pub(super) fn converted(loops: &mut Builder, elem: Elem, dtype: DType) -> Elem {
    match elem {
        Elem::One(value) => Elem::One(loops.convert(value_dtype(dtype), value)),
        Elem::Two(re, im) => {
            let to = value_dtype(dtype);
            Elem::Two(loops.convert(to, re), loops.convert(to, im))
        }
    }
}

/// Two elements combined.
pub(super) fn combined(loops: &mut Builder, combine: Combine, a: Elem, b: Elem) -> Result<Elem> {
    match (a, b) {
        (Elem::One(a), Elem::One(b)) => Ok(Elem::One(loops.binary(combine.binary(), a, b))),
        (Elem::Two(a, b), Elem::Two(c, d)) if combine == Combine::Add => {
            Ok(Elem::Two(loops.binary(Binary::Add, a, c), loops.binary(Binary::Add, b, d)))
        }
        (Elem::Two(a, b), Elem::Two(c, d)) if combine == Combine::Mul => Ok(product(loops, [a, b], [c, d])),
        (Elem::Two(a, b), Elem::Two(c, d)) if combine == Combine::Max => {
            Ok(lexicographic(loops, Comparison::Gt, [a, b], [c, d]))
        }
        (Elem::Two(a, b), Elem::Two(c, d)) if combine == Combine::Min => {
            Ok(lexicographic(loops, Comparison::Lt, [a, b], [c, d]))
        }
        (Elem::Two(..), _) | (_, Elem::Two(..)) => {
            bail!(NotImplemented, "{combine:?} of complex numbers is not implemented")
        }
    }
}

/// The product of complex numbers.
pub(super) fn product(loops: &mut Builder, [a, b]: [ValueId; 2], [c, d]: [ValueId; 2]) -> Elem {
    let (ac, bd) = (loops.binary(Binary::Mul, a, c), loops.binary(Binary::Mul, b, d));
    let (ad, bc) = (loops.binary(Binary::Mul, a, d), loops.binary(Binary::Mul, b, c));
    Elem::Two(loops.binary(Binary::Sub, ac, bd), loops.binary(Binary::Add, ad, bc))
}

/// The values of an element.
pub(super) fn values_of(elem: Elem) -> SmallVec<[ValueId; 2]> {
    match elem {
        Elem::One(value) => SmallVec::from_slice(&[value]),
        Elem::Two(first, second) => SmallVec::from_slice(&[first, second]),
    }
}

/// The first element of a list of values.
pub(super) fn take_elem(values: &mut impl Iterator<Item = ValueId>, dtype: DType) -> Elem {
    let mut next = || values.next().expect("as many values as the elements have");
    if values_per_element(dtype) == 1 { Elem::One(next()) } else { Elem::Two(next(), next()) }
}

/// A body that reduces nothing, from a function.
pub(super) struct Map<'b, 'a, 'o, F> {
    pub(super) block: &'b mut Block<'a, 'o>,
    pub(super) body: F,
}

impl<'a, 'o, F> NestBody for Map<'_, 'a, 'o, F>
where
    F: FnMut(&mut Block<'a, 'o>, &mut Builder, &[Index]) -> Result<()>,
{
    fn element(&mut self, loops: &mut Builder, index: &[Index], _: &[ValueId]) -> Result<Vec<ValueId>> {
        (self.body)(self.block, loops, index).map(|()| vec![])
    }
    fn finish(&mut self, _: &mut Builder, _: &[Index], _: &[ValueId]) -> Result<()> {
        Ok(())
    }
    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        self.block.step_temp(loops, &[len as usize], dtype).buffer
    }
}

struct GroupBody<'b, 'a, 'o> {
    block: &'b mut Block<'a, 'o>,
    graph: Rc<Graph>,
    group: &'b Group,
    dests: &'b [Option<View>],
    /// Elements from outside at the index of the group.
    read: FxHashMap<VarId, Elem>,
}

impl GroupBody<'_, '_, '_> {
    fn member(&mut self, loops: &mut Builder, number: usize, index: &[Index]) -> Result<Elem> {
        let graph = self.graph.clone();
        let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
        match &graph.forms[number] {
            CpuForm::Scalar(form) => {
                let mut ins = SmallVec::<[Elem; 4]>::new();
                for &atom in &eqn.ins {
                    ins.push(self.operand(loops, atom, index)?);
                }
                let elem = form(loops, &ins);
                Ok(rounded(loops, elem, out.dtype))
            }
            CpuForm::Alias => {
                let map = graph.maps[number].as_ref().expect("other reshapes are views");
                let index = mapped_index(loops, map, index);
                self.block.element(loops, eqn.ins[0], &index)
            }
            _ => self.block.virtual_element(loops, number, index),
        }
    }

    fn operand(&mut self, loops: &mut Builder, atom: Atom, index: &[Index]) -> Result<Elem> {
        let Atom::Var(var) = atom else { return self.block.element(loops, atom, &[]) };
        if let Some(&elem) = self.block.current.get(&var).or_else(|| self.read.get(&var)) {
            return Ok(elem);
        }
        let elem = self.block.member_operand(loops, atom, &self.group.shape, index)?;
        self.read.insert(var, elem);
        Ok(elem)
    }

    fn total(&mut self, loops: &mut Builder, out: VarId, dest: Option<&View>, index: &[Index], elem: Elem) {
        let aval = self.graph.aval(Atom::Var(out));
        let elem = rounded(loops, elem, aval.dtype);
        if let Some(dest) = dest {
            dest.store(loops, index, elem);
        }
        if aval.rank() == 0 {
            self.block.values[out.index()] = Some(Value::Uniform(elem));
        }
    }
}

impl NestBody for GroupBody<'_, '_, '_> {
    fn element(&mut self, loops: &mut Builder, index: &[Index], accs: &[ValueId]) -> Result<Vec<ValueId>> {
        self.block.current.clear();
        self.read.clear();
        let (mut phis, mut nexts) = (accs.iter().copied(), vec![]);
        for (&number, dest) in self.group.members.iter().zip(self.dests) {
            let graph = self.graph.clone();
            let eqn = graph.eqn(number);
            if let CpuForm::Reduce { combine, .. } = &graph.forms[number] {
                let phi = take_elem(&mut phis, graph.out_aval(number).dtype);
                let x = self.operand(loops, eqn.ins[0], index)?;
                nexts.extend(values_of(combined(loops, *combine, phi, x)?));
                continue;
            }
            let elem = self.member(loops, number, index)?;
            self.block.current.insert(eqn.first_out, elem);
            if let Some(dest) = dest {
                dest.store(loops, index, elem);
            }
        }
        self.block.current.clear();
        Ok(nexts)
    }

    fn finish(&mut self, loops: &mut Builder, index: &[Index], totals: &[ValueId]) -> Result<()> {
        let mut totals = totals.iter().copied();
        let axes = self.group.axes.as_deref().unwrap_or_default();
        let index = kept_index(index, axes);
        for (&number, dest) in self.group.members.iter().zip(self.dests) {
            let graph = self.graph.clone();
            if let CpuForm::Reduce { .. } = &graph.forms[number] {
                let elem = take_elem(&mut totals, graph.out_aval(number).dtype);
                self.total(loops, graph.out(number), dest.as_ref(), &index, elem);
            }
        }
        Ok(())
    }

    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        self.block.step_temp(loops, &[len as usize], dtype).buffer
    }
}
