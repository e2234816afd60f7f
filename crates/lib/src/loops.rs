//! Loops of functions of the library: closures over values, as users write them.

use pullback_base::{Aval, DType, Result};
use pullback_core::control::{COND, Cond, SCAN, Scan, WHILE, While};
use pullback_ir::{JaxprRef, Params, Val, Vals};
use pullback_trace::{bind, trace_to_jaxpr};

use crate::convert::convert;

/// The jaxpr of a closure, and the values that it captured, which are its first operands.
fn closed(avals: &[Aval], f: &mut dyn FnMut(&[Val]) -> Result<Vec<Val>>) -> Result<(JaxprRef, Vec<Val>)> {
    let traced = trace_to_jaxpr(avals, &mut |args| Ok((f(args)?, None)))?.hoisted();
    Ok((traced.jaxpr, traced.captured))
}

fn strong(xs: &[Val]) -> Result<Vec<Val>> {
    let one = |x: &Val| if x.aval().weak_type { convert(x, x.aval().dtype, false) } else { Ok(x.clone()) };
    xs.iter().map(one).collect()
}

/// Carried values as strong ones: a body gives them back.
fn carried(init: &[Val]) -> Result<(Vec<Val>, Vec<Aval>)> {
    let init = strong(init)?;
    let avals = init.iter().map(Val::aval).collect();
    Ok((init, avals))
}

/// Repeats `body` while `condition` holds. The body gives values of the types of `init`.
///
/// # Errors
/// What the closures raise.
pub(crate) fn while_loop(
    init: &[Val],
    mut condition: impl FnMut(&[Val]) -> Result<Val>,
    mut body: impl FnMut(&[Val]) -> Result<Vec<Val>>,
) -> Result<Vals> {
    let (init, avals) = carried(init)?;
    let (cond_jaxpr, cond_consts) = closed(&avals, &mut |carry| Ok(vec![condition(carry)?]))?;
    let (body_jaxpr, body_consts) = closed(&avals, &mut |carry| strong(&body(carry)?))?;
    let (cond_nconsts, body_nconsts) = (cond_consts.len(), body_consts.len());
    let params = While { cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts };
    bind(WHILE, &Params::new(params), &[cond_consts, body_consts, init].concat())
}

/// Carries values over the slices of `xs` along their first axis: `body` takes the carry and a slice of each, and gives
/// the next carry and outputs, which are stacked after the last carry.
///
/// # Errors
/// What the closure raises.
pub(crate) fn scan(
    init: &[Val],
    xs: &[Val],
    length: usize,
    mut body: impl FnMut(&[Val], &[Val]) -> Result<Vec<Val>>,
) -> Result<Vals> {
    let (init, mut avals) = carried(init)?;
    let n_carry = init.len();
    for x in xs {
        let aval = x.aval();
        avals.push(Aval::new(&aval.shape[1..], aval.dtype));
    }
    let (jaxpr, consts) = closed(&avals, &mut |args| {
        let (carry, slices) = args.split_at(n_carry);
        strong(&body(carry, slices)?)
    })?;
    let params = Scan::new(jaxpr, length, false, consts.len(), n_carry);
    bind(SCAN, &Params::new(params), &[consts, init, xs.to_vec()].concat())
}

/// One of two functions of values, by a condition. The functions use nothing else.
///
/// # Errors
/// What the closures raise.
pub(crate) fn cond(
    condition: &Val,
    args: &[Val],
    mut yes: impl FnMut(&[Val]) -> Result<Vec<Val>>,
    mut no: impl FnMut(&[Val]) -> Result<Vec<Val>>,
) -> Result<Vals> {
    let avals: Vec<Aval> = args.iter().map(Val::aval).collect();
    let (no, of_no) = closed(&avals, &mut no)?;
    let (yes, of_yes) = closed(&avals, &mut yes)?;
    debug_assert!(of_no.is_empty() && of_yes.is_empty(), "a branch uses a value that is not its operand");
    let index = convert(condition, DType::I32, false)?;
    bind(COND, &Params::new(Cond::new(vec![no, yes])), &[&[index], args].concat())
}
