//! Algebraic laws, one a function: an equation that a law covers gives way to a simpler value.
//!
//! [`EXACT`] laws keep every bit. [`VALUE_CHANGING`] laws are true of real numbers, not of rounded ones; they are
//! those that the reference applies under `jit`, and have a switch.

use pullback_base::{Aval, Result, Scalar};
use pullback_core::prims::V;
use pullback_ir::{Atom, Emit, Eqn, Jaxpr, Slot, Tracer, Val, Vals, VarId};

use super::{Copier, structure};
use crate::Options;

/// What a law sees of an equation, and its answer: the value in its place.
pub(super) type Law = fn(&Known, &Application) -> Option<Answer>;

/// Laws that keep every bit, by the primitive they start from.
const EXACT: &[(&str, Law)] = &[
    ("neg", neg_of_neg),
    ("mul", times_one),
    ("add", plus_zero),
    ("sub", minus_zero),
    ("convert_element_type", same_aval),
    ("reshape", same_aval),
    ("broadcast_in_dim", same_aval),
    ("reshape", reshape_of_reshape),
    ("dot_general", structure::product_without_depth),
    ("reduce_sum", structure::sum_of_one),
    ("scatter", structure::scatter_at_a_known_place),
];

/// Laws of real numbers.
const VALUE_CHANGING: &[(&str, Law)] =
    &[("log", log_of_exp), ("log", log_of_sqrt), ("transpose", structure::transposed_product)];

/// The value in the place of an equation.
pub(super) enum Answer {
    /// One that exists.
    Known(Val),
    /// The equation's primitive, with its params, of another operand.
    Again(Val),
    /// One that is made of others.
    Made(Box<dyn FnOnce(&dyn Emit) -> Result<Val>>),
}

impl Answer {
    pub(super) fn made(make: impl FnOnce(&dyn Emit) -> Result<Val> + 'static) -> Option<Answer> {
        Some(Answer::Made(Box::new(make)))
    }
}

/// One equation with its copied operands.
pub(super) struct Application<'a> {
    pub(super) eqn: &'a Eqn,
    pub(super) ins: &'a [Val],
    pub(super) out: Aval,
    /// Whether nothing but this equation reads its first operand.
    pub(super) is_sole_reader: bool,
}

/// How values of the new jaxpr were made.
pub(super) struct Known {
    made_by: Vec<Option<(Eqn, Vals)>>,
}

impl Known {
    /// The equation, with its operands, that made `val`, if its primitive has that name.
    pub(super) fn application_of(&self, val: &Val, name: &str) -> Option<(&Eqn, &Vals)> {
        let (eqn, ins) = self.made_by.get(var_of(val)?.index())?.as_ref()?;
        eqn.prim.is(name).then_some((eqn, ins))
    }

    /// The operands of `val` if it was made by the primitive of that name.
    pub(super) fn operands_of(&self, val: &Val, name: &str) -> Option<&Vals> {
        self.application_of(val, name).map(|(_, ins)| ins)
    }

    /// The number that all elements of `val` are.
    pub(super) fn number(&self, val: &Val) -> Option<Scalar> {
        match val {
            Val::Literal(scalar) => Some(*scalar),
            Val::Array(_) => None,
            Val::Tracer(_) => self.operands_of(val, "broadcast_in_dim").and_then(|ins| match ins[0] {
                Val::Literal(scalar) => Some(scalar),
                Val::Array(_) | Val::Tracer(_) => None,
            }),
        }
    }

    fn learn(&mut self, eqn: &Eqn, ins: &Vals, outs: &Vals) {
        for var in outs.iter().filter_map(var_of) {
            self.made_by.resize_with(self.made_by.len().max(var.index() + 1), || None);
            self.made_by[var.index()] = Some((eqn.clone(), ins.clone()));
        }
    }
}

fn var_of(val: &Val) -> Option<VarId> {
    match val {
        Val::Tracer(Tracer { slot: Slot::Var(var), .. }) => Some(*var),
        Val::Tracer(_) | Val::Literal(_) | Val::Array(_) => None,
    }
}

/// The jaxpr after one walk in which every equation is tried with every law of its primitive.
pub(super) fn apply(jaxpr: &Jaxpr, options: &Options) -> Result<Jaxpr> {
    let mut copier = Copier::new(jaxpr);
    let mut known = Known { made_by: vec![] };
    let readers = readers(jaxpr);
    for eqn in &jaxpr.eqns {
        let ins = copier.operands(eqn);
        let is_sole_reader =
            eqn.ins.first().is_some_and(|&atom| matches!(atom, Atom::Var(var) if readers[var.index()] == 1));
        // An equation without results, an effect, has no first one.
        let answer = match jaxpr.eqn_out_avals(eqn) {
            &[out] => find(&known, &Application { eqn, ins: &ins, out, is_sole_reader }, options),
            _ => None,
        };
        let outs: Vals = match answer {
            None => {
                let outs = copier.copy(jaxpr, eqn, &ins);
                known.learn(eqn, &ins, &outs);
                outs
            }
            Some(answer) => {
                let made = matches!(answer, Answer::Made(_));
                let outs: Vals = smallvec::smallvec![eqn.span.scope(|| make(&copier, eqn, jaxpr, answer))?];
                if made {
                    // What it was is as true of it as what it is now.
                    known.learn(eqn, &ins, &outs);
                }
                outs
            }
        };
        copier.define(eqn, outs);
    }
    Ok(copier.finish(jaxpr))
}

/// How many equations and results read each variable.
fn readers(jaxpr: &Jaxpr) -> Vec<usize> {
    let mut readers = vec![0; jaxpr.vars.len()];
    for &atom in jaxpr.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&jaxpr.outs) {
        if let Atom::Var(var) = atom {
            readers[var.index()] += 1;
        }
    }
    readers
}

fn find(known: &Known, application: &Application, options: &Options) -> Option<Answer> {
    let name = application.eqn.prim.name();
    let value_changing = if options.rewrite_values { VALUE_CHANGING } else { &[] };
    let mut laws = EXACT.iter().chain(value_changing).filter(|(start, _)| *start == name);
    laws.find_map(|(_, law)| law(known, application))
}

fn make(copier: &Copier, eqn: &Eqn, jaxpr: &Jaxpr, answer: Answer) -> Result<Val> {
    match answer {
        Answer::Known(val) => Ok(val),
        Answer::Again(x) => {
            let ins = std::slice::from_ref(&x);
            Ok(copier.builder.record(eqn.prim, &eqn.params, ins, jaxpr.eqn_out_avals(eqn))[0].clone())
        }
        Answer::Made(make) => make(&copier.builder),
    }
}

fn fits(val: &Val, out: Aval) -> bool {
    let aval = val.aval();
    aval.shape == out.shape && aval.dtype == out.dtype
}

fn known_if_fits(val: &Val, out: Aval) -> Option<Answer> {
    fits(val, out).then(|| Answer::Known(val.clone()))
}

/// `-(-x) = x`.
fn neg_of_neg(known: &Known, eqn: &Application) -> Option<Answer> {
    known_if_fits(&known.operands_of(&eqn.ins[0], "neg")?[0], eqn.out)
}

/// `x · 1 = 1 · x = x`.
fn times_one(known: &Known, eqn: &Application) -> Option<Answer> {
    let is_one =
        |val: &Val| known.number(val).is_some_and(|number| number.to_bits() == Scalar::one(number.dtype()).to_bits());
    let kept = if is_one(&eqn.ins[1]) { &eqn.ins[0] } else { is_one(&eqn.ins[0]).then_some(&eqn.ins[1])? };
    known_if_fits(kept, eqn.out)
}

/// `x + 0 = x` for integers; `x + -0.0 = x` for floats (`-0.0 + 0.0` is not `-0.0`).
fn plus_zero(known: &Known, eqn: &Application) -> Option<Answer> {
    let is_zero = |val: &Val| {
        known.number(val).is_some_and(|number| {
            let dtype = number.dtype();
            let zero = if dtype.is_inexact() { Scalar::float(dtype, -0.0) } else { Scalar::zero(dtype) };
            !dtype.is_complex() && number.to_bits() == zero.to_bits()
        })
    };
    let kept = if is_zero(&eqn.ins[1]) { &eqn.ins[0] } else { is_zero(&eqn.ins[0]).then_some(&eqn.ins[1])? };
    known_if_fits(kept, eqn.out)
}

/// `x - 0 = x`.
fn minus_zero(known: &Known, eqn: &Application) -> Option<Answer> {
    let number = known.number(&eqn.ins[1])?;
    (number.to_bits() == Scalar::zero(number.dtype()).to_bits()).then(|| known_if_fits(&eqn.ins[0], eqn.out))?
}

/// A conversion or movement to what the operand is already.
fn same_aval(_: &Known, eqn: &Application) -> Option<Answer> {
    known_if_fits(&eqn.ins[0], eqn.out)
}

/// Of two reshapes the last decides.
fn reshape_of_reshape(known: &Known, eqn: &Application) -> Option<Answer> {
    let inner = known.operands_of(&eqn.ins[0], "reshape")?;
    Some(if fits(&inner[0], eqn.out) { Answer::Known(inner[0].clone()) } else { Answer::Again(inner[0].clone()) })
}

/// `log(exp x) = x`.
fn log_of_exp(known: &Known, eqn: &Application) -> Option<Answer> {
    known_if_fits(&known.operands_of(&eqn.ins[0], "exp")?[0], eqn.out)
}

/// `log(sqrt x) = ½ log x`.
fn log_of_sqrt(known: &Known, eqn: &Application) -> Option<Answer> {
    let x = &known.operands_of(&eqn.ins[0], "sqrt")?[0];
    let x = (fits(x, eqn.out) && eqn.out.dtype.is_float()).then(|| x.clone())?;
    Answer::made(move |e| (0.5 * V::new(e, &x).log()).done())
}
