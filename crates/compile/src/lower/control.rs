//! Loops and branches: the bodies of control flow become blocks of the same program.
//!
//! A carried value of rank 0 lives in registers. A carried array has two temporaries: an iteration reads one, writes
//! the other, and they swap. A carried value that the body hands on unchanged is not carried at all.

use std::cell::{Cell, RefCell};

use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::lower::{Affine, Control, CpuForm, Elem};
use pullback_ir::{Atom, JaxprRef, VarId};
use pullback_loops::{Builder, Extent, LoopId, LoopKind, Op, ValueId};

use super::group::{take_elem, values_of};
use super::{Block, Dest, Planned, Shared, lower_block};
use crate::graph::Graph;
use crate::plan::{Place, Plan};
use crate::view::{Value, View};

/// A value that goes from iteration to iteration.
enum Carried {
    /// It is the same in all iterations.
    Constant(Value),
    /// In registers.
    Register(Elem, DType),
    /// In the first of two temporaries between iterations; in the only one when the body updates it in place.
    Memory { now: View, next: Option<View> },
}

impl Block<'_, '_> {
    pub(super) fn control(&mut self, loops: &mut Builder, number: usize, control: &Control) -> Result<()> {
        match control {
            Control::Call(_) => unreachable!("gone after inlining"),
            Control::While { cond, n_cond_consts, body, n_body_consts } => {
                self.while_loop(loops, number, (cond, *n_cond_consts), (body, *n_body_consts))
            }
            Control::Scan { body, n_consts, n_carry, length, reverse } => {
                let scan =
                    Scan { body, n_consts: *n_consts, n_carry: *n_carry, length: *length as i64, reverse: *reverse };
                self.scan(loops, number, &scan)
            }
            Control::Switch(branches) => self.switch(loops, number, branches),
        }
    }

    fn while_loop(
        &mut self,
        loops: &mut Builder,
        number: usize,
        (cond, n_cond_consts): (&JaxprRef, usize),
        (body, n_body_consts): (&JaxprRef, usize),
    ) -> Result<()> {
        let graph = self.graph.clone();
        let ins = &graph.eqn(number).ins;
        let consts = self.operand_values(loops, &ins[..n_cond_consts + n_body_consts])?;
        let (cond_consts, body_consts) = consts.split_at(n_cond_consts);
        let carried = self.carried(loops, &ins[n_cond_consts + n_body_consts..], body, n_body_consts)?;
        let (cond_plan, body_plan) = (self.shared.prepare(cond)?, self.shared.prepare(body)?);
        let inits = registers(&carried);
        let (failure, shared) = (Cell::new(None), RefCell::new(&mut *self.shared));
        let outs = loops.while_loop(
            &inits,
            |loops, phis| {
                let args: Vec<Value> = cond_consts.iter().cloned().chain(arguments(&carried, phis)).collect();
                let result = lower_block(&mut shared.borrow_mut(), loops, cond_plan.clone(), &args, &[Dest::Register]);
                let condition = result.map(|elems| elems[0].expect("asked for in a register").one());
                condition.unwrap_or_else(|error| {
                    failure.set(Some(error));
                    loops.constant(Scalar::bool(false))
                })
            },
            |loops, phis| {
                let args: Vec<Value> = body_consts.iter().cloned().chain(arguments(&carried, phis)).collect();
                let nexts = iterate(&mut shared.borrow_mut(), loops, &body_plan, &args, &carried, &[]);
                nexts.unwrap_or_else(|error| {
                    failure.set(Some(error));
                    phis.to_vec()
                })
            },
        );
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let results: Vec<VarId> = graph.eqn(number).outs().collect();
        self.define_carried(loops, &results, &ins[n_cond_consts + n_body_consts..], (&carried, &outs))
    }

    fn scan(&mut self, loops: &mut Builder, number: usize, scan: &Scan<'_>) -> Result<()> {
        let graph = self.graph.clone();
        let (eqn, n_before_xs) = (graph.eqn(number), scan.n_consts + scan.n_carry);
        let consts = self.operand_values(loops, &eqn.ins[..scan.n_consts])?;
        let xs = self.operand_values(loops, &eqn.ins[n_before_xs..])?;
        let carried = self.carried(loops, &eqn.ins[scan.n_consts..n_before_xs], scan.body, scan.n_consts)?;
        let results: Vec<VarId> = eqn.outs().collect();
        let ys: Vec<View> = results[scan.n_carry..].iter().map(|&var| self.dest(loops, var)).collect();
        let body_plan = self.shared.prepare(scan.body)?;
        let inits: Vec<_> = registers(&carried).into_iter().map(|init| (init, None)).collect();
        let (mut failure, shared) = (None, &mut *self.shared);
        let outs = loops.for_loop(Extent::Const(scan.length), LoopKind::Seq, &inits, |loops, id, phis| {
            let position = scan.position(id);
            let slices = xs.iter().map(|x| slice(x, &position));
            let args: Vec<Value> = consts.iter().cloned().chain(arguments(&carried, phis)).chain(slices).collect();
            let ys: Vec<Dest> = ys.iter().map(|y| Dest::Memory(y.at(&position))).collect();
            iterate(shared, loops, &body_plan, &args, &carried, &ys).unwrap_or_else(|error| {
                failure = Some(error);
                phis.to_vec()
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let inits = &eqn.ins[scan.n_consts..n_before_xs];
        self.define_carried(loops, &results[..scan.n_carry], inits, (&carried, &outs))?;
        results[scan.n_carry..].iter().zip(ys).for_each(|(&var, view)| self.define(var, view));
        Ok(())
    }

    fn switch(&mut self, loops: &mut Builder, number: usize, branches: &[JaxprRef]) -> Result<()> {
        let graph = self.graph.clone();
        let eqn = graph.eqn(number);
        let index = self.element(loops, eqn.ins[0], &[])?.one();
        let index = loops.convert(DType::I64, index);
        let args = self.operand_values(loops, &eqn.ins[1..])?;
        let dests: Vec<View> = eqn.outs().map(|var| self.dest(loops, var)).collect();
        let wanted: Vec<Dest> = dests.iter().cloned().map(Dest::Memory).collect();
        let mut plans = vec![];
        for branch in branches {
            plans.push(self.shared.prepare(branch)?);
        }
        let (failure, shared) = (Cell::new(None), RefCell::new(&mut *self.shared));
        let (args, wanted, shared, noted) = (&args, &wanted, &shared, &failure);
        let block = |plan| -> Box<dyn FnOnce(&mut Builder) + '_> {
            Box::new(move |loops: &mut Builder| {
                if let Err(error) = lower_block(&mut shared.borrow_mut(), loops, plan, args, wanted) {
                    noted.set(Some(error));
                }
            })
        };
        loops.switch(index, plans.into_iter().map(block).collect());
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        eqn.outs().zip(dests).try_for_each(|(var, view)| self.define_loaded(loops, var, view))
    }

    /// A result in memory; one of rank 0 is read at once.
    fn define_loaded(&mut self, loops: &mut Builder, var: VarId, view: View) -> Result<()> {
        let aval = self.graph.jaxpr.vars[var.index()];
        let value =
            if aval.rank() == 0 { Value::Uniform(view.load(loops, &[], aval.dtype)?) } else { Value::Memory(view) };
        self.values[var.index()] = Some(value);
        Ok(())
    }

    /// Operands as values of the inputs of an inner jaxpr.
    fn operand_values(&mut self, loops: &mut Builder, atoms: &[Atom]) -> Result<Vec<Value>> {
        let mut values = vec![];
        for &atom in atoms {
            let is_scalar = self.graph.aval(atom).rank() == 0;
            values.push(match self.value(loops, atom) {
                _ if is_scalar => Value::Uniform(self.element(loops, atom, &[])?),
                Some(value) => value,
                None => Value::Memory(self.memory(loops, atom)?),
            });
        }
        Ok(values)
    }

    fn carried(
        &mut self,
        loops: &mut Builder,
        inits: &[Atom],
        body: &JaxprRef,
        n_consts: usize,
    ) -> Result<Vec<Carried>> {
        let (graph, plan) = self.shared.prepare(body)?;
        let mut carried = vec![];
        for (i, &init) in inits.iter().enumerate() {
            let is_constant = graph.jaxpr.outs[i] == Atom::Var(graph.jaxpr.invars[n_consts + i]);
            let in_place = is_updated_in_place(&graph, &plan, graph.jaxpr.invars[n_consts + i], graph.jaxpr.outs[i]);
            carried.push(self.carried_from(loops, init, is_constant, in_place)?);
        }
        Ok(carried)
    }

    fn carried_from(&mut self, loops: &mut Builder, init: Atom, is_constant: bool, in_place: bool) -> Result<Carried> {
        let aval = self.graph.aval(init);
        if is_constant {
            return Ok(Carried::Constant(self.operand_values(loops, &[init])?.remove(0)));
        }
        if aval.rank() == 0 {
            return Ok(Carried::Register(self.element(loops, init, &[])?, aval.dtype));
        }
        let now = self.carry_memory(loops, aval);
        let next = (!in_place).then(|| self.carry_memory(loops, aval));
        self.copy(loops, init, &now)?;
        Ok(Carried::Memory { now, next })
    }

    /// Memory of a carried array; its last state may be read until the block ends.
    fn carry_memory(&mut self, loops: &mut Builder, aval: Aval) -> View {
        let view = self.temp(loops, &aval.shape, aval.dtype);
        self.to_release.last_mut().expect("one entry more than steps").push(view.buffer);
        view
    }

    /// A carried array that never changed is copied for whoever reads the result: the plan gave its memory to others
    /// after the last use of the initial value, and does not know that the result is the same. Where it can be seen
    /// before planning, the result is that value, and nobody reads it here.
    fn define_carried(
        &mut self,
        loops: &mut Builder,
        results: &[VarId],
        inits: &[Atom],
        (carried, outs): (&[Carried], &[ValueId]),
    ) -> Result<()> {
        for (at, value) in arguments(carried, outs).into_iter().enumerate() {
            let var = results[at];
            match (&carried[at], &value) {
                (Carried::Constant(_), Value::Memory(_)) => {
                    if self.plan.last_use[var.index()] > self.step {
                        let view = self.dest(loops, var);
                        self.copy(loops, inits[at], &view)?;
                        self.define(var, view);
                    }
                }
                _ => self.values[var.index()] = Some(value),
            }
        }
        Ok(())
    }
}

/// Whether the body makes the next state by updates of the last one that nobody reads afterwards.
fn is_updated_in_place(graph: &Graph, plan: &Plan, state: VarId, next: Atom) -> bool {
    let mut var = match next {
        Atom::Var(var) => var,
        Atom::Literal(_) => return false,
    };
    while var != state {
        let Some(maker) = graph.made_by[var.index()] else { return false };
        let (CpuForm::Scatter { .. }, Place::Single(step)) = (&graph.forms[maker], plan.places[maker]) else {
            return false;
        };
        let Atom::Var(operand) = graph.eqn(maker).ins[0] else { return false };
        if plan.last_use[operand.index()] != step {
            return false;
        }
        var = operand;
    }
    true
}

struct Scan<'a> {
    body: &'a JaxprRef,
    n_consts: usize,
    n_carry: usize,
    length: i64,
    reverse: bool,
}

impl Scan<'_> {
    /// The position of the slices of an iteration.
    fn position(&self, id: LoopId) -> Affine {
        let stride = if self.reverse { -1 } else { 1 };
        let base = if self.reverse { self.length - 1 } else { 0 };
        Affine { base, terms: [(id, stride)].into_iter().collect() }
    }
}

fn slice(x: &Value, position: &Affine) -> Value {
    match x {
        Value::Uniform(elem) => Value::Uniform(*elem),
        Value::Memory(view) => Value::Memory(view.at(position)),
    }
}

/// The values in registers before the first iteration.
fn registers(carried: &[Carried]) -> Vec<ValueId> {
    let values = carried.iter().filter_map(|carried| match carried {
        Carried::Register(elem, _) => Some(values_of(*elem)),
        Carried::Constant(_) | Carried::Memory { .. } => None,
    });
    values.flatten().collect()
}

/// The carried values as arguments, with those in registers given.
fn arguments(carried: &[Carried], registers: &[ValueId]) -> Vec<Value> {
    let mut registers = registers.iter().copied();
    let value = |carried: &Carried| match carried {
        Carried::Constant(value) => value.clone(),
        Carried::Register(_, dtype) => Value::Uniform(take_elem(&mut registers, *dtype)),
        Carried::Memory { now, .. } => Value::Memory(now.clone()),
    };
    carried.iter().map(value).collect()
}

/// One iteration: the body, then the swaps. Gives the next values in registers.
fn iterate(
    shared: &mut Shared<'_>,
    loops: &mut Builder,
    body: &Planned,
    args: &[Value],
    carried: &[Carried],
    ys: &[Dest],
) -> Result<Vec<ValueId>> {
    let dests: Vec<Dest> = carried.iter().map(next_dest).chain(ys.iter().cloned()).collect();
    let elems = lower_block(shared, loops, body.clone(), args, &dests)?;
    for carried in carried {
        if let Carried::Memory { now, next: Some(next) } = carried {
            loops.push(Op::Swap(now.buffer, next.buffer));
        }
    }
    Ok(elems.into_iter().flatten().flat_map(values_of).collect())
}

fn next_dest(carried: &Carried) -> Dest {
    match carried {
        Carried::Constant(_) => Dest::Nowhere,
        Carried::Register(..) => Dest::Register,
        Carried::Memory { next: Some(next), .. } => Dest::Memory(next.clone()),
        Carried::Memory { now, next: None } => Dest::InPlace(now.clone()),
    }
}
