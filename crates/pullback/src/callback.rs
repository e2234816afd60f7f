//! Functions of the host inside of compiled programs.

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use pullback_base::{Array as Known, Aval, Error, Result, Span, bail};
use pullback_core::control::{Callback, HostFunction, PURE_CALLBACK, PureCallback, VmapMethod};
use pullback_ir::{Params, Val};
use pullback_loops::HostCall;

use crate::array::{Array, caught};
use crate::transforms::{Output, hollow, is_same_type};
use crate::tree::{Tree, leaves_of, structure_of};

type OnVals = dyn Fn(&[Val]) -> Result<Vec<Val>> + Send + Sync;

/// A closure on flat values with the types that it is called for.
struct Host {
    call: Arc<OnVals>,
    ins: Vec<Aval>,
    outs: Vec<Aval>,
}

impl HostCall for Host {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let operands = self.ins.iter().zip(ins).map(|(&aval, bytes)| Known::from_bytes(aval, bytes).map(Val::Array));
        let operands = operands.collect::<Result<Vec<Val>>>()?;
        // It runs in the midst of a program, perhaps of one that is being traced: what it does is done at once.
        let run = || pullback_trace::with_current(pullback_backend::eval(), || (self.call)(&operands));
        let found = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Err(Error::runtime(format!("a callback panicked: {}", text.unwrap_or_default())))
        })?;
        let have: Vec<Aval> = found.iter().map(Val::aval).collect();
        if have.len() != self.outs.len() || !have.iter().zip(&self.outs).all(|(&a, &b)| is_same_type(a, b)) {
            bail!(Type, "a callback gave {have:?}, where {:?} was said to come", self.outs);
        }
        for (val, out) in found.iter().zip(outs) {
            let array = val.to_array().ok_or_else(|| Error::internal("a callback runs on known values"))?;
            out.copy_from_slice(&array.to_bytes()?);
        }
        Ok(())
    }
    fn name(&self) -> String {
        "callback".into()
    }
}

impl Callback for Host {
    fn retyped(&self, ins: Vec<Aval>, outs: Vec<Aval>) -> HostFunction {
        HostFunction(Arc::new(Host { call: self.call.clone(), ins, outs }))
    }
}

/// Calls `f` with known arrays whenever a program comes to this point, compiled or not; its results are of the types of
/// `like`. `f` should have no effect: a call may be dropped or repeated. A batch calls it for each example. It has no
/// derivative; [`custom_jvp`](crate::custom_jvp) gives one.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::pure_callback;
///
/// let sorted = |x: &Array| -> Result<Array> {
///     let mut numbers = x.to_vec::<f32>()?;
///     numbers.sort_by(f32::total_cmp);
///     Ok(Array::from(numbers))
/// };
/// let f = jit(move |x: &Array| Ok(pure_callback(sorted, x, x)? * 2.0));
/// assert_eq!(f(&arr![3.0, 1.0, 2.0])?, arr![2.0, 4.0, 6.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// What `f` gives or panics with, and a `Type` error when its results are not of the types of `like`.
#[track_caller]
pub fn pure_callback<A, B, R>(f: impl Fn(&A) -> R + Send + Sync + 'static, like: &B, arg: &A) -> Result<B>
where
    A: Tree + Send + Sync + 'static,
    B: Tree,
    R: Output<Tree = B>,
{
    Span::of(Location::caller()).scope(|| {
        let avals = |arrays: Vec<&Array>| arrays.into_iter().map(|x| Ok(x.val()?.aval().weak(false))).collect();
        let (ins, outs): (Result<Vec<Aval>>, Result<Vec<Aval>>) = (avals(leaves_of(arg)), avals(leaves_of(like)));
        let args = leaves_of(arg).into_iter().map(Array::val).collect::<Result<Vec<Val>>>()?;
        let (input, structure) = (hollow(arg), structure_of(like));
        let call = move |vals: &[Val]| {
            let out = caught(|| f(&input.with_leaves(&mut vals.iter().cloned().map(Array::from_val))).into_result())?;
            if structure_of(&out) != structure {
                bail!(Type, "a callback gives a result of the structure that was said to come, this differs");
            }
            leaves_of(&out).into_iter().map(Array::val).collect()
        };
        let host = Host { call: Arc::new(call), ins: ins?, outs: outs? };
        let result_avals = host.outs.clone();
        let callback = HostFunction(Arc::new(host));
        let params = PureCallback { callback, result_avals, vmap_method: VmapMethod::Sequential };
        let found = pullback_trace::bind(PURE_CALLBACK, &Params::new(params), &args)?;
        Ok(like.with_leaves(&mut found.into_iter().map(Array::from_val)))
    })
}
