//! Functions with derivatives that the user wrote.
//!
//! custom_jvp_call : operands -> results of call_jaxpr        differentiated by the user's rule
//! custom_vjp_call : operands -> results of call_jaxpr        the rule's forward function runs in its place
//! custom_lin : residuals tangents -> tangents of the results        what custom_vjp_call leaves in a linear jaxpr; only
//! its transpose, the rule's backward function, exists
//!
//! The rules are functions of a front end and re-enter tracing on the emitter they are given.

use std::sync::Arc;

use pullback_base::{Aval, Error, Result};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, CustomRule, Derivative, Effects, Emit, EmitRef, Hlo, JaxprRef, Operand, Params,
    Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals, eval_jaxpr,
};

use super::jit::{batch_in_front, check_call, transpose_call};
use super::shared::shared_rule;
use crate::prims::{batch_to_front, instantiate};
use crate::transforms::{BatchEmit, batch_jaxpr};

/// A user's derivative for reverse mode.
pub trait VjpRule: Send + Sync {
    /// Results and residuals, from primals and which of them have tangents.
    fn forward(&self, e: &EmitRef, primals: &[Val], perturbed: &[bool]) -> Result<(Vals, Vec<Val>)>;
    /// Cotangents of the primals, from residuals and cotangents of the results (`None` is zero).
    fn backward(&self, e: &EmitRef, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents>;
    /// How the forward and the backward function print.
    fn names(&self) -> [String; 2];
}

shared_rule!(JvpRuleRef CustomRule, CustomRule::name, "A shared forward rule.");
shared_rule!(VjpRuleRef VjpRule, |rule: &dyn VjpRule| rule.names()[0].clone(), "A shared reverse rule; prints its forward function.");

/// Params of `custom_jvp_call`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct CustomJvpCall {
    /// Name of the function.
    pub name: Arc<str>,
    /// The function itself.
    pub call_jaxpr: JaxprRef,
    /// Its derivative.
    pub jvp: JvpRuleRef,
    /// Whether the rule sees symbolic zeros.
    pub symbolic_zeros: bool,
}

/// Params of `custom_vjp_call`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct CustomVjpCall {
    /// Name of the function.
    pub name: Arc<str>,
    /// The function itself.
    pub call_jaxpr: JaxprRef,
    /// Its derivative.
    pub fwd: VjpRuleRef,
    /// How the backward function prints.
    pub bwd: Arc<str>,
    /// Whether the rule sees symbolic zeros.
    pub symbolic_zeros: bool,
}

/// Params of `custom_lin`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct CustomLin {
    /// Number of residuals among the operands.
    pub num_res: usize,
    /// Avals of the results.
    pub out_avals: Vec<Aval>,
    /// Whose backward function is the transpose.
    pub bwd: VjpRuleRef,
}

struct CustomJvpPrim;
struct CustomVjpPrim;
struct CustomLinPrim;

/// The primitive `custom_jvp_call`.
pub static CUSTOM_JVP_CALL: PrimRef = PrimRef(&CustomJvpPrim);
/// The primitive `custom_vjp_call`.
pub static CUSTOM_VJP_CALL: PrimRef = PrimRef(&CustomVjpPrim);
/// The primitive `custom_lin`.
pub static CUSTOM_LIN: PrimRef = PrimRef(&CustomLinPrim);

const RULE_TAKES_PLACE: &str = "the user's rule takes the place of this one";

/// The transpose of the function itself: a rule of the user is for derivatives, and a linear function needs none.
fn transpose_inline(call: &JaxprRef, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    transpose_call(call, cts, ins, |transposed, args| Ok(eval_jaxpr(e, transposed, args)?.into()))
}

impl Prim for CustomJvpPrim {
    type Params = CustomJvpCall;
    const NAME: &'static str = "custom_jvp_call";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &CustomJvpCall, ins: &[Aval]) -> Result<Avals> {
        check_call("custom_jvp_call", &p.call_jaxpr, ins)?;
        Ok(p.call_jaxpr.out_avals().into())
    }
    fn derivative(&self) -> Derivative<CustomJvpCall> {
        Derivative::Missing(RULE_TAKES_PLACE)
    }
    fn transpose(&self) -> Transpose<CustomJvpCall> {
        Transpose::Rule(|p, e, cts, ins| transpose_inline(&p.call_jaxpr, e, cts, ins))
    }
    fn splits(&self) -> Splits<CustomJvpCall> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<CustomJvpCall> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
            let all = vec![true; p.call_jaxpr.outs.len()];
            let call_jaxpr = batch_jaxpr(&p.call_jaxpr, batch, &batched, &all)?.jaxpr;
            let jvp = JvpRuleRef(Arc::new(BatchedJvp { rule: p.jvp.clone(), batch: batch.clone(), batched }));
            let outs = e.bind(CUSTOM_JVP_CALL, &Params::new(CustomJvpCall { call_jaxpr, jvp, ..p.clone() }), &ins)?;
            Ok((outs, all.iter().map(|_| Some(0)).collect()))
        })
    }
    fn cpu(&self, p: &CustomJvpCall, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Call(p.call_jaxpr.clone()))
    }
    fn hlo(&self) -> Hlo<CustomJvpCall> {
        Hlo::Rule(|p, cx, ins, _| cx.call(&p.name, &p.call_jaxpr, ins))
    }
    // Covered by the tests of control flow: there is no sample without a rule.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &CustomJvpCall) -> Effects {
        p.call_jaxpr.effects()
    }
    fn custom_rule(&self, p: &CustomJvpCall) -> Option<Arc<dyn CustomRule>> {
        Some(p.jvp.0.clone())
    }
}

impl Prim for CustomVjpPrim {
    type Params = CustomVjpCall;
    const NAME: &'static str = "custom_vjp_call";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &CustomVjpCall, ins: &[Aval]) -> Result<Avals> {
        check_call("custom_vjp_call", &p.call_jaxpr, ins)?;
        Ok(p.call_jaxpr.out_avals().into())
    }
    fn derivative(&self) -> Derivative<CustomVjpCall> {
        Derivative::Missing(RULE_TAKES_PLACE)
    }
    fn transpose(&self) -> Transpose<CustomVjpCall> {
        Transpose::Rule(|p, e, cts, ins| transpose_inline(&p.call_jaxpr, e, cts, ins))
    }
    fn splits(&self) -> Splits<CustomVjpCall> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<CustomVjpCall> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
            let all = vec![true; p.call_jaxpr.outs.len()];
            let call_jaxpr = batch_jaxpr(&p.call_jaxpr, batch, &batched, &all)?.jaxpr;
            let fwd = VjpRuleRef(Arc::new(BatchedVjp { rule: p.fwd.clone(), batch: batch.clone(), batched }));
            let outs = e.bind(CUSTOM_VJP_CALL, &Params::new(CustomVjpCall { call_jaxpr, fwd, ..p.clone() }), &ins)?;
            Ok((outs, all.iter().map(|_| Some(0)).collect()))
        })
    }
    fn cpu(&self, p: &CustomVjpCall, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Call(p.call_jaxpr.clone()))
    }
    fn hlo(&self) -> Hlo<CustomVjpCall> {
        Hlo::Rule(|p, cx, ins, _| cx.call(&p.name, &p.call_jaxpr, ins))
    }
    // Covered by the tests of control flow: there is no sample without a rule.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &CustomVjpCall) -> Effects {
        p.call_jaxpr.effects()
    }
    fn custom_rule(&self, p: &CustomVjpCall) -> Option<Arc<dyn CustomRule>> {
        Some(Arc::new(ForwardOfVjp(p.fwd.clone())))
    }
}

impl Prim for CustomLinPrim {
    type Params = CustomLin;
    const NAME: &'static str = "custom_lin";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &CustomLin, _ins: &[Aval]) -> Result<Avals> {
        Ok(p.out_avals.iter().copied().collect())
    }
    fn derivative(&self) -> Derivative<CustomLin> {
        Derivative::Missing("a custom_vjp function has no forward derivative")
    }
    fn transpose(&self) -> Transpose<CustomLin> {
        Transpose::Missing(RULE_TAKES_PLACE)
    }
    fn splits(&self) -> Splits<CustomLin> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<CustomLin> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
            let mut full = vec![];
            for (val, &batched) in ins.iter().zip(&batched) {
                full.push(if batched { val.clone() } else { batch_to_front(e, val, None, batch.size)? });
            }
            let all = vec![true; ins.len()];
            let bwd = VjpRuleRef(Arc::new(BatchedVjp { rule: p.bwd.clone(), batch: batch.clone(), batched: all }));
            let widen = |aval: &Aval| {
                let shape: Vec<usize> = std::iter::once(batch.size).chain(aval.shape.iter().copied()).collect();
                aval.with_shape(&shape)
            };
            let out_avals: Vec<Aval> = p.out_avals.iter().map(widen).collect();
            let out_dims: BatchDims = out_avals.iter().map(|_| Some(0)).collect();
            let params = CustomLin { num_res: p.num_res, out_avals, bwd };
            Ok((e.bind(CUSTOM_LIN, &Params::new(params), &full)?, out_dims))
        })
    }
    fn cpu(&self, _p: &CustomLin, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Decompose(Box::new(|_, _| Err(Error::type_error(NO_FORWARD))))
    }
    fn hlo(&self) -> Hlo<CustomLin> {
        Hlo::Missing("it is gone before lowering")
    }
    // Covered by the tests of control flow: there is no sample without a rule.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn eval(&self, _p: &CustomLin, _ins: &[Val]) -> Option<Result<Vals>> {
        Some(Err(Error::type_error(NO_FORWARD)))
    }
    fn custom_rule(&self, p: &CustomLin) -> Option<Arc<dyn CustomRule>> {
        Some(Arc::new(BackwardOfVjp { rule: p.bwd.clone(), num_res: p.num_res }))
    }
}

const NO_FORWARD: &str = "can't apply forward-mode differentiation (jvp) to a custom_vjp function.";

/// Differentiates a `custom_vjp_call`: the forward function runs, and a `custom_lin` stands for the tangents.
struct ForwardOfVjp(VjpRuleRef);

impl CustomRule for ForwardOfVjp {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let perturbed: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let (outs, residuals) = self.0.0.forward(e, primals, &perturbed)?;
        let num_res = residuals.len();
        let mut ins = residuals;
        for (x, t) in primals.iter().zip(tangents) {
            ins.push(instantiate(&**e, x.aval(), t.clone())?);
        }
        let out_avals = outs.iter().map(|out| out.aval().tangent()).collect();
        let params = CustomLin { num_res, out_avals, bwd: self.0.clone() };
        let dots = e.bind(CUSTOM_LIN, &Params::new(params), &ins)?;
        Ok((outs, dots.into_iter().map(Some).collect()))
    }
    fn name(&self) -> String {
        self.0.0.names()[0].clone()
    }
}

struct BackwardOfVjp {
    rule: VjpRuleRef,
    num_res: usize,
}

impl CustomRule for BackwardOfVjp {
    fn jvp(&self, _: &EmitRef, _: &[Val], _: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        Err(Error::not_implemented(NO_FORWARD))
    }
    fn transpose(&self, e: &EmitRef, cts: &[Option<Val>], ins: &[Operand]) -> Option<Result<Tangents>> {
        Some(self.pull_back(e, cts, ins))
    }
    fn runs_on_zeros(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        self.rule.0.names()[1].clone()
    }
}

impl BackwardOfVjp {
    fn pull_back(&self, e: &EmitRef, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
        let known = |x: &Operand| x.known().cloned().ok_or_else(|| Error::internal("a residual is known"));
        let residuals: Result<Vec<Val>> = ins[..self.num_res].iter().map(known).collect();
        let mut all: Tangents = ins[..self.num_res].iter().map(|_| None).collect();
        let in_cts = self.rule.0.backward(e, &residuals?, cts)?;
        let linear = ins[self.num_res..].iter().zip(in_cts);
        all.extend(linear.map(|(x, ct)| if x.is_linear() { ct } else { None }));
        Ok(all)
    }
}

/// The user's forward rule for a batch: the rule itself, on batched values.
struct BatchedJvp {
    rule: JvpRuleRef,
    batch: Batch,
    batched: Vec<bool>,
}

fn pack_all(emit: &BatchEmit, vals: &[Val], batched: &[bool]) -> Vec<Val> {
    vals.iter().zip(batched).map(|(val, &batched)| emit.pack(val.clone(), batched.then_some(0))).collect()
}

fn unpack_front(e: &dyn Emit, emit: &BatchEmit, val: &Val) -> Result<Val> {
    let (value, dim) = emit.unpack(val);
    batch_to_front(e, &value, dim, emit.batch().size)
}

impl CustomRule for BatchedJvp {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let emit = Arc::new(BatchEmit::new(e.clone(), self.batch.clone()));
        let primals = pack_all(&emit, primals, &self.batched);
        let pack =
            |(t, &batched): (&Option<Val>, &bool)| t.as_ref().map(|t| emit.pack(t.clone(), batched.then_some(0)));
        let tangents: Vec<Option<Val>> = tangents.iter().zip(&self.batched).map(pack).collect();
        let shared: EmitRef = emit.clone();
        let (outs, dots) = self.rule.0.jvp(&shared, &primals, &tangents)?;
        let outs: Result<Vals> = outs.iter().map(|out| unpack_front(&**e, &emit, out)).collect();
        let unpack = |dot: &Option<Val>| dot.as_ref().map(|dot| unpack_front(&**e, &emit, dot)).transpose();
        let dots: Result<Tangents> = dots.iter().map(unpack).collect();
        Ok((outs?, dots?))
    }
    fn name(&self) -> String {
        self.rule.0.name()
    }
}

/// The user's reverse rule for a batch. Everything that passes from forward to backward has the batch axis.
struct BatchedVjp {
    rule: VjpRuleRef,
    batch: Batch,
    batched: Vec<bool>,
}

impl VjpRule for BatchedVjp {
    fn forward(&self, e: &EmitRef, primals: &[Val], perturbed: &[bool]) -> Result<(Vals, Vec<Val>)> {
        let emit = Arc::new(BatchEmit::new(e.clone(), self.batch.clone()));
        let shared: EmitRef = emit.clone();
        let (outs, residuals) = self.rule.0.forward(&shared, &pack_all(&emit, primals, &self.batched), perturbed)?;
        let outs: Result<Vals> = outs.iter().map(|out| unpack_front(&**e, &emit, out)).collect();
        let residuals: Result<Vec<Val>> = residuals.iter().map(|val| unpack_front(&**e, &emit, val)).collect();
        Ok((outs?, residuals?))
    }

    fn backward(&self, e: &EmitRef, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents> {
        let emit = Arc::new(BatchEmit::new(e.clone(), self.batch.clone()));
        let residuals = pack_all(&emit, residuals, &vec![true; residuals.len()]);
        let cts: Vec<Option<Val>> = cts.iter().map(|ct| ct.as_ref().map(|ct| emit.pack(ct.clone(), Some(0)))).collect();
        let shared: EmitRef = emit.clone();
        let in_cts = self.rule.0.backward(&shared, &residuals, &cts)?;
        // The cotangent of an operand that is the same for all examples is the sum over them.
        let finish = |(i, ct): (usize, &Option<Val>)| -> Result<Option<Val>> {
            let Some(ct) = ct else { return Ok(None) };
            let full = unpack_front(&**e, &emit, ct)?;
            if self.batched.get(i).copied().unwrap_or(true) {
                return Ok(Some(full));
            }
            crate::prims::V::new(&**e, &full).reduce_sum(&[0]).done().map(Some)
        };
        in_cts.iter().enumerate().map(finish).collect()
    }

    fn names(&self) -> [String; 2] {
        self.rule.0.names()
    }
}
