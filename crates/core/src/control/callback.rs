//! Calls of functions of the host for printing and debugging, and what all functions of the host are.
//!
//! debug_print, debug_callback : operands ->          an effect; primals only, once for each example under batching

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::prims::splits::whole;
use pullback_base::{Aval, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Effects, Emit, Hlo, Opaque, ParamField, ParamValue, Params, Prim,
    PrimRef, Sample, Splits, Transpose, Val, Vals,
};
pub use pullback_loops::HostCall;
use smallvec::smallvec;

use crate::prims::V;

/// A function of the host that can be called with operands and results of other types: those of a batch.
pub trait Callback: HostCall {
    /// The same function for operands and results of these avals.
    fn retyped(&self, ins: Vec<Aval>, outs: Vec<Aval>) -> HostFunction;
}

/// A shared function of the host; prints its name, compares by identity.
#[derive(Clone)]
pub struct HostFunction(pub Arc<dyn Callback>);

impl HostFunction {
    /// What programs call.
    pub(super) fn as_host_call(&self) -> Arc<dyn HostCall> {
        self.0.clone()
    }
}

impl PartialEq for HostFunction {
    fn eq(&self, other: &HostFunction) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HostFunction {}

impl Hash for HostFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name())
    }
}

impl ParamField for HostFunction {
    fn to_value(&self) -> ParamValue {
        ParamValue::Opaque(Opaque { text: self.0.name().into(), value: Arc::new(self.clone()) })
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Opaque(opaque) => opaque.value.downcast_ref::<HostFunction>().cloned(),
            _ => None,
        }
    }
}

/// Params of `debug_print` and `debug_callback`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct DebugCallback {
    /// The text to print, or the function's name.
    pub fmt: Arc<str>,
    /// Whether calls keep the program's order.
    pub ordered: bool,
    /// What is called.
    #[param(hidden)]
    pub callback: HostFunction,
}

struct DebugCallbackPrim;

/// The primitive `debug_print`.
pub static DEBUG_PRINT: PrimRef = PrimRef(&DebugCallbackPrim);

impl Prim for DebugCallbackPrim {
    type Params = DebugCallback;
    const NAME: &'static str = "debug_print";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, _p: &DebugCallback, _ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![])
    }
    fn derivative(&self) -> Derivative<DebugCallback> {
        Derivative::Zero
    }
    fn transpose(&self) -> Transpose<DebugCallback> {
        Transpose::NotLinear
    }
    fn splits(&self) -> Splits<DebugCallback> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<DebugCallback> {
        Batching::Rule(batch_debug)
    }
    fn cpu(&self, p: &DebugCallback, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(p.callback.0.clone())
    }
    fn hlo(&self) -> Hlo<DebugCallback> {
        Hlo::Rule(|p, cx, ins, outs| {
            let effects = if p.ordered { Effects::ORDERED } else { Effects::UNORDERED };
            cx.host_call(&p.callback.as_host_call(), effects, ins, outs)
        })
    }
    // Covered by the tests of control flow: there is no sample without a function of the host.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &DebugCallback) -> Effects {
        if p.ordered { Effects::ORDERED } else { Effects::UNORDERED }
    }
}

fn batch_debug(
    p: &DebugCallback,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    for example in 0..batch.size {
        let mut one = vec![];
        for (val, dim) in ins.iter().zip(dims) {
            one.push(dim.map_or(Ok(val.clone()), |dim| V::new(e, val).index_in_dim(example, dim).done())?);
        }
        e.bind(DEBUG_PRINT, &Params::new(p.clone()), &one)?;
    }
    Ok((smallvec![], smallvec![]))
}
