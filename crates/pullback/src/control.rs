//! Control flow that is traced once and runs as a native loop.

use std::panic::Location;

use pullback_base::{Aval, DType, Error, Result, Span, bail};
use pullback_core::control::{COND, Cond, SCAN, Scan, WHILE, While, check_condition};
use pullback_ir::{Params, Val};
use pullback_trace::{Traced, trace_to_jaxpr, unify_captures};

use crate::array::{Array, caught};
use crate::tree::{Tree, leaves_of, structure_of};

fn vals(tree: &impl Tree) -> Result<Vec<Val>> {
    leaves_of(tree).iter().map(|leaf| leaf.val().map(strong)).collect()
}

/// Literals enter loops as strongly typed numbers, so that carried types stay what they are.
fn strong(val: Val) -> Val {
    match val {
        Val::Literal(scalar) => Val::Array(pullback_base::Array::scalar(scalar.weak(false))),
        other => other,
    }
}

fn rebuild<T: Tree>(like: &T, vals: &[Val]) -> T {
    like.with_leaves(&mut vals.iter().cloned().map(Array::from_val))
}

fn avals(vals: &[Val]) -> Vec<Aval> {
    vals.iter().map(Val::aval).collect()
}

/// Traces a function of one tree to one tree.
fn trace<A: Tree, B: Tree>(f: impl Fn(A) -> B, like: &A, in_avals: &[Aval]) -> Result<(Traced, B)> {
    let mut structure = None;
    let traced = trace_to_jaxpr(in_avals, &mut |args| {
        let out = caught(|| Ok(f(rebuild(like, args))))?;
        let flat = vals(&out)?;
        structure = Some(out);
        Ok((flat, None))
    })?;
    Ok((traced, structure.ok_or_else(|| Error::internal("the function ran"))?))
}

/// Checks that a step gives what it takes: the same structure, fixed fields included, and the same types.
fn check_carry<C: Tree>(what: &str, init: &C, after: &C, before_avals: &[Aval], after_avals: &[Aval]) -> Result<()> {
    let same = |(a, b): (&Aval, &Aval)| a.shape == b.shape && a.dtype == b.dtype;
    if before_avals.len() != after_avals.len() || structure_of(init) != structure_of(after) {
        let (before, after) = (before_avals.len(), after_avals.len());
        bail!(
            Type,
            "{what} must give a carry of the structure that it takes; a carry of {before} arrays goes in, and one of {after} \
             arrays comes out, or lengths, keys, variants or fixed fields differ"
        );
    }
    if before_avals.iter().zip(after_avals).all(same) {
        return Ok(());
    }
    bail!(
        Type,
        "{what} must give a carry of the types that it takes, but they differ: {before_avals:?} goes in and {after_avals:?} \
         comes out. Convert the result, for example with astype."
    )
}

/// Carries a value over the slices of `xs` along its first axis, and stacks what each step gives besides.
///
/// # Errors
/// A `Type` error when a step changes the carry's types or structure; a `Value` error when the arrays of `xs` differ in
/// length; and whatever waits in an operation of `f`.
#[track_caller]
pub fn scan<C: Tree, X: Tree, Y: Tree>(f: impl Fn(C, X) -> (C, Y), init: &C, xs: &X) -> Result<(C, Y)> {
    Span::of(Location::caller()).scope(|| {
        let (carry, slices) = (vals(init)?, vals(xs)?);
        let length = scan_length(&slices)?;
        let slice_avals: Vec<Aval> = avals(&slices).iter().map(|x| x.with_shape(&x.shape[1..])).collect();
        let in_avals = [avals(&carry), slice_avals].concat();
        let like = (init.clone(), xs.clone());
        let (traced, (last, ys)) = trace(|(c, x)| f(c, x), &like, &in_avals)?;
        let out_avals = traced.jaxpr.out_avals();
        let n_carry = leaves_of(&last).len();
        check_carry("a step of scan", init, &last, &avals(&carry), &out_avals[..n_carry])?;
        let scan = Scan::new(traced.jaxpr, length, false, traced.captured.len(), carry.len());
        let operands = [&traced.captured[..], &carry, &slices].concat();
        let outs = pullback_trace::bind(SCAN, &Params::new(scan), &operands)?;
        Ok((rebuild(init, &outs[..carry.len()]), rebuild(&ys, &outs[carry.len()..])))
    })
}

fn scan_length(slices: &[Val]) -> Result<usize> {
    let lengths: Vec<Option<usize>> = slices.iter().map(|x| x.aval().shape.first().copied()).collect();
    match lengths.first() {
        Some(Some(first)) if lengths.iter().all(|length| *length == Some(*first)) => Ok(*first),
        None => bail!(Value, "scan got nothing to go over: xs has no array. fori_loop takes a number of steps."),
        _ => bail!(Value, "scan got values with different leading axis sizes: {lengths:?}."),
    }
}

/// Repeats `body` while `condition` holds. Has forward derivatives only.
///
/// # Errors
/// A `Type` error when the condition is not one boolean or the body changes the carry's types or structure.
#[track_caller]
pub fn while_loop<C: Tree>(condition: impl Fn(C) -> Array, body: impl Fn(C) -> C, init: &C) -> Result<C> {
    Span::of(Location::caller()).scope(|| {
        let carry = vals(init)?;
        let in_avals = avals(&carry);
        let (cond, _) = trace(condition, init, &in_avals)?;
        check_condition(&cond.jaxpr)?;
        let (body, last) = trace(body, init, &in_avals)?;
        check_carry("the body of while_loop", init, &last, &in_avals, &body.jaxpr.out_avals())?;
        let operands = [&cond.captured[..], &body.captured, &carry].concat();
        let params = While {
            cond_jaxpr: cond.jaxpr,
            cond_nconsts: cond.captured.len(),
            body_jaxpr: body.jaxpr,
            body_nconsts: body.captured.len(),
        };
        Ok(rebuild(init, &pullback_trace::bind(WHILE, &Params::new(params), &operands)?))
    })
}

/// Repeats `body` for `i` from `from` to `to`, exclusive; `i` is an `int32` scalar.
///
/// # Errors
/// As [`scan`].
#[track_caller]
pub fn fori_loop<C: Tree>(from: i32, to: i32, body: impl Fn(Array, C) -> C, init: &C) -> Result<C> {
    Span::of(Location::caller()).scope(|| {
        let length = usize::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
        let start = (Array::scalar(from), init.clone());
        let carry = vals(&start)?;
        let step = |(i, carry): (Array, C)| (&i + 1, body(i, carry));
        let (traced, last) = trace(step, &start, &avals(&carry))?;
        check_carry("the body of fori_loop", &start, &last, &avals(&carry), &traced.jaxpr.out_avals())?;
        let scan = Scan::new(traced.jaxpr, length, false, traced.captured.len(), carry.len());
        let outs = pullback_trace::bind(SCAN, &Params::new(scan), &[&traced.captured[..], &carry].concat())?;
        Ok(rebuild(&start, &outs).1)
    })
}

/// `on_true` if the boolean scalar holds, else `on_false`; only the chosen one runs.
///
/// # Errors
/// A `Type` error when the predicate is not a scalar or the branches give different types or structures.
#[track_caller]
pub fn cond<A: Tree, B: Tree>(
    predicate: &Array,
    on_true: impl Fn(A) -> B,
    on_false: impl Fn(A) -> B,
    arg: &A,
) -> Result<B> {
    Span::of(Location::caller()).scope(|| {
        let (pred, operands) = (predicate.val()?, vals(arg)?);
        if pred.aval().rank() > 0 {
            bail!(Type, "Pred must be a scalar, got one of type {}.", pred.aval().long());
        }
        let in_avals = avals(&operands);
        let (no, other) = trace(on_false, arg, &in_avals)?;
        let (yes, structure) = trace(on_true, arg, &in_avals)?;
        if structure_of(&structure) != structure_of(&other) {
            bail!(Type, "the branches of cond must give results of one structure, these differ");
        }
        let index = pullback_lib::convert::to_dtype(&pred, DType::I32)?;
        let (branches, captured) = unify_captures(&[no, yes]);
        let ins = [&[index][..], &captured, &operands].concat();
        let outs = pullback_trace::bind(COND, &Params::new(Cond::new(branches)), &ins)?;
        Ok(rebuild(&structure, &outs))
    })
}
