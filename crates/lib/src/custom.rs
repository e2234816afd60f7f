//! Functions of the library that bring their own derivative: they show as `custom_jvp_call` in jaxprs.
//!
//! Owns the way from a function and a rule, both on values, to that primitive, and the functions that several areas of
//! the library share. It deliberately knows nothing of derivatives that users write.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pullback_base::{DType, Result, Scalar};
use pullback_core::control::{CUSTOM_JVP_CALL, CustomJvpCall, JvpRuleRef};
use pullback_ir::{CustomRule, EmitRef, Params, Tangents, Val, Vals};
use pullback_trace::{bind, bind_one, with_current};
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
        let jvp = self.shared.get_or_init(|| JvpRuleRef(Arc::new(RuleOfOne(self)))).clone();
        let params = CustomJvpCall { name, call_jaxpr, jvp, symbolic_zeros: false };
        bind_one(CUSTOM_JVP_CALL, &Params::new(params), args)
    }
}

struct RuleOfOne(&'static CustomJvp);

impl CustomRule for RuleOfOne {
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

/// The tangent, from static numbers, result, operands and their tangents.
type DerivativeWith = fn(&[i64], &Val, &[Val], &[Option<Val>]) -> Result<Option<Val>>;

/// A function of static numbers and values, of one result, with its forward derivative.
pub(crate) struct CustomJvpWith {
    name: &'static str,
    function: fn(&[i64], &[Val]) -> Result<Val>,
    rule_name: &'static str,
    derivative: DerivativeWith,
    shared: Mutex<Vec<(Vec<i64>, JvpRuleRef)>>,
}

impl CustomJvpWith {
    pub(crate) const fn new(
        name: &'static str,
        function: fn(&[i64], &[Val]) -> Result<Val>,
        rule_name: &'static str,
        derivative: DerivativeWith,
    ) -> CustomJvpWith {
        CustomJvpWith { name, function, rule_name, derivative, shared: Mutex::new(vec![]) }
    }

    /// Calls the function.
    pub(crate) fn call(&'static self, statics: &[i64], args: &[Val]) -> Result<Val> {
        let keys = [&[CUSTOM], statics].concat();
        let (name, call_jaxpr) = traced(self.name, &keys, args, |args| Ok(vec![(self.function)(statics, args)?]))?;
        let params = CustomJvpCall { name, call_jaxpr, jvp: self.rule(statics), symbolic_zeros: false };
        bind_one(CUSTOM_JVP_CALL, &Params::new(params), args)
    }

    /// One rule for each choice of static numbers, so that equal calls have equal params.
    fn rule(&'static self, statics: &[i64]) -> JvpRuleRef {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = shared.iter().find(|(known, _)| known == statics) {
            return known.clone();
        }
        let rule = JvpRuleRef(Arc::new(RuleWith(self, statics.to_vec())));
        shared.push((statics.to_vec(), rule.clone()));
        rule
    }
}

struct RuleWith(&'static CustomJvpWith, Vec<i64>);

impl CustomRule for RuleWith {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        with_current(e.clone(), || {
            let out = self.0.call(&self.1, primals)?;
            let dot = (self.0.derivative)(&self.1, &out, primals, tangents)?;
            Ok((smallvec![out], smallvec![dot]))
        })
    }

    fn name(&self) -> String {
        self.0.rule_name.to_string()
    }
}

/// The sum of the terms that some tangents give.
fn summed(tangents: &[Option<Val>], weight: impl Fn(usize) -> Result<Val>) -> Result<Option<Val>> {
    let mut sum: Option<Val> = None;
    for (i, dot) in tangents.iter().enumerate() {
        let Some(dot) = dot else { continue };
        let term = lax::mul(dot, &weight(i)?)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => lax::add(&sum, &term)?,
        });
    }
    Ok(sum)
}

/// `x log(x)`, 0 at 0, where its derivative `log(x) + 1` is `-inf`.
///
/// # Errors
/// What the primitives raise.
pub(crate) fn xlogx(x: &Val) -> Result<Val> {
    static XLOGX: CustomJvp = CustomJvp::new("_xlogx", xlogx_value, "_xlogx_jvp", xlogx_tangent);
    XLOGX.call(std::slice::from_ref(x))
}

fn xlogx_value(args: &[Val]) -> Result<Val> {
    crate::scipy::special::xlogy(&args[0], &args[0])
}

fn xlogx_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let x = &args[0];
    summed(tangents, |_| lax::add(&lax::log(x)?, &convert::number(x, 1.0)))
}

/// `log(exp(x) + exp(y))` without overflow, of operands in one floating or complex dtype; the imaginary part is an angle
/// from `-pi` up to `pi`.
///
/// # Errors
/// When shapes do not go together.
pub(crate) fn logaddexp(x: &Val, y: &Val) -> Result<Val> {
    static LOGADDEXP: CustomJvp = CustomJvp::new("logaddexp", logaddexp_value, "_logaddexp_jvp", logaddexp_tangent);
    LOGADDEXP.call(&[x.clone(), y.clone()])
}

fn logaddexp_value(args: &[Val]) -> Result<Val> {
    let (x, y) = (&args[0], &args[1]);
    if x.aval().dtype.is_complex() { complex_logaddexp(x, y) } else { real_logaddexp(x, y, lax::exp, lax::log1p) }
}

type Function = fn(&Val) -> Result<Val>;

/// `max(x, y) + log1p(exp(-|x - y|))` in some base.
fn real_logaddexp(x: &Val, y: &Val, exp: Function, log1p: Function) -> Result<Val> {
    let greatest = lax::max(x, y)?;
    let difference = lax::sub(x, y)?;
    // Equal infinities have no difference; their sum is the answer, and NaN stays NaN.
    let is_undefined = lax::ne(&difference, &difference)?;
    let sum = lax::add(x, y)?;
    let gap = lax::neg(&lax::abs(&difference)?)?;
    let value = lax::add(&greatest, &log1p(&exp(&gap)?)?)?;
    lax::select(&is_undefined, &sum, &value)
}

/// The smaller less the greater is the sum less twice the greater, whichever that is.
fn complex_logaddexp(x: &Val, y: &Val) -> Result<Val> {
    let greatest = lax::max(x, y)?;
    let gap = lax::sub(&lax::add(x, y)?, &lax::mul(&greatest, &convert::number(&greatest, 2.0))?)?;
    with_principal_angle(&lax::add(&greatest, &lax::log1p(&lax::exp(&gap)?)?)?, std::f64::consts::PI)
}

/// The imaginary part brought between `-half` and `half`, half a turn of the logarithm's base.
fn with_principal_angle(z: &Val, half: f64) -> Result<Val> {
    let (re, im) = (lax::real(z)?, lax::imag(z)?);
    let (half, whole) = (convert::number(&im, half), convert::number(&im, 2.0 * half));
    let turned = lax::rem(&lax::add(&im, &half)?, &whole)?;
    let is_negative = lax::lt(&turned, &convert::number(&turned, 0.0))?;
    let turned = lax::select(&is_negative, &lax::add(&turned, &whole)?, &turned)?;
    lax::complex(&re, &lax::sub(&turned, &half)?)
}

fn logaddexp_tangent(out: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    summed(tangents, |i| lax::exp(&lax::sub(&without_inf(&args[i])?, &without_inf(out)?)?))
}

/// `log2(2**x + 2**y)`, as [`logaddexp`].
///
/// # Errors
/// When shapes do not go together.
pub(crate) fn logaddexp2(x: &Val, y: &Val) -> Result<Val> {
    static LOGADDEXP2: CustomJvp =
        CustomJvp::new("logaddexp2", logaddexp2_value, "_logaddexp2_jvp", logaddexp2_tangent);
    LOGADDEXP2.call(&[x.clone(), y.clone()])
}

fn logaddexp2_value(args: &[Val]) -> Result<Val> {
    let (x, y) = (&args[0], &args[1]);
    if !x.aval().dtype.is_complex() {
        return real_logaddexp(x, y, lax::exp2, log1p_of_two);
    }
    let greatest = lax::max(x, y)?;
    let gap = lax::sub(&lax::add(x, y)?, &lax::mul(&greatest, &convert::number(&greatest, 2.0))?)?;
    let half = std::f64::consts::PI * std::f64::consts::LOG2_E;
    with_principal_angle(&lax::add(&greatest, &log1p_of_two(&lax::exp2(&gap)?)?)?, half)
}

/// `log2(1 + x)`.
fn log1p_of_two(x: &Val) -> Result<Val> {
    lax::mul(&lax::log1p(x)?, &convert::constant(x, std::f64::consts::LOG2_E))
}

fn logaddexp2_tangent(out: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    summed(tangents, |i| lax::exp2(&lax::sub(&without_inf(&args[i])?, &without_inf(out)?)?))
}

fn without_inf(x: &Val) -> Result<Val> {
    let infinity = Val::Literal(Scalar::greatest(x.aval().dtype).weak(x.aval().weak_type));
    let is_inf = lax::eq(x, &infinity)?;
    let zero = lax::full_like(x, 0.0)?;
    lax::select(&is_inf, &convert::convert(&zero, x.aval().dtype, x.aval().weak_type)?, x)
}

/// `sqrt(x² + y²)` without overflow or underflow of the squares; infinite if either operand is. The derivative is the
/// operand over the length, which is NaN where that is 0.
///
/// # Errors
/// When shapes do not go together.
pub(crate) fn hypot(x: &Val, y: &Val) -> Result<Val> {
    static HYPOT: CustomJvp = CustomJvp::new("_hypot", hypot_value, "_hypot_jvp", hypot_tangent);
    let dtype = x.aval().dtype;
    if dtype.bits() >= 32 {
        return HYPOT.call(&[x.clone(), y.clone()]);
    }
    let wide = |x: &Val| convert::convert(x, DType::F32, x.aval().weak_type);
    let length = HYPOT.call(&[wide(x)?, wide(y)?])?;
    convert::convert(&length, dtype, length.aval().weak_type)
}

/// Operands that are powers of two times the given ones, whose squares neither overflow nor underflow; and what their
/// length is to be multiplied with.
fn in_range(args: &[Val]) -> Result<[Val; 3]> {
    let (x, y) = (&args[0], &args[1]);
    let great = lax::max(&lax::abs(x)?, &lax::abs(y)?)?;
    // The square of the first, and of the second times the scale, are far from both ends of the exponents.
    let (large, small, scale) = if x.aval().dtype == DType::F64 { (511, -450, 600) } else { (63, -12, 75) };
    let power = |exponent: i32| convert::number(x, 2f64.powi(exponent));
    let is_large = lax::ge(&great, &power(large))?;
    let is_small = lax::le(&great, &power(small))?;
    let pick = |normal: &Val, down: &Val, up: &Val| lax::select(&is_large, down, &lax::select(&is_small, up, normal)?);
    let shape = great.aval().shape.to_vec();
    let filled = |exponent: i32| lax::full(&shape, &power(exponent));
    let scaled = |x: &Val| {
        let x = crate::broadcast::broadcast_to(x, &shape)?;
        pick(&x, &lax::mul(&x, &power(-scale))?, &lax::mul(&x, &power(scale))?)
    };
    Ok([scaled(x)?, scaled(y)?, pick(&filled(0)?, &filled(scale)?, &filled(-scale)?)?])
}

fn length(x: &Val, y: &Val) -> Result<Val> {
    lax::sqrt(&lax::add(&lax::square(x)?, &lax::square(y)?)?)
}

fn hypot_value(args: &[Val]) -> Result<Val> {
    let [x, y, scale] = in_range(args)?;
    let value = lax::mul(&length(&x, &y)?, &scale)?;
    let infinity = convert::number(&value, f64::INFINITY);
    let is_infinite = |x: &Val| lax::eq(&lax::abs(x)?, &infinity);
    let is_infinite = lax::bitwise_or(&is_infinite(&args[0])?, &is_infinite(&args[1])?)?;
    let shape = value.aval().shape.to_vec();
    let is_infinite = crate::broadcast::broadcast_to(&is_infinite, &shape)?;
    lax::select(&is_infinite, &lax::full(&shape, &infinity)?, &value)
}

fn hypot_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let [x, y, _] = in_range(args)?;
    let length = length(&x, &y)?;
    summed(tangents, |i| lax::div([&x, &y][i], &length))
}

/// Several values and what changes them: results, and their tangents.
type Rule = fn(&[Val], &[Option<Val>]) -> Result<(Vals, Tangents)>;

/// A function of several results with its forward derivative.
pub(crate) struct CustomJvpMany {
    name: &'static str,
    function: fn(&[Val]) -> Result<Vec<Val>>,
    rule: Rule,
    shared: OnceLock<JvpRuleRef>,
}

impl CustomJvpMany {
    pub(crate) const fn new(name: &'static str, function: fn(&[Val]) -> Result<Vec<Val>>, rule: Rule) -> CustomJvpMany {
        CustomJvpMany { name, function, rule, shared: OnceLock::new() }
    }

    /// Calls the function.
    pub(crate) fn call(&'static self, args: &[Val]) -> Result<Vals> {
        let (name, call_jaxpr) = traced(self.name, &[CUSTOM], args, self.function)?;
        let jvp = self.shared.get_or_init(|| JvpRuleRef(Arc::new(RuleOfMany(self)))).clone();
        let params = CustomJvpCall { name, call_jaxpr, jvp, symbolic_zeros: false };
        bind(CUSTOM_JVP_CALL, &Params::new(params), args)
    }
}

struct RuleOfMany(&'static CustomJvpMany);

impl CustomRule for RuleOfMany {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        with_current(e.clone(), || (self.0.rule)(primals, tangents))
    }

    fn name(&self) -> String {
        "tangents".to_string()
    }
}
