//! A linear function with a transpose that the user wrote.
//!
//! linear_call : callee_consts transpose_consts residuals linear -> results of callee
//! The callee takes its consts, the residuals and the linear operands; the transpose takes its consts, the residuals and
//! cotangents of the results. That the one is the transpose of the other is the user's word.

use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Effects, Emit, Hlo, JaxprRef, Operand, Params, Prim, PrimRef,
    Sample, Splits, Tangents, Transpose, Val, Vals, eval_jaxpr,
};

use super::jit::check_call;
use crate::prims::{batch_to_front, instantiate};
use crate::transforms::batch_jaxpr;

/// Params of `linear_call`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct LinearCall {
    /// The function.
    pub callee: JaxprRef,
    /// Number of its consts.
    pub num_callee_consts: usize,
    /// Number of residuals.
    pub num_res: usize,
    /// The transpose.
    #[param(hidden)]
    pub transpose: JaxprRef,
    /// Number of consts of the transpose.
    #[param(hidden)]
    pub num_transpose_consts: usize,
}

impl LinearCall {
    /// The operands by group: consts of the callee, consts of the transpose, residuals, linear ones.
    fn parts<'a, T>(&self, ins: &'a [T]) -> [&'a [T]; 4] {
        let (callee, rest) = ins.split_at(self.num_callee_consts);
        let (transpose, rest) = rest.split_at(self.num_transpose_consts);
        let (residuals, linear) = rest.split_at(self.num_res);
        [callee, transpose, residuals, linear]
    }

    fn callee_ins<T: Clone>(&self, ins: &[T]) -> Vec<T> {
        let [callee, _, residuals, linear] = self.parts(ins);
        [callee, residuals, linear].concat()
    }
}

struct LinearCallPrim;

/// The primitive `linear_call`.
pub static LINEAR_CALL: PrimRef = PrimRef(&LinearCallPrim);

impl Prim for LinearCallPrim {
    type Params = LinearCall;
    const NAME: &'static str = "linear_call";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &LinearCall, ins: &[Aval]) -> Result<Avals> {
        check_call("linear_call", &p.callee, &p.callee_ins(ins))?;
        Ok(p.callee.out_avals().into())
    }
    fn derivative(&self) -> Derivative<LinearCall> {
        Derivative::Jvp(jvp)
    }
    fn transpose(&self) -> Transpose<LinearCall> {
        Transpose::Rule(transpose)
    }
    fn splits(&self) -> Splits<LinearCall> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<LinearCall> {
        Batching::Rule(batch)
    }
    fn cpu(&self, p: &LinearCall, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| Ok(eval_jaxpr(e, &p.callee, &p.callee_ins(ins))?.into())))
    }
    fn hlo(&self) -> Hlo<LinearCall> {
        Hlo::AsCpu
    }
    // Covered by the tests of control flow: there is no sample without traced functions.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &LinearCall) -> Effects {
        p.callee.effects()
    }
}

fn jvp(p: &LinearCall, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let [callee, transpose, residuals, linear] = p.parts(ts);
    if [callee, transpose, residuals].concat().iter().any(Option::is_some) {
        bail!(
            NotImplemented,
            "linear_call is linear in linear_args only: it has no derivative in residual_args or in what its functions close \
             over. Use jax.custom_jvp to give one."
        );
    }
    let params = Params::new(p.clone());
    let outs = e.bind(LINEAR_CALL, &params, xs)?;
    let mut ins = xs[..xs.len() - linear.len()].to_vec();
    for (x, t) in xs[ins.len()..].iter().zip(linear) {
        ins.push(instantiate(e, x.aval(), t.clone())?);
    }
    let dots = e.bind(LINEAR_CALL, &params, &ins)?;
    Ok((outs, dots.into_iter().map(Some).collect()))
}

fn transpose(p: &LinearCall, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let [callee, transpose, residuals, linear] = p.parts(ins);
    let known = [transpose, callee, residuals].concat();
    let Some(mut operands) = known.iter().map(|x| x.known().cloned()).collect::<Option<Vec<Val>>>() else {
        bail!(NotImplemented, "linear_call is linear in linear_args only");
    };
    for (aval, ct) in p.callee.out_avals().into_iter().zip(cts) {
        operands.push(instantiate(e, aval, ct.clone())?);
    }
    let transposed = LinearCall {
        callee: p.transpose.clone(),
        num_callee_consts: p.num_transpose_consts,
        num_res: p.num_res,
        transpose: p.callee.clone(),
        num_transpose_consts: p.num_callee_consts,
    };
    let outs = e.bind(LINEAR_CALL, &Params::new(transposed), &operands)?;
    let cts = outs.into_iter().zip(linear).map(|(ct, x)| x.is_linear().then_some(ct));
    Ok(known.iter().map(|_| None).chain(cts).collect())
}

/// Everything is batched: what the transpose takes and gives must fit what the callee gives and takes.
fn batch(
    p: &LinearCall,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let move_one = |(val, &dim): (&Val, &Option<usize>)| batch_to_front(e, val, dim, batch.size);
    let ins: Result<Vec<Val>> = ins.iter().zip(dims).map(move_one).collect();
    let derive = |jaxpr: &JaxprRef| -> Result<JaxprRef> {
        let (all_in, all_out) = (vec![true; jaxpr.invars.len()], vec![true; jaxpr.outs.len()]);
        Ok(batch_jaxpr(jaxpr, batch, &all_in, &all_out)?.jaxpr)
    };
    let params = LinearCall { callee: derive(&p.callee)?, transpose: derive(&p.transpose)?, ..p.clone() };
    let outs = e.bind(LINEAR_CALL, &Params::new(params), &ins?)?;
    let out_dims = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, out_dims))
}
