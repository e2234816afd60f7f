//! Transposition of linear jaxprs: cotangents flow from results to inputs.

use std::sync::Arc;

use pullback_base::{Aval, DType, Result, Span};
use pullback_ir::{
    Atom, Builder, CustomRule, Emit, EmitRef, Eqn, Jaxpr, JaxprRef, Operand, Tangents, Val, Vals, eval_jaxpr,
    not_linear,
};

use super::cache::Cache;
use super::split::split_jaxpr_forced;
use crate::prims::{V, add_any, cotangent_type, instantiate};

/// Cotangents of the unknown inputs of a jaxpr that is linear in them.
///
/// `args` holds the known inputs; `None` marks those in which the jaxpr is linear. Returns one entry for each input,
/// `None` for the known ones and for zero cotangents. Equations that depend on no linear input are evaluated first.
///
/// # Errors
/// What a transpose rule raises, for example that an equation is not linear.
pub fn backward_pass(
    e: &EmitRef,
    jaxpr: &Jaxpr,
    args: &[Option<Val>],
    cts: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let n = jaxpr.vars.len();
    let mut pass = Backward { e, jaxpr, values: vec![None; n], cts: vec![None; n], feeds: vec![false; n] };
    for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
        pass.values[var.index()] = Some(Val::Array(array.clone()));
    }
    for (var, arg) in jaxpr.invars.iter().zip(args) {
        pass.values[var.index()] = arg.clone();
    }
    let linear_eqns = pass.evaluate_known()?;
    for (&out, ct) in jaxpr.outs.iter().zip(cts) {
        pass.mark(out, ct.is_some());
        pass.accumulate(out, ct.clone())?;
    }
    let around = Span::current().names();
    for eqn in linear_eqns.into_iter().rev() {
        eqn.span.under(around).scope(|| pass.transpose(eqn))?;
    }
    Ok(jaxpr.invars.iter().map(|var| pass.cts[var.index()].take()).collect())
}

/// Cotangents of the inputs of a function in which it is linear, those after the `known` ones. What does not depend on
/// these, also inside of loops and calls, is computed first.
///
/// # Errors
/// `NotImplemented` when the function is not linear; what a rule raises.
pub fn transpose_function(
    e: &EmitRef,
    jaxpr: &JaxprRef,
    known: &[Val],
    cts: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let n_linear = jaxpr.invars.len() - known.len();
    let unknown_in: Vec<bool> = (0..jaxpr.invars.len()).map(|i| i >= known.len()).collect();
    let parts = split_jaxpr_forced(jaxpr, &unknown_in, &vec![true; jaxpr.outs.len()])?;
    let residuals = eval_jaxpr(&**e, &parts.known, known)?;
    let n_residuals = residuals.len();
    let args: Vec<Option<Val>> = residuals.into_iter().map(Some).chain((0..n_linear).map(|_| None)).collect();
    Ok(backward_pass(e, &parts.unknown, &args, cts)?.split_off(n_residuals))
}

struct Backward<'a> {
    e: &'a EmitRef,
    jaxpr: &'a Jaxpr,
    /// Known values; linear variables have none.
    values: Vec<Option<Val>>,
    cts: Vec<Option<Val>>,
    /// Which variables a result with a cotangent depends on, whether or not a rule between made that zero.
    feeds: Vec<bool>,
}

impl<'a> Backward<'a> {
    fn mark(&mut self, atom: Atom, feeds: bool) {
        if let Atom::Var(var) = atom {
            self.feeds[var.index()] |= feeds;
        }
    }

    fn evaluate_known(&mut self) -> Result<Vec<&'a Eqn>> {
        let mut linear = vec![];
        let around = Span::current().names();
        for eqn in &self.jaxpr.eqns {
            let ins: Option<Vals> = eqn.ins.iter().map(|&atom| self.value(atom)).collect();
            let Some(ins) = ins else {
                linear.push(eqn);
                continue;
            };
            let outs = eqn.span.under(around).scope(|| self.e.bind(eqn.prim, &eqn.params, &ins))?;
            for (var, out) in eqn.outs().zip(outs) {
                self.values[var.index()] = Some(out);
            }
        }
        Ok(linear)
    }

    fn value(&self, atom: Atom) -> Option<Val> {
        match atom {
            Atom::Literal(scalar) => Some(Val::Literal(scalar)),
            Atom::Var(var) => self.values[var.index()].clone(),
        }
    }

    fn accumulate(&mut self, atom: Atom, ct: Option<Val>) -> Result<()> {
        if let Atom::Var(var) = atom
            && self.values[var.index()].is_none()
        {
            let ct = ct.map(|ct| split_as(&**self.e, ct, self.jaxpr.aval(atom))).transpose()?;
            let before = self.cts[var.index()].take();
            self.cts[var.index()] = add_any(&**self.e, before, ct)?;
        }
        Ok(())
    }

    fn transpose(&mut self, eqn: &Eqn) -> Result<()> {
        let cts: Vec<Option<Val>> = eqn.outs().map(|var| self.cts[var.index()].take()).collect();
        let feeds = eqn.outs().any(|var| self.feeds[var.index()]);
        eqn.ins.iter().for_each(|&atom| self.mark(atom, feeds));
        let rule = eqn.prim.custom_rule(&eqn.params);
        if cts.iter().all(Option::is_none) && !(feeds && rule.as_ref().is_some_and(|rule| rule.runs_on_zeros())) {
            return Ok(());
        }
        let operand = |&atom: &Atom| match self.value(atom) {
            Some(val) => Operand::Known(val),
            None => Operand::Linear(self.jaxpr.aval(atom)),
        };
        let ins: Vec<Operand> = eqn.ins.iter().map(operand).collect();
        let own = rule.and_then(|rule| self.transpose_by_user(&*rule, &cts, &ins));
        let in_cts = match own {
            Some(in_cts) => in_cts?,
            None => {
                check_linear(eqn, &ins, &cts)?;
                eqn.prim.transpose(&eqn.params, &**self.e, &cts, &ins)?
            }
        };
        for (&atom, ct) in eqn.ins.iter().zip(in_cts) {
            self.accumulate(atom, ct)?;
        }
        Ok(())
    }
}

impl Backward<'_> {
    fn transpose_by_user(
        &self,
        rule: &dyn CustomRule,
        cts: &[Option<Val>],
        ins: &[Operand],
    ) -> Option<Result<Tangents>> {
        let Some((e, bare)) = self.e.for_user_rules(cts) else { return rule.transpose(self.e, cts, ins) };
        Some(rule.transpose(&e, &bare, ins)?.map(|in_cts| self.e.accept_from_user_rules(in_cts)))
    }
}

/// The cotangent of a value of a type, split as that says; a sum over what repeated it may have come out otherwise.
fn split_as(e: &dyn Emit, ct: Val, aval: Aval) -> Result<Val> {
    let own = ct.aval();
    if own.sharding.is_none() && aval.sharding.is_none() || own.shape != aval.shape {
        return Ok(ct);
    }
    V::new(e, &ct).split_like(cotangent_type(aval)).done()
}

/// Conditions have no cotangents, nor have counts and indices of what is not whole itself, so nothing is linear in one that
/// depends on the linear inputs.
fn check_linear(eqn: &Eqn, ins: &[Operand], cts: &[Option<Val>]) -> Result<()> {
    let is_whole = cts.iter().flatten().all(|ct| ct.aval().dtype.is_integer());
    let has_none = |dtype: DType| dtype == DType::Bool || dtype.is_integer() && !is_whole;
    match ins.iter().position(|x| x.is_linear() && has_none(x.aval().dtype)) {
        Some(at) => Err(not_linear(
            eqn.prim.name(),
            &format!(" in operand {at}, of type {}", ins[at].aval().weak(false).long()),
        )),
        None => Ok(()),
    }
}

/// The transpose of a jaxpr.
#[derive(Clone, Debug)]
pub struct TransposedJaxpr {
    /// From the known inputs, then the nonzero cotangents of results, to cotangents of the linear inputs that have one.
    pub jaxpr: JaxprRef,
    /// For each linear input, whether its cotangent is nonzero.
    pub nonzero: Vec<bool>,
}

/// Transposes a jaxpr in the inputs marked in `linear_in`, for results whose cotangents are marked in `nonzero_ct`.
/// With `full`, zero cotangents of linear inputs are made.
///
/// # Errors
/// What a transpose rule raises.
pub fn transpose_jaxpr(
    jaxpr: &JaxprRef,
    linear_in: &[bool],
    nonzero_ct: &[bool],
    full: bool,
) -> Result<TransposedJaxpr> {
    static CACHE: Cache<(u64, Vec<bool>, Vec<bool>, bool), TransposedJaxpr> = Cache::new();
    let key = (jaxpr.id(), linear_in.to_vec(), nonzero_ct.to_vec(), full);
    CACHE.get_or_make(key, || make_transpose(jaxpr, linear_in, nonzero_ct, full))
}

fn make_transpose(jaxpr: &JaxprRef, linear_in: &[bool], nonzero_ct: &[bool], full: bool) -> Result<TransposedJaxpr> {
    let builder = Arc::new(Builder::new());
    let make_arg = |(aval, &linear)| if linear { None } else { Some(builder.input(aval)) };
    let args: Vec<Option<Val>> = jaxpr.in_avals().into_iter().zip(linear_in).map(make_arg).collect();
    let make_ct =
        |(aval, &nonzero): (pullback_base::Aval, _)| if nonzero { Some(builder.input(aval.tangent())) } else { None };
    let cts: Vec<Option<Val>> = jaxpr.out_avals().into_iter().zip(nonzero_ct).map(make_ct).collect();
    let in_cts = backward_pass(&(builder.clone() as EmitRef), jaxpr, &args, &cts)?;
    let (mut outs, mut nonzero) = (vec![], vec![]);
    for ((ct, aval), _) in in_cts.into_iter().zip(jaxpr.in_avals()).zip(linear_in).filter(|(_, linear)| **linear) {
        let ct = if full { Some(instantiate(&*builder, aval, ct)?) } else { ct };
        nonzero.push(ct.is_some());
        outs.extend(ct);
    }
    Ok(TransposedJaxpr { jaxpr: JaxprRef::interned(builder.finish(&outs, None).0), nonzero })
}
