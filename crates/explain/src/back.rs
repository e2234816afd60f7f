//! Cotangents of all values of a tape, and which operation gave which part of them.

use std::cell::RefCell;

use pullback_base::{Array, Aval, Result, Scalar};
use pullback_core::control::{JIT, Jit};
use pullback_core::prims::add_any;
use pullback_ir::{JaxprRef, Params, PrimRef, Val};
use pullback_trace::Traced;
use rustc_hash::FxHashMap;

use crate::loops::{join, pieces_of, rows_of, stack};
use crate::numbers::array_of;
use crate::tape::{Doing, Id, Node, Tape, Value};

/// What one operation gave to a cotangent; `None` is the one that the program as a whole began with.
pub(crate) struct Part {
    pub(crate) node: Option<usize>,
    pub(crate) value: Value,
}

thread_local! {
    /// Pull-backs of stretches of loops as programs: the stretches of a loop share them, and so do the passes over a
    /// program and later questions about it.
    static PULL_BACKS: RefCell<FxHashMap<PullBack, JaxprRef>> = RefCell::default();
}
const MOST_PULL_BACKS: usize = 64;

/// What is pulled back, and the types of what it is given.
#[derive(PartialEq, Eq, Hash)]
struct PullBack {
    prim: PrimRef,
    params: Params,
    places: Vec<usize>,
    operands: Vec<Aval>,
    given: Vec<Option<Aval>>,
}

/// The way back.
pub(crate) struct Back<'a> {
    pub(crate) tape: &'a Tape,
    pub(crate) cotangents: Vec<Option<Value>>,
    pub(crate) parts: Vec<Vec<Part>>,
    /// What depends on the values that are asked for.
    active: Vec<bool>,
}

/// The cotangents of `wanted`, and of what is between them and the result `out`, whose cotangent is one.
///
/// # Errors
/// What a derivative raises.
pub(crate) fn back<'a>(tape: &'a Tape, wanted: &[Id], out: Id) -> Result<Back<'a>> {
    let n = tape.values.len();
    let mut back = Back {
        tape,
        cotangents: (0..n).map(|_| None).collect(),
        parts: (0..n).map(|_| vec![]).collect(),
        active: reachable(tape, wanted),
    };
    let aval = tape.val(out).aval();
    back.add(out, Val::Array(Array::scalar(Scalar::one(aval.dtype))), None)?;
    for index in (0..tape.nodes.len()).rev() {
        back.step(index)?;
    }
    Ok(back)
}

fn reachable(tape: &Tape, wanted: &[Id]) -> Vec<bool> {
    let mut active = vec![false; tape.values.len()];
    wanted.iter().for_each(|&id| active[id] = true);
    for node in &tape.nodes {
        if node.primitive() != "stop_gradient" && node.ins.iter().any(|&id| active[id]) {
            node.outs.iter().for_each(|&out| active[out] = is_inexact(tape.val(out)));
        }
    }
    active
}

fn is_inexact(val: &Val) -> bool {
    val.aval().dtype.is_inexact()
}

impl Back<'_> {
    pub(crate) fn cotangent(&self, id: Id) -> Option<&Value> {
        self.cotangents[id].as_ref()
    }

    fn add(&mut self, id: Id, part: Val, node: Option<usize>) -> Result<()> {
        let e = pullback_trace::current();
        let before = self.cotangents[id].take().map(|value| value.val);
        let sum = add_any(&*e, before, Some(part.clone()))?;
        self.cotangents[id] = sum.map(Value::new);
        self.parts[id].push(Part { node, value: Value::new(part) });
        Ok(())
    }

    fn step(&mut self, index: usize) -> Result<()> {
        let tape = self.tape;
        let node = &tape.nodes[index];
        let given = node.outs.iter().map(|&out| self.cotangents[out].as_ref().map(|value| value.val.clone()));
        let given: Vec<Option<Val>> = given.collect();
        let is_asked = |&id: &Id| self.active[id] && is_inexact(tape.val(id));
        let places: Vec<usize> = (0..node.ins.len()).filter(|&at| is_asked(&node.ins[at])).collect();
        if places.is_empty() || given.iter().all(Option::is_none) {
            return Ok(());
        }
        let found = match &node.doing {
            Doing::Bind(prim, params) => {
                let op = Operation { prim: *prim, params, places: &places };
                let operands = tape.vals(&node.ins);
                let pull = || match (tape.closed.get(&index), tape.walking.given()) {
                    (Some(stretch), Some(known)) => known.back(stretch, &given, || op.compiled(&operands, &given)),
                    _ => op.pulled_back(&operands, &given),
                };
                node.span.scope(pull)?.into_iter().map(Some).collect()
            }
            Doing::Slices => vec![Some(stack(&or_zeros(tape, &node.outs, &given)?)?)],
            Doing::Cut => vec![Some(join(&or_zeros(tape, &node.outs, &given)?)?)],
            Doing::Stack | Doing::Join => {
                let whole = array_of(given[0].as_ref().expect("one result, which has a cotangent"))?;
                let is_stack = matches!(node.doing, Doing::Stack);
                let parts = if is_stack { rows_of(&whole)? } else { pieces_of(&whole, rows_in(tape, node))? };
                places.iter().map(|&at| Some(Val::Array(parts[at].clone()))).collect()
            }
        };
        for (at, cotangent) in places.into_iter().zip(found) {
            if let Some(cotangent) = cotangent {
                self.add(node.ins[at], cotangent, Some(index))?;
            }
        }
        Ok(())
    }
}

/// A primitive, and the places of the operands whose cotangents are asked for.
struct Operation<'a> {
    prim: PrimRef,
    params: &'a Params,
    places: &'a [usize],
}

impl Operation<'_> {
    fn pulled_back(&self, operands: &[Val], given: &[Option<Val>]) -> Result<Vec<Val>> {
        let chosen: Vec<Val> = self.places.iter().map(|&at| operands[at].clone()).collect();
        let mut of = |chosen: &[Val]| {
            let mut operands = operands.to_vec();
            self.places.iter().zip(chosen).for_each(|(&at, val)| operands[at] = val.clone());
            Ok(pullback_trace::bind(self.prim, self.params, &operands)?.into_vec())
        };
        let (_, linear) = pullback_trace::linearize(&mut of, &chosen)?;
        pullback_trace::pull_back(&linear, given)
    }

    /// As one program, which is compiled once for all stretches of a loop: they differ in their operands only.
    fn compiled(&self, operands: &[Val], given: &[Option<Val>]) -> Result<Vec<Val>> {
        let key = PullBack {
            prim: self.prim,
            params: self.params.clone(),
            places: self.places.to_vec(),
            operands: operands.iter().map(Val::aval).collect(),
            given: given.iter().map(|ct| ct.as_ref().map(Val::aval)).collect(),
        };
        let args: Vec<Val> = operands.iter().chain(given.iter().flatten()).cloned().collect();
        let made = PULL_BACKS.with_borrow(|known| known.get(&key).cloned());
        let jaxpr = match made {
            Some(jaxpr) => jaxpr,
            None => {
                let traced = self.traced(&args, operands.len(), given)?;
                if !traced.captured.is_empty() {
                    return self.pulled_back(operands, given);
                }
                PULL_BACKS.with_borrow_mut(|known| {
                    if known.len() >= MOST_PULL_BACKS {
                        known.clear();
                    }
                    known.insert(key, traced.jaxpr.clone());
                });
                traced.jaxpr
            }
        };
        Ok(pullback_trace::bind(JIT, &Params::new(Jit::new("pull_back".into(), jaxpr)), &args)?.into_vec())
    }

    fn traced(&self, args: &[Val], n_operands: usize, given: &[Option<Val>]) -> Result<Traced> {
        let avals: Vec<Aval> = args.iter().map(Val::aval).collect();
        pullback_trace::trace_to_jaxpr(&avals, &mut |args| {
            let (operands, cotangents) = args.split_at(n_operands);
            let mut cotangents = cotangents.iter().cloned();
            let given: Vec<Option<Val>> = given.iter().map(|ct| ct.as_ref().and_then(|_| cotangents.next())).collect();
            Ok((self.pulled_back(operands, &given)?, None))
        })
    }
}

/// Rows in each piece but the last.
fn rows_in(tape: &Tape, join: &Node) -> usize {
    tape.val(join.ins[0]).aval().shape[0]
}

/// The cotangents of what an array was taken apart into; zeros where there is none.
fn or_zeros(tape: &Tape, parts: &[Id], given: &[Option<Val>]) -> Result<Vec<Val>> {
    let zeros = |&part: &Id| {
        let aval: Aval = tape.val(part).aval().tangent();
        Array::full(aval.weak(false), Scalar::zero(aval.dtype)).map(Val::Array)
    };
    parts.iter().zip(given).map(|(part, given)| given.clone().map_or_else(|| zeros(part), Ok)).collect()
}
