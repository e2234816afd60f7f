//! The evaluating emitter: a primitive on arrays gives arrays, now.
//!
//! What to do for a primitive, its params and the avals of its operands is decided once and remembered ([`Plan`]): an
//! elementwise kernel for any size, the operand's own memory, or a compiled one-equation jaxpr. Numbers are passed as
//! arrays of rank 0, so their values are in no key.

mod convert;
mod pointwise;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pullback_base::{Array, Aval, Error, ErrorKind, Result};
use pullback_core::control::Jit;
use pullback_ir::lower::{Control, CpuForm, is_computable};
use pullback_ir::{Builder, Emit, EmitRef, JaxprRef, Params, PrimRef, TraceId, Val, Vals};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::kept::make_room;
use crate::placement::placed;
use crate::{Executable, checks, executable_donating, flags};
use pointwise::Pointwise;

/// Plans that are remembered before all are forgotten; executables among them go earlier.
const MAX_PLANS: usize = 8192;

/// Performs primitives on values that are known.
pub struct Eval;

/// The evaluating emitter.
pub fn eval() -> EmitRef {
    static EVAL: LazyLock<EmitRef> = LazyLock::new(|| Arc::new(Eval));
    EVAL.clone()
}

impl Emit for Eval {
    fn id(&self) -> TraceId {
        TraceId::EVAL
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        eval_bind(prim, params, ins)
    }
}

/// What a plan depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    prim: PrimRef,
    params: Params,
    avals: SmallVec<[Aval; 4]>,
}

/// How an application is performed.
#[derive(Clone)]
enum Plan {
    /// By an elementwise kernel of any size.
    Pointwise(Arc<Pointwise>, Aval),
    /// The operand's memory under another aval.
    Alias(Aval),
    /// Element by element on the host: the engine does not hold the dtypes.
    Convert(Aval),
    /// By the primitive's own evaluation.
    Own,
    /// By a compiled jaxpr, with what the call donates.
    Compiled(Arc<Executable>, Arc<[bool]>),
}

type Plans = HashMap<Key, Plan, FxBuildHasher>;

/// Plans that all threads share, so that a kernel is compiled once.
static SHARED: LazyLock<Mutex<Plans>> = LazyLock::new(Mutex::default);
/// Counts how often all plans were dropped.
static GENERATION: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static RECENT: RefCell<(u64, Plans)> = RefCell::default();
}

/// Forgets all plans of all threads.
pub(crate) fn clear() {
    let old = std::mem::take(&mut *SHARED.lock().unwrap_or_else(PoisonError::into_inner));
    drop(old);
    pointwise::clear();
    flags::clear();
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// When the executables of plans ran last.
pub(crate) fn times() -> Vec<u64> {
    let plans = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    plans.values().filter_map(Plan::used).collect()
}

/// Forgets plans whose executables did not run after a time, and gives them, to be dropped outside of locks.
pub(crate) fn forget(last: u64) -> impl Sized {
    let is_old = |plan: &Plan| plan.used().is_some_and(|used| used <= last);
    let mut plans = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let old: Vec<(Key, Plan)> = plans.extract_if(|_, plan| is_old(plan)).collect();
    drop(plans);
    // Threads have plans of their own, which hold the same executables.
    GENERATION.fetch_add(1, Ordering::Relaxed);
    old
}

/// Performs a primitive on known values.
///
/// # Errors
/// What abstract evaluation raises; `UnexpectedTracer` for a tracer; `NotImplemented` for what the engine cannot do.
pub fn eval_bind(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    if let Some(checker) = checks::checker() {
        return checks::unchecked(|| checker(prim, params, ins));
    }
    placed(prim, params, ins, |params| {
        let avals: SmallVec<[Aval; 4]> = ins.iter().map(|val| val.aval().sharded(None)).collect();
        let key = Key { prim, params: params.clone(), avals };
        if checks::is_armed() {
            checks::check_may_run(prim, params, ins)?;
            return checked(key, ins);
        }
        match recent(&key) {
            Some(plan) => perform(&plan, &key, ins),
            None => first(key, ins),
        }
    })
}

/// As [`eval_bind`], looking at the results. What is donated is needed to run again, so it stays until then.
fn checked(key: Key, ins: &[Val]) -> Result<Vals> {
    let (prim, params) = (key.prim, key.params.clone());
    let Some(flagged) = flags::with_flag(&params, checks::forbidden())? else {
        let outs = undonated(key, ins)?;
        checks::check(prim, &params, ins, &outs)?;
        return Ok(outs);
    };
    let mut outs = undonated(Key { params: flagged, ..key }, ins)?;
    let flag = outs.pop().expect("the flag is the last result");
    if flags::is_set(&flag)? {
        checks::check(prim, &params, ins, &outs)?;
    }
    Ok(outs)
}

/// The results, from operands that stay.
fn undonated(key: Key, ins: &[Val]) -> Result<Vals> {
    let (plan, own) = match recent(&key) {
        Some(plan) => (plan, None),
        None => planned(&key, ins)?,
    };
    own.unwrap_or_else(|| perform(&plan.without_donation(), &key, ins))
}

fn recent(key: &Key) -> Option<Plan> {
    let generation = GENERATION.load(Ordering::Relaxed);
    RECENT
        .with_borrow_mut(|(seen, plans)| {
            if *seen != generation {
                *seen = generation;
                return (None, std::mem::take(plans));
            }
            (plans.get(key).cloned(), Plans::default())
        })
        .0
}

/// The first application of its kind on this thread.
fn first(key: Key, ins: &[Val]) -> Result<Vals> {
    let (plan, own) = planned(&key, ins)?;
    own.unwrap_or_else(|| perform(&plan, &key, ins))
}

/// Decides how applications of this kind are performed, and remembers it; with the results, where a primitive evaluates
/// itself.
fn planned(key: &Key, ins: &[Val]) -> Result<(Plan, Option<Result<Vals>>)> {
    if let Some(leak) = ins.iter().find(|val| val.is_tracer()) {
        let text = format!("{} outside of a trace was given a leaked tracer of type {}", key.prim.name(), leak.aval());
        return Err(Error::new(ErrorKind::UnexpectedTracer, text));
    }
    let own = key.prim.eval(&key.params, ins);
    let shared = || SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = shared().get(key).cloned();
    let plan = match (known, &own) {
        (Some(plan), _) => plan,
        (None, Some(_)) => Plan::Own,
        (None, None) => plan(key)?,
    };
    make_room();
    // Params may hold functions of a front end: old plans go when no lock is held.
    let old = remember(&mut shared(), key, &plan);
    let recent = RECENT.with_borrow_mut(|(_, plans)| remember(plans, key, &plan));
    drop((old, recent));
    Ok((plan, own))
}

/// Adds a plan, and gives those that are forgotten for it.
fn remember(plans: &mut Plans, key: &Key, plan: &Plan) -> Plans {
    let old = if plans.len() >= MAX_PLANS { std::mem::take(plans) } else { Plans::default() };
    plans.insert(key.clone(), plan.clone());
    old
}

impl Plan {
    /// When its executable ran last, if it has one.
    fn used(&self) -> Option<u64> {
        match self {
            Plan::Compiled(executable, _) => Some(executable.stamp.used()),
            Plan::Pointwise(..) | Plan::Alias(_) | Plan::Convert(_) | Plan::Own => None,
        }
    }

    /// The same for operands that stay.
    fn without_donation(&self) -> Plan {
        match self {
            Plan::Compiled(executable, _) => Plan::Compiled(executable.clone(), [].into()),
            other => other.clone(),
        }
    }
}

fn plan(key: &Key) -> Result<Plan> {
    pullback_core::control::set_shard_runner(crate::shards::runner);
    let Key { prim, params, avals } = key;
    let outs = prim.abstract_eval(params, avals)?;
    outs.iter().try_for_each(|aval| aval.check_extent())?;
    if prim.is("convert_element_type") && !(is_computable(avals[0]) && is_computable(outs[0])) {
        return Ok(Plan::Convert(outs[0]));
    }
    match prim.cpu(params, avals, &outs) {
        CpuForm::Alias => Ok(Plan::Alias(outs[0])),
        CpuForm::Scalar(form) if outs.len() == 1 && pointwise::fits(avals, outs[0]) => {
            Ok(Plan::Pointwise(pointwise::kernel(key.prim, params, avals, outs[0], &form)?, outs[0]))
        }
        CpuForm::Control(Control::Call(inner)) => {
            let donated = params.get::<Jit>().map(|jit| jit.donated_invars.clone()).unwrap_or_default();
            Ok(Plan::Compiled(executable_donating(&inner, &donated)?, donated.into()))
        }
        CpuForm::Missing(reason) => {
            Err(Error::not_implemented(format!("{} on the CPU is not implemented: {reason}", prim.name())))
        }
        CpuForm::Scalar(_)
        | CpuForm::Element(_)
        | CpuForm::Pieces(_)
        | CpuForm::Reduce { .. }
        | CpuForm::ArgReduce { .. }
        | CpuForm::Cumulative { .. }
        | CpuForm::Contract(_)
        | CpuForm::Scatter { .. }
        | CpuForm::Sort { .. }
        | CpuForm::Decompose(_)
        | CpuForm::Control(_)
        | CpuForm::Host(_)
        | CpuForm::Body(_) => {
            let jaxpr = one_equation(key, &outs);
            Ok(Plan::Compiled(Arc::new(Executable::compile(&jaxpr)?), [].into()))
        }
    }
}

fn one_equation(key: &Key, outs: &[Aval]) -> JaxprRef {
    let builder = Builder::new();
    let ins: Vec<Val> = key.avals.iter().map(|&aval| builder.input(aval)).collect();
    let outs = builder.record(key.prim, &key.params, &ins, outs);
    JaxprRef::new(builder.finish(&outs, None).0)
}

fn perform(plan: &Plan, key: &Key, ins: &[Val]) -> Result<Vals> {
    match plan {
        Plan::Pointwise(kernel, out) => Ok(smallvec::smallvec![Val::Array(kernel.run(ins, *out)?)]),
        Plan::Alias(out) => Ok(smallvec::smallvec![Val::Array(array(key.prim, &ins[0])?.reinterpret(*out)?)]),
        Plan::Convert(out) => Ok(smallvec::smallvec![Val::Array(convert::convert(&array(key.prim, &ins[0])?, *out)?)]),
        Plan::Own => match key.prim.eval(&key.params, ins) {
            Some(result) => result,
            None => Err(Error::internal(format!("{} does not evaluate itself any more", key.prim.name()))),
        },
        Plan::Compiled(executable, donated) => {
            let args = ins.iter().map(|val| array(key.prim, val)).collect::<Result<SmallVec<[Array; 8]>>>()?;
            let outs = executable.run(&args, donated)?;
            Ok(outs.into_iter().map(Val::Array).collect())
        }
    }
}

fn array(prim: PrimRef, val: &Val) -> Result<Array> {
    val.to_array().ok_or_else(|| {
        let text = format!("{} outside of a trace was given a leaked tracer of type {}", prim.name(), val.aval());
        Error::new(ErrorKind::UnexpectedTracer, text)
    })
}
