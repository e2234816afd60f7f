//! Which results may be made in the memory of inputs that the caller gives away.
//!
//! A result takes over an input of its type when each element of the input is read for the last time before the result's
//! element at the same index is written there: by the group that makes the result, or because the result is the input with
//! some elements updated. Nothing here makes loops.

use pullback_base::Aval;
use pullback_ir::lower::CpuForm;
use pullback_ir::{Atom, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Graph;
use crate::plan::{Place, Plan, Step};
use crate::rows::Run;

/// How a result is made in the memory of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// Each element is written after what stood there was read.
    Elementwise,
    /// Elements of the input are replaced or combined.
    Updates,
}

/// For results, the input that each takes over, and how.
pub(crate) type TakenOver = FxHashMap<VarId, (usize, Takes)>;

/// For each of some results, the donated input that it takes over. `kept` are inputs that are results themselves.
pub(crate) fn taken_over(
    graph: &Graph,
    plan: &Plan,
    donated: &[bool],
    results: &[VarId],
    kept: &FxHashSet<usize>,
) -> TakenOver {
    let mut taken = FxHashMap::default();
    if !donated.contains(&true) {
        return taken;
    }
    let readers = readers_of_inputs(graph);
    let mut free: Vec<usize> = (0..donated.len()).filter(|at| donated[*at] && !kept.contains(at)).collect();
    for &result in results {
        let aval = graph.jaxpr.vars[result.index()];
        let found = free.iter().enumerate().find_map(|(place, &input)| {
            let var = graph.jaxpr.invars[input];
            let takes = are_alike(graph.jaxpr.vars[var.index()], aval)
                .then(|| takes(graph, plan, &readers[&var], var, result))
                .flatten()?;
            Some((place, input, takes))
        });
        if let Some((place, input, takes)) = found {
            free.remove(place);
            taken.insert(result, (input, takes));
        }
    }
    taken
}

fn are_alike(input: Aval, result: Aval) -> bool {
    input.rank() > 0 && input.shape == result.shape && input.dtype == result.dtype
}

/// The equations that read each input.
fn readers_of_inputs(graph: &Graph) -> FxHashMap<VarId, Vec<usize>> {
    let mut readers: FxHashMap<VarId, Vec<usize>> = graph.jaxpr.invars.iter().map(|&var| (var, vec![])).collect();
    for (number, eqn) in graph.jaxpr.eqns.iter().enumerate() {
        for atom in &eqn.ins {
            if let Atom::Var(var) = atom
                && let Some(readers) = readers.get_mut(var)
            {
                readers.push(number);
            }
        }
    }
    readers
}

fn takes(graph: &Graph, plan: &Plan, readers: &[usize], input: VarId, result: VarId) -> Option<Takes> {
    let maker = graph.made_by[result.index()]?;
    match (plan.places[maker], &graph.forms[maker]) {
        (Place::Member(step), form) if !matches!(form, CpuForm::Reduce { .. }) => {
            is_read_in_time(graph, plan, readers, input, (maker, step, result)).then_some(Takes::Elementwise)
        }
        (Place::Single(step), CpuForm::Scatter { .. }) => {
            let is_updated = graph.eqn(maker).ins[0] == Atom::Var(input);
            (is_updated && plan.last_use[input.index()] == step).then_some(Takes::Updates)
        }
        _ => None,
    }
}

/// Whether all that a group reads of an input, and what was before it, is read before the group writes there.
fn is_read_in_time(
    graph: &Graph,
    plan: &Plan,
    readers: &[usize],
    input: VarId,
    (maker, step, result): (usize, usize, VarId),
) -> bool {
    let run = plan.runs.iter().find(|run| run.steps.contains(&step));
    // What lies in the result's memory before the result does is written too early.
    if run.is_some_and(|run: &Run| run.shared().any(|pair| pair.1 == result)) {
        return false;
    }
    let first = run.map_or(step, |run| run.steps.start);
    if plan.last_use[input.index()] < first {
        return true;
    }
    let shape = &graph.jaxpr.vars[input.index()].shape;
    readers.iter().all(|&reader| match plan.places[reader] {
        Place::Member(at) => {
            let moves = matches!(graph.forms[reader], CpuForm::Element(_) | CpuForm::Alias);
            let is_direct = !moves && matches!(&plan.steps[at], Step::Group(group) if group.shape == *shape);
            at < first || is_direct && (at < step || at == step && reader <= maker)
        }
        Place::Single(at) => at < first,
        Place::Virtual | Place::View | Place::Scalar => false,
    })
}
