//! Functions with derivatives that the user wrote.
//!
//! Where nothing is traced the function itself runs. Otherwise its jaxpr is bound with the rule, which holds the user's
//! closures and calls them on the emitter that a transform gives it.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::{Aval, DType, Error, Result, Span, bail};
use pullback_core::control::{
    CUSTOM_JVP_CALL, CUSTOM_VJP_CALL, CustomJvpCall, CustomVjpCall, JvpRuleRef, VjpRule, VjpRuleRef,
};
use pullback_ir::{CustomRule, EmitRef, JaxprRef, Params, Tangents, Val, Vals, eval_jaxpr};
use pullback_trace::{Traced, is_tracing, trace_to_jaxpr, with_current};

use super::compile::traced;
use super::gradient::{Type, instantiated, zeros};
use super::{Output, call_flat, hollow, is_same_type, rebuild, vals};
use crate::array::caught;
use crate::tree::Tree;

/// What a rule for reverse mode gives: the result, and the function from its cotangent to that of the argument; or an error
/// in their place.
pub trait Ruled {
    /// The result.
    type Out: Tree;
    /// The function.
    type Pull;
    /// Both, or the error.
    ///
    /// # Errors
    /// That error.
    fn into_result(self) -> Result<(Self::Out, Self::Pull)>;
}

impl<B: Tree, P> Ruled for (B, P) {
    type Out = B;
    type Pull = P;
    fn into_result(self) -> Result<(B, P)> {
        Ok(self)
    }
}

impl<B: Tree, P> Ruled for Result<(B, P)> {
    type Out = B;
    type Pull = P;
    fn into_result(self) -> Result<(B, P)> {
        self
    }
}

/// A call of a function that has a rule: the function as a jaxpr without consts, and its operands.
struct Staged<B> {
    jaxpr: JaxprRef,
    operands: Vec<Val>,
    side: Side,
    result: B,
}

/// What a rule knows of the call: how many operands are captured values, and the types of arguments and results.
struct Side {
    span: Span,
    n_captured: usize,
    ins: Type,
    outs: Vec<Aval>,
}

impl<B: Tree> Staged<B> {
    fn of<A: Tree, R: Output<Tree = B>>(
        f: &impl Fn(&A) -> R,
        arg: &A,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Staged<B>> {
        let ins = Type::of(arg)?;
        let (traced, result) = traced(|args, structure| call_flat(f, arg, args, structure), &ins.avals)?;
        let Traced { jaxpr, captured } = traced.hoisted();
        let side = Side { span, n_captured: captured.len(), ins, outs: jaxpr.out_avals() };
        Ok(Staged { jaxpr, operands: [captured, args].concat(), side, result })
    }
}

impl Side {
    /// A derivative in what the function uses but does not take would be lost.
    fn check_captured(&self, mut perturbed: impl Iterator<Item = bool>) -> Result<()> {
        if perturbed.any(|is| is) {
            bail!(
                NotImplemented,
                "a function with a derivative of its own uses a value that is differentiated and is none of its arguments. \
                 Make it an argument."
            );
        }
        Ok(())
    }

    /// Results of a rule, which are to be of the types of the function's.
    fn check_outs(&self, outs: &[Val]) -> Result<()> {
        let fits = outs.len() == self.outs.len()
            && outs.iter().zip(&self.outs).all(|(out, &want)| is_same_type(out.aval(), want));
        if !fits {
            let have: Vec<Aval> = outs.iter().map(Val::aval).collect();
            bail!(Type, "the rule of a function gives {have:?}, where the function gives {:?}", self.outs);
        }
        Ok(())
    }
}

/// Whether the function itself is to run: on known values, with nothing traced around.
fn is_eager(args: &[Val]) -> bool {
    !is_tracing() && !args.iter().any(Val::is_tracer)
}

/// The function `f` with a forward derivative of its own: `rule` gives the result and its tangent, from argument and tangent.
///
/// Reverse mode is the transpose of what `rule` does to the tangent, which must be linear in it. The rule is itself
/// differentiated for higher derivatives.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::custom_jvp;
///
/// // The derivative of log(1 + eˣ), written so that it does not overflow.
/// let log1pexp = custom_jvp(
///     |x: &Array| (x.exp() + 1.0).log(),
///     |x: &Array, t: &Array| ((x.exp() + 1.0).log(), t * (1.0 - 1.0 / (x.exp() + 1.0))),
/// );
/// let slope = grad(|x: &Array| Ok(log1pexp(x)?.sum()))(&arr![100.0])?;
/// assert_eq!(slope, arr![1.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives what waits in an operation of `f`; a derivative of it gives what waits in an operation of
/// `rule`, a `Type` error when the rule's results are not of the types of `f`, and a `NotImplemented` error for derivatives
/// in values that the closures use without taking them.
#[track_caller]
pub fn custom_jvp<A, R, S>(
    f: impl Fn(&A) -> R,
    rule: impl Fn(&A, &A) -> S + Send + Sync + 'static,
) -> impl Fn(&A) -> Result<R::Tree>
where
    A: Tree + Send + Sync + 'static,
    R: Output,
    S: Output<Tree = (R::Tree, R::Tree)>,
{
    let (span, rule) = (Span::of(Location::caller()), Arc::new(rule));
    move |arg| {
        span.scope(|| {
            let args = vals(arg)?;
            if is_eager(&args) {
                return f(arg).into_result();
            }
            let staged = Staged::of(&f, arg, args, span)?;
            let (like, rule) = (hollow(arg), rule.clone());
            let call = move |xs: &[Val], ts: &[Val]| {
                let (x, t) = (rebuild(&like, xs.iter().cloned()), rebuild(&like, ts.iter().cloned()));
                let (out, dot) = caught(|| rule(&x, &t).into_result())?;
                let outs = vals(&out)?;
                Ok((outs, Type::of(&out)?.tangents("the rule of custom_jvp", &dot)?))
            };
            let rule = JvpRuleRef(Arc::new(ForwardRule { side: staged.side, call }));
            let name = "custom_jvp".into();
            let params = CustomJvpCall { name, call_jaxpr: staged.jaxpr, jvp: rule, symbolic_zeros: false };
            let outs = pullback_trace::bind(CUSTOM_JVP_CALL, &Params::new(params), &staged.operands)?;
            Ok(rebuild(&staged.result, outs))
        })
    }
}

/// Results and tangents, from arguments and tangents.
struct ForwardRule<F> {
    side: Side,
    call: F,
}

impl<F> CustomRule for ForwardRule<F>
where
    F: Fn(&[Val], &[Val]) -> Result<(Vec<Val>, Vec<Option<Val>>)> + Send + Sync,
{
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let (captured, own) = tangents.split_at(self.side.n_captured);
        self.side.check_captured(captured.iter().map(Option::is_some))?;
        let run = || {
            let dots = instantiated(&self.side.ins.avals, own.iter().cloned())?;
            let (outs, dots) = (self.call)(&primals[self.side.n_captured..], &dots)?;
            self.side.check_outs(&outs)?;
            Ok((outs.into(), dots.into()))
        };
        with_current(e.clone(), || self.side.span.scope(run))
    }
    fn name(&self) -> String {
        "rule".into()
    }
}

/// The function `f` with a reverse derivative of its own: `rule` gives the result and the function from its cotangent to that
/// of the argument. What that function uses of the rule's values is kept for it.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::custom_vjp;
///
/// let safe_sqrt = custom_vjp(
///     |x: &Array| x.sqrt(),
///     |x: &Array| {
///         let y = x.sqrt();
///         (y.clone(), move |ct: Array| ct / (2.0 * &y).maximum(0.5))
///     },
/// );
/// let slope = grad(|x: &Array| Ok(safe_sqrt(x)?.sum()))(&arr![0.0, 4.0])?;
/// assert_eq!(slope, arr![2.0, 0.25]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`custom_jvp`]; forward derivatives are `Type` errors, as there is no rule for them.
#[track_caller]
pub fn custom_vjp<A, R, Q, C>(
    f: impl Fn(&A) -> R,
    rule: impl Fn(&A) -> Q + Send + Sync + 'static,
) -> impl Fn(&A) -> Result<R::Tree>
where
    A: Tree + Send + Sync + 'static,
    R: Output,
    Q: Ruled<Out = R::Tree>,
    Q::Pull: FnOnce(R::Tree) -> C,
    C: Output<Tree = A>,
{
    let (span, rule) = (Span::of(Location::caller()), Arc::new(rule));
    move |arg| {
        span.scope(|| {
            let args = vals(arg)?;
            if is_eager(&args) {
                return f(arg).into_result();
            }
            let staged = Staged::of(&f, arg, args, span)?;
            let (like, rule) = (hollow(arg), rule.clone());
            let ins = Type::of(arg)?;
            let forward = move |xs: &[Val]| {
                let (out, pull) = caught(|| rule(&rebuild(&like, xs.iter().cloned())).into_result())?;
                let outs = vals(&out)?;
                let avals: Vec<Aval> = outs.iter().map(|out| cotangent(out.aval())).collect();
                let mut pull = Some(pull);
                let traced = trace_to_jaxpr(&avals, &mut |cts| {
                    let pull = pull.take().ok_or_else(|| Error::internal("the function is traced once"))?;
                    let ct = caught(|| pull(rebuild(&out, cts.iter().cloned())).into_result())?;
                    let zero = |(i, ct): (usize, Option<Val>)| ct.map_or_else(|| zero_of(ins.avals[i]), Ok);
                    let cts = ins.tangents("the rule of custom_vjp", &ct)?;
                    Ok((cts.into_iter().enumerate().map(zero).collect::<Result<_>>()?, None))
                })?;
                Ok((outs, traced.hoisted()))
            };
            let rule = VjpRuleRef(Arc::new(ReverseRule { side: staged.side, forward, backward: Mutex::new(None) }));
            let (name, bwd) = ("custom_vjp".into(), "pull".into());
            let params = CustomVjpCall { name, call_jaxpr: staged.jaxpr, fwd: rule, bwd, symbolic_zeros: false };
            let outs = pullback_trace::bind(CUSTOM_VJP_CALL, &Params::new(params), &staged.operands)?;
            Ok(rebuild(&staged.result, outs))
        })
    }
}

/// The type of cotangents as rules see them: for what has none, zeros of its own type.
fn cotangent(aval: Aval) -> Aval {
    if aval.tangent().dtype == DType::Float0 { aval.weak(false) } else { aval.tangent().weak(false) }
}

fn zero_of(aval: Aval) -> Result<Val> {
    zeros(cotangent(aval))
}

/// Results and the traced function of their cotangents, from arguments.
struct ReverseRule<F> {
    side: Side,
    forward: F,
    /// From what the rule kept, then cotangents of the results, to those of the arguments.
    backward: Mutex<Option<JaxprRef>>,
}

impl<F> ReverseRule<F> {
    /// All calls of one rule are of the same types, so that what it does to cotangents is one program.
    fn keep(&self, jaxpr: JaxprRef) -> Result<()> {
        let mut known = self.backward.lock().unwrap_or_else(PoisonError::into_inner);
        if *known.get_or_insert_with(|| jaxpr.clone()) != jaxpr {
            bail!(Value, "a rule of custom_vjp does one thing on one call and another on the next");
        }
        Ok(())
    }
}

impl<F: Fn(&[Val]) -> Result<(Vec<Val>, Traced)> + Send + Sync> VjpRule for ReverseRule<F> {
    fn forward(&self, e: &EmitRef, primals: &[Val], perturbed: &[bool]) -> Result<(Vals, Vec<Val>)> {
        let n_captured = self.side.n_captured;
        self.side.check_captured(perturbed[..n_captured].iter().copied())?;
        let (outs, Traced { jaxpr, captured }) =
            with_current(e.clone(), || self.side.span.scope(|| (self.forward)(&primals[n_captured..])))?;
        self.side.check_outs(&outs)?;
        self.keep(jaxpr)?;
        Ok((outs.into(), captured))
    }
    fn backward(&self, e: &EmitRef, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents> {
        let jaxpr = self.backward.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let jaxpr = jaxpr.ok_or_else(|| Error::internal("the backward rule ran before the forward rule"))?;
        let types: Vec<Aval> = self.side.outs.iter().map(|&aval| cotangent(aval)).collect();
        let own = |(i, ct): (usize, &Option<Val>)| {
            if self.side.outs[i].tangent().dtype == DType::Float0 { None } else { ct.clone() }
        };
        let run = || {
            let cts = instantiated(&types, cts.iter().enumerate().map(own))?;
            let found = eval_jaxpr(&**e, &jaxpr, &[residuals, &cts].concat())?;
            let has_one = |aval: &Aval| aval.tangent().dtype != DType::Float0;
            let found = found.into_iter().zip(&self.side.ins.avals).map(|(ct, aval)| has_one(aval).then_some(ct));
            Ok((0..self.side.n_captured).map(|_| None).chain(found).collect())
        };
        with_current(e.clone(), || self.side.span.scope(run))
    }
    fn names(&self) -> [String; 2] {
        ["rule".into(), "pull".into()]
    }
}
