//! Cotangents of all values of a tape, and which operation gave which part of them.

use pullback_base::{Array, Aval, Result, Scalar};
use pullback_core::prims::add_any;
use pullback_ir::{Params, PrimRef, Val};

use crate::numbers::array_of;
use crate::tape::{Doing, Id, Node, Tape, Value, rows_of, stack};

/// What one operation gave to a cotangent; `None` is the one that the program as a whole began with.
pub(crate) struct Part {
    pub(crate) node: Option<usize>,
    pub(crate) value: Value,
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
            Doing::Bind(prim, params) => node.span.scope(|| pulled_back(*prim, params, tape, node, &places, &given))?,
            Doing::Slices => vec![Some(joined(tape, &node.outs, &given)?)],
            Doing::Stack => {
                let stacked = given[0].as_ref().expect("one result, which has a cotangent");
                let rows: Vec<Option<Val>> =
                    rows_of(&array_of(stacked)?)?.into_iter().map(|row| Some(Val::Array(row))).collect();
                places.iter().map(|&at| rows[at].clone()).collect()
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

/// Cotangents of some operands of a primitive.
fn pulled_back(
    prim: PrimRef,
    params: &Params,
    tape: &Tape,
    node: &Node,
    places: &[usize],
    given: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let operands = tape.vals(&node.ins);
    let chosen: Vec<Val> = places.iter().map(|&at| operands[at].clone()).collect();
    let mut of = |chosen: &[Val]| {
        let mut operands = operands.clone();
        places.iter().zip(chosen).for_each(|(&at, val)| operands[at] = val.clone());
        Ok(pullback_trace::bind(prim, params, &operands)?.into_vec())
    };
    let (_, linear) = pullback_trace::linearize(&mut of, &chosen)?;
    Ok(pullback_trace::pull_back(&linear, given)?.into_iter().map(Some).collect())
}

/// The cotangent of an array from those of its slices; zeros where there is none.
fn joined(tape: &Tape, slices: &[Id], given: &[Option<Val>]) -> Result<Val> {
    let aval: Aval = tape.val(slices[0]).aval().tangent();
    let zeros = Val::Array(Array::full(aval.weak(false), Scalar::zero(aval.dtype))?);
    let rows: Vec<Val> = given.iter().map(|ct| ct.clone().unwrap_or_else(|| zeros.clone())).collect();
    stack(&rows)
}
