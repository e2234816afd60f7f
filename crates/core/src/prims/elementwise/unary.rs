//! The family of one-operand primitives: shapes, dtypes, batching; a member states its name, dtypes, form and rule.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Error, Result};
use pullback_ir::lower::{CpuForm, Elem, values_per_element};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use pullback_loops::{Builder, ValueId};
use smallvec::smallvec;

use super::DTypes;
use crate::prims::value::{V, zeros};

/// How a one-operand member is differentiated.
pub enum UnaryRule {
    /// From operand, result and tangent.
    Tangent(for<'e> fn(&V<'e>, &V<'e>, &V<'e>) -> V<'e>),
    /// Linear, with its transpose: from the cotangent and the aval of the operand.
    Linear(for<'e> fn(&V<'e>, Aval) -> V<'e>),
    /// As `Tangent` for complex operands; real ones have no derivative.
    OnlyComplex(for<'e> fn(&V<'e>, &V<'e>, &V<'e>) -> V<'e>),
    /// No derivative: integers, steps.
    Zero,
    /// Not written, and why.
    Missing(&'static str),
}

/// A member of the one-operand family.
pub trait UnaryOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Dtypes of the operand.
    const ACCEPTS: DTypes;
    /// Operation of StableHLO.
    const HLO: Hlo<()>;
    /// Derivative.
    const RULE: UnaryRule;
    /// Interval of sample elements.
    const DOMAIN: (f64, f64);

    /// Dtype of the result for one of the operand.
    fn result(dtype: DType) -> DType {
        dtype
    }
    /// One element, of a real operand (half-width floats come as `float32`).
    fn real(loops: &mut Builder, x: ValueId) -> ValueId;
    /// One element, of a real operand of `dtype`, where its own bits count and not only its value.
    fn typed(loops: &mut Builder, _dtype: DType, x: ValueId) -> ValueId {
        Self::real(loops, x)
    }
    /// One element, of a complex operand; `None` when not written.
    fn complex(_loops: &mut Builder, _re: ValueId, _im: ValueId) -> Option<Elem> {
        None
    }
}

/// The one-operand family.
pub struct Unary<T>(pub PhantomData<T>);

impl<T: UnaryOp> Prim for Unary<T> {
    type Params = ();
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let x = one(T::NAME, ins)?;
        T::ACCEPTS.check_only(T::NAME, x.dtype)?;
        let dtype = T::result(x.dtype);
        if dtype == x.dtype {
            return Ok(smallvec![x]);
        }
        Ok(smallvec![Aval::with_weak_type(&x.shape, dtype, x.weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        match T::RULE {
            UnaryRule::Tangent(_) | UnaryRule::OnlyComplex(_) => Derivative::Jvp(unary_jvp::<T>),
            UnaryRule::Linear(_) => Derivative::Linear(zeros),
            UnaryRule::Zero => Derivative::Zero,
            UnaryRule::Missing(reason) => Derivative::Missing(reason),
        }
    }

    fn transpose(&self) -> Transpose<()> {
        match T::RULE {
            UnaryRule::Linear(_) => Transpose::Rule(unary_transpose::<T>),
            UnaryRule::Tangent(_) | UnaryRule::OnlyComplex(_) | UnaryRule::Zero => Transpose::NotLinear,
            UnaryRule::Missing(reason) => Transpose::Missing(reason),
        }
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if values_per_element(ins[0].dtype) == 1 {
            let dtype = ins[0].dtype;
            return CpuForm::Scalar(Box::new(move |loops, ins| Elem::One(T::typed(loops, dtype, ins[0].one()))));
        }
        if !has_complex_form::<T>() {
            return CpuForm::Missing(format!("{} of complex numbers", T::NAME));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let Elem::Two(re, im) = ins[0] else { panic!("a complex element was expected") };
            T::complex(loops, re, im).expect("asked before")
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        T::HLO
    }

    fn samples(&self) -> Vec<Sample> {
        [DType::F32, DType::I32, DType::Bool, DType::C64]
            .into_iter()
            .filter(|&dtype| T::ACCEPTS.contains(dtype) && (dtype != DType::C64 || has_complex_form::<T>()))
            .map(|dtype| Sample::new(Params::NONE, dtype, T::DOMAIN, &[&[2, 3]]))
            .collect()
    }
}

fn has_complex_form<T: UnaryOp>() -> bool {
    let mut scratch = Builder::new("probe");
    let (re, im) = (scratch.fresh(DType::F32), scratch.fresh(DType::F32));
    T::complex(&mut scratch, re, im).is_some()
}

pub(super) fn one(name: &str, ins: &[Aval]) -> Result<Aval> {
    match ins {
        [x] => Ok(*x),
        _ => Err(Error::type_error(format!("{name} takes 1 operand, got {}", ins.len()))),
    }
}

fn unary_jvp<T: UnaryOp>((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let x = V::new(e, &xs[0]);
    let y = x.bind(PrimRef(&Unary::<T>(PhantomData)), &Params::NONE, &[]);
    let rule = match T::RULE {
        UnaryRule::Tangent(rule) => Some(rule),
        UnaryRule::OnlyComplex(rule) => x.aval().dtype.is_complex().then_some(rule),
        UnaryRule::Linear(_) | UnaryRule::Zero | UnaryRule::Missing(_) => unreachable!("chosen by the rule"),
    };
    let x_dot = ts[0].as_ref().filter(|_| rule.is_some()).map(|t| V::new(e, t));
    let tangent = x_dot.zip(rule).map(|(x_dot, rule)| rule(&x, &y, &x_dot).done()).transpose()?;
    Ok((smallvec![y.done()?], smallvec![tangent]))
}

fn unary_transpose<T: UnaryOp>((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let UnaryRule::Linear(rule) = T::RULE else { unreachable!("chosen by the rule") };
    let ct = cts[0].as_ref().map(|ct| rule(&V::new(e, ct), ins[0].aval()).done()).transpose()?;
    Ok(smallvec![ct])
}
