//! Functions that are traced once: compiled, looked at, or computed again for derivatives.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::{Aval, DType, Error, Result, Span};
use pullback_core::control::{CHECKPOINT, Checkpoint, JIT, Jit};
use pullback_ir::{Params, Val};
use pullback_trace::Traced;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Output, call_flat, rebuild, vals};
use crate::array::{Array, caught};
use crate::tree::{Pair, Structure, Tree, structure_of};

/// What a trace depends on: types of the leaves, everything else of the argument, and settings.
type Key = (SmallVec<[Aval; 8]>, Structure, u64);

/// A traced function: the params of its calls, and a result of its structure.
struct Program<T> {
    params: Params,
    result: T,
}

/// The programs of a function, one for each key.
struct Programs<T> {
    span: Span,
    name: Arc<str>,
    known: Mutex<FxHashMap<Key, Arc<Program<T>>>>,
}

impl<T: Tree> Programs<T> {
    #[track_caller]
    fn new() -> Programs<T> {
        let span = Span::of(Location::caller());
        let place = span.resolve().map_or_else(|| "f".into(), |place| place.to_string());
        let name: Arc<str> = place.rsplit('/').next().unwrap_or("f").replace([':', '.'], "_").into();
        Programs { span, name, known: Mutex::default() }
    }

    fn find(&self, key: &Key) -> Option<Arc<Program<T>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Runs the program of a key; traces it first if there is none. The first `n_donated` values are given away.
    fn call(
        &self,
        args: &[Val],
        structure: Structure,
        n_donated: usize,
        f: impl FnMut(&[Val], &mut Option<T>) -> Result<Vec<Val>>,
    ) -> Result<T> {
        let key = (args.iter().map(Val::aval).collect(), structure, pullback_trace::settings::settings());
        if let Some(program) = self.find(&key) {
            let outs = self.span.scope(|| pullback_trace::bind(JIT, &program.params, args))?;
            return Ok(rebuild(&program.result, outs));
        }
        let (traced, result) = self.span.scope(|| traced(f, &key.0))?;
        let mut jit = Jit::new(self.name.clone(), traced.jaxpr);
        let n_captured = traced.captured.len();
        jit.donated_invars[n_captured..][..n_donated].fill(true);
        let program = Arc::new(Program { params: Params::new(jit), result: super::hollow(&result) });
        let all = if n_captured == 0 { args } else { &[&traced.captured[..], args].concat() };
        let outs = self.span.scope(|| pullback_trace::bind(JIT, &program.params, all))?;
        if n_captured == 0 {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, program.clone());
        }
        Ok(rebuild(&program.result, outs))
    }
}

/// The function as a jaxpr, and a result of its structure.
pub(super) fn traced<T>(
    mut f: impl FnMut(&[Val], &mut Option<T>) -> Result<Vec<Val>>,
    avals: &[Aval],
) -> Result<(Traced, T)> {
    let mut structure = None;
    let traced = pullback_trace::trace_to_jaxpr(avals, &mut |args| Ok((f(args, &mut structure)?, None)))?;
    Ok((traced, structure.ok_or_else(|| Error::internal("the function ran"))?))
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
    let programs = Programs::new();
    move |arg| {
        let flat = |args: &[Val], structure: &mut Option<R::Tree>| call_flat(&f, arg, args, structure);
        programs.call(&vals(arg)?, structure_of(arg), 0, flat)
    }
}

/// As [`jit`] for a function that takes its first argument: it is moved into the call, and results may lie in its memory.
/// What nobody else holds a clone of is gone after the call.
///
/// ```
/// use pullback::prelude::*;
///
/// let step = jit_owned(|weights: Array, gradient: &Array| weights - gradient * 0.5);
/// let weights = arr![1.0, 2.0];
/// let weights = step(weights, &arr![2.0, 2.0])?;
/// assert_eq!(weights, arr![0.0, 1.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// To use what was given away does not compile:
/// ```compile_fail,E0382
/// use pullback::prelude::*;
/// let step = jit_owned(|weights: Array, gradient: &Array| weights - gradient * 0.5);
/// let weights = arr![1.0, 2.0];
/// let next = step(weights, &arr![2.0, 2.0]);
/// println!("{weights}");
/// ```
///
/// # Errors
/// As [`jit`].
#[track_caller]
pub fn jit_owned<D: Tree, A: Tree, R: Output>(f: impl Fn(D, &A) -> R) -> impl Fn(D, &A) -> Result<R::Tree> {
    let programs = Programs::new();
    move |owned, arg| {
        let both = Pair(&owned, arg);
        let mut args = both.leaves().into_iter().map(Array::val).collect::<Result<Vec<Val>>>()?;
        let structure = both.structure();
        let (like, n_owned) = (super::hollow(&owned), crate::tree::leaves_of(&owned).len());
        drop(owned);
        args[..n_owned].iter_mut().try_for_each(keep_what_others_hold)?;
        let flat = |args: &[Val], structure: &mut Option<R::Tree>| {
            let out = caught(|| {
                let (owned, arg) = Pair(&like, arg).with_leaves(&mut args.iter().cloned().map(Array::from_val));
                f(owned, &arg).into_result()
            })?;
            let flat = vals(&out)?;
            *structure = Some(out);
            Ok(flat)
        };
        programs.call(&args, structure, n_owned, flat)
    }
}

/// An array that others see too is given as another one of the same memory, which a call neither overwrites nor deletes.
fn keep_what_others_hold(val: &mut Val) -> Result<()> {
    if let Val::Array(array) = val
        && !array.is_held_once()
    {
        *array = array.twin()?;
    }
    Ok(())
}

/// The function that gives the results of `f`, of which a reverse derivative keeps the arguments alone: what it needs
/// besides is computed again. It needs less memory and more time.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::checkpoint;
///
/// let block = checkpoint(|x: &Array| x.sin().sin());
/// let slope = grad(|x: &Array| Ok(block(x)?.sum()))(&arr![1.0])?;
/// assert_eq!(slope, grad(|x: &Array| x.sin().sin().sum())(&arr![1.0])?);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives what waits in an operation of `f`.
#[track_caller]
pub fn checkpoint<A: Tree, R: Output>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    move |arg| {
        span.scope(|| {
            let args = vals(arg)?;
            let (traced, result) = traced_at(&f, arg, &args)?;
            let params = Params::new(Checkpoint::new(traced.jaxpr, true));
            let outs = pullback_trace::bind(CHECKPOINT, &params, &[&traced.captured[..], &args].concat())?;
            Ok(rebuild(&result, outs))
        })
    }
}

pub(crate) fn traced_at<A: Tree, R: Output>(f: &impl Fn(&A) -> R, arg: &A, args: &[Val]) -> Result<(Traced, R::Tree)> {
    let avals: Vec<Aval> = args.iter().map(Val::aval).collect();
    traced(|args, structure| call_flat(f, arg, args, structure), &avals)
}

/// The jaxpr of `f` at an argument, as text.
///
/// # Errors
/// Whatever waits in an operation of `f`.
#[track_caller]
pub fn make_jaxpr<A: Tree, R: Output>(f: impl Fn(&A) -> R, arg: &A) -> Result<String> {
    Span::of(Location::caller()).scope(|| Ok(traced_at(&f, arg, &vals(arg)?)?.0.jaxpr.to_string()))
}

/// Shapes and dtypes of the results of `f`, which does not run: in the order of the leaves.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::eval_shape;
///
/// let (rows, columns) = (1 << 40, 3);
/// let tall = |x: &Array| x.broadcast_to(&[rows, columns]).sin();
/// assert_eq!(eval_shape(tall, &arr![1.0])?, [(vec![1 << 40, 3], DType::F32)]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// Whatever waits in an operation of `f`.
#[track_caller]
pub fn eval_shape<A: Tree, R: Output>(f: impl Fn(&A) -> R, arg: &A) -> Result<Vec<(Vec<usize>, DType)>> {
    Span::of(Location::caller()).scope(|| {
        let (traced, _) = traced_at(&f, arg, &vals(arg)?)?;
        let shape = |aval: &Aval| (aval.shape.to_vec(), aval.dtype);
        Ok(traced.jaxpr.out_avals().iter().map(shape).collect())
    })
}
