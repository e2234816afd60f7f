//! Linearization of a running function: its results at a point, and its derivative there as a linear jaxpr.
//!
//! Reverse mode is this jaxpr transposed. Nothing else computes gradients.

use std::sync::Arc;

use pullback_base::{Aval, Error, Result, Span};
use pullback_ir::{Emit, EmitRef, JaxprRef, Val, eval_jaxpr};

use super::jvp::JvpEmit;
use super::safe::derivatives_are_safe;
use super::split::SplitEmit;
use super::transpose::backward_pass;
use crate::prims::instantiate;

/// The derivative of a function at a point: a linear map, with what it needs from the point.
#[derive(Clone, Debug)]
pub struct Linear {
    /// From residuals, then input tangents, to the tangents of the results that have one.
    jaxpr: JaxprRef,
    residuals: Vec<Val>,
    in_avals: Vec<Aval>,
    /// Avals of all results, and whether each depends on the inputs at all.
    outs: Vec<(Aval, bool)>,
    /// Whether it was taken with choices in sight.
    is_safe: bool,
}

const UNKNOWN_PRIMAL: &str = "Linearization failed to produce known values for all output primals. This is typically caused \
    by attempting to differentiate a function uses an operation that does not support reverse-mode autodiff.";

/// Runs `f` at `primals` on an emitter over `current`, and gives its results and its derivative in all of them.
/// `f` gets the emitter, which must be current while it runs.
///
/// # Errors
/// What `f` or a rule raises.
pub fn linearize(
    current: EmitRef,
    primals: &[Val],
    f: &mut dyn FnMut(EmitRef, &[Val]) -> Result<Vec<Val>>,
) -> Result<(Vec<Val>, Linear)> {
    let split = Arc::new(SplitEmit::new(current));
    let emit = Arc::new(JvpEmit::new(split.clone()));
    let in_avals: Vec<Aval> = primals.iter().map(|primal| primal.aval().tangent()).collect();
    let args: Vec<Val> = (primals.iter().zip(&in_avals))
        .map(|(primal, &aval)| emit.pack(primal.clone(), Some(split.recorder().input(aval))))
        .collect();
    let (mut values, mut tangents, mut outs) = (vec![], vec![], vec![]);
    for out in f(emit.clone(), &args)? {
        let (value, tangent) = emit.unpack(&out);
        if value.tracer_of(split.id()).is_some() {
            return Err(Error::value_error(UNKNOWN_PRIMAL));
        }
        outs.push((value.aval(), tangent.is_some()));
        values.push(value);
        tangents.extend(tangent);
    }
    let (jaxpr, residuals) = split.recorder().finish(&tangents, None);
    Ok((values, Linear { jaxpr: JaxprRef::new(jaxpr), residuals, in_avals, outs, is_safe: derivatives_are_safe() }))
}

impl Linear {
    /// The linear jaxpr: from residuals, then input tangents, to the nonzero tangents.
    pub fn jaxpr(&self) -> &JaxprRef {
        &self.jaxpr
    }

    /// Values that the jaxpr needs from the point, which are its first inputs.
    pub fn residuals(&self) -> &[Val] {
        &self.residuals
    }

    /// Whether it is of a where-safe gradient: then it is to be applied with marks.
    pub fn is_safe(&self) -> bool {
        self.is_safe
    }

    /// Avals of the input tangents.
    pub fn in_avals(&self) -> &[Aval] {
        &self.in_avals
    }

    /// Avals of all results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.outs.iter().map(|(aval, _)| *aval).collect()
    }

    /// Which results depend on the inputs.
    pub fn depends(&self) -> Vec<bool> {
        self.outs.iter().map(|(_, depends)| *depends).collect()
    }

    /// Tangents of all results for tangents of the inputs; `None` for a result that does not depend on them.
    ///
    /// # Errors
    /// What the emitter raises.
    pub fn push_forward(&self, e: &dyn Emit, tangents: &[Val]) -> Result<Vec<Option<Val>>> {
        let args = [&self.residuals, tangents].concat();
        let mut outs = eval_jaxpr(e, &self.jaxpr, &args)?.into_iter();
        Ok(self.outs.iter().map(|&(_, depends)| if depends { outs.next() } else { None }).collect())
    }

    /// Cotangents of the inputs for cotangents of the results; `None` is zero, both ways.
    ///
    /// # Errors
    /// What a transpose rule or the emitter raises.
    pub fn pull_back(&self, e: &EmitRef, cts: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let cts: Vec<Option<Val>> =
            cts.iter().zip(&self.outs).filter(|(_, (_, depends))| *depends).map(|(ct, _)| ct.clone()).collect();
        let known: Vec<Option<Val>> =
            self.residuals.iter().cloned().map(Some).chain(self.in_avals.iter().map(|_| None)).collect();
        let cts = Span::within_transform("transpose", || backward_pass(e, &self.jaxpr, &known, &cts));
        Ok(cts?.split_off(self.residuals.len()))
    }

    /// As [`Linear::pull_back`], with zeros in place of `None`.
    ///
    /// # Errors
    /// As [`Linear::pull_back`].
    pub fn pull_back_full(&self, e: &EmitRef, cts: &[Option<Val>]) -> Result<Vec<Val>> {
        let cts = self.pull_back(e, cts)?;
        cts.into_iter().zip(&self.in_avals).map(|(ct, &aval)| instantiate(&**e, aval, ct)).collect()
    }
}
