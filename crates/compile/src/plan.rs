//! Which equations share a loop nest, which get none, and in which order nests run.
//!
//! One greedy walk. An equation is *virtual* when readers ask for its elements where they need them; a *scalar* when it
//! has rank 0 and lives in a register; a *member* of a group, which is one loop nest over one shape; or a *single* step
//! of its own. A member joins the latest group of its shape that comes after everything it reads, or that makes what
//! it reads at the same index. Nothing here makes loops.

use std::collections::HashMap;

use pullback_base::Shape;
use pullback_ir::Atom;
use pullback_ir::lower::CpuForm;

use crate::Options;
use crate::graph::Graph;
use crate::rows::{self, Run};

/// A virtual equation that would make a reader compute more than this many forms is stored.
const MAX_VIRTUAL_WEIGHT: usize = 16;

/// Where an equation's results come to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Where a reader asks for an element.
    Virtual,
    /// In registers, before the step with this number.
    Scalar,
    /// In the memory of its operand, under other strides.
    View,
    /// In the group that is this step.
    Member(usize),
    /// In this step.
    Single(usize),
}

/// One loop nest, or one equation that is more than that.
#[derive(Debug)]
pub(crate) enum Step {
    Group(Group),
    Single(usize),
}

/// Equations that share a loop nest.
#[derive(Debug)]
pub(crate) struct Group {
    /// Sizes of the nest.
    pub(crate) shape: Shape,
    /// Reduced axes, when there are reductions.
    pub(crate) axes: Option<Vec<usize>>,
    /// The equations, in order.
    pub(crate) members: Vec<usize>,
}

/// The decisions for one jaxpr.
#[derive(Debug)]
pub(crate) struct Plan {
    /// For each equation.
    pub(crate) places: Vec<Place>,
    /// In the order in which they run.
    pub(crate) steps: Vec<Step>,
    /// Scalar equations to be made before each step, and after the last.
    pub(crate) scalars: Vec<Vec<usize>>,
    /// Variables made in a group that someone reads from memory.
    pub(crate) stored: Vec<bool>,
    /// Variables that all readers ask for elements by index, so that they may lie in memory in any order.
    pub(crate) by_element: Vec<bool>,
    /// The last step that reads each variable or what lies in its memory; `usize::MAX` for results.
    pub(crate) last_use: Vec<usize>,
    /// Groups that run row by row together.
    pub(crate) runs: Vec<Run>,
}

impl Plan {
    pub(crate) fn new(graph: &Graph, options: &Options) -> Plan {
        let needs = Needs::of(graph, options);
        let mut planner = Planner {
            graph,
            options,
            needs,
            places: vec![Place::Virtual; graph.forms.len()],
            steps: vec![],
            scalars: vec![vec![]],
            ready: vec![0; graph.jaxpr.vars.len()],
            weight: vec![0; graph.jaxpr.vars.len()],
            open: HashMap::default(),
        };
        (0..graph.forms.len()).for_each(|eqn| planner.place(eqn));
        let Planner { places, steps, scalars, ready, needs, .. } = planner;
        let by_element = needs.of.iter().map(|&need| need == Need::Elements).collect();
        let stored = stored(graph, &places);
        let last_use = last_use(graph, &places, &ready);
        let mut plan = Plan { places, steps, scalars, stored, by_element, last_use, runs: vec![] };
        if options.fuse {
            plan.runs = rows::runs(graph, &plan, &ready);
        }
        plan
    }
}

impl Plan {
    /// Whether an equation has a place of its own in memory.
    pub(crate) fn is_stored(&self, eqn: usize) -> bool {
        matches!(self.places[eqn], Place::Member(_) | Place::Single(_))
    }

    /// The group that is a step.
    pub(crate) fn group(&self, step: usize) -> &Group {
        match &self.steps[step] {
            Step::Group(group) => group,
            Step::Single(eqn) => unreachable!("equation {eqn} is a step of its own"),
        }
    }
}

/// What readers need of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Need {
    /// Elements by index.
    Elements,
    /// Memory with strides of zero or more.
    Strided,
    /// Row-major memory.
    Contiguous,
}

/// What is needed of each variable, and which virtual equations must be stored for it.
struct Needs {
    of: Vec<Need>,
    stored: Vec<bool>,
}

impl Needs {
    fn of(graph: &Graph, options: &Options) -> Needs {
        let mut needs =
            Needs { of: vec![Need::Elements; graph.jaxpr.vars.len()], stored: vec![!options.fuse; graph.forms.len()] };
        graph.jaxpr.outs.iter().for_each(|&out| needs.raise(out, Need::Contiguous));
        for eqn in (0..graph.forms.len()).rev() {
            needs.visit(graph, eqn);
        }
        needs
    }

    fn raise(&mut self, atom: Atom, need: Need) {
        if let Atom::Var(var) = atom {
            let known = &mut self.of[var.index()];
            *known = need.max(*known);
        }
    }

    fn visit(&mut self, graph: &Graph, number: usize) {
        let (eqn, out) = (graph.eqn(number), graph.out(number));
        let all = |needs: &mut Needs, need: Need| eqn.ins.iter().for_each(|&atom| needs.raise(atom, need));
        match &graph.forms[number] {
            CpuForm::Element(_) if graph.transposes_a_contraction(number) => {}
            CpuForm::Element(_) => {
                let need = self.of[out.index()];
                match &graph.maps[number] {
                    Some(map) if need == Need::Strided && map.terms.iter().all(|term| term.2 >= 0) => {
                        self.raise(eqn.ins[map.operand], need);
                    }
                    _ => self.stored[number] |= need != Need::Elements,
                }
            }
            CpuForm::Alias => {
                let is_renaming = graph.maps[number].is_some() && self.of[out.index()] == Need::Elements;
                self.raise(eqn.ins[0], if is_renaming { Need::Elements } else { Need::Contiguous });
            }
            CpuForm::Contract(_) => all(self, Need::Strided),
            CpuForm::Sort { .. } | CpuForm::Host(_) | CpuForm::Body(_) => all(self, Need::Contiguous),
            CpuForm::Control(_) => all(self, Need::Strided),
            CpuForm::Scalar(_)
            | CpuForm::Pieces(_)
            | CpuForm::Reduce { .. }
            | CpuForm::ArgReduce { .. }
            | CpuForm::Cumulative { .. }
            | CpuForm::Scatter { .. } => {}
            CpuForm::Decompose(_) | CpuForm::Missing(_) => unreachable!("gone after inlining"),
        }
    }
}

struct Planner<'a> {
    graph: &'a Graph,
    options: &'a Options,
    needs: Needs,
    places: Vec<Place>,
    steps: Vec<Step>,
    scalars: Vec<Vec<usize>>,
    /// The first step that may read any element of a variable.
    ready: Vec<usize>,
    /// How many forms a reader of a virtual variable computes.
    weight: Vec<usize>,
    /// The latest group of each shape.
    open: HashMap<Shape, usize, rustc_hash::FxBuildHasher>,
}

impl Planner<'_> {
    fn place(&mut self, number: usize) {
        let is_scalar = self.graph.eqn(number).n_outs == 1 && self.graph.out_aval(number).rank() == 0;
        match &self.graph.forms[number] {
            CpuForm::Scalar(_) | CpuForm::Element(_) | CpuForm::Alias if is_scalar => self.scalar(number),
            CpuForm::Scalar(_) => self.member(number, self.graph.out_aval(number).shape.clone(), None),
            CpuForm::Element(_) => self.element(number),
            CpuForm::Alias => self.alias(number),
            CpuForm::Reduce { axes, .. } => {
                let shape = self.graph.aval(self.graph.eqn(number).ins[0]).shape.clone();
                let mut axes = axes.clone();
                axes.sort_unstable();
                self.member(number, shape, Some(axes));
            }
            CpuForm::Pieces(_)
            | CpuForm::ArgReduce { .. }
            | CpuForm::Cumulative { .. }
            | CpuForm::Contract(_)
            | CpuForm::Scatter { .. }
            | CpuForm::Sort { .. }
            | CpuForm::Control(_)
            | CpuForm::Host(_)
            | CpuForm::Body(_) => self.single(number),
            CpuForm::Decompose(_) | CpuForm::Missing(_) => unreachable!("gone after inlining"),
        }
    }

    /// The first step that may read all operands at any index.
    fn operands_ready(&self, number: usize) -> usize {
        self.graph.eqn(number).ins.iter().map(|&atom| self.atom_ready(atom)).max().unwrap_or(0)
    }

    fn atom_ready(&self, atom: Atom) -> usize {
        match atom {
            Atom::Var(var) => self.ready[var.index()],
            Atom::Literal(_) => 0,
        }
    }

    fn define(&mut self, number: usize, place: Place, ready: usize) {
        self.places[number] = place;
        self.graph.eqn(number).outs().for_each(|var| self.ready[var.index()] = ready);
    }

    fn scalar(&mut self, number: usize) {
        let ready = self.operands_ready(number);
        self.scalars[ready].push(number);
        self.define(number, Place::Scalar, ready);
    }

    fn element(&mut self, number: usize) {
        if self.graph.transposes_a_contraction(number) && !self.needs.stored[number] {
            return self.define(number, Place::View, self.operands_ready(number));
        }
        let weight = self.virtual_weight(number);
        if self.needs.stored[number] || weight > MAX_VIRTUAL_WEIGHT {
            return self.member(number, self.graph.out_aval(number).shape.clone(), None);
        }
        self.weight[self.graph.out(number).index()] = weight;
        self.define(number, Place::Virtual, self.operands_ready(number));
    }

    fn virtual_weight(&self, number: usize) -> usize {
        let of = |atom: &Atom| match atom {
            Atom::Var(var) => self.weight[var.index()],
            Atom::Literal(_) => 0,
        };
        1 + self.graph.eqn(number).ins.iter().map(of).sum::<usize>()
    }

    fn alias(&mut self, number: usize) {
        let is_renaming = self.graph.maps[number].is_some();
        let is_read_by_element = self.needs.of[self.graph.out(number).index()] == Need::Elements;
        if is_renaming && is_read_by_element {
            return self.element(number);
        }
        self.define(number, Place::View, self.operands_ready(number));
    }

    fn single(&mut self, number: usize) {
        let step = self.push(Step::Single(number));
        self.define(number, Place::Single(step), step + 1);
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.scalars.push(vec![]);
        self.steps.len() - 1
    }

    fn member(&mut self, number: usize, shape: Shape, axes: Option<Vec<usize>>) {
        let step = self.joinable(number, &shape, axes.as_ref()).unwrap_or_else(|| {
            let step = self.push(Step::Group(Group { shape: shape.clone(), axes: None, members: vec![] }));
            self.open.insert(shape, step);
            step
        });
        let Step::Group(group) = &mut self.steps[step] else { unreachable!("only groups are open") };
        group.members.push(number);
        if axes.is_some() {
            group.axes = axes;
        }
        self.define(number, Place::Member(step), step + 1);
    }

    /// The latest group of that shape, if all operands are there in time and no reduction is over other axes.
    fn joinable(&self, number: usize, shape: &Shape, axes: Option<&Vec<usize>>) -> Option<usize> {
        if !self.options.fuse {
            return None;
        }
        let &step = self.open.get(shape)?;
        let Step::Group(group) = &self.steps[step] else { unreachable!("only groups are open") };
        let axes_agree = axes.is_none() || group.axes.is_none() || group.axes.as_ref() == axes;
        let has_room = group.members.len() < self.options.max_group;
        let reads_elements = matches!(self.graph.forms[number], CpuForm::Element(_) | CpuForm::Alias);
        let in_time = |&atom: &Atom| {
            self.atom_ready(atom) <= step || (!reads_elements && self.is_made_at_same_index(atom, step, shape))
        };
        (axes_agree && has_room && self.graph.eqn(number).ins.iter().all(in_time)).then_some(step)
    }

    fn is_made_at_same_index(&self, atom: Atom, step: usize, shape: &Shape) -> bool {
        let Atom::Var(var) = atom else { return true };
        let Some(maker) = self.graph.made_by[var.index()] else { return false };
        let is_reduction = matches!(self.graph.forms[maker], CpuForm::Reduce { .. });
        self.places[maker] == Place::Member(step) && !is_reduction && self.graph.aval(atom).shape == *shape
    }
}

/// A variable made in a group is stored when anyone outside the group, or at another index, reads it.
fn stored(graph: &Graph, places: &[Place]) -> Vec<bool> {
    let mut stored = vec![false; graph.jaxpr.vars.len()];
    for (number, eqn) in graph.jaxpr.eqns.iter().enumerate() {
        for var in eqn.ins.iter().filter_map(|atom| atom.var()) {
            let Some(maker) = graph.made_by[var.index()] else { continue };
            if matches!(places[maker], Place::Member(_)) && places[maker] != places[number] {
                stored[var.index()] = true;
            }
        }
    }
    graph.jaxpr.outs.iter().filter_map(|out| out.var()).for_each(|var| stored[var.index()] = true);
    stored
}

fn last_use(graph: &Graph, places: &[Place], ready: &[usize]) -> Vec<usize> {
    let mut last = vec![0; graph.jaxpr.vars.len()];
    graph.jaxpr.outs.iter().filter_map(|out| out.var()).for_each(|var| last[var.index()] = usize::MAX);
    for (number, eqn) in graph.jaxpr.eqns.iter().enumerate().rev() {
        let used = match places[number] {
            Place::Member(step) | Place::Single(step) => step,
            // It runs just before the step for which it is ready.
            Place::Scalar => ready[graph.out(number).index()],
            Place::Virtual | Place::View => eqn.outs().map(|var| last[var.index()]).max().unwrap_or(0),
        };
        for var in eqn.ins.iter().filter_map(|atom| atom.var()) {
            last[var.index()] = last[var.index()].max(used);
        }
    }
    last
}
