//! Which neighbouring groups run row by row together.
//!
//! Groups that share leading axes, none of which is reduced, and read of each other only the row at which they are,
//! need one pass over the rows: each row goes through all of them while it is in the cache. A softmax is such a run. Batches
//! of small matrix products, and the groups and runs between them, are runs over the batch: attention is one.

use std::ops::Range;

use pullback_ir::lower::CpuForm;
use pullback_ir::{Atom, VarId};

use crate::graph::Graph;
use crate::lower::contract::{Batched, batched};
use crate::plan::{Group, Place, Plan, Step};

/// A group that reads nothing of the run joins it only if its rows are at least so long.
const MIN_INDEPENDENT_ROW: usize = 64;

/// The most groups of one run.
const MAX_STEPS: usize = 64;

/// Groups that run row by row together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Their steps.
    pub(crate) steps: Range<usize>,
    /// Number of leading axes that are the rows.
    pub(crate) n_axes: usize,
    /// Variables that live in the memory of another, which is made last.
    shared: Vec<(VarId, VarId)>,
    /// Runs over more axes inside of this one, in order.
    pub(crate) inner: Vec<Run>,
}

impl Run {
    /// Variables that live in the memory of another, which is made last.
    pub(crate) fn shared(&self) -> impl DoubleEndedIterator<Item = &(VarId, VarId)> {
        self.inner.iter().flat_map(|inner| &inner.shared).chain(&self.shared)
    }
}

/// All runs of a plan, in order. `ready` tells the first step that may read all of a variable.
pub(crate) fn runs(graph: &Graph, plan: &Plan, ready: &[usize]) -> Vec<Run> {
    let readers = readers(graph);
    let mut runs = vec![];
    let mut first = 0;
    while first < plan.steps.len() {
        let run = longest(graph, plan, ready, &readers, first);
        first = run.as_ref().map_or(first + 1, |run| run.steps.end);
        runs.extend(run);
    }
    over_batches(graph, plan, ready, runs)
}

/// The runs, those inside of a run over a batch in that one.
fn over_batches(graph: &Graph, plan: &Plan, ready: &[usize], runs: Vec<Run>) -> Vec<Run> {
    let batches: Vec<Option<Batched>> = plan.steps.iter().map(|step| batch_of(graph, step)).collect();
    if batches.iter().all(Option::is_none) {
        return runs;
    }
    let (mut found, mut first, mut seen) = (vec![], 0, 0);
    while first < plan.steps.len() {
        let over = over_batch(graph, plan, ready, &batches, first, &runs[seen..]);
        let end = over.map_or(first + 1, |(end, _)| end);
        let within = runs[seen..].iter().take_while(|run| run.steps.start < end);
        let inner: Vec<Run> = within.cloned().collect();
        seen += inner.len();
        let next = inner.last().map_or(end, |run| run.steps.end);
        match over {
            Some((end, n_axes)) => found.push(Run { steps: first..end, n_axes, shared: vec![], inner }),
            None => found.extend(inner),
        }
        first = next.max(end);
    }
    found
}

fn batch_of(graph: &Graph, step: &Step) -> Option<Batched> {
    match step {
        Step::Group(_) => None,
        Step::Single(number) => batched(graph, *number),
    }
}

/// Where a run over a batch that starts at a step ends, and over how many axes it goes; `runs` are those from that step on.
fn over_batch(
    graph: &Graph,
    plan: &Plan,
    ready: &[usize],
    batches: &[Option<Batched>],
    first: usize,
    runs: &[Run],
) -> Option<(usize, usize)> {
    let sizes = &batches[first..].iter().take(MAX_STEPS).find_map(Option::as_ref)?.sizes;
    let rows = Rows { graph, plan, ready, first, n_axes: sizes.len(), shape: sizes };
    let (mut end, mut seen, mut joined, mut has_product) = (first, 0, None, false);
    while end < plan.steps.len().min(first + MAX_STEPS) {
        let run = runs.get(seen).filter(|run| run.steps.start == end);
        seen += usize::from(run.is_some());
        let next = end..run.map_or(end + 1, |run| run.steps.end);
        let is_apart = next.clone().all(|step| step == first || plan.scalars[step].is_empty());
        let depends = if is_apart { rows.reads_batch(batches, &next, run) } else { None };
        let Some(depends) = depends else { break };
        has_product |= batches[end].is_some();
        end = next.end;
        if depends && has_product {
            joined = Some((end, sizes.len()));
        }
    }
    joined
}

/// The equations that read each variable.
fn readers(graph: &Graph) -> Vec<Vec<usize>> {
    let mut readers = vec![vec![]; graph.jaxpr.vars.len()];
    for (number, eqn) in graph.jaxpr.eqns.iter().enumerate() {
        for &atom in &eqn.ins {
            if let Atom::Var(var) = atom {
                readers[var.index()].push(number);
            }
        }
    }
    readers
}

fn group(plan: &Plan, step: usize) -> Option<&Group> {
    match &plan.steps[step] {
        Step::Group(group) => Some(group),
        Step::Single(_) => None,
    }
}

/// Number of leading axes that a group keeps.
fn leading(group: &Group) -> usize {
    let first_reduced = group.axes.as_ref().and_then(|axes| axes.first().copied());
    first_reduced.unwrap_or(group.shape.len())
}

fn common_prefix(a: &[usize], b: &[usize]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The run that starts at a step, if there is one.
fn longest(graph: &Graph, plan: &Plan, ready: &[usize], readers: &[Vec<usize>], first: usize) -> Option<Run> {
    let start = group(plan, first)?;
    let mut rows = Rows { graph, plan, ready, first, n_axes: leading(start), shape: &start.shape };
    let mut end = first + 1;
    let mut is_joined = false;
    while end < plan.steps.len().min(first + MAX_STEPS) && plan.scalars[end].is_empty() {
        let Some(next) = group(plan, end) else { break };
        let n_axes = rows.n_axes.min(leading(next)).min(common_prefix(rows.shape, &next.shape));
        let Some(depends) = rows.with(n_axes).reads_rows(next) else { break };
        let row: usize = next.shape[n_axes..].iter().product();
        if n_axes == 0 || !(depends || row >= MIN_INDEPENDENT_ROW) {
            break;
        }
        (rows.n_axes, end, is_joined) = (n_axes, end + 1, is_joined || depends);
    }
    let steps = first..end;
    let reduces = steps.clone().any(|step| group(plan, step).is_some_and(|group| group.axes.is_some()));
    (is_joined && reduces && rows.n_axes > 0).then(|| {
        let shared = shared(graph, plan, readers, &steps);
        Run { steps, n_axes: rows.n_axes, shared, inner: vec![] }
    })
}

/// A run as far as it is known.
#[derive(Clone, Copy)]
struct Rows<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    ready: &'a [usize],
    first: usize,
    n_axes: usize,
    shape: &'a [usize],
}

impl Rows<'_> {
    fn with(self, n_axes: usize) -> Self {
        Rows { n_axes, ..self }
    }

    /// Whether a group reads anything of the run; `None` when it reads more than the row at which it is.
    fn reads_rows(&self, group: &Group) -> Option<bool> {
        let mut depends = false;
        for &member in &group.members {
            let maps = &self.graph.maps[member];
            let moves = matches!(self.graph.forms[member], CpuForm::Element(_) | CpuForm::Alias);
            for (number, &atom) in self.graph.eqn(member).ins.iter().enumerate() {
                if !self.is_of_run(atom) || self.is_made_with(atom, member) {
                    continue;
                }
                let is_read_in_rows = match maps {
                    Some(map) if moves => number == map.operand && self.keeps_rows(map),
                    _ => !moves,
                };
                if !is_read_in_rows || !self.is_row_wise(atom) {
                    return None;
                }
                depends = true;
            }
        }
        Some(depends)
    }

    /// Whether steps, which may be a run of their own, read anything of a run over a batch; `None` when they do not go
    /// over the same batch or read more than the matrices at which it is.
    fn reads_batch(&self, batches: &[Option<Batched>], steps: &Range<usize>, run: Option<&Run>) -> Option<bool> {
        if run.is_some_and(|run| run.n_axes < self.n_axes) {
            return None;
        }
        let mut depends = false;
        for step in steps.clone() {
            depends |= match (&self.plan.steps[step], &batches[step]) {
                (Step::Group(group), _) => {
                    let fits = leading(group) >= self.n_axes && group.shape.starts_with(self.shape);
                    fits.then(|| self.reads_rows(group))??
                }
                (Step::Single(number), Some(batch)) => self.product_reads(*number, batch)?,
                (Step::Single(_), None) => return None,
            };
        }
        Some(depends)
    }

    fn product_reads(&self, number: usize, batch: &Batched) -> Option<bool> {
        if batch.sizes != self.shape {
            return None;
        }
        let mut depends = false;
        for (&atom, leads) in self.graph.eqn(number).ins.iter().zip(batch.leads) {
            if self.is_of_run(atom) {
                (leads && self.is_row_wise(atom)).then_some(())?;
                depends = true;
            }
        }
        Some(depends)
    }

    /// Whether a variable needs a step of the run.
    fn is_of_run(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(var) if self.ready[var.index()] > self.first)
    }

    /// Whether a variable is made in the same group as a member.
    fn is_made_with(&self, atom: Atom, member: usize) -> bool {
        let Atom::Var(var) = atom else { return false };
        self.graph.made_by[var.index()].is_some_and(|maker| self.plan.places[maker] == self.plan.places[member])
    }

    fn is_aligned(&self, atom: Atom) -> bool {
        self.graph.aval(atom).shape.get(..self.n_axes) == Some(&self.shape[..self.n_axes])
    }

    fn keeps_rows(&self, map: &crate::graph::IndexMap) -> bool {
        (0..self.n_axes).all(|axis| {
            let mut terms = map.terms.iter().filter(|term| term.0 == axis);
            map.base.get(axis) == Some(&0) && terms.next() == Some(&(axis, axis, 1)) && terms.next().is_none()
        })
    }

    /// Whether reading a variable of the run at a row reads only what the run made at that row.
    fn is_row_wise(&self, atom: Atom) -> bool {
        let Atom::Var(var) = atom else { return true };
        if !self.is_of_run(atom) {
            return true;
        }
        let Some(maker) = self.graph.made_by[var.index()] else { return true };
        if !self.is_aligned(atom) {
            return false;
        }
        match self.plan.places[maker] {
            Place::Member(_) => true,
            Place::Virtual | Place::View => {
                let operand = |map: &crate::graph::IndexMap| self.graph.eqn(maker).ins[map.operand];
                let map = self.graph.maps[maker].as_ref();
                map.is_some_and(|map| self.keeps_rows(map) && self.is_row_wise(operand(map)))
            }
            // Of single steps only batches of products are in runs.
            Place::Single(_) => batched(self.graph, maker).is_some_and(|batch| batch.sizes == self.shape),
            Place::Scalar => false,
        }
    }
}

/// Variables that only the run reads, each with a later one of the same type in whose memory it may lie: the step that
/// makes the later one is the last to read the earlier one, and reads each element before it writes there.
fn shared(graph: &Graph, plan: &Plan, readers: &[Vec<usize>], steps: &Range<usize>) -> Vec<(VarId, VarId)> {
    let mut pairs: Vec<(VarId, VarId)> = vec![];
    let makes = |step: usize| group(plan, step).into_iter().flat_map(|group| &group.members).map(|&eqn| graph.out(eqn));
    // Three and more may lie in one memory, each in that of the next.
    let lies = |pairs: &[(VarId, VarId)], var: VarId| pairs.iter().any(|pair| pair.0 == var);
    let holds = |pairs: &[(VarId, VarId)], var: VarId| pairs.iter().any(|pair| pair.1 == var);
    for step in steps.clone() {
        for var in makes(step).filter(|var| plan.stored[var.index()]) {
            let last = plan.last_use[var.index()];
            if !steps.contains(&last) || last <= step {
                continue;
            }
            let Some(last_reader) = last_reader_in_place(graph, plan, &readers[var.index()], var, last) else {
                continue;
            };
            let fits = |other: &VarId| {
                let (a, b) = (graph.jaxpr.vars[var.index()], graph.jaxpr.vars[other.index()]);
                plan.stored[other.index()] && a.shape == b.shape && a.dtype == b.dtype
            };
            let is_elementwise = |other: &VarId| {
                let made_by = graph.made_by[other.index()];
                made_by.is_some_and(|eqn| eqn >= last_reader && !matches!(graph.forms[eqn], CpuForm::Reduce { .. }))
            };
            if let Some(other) =
                makes(last).find(|other| fits(other) && is_elementwise(other) && !holds(&pairs, *other))
                && !lies(&pairs, var)
            {
                pairs.push((var, other));
            }
        }
    }
    pairs
}

/// The last equation of a step that reads a variable, when all readers there read it at their own index.
fn last_reader_in_place(graph: &Graph, plan: &Plan, readers: &[usize], var: VarId, step: usize) -> Option<usize> {
    let shape = &graph.jaxpr.vars[var.index()].shape;
    let is_direct = |number: usize| {
        let moves = matches!(graph.forms[number], CpuForm::Element(_) | CpuForm::Alias);
        !moves && group(plan, step).is_some_and(|group| group.shape == *shape)
    };
    // Virtual readers and views are asked at any index.
    let mut last = None;
    for &number in readers {
        match plan.places[number] {
            Place::Member(at) if at == step => last = Some(is_direct(number).then_some(number)?),
            Place::Member(_) => {}
            Place::Virtual | Place::View | Place::Scalar | Place::Single(_) => return None,
        }
    }
    last
}
