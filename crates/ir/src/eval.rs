//! Evaluation of a jaxpr under any emitter: the walk that every transform of a jaxpr shares.

use pullback_base::{Result, Span};

use crate::emit::Emit;
use crate::jaxpr::{Atom, Jaxpr};
use crate::val::{Val, Vals};

/// Binds each equation of `jaxpr` on `emit`, with `args` as its inputs.
///
/// Values are dropped after their last use when nothing else holds them, as the environment is freed at the end only;
/// a program that needs less memory is compiled, not evaluated.
///
/// # Errors
/// What the emitter raises.
///
/// # Panics
/// If the number of arguments is not that of the inputs: a bug of the caller.
pub fn eval_jaxpr(emit: &dyn Emit, jaxpr: &Jaxpr, args: &[Val]) -> Result<Vec<Val>> {
    assert_eq!(jaxpr.invars.len(), args.len(), "arguments of a jaxpr");
    let mut env: Vec<Option<Val>> = vec![None; jaxpr.vars.len()];
    for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
        env[var.index()] = Some(Val::Array(array.clone()));
    }
    for (var, arg) in jaxpr.invars.iter().zip(args) {
        env[var.index()] = Some(arg.clone());
    }
    let around = Span::current().names();
    for eqn in &jaxpr.eqns {
        let ins: Vals = eqn.ins.iter().map(|&atom| read(&env, atom)).collect();
        let outs = eqn.span.under(around).scope(|| emit.bind(eqn.prim, &eqn.params, &ins))?;
        for (var, out) in eqn.outs().zip(outs) {
            env[var.index()] = Some(out);
        }
    }
    Ok(jaxpr.outs.iter().map(|&out| read(&env, out)).collect())
}

fn read(env: &[Option<Val>], atom: Atom) -> Val {
    match atom {
        Atom::Literal(scalar) => Val::Literal(scalar),
        Atom::Var(var) => env[var.index()].clone().expect("equations come after those they use"),
    }
}

/// Runs `body` with the span of the user's line as the current one when none is known yet.
pub fn with_span<T>(span: Span, body: impl FnOnce() -> T) -> T {
    if span.is_known() { span.scope(body) } else { body() }
}
