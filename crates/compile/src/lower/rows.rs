//! Runs: loops over the leading axes of several steps, and inside of them the rest of each step.

use std::ops::Range;

use pullback_base::Result;
use pullback_ir::lower::Index;
use pullback_ir::{Atom, VarId};
use pullback_loops::Builder;

use super::Block;
use super::contract::{Product, batched};
use crate::nest::{is_parallel, parallel_level, rows, work};
use crate::plan::{Place, Step};
use crate::rows::Run;

/// What a run does at an index of its leading axes.
enum Part<'p> {
    /// The loop nest of a step.
    Group(usize),
    /// One matrix of a batch.
    Product(usize, Product),
    /// Loops over more axes around several steps.
    Rows(&'p Run, Vec<Part<'p>>),
}

impl Block<'_, '_> {
    /// The steps of a run.
    pub(super) fn rows(&mut self, loops: &mut Builder, run: &Run) -> Result<()> {
        let plan = self.plan.clone();
        // The last first: it decides where those before it lie.
        for &(var, other) in run.shared().rev() {
            self.share_memory(loops, var, other, &run.steps);
        }
        self.find_outside(loops, &run.steps);
        let parts = self.parts(loops, run, &run.steps)?;
        let is_parallel = is_parallel(run.steps.clone().map(|step| self.work_of(&plan.steps[step])).sum());
        let shape = self.leading_sizes(run);
        let parallel = is_parallel.then(|| parallel_level(&shape));
        rows(loops, &shape, parallel, &mut vec![], &mut |loops, index| self.parts_at(loops, &parts, index))
    }

    fn parts<'p>(&mut self, loops: &mut Builder, run: &'p Run, outermost: &Range<usize>) -> Result<Vec<Part<'p>>> {
        let plan = self.plan.clone();
        let (mut parts, mut step) = (vec![], run.steps.start);
        while step < run.steps.end {
            self.step = step;
            let inner = run.inner.iter().find(|inner| inner.steps.start == step);
            parts.push(match (inner, &plan.steps[step]) {
                (Some(inner), _) => Part::Rows(inner, self.parts(loops, inner, outermost)?),
                (None, Step::Group(_)) => Part::Group(step),
                (None, &Step::Single(number)) => {
                    let graph = self.graph.clone();
                    let ins = &graph.eqn(number).ins;
                    let is_inside = [0, 1].map(|side| self.is_made_in(ins[side], outermost));
                    Part::Product(step, self.product(loops, number, is_inside)?)
                }
            });
            step = inner.map_or(step + 1, |inner| inner.steps.end);
        }
        Ok(parts)
    }

    fn parts_at(&mut self, loops: &mut Builder, parts: &[Part<'_>], index: &[Index]) -> Result<()> {
        let plan = self.plan.clone();
        parts.iter().try_for_each(|part| match part {
            Part::Group(step) => {
                self.step = *step;
                self.group_at(loops, plan.group(*step), index)
            }
            Part::Product(step, product) => {
                self.step = *step;
                self.product_at(loops, product, index)
            }
            Part::Rows(run, parts) => {
                let shape = self.leading_sizes(run);
                let mut index = index.to_vec();
                rows(loops, &shape, None, &mut index, &mut |loops, index| self.parts_at(loops, parts, index))
            }
        })
    }

    /// Sizes of the axes over which a run loops.
    fn leading_sizes(&self, run: &Run) -> Vec<usize> {
        let shape = match &self.plan.steps[run.steps.start] {
            Step::Group(group) => &group.shape,
            Step::Single(number) => &self.graph.out_aval(*number).shape,
        };
        shape[..run.n_axes].to_vec()
    }

    fn work_of(&self, step: &Step) -> usize {
        match step {
            Step::Group(group) => work(group.shape.iter().product(), group.members.len()),
            Step::Single(number) => batched(&self.graph, *number)
                .map_or(0, |batched| work(batched.work * batched.sizes.iter().product::<usize>(), 1)),
        }
    }

    /// Whether an operand is made by one of these steps.
    fn is_made_in(&self, atom: Atom, steps: &Range<usize>) -> bool {
        let Atom::Var(var) = atom else { return false };
        let Some(maker) = self.graph.made_by[var.index()] else { return false };
        match self.plan.places[maker] {
            Place::Member(step) | Place::Single(step) => steps.contains(&step),
            Place::Scalar => false,
            Place::Virtual | Place::View => {
                self.graph.eqn(maker).ins.iter().any(|&operand| self.is_made_in(operand, steps))
            }
        }
    }

    /// Finds where operands from outside lie before the loops, as that may copy them.
    fn find_outside(&mut self, loops: &mut Builder, steps: &Range<usize>) {
        let (graph, plan) = (self.graph.clone(), self.plan.clone());
        self.step = steps.start;
        for step in steps.clone() {
            let Step::Group(group) = &plan.steps[step] else { continue };
            for &atom in group.members.iter().flat_map(|&member| &graph.eqn(member).ins) {
                let Atom::Var(var) = atom else { continue };
                let is_view = graph.made_by[var.index()].is_some_and(|maker| plan.places[maker] == Place::View);
                if is_view && !self.is_made_in(atom, steps) {
                    self.value(loops, atom);
                }
            }
        }
    }

    /// Places a variable of a run in the memory of another.
    fn share_memory(&mut self, loops: &mut Builder, var: VarId, other: VarId, steps: &Range<usize>) {
        if self.wanted.contains_key(&var) {
            return;
        }
        // The memory is in use from the first of the two on.
        self.step = steps.start;
        let view = self.dest(loops, other);
        self.wanted.insert(other, view.clone());
        self.wanted.insert(var, view);
    }
}
