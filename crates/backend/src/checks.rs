//! NaN and infinity as errors, while a debugging setting asks for it: which primitive made it, on which line. Likewise
//! running anything at all.
//!
//! Results of single primitives are looked at as they come. A program that gave a bad number is run again equation by
//! equation, bodies of loops included, until one is at fault. Nothing is looked at, and nothing costs, until a front end
//! first asks for it ([`check_numbers`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result, Scalar};
use pullback_core::control::Jit;
use pullback_core::prims::V;
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{JaxprRef, Params, PrimRef, Val, eval_jaxpr};

use crate::Eval;

/// Which numbers are errors on this thread now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forbidden {
    /// Not-a-numbers.
    pub nans: bool,
    /// Infinities.
    pub infs: bool,
    /// All of them: nothing may run.
    pub everything: bool,
}

static ARMED: AtomicBool = AtomicBool::new(false);
static FORBIDDEN: OnceLock<fn() -> Forbidden> = OnceLock::new();

/// From now on `forbidden` is asked, for each result, which numbers are errors.
pub fn check_numbers(forbidden: fn() -> Forbidden) {
    FORBIDDEN.get_or_init(|| forbidden);
    ARMED.store(true, Ordering::Relaxed);
}

/// Whether results on this thread must be looked at.
pub(crate) fn is_armed() -> bool {
    ARMED.load(Ordering::Relaxed) && forbidden() != Forbidden::default()
}

fn forbidden() -> Forbidden {
    FORBIDDEN.get().map_or_else(Forbidden::default, |forbidden| forbidden())
}

/// Refuses to perform a primitive where nothing may run.
///
/// # Errors
/// `Runtime`, with what would have run.
pub(crate) fn check_may_run(prim: PrimRef, params: &Params) -> Result<()> {
    if !forbidden().everything {
        return Ok(());
    }
    let name = params.get::<Jit>().map_or_else(|| prim.name().to_string(), |jit| format!("jit({})", jit.name));
    let text = format!("JAX tried to execute function {name}, but the no_execution config option is set");
    Err(Error::new(ErrorKind::Runtime, text))
}

/// Looks at the results of a primitive.
///
/// # Errors
/// `FloatingPoint` when one holds a forbidden number, at the line of the equation that made it.
pub(crate) fn check(prim: PrimRef, params: &Params, ins: &[Val], outs: &[Val]) -> Result<()> {
    let forbidden = forbidden();
    let Some(found) = outs.iter().find_map(|out| bad_number(out, forbidden).transpose()) else { return Ok(()) };
    let found = found?;
    let in_avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
    let out_avals: Vec<Aval> = outs.iter().map(Val::aval).collect();
    if let CpuForm::Control(control) = prim.cpu(params, &in_avals, &out_avals) {
        // An equation at fault ends this with its own error.
        step_through(&control, ins)?;
    }
    let text = format!("invalid value ({found}) encountered in {}", prim.name());
    Err(Error::new(ErrorKind::FloatingPoint, text))
}

/// The name of a forbidden number in a value.
fn bad_number(val: &Val, forbidden: Forbidden) -> Result<Option<&'static str>> {
    let Some(array) = val.to_array() else { return Ok(None) };
    let (nan, inf) = classify(&array)?;
    Ok(if nan && forbidden.nans {
        Some("nan")
    } else if inf && forbidden.infs {
        Some("inf")
    } else {
        None
    })
}

/// Whether the array holds a NaN, and an infinity.
fn classify(array: &Array) -> Result<(bool, bool)> {
    let dtype = array.dtype();
    let buffer = array.buffer()?;
    let bytes = &buffer.bytes()[..array.aval().size_bytes()];
    Ok(match dtype {
        DType::F32 | DType::C64 => {
            any(bytes.chunks_exact(4), |b| f32::from_le_bytes(b.try_into().expect("four")).into())
        }
        DType::F64 | DType::C128 => any(bytes.chunks_exact(8), |b| f64::from_le_bytes(b.try_into().expect("eight"))),
        _ if dtype.is_float() => {
            let elements: Vec<f64> = array.elements()?.into_iter().map(Scalar::as_f64).collect();
            any(elements.iter(), |x| *x)
        }
        _ => (false, false),
    })
}

fn any<T>(elements: impl Iterator<Item = T>, number: impl Fn(T) -> f64) -> (bool, bool) {
    elements.map(number).fold((false, false), |(nan, inf), x| (nan | x.is_nan(), inf | x.is_infinite()))
}

fn run(jaxpr: &JaxprRef, ins: &[Val]) -> Result<Vec<Val>> {
    eval_jaxpr(&Eval, jaxpr, ins)
}

/// Runs what a primitive holds equation by equation. Its results are known already.
fn step_through(control: &Control, ins: &[Val]) -> Result<()> {
    match control {
        Control::Call(jaxpr) => run(jaxpr, ins).map(|_| ()),
        Control::Switch(branches) => {
            let index = number(&ins[0])?.number().as_i128().clamp(0, branches.len() as i128 - 1);
            run(&branches[index as usize], &ins[1..]).map(|_| ())
        }
        Control::While { cond, n_cond_consts, body, n_body_consts } => {
            let (cond_consts, rest) = ins.split_at(*n_cond_consts);
            let (body_consts, carry) = rest.split_at(*n_body_consts);
            let mut carry = carry.to_vec();
            while number(&run(cond, &[cond_consts, &carry].concat())?[0])?.is_nonzero() {
                carry = run(body, &[body_consts, &carry].concat())?;
            }
            Ok(())
        }
        Control::Scan { body, n_consts, n_carry, length, reverse } => {
            let (consts, rest) = ins.split_at(*n_consts);
            let (carry, xs) = rest.split_at(*n_carry);
            let mut carry = carry.to_vec();
            for step in 0..*length {
                let at = if *reverse { length - 1 - step } else { step };
                let slices: Result<Vec<Val>> = xs.iter().map(|x| V::new(&Eval, x).index_in_dim(at, 0).done()).collect();
                carry = run(body, &[consts, &carry, &slices?].concat())?;
                carry.truncate(*n_carry);
            }
            Ok(())
        }
    }
}

fn number(val: &Val) -> Result<Scalar> {
    match val.to_array() {
        Some(array) => array.element(0),
        None => Err(Error::internal("a tracer among evaluated values")),
    }
}
