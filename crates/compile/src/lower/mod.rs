//! From a planned jaxpr to the instructions of a loop program: runs the steps of a plan in order.
//!
//! A [`Block`] is one jaxpr on its way into one block of the program: the whole, or the body of a loop or branch. Where
//! the elements of its variables are is in [`Value`]s; how each kind of step is made is in the modules below.

pub(crate) mod contract;
mod control;
mod group;
mod kernels;
mod reductions;
mod rows;
mod updates;

use std::collections::HashMap;
use std::rc::Rc;

use pullback_base::{DType, Result, bail};
use pullback_ir::lower::{Control, CpuForm, Elem, ElementCx, Index, constant, values_per_element};
use pullback_ir::{Atom, JaxprRef, VarId};
use pullback_loops::{BufferId, Builder};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::Options;
use crate::graph::{Graph, IndexMap};
use crate::nest::has_long_axis_in_lanes;
use crate::passes::simplify;
use crate::plan::{Place, Plan, Step};
use crate::temps::Temps;
use crate::view::{Value, View, bitcast, rounded};

/// A simplified jaxpr with its plan.
pub(crate) type Planned = (Rc<Graph>, Rc<Plan>);

/// What all blocks of one program share.
pub(crate) struct Shared<'o> {
    pub(crate) options: &'o Options,
    pub(crate) temps: Temps,
    /// Buffers of constants by the address of the array.
    pub(crate) consts: HashMap<usize, BufferId, FxBuildHasher>,
    /// Inner jaxprs that are simplified and planned.
    prepared: HashMap<u64, Planned, FxBuildHasher>,
    pub(crate) n_groups: usize,
    pub(crate) n_steps: usize,
    pub(crate) n_equations: usize,
}

impl<'o> Shared<'o> {
    pub(crate) fn new(options: &'o Options) -> Shared<'o> {
        let (temps, consts, prepared) = (Temps::default(), HashMap::default(), HashMap::default());
        Shared { options, temps, consts, prepared, n_groups: 0, n_steps: 0, n_equations: 0 }
    }

    /// The plan of a jaxpr that is simplified already.
    pub(crate) fn plan(&mut self, jaxpr: JaxprRef) -> Result<Planned> {
        let graph = Graph::new(jaxpr)?;
        let plan = Plan::new(&graph, self.options);
        self.n_equations += graph.forms.len();
        self.n_steps += plan.steps.len() - plan.runs.iter().map(|run| run.steps.len() - 1).sum::<usize>();
        let n_groups = |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::Group(_))).count();
        let n_joined: usize = plan.runs.iter().map(|run| n_groups(&plan.steps[run.steps.clone()])).sum();
        self.n_groups += n_groups(&plan.steps) - n_joined + plan.runs.len();
        Ok((graph, Rc::new(plan)))
    }

    /// The plan of an inner jaxpr; made once for equal jaxprs.
    fn prepare(&mut self, jaxpr: &JaxprRef) -> Result<Planned> {
        if let Some(known) = self.prepared.get(&jaxpr.id()) {
            return Ok(known.clone());
        }
        let prepared = self.plan(simplify(jaxpr, self.options)?)?;
        self.prepared.insert(jaxpr.id(), prepared.clone());
        Ok(prepared)
    }
}

/// Where a result of a block has to be.
#[derive(Clone, Debug)]
pub(crate) enum Dest {
    /// In registers; for results of rank 0.
    Register,
    /// In memory.
    Memory(View),
    /// In the memory of an input, which the block may overwrite.
    InPlace(View),
    /// Nowhere: the reader has it already.
    Nowhere,
}

/// One jaxpr on its way into the block that is open in the builder.
pub(crate) struct Block<'a, 'o> {
    shared: &'a mut Shared<'o>,
    graph: Rc<Graph>,
    plan: Rc<Plan>,
    values: Vec<Option<Value>>,
    /// Memory in which a variable has to be made.
    wanted: FxHashMap<VarId, View>,
    /// Temporaries to be given back after each step.
    to_release: Vec<Vec<BufferId>>,
    step: usize,
    /// Elements that the group which is being made has at its index.
    current: FxHashMap<VarId, Elem>,
    /// Variables in memory of inputs that the block may overwrite.
    overwritable: FxHashSet<VarId>,
}

/// Lowers a planned jaxpr into the open block. `args` are its inputs; results go to `dests`, those for registers come
/// back.
pub(crate) fn lower_block(
    shared: &mut Shared<'_>,
    loops: &mut Builder,
    (graph, plan): Planned,
    args: &[Value],
    dests: &[Dest],
) -> Result<Vec<Option<Elem>>> {
    let n_vars = graph.jaxpr.vars.len();
    let mut block = Block {
        shared,
        values: vec![None; n_vars],
        wanted: FxHashMap::default(),
        to_release: vec![vec![]; plan.steps.len() + 1],
        step: 0,
        current: FxHashMap::default(),
        overwritable: overwritable(&graph, args, dests),
        graph,
        plan,
    };
    block.bind(loops, args)?;
    let placed = block.place_results(dests);
    block.run(loops)?;
    block.results(loops, dests, &placed)
}

impl Block<'_, '_> {
    fn bind(&mut self, loops: &mut Builder, args: &[Value]) -> Result<()> {
        let graph = self.graph.clone();
        let jaxpr = &graph.jaxpr;
        for (&var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
            let view = const_view(self.shared, loops, array);
            self.values[var.index()] = Some(Value::Memory(view));
        }
        for (&var, arg) in jaxpr.invars.iter().zip(args) {
            self.values[var.index()] = Some(arg.clone());
        }
        // Scalars are read once, here, and not at each use inside loops.
        for eqn in &jaxpr.eqns {
            for &atom in &eqn.ins {
                self.read_scalar_input(loops, atom)?;
            }
        }
        Ok(())
    }

    fn read_scalar_input(&mut self, loops: &mut Builder, atom: Atom) -> Result<()> {
        let Atom::Var(var) = atom else { return Ok(()) };
        let aval = self.graph.aval(atom);
        if let (0, Some(Value::Memory(view))) = (aval.rank(), &self.values[var.index()]) {
            let elem = view.clone().load(loops, &[], aval.dtype)?;
            self.values[var.index()] = Some(Value::Uniform(elem));
        }
        Ok(())
    }

    /// Says of variables that are results where to be made; gives which results need no more work then.
    fn place_results(&mut self, dests: &[Dest]) -> Vec<bool> {
        let graph = self.graph.clone();
        graph.jaxpr.outs.iter().zip(dests).map(|(&out, dest)| self.place_result(&graph, out, dest)).collect()
    }

    fn place_result(&mut self, graph: &Graph, out: Atom, dest: &Dest) -> bool {
        let (Atom::Var(mut var), Dest::Memory(view)) = (out, dest) else { return false };
        let mut view = view.clone();
        loop {
            let Some(maker) = graph.made_by[var.index()] else { return false };
            match (self.plan.places[maker], graph.eqn(maker).ins.first()) {
                (Place::View, Some(&Atom::Var(operand))) => {
                    let aval = graph.aval(Atom::Var(operand));
                    if aval.dtype != view.dtype || aval.rank() == 0 {
                        return false;
                    }
                    let map = graph.maps[maker].as_ref().filter(|_| graph.transposes_a_contraction(maker));
                    view = map.map_or_else(|| view.reshaped(&aval.shape), |map| view.unmapped(map));
                    var = operand;
                }
                (Place::Single(_), _) if is_carried(graph, maker, var) => return false,
                (Place::Member(_) | Place::Single(_), _) => break,
                (Place::View | Place::Scalar | Place::Virtual, _) => return false,
            }
        }
        if self.wanted.contains_key(&var) {
            return false;
        }
        self.wanted.insert(var, view);
        true
    }

    fn run(&mut self, loops: &mut Builder) -> Result<()> {
        let plan = self.plan.clone();
        let mut runs = plan.runs.iter().peekable();
        let mut number = 0;
        while number < plan.steps.len() {
            self.step = number;
            plan.scalars[number].iter().try_for_each(|&eqn| self.scalar(loops, eqn))?;
            let run = runs.next_if(|run| run.steps.start == number);
            let end = run.map_or(number + 1, |run| run.steps.end);
            match (run, &plan.steps[number]) {
                (Some(run), _) => self.rows(loops, run)?,
                (None, Step::Group(group)) => self.group(loops, group)?,
                (None, Step::Single(eqn)) => self.graph.eqn(*eqn).span.scope(|| self.single(loops, *eqn))?,
            }
            (number..end).for_each(|step| self.release(loops, step));
            number = end;
        }
        self.step = plan.steps.len();
        plan.scalars[plan.steps.len()].iter().try_for_each(|&eqn| self.scalar(loops, eqn))
    }

    fn release(&mut self, loops: &Builder, step: usize) {
        for buffer in std::mem::take(&mut self.to_release[step]) {
            self.shared.temps.give(loops, buffer);
        }
    }

    fn results(&mut self, loops: &mut Builder, dests: &[Dest], placed: &[bool]) -> Result<Vec<Option<Elem>>> {
        let graph = self.graph.clone();
        let mut elems = vec![];
        for ((&out, dest), placed) in graph.jaxpr.outs.iter().zip(dests).zip(placed) {
            elems.push(match dest {
                Dest::Register => Some(self.element(loops, out, &[])?),
                Dest::Memory(view) if !placed => {
                    self.copy(loops, out, view)?;
                    None
                }
                Dest::InPlace(view) => {
                    let lies_there = |value| matches!(value, Value::Memory(other) if other.buffer == view.buffer);
                    if !self.value(loops, out).is_some_and(lies_there) {
                        self.copy(loops, out, view)?;
                    }
                    None
                }
                Dest::Memory(_) | Dest::Nowhere => None,
            });
        }
        (0..self.to_release.len()).for_each(|step| self.release(loops, step));
        Ok(elems)
    }

    fn single(&mut self, loops: &mut Builder, number: usize) -> Result<()> {
        let graph = self.graph.clone();
        if makes_nothing(&graph, number) {
            for var in graph.eqn(number).outs() {
                let view = self.dest(loops, var);
                self.define(var, view);
            }
            return Ok(());
        }
        match &graph.forms[number] {
            CpuForm::Pieces(pieces) => self.pieces(loops, number, pieces),
            CpuForm::ArgReduce { extreme, axis } => self.arg_reduce(loops, number, *extreme, *axis),
            CpuForm::Cumulative { combine, axis, reverse } => self.cumulative(loops, number, *combine, *axis, *reverse),
            CpuForm::Contract(contraction) => self.contract(loops, number, contraction),
            CpuForm::Scatter { updates, combine, target } => self.scatter(loops, number, *updates, *combine, target),
            CpuForm::Sort { axis, n_keys } => self.sort(loops, number, *axis, *n_keys),
            CpuForm::Host(host) => self.host(loops, number, host),
            CpuForm::Body(body) => self.body(loops, number, body),
            CpuForm::Control(control) => self.control(loops, number, control),
            CpuForm::Scalar(_) | CpuForm::Element(_) | CpuForm::Alias | CpuForm::Reduce { .. } => {
                unreachable!("members of groups")
            }
            CpuForm::Decompose(_) | CpuForm::Missing(_) => unreachable!("gone after inlining"),
        }
    }

    /// An equation of rank 0, in registers.
    fn scalar(&mut self, loops: &mut Builder, number: usize) -> Result<()> {
        let graph = self.graph.clone();
        let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
        let elem = match &graph.forms[number] {
            CpuForm::Scalar(form) => {
                let ins: Result<Vec<Elem>> = eqn.ins.iter().map(|&atom| self.element(loops, atom, &[])).collect();
                let elem = form(loops, &ins?);
                rounded(loops, elem, out.dtype)
            }
            _ => self.virtual_element(loops, number, &[])?,
        };
        self.values[eqn.first_out.index()] = Some(Value::Uniform(elem));
        Ok(())
    }

    /// Where the elements of a variable are, if that is known without its index.
    fn value(&mut self, loops: &mut Builder, atom: Atom) -> Option<Value> {
        let var = match atom {
            Atom::Literal(scalar) => return Some(Value::Uniform(constant(loops, scalar))),
            Atom::Var(var) => var,
        };
        if let Some(value) = &self.values[var.index()] {
            if let Value::Memory(view) = value {
                self.shared.temps.watch(view);
            }
            return Some(value.clone());
        }
        let graph = self.graph.clone();
        let maker = graph.made_by[var.index()]?;
        let value = match self.plan.places[maker] {
            Place::Virtual => {
                let map = graph.maps[maker].as_ref()?;
                let operand = graph.eqn(maker).ins[map.operand];
                match self.value(loops, operand)? {
                    Value::Memory(view) => Value::Memory(view.mapped(map, graph.aval(atom).rank())),
                    uniform @ Value::Uniform(_) => return Some(uniform),
                }
            }
            Place::View if graph.transposes_a_contraction(maker) => {
                let map = graph.maps[maker].as_ref().expect("transposes have maps");
                match self.value(loops, graph.eqn(maker).ins[map.operand])? {
                    Value::Memory(view) => Value::Memory(view.mapped(map, graph.aval(atom).rank())),
                    Value::Uniform(_) => unreachable!("a transposed contraction has axes"),
                }
            }
            Place::View => {
                let (operand, out) = (graph.eqn(maker).ins[0], graph.aval(atom));
                let view = self.memory(loops, operand).ok()?;
                let retyped = view.retyped(&out.shape, out.dtype);
                Value::Memory(retyped.or_else(|| self.fresh_copy(loops, operand).ok()?.retyped(&out.shape, out.dtype))?)
            }
            Place::Scalar | Place::Member(_) | Place::Single(_) => return None,
        };
        self.values[var.index()] = Some(value.clone());
        Some(value)
    }

    /// Row-major memory that holds a variable, which is stored or of rank 0.
    fn memory(&mut self, loops: &mut Builder, atom: Atom) -> Result<View> {
        let aval = self.graph.aval(atom);
        if let Some(Value::Memory(view)) = self.value(loops, atom)
            && view.is_row_major(&aval.shape)
        {
            return Ok(view);
        }
        self.fresh_copy(loops, atom)
    }

    /// A copy of a variable that lives until the block ends.
    fn fresh_copy(&mut self, loops: &mut Builder, atom: Atom) -> Result<View> {
        let aval = self.graph.aval(atom);
        let view = self.temp(loops, &aval.shape, aval.dtype);
        self.to_release.last_mut().expect("one entry more than steps").push(view.buffer);
        self.copy(loops, atom, &view)?;
        Ok(view)
    }

    /// The element of an operand at an index in it.
    fn element(&mut self, loops: &mut Builder, atom: Atom, index: &[Index]) -> Result<Elem> {
        if let Atom::Var(var) = atom
            && let Some(&elem) = self.current.get(&var)
        {
            return Ok(elem);
        }
        match self.value(loops, atom) {
            Some(Value::Uniform(elem)) => Ok(elem),
            Some(Value::Memory(view)) => view.load(loops, index, self.graph.aval(atom).dtype),
            None => {
                let Atom::Var(var) = atom else { unreachable!("literals have values") };
                let maker = self.graph.made_by[var.index()].expect("inputs have values");
                self.virtual_element(loops, maker, index)
            }
        }
    }

    /// The element of a result that is made where it is read.
    fn virtual_element(&mut self, loops: &mut Builder, number: usize, index: &[Index]) -> Result<Elem> {
        let graph = self.graph.clone();
        let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
        match &graph.forms[number] {
            CpuForm::Element(form) => {
                let elem = form(&mut Cx { block: self, loops, eqn: number }, index)?;
                // A form without operands computes; others move elements, which are rounded already.
                Ok(if eqn.ins.is_empty() { rounded(loops, elem, out.dtype) } else { elem })
            }
            CpuForm::Alias => {
                let x = graph.aval(eqn.ins[0]);
                if values_per_element(x.dtype) < values_per_element(out.dtype) {
                    return self.pair(loops, eqn.ins[0]);
                }
                let index = graph.maps[number]
                    .as_ref()
                    .map_or_else(|| vec![Index::constant(0); x.rank()], |map| mapped_index(loops, map, index));
                match self.element(loops, eqn.ins[0], &index)? {
                    Elem::One(value) => bitcast(loops, value, x.dtype, out.dtype),
                    two @ Elem::Two(..) => Ok(two),
                }
            }
            _ => bail!(Internal, "{} has no elements before its step", eqn.prim.name()),
        }
    }

    /// The element whose two parts are an operand.
    fn pair(&mut self, loops: &mut Builder, parts: Atom) -> Result<Elem> {
        let rank = self.graph.aval(parts).rank();
        let mut part = |number: i64| {
            let mut index = vec![Index::constant(0); rank];
            index[rank - 1] = Index::constant(number);
            Ok(self.element(loops, parts, &index)?.one())
        };
        Ok(Elem::Two(part(0)?, part(1)?))
    }

    /// Memory for a result: where it is wanted, else a temporary until its last use.
    fn dest(&mut self, loops: &mut Builder, var: VarId) -> View {
        if let Some(view) = self.wanted.get(&var) {
            return view.clone();
        }
        let aval = self.graph.jaxpr.vars[var.index()];
        let view = self.temp(loops, &aval.shape, aval.dtype);
        let last = self.plan.last_use[var.index()].clamp(self.step, self.to_release.len() - 1);
        self.to_release[last].push(view.buffer);
        let is_walked_along = self.graph.made_by[var.index()].is_some_and(|eqn| match self.plan.places[eqn] {
            Place::Member(step) => {
                let group = self.plan.group(step);
                has_long_axis_in_lanes(&group.shape, group.axes.as_deref().unwrap_or_default())
            }
            Place::Virtual | Place::Scalar | Place::View | Place::Single(_) => false,
        });
        if is_walked_along && self.plan.by_element[var.index()] { view.with_long_axis_last(&aval.shape) } else { view }
    }

    /// Memory for a contraction's result: row-major, or as its transpose wants it.
    fn contraction_dest(&mut self, loops: &mut Builder, number: usize) -> View {
        let graph = self.graph.clone();
        let out = graph.out(number);
        let view = self.dest(loops, out);
        match graph.transposed_by[number] {
            Some(reader) if !self.wanted.contains_key(&out) && !self.plan.is_stored(reader) => {
                let map = graph.maps[reader].as_ref().expect("transposes have maps");
                View { strides: crate::view::row_major(&graph.out_aval(reader).shape), ..view }.unmapped(map)
            }
            _ => view,
        }
    }

    /// A temporary that holds an array.
    fn temp(&mut self, loops: &mut Builder, shape: &[usize], dtype: DType) -> View {
        self.shared.temps.take(loops, shape, dtype)
    }

    /// A temporary until the end of the step.
    fn step_temp(&mut self, loops: &mut Builder, shape: &[usize], dtype: DType) -> View {
        let view = self.temp(loops, shape, dtype);
        let step = self.step;
        self.to_release[step].push(view.buffer);
        view
    }

    fn define(&mut self, var: VarId, view: View) {
        self.values[var.index()] = Some(Value::Memory(view));
    }
}

/// Inputs whose memory a result goes to.
fn overwritable(graph: &Graph, args: &[Value], dests: &[Dest]) -> FxHashSet<VarId> {
    let buffers = dests.iter().filter_map(|dest| match dest {
        Dest::InPlace(view) => Some(view.buffer),
        Dest::Memory(_) | Dest::Register | Dest::Nowhere => None,
    });
    let buffers: FxHashSet<BufferId> = buffers.collect();
    let lies_there = |value: &Value| matches!(value, Value::Memory(view) if buffers.contains(&view.buffer));
    graph.jaxpr.invars.iter().zip(args).filter(|(_, arg)| lies_there(arg)).map(|(&var, _)| var).collect()
}

/// Whether no result of an equation has an element, and nothing else comes of it: however long its operands' other axes
/// are, no loop runs over them.
fn makes_nothing(graph: &Graph, number: usize) -> bool {
    let eqn = graph.eqn(number);
    let is_empty = |var: VarId| graph.jaxpr.vars[var.index()].size() == 0;
    let may_act = matches!(graph.forms[number], CpuForm::Control(_) | CpuForm::Host(_));
    !may_act && eqn.effects().is_none() && eqn.outs().all(is_empty)
}

/// Whether a result is the last state of a loop, which lies where the loop had it.
fn is_carried(graph: &Graph, maker: usize, var: VarId) -> bool {
    let position = (var.0 - graph.out(maker).0) as usize;
    match &graph.forms[maker] {
        CpuForm::Control(Control::While { .. }) => true,
        CpuForm::Control(Control::Scan { n_carry, .. }) => position < *n_carry,
        _ => false,
    }
}

/// The index in the operand of an index map.
fn mapped_index(loops: &mut Builder, map: &IndexMap, index: &[Index]) -> Vec<Index> {
    let mut mapped: Vec<Index> = map.base.iter().map(|&base| Index::constant(base)).collect();
    for &(from, to, stride) in &map.terms {
        let term = index[to].times(stride, loops);
        mapped[from] = mapped[from].plus(&term, loops);
    }
    mapped
}

/// The buffer of a constant.
fn const_view(shared: &mut Shared<'_>, loops: &mut Builder, array: &pullback_base::Array) -> View {
    let aval = array.aval();
    let (dtype, len) = crate::memory_of(aval);
    let buffer = *shared.consts.entry(array.address()).or_insert_with(|| {
        let role = pullback_loops::Role::Const(array.clone());
        loops.buffer(dtype, pullback_loops::Extent::Const(len), role)
    });
    View::whole(buffer, &aval.shape, aval.dtype)
}

/// What an element form of one equation sees.
struct Cx<'b, 'a, 'o> {
    block: &'b mut Block<'a, 'o>,
    loops: &'b mut Builder,
    eqn: usize,
}

impl ElementCx for Cx<'_, '_, '_> {
    fn loops(&mut self) -> &mut Builder {
        self.loops
    }

    fn operand(&mut self, number: usize, index: &[Index]) -> Result<Elem> {
        let atom = self.block.graph.eqn(self.eqn).ins[number];
        self.block.element(self.loops, atom, index)
    }
}
