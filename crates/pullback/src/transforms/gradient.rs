//! Derivatives: gradients, directional derivatives, Jacobians.

use std::panic::Location;

use pullback_base::{Aval, DType, Error, Result, Span, bail};
use pullback_core::transforms::Linear;
use pullback_ir::Val;
use pullback_trace::settings::{Setting, set_on_thread};

use super::{Output, arrays, call_flat, hollow, is_same_type, rebuild, vals, vmap_with};
use crate::array::Array;
use crate::tree::{Structure, Tree, structure_of};

/// The function that gives the value of `f` and its gradient in all leaves of its argument.
///
/// `f` must give one real number.
///
/// # Errors
/// The returned function gives a `Type` error when `f` gives something else than a real scalar, or an argument is not
/// floating; and whatever error waits in an operation of `f`.
#[track_caller]
pub fn value_and_grad<A: Tree, R: Output<Tree = Array>>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<(Array, A)> {
    let span = Span::of(Location::caller());
    move |arg| span.scope(|| run_value_and_grad(&f, arg))
}

pub(crate) fn run_value_and_grad<A: Tree, R: Output<Tree = Array>>(
    f: &impl Fn(&A) -> R,
    arg: &A,
) -> Result<(Array, A)> {
    let with_aux = |arg: &A| Ok((f(arg).into_result()?, ()));
    run_with_aux(&with_aux, arg).map(|((value, ()), gradient)| (value, gradient))
}

/// As [`value_and_grad`] for an `f` that gives a number and something besides: `((value, besides), gradient)`.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::value_and_grad_aux;
///
/// let loss = |w: &Array| {
///     let scores = w * 2.0;
///     (scores.square().sum(), scores)
/// };
/// let ((value, scores), gradient) = value_and_grad_aux(loss)(&arr![1.0, 2.0])?;
/// assert_eq!((value.item::<f32>()?, scores, gradient), (20.0, arr![2.0, 4.0], arr![8.0, 16.0]));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`value_and_grad`].
#[track_caller]
pub fn value_and_grad_aux<A: Tree, X: Tree, R: Output<Tree = (Array, X)>>(
    f: impl Fn(&A) -> R,
) -> impl Fn(&A) -> Result<((Array, X), A)> {
    let span = Span::of(Location::caller());
    move |arg| span.scope(|| run_with_aux(&f, arg))
}

fn run_with_aux<A: Tree, X: Tree, R: Output<Tree = (Array, X)>>(
    f: &impl Fn(&A) -> R,
    arg: &A,
) -> Result<((Array, X), A)> {
    let primals = vals(arg)?;
    if let Some(bad) = primals.iter().find(|val| !val.aval().dtype.is_inexact()) {
        bail!(Type, "grad requires real- or complex-valued inputs, but got {}.", bad.aval().dtype);
    }
    let (outs, linear, structure) = run_linearize(f, arg, &primals)?;
    let aval = outs[0].aval();
    if aval.rank() != 0 || !aval.dtype.is_float() {
        bail!(Type, "Gradient only defined for real scalar-output functions. Output was {}.", aval.long());
    }
    let mut seeds = vec![None; outs.len()];
    seeds[0] = Some(Val::Literal(pullback_base::Scalar::one(aval.dtype)));
    let gradient = rebuild(arg, arrays(pullback_trace::pull_back(&linear, &seeds)?));
    Ok((rebuild(&structure, arrays(outs)), gradient))
}

/// Results of `f`, its derivative, and a result of its structure.
fn run_linearize<A: Tree, R: Output>(
    f: &impl Fn(&A) -> R,
    arg: &A,
    primals: &[Val],
) -> Result<(Vec<Val>, Linear, R::Tree)> {
    let mut structure = None;
    let (outs, linear) = pullback_trace::linearize(&mut |args| call_flat(f, arg, args, &mut structure), primals)?;
    Ok((outs, linear, structure.ok_or_else(|| Error::internal("the function ran"))?))
}

/// The function that gives the gradient of `f`. See [`value_and_grad`].
///
/// ```
/// use pullback::prelude::*;
///
/// let f = |x: &Array| x * x * x;
/// let third = grad(grad(grad(f)));
/// assert_eq!(third(&Array::scalar(2.0))?.item::<f32>()?, 6.0);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`value_and_grad`].
#[track_caller]
pub fn grad<A: Tree, R: Output<Tree = Array>>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<A> {
    let with_value = value_and_grad(f);
    move |arg| Ok(with_value(arg)?.1)
}

/// Results of `f` at `primals` and their tangents in the direction `tangents`; what is no floating number has no
/// tangent.
///
/// ```
/// use pullback::prelude::*;
///
/// let (value, slope) = jvp(|x: &Array| x.square(), &arr![3.0], &arr![1.0])?;
/// assert_eq!((value, slope), (arr![9.0], arr![6.0]));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// A `Type` error when tangents are not of the types of the primals; and what waits in an operation of `f`.
#[track_caller]
pub fn jvp<A: Tree, R: Output>(f: impl Fn(&A) -> R, primals: &A, tangents: &A) -> Result<(R::Tree, R::Tree)> {
    Span::of(Location::caller()).scope(|| run_jvp(f, primals, tangents))
}

fn run_jvp<A: Tree, R: Output>(f: impl Fn(&A) -> R, primals: &A, tangents: &A) -> Result<(R::Tree, R::Tree)> {
    let xs = vals(primals)?;
    let ts = Type::of(primals)?.tangents("jvp", tangents)?;
    let mut structure = None;
    let (outs, dots) = pullback_trace::jvp(&mut |args| call_flat(&f, primals, args, &mut structure), &xs, &ts)?;
    let structure = structure.ok_or_else(|| Error::internal("the function ran"))?;
    let full = instantiated(&outs.iter().map(Val::aval).collect::<Vec<_>>(), dots)?;
    Ok((rebuild(&structure, arrays(outs)), rebuild(&structure, arrays(full))))
}

/// Tangents or cotangents with zeros where there are none.
pub(super) fn instantiated(avals: &[Aval], dots: impl IntoIterator<Item = Option<Val>>) -> Result<Vec<Val>> {
    let e = pullback_trace::current();
    let full = |(&aval, dot): (&Aval, Option<Val>)| match (aval.tangent().dtype, dot) {
        // What has no tangent has zeros in place of one, in its own type.
        (DType::Float0, _) => zeros(aval),
        (_, dot) => pullback_core::prims::instantiate(&*e, aval, dot),
    };
    avals.iter().zip(dots).map(full).collect()
}

/// Zeros of any type, that without elements to compute included.
pub(super) fn zeros(aval: Aval) -> Result<Val> {
    let zero = pullback_base::Scalar::zero(aval.dtype);
    if aval.dtype == DType::Float0 {
        return pullback_base::Array::full(aval, zero).map(Val::Array);
    }
    pullback_lib::lax::full(&aval.shape, &Val::Literal(zero))
}

/// The types of the leaves of a tree, and its structure.
pub(super) struct Type {
    pub(super) avals: Vec<Aval>,
    pub(super) structure: Structure,
}

impl Type {
    pub(super) fn of<T: Tree>(tree: &T) -> Result<Type> {
        Ok(Type { avals: vals(tree)?.iter().map(Val::aval).collect(), structure: structure_of(tree) })
    }

    /// The leaves of a tree of tangents or cotangents, which are to be of these types; nothing for what has none.
    pub(super) fn tangents<T: Tree>(&self, what: &str, tree: &T) -> Result<Vec<Option<Val>>> {
        if self.structure != structure_of(tree) {
            bail!(Type, "{what} takes or gives derivatives of the structure of the values, these differ");
        }
        let mut found = vec![];
        for (x, t) in self.avals.iter().zip(vals(tree)?) {
            let (want, have) = (x.tangent(), t.aval());
            if want.dtype != DType::Float0 && !is_same_type(want, have) {
                let (have, want) = (have.weak(false).long(), want.weak(false).long());
                bail!(Type, "{what} takes or gives derivatives of the types of the values: {have} is not {want}");
            }
            found.push((want.dtype != DType::Float0).then_some(t));
        }
        Ok(found)
    }
}

/// The result of `f`, and the function from its cotangent to that of the argument, which can be called any number of times;
/// nothing of `f` is computed again.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::vjp;
///
/// let (y, pull) = vjp(|x: &Array| x.square(), &arr![1.0, 3.0])?;
/// assert_eq!((y, pull(&arr![1.0, 1.0])?), (arr![1.0, 9.0], arr![2.0, 6.0]));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// What waits in an operation of `f`; the returned function gives a `Type` error for a cotangent of another type than the
/// result.
#[track_caller]
pub fn vjp<A: Tree, R: Output, F: Fn(&A) -> R>(
    f: F,
    arg: &A,
) -> Result<(R::Tree, impl Fn(&R::Tree) -> Result<A> + use<A, R, F>)> {
    let span = Span::of(Location::caller());
    let (outs, linear, structure) = span.scope(|| run_linearize(&f, arg, &vals(arg)?))?;
    let (like, result) = (hollow(arg), rebuild(&structure, arrays(outs)));
    let wanted = Type::of(&result)?;
    let pull = move |ct: &R::Tree| {
        span.scope(|| {
            let cts = wanted.tangents("the function that vjp gives", ct)?;
            Ok(rebuild(&like, arrays(pullback_trace::pull_back(&linear, &cts)?)))
        })
    };
    Ok((result, pull))
}

/// The result of `f`, and its derivative there, which can be called any number of times; nothing of `f` is computed again.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::linearize;
///
/// let (y, push) = linearize(|x: &Array| x.square(), &arr![1.0, 3.0])?;
/// assert_eq!((y, push(&arr![0.5, 1.0])?), (arr![1.0, 9.0], arr![1.0, 6.0]));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// What waits in an operation of `f`; the returned function gives a `Type` error for a tangent of another type than the
/// argument.
#[track_caller]
pub fn linearize<A: Tree, R: Output, F: Fn(&A) -> R>(
    f: F,
    arg: &A,
) -> Result<(R::Tree, impl Fn(&A) -> Result<R::Tree> + use<A, R, F>)> {
    let span = Span::of(Location::caller());
    let (outs, linear, structure) = span.scope(|| run_linearize(&f, arg, &vals(arg)?))?;
    let (like, wanted) = (hollow(&structure), Type::of(arg)?);
    let out_avals: Vec<Aval> = outs.iter().map(Val::aval).collect();
    let push = move |tangent: &A| {
        span.scope(|| {
            let ts = wanted.tangents("the function that linearize gives", tangent)?;
            let avals: Vec<Aval> = wanted.avals.iter().map(|aval| aval.tangent()).collect();
            let ts: Vec<Option<Val>> = instantiated(&avals, ts)?.into_iter().map(Some).collect();
            let dots = push_forward(&linear, &ts)?;
            Ok(rebuild(&like, arrays(instantiated(&out_avals, dots)?)))
        })
    };
    Ok((rebuild(&structure, arrays(outs)), push))
}

fn push_forward(linear: &Linear, tangents: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
    let e = pullback_trace::current();
    pullback_trace::where_safe(linear.is_safe(), &e, tangents, |e, ts| {
        linear.push_forward(&**e, &ts.iter().flatten().cloned().collect::<Vec<_>>())
    })
}

/// The unit arrays of a shape: `[size, …shape]`.
fn units(like: &Array) -> Result<Array> {
    let (shape, dtype) = (like.shape(), like.dtype());
    if !dtype.is_inexact() {
        bail!(Type, "derivatives are of real or complex numbers, but got {dtype}.");
    }
    let size = shape.iter().product::<usize>() as i64;
    let unit = pullback_lib::numpy::eye(size, None, 0, Some(dtype)).map(Array::from_val)?;
    Ok(unit.reshape(&[&[size][..], &sizes(&[shape])].concat()))
}

fn sizes(shapes: &[&[usize]]) -> Vec<i64> {
    shapes.concat().into_iter().map(|size| size as i64).collect()
}

/// The function that gives the Jacobian of `f`, of shape `[…result, …argument]`, one column of directions at a time: for more
/// results than arguments.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::jacfwd;
///
/// let matrix = arr![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// assert_eq!(jacfwd(|x: &Array| matrix.matmul(x))(&arr![1.0, 1.0])?, matrix);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives a `Type` error for an argument that is not floating, and what waits in an operation of `f`.
#[track_caller]
pub fn jacfwd<R: Output<Tree = Array>>(f: impl Fn(&Array) -> R) -> impl Fn(&Array) -> Result<Array> {
    let span = Span::of(Location::caller());
    move |x| {
        span.scope(|| {
            let (y, push) = linearize(&f, x)?;
            let columns = vmap_with(|t: &Array| push(t), |batch| batch.out_axes(-1))(&units(x)?)?;
            Ok(columns.reshape(&sizes(&[y.shape(), x.shape()])))
        })
    }
}

/// As [`jacfwd`], one row of the results at a time: for more arguments than results.
///
/// # Errors
/// As [`jacfwd`]; the result must be floating.
#[track_caller]
pub fn jacrev<R: Output<Tree = Array>>(f: impl Fn(&Array) -> R) -> impl Fn(&Array) -> Result<Array> {
    let span = Span::of(Location::caller());
    move |x| {
        span.scope(|| {
            let (y, pull) = vjp(&f, x)?;
            let rows = super::vmap(|ct: &Array| pull(ct))(&units(&y)?)?;
            Ok(rows.reshape(&sizes(&[y.shape(), x.shape()])))
        })
    }
}

/// The function that gives the second derivatives of `f`, of shape `[…result, …argument, …argument]`.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::hessian;
///
/// let f = |x: &Array| &x[0] * &x[0] * &x[1];
/// assert_eq!(hessian(f)(&arr![1.0, 2.0])?, arr![[4.0, 2.0], [2.0, 0.0]]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`jacfwd`].
#[track_caller]
pub fn hessian<R: Output<Tree = Array>>(f: impl Fn(&Array) -> R) -> impl Fn(&Array) -> Result<Array> {
    jacfwd(jacrev(f))
}

/// The product of the second derivatives of `f` at `x` with `v`, at the cost of a few gradients.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::hvp;
///
/// let f = |x: &Array| (x * x * x).sum();
/// assert_eq!(hvp(f, &arr![1.0, 2.0], &arr![1.0, 0.5])?, arr![6.0, 6.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`value_and_grad`] and [`jvp`].
#[track_caller]
pub fn hvp<A: Tree, R: Output<Tree = Array>>(f: impl Fn(&A) -> R, x: &A, v: &A) -> Result<A> {
    Ok(jvp(grad(f), x, v)?.1)
}

/// Runs `body` with where-safe gradients: derivatives of what a choice dropped are zero there, whatever they are multiplied with.
///
/// `docs/gradients.md` says which rule holds where. Derivatives are those of the functions of this crate that `body` calls on
/// its own thread.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::{safe_grads, select};
///
/// let f = |x: &Array| select(&x.greater(&(x * 0.0)), &x.sqrt(), &(x * 0.0)).sum();
/// let x = arr![0.0, 4.0];
/// assert!(grad(f)(&x)?.to_vec::<f32>()?[0].is_nan());
/// assert_eq!(safe_grads(|| grad(f)(&x))?.to_vec::<f32>()?, [0.0, 0.25]);
/// # Ok::<(), pullback::Error>(())
/// ```
pub fn safe_grads<T>(body: impl FnOnce() -> T) -> T {
    struct Restore(Option<bool>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_on_thread(Setting::SafeGrads, self.0);
        }
    }
    let _restore = Restore(set_on_thread(Setting::SafeGrads, Some(true)));
    body()
}
