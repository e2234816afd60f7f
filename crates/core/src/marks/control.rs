//! Marks through calls, branches and loops: the jaxprs inside get the marks of their operands as further inputs, and give
//! those of their results as further results.

use std::sync::Arc;

use pullback_base::{DType, Result};
use pullback_ir::{Builder, Emit, Jaxpr, JaxprRef, Params, PrimRef, Val, VarId, eval_jaxpr};

use super::rules::{dead_plane, everywhere};
use super::{MarkEmit, Marked, Marks};
use crate::control::{CHECKPOINT, COND, Checkpoint, Cond, JIT, Jit, SCAN, Scan, WHILE, While};
use crate::prims::V;
use crate::transforms::Cache;

/// Which marks a value has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kind {
    is_linear: bool,
    /// Along which axes, as bits, the plane of the dead has size 1.
    dead: Option<u32>,
    edge: bool,
}

const PLAIN: Kind = Kind { is_linear: false, dead: None, edge: false };

impl Kind {
    fn of((_, marks): &Marked) -> Kind {
        let Some(marks) = marks else { return PLAIN };
        let thin = |dead: &Val| {
            let shape = &dead.aval().data().shape;
            shape.iter().enumerate().take(32).filter(|(_, size)| **size == 1).map(|(axis, _)| 1 << axis).sum()
        };
        Kind { is_linear: true, dead: marks.dead.as_ref().map(thin), edge: marks.edge.is_some() }
    }

    fn n_marks(self) -> usize {
        usize::from(self.dead.is_some()) + usize::from(self.edge)
    }

    /// What has the marks of both, and is thin along an axis if both are. A linear value without marks is alive everywhere, which
    /// is as thin as one likes; where a plain one is zero is not.
    fn join(self, other: Kind) -> Kind {
        let thinness = |kind: Kind| if kind.is_linear { u32::MAX } else { 0 };
        let dead = match (self.dead, other.dead) {
            (None, None) => None,
            (own, others) => Some(own.unwrap_or(thinness(self)) & others.unwrap_or(u32::MAX)),
        };
        Kind { is_linear: self.is_linear || other.is_linear, dead, edge: self.edge || other.edge }
    }

    /// The kind of one slice of this value, and this kind with a plane that can be sliced.
    fn sliced(self) -> (Kind, Kind) {
        let of_slice = Kind { dead: self.dead.map(|thin| thin >> 1), ..self };
        (of_slice, Kind { dead: self.dead.map(|thin| thin & !1), ..self })
    }

    /// The shape of the plane of the dead.
    fn dead_shape(self, shape: &[usize]) -> Vec<usize> {
        let thin = self.dead.unwrap_or(0);
        shape
            .iter()
            .enumerate()
            .map(|(axis, &size)| if axis < 32 && thin >> axis & 1 == 1 { 1 } else { size })
            .collect()
    }
}

/// The results of a primitive that holds jaxprs; `None` for any other, and where what is not linear would have marks.
pub(super) fn apply(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Option<Vec<Marked>>> {
    match prim {
        _ if prim == JIT => call(e, params, ins).map(Some),
        _ if prim == CHECKPOINT => checkpoint(e, params, ins).map(Some),
        _ if prim == COND && ins[0].1.is_none() => branch(e, params, ins).map(Some),
        _ if prim == SCAN => scan(e, params, ins).map(Some),
        _ if prim == WHILE => repeat(e, params, ins),
        _ => Ok(None),
    }
}

/// A jaxpr over values and marks.
#[derive(Clone)]
struct MarkedJaxpr {
    /// From the inputs, then their marks in order, to the results, then their marks.
    jaxpr: JaxprRef,
    outs: Vec<Kind>,
}

/// The jaxpr for inputs of given kinds, whose results have at least the marks in `wanted`.
fn marked_jaxpr(jaxpr: &JaxprRef, ins: &[Kind], wanted: &[Kind]) -> Result<MarkedJaxpr> {
    static CACHE: Cache<(u64, Vec<Kind>, Vec<Kind>), MarkedJaxpr> = Cache::new();
    let key = (jaxpr.id(), ins.to_vec(), wanted.to_vec());
    CACHE.get_or_make(key, || make_marked(jaxpr, ins, wanted))
}

fn make_marked(jaxpr: &JaxprRef, ins: &[Kind], wanted: &[Kind]) -> Result<MarkedJaxpr> {
    let builder = Arc::new(Builder::new());
    let emit = MarkEmit::new(builder.clone());
    let values: Vec<Val> = jaxpr.in_avals().into_iter().map(|aval| builder.input(aval)).collect();
    let mut args = vec![];
    for (value, kind) in values.into_iter().zip(ins) {
        let whole = value.aval().weak(false).with_dtype(DType::Bool);
        let dead = kind.dead.map(|_| builder.input(whole.with_shape(&kind.dead_shape(&whole.shape))));
        let marks = Marks { dead, edge: kind.edge.then(|| builder.input(whole)) };
        args.push(emit.pack((value, kind.is_linear.then_some(marks))));
    }
    let (mut outs, mut planes, mut kinds) = (vec![], vec![], vec![]);
    for (out, &wanted) in eval_jaxpr(&emit, jaxpr, &args)?.iter().zip(wanted) {
        let out = emit.unpack(out);
        let kind = Kind::of(&out).join(wanted);
        planes.extend(planes_of(&*builder, &out, kind)?);
        kinds.push(kind);
        outs.push(out.0);
    }
    outs.extend(planes);
    Ok(MarkedJaxpr { jaxpr: JaxprRef::new(builder.finish(&outs, None).0), outs: kinds })
}

/// The marks of a value that its kind asks for.
fn planes_of(e: &dyn Emit, value: &Marked, kind: Kind) -> Result<Vec<Val>> {
    let shape = value.0.aval().shape.to_vec();
    let mut planes = vec![];
    if kind.dead.is_some() {
        planes.push(V::new(e, &dead_plane(e, value)?).broadcast_to(&kind.dead_shape(&shape)).done()?);
    }
    if kind.edge {
        let edge = value.1.as_ref().and_then(|marks| marks.edge.clone());
        planes.push(edge.map_or_else(|| everywhere(e, false, &shape), Ok)?);
    }
    Ok(planes)
}

/// Values, then marks.
fn flat(e: &dyn Emit, ins: &[Marked], kinds: &[Kind]) -> Result<Vec<Val>> {
    let mut all: Vec<Val> = ins.iter().map(|(value, _)| value.clone()).collect();
    for (value, &kind) in ins.iter().zip(kinds) {
        all.extend(planes_of(e, value, kind)?);
    }
    Ok(all)
}

/// Values with the marks that come after them.
fn gathered(outs: impl IntoIterator<Item = Val>, kinds: &[Kind]) -> Vec<Marked> {
    let mut outs: Vec<Val> = outs.into_iter().collect();
    let mut planes = outs.split_off(kinds.len()).into_iter();
    let mut next = |is: bool| if is { planes.next() } else { None };
    let marked = |(value, kind): (Val, &Kind)| {
        let marks = Marks { dead: next(kind.dead.is_some()), edge: next(kind.edge) };
        (value, kind.is_linear.then_some(marks))
    };
    outs.into_iter().zip(kinds).map(marked).collect()
}

fn kinds_of(ins: &[Marked]) -> Vec<Kind> {
    ins.iter().map(Kind::of).collect()
}

fn call(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let p = params.get::<Jit>().expect("params of a call");
    let kinds = kinds_of(ins);
    let made = marked_jaxpr(&p.jaxpr, &kinds, &vec![PLAIN; p.jaxpr.outs.len()])?;
    let new = Jit { inline: p.inline, keep_unused: p.keep_unused, ..Jit::new(p.name.clone(), made.jaxpr.clone()) };
    Ok(gathered(e.bind(JIT, &Params::new(new), &flat(e, ins, &kinds)?)?, &made.outs))
}

fn checkpoint(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let p = params.get::<Checkpoint>().expect("params of a checkpoint");
    let kinds = kinds_of(ins);
    let made = marked_jaxpr(&p.jaxpr, &kinds, &vec![PLAIN; p.jaxpr.outs.len()])?;
    let new = Checkpoint { jaxpr: made.jaxpr.clone(), ..p.clone() };
    Ok(gathered(e.bind(CHECKPOINT, &Params::new(new), &flat(e, ins, &kinds)?)?, &made.outs))
}

fn branch(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let p = params.get::<Cond>().expect("params of a choice");
    let kinds = kinds_of(&ins[1..]);
    let mut outs = vec![PLAIN; p.branches[0].outs.len()];
    loop {
        let before = outs.clone();
        for branch in &p.branches {
            outs = marked_jaxpr(branch, &kinds, &outs)?.outs;
        }
        if outs == before {
            break;
        }
    }
    let branches: Result<Vec<JaxprRef>> =
        p.branches.iter().map(|branch| Ok(marked_jaxpr(branch, &kinds, &outs)?.jaxpr)).collect();
    let mut all = vec![ins[0].0.clone()];
    all.extend(flat(e, &ins[1..], &kinds)?);
    Ok(gathered(e.bind(COND, &Params::new(Cond::new(branches?)), &all)?, &outs))
}

/// Positions of values and marks, group by group: each group's values, then its marks.
fn by_group(kinds: &[Kind], sizes: &[usize]) -> Vec<Vec<usize>> {
    let (mut next_value, mut next_mark) = (0, kinds.len());
    let mut groups = vec![];
    for &size in sizes {
        let group = next_value..next_value + size;
        let n_marks: usize = kinds[group.clone()].iter().map(|kind| kind.n_marks()).sum();
        groups.push(group.chain(next_mark..next_mark + n_marks).collect());
        next_value += size;
        next_mark += n_marks;
    }
    groups
}

/// The kinds of the carry that the body of a loop gives back as it takes them, and the body for them. `widen` puts kinds of
/// the carry among those of all inputs.
fn settled(body: &JaxprRef, carry: &[Kind], widen: impl Fn(&[Kind]) -> Vec<Kind>) -> Result<(Vec<Kind>, MarkedJaxpr)> {
    let mut carry = carry.to_vec();
    loop {
        let wanted: Vec<Kind> =
            carry.iter().copied().chain(std::iter::repeat_n(PLAIN, body.outs.len() - carry.len())).collect();
        let made = marked_jaxpr(body, &widen(&carry), &wanted)?;
        if made.outs[..carry.len()] == carry {
            return Ok((carry, made));
        }
        carry = made.outs[..carry.len()].to_vec();
    }
}

fn picked(vals: &[Val], order: &[usize]) -> Vec<Val> {
    order.iter().map(|&i| vals[i].clone()).collect()
}

/// Results by their positions in `order`.
fn restored(outs: impl IntoIterator<Item = Val>, order: &[usize]) -> Vec<Val> {
    let mut placed: Vec<(usize, Val)> = order.iter().copied().zip(outs).collect();
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(_, val)| val).collect()
}

fn scan(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let p = params.get::<Scan>().expect("params of a scan");
    let (n_consts, n_carry) = (p.ft_in.n_consts, p.ft_in.n_carry);
    let kinds = kinds_of(ins);
    let (slices, stacks): (Vec<Kind>, Vec<Kind>) = kinds[n_consts + n_carry..].iter().map(|kind| kind.sliced()).unzip();
    let widen = |carry: &[Kind]| [&kinds[..n_consts], carry, &slices].concat();
    let (carry, made) = settled(&p.jaxpr, &kinds[n_consts..n_consts + n_carry], widen)?;
    let kinds = [&kinds[..n_consts], &carry, &stacks].concat();
    let groups = by_group(&kinds, &[n_consts, n_carry, p.ft_in.n_xs]);
    let out_order = by_group(&made.outs, &[n_carry, p.ft_out.n_ys]).concat();
    let body = JaxprRef::new(made.jaxpr.reordered(&groups.concat(), &out_order));
    let new = Scan::new(body, p.length, p.reverse, groups[0].len(), groups[1].len());
    let new = Scan { unroll: p.unroll, ..new };
    let operands = picked(&flat(e, ins, &kinds)?, &groups.concat());
    let outs = e.bind(SCAN, &Params::new(new), &operands)?;
    Ok(gathered(restored(outs, &out_order), &made.outs))
}

/// A `while` loop with tangents in its carry. Its condition sees no marks; one that depends on a linear const is left alone.
fn repeat(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Option<Vec<Marked>>> {
    let p = params.get::<While>().expect("params of a loop");
    let (cond_consts, rest) = ins.split_at(p.cond_nconsts);
    if cond_consts.iter().any(|(_, marks)| marks.is_some()) {
        return Ok(None);
    }
    let kinds = kinds_of(rest);
    let n_consts = p.body_nconsts;
    let widen = |carry: &[Kind]| [&kinds[..n_consts], carry].concat();
    let (carry, made) = settled(&p.body_jaxpr, &kinds[n_consts..], widen)?;
    let kinds = widen(&carry);
    let groups = by_group(&kinds, &[n_consts, carry.len()]);
    let out_order: Vec<usize> = (0..made.jaxpr.outs.len()).collect();
    let body_jaxpr = JaxprRef::new(made.jaxpr.reordered(&groups.concat(), &out_order));
    let all = flat(e, rest, &kinds)?;
    let marks = all[rest.len()..].iter().skip(groups[0].len() - n_consts).map(Val::aval);
    let cond_jaxpr = with_inputs(&p.cond_jaxpr, marks);
    let new = While { cond_jaxpr, cond_nconsts: p.cond_nconsts, body_jaxpr, body_nconsts: groups[0].len() };
    let mut operands: Vec<Val> = cond_consts.iter().map(|(value, _)| value.clone()).collect();
    operands.extend(picked(&all, &groups.concat()));
    Ok(Some(gathered(e.bind(WHILE, &Params::new(new), &operands)?, &made.outs)))
}

/// The jaxpr with further inputs that it does not look at.
fn with_inputs(jaxpr: &JaxprRef, avals: impl Iterator<Item = pullback_base::Aval>) -> JaxprRef {
    let mut wider = Jaxpr::clone(jaxpr);
    for aval in avals {
        wider.vars.push(aval);
        wider.invars.push(VarId(wider.vars.len() as u32 - 1));
    }
    JaxprRef::new(wider)
}
