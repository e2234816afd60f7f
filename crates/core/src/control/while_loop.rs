//! A loop that runs while a condition holds.
//!
//! while : cond_consts body_consts carry -> carry
//! Under batching the condition may have the batch's axes: then examples that are done keep their values while others
//! go on; every carried value has those axes in front. There is no reverse derivative: the number of steps is not known.

use pullback_base::{Aval, DType, Error, Result, bail};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Atom, Avals, Batch, BatchDims, Batching, Builder, Derivative, Effects, Emit, Hlo, Jaxpr, JaxprRef, Params, Prim,
    PrimRef, Sample, Split, Splits, Tangents, Transpose, Val, Vals, Varying, eval_jaxpr,
};

use super::jit::check_call;
use super::scan::with_unused_inputs;
use crate::prims::{V, batch_to_front, instantiate};
use crate::transforms::{batch_jaxpr, jvp_jaxpr, split_jaxpr_forced};

/// Params of `while`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct While {
    /// From its consts and the carry to a boolean.
    pub cond_jaxpr: JaxprRef,
    /// Number of its consts.
    pub cond_nconsts: usize,
    /// From its consts and the carry to the carry.
    pub body_jaxpr: JaxprRef,
    /// Number of its consts.
    pub body_nconsts: usize,
}

impl While {
    fn bind(self, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
        e.bind(WHILE, &Params::new(self), ins)
    }

    /// Splits what comes in the order of the operands into consts of the condition, consts of the body, and carry.
    fn parts<'a, T>(&self, ins: &'a [T]) -> [&'a [T]; 3] {
        let (cond_consts, rest) = ins.split_at(self.cond_nconsts);
        let (body_consts, carry) = rest.split_at(self.body_nconsts);
        [cond_consts, body_consts, carry]
    }
}

struct WhilePrim;

/// The primitive `while`.
pub static WHILE: PrimRef = PrimRef(&WhilePrim);

impl Prim for WhilePrim {
    type Params = While;
    const NAME: &'static str = "while";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &While, ins: &[Aval]) -> Result<Avals> {
        if p.cond_nconsts.saturating_add(p.body_nconsts) > ins.len() {
            bail!(
                Type,
                "while has {} operands, fewer than its {} + {} consts",
                ins.len(),
                p.cond_nconsts,
                p.body_nconsts
            );
        }
        let [cond_consts, body_consts, carry] = p.parts(ins);
        check_call("while condition", &p.cond_jaxpr, &[cond_consts, carry].concat())?;
        check_call("while body", &p.body_jaxpr, &[body_consts, carry].concat())?;
        let outs = p.body_jaxpr.out_avals();
        let keeps = |(a, b): (&Aval, &Aval)| a.shape == b.shape && a.dtype == b.dtype;
        if outs.len() != carry.len() || !carry.iter().zip(&outs).all(keeps) {
            bail!(Type, "while carry goes in as {carry:?} and out as {outs:?}; the types must be equal");
        }
        Ok(outs.into())
    }

    fn derivative(&self) -> Derivative<While> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<While> {
        Transpose::Rule(|_, _, _, _| {
            Err(Error::value_error(
                "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop \
                 values. Try using lax.scan, or using fori_loop with static start/stop.",
            ))
        })
    }

    fn splits(&self) -> Splits<While> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<While> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &While, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        if p.cond_jaxpr.out_avals()[0].rank() > 0 {
            return CpuForm::Decompose(Box::new(move |e, ins| run_until_all_done(&p, e, ins)));
        }
        let (cond, n_cond_consts) = (p.cond_jaxpr, p.cond_nconsts);
        CpuForm::Control(Control::While { cond, n_cond_consts, body: p.body_jaxpr, n_body_consts: p.body_nconsts })
    }

    fn hlo(&self) -> Hlo<While> {
        Hlo::Rule(|p, cx, ins, _| {
            if p.cond_jaxpr.out_avals()[0].rank() > 0 {
                return cx.compose(&|e, ins| run_until_all_done(p, e, ins), ins);
            }
            let (n_consts, n_cond) = (p.cond_nconsts + p.body_nconsts, p.cond_nconsts);
            let outs = cx.while_loop(
                None,
                ins,
                &mut |cx, args| cx.inline(&p.cond_jaxpr, &[&args[..n_cond], &args[n_consts..]].concat()),
                &mut |cx, args| {
                    let next = cx.inline(&p.body_jaxpr, &args[n_cond..])?;
                    Ok(args[..n_consts].iter().copied().chain(next).collect())
                },
            )?;
            Ok(outs[n_consts..].into())
        })
    }

    // Covered by the tests of control flow: there is no sample without a traced body.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    // Which branch or how many rounds may differ, so all results may.
    fn varying(&self, _p: &While) -> Varying {
        Varying::Everywhere
    }

    fn effects(&self, p: &While) -> Effects {
        p.cond_jaxpr.effects().union(p.body_jaxpr.effects())
    }

    fn split(&self, p: &While, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        split_while(p, split, ins)
    }
}

/// The loop for a condition with axes: it runs until no example wants more, and changes only those that do.
fn run_until_all_done(p: &While, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
    let [cond_consts, body_consts, carry] = p.parts(ins);
    let avals = |vals: &[Val]| vals.iter().map(Val::aval).collect::<Vec<Aval>>();
    let cond = {
        let b = Builder::new();
        let args: Vec<Val> = avals(&[cond_consts, carry].concat()).iter().map(|&aval| b.input(aval)).collect();
        let wants = eval_jaxpr(&b, &p.cond_jaxpr, &args)?.swap_remove(0);
        let axes: Vec<usize> = (0..wants.aval().rank()).collect();
        let any = V::new(&b, &wants).reduce_or(&axes).done()?;
        b.finish(&[any], None).0
    };
    let body = {
        let b = Builder::new();
        let inputs = |vals: &[Val]| avals(vals).iter().map(|&aval| b.input(aval)).collect::<Vec<Val>>();
        let (cond_consts, body_consts, carry) = (inputs(cond_consts), inputs(body_consts), inputs(carry));
        let wants = eval_jaxpr(&b, &p.cond_jaxpr, &[&cond_consts[..], &carry].concat())?.swap_remove(0);
        let nexts = eval_jaxpr(&b, &p.body_jaxpr, &[&body_consts[..], &carry].concat())?;
        let outs: Result<Vec<Val>> =
            nexts.iter().zip(&carry).map(|(next, old)| choose(&b, &wants, old, next)).collect();
        b.finish(&outs?, None).0
    };
    let new = While {
        cond_jaxpr: JaxprRef::interned(cond),
        cond_nconsts: p.cond_nconsts,
        body_jaxpr: JaxprRef::interned(body),
        body_nconsts: p.cond_nconsts + p.body_nconsts,
    };
    new.bind(e, &[cond_consts, cond_consts, body_consts, carry].concat())
}

/// `on_true` where `wants`, whose axes are the first of the others, holds.
pub(super) fn choose(e: &dyn Emit, wants: &Val, on_false: &Val, on_true: &Val) -> Result<Val> {
    let shape = &on_true.aval().data().shape;
    let dims: Vec<usize> = (0..wants.aval().rank()).collect();
    let wants = if dims.len() == shape.len() {
        wants.clone()
    } else {
        V::new(e, wants).broadcast_in_dim(shape, &dims).done()?
    };
    let outs = e.bind(crate::prims::SELECT_N, &Params::NONE, &[wants, on_false.clone(), on_true.clone()])?;
    Ok(outs.into_iter().next().expect("one result"))
}

fn fixpoint(start: Vec<bool>, mut step: impl FnMut(&[bool]) -> Result<Vec<bool>>) -> Result<Vec<bool>> {
    let mut marks = start;
    loop {
        let next: Vec<bool> = step(&marks)?.iter().zip(&marks).map(|(new, old)| *new || *old).collect();
        if next == marks {
            return Ok(marks);
        }
        marks = next;
    }
}

fn jvp(p: &While, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let [_, body_ts, carry_ts] = p.parts(ts);
    let [cond_consts, body_consts, carry] = p.parts(xs);
    let marks = |ts: &[Option<Val>]| ts.iter().map(Option::is_some).collect::<Vec<bool>>();
    let consts_nonzero = marks(body_ts);
    let derive = |carry: &[bool]| jvp_jaxpr(&p.body_jaxpr, &[&consts_nonzero[..], carry].concat(), carry);
    let nonzero = fixpoint(marks(carry_ts), |carry| Ok(derive(carry)?.nonzero_out))?;
    let derived = derive(&nonzero)?;

    // Inputs of the derivative: body consts, carry, const tangents, carry tangents.
    let (n_consts, n_carry) = (body_consts.len(), carry.len());
    let n_const_ts = body_ts.iter().flatten().count();
    let first_t = n_consts + n_carry;
    let n_ins = derived.jaxpr.invars.len();
    let order: Vec<usize> = (0..n_consts)
        .chain(first_t..first_t + n_const_ts)
        .chain(n_consts..first_t)
        .chain(first_t + n_const_ts..n_ins)
        .collect();
    let out_order: Vec<usize> = (0..derived.jaxpr.outs.len()).collect();
    let body_jaxpr = JaxprRef::interned(derived.jaxpr.reordered(&order, &out_order));
    let mut carry_dots = vec![];
    for (i, x) in carry.iter().enumerate().filter(|(i, _)| nonzero[*i]) {
        carry_dots.push(instantiate(e, x.aval(), carry_ts[i].clone())?);
    }
    let dot_avals: Vec<Aval> = carry_dots.iter().map(Val::aval).collect();
    let cond_jaxpr = with_unused_inputs(&p.cond_jaxpr, &dot_avals);
    let const_dots: Vec<Val> = body_ts.iter().flatten().cloned().collect();
    let operands = [cond_consts, body_consts, &const_dots, carry, &carry_dots].concat();
    let new = While { cond_jaxpr, cond_nconsts: p.cond_nconsts, body_jaxpr, body_nconsts: n_consts + n_const_ts };
    let mut outs = new.bind(e, &operands)?;
    let mut dots = outs.drain(n_carry..).collect::<Vec<_>>().into_iter();
    let tangents = nonzero.iter().map(|&nonzero| if nonzero { dots.next() } else { None }).collect();
    Ok((outs, tangents))
}

/// The known carried values are computed by a loop of their own; the whole loop is recorded for the unknown ones.
fn split_while(p: &While, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
    let unknown: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
    let [cond_unknown, body_unknown, carry_unknown] = p.parts(&unknown);
    let divide = |carry: &[bool]| split_jaxpr_forced(&p.body_jaxpr, &[body_unknown, carry].concat(), carry);
    let carry_unknown = fixpoint(carry_unknown.to_vec(), |carry| Ok(divide(carry)?.unknown_out))?;
    let cond = split_jaxpr_forced(&p.cond_jaxpr, &[cond_unknown, &carry_unknown].concat(), &[false])?;
    if cond.unknown_out[0] {
        return Ok(None);
    }
    let parts = divide(&carry_unknown)?;
    let known_only = |marks: &[bool], vals: &[Val]| {
        vals.iter().zip(marks).filter(|(_, unknown)| !**unknown).map(|(val, _)| val.clone()).collect::<Vec<Val>>()
    };
    let [cond_consts, body_consts, carry] = p.parts(ins);
    let n_known_carry = carry_unknown.iter().filter(|unknown| !**unknown).count();
    let without_residuals = |jaxpr: &JaxprRef, n_outs: usize| {
        let ins: Vec<usize> = (0..jaxpr.invars.len()).collect();
        let outs: Vec<usize> = (0..n_outs).collect();
        JaxprRef::interned(jaxpr.reordered(&ins, &outs))
    };
    let (known_cond, known_body) = (known_only(cond_unknown, cond_consts), known_only(body_unknown, body_consts));
    let known = While {
        cond_jaxpr: without_residuals(&cond.known, 1),
        cond_nconsts: known_cond.len(),
        body_jaxpr: without_residuals(&parts.known, n_known_carry),
        body_nconsts: known_body.len(),
    };
    let known_outs =
        known.bind(split.known(), &[known_cond, known_body, known_only(&carry_unknown, carry)].concat())?;
    let all_outs = p.clone().bind(split.unknown(), ins)?;
    let mut known_outs = known_outs.into_iter();
    let merge = |(out, unknown): (Val, &bool)| if *unknown { out } else { known_outs.next().expect("a known result") };
    Ok(Some(all_outs.into_iter().zip(&carry_unknown).map(merge).collect()))
}

fn batch(p: &While, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let n_consts = p.cond_nconsts + p.body_nconsts;
    let passes = p.passed_through();
    if !passes.contains(&true) {
        return batch_changing(p, e, batch, ins, dims);
    }
    // What the body passes through stays as it is, also where each example stops on its own: it is a constant.
    let lean = p.without_carried(&passes);
    let order = p.order_without(&passes);
    let lean_ins: Vec<Val> = order.iter().map(|&at| ins[at].clone()).collect();
    let lean_dims: Vec<Option<usize>> = order.iter().map(|&at| dims[at]).collect();
    let (outs, out_dims) = batch_changing(&lean, e, batch, &lean_ins, &lean_dims)?;
    let mut changed = outs.into_iter().zip(out_dims);
    let merged = passes.iter().enumerate().map(|(i, &passes)| match passes {
        true => (ins[n_consts + i].clone(), dims[n_consts + i]),
        false => changed.next().expect("one for each that changes"),
    });
    Ok(merged.unzip())
}

impl While {
    /// Which carried values come out of the body as they went in.
    fn passed_through(&self) -> Vec<bool> {
        let carried = &self.body_jaxpr.invars[self.body_nconsts..];
        carried.iter().zip(&self.body_jaxpr.outs).map(|(&var, &out)| out == Atom::Var(var)).collect()
    }

    /// The loop with the marked carried values as constants of condition and body.
    fn without_carried(&self, marks: &[bool]) -> While {
        let constant = |jaxpr: &JaxprRef, n_consts: usize| {
            let mut jaxpr = Jaxpr::clone(jaxpr);
            let carried = jaxpr.invars.split_off(n_consts);
            jaxpr.invars.extend(marked(&carried, marks, true));
            jaxpr.invars.extend(marked(&carried, marks, false));
            jaxpr
        };
        let cond = constant(&self.cond_jaxpr, self.cond_nconsts);
        let mut body = constant(&self.body_jaxpr, self.body_nconsts);
        body.outs = marked(&body.outs, marks, false);
        let n = marks.iter().filter(|marked| **marked).count();
        While {
            cond_jaxpr: JaxprRef::interned(cond),
            body_jaxpr: JaxprRef::interned(body),
            cond_nconsts: self.cond_nconsts + n,
            body_nconsts: self.body_nconsts + n,
        }
    }

    /// Positions of the operands of [`While::without_carried`] among those of this loop.
    fn order_without(&self, marks: &[bool]) -> Vec<usize> {
        let (n_cond, n_consts) = (self.cond_nconsts, self.cond_nconsts + self.body_nconsts);
        let carried: Vec<usize> = (n_consts..n_consts + marks.len()).collect();
        let fixed = marked(&carried, marks, true);
        [(0..n_cond).collect(), fixed.clone(), (n_cond..n_consts).collect(), fixed, marked(&carried, marks, false)]
            .concat()
    }
}

/// The items whose mark is as wanted.
fn marked<T: Clone>(items: &[T], marks: &[bool], wanted: bool) -> Vec<T> {
    items.iter().zip(marks).filter(|(_, mark)| **mark == wanted).map(|(item, _)| item.clone()).collect()
}

/// As [`batch`], of a loop that changes all that it carries.
fn batch_changing(
    p: &While,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let batched: Vec<bool> = dims.iter().map(Option::is_some).collect();
    let [cond_batched, body_batched, carry_batched] = p.parts(&batched);
    let derive_body = |carry: &[bool]| batch_jaxpr(&p.body_jaxpr, batch, &[body_batched, carry].concat(), carry);
    // A condition that has axes of an inner batch must have those of this one too, in front.
    let has_axes = p.cond_jaxpr.out_avals()[0].rank() > 0;
    let derive_cond = |carry: &[bool]| batch_jaxpr(&p.cond_jaxpr, batch, &[cond_batched, carry].concat(), &[has_axes]);
    let carry = fixpoint(carry_batched.to_vec(), |carry| {
        // A condition with the batch axis makes every example stop on its own, so everything carried has the axis.
        let all = derive_cond(carry)?.batched_out[0];
        Ok(derive_body(carry)?.batched_out.iter().map(|&batched| batched || all).collect())
    })?;
    let (cond, body) = (derive_cond(&carry)?, derive_body(&carry)?);
    let n_consts = p.cond_nconsts + p.body_nconsts;
    let mut operands = vec![];
    for (i, (val, &dim)) in ins.iter().zip(dims).enumerate() {
        let needs_axis = dim.is_some() || i >= n_consts && carry[i - n_consts];
        operands.push(if needs_axis { batch_to_front(e, val, dim, batch.size)? } else { val.clone() });
    }
    let new = While { cond_jaxpr: cond.jaxpr, body_jaxpr: body.jaxpr, ..p.clone() };
    let outs = new.bind(e, &operands)?;
    Ok((outs, carry.iter().map(|&batched| batched.then_some(0)).collect()))
}

/// Checks that a condition gives one boolean.
///
/// # Errors
/// A `Type` error otherwise.
pub fn check_condition(cond: &JaxprRef) -> Result<()> {
    match cond.out_avals()[..] {
        [aval] if aval.rank() == 0 && aval.dtype == DType::Bool => Ok(()),
        _ => bail!(Type, "cond_fun must return a boolean scalar, but got output type(s) {:?}.", cond.out_avals()),
    }
}
