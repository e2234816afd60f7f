//! From jaxpr to loop program: simplify, plan what is fused, make loops.
//!
//! [`compile`] is the whole way; every stage on it gives a value: a simplified jaxpr ([`simplified`]), a plan, a
//! [`Program`]. This crate decides what is fused, stored, vectorized and run in parallel; it deliberately does not know
//! any instruction set, and runs nothing.
#![forbid(unsafe_code)]

mod donation;
mod graph;
mod lower;
mod nest;
mod passes;
mod plan;
mod rows;
mod temps;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

use pullback_base::{Array, Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{Affine, is_computable, memory_dtype, values_per_element};
use pullback_ir::{Atom, Jaxpr, JaxprRef, VarId};
use pullback_loops::{Builder, Extent, Program, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use donation::{TakenOver, Takes};
use lower::{Dest, Planned, Shared, lower_block};
use plan::Place;
use view::{Value, View};

/// What may differ between two compilations of one jaxpr.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether equations share loop nests.
    pub fuse: bool,
    /// Whether laws of real numbers that change rounded values apply, as in the reference under `jit`.
    pub rewrite_values: bool,
    /// The most equations that share a nest.
    pub max_group: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { fuse: true, rewrite_values: true, max_group: 1024 }
    }
}

impl Options {
    /// Every equation in a nest of its own: what a program is before fusion.
    pub fn unfused() -> Options {
        Options { fuse: false, ..Options::default() }
    }
}

/// Where a result of a jaxpr comes from.
#[derive(Clone, Debug)]
pub enum Output {
    /// The program fills it: its output with this number.
    Program(usize),
    /// The elements of this input, perhaps under another shape.
    Input(usize),
    /// The elements of a constant.
    Const(Array),
    /// A number.
    Literal(Scalar),
}

/// What became of a jaxpr's equations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Equations after simplification, those of bodies included.
    pub equations: usize,
    /// Loop nests that hold one or more of them.
    pub groups: usize,
    /// Nests and other steps together.
    pub steps: usize,
    /// Temporaries that the program declares.
    pub temporaries: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { equations, groups, steps, temporaries } = self;
        write!(
            f,
            "{equations} equations in {groups} fused nests and {} other steps, {temporaries} temporaries",
            steps - groups
        )
    }
}

/// A compiled jaxpr: a program, and where the results are.
#[derive(Clone)]
pub struct Lowered {
    /// Its inputs are the jaxpr's, by number.
    pub program: Program,
    /// One for each result of the jaxpr.
    pub outputs: Vec<Output>,
    /// For each output of the program, the donated input in whose memory it is: that memory comes in with the input's
    /// elements, and the program has no such input.
    pub taken: Vec<Option<usize>>,
    /// What was fused.
    pub report: Report,
}

/// Compiles a jaxpr.
///
/// # Errors
/// `NotImplemented` when a primitive in it has no CPU form, or holds elements that programs cannot.
pub fn compile(jaxpr: &JaxprRef, options: &Options) -> Result<Lowered> {
    compile_donating(jaxpr, options, &[])
}

/// Compiles a jaxpr whose marked inputs the program may overwrite; `donated` may be empty.
///
/// # Errors
/// As [`compile`].
pub fn compile_donating(jaxpr: &JaxprRef, options: &Options, donated: &[bool]) -> Result<Lowered> {
    let simplified = passes::simplify(jaxpr, options)?;
    let (mut shared, mut loops) = (Shared::new(options), Builder::new(&name_of(jaxpr)));
    let planned = shared.plan(simplified)?;
    let results = Results::of(&planned)?;
    let taken = if options.fuse { results.taken_over(&planned, donated) } else { FxHashMap::default() };
    let inputs = declare_inputs(&mut loops, &planned.0.jaxpr, &taken);
    let (dests, by_result) = results.declare(&mut loops, &planned.0.jaxpr, &taken);
    let inputs = place_inputs(inputs, &taken, &by_result);
    let taken = results.filled.iter().map(|var| taken.get(var).map(|&(input, _)| input)).collect();
    let outputs = results.outputs;
    lower_block(&mut shared, &mut loops, planned, &inputs, &dests)?;
    shared.temps.check()?;
    let Shared { n_equations: equations, n_groups: groups, n_steps: steps, temps, .. } = shared;
    let report = Report { equations, groups, steps, temporaries: temps.n_declared };
    Ok(Lowered { program: loops.finish(), outputs, taken, report })
}

/// The jaxpr as the planner sees it: calls inlined, laws applied, equal equations shared, dead ones dropped.
///
/// # Errors
/// As [`compile`].
pub fn simplified(jaxpr: &Jaxpr, options: &Options) -> Result<JaxprRef> {
    passes::simplify(jaxpr, options)
}

fn name_of(jaxpr: &Jaxpr) -> String {
    jaxpr.debug.as_ref().map_or_else(|| "main".to_string(), |debug| debug.function.clone())
}

/// How values lie in memory: element type and number. Those that only pass through may hold anything.
pub(crate) fn memory_of(aval: Aval) -> (DType, i64) {
    if is_computable(aval) {
        (memory_dtype(aval.dtype), (aval.size() * values_per_element(aval.dtype)) as i64)
    } else {
        (DType::U8, aval.size_bytes() as i64)
    }
}

/// The buffers of inputs that no result takes over.
fn declare_inputs(loops: &mut Builder, jaxpr: &Jaxpr, taken: &TakenOver) -> Vec<Option<View>> {
    let over: FxHashSet<usize> = taken.values().map(|&(input, _)| input).collect();
    let declare = |(number, aval)| (!over.contains(&number)).then(|| whole(loops, aval, Role::Input(number as u32)));
    jaxpr.in_avals().into_iter().enumerate().map(declare).collect()
}

/// Where all inputs are.
fn place_inputs(own: Vec<Option<View>>, taken: &TakenOver, results: &FxHashMap<VarId, View>) -> Vec<Value> {
    let over: FxHashMap<usize, &View> = taken.iter().map(|(var, &(input, _))| (input, &results[var])).collect();
    let place = |(number, own): (usize, Option<View>)| Value::Memory(own.unwrap_or_else(|| over[&number].clone()));
    own.into_iter().enumerate().map(place).collect()
}

fn whole(loops: &mut Builder, aval: Aval, role: Role) -> View {
    let (dtype, len) = memory_of(aval);
    let buffer = loops.buffer(dtype, Extent::Const(len), role);
    View { base: Affine::default(), ..View::whole(buffer, &aval.shape, aval.dtype) }
}

/// The results of a jaxpr.
struct Results {
    outputs: Vec<Output>,
    /// The variables that the program fills, by the number of its output.
    filled: Vec<VarId>,
    /// For each result, the output that it is the first to ask for.
    first: Vec<Option<usize>>,
}

impl Results {
    fn of(planned: &Planned) -> Result<Results> {
        let jaxpr = &planned.0.jaxpr;
        let known = known_sources(jaxpr);
        let mut numbers: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut results = Results { outputs: vec![], filled: vec![], first: vec![] };
        for &out in &jaxpr.outs {
            let mut first = None;
            results.outputs.push(match (source(planned, &known, out), out) {
                (Some(known), _) => known,
                (None, Atom::Literal(_)) => bail!(Internal, "a literal is known"),
                (None, Atom::Var(var)) => Output::Program(*numbers.entry(var).or_insert_with(|| {
                    results.filled.push(var);
                    first = Some(results.filled.len() - 1);
                    results.filled.len() - 1
                })),
            });
            results.first.push(first);
        }
        Ok(results)
    }

    fn taken_over(&self, (graph, plan): &Planned, donated: &[bool]) -> TakenOver {
        let input = |output: &Output| match output {
            Output::Input(number) => Some(*number),
            Output::Program(_) | Output::Const(_) | Output::Literal(_) => None,
        };
        let kept = self.outputs.iter().filter_map(input).collect();
        donation::taken_over(graph, plan, donated, &self.filled, &kept)
    }

    /// The buffers of results: where each result goes, and where each variable is.
    fn declare(&self, loops: &mut Builder, jaxpr: &Jaxpr, taken: &TakenOver) -> (Vec<Dest>, FxHashMap<VarId, View>) {
        let mut by_var = FxHashMap::default();
        let mut dest = |number: usize| {
            let var = self.filled[number];
            let view = whole(loops, jaxpr.vars[var.index()], Role::Output(number as u32));
            by_var.insert(var, view.clone());
            match taken.get(&var) {
                Some((_, Takes::Updates)) => Dest::InPlace(view),
                Some((_, Takes::Elementwise)) | None => Dest::Memory(view),
            }
        };
        let dests = self.first.iter().map(|first| first.map_or(Dest::Nowhere, &mut dest)).collect();
        (dests, by_var)
    }
}

/// Where inputs and constants are.
fn known_sources(jaxpr: &Jaxpr) -> FxHashMap<VarId, Output> {
    let inputs = jaxpr.invars.iter().enumerate().map(|(i, &var)| (var, Output::Input(i)));
    let consts = jaxpr.constvars.iter().zip(&jaxpr.consts).map(|(&var, array)| (var, Output::Const(array.clone())));
    inputs.chain(consts).collect()
}

/// Where a result is without any work: an input, perhaps reshaped, a constant or a literal.
fn source((graph, plan): &Planned, known: &FxHashMap<VarId, Output>, out: Atom) -> Option<Output> {
    let mut var = match out {
        Atom::Literal(scalar) => return Some(Output::Literal(scalar)),
        Atom::Var(var) => var,
    };
    while let Some(maker) = graph.made_by[var.index()] {
        match (plan.places[maker], graph.eqn(maker).ins.first()) {
            (Place::View, Some(&Atom::Var(operand))) => var = operand,
            _ => return None,
        }
    }
    known.get(&var).cloned()
}
