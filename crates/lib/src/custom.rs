//! Functions of the library that bring their own derivative: they show as `custom_jvp_call` in jaxprs.
//!
//! Owns the way from a function and a rule, both on values, to that primitive, and the functions that several areas of
//! the library share. It deliberately knows nothing of derivatives that users write.

use std::sync::{Arc, OnceLock};

use pullback_base::{Result, Scalar, bail};
use pullback_core::control::{CUSTOM_JVP_CALL, CustomJvpCall, JvpRuleRef};
use pullback_ir::{CustomRule, EmitRef, Params, Tangents, Val, Vals};
use pullback_trace::{bind_one, with_current};
use smallvec::smallvec;

use crate::convert;
use crate::jit::traced;
use crate::lax;

/// The statics that keep jaxprs of these functions apart from those of jitted functions of the same name.
const CUSTOM: i64 = -2;

/// The tangent, from result, operands and their tangents.
type Derivative = fn(&Val, &[Val], &[Option<Val>]) -> Result<Option<Val>>;

/// A function of one result with its forward derivative.
pub(crate) struct CustomJvp {
    name: &'static str,
    function: fn(&[Val]) -> Result<Val>,
    rule_name: &'static str,
    derivative: Derivative,
    shared: OnceLock<JvpRuleRef>,
}

impl CustomJvp {
    pub(crate) const fn new(
        name: &'static str,
        function: fn(&[Val]) -> Result<Val>,
        rule_name: &'static str,
        derivative: Derivative,
    ) -> CustomJvp {
        CustomJvp { name, function, rule_name, derivative, shared: OnceLock::new() }
    }

    /// Calls the function.
    pub(crate) fn call(&'static self, args: &[Val]) -> Result<Val> {
        let (name, call_jaxpr) = traced(self.name, &[CUSTOM], args, |args| Ok(vec![(self.function)(args)?]))?;
        let jvp = self.shared.get_or_init(|| JvpRuleRef(Arc::new(Rule(self)))).clone();
        let params = CustomJvpCall { name, call_jaxpr, jvp, symbolic_zeros: false };
        bind_one(CUSTOM_JVP_CALL, &Params::new(params), args)
    }
}

struct Rule(&'static CustomJvp);

impl CustomRule for Rule {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        with_current(e.clone(), || {
            let out = self.0.call(primals)?;
            let dot = (self.0.derivative)(&out, primals, tangents)?;
            Ok((smallvec![out], smallvec![dot]))
        })
    }

    fn name(&self) -> String {
        self.0.rule_name.to_string()
    }
}

/// `log(exp(x) + exp(y))` without overflow, of real operands in one floating dtype.
///
/// # Errors
/// `NotImplemented` for complex numbers; when shapes do not go together.
pub(crate) fn logaddexp(x: &Val, y: &Val) -> Result<Val> {
    static LOGADDEXP: CustomJvp = CustomJvp::new("logaddexp", logaddexp_value, "_logaddexp_jvp", logaddexp_tangent);
    if x.aval().dtype.is_complex() {
        bail!(NotImplemented, "logaddexp of complex numbers is not implemented");
    }
    LOGADDEXP.call(&[x.clone(), y.clone()])
}

fn logaddexp_value(args: &[Val]) -> Result<Val> {
    let (x, y) = (&args[0], &args[1]);
    let greatest = lax::max(x, y)?;
    let difference = lax::sub(x, y)?;
    // Equal infinities have no difference; their sum is the answer, and NaN stays NaN.
    let is_undefined = lax::ne(&difference, &difference)?;
    let sum = lax::add(x, y)?;
    let gap = lax::neg(&lax::abs(&difference)?)?;
    let value = lax::add(&greatest, &lax::log1p(&lax::exp(&gap)?)?)?;
    lax::select(&is_undefined, &sum, &value)
}

fn logaddexp_tangent(out: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let mut sum = None;
    for (x, dot) in args.iter().zip(tangents) {
        let Some(dot) = dot else { continue };
        let weight = lax::exp(&lax::sub(&without_inf(x)?, &without_inf(out)?)?)?;
        let term = lax::mul(dot, &weight)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => lax::add(&sum, &term)?,
        });
    }
    Ok(sum)
}

fn without_inf(x: &Val) -> Result<Val> {
    let is_inf = lax::eq(x, &Val::Literal(Scalar::greatest(x.aval().dtype)))?;
    let zero = lax::full_like(x, 0.0)?;
    lax::select(&is_inf, &convert::convert(&zero, x.aval().dtype, x.aval().weak_type)?, x)
}
