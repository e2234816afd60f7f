//! A function whose batching the user wrote.
//!
//! custom_vmap_call : operands -> results of call        batched by the user's rule
//! Its forward derivative is again such a call, whose rule is the derivative of the rule. It has no reverse derivative:
//! what the rule computes is known only when the batch is.

use std::sync::Arc;

use pullback_base::{Aval, Error, Result, bail};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, CustomRule, Derivative, Effects, EmitRef, Hlo, JaxprRef, Operand, Params, Prim,
    PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals,
};

use super::jit::{batch_in_front, check_call};
use super::shared::shared_rule;
use crate::prims::{batch_to_front, instantiate};
use crate::transforms::{JvpEmit, jvp_jaxpr};

/// A user's rule for a batch.
pub trait VmapRule: Send + Sync {
    /// Results for `size` examples and which of them are batched, from operands of which those marked have the batch
    /// axis in front.
    fn batch(&self, e: &EmitRef, size: usize, ins: &[Val], batched: &[bool]) -> Result<(Vals, Vec<bool>)>;
    /// How it prints.
    fn name(&self) -> String;
}
shared_rule!(VmapRuleRef VmapRule, VmapRule::name, "A shared batching rule.");

/// Params of `custom_vmap_call`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct CustomVmapCall {
    /// The function itself.
    pub call: JaxprRef,
    /// How the structure of its arguments prints.
    pub in_tree: Arc<str>,
    /// How the structure of its results prints.
    pub out_tree: Arc<str>,
    /// Its batching.
    pub rule: VmapRuleRef,
}

struct CustomVmapPrim;

/// The primitive `custom_vmap_call`.
pub static CUSTOM_VMAP_CALL: PrimRef = PrimRef(&CustomVmapPrim);

const RULE_TAKES_PLACE: &str = "the call's own rule takes the place of this one";

impl Prim for CustomVmapPrim {
    type Params = CustomVmapCall;
    const NAME: &'static str = "custom_vmap_call";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &CustomVmapCall, ins: &[Aval]) -> Result<Avals> {
        check_call("custom_vmap_call", &p.call, ins)?;
        Ok(p.call.out_avals().into())
    }
    fn derivative(&self) -> Derivative<CustomVmapCall> {
        Derivative::Missing(RULE_TAKES_PLACE)
    }
    fn transpose(&self) -> Transpose<CustomVmapCall> {
        Transpose::NotLinear
    }
    fn splits(&self) -> Splits<CustomVmapCall> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<CustomVmapCall> {
        Batching::Missing(RULE_TAKES_PLACE)
    }
    fn cpu(&self, p: &CustomVmapCall, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Call(p.call.clone()))
    }
    fn hlo(&self) -> Hlo<CustomVmapCall> {
        Hlo::AsCpu
    }
    // Covered by the tests of control flow: there is no sample without a rule.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &CustomVmapCall) -> Effects {
        p.call.effects()
    }
    fn custom_rule(&self, p: &CustomVmapCall) -> Option<Arc<dyn CustomRule>> {
        Some(Arc::new(RuleOfCall(p.clone())))
    }
}

struct RuleOfCall(CustomVmapCall);

impl RuleOfCall {
    fn batched(&self, e: &EmitRef, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
        let (ins, batched) = batch_in_front(&**e, ins, dims, batch.size)?;
        let (outs, batched_out) = self.0.rule.0.batch(e, batch.size, &ins, &batched)?;
        if outs.len() != self.0.call.outs.len() {
            bail!(Internal, "a custom_vmap rule gave {} results for {}", outs.len(), self.0.call.outs.len());
        }
        Ok((outs, batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
    }
}

impl CustomRule for RuleOfCall {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let p = &self.0;
        let nonzero: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let derived = jvp_jaxpr(&p.call, &nonzero, &vec![false; p.call.outs.len()])?;
        let rule = JvpOfRule { rule: p.rule.clone(), nonzero, nonzero_out: derived.nonzero_out.clone() };
        let params = CustomVmapCall { call: derived.jaxpr, rule: VmapRuleRef(Arc::new(rule)), ..p.clone() };
        let ins: Vec<Val> = primals.iter().cloned().chain(tangents.iter().flatten().cloned()).collect();
        let mut outs = e.bind(CUSTOM_VMAP_CALL, &Params::new(params), &ins)?;
        let mut dots = outs.drain(p.call.outs.len()..).collect::<Vec<_>>().into_iter();
        let tangents = derived.nonzero_out.iter().map(|&nonzero| if nonzero { dots.next() } else { None }).collect();
        Ok((outs, tangents))
    }

    fn transpose(&self, _: &EmitRef, _: &[Option<Val>], _: &[Operand]) -> Option<Result<Tangents>> {
        let text = "a custom_vmap function has no reverse derivative; give it one with custom_vjp";
        Some(Err(Error::not_implemented(text)))
    }

    fn batch(
        &self,
        e: &EmitRef,
        batch: &Batch,
        ins: &[Val],
        dims: &[Option<usize>],
    ) -> Option<Result<(Vals, BatchDims)>> {
        Some(self.batched(e, batch, ins, dims))
    }

    fn name(&self) -> String {
        self.0.rule.0.name()
    }
}

/// The derivative of a batching rule: the rule on values with tangents.
struct JvpOfRule {
    rule: VmapRuleRef,
    nonzero: Vec<bool>,
    nonzero_out: Vec<bool>,
}

impl VmapRule for JvpOfRule {
    fn batch(&self, e: &EmitRef, size: usize, ins: &[Val], batched: &[bool]) -> Result<(Vals, Vec<bool>)> {
        let n = self.nonzero.len();
        let emit = Arc::new(JvpEmit::new(e.clone()));
        let (mut duals, mut both) = (vec![], vec![]);
        let mut tangents = ins[n..].iter().zip(&batched[n..]);
        for ((x, &is_batched), &nonzero) in ins[..n].iter().zip(&batched[..n]).zip(&self.nonzero) {
            let Some((t, &t_batched)) = nonzero.then(|| tangents.next()).flatten() else {
                duals.push(x.clone());
                both.push(is_batched);
                continue;
            };
            // A value and its tangent are batched together or not at all.
            let all = is_batched || t_batched;
            let whole = |val: &Val, has: bool| {
                if has || !all { Ok(val.clone()) } else { batch_to_front(&**e, val, None, size) }
            };
            duals.push(emit.pack(whole(x, is_batched)?, Some(whole(t, t_batched)?)));
            both.push(all);
        }
        let shared: EmitRef = emit.clone();
        let (outs, out_batched) = self.rule.0.batch(&shared, size, &duals, &both)?;
        let (mut values, mut dots, mut marks) = (Vals::new(), vec![], vec![]);
        for ((out, &nonzero), &is_batched) in outs.iter().zip(&self.nonzero_out).zip(&out_batched) {
            let (value, dot) = emit.unpack(out);
            if nonzero {
                dots.push(instantiate(&**e, value.aval(), dot)?);
                marks.push(is_batched);
            }
            values.push(value);
        }
        values.extend(dots);
        Ok((values, [out_batched, marks].concat()))
    }

    fn name(&self) -> String {
        format!("jvp of {}", self.rule.0.name())
    }
}
