//! NaN and infinity as errors, while a debugging setting asks for it: which primitive made it, on which line. Likewise
//! running anything at all.
//!
//! Results of single primitives are looked at as they come. A program that gave a bad number is run again equation by
//! equation, bodies of loops included, until one is at fault. Nothing is looked at, and nothing costs, until a front end
//! first asks for it ([`check_numbers`]).

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pullback_base::aval::tuple_text;
use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result, Scalar};
use pullback_core::control::Jit;
use pullback_core::prims::V;
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{JaxprRef, Params, PrimRef, Val, Vals, eval_jaxpr};

use crate::Eval;
use crate::transfers::transfer_operands;

/// Which numbers are errors on this thread now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forbidden {
    /// Not-a-numbers.
    pub nans: bool,
    /// Infinities.
    pub infs: bool,
    /// All of them: nothing may run.
    pub everything: bool,
    /// None, but values of the host that enter are told ([`crate::on_transfer`]).
    pub transfers: bool,
    /// None, but operations are performed by the [`Checker`].
    pub mistakes: bool,
}

/// Performs a primitive on known values and looks for mistakes that pass in silence otherwise.
pub type Checker = fn(PrimRef, &Params, &[Val]) -> Result<Vals>;

static CHECKER: OnceLock<Checker> = OnceLock::new();

thread_local! {
    /// Whether the checker is at work: what it performs itself is not checked.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Who performs operations while mistakes are looked for. The first one stays.
pub fn set_checker(checker: Checker) {
    let _ = CHECKER.set(checker);
}

/// Runs `body`, whose operations the checker does not look at.
pub fn unchecked<T>(body: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            AT_WORK.set(self.0);
        }
    }
    let _restore = Restore(AT_WORK.replace(true));
    body()
}

/// The checker, where mistakes are looked for.
pub(crate) fn checker() -> Option<Checker> {
    let is_asked = ARMED.load(Ordering::Relaxed) && forbidden().mistakes && !AT_WORK.get();
    if is_asked { CHECKER.get().copied() } else { None }
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
    ARMED.load(Ordering::Relaxed) && Forbidden { mistakes: false, ..forbidden() } != Forbidden::default()
}

pub(crate) fn forbidden() -> Forbidden {
    FORBIDDEN.get().map_or_else(Forbidden::default, |forbidden| forbidden())
}

/// Refuses to perform a primitive where nothing may run, or on values of the host where they may not enter.
///
/// # Errors
/// `Runtime`, with what would have run.
pub(crate) fn check_may_run(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<()> {
    let forbidden = forbidden();
    if forbidden.transfers {
        transfer_operands(params, ins)?;
    }
    if !forbidden.everything {
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
    if !forbidden.nans && !forbidden.infs {
        return Ok(());
    }
    let Some(found) = outs.iter().find_map(|out| bad_number(out, forbidden).transpose()) else { return Ok(()) };
    let (name, array) = found?;
    let in_avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
    let out_avals: Vec<Aval> = outs.iter().map(Val::aval).collect();
    if let CpuForm::Control(control) = prim.cpu(params, &in_avals, &out_avals) {
        // An equation at fault ends this with its own error.
        step_through(&control, ins)?;
    }
    let place = where_it_was_made(name, &array, ins)?;
    let text = format!("invalid value ({name}) encountered in {}{place}", prim.name());
    Err(Error::new(ErrorKind::FloatingPoint, text))
}

/// The name of a forbidden number in a value, and the array.
fn bad_number(val: &Val, forbidden: Forbidden) -> Result<Option<(&'static str, Array)>> {
    let Some(array) = val.to_array() else { return Ok(None) };
    let (nan, inf) = classify(&array)?;
    Ok(if nan && forbidden.nans {
        Some(("nan", array))
    } else if inf && forbidden.infs {
        Some(("inf", array))
    } else {
        None
    })
}

/// Lines that say which element it is and what the operands are there, where each element comes of its own operands.
fn where_it_was_made(name: &str, array: &Array, ins: &[Val]) -> Result<String> {
    let aval = array.aval();
    let is_bad = |x: &Scalar| if name == "nan" { x.is_nan() } else { x.is_infinite() };
    let Some(at) = array.elements()?.iter().position(is_bad) else { return Ok(String::new()) };
    let mut lines = String::new();
    if aval.rank() > 0 {
        lines += &format!("\n  element {} of {aval}", tuple_text(&position(at, &aval.shape)));
    }
    let operand = |val: &Val| -> Option<Result<Scalar>> {
        let array = val.to_array()?;
        match array.aval().shape[..] == aval.shape[..] {
            true => Some(array.element(at)),
            false if array.aval().rank() == 0 => Some(array.element(0)),
            false => None,
        }
    };
    let Some(operands) = ins.iter().map(operand).collect::<Option<Vec<_>>>() else { return Ok(lines) };
    let operands = operands.into_iter().collect::<Result<Vec<Scalar>>>()?;
    if operands.is_empty() {
        return Ok(lines);
    }
    let shown: Vec<String> = operands.iter().map(ToString::to_string).collect();
    lines += &format!("\n  operands there: {}", shown.join(", "));
    if operands.iter().any(|x| !x.is_nonzero()) && operands.iter().any(|x| x.is_infinite()) && operands.len() == 2 {
        lines += "\n  0 times infinity: in a gradient, the 0 is what a where, an index or a mask left of a value that it dropped;\n  \
                  pullback.explain_grad says which one, under pullback.safe_grads() the product is 0";
    }
    Ok(lines)
}

/// The indices of an element, counted in row-major order.
fn position(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices: Vec<usize> = (shape.iter().rev())
        .map(|&size| {
            let index = at % size;
            at /= size;
            index
        })
        .collect();
    indices.reverse();
    indices
}

/// Whether the array holds a NaN, and an infinity.
fn classify(array: &Array) -> Result<(bool, bool)> {
    let dtype = array.dtype();
    let buffer = array.buffer()?;
    let bytes = &buffer.bytes()[..array.aval().size_bytes()];
    Ok(match dtype {
        DType::F32 | DType::C64 => classify_f32(bytes),
        DType::F64 | DType::C128 => classify_f64(bytes),
        DType::F16 => classify_f16(bytes),
        DType::BF16 => classify_bf16(bytes),
        _ if dtype.is_float() => {
            let elements = array.elements()?;
            (elements.iter().any(|x| x.is_nan()), elements.iter().any(|x| x.is_infinite()))
        }
        _ => (false, false),
    })
}

/// As [`classify`], of floats with so many bits of exponent and of fraction: by the bits, and in blocks that end early, so
/// that this goes at the speed of memory.
macro_rules! classify_words {
    ($name:ident, $word:ty, $fraction:literal) => {
        fn $name(bytes: &[u8]) -> (bool, bool) {
            const N: usize = size_of::<$word>();
            const MAGNITUDE: $word = <$word>::MAX;
            const INFINITY: $word = MAGNITUDE >> $fraction << $fraction;
            let magnitude = |b: &[u8]| <$word>::from_le_bytes(b.try_into().expect("N bytes")) & MAGNITUDE;
            let (mut nan, mut inf) = (false, false);
            for block in bytes.chunks(N * 1024) {
                // Signed words, and no early end: this is what processors compare many of at once.
                let is_bad = block.chunks_exact(N).fold(false, |bad, b| bad | (magnitude(b) >= INFINITY));
                if is_bad {
                    nan |= block.chunks_exact(N).any(|b| magnitude(b) > INFINITY);
                    inf |= block.chunks_exact(N).any(|b| magnitude(b) == INFINITY);
                }
            }
            (nan, inf)
        }
    };
}
classify_words!(classify_f16, i16, 10);
classify_words!(classify_bf16, i16, 7);
classify_words!(classify_f32, i32, 23);
classify_words!(classify_f64, i64, 52);

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
            let mut step = 0;
            while number(&run(cond, &[cond_consts, &carry].concat())?[0])?.is_nonzero() {
                carry = run(body, &[body_consts, &carry].concat()).map_err(|error| in_iteration(error, step))?;
                step += 1;
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
                carry = run(body, &[consts, &carry, &slices?].concat()).map_err(|error| in_iteration(error, at))?;
                carry.truncate(*n_carry);
            }
            Ok(())
        }
    }
}

/// The error of a body with the iteration, counted from 0, that it ended in.
fn in_iteration(error: Error, step: usize) -> Error {
    match error.kind() {
        ErrorKind::FloatingPoint => error.with_message(format!("{}\n  in iteration {step} of a loop", error.message())),
        _ => error,
    }
}

fn number(val: &Val) -> Result<Scalar> {
    match val.to_array() {
        Some(array) => array.element(0),
        None => Err(Error::internal("a tracer among evaluated values")),
    }
}
