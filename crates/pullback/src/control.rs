//! Control flow that is traced once and runs as a native loop.

use std::panic::Location;

use pullback_base::{Aval, DType, Error, Result, Span, bail};
use pullback_core::control::{COND, Cond, SCAN, Scan, WHILE, While, check_condition};
use pullback_ir::{Params, Val};
use pullback_trace::{Traced, trace_to_jaxpr, unify_captures};

use crate::array::{Array, caught};
use crate::transforms::Output;
use crate::tree::{Tree, leaves_of, structure_of};

fn vals(tree: &impl Tree) -> Result<Vec<Val>> {
    leaves_of(tree).into_iter().map(|leaf| leaf.val().map(strong)).collect()
}

/// Literals enter loops as strongly typed numbers, so that carried types stay what they are.
fn strong(val: Val) -> Val {
    match val {
        Val::Literal(scalar) => Val::Array(pullback_base::Array::scalar(scalar.weak(false))),
        other => other,
    }
}

fn rebuild<T: Tree>(like: &T, vals: &[Val]) -> T {
    like.with_leaves(&mut arrays(vals))
}

fn arrays(vals: &[Val]) -> impl Iterator<Item = Array> {
    vals.iter().cloned().map(Array::from_val)
}

fn avals(vals: &[Val]) -> Vec<Aval> {
    vals.iter().map(Val::aval).collect()
}

/// Traces a function of flat arrays to one tree.
fn trace<R: Output>(
    in_avals: &[Aval],
    f: impl FnOnce(&mut dyn Iterator<Item = Array>) -> R,
) -> Result<(Traced, R::Tree)> {
    let (mut structure, mut f) = (None, Some(f));
    let traced = trace_to_jaxpr(in_avals, &mut |args| {
        let f = f.take().ok_or_else(|| Error::internal("the function is traced once"))?;
        let out = caught(|| f(&mut arrays(args)).into_result())?;
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
/// ```
/// use pullback::prelude::*;
///
/// let (last, sums) = scan(|sum: Array, x: Array| (&sum + &x, sum + x), &Array::scalar(0.0), &arr![1.0, 2.0, 3.0])?;
/// assert_eq!((last.item::<f32>()?, sums.to_vec::<f32>()?), (6.0, vec![1.0, 3.0, 6.0]));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Type` error when a step changes the carry's types or structure; a `Value` error when the arrays of `xs` differ in
/// length; and whatever waits in an operation of `f`.
#[track_caller]
pub fn scan<C: Tree, X: Tree, Y: Tree, R: Output<Tree = (C, Y)>>(
    f: impl FnOnce(C, X) -> R,
    init: &C,
    xs: &X,
) -> Result<(C, Y)> {
    Span::of(Location::caller()).scope(|| {
        let (carry, slices) = (vals(init)?, vals(xs)?);
        let length = scan_length(&slices)?;
        let slice_avals: Vec<Aval> = avals(&slices).iter().map(|x| x.without_axis(0)).collect();
        let in_avals = [avals(&carry), slice_avals].concat();
        let (traced, (last, ys)) = trace(&in_avals, |args| f(init.with_leaves(args), xs.with_leaves(args)))?;
        let out_avals = traced.jaxpr.out_avals();
        let n_carry = leaves_of(&last).len();
        check_carry("a step of scan", init, &last, &avals(&carry), &out_avals[..n_carry])?;
        let scan = Scan::new(traced.jaxpr, length, false, traced.captured.len(), carry.len());
        let operands = [&traced.captured[..], &carry, &slices].concat();
        let outs = pullback_trace::bind(SCAN, &Params::new(scan), &operands)?;
        Ok((rebuild(&last, &outs[..carry.len()]), rebuild(&ys, &outs[carry.len()..])))
    })
}

/// `f` of each slice of `xs` along its first axis, one after the other; results are stacked. It needs memory for one slice
/// at a time, where [`vmap`](crate::vmap) needs it for all.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::map_slices;
///
/// assert_eq!(map_slices(|x: Array| x.sum(), &arr![[1.0, 2.0], [3.0, 4.0]])?, arr![3.0, 7.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`scan`].
#[track_caller]
pub fn map_slices<X: Tree, R: Output>(f: impl FnOnce(X) -> R, xs: &X) -> Result<R::Tree> {
    Ok(scan(|(), x| Ok(((), f(x).into_result()?)), &(), xs)?.1)
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
pub fn while_loop<C: Tree, P: Output<Tree = Array>, R: Output<Tree = C>>(
    condition: impl FnOnce(C) -> P,
    body: impl FnOnce(C) -> R,
    init: &C,
) -> Result<C> {
    Span::of(Location::caller()).scope(|| {
        let carry = vals(init)?;
        let in_avals = avals(&carry);
        let (cond, _) = trace(&in_avals, |args| condition(init.with_leaves(args)))?;
        check_condition(&cond.jaxpr)?;
        let (body, last) = trace(&in_avals, |args| body(init.with_leaves(args)))?;
        check_carry("the body of while_loop", init, &last, &in_avals, &body.jaxpr.out_avals())?;
        let operands = [&cond.captured[..], &body.captured, &carry].concat();
        let params = While {
            cond_jaxpr: cond.jaxpr,
            cond_nconsts: cond.captured.len(),
            body_jaxpr: body.jaxpr,
            body_nconsts: body.captured.len(),
        };
        Ok(rebuild(&last, &pullback_trace::bind(WHILE, &Params::new(params), &operands)?))
    })
}

/// Repeats `body` for `i` from `from` to `to`, exclusive; `i` is an `int32` scalar.
///
/// # Errors
/// As [`scan`].
#[track_caller]
pub fn fori_loop<C: Tree, R: Output<Tree = C>>(
    from: i32,
    to: i32,
    body: impl FnOnce(Array, C) -> R,
    init: &C,
) -> Result<C> {
    Span::of(Location::caller()).scope(|| {
        let length = usize::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
        let start = strong(Array::scalar(from).val()?);
        let carry = [vec![start], vals(init)?].concat();
        let (traced, (_, last)) = trace(&avals(&carry), |args| {
            let i = Array::scalar(0).with_leaves(args);
            let next = &i + 1;
            Ok((next, body(i, init.with_leaves(args)).into_result()?))
        })?;
        check_carry("the body of fori_loop", init, &last, &avals(&carry[1..]), &traced.jaxpr.out_avals()[1..])?;
        let scan = Scan::new(traced.jaxpr, length, false, traced.captured.len(), carry.len());
        let outs = pullback_trace::bind(SCAN, &Params::new(scan), &[&traced.captured[..], &carry].concat())?;
        Ok(rebuild(&last, &outs[1..]))
    })
}

/// `on_true` if the boolean scalar holds, else `on_false`; only the chosen one runs.
///
/// ```
/// use pullback::prelude::*;
///
/// let x = Array::scalar(-2.0);
/// let root = cond(&x.less(0.0), |x: Array| (-x).sqrt(), |x: Array| x.sqrt(), &x)?;
/// assert!((root.item::<f32>()? - 2.0_f32.sqrt()).abs() < 1e-6);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Type` error when the predicate is not a scalar or the branches give different types or structures.
#[track_caller]
pub fn cond<A: Tree, B: Tree, Yes: Output<Tree = B>, No: Output<Tree = B>>(
    predicate: &Array,
    on_true: impl FnOnce(A) -> Yes,
    on_false: impl FnOnce(A) -> No,
    arg: &A,
) -> Result<B> {
    Span::of(Location::caller()).scope(|| {
        let (pred, operands) = (predicate.val()?, vals(arg)?);
        if pred.aval().rank() > 0 {
            bail!(Type, "Pred must be a scalar, got one of type {}.", pred.aval().long());
        }
        let in_avals = avals(&operands);
        let no = trace(&in_avals, |args| on_false(arg.with_leaves(args)))?;
        let yes = trace(&in_avals, |args| on_true(arg.with_leaves(args)))?;
        branch(&pullback_lib::convert::to_dtype(&pred, DType::I32)?, vec![no, yes], &operands)
    })
}

/// The branch whose number is `index`, an integer scalar; the first or last for numbers out of range. Only the chosen one
/// runs.
///
/// ```
/// use pullback::prelude::*;
///
/// let branches: [fn(Array) -> Array; 3] = [|x| x.sin(), |x| x.cos(), |x| x * 2.0];
/// assert_eq!(switch(&Array::scalar(2), &branches, &arr![3.0])?, arr![6.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Type` error when the index is no integer scalar or the branches give different types or structures; a `Value` error
/// without branches.
#[track_caller]
pub fn switch<A: Tree, R: Output>(index: &Array, branches: &[impl Fn(A) -> R], arg: &A) -> Result<R::Tree> {
    Span::of(Location::caller()).scope(|| {
        let (index, operands) = (index.val()?, vals(arg)?);
        if index.aval().rank() > 0 || !index.aval().dtype.is_integer() {
            bail!(Type, "switch takes an integer scalar as its index, got one of type {}.", index.aval().long());
        }
        let in_avals = avals(&operands);
        let traced =
            branches.iter().map(|f| trace(&in_avals, |args| f(arg.with_leaves(args)))).collect::<Result<_>>()?;
        branch(&clamped(&index, branches.len())?, traced, &operands)
    })
}

/// A number of a branch, as `int32`. Wide integers are clamped before they become narrow, narrow ones after they became
/// wide enough for the number of branches.
fn clamped(index: &Val, n_branches: usize) -> Result<Val> {
    let narrow = |x: &Val| pullback_lib::convert::to_dtype(x, DType::I32);
    let index = if index.aval().dtype.bits() < 32 { narrow(index)? } else { index.clone() };
    let number = |n: i128| Val::Literal(pullback_base::Scalar::int(index.aval().dtype, n));
    narrow(&pullback_lib::lax::clamp(&number(0), &index, &number(n_branches as i128 - 1))?)
}

/// Runs the branch of a number.
fn branch<B: Tree>(index: &Val, branches: Vec<(Traced, B)>, operands: &[Val]) -> Result<B> {
    let (traced, mut structures): (Vec<Traced>, Vec<B>) = branches.into_iter().unzip();
    let Some(structure) = structures.pop() else { bail!(Value, "a choice needs at least one branch") };
    if structures.iter().any(|other| structure_of(other) != structure_of(&structure)) {
        bail!(Type, "the branches of a choice must give results of one structure, these differ");
    }
    let (branches, captured) = unify_captures(&traced);
    let ins = [&[index.clone()][..], &captured, operands].concat();
    let outs = pullback_trace::bind(COND, &Params::new(Cond::new(branches)), &ins)?;
    Ok(rebuild(&structure, &outs))
}
