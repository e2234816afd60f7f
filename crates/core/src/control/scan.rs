//! A loop over the first axis of arrays with values carried from step to step.
//!
//! scan : consts carry xs[length, ...] -> carry ys[length, ...]
//! The body takes consts, carry and one slice of each x, and gives the next carry and one slice of each y.

use pullback_base::sharding::spec_text;
use pullback_base::{Aval, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Atom, Avals, Batch, BatchDims, Batching, Builder, Derivative, Effects, Emit, Hlo, Jaxpr, JaxprRef, Operand, Params,
    Prim, PrimRef, Sample, Split, SplitJaxpr, Splits, Tangents, Transpose, Val, Vals, eval_jaxpr,
};

use smallvec::smallvec;

use super::jit::check_call;
use super::shapes::{ScanIns, ScanOuts};
use crate::prims::{V, add_any, batch_to_front, instantiate};
use crate::transforms::{batch_jaxpr, dce_inner_jaxpr, jvp_jaxpr_strong, split_jaxpr_forced, transpose_jaxpr};

/// Params of `scan`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Scan {
    /// The body.
    pub jaxpr: JaxprRef,
    /// Number of steps.
    pub length: usize,
    /// Whether the steps go from the last slice to the first.
    pub reverse: bool,
    /// Steps that the user wants unrolled together; a hint.
    pub unroll: usize,
    /// Groups of the operands.
    pub ft_in: ScanIns,
    /// Groups of the results.
    pub ft_out: ScanOuts,
}

impl Scan {
    /// A scan of `body`, whose operands are `n_consts` consts, `n_carry` carried values and slices.
    pub fn new(body: JaxprRef, length: usize, reverse: bool, n_consts: usize, n_carry: usize) -> Scan {
        let n_xs = body.invars.len() - n_consts - n_carry;
        let n_ys = body.outs.len() - n_carry;
        let (ft_in, ft_out) = (ScanIns { n_consts, n_carry, n_xs }, ScanOuts { n_carry, n_ys });
        Scan { jaxpr: body, length, reverse, unroll: 1, ft_in, ft_out }
    }

    fn with_body(&self, body: JaxprRef, n_consts: usize, n_carry: usize) -> Scan {
        Scan { unroll: self.unroll, ..Scan::new(body, self.length, self.reverse, n_consts, n_carry) }
    }

    fn bind(self, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
        e.bind(SCAN, &Params::new(self), ins)
    }

    /// Splits what comes in the order of the operands into consts, carry and xs.
    fn parts<'a, T>(&self, ins: &'a [T]) -> [&'a [T]; 3] {
        let (consts, rest) = ins.split_at(self.ft_in.n_consts);
        let (carry, xs) = rest.split_at(self.ft_in.n_carry);
        [consts, carry, xs]
    }

    /// Splits what comes in the order of the results into carry and ys.
    fn out_parts<'a, T>(&self, outs: &'a [T]) -> [&'a [T]; 2] {
        let (carry, ys) = outs.split_at(self.ft_out.n_carry);
        [carry, ys]
    }

    /// The least set of carried values that contains `start` and is closed under `step`.
    fn carry_fixpoint(&self, start: &[bool], mut step: impl FnMut(&[bool]) -> Result<Vec<bool>>) -> Result<Vec<bool>> {
        let mut carry = start.to_vec();
        loop {
            let next: Vec<bool> = step(&carry)?.iter().zip(&carry).map(|(new, old)| *new || *old).collect();
            if next == carry {
                return Ok(carry);
            }
            carry = next;
        }
    }

    /// `marks` over the operands with those of the carry replaced.
    fn with_carry(&self, marks: &[bool], carry: &[bool]) -> Vec<bool> {
        let [consts, _, xs] = self.parts(marks);
        [consts, carry, xs].concat()
    }

    /// `carry` over the results, with `false` for the ys.
    fn forced(&self, carry: &[bool]) -> Vec<bool> {
        [carry, &vec![false; self.ft_out.n_ys]].concat()
    }
}

struct ScanPrim;

/// The primitive `scan`.
pub static SCAN: PrimRef = PrimRef(&ScanPrim);

fn slice_aval(x: Aval, length: usize) -> Result<Aval> {
    match x.shape.first() {
        Some(_) if !x.entry(0).is_empty() => {
            bail!(Value, "0th dimension of all xs should be replicated. Got {}", spec_text(&x.entries()))
        }
        Some(&first) if first == length => Ok(x.without_axis(0)),
        _ => bail!(Value, "scan of length {length} got an array of type {} to scan over", x.long()),
    }
}

fn stacked(y: Aval, length: usize) -> Aval {
    y.with_axis(0, length, None)
}

impl Prim for ScanPrim {
    type Params = Scan;
    const NAME: &'static str = "scan";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Scan, ins: &[Aval]) -> Result<Avals> {
        let [consts, carry, xs] = p.parts(ins);
        let slices: Result<Vec<Aval>> = xs.iter().map(|&x| slice_aval(x, p.length)).collect();
        check_call("scan", &p.jaxpr, &[consts, carry, &slices?].concat())?;
        let outs = p.jaxpr.out_avals();
        let [carry_out, ys] = p.out_parts(&outs);
        let keeps = |(a, b): (&Aval, &Aval)| a.shape == b.shape && a.dtype == b.dtype;
        if !carry.iter().zip(carry_out).all(keeps) {
            bail!(Type, "scan carry goes in as {carry:?} and out as {carry_out:?}; the types must be equal");
        }
        Ok(carry_out.iter().copied().chain(ys.iter().map(|&y| stacked(y, p.length))).collect())
    }

    fn derivative(&self) -> Derivative<Scan> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<Scan> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Scan> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<Scan> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Scan, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let ScanIns { n_consts, n_carry, .. } = p.ft_in;
        let (body, length, reverse) = (p.jaxpr.clone(), p.length, p.reverse);
        CpuForm::Control(Control::Scan { body, n_consts, n_carry, length, reverse })
    }

    fn hlo(&self) -> Hlo<Scan> {
        Hlo::Rule(scan_hlo)
    }

    // Covered by the tests of control flow: there is no sample without a traced body.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn effects(&self, p: &Scan) -> Effects {
        p.jaxpr.effects()
    }

    fn split(&self, p: &Scan, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        split_scan(p, split, ins).map(Some)
    }

    fn drop_unused(&self, p: &Scan, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        Some(drop_unused(p, used))
    }
}

fn jvp(p: &Scan, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let nonzero: Vec<bool> = ts.iter().map(Option::is_some).collect();
    let n_carry = p.ft_in.n_carry;
    // A carry that comes in weakly typed and goes out strongly has strong tangents from the start.
    let (in_avals, out_avals) = (p.jaxpr.in_avals(), p.jaxpr.out_avals());
    let becomes_strong = |i: usize| {
        let carried = i.checked_sub(p.ft_in.n_consts).filter(|&i| i < n_carry);
        carried.is_some_and(|carried| in_avals[i].weak_type && !out_avals[carried].weak_type)
    };
    let strong: Vec<bool> = (0..xs.len()).map(|i| nonzero[i] && becomes_strong(i)).collect();
    let derive = |carry: &[bool]| jvp_jaxpr_strong(&p.jaxpr, &p.with_carry(&nonzero, carry), &p.forced(carry), &strong);
    let carry = p.carry_fixpoint(p.parts(&nonzero)[1], |carry| Ok(derive(carry)?.nonzero_out[..n_carry].to_vec()))?;
    let derived = derive(&carry)?;
    let nonzero = p.with_carry(&nonzero, &carry);
    let tangent = |i: usize| instantiate(e, xs[i].aval(), ts[i].clone());

    // Tangents go next to their primals: consts, const tangents, carry, carry tangents, xs, x tangents.
    let marked: Vec<usize> = (0..xs.len()).filter(|&i| nonzero[i]).collect();
    let (mut order, mut operands, mut sizes) = (vec![], vec![], vec![]);
    let mut start = 0;
    for part in p.parts(xs) {
        let here = start..start + part.len();
        order.extend(here.clone());
        operands.extend(part.iter().cloned());
        for (k, &i) in marked.iter().enumerate().filter(|(_, i)| here.contains(i)) {
            order.push(xs.len() + k);
            operands.push(tangent(i)?);
        }
        sizes.push(order.len());
        start = here.end;
    }
    let out_marked: Vec<usize> = (0..derived.nonzero_out.len()).filter(|&i| derived.nonzero_out[i]).collect();
    let n_outs = p.jaxpr.outs.len();
    let tangents_of = |carry: bool| {
        let positions = out_marked.iter().enumerate().filter(move |(_, i)| (**i < n_carry) == carry);
        positions.map(|(k, _)| n_outs + k).collect::<Vec<_>>()
    };
    let out_order =
        [(0..n_carry).collect(), tangents_of(true), (n_carry..n_outs).collect(), tangents_of(false)].concat();
    let body = JaxprRef::interned(derived.jaxpr.reordered(&order, &out_order));
    let outs = p.with_body(body, sizes[0], sizes[1] - sizes[0]).bind(e, &operands)?;
    let mut by_position = vec![None; out_order.len()];
    for (&position, out) in out_order.iter().zip(outs) {
        by_position[position] = Some(out);
    }
    let mut by_position = by_position.into_iter().map(|out| out.expect("every position is in the order"));
    let primals: Vals = by_position.by_ref().take(n_outs).collect();
    let tangents = derived.nonzero_out.iter().map(|&nonzero| if nonzero { by_position.next() } else { None }).collect();
    Ok((primals, tangents))
}

/// Where a residual of the body comes from.
enum Residual {
    /// The same in every step.
    Invariant(Val),
    /// One slice of something that is there already.
    Sliced(Val),
    /// Made by the known loop: result number.
    Stacked(usize),
}

fn split_scan(p: &Scan, split: &dyn Split, ins: &[Val]) -> Result<Vals> {
    let unknown: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
    let n_carry = p.ft_in.n_carry;
    let divide = |carry: &[bool]| split_jaxpr_forced(&p.jaxpr, &p.with_carry(&unknown, carry), &p.forced(carry));
    let carry = p.carry_fixpoint(p.parts(&unknown)[1], |carry| Ok(divide(carry)?.unknown_out[..n_carry].to_vec()))?;
    let parts = divide(&carry)?;
    let unknown = p.with_carry(&unknown, &carry);
    let [const_unknown, _, _] = p.parts(&unknown);

    // The known loop makes the known results, and the residuals that differ from step to step.
    let known_ins: Vec<Val> =
        ins.iter().zip(&unknown).filter(|(_, unknown)| !**unknown).map(|(val, _)| val.clone()).collect();
    let n_known_consts = const_unknown.iter().filter(|unknown| !**unknown).count();
    let n_known_carry = carry.iter().filter(|unknown| !**unknown).count();
    let residuals = place_residuals(p, &parts, &known_ins, n_known_consts, n_known_carry);
    let n_known_outs = parts.unknown_out.iter().filter(|unknown| !**unknown).count();
    let mut keep: Vec<usize> = (0..n_known_outs).collect();
    keep.extend(residuals.iter().filter_map(|residual| match residual {
        Residual::Stacked(position) => Some(*position),
        Residual::Invariant(_) | Residual::Sliced(_) => None,
    }));
    let all_ins: Vec<usize> = (0..parts.known.invars.len()).collect();
    let known_body = JaxprRef::interned(parts.known.reordered(&all_ins, &keep));
    let known_outs = p.with_body(known_body, n_known_consts, n_known_carry).bind(split.known(), &known_ins)?;

    // The unknown loop takes residuals as consts or slices.
    let (mut const_order, mut const_vals, mut x_order, mut x_vals) = (vec![], vec![], vec![], vec![]);
    let mut stacked = known_outs[n_known_outs..].iter();
    for (i, residual) in residuals.into_iter().enumerate() {
        match residual {
            Residual::Invariant(val) => {
                const_order.push(i);
                const_vals.push(val);
            }
            Residual::Sliced(val) => {
                x_order.push(i);
                x_vals.push(val);
            }
            Residual::Stacked(_) => {
                x_order.push(i);
                x_vals.push(stacked.next().expect("one stack for each residual").clone());
            }
        }
    }
    let unknown_ins: Vec<Val> =
        ins.iter().zip(&unknown).filter(|(_, unknown)| **unknown).map(|(val, _)| val.clone()).collect();
    let (n_consts, n_carried) = (const_unknown.len() - n_known_consts, n_carry - n_known_carry);
    let first = parts.n_residuals;
    let positions = |from: usize, to: usize| (first + from..first + to).collect::<Vec<usize>>();
    let order = [
        const_order,
        positions(0, n_consts),
        positions(n_consts, n_consts + n_carried),
        x_order,
        positions(n_consts + n_carried, unknown_ins.len()),
    ]
    .concat();
    let n_unknown_consts = const_vals.len() + n_consts;
    let operands =
        [&const_vals, &unknown_ins[..n_consts + n_carried], &x_vals, &unknown_ins[n_consts + n_carried..]].concat();
    let all_outs: Vec<usize> = (0..parts.unknown.outs.len()).collect();
    let body = JaxprRef::interned(parts.unknown.reordered(&order, &all_outs));
    let unknown_outs = p.with_body(body, n_unknown_consts, n_carried).bind(split.unknown(), &operands)?;
    let (mut known_outs, mut unknown_outs) = (known_outs.into_iter(), unknown_outs.into_iter());
    let merge = |unknown: &bool| if *unknown { unknown_outs.next() } else { known_outs.next() };
    Ok(parts.unknown_out.iter().map(merge).map(|out| out.expect("as many results as marks")).collect())
}

fn place_residuals(p: &Scan, parts: &SplitJaxpr, known_ins: &[Val], n_consts: usize, n_carry: usize) -> Vec<Residual> {
    let known = &parts.known;
    let n_outs = known.outs.len() - parts.n_residuals;
    let place = |position: usize| {
        let var = match known.outs[position] {
            Atom::Literal(scalar) => return Residual::Invariant(Val::Literal(scalar)),
            Atom::Var(var) => var,
        };
        if let Some(at) = known.constvars.iter().position(|&other| other == var) {
            return Residual::Invariant(Val::Array(known.consts[at].clone()));
        }
        match known.invars.iter().position(|&other| other == var) {
            Some(at) if at < n_consts => Residual::Invariant(known_ins[at].clone()),
            Some(at) if at >= n_consts + n_carry => Residual::Sliced(known_ins[at].clone()),
            _ => Residual::Stacked(position),
        }
    };
    debug_assert!(p.length == 0 || known.invars.len() == known_ins.len());
    (n_outs..known.outs.len()).map(place).collect()
}

fn transpose(p: &Scan, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let [consts, carry, xs] = p.parts(ins);
    let is_linear = |operands: &[Operand]| operands.iter().map(Operand::is_linear).collect::<Vec<bool>>();
    let (const_linear, x_linear) = (is_linear(consts), is_linear(xs));
    let linear = [&const_linear[..], &vec![true; carry.len()], &x_linear].concat();
    let [carry_cts, y_cts] = p.out_parts(cts);
    let nonzero_ct: Vec<bool> = [vec![true; carry.len()], y_cts.iter().map(Option::is_some).collect()].concat();
    let transposed = transpose_jaxpr(&p.jaxpr, &linear, &nonzero_ct, true)?;

    let avals = p.jaxpr.in_avals();
    let pick = |from: usize, marks: &[bool], want: bool| -> Vec<Aval> {
        marks.iter().enumerate().filter(|(_, mark)| **mark == want).map(|(i, _)| avals[from + i]).collect()
    };
    let first_x = consts.len() + carry.len();
    let y_avals: Vec<Aval> = p.jaxpr.out_avals()[carry.len()..].to_vec();
    let shapes = BodyAvals {
        known_consts: pick(0, &const_linear, false),
        const_cts: pick(0, &const_linear, true),
        carry_cts: avals[consts.len()..first_x].to_vec(),
        known_xs: pick(first_x, &x_linear, false),
        y_cts: y_avals.iter().zip(y_cts).filter(|(_, ct)| ct.is_some()).map(|(aval, _)| *aval).collect(),
    };
    let body = transposed_body(&shapes, &transposed.jaxpr)?;

    let known = |operands: &[Operand]| operands.iter().filter_map(|x| x.known().cloned()).collect::<Vec<Val>>();
    let mut operands = known(consts);
    let n_known_consts = operands.len();
    for &aval in &shapes.const_cts {
        operands.push(instantiate(e, aval, None)?);
    }
    for (ct, &aval) in carry_cts.iter().zip(&shapes.carry_cts) {
        operands.push(instantiate(e, aval, ct.clone())?);
    }
    operands.extend(known(xs));
    operands.extend(y_cts.iter().flatten().cloned());
    let n_carry = shapes.const_cts.len() + carry.len();
    let mut scan = p.with_body(body, n_known_consts, n_carry);
    scan.reverse = !p.reverse;
    let mut outs = scan.bind(e, &operands)?.into_iter();
    let mut next = |linear: &bool| if *linear { outs.next() } else { None };
    let const_cts: Vec<Option<Val>> = const_linear.iter().map(&mut next).collect();
    let carry_cts: Vec<Option<Val>> = carry.iter().map(|_| next(&true)).collect();
    let carry_cts = carry_cts.into_iter().zip(carry).map(|(ct, x)| if x.is_linear() { ct } else { None });
    let x_cts: Vec<Option<Val>> = x_linear.iter().map(next).collect();
    Ok(const_cts.into_iter().chain(carry_cts).chain(x_cts).collect())
}

/// Avals of one step of the transposed loop.
struct BodyAvals {
    known_consts: Vec<Aval>,
    const_cts: Vec<Aval>,
    carry_cts: Vec<Aval>,
    known_xs: Vec<Aval>,
    y_cts: Vec<Aval>,
}

/// One step backward: cotangents of consts gather in the carry, cotangents of the carry are replaced.
fn transposed_body(avals: &BodyAvals, step: &JaxprRef) -> Result<JaxprRef> {
    let builder = Builder::new();
    let inputs = |avals: &[Aval]| avals.iter().map(|&aval| builder.input(aval)).collect::<Vec<Val>>();
    let known_consts = inputs(&avals.known_consts);
    let const_cts = inputs(&avals.const_cts);
    let carry_cts = inputs(&avals.carry_cts);
    let known_xs = inputs(&avals.known_xs);
    let y_cts = inputs(&avals.y_cts);
    let mut outs = eval_jaxpr(&builder, step, &[known_consts, known_xs, carry_cts, y_cts].concat())?;
    for (out, gathered) in outs.iter_mut().zip(const_cts) {
        *out = add_any(&builder, Some(gathered), Some(out.clone()))?.expect("a sum of two values");
    }
    Ok(JaxprRef::interned(builder.finish(&outs, None).0))
}

fn batch(p: &Scan, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let batched: Vec<bool> = dims.iter().map(Option::is_some).collect();
    let n_carry = p.ft_in.n_carry;
    let derive = |carry: &[bool]| batch_jaxpr(&p.jaxpr, batch, &p.with_carry(&batched, carry), &p.forced(carry));
    let carry = p.carry_fixpoint(p.parts(&batched)[1], |carry| Ok(derive(carry)?.batched_out[..n_carry].to_vec()))?;
    let derived = derive(&carry)?;
    let [consts, _, _] = p.parts(&batched);
    let mut operands = vec![];
    for (i, (val, &dim)) in ins.iter().zip(dims).enumerate() {
        let is_carried = i >= consts.len() && i < consts.len() + n_carry;
        operands.push(if is_carried && carry[i - consts.len()] {
            batch_to_front(e, val, dim, batch.size)?
        } else {
            // A slice of a batched x has the batch axis in front, so x has it second.
            let is_x = i >= consts.len() + n_carry;
            dim.map_or(Ok(val.clone()), |dim| V::new(e, val).move_axis(dim, usize::from(is_x)).done())?
        });
    }
    let outs = p.with_body(derived.jaxpr, p.ft_in.n_consts, n_carry).bind(e, &operands)?;
    let out_dims = derived.batched_out.iter().enumerate();
    Ok((outs, out_dims.map(|(i, &batched)| batched.then_some(usize::from(i >= n_carry))).collect()))
}

fn drop_unused(p: &Scan, used: &[bool]) -> (Params, Vec<bool>, Vec<bool>) {
    let n_consts = p.ft_in.n_consts;
    let [used_carry, used_ys] = p.out_parts(used);
    let mut carry = used_carry.to_vec();
    loop {
        let wanted = [&carry[..], used_ys].concat();
        // A carried value that is wanted goes in even if no step reads it.
        let keep = p.with_carry(&vec![false; p.jaxpr.invars.len()], &carry);
        let pruned = dce_inner_jaxpr(&p.jaxpr, &wanted, &keep);
        let read = &pruned.used_in[n_consts..n_consts + carry.len()];
        if read == carry {
            let n_kept_consts = pruned.used_in[..n_consts].iter().filter(|used| **used).count();
            let n_kept_carry = carry.iter().filter(|kept| **kept).count();
            let new = p.with_body(pruned.jaxpr, n_kept_consts, n_kept_carry);
            return (Params::new(new), pruned.used_in, wanted);
        }
        carry = read.to_vec();
    }
}

/// The jaxpr with further inputs at the end that it does not use.
pub(super) fn with_unused_inputs(jaxpr: &Jaxpr, avals: &[Aval]) -> JaxprRef {
    let mut wider = jaxpr.clone();
    for &aval in avals {
        wider.vars.push(aval);
        wider.invars.push(pullback_ir::VarId(wider.vars.len() as u32 - 1));
    }
    JaxprRef::interned(wider)
}

/// A loop that carries the step, the operands, and the ys as far as they are made.
fn scan_hlo(p: &Scan, cx: &mut dyn HloCx, ins: &[HloValue], outs: &[Aval]) -> Result<HloValues> {
    let [_, y_avals] = p.out_parts(outs);
    let ys: HloValues = y_avals.iter().map(|y| cx.full(Scalar::zero(y.dtype), &y.shape)).collect();
    if p.length == 0 {
        return Ok(p.parts(ins)[1].iter().copied().chain(ys).collect());
    }
    let step = |number: usize| Scalar::i32(number as i32);
    let start = cx.constant(step(0));
    let inits: HloValues = std::iter::once(start).chain(ins.iter().copied()).chain(ys).collect();
    let n_ins = ins.len();
    let state = cx.while_loop(
        Some(p.length),
        &inits,
        &mut |cx, state| {
            let end = cx.constant(step(p.length));
            Ok(smallvec![cx.compare("LT", state[0], end)])
        },
        &mut |cx, state| {
            let (ins, ys) = state[1..].split_at(n_ins);
            let [consts, carry, xs] = p.parts(ins);
            let position = position_hlo(p, cx, state[0]);
            let slices: Vec<HloValue> = xs.iter().map(|&x| slice_hlo(cx, x, position)).collect();
            let results = cx.inline(&p.jaxpr, &[consts, carry, &slices].concat())?;
            let [next, new] = p.out_parts(&results);
            let one = cx.constant(step(1));
            let ys: Vec<HloValue> = ys.iter().zip(new).map(|(&ys, &y)| update_hlo(cx, ys, y, position)).collect();
            let next_step = cx.binary("stablehlo.add", state[0], one);
            Ok([&[next_step], consts, next, xs, &ys].concat().into())
        },
    )?;
    let carry = &state[1 + p.ft_in.n_consts..][..p.ft_in.n_carry];
    Ok(carry.iter().chain(&state[1 + n_ins..]).copied().collect())
}

/// The position in the arrays of a step.
fn position_hlo(p: &Scan, cx: &mut dyn HloCx, step: HloValue) -> HloValue {
    if !p.reverse {
        return step;
    }
    let last = cx.constant(Scalar::i32(p.length as i32 - 1));
    cx.binary("stablehlo.subtract", last, step)
}

fn starts_hlo(cx: &mut dyn HloCx, position: HloValue, rank: usize) -> Vec<HloValue> {
    let mut starts = vec![position];
    starts.extend((1..rank).map(|_| cx.constant(Scalar::i32(0))));
    starts
}

fn slice_hlo(cx: &mut dyn HloCx, x: HloValue, position: HloValue) -> HloValue {
    let mut sizes = x.aval.shape.clone();
    sizes[0] = 1;
    let mut operands = vec![x];
    operands.extend(starts_hlo(cx, position, sizes.len()));
    let attributes = format!("sizes = {:?}", &sizes[..]);
    let slab = cx.one("stablehlo.dynamic_slice", &attributes, &operands, x.aval.with_shape(&sizes));
    cx.reshape(slab, &sizes[1..])
}

fn update_hlo(cx: &mut dyn HloCx, ys: HloValue, y: HloValue, position: HloValue) -> HloValue {
    let mut sizes = ys.aval.shape.clone();
    sizes[0] = 1;
    let slab = cx.reshape(y, &sizes);
    let mut operands = vec![ys, slab];
    operands.extend(starts_hlo(cx, position, sizes.len()));
    cx.one("stablehlo.dynamic_update_slice", "", &operands, ys.aval)
}
