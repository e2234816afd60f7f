//! Products of arrays: sums of products, of which those with a dead factor are none.
//!
//! The plain product is right wherever the other operand is finite, so only when it is not everywhere are the sums over
//! living elements made apart: without the other's infinities where no living element meets one.

use pullback_base::{Aval, Result};
use pullback_ir::{Builder, Emit, JaxprRef, Params, PrimRef, Val};

use super::rules::{unmarked, with_zeros};
use super::{Marked, Marks};
use crate::control::{COND, Cond};
use crate::prims::{DotGeneral, V};
use crate::transforms::Cache;

/// `dot_general` that is linear in one operand.
pub(super) fn dot(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Marked> {
    let Some((side, dead)) = one_dead_side(ins) else { return Ok(unmarked(e, prim, params, ins)?.swap_remove(0)) };
    let contract = &params.get::<DotGeneral>().expect("params of a product").dimension_numbers.contract[side];
    let value = match contract.iter().all(|&axis| dead.aval().shape[axis] == 1) {
        // Rows are dead as a whole or not at all, so living elements meet all of the other operand.
        true => e.bind(prim, params, &[ins[0].0.clone(), ins[1].0.clone()])?.swap_remove(0),
        false => guarded(e, prim, params, ins, side, dead)?,
    };
    let whole = dead_rows(e, params, ins, side, dead, &value.aval())?;
    let value = with_zeros(&V::new(e, &value), &V::new(e, &whole)).done()?;
    Ok((value, Some(Marks { dead: Some(whole), edge: None })))
}

/// A convolution that is linear in one operand. Its result has no marks.
pub(super) fn convolution(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Marked> {
    let Some((side, dead)) = one_dead_side(ins) else { return Ok(unmarked(e, prim, params, ins)?.swap_remove(0)) };
    Ok((guarded(e, prim, params, ins, side, dead)?, Some(Marks::default())))
}

/// The linear operand with dead elements beside a plain one.
fn one_dead_side(ins: &[Marked]) -> Option<(usize, &Val)> {
    let side = ins.iter().position(|(_, marks)| marks.is_some())?;
    let other_is_plain = ins[1 - side].1.is_none() && ins[1 - side].0.aval().dtype.is_float();
    let dead = ins[side].1.as_ref()?.dead.as_ref()?;
    (other_is_plain && ins[side].0.aval().dtype.is_float()).then_some((side, dead))
}

/// Results all of whose products have a dead factor: dead over the contracted axes, the same along the other's free ones.
fn dead_rows(e: &dyn Emit, params: &Params, ins: &[Marked], side: usize, dead: &Val, out: &Aval) -> Result<Val> {
    let dims = &params.get::<DotGeneral>().expect("params of a product").dimension_numbers;
    let (contract, batch) = (&dims.contract[side], &dims.batch[side]);
    let rank = ins[side].0.aval().rank();
    let kept: Vec<usize> = (0..rank).filter(|axis| !contract.contains(axis)).collect();
    let reduced = V::new(e, dead).reduce_and(contract);
    let n_free = kept.len() - batch.len();
    let first_free = if side == 0 { batch.len() } else { out.rank() - n_free };
    let mut next_free = first_free..;
    let place = |axis: &usize| match batch.iter().position(|other| other == axis) {
        Some(at) => at,
        None => next_free.next().expect("an endless range"),
    };
    let places: Vec<usize> = kept.iter().map(place).collect();
    // Batch axes may stand in another order than in the operand.
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&i| places[i]);
    let sizes = reduced.aval().shape.to_vec();
    let mut shape = vec![1; out.rank()];
    order.iter().for_each(|&i| shape[places[i]] = sizes[i]);
    reduced.transpose(&order).reshape(&shape).done()
}

/// The product; where the other operand is not finite, without what only dead elements meet.
fn guarded(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked], side: usize, dead: &Val) -> Result<Val> {
    let operands = [ins[0].0.clone(), ins[1].0.clone()];
    let avals = [operands[0].aval(), operands[1].aval()];
    let other = V::new(e, &operands[1 - side]);
    let axes: Vec<usize> = (0..avals[1 - side].rank()).collect();
    let is_finite = other.is_finite().reduce_and(&axes).convert(pullback_base::DType::I32).done()?;
    let branches = branches(prim, params, avals, side)?;
    let dead = V::new(e, dead).broadcast_to(&avals[side].shape).done()?;
    let ins = [is_finite, operands[0].clone(), operands[1].clone(), dead];
    Ok(e.bind(COND, &Params::new(Cond::new(branches)), &ins)?.swap_remove(0))
}

/// The product over living elements, and the plain one.
fn branches(prim: PrimRef, params: &Params, avals: [Aval; 2], side: usize) -> Result<Vec<JaxprRef>> {
    type Key = (PrimRef, Params, [Aval; 2], usize);
    static CACHE: Cache<Key, Vec<JaxprRef>> = Cache::new();
    let make = |is_plain: bool| -> Result<JaxprRef> {
        let b = Builder::new();
        let mut args: Vec<Val> = avals.iter().map(|&aval| b.input(aval)).collect();
        args.push(b.input(avals[side].with_dtype(pullback_base::DType::Bool)));
        let out = if is_plain { plain(&b, prim, params, &args) } else { over_living(&b, prim, params, &args, side) };
        Ok(JaxprRef::new(b.finish(&[out?], None).0))
    };
    CACHE.get_or_make((prim, params.clone(), avals, side), || Ok(vec![make(false)?, make(true)?]))
}

fn plain(e: &dyn Emit, prim: PrimRef, params: &Params, args: &[Val]) -> Result<Val> {
    Ok(e.bind(prim, params, &args[..2])?.swap_remove(0))
}

fn over_living(e: &dyn Emit, prim: PrimRef, params: &Params, args: &[Val], side: usize) -> Result<Val> {
    let other = V::new(e, &args[1 - side]);
    let product = |own: &V<'_>, other: &V<'_>| -> Result<Val> {
        let mut ins = [own.clone().done()?, other.clone().done()?];
        if side == 1 {
            ins.swap(0, 1);
        }
        plain(e, prim, params, &ins)
    };
    let own = V::new(e, &args[side]);
    let is_bad = other.is_finite().not();
    let without_bad = V::new(e, &product(&own, &with_zeros(&other, &is_bad))?);
    let alive = V::new(e, &args[2]).not().convert(own.aval().dtype);
    let meets = V::new(e, &product(&alive, &is_bad.convert(other.aval().dtype))?);
    let whole = V::new(e, &plain(e, prim, params, args)?);
    meets.ne(&meets.number(0.0)).select(&without_bad, &whole).done()
}
