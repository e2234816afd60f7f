//! The transformations, on functions from trees to trees.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::{Aval, Error, Result, Span, bail};
use pullback_core::control::{JIT, Jit};
use pullback_ir::{Batch, Params, Val};
use pullback_trace::settings::{Setting, set_on_thread};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::array::{Array, caught};
use crate::tree::{Structure, Tree, leaves_of, structure_of};

/// What a transformed function may give: a tree, or an error or a tree.
pub trait Output {
    /// The tree.
    type Tree: Tree;
    /// The tree, or the error.
    fn into_result(self) -> Result<Self::Tree>;
}

impl<T: Tree> Output for T {
    type Tree = T;
    fn into_result(self) -> Result<T> {
        Ok(self)
    }
}

impl<T: Tree> Output for Result<T> {
    type Tree = T;
    fn into_result(self) -> Result<T> {
        self
    }
}

fn vals(tree: &impl Tree) -> Result<Vec<Val>> {
    leaves_of(tree).iter().map(Array::val).collect()
}

fn rebuild<T: Tree>(like: &T, vals: impl IntoIterator<Item = Val>) -> T {
    like.with_leaves(&mut vals.into_iter().map(Array::from_val))
}

/// Calls `f` on flat values; leaves the structure of its result in `structure`.
fn call_flat<A: Tree, R: Output>(
    f: &impl Fn(&A) -> R,
    like: &A,
    args: &[Val],
    structure: &mut Option<R::Tree>,
) -> Result<Vec<Val>> {
    let out = caught(|| f(&rebuild(like, args.iter().cloned())).into_result())?;
    let flat = vals(&out)?;
    *structure = Some(out);
    Ok(flat)
}

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

fn run_value_and_grad<A: Tree, R: Output<Tree = Array>>(f: &impl Fn(&A) -> R, arg: &A) -> Result<(Array, A)> {
    let primals = vals(arg)?;
    if let Some(bad) = primals.iter().find(|val| !val.aval().dtype.is_inexact()) {
        bail!(Type, "grad requires real- or complex-valued inputs, but got {}.", bad.aval().dtype);
    }
    let mut structure = None;
    let (outs, linear) = pullback_trace::linearize(&mut |args| call_flat(f, arg, args, &mut structure), &primals)?;
    let aval = outs[0].aval();
    if aval.rank() != 0 || !aval.dtype.is_float() {
        bail!(Type, "Gradient only defined for real scalar-output functions. Output was {}.", aval.long());
    }
    let one = Val::Literal(pullback_base::Scalar::one(aval.dtype));
    let cts = pullback_trace::pull_back(&linear, &[Some(one)])?;
    let gradient = rebuild(arg, arrays(cts));
    Ok((Array::from_val(arrays(outs).swap_remove(0)), gradient))
}

/// Literals as arrays, so that users never meet them.
fn arrays(vals: Vec<Val>) -> Vec<Val> {
    let plain = |val: Val| match val {
        Val::Literal(scalar) => Val::Array(pullback_base::Array::scalar(scalar)),
        other => other,
    };
    vals.into_iter().map(plain).collect()
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

/// The function that gives the gradient of `f`. See [`value_and_grad`].
///
/// # Errors
/// As [`value_and_grad`].
#[track_caller]
pub fn grad<A: Tree, R: Output<Tree = Array>>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<A> {
    let with_value = value_and_grad(f);
    move |arg| Ok(with_value(arg)?.1)
}

/// Results of `f` at `primals` and their tangents in the direction `tangents`.
///
/// # Errors
/// What waits in an operation of `f`.
#[track_caller]
pub fn jvp<A: Tree, R: Output>(f: impl Fn(&A) -> R, primals: &A, tangents: &A) -> Result<(R::Tree, R::Tree)> {
    Span::of(Location::caller()).scope(|| run_jvp(f, primals, tangents))
}

fn run_jvp<A: Tree, R: Output>(f: impl Fn(&A) -> R, primals: &A, tangents: &A) -> Result<(R::Tree, R::Tree)> {
    if structure_of(primals) != structure_of(tangents) {
        bail!(Type, "jvp takes primals and tangents of one structure, these differ");
    }
    let (xs, ts) = (vals(primals)?, vals(tangents)?);
    let ts: Vec<Option<Val>> = ts.into_iter().map(Some).collect();
    let mut structure = None;
    let (outs, dots) = pullback_trace::jvp(&mut |args| call_flat(&f, primals, args, &mut structure), &xs, &ts)?;
    let structure = structure.ok_or_else(|| Error::internal("the function ran"))?;
    let e = pullback_trace::current();
    let mut full = vec![];
    for (out, dot) in outs.iter().zip(dots) {
        full.push(pullback_core::prims::instantiate(&*e, out.aval(), dot)?);
    }
    Ok((rebuild(&structure, arrays(outs)), rebuild(&structure, arrays(full))))
}

/// The function that runs `f` for all examples at once: every leaf of the argument and of the result has the batch in
/// front.
///
/// # Errors
/// The returned function gives a `Value` error when the sizes of the first axes differ; and whatever waits in `f`.
#[track_caller]
pub fn vmap<A: Tree, R: Output>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    move |arg| {
        let axes = vec![Some(0); leaves_of(arg).len()];
        span.scope(|| run_vmap(&f, arg, &axes))
    }
}

/// As [`vmap`] with the batch axis of each leaf of the argument, `None` for leaves that all examples share.
///
/// # Errors
/// As [`vmap`].
#[track_caller]
pub fn vmap_axes<A: Tree, R: Output>(
    f: impl Fn(&A) -> R,
    in_axes: Vec<Option<usize>>,
) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    move |arg| span.scope(|| run_vmap(&f, arg, &in_axes))
}

fn run_vmap<A: Tree, R: Output>(f: &impl Fn(&A) -> R, arg: &A, axes: &[Option<usize>]) -> Result<R::Tree> {
    let flat = vals(arg)?;
    if flat.len() != axes.len() {
        return Err(Error::value_error(format!("vmap got {} axes for {} leaves", axes.len(), flat.len())));
    }
    let size = batch_size(&flat, axes)?;
    let args: Vec<(Val, Option<usize>)> = flat.into_iter().zip(axes.iter().copied()).collect();
    let mut structure = None;
    let batch = Batch { size, name: None };
    let mut run = |args: &[Val]| call_flat(f, arg, args, &mut structure);
    let outs = pullback_trace::vmap(&mut run, &batch, &args, &mut |n| Ok(vec![Some(0); n]))?;
    let structure = structure.ok_or_else(|| Error::internal("the function ran"))?;
    Ok(rebuild(&structure, outs))
}

fn batch_size(vals: &[Val], axes: &[Option<usize>]) -> Result<usize> {
    let mut size = None;
    for (val, axis) in vals.iter().zip(axes) {
        let Some(axis) = *axis else { continue };
        let aval = val.aval();
        let Some(&here) = aval.shape.get(axis) else {
            let text = format!(
                "vmap was requested to map its argument along axis {axis}, but its shape is {:?}",
                &aval.shape[..]
            );
            return Err(Error::value_error(text));
        };
        if *size.get_or_insert(here) != here {
            let text =
                format!("vmap got inconsistent sizes for array axes to be mapped: {here} and {}", size.unwrap_or(0));
            return Err(Error::value_error(text));
        }
    }
    size.ok_or_else(|| Error::value_error("vmap must have at least one leaf with a batch axis"))
}

/// What a trace depends on: types of the leaves, everything else of the argument, and settings.
type Key = (SmallVec<[Aval; 8]>, Structure, u64);

/// A traced function: the params of its calls, and a result of its structure.
struct Program<T> {
    params: Params,
    result: T,
}

/// The function that compiles `f` on its first call for each combination of shapes, dtypes and structure, and then runs what
/// was compiled.
///
/// `f` should compute from its argument and from nothing that changes. It may be given to other transformations.
///
/// ```
/// use pullback::prelude::*;
/// let energy = jit(|x: &Array| x.tanh().square().sum());
/// let slope = grad(&energy)(&arr![0.5])?;
/// assert!((slope[0].item::<f64>()? - 0.726_862).abs() < 1e-5);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives whatever waits in an operation of `f`, and failures of the run.
#[track_caller]
pub fn jit<A: Tree, R: Output>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    let place = span.resolve().map_or_else(|| "f".into(), |place| place.to_string());
    let name: Arc<str> = place.rsplit('/').next().unwrap_or("f").replace([':', '.'], "_").into();
    let traced: Mutex<FxHashMap<Key, Arc<Program<R::Tree>>>> = Mutex::default();
    move |arg| {
        let args = vals(arg)?;
        let key = (args.iter().map(Val::aval).collect(), structure_of(arg), pullback_trace::settings::settings());
        let lock = || traced.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).cloned();
        if let Some(program) = known {
            let outs = span.scope(|| pullback_trace::bind(JIT, &program.params, &args))?;
            return Ok(rebuild(&program.result, outs));
        }
        let (program, captured) = span.scope(|| trace_program(&name, &f, arg, &key.0))?;
        let program = Arc::new(program);
        let outs = span.scope(|| pullback_trace::bind(JIT, &program.params, &[&captured[..], &args].concat()))?;
        if captured.is_empty() {
            lock().insert(key, program.clone());
        }
        Ok(rebuild(&program.result, outs))
    }
}

/// Traces `f`; gives what it captured, too.
fn trace_program<A: Tree, R: Output>(
    name: &Arc<str>,
    f: &impl Fn(&A) -> R,
    arg: &A,
    avals: &[Aval],
) -> Result<(Program<R::Tree>, Vec<Val>)> {
    let mut structure = None;
    let traced =
        pullback_trace::trace_to_jaxpr(avals, &mut |args| Ok((call_flat(f, arg, args, &mut structure)?, None)))?;
    let result = structure.ok_or_else(|| Error::internal("the function ran"))?;
    Ok((Program { params: Params::new(Jit::new(name.clone(), traced.jaxpr)), result }, traced.captured))
}

/// The jaxpr of `f` at an argument, as text.
///
/// # Errors
/// Whatever waits in an operation of `f`.
#[track_caller]
pub fn make_jaxpr<A: Tree, R: Output>(f: impl Fn(&A) -> R, arg: &A) -> Result<String> {
    let avals: Vec<Aval> = vals(arg)?.iter().map(Val::aval).collect();
    let mut structure = None;
    let traced =
        pullback_trace::trace_to_jaxpr(&avals, &mut |args| Ok((call_flat(&f, arg, args, &mut structure)?, None)))?;
    Ok(traced.jaxpr.to_string())
}
